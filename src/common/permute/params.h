/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the kernels that permute chunk by chunk, for host and device. */
#ifndef GM_PERMUTE_PARAMS_H
#define GM_PERMUTE_PARAMS_H

#include "common/permute/walk.h"

/* Chunks are numbered with 31 bits, so those of many come in slabs: a slab is `slab_extent` indices (the last one fewer)
 * of the last dimension that numbers count through, at one index of each dimension beyond. */
struct gm_permute_params {
    uint64_t x, out;             /* addresses */
    struct gm_permute_walk walk; /* over chunks; its arrays have the dimensions beyond its rank as well */
    int64_t slabs;
    uint32_t inner_chunks; /* of one index of the last dimension that is counted */
    int32_t slab_extent;
    int32_t pieces;   /* slabs that divide that dimension */
    int32_t from, to; /* types of a cast; the same: bits are moved */
};

/* CTAs on an SM: 64 KB and more of x are under way on it with chunks of 16 bytes, as registers allow. */
#define GM_PERMUTE_CTAS(threads, vectors) (((vectors) > 1 ? 1024 : 2048) / (threads))

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_permute_params) == 192, "host and device agree");
#endif

#endif
