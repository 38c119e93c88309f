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

/* A box of `rows` rows, each one swizzle span wide. The stride of an operand with one row is never used, but the
 * encoder still wants a legal one. */
static struct gm_map_desc describe(struct gm_operand operand, enum gm_type type, int span_bytes, int box_rows) {
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
        .l2_promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        .oob_fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    };
}

/* An operand's box: what one of its `sharers` CTAs fetches of a tile, the rest coming by multicast. When the operand
 * has fewer rows than its tile, the box ends with them: TMA is slow on a box that lies mostly outside the tensor (53
 * against 30 us for 16 x 4096 x 14336), and the rows of D that the untouched shared memory leads to are not stored. */
static int box_rows(int mn_major, int64_t mn, int tile_mn, int tile_k, int sharers) {
    const int rows = (mn_major ? tile_k : tile_mn) / sharers;
    const int64_t present = GM_CEIL_DIV(mn, INT64_C(8)) * 8; /* whole swizzle patterns */
    return !mn_major && sharers == 1 && present < rows ? (int)present : rows;
}

struct gm_gemm_maps gm_gemm_sm90_maps(const struct gm_kernel *row, const struct gm_gemm_problem *problem) {
    /* A's tile is the same for the CTAs of a cluster that differ in n only, and the other way round. */
    const int a_mn = GM_LAYOUT_A_MN(row->layout), b_mn = GM_LAYOUT_B_MN(row->layout);
    const int a_rows = box_rows(a_mn, problem->m, row->tile_m, row->tile_k, row->cluster_n);
    const int b_rows = box_rows(b_mn, problem->n, row->tile_n, row->tile_k, row->cluster_m);
    const int a_present = a_mn ? row->tile_m : a_rows * row->cluster_n;
    const int b_present = b_mn ? row->tile_n : b_rows * row->cluster_m;
    const int store_span = GM_SM90_STORE_SPAN(row->tile_m, row->tile_n, row->warps);
    const int store_rows = GM_SM90_STORE_BOX_ROWS(row->tile_m, row->tile_n, row->warps);
    return (struct gm_gemm_maps){
        .a = describe(gm_operand_a(problem), problem->ab_type, row->smem_map, a_rows),
        .b = describe(gm_operand_b(problem), problem->ab_type, row->smem_map, b_rows),
        .d = describe(gm_operand_d(problem), problem->d_type, store_span, store_rows),
        .stage_bytes = GM_SM90_A_BYTES(a_present, row->tile_k) + GM_SM90_B_BYTES(b_present, row->tile_k),
    };
}
