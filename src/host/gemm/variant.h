/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of all GEMM families have in common: how they tile M, N and K, and who shares a tile's K. */
#ifndef GM_GEMM_VARIANT_H
#define GM_GEMM_VARIANT_H

#include "gristmill/gemm.h"
#include "host/family.h"

struct gm_gemm_variant {
    const struct gm_kernel *kernel;
    int layout; /* GM_LAYOUT_x */
    int tile_m, tile_n, tile_k, stages;
    int cluster_m, cluster_n, cluster_k; /* 1 where there are no clusters */
    int warp_k;                          /* warps that share the K of a tile */
    int split_k;           /* every tile is cut into equal pieces, a CTA or cluster each, see common/gemm/stream_k.h */
    int gate;              /* D is made of gates and ups */
    int extended;          /* it takes extended epilogues, and no others */
    int fast_accumulation; /* sums of fp8 stay in the tensor cores */
    int sum_scales;        /* GM_SCALES_x: sums of each 128 of K have scales, and none else */
    int batch;             /* it finds the matrices of a batch */
    int persistent; /* as many CTAs as the SMs hold take tile after tile; else every tile or piece has its own CTA */
    int stream_k_slots; /* of a CTA in the workspace: one for each group of threads that publishes by itself */
};

#define GM_GEMM_KERNEL_INFO_BYTES 80 /* in the first version, see host/structs.h */

struct gm_gemm_division;
struct gm_gemm_inquiry;

/* What a GEMM family adds to struct gm_family, as its `own`. */
struct gm_gemm_family {
    struct gm_gemm_variant (*variant)(const struct gm_kernel *kernel);
    /* The rest of gm_gemm_kernel_get(). */
    void (*describe)(const struct gm_kernel *kernel, struct gm_gemm_kernel_info *info);
    /* What the family's own kernels ask of the operands, and of the order in which K is summed. */
    enum gm_reason (*check)(const struct gm_gemm_inquiry *inquiry);
    /* What the choice multiplies a predicted time by, where the model is too kind to the family; NULL: by 1. */
    double (*margin)(const struct gm_gemm_inquiry *inquiry);
    /* Microseconds of one launch of a kernel that is legal for the problem, which is not empty, with its tiles divided
     * so. */
    double (*cost_us)(const struct gm_gemm_variant *variant, const struct gm_gemm_problem *problem,
                      const struct gm_device *device, const struct gm_gemm_division *division);
    size_t stream_k; /* offset of struct gm_stream_k in the family's parameters */
};

static inline const struct gm_gemm_family *gm_gemm_family_of(const struct gm_kernel *kernel) {
    return kernel->family->own;
}

static inline struct gm_gemm_variant gm_gemm_variant(const struct gm_kernel *kernel) {
    return gm_gemm_family_of(kernel)->variant(kernel);
}

/* The GEMM kernel of this name, whatever division the name says; NULL: there is none. */
const struct gm_kernel *gm_gemm_kernel_named(const char *name);

/* Tiles of a matrix of D along M and N, in cluster tiles, and those of all matrices of a batch. */
int64_t gm_tiles_m(const struct gm_gemm_variant *variant, const struct gm_gemm_problem *problem);
int64_t gm_tiles_n(const struct gm_gemm_variant *variant, const struct gm_gemm_problem *problem);
int64_t gm_tiles(const struct gm_gemm_variant *variant, const struct gm_gemm_problem *problem);
/* CTAs of one cluster; 1 where there are none. */
static inline int gm_cluster_size(const struct gm_gemm_variant *v) {
    return v->cluster_m * v->cluster_n * v->cluster_k;
}

#endif
