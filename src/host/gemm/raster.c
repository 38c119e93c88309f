/* SPDX-License-Identifier: Apache-2.0 */
/* The order of tiles. Its groups (common/gemm/raster.cuh) decide what the clusters of a wave share, and what of it L2
 * still holds when the next wave asks:
 *
 *   a wave in part of a group           a wave of several groups
 *
 *          minor side ->                       minor side ->
 *     m    . . w w W x .                  m    w w w  |
 *     a    . . w w W x .  | group         a    w w w  | group
 *     j    . . w w x x .  |               j    w w w    | group, whose rows the next wave reads too
 *     o                                   o    w x x    |
 *     r    column W is read by w and x    r    x x x
 *
 * Waves go through a cache that forgets what was used least recently. A simulation of that, k-block by k-block, is
 * mostly within 3 % of the DRAM reads that Nsight Compute counts; this is its closed form, within 8 to 12 % of it (root
 * mean square). The weights are those of 275 timings of 72 problems on an H200: docs/TUNING-LOG.md, entry 48. */
#include "host/gemm/raster.h"

#include "host/gemm/cost_terms.h"

#define GPC_SMS     16   /* of a Hopper GPC; some have 18, and as many as that make no cluster of 16 */
#define L2_SHARE    0.6  /* of L2's bytes serve: what the SMs at both of its halves read is in it twice */
#define L2_EDGE     0.15 /* from so much less to so much more than these, ever less of a wave is found again */
#define DRAM_WEIGHT 10.0 /* time and energy of a byte from DRAM, in bytes from L2 to a GPC */
#define ALONG_N     2.0  /* what a byte of D saves, in the same, where tiles follow each other along its rows */

/* One way to walk the tiles. Of pairs, the first is the side that is grouped ("major"), the second the other one. */
struct walk {
    int64_t tiles[2], tile[2], rows[2]; /* tiles, rows of an operand in one, rows of the operand */
    int64_t group, wave;                /* tiles in a group along the major side; clusters at once */
    double row_bytes, tile_bytes;       /* of an operand's row, of a tile of D */
    double l2_bytes;
};

static double waves(const struct walk *w) {
    return (double)(w->tiles[0] * w->tiles[1]) / (double)w->wave;
}

/* Share that has left L2 when `rows` of operands and `tiles` of D have come. */
static double gone(const struct walk *w, double rows, int64_t tiles) {
    const double bytes = rows * w->row_bytes + (double)tiles * w->tile_bytes;
    const double least = (1 - L2_EDGE) * w->l2_bytes, most = (1 + L2_EDGE) * w->l2_bytes;
    return bytes <= least ? 0 : bytes >= most ? 1 : (bytes - least) / (most - least);
}

/* Operand rows from DRAM where a wave is columns of a group: the group's own rows once more with each wave, the minor
 * operand with each group, and the columns that two waves share. */
static double rows_of_part_groups(const struct walk *w) {
    const int64_t group_tiles = w->group * w->tiles[1];
    const int shared = w->wave % w->group != 0 || group_tiles % w->wave != 0;
    const double group_rows = (double)(w->group * w->tile[0]), minor = (double)w->rows[1];
    const double columns = (double)w->wave / (double)w->group + shared;
    const double after_wave = gone(w, group_rows + columns * (double)w->tile[1], w->wave);
    const double after_group = gone(w, group_rows + minor, group_tiles);
    return (double)w->rows[0] * (1 + after_wave * ((double)group_tiles / (double)w->wave - 1)) +
           minor * (1 + after_group * (double)(GM_CEIL_DIV(w->tiles[0], w->group) - 1)) +
           after_wave * shared * waves(w) * (double)w->tile[1];
}

/* The same where a wave is several groups: all of the minor operand with each, and of the group that two waves share
 * half, in the mean. */
