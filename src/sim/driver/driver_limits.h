/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a launch, and what it may be. */
#ifndef SIM_DRIVER_LIMITS_H
#define SIM_DRIVER_LIMITS_H

#include "sim/driver/driver_sim.h"

struct sim_shape {
    uint32_t grid[3], block[3], cluster[3], dynamic_shared;
    bool cooperative;
};

/* The numbers and attributes of a configuration. */
CUresult sim_shape_of(const CUlaunchConfig *config, struct sim_shape *shape);
/* Whether the function may be launched so. */
CUresult sim_check_shape(const struct CUfunc_st *function, const struct sim_shape *shape);

/* CTAs that fit an SM; 0: none does. */
int sim_ctas_per_sm(const struct CUfunc_st *function, uint32_t threads, uint64_t dynamic_shared);
/* Clusters that the device holds at once. */
int sim_clusters_resident(const struct CUfunc_st *function, const struct sim_shape *shape);

#endif
