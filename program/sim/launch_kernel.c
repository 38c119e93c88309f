/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels, and their parameters. */
#include "program/sim/launch_kernel.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Appends the source name "9transpose" at *at, and moves behind it. False: there is none. An anonymous namespace has no
 * name that anybody wrote. */
static bool take_name(const char **at, char plain[LAUNCH_NAME_BYTES]) {
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    const unsigned long length = strtoul(*at, &end, 10);
    if (length == 0 || length > strlen(end))
        return false;
    const size_t used = strlen(plain);
    if (strncmp(end, "_GLOBAL__N_", 11) != 0 && strncmp(end, "_INTERNAL_", 10) != 0)
        snprintf(plain + used, LAUNCH_NAME_BYTES - used, "%s%.*s", used ? "::" : "", (int)length, end);
    *at = end + length;
    return true;
}

void launch_plain_name(const char *mangled, char plain[LAUNCH_NAME_BYTES]) {
    const char *at = mangled;
    plain[0] = '\0';
    if (strncmp(at, "_Z", 2) == 0) {
        at += 2;
        at += *at == 'N';
        at += *at == 'L';
        while (take_name(&at, plain))
            ;
    }
    if (!plain[0])
        snprintf(plain, LAUNCH_NAME_BYTES, "%s", mangled);
}

void launch_variable_name(const char *mangled, char plain[LAUNCH_NAME_BYTES]) {
    const size_t bytes = strlen(mangled);
    for (size_t at = 0; at < bytes && strncmp(mangled, "_ZZ", 3) == 0; at++) {
        char *name;
        if (!isdigit((unsigned char)mangled[at]) || (at && isdigit((unsigned char)mangled[at - 1])))
            continue;
        const unsigned long length = strtoul(mangled + at, &name, 10);
        const size_t left = strlen(name);
        if (length && length <= left && (name[length] == '\0' || name[length] == '_') && mangled[at - 1] == 'E') {
            snprintf(plain, LAUNCH_NAME_BYTES, "%.*s", (int)length, name);
            return;
        }
    }
    launch_plain_name(mangled, plain);
}

bool launch_is_named(const char *mangled, const char *name) {
    char plain[LAUNCH_NAME_BYTES];
    launch_plain_name(mangled, plain);
    const size_t length = strlen(plain), wanted = strlen(name);
    return strcmp(mangled, name) == 0 || strcmp(plain, name) == 0 ||
           (length > wanted + 2 && strcmp(plain + length - wanted, name) == 0 && plain[length - wanted - 1] == ':');
}

static void list_kernels(const struct simulator *simulator, const struct gm_sim_ptx *ptx) {
    struct gm_sim_kernel kernel;
    char plain[LAUNCH_NAME_BYTES];
    for (size_t i = 0; simulator->ptx_kernel(ptx, i, &kernel) == 0; i++) {
        launch_plain_name(kernel.name, plain);
        if (strcmp(plain, kernel.name) == 0)
            note("  %s", plain);
        else
            note("  %-24s %s", plain, kernel.name);
    }
}

int launch_find_kernel(const struct simulator *simulator, const struct gm_sim_ptx *ptx, const char *file,
                       const char *name, size_t *index) {
    struct gm_sim_kernel kernel;
    size_t count = 0, found = 0;
    for (; simulator->ptx_kernel(ptx, count, &kernel) == 0; count++)
        if (!name || launch_is_named(kernel.name, name)) {
            *index = count;
            found++;
        }
    if (found == 1)
        return 0;
    if (count == 0)
        return complain("%s holds no kernel, no __global__ function", file);
    if (!name)
        complain("%s holds %zu kernels; say which:", file, count);
    else if (found)
        complain("%zu kernels of %s are named %s; say which by its whole name:", found, file, name);
    else
        complain("%s holds no kernel %s; it has:", file, name);
    list_kernels(simulator, ptx);
    return -1;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* "a f32", "8 bytes" */
static const char *describe(const struct gm_sim_parameter *parameter, char text[64]) {
    if (parameter->element_bytes != parameter->bytes)
        snprintf(text, 64, "%u bytes (a struct, an array, or a 16-bit type)", parameter->bytes);
    else if (parameter->type == 'f')
        snprintf(text, 64, "f%u", 8 * parameter->bytes);
    else if (parameter->bytes == 8)
        snprintf(text, 64, "a pointer or a 64-bit integer");
    else
        snprintf(text, 64, "an integer of %u bits", 8 * parameter->bytes);
    return text;
}

static bool fits(const struct gm_sim_parameter *parameter, const struct launch_argument *argument) {
    if (argument->is_buffer)
        return parameter->bytes == 8 && parameter->type != 'f';
    if (argument->size != parameter->bytes)
        return false;
    if (!argument->type || parameter->type == 'b' || parameter->element_bytes != parameter->bytes)
        return true;
    return (argument->type->kind == 'f') == (parameter->type == 'f');
}

int launch_check_arguments(const struct simulator *simulator, const struct gm_sim_ptx *ptx, size_t index,
                           const struct launch_arguments *arguments) {
    struct gm_sim_kernel kernel;
    char plain[LAUNCH_NAME_BYTES], text[64];
    simulator->ptx_kernel(ptx, index, &kernel);
    launch_plain_name(kernel.name, plain);
    if (kernel.parameters != arguments->count)
        return complain("%s has %zu parameter%s, and --args gives %zu", plain, kernel.parameters,
                        kernel.parameters == 1 ? "" : "s", arguments->count);
    for (size_t i = 0; i < arguments->count; i++) {
        struct gm_sim_parameter parameter;
        simulator->ptx_parameter(ptx, index, i, &parameter);
        if (!fits(&parameter, &arguments->each[i]))
            return complain("parameter %zu of %s is %s, and %s is not", i + 1, plain, describe(&parameter, text),
                            arguments->each[i].given);
    }
    return 0;
}
