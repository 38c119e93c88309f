/* SPDX-License-Identifier: Apache-2.0 */
/* Special registers: the front of a warp's register file. */
#include "sim/machine/schedule.h"

#include "sim/machine/devices.h"

static uint32_t *row(struct sim_warp *warp, enum ptx_special special) {
    return (uint32_t *)(warp->registers + PTX_SPECIAL_OFFSET(special));
}

static void fill(struct sim_warp *warp, enum ptx_special special, uint32_t value) {
    uint32_t *const lanes = row(warp, special);
    for (int lane = 0; lane < PTX_LANES; lane++)
        lanes[lane] = value;
}

static void fill3(struct sim_warp *warp, enum ptx_special first, const uint32_t values[3]) {
    for (int n = 0; n < 3; n++)
        fill(warp, first + n, values[n]);
}

static void fill_lanes(struct sim_warp *warp, const uint32_t block[3]) {
    for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
        const uint32_t thread = warp->index * PTX_LANES + lane, bit = UINT32_C(1) << lane;
        row(warp, PTX_TID_X)[lane] = thread % block[0];
        row(warp, PTX_TID_Y)[lane] = thread / block[0] % block[1];
        row(warp, PTX_TID_Z)[lane] = thread / block[0] / block[1];
        row(warp, PTX_LANEID)[lane] = lane;
        row(warp, PTX_LANEMASK_EQ)[lane] = bit;
        row(warp, PTX_LANEMASK_LT)[lane] = bit - 1;
        row(warp, PTX_LANEMASK_LE)[lane] = bit - 1 + bit;
        row(warp, PTX_LANEMASK_GT)[lane] = ~(bit - 1 + bit);
        row(warp, PTX_LANEMASK_GE)[lane] = ~(bit - 1);
    }
}

void sim_special_registers(struct sim_warp *warp) {
    const struct sim_machine *const machine = warp->machine;
    const struct sim_cta *const cta = warp->cta;
    const uint32_t *const grid = machine->grid, *const size = machine->cluster_dims;
    const uint32_t sms = machine->device ? (uint32_t)machine->device->sm_count : 1;
    const uint32_t in_cluster[3] = {cta->id[0] % size[0], cta->id[1] % size[1], cta->id[2] % size[2]};
    const uint32_t clusters[3] = {grid[0] / size[0], grid[1] / size[1], grid[2] / size[2]};
    fill_lanes(warp, machine->block);
    fill3(warp, PTX_NTID_X, machine->block);
    fill3(warp, PTX_CTAID_X, cta->id);
    fill3(warp, PTX_NCTAID_X, grid);
    fill3(warp, PTX_CLUSTERID_X, cta->cluster->id);
    fill3(warp, PTX_NCLUSTERID_X, clusters);
    fill3(warp, PTX_CLUSTER_CTAID_X, in_cluster);
    fill3(warp, PTX_CLUSTER_NCTAID_X, size);
    fill(warp, PTX_WARPID, warp->index);
    fill(warp, PTX_NWARPID, cta->warp_count);
    fill(warp, PTX_SMID, (cta->id[0] + grid[0] * (cta->id[1] + grid[1] * cta->id[2])) % sms);
    fill(warp, PTX_NSMID, sms);
    fill(warp, PTX_CLUSTER_CTARANK, cta->rank);
    fill(warp, PTX_CLUSTER_NCTARANK, cta->cluster->cta_count);
    fill(warp, PTX_DYNAMIC_SMEM_SIZE, machine->dynamic_shared_bytes);
    fill(warp, PTX_TOTAL_SMEM_SIZE, cta->shared_bytes - SIM_SHARED_RESERVED);
    fill(warp, PTX_ENVREG_ZERO, 0);
}
