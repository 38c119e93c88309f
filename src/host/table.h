/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel table: one struct gm_kernel per row of kernels.def. */
#ifndef GM_TABLE_H
#define GM_TABLE_H

#include "common/tile.h"
#include "gristmill/gristmill.h"

struct gm_kernel {
    const char *name;
    enum gm_arch arch;
    int production;
    int type;                      /* GM_TYPE_x = enum gm_type */
    int layout;                    /* GM_LAYOUT_x */
    int tile_m, tile_n, tile_k, stages, cluster_m, cluster_n;
    int warps;                     /* GM_WARPS_x */
    int smem_map;                  /* GM_MAP_x */
    int threads, smem_bytes, registers, spill_bytes;
    const char *targets;
    const unsigned char *image, *image_end;
};

extern const struct gm_kernel gm_kernels[];

/* Whether one of the row's images runs on this compute capability. sm90 images hold an sm_90a cubin: 9.0 and
 * nothing else. sm80 images hold sm_80 and sm_90 cubins (8.x, 9.x) and compute_80 PTX (10.0 and newer). */
int gm_kernel_runs_on(const struct gm_kernel *row, int cc_major, int cc_minor);

#endif
