/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor stores and reductions, against a plain model. */
#include "sim_tests.h"

#include "copy_model.h"

#include <string.h>

static const char store_parameters[] = ".param .align 128 .b8 map[128], .param .u64 source, .param .u32 offset, "
                                       ".param .s32 c0, .param .s32 c1, .param .s32 c2";
static const char store_body[] =
    "ld.param.u64 source_at, [source]; shl.b32 at, thread, 2;\n"
    "FILL: setp.lt.u32 more, at, 16384; @!more bra FILLED;\n"
    "cvt.u64.u32 from, at; add.u64 from, from, source_at; ld.global.u32 a, [from];\n"
    "add.u32 b, base, at; st.shared.u32 [b], a; add.u32 at, at, step; bra FILL;\n"
    "FILLED: fence.proxy.async.shared::cta; bar.sync 0; @!leader bra FINISHED;\n"
    "mov.b64 map_at, map; cvta.param.u64 map_at, map_at; ld.param.u32 d, [offset]; add.u32 d, d, base;\n"
    "ld.param.u32 a, [c0]; ld.param.u32 b, [c1]; ld.param.u32 c, [c2];\n"
    "%s\n"
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
    "FINISHED:\n";

static uint8_t out[TENSOR_BYTES], wanted[TENSOR_BYTES];

/* Runs a store of `source` into `out`, which lies behind 4096 bytes of guard. */
enum { GUARD = 4096 };
static int run_store(struct shot *s, const char *instruction, const uint8_t source[IMAGE_BYTES]) {
    shot_complete(s);
    const uint64_t out_address = kernel_memory(out, TENSOR_BYTES), source_address = kernel_memory(source, IMAGE_BYTES);
    const struct map map = shot_encode(s, out_address + GUARD);
    const struct kernel_launch launch = {
        .body = kernel_text(store_body, instruction),
        .parameters = store_parameters,
        .arguments = {&map, &source_address, &s->offset, &s->at[0], &s->at[1], &s->at[2]},
        .threads = THREADS,
        .ctas = 1,
        .shared_bytes = IMAGE_BYTES};
    const int result = kernel_run(&launch);
    memcpy(out, kernel_view(out_address, TENSOR_BYTES), TENSOR_BYTES);
    return result;
}

static const char *store_instruction(unsigned rank) {
    return kernel_text("cp.async.bulk.tensor.%ud.global.shared::cta.tile.bulk_group [map_at, %s], [d];", rank,
                       coordinates[rank]);
}

/* Rows end where they do in the tensor, rounded up to 16 bytes from the row's start. */
static void predict_store(const struct shot *s, const uint8_t *source) {
    const uint32_t bytes = shot_element_bytes(s->type);
    const int64_t end = (int64_t)((s->dims[0] * bytes + 15) / 16 * 16);
    for (uint32_t row = 0; row < shot_rows(s); row++) {
        for (uint32_t byte = 0; byte < s->box[0] * bytes; byte++) {
            struct place place = shot_place(s, IMAGE_BASE, row, byte), start = shot_place(s, IMAGE_BASE, row, 0);
            const bool padding = start.inside && !place.inside && s->at[0] * (int64_t)bytes + byte < end;
            if (place.inside || padding)
                wanted[GUARD + place.global] = source[place.shared];
        }
    }
}

static void check_store(struct shot s) {
    memset(out, 0xee, sizeof out);
    memset(wanted, 0xee, sizeof wanted);
    ck_assert_int_eq(run_store(&s, store_instruction(s.rank), tensor), 0);
    kernel_clean();
    predict_store(&s, tensor);
    for (uint32_t at = 0; at < TENSOR_BYTES; at++)
        ck_assert_msg(out[at] == wanted[at], "type %d, %u columns, at %d,%d: byte %d is 0x%02x, not 0x%02x", s.type,
                      (unsigned)s.dims[0], s.at[0], s.at[1], (int)at - GUARD, out[at], wanted[at]);
}

START_TEST(stores_round_ragged_rows_up) {
    for (uint32_t tail = 0; tail <= 16; tail += 2)
        check_store(
            (struct shot){.type = BF16, .rank = 2, .dims = {(32 + tail) / 2, 12}, .strides = {128}, .box = {32, 8}});
    check_store(
        (struct shot){.type = BF16, .rank = 2, .dims = {257, 12}, .strides = {544}, .box = {32, 8}, .at = {256}});
    check_store(
        (struct shot){.type = U8, .rank = 2, .dims = {96, 12}, .strides = {128}, .box = {64, 8}, .at = {48, 9}});
    check_store(
        (struct shot){.type = U8, .rank = 2, .dims = {96, 12}, .strides = {128}, .box = {64, 8}, .at = {208, 0}});
}
END_TEST

START_TEST(stores_of_swizzled_boxes) {
    for (int swizzle = 0; swizzle <= 3; swizzle++)
        for (uint32_t row = 32; row <= (swizzle ? 16u << swizzle : 128); row += 16)
            check_store((struct shot){.type = F32,
                                      .swizzle = swizzle,
                                      .rank = 3,
                                      .dims = {40, 9, 5},
                                      .box = {row / 4, 4, 3},
                                      .at = {16, 7, 3},
                                      .offset = 384});
}
END_TEST

