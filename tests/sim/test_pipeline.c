/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of stages that cp.async fills: the order of issue, wait, barrier and compute that docs/course/cp-async.md
 * gives, and what is reported of other orders. */
#include "sim_tests.h"

#include "copy_kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { STAGES = 3, BLOCKS = 8, THREADS = 128, STAGE_BYTES = 4 * THREADS, SEEDS = 8 };

static uint32_t source[BLOCKS * THREADS], sums[THREADS];

static void begin(void) {
    kernel_begin();
    for (uint32_t w = 0; w < BLOCKS * THREADS; w++)
        source[w] = 0x9e3779b9u * (w + 1);
}

/* A kernel's text while it is written. */
struct text {
    char body[16384];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text->used += (size_t)vsnprintf(text->body + text->used, sizeof text->body - text->used, format, arguments);
    va_end(arguments);
    ck_assert_uint_lt(text->used, sizeof text->body);
}

/* Every thread copies its word of block `k`. Beyond the last block the group is empty, or there is none. */
static void add_issue(struct text *text, int k, bool empty_groups) {
    if (k < BLOCKS)
        add(text, "cp.async.ca.shared.global [d + %d], [from + %d], 4;\n", k % STAGES * STAGE_BYTES, k * STAGE_BYTES);
    if (k < BLOCKS || empty_groups)
        add(text, "cp.async.commit_group;\n");
}

/* Every thread adds the word that a thread of another warp has copied. */
static void add_compute(struct text *text, int k) {
    add(text, "ld.shared.u32 b, [c + %d]; add.u32 a, a, b;\n", k % STAGES * STAGE_BYTES);
}

/* One iteration in the order of `steps`: i(ssue), or I without empty groups, w(ait), b(arrier), c(ompute). */
static void add_block(struct text *text, int k, const char *steps, int under_way) {
    for (; *steps; steps++) {
        if (*steps == 'i' || *steps == 'I')
            add_issue(text, k + STAGES - 1, *steps == 'i');
        else if (*steps == 'w')
            add(text, "cp.async.wait_group %d;\n", under_way);
        else if (*steps == 'b')
            add(text, "bar.sync 0;\n");
        else
            add_compute(text, k);
    }
}

static void write_kernel(struct text *text, const char *steps, int under_way) {
    *text = (struct text){.used = 0};
    add(text,
        "ld.param.u64 from, [source]; ld.param.u64 to, [image]; shl.b32 at, thread, 2; cvt.u64.u32 size, at;\n"
        "add.u64 from, from, size; add.u64 to, to, size; add.u32 d, base, at;\n"
        "add.u32 c, thread, 32; and.b32 c, c, %d; shl.b32 c, c, 2; add.u32 c, c, base; mov.u32 a, 0;\n",
        THREADS - 1);
    for (int k = 0; k < STAGES - 1; k++)
        add_issue(text, k, true);
    for (int k = 0; k < BLOCKS; k++)
        add_block(text, k, steps, under_way);
    add(text, "st.global.u32 [to], a;\n");
}

static void run(const char *steps, int under_way, uint64_t seed) {
    static struct text text;
    write_kernel(&text, steps, under_way);
    const uint64_t from = kernel_memory(source, sizeof source), to = kernel_memory(NULL, sizeof sums);
    const struct kernel_launch launch = {.body = text.body,
                                         .parameters = ".param .u64 source, .param .u64 image",
                                         .arguments = {&from, &to},
                                         .threads = THREADS,
                                         .ctas = 1,
                                         .shared_bytes = STAGES * STAGE_BYTES,
                                         .seed = seed};
    ck_assert_int_eq(kernel_run(&launch), 0);
    memcpy(sums, kernel_view(to, sizeof sums), sizeof sums);
}

static uint32_t sum_of(uint32_t thread) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < BLOCKS; k++)
        sum += source[k * THREADS + (thread + 32) % THREADS];
    return sum;
}

/* S - 2 groups may be under way before the stage of this iteration is read and that of the one before is refilled. */
START_TEST(wait_barrier_issue_compute_is_right) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        run("wbic", STAGES - 2, seed);
        kernel_clean();
        for (uint32_t t = 0; t < THREADS; t++)
            ck_assert_uint_eq(sums[t], sum_of(t));
    }
}
END_TEST

/* The barrier may stand at the end of the iteration as well: it follows the wait, and the next issue follows it. */
START_TEST(issue_after_the_barrier_of_the_iteration_before_is_right) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        run("wbci", STAGES - 2, seed);
        kernel_clean();
    }
}
END_TEST

/* The stage that is refilled is the one of the iteration before, which slower warps still read. */
START_TEST(issue_before_the_barrier_is_a_race) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        run("iwbc", STAGES - 2, seed);
        kernel_reported(SIM_REPORT_WRITE_BEFORE_READ, "");
    }
}
END_TEST

static void check_read_before_written(const char *steps, int under_way) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        run(steps, under_way, seed);
        kernel_reported(SIM_REPORT_READ_BEFORE_WRITTEN, "");
    }
}

START_TEST(a_wait_behind_the_barrier_is_a_race) {
    check_read_before_written("bwic", STAGES - 2);
}
END_TEST

START_TEST(one_group_more_under_way_is_a_race) {
    check_read_before_written("wbic", STAGES - 1);
}
END_TEST

/* The last block's group is then among the S - 2 youngest. */
START_TEST(no_empty_groups_at_the_end_are_a_race) {
    check_read_before_written("wbIc", STAGES - 2);
}
END_TEST

Suite *pipeline_suite(void) {
    Suite *suite = suite_create("pipeline");
    TCase *orders = tcase_create("orders");
    tcase_add_checked_fixture(orders, begin, kernel_end);
    tcase_add_test(orders, wait_barrier_issue_compute_is_right);
    tcase_add_test(orders, issue_after_the_barrier_of_the_iteration_before_is_right);
    tcase_add_test(orders, issue_before_the_barrier_is_a_race);
    tcase_add_test(orders, a_wait_behind_the_barrier_is_a_race);
    tcase_add_test(orders, one_group_more_under_way_is_a_race);
    tcase_add_test(orders, no_empty_groups_at_the_end_are_a_race);
    suite_add_tcase(suite, orders);
    return suite;
}
