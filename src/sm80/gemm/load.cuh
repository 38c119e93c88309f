/* SPDX-License-Identifier: Apache-2.0 */
/* An operand's k-blocks, global memory -> ring: begin_piece(), then load_begin(), load_part() and load_end(). */
#ifndef GM_SM80_GEMM_LOAD_CUH
#define GM_SM80_GEMM_LOAD_CUH

#include "common/gemm_sm80/params.h"
#include "common/index.cuh"
#include "sm80/cp_async.cuh"
#include "sm80/gemm/chunk.cuh"
#include "sm80/gemm/constants.cuh"
#include "sm80/gemm/swizzle.cuh"
#include "sm80/pipeline.cuh"

/* One operand's place in a stage; only ever a compile-time constant. A stage holds A, then B. */
struct operand_shape {
    int mn_major, rows, row_elems, start_bytes;
};

static __device__ __forceinline__ constexpr struct operand_shape shape_a() {
    return {A_MN, A_MN ? TILE_K : TILE_M, A_MN ? TILE_M : TILE_K, 0};
}

static __device__ __forceinline__ constexpr struct operand_shape shape_b() {
    return {B_MN, B_MN ? TILE_K : TILE_N, B_MN ? TILE_N : TILE_K,
            GM_SM80_OPERAND_BYTES(TILE_M, TILE_K, A_MN, MAP, TYPE)};
}

/* Thread t copies chunk t % (chunks of a row) of rows t / (chunks of a row) + i * row_step. */
static __device__ __forceinline__ constexpr int row_step(struct operand_shape shape) {
    return THREADS * 8 / shape.row_elems;
}

static_assert(THREADS * 8 % shape_a().row_elems == 0 && shape_a().rows % row_step(shape_a()) == 0 &&
                  THREADS * 8 % shape_b().row_elems == 0 && shape_b().rows % row_step(shape_b()) == 0,
              "every thread copies the same number of chunks, all from one column of chunks");

/* One operand of this tile: the problem's side, then this thread's lean copies (whole 16-byte chunks). */
struct operand {
    uint64_t base;
    int64_t row_bytes;
    int vector;
    int mn, mn_left, k;   /* the tile's first row or column, how many there are from it on, and K */
    int lean_blocks;      /* leading k-blocks that whole chunks cover exactly; the others take load_edge */
    int rows_left;        /* rows its lean copies may take, counted from its first row */
    int lean_rows;        /* the same in the k-block being loaded: 0 where load_edge did the work */
    uint64_t source;      /* this thread's next chunk */
    int64_t block_bytes;  /* from behind its last chunk of a k-block to its first of the next */
    uint32_t destination; /* its first chunk's offset in a stage */
};

/* A tile's operand, to be loaded from k-block `first` on. */
static __device__ __forceinline__ struct operand operand_begin(struct operand_shape shape, uint64_t base, int64_t ld,
                                                               int vector, int mn, int limit, int k, int first) {
    const int thread = thread_index(), row = thread / (shape.row_elems / 8), chunk = thread % (shape.row_elems / 8);
    const int mn_left = limit - mn;
    const bool lean = vector == 16 && (!shape.mn_major || mn_left >= shape.row_elems || mn_left % 8 == 0);
    struct operand o = {base, ld * GM_TYPE_BYTES(GM_TYPE), vector, mn, mn_left, k};
    o.lean_blocks = lean ? k / TILE_K : 0;
    o.rows_left = !shape.mn_major ? mn_left - row : chunk * 8 < mn_left ? shape.rows : 0;
    const int64_t first_k = (int64_t)first * TILE_K;
    const int64_t first_row = (shape.mn_major ? first_k : mn) + row;
    const int64_t first_elem = (shape.mn_major ? mn : first_k) + chunk * 8;
    o.source = base + first_row * o.row_bytes + first_elem * GM_TYPE_BYTES(GM_TYPE);
    o.block_bytes =
        (shape.mn_major ? TILE_K * o.row_bytes : TILE_K * GM_TYPE_BYTES(GM_TYPE)) - shape.rows * o.row_bytes;
    o.destination = shape.start_bytes + swizzle_offset(MAP, shape.row_elems, row, chunk);
    return o;
}

/* ---- any alignment, any edge ---------------------------------------------------------------------------- */

