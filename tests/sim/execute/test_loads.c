/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores, as kernels run them: types, vectors, spaces, peers, and what is reported. */
#include "sim_tests.h"

#include "buffer_kernel.h"

#include <stdio.h>
#include <string.h>

/* ---- types ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *type, *to, *widen; /* into register h, a or s; and from there to s */
    uint64_t expected;
} types[] = {
    {"u8", "h", "cvt.u64.u16 s, h;", 0x88},
    {"s8", "h", "cvt.s64.s16 s, h;", UINT64_C(0xffffffffffffff88)},
    {"s8", "h", "cvt.u64.u16 s, h;", 0xff88},
    {"s8", "a", "cvt.u64.u32 s, a;", 0xffffff88},
    {"b8", "a", "cvt.u64.u32 s, a;", 0x88},
    {"u16", "h", "cvt.u64.u16 s, h;", 0x9988},
    {"s16", "a", "cvt.u64.u32 s, a;", 0xffff9988},
    {"b16", "s", "", 0x9988},
    {"s16", "s", "", UINT64_C(0xffffffffffff9988)},
    {"u32", "a", "cvt.u64.u32 s, a;", 0xbbaa9988},
    {"f32", "f", "mov.b32 a, f; cvt.u64.u32 s, a;", 0xbbaa9988},
    {"s32", "s", "", UINT64_C(0xffffffffbbaa9988)},
    {"b64", "s", "", UINT64_C(0xffeeddccbbaa9988)},
    {"f64", "g", "mov.b64 s, g;", UINT64_C(0xffeeddccbbaa9988)},
};

static const char *const spaces[][2] = {
    {"global", "mov.u64 t, to;"},
    {"const", "mov.u64 t, values;"},
    {"shared", "mov.u64 t, box; ld.global.u64 u, [to]; st.shared.u64 [t], u; bar.warp.sync -1;"},
    {"local", "mov.u64 t, own; ld.global.u64 u, [to]; st.local.u64 [t], u;"},
};

START_TEST(types_are_extended) {
    char body[1024];
    for (size_t n = 0; n < sizeof spaces / sizeof *spaces; n++) {
        buffer_set(0, UINT64_C(0xffeeddccbbaa9988));
        snprintf(body, sizeof body,
                 ".shared .b64 box; .local .b64 own; %s ld.%s.%s %s, [t]; %s st.global.u64 [to+8], s;", spaces[n][1],
                 spaces[n][0], types[_i].type, types[_i].to, types[_i].widen);
        buffer_kernel_runs(".const .align 8 .b64 values = 0xffeeddccbbaa9988;\n", body, 1, 1);
        ck_assert_msg(buffer_word(1) == types[_i].expected, "ld.%s.%s %s: %llx", spaces[n][0], types[_i].type,
                      types[_i].to, (unsigned long long)buffer_word(1));
    }
}
END_TEST

START_TEST(stores_take_the_low_bytes) {
    memset(buffer, 0, sizeof buffer);
    buffer_kernel_runs(
        "",
        "mov.b64 s, 0x1122334455667788; st.global.u8 [to], s; cvt.u32.u64 a, s; st.global.u16 [to+8], a;\n"
        "st.global.u32 [to+16], s; st.global.b64 [to+24], s; st.global.u8 [to+32], -1;",
        1, 1);
    ck_assert_uint_eq(buffer_word(0), 0x88);
    ck_assert_uint_eq(buffer_word(1), 0x7788);
    ck_assert_uint_eq(buffer_word(2), 0x55667788);
    ck_assert_uint_eq(buffer_word(3), UINT64_C(0x1122334455667788));
    ck_assert_uint_eq(buffer_word(4), 0xff);
}
END_TEST

/* Each thread's 16 bytes go through shared memory, side by side or 48 bytes apart, in vectors of every width. */
START_TEST(vectors_of_any_width) {
    static const char *const ways[] = {
        "ld.global.v4.u32 {a, b, c, d}, [mine]; st.shared.v4.u32 [at], {a, b, c, d}; ld.shared.v4.b32 {d, c, b, a}, "
        "[at];"
        "st.global.v4.u32 [mine+16], {d, c, b, a};",
        "ld.global.v2.u64 {s, t}, [mine]; st.shared.v2.u64 [at], {s, t}; ld.shared.v2.u64 {u, s}, [at];"
        "st.global.v2.b64 [mine+16], {u, s};",
        "ld.global.v2.b32 {a, b}, [mine]; ld.global.v2.b32 {c, d}, [mine+8]; st.shared.v2.b32 [at], {a, b};"
        "st.shared.v2.b32 [at+8], {c, d}; ld.shared.u64 s, [at]; ld.shared.v2.f32 {f, d}, [at+8];"
        "st.global.u64 [mine+16], s; st.global.v2.f32 [mine+24], {f, d};",
        "ld.global.v4.u16 {h, i, h, i}, [mine]; ld.global.nc.v4.f32 {_, b, _, d}, [mine]; ld.global.b32 a, [mine];"
        "ld.global.cg.b32 c, [mine+8]; st.shared.b32 [at], a; st.shared.b32 [at+4], b; st.shared.b32 [at+8], c;"
        "st.shared.b32 [at+12], d; ld.shared.v4.b32 {a, b, c, d}, [at]; st.global.wb.v4.b32 [mine+16], {a, b, c, d};",
    };
    char body[1024];
    for (size_t n = 0; n < sizeof buffer; n++)
        buffer[n] = (uint8_t)(n * 37 + n / 251);
    snprintf(body, sizeof body,
             ".shared .align 16 .b8 boxes[3072]; mad.lo.u32 at, lane, %d, 16; mov.u32 a, boxes;\n"
             "add.u32 at, at, a; setp.ge.u32 p, lane, %d; @p exit; %s",
             _i % 2 ? 48 : 16, _i / 2 % 2 ? 27 : 64, ways[_i / 4]);
    buffer_kernel_runs("", body, 60, 1);
    for (size_t thread = 0; thread < (_i / 2 % 2 ? 27 : 60); thread++)
        ck_assert_mem_eq(buffer + 32 * thread, buffer + 32 * thread + 16, 16);
}
END_TEST

