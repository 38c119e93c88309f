/* SPDX-License-Identifier: Apache-2.0 */
/* The bank model: what one access of a warp costs in wavefronts, and which word rides in which. */
#include "smem/bank.h"

#include <stdio.h>
#include <string.h>

#include "host/error.h"
#include "host/structs.h"

/* name, widths, matrices, lanes_share, phases_merge, passes */
const struct gm_access_rule gm_access_rules[GM_ACCESS_KINDS] = {
    [GM_ACCESS_LOAD] = {"load", 1 + 2 + 4 + 8 + 16, 0, 1, 1, 1},
    [GM_ACCESS_STORE] = {"store", 1 + 2 + 4 + 8 + 16, 0, 1, 0, 1},
    [GM_ACCESS_LDMATRIX] = {"ldmatrix", 16, 1 + 2 + 4, 1, 0, 1},
    [GM_ACCESS_STMATRIX] = {"stmatrix", 16, 1 + 2 + 4, 1, 0, 1},
    [GM_ACCESS_CP_ASYNC] = {"cp.async", 4 + 8 + 16, 0, 0, 0, 1},
    [GM_ACCESS_ATOMIC] = {"atomic", 4, 0, 0, 0, 1},
    [GM_ACCESS_INCREMENT] = {"increment", 4, 0, 1, 0, 1},
    [GM_ACCESS_CAS] = {"cas", 4, 0, 0, 0, 2}, /* reads and compares, then writes */
};

#define WORD_BYTES  4
#define LINE_BYTES  (GM_BANKS * WORD_BYTES) /* one word of every bank: what a wavefront moves at most */
#define MATRIX_ROWS 8u

/* ---- which lanes ask together ------------------------------------------------------------------- */

/* Every pair of active lanes `distance` apart, 1 or 2, asks for the same address. */
static int pairs_agree(const struct gm_access *access, uint32_t active, uint32_t distance) {
    const uint32_t lower = distance == 1 ? 0x55555555 : 0x33333333;
    for (uint32_t pairs = active & active >> distance & lower; pairs; pairs &= pairs - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(pairs);
        if (access->address[lane] != access->address[lane + distance])
            return 0;
    }
    return 1;
}

/*  A phase is a group of lanes that the hardware serves by itself: as many neighbours as fill one line of 128 bytes.
 *      4 bytes and less   one phase of 32 lanes
 *      8 bytes            lanes 0-15, 16-31
 *      16 bytes           lanes 0-7, 8-15, 16-23, 24-31; for ldmatrix and stmatrix that is a matrix each
 *  A load of 8 or 16 bytes in which all pairs (0,1), (2,3) ... agree, or all pairs (0,2), (1,3), (4,6) ..., needs half
 *  as many lines, and phases of twice as many lanes serve it.  */
uint32_t gm_access_phases(const struct gm_access *access, const struct gm_access_shape *shape,
                          uint32_t phases[GM_LANES]) {
    uint32_t lanes = LINE_BYTES / (shape->width < WORD_BYTES ? WORD_BYTES : shape->width), count = 0;
    if (gm_access_rules[access->kind].phases_merge && lanes < GM_LANES &&
        (pairs_agree(access, shape->active, 1) || pairs_agree(access, shape->active, 2)))
        lanes *= 2;
    const uint32_t group = UINT32_MAX >> (GM_LANES - lanes);
    for (uint32_t first = 0; first < GM_LANES; first += lanes)
        if (shape->active & (group << first))
            phases[count++] = shape->active & (group << first);
    return count;
}

/* ---- who rides when ----------------------------------------------------------------------------- */

/*  Every address is a multiple of the width, so two lanes meet in one bank exactly when they meet in all banks of their
 *  `granule`, the width or at least a word. So it is enough to count per column of granules, 128 / granule of them:
 *
 *      column     0        1        2    ...       the granules that were asked of it, in order of lanes, and in
 *      asked      2        0        1              which turn of its phase each was served last
 */
