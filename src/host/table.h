/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel table: one struct gm_kernel per row of kernels.def. */
#ifndef GM_TABLE_H
#define GM_TABLE_H

#include "common/tile.h"
#include "gristmill/gristmill.h"

#include <string.h>

enum gm_family {
#define FAMILY(name, computes) GM_FAMILY_##name,
#include "families.def"
#undef FAMILY
};

struct gm_kernel {
    const char *name;
    enum gm_family family;
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

const char *gm_family_name(enum gm_family family);

/* TMA, WGMMA, clusters, one persistent CTA on an SM: the gemm rows of sm90, with parameters of their own. All others
 * take pointers and strides as they come, and struct gm_gemm_sm80_params. */
static inline int gm_uses_tma(const struct gm_kernel *row) {
    return row->family == GM_FAMILY_gemm && row->arch == GM_ARCH_SM90;
}

/* Waits for the kernel before it itself (griddepcontrol), so that it may be launched while that one runs. */
static inline int gm_waits_itself(const struct gm_kernel *row) {
    return row->arch == GM_ARCH_SM90;
}

/* Tiles are cut into equal pieces, a CTA or cluster each, that are added up by reduce-scatter: common/stream_k.h. */
static inline int gm_reduces(const struct gm_kernel *row) {
    return GM_WARPS_REDUCES(row->warps);
}

/* CTAs that stay and walk tiles, as many as the SMs hold at once; else every tile, or piece of one, has a CTA. */
static inline int gm_is_persistent(const struct gm_kernel *row) {
    return row->family == GM_FAMILY_gemm && !gm_reduces(row);
}

/* Whether the row's name is these bytes. */
static inline int gm_is_named(const struct gm_kernel *row, const char *name, size_t bytes) {
    return strlen(row->name) == bytes && memcmp(row->name, name, bytes) == 0;
}

/* Whether one of the row's images runs on this compute capability. sm90 images hold an sm_90a cubin: 9.0 and
 * nothing else. sm80 images hold sm_80 and sm_90 cubins (8.x, 9.x) and compute_80 PTX (10.0 and newer). */
int gm_kernel_runs_on(const struct gm_kernel *row, int cc_major, int cc_minor);

#endif
