/* SPDX-License-Identifier: Apache-2.0 */
/* The attention ladder, last step: TMA brings the tiles, tensor cores multiply them.
 *
 *   TMA   q, then k and v by turns into two stages        128 bytes a row, 128-byte swizzle, no pad
 *   S = q k^T        both from shared memory              wgmma m64n128k16, 4 steps along the head
 *   weights          in the registers that S is in        a thread has two rows, a quad of lanes shares them
 *   O += weights v   weights from registers, v from shared memory, 8 steps of 16 tokens
 *
 * The accumulators of S, packed by twos, are already the fragment of A that the second product wants: weights pass
 * through no memory. One warpgroup a CTA waits for each product in turn; three CTAs an SM fill each other's gaps. The
 * library's attention_sm90 has warpgroups that take turns instead. */
#define GM_PTX_TYPE  bf16 /* of the wgmmas; no operand of theirs in shared memory is MN-major but v */
#define GM_M_SIDE_MN 0
#define GM_N_SIDE_MN 0

#include "attention_parts.cuh"
#include "common/tensor_map.h"
#include "sm90/mbarrier.cuh"
#include "sm90/tma.cuh"
#include "sm90/wgmma.cuh"
#include "sm90/wgmma_rs_shapes.cuh"
#include "sm90/wgmma_shapes.cuh"

enum {
    ROWS = ATTENTION_WGMMA_ROWS,
    TOKENS = ATTENTION_WGMMA_TOKENS,
    STAGES = ATTENTION_WGMMA_STAGES,
    SPAN = ATTENTION_ROW_BYTES,
    SCORES = TOKENS / 2, /* of a thread: 64 rows x 128 tokens over 128 threads */
    OUTPUTS = HEAD / 2,
};

/* Shared addresses. */
struct tiles {
    uint32_t q, ring, full;
};

static __device__ __forceinline__ uint32_t k_of(const struct tiles &tiles, int block) {
    return tiles.ring + block % STAGES * (2 * ATTENTION_WGMMA_K_BYTES);
}

static __device__ __forceinline__ uint32_t v_of(const struct tiles &tiles, int block) {
    return k_of(tiles, block) + ATTENTION_WGMMA_K_BYTES;
}

static __device__ __forceinline__ uint32_t full_of(const struct tiles &tiles, int block) {
    return tiles.full + block % STAGES * 8;
}

/* A block of k and v into its stage, with `bytes` that are under way beside it. */
static __device__ __forceinline__ void fetch(const struct tiles &tiles, const void *k, const void *v, int first,
                                             int block, uint32_t bytes) {
    const uint32_t bar = full_of(tiles, block);
    mbarrier_arrive_expect_tx(bar, 2 * ATTENTION_WGMMA_K_BYTES + bytes);
    tma_load_2d(k_of(tiles, block), k, 0, first + block * TOKENS, bar, GM_L2_EVICT_NORMAL);
    tma_load_2d(v_of(tiles, block), v, 0, first + block * TOKENS, bar, GM_L2_EVICT_NORMAL);
}

/* A k-step is 16 elements of the head, 32 bytes along the rows. */
static __device__ __forceinline__ void multiply_keys(float (&s)[SCORES], uint32_t q_addr, uint32_t k_addr) {
    const uint64_t q = wgmma_descriptor(q_addr, 16, 8 * SPAN, SPAN), k = wgmma_descriptor(k_addr, 16, 8 * SPAN, SPAN);
    wgmma_fence_operand(s);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < HEAD / 16; step++)
        wgmma_m64<TOKENS>(s, wgmma_descriptor_advance(q, step * 32), wgmma_descriptor_advance(k, step * 32), step > 0);
    wgmma_commit_group();
    wgmma_wait_group<0>();
    wgmma_fence_operand(s);
}

/* A k-step is 16 tokens, 16 rows of v, which is read along its rows: MN-major. */
static __device__ __forceinline__ void multiply_values(float (&o)[OUTPUTS], const uint32_t (&w)[SCORES / 2],
                                                       uint32_t v_addr) {
    const uint64_t v = wgmma_descriptor(v_addr, TOKENS * SPAN, 8 * SPAN, SPAN);
    wgmma_fence_operand(o);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < TOKENS / 16; step++)
        wgmma_m64k16_rs<HEAD>(o, w[4 * step], w[4 * step + 1], w[4 * step + 2], w[4 * step + 3],
                              wgmma_descriptor_advance(v, step * 16 * SPAN));
    wgmma_commit_group();
    wgmma_wait_group<0>();
    wgmma_fence_operand(o);
}

