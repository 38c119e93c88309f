/* SPDX-License-Identifier: Apache-2.0 */
/* What arithmetic alone says of a table row on a device. */
#include "row_limits.h"

#include <math.h>
#include <string.h>

#include "cost.h"

#define REGISTERS_PER_SM 65536
/* mma.sync reaches this share of the WGMMA rate on 9.0; on 8.x it is the tensor rate itself. */
#define MMA_SYNC_SHARE_ON_SM90 0.62

double limits_wgmma_cycles(int n) {
    return fmax(n / 2.0, 16 + n / 4.0);
}

static int least(int x, int y) {
    return x < y ? x : y;
}

static int ctas_per_sm(const struct gm_kernel_info *kernel, const struct gm_device *device) {
    if (kernel->smem_bytes > device->smem_per_block_bytes)
        return 0;
    if (kernel->arch == GM_ARCH_SM90 && (device->cc_major != 9 || device->cc_minor != 0))
        return 0;
    int ctas = gm_blocks_per_sm(device, kernel->smem_bytes);
    ctas = least(ctas, device->max_threads_per_sm / kernel->threads);
    if (kernel->registers > 0)
        ctas = least(ctas, REGISTERS_PER_SM / ((kernel->registers + 7) / 8 * 8 * kernel->threads));
    return ctas;
}

static double tensor_share(const struct gm_kernel_info *kernel, const struct gm_device *device) {
    if (strcmp(kernel->family, "gemm") != 0)
        return 0; /* no tensor cores */
    if (kernel->arch == GM_ARCH_SM90)
        return kernel->tile_n / 2.0 / limits_wgmma_cycles(kernel->tile_n);
    return device->cc_major == 9 ? MMA_SYNC_SHARE_ON_SM90 : 1.0;
}

struct kernel_limits limits_of(const struct gm_kernel_info *kernel, const struct gm_device *device) {
    double m = kernel->tile_m, n = kernel->tile_n;
    struct kernel_limits limits = {.ctas_per_sm = ctas_per_sm(kernel, device)};
    limits.flop_per_fill_byte = m * n / (m + n);
    limits.flop_per_l2_byte = m * n / (m / kernel->cluster_n + n / kernel->cluster_m);
    limits.tensor_share = tensor_share(kernel, device);
    limits.tensor_tflops = limits.tensor_share * device->tensor_tflops;
    return limits;
}
