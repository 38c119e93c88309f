/* SPDX-License-Identifier: Apache-2.0 */
/* How a row covers a problem, and the choice among the cost models.
 *
 *   time = launch + slowest of (critical path of the busiest SM, memory, what else all SMs share)
 *
 * where "slowest" is a smooth maximum, since a resource near its limit slows the others. A k-block (one stage) costs
 * the busiest SM the slowest of what it needs of that SM. sm90's rows are compared in SM clocks, which the power limit
 * leaves alone, and where it binds also in the bytes that they move; sm80's in microseconds, with a term for power. The
 * constants of the models are the whole calibration, fitted to measured medians on an H200 (tools/fit_cost.py);
 * docs/TUNING.md says how well they choose. cost_gemv.c, which has no tensor cores and no ring to count, is a few terms
 * of its own. */
#include "cost.h"

#include "cost_terms.h"
#include "problem.h"

#define REGISTERS_PER_SM   65536
#define BLOCK_SMEM_RESERVE 1024 /* bytes that the driver keeps of every block, beyond what the block asks for */
#define SMEM_GRANULE       128  /* bytes; a block takes whole ones */
#define CLUSTER3_SMS       0.89 /* share of the SMs that clusters of 3 reach: 39 of them on an H200's 132 SMs, */
#define CLUSTER4_SMS       0.91 /* and clusters of 4 and more: 30 of 4 CTAs; GPCs have SMs left over */

int64_t gm_tiles_m(const struct gm_kernel *row, const struct gm_gemm_problem *problem) {
    return GM_CEIL_DIV(problem->m, (int64_t)row->tile_m * row->cluster_m);
}

int64_t gm_tiles_n(const struct gm_kernel *row, const struct gm_gemm_problem *problem) {
    return GM_CEIL_DIV(problem->n, (int64_t)row->tile_n * row->cluster_n);
}

int gm_blocks_per_sm(const struct gm_device *device, int64_t smem_bytes) {
    const int cc = 10 * device->cc_major + device->cc_minor;
    const int most = cc == 86 || cc == 87 ? 16 : cc == 89 || cc >= 120 ? 24 : 32;
    const int64_t taken = GM_CEIL_DIV(smem_bytes + BLOCK_SMEM_RESERVE, SMEM_GRANULE) * SMEM_GRANULE;
    const int64_t fit = device->smem_per_sm_bytes / taken;
    return fit < most ? (int)fit : most;
}

int gm_ctas_per_sm(const struct gm_kernel *row, const struct gm_device *device) {
    if (gm_uses_tma(row))
        return 1; /* a persistent grid has one CTA per SM */
    int by_smem = gm_blocks_per_sm(device, row->smem_bytes);
    int by_threads = device->max_threads_per_sm / row->threads;
    const int registers = GM_CEIL_DIV(row->registers, 8) * 8; /* the unit of allocation */
    int by_registers = registers > 0 ? REGISTERS_PER_SM / (registers * row->threads) : by_threads;
    int ctas = by_smem < by_threads ? by_smem : by_threads;
    ctas = ctas < by_registers ? ctas : by_registers;
    return ctas > 1 ? ctas : 1;
}

int gm_cluster_size(const struct gm_kernel *row) {
    return row->cluster_m * row->cluster_n * GM_WARPS_SPLITS(row->warps);
}

int64_t gm_clusters_at_once(const struct gm_kernel *row, const struct gm_device *device) {
    const int size = gm_cluster_size(row);
    const double share = size <= 2 ? 1 : size == 3 ? CLUSTER3_SMS : CLUSTER4_SMS;
    const int64_t clusters = (int64_t)(share * device->sm_count) * gm_ctas_per_sm(row, device) / size;
    return clusters > 1 ? clusters : 1;
}

double gm_tensor_share(const struct gm_kernel *row, const struct gm_device *device) {
    if (row->family == GM_FAMILY_gemv)
        return 0;
    return gm_uses_tma(row) ? gm_wgmma_share(row) : gm_mma_sync_share(device);
}

int gm_copy_bytes(uint64_t base, int64_t stride_bytes, int64_t rows) {
    const uint64_t bits = base | (rows > 1 ? (uint64_t)stride_bytes : 0) | 16;
    return (int)(bits & -bits);
}

double gm_cost_divided_us(const struct gm_kernel *row, const struct gm_gemm_problem *problem,
                          const struct gm_device *device, const struct gm_division *division) {
    if (row->family == GM_FAMILY_gemv)
        return gm_cost_gemv_us(row, problem, device);
    return gm_uses_tma(row) ? gm_cost_sm90_us(row, problem, device, division)
                            : gm_cost_sm80_us(row, problem, device, division);
}

double gm_cost_us(const struct gm_kernel *row, const struct gm_gemm_problem *problem, const struct gm_device *device) {
    const struct gm_division none = {.whole = gm_tiles_m(row, problem) * gm_tiles_n(row, problem)};
    return gm_cost_divided_us(row, problem, device, &none);
}
