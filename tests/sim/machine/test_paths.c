/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that part and meet: branches within branches, loops of different length, exits in the middle, lanes and warps
 * that wait for each other, indexed branches; and launches that cannot end. */
#include "run_ptx.h"
#include "sim_tests.h"

#include <string.h>

#define REGISTERS                                                                                                      \
    ".reg .b64 %a<8>; .reg .b32 %r<16>; .reg .pred %p<8>; .reg .b32 %t, %n;\n"                                         \
    "ld.param.u64 %a0, [buffer]; mov.u32 %t, %tid.x; mul.wide.u32 %a1, %t, 4; add.u64 %a1, %a0, %a1;\n"
#define STORE "st.global.u32 [%a1], %r0;"

static uint32_t result[1024];

static void run_block(const char *text, uint32_t threads, uint64_t seed) {
    memset(result, 0, sizeof result);
    struct run_ptx run = {.text = text, .block = {threads}, .buffer = result, .bytes = sizeof result, .seed = seed};
    run_ptx_clean(&run);
}

/* Every seed must give what the plain schedule gives. */
enum { SEEDS = 8 };

START_TEST(branches_nest) {
    run_block(PTX_TEXT(REGISTERS
                       "mov.u32 %r0, 0;\n"
                       "and.b32 %r1, %t, 1; setp.eq.u32 %p0, %r1, 0; @%p0 bra EVEN;\n"
                       "and.b32 %r1, %t, 2; setp.eq.u32 %p1, %r1, 0; @%p1 bra ONE;\n"
                       "add.u32 %r0, %r0, 1000; bra ODD_END;\n"
                       "ONE: add.u32 %r0, %r0, 2000; setp.lt.u32 %p2, %t, 10; @!%p2 bra ODD_END;\n"
                       "add.u32 %r0, %r0, 5;\n"
                       "ODD_END: add.u32 %r0, %r0, 7; bra END;\n"
                       "EVEN: add.u32 %r0, %r0, 3000;\n"
                       "END: activemask.b32 %r2; popc.b32 %r2, %r2; mad.lo.u32 %r0, %r2, 10000, %r0;\n" STORE),
              64, (uint64_t)_i);
    for (uint32_t t = 0; t < 64; t++) {
        const uint32_t odd = t & 2 ? 1007 : t < 10 ? 2012 : 2007;
        ck_assert_uint_eq(result[t], 320000 + (t & 1 ? odd : 3000)); /* all 32 lanes are together again */
    }
}
END_TEST

/* The Collatz sequence of each lane, with a branch inside the loop. */
#define COLLATZ                                                                                                        \
    "add.u32 %n, %t, 1; mov.u32 %r0, 0;\n"                                                                             \
    "LOOP: setp.eq.u32 %p0, %n, 1; @%p0 bra DONE;\n"                                                                   \
    "add.u32 %r0, %r0, 1; and.b32 %r1, %n, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra HALF;\n"                               \
    "mad.lo.u32 %n, %n, 3, 1; bra LOOP;\n"                                                                             \
    "HALF: shr.u32 %n, %n, 1; bra LOOP;\n"                                                                             \
    "DONE: "

static uint32_t collatz(uint32_t n) {
    uint32_t steps = 0;
    for (; n != 1; n = n % 2 ? 3 * n + 1 : n / 2)
        steps++;
    return steps;
}

START_TEST(loops_have_their_own_length) {
    run_block(
        PTX_TEXT(REGISTERS COLLATZ "activemask.b32 %r2; popc.b32 %r2, %r2; mad.lo.u32 %r0, %r2, 10000, %r0;\n" STORE),
        100, (uint64_t)_i);
    for (uint32_t t = 0; t < 100; t++)
        ck_assert_uint_eq(result[t], (t < 96 ? 320000 : 40000) + collatz(t + 1));
}
END_TEST

START_TEST(lanes_exit_in_the_middle) {
    run_block(PTX_TEXT(REGISTERS "mov.u32 %r0, 1; " STORE COLLATZ "setp.gt.u32 %p2, %r0, 20; @%p2 exit;\n"
                                 "add.u32 %r0, %r0, 100; setp.lt.u32 %p3, %t, 8; @%p3 bra NEAR; " STORE " ret;\n"
                                 "NEAR: add.u32 %r0, %r0, 1000;\n" STORE),
              256, (uint64_t)_i);
    for (uint32_t t = 0; t < 256; t++) {
        const uint32_t steps = collatz(t + 1);
        ck_assert_uint_eq(result[t], steps > 20 ? 1 : steps + (t < 8 ? 1100 : 100));
    }
}
END_TEST

