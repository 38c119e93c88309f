/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a launch, what it may be, and what of it is resident at once. */
#ifndef SIM_DRIVER_LIMITS_H
#define SIM_DRIVER_LIMITS_H

#include "sim/driver/driver_sim.h"

struct sim_shape {
    uint32_t grid[3], block[3], cluster[3], dynamic_shared;
    bool cooperative;
};

enum { SIM_BLOCK_THREADS_MAX = 1024 };

/* ---- driver_limits.c ---- */
/* The numbers and attributes of a configuration. */
CUresult sim_shape_of(const CUlaunchConfig *config, struct sim_shape *shape);
/* Whether the function may be launched so. */
CUresult sim_check_shape(const struct CUfunc_st *function, const struct sim_shape *shape);

/* ---- driver_residency.c ---- */
/* Threads that a block of the kernel may have. */
int sim_block_limit(const struct ptx_function *code);
/* Of a thread. */
int sim_function_registers(const struct ptx_function *code, bool from_table);
/* CTAs that fit an SM; 0: none does. */
int sim_ctas_per_sm(const struct CUfunc_st *function, uint32_t threads, uint64_t dynamic_shared);
/* Clusters that the device holds at once. */
int sim_clusters_resident(const struct CUfunc_st *function, const struct sim_shape *shape);

#endif
