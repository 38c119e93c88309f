/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of a reader's kernel: filled before the launch; printed, saved and compared after it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/base/shared_file.h"
#include "program/base/whole_file.h"
#include "program/sim/launch_elements.h"

/* ---- before the launch ------------------------------------------------------------------------------------------- */

/* Small integers, of which sums are exact: -3 .. 3, and 0 .. 6 where there is no sign. */
static int64_t random_number(const struct launch_argument *argument, uint64_t index) {
    uint64_t z = index * 0x9e3779b97f4a7c15u + argument->seed * 0xc2b2ae3d27d4eb4fu + 1;
    z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9u;
    return (int64_t)((z >> 40) % 7) - (argument->type->kind == 'u' ? 0 : 3);
}

static int64_t number_at(const struct launch_argument *argument, uint64_t index) {
    switch (argument->fill) {
    case FILL_ONES:
        return 1;
    case FILL_IOTA:
        return (int64_t)index;
    case FILL_RANDOM:
        return random_number(argument, index);
    default:
        return 0;
    }
}

/* A file that a buffer is filled or compared with has the buffer's size. NULL: a sentence was printed. */
static void *whole_file(const struct launch_argument *argument, const char *path) {
    size_t size = 0;
    void *bytes = file_read_or_complain(path, &size);
    if (bytes && size != argument->size) {
        complain("%s has %zu bytes, and %s is a buffer of %zu", path, size, argument->given, argument->size);
        free(bytes);
        return NULL;
    }
    return bytes;
}

static void *make_contents(const struct launch_argument *argument) {
    if (argument->fill == FILL_FILE)
        return whole_file(argument, argument->path);
    char *bytes = malloc(argument->size);
    if (!bytes)
        complain("out of host memory");
    for (uint64_t i = 0; bytes && i < argument->count; i++)
        element_put(argument->type, number_at(argument, i), bytes + i * argument->type->bytes);
    return bytes;
}

static int place_buffer(struct launch_argument *argument, const struct gpu *gpu) {
    if (gpu_alloc(gpu, &argument->address, argument->size) != 0)
        return -1;
    if (argument->fill == FILL_NONE)
        return 0;
    void *contents = make_contents(argument);
    const CUresult result =
        contents ? gpu->drv->cuMemcpyHtoD(argument->address, contents, argument->size) : CUDA_SUCCESS;
    free(contents);
    if (!contents)
        return -1;
    return result == CUDA_SUCCESS ? 0 : gpu_fail(result, "cuMemcpyHtoD");
}

int arguments_place(struct launch_arguments *arguments, const struct gpu *gpu) {
    int status = 0;
    for (size_t i = 0; i < arguments->count && status == 0; i++)
        if (arguments->each[i].is_buffer)
            status = place_buffer(&arguments->each[i], gpu);
    return status;
}

/* ---- after it ---------------------------------------------------------------------------------------------------- */

static int collect(struct launch_argument *argument, const struct gpu *gpu) {
    if (!argument->result)
        argument->result = malloc(argument->size);
    if (!argument->result)
        return complain("out of host memory");
    const CUresult result = gpu->drv->cuMemcpyDtoH(argument->result, argument->address, argument->size);
    return result == CUDA_SUCCESS ? 0 : gpu_fail(result, "cuMemcpyDtoH");
}

int arguments_collect(struct launch_arguments *arguments, const struct gpu *gpu, bool wanted) {
    int status = 0;
    for (size_t i = 0; i < arguments->count; i++) {
        struct launch_argument *argument = &arguments->each[i];
        if (!argument->address)
            continue;
        if (wanted && status == 0 && (argument->print || argument->save || argument->compare))
            status = collect(argument, gpu);
        gpu_free(gpu, &argument->address);
    }
    return status;
}

/* How many elements differ, and the first that does. */
static uint64_t count_differences(const struct launch_argument *argument, const char *wanted, uint64_t *first) {
    const uint32_t bytes = argument->type->bytes;
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < argument->count; i++)
        if (memcmp((const char *)argument->result + i * bytes, wanted + i * bytes, bytes) != 0 && wrong++ == 0)
            *first = i;
    return wrong;
}

static int compare(const struct launch_argument *argument) {
    uint64_t first = 0;
    char *wanted = whole_file(argument, argument->compare);
    if (!wanted)
        return -1;
    const uint64_t wrong = count_differences(argument, wanted, &first);
    if (wrong) {
        const uint64_t at = first * argument->type->bytes;
        printf("%s: element %llu is ", argument->given, (unsigned long long)first);
        element_print(argument->type, (const char *)argument->result + at, stdout);
        printf(" instead of ");
        element_print(argument->type, wanted + at, stdout);
        printf("; %llu of %llu are wrong\n", (unsigned long long)wrong, (unsigned long long)argument->count);
    }
    free(wanted);
    return wrong > 0;
}

int arguments_compare(const struct launch_arguments *arguments) {
    int different = 0;
    for (size_t i = 0; i < arguments->count; i++) {
        const struct launch_argument *argument = &arguments->each[i];
        const int result = argument->compare && argument->result ? compare(argument) : 0;
        if (result < 0)
            return -1;
        different += result;
    }
    return different;
}

/* A line for each row of the last dimension, as far as elements are asked for; long rows are broken. */
static void print_elements(const struct launch_argument *argument) {
    enum { A_LINE = 16 };
    printf("%s:\n", argument->given);
    for (uint64_t i = 0; i < argument->count && i < argument->print; i++) {
        const bool begins = i % argument->columns % A_LINE == 0;
        printf("%s", begins ? i ? "\n  " : "  " : " ");
        element_print(argument->type, (const char *)argument->result + i * argument->type->bytes, stdout);
    }
    printf("%s\n", argument->print < argument->count ? " ..." : "");
}

static int save(const struct launch_argument *argument) {
    FILE *out = fopen(argument->save, "wb");
    if (!out)
        return complain("cannot write %s: %s", argument->save, strerror(errno));
    fwrite(argument->result, 1, argument->size, out);
    return file_finish(out, argument->save);
}

int arguments_show(const struct launch_arguments *arguments) {
    int status = 0;
    for (size_t i = 0; i < arguments->count; i++) {
        const struct launch_argument *argument = &arguments->each[i];
        if (!argument->result)
            continue;
        if (argument->print)
            print_elements(argument);
        if (argument->save)
            status |= save(argument);
    }
    return status;
}