struct ledger {
    uint32_t granule_bytes, columns, wavefronts, turns, degree, granules;
    uint32_t granule[GM_BANKS][GM_LANES];
    uint8_t phase[GM_BANKS][GM_LANES], turn[GM_BANKS][GM_LANES];
    uint8_t known[GM_BANKS]; /* granules in the column's list */
    uint8_t asked[GM_BANKS]; /* turns of the column in this phase */
    uint8_t ride[GM_LANES];  /* the (first) wavefront that serves the lane */
};

/* One lane asks; returns its turn within the phase. */
static uint32_t ask(struct ledger *ledger, uint32_t address, uint32_t phase, uint32_t share) {
    const uint32_t granule = address / ledger->granule_bytes, column = granule % ledger->columns;
    uint32_t at = 0;
    while (at < ledger->known[column] && ledger->granule[column][at] != granule)
        at++;
    if (at == ledger->known[column]) {
        ledger->granule[column][at] = granule;
        ledger->known[column]++;
        ledger->granules++;
    } else if (share && ledger->phase[column][at] == phase) {
        return ledger->turn[column][at];
    }
    ledger->phase[column][at] = (uint8_t)phase;
    ledger->turn[column][at] = ledger->asked[column]++;
    return ledger->turn[column][at];
}

/* The lanes of one phase ask, the lowest first; the slowest column decides how many wavefronts that takes. */
static void serve_phase(struct ledger *ledger, const struct gm_access *access, uint32_t phase, uint32_t lanes) {
    const struct gm_access_rule *rule = &gm_access_rules[access->kind];
    uint32_t turns = 0;
    memset(ledger->asked, 0, sizeof ledger->asked);
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        const uint32_t turn = ask(ledger, access->address[lane], phase, rule->lanes_share);
        ledger->ride[lane] = (uint8_t)(ledger->wavefronts + turn * rule->passes);
        turns = turn + 1 > turns ? turn + 1 : turns;
    }
    ledger->wavefronts += turns * rule->passes;
    ledger->turns += turns;
    ledger->degree = turns > ledger->degree ? turns : ledger->degree;
}

static struct gm_bank_cost serve(struct ledger *ledger, const struct gm_access *access,
                                 const struct gm_access_shape *shape) {
    uint32_t phases[GM_LANES];
    const uint32_t count = gm_access_phases(access, shape, phases);
    ledger->granule_bytes = shape->width < WORD_BYTES ? WORD_BYTES : shape->width;
    ledger->columns = LINE_BYTES / ledger->granule_bytes;
    ledger->wavefronts = ledger->turns = ledger->degree = ledger->granules = 0;
    memset(ledger->known, 0, sizeof ledger->known);
    for (uint32_t i = 0; i < count; i++)
        serve_phase(ledger, access, i, phases[i]);
    return (struct gm_bank_cost){.size = sizeof(struct gm_bank_cost),
                                 .wavefronts = ledger->wavefronts,
                                 .ideal = count * gm_access_rules[access->kind].passes,
                                 .conflicts = ledger->turns - count,
                                 .degree = ledger->degree,
                                 .words = ledger->granules * (ledger->granule_bytes / WORD_BYTES)};
}

/* ---- what an access may be ---------------------------------------------------------------------- */

/* `choices` is a sum of powers of two; `value` must be one of them. */
static int is_one_of(uint32_t value, uint32_t choices) {
    return value != 0 && (value & (value - 1)) == 0 && (value & choices);
}

/* "1, 2, 4, 8, 16" */
static const char *choices_text(uint32_t choices, char text[32]) {
    size_t length = 0;
    for (uint32_t value = 1; value <= choices; value *= 2)
        if (value & choices)
            length += (size_t)snprintf(text + length, 32 - length, "%s%u", length ? ", " : "", value);
    return text;
}

