/* SPDX-License-Identifier: Apache-2.0 */
/* The tensor maps of A, B and D for an sm90 GEMM row. */
#include "problem.h"
#include "tensor_map.h"

static int data_type(enum gm_type type) {
    return type == GM_BF16   ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
           : type == GM_FP16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                             : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

static int swizzle_of_span(int span_bytes) {
    return span_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
           : span_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                              : CU_TENSOR_MAP_SWIZZLE_32B;
}

/* What L2 is to fetch from memory at once: 256 bytes, the next k-block's 128 too, where rows are such that both are in
 * one piece; else half of that would be fetched twice. Where memory sets the pace, nothing ahead of its turn, which
 * costs up to 9 % there. docs/TUNING.md, entries 5 and 23. */
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
        .type = data_type(type),
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

/* How an operand's rows along M or N fall into tiles. An MN-major operand is clipped along its columns, which costs
 * nothing, so all its tiles are whole. */
static struct gm_tiles tiles_of(int mn_major, int64_t mn, int tile_mn, int sharers) {
    if (mn_major)
        return (struct gm_tiles){INT32_MAX, 0};
    return (struct gm_tiles){(int32_t)(mn / tile_mn), (int32_t)GM_CEIL_DIV(mn % tile_mn, sharers)};
}

struct gm_gemm_maps gm_gemm_sm90_maps(const struct gm_kernel *row, const struct gm_gemm_problem *problem) {
    /* A's tile is the same for the CTAs of a cluster that differ in n only, and the other way round. */
    const int a_mn = GM_LAYOUT_A_MN(row->layout), b_mn = GM_LAYOUT_B_MN(row->layout);
    const int streamed = gm_is_streamed(problem);
    const int a_rows = (a_mn ? row->tile_k : row->tile_m) / row->cluster_n;
    const int b_rows = (b_mn ? row->tile_k : row->tile_n) / row->cluster_m;
    const struct gm_operand a = gm_operand_a(problem), b = gm_operand_b(problem);
    const int store_span = GM_SM90_STORE_SPAN(row->tile_m, row->tile_n, row->warps);
    const int store_rows = GM_SM90_STORE_BOX_ROWS(row->tile_m, row->tile_n, row->warps);
    struct gm_gemm_maps maps = {
        .a = describe(a, problem->ab_type, row->smem_map, a_rows, streamed),
        .b = describe(b, problem->ab_type, row->smem_map, b_rows, streamed),
        .d = describe(gm_operand_d(problem), problem->d_type, store_span, store_rows, 0),
        .a_tiles = tiles_of(a_mn, problem->m, row->tile_m, row->cluster_n),
        .b_tiles = tiles_of(b_mn, problem->n, row->tile_n, row->cluster_m),
    };
    if (maps.a_tiles.rows)
        maps.a_tail = describe(a, problem->ab_type, row->smem_map, maps.a_tiles.rows, streamed);
    if (maps.b_tiles.rows)
        maps.b_tail = describe(b, problem->ab_type, row->smem_map, maps.b_tiles.rows, streamed);
    return maps;
}
