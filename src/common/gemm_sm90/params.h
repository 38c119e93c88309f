/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the sm90 GEMM kernels, one definition for the host (C11) and the kernels. */
#ifndef GM_GEMM_SM90_PARAMS_H
#define GM_GEMM_SM90_PARAMS_H

#include "common/gemm/params.h"
#include "common/tensor_map.h"

/* An operand's tiles along M or N: `whole` full tiles, then a last one with fewer rows, or none (`rows` = 0). The last
 * tile has its own tensor map, whose box is only as high as the rows that exist, because TMA is slow on boxes that lie
 * mostly outside the tensor. The shared memory beyond them holds anything, and leads to rows of D that nobody
 * stores. */
struct gm_tiles {
    int32_t whole;
    int32_t rows; /* of one CTA's share of the last tile */
};

/* Who stores D = alpha * accumulators: TMA, or warps, to rows that begin anywhere. Or TMA, of sums of
 * int8 or fp8 scaled by rows and columns. */
enum { GM_SM90_BY_TMA = 1, GM_SM90_ALONG_ROWS = 2, GM_SM90_SCALED_BY_TMA = 3 };

/* With a gate, D = act(min(g, limit)) * (clamp(u, -limit, limit) + up_offset), where g and u are alpha times the
 * accumulators of a gate and of an up, each with its bias. */
struct gm_gate_params {
    int32_t has_limit;
    float limit, silu_exponent, up_offset; /* silu_exponent: of act_gate(), times |g| */
    int32_t gate_step, up_first; /* the bias of column c of D: gate_step c, and up_first beyond that for the up */
};

/* The scales of an operand's rows in each 128 of K: sum i of row r has the one (r >> shift) * row_step + i * sum_step bytes
 * behind the first. A step of 0: one for all. */
struct gm_sum_scales {
    uint64_t values;            /* address of floats, or of bytes of ue8m0, which lie in whole words */
    int64_t row_step, sum_step; /* bytes; of ue8m0 one of them 1, the other a multiple of 4 */
    int16_t shift, is_e8m0;
    int32_t rows; /* of the operand */
};

struct gm_gemm_sm90_params {
    struct gm_tensor_map a, b, d, a_tail, b_tail;
    struct gm_epilogue_params epilogue;
    struct gm_raster raster;
    uint64_t a_policy, b_policy; /* how L2 keeps A and B: GM_L2_* */
    struct gm_tiles a_tiles, b_tiles;
    struct gm_stream_k stream_k;
    int32_t k_blocks;           /* ceil(K / tile_k), >= 1 */
    int32_t plain;              /* D = alpha * accumulators: GM_SM90_BY_TMA or the like; 0: any epilogue */
    int32_t b_early;            /* 1: the previous kernel does not write B, so its first k-blocks need no wait */
    int32_t prefetched;         /* k-blocks of a CTA's first piece prefetched to L2 while the previous kernel runs */
    struct gm_gate_params gate; /* of variants with a gate */
    /* Of variants that take batches. */
    struct gm_batch_params batch;
    uint64_t d_policy;                /* how L2 keeps D */
    int32_t a_steps, b_steps;         /* coordinates of A's and B's maps from a matrix to the next: 1, or 0 */
    struct gm_scaling_params scaling; /* of operands of 8 bits */
    /* Of variants with scales of sums. */
    struct gm_sum_scales a_sum_scales, b_sum_scales;
    int32_t sums; /* of K: ceil(K / 128) */
};
GM_STATIC_ASSERT(sizeof(struct gm_gemm_sm90_params) == 1024, "the same layout in C11 and CUDA C");

/* Of variants with an extended epilogue; the others take what it begins with. */
struct gm_gemm_sm90_extended_params {
    struct gm_gemm_sm90_params gemm;
    struct gm_extension_params extension;
};

#endif
