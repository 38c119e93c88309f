/* SPDX-License-Identifier: Apache-2.0 */
/* An operand's k-blocks, global memory -> ring: begin_piece(), then load_begin(), load_part() and load_end() of each.
 *
 *   full chunks        16 bytes that exist and are aligned: cp.async, spread over the multiplication by load_part()
 *   boundary chunks    partly outside the operand, or copied in units of 4 or 8 bytes: cp.async, by load_begin()
 *   unaligned chunks   of 16-bit elements that are only element-aligned: through registers, by load_begin() and load_end() */
#ifndef GM_SM80_GEMM_LOAD_CUH
#define GM_SM80_GEMM_LOAD_CUH

#include "common/gemm_sm80/params.h"
#include "common/index.cuh"
#include "sm80/cp_async.cuh"
#include "sm80/gemm/chunk.cuh"
#include "sm80/gemm/constants.cuh"
#include "sm80/gemm/decode.cuh"
#include "sm80/gemm/swizzle.cuh"
#include "sm80/pipeline.cuh"

/* One operand's place in a stage, always a compile-time constant. A stage holds A, then B. */
struct operand_shape {
    int mn_major, rows, row_elems, start_bytes;
};

static __device__ __forceinline__ constexpr struct operand_shape shape_a(void) {
    return {A_MN, A_MN ? TILE_K : TILE_M, A_MN ? TILE_M : TILE_K, 0};
}

static __device__ __forceinline__ constexpr struct operand_shape shape_b(void) {
    return {B_MN, B_MN ? TILE_K : TILE_N, B_MN ? TILE_N : TILE_K,
            GM_SM80_OPERAND_BYTES(TILE_M, TILE_K, A_MN, MAP, TYPE)};
}

/* Thread t copies chunk t % (chunks of a row) of rows t / (chunks of a row) + i * row_step. */
static __device__ __forceinline__ constexpr int row_step(struct operand_shape shape) {
    return THREADS * CHUNK / shape.row_elems;
}

static_assert(THREADS * CHUNK % shape_a().row_elems == 0 && shape_a().rows % row_step(shape_a()) == 0 &&
                  THREADS * CHUNK % shape_b().row_elems == 0 && shape_b().rows % row_step(shape_b()) == 0,
              "every thread copies the same number of chunks, all from one column of chunks");

enum { NOT_FULL = IS_HALF ? 0 : -1 }; /* 0: no row exists */

/* One operand of this tile: the problem's side, then this thread's copies of full chunks. */
struct operand {
    uint64_t base;
    int64_t row_bytes;
    int vector;            /* bytes of one copy that base and stride allow */
    int mn, mn_left, k;    /* the tile's first row or column, how many there are from it on, and K */
    int full_chunk_blocks; /* leading k-blocks that full chunks cover exactly; load_boundary loads the others */
    int rows_left;         /* rows that this thread's full chunks may take, counted from its first row */
    int full_chunk_rows;   /* rows_left in the k-block being loaded, or NOT_FULL where load_boundary has loaded it */
    uint64_t source;       /* this thread's next chunk */
    int64_t block_bytes;   /* from after this thread's last chunk of a k-block to its first of the next */
    uint32_t destination;  /* offset of this thread's first chunk in a stage */
    struct fp8_bits bits;  /* in kernels of e5m2: of its type */
};

/* A tile's operand, to be loaded from k-block `first` on. */
static __device__ __forceinline__ struct operand operand_begin(struct operand_shape shape, uint64_t base, int64_t ld,
                                                               int vector, int mn, int limit, int k, int first) {
    const int thread = thread_index(), row = thread / (shape.row_elems / CHUNK),
              chunk = thread % (shape.row_elems / CHUNK);
    const int mn_left = limit - mn;
    const bool full_chunks = vector == 16 && (!shape.mn_major || mn_left >= shape.row_elems || mn_left % CHUNK == 0);
    struct operand o = {base, ld * ELEM_BYTES, vector, mn, mn_left, k};
    o.full_chunk_blocks = full_chunks ? k / TILE_K : 0;
    o.rows_left = !shape.mn_major ? mn_left - row : chunk * CHUNK < mn_left ? shape.rows : 0;
    const int64_t first_k = (int64_t)first * TILE_K;
    const int64_t first_row = (shape.mn_major ? first_k : mn) + row;
    const int64_t first_elem = (shape.mn_major ? mn : first_k) + chunk * CHUNK;
    o.source = base + first_row * o.row_bytes + first_elem * ELEM_BYTES;
    o.block_bytes = (shape.mn_major ? TILE_K * o.row_bytes : TILE_K * ELEM_BYTES) - shape.rows * o.row_bytes;
    o.destination = shape.start_bytes + swizzle_offset(MAP, shape.row_elems, shape.mn_major, row, chunk);
    return o;
}

/* ---- boundary chunks ------------------------------------------------------------------------------------ */

