/* SPDX-License-Identifier: Apache-2.0 */
/* The devices that can be presented: one row each in devices.def. */
#ifndef SIM_DEVICES_H
#define SIM_DEVICES_H

#include <stdint.h>

struct sim_device {
    const char *token; /* "h100" */
    const char *name;  /* "NVIDIA H100 80GB HBM3 (simulated)" */
    int major, minor, sm_count;
    int shared_per_block_optin, shared_per_sm, shared_per_block;
    int threads_per_sm, l2_bytes, bus_bits, clock_khz, memory_clock_khz;
    uint64_t memory_bytes;
    int max_cluster; /* 1, 8 (16 with opt-in) */
};
const struct sim_device *sim_device_find(const char *token); /* NULL: none of this name */
int sim_device_blocks_per_sm(const struct sim_device *device);
/* SMs of the index-th GPC, which clusters do not leave; 0 after the last. */
int sim_device_gpc(const struct sim_device *device, int index);

#endif
