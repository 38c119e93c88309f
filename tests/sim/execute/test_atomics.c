/* SPDX-License-Identifier: Apache-2.0 */
/* atom and red, as kernels run them: what they compute, and what they return. */
#include "sim_tests.h"

#include "buffer_kernel.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *operation; /* with the register that holds the operand */
    const char *reg, *result;
    uint64_t before, operand, after;
} atomics[] = {
    {"add.u32", "a", "b, ", 5, 0xffffffff, 4},
    {"add.s32", "a", "b, ", 5, 7, 12},
    {"add.u64", "s", "t, ", UINT64_C(0xffffffff), 1, UINT64_C(0x100000000)},
    {"add.f32", "a", "b, ", 0x3f800000, 0x40000000, 0x40400000},
    {"add.f64", "s", "t, ", UINT64_C(0x3ff0000000000000), UINT64_C(0x3ff0000000000000), UINT64_C(0x4000000000000000)},
    {"add.noftz.f16x2", "a", "b, ", 0x3c003c00, 0x40003c00, 0x42004000},
    {"add.noftz.bf16x2", "a", "b, ", 0x3f803f80, 0x40003f80, 0x40404000},
    {"add.noftz.f16", "h", "i, ", 0x3c00, 0x4000, 0x4200},
    {"and.b32", "a", "b, ", 0xff0f, 0xf0ff, 0xf00f},
    {"or.b64", "s", "t, ", UINT64_C(1) << 40, 1, (UINT64_C(1) << 40) + 1},
    {"xor.b32", "a", "b, ", 0xff, 0x0f, 0xf0},
    {"exch.b32", "a", "b, ", 1, 2, 2},
    {"exch.b64", "s", "t, ", 1, UINT64_C(1) << 60, UINT64_C(1) << 60},
    {"inc.u32", "a", "b, ", 3, 3, 0},
    {"inc.u32", "a", "b, ", 2, 3, 3},
    {"dec.u32", "a", "b, ", 0, 9, 9},
    {"dec.u32", "a", "b, ", 10, 9, 9},
    {"dec.u32", "a", "b, ", 8, 9, 7},
    {"min.s32", "a", "b, ", 1, 0xffffffff, 0xffffffff},
    {"min.u32", "a", "b, ", 1, 0xffffffff, 1},
    {"max.s32", "a", "b, ", 1, 0xffffffff, 1},
    {"max.u64", "s", "t, ", 1, UINT64_MAX, UINT64_MAX},
    {"max.s64", "s", "t, ", 1, UINT64_MAX, 1},
};

START_TEST(atomics_compute) {
    static const char *const places[][2] = {
        {".global", "to"}, {".shared", "at"}, {"", "u"}, {".shared::cluster", "at"}};
    char body[1024];
    const char *reg = atomics[_i].reg;
    const char type = *reg == 's' ? 'd' : *reg == 'h' ? 'h' : 'w';
    const char *const bits = type == 'd' ? "b64" : type == 'h' ? "b16" : "b32";
    for (size_t n = 0; n < 2 * sizeof places / sizeof *places; n++) {
        const bool red = n % 2 && strncmp(atomics[_i].operation, "exch", 4) != 0;
        buffer_set(0, atomics[_i].before);
        buffer_set(1, atomics[_i].operand);
        buffer_set(2, 0);
        snprintf(
            body, sizeof body,
            ".shared .b64 box; mov.u32 at, box; ld.global.u64 s, [to]; st.shared.u64 [at], s; cvta.shared.u64 u, box;\n"
            "ld.global.%s %s, [to+8]; %s%s.%s %s[%s], %s; ld.shared.u64 t, [at]; st.global.u64 [to+24], t;",
            bits, reg, red ? "red.relaxed.gpu" : "atom", places[n / 2][0], atomics[_i].operation,
            red ? "" : atomics[_i].result, places[n / 2][1], reg);
        buffer_kernel_runs("", body, 1, 1);
        ck_assert_msg((n / 2 ? buffer_word(3) : buffer_word(0)) == atomics[_i].after, "%s: %llx", body,
                      (unsigned long long)(n / 2 ? buffer_word(3) : buffer_word(0)));
    }
}
END_TEST

START_TEST(atomics_give_the_old_value_lane_by_lane) {
    memset(buffer, 0, sizeof buffer);
    buffer_kernel_runs(
        "",
        ".shared .b32 box; setp.eq.u32 p, lane, 0; @p st.shared.u32 [box], 0; bar.sync 0; atom.shared.add.u32 a, "
        "[box], 2;\n"
        "atom.global.add.u32 b, [to], 1; st.global.u32 [mine+8], a; st.global.u32 [mine+12], b;\n"
        "atom.shared.cas.b32 c, [box], 64, lane; bar.sync 0; ld.shared.u32 d, [box]; st.global.u32 [mine+16], d;",
        32, 1);
    ck_assert_uint_eq((uint32_t)buffer_word(0), 32);
    for (uint32_t thread = 0; thread < 32; thread++) {
        ck_assert_uint_eq((uint32_t)buffer_word(4 * thread + 1), 2 * thread);
        ck_assert_uint_eq(buffer_word(4 * thread + 1) >> 32, thread);
        ck_assert_uint_eq((uint32_t)buffer_word(4 * thread + 2), 0); /* lane 0 swapped its own number in */
    }
}
END_TEST

START_TEST(subnormal_sums_are_flushed_in_global_memory_only) {
    buffer_set(0, 1);
    buffer_kernel_runs(
        "",
        ".shared .b32 box; st.shared.u32 [box], 1; mov.b32 f, 2; atom.global.add.f32 f, [to], f; mov.b32 f, 2;\n"
        "red.shared.add.f32 [box], f; ld.shared.u32 a, [box]; st.global.u32 [to+8], a;",
        1, 1);
    ck_assert_uint_eq((uint32_t)buffer_word(0), 0);
    ck_assert_uint_eq((uint32_t)buffer_word(1), 3);
}
END_TEST

Suite *atomics_suite(void) {
    Suite *suite = suite_create("atomics");
    TCase *tests = tcase_create("atomics");
    tcase_add_loop_test(tests, atomics_compute, 0, sizeof atomics / sizeof *atomics);
    tcase_add_test(tests, atomics_give_the_old_value_lane_by_lane);
    tcase_add_test(tests, subnormal_sums_are_flushed_in_global_memory_only);
    suite_add_tcase(suite, tests);
    return suite;
}