START_TEST(illegal_stores_are_refused) {
    struct shot s = {.type = U8, .rank = 2, .dims = {96, 12}, .strides = {128}, .box = {64, 8}, .at = {-16, 0}};
    ck_assert_int_eq(run_store(&s, store_instruction(2), tensor), ILLEGAL_INSTRUCTION);
    kernel_reported(SIM_REPORT_ILLEGAL, "before its tensor");
    s.at[0] = 0;
    s.at[1] = -3;
    ck_assert_int_eq(run_store(&s, store_instruction(2), tensor), ILLEGAL_INSTRUCTION);
    kernel_reported(SIM_REPORT_ILLEGAL, "before its tensor");
    s.at[1] = 0;
    s.at[0] = 4;
    ck_assert_int_eq(run_store(&s, store_instruction(2), tensor), ILLEGAL_INSTRUCTION);
    kernel_reported(SIM_REPORT_ILLEGAL, "multiple of 16 bytes");
}
END_TEST

/* ---- reductions ------------------------------------------------------------------------------------------------- */

/* One element of 8 bytes at most, twice in memory and the outcome. */
struct sum {
    const char *operation;
    int type;
    uint64_t old, operand, result;
};

static void check_sum(const struct sum *sum) {
    const uint32_t bytes = shot_element_bytes(sum->type);
    uint8_t source[IMAGE_BYTES];
    struct shot s = {
        .type = sum->type, .rank = 2, .dims = {32 / bytes - 1, 3}, .strides = {32}, .box = {32 / bytes, 4}};
    for (uint32_t at = 0; at < sizeof source; at += bytes)
        memcpy(source + at, &sum->operand, bytes);
    for (uint32_t at = 0; at < TENSOR_BYTES; at += bytes)
        memcpy(out + at, &sum->old, bytes);
    memcpy(wanted, out, sizeof wanted);
    for (uint32_t row = 0; row < 3; row++)
        for (uint32_t e = 0; e + 1 < 32 / bytes; e++)
            memcpy(wanted + GUARD + row * 32 + e * bytes, &sum->result, bytes);
    const char *reduces = kernel_text(
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.%s.tile.bulk_group [map_at, {a, b}], [d];", sum->operation);
    ck_assert_int_eq(run_store(&s, reduces, source), 0);
    kernel_clean();
    uint64_t got = 0;
    memcpy(&got, out + GUARD, bytes);
    ck_assert_msg(memcmp(out, wanted, sizeof out) == 0, "%s of type %d: 0x%llx and 0x%llx gave 0x%llx", sum->operation,
                  sum->type, (unsigned long long)sum->old, (unsigned long long)sum->operand, (unsigned long long)got);
}

START_TEST(reductions_compute) {
    static const struct sum sums[] = {
        {"add", U32, 0xffffffff, 3, 2},
        {"add", S32, 5, 0xfffffff0, 0xfffffff5},
        {"add", U64, UINT64_C(0xffffffffffffffff), 1, 0},
        {"add", F16, 0x3c00, 0x4000, 0x4200},
        {"add", BF16, 0x3f80, 0x4000, 0x4040},
        {"add", BF16, 0x3f80, 0x7fc0, 0x7fff},
        {"add", F32, 0x3f800000, 0x40000000, 0x40400000},
        {"add", F32, 0x00000001, 0x00000001, 0x00000002},
        {"add", F32_FTZ, 0x00000001, 0x80000001, 0x00000000},
        {"add", F64, 0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000},
        {"min", U32, 1, 0x80000000, 1},
        {"min", S32, 1, 0x80000000, 0x80000000},
        {"max", S32, 1, 0x80000000, 1},
        {"max", U64, 1, UINT64_C(0x8000000000000000), UINT64_C(0x8000000000000000)},
        {"max", S64, 1, UINT64_C(0x8000000000000000), 1},
        {"min", F16, 0x3c00, 0xbc00, 0xbc00},
        {"max", BF16, 0x7fc0, 0x3f80, 0x3f80},
        {"min", F16, 0x0000, 0x8000, 0x8000},
        {"inc", U32, 3, 3, 0},
        {"inc", U32, 2, 3, 3},
        {"dec", U32, 0, 3, 3},
        {"dec", U32, 9, 3, 3},
        {"dec", U32, 2, 3, 1},
        {"and", U32, 12, 10, 8},
        {"or", S32, 12, 10, 14},
        {"xor", U64, 12, 10, 6},
    };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        check_sum(&sums[i]);
}
END_TEST

START_TEST(pairs_that_hardware_refuses_are_refused) {
    static const struct {
        const char *operation;
        int type;
    } pairs[] = {{"add", S64}, {"add", U8},  {"min", F32}, {"max", F64},
                 {"inc", S32}, {"dec", U64}, {"and", S64}, {"xor", U8}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct shot s = {.type = pairs[i].type, .rank = 2, .dims = {32, 3}, .box = {16, 4}};
        const char *reduces =
            kernel_text("cp.reduce.async.bulk.tensor.2d.global.shared::cta.%s.bulk_group [map_at, {a, b}], [d];",
                        pairs[i].operation);
        ck_assert_int_eq(run_store(&s, reduces, tensor), ILLEGAL_INSTRUCTION);
        kernel_reported(SIM_REPORT_ILLEGAL, "no reduction");
    }
}
END_TEST

Suite *copy_tensor_store_suite(void) {
    Suite *suite = suite_create("tensor stores");
    TCase *tests = tcase_create("tensor stores");
    tcase_add_checked_fixture(tests, shot_begin, kernel_end);
    tcase_add_test(tests, stores_round_ragged_rows_up);
    tcase_add_test(tests, stores_of_swizzled_boxes);
    tcase_add_test(tests, illegal_stores_are_refused);
    tcase_add_test(tests, reductions_compute);
    tcase_add_test(tests, pairs_that_hardware_refuses_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