START_TEST(the_last_lane_wins) {
    buffer_kernel_runs(
        "",
        ".shared .b32 box; st.shared.u32 [box], lane; bar.warp.sync -1; ld.shared.u32 a, [box]; st.global.u32 [to], "
        "lane;"
        "st.global.u32 [mine+4], a;",
        32, 1);
    ck_assert_uint_eq((uint32_t)buffer_word(0), 31);
    ck_assert_uint_eq(buffer_word(4) >> 32, 31);
}
END_TEST

/* ---- addresses -------------------------------------------------------------------------------------------------- */

START_TEST(generic_addresses_name_their_space) {
    memset(buffer, 0, sizeof buffer);
    buffer_kernel_runs(
        ".global .b32 values[2] = {70, 71};\n",
        ".shared .align 8 .b32 box[64]; .local .b32 own[2]; mov.u32 a, box; cvta.shared.u64 s, box; isspacep.shared p, "
        "s;\n"
        "cvta.to.shared.u64 t, s; cvt.u32.u64 b, t; setp.eq.and.u32 p, a, b, p; isspacep.global q, s;\n"
        "@q trap; @!p trap; cvta.local.u64 u, own; isspacep.local p, u; @!p trap;\n"
        /* lane 0: shared, lane 1: local, lane 2: global, lane 3: a parameter */
        "setp.eq.u32 p, lane, 1; @p mov.b64 s, u; setp.eq.u32 p, lane, 2; cvta.global.u64 t, values; @p mov.b64 s, t;\n"
        "st.shared.u32 [box], 5; st.local.u32 [own], 6; bar.warp.sync -1; mov.u64 u, buffer; cvta.param.u64 u, u;\n"
        "setp.eq.u32 p, lane, 3; @p mov.b64 s, u; ld.u32 a, [s]; @p cvt.u32.u64 b, to; @p sub.u32 a, a, b;\n"
        "st.global.u32 [mine], a; @!p add.u32 a, a, 10; @!p st.u32 [s], a; @!p ld.u32 a, [s]; st.global.u32 [mine+4], "
        "a;",
        4, 1);
    static const uint32_t before[] = {5, 6, 70, 0}, after[] = {15, 16, 80, 0};
    for (size_t lane = 0; lane < 4; lane++) {
        ck_assert_uint_eq((uint32_t)buffer_word(4 * lane), before[lane]);
        ck_assert_uint_eq(buffer_word(4 * lane) >> 32, after[lane]);
    }
}
END_TEST

/* Each CTA writes to its neighbour's box, by a shared::cluster address and by a generic one. */
START_TEST(peers_write_to_each_other) {
    buffer_kernel_runs(
        "",
        ".shared .align 8 .b32 box[4]; mov.u32 a, %cluster_ctarank; xor.b32 b, a, 1; mov.u32 at, box;\n"
        "mapa.shared::cluster.u32 c, at, b; getctarank.shared::cluster.u32 d, c; setp.ne.u32 p, d, b; @p trap;\n"
        "cvta.shared.u64 s, box; mapa.u64 t, s, b; getctarank.u64 d, t; setp.ne.u32 p, d, b; @p trap;\n"
        "isspacep.shared::cta p, t; isspacep.shared::cluster q, t; @p trap; @!q trap;\n"
        "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
        "st.shared::cluster.u32 [c+4], a; add.u32 d, a, 100; st.u32 [t+8], d;\n"
        "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"
        "ld.shared.u32 c, [box+4]; ld.shared::cta.u32 d, [box+8]; mul.wide.u32 s, a, 8; add.u64 s, s, to;\n"
        "st.global.v2.u32 [s], {c, d};",
        1, 2);
    ck_assert_uint_eq(buffer_word(0), UINT64_C(101) << 32 | 1);
    ck_assert_uint_eq(buffer_word(1), UINT64_C(100) << 32);
}
END_TEST

/* ---- reports ---------------------------------------------------------------------------------------------------- */

