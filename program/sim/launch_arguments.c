/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a reader's kernel: the words of the command line read. launch_buffers.c has what becomes of them. */
#include "program/sim/launch_arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/base/whole_file.h"
#include "program/sim/launch_elements.h"
#include "program/smem/numbers.h"

#define BUFFER_BYTES_MOST ((uint64_t)1 << 32)

/* ---- words ------------------------------------------------------------------------------------------------------- */

static int refuse(const struct launch_argument *argument, const char *why) {
    return complain("--args: `%.80s`: %s; `gristmill sim launch --help` has the forms", argument->given, why);
}

/* The word behind the colon that ends this one, which is cut off; NULL: it was the last. */
static char *cut(char *word) {
    char *colon = word ? strchr(word, ':') : NULL;
    if (!colon)
        return NULL;
    *colon = '\0';
    return colon + 1;
}

/* "save=x" with the name "save": "x"; NULL: another word. */
static const char *value_of(const char *word, const char *name) {
    const size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && word[length] == '=' && word[length + 1] ? word + length + 1 : NULL;
}

static bool take_whole(const char *text, uint64_t *value) {
    return number_take_64(&text, UINT64_MAX, value) && *text == '\0';
}

/* ---- scalars ----------------------------------------------------------------------------------------------------- */

static int read_scalar(struct launch_argument *argument, const char *value) {
    argument->size = argument->type->bytes;
    argument->bytes = calloc(1, LAUNCH_SCALAR_BYTES);
    if (!argument->bytes)
        return complain("out of host memory");
    if (!value || !element_read(argument->type, value, argument->bytes))
        return refuse(argument, "the value is no number of this type");
    return 0;
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

/* "4096" or "64x64x4": the count, and the last dimension. */
static bool read_count(const char *text, uint64_t *count, uint64_t *columns) {
    *count = 1;
    for (;; text++) {
        if (!number_take_64(&text, BUFFER_BYTES_MOST, columns) || *columns == 0 ||
            *columns > BUFFER_BYTES_MOST / *count)
            return false;
        *count *= *columns;
        if (*text != 'x')
            return *text == '\0';
    }
}

/* One word behind the count. False: there is none of that kind. */
static bool read_buffer_word(struct launch_argument *argument, const char *word) {
    static const char *const fills[] = {[FILL_NONE] = "none",
                                        [FILL_ZERO] = "zero",
                                        [FILL_ONES] = "ones",
                                        [FILL_IOTA] = "iota",
                                        [FILL_RANDOM] = "random"};
    const char *seed = value_of(word, "random"), *count = value_of(word, "print"), *path = value_of(word, "file");
    for (int fill = FILL_NONE; fill <= FILL_RANDOM; fill++)
        if (strcmp(word, fills[fill]) == 0) {
            argument->fill = (enum buffer_fill)fill;
            return true;
        }
    if (path || seed)
        argument->fill = path ? FILL_FILE : FILL_RANDOM;
    if (path)
        argument->path = path;
    else if (value_of(word, "save"))
        argument->save = value_of(word, "save");
    else if (value_of(word, "compare"))
        argument->compare = value_of(word, "compare");
    else if (strcmp(word, "print") == 0)
        argument->print = argument->count;
    else
        return seed ? take_whole(seed, &argument->seed) : count && take_whole(count, &argument->print);
    return true;
}

static int read_buffer(struct launch_argument *argument, char *word, bool is_out) {
    enum { SHOWN = 8 };
    char *count = cut(word), *next = cut(count);
    argument->is_buffer = true;
    argument->type = word ? element_find(word) : NULL;
    if (!argument->type)
        return refuse(argument, "an element's type is i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32 or f64");
    if (!count || !read_count(count, &argument->count, &argument->columns) ||
        argument->count > BUFFER_BYTES_MOST / argument->type->bytes)
        return refuse(argument, "behind the type stands how many elements, 4096 or 64x64, of 4 GiB at most");
    argument->size = argument->count * argument->type->bytes;
    argument->print = is_out ? SHOWN : 0;
    for (word = next; word; word = next) {
        next = cut(word);
        if (!read_buffer_word(argument, word))
            return refuse(argument,
                          "behind the count stand zero, ones, iota, random=SEED, file=PATH, print=N, save=PATH "
                          "or compare=PATH");
    }
    return 0;
}

static int read_one(struct launch_argument *argument) {
    char *first = argument->words, *rest = cut(first);
    if (strcmp(first, "buffer") == 0 || strcmp(first, "out") == 0)
        return read_buffer(argument, rest, *first == 'o');
    if (strcmp(first, "file") == 0 && rest) {
        argument->bytes = file_read_or_complain(rest, &argument->size);
        return argument->bytes ? 0 : -1;
    }
    argument->type = element_find(first);
    if (!argument->type)
        return refuse(argument, "an argument begins with buffer:, out:, file: or a type such as i32: or f32:");
    return read_scalar(argument, rest);
}

int arguments_read(struct launch_arguments *arguments, const struct args_list *given) {
    *arguments = (struct launch_arguments){0};
    for (size_t i = 0; i < given->count; i++) {
        struct launch_argument *argument = &arguments->each[arguments->count++];
        argument->given = given->items[i];
        argument->words = strdup(given->items[i]);
        if (!argument->words)
            return complain("out of host memory");
        if (read_one(argument) != 0)
            return -1;
    }
    return 0;
}

void arguments_free(struct launch_arguments *arguments) {
    for (size_t i = 0; i < arguments->count; i++) {
        free(arguments->each[i].words);
        free(arguments->each[i].bytes);
        free(arguments->each[i].result);
    }
    arguments->count = 0;
}