/* This thread's chunks of one k-block, some of which lie partly or wholly outside the operand. */
struct boundary {
    uint64_t source;  /* the first chunk */
    int64_t step;     /* from one chunk to the next, bytes */
    int rows, elems;  /* how many rows exist from its first on, and how many elements of its chunks */
    bool whole_words; /* load_words() may load the chunks: all elements exist, and those beside an odd chunk */
};

static __device__ __forceinline__ struct boundary boundary_at(struct operand_shape shape, const struct operand &o,
                                                              int block) {
    const int thread = thread_index(), row = thread / (shape.row_elems / CHUNK),
              chunk = thread % (shape.row_elems / CHUNK);
    const int64_t k = (int64_t)block * TILE_K;
    const int k_left = o.k - (int)k;
    const int elems_left = (shape.mn_major ? o.mn_left : k_left) - chunk * CHUNK;
    const int64_t first_row = (shape.mn_major ? k : o.mn) + row,
                  first_elem = (shape.mn_major ? o.mn : k) + chunk * CHUNK;
    struct boundary e;
    e.source = o.base + first_row * o.row_bytes + first_elem * ELEM_BYTES;
    e.step = row_step(shape) * o.row_bytes;
    e.elems = min(max(elems_left, 0), (int)CHUNK);
    e.rows = e.elems ? (shape.mn_major ? k_left : o.mn_left) - row : 0;
    e.whole_words = first_elem > 0 && elems_left > CHUNK;
    return e;
}

/* Chunks of a thread that are in flight at a time, below. Two spill beside many accumulators under CUDA 12's ptxas; one
 * makes odd strides 40 % slower. */
enum { BOUNDARY_BATCH = FLOATS > 64 && __CUDACC_VER_MAJOR__ < 13 ? 1 : 2 };

/* Copies boundary chunks by cp.async, which reads no byte of elements that do not exist. */
static __device__ __forceinline__ void copy_boundary(struct operand_shape shape, const struct operand &o, int block,
                                                     uint32_t stage) {
    const uint32_t shared_addr = (uint32_t)__cvta_generic_to_shared(smem) + stage;
    struct boundary e = boundary_at(shape, o, block);
#pragma unroll BOUNDARY_BATCH
    for (int row = 0; row < shape.rows; row += row_step(shape), e.source += e.step) {
        const int elems = row < e.rows ? e.elems : 0;
        copy_chunk(swizzle_move(MAP, shape.row_elems, shape.mn_major, shared_addr + o.destination, row, 0),
                   elems ? e.source : o.base, elems, o.vector);
    }
}

/* ---- unaligned chunks, through registers ----------------------------------------------------------------- */

static_assert(!IS_HALF || (row_step(shape_a()) % 2 == 0 && row_step(shape_b()) % 2 == 0),
              "a thread's chunks are all odd, or none");

/* Some of a thread's chunks of a k-block, in registers on their way to shared memory. */
template <int CHUNKS> struct unaligned_chunks {
    bool pending, odd; /* pending: load_end() has to store them; odd: see chunk.cuh */
    uint32_t words[CHUNKS][GM_SM80_UNALIGNED_WORDS];
};

/* Loads chunks first, first + 1, ... into registers. */
template <int CHUNKS>
static __device__ __forceinline__ void unaligned_load(struct operand_shape shape, const struct boundary &e, int first,
                                                      struct unaligned_chunks<CHUNKS> &unaligned) {
    unaligned.odd = e.whole_words && chunk_is_odd(e.source);
#pragma unroll
    for (int i = 0; i < CHUNKS; ++i) {
        const int row = (first + i) * row_step(shape);
        const uint64_t source = e.source + (first + i) * e.step;
        if (e.whole_words && row < e.rows)
            load_words(unaligned.words[i], source);
        else
            load_elements(unaligned.words[i], source, row < e.rows ? e.elems : 0);
    }
}

template <int CHUNKS>
static __device__ __forceinline__ void unaligned_store(struct operand_shape shape, uint32_t destination, int first,
                                                       const struct unaligned_chunks<CHUNKS> &unaligned) {
#pragma unroll
    for (int i = 0; i < CHUNKS; ++i) {
        const int row = (first + i) * row_step(shape);
        *(uint4 *)(smem + swizzle_move(MAP, shape.row_elems, shape.mn_major, destination, row, 0)) =
            chunk_of(unaligned.words[i], unaligned.odd);
    }
}

/* Loads and stores the chunks of a whole k-block at once, where registers are few. */
template <int CHUNKS>
static __device__ __forceinline__ void unaligned_copy(struct operand_shape shape, const struct operand &o,
                                                      const struct boundary &e, uint32_t stage) {
    enum { BATCH = CHUNKS % 2 ? 1 : BOUNDARY_BATCH };
#pragma unroll 1
    for (int first = 0; first < CHUNKS; first += BATCH) {
        struct unaligned_chunks<BATCH> unaligned;
        unaligned_load(shape, e, first, unaligned);
        unaligned_store(shape, stage + o.destination, first, unaligned);
    }
}

/* ---- one k-block ------------------------------------------------------------------------------------------ */

/* What load_begin() leaves to load_end(). */
struct unaligned_block {
    struct unaligned_chunks<A_CHUNKS> a;
    struct unaligned_chunks<B_CHUNKS> b;
};

