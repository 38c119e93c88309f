/* SPDX-License-Identifier: Apache-2.0 */
/* Which device and which path a command means, and the words for the columns of the table. */
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/commands.h"
#include "bench/measure/gpu.h"
#include "host/family.h"
#include "program/smem/numbers.h"

static int device_from_model(const char *name, struct gm_device *device) {
    if (gm_device_model(name, device) == GM_OK)
        return 0;
    return complain("--device %s is neither a device number nor a built-in model (%s)", name, gm_last_error());
}

int device_from_option(const char *choice, struct gm_device *device, char *why, size_t why_bytes) {
    *device = (struct gm_device){.size = sizeof *device};
    why[0] = 0;
    uint32_t ordinal = 0;
    if (choice) {
        const char *end = choice;
        if (!number_take(&end, INT32_MAX, &ordinal) || *end)
            return device_from_model(choice, device);
    } else if (gpu_count(why, why_bytes) == 0) {
        return device_from_model(DEFAULT_MODEL, device);
    }
    enum gm_status status = gm_device_query((int)ordinal, device);
    return status == GM_OK ? 0 : gpu_fail_library(status, "gm_device_query");
}

int arch_from_option(const char *name, uint32_t *mask) {
    *mask = 0;
    for (uint32_t bit = 1; name && bit <= gm_arch_bits(); bit <<= 1)
        if (gm_arch_bits() & bit && strcmp(name, gm_arch_name((enum gm_arch)bit)) == 0)
            *mask = bit;
    return !name || *mask ? 0 : complain("--arch is sm80 or sm90, not `%s`", name);
}

/* What follows the last slash of a name or glob, with the slash: the name of a division, if a family has one of it. */
static const char *suffix_of(const char *asked) {
    return asked ? strrchr(asked, '/') : NULL;
}

int asked_division(const char *asked) {
    const char *suffix = suffix_of(asked);
    for (size_t i = 0; suffix && i < gm_kernel_count(); i++) {
        const struct gm_family *family = gm_kernels[i].family;
        const int division = family->divisions > 1 ? family->division_of(suffix, strlen(suffix)) : -1;
        if (division > GM_DIVISION_NONE)
            return division;
    }
    return GM_DIVISION_BEST;
}

bool is_asked(const char *asked, const char *name) {
    if (!asked)
        return true;
    char glob[256];
    const int has_division = asked_division(asked) != GM_DIVISION_BEST;
    const size_t bytes = has_division ? (size_t)(suffix_of(asked) - asked) : strlen(asked);
    snprintf(glob, sizeof glob, "%.*s", (int)bytes, asked);
    return bytes < sizeof glob && fnmatch(glob, name, 0) == 0;
}

int check_kernel(const char *asked) {
    for (size_t i = 0; asked && i < gm_kernel_count(); i++) {
        struct gm_kernel_info kernel = {.size = sizeof kernel};
        if (gm_kernel_get(i, &kernel) == GM_OK && is_asked(asked, kernel.name))
            return 0;
    }
    return asked ? complain("no kernel of the table is called `%s`; `gristmill info` lists them", asked) : 0;
}

void build_fact(const char *key, char *value, size_t bytes) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    const char *at = strstr(gm_build_info(), quoted);
    value[0] = 0;
    if (!at)
        return;
    at += strlen(quoted);
    at += strspn(at, ": ");
    bool text = *at == '"';
    at += text;
    snprintf(value, bytes, "%.*s", (int)strcspn(at, text ? "\"" : ",}"), at);
}
