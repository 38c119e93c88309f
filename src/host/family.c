/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels with their divisions, and sentences about kernels. */
#include "host/family.h"

#include "host/text.h"

#include <stdarg.h>
#include <string.h>

enum gm_reason gm_say(const struct gm_sentence *why, enum gm_reason reason, const char *format, ...) {
    if (!gm_is_wanted(why))
        return reason;
    va_list arguments;
    va_start(arguments, format);
    gm_format(why->text, why->bytes, format, arguments);
    va_end(arguments);
    return reason;
}

void gm_divided_name(const struct gm_kernel *kernel, int division, char *text, size_t bytes) {
    char suffix[16] = "";
    const struct gm_family *family = kernel->family;
    gm_print(text, bytes, "%s%s", kernel->name,
             family->division_suffix ? family->division_suffix(division, suffix) : "");
}

int gm_is_named(const struct gm_kernel *kernel, const char *name, size_t bytes, int *division) {
    const size_t length = strlen(kernel->name);
    *division = GM_DIVISION_BEST;
    if (bytes < length || memcmp(kernel->name, name, length) != 0)
        return 0;
    if (bytes == length)
        return 1;
    if (name[length] != '/' || !kernel->family->division_of)
        return 0;
    *division = kernel->family->division_of(name + length, bytes - length);
    return *division > GM_DIVISION_NONE;
}

int gm_find_divided(const struct gm_kernel *kernels, size_t count, const char *name, size_t bytes, int *division) {
    for (size_t i = 0; i < count; i++)
        if (gm_is_named(&kernels[i], name, bytes, division))
            return (int)i;
    return -1;
}

int gm_find_kernel(const struct gm_kernel *kernels, size_t count, const char *name) {
    int division;
    return gm_find_divided(kernels, count, name, strlen(name), &division);
}