enum gm_status gm_access_shape_of(enum gm_access_kind kind, uint32_t width, uint32_t matrices, uint32_t inactive,
                                  struct gm_access_shape *shape) {
    char text[32];
    if ((unsigned)kind >= GM_ACCESS_KINDS)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "access kind %d is not one of 0 to %d", (int)kind,
                       GM_ACCESS_KINDS - 1);
    const struct gm_access_rule *rule = &gm_access_rules[kind];
    if (rule->matrices) {
        width = width ? width : rule->widths;
        matrices = matrices ? matrices : 4;
    }
    if (!is_one_of(width, rule->widths))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s of %u bytes a lane: there is %s", rule->name, width,
                       choices_text(rule->widths, text));
    if (rule->matrices ? !is_one_of(matrices, rule->matrices) : matrices != 0)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s of %u matrices: there is %s", rule->name, matrices,
                       rule->matrices ? choices_text(rule->matrices, text) : "no such thing, leave it 0");
    const uint32_t lanes = rule->matrices ? MATRIX_ROWS * matrices : GM_LANES;
    shape->width = width;
    shape->active = ~inactive & (UINT32_MAX >> (GM_LANES - lanes));
    return GM_OK;
}

/* Names the first lane whose address is no multiple of the width. */
static enum gm_status refuse_address(const struct gm_access *access, const struct gm_access_shape *shape) {
    uint32_t lane = 0;
    while (!(shape->active & (1u << lane)) || access->address[lane] % shape->width == 0)
        lane++;
    const uint32_t address = access->address[lane];
    if (address > UINT32_MAX - (shape->width - 1))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "the %u bytes of lane %u at address %u end beyond 2^32", shape->width,
                       lane, address);
    return gm_fail(GM_ERROR_MISALIGNED, "lane %u's address %u is no multiple of the %u bytes it asks for", lane,
                   address, shape->width);
}

static enum gm_status check_access(const struct gm_access *access, struct gm_access_shape *shape) {
    const enum gm_status status =
        gm_access_shape_of(access->kind, access->width, access->matrices, access->inactive, shape);
    if (status != GM_OK)
        return status;
    uint32_t bits = 0;
    for (uint32_t lanes = shape->active; lanes; lanes &= lanes - 1)
        bits |= access->address[__builtin_ctz(lanes)];
    return bits % shape->width ? refuse_address(access, shape) : GM_OK;
}

/* ---- the public functions ----------------------------------------------------------------------- */

enum gm_status gm_bank_cost(const struct gm_access *access, struct gm_bank_cost *cost) {
    struct gm_access today;
    struct gm_access_shape shape;
    struct ledger ledger;
    enum gm_status status = GM_TAKE(access, &today, "access");
    if (status == GM_OK)
        status = check_access(access, &shape);
    if (status == GM_OK)
        status = GM_CHECK_OUTPUT(cost, "cost");
    if (status != GM_OK)
        return status;
    const struct gm_bank_cost found = serve(&ledger, access, &shape);
    GM_OUTPUT(cost, &found);
    return GM_OK;
}

/* Enters the words of one lane into the wavefronts that serve it. */
static void place_words(struct gm_bank_map *map, uint32_t lane, uint32_t ride, const struct gm_access *access,
                        uint32_t width) {
    const uint32_t first = access->address[lane] / WORD_BYTES, count = width < WORD_BYTES ? 1 : width / WORD_BYTES;
    for (uint32_t w = 0; w < count; w++) {
        map->wavefront[lane][w] = (uint8_t)ride;
        for (uint32_t pass = 0; pass < gm_access_rules[access->kind].passes; pass++)
            map->word[ride + pass][(first + w) % GM_BANKS] = (first + w) * WORD_BYTES;
    }
}

enum gm_status gm_bank_map(const struct gm_access *access, struct gm_bank_map *map) {
    struct gm_access today;
    struct gm_access_shape shape;
    struct ledger ledger;
    enum gm_status status = GM_TAKE(access, &today, "access");
    if (status == GM_OK)
        status = check_access(access, &shape);
    if (status == GM_OK)
        status = GM_CHECK_OUTPUT(map, "map");
    if (status != GM_OK)
        return status;
    struct gm_bank_map found = {.cost = serve(&ledger, access, &shape)};
    memset(found.wavefront, GM_NO_WAVEFRONT, sizeof found.wavefront);
    memset(found.word, 0xff, sizeof found.word); /* GM_NO_WORD */
    for (uint32_t lanes = shape.active; lanes; lanes &= lanes - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        place_words(&found, lane, ledger.ride[lane], access, shape.width);
    }
    GM_OUTPUT(map, &found);
    return GM_OK;
}
