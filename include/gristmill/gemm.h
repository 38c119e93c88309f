/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/gemm.h: matrix multiplication with an epilogue. gristmill/core.h has what all operations share. */
#ifndef GRISTMILL_GEMM_H
#define GRISTMILL_GEMM_H

#include "gristmill/core.h"
#include "gristmill/quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  D = act(alpha * A B + beta * C + bias)       A is M x K, B is K x N, C and D are M x N.
 *
 *  A  GM_K_MAJOR:  A[m * lda + k], lda >= K  ("row-major")      GM_MN_MAJOR: A[k * lda + m], lda >= M
 *  B  GM_K_MAJOR:  B[n * ldb + k], ldb >= K  (weights stored N x K)   GM_MN_MAJOR: B[k * ldb + n], ldb >= N
 *  C  C[m * ldc + n], ldc >= N               D  D[m * ldd + n], ldd >= N
 *  In BLAS letters: A K-major = t, B K-major = n, so zero-initialised is "tn".
 *
 *  A and B of fp32 are multiplied in fp32, not tf32: each product is rounded once, with the sum it is added to, in the
 *  order of K (but where K is divided, in a workspace). 4 bytes of alignment do for them.
 *  A and B of GM_TF32 are fp32 in memory, rounded to nearest on their way to the tensor cores: 10 bits of mantissa stay
 *  (what lies in the middle goes to even in kernels of sm90, away from zero in those of sm80). Hopper's wgmma takes them
 *  K-major only: with a workspace_limit the plan turns an operand that is MN-major, else a kernel of sm80 takes it.
 *  A and B of GM_TF32X3 are fp32 in memory, each split into two numbers of tf32, and multiplied by three products of the
 *  tensor cores: the error is that of fp32 or less from K = 64 or so on, at 2 to 3 times the rate (docs/TF32X3.md).
 *  What is infinite or NaN in fp32 is so here. Layouts as of GM_TF32; of it and of this 4 bytes of alignment do, and rows
 *  that begin on 16 are faster.
 *
 *  Leading dimensions are in elements; 0 means packed. fp32 accumulation, one rounding at the end. Sizes may
 *  be zero: M = 0 or N = 0 launches nothing, K = 0 gives act(beta * C + bias).
 *  An operand of one column whose elements are neighbours (A of M = 1 in GM_MN_MAJOR with lda = 1, say) is planned as
 *  the row that it is as well, by kernels of the other layout. So is a D of one column, with C (N = 1, ldc = ldd = 1),
 *  as D^T = B^T A^T: A and B then change places in the kernel, GM_PLAN_CONSTANT_B has no effect, and gm_gemm_explain()
 *  says so. Not with GM_PLAN_BATCH_INVARIANT, and not where A is GM_MN_MAJOR and no multiple of 16 bytes apart.
 *  beta = 0 never reads C; C may be D (in place, ldc = ldd); no other overlap with D is allowed.
 *  With a gate D has N / 2 columns, each of a column g of gates and a column u of ups:
 *
 *  D = act(min(g, limit)) * (clamp(u, -limit, limit) + up_offset)       g and u of alpha * A B + bias
 *
 *  GM_GATE_HALVES: columns 0 .. N/2 - 1 of A B (rows of K-major weights) are gates, the others ups. GM_GATE_PAIRS: gates
 *  and ups by turns. SwiGLU is GM_ACT_SILU, GEGLU GM_ACT_GELU_TANH or GM_ACT_GELU_ERF, gpt-oss GM_GATE_PAIRS with
 *  GM_ACT_SILU, sigmoid_factor 1.702, limit 7 and up_offset 1. NaN stays NaN, also where it is clamped. N is even, ldd
 *  N / 2 at least; a bias is along N and has N values; there is no C, so beta is 0. Everything is fp32 until D is rounded,
 *  once, in the kernels whose names have a g (K-major operands that TMA takes, 16 columns of A B at a time, D of A's
 *  type). Elsewhere a plan with workspace_limit may compute A B + bias into the workspace, M rows of N elements of D's
 *  type, each a multiple of 128 bytes long, and D of it by a second kernel; gm_gemm_explain() says so.
 *  alpha = 0 reads A and B all the same (unless K is 0), where BLAS does not: their pointers may not be 0, and a NaN or
 *  an infinity in them makes NaN of D.
 *  M, N, K up to 2^31 - 1 each; operands may exceed 2^31 elements and 4 GiB.
 *
 *  A and B of GM_INT8 have sums of s32. D of GM_INT32 is these sums: alpha is 1, beta 0, and there is nothing else. D of 16
 *  bits or fp32 is made of
 *
 *  (A B - a_zeros[m] * b_sums[n]) * a_scales[m] * b_scales[n]      a_scales[0], b_scales[0] with GM_PER_TENSOR
 *
 *  in this order, in the place of A B above: the difference is of s32 and becomes fp32, rounded to nearest; each factor
 *  rounds again. Scales are fp32. With zero_points a_zeros has an int32 for each row of A, and b_sums the sum of each
 *  column of B along K, so that the zeros of A's rows need not be 0; those of B are. K is 131,071 at most, with
 *  zero_points 65,793, so that no sum leaves s32. A batch takes scales of GM_PER_TENSOR, the same for all matrices, and
 *  no zero_points. int8 is K-major for wgmma as for mma.sync, and its rows begin on multiples of 4 bytes: with a
 *  workspace_limit the plan turns or copies what is not so, else no kernel takes it.
 *
 *  A and B of GM_E4M3 are multiplied exactly. D of 16 bits or fp32, in the place of A B above, is of
 *
 *  (A B) * a_scales[m] * b_scales[n]      fp32 scales, as of int8: what a value of 1 stands for
 *
 *  The tensor cores of Hopper keep some 14 bits of a sum's mantissa and cut off the rest. So they add up 128 products at
 *  most, and fp32 adds up those sums: an error of 2^-9 of the sum of |A| |B| or less, whatever K. With fast_accumulation
 *  they may add up all of K, which is faster for large M and N; of long K and numbers of one sign the error then has no
 *  useful bound (docs/FP8.md). Kernels of sm80 make fp16 of it, whose sums are exact to some 2^-23, with either. Layouts,
 *  strides and scales as of int8; batches only by kernels of sm90. fast_accumulation of other operands is
 *  GM_ERROR_INVALID_ARGUMENT.
 *
 *  With has_b_type one operand may be GM_E5M2 and the other GM_E4M3, as gradients and weights or activations are in
 *  training: exact, scaled and added up as e4m3 by e4m3, with the same epilogues; the infinities of e5m2 are such. Two of
 *  e5m2, other pairs of types, and scales of each 128 of K are GM_ERROR_INVALID_ARGUMENT; a batch that is not planned as one
 *  product has no kernel, and a gate is made by a second one, with a workspace_limit.
 *
 *  Scales of GM_E4M3 may also be of each 128 of K, of GM_PER_GROUP for each row, of GM_PER_BLOCK for each 128 rows: fp32,
 *  in the order and with the stride that gristmill/quantize.h has for groups and blocks of columns K. The last of K, and
 *  the last rows, may be fewer. Then in the place of A B above
 *
 *  sum over g of (A B)_g * (a_scales[m, g] * b_scales[n, g])      (A B)_g: the products of k = 128 g .. 128 g + 127
 *
 *  where an operand whose scales are of GM_PER_TENSOR or GM_PER_ROW has the same in every g; neither is GM_PER_NONE. Scales
 *  of groups and blocks may be GM_SCALE_E8M0: bytes, in rows of whole words, so that their stride is a multiple of 4. Kernels
 *  whose names have an x take it; an extended epilogue or a gate only where a second kernel does that, with a
 *  workspace_limit.
 *
 *  A batch is `batch` such products of one shape, in one launch. Matrix i of an operand begins i times its batch stride
 *  behind the first: any number of elements from 0, which is one matrix for all, so that matrices may lie beside each other
 *  in common rows (lda 128 H, a_batch_stride 128: heads of a token). Not so D's, which share no element: each lies behind
 *  the one before it, or all of them beside each other in rows of ldd. Where B is one for all, and A's, C's and D's rows go
 *  on from one matrix to the next, or have only one row each, the batch is planned as one product of batch * M rows, and
 *  the same along N; for that C needs its stride even if beta is 0. Kernels whose names have a b take batches: by TMA
 *  where A's and B's batch strides are multiples of 16 bytes. There is no gate in a batch that is not planned as one product.
 *
 *  With pointer_arrays a, b, c and d of the arguments are device addresses, multiples of 8, of arrays of `batch` device
 *  pointers of 8 bytes, which the kernel reads: they may be written by a launch before it. Batch strides of A, B, C and D
 *  mean nothing then. A matrix with a pointer that is 0, or no multiple of its element's size, is left out: D is not
 *  written, and left_out is counted up. D's matrices may not overlap each other or what is read, which nobody checks.
 *  Kernels of sm80 take pointer arrays.
 *
 *  Negative batch strides, matrices of D that overlap, and a gate with pointer_arrays are GM_ERROR_INVALID_ARGUMENT.
 *
 *  Of 16-bit operands, of e4m3 and of int8 with scales there are extended epilogues, each part by itself or with others:
 *
 *  y = act(alpha * S + beta * C + bias) + residual        S = (A B) * a_scales[m] * b_scales[n]        D = round(y / scale)
 *
 *  Scales of A and B: of GM_PER_TENSOR or GM_PER_ROW; also of gates and ups, before alpha and the bias.
 *  C of c_type, where that is not D's. A residual behind the activation: residual[m * ldr + n], ldr >= N, of a type of its
 *  own; elements' alignment does for both. D may be the residual (in place, ldr = ldd, elements of as many bytes) where beta
 *  is 0. Beside a gate there is none.
 *  amax: the float amax[0] becomes the larger of itself and the largest |y|; NaN where a y is NaN. Zero it before.
 *  D of GM_E4M3, GM_E5M2 or GM_INT8, and its d_scales, as gristmill/quantize.h has out and scales of columns N: a static
 *  scale, which is read, or one of each row or group of columns, which is made of the fp32 y and written.
 *  Kernels whose names have an e take all that in one pass, but for scales of rows, and of groups that they have not whole.
 *  For those a plan with workspace_limit may compute y into the workspace, rounded to A's type or of 8-bit operands to fp32,
 *  and D of it by a second kernel; gm_gemm_explain() says so. A batch, K of 0 where D has scales of groups and no
 *  workspace_limit, and fp32, tf32 and tf32x3 have none of these: GM_ERROR_INVALID_ARGUMENT, or of K GM_ERROR_NO_KERNEL. */

