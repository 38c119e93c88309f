/* SPDX-License-Identifier: Apache-2.0 */
/* What arithmetic alone says of a table row on a device. */
#include "row_limits.h"

#include "cost.h"

#define REGISTERS_PER_SM 65536

static int least(int x, int y) {
    return x < y ? x : y;
}

static int ctas_per_sm(const struct gm_kernel *row, const struct gm_device *device) {
    if (row->smem_bytes > device->smem_per_block_bytes || !gm_kernel_runs_on(row, device->cc_major, device->cc_minor))
        return 0;
    int ctas = gm_blocks_per_sm(device, row->smem_bytes);
    ctas = least(ctas, device->max_threads_per_sm / row->threads);
    if (row->registers > 0)
        ctas = least(ctas, REGISTERS_PER_SM / ((row->registers + 7) / 8 * 8 * row->threads));
    return ctas;
}

struct kernel_limits limits_of(const struct gm_kernel *row, const struct gm_device *device) {
    double m = row->tile_m, n = row->tile_n;
    struct kernel_limits limits = {.ctas_per_sm = ctas_per_sm(row, device)};
    limits.flop_per_fill_byte = m * n / (m + n);
    limits.flop_per_l2_byte = m * n / (m / row->cluster_n + n / row->cluster_m);
    limits.tensor_share = gm_tensor_share(row, device);
    limits.tensor_tflops = limits.tensor_share * device->tensor_tflops;
    return limits;
}
