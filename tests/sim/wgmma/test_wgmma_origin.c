/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma on tiles that tensor loads wrote: descriptors that fit the boxes, and such as make another matrix of them. */
#include "sim_tests.h"

#include "copy_kernel.h"
#include "gristmill/smem.h"
#include "sim/copies/tensor_map.h"

#include <string.h>

enum { BF16 = 9, SPAN_128 = 3, SIDE = 256, BASE = 2048 };

/* Both operands are read from what the copies load to BASE, 16384 bytes. */
#define BODY(copies)                                                                                                   \
    ".reg .f32 e<4>; .reg .b64 first, second; ld.param.u64 first, [of_a]; ld.param.u64 second, [of_b];\n"              \
    "mov.b64 map_at, map; cvta.param.u64 map_at, map_at;\n"                                                            \
    "mov.f32 e0, 0f00000000; mov.f32 e1, e0; mov.f32 e2, e0; mov.f32 e3, e0; mov.u32 at, %u;\n"                        \
    "@leader mbarrier.init.shared::cta.b64 [bar], 1;\n@leader fence.mbarrier_init.release.cluster;\nbar.sync 0;\n"     \
    "@!leader bra issued;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16384;\n" copies                        \
    "issued: bar.warp.sync 0xffffffff;\nwait: mbarrier.try_wait.parity.shared::cta.b64 done, [bar], 0;\n"              \
    "@!done bra wait;\nwgmma.fence.sync.aligned;\n"                                                                    \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {e0, e1, e2, e3}, first, second, 1, 1, 1, %d, 0;\n"           \
    "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"

/* Two boxes of 64 x 64 side by side. */
#define TWO_BOXES                                                                                                      \
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [at], [map_at, {0, 0}], "        \
    "[bar];\n"                                                                                                         \
    "add.u32 at, at, 8192;\n"                                                                                          \
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [at], [map_at, {64, 0}], "       \
    "[bar];\n"

/* One of 64 rows of 2 x 64, 8 rows of each half by turns. */
#define ONE_BOX                                                                                                        \
    "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [at], [map_at, {0, 0, 1, 2}], "  \
    "[bar];\n"

struct origin_case {
    int mn_major;
    uint32_t start, leading, stride, base_offset;
    enum gm_swizzle_mode mode;
    const char *words; /* of the report; NULL: none */
};

static const struct origin_case cases[] = {
    {0, 0, 16, 1024, 0, GM_SWIZZLE_128B, NULL},
    {0, 96, 0, 1024, 0, GM_SWIZZLE_128B, NULL},
    {0, 128, 0, 512, 0, GM_SWIZZLE_128B, "for two of its"},
    {0, 0, 16, 1024, 0, GM_SWIZZLE_64B, "a swizzle of 64 bytes, and the copy at line"},
    {0, 0, 16, 1024, 1, GM_SWIZZLE_128B, "operand A is no matrix"},
    {0, 0, 16, 2048, 0, GM_SWIZZLE_128B, "operand A is no matrix"},
    {0, 0, 1024, 16, 0, GM_SWIZZLE_128B, "for two of its"},
    {1, 0, 8192, 1024, 0, GM_SWIZZLE_128B, NULL},
    {1, 4096, 8192, 1024, 0, GM_SWIZZLE_128B, NULL},
    {1, 0, 1024, 8192, 0, GM_SWIZZLE_128B, "element (0, 8) is byte 128 of row 0"},
    {1, 0, 8192, 2048, 0, GM_SWIZZLE_128B, "operand A is no matrix"},
};

static const struct origin_case in_one_box[] = {
    {0, 0, 16, 2048, 0, GM_SWIZZLE_128B, NULL},
    {0, 1024 + 64, 16, 2048, 0, GM_SWIZZLE_128B, NULL},
    {0, 0, 16, 1024, 0, GM_SWIZZLE_128B, "operand A is no matrix"},
    {1, 0, 1024, 2048, 0, GM_SWIZZLE_128B, NULL},
    {1, 4096, 1024, 2048, 0, GM_SWIZZLE_128B, NULL},
    {1, 0, 2048, 1024, 0, GM_SWIZZLE_128B, "operand A is no matrix"},
};

static uint64_t encode(uint32_t start, uint32_t leading, uint32_t stride, uint32_t base_offset,
                       enum gm_swizzle_mode mode) {
    const struct gm_matrix_descriptor fields = {.size = sizeof fields,
                                                .start = BASE + start,
                                                .leading_bytes = leading,
                                                .stride_bytes = stride,
                                                .base_offset = base_offset,
                                                .swizzle = mode};
    uint64_t bits = 0;
    ck_assert_int_eq(gm_matrix_descriptor_encode(&fields, &bits), GM_OK);
    return bits;
}

static void try(const struct origin_case *c, const char *body, const void *map, uint32_t stride_of_b) {
    const uint64_t a = encode(c->start, c->leading, c->stride, c->base_offset, c->mode);
    const uint64_t b = encode(0, 16, stride_of_b, 0, GM_SWIZZLE_128B);
    const struct kernel_launch launch = {.body = body,
                                         .parameters =
                                             ".param .align 64 .b8 map[128], .param .u64 of_a, .param .u64 of_b",
                                         .arguments = {map, &a, &b},
                                         .threads = 128,
                                         .ctas = 1,
                                         .shared_bytes = 32768};
    ck_assert_int_eq(kernel_run(&launch), 0);
    if (c->words)
        kernel_reported(SIM_REPORT_DESCRIPTOR, c->words);
    else
        kernel_clean();
}

static uint16_t tensor[SIDE * SIDE];

START_TEST(test_origin) {
    _Alignas(64) uint8_t map[128];
    const uint64_t dims[] = {SIDE, SIDE}, strides[] = {2 * SIDE};
    const uint32_t box[] = {64, 64}, steps[] = {1, 1};
    const uint64_t address = kernel_memory(tensor, sizeof tensor);
    ck_assert_int_eq(sim_tensor_map_encode_tiled(map, BF16, 2, address, dims, strides, box, steps, 0, SPAN_128, 0, 0),
                     0);
    try(&cases[_i], kernel_text(BODY(TWO_BOXES), BASE, cases[_i].mn_major), map, 1024);
}
END_TEST

/* Rows that a map cuts into pieces of 64 elements, and columns into pieces of 8, are rows and columns still. */
START_TEST(test_pieces) {
    _Alignas(64) uint8_t map[128];
    const uint64_t dims[] = {64, 8, SIDE / 64, SIDE / 8}, strides[] = {2 * SIDE, 128, 16 * SIDE};
    const uint32_t box[] = {64, 8, 2, 8}, steps[] = {1, 1, 1, 1};
    const uint64_t address = kernel_memory(tensor, sizeof tensor);
    ck_assert_int_eq(sim_tensor_map_encode_tiled(map, BF16, 4, address, dims, strides, box, steps, 0, SPAN_128, 0, 0),
                     0);
    try(&in_one_box[_i], kernel_text(BODY(ONE_BOX), BASE, in_one_box[_i].mn_major), map, 2048);
}
END_TEST

Suite *wgmma_origin_suite(void) {
    Suite *suite = suite_create("sim wgmma origin");
    TCase *tests = tcase_create("wgmma origin");
    tcase_add_checked_fixture(tests, kernel_begin, kernel_end);
    tcase_add_loop_test(tests, test_origin, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(tests, test_pieces, 0, sizeof in_one_box / sizeof *in_one_box);
    suite_add_tcase(suite, tests);
    return suite;
}
