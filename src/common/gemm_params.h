/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel parameter structs, one definition for the host (C11) and the kernels. Pointers
 * travel as uint64_t so that the layout is the same on both sides. */
#ifndef GM_GEMM_PARAMS_H
#define GM_GEMM_PARAMS_H

#ifndef __CUDACC_RTC__
#include <stdint.h>
#endif

/* A CUtensorMap's 128 bytes. Its own type because CUDA 12 aligns CUtensorMap to 64 bytes and CUDA 13 to 128. */
struct gm_tensor_map {
#if defined(__cplusplus)
    alignas(128) unsigned char bytes[128];
#else
    _Alignas(128) unsigned char bytes[128];
#endif
};

/* D = act(alpha * acc + beta * C + bias). type codes are enum gm_type, activation enum gm_activation, bias_mode
 * enum gm_bias. */
struct gm_epilogue_params {
    uint64_t c, d, bias;
    int64_t ldc, ldd;       /* elements */
    float alpha, beta;      /* beta == 0: C is not read */
    int32_t d_type;         /* of C and D */
    int32_t bias_type;
    int32_t bias_mode;
    int32_t activation;
    int32_t c_vector, d_vector; /* 1: base and stride allow 16-byte accesses of C / D */
    int32_t m, n;           /* bounds of C, D and bias */
};

/* Which output tile comes next. Units are cluster tiles (cluster_m x cluster_n CTA tiles; 1 x 1 on sm80). Tiles
 * are walked in groups of `group` tiles along M (or along N when along_n), so that a wave of CTAs touches a
 * block of the matrix that is near square and stays in L2. */
struct gm_raster {
    int32_t tiles_m, tiles_n;
    int32_t group;
    int32_t along_n;
};

/* L2 eviction policies of TMA loads, as createpolicy.fractional makes them for all of an access. */
#define GM_L2_EVICT_NORMAL 0x1000000000000000ull
#define GM_L2_EVICT_FIRST 0x12F0000000000000ull
#define GM_L2_EVICT_LAST 0x14F0000000000000ull

/* The tiles of an operand along M or N: `whole` of them, then, if rows are left over, one of which only `rows` (rounded
 * up to 8 for each CTA that fetches a share) are fetched, through a map of its own: TMA is slow on boxes that lie mostly
 * outside their tensor. The shared memory beyond them holds anything, and leads to rows of D that nobody stores. */
struct gm_tiles {
    int32_t whole;
    int32_t rows; /* of one CTA's share; 0: no tile is left over */
};

/* Which tiles are divided by k-blocks, and how: common/stream_k.h. Where CTAs share operands in clusters, "tile" and
 * "CTA" here and there mean a cluster's. */
struct gm_stream_k {
    uint64_t workspace;
    uint64_t ready;         /* what a flag holds while its slot is full: the plan's own random number */
    int32_t whole;          /* leading tiles that are not divided: all of them without stream-K */
    int32_t shares;         /* of the others: 0 without stream-K, at most one per CTA */
    int32_t blocks, more;   /* k-blocks of a share; the first `more` (even: of each tile's) have one more */
    int32_t least;          /* k-blocks of the smallest piece, where shares end anywhere */
    int32_t even;           /* all tiles, where each is cut into shares / even equal pieces (1: not at all); else 0 */
};

struct gm_gemm_sm90_params {
    struct gm_tensor_map a, b, d, a_tail, b_tail;
    struct gm_epilogue_params epilogue;
    struct gm_raster raster;
    uint64_t a_policy, b_policy; /* how L2 keeps A and B: GM_L2_* */
    struct gm_tiles a_tiles, b_tiles;
    struct gm_stream_k stream_k;
    int32_t k_blocks;       /* ceil(K / tile_k), >= 1 */
    int32_t plain;          /* 1: D = alpha * acc, straight to staging and TMA store */
    int32_t b_early;        /* 1: the kernel before does not write B, so its first k-blocks need no wait */
    int32_t prefetched;     /* k-blocks of a CTA's first piece that go to L2 ahead of the kernel before's end */
};

/* Of the sm80 rows, and of all gemv rows. */
struct gm_gemm_sm80_params {
    uint64_t a, b;
    int64_t lda, ldb;       /* elements */
    struct gm_epilogue_params epilogue; /* m and n are the problem's */
    struct gm_raster raster;
    int32_t k;
    int32_t a_vector, b_vector; /* bytes of one copy that base and stride allow: 16, 8, 4 or 2 */
    int32_t b_early;        /* gemv on sm90, 1: the kernel before does not write B, so its first loads need no wait */
    struct gm_stream_k stream_k; /* gemv: none */
};

#if defined(__cplusplus)
#define GM_STATIC_ASSERT static_assert
#else
#include <assert.h>
#define GM_STATIC_ASSERT static_assert
#endif
GM_STATIC_ASSERT(sizeof(struct gm_tensor_map) == 128, "a tensor map is 128 bytes");
GM_STATIC_ASSERT(sizeof(struct gm_epilogue_params) == 80, "epilogue params: same layout in C11 and CUDA C");
GM_STATIC_ASSERT(sizeof(struct gm_gemm_sm90_params) == 896, "sm90 params: same layout in C11 and CUDA C");
GM_STATIC_ASSERT(sizeof(struct gm_stream_k) == 40, "stream-K params: same layout in C11 and CUDA C");
GM_STATIC_ASSERT(sizeof(struct gm_gemm_sm80_params) == 184, "sm80 params: same layout in C11 and CUDA C");

#endif
