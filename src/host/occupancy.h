/* SPDX-License-Identifier: Apache-2.0 */
/* How many CTAs of a kernel a device holds at once. */
#ifndef GM_OCCUPANCY_H
#define GM_OCCUPANCY_H

#include "host/table.h"

/* Blocks of this much shared memory that an SM holds: as many as fit, and no more than it holds of the smallest. */
int gm_blocks_per_sm(const struct gm_device *device, int64_t smem_bytes);
/* CTAs of the kernel that one SM of the device holds at once; at least 1. */
int gm_ctas_per_sm(const struct gm_kernel *kernel, const struct gm_device *device);
/* Clusters of it that the whole device holds at once; at least 1. */
int64_t gm_clusters_at_once(const struct gm_kernel *kernel, const struct gm_device *device);

#endif
