/* SPDX-License-Identifier: Apache-2.0 */
/* cp.async: what it copies and fills, what its groups wait for, and who learns of it. */
#include "sim_tests.h"

#include "copy_kernel.h"

#include <string.h>

enum { THREADS = 32, WORDS = 1024, BYTES = 4 * WORDS, SEEDS = 6 };

static uint32_t source[WORDS], out[WORDS];

static void begin(void) {
    kernel_begin();
    for (uint32_t w = 0; w < WORDS; w++)
        source[w] = 0x1000 + w;
}

/* `source_at` and `image_at` are global addresses; thread t's first word is [base + 4 t], [source_at + 4 t]. */
static const char parameters[] = ".param .u64 source, .param .u64 image";
static const char addresses[] =
    "ld.param.u64 source_at, [source]; ld.param.u64 image_at, [image]; shl.b32 at, thread, 2;\n"
    "cvt.u64.u32 from, at; add.u64 to, image_at, from; add.u64 from, from, source_at; add.u32 d, base, at;\n";

static int run_threads(const char *body, uint64_t seed, uint32_t threads) {
    const uint64_t source_address = kernel_memory(source, BYTES);
    memset(out, 0xee, sizeof out);
    const uint64_t out_address = kernel_memory(out, BYTES);
    const struct kernel_launch launch = {.body = kernel_text("%s%s", addresses, body),
                                         .parameters = parameters,
                                         .arguments = {&source_address, &out_address},
                                         .threads = threads,
                                         .ctas = 1,
                                         .shared_bytes = BYTES,
                                         .seed = seed};
    const int result = kernel_run(&launch);
    memcpy(out, kernel_view(out_address, BYTES), BYTES);
    return result;
}

static int run(const char *body, uint64_t seed) {
    return run_threads(body, seed, THREADS);
}

/* Under every schedule it goes well, and thread t's word is as told. */
static void check(const char *body, uint32_t (*expected)(uint32_t thread)) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ck_assert_int_eq(run(body, seed), 0);
        kernel_clean();
        for (uint32_t t = 0; t < THREADS; t++)
            ck_assert_msg(out[t] == expected(t), "thread %u, seed %u: 0x%x, not 0x%x", t, (unsigned)seed, out[t],
                          expected(t));
    }
}

#define COPY_4 "cp.async.ca.shared.global [d], [from], 4;\n"
#define STORE  "ld.shared.u32 a, [d]; st.global.u32 [to], a;\n"

static uint32_t own(uint32_t thread) {
    return source[thread];
}
static uint32_t zero(uint32_t thread) {
    return thread * 0;
}
static uint32_t neighbour(uint32_t thread) {
    return source[thread ^ 1];
}
static uint32_t even(uint32_t thread) {
    return thread % 2 ? 0 : source[thread];
}
static uint32_t first_bytes(uint32_t thread) {
    return thread >= 4 ? source[thread] : source[thread] & ((1u << 8 * thread) - 1);
}

START_TEST(copies_arrive) {
    check(COPY_4 "cp.async.wait_all;\n" STORE, own);
    check(COPY_4 "cp.async.commit_group; cp.async.wait_group 0;\n" STORE, own);
    check("cp.async.ca.shared::cta.global.L2::128B [d], [from], 4; cp.async.wait_all;\n" STORE, own);
    check("cp.async.ca.shared.global.L2::cache_hint [d], [from], 4, policy; cp.async.wait_all;\n" STORE, own);
}
END_TEST

START_TEST(the_rest_is_filled_with_zeros) {
    check("min.u32 a, thread, 4; cp.async.ca.shared.global [d], [from], 4, a; cp.async.wait_all;\n" STORE, first_bytes);
    check("cp.async.ca.shared.global [d], [from], 4, 0; cp.async.wait_all;\n" STORE, zero);
    check("cp.async.ca.shared.global.L2::cache_hint [d], [from], 4, 0, policy; cp.async.wait_all;\n" STORE, zero);
    check("and.b32 a, thread, 1; setp.eq.u32 more, a, 1;\n"
          "cp.async.ca.shared.global [d], [from], 4, more; cp.async.wait_all;\n" STORE,
          even);
}
END_TEST

