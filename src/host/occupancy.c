/* SPDX-License-Identifier: Apache-2.0 */
/* How many CTAs of a kernel a device holds at once. */
#include "host/occupancy.h"

#include "common/arith.h"

#define REGISTERS_PER_SM   65536
#define BLOCK_SMEM_RESERVE 1024 /* bytes that the driver keeps of every block, beyond what the block asks for */
#define SMEM_GRANULE       128  /* bytes; a block takes whole ones */
#define CLUSTER3_SMS       0.89 /* share of the SMs that clusters of 3 reach: 39 of them on an H200's 132 SMs, */
#define CLUSTER4_SMS       0.91 /* and clusters of 4 and more: 30 of 4 CTAs; GPCs have SMs left over */

int gm_blocks_per_sm(const struct gm_device *device, int64_t smem_bytes) {
    const int cc = 10 * device->cc_major + device->cc_minor;
    const int most = cc == 86 || cc == 87 ? 16 : cc == 89 || cc >= 120 ? 24 : 32;
    const int64_t taken = GM_CEIL_DIV(smem_bytes + BLOCK_SMEM_RESERVE, SMEM_GRANULE) * SMEM_GRANULE;
    const int64_t fit = device->smem_per_sm_bytes / taken;
    return fit < most ? (int)fit : most;
}

int gm_ctas_per_sm(const struct gm_kernel *kernel, const struct gm_device *device) {
    if (kernel->traits & GM_TRAIT_ONE_CTA_PER_SM)
        return 1;
    const int by_smem = gm_blocks_per_sm(device, kernel->smem_bytes);
    const int by_threads = device->max_threads_per_sm / kernel->threads;
    const int registers = GM_CEIL_DIV(kernel->registers, 8) * 8; /* the unit of allocation */
    const int by_registers = registers > 0 ? REGISTERS_PER_SM / (registers * kernel->threads) : by_threads;
    const int ctas = GM_MIN(GM_MIN(by_smem, by_threads), by_registers);
    return ctas > 1 ? ctas : 1;
}

int64_t gm_clusters_at_once(const struct gm_kernel *kernel, const struct gm_device *device) {
    const int ctas = kernel->cluster_ctas;
    const double share = ctas <= 2 ? 1 : ctas == 3 ? CLUSTER3_SMS : CLUSTER4_SMS;
    const int64_t clusters = (int64_t)(share * device->sm_count) * gm_ctas_per_sm(kernel, device) / ctas;
    return clusters > 1 ? clusters : 1;
}
