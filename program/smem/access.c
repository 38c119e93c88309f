/* SPDX-License-Identifier: Apache-2.0 */
/* A warp's access as the command line says it. */
#include "program/smem/access.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "smem/bank.h"
#include "program/smem/expression.h"
#include "program/smem/numbers.h"
#include "program/base/messages.h"

/* ---- shape -------------------------------------------------------------------------------------- */

static int read_kind(const char *text, enum gm_access_kind *kind) {
    for (int i = 0; i < GM_ACCESS_KINDS; i++) {
        if (strcmp(text, gm_access_rules[i].name) == 0) {
            *kind = (enum gm_access_kind)i;
            return 0;
        }
    }
    return complain("--kind is load, store, ldmatrix, stmatrix, cp.async, atomic, increment or cas, not `%.40s`", text);
}

/* One item of a list of lanes: "5" or "0-7". */
static bool take_lanes(const char **text, uint32_t *active) {
    uint32_t first, last;
    if (!number_take(text, GM_LANES - 1, &first))
        return false;
    last = first;
    if (**text == '-') {
        (*text)++;
        if (!number_take(text, GM_LANES - 1, &last) || last < first)
            return false;
    }
    for (uint32_t lane = first; lane <= last; lane++)
        *active |= 1u << lane;
    return true;
}

static int read_lanes(const char *text, uint32_t *inactive) {
    const char *at = text;
    uint32_t active = 0;
    bool good;
    if (strncmp(text, "0x", 2) == 0) {
        good = number_take(&at, UINT32_MAX, &active);
    } else {
        good = take_lanes(&at, &active);
        while (good && *at == ',') {
            at++;
            good = take_lanes(&at, &active);
        }
    }
    if (!good || *at)
        return complain("--lanes wants lanes of 0 to 31, such as 0-7,16, or a mask such as 0xff, not `%.40s`", text);
    if (!active)
        return complain("--lanes %.40s leaves no lane", text);
    *inactive = ~active;
    return 0;
}

static uint32_t default_width(enum gm_access_kind kind, uint32_t usual_width) {
    const uint32_t widths = gm_access_rules[kind].widths;
    if (widths == 4 || widths == 16) /* atomics, ldmatrix */
        return widths;
    if (kind == GM_ACCESS_CP_ASYNC)
        return 16;
    return usual_width ? usual_width : 4;
}

int access_read_shape(const struct access_options *given, enum gm_access_kind usual, uint32_t usual_width,
                      struct gm_access *access) {
    struct gm_access_shape shape;
    *access = (struct gm_access){.size = sizeof *access, .kind = usual};
    if (given->kind && read_kind(given->kind, &access->kind) != 0)
        return -1;
    const struct gm_access_rule *rule = &gm_access_rules[access->kind];
    access->width = default_width(access->kind, usual_width);
    access->matrices = rule->matrices ? 4 : 0;
    if (given->matrices && !rule->matrices)
        return complain("--matrices belongs to ldmatrix and stmatrix, not to %s", rule->name);
    if (given->width && number_read("--width", given->width, 1, 16, &access->width) != 0)
        return -1;
    if (given->matrices && number_read("--matrices", given->matrices, 1, 4, &access->matrices) != 0)
        return -1;
    if (given->lanes && read_lanes(given->lanes, &access->inactive) != 0)
        return -1;
    if (gm_access_shape_of(access->kind, access->width, access->matrices, access->inactive, &shape) != GM_OK)
        return complain("%s", gm_last_error());
    return 0;
}

int access_check_lanes(const struct gm_access *access) {
    if (!gm_access_rules[access->kind].matrices)
        return 0;
    const uint32_t lanes = 8 * access->matrices, wanted = UINT32_MAX >> (GM_LANES - lanes);
    if (!(access->inactive & wanted))
        return 0;
    return complain("%s.x%u takes the addresses of lanes 0 to %u, and lane %d has none",
                    gm_access_rules[access->kind].name, access->matrices, lanes - 1,
                    __builtin_ctz(access->inactive & wanted));
}

void access_name(const struct gm_access *access, char *text, size_t bytes) {
    const struct gm_access_rule *rule = &gm_access_rules[access->kind];
    if (rule->matrices)
        snprintf(text, bytes, "%s.x%u", rule->name, access->matrices);
    else
        snprintf(text, bytes, "%s of %u byte%s a lane", rule->name, access->width, access->width == 1 ? "" : "s");
}

/* ---- addresses ---------------------------------------------------------------------------------- */

/* The lanes whose addresses count; the shape is known to be good. */
static uint32_t active_lanes(const struct gm_access *access) {
    struct gm_access_shape shape = {0};
    gm_access_shape_of(access->kind, access->width, access->matrices, access->inactive, &shape);
    return shape.active;
}

static int read_expression(const char *text, struct gm_access *access) {
    for (uint32_t lanes = active_lanes(access); lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        struct expression_error error;
        int64_t value;
        if (expression_value(text, lane, &value, &error) != 0)
            return expression_complain("--address", text, &error);
        if (value < 0 || value > UINT32_MAX)
            return complain("--address gives lane %d the address %" PRId64 ", which is not 0 to 2^32 - 1", lane, value);
        access->address[lane] = (uint32_t)value;
    }
    return 0;
}

static int read_list(const char *text, struct gm_access *access) {
    const char *at = text;
    int count = 0;
    for (;;) {
        if (count == GM_LANES)
            return complain("--addresses has more than %d addresses, one a lane", GM_LANES);
        if (!number_take(&at, UINT32_MAX, &access->address[count]))
            return complain("--addresses wants numbers below 2^32 with commas between; the one of lane %d is not",
                            count);
        count++;
        if (*at != ',')
            break;
        at++;
    }
    if (*at)
        return complain("--addresses: `%.20s` follows the address of lane %d where a comma must be", at, count - 1);
    for (int lane = count; lane < GM_LANES; lane++)
        access->inactive |= 1u << lane;
    return active_lanes(access) ? 0 : complain("--addresses and --lanes together leave no lane");
}

static int read_stride(const char *text, struct gm_access *access) {
    uint32_t words;
    if (number_read("--stride", text, 0, 1u << 24, &words) != 0)
        return -1;
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        access->address[lane] = lane * words * 4;
    return 0;
}

int access_read_addresses(const struct access_options *given, struct gm_access *access) {
    if (given->address)
        return read_expression(given->address, access);
    if (given->addresses)
        return read_list(given->addresses, access);
    return read_stride(given->stride, access);
}