START_TEST(wide_copies) {
    /* Every fourth thread copies for four. */
    const char *body = "and.b32 a, thread, 3; setp.eq.u32 more, a, 0;\n"
                       "@more cp.async.cg.shared.global.L2::256B [d], [from], 16; cp.async.commit_group;\n"
                       "cp.async.wait_group 0; bar.sync 0;\n" STORE;
    check(body, own);
    check("and.b32 a, thread, 1; setp.eq.u32 more, a, 0;\n"
          "@more cp.async.ca.shared.global [d], [from], 8; cp.async.wait_all; bar.warp.sync -1;\n" STORE,
          own);
}
END_TEST

/* Three groups; the newest one may stay under way, and is not looked at. */
START_TEST(groups_are_waited_for_one_by_one) {
    const char *body =
        "cp.async.ca.shared.global [d], [from], 4; cp.async.commit_group;\n"
        "cp.async.ca.shared.global [d + 1024], [from + 1024], 4; cp.async.commit_group;\n"
        "cp.async.ca.shared.global [d + 2048], [from + 2048], 4; cp.async.commit_group;\n"
        "cp.async.wait_group 2; ld.shared.u32 a, [d]; cp.async.wait_group 1; ld.shared.u32 b, [d + 1024];\n"
        "xor.b32 a, a, b; cp.async.wait_group 0; ld.shared.u32 b, [d + 2048]; xor.b32 a, a, b;\n"
        "st.global.u32 [to], a;\n";
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ck_assert_int_eq(run(body, seed), 0);
        kernel_clean();
        for (uint32_t t = 0; t < THREADS; t++)
            ck_assert_uint_eq(out[t], source[t] ^ source[t + 256] ^ source[t + 512]);
    }
}
END_TEST

START_TEST(a_wait_too_few_is_found) {
    const char *body = "cp.async.ca.shared.global [d], [from], 4; cp.async.commit_group;\n"
                       "cp.async.ca.shared.global [d + 1024], [from + 1024], 4; cp.async.commit_group;\n"
                       "cp.async.wait_group 1; ld.shared.u32 a, [d + 1024]; st.global.u32 [to], a;\n"
                       "cp.async.wait_all;\n";
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        run(body, seed);
        kernel_reported(SIM_REPORT_READ_BEFORE_WRITTEN, "");
    }
    run(COPY_4 "cp.async.commit_group;\n" STORE "cp.async.wait_all;\n", 0);
    kernel_reported(SIM_REPORT_READ_BEFORE_WRITTEN, "");
}
END_TEST

/* A lane waits for its own copies only. */
START_TEST(neighbours_need_a_barrier) {
    const char *reads = "xor.b32 b, at, 4; add.u32 b, b, base; ld.shared.u32 a, [b]; st.global.u32 [to], a;\n";
    check(kernel_text(COPY_4 "cp.async.wait_all; bar.sync 0;\n%s", reads), neighbour);
    const char *between = kernel_text("shr.u32 a, thread, 5; xor.b32 a, a, 1; shl.b32 a, a, 7; and.b32 b, at, 124;\n"
                                      "add.u32 a, a, b; add.u32 a, a, base;\n" COPY_4
                                      "cp.async.wait_all; ld.shared.u32 b, [a]; st.global.u32 [to], b;\n");
    run_threads(between, 0, 64);
    kernel_reported(SIM_REPORT_READ_BEFORE_WRITTEN, "");
}
END_TEST