/* What a thread knows of its two rows: element i of S and O is in row i / 2 % 2 of them. */
struct rows {
    float top[2], sum[2];
};

/* The online softmax of step 5, on accumulators; scores become packed weights. */
static __device__ __forceinline__ void soften(float (&s)[SCORES], float (&o)[OUTPUTS], uint32_t (&w)[SCORES / 2],
                                              struct rows &rows, float scale) {
    float shrink[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float top = rows.top[r];
#pragma unroll
        for (int i = 2 * r; i < SCORES; i += 4)
            top = fmaxf(top, fmaxf(s[i], s[i + 1]));
        top = max_of_lanes<4>(top);
        shrink[r] = ex2_approx_ftz((rows.top[r] - top) * scale);
        rows.top[r] = top;
        rows.sum[r] *= shrink[r];
#pragma unroll
        for (int i = 2 * r; i < SCORES; i += 4) {
            s[i] = ex2_approx_ftz(s[i] * scale - top * scale);
            s[i + 1] = ex2_approx_ftz(s[i + 1] * scale - top * scale);
            rows.sum[r] += s[i] + s[i + 1];
            w[i / 2] = cvt_rn_bf16x2_f32(s[i], s[i + 1]);
        }
    }
#pragma unroll
    for (int i = 0; i < OUTPUTS; i++)
        o[i] *= shrink[i / 2 % 2];
}

/* A quad writes 16 bytes side by side: 8 sectors a warp, each half used. */
static __device__ __forceinline__ void store(uint16_t *out, const float (&o)[OUTPUTS], const struct rows &rows) {
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float factor = 1 / sum_of_lanes<4>(rows.sum[r]);
#pragma unroll
        for (int i = 2 * r; i < OUTPUTS; i += 4)
            *(uint32_t *)&out[(row + 8 * r) * HEAD + 2 * i - 4 * r + 2 * (lane % 4)] =
                cvt_rn_bf16x2_f32(o[i] * factor, o[i + 1] * factor);
    }
}

extern "C" __global__ void __launch_bounds__(ATTENTION_WGMMA_THREADS, 3)
    lab_attention_wgmma(const __grid_constant__ struct gm_tensor_map q, const __grid_constant__ struct gm_tensor_map k,
                        const __grid_constant__ struct gm_tensor_map v, const struct attention p) {
    extern __shared__ __align__(1024) unsigned char smem[]; /* the swizzle's pattern repeats every 1024 bytes */
    const uint32_t base = (uint32_t)__cvta_generic_to_shared(smem);
    const struct tiles tiles = {base, base + ATTENTION_WGMMA_Q_BYTES,
                                base + ATTENTION_WGMMA_Q_BYTES + STAGES * 2 * ATTENTION_WGMMA_K_BYTES};
    const int head = blockIdx.z * p.tokens, row = blockIdx.x * ROWS, blocks = p.tokens / TOKENS;
    if (threadIdx.x == 0) {
        for (int block = 0; block < STAGES; block++)
            mbarrier_init(full_of(tiles, block), 1);
        fence_mbarrier_init();
        fetch(tiles, &k, &v, head, 0, ATTENTION_WGMMA_Q_BYTES);
        tma_load_2d(tiles.q, &q, 0, head + row, full_of(tiles, 0), GM_L2_EVICT_NORMAL);
        if (blocks > 1)
            fetch(tiles, &k, &v, head, 1, 0);
    }
    __syncthreads(); /* the barriers are there */
    float s[SCORES], o[OUTPUTS] = {0};
    uint32_t w[SCORES / 2];
    struct rows rows = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}};
    for (int block = 0; block < blocks; block++) {
        if (!mbarrier_wait_bounded(full_of(tiles, block), block / STAGES % 2))
            __trap();
        multiply_keys(s, tiles.q, k_of(tiles, block));
        soften(s, o, w, rows, p.scale * LOG2_E);
        multiply_values(o, w, v_of(tiles, block));
        __syncthreads(); /* all have read the stage */
        if (threadIdx.x == 0 && block + STAGES < blocks)
            fetch(tiles, &k, &v, head, block + STAGES, 0);
    }
    store(head_of(p, blockIdx.z).out + row * HEAD, o, rows);
}