START_TEST(bad_addresses_are_reported) {
    buffer_kernel_reports("ld.global.u32 a, [to+4096];", 1, SIM_REPORT_OUT_OF_BOUNDS,
                          "byte 4096 of an allocation of 4096 bytes");
    buffer_kernel_reports("st.global.u64 [to+4092], s;", 1, SIM_REPORT_MISALIGNED, "no multiple of 8");
    buffer_kernel_reports("mov.b64 s, 16; st.global.u32 [s], a;", 1, SIM_REPORT_OUT_OF_BOUNDS, "in no allocation");
    buffer_kernel_reports(".shared .b32 box[8]; ld.shared.u32 a, [box+32];", 1, SIM_REPORT_OUT_OF_BOUNDS,
                          "the CTA has");
    buffer_kernel_reports("mov.b32 a, 0; ld.shared.u32 a, [a];", 32, SIM_REPORT_OUT_OF_BOUNDS, "the system's");
    buffer_kernel_reports(".shared .b32 box[8]; ld.shared.v2.u32 {a, b}, [box+4];", 32, SIM_REPORT_MISALIGNED,
                          "of shared memory");
    buffer_kernel_reports(
        ".shared .b32 box; mov.u32 a, box; mapa.shared::cluster.u32 a, a, 7; ld.shared::cluster.u32 a, [a];", 1,
        SIM_REPORT_OUT_OF_BOUNDS, "names CTA 7 of a cluster of 1");
    buffer_kernel_reports(".local .b32 own; mov.u64 s, own; st.local.u32 [s+64], a;", 1, SIM_REPORT_OUT_OF_BOUNDS,
                          "local memory");
    buffer_kernel_reports("mov.u64 s, buffer; cvta.param.u64 s, s; st.u32 [s], a;", 1, SIM_REPORT_ILLEGAL,
                          "parameters");
    buffer_kernel_reports("mov.b64 s, 0; atom.global.add.u32 a, [s], 1;", 1, SIM_REPORT_OUT_OF_BOUNDS,
                          "writes 4 bytes");
}
END_TEST

START_TEST(uninitialised_memory_is_reported) {
    buffer_kernel_reports(".shared .b32 box[32]; ld.shared.u32 a, [box+8];", 1, SIM_REPORT_UNINITIALISED,
                          "not all of which were");
    buffer_kernel_reports(".shared .b32 box[64]; mov.u32 at, box; mad.lo.u32 at, lane, 4, at; st.shared.u32 [at], 1;\n"
                          "bar.sync 0; ld.shared.u32 a, [at+4];",
                          32, SIM_REPORT_UNINITIALISED, "reads 4 bytes of shared memory");
    buffer_kernel_reports(".shared .b32 box[32]; red.shared.add.u32 [box], 1;", 1, SIM_REPORT_UNINITIALISED,
                          "an atomic");
}
END_TEST

START_TEST(races_are_reported) {
    buffer_kernel_reports(
        ".shared .b32 box[2]; setp.eq.u32 p, lane, 0; @p st.shared.u32 [box], 1; @!p ld.shared.u32 a, [box];", 2,
        SIM_REPORT_READ_BEFORE_WRITTEN, "lane 0 of this warp wrote it at line");
    buffer_kernel_reports(
        ".shared .b32 box[64]; mov.u32 at, box; mad.lo.u32 at, lane, 4, at; st.shared.u32 [at], lane;\n"
        "xor.b32 lane, lane, 1; mov.u32 at, box; mad.lo.u32 at, lane, 4, at; ld.shared.u32 a, [at];",
        32, SIM_REPORT_READ_BEFORE_WRITTEN, "of this warp wrote it at line 9 and no __syncwarp");
    buffer_kernel_reports(
        ".shared .b32 box; setp.lt.u32 p, lane, 32; @p bra store; nanosleep.u32 500; ld.shared.u32 a, [box];\n"
        "bra end; store: st.shared.u32 [box], 1; end:",
        64, SIM_REPORT_READ_BEFORE_WRITTEN, "warp 0 wrote it at line 10 and no barrier");
}
END_TEST

Suite *loads_suite(void) {
    Suite *suite = suite_create("loads");
    TCase *moves = tcase_create("moves"), *addresses = tcase_create("addresses"), *wrong = tcase_create("reports");
    tcase_add_loop_test(moves, types_are_extended, 0, sizeof types / sizeof *types);
    tcase_add_test(moves, stores_take_the_low_bytes);
    tcase_add_loop_test(moves, vectors_of_any_width, 0, 16);
    tcase_add_test(moves, the_last_lane_wins);
    tcase_add_test(addresses, generic_addresses_name_their_space);
    tcase_add_test(addresses, peers_write_to_each_other);
    tcase_add_test(wrong, bad_addresses_are_reported);
    tcase_add_test(wrong, uninitialised_memory_is_reported);
    tcase_add_test(wrong, races_are_reported);
    suite_add_tcase(suite, moves);
    suite_add_tcase(suite, addresses);
    suite_add_tcase(suite, wrong);
    return suite;
}
