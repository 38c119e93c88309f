/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of gemm_sm90, the tensor-core GEMM of Hopper. */
#ifndef GM_GEMM_SM90_HOST_H
#define GM_GEMM_SM90_HOST_H

#include "columns.h"
#include "common/gemm_sm90/params.h"
#include "common/gemm_sm90/tile.h"
#include "host/gemm/variant.h"
#include "host/tensor_map.h"

/* GM_SM90_ROLES() of the columns. */
static inline int gm_sm90_roles(const struct gm_gemm_variant *v) {
    const int32_t *c = v->kernel->columns;
    return GM_SM90_ROLES(c[GM_GEMM_SM90_SCHEDULE], c[GM_GEMM_SM90_CONSUMERS], c[GM_GEMM_SM90_SWAP],
                         c[GM_GEMM_SM90_CLUSTER_K], c[GM_GEMM_SM90_SPLIT_K], c[GM_GEMM_SM90_GATE],
                         c[GM_GEMM_SM90_EXTENDED], c[GM_GEMM_SM90_SCALES]);
}

/* Bytes of the swizzle span of A and B. */
static inline int gm_sm90_swizzle(const struct gm_gemm_variant *v) {
    return v->kernel->columns[GM_GEMM_SM90_SWIZZLE];
}

/* cost.c: as struct gm_gemm_family has it. */
double gm_gemm_sm90_cost_us(const struct gm_gemm_variant *variant, const struct gm_gemm_problem *problem,
                            const struct gm_device *device, const struct gm_gemm_division *division);

/* As struct gm_family has it. */
double gm_gemm_sm90_tensor_share(const struct gm_kernel *kernel, const struct gm_device *device);

/* maps.c: bytes from a gate to the next, from a gate to its up, and from 8 gates to the next 8. */
struct gm_gate_strides {
    int64_t row, up, eight;
};
struct gm_gate_strides gm_gemm_sm90_gate_strides(const struct gm_gemm_problem *problem);

/* maps.c: the tensor maps, without addresses. */
struct gm_gemm_maps {
    struct gm_map_desc a, b, d, a_tail, b_tail; /* tails: of the last tile along M, N, when it has fewer rows */
    struct gm_tiles a_tiles, b_tiles;
};
struct gm_gemm_maps gm_gemm_sm90_maps(const struct gm_gemm_variant *variant, const struct gm_gemm_problem *problem);

#endif
