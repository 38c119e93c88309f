/* SPDX-License-Identifier: Apache-2.0 */
/* What arithmetic alone says of a kernel on a device. */
#include "program/row_limits.h"

#include "gristmill/gemm.h"
#include "host/family.h"
#include "host/occupancy.h"

#define REGISTERS_PER_SM 65536

static int least(int x, int y) {
    return x < y ? x : y;
}

static int ctas_per_sm(const struct gm_kernel *kernel, const struct gm_device *device) {
    if (kernel->smem_bytes > device->smem_per_block_bytes ||
        !gm_kernel_runs_on(kernel, device->cc_major, device->cc_minor))
        return 0;
    int ctas = gm_blocks_per_sm(device, kernel->smem_bytes);
    ctas = least(ctas, device->max_threads_per_sm / kernel->threads);
    if (kernel->registers > 0)
        ctas = least(ctas, REGISTERS_PER_SM / ((kernel->registers + 7) / 8 * 8 * kernel->threads));
    return ctas;
}

struct kernel_limits limits_of(const struct gm_kernel *kernel, const struct gm_device *device) {
    struct kernel_limits limits = {.ctas_per_sm = ctas_per_sm(kernel, device)};
    struct gm_gemm_kernel_info gemm = {.size = sizeof gemm};
    if (gm_gemm_kernel_get((size_t)(kernel - gm_kernels), &gemm) == GM_OK) {
        const double m = gemm.tile_m, n = gemm.tile_n;
        limits.flop_per_fill_byte = m * n / (m + n);
        limits.flop_per_l2_byte = m * n / (m / gemm.cluster_n + n / gemm.cluster_m);
    }
    limits.tensor_share = kernel->family->tensor_share ? kernel->family->tensor_share(kernel, device) : 0;
    limits.tensor_tflops = limits.tensor_share * device->tensor_tflops;
    return limits;
}
