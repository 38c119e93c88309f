/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model of gemv.
 *
 *   time = launch + max(DRAM, waves of CTAs) + ramp
 *
 * A wave is as many tiles as all SMs hold at once, or the rest of them; it takes the slowest of the busiest SM's
 * stream, its arithmetic and its loads. Tiles along M read B again, from L2. Fitted to the times of one to 16 rows of A
 * on an H200. */
#include "host/gemm/cost_terms.h"
#include "host/gemv/gemv.h"

#define GEMV_LAUNCH_US       0.363  /* us of a launch that overlaps the previous one */
#define GEMV_ALONE_US        0.446  /* us more where launches do not overlap */
#define GEMV_CTA_CLOCKS      2430.0 /* clocks from a CTA's start to its first bytes, and from its last to its end */
#define GEMV_DRAM_EFFICIENCY 0.94   /* reachable share of DRAM's datasheet bandwidth */
#define GEMV_RAMP_US         3.4    /* us, at most, until that bandwidth is reached, and after it was */
#define GEMV_RAMP_SHARE      0.312  /* the ramp's share of DRAM's time, at most */
#define GEMV_STREAM_BYTES    24.8   /* bytes a clock from DRAM into one SM */
#define GEMV_TURN_CLOCKS     2380.0 /* clocks from a load to the next one into its registers, a long latency */
#define GEMV_LANES_PER_CLOCK 41.6   /* arithmetic of an SM, lanes a clock: a third of what it issues at best */
#define GEMV_CLOCKS_PER_LOAD 2.44   /* clocks of a warp's load instruction, in one SM */
#define GEMV_AGAIN           1.16   /* time of a tile of the next rows of A, in times of a tile of the first rows */
#define GEMV_CROWDED         1.06   /* factor of 16-row tiles' time on Hopper: CTAs of the next launch crowd some SMs */

/* Elements of one load of a lane, as many as the operands' alignment allows. */
static double lane_elems(const struct gm_gemm_problem *p) {
    return min2(copy_bytes(gm_operand_a(p), p->a_align), copy_bytes(gm_operand_b(p), p->b_align)) /
           gm_type_bytes(p->ab_type);
}

/* Clocks of the SM for one tile: elements of B converted, multiplied with each row of A, and loaded, 16 bytes a lane
 * or as few as the operands' alignment allows; A is loaded with them. */
static double tile_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    const double rows = (double)v->tile_n / v->kernel->columns[GM_GEMV_WARPS_N];
    const double elements = v->tile_n * (double)p->k;
    const double arithmetic = elements * (1 + v->tile_m) * (1 + 1 / rows) / GEMV_LANES_PER_CLOCK;
    const double loads = elements / (32 * lane_elems(p)) * (1 + v->tile_m / rows) * GEMV_CLOCKS_PER_LOAD;
    return max2(arithmetic, loads);
}

/* Clocks of a wave in which the busiest SM has `tiles` tiles. Few tiles have few bytes in flight. */
static double wave_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p, double tiles) {
    const double step_bytes = (double)v->tile_n * v->tile_k * gm_type_bytes(p->ab_type) / (lane_elems(p) > 1 ? 1 : 2);
    const double flying = tiles * v->stages * step_bytes / GEMV_TURN_CLOCKS;
    const double stream =
        tiles * v->tile_n * (double)p->k * gm_type_bytes(p->ab_type) / min2(GEMV_STREAM_BYTES, flying);
    return tiles > 0 ? GEMV_CTA_CLOCKS + max2(stream, tiles * tile_clocks(v, p)) : 0;
}

static double path_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                      const struct gm_device *device) {
    const double tiles_m = (double)gm_tiles_m(v, p), tiles = tiles_m * (double)gm_tiles_n(v, p);
    const double sms = device->sm_count, together = gm_ctas_per_sm(v->kernel, device);
    const double waves = floor(tiles / (sms * together)), rest = ceil_div(tiles - waves * sms * together, sms);
    const double again = (1 + GEMV_AGAIN * (tiles_m - 1)) / tiles_m;
    return again * (waves * wave_clocks(v, p, together) + wave_clocks(v, p, rest)) / clock_mhz(device);
}

double gm_gemv_cost_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p, const struct gm_device *device,
                       const struct gm_gemm_division *division) {
    (void)division; /* gemv divides nothing */
    const double dram = dram_us(p, device, GEMV_DRAM_EFFICIENCY);
    const double once = max2(dram, path_us(v, p, device)) + min2(GEMV_RAMP_US, GEMV_RAMP_SHARE * dram);
    /* sm80's variants are not crowded, because their launches do not overlap: they should not win by that. */
    const double crowded = device->cc_major >= 9 && v->tile_n >= 16 ? GEMV_CROWDED : 1;
    return GEMV_LAUNCH_US + (v->kernel->arch == GM_ARCH_SM80 ? GEMV_ALONE_US : 0) + crowded * once;
}
