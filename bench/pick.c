/* SPDX-License-Identifier: Apache-2.0 */
/* Which device and which path a command means, and the words for the columns of the table. */
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "gpu.h"
#include "smem/numbers.h"
#include "split.h"

static int pick_model(const char *name, struct gm_device *device) {
    if (gm_device_model(name, device) == GM_OK)
        return 0;
    return complain("--device %s is neither a device number nor a built-in model (%s)", name, gm_last_error());
}

int pick_device(const char *choice, struct gm_device *device, char *why, size_t why_bytes) {
    *device = (struct gm_device){.size = sizeof *device};
    why[0] = 0;
    uint32_t ordinal = 0;
    if (choice) {
        const char *end = choice;
        if (!number_take(&end, INT32_MAX, &ordinal) || *end)
            return pick_model(choice, device);
    } else if (gpu_count(why, why_bytes) == 0) {
        return pick_model(DEFAULT_MODEL, device);
    }
    enum gm_status status = gm_device_query((int)ordinal, device);
    return status == GM_OK ? 0 : gpu_fail_library(status, "gm_device_query");
}

int pick_arch(const char *name, uint32_t *mask) {
    *mask = 0;
    if (!name)
        return 0;
    if (strcmp(name, "sm80") == 0)
        *mask = GM_ARCH_SM80;
    else if (strcmp(name, "sm90") == 0)
        *mask = GM_ARCH_SM90;
    else
        return complain("--arch is sm80 or sm90, not `%s`", name);
    return 0;
}

int asked_kind(const char *asked) {
    size_t bytes = asked ? strlen(asked) : 0;
    const int kind = asked ? gm_take_kind(asked, &bytes) : GM_KIND_WHOLE;
    return kind == GM_KIND_WHOLE ? GM_KIND_BEST : kind;
}

bool is_asked(const char *asked, const char *name) {
    if (!asked)
        return true;
    char glob[256];
    size_t bytes = strlen(asked);
    gm_take_kind(asked, &bytes);
    snprintf(glob, sizeof glob, "%.*s", (int)bytes, asked);
    return bytes < sizeof glob && fnmatch(glob, name, 0) == 0;
}

const char *divided_name(const char *kernel, int kind, char *name, size_t bytes) {
    char suffix[GM_KIND_SUFFIX_BYTES];
    snprintf(name, bytes, "%s%s", kernel, gm_kind_suffix(kind, suffix));
    return name;
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

const char *arch_name(enum gm_arch arch) {
    return arch == GM_ARCH_SM80 ? "sm80" : arch == GM_ARCH_SM90 ? "sm90" : "?";
}

const char *schedule_name(enum gm_schedule schedule) {
    static const char *const names[] = {"multistage", "cooperative", "ping-pong"};
    return (unsigned)schedule < 3 ? names[schedule] : "?";
}

const char *smem_map_name(enum gm_smem_map map) {
    switch (map) {
    case GM_SMEM_PADDED:
        return "padded";
    case GM_SMEM_XOR:
        return "xor";
    case GM_SMEM_NONE:
        return "none";
    case GM_SMEM_SWIZZLE_32B:
        return "swizzle 32B";
    case GM_SMEM_SWIZZLE_64B:
        return "swizzle 64B";
    case GM_SMEM_SWIZZLE_128B:
        return "swizzle 128B";
    }
    return "?";
}