/* Lane 31 opens the gate for lane 30 and so on: a flag in shared memory that each lane polls. */
START_TEST(lanes_wait_for_each_other) {
    run_block(PTX_HEAD ".shared .align 4 .b32 gate;\n" PTX_KERNEL REGISTERS
                       "mov.u32 %r0, 31; setp.eq.u32 %p0, %t, 0; @%p0 st.volatile.shared.u32 [gate], %r0;\n"
                       "bar.warp.sync -1;\n"
                       "POLL: ld.volatile.shared.u32 %r1, [gate]; setp.ne.u32 %p1, %r1, %t; @%p1 bra NOT_YET;\n"
                       "sub.u32 %r2, %t, 1; st.volatile.shared.u32 [gate], %r2; bra OUT;\n"
                       "NOT_YET: bra POLL;\n"
                       "OUT: add.u32 %r0, %t, 5;" STORE " ret;\n}\n",
              32, (uint64_t)_i);
    for (uint32_t t = 0; t < 32; t++)
        ck_assert_uint_eq(result[t], t + 5);
}
END_TEST

/* A spin lock in global memory that every thread of two CTAs takes once, and a plain counter under it. */
START_TEST(threads_take_a_lock) {
    memset(result, 0, sizeof result);
    struct run_ptx run = {.text =
                              PTX_TEXT(REGISTERS "TRY: atom.global.cas.b32 %r1, [%a0], 0, 1; setp.ne.u32 %p0, %r1, 0;\n"
                                                 "@%p0 bra TRY;\n"
                                                 "ld.volatile.global.u32 %r2, [%a0+4]; add.u32 %r2, %r2, 1;\n"
                                                 "st.volatile.global.u32 [%a0+4], %r2; membar.gl;\n"
                                                 "atom.global.exch.b32 %r3, [%a0], 0;"),
                          .grid = {2},
                          .block = {64},
                          .buffer = result,
                          .bytes = sizeof result,
                          .seed = (uint64_t)_i};
    run_ptx_clean(&run);
    ck_assert_uint_eq(result[0], 0);
    ck_assert_uint_eq(result[1], 128);
}
END_TEST

/* CTA 0 waits for a flag that the last CTA sets. */
START_TEST(ctas_wait_for_later_ones) {
    memset(result, 0, sizeof result);
    struct run_ptx run = {
        .text = PTX_TEXT(REGISTERS "mov.u32 %r0, %ctaid.x; setp.ne.u32 %p0, %r0, 0; @%p0 bra LAST;\n"
                                   "POLL: ld.volatile.global.u32 %r1, [%a0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra POLL;\n"
                                   "st.global.u32 [%a0+4], %r1; ret;\n"
                                   "LAST: setp.eq.u32 %p2, %r0, 5; @%p2 st.volatile.global.u32 [%a0], 77;"),
        .grid = {6},
        .block = {1},
        .buffer = result,
        .bytes = sizeof result,
        .seed = (uint64_t)_i};
    run_ptx_clean(&run);
    ck_assert_uint_eq(result[1], 77);
}
END_TEST

START_TEST(branches_are_indexed) {
    run_block(PTX_TEXT(REGISTERS
                       "and.b32 %r1, %t, 3; setp.lt.u32 %p0, %t, 60; mov.u32 %r0, 9;\n"
                       "LIST: .branchtargets A, B, C, B;\n"
                       "@%p0 brx.idx %r1, LIST;\n"
                       "bra END;\n"
                       "A: mov.u32 %r0, 100; bra END;\n"
                       "B: add.u32 %r0, %r1, 200; bra END;\n"
                       "C: mov.u32 %r0, 300;\n"
                       "END: activemask.b32 %r2; popc.b32 %r2, %r2; mad.lo.u32 %r0, %r2, 10000, %r0;\n" STORE),
              64, (uint64_t)_i);
    for (uint32_t t = 0; t < 64; t++) {
        const uint32_t expected[] = {100, 201, 300, 203};
        ck_assert_uint_eq(result[t], 320000 + (t < 60 ? expected[t & 3] : 9));
    }
}
END_TEST

