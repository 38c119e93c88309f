/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest swizzle with which every walk of a tile takes its ideal wavefronts.
 *
 * A bank is bits 2 to 6 of an address, so only swizzles that change nothing else are tried: every byte stays in its own
 * line of 128 bytes, and a tile made of whole lines needs no byte more. Bits that are the same all over the tile need
 * not be tried as a source either. Any swizzle that changes or reads such bits as well does no better than the smaller
 * one without them. */
#include "smem/bank.h"
#include "smem/smem_tile.h"
#include "host/structs.h"

#define BANK_LOW_BIT  2
#define BANK_HIGH_BIT 6
#define BANK_BITS     5
#define WALKS_MAX     65536u

struct search {
    struct gm_smem_tile tile;
    const struct gm_tile_access *walks;
    size_t count;
    size_t suspect; /* the walk that the last candidate failed: the one to ask first */
    uint32_t piece_log2, top_bit;
};

static int is_ideal(const struct search *search, size_t index) {
    struct gm_access access = {.size = sizeof access};
    struct gm_bank_cost cost = {.size = sizeof cost};
    return gm_tile_access_place(&search->tile, gm_walk_at(search->walks, index), &access) == GM_OK &&
           gm_bank_cost(&access, &cost) == GM_OK && cost.conflicts == 0;
}

static int cures_all(struct search *search, struct gm_swizzle candidate) {
    search->tile.swizzle = candidate;
    if (!is_ideal(search, search->suspect))
        return 0;
    for (size_t i = 0; i < search->count; i++) {
        if (i != search->suspect && !is_ideal(search, i)) {
            search->suspect = i;
            return 0;
        }
    }
    return 1;
}

/* The candidate moves no piece smaller than a lane's vector, changes bank bits only, reads bits that vary. */
static int is_sensible(const struct search *search, struct gm_swizzle s) {
    const uint32_t target = s.shift < 0 ? s.base + (uint32_t)-s.shift : s.base;
    const uint32_t source = s.shift < 0 ? s.base : s.base + (uint32_t)s.shift;
    return s.base >= search->piece_log2 && target >= BANK_LOW_BIT && target + s.bits - 1 <= BANK_HIGH_BIT &&
           source + s.bits - 1 <= search->top_bit;
}

/* Fewest bits, then the highest base, then the smallest shift. */
static int find(struct search *search, struct gm_swizzle *found) {
    for (uint32_t bits = 1; bits <= BANK_BITS; bits++)
        for (uint32_t base = BANK_HIGH_BIT + 2 - bits; base-- > 0;)
            for (int32_t distance = (int32_t)bits; distance <= (int32_t)search->top_bit; distance++)
                for (int32_t sign = 1; sign >= -1; sign -= 2) {
                    const struct gm_swizzle candidate = {bits, base, sign * distance};
                    if (is_sensible(search, candidate) && cures_all(search, candidate)) {
                        *found = candidate;
                        return 1;
                    }
                }
    return 0;
}

/* Places and prices every walk on the plain tile, so that nothing can fail later. */
static enum gm_status check_walks(struct search *search, int *all_ideal) {
    *all_ideal = 1;
    for (size_t i = 0; i < search->count; i++) {
        struct gm_tile_access today;
        struct gm_access access = {.size = sizeof access};
        struct gm_bank_cost cost = {.size = sizeof cost};
        struct gm_access_shape shape;
        const struct gm_tile_access *walk = GM_TAKE_AT(search->walks, i, &today, "walk");
        enum gm_status status = walk ? gm_tile_access_place(&search->tile, walk, &access) : gm_last_status();
        if (status == GM_OK)
            status = gm_bank_cost(&access, &cost);
        if (status == GM_OK)
            status = gm_access_shape_of(walk->kind, walk->width, walk->matrices, walk->inactive, &shape);
        if (status != GM_OK)
            return status;
        while (1u << search->piece_log2 < shape.width)
            search->piece_log2++;
        *all_ideal &= cost.conflicts == 0;
    }
    return GM_OK;
}

/* The highest address bit that is not the same all over the tile. */
static uint32_t top_varying_bit(const struct gm_smem_tile *tile) {
    const uint32_t last = tile->base + (tile->rows - 1) * gm_smem_tile_pitch(tile) + tile->row_bytes - 1;
    return tile->base == last ? 0 : 31 - (uint32_t)__builtin_clz(tile->base ^ last);
}

enum gm_status gm_swizzle_search(const struct gm_smem_tile *tile, const struct gm_tile_access *walks, size_t count,
                                 struct gm_swizzle *swizzle, int *found) {
    struct search search = {.walks = walks, .count = count};
    struct gm_smem_tile today;
    enum gm_status status = GM_TAKE(tile, &today, "tile");
    if (status != GM_OK)
        return status;
    search.tile = *tile;
    search.tile.swizzle = (struct gm_swizzle){0}; /* the tile's own does not matter */
    status = gm_smem_tile_check(&search.tile);
    if (status != GM_OK)
        return status;
    if (!walks || count == 0 || count > WALKS_MAX)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%zu walks%s; the search wants 1 to %u", count,
                       walks ? "" : " at NULL", WALKS_MAX);
    if (!swizzle || !found)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is NULL", swizzle ? "found" : "swizzle");
    int all_ideal;
    search.top_bit = top_varying_bit(&search.tile);
    status = check_walks(&search, &all_ideal);
    if (status != GM_OK)
        return status;
    *swizzle = (struct gm_swizzle){0};
    *found = all_ideal || find(&search, swizzle);
    return GM_OK;
}