static double rows_of_whole_groups(const struct walk *w) {
    const int shared = w->wave % (w->group * w->tiles[1]) != 0;
    const double group_rows = (double)(w->group * w->tile[0]), minor = (double)w->rows[1];
    const double wave_tiles = (double)w->wave / (double)w->tiles[1] + (double)(shared * w->group);
    const double wave_rows = min2(wave_tiles, (double)w->tiles[0]) * (double)w->tile[0];
    const double after_wave = gone(w, wave_rows + minor, w->wave);
    return (double)w->rows[0] + after_wave * shared * waves(w) * group_rows / 2 +
           minor * (1 + after_wave * (waves(w) - 1));
}

static double dram_bytes(const struct walk *w) {
    return w->row_bytes * (w->wave < w->group * w->tiles[1] ? rows_of_part_groups(w) : rows_of_whole_groups(w));
}

/* Operand bytes that `count` tiles in a row touch. */
static double touched_bytes(const struct walk *w, int64_t count) {
    const int64_t rows = w->group < count ? w->group : count;
    return (double)(rows * w->tile[0] + GM_CEIL_DIV(count, rows) * w->tile[1]) * w->row_bytes;
}

/* Consecutive CTAs of a grid without clusters fill one GPC after the other, and a GPC asks L2 once for what several of
 * its SMs want at the same time. (Clusters go round the GPCs; sm80's CTAs share SMs.) */
static int fills_gpcs(const struct gm_gemm_variant *v) {
    return v->kernel->traits & GM_TRAIT_ONE_CTA_PER_SM && gm_cluster_size(v) == 1;
}

static double walk_cost(const struct walk *w, const struct gm_gemm_variant *v, double saved) {
    const int64_t tiles = w->tiles[0] * w->tiles[1];
    const double from_l2 = fills_gpcs(v) ? (double)tiles / GPC_SMS * touched_bytes(w, GPC_SMS) : 0;
    if (tiles <= w->wave) /* DRAM is read once in any order */
        return fills_gpcs(v) ? from_l2 : touched_bytes(w, tiles);
    return DRAM_WEIGHT * dram_bytes(w) + from_l2 - saved;
}

struct gm_raster gm_raster_choose(const struct gm_gemm_variant *v, const struct gm_gemm_problem *problem,
                                  const struct gm_device *device) {
    const int64_t tiles[2] = {gm_tiles_m(v, problem), gm_tiles_n(v, problem)};
    const int64_t tile[2] = {(int64_t)v->tile_m * v->cluster_m, (int64_t)v->tile_n * v->cluster_n};
    const int64_t size[2] = {problem->m, problem->n}, wave = gm_clusters_at_once(v->kernel, device);
    const int d_element = gm_type_bytes(problem->d_type);
    struct gm_raster best = {(int32_t)tiles[0], (int32_t)tiles[1], 1, 0};
    const int64_t narrowest = fills_gpcs(v) || tiles[0] * tiles[1] > wave ? 4 : 8;
    double least = INFINITY;
    for (int along_n = 0; along_n <= 1; along_n++) {
        for (int64_t wanted = narrowest; wanted <= 32; wanted *= 2) {
            const struct walk walk = {
                .tiles = {tiles[along_n], tiles[!along_n]},
                .tile = {tile[along_n], tile[!along_n]},
                .rows = {size[along_n], size[!along_n]},
                .group = wanted < tiles[along_n] ? wanted : tiles[along_n],
                .wave = wave,
                .row_bytes = (double)problem->k * gm_type_bytes(problem->ab_type),
                .tile_bytes = (double)(tile[0] * tile[1] * d_element),
                .l2_bytes = L2_SHARE * (double)device->l2_bytes,
            };
            const double saved = along_n ? ALONG_N * (double)size[0] * (double)size[1] * d_element : 0;
            const double cost = walk_cost(&walk, v, saved);
            if (cost < least) {
                least = cost;
                best.group = (int32_t)walk.group;
                best.along_n = along_n;
            }
        }
    }
    return best;
}