START_TEST(specials_are_as_launched) {
    static uint32_t seen[24 * 32][16];
    struct run_ptx run = {
        .text =
            PTX_TEXT(".reg .b64 %a<4>; .reg .b32 %r<32>;\n"
                     "ld.param.u64 %a0, [buffer]; mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %ctaid.x;\n"
                     "mov.u32 %r3, %ctaid.y; mov.u32 %r4, %ntid.x; mov.u32 %r5, %nctaid.y; mov.u32 %r6, %clusterid.x;\n"
                     "mov.u32 %r7, %cluster_ctarank; mov.u32 %r8, %laneid; mov.u32 %r9, %warpid;\n"
                     "mov.u32 %r10, %cluster_ctaid.y; mov.u32 %r11, %cluster_nctarank; mov.u32 %r12, %lanemask_lt;\n"
                     "mov.u32 %r13, %nclusterid.x; mov.u32 %r14, %dynamic_smem_size; mov.u32 %r15, %clusterid.y;\n"
                     "mad.lo.u32 %r20, %r3, 4, %r2; mul.lo.u32 %r20, %r20, 96; mad.lo.u32 %r21, %r1, 24, %r0;\n"
                     "add.u32 %r20, %r20, %r21; mul.wide.u32 %a1, %r20, 64; add.u64 %a0, %a0, %a1;\n"
                     "st.global.v4.b32 [%a0], {%r0, %r1, %r2, %r3}; st.global.v4.b32 [%a0+16], {%r4, %r5, %r6, %r7};\n"
                     "st.global.v4.b32 [%a0+32], {%r8, %r9, %r10, %r11};\n"
                     "st.global.v4.b32 [%a0+48], {%r12, %r13, %r14, %r15};"),
        .grid = {4, 2},
        .block = {24, 4},
        .cluster = {2, 2},
        .dynamic_shared = 512,
        .buffer = seen,
        .bytes = sizeof seen,
        .seed = (uint64_t)_i};
    run_ptx_clean(&run);
    for (uint32_t cta = 0; cta < 8; cta++)
        for (uint32_t t = 0; t < 96; t++) {
            const uint32_t x = cta % 4, y = cta / 4;
            const uint32_t expected[16] = {
                t % 24, t / 24, x, y, 24, 2, x / 2, x % 2 + 2 * y, t % 32, t / 32, y, 4, (1u << t % 32) - 1, 2, 512, 0};
            ck_assert_mem_eq(seen[cta * 96 + t], expected, sizeof expected);
        }
}
END_TEST

/* ---- launches that cannot end ----------------------------------------------------------------------------------- */

static void run_stuck(struct run_ptx *run, const char *words) {
    run->buffer = result;
    run->bytes = sizeof result;
    run_ptx(run);
    ck_assert_str_eq(run->message, "");
    ck_assert_uint_gt(run->reports, 0);
    ck_assert_int_eq(run->report[0].kind, SIM_REPORT_DEADLOCK);
    ck_assert_int_ne(run->result, 0);
    ck_assert_msg(strstr(run->report[0].sentence, words) != NULL, "\"%s\" lacks \"%s\"", run->report[0].sentence,
                  words);
    ck_assert_double_lt(run->seconds, 0.5);
}

/* Warps 0 and 2 of 4 wait for a phase that nobody completes, warp 1 for a barrier that they do not come to. */
START_TEST(deadlock_says_who_waits_for_what) {
    struct run_ptx run = {.text =
                              PTX_HEAD ".shared .align 8 .b64 full;\n" PTX_KERNEL REGISTERS
                                       "setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [full], 3; bar.sync 0;\n"
                                       "shr.u32 %r1, %t, 5; setp.eq.u32 %p1, %r1, 1; @%p1 bra ONE;\n"
                                       "setp.eq.u32 %p1, %r1, 3; @%p1 bra THREE;\n"
                                       "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;\n"
                                       "@%p2 bra THREE;\nbra WAIT;\n"
                                       "ONE: bar.sync 1;\n"
                                       "THREE: ret;\n}\n",
                          .block = {128},
                          .seed = (uint64_t)_i};
    run_stuck(&run, "warps 0, 2 of CTA 0 at line 11 wait for mbarrier 0x400 of CTA 0 (parity 0)");
    ck_assert_ptr_nonnull(strstr(run.report[0].sentence, "warp 1 of CTA 0 at line 14 waits for barrier 1"));
    ck_assert_uint_eq(run.report[0].line, 11);
}
END_TEST

/* Half of a warp waits for the other half, which has left. */
START_TEST(deadlock_within_a_warp) {
    struct run_ptx run = {.text = PTX_TEXT(REGISTERS "setp.lt.u32 %p0, %t, 16; @%p0 bra LOW;\n"
                                                     "HIGH: mov.u32 %r1, 0; bra HIGH;\nLOW: bar.warp.sync -1;"),
                          .block = {32},
                          .seed = (uint64_t)_i};
    run.buffer = result;
    run.bytes = sizeof result;
    run_ptx(&run);
    ck_assert_uint_gt(run.reports, 0);
    ck_assert_int_eq(run.report[0].kind, SIM_REPORT_DEADLOCK);
}
END_TEST

