/* SPDX-License-Identifier: Apache-2.0 */
/* load_stage of gemm.cu: an operand's k-blocks, global memory -> ring. Included once, after gemm.cu's constants. */
#ifndef GM_SM80_GEMM_LOAD_CUH
#define GM_SM80_GEMM_LOAD_CUH

/* One operand's place in a stage; only ever a compile-time constant. A stage holds A, then B. */
struct operand_shape {
    int mn_major, rows, row_elems, start_bytes;
};

static __device__ __forceinline__ constexpr struct operand_shape shape_a() {
    return {A_MN, A_MN ? TILE_K : TILE_M, A_MN ? TILE_M : TILE_K, 0};
}

static __device__ __forceinline__ constexpr struct operand_shape shape_b() {
    return {B_MN, B_MN ? TILE_K : TILE_N, B_MN ? TILE_N : TILE_K, GM_SM80_OPERAND_BYTES(TILE_M, TILE_K, A_MN, MAP)};
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
    struct operand o = {base, ld * GM_ELEM_BYTES, vector, mn, mn_left, k};
    o.lean_blocks = lean ? k / TILE_K : 0;
    o.rows_left = !shape.mn_major ? mn_left - row : chunk * 8 < mn_left ? shape.rows : 0;
    const int64_t first_k = (int64_t)first * TILE_K;
    const int64_t first_row = (shape.mn_major ? first_k : mn) + row;
    const int64_t first_elem = (shape.mn_major ? mn : first_k) + chunk * 8;
    o.source = base + first_row * o.row_bytes + first_elem * GM_ELEM_BYTES;
    o.block_bytes = (shape.mn_major ? TILE_K * o.row_bytes : TILE_K * GM_ELEM_BYTES) - shape.rows * o.row_bytes;
    o.destination = shape.start_bytes + swizzle_offset(MAP, shape.row_elems, row, chunk);
    return o;
}

/* This thread's chunks of one k-block, for any alignment and any edge, two at a time to overlap load_chunk's
 * latency. */
static __device__ __forceinline__ void load_edge(struct operand_shape shape, const struct operand &o, int block,
                                                 uint32_t stage) {
    const int batch = shape.rows / row_step(shape) % 2 ? 1 : 2;
    const int thread = thread_index(), chunk = thread % (shape.row_elems / 8);
    const int64_t k = (int64_t)block * TILE_K;
    const int k_left = o.k - (int)k;
    const int rows_left = shape.mn_major ? k_left : o.mn_left;
    const int elems_left = min(max((shape.mn_major ? o.mn_left : k_left) - chunk * 8, 0), 8);
    const int64_t first_row = shape.mn_major ? k : o.mn, first_elem = (shape.mn_major ? o.mn : k) + chunk * 8;
#pragma unroll 1
    for (int row = thread / (shape.row_elems / 8); row < shape.rows; row += batch * row_step(shape)) {
        uint64_t source[2];
        uint32_t offset[2];
        int elems[2];
#pragma unroll
        for (int i = 0; i < batch; i++) {
            const int r = row + i * row_step(shape);
            elems[i] = r < rows_left ? elems_left : 0;
            source[i] = o.base + (elems[i] ? (first_row + r) * o.row_bytes + first_elem * GM_ELEM_BYTES : 0);
            offset[i] = stage + shape.start_bytes + swizzle_offset(MAP, shape.row_elems, r, chunk);
        }
        if (o.vector == 2) {
            uint4 values[2];
#pragma unroll
            for (int i = 0; i < batch; i++) {
                values[i] = load_chunk(source[i], elems[i]);
            }
#pragma unroll
            for (int i = 0; i < batch; i++) {
                *(uint4 *)(smem + offset[i]) = values[i];
            }
        } else {
#pragma unroll
            for (int i = 0; i < batch; i++) {
                copy_chunk((uint32_t)__cvta_generic_to_shared(smem) + offset[i], source[i], elems[i], o.vector);
            }
        }
    }
}

/* Begins the load of a k-block (of none, from k-block `end` on): an operand that is not lean there is copied at once,
 * a lean one by load_part. */
static __device__ __forceinline__ void load_begin(struct operand &a, struct operand &b, int block, int end,
                                                  uint32_t stage) {
    a.lean_rows = block < min(a.lean_blocks, end) ? a.rows_left : 0;
    b.lean_rows = block < min(b.lean_blocks, end) ? b.rows_left : 0;
    if (block >= min(a.lean_blocks, b.lean_blocks) && block < end) {
        if (block >= a.lean_blocks) {
            load_edge(shape_a(), a, block, stage);
        }
        if (block >= b.lean_blocks) {
            load_edge(shape_b(), b, block, stage);
        }
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

#endif
