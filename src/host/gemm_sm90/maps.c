/* SPDX-License-Identifier: Apache-2.0 */
/* The tensor maps of A, B and D. */
#include "host/gemm_sm90/gemm_sm90.h"

#include "common/arith.h"
#include "host/gemm/problem.h"

static int swizzle_of_span(int span_bytes) {
    return span_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
           : span_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                              : CU_TENSOR_MAP_SWIZZLE_32B;
}

/* What L2 is to fetch from memory at once: 256 bytes, the next k-block's 128 too, where rows are such that both are in
 * one piece; else half of that would be fetched twice. Where memory sets the pace, nothing ahead of its turn, which
 * costs up to 9 % there. docs/TUNING-LOG.md, entries 5 and 23. */
static int promotion(uint64_t stride, int paced_by_memory) {
    return stride % 256 == 0 && !paced_by_memory ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
                                                 : CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
}

/* A box of `rows` rows, each one swizzle span wide. The stride of an operand with one row is never used, but the
 * encoder still wants a legal one. */
static struct gm_map_desc describe(struct gm_operand operand, enum gm_type type, int span_bytes, int box_rows,
                                   int paced_by_memory) {
    const uint64_t stride = (uint64_t)operand.stride * (uint64_t)operand.element_bytes;
    return (struct gm_map_desc){
        .type = gm_type_tma(type),
        .rank = 2,
        .dims = {(uint64_t)operand.columns, (uint64_t)operand.rows},
        .strides = {operand.rows > 1 ? stride : 16},
        .box = {(uint32_t)(span_bytes / operand.element_bytes), (uint32_t)box_rows},
        .element_strides = {1, 1},
        .interleave = CU_TENSOR_MAP_INTERLEAVE_NONE,
        .swizzle = swizzle_of_span(span_bytes),
        .l2_promotion = promotion(stride, paced_by_memory),
        .oob_fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    };
}

struct gm_gate_strides gm_gemm_sm90_gate_strides(const struct gm_gemm_problem *problem) {
    const int64_t row = problem->ldb * gm_type_bytes(problem->ab_type);
    if (problem->gate == GM_GATE_PAIRS)
        return (struct gm_gate_strides){2 * row, row, 16 * row};
    return (struct gm_gate_strides){row, problem->n / 2 * row, 8 * row};
}

/* The map of gates and ups: 8 rows of one, then 8 of the other. A box has the rows of the 2-D map's. */
static struct gm_map_desc gated(struct gm_map_desc map, const struct gm_gemm_problem *problem) {
    const struct gm_gate_strides s = gm_gemm_sm90_gate_strides(problem);
    map.rank = 4;
    map.dims[1] = 8;
    map.dims[2] = 2;
    map.dims[3] = (uint64_t)problem->n / GM_SM90_GATE_COLUMNS;
    map.strides[0] = (uint64_t)s.row;
    map.strides[1] = (uint64_t)s.up;
    map.strides[2] = (uint64_t)s.eight;
    map.box[3] = map.box[1] / GM_SM90_GATE_COLUMNS;
    map.box[1] = 8;
    map.box[2] = 2;
    map.element_strides[2] = map.element_strides[3] = 1;
    return map;
}

/* The map of the matrices of a batch, the last of its dimensions. One for all has one. Memory sets the pace of most
 * batches: more than 128 bytes are fetched at once only where they are a row of a matrix that one tile reads. */
static struct gm_map_desc batched(struct gm_map_desc map, int64_t batch, int64_t stride_bytes, int64_t readers) {
    map.rank = 3;
    if (map.strides[0] != 256 || readers > 1)
        map.l2_promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
    map.dims[2] = stride_bytes > 0 ? (uint64_t)batch : 1;
    map.strides[1] = stride_bytes > 0 ? (uint64_t)stride_bytes : map.strides[0];
    map.box[2] = 1;
    map.element_strides[2] = 1;
    return map;
}

/* How an operand's rows along M or N fall into tiles. An MN-major operand is clipped along its columns, which costs
 * nothing, so all its tiles are whole. Of the last tile every CTA has a multiple of `step` rows. */
static struct gm_tiles tiles_of(int mn_major, int64_t mn, int tile_mn, int sharers, int step) {
    if (mn_major)
        return (struct gm_tiles){INT32_MAX, 0};
    return (struct gm_tiles){(int32_t)(mn / tile_mn), (int32_t)GM_CEIL_DIV(mn % tile_mn, sharers * step) * step};
}

struct gm_gemm_maps gm_gemm_sm90_maps(const struct gm_gemm_variant *v, const struct gm_gemm_problem *problem) {
    /* A's tile is the same for the CTAs of a cluster that differ in n only, and the other way round. */
    const int a_mn = GM_LAYOUT_A_MN(v->layout), b_mn = GM_LAYOUT_B_MN(v->layout);
    const int streamed = gm_is_streamed(problem);
    const int a_rows = (a_mn ? v->tile_k : v->tile_m) / v->cluster_n;
    const int b_rows = (b_mn ? v->tile_k : v->tile_n) / v->cluster_m;
    const struct gm_operand a = gm_operand_a(problem), b = gm_operand_b(problem);
    const int store_span = GM_SM90_STORE_SPAN(v->tile_m, v->tile_n, gm_sm90_roles(v));
    const int store_rows = GM_SM90_STORE_BOX_ROWS(v->tile_m, v->tile_n, gm_sm90_roles(v));
    struct gm_gemm_maps maps = {
        .a = describe(a, problem->ab_type, gm_sm90_swizzle(v), a_rows, streamed),
        .b = describe(b, gm_gemm_b_type(problem), gm_sm90_swizzle(v), b_rows, streamed),
        .d = describe(gm_operand_d(problem), problem->d_type, store_span, store_rows, 0),
        .a_tiles = tiles_of(a_mn, problem->m, v->tile_m, v->cluster_n, 1),
        .b_tiles = tiles_of(b_mn, problem->n, v->tile_n, v->cluster_m, v->gate ? GM_SM90_GATE_COLUMNS : 1),
    };
    if (maps.a_tiles.rows)
        maps.a_tail = describe(a, problem->ab_type, gm_sm90_swizzle(v), maps.a_tiles.rows, streamed);
    if (maps.b_tiles.rows)
        maps.b_tail = describe(b, gm_gemm_b_type(problem), gm_sm90_swizzle(v), maps.b_tiles.rows, streamed);
    if (v->gate) {
        maps.b = gated(maps.b, problem);
        maps.b_tail = gated(maps.b_tail, problem);
    }
    if (v->batch) {
        const int64_t bytes = gm_type_bytes(problem->ab_type);
        const int64_t of_a = gm_tiles_n(v, problem), of_b = gm_tiles_m(v, problem);
        maps.a = batched(maps.a, problem->batch, problem->a_batch_stride * bytes, of_a);
        maps.b = batched(maps.b, problem->batch, problem->b_batch_stride * bytes, of_b);
        maps.a_tail = batched(maps.a_tail, problem->batch, problem->a_batch_stride * bytes, of_a);
        maps.b_tail = batched(maps.b_tail, problem->batch, problem->b_batch_stride * bytes, of_b);
        maps.d = batched(maps.d, problem->batch, problem->d_batch_stride * gm_type_bytes(problem->d_type), 1);
    }
    return maps;
}