/* All CTAs poll a word of global memory that nobody writes. */
START_TEST(deadlock_of_polling) {
    struct run_ptx run = {
        .text =
            PTX_TEXT(REGISTERS "POLL: ld.volatile.global.u32 %r1, [%a0+4]; setp.eq.u32 %p1, %r1, 0; @%p1 bra POLL;"),
        .grid = {3},
        .block = {32},
        .buffer = result,
        .bytes = sizeof result};
    memset(result, 0, sizeof result);
    run_ptx(&run);
    ck_assert_uint_gt(run.reports, 0);
    ck_assert_int_eq(run.report[0].kind, SIM_REPORT_DEADLOCK);
    ck_assert_ptr_nonnull(strstr(run.report[0].sentence, "runs in circles"));
}
END_TEST

/* A try_wait that gives up after some turns is no deadlock. */
START_TEST(waits_may_time_out) {
    run_block(PTX_HEAD ".shared .align 8 .b64 full;\n" PTX_KERNEL REGISTERS
                       "mbarrier.init.shared.b64 [full], 33; mov.u32 %r0, 0;\n"
                       "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0; @%p2 bra DONE;\n"
                       "add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 1000; @%p1 bra WAIT;\n"
                       "DONE: " STORE "ret;\n}\n",
              1, (uint64_t)_i);
    ck_assert_uint_eq(result[0], 1000);
}
END_TEST

START_TEST(trap_ends_the_launch) {
    struct run_ptx run = {.text = PTX_TEXT(REGISTERS "setp.eq.u32 %p0, %t, 37;\n@%p0 trap;"), .block = {64}};
    run.buffer = result;
    run.bytes = sizeof result;
    run_ptx(&run);
    ck_assert_int_eq(run.result, 719);
    ck_assert_uint_eq(run.reports, 1);
    ck_assert_int_eq(run.report[0].kind, SIM_REPORT_TRAP);
    ck_assert_int_eq(run.report[0].warp, 1);
    ck_assert_int_eq(run.report[0].lane, 5);
}
END_TEST

static int count_steps(struct gm_sim_view *view, void *arg) {
    uint64_t lanes[32];
    int bits, *const steps = arg;
    if (strstr(gm_sim_view_text(view), "add.u32 %r0, %r0, 1;")) {
        ck_assert_int_eq(gm_sim_view_register(view, "%r0", lanes, &bits), 0);
        ck_assert_int_eq(bits, 32);
        ck_assert_uint_eq(lanes[3], (uint64_t)*steps);
        ck_assert_str_eq(gm_sim_view_operand(view, 0), "%r0");
        ck_assert_int_eq(gm_sim_view_register(view, "%tid.x", lanes, &bits), 0);
        ck_assert_uint_eq(lanes[3], 3);
        ++*steps;
    }
    return *steps == 4;
}

START_TEST(steps_show_registers) {
    int steps = 0;
    struct run_ptx run = {.text = PTX_TEXT(REGISTERS
                                           "mov.u32 %r0, 0;\n"
                                           "LOOP:\nadd.u32 %r0, %r0, 1;\nsetp.lt.u32 %p0, %r0, 10; @%p0 bra LOOP;"),
                          .block = {32},
                          .buffer = result,
                          .bytes = sizeof result,
                          .step = count_steps,
                          .step_arg = &steps};
    run_ptx(&run);
    ck_assert_int_eq(steps, 4);
    ck_assert_int_eq(run.result, 719); /* the callback ended it */
}
END_TEST

Suite *paths_suite(void) {
    Suite *suite = suite_create("paths");
    TCase *tests = tcase_create("paths");
    tcase_add_loop_test(tests, branches_nest, 0, SEEDS);
    tcase_add_loop_test(tests, loops_have_their_own_length, 0, SEEDS);
    tcase_add_loop_test(tests, lanes_exit_in_the_middle, 0, SEEDS);
    tcase_add_loop_test(tests, lanes_wait_for_each_other, 0, SEEDS);
    tcase_add_loop_test(tests, threads_take_a_lock, 0, SEEDS);
    tcase_add_loop_test(tests, ctas_wait_for_later_ones, 0, SEEDS);
    tcase_add_loop_test(tests, branches_are_indexed, 0, SEEDS);
    tcase_add_loop_test(tests, specials_are_as_launched, 0, SEEDS);
    tcase_add_loop_test(tests, deadlock_says_who_waits_for_what, 0, SEEDS);
    tcase_add_test(tests, deadlock_within_a_warp);
    tcase_add_test(tests, deadlock_of_polling);
    tcase_add_loop_test(tests, waits_may_time_out, 0, SEEDS);
    tcase_add_test(tests, trap_ends_the_launch);
    tcase_add_test(tests, steps_show_registers);
    suite_add_tcase(suite, tests);
    return suite;
}