/* This thread's chunks of one k-block, `step` bytes apart. */
struct edge {
    uint64_t source; /* the first chunk */
    int64_t step;
    int rows, elems; /* how many rows exist from its first on, and how many elements of its chunks */
    bool loose;      /* their words may be loaded: see chunk.cuh */
};

static __device__ __forceinline__ struct edge edge_at(struct operand_shape shape, const struct operand &o, int block) {
    const int thread = thread_index(), row = thread / (shape.row_elems / 8), chunk = thread % (shape.row_elems / 8);
    const int64_t k = (int64_t)block * TILE_K;
    const int k_left = o.k - (int)k;
    const int elems_left = (shape.mn_major ? o.mn_left : k_left) - chunk * 8;
    const int64_t first_row = (shape.mn_major ? k : o.mn) + row, first_elem = (shape.mn_major ? o.mn : k) + chunk * 8;
    struct edge e;
    e.source = o.base + first_row * o.row_bytes + first_elem * GM_TYPE_BYTES(GM_TYPE);
    e.step = row_step(shape) * o.row_bytes;
    e.elems = min(max(elems_left, 0), 8);
    e.rows = e.elems ? (shape.mn_major ? k_left : o.mn_left) - row : 0;
    e.loose = first_elem > 0 && elems_left > 8;
    return e;
}

/* Chunks of a thread that are under way at a time, below: beside many accumulators two spill under CUDA 12's ptxas, and
 * one makes odd strides 40 % slower. */
enum { EDGE_BATCH = FLOATS > 64 && __CUDACC_VER_MAJOR__ < 13 ? 1 : 2 };

/* By cp.async, which fetches no bytes for what does not exist. */
static __device__ __forceinline__ void copy_edge(struct operand_shape shape, const struct operand &o, int block,
                                                 uint32_t stage) {
    const uint32_t shared_addr = (uint32_t)__cvta_generic_to_shared(smem) + stage;
    struct edge e = edge_at(shape, o, block);
#pragma unroll EDGE_BATCH
    for (int row = 0; row < shape.rows; row += row_step(shape), e.source += e.step) {
        const int elems = row < e.rows ? e.elems : 0;
        copy_chunk(swizzle_move(MAP, shape.row_elems, shared_addr + o.destination, row, 0), elems ? e.source : o.base,
                   elems, o.vector);
    }
}

/* ---- through registers, for what is only element-aligned -------------------------------------------------- */

static_assert(row_step(shape_a()) % 2 == 0 && row_step(shape_b()) % 2 == 0, "a thread's chunks are all odd, or none");

/* Some of a thread's chunks of a k-block, on their way to shared memory. */
template <int CHUNKS> struct loose_chunks {
    bool due, odd;
    uint32_t words[CHUNKS][GM_SM80_UNALIGNED_WORDS];
};

/* Chunks first, first + 1, ... */
template <int CHUNKS>
static __device__ __forceinline__ void loose_load(struct operand_shape shape, const struct edge &e, int first,
                                                  struct loose_chunks<CHUNKS> &loose) {
    loose.odd = e.loose && chunk_is_odd(e.source);
#pragma unroll
    for (int i = 0; i < CHUNKS; i++) {
        const int row = (first + i) * row_step(shape);
        const uint64_t source = e.source + (first + i) * e.step;
        if (e.loose && row < e.rows) {
            load_words(loose.words[i], source);
        } else {
            load_elements(loose.words[i], source, row < e.rows ? e.elems : 0);
        }
    }
}

template <int CHUNKS>
static __device__ __forceinline__ void loose_store(struct operand_shape shape, uint32_t destination, int first,
                                                   const struct loose_chunks<CHUNKS> &loose) {
#pragma unroll
    for (int i = 0; i < CHUNKS; i++) {
        const int row = (first + i) * row_step(shape);
        *(uint4 *)(smem + swizzle_move(MAP, shape.row_elems, destination, row, 0)) =
            chunk_of(loose.words[i], loose.odd);
    }
}

/* A whole k-block's at once, where registers are few. */
template <int CHUNKS>
static __device__ __forceinline__ void loose_copy(struct operand_shape shape, const struct operand &o,
                                                  const struct edge &e, uint32_t stage) {
    enum { BATCH = CHUNKS % 2 ? 1 : EDGE_BATCH };
#pragma unroll 1
    for (int first = 0; first < CHUNKS; first += BATCH) {
        struct loose_chunks<BATCH> loose;
        loose_load(shape, e, first, loose);
        loose_store(shape, stage + o.destination, first, loose);
    }
}

