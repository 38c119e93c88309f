/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model of the gemv rows.
 *
 *   time = launch + (1 + again * (tiles along M - 1)) * the slowest of (DRAM, the busiest SM's stream, its arithmetic,
 *          its loads)
 *
 * for every tile along M reads B again, partly from L2. Fitted to 225 times of one to 16 rows of A on an H200, aligned
 * and not; the row that it likes best takes 2 % more than the best, in the mean of 33 problems. */
#include "cost_terms.h"

#define GEMV_LAUNCH_US       3.8 /* launch, first byte of a cold operand, the last CTA's sums */
#define GEMV_DRAM_EFFICIENCY 0.95
#define GEMV_STREAM_BYTES    21.9   /* per clock from DRAM into one SM */
#define GEMV_TURN_CLOCKS     2700.0 /* from a load to the next one into its registers, a long latency */
#define GEMV_CTA_CLOCKS      1500.0 /* from a CTA's start to its first bytes, and from its last to its end */
#define GEMV_LANES_PER_CLOCK 41.6   /* arithmetic of an SM: a third of what it issues at best */
#define GEMV_CLOCKS_PER_LOAD 2.44   /* of a warp's load instruction, in one SM */
#define GEMV_AGAIN           0.71   /* share of the time that another reading of B takes */
#define GEMV_CROWDED         1.06 /* of tiles of 16 rows on Hopper, where early CTAs of the next launch crowd some SMs */

/* Of one load of a lane: the operands' alignment decides. */
static double lane_elems(const struct gm_gemm_problem *p) {
    return min2(copy_bytes(gm_operand_a(p), p->a_align), copy_bytes(gm_operand_b(p), p->b_align)) / GM_ELEM_BYTES;
}

/* Clocks of the SM for one tile: elements of B converted, multiplied with each row of A, and loaded, 16 bytes a lane
 * or as few as the operands' alignment allows; A is loaded with them. */
static double tile_clocks(const struct gm_kernel *row, const struct gm_gemm_problem *p) {
    const double rows = (double)row->tile_n / GM_WARPS_N(row->warps);
    const double elements = row->tile_n * (double)p->k;
    const double arithmetic = elements * (1 + row->tile_m) * (1 + 1 / rows) / GEMV_LANES_PER_CLOCK;
    const double loads = elements / (32 * lane_elems(p)) * (1 + row->tile_m / rows) * GEMV_CLOCKS_PER_LOAD;
    return max2(arithmetic, loads);
}

/* The busiest SM's tiles along N. Few CTAs have few bytes under way, and each begins and ends with none. */
static double path_us(const struct gm_kernel *row, const struct gm_gemm_problem *p, const struct gm_device *device) {
    const double tiles = ceil_div((double)gm_tiles_n(row, p), device->sm_count);
    const double together = min2(tiles, gm_ctas_per_sm(row, device));
    const double step_bytes = (double)row->tile_n * row->tile_k * GM_ELEM_BYTES / (lane_elems(p) > 1 ? 1 : 2);
    const double flying = together * row->stages * step_bytes / GEMV_TURN_CLOCKS;
    const double stream = tiles * row->tile_n * (double)p->k * GM_ELEM_BYTES / min2(GEMV_STREAM_BYTES, flying);
    const double turns = ceil_div(tiles, together) * GEMV_CTA_CLOCKS;
    return (turns + max2(stream, tiles * tile_clocks(row, p))) / clock_mhz(device);
}

double gm_cost_gemv_us(const struct gm_kernel *row, const struct gm_gemm_problem *p, const struct gm_device *device) {
    const double once = max2(dram_us(p, device, GEMV_DRAM_EFFICIENCY), path_us(row, p, device));
    /* sm80's rows are not crowded, but launch without overlap: they should not win by it. */
    const double crowded = device->cc_major >= 9 && row->tile_n >= 16 ? GEMV_CROWDED : 1;
    return GEMV_LAUNCH_US + (1 + GEMV_AGAIN * ((double)gm_tiles_m(row, p) - 1)) * crowded * once;
}
