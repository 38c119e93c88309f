/* SPDX-License-Identifier: Apache-2.0 */
/* What the cost models of the GEMM families are made of.
 *
 *   time = launch + slowest of (critical path of the busiest SM, memory, what else all SMs share)
 *
 * where "slowest" is a smooth maximum, since a resource near its limit slows the others. A k-block (one stage) costs
 * the busiest SM the slowest of what it needs of that SM. gemm_sm90 is compared in SM clocks, which the power limit
 * leaves alone, and where it binds also in the bytes that it moves; gemm_sm80 in microseconds, with a term for power.
 * The constants of the models are the whole calibration, fitted to measured medians on an H200 (tools/fit_cost.py);
 * docs/TUNING.md says how well they choose. gemv, which has no tensor cores and no ring to count, is a few terms of its
 * own. */
#ifndef GM_GEMM_COST_TERMS_H
#define GM_GEMM_COST_TERMS_H

#include "common/arith.h"
#include "host/gemm/divide.h"
#include "host/gemm/problem.h"
#include "host/gemm/variant.h"
#include "host/occupancy.h"

#include <math.h>

#define SMEM_BYTES_PER_CLOCK 128.0
#define SECTOR_BYTES         32 /* of L2's lines of 128 */

static inline double ceil_div(double a, double b) {
    return ceil(a / b);
}

static inline double max2(double a, double b) {
    return a > b ? a : b;
}

static inline double min2(double a, double b) {
    return a < b ? a : b;
}

/* exponent-norm of positive terms: the largest, and more the nearer the others come to it. */
static inline double smooth_max(double exponent, const double *terms, int count) {
    double largest = 0, sum = 0;
    for (int i = 0; i < count; i++)
        largest = max2(largest, terms[i]);
    for (int i = 0; i < count && largest > 0; i++)
        sum += pow(terms[i] / largest, exponent);
    return largest * pow(sum, 1 / exponent);
}

static inline double clock_mhz(const struct gm_device *device) {
    return device->sm_clock_mhz > 0 ? device->sm_clock_mhz : 1500;
}

/* Bytes of one copy or load of an operand on the sm80 path and in gemv: 16, 8, 4 or 2. */
static inline double copy_bytes(struct gm_operand operand, int align) {
    return gm_copy_bytes((uint64_t)align, operand.stride * operand.element_bytes, operand.rows);
}

/* Rows of A, and of B, of all matrices of a batch that differ. */
static inline double different_rows(const struct gm_gemm_problem *p, int64_t rows, int64_t batch_stride) {
    return (double)rows * (double)gm_gemm_matrices(p, batch_stride);
}
static inline double operand_bytes(const struct gm_gemm_problem *p) {
    return (different_rows(p, p->m, p->a_batch_stride) + different_rows(p, p->n, p->b_batch_stride)) * (double)p->k *
           gm_type_bytes(p->ab_type);
}

/* The least bytes: every operand and D once. */
static inline double least_bytes(const struct gm_gemm_problem *p) {
    return operand_bytes(p) + (double)p->batch * (double)p->m * (double)p->n * gm_type_bytes(p->d_type);
}

/* Of the tensor cores, counted as those of 16-bit operands: one of tf32 draws as much power as so many. */
#define TF32_POWER       1.5
#define TF32X3_POWER     (3 * TF32_POWER)
#define EIGHT_BITS_POWER 0.5
static inline double operations(const struct gm_gemm_problem *p) {
    const double each = p->ab_type == GM_TF32     ? TF32_POWER
                        : p->ab_type == GM_TF32X3 ? TF32X3_POWER
                        : gm_gemm_is_of_8_bits(p) ? EIGHT_BITS_POWER
                                                  : 1;
    return 2 * each * (double)p->batch * (double)p->m * (double)p->n * (double)p->k;
}

static inline double dram_us(const struct gm_gemm_problem *p, const struct gm_device *device, double efficiency) {
    return device->dram_gbs > 0 ? least_bytes(p) / (efficiency * device->dram_gbs * 1e3) : 0;
}

static inline double power_us(const struct gm_gemm_problem *p, const struct gm_device *device, double share,
                              double extra) {
    const double flop = operations(p) + extra;
    return device->tensor_tflops > 0 ? flop / (share * device->tensor_tflops * 1e6) : 0;
}

/* One round: so many CTAs share an SM from start to end of a tile each. */
typedef double round_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                        const struct gm_device *device, double together);

/* So many tiles, by CTAs of which several share an SM: full rounds of the busiest SM, and what is left. */
static inline double tiles_us(round_us *one_round, const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                              const struct gm_device *device, double tiles) {
    const double on_busiest = ceil_div(tiles, device->sm_count); /* tiles of the busiest SM */
    const double resident = gm_ctas_per_sm(v->kernel, device);
    const double full = floor(on_busiest / resident);
    const double rest = on_busiest - full * resident;
    double us = rest > 0 ? one_round(v, p, device, rest) : 0;
    if (full > 0)
        us += full * one_round(v, p, device, resident);
    return us;
}

#endif