enum gm_bias { GM_BIAS_NONE = 0, GM_BIAS_N = 1, GM_BIAS_M = 2 }; /* along N: N values, along M: M values */

enum gm_gate { GM_GATE_NONE = 0, GM_GATE_HALVES = 1, GM_GATE_PAIRS = 2 };

/* How many scales an operand has: none, one, or one for each of its rows of K elements (of A M of them, of B N); of fp8
 * also one for each 128 elements of a row, or each 128 rows by 128 elements. */
enum gm_granularity { GM_PER_NONE = 0, GM_PER_TENSOR = 1, GM_PER_ROW = 2, GM_PER_GROUP = 3, GM_PER_BLOCK = 4 };

struct gm_gemm_problem {
    size_t size;
    int64_t m, n, k;
    /* Of A, and of B without has_b_type: GM_BF16, GM_FP16, GM_FP32, GM_TF32, GM_TF32X3, GM_E4M3 or GM_INT8. Of A alone: GM_E5M2. */
    enum gm_type ab_type;
    /* GM_BF16, GM_FP16 or GM_FP32, of fp32, tf32 and tf32x3 A and B GM_FP32, of int8 also GM_INT32; or GM_E4M3, GM_E5M2 or
     * GM_INT8 of an extended epilogue. */
    enum gm_type d_type;
    enum gm_major a_major, b_major;
    int64_t lda, ldb, ldc, ldd; /* elements; 0: packed */
    enum gm_activation activation;
    enum gm_bias bias;
    enum gm_type bias_type; /* used when bias != GM_BIAS_NONE */
    /* Alignment in bytes that the caller promises of the pointers at execute: 16 (or 0), 8, 4, 2. TMA rows
     * need 16 of A and B, as of their strides, or a workspace_limit that lets the plan copy them; the sm80 rows take
     * what the type needs. */
    int32_t a_align, b_align, d_align;
    enum gm_gate gate;
    float limit;          /* of gates and ups, more than 0; 0: there is none */
    float sigmoid_factor; /* of a gate's GM_ACT_SILU, x * sigmoid(sigmoid_factor * x), more than 0; 0: 1 */
    float up_offset;      /* finite */
    int64_t batch;        /* products; 0: 1 */
    int64_t a_batch_stride, b_batch_stride, c_batch_stride, d_batch_stride; /* elements; 0: one matrix for all */
    int64_t bias_batch_stride;
    int64_t pointer_arrays;                 /* 1: a, b, c and d are addresses of arrays of pointers */
    enum gm_granularity a_scales, b_scales; /* of operands of 16 bits and 8, but of int8 where D is GM_INT32 */
    int64_t zero_points;                    /* 1: a_zeros and b_sums of the arguments */
    /* Of an extended epilogue. C is of c_type where has_c_type is 1; else of D's type, or beside a D of 8 bits of A's, and of
     * fp32 where A has 8 bits. GM_BF16, GM_FP16 or GM_FP32, and so is residual_type. */
    int32_t has_c_type;
    enum gm_type c_type;
    int32_t residual; /* 1: there is one */
    enum gm_type residual_type;
    int64_t ldr;  /* elements; 0: packed */
    int32_t amax; /* 1: the largest |y| is asked for */
    /* Of a D of 8 bits, as gristmill/quantize.h has them: GM_SCALE_STATIC, GM_SCALE_ROW or GM_SCALE_GROUP. */
    float d_scale_floor;
    enum gm_scaling d_scaling;
    enum gm_scale_format d_scale_format;
    enum gm_scale_order d_scale_order;
    enum gm_division d_division;
    int64_t d_group, d_scales_stride; /* columns: 128 (or 0), 64, 32; elements, 0: packed */
    int64_t fast_accumulation;        /* of GM_E4M3; 1: sums may stay in the tensor cores */
    /* Of scales of GM_PER_GROUP and GM_PER_BLOCK, as gristmill/quantize.h has them; strides in elements, 0: packed. */
    enum gm_scale_order a_scale_order, b_scale_order;
    int64_t a_scales_stride, b_scales_stride;
    enum gm_scale_format a_scale_format, b_scale_format; /* of each 128 of K; GM_SCALE_POWER_OF_2 is GM_SCALE_FP32 */
    /* B's type where has_b_type is 1, else A's: GM_E5M2 beside an A of GM_E4M3, GM_E4M3 beside one of GM_E5M2. */
    int32_t has_b_type;
    enum gm_type b_type;
};