/* Lanes whose histories of commits differ. */
START_TEST(diverged_lanes_have_groups_of_their_own) {
    const char *body =
        "setp.lt.u32 more, thread, 16; @!more bra OTHERS;\n" COPY_4
        "cp.async.commit_group; cp.async.commit_group; cp.async.commit_group; cp.async.wait_group 2;\n" STORE
        "bra MET;\nOTHERS:\n" COPY_4 "cp.async.commit_group; cp.async.wait_group 0;\n" STORE "MET:\n";
    check(body, own);
}
END_TEST

START_TEST(mbarriers_hear_of_copies) {
    const char *waits = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 done, [bar], 0; @!done bra WAIT;\n"
                        "xor.b32 b, at, 4; add.u32 b, b, base; ld.shared.u32 a, [b]; st.global.u32 [to], a;\n";
    const char *counted = kernel_text("@leader mbarrier.init.shared::cta.b64 [bar], 32; bar.sync 0;\n" COPY_4
                                      "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];\n%s",
                                      waits);
    const char *added = kernel_text("@leader mbarrier.init.shared::cta.b64 [bar], 32; bar.sync 0;\n" COPY_4
                                    "cp.async.mbarrier.arrive.shared.b64 [bar];\n"
                                    "mbarrier.arrive.shared::cta.b64 _, [bar];\n%s",
                                    waits);
    check(counted, neighbour);
    check(added, neighbour);
}
END_TEST

START_TEST(misuse_is_reported) {
    run("cp.async.ca.shared.global [d + 2], [from], 4; cp.async.wait_all;\n", 0);
    kernel_reported(SIM_REPORT_MISALIGNED, "");
    run("cp.async.ca.shared.global [d], [from + 2], 4; cp.async.wait_all;\n", 0);
    kernel_reported(SIM_REPORT_MISALIGNED, "");
    run("cp.async.ca.shared.global [d + 4096], [from], 4; cp.async.wait_all;\n", 0);
    kernel_reported(SIM_REPORT_OUT_OF_BOUNDS, "");
    run("cp.async.ca.shared.global [d], [from + 4096], 4; cp.async.wait_all;\n", 0);
    kernel_reported(SIM_REPORT_OUT_OF_BOUNDS, "");
    run("cp.async.cg.shared.global [d], [from], 4; cp.async.wait_all;\n", 0);
    kernel_reported(SIM_REPORT_ILLEGAL, "4, 8 or 16");
    run(COPY_4, 0);
    kernel_reported(SIM_REPORT_EXIT_IN_FLIGHT, "");
}
END_TEST

/* More commits than are told apart. */
START_TEST(many_groups) {
    check(
        "mov.u32 c, 0;\nMORE: cp.async.ca.shared.global [d], [from], 4; cp.async.commit_group; cp.async.wait_group 0;\n"
        "add.u32 c, c, 1; setp.lt.u32 more, c, 200; @more bra MORE;\n" STORE,
        own);
    check("mov.u32 c, 0;\n" COPY_4
          "MORE: cp.async.commit_group; add.u32 c, c, 1; setp.lt.u32 more, c, 200; @more bra MORE;\n"
          "cp.async.wait_group 190;\n" STORE,
          own);
}
END_TEST

Suite *copy_async_suite(void) {
    Suite *suite = suite_create("cp.async");
    TCase *tests = tcase_create("cp.async");
    tcase_add_checked_fixture(tests, begin, kernel_end);
    tcase_add_test(tests, copies_arrive);
    tcase_add_test(tests, the_rest_is_filled_with_zeros);
    tcase_add_test(tests, wide_copies);
    tcase_add_test(tests, groups_are_waited_for_one_by_one);
    tcase_add_test(tests, a_wait_too_few_is_found);
    tcase_add_test(tests, neighbours_need_a_barrier);
    tcase_add_test(tests, diverged_lanes_have_groups_of_their_own);
    tcase_add_test(tests, mbarriers_hear_of_copies);
    tcase_add_test(tests, misuse_is_reported);
    tcase_add_test(tests, many_groups);
    suite_add_tcase(suite, tests);
    return suite;
}
