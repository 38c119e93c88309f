/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model of gemm_fp32: the issue slots of FFMA, several CTAs on an SM. host/gemm/cost_terms.h says how a model
 * is made. The rate is what large products reach on an H200; the other constants are estimates. */
#include "host/gemm/cost_terms.h"
#include "host/gemm_fp32/gemm_fp32.h"

#define FP32_SMOOTH                  4.0
#define FP32_LAUNCH_US               2.5
#define FP32_DRAM_EFFICIENCY         0.85
#define FP32_RATE                    0.75 /* of the FFMAs that issue slots allow: registers of one bank, uneven warps */
#define FP32_STEP_SLOTS              6.0  /* of a warp for a step of K: addresses and the loop */
#define FP32_KBLOCK_SLOTS            48.0 /* of a warp for a k-block: copies, barrier */
#define FP32_LOAD_WAVEFRONTS         1.5  /* of a 16-byte load by a warp, of shared memory */
#define FP32_STEP_CLOCKS             45.0 /* of a warp alone from a step's loads to its first FFMA */
#define FP32_KBLOCK_CLOCKS           60.0 /* of a CTA alone, for the barrier */
#define FP32_FILL_CLOCKS             1000.0 /* from the copies' issue to the first bytes' arrival */
#define FP32_PORT_BYTES_PER_CLOCK    36.6   /* of cp.async into one SM, by all its CTAs */
#define FP32_NARROW_COPY_SLOTS       150.0  /* of a warp for a 16-byte chunk a lane in narrower copies */
#define FP32_STORE_BYTES_PER_CLOCK   16.0
#define FP32_PARTIAL_BYTES_PER_CLOCK 9.0 /* stream-K: one SM to L2 or back */
#define FP32_STREAM_K_US             3.0 /* stream-K: from the last store to the first load */

/* Lanes of an SM that multiply in a clock. */
static double lanes_per_clock(const struct gm_device *device) {
    return device->cc_major == 8 && device->cc_minor == 0 ? 64 : 128;
}

static double warps_of(const struct gm_gemm_variant *v) {
    return v->kernel->threads / 32.0;
}

/* Issue slots of a warp for the copies of an operand in a k-block, beside those that a k-block has anyway. */
static double copy_slots(const struct gm_gemm_variant *v, double copy_bytes, int tile_mn) {
    const double chunks = (double)tile_mn * v->tile_k / 4 / v->kernel->threads;
    return copy_bytes < 16 ? chunks * FP32_NARROW_COPY_SLOTS : 0;
}

/* One k-block of `together` CTAs that share the SM. */
static double kblock_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                        const struct gm_device *device, double together) {
    const double warps = warps_of(v), steps = v->tile_k / 4.0;
    const double ffmas = 4.0 * v->tile_m * v->tile_n / (32 * 32 * warps) * 32; /* of a warp in a step */
    const double loads = 2 * sqrt(ffmas / 4); /* a thread's part of the tile is nearly square */
    const double narrow = copy_slots(v, copy_bytes(gm_operand_a(p), p->a_align), v->tile_m) +
                          copy_slots(v, copy_bytes(gm_operand_b(p), p->b_align), v->tile_n);
    const double slots = steps * (ffmas + loads + FP32_STEP_SLOTS) + FP32_KBLOCK_SLOTS + narrow;
    const double lanes = lanes_per_clock(device);
    const double issue = warps * max2(slots / 4, steps * ffmas * 32 / lanes) / FP32_RATE;
    const double smem = warps * steps * loads * FP32_LOAD_WAVEFRONTS;
    const double bytes = (min2(v->tile_m, (double)p->m) + min2(v->tile_n, (double)p->n)) * v->tile_k * 4;
    const double shared = max2(issue, max2(smem, bytes / FP32_PORT_BYTES_PER_CLOCK));
    const double alone = ceil_div(warps, 4) * slots * max2(1, 128 / lanes) +
                         steps * FP32_STEP_CLOCKS / ceil_div(warps, 4) + FP32_KBLOCK_CLOCKS;
    const double fill = FP32_FILL_CLOCKS / (v->stages - 1);
    return max2(together * shared, max2(alone, fill)) / clock_mhz(device);
}

static double store_us(const struct gm_gemm_variant *v, const struct gm_device *device, double together) {
    return together * v->tile_m * v->tile_n * 4 / FP32_STORE_BYTES_PER_CLOCK / clock_mhz(device);
}

/* One round: `together` CTAs share the SM from start to end of a tile each. */
static double fp32_round_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                            const struct gm_device *device, double together) {
    return ceil_div((double)p->k, v->tile_k) * kblock_us(v, p, device, together) + store_us(v, device, together) +
           FP32_FILL_CLOCKS / clock_mhz(device);
}

/* A share of the divided tiles: its k-blocks, a store, one partial sum published, and the others of its tile
 * collected. */
static double stream_k_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                          const struct gm_device *device, double tiles, double shares) {
    const double together = ceil_div(shares, device->sm_count);
    const double blocks = ceil_div(tiles * ceil_div((double)p->k, v->tile_k), shares);
    const double collects = max2(ceil_div(shares, tiles) - 1, 1), stores = ceil_div(tiles, shares);
    const double partial_bytes = together * v->tile_m * v->tile_n * sizeof(float);
    return blocks * kblock_us(v, p, device, together) + stores * store_us(v, device, together) +
           (1 + collects) * partial_bytes / FP32_PARTIAL_BYTES_PER_CLOCK / clock_mhz(device) +
           FP32_FILL_CLOCKS / clock_mhz(device) + FP32_STREAM_K_US;
}

double gm_gemm_fp32_cost_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                            const struct gm_device *device, const struct gm_gemm_division *division) {
    const double whole = (double)division->whole, shares = (double)division->shares;
    const double divided = (double)gm_tiles(v, p) - whole;
    double path_us = tiles_us(fp32_round_us, v, p, device, whole);
    if (shares > 0)
        path_us += stream_k_us(v, p, device, divided, shares);
    const double terms[] = {path_us, dram_us(p, device, FP32_DRAM_EFFICIENCY)};
    return FP32_LAUNCH_US + smooth_max(FP32_SMOOTH, terms, 2);
}