/* Loads a k-block whose chunks are not all full. With DEFER it leaves unaligned chunks in registers, for load_end(). */
template <bool DEFER, int CHUNKS>
static __device__ __forceinline__ void load_boundary(struct operand_shape shape, const struct operand &o, int block,
                                                     uint32_t stage, struct unaligned_chunks<CHUNKS> &unaligned) {
    if (!IS_HALF || o.vector > ELEM_BYTES) {
        copy_boundary(shape, o, block, stage);
    } else if (DEFER) {
        unaligned.pending = true;
        unaligned_load(shape, boundary_at(shape, o, block), 0, unaligned);
    } else {
        unaligned_copy<CHUNKS>(shape, o, boundary_at(shape, o, block), stage);
    }
}

/* Starts loading a k-block; beyond the last one (`block` >= `end`) it loads nothing. An operand whose chunks are full
 * is left to load_part(), which spreads its cp.async over the multiplication; any other is loaded here. */
template <bool DEFER>
static __device__ __forceinline__ void load_begin(struct operand &a, struct operand &b, int block, int end,
                                                  uint32_t stage, struct unaligned_block &unaligned) {
    a.full_chunk_rows = block < min(a.full_chunk_blocks, end) ? a.rows_left : (int)NOT_FULL;
    b.full_chunk_rows = block < min(b.full_chunk_blocks, end) ? b.rows_left : (int)NOT_FULL;
    unaligned.a.pending = unaligned.b.pending = false;
    if (block >= min(a.full_chunk_blocks, b.full_chunk_blocks) && block < end) {
        if (block >= a.full_chunk_blocks)
            load_boundary<DEFER>(shape_a(), a, block, stage, unaligned.a);
        if (block >= b.full_chunk_blocks)
            load_boundary<DEFER>(shape_b(), b, block, stage, unaligned.b);
    }
}

/* Ends the load of a k-block: stores the chunks that have waited in registers for memory, while another k-block was
 * multiplied. The barrier of the next k-block is early enough for them, since the ring has three stages or more. */
static __device__ __forceinline__ void load_end(const struct operand &a, const struct operand &b, uint32_t stage,
                                                const struct unaligned_block &unaligned) {
    if (unaligned.a.pending)
        unaligned_store(shape_a(), stage + a.destination, 0, unaligned.a);
    if (unaligned.b.pending)
        unaligned_store(shape_b(), stage + b.destination, 0, unaligned.b);
}

/* Copies part `part` of `parts` of an operand's full chunks. `whole`: all of the tile's rows exist, in every thread. What
 * does not exist is not copied, since it leads to elements of D that nobody stores; but it becomes zeros where ld.shared
 * reads it, which should not read what nothing has written. */
static __device__ __forceinline__ void load_part(struct operand_shape shape, struct operand &o, bool whole,
                                                 uint32_t stage, int part, int parts) {
    const int copies = shape.rows / row_step(shape);
    const uint32_t shared_addr = (uint32_t)__cvta_generic_to_shared(smem) + stage + o.destination;
#pragma unroll
    for (int i = 0; i < copies; ++i)
        if (i * parts / copies == part) {
            const int row = i * row_step(shape);
            const uint32_t destination = swizzle_move(MAP, shape.row_elems, shape.mn_major, shared_addr, row, 0);
            const bool exists = whole || row < o.full_chunk_rows;
            if (!IS_HALF && shape.mn_major && !exists && o.full_chunk_rows != NOT_FULL)
                cp_async_cg_16(destination, o.base, 0);
            else
                cp_async_cg_16_if(destination, o.source, exists);
            o.source += row_step(shape) * o.row_bytes;
        }
    if (part == parts - 1)
        o.source += o.block_bytes;
}

/* ---- one piece -------------------------------------------------------------------------------------------- */

/* Finds this CTA's operands of a piece, and starts the loads of its first STAGES - 1 k-blocks. */
static __device__ __forceinline__ void begin_piece(const struct gm_gemm_sm80_params &p, struct operand &a,
                                                   struct operand &b, int first, int end, int m, int n) {
    a = operand_begin(shape_a(), p.a, p.lda, p.a_vector, m, p.epilogue.m, p.k, first);
    b = operand_begin(shape_b(), p.b, p.ldb, p.b_vector, n, p.epilogue.n, p.k, first);
    if (IS_MIXED) {
        a.bits = fp8_bits_of(!p.b_is_e5m2);
        b.bits = fp8_bits_of(p.b_is_e5m2);
    }
#pragma unroll 1
    for (int i = 0; i < STAGES - 1; ++i) {
        struct unaligned_block unaligned;
        load_begin<DEFERS_STORES>(a, b, first + i, end, i * STAGE_BYTES, unaligned);
        load_part(shape_a(), a, false, i * STAGE_BYTES, 0, 1);
        load_part(shape_b(), b, false, i * STAGE_BYTES, 0, 1);
        load_end(a, b, i * STAGE_BYTES, unaligned);
        pipeline_commit();
    }
}

#endif
