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

/* One order of the tiles. Of each pair, the first is the side that is grouped ("major"), the second the minor side. */
struct tile_order {
    int64_t tiles[2], tile[2], rows[2]; /* tiles, rows of an operand in one, rows of the operand */
    int64_t group, wave;                /* tiles in a group along the major side; clusters at once */
    double row_bytes, tile_bytes;       /* of an operand's row, of a tile of D */
    double l2_bytes;
};

static double waves(const struct tile_order *o) {
    return (double)(o->tiles[0] * o->tiles[1]) / (double)o->wave;
}

/* Share of what L2 held that is evicted after `rows` of operands and `tiles` of D have come. */
static double evicted_share(const struct tile_order *o, double rows, int64_t tiles) {
    const double bytes = rows * o->row_bytes + (double)tiles * o->tile_bytes;
    const double least = (1 - L2_EDGE) * o->l2_bytes, most = (1 + L2_EDGE) * o->l2_bytes;
    return bytes <= least ? 0 : bytes >= most ? 1 : (bytes - least) / (most - least);
}

/* Operand rows from DRAM where a wave is columns of a group: the group's own rows once more with each wave, the minor
 * operand with each group, and the columns that two waves share. */
static double rows_of_part_groups(const struct tile_order *o) {
    const int64_t group_tiles = o->group * o->tiles[1];
    const int shared = o->wave % o->group != 0 || group_tiles % o->wave != 0;
    const double group_rows = (double)(o->group * o->tile[0]), minor = (double)o->rows[1];
    const double columns = (double)o->wave / (double)o->group + shared;
    const double after_wave = evicted_share(o, group_rows + columns * (double)o->tile[1], o->wave);
    const double after_group = evicted_share(o, group_rows + minor, group_tiles);
    return (double)o->rows[0] * (1 + after_wave * ((double)group_tiles / (double)o->wave - 1)) +
           minor * (1 + after_group * (double)(GM_CEIL_DIV(o->tiles[0], o->group) - 1)) +
           after_wave * shared * waves(o) * (double)o->tile[1];
}

/* Operand rows from DRAM where a wave is several groups: all of the minor operand with each, and half, in the mean, of
 * the group that two waves share. */
static double rows_of_whole_groups(const struct tile_order *o) {
    const int shared = o->wave % (o->group * o->tiles[1]) != 0;
    const double group_rows = (double)(o->group * o->tile[0]), minor = (double)o->rows[1];
    const double wave_tiles = (double)o->wave / (double)o->tiles[1] + (double)(shared * o->group);
    const double wave_rows = min2(wave_tiles, (double)o->tiles[0]) * (double)o->tile[0];
    const double after_wave = evicted_share(o, wave_rows + minor, o->wave);
    return (double)o->rows[0] + after_wave * shared * waves(o) * group_rows / 2 +
           minor * (1 + after_wave * (waves(o) - 1));
}

static double dram_bytes(const struct tile_order *o) {
    return o->row_bytes * (o->wave < o->group * o->tiles[1] ? rows_of_part_groups(o) : rows_of_whole_groups(o));
}

/* Operand bytes that `count` consecutive tiles touch. */
static double touched_bytes(const struct tile_order *o, int64_t count) {
    const int64_t rows = o->group < count ? o->group : count;
    return (double)(rows * o->tile[0] + GM_CEIL_DIV(count, rows) * o->tile[1]) * o->row_bytes;
}

/* Whether consecutive CTAs fill one GPC after the other: those of a grid without clusters do. A GPC asks L2 once for
 * what several of its SMs want at the same time. (Clusters go round the GPCs; sm80's CTAs share SMs.) */
static int ctas_fill_gpcs_in_order(const struct gm_gemm_variant *v) {
    return v->kernel->traits & GM_TRAIT_ONE_CTA_PER_SM && gm_cluster_size(v) == 1;
}

/* Bytes that an order reads, in bytes from L2 to a GPC. */
static double traffic_of(const struct tile_order *o, const struct gm_gemm_variant *v, double saved) {
    const int64_t tiles = o->tiles[0] * o->tiles[1];
    const double from_l2 = ctas_fill_gpcs_in_order(v) ? (double)tiles / GPC_SMS * touched_bytes(o, GPC_SMS) : 0;
    if (tiles <= o->wave) /* DRAM is read once in any order */
        return ctas_fill_gpcs_in_order(v) ? from_l2 : touched_bytes(o, tiles);
    return DRAM_WEIGHT * dram_bytes(o) + from_l2 - saved;
}

struct gm_raster gm_raster_choose(const struct gm_gemm_variant *v, const struct gm_gemm_problem *problem,
                                  const struct gm_device *device) {
    const int64_t tiles[2] = {gm_tiles_m(v, problem), gm_tiles_n(v, problem)};
    const int64_t tile[2] = {(int64_t)v->tile_m * v->cluster_m, (int64_t)v->tile_n * v->cluster_n};
    const int64_t size[2] = {problem->m, problem->n}, wave = gm_clusters_at_once(v->kernel, device);
    const int d_element = gm_type_bytes(problem->d_type);
    struct gm_raster best = {(int32_t)tiles[0], (int32_t)tiles[1], 1, 0};
    const int64_t narrowest = ctas_fill_gpcs_in_order(v) || tiles[0] * tiles[1] > wave ? 4 : 8;
    double least = INFINITY;
    for (int along_n = 0; along_n <= 1; along_n++) {
        for (int64_t wanted = narrowest; wanted <= 32; wanted *= 2) {
            const struct tile_order order = {
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
            const double cost = traffic_of(&order, v, saved);
            if (cost < least) {
                least = cost;
                best.group = (int32_t)order.group;
                best.along_n = along_n;
            }
        }
    }
    return best;
}