/* ---- one k-block ------------------------------------------------------------------------------------------ */

/* What load_begin leaves to load_end. */
struct loose_block {
    struct loose_chunks<A_CHUNKS> a;
    struct loose_chunks<B_CHUNKS> b;
};

/* Loads what load_part does not. DEFER: but for what load_end stores. */
template <bool DEFER, int CHUNKS>
static __device__ __forceinline__ void load_edge(struct operand_shape shape, const struct operand &o, int block,
                                                 uint32_t stage, struct loose_chunks<CHUNKS> &loose) {
    if (o.vector > GM_TYPE_BYTES(GM_TYPE)) {
        copy_edge(shape, o, block, stage);
    } else if (DEFER) {
        loose.due = true;
        loose_load(shape, edge_at(shape, o, block), 0, loose);
    } else {
        loose_copy<CHUNKS>(shape, o, edge_at(shape, o, block), stage);
    }
}

/* Begins the load of a k-block (of none, from k-block `end` on): an operand that is lean there is copied by load_part,
 * one that is not, here. */
template <bool DEFER>
static __device__ __forceinline__ void load_begin(struct operand &a, struct operand &b, int block, int end,
                                                  uint32_t stage, struct loose_block &loose) {
    a.lean_rows = block < min(a.lean_blocks, end) ? a.rows_left : 0;
    b.lean_rows = block < min(b.lean_blocks, end) ? b.rows_left : 0;
    loose.a.due = loose.b.due = false;
    if (block >= min(a.lean_blocks, b.lean_blocks) && block < end) {
        if (block >= a.lean_blocks) {
            load_edge<DEFER>(shape_a(), a, block, stage, loose.a);
        }
        if (block >= b.lean_blocks) {
            load_edge<DEFER>(shape_b(), b, block, stage, loose.b);
        }
    }
}

/* Ends it: what waited in registers for memory, while another k-block was multiplied. The barrier of the next k-block
 * is early enough for it, since the ring has three stages or more. */
static __device__ __forceinline__ void load_end(const struct operand &a, const struct operand &b, uint32_t stage,
                                                const struct loose_block &loose) {
    if (loose.a.due) {
        loose_store(shape_a(), stage + a.destination, 0, loose.a);
    }
    if (loose.b.due) {
        loose_store(shape_b(), stage + b.destination, 0, loose.b);
    }
}

/* Part `part` of `parts` of an operand's lean copies; `whole`: all of the tile's rows exist, in every thread. */
static __device__ __forceinline__ void load_part(struct operand_shape shape, struct operand &o, bool whole,
                                                 uint32_t stage, int part, int parts) {
    const int copies = shape.rows / row_step(shape);
    const uint32_t shared_addr = (uint32_t)__cvta_generic_to_shared(smem) + stage + o.destination;
#pragma unroll
    for (int i = 0; i < copies; i++) {
        if (i * parts / copies == part) {
            const int row = i * row_step(shape);
            cp_async_cg_16_if(swizzle_move(MAP, shape.row_elems, shared_addr, row, 0), o.source,
                              whole || row < o.lean_rows);
            o.source += row_step(shape) * o.row_bytes;
        }
    }
    if (part == parts - 1) {
        o.source += o.block_bytes;
    }
}

/* ---- one piece -------------------------------------------------------------------------------------------- */

/* This CTA's operands of a piece, and the loads of its first STAGES - 1 k-blocks. */
static __device__ __forceinline__ void begin_piece(const struct gm_gemm_sm80_params &p, struct operand &a,
                                                   struct operand &b, int first, int end, int m, int n) {
    a = operand_begin(shape_a(), p.a, p.lda, p.a_vector, m, p.epilogue.m, p.k, first);
    b = operand_begin(shape_b(), p.b, p.ldb, p.b_vector, n, p.epilogue.n, p.k, first);
#pragma unroll 1
    for (int i = 0; i < STAGES - 1; i++) {
        struct loose_block loose;
        load_begin<DEFERS>(a, b, first + i, end, i * STAGE_BYTES, loose);
        load_part(shape_a(), a, false, i * STAGE_BYTES, 0, 1);
        load_part(shape_b(), b, false, i * STAGE_BYTES, 0, 1);
        load_end(a, b, i * STAGE_BYTES, loose);
        pipeline_commit();
    }
}

#endif