struct gm_gemm_args {
    size_t size;
    gm_device_ptr a, b, c, d, bias; /* device pointers; c may be 0 when beta is 0 */
    const float *alpha, *beta;      /* host pointers, read during the call; NULL: 1 and 0 */
    gm_device_ptr workspace;
    size_t workspace_bytes;
    gm_device_ptr left_out; /* of pointer_arrays: a uint32, on 4 bytes, that counts matrices left out; 0: none */
    gm_device_ptr a_scales, b_scales; /* on 4 bytes, where the problem has them: fp32, or as a_scale_format says */
    gm_device_ptr a_zeros, b_sums;    /* int32, on 4 bytes, with zero_points: M and N of them */
    /* Of an extended epilogue, 0 where the problem has none; amax: a float on 4 bytes; d_scales: of a D of 8 bits. */
    gm_device_ptr residual, amax, d_scales;
};

/* Chooses a kernel, loads it if this context has not yet, prepares its descriptors. `options` may be NULL. */
GM_API enum gm_status gm_gemm_plan_create(gm_context *context, const struct gm_gemm_problem *problem,
                                          const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device). No current CUDA context is needed on the thread.
 *
 * The host spends half the time where the plan launches by a graph of its one kernel, made with the plan: on the first
 * stream that executes it (not CU_STREAM_PER_THREAD, not a green context's), outside stream capture, with the device's
 * primary context current, and while no other thread is doing the same. Elsewhere it launches plainly. The results and
 * their order are the same; but attributes of the stream (an access policy window, say) reach plain launches only.
 * Profilers may show a graph for the kernel. GM_PLAN_PLAIN_LAUNCH makes every launch plain, and planning cheaper. Where
 * pointers, alpha and beta are those of an earlier call, it is a third less again; `argument_sets` says how many calls
 * are kept. */
GM_API enum gm_status gm_gemm_execute(const gm_plan *plan, const struct gm_gemm_args *args, void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_gemm(gm_context *context, const struct gm_gemm_problem *problem,
                              const struct gm_gemm_args *args, void *stream);

/* ---- operands packed once ------------------------------------------------------------------------ */

enum gm_gemm_operand { GM_GEMM_A = 0, GM_GEMM_B = 1 };

/* How an operand lies best that many calls read, as they read weights. Writes to *packed the problem with that operand
 * packed, to plan instead of this one, and to *bytes the device memory that it takes: all matrices of a batch that differ, one
 * behind the other, in rows a multiple of 128 bytes apart, on an address that is a multiple of 16, which packed->a_align or
 * b_align promises; of tf32, tf32x3 and int8 GM_K_MAJOR. Where the operand is that good already, with rows, matrices and
 * address on 16 bytes, or empty, *bytes is 0 and *packed this problem. Packing needs no workspace, so plans of *packed launch
 * one kernel, and GM_PLAN_CONSTANT_B has its effect. Both operands: ask again, with *packed and the other one.
 *
 * GM_ERROR_INVALID_ARGUMENT: what a plan of the problem would be refused for, pointer_arrays, another operand, a NULL.
 * Pure: no driver call; any thread. *packed may be *problem. */
GM_API enum gm_status gm_gemm_packed(const struct gm_gemm_problem *problem, enum gm_gemm_operand operand,
                                     struct gm_gemm_problem *packed, size_t *bytes);
/* Copies the operand of `problem`, which is the one before packing, from x to out: one launch on `stream`, by
 * gm_permute(), whose sentences and errors speak of x and out. Zeros are not written into the ends of rows, which no
 * kernel reads. Any thread; not for a hot loop. GM_ERROR_INVALID_ARGUMENT also where *bytes would be 0. */
GM_API enum gm_status gm_gemm_pack(gm_context *context, const struct gm_gemm_problem *problem,
                                   enum gm_gemm_operand operand, gm_device_ptr x, gm_device_ptr out, void *stream);

/* ---- explain ------------------------------------------------------------------------------------ */

/* Writes one candidate for every kernel of GEMM, in the order of the table: min(capacity, their number) of them, and
 * their number to *count, which is gm_kernel_count() at most. Pure: no driver call. `options` may be NULL. */
GM_API enum gm_status gm_gemm_explain(const struct gm_device *device, const struct gm_gemm_problem *problem,
                                      const struct gm_plan_options *options, struct gm_candidate *candidates,
                                      size_t capacity, size_t *count);

/* ---- the kernels of GEMM ------------------------------------------------------------------------- */

enum gm_schedule { GM_MULTISTAGE = 0, GM_COOPERATIVE = 1, GM_PINGPONG = 2 };
enum gm_smem_map {
    GM_SMEM_PADDED = 0,
    GM_SMEM_XOR = 1,
    GM_SMEM_NONE = 2,
    GM_SMEM_SWIZZLE_32B = 32,
    GM_SMEM_SWIZZLE_64B = 64,
    GM_SMEM_SWIZZLE_128B = 128
};

/* The columns of a kernel's registry as numbers. */
struct gm_gemm_kernel_info {
    size_t size;
    enum gm_major a_major, b_major;
    int32_t tile_m, tile_n, tile_k, stages;
    int32_t cluster_m, cluster_n; /* CTAs of a cluster that share tiles of B, and of A, by multicast */
    int32_t cluster_k;            /* and that share the K of a tile, through distributed shared memory */
    enum gm_schedule schedule;
    enum gm_smem_map smem_map;
    int32_t consumers;         /* gemm_sm90: consumer warpgroups of a CTA; else 0 */
    int32_t warps_m, warps_n;  /* the others: warps that share a tile's rows and columns */
    int32_t warp_k;            /* and warps that share the K of a tile */
    int32_t swap;              /* gemm_sm90, 1: B is on wgmma's M side; tile and cluster are still of M x N */
    int32_t split_k;           /* 1: 2 to 8 CTAs or clusters share the K of a tile through the workspace */
    int64_t gate;              /* 1: D is made of gates and ups, struct gm_gemm_problem's `gate`; tile_n is of A B */
    int64_t batch;             /* 1: takes batches; one matrix by name only */
    int64_t extended;          /* 1: takes extended epilogues, and no others */
    int64_t fast_accumulation; /* 1: sums of fp8 stay in the tensor cores, as struct gm_gemm_problem allows */
    /* Scales of each 128 of K. 1: the operand on wgmma's N side has one for all rows of a tile; 2: one for each. */
    int64_t sum_scales;
};

/* GM_ERROR_INVALID_ARGUMENT: there is no such kernel, or it is not of GEMM. */
GM_API enum gm_status gm_gemm_kernel_get(size_t index, struct gm_gemm_kernel_info *info);

#ifdef __cplusplus
}
#endif
#endif
