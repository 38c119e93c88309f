/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels that normalise rows are told and what they take, for host and device. */
#ifndef GM_NORM_H
#define GM_NORM_H

#include "common/fixed_width.h"
#include "common/quantized_store.h"

/* What a call asks for, in gm_norm_params.flags. */
enum gm_norm_flag {
    GM_NORM_HAS_RESIDUAL = 1,      /* x + residual is normalised, and written back to residual */
    GM_NORM_ROUNDS_SUM = 2,        /* that sum is rounded to the type before anything is made of it */
    GM_NORM_ROUNDS_NORMALIZED = 4, /* what is normalised is rounded to the type before the weight */
    GM_NORM_WIDE_WEIGHT = 8,       /* the weight is fp32 beside a 16-bit type */
    GM_NORM_WIDE_BIAS = 16,        /* so is the bias */
    /* Of variants with any out: */
    GM_NORM_RESIDUAL_AFTER = 32,   /* out is the sum of residual and norm */
    GM_NORM_RESIDUAL_BETWEEN = 64, /* that sum is written back to residual, and normalised with vectors of its own */
    GM_NORM_ROUNDS_NORM = 128,     /* the norm is rounded to the type before it is added */
    GM_NORM_ROUNDS_OUT = 256,      /* out is rounded to the type before it becomes its own */
    GM_NORM_WIDE_X_WEIGHT = 512,   /* the weight of the first of two norms is fp32 */
    GM_NORM_WIDE_X_BIAS = 1024,    /* so is its bias */
    GM_NORM_ONE_CHAIN = 2048,      /* a thread has one sum, as one that holds two chunks; else two in turn */
    GM_NORM_REST_ONE_CHAIN = 4096, /* of its chunks behind the fourth */
    GM_NORM_FETCHES_VECTORS =
        8192, /* weight and bias come to L2 while x does: there are few rows, and nobody else brought them */
};

struct gm_norm_params {
    uint64_t x, residual, weight, bias, out, row_count; /* addresses; 0: there is none */
    int64_t x_pitch, residual_pitch, out_pitch;         /* bytes from one row to the next */
    int32_t rows, columns;
    float eps, weight_offset, inverse_columns; /* 1 / columns */
    int32_t flags;                             /* of enum gm_norm_flag */
    int64_t x_head_pitch, out_head_pitch;      /* bytes from one head of a row to the next */
    int32_t heads;
    int32_t row_threads; /* that share a row, where the variant leaves it open */
    int32_t rows_ahead;  /* that many behind, a row comes to L2; 0: none does */
    int32_t padding;
};

/* Of variants with any out. */
struct gm_norm_any_params {
    struct gm_norm_params norm;
    struct gm_quantized_store store; /* out's type, and scales where it has 8 bits */
    uint64_t x_weight, x_bias;       /* of the first of two norms; 0: there is none */
    float x_weight_offset;
    int32_t padding;
};

/* Whether the threads of a CTA, which share a row, follow its chunks: whole warps, of VECTORS chunks each as far as they go. */
#define GM_NORM_IS_OPEN(row_threads, vector_bytes) ((row_threads) > 32 && (vector_bytes) == 16)

/* Dynamic shared memory of a CTA, in bytes: the sums of the warps, of two reductions by turns. */
#define GM_NORM_SMEM_BYTES(row_threads, vectors)                                                                       \
    ((row_threads) > 32 ? 2 * ((row_threads) / 32) * ((vectors) > 2 ? (vectors) / 2 : 1) * 4 : 0)

/* CTAs on an SM: so many threads that 32 KB and more of x are under way on it, as their registers allow. */
#define GM_NORM_CTAS(threads, vectors, vector_bytes, reductions)                                                       \
    (((vector_bytes) < 16 || (vectors) == 4 ? 1024 : (vectors) > 4 ? 768 : (reductions) == 1 ? 1280 : 1024) / (threads))

/* Whether images for 9.0 with any out hold a row in registers, which have room for so many columns: a residual that is added to
 * a norm would take as many, and so would weight and bias of fp32, both, beside elements of 16 bits. */
#define GM_NORM_ANY_HOLDS(columns, room, flags, reductions, elem_bytes)                                                \
    ((columns) <= (room) &&                                                                                            \
     !((flags) & (GM_NORM_RESIDUAL_AFTER | GM_NORM_RESIDUAL_BETWEEN |                                                  \
                  ((reductions) > 1 && (elem_bytes) == 2 ? GM_NORM_WIDE_WEIGHT | GM_NORM_WIDE_BIAS : 0))))

/* Whether a variant takes rows of several heads: those of short rows, which have registers for it, and those of elements. */
#define GM_NORM_TAKES_HEADS(row_threads, vectors, vector_bytes)                                                        \
    (((row_threads) <= 32 && (vectors) <= 2) || (vector_bytes) < 16)

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_norm_params) == 128, "host and device agree");
_Static_assert(sizeof(struct gm_norm_any_params) == 208, "host and device agree");
#endif

#endif
