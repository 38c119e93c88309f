/* SPDX-License-Identifier: Apache-2.0 */
/* The planner with a ledger: when it is asked, what it answers, and when the model has the word. */
#include "kernels.h"
#include "ledgers.h"
#include "planned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gm_device h200;
static gm_ledger *ledger;
static struct gm_plan_options options;
static struct gm_choice choice; /* of the last ask() */

static void set_up(void) {
    h200 = device_of("h200");
    ledger = NULL;
    options = (struct gm_plan_options){.size = sizeof options};
}

static void tear_down(void) {
    gm_ledger_destroy(ledger);
}

static void use(const char *lines) {
    gm_ledger_destroy(ledger);
    ledger = ledger_of(lines);
    options.ledger = ledger;
}

/* The chosen row's name. */
static const char *ask(struct gm_gemm_problem p) {
    assert_ok(gm_ledger_check(&options, &h200));
    choice = choose(ledger_rows, LEDGER_ROWS, &h200, p, &options);
    return choice.kernel ? choice.kernel->name : "none";
}

static const char *model_of(struct gm_gemm_problem p) {
    const struct gm_plan_options before = options;
    options.ledger = NULL;
    options.flags = GM_PLAN_MODEL_ONLY;
    const char *name = ask(p);
    ck_assert_int_eq(choice.source, GM_SOURCE_MODEL);
    options = before;
    return name;
}

START_TEST(an_entry_overrules_the_model) {
    const struct gm_gemm_problem p = problem_of(64, 2112, 7168);
    ck_assert_str_eq(model_of(p), "a");
    use("gemm bf16 bf16 bf16 tn plain 64 2112 7168 b 11 11 11 7 *a 12 12 12 7");
    ck_assert_str_eq(ask(p), "b");
    ck_assert_int_eq(choice.source, GM_SOURCE_LEDGER);
    ck_assert_int_eq(choice.verdict.reason, GM_ACCEPTED);
    ck_assert_ptr_eq(choice.answer.exact, &ledger->entries[0]);
    ck_assert(choice.verdict.predicted_us > 0);
    use("gemm bf16 bf16 bf16 tn plain 64 2112 7168 c 11 11 11 7 *a 12 12 12 7");
    ck_assert_str_eq(ask(p), "c");
}
END_TEST

START_TEST(what_was_measured_in_bf16_serves_fp16) {
    struct gm_gemm_problem p = problem_of(64, 2112, 7168);
    p.ab_type = p.d_type = GM_FP16;
    ck_assert_str_eq(model_of(p), "e");
    use("gemm bf16 bf16 bf16 tn plain 64 2112 7168 b 11 11 11 7 *a 12 12 12 7");
    ck_assert_str_eq(ask(p), "f");
    ck_assert_int_eq(choice.source, GM_SOURCE_LEDGER);
    ck_assert_int_eq(choice.answer.of_bf16, 1);
    p.d_type = GM_FP32; /* another problem */
    ck_assert_str_eq(ask(p), "e");
    ck_assert_int_eq(choice.source, GM_SOURCE_MODEL);
    use("gemm bf16 bf16 fp32 tn plain 64 2112 7168 b 11 11 11 7 *a 12 12 12 7");
    ck_assert_str_eq(ask(p), "f");
    p.d_type = GM_FP16; /* its own entry comes first */
    use("gemm bf16 bf16 bf16 tn plain 64 2112 7168 b 11 11 11 7 *a 12 12 12 7\n"
        "gemm fp16 fp16 fp16 tn plain 64 2112 7168 *e 12 12 12 7");
    ck_assert_str_eq(ask(p), "e");
    ck_assert_int_eq(choice.source, GM_SOURCE_LEDGER);
    ck_assert_int_eq(choice.answer.of_bf16, 0);
    use("gemm bf16 bf16 bf16 tn plain 64 2112 7168 c 11 11 11 7 *a 12 12 12 7"); /* c has no twin */
    ck_assert_str_eq(ask(p), "e");
    ck_assert_int_eq(choice.source, GM_SOURCE_MODEL);
    use("gemm fp16 fp16 fp16 tn plain 64 2112 7168 f 11 11 11 7 *e 12 12 12 7");
    ask(problem_of(64, 2112, 7168)); /* not the other way round */
    ck_assert_int_eq(choice.source, GM_SOURCE_MODEL);
}
END_TEST

START_TEST(every_member_of_the_key_must_match) {
    use("gemm bf16 bf16 bf16 tn plain 64 2112 7168 b 11 11 11 7 *a 12 12 12 7");
    struct gm_gemm_problem others[] = {problem_of(64, 2112, 7169), problem_of(64, 2113, 7168),
                                       problem_of(63, 2112, 7168), problem_of(65, 2112, 7168),
                                       problem_of(64, 2112, 7168), problem_of(0, 2112, 7168)};
    others[4].d_type = GM_FP32;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ask(others[i]);
        ck_assert_msg(choice.source == GM_SOURCE_MODEL, "%zu", i);
    }
    static const char *const lines[] = {"gemm fp16 fp16 bf16 tn plain 64 2112 7168 b 11 11 11 7 *a 12 12 12 7",
                                        "gemm bf16 bf16 bf16 nn plain 64 2112 7168 b 11 11 11 7 *a 12 12 12 7",
                                        "gemm bf16 bf16 bf16 tn general 64 2112 7168 b 11 11 11 7 *a 12 12 12 7"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        use(lines[i]);
        ck_assert_str_eq(ask(problem_of(64, 2112, 7168)), "a");
    }
}
END_TEST

START_TEST(a_batch_invariant_plan_takes_the_fastest_that_keeps_the_order) {
    use("gemm bf16 bf16 bf16 tn plain 64 2112 7168 c 9 9 9 7 b/k 10 10 10 7 b 11 11 11 7 *a 12 12 12 7");
    options.workspace_limit = 64 << 20;
    ck_assert_str_eq(ask(problem_of(64, 2112, 7168)), "c");
    options.flags = GM_PLAN_BATCH_INVARIANT;
    ck_assert_str_eq(ask(problem_of(64, 2112, 7168)), "b");
    ck_assert_int_eq(choice.source, GM_SOURCE_LEDGER);
    ck_assert(choice.measured_us == 11 && choice.verdict.division == GM_DIVISION_NONE);
    options.arch_mask = GM_ARCH_SM90; /* which c is not of */
    use("gemm bf16 bf16 bf16 tn plain 64 2112 7168 b/k 8 8 8 7 c 9 9 9 7 b 11 11 11 7 *a 12 12 12 7");
    ck_assert_str_eq(ask(problem_of(64, 2112, 7168)), "b");
    ck_assert_int_eq(choice.source, GM_SOURCE_LEDGER);
    options.arch_mask = 0;
    use("gemm bf16 bf16 bf16 tn plain 64 2112 7168 *c 9 9 9 7"); /* nothing that would do */
    ck_assert_str_eq(ask(problem_of(64, 2112, 7168)), "a");
    ck_assert_int_eq(choice.source, GM_SOURCE_MODEL);
}
END_TEST

START_TEST(a_general_epilogue_asks_for_its_own_entry_first) {
    struct gm_gemm_problem p = problem_of(64, 2112, 7168), q = p;
    p.activation = GM_ACT_SILU;
    q.bias = GM_BIAS_N;
    use("gemm bf16 bf16 bf16 tn plain 64 2112 7168 b 11 11 11 7 *a 12 12 12 7");
    ck_assert_str_eq(ask(p), "b");
    ck_assert_str_eq(ask(q), "b");
    use("gemm bf16 bf16 bf16 tn plain 64 2112 7168 b 11 11 11 7 *a 12 12 12 7\n"
        "gemm bf16 bf16 bf16 tn general 64 2112 7168 c 11 11 11 7 *a 12 12 12 7");
    ck_assert_str_eq(ask(p), "c");
    ck_assert_str_eq(ask(problem_of(64, 2112, 7168)), "b");
    /* An exact plain entry is worth more than general neighbours. */
    use("gemm bf16 bf16 bf16 tn plain 64 2112 7168 b 11 11 11 7 *a 12 12 12 7\n"
        "gemm bf16 bf16 bf16 tn general 32 2112 7168 *a 12 12 12 7\n"
        "gemm bf16 bf16 bf16 tn general 96 2112 7168 *a 12 12 12 7");
    ck_assert_str_eq(ask(p), "b");
    use("gemm bf16 bf16 bf16 tn general 32 2112 7168 *a 12 12 12 7\n"
        "gemm bf16 bf16 bf16 tn general 96 2112 7168 *a 12 12 12 7");
    ck_assert_str_eq(ask(p), "a");
    ck_assert_int_eq(choice.source, GM_SOURCE_NEIGHBOURS);
}
END_TEST

START_TEST(neighbours_count_where_they_agree_and_the_model_does) {
    const struct gm_gemm_problem p = problem_of(40, 2112, 7168);
    use("gemm bf16 bf16 bf16 tn plain 32 2112 7168 *a 12 12 12 7\n"
        "gemm bf16 bf16 bf16 tn plain 48 2112 7168 *a 12 12 12 7\n"
        "gemm bf16 bf16 bf16 tn plain 64 2112 7168 b 11 11 11 7 *a 12 12 12 7");
    ck_assert_str_eq(ask(p), "a");
    ck_assert_int_eq(choice.source, GM_SOURCE_NEIGHBOURS);
    ck_assert_int_eq(ledger_value(&choice.answer.below->key, "m"), 32);
    ck_assert_int_eq(ledger_value(&choice.answer.above->key, "m"), 48);
    ask(problem_of(50, 2112, 7168)); /* 48 took a, 64 took b */
    ck_assert_int_eq(choice.source, GM_SOURCE_MODEL);
    ask(problem_of(31, 2112, 7168)); /* outside of what is listed */
    ck_assert_int_eq(choice.source, GM_SOURCE_MODEL);
    ask(problem_of(65, 2112, 7168));
    ck_assert_int_eq(choice.source, GM_SOURCE_MODEL);
    use("gemm bf16 bf16 bf16 tn plain 32 2112 7168 c 11 11 11 7 *a 12 12 12 7\n"
        "gemm bf16 bf16 bf16 tn plain 48 2112 7168 c 11 11 11 7 *a 12 12 12 7");
    ck_assert_str_eq(ask(p), "a"); /* c is predicted far above 1.05 of a */
    ck_assert_int_eq(choice.source, GM_SOURCE_MODEL);
}
END_TEST

START_TEST(a_divided_choice_wants_a_workspace) {
    const struct gm_gemm_problem p = problem_of(64, 512, 65536);
    use("gemm bf16 bf16 bf16 tn plain 64 512 65536 b/k 11 11 11 7 *a 12 12 12 7");
    options.workspace_limit = 64 << 20;
    ck_assert_str_eq(ask(p), "b");
    ck_assert_int_eq(choice.source, GM_SOURCE_LEDGER);
    ck_assert_int_gt(choice.verdict.division, GM_DIVISION_NONE);
    ck_assert(choice.measured_us == 11);
    options.workspace_limit = 0; /* the fastest that needs none stands in */
    ck_assert_str_eq(ask(p), "a");
    ck_assert_int_eq(choice.source, GM_SOURCE_LEDGER);
    ck_assert(choice.measured_us == 12);
    use("gemm bf16 bf16 bf16 tn plain 64 512 65536 *b/k 11 11 11 7 a/k 12 12 12 7");
    ask(p);
    ck_assert_int_eq(choice.source, GM_SOURCE_MODEL);
}
END_TEST

/* Not the next that is divided, though there is workspace for it, nor one that the table does not have. */
START_TEST(the_fastest_that_divides_nothing_stands_in) {
    const struct gm_gemm_problem p = problem_of(64, 512, 65536);
    options.workspace_limit = 4 * (64 * 256 * 4 + 8); /* two pieces of b's two tiles; not of a's eight */
    use("gemm bf16 bf16 bf16 tn plain 64 512 65536 *b/k 11 11 11 7");
    ck_assert_str_eq(ask(p), "b");
    ck_assert_int_eq(choice.verdict.division, GM_DIVISION_STREAM_K);
    use("gemm bf16 bf16 bf16 tn plain 64 512 65536 a/k 10 10 10 7 b/k 11 11 11 7 gone 12 12 12 7 *b 13 13 13 7");
    ck_assert_str_eq(ask(p), "b");
    ck_assert_int_eq(choice.source, GM_SOURCE_LEDGER);
    ck_assert_int_eq(choice.verdict.division, GM_DIVISION_NONE);
    ck_assert(choice.measured_us == 13);
}
END_TEST

/* As it was measured, whatever the model would do: one kind of division, or none. */
START_TEST(a_choice_is_divided_as_it_was_measured) {
    const struct gm_gemm_problem p = problem_of(64, 512, 65536);
    options.workspace_limit = 64 << 20;
    for (int pieces = 2; pieces < GM_DIVISIONS; pieces++) {
        char line[120];
        snprintf(line, sizeof line, "gemm bf16 bf16 bf16 tn plain 64 512 65536 g/k%d 11 11 11 7 *b/k 12 12 12 7",
                 pieces);
        use(line);
        ck_assert_str_eq(ask(p), "g");
        ck_assert_int_eq(choice.source, GM_SOURCE_LEDGER);
        ck_assert_int_eq(choice.verdict.division, pieces);
    }
    use("gemm bf16 bf16 bf16 tn plain 64 512 65536 a/k 11 11 11 7 *b/k 12 12 12 7");
    ck_assert_str_eq(ask(p), "a");
    ck_assert_int_eq(choice.verdict.division, GM_DIVISION_STREAM_K);
    use("gemm bf16 bf16 bf16 tn plain 64 512 65536 a/k3 11 11 11 7 *b/k 12 12 12 7"); /* a cannot */
    ask(p);
    ck_assert_int_eq(choice.source, GM_SOURCE_MODEL);
}
END_TEST

START_TEST(a_choice_that_was_measured_whole_stays_whole) {
    const struct gm_gemm_problem p = problem_of(64, 512, 65536);
    use("gemm bf16 bf16 bf16 tn plain 64 512 65536 a 11 11 11 7 *b/k 12 12 12 7");
    options.workspace_limit = 64 << 20;
    ck_assert_str_eq(ask(p), "a");
    ck_assert_int_eq(choice.verdict.division, GM_DIVISION_NONE);
    model_of(p);
    ck_assert_int_gt(choice.verdict.division, GM_DIVISION_NONE); /* though the model would divide */
}
END_TEST

START_TEST(a_row_that_is_not_accepted_leaves_the_model_the_word) {
    use("gemm bf16 bf16 bf16 tn plain 64 2112 7168 b 11 11 11 7 *a 12 12 12 7\n"
        "gemm bf16 bf16 bf16 tn plain 128 2112 7168 d 11 11 11 7 *a 12 12 12 7");
    struct gm_gemm_problem p = problem_of(64, 2112, 7168);
    p.lda = 7169;
    ck_assert_str_eq(ask(p), "c");
    p = problem_of(64, 2112, 7168);
    p.b_align = 8;
    ck_assert_str_eq(ask(p), "c");
    options.arch_mask = GM_ARCH_SM80;
    ck_assert_str_eq(ask(problem_of(64, 2112, 7168)), "c");
    options.arch_mask = 0;
    ck_assert_str_eq(ask(problem_of(128, 2112, 7168)), "a"); /* d is not in production */
    ck_assert_int_eq(choice.source, GM_SOURCE_MODEL);
}
END_TEST

START_TEST(a_name_and_the_model_only_flag_ask_no_ledger) {
    const struct gm_gemm_problem p = problem_of(64, 2112, 7168);
    use("gemm bf16 bf16 bf16 tn plain 64 2112 7168 b 11 11 11 7 *a 12 12 12 7");
    options.kernel = "c";
    ck_assert_str_eq(ask(p), "c");
    ck_assert_int_eq(choice.source, GM_SOURCE_NAME);
    options.kernel = NULL;
    ck_assert_str_eq(model_of(p), "a");
}
END_TEST

START_TEST(foreign_ledgers_and_contradictions_are_refused) {
    use("");
    struct gm_device other = h200;
    other.sm_count = 66;
    assert_fails(gm_ledger_check(&options, &other), GM_ERROR_LEDGER,
                 "another device: NVIDIA H200, compute capability 9.0, 132 SMs; this is NVIDIA H200, 9.0, 66 SMs");
    other = device_of("h100");
    assert_fails(gm_ledger_check(&options, &other), GM_ERROR_LEDGER, "this is NVIDIA H100 80GB HBM3");
    other = h200;
    other.cc_minor = 1;
    assert_fails(gm_ledger_check(&options, &other), GM_ERROR_LEDGER, "9.1");
    options.flags = GM_PLAN_MODEL_ONLY;
    assert_fails(gm_ledger_check(&options, &h200), GM_ERROR_INVALID_ARGUMENT, "and there is a ledger");
    options = (struct gm_plan_options){.size = sizeof options};
    assert_ok(gm_ledger_check(&options, &h200));
}
END_TEST

/* ---- through the interface, over the library's table ---------------------------------------------- */

/* A ledger for `device` with one entry: this row, though the model picks another. */
static gm_ledger *one_entry(const struct gm_device *device, const struct gm_kernel *row,
                            const struct gm_gemm_problem *p) {
    char text[1024];
    gm_ledger *made = NULL;
    const char *a_type = gm_type_name(p->ab_type), *d_type = gm_type_name(p->d_type);
    const char *b_type = p->has_b_type ? gm_type_name(p->b_type) : a_type;
    snprintf(text, sizeof text,
             "gristmill-ledger 1\ndevice %s\ncc %d.%d\nsms %d\nl2_bytes 1\ndram_gbs 1\n"
             "gemm %s %s %s %s %s %d %d %d %s 3.25 3.2 3.3 7 *elsewhere 4.5 4.4 4.6 7\n",
             device->name, device->cc_major, device->cc_minor, device->sm_count, a_type, b_type, d_type,
             gm_gemm_layout_name(gm_gemm_variant(row).layout), p->batch > 1 ? "batch" : "plain", (int)p->m, (int)p->n,
             (int)p->k, row->name);
    assert_ok(gm_ledger_parse(text, strlen(text), &made));
    return made;
}

/* One that a row may be chosen for. */
static struct gm_gemm_problem problem_within(const struct gm_kernel *row) {
    struct gm_gemm_problem p = problem_for(row, row->family == &gm_family_gemv ? 2 : 256, 512, 1024);
    if (gm_gemm_variant(row).batch) {
        p.batch = 3;
        p.a_batch_stride = p.m * p.k;
        p.b_batch_stride = p.n * p.k;
        p.c_batch_stride = p.d_batch_stride = p.m * p.n;
    }
    return p;
}

START_TEST(explain_tells_where_the_choice_is_from) {
    const size_t rows = gemm_count();
    struct gm_candidate *candidates = calloc(rows, sizeof *candidates);
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        const struct gm_gemm_problem p = problem_within(&gm_kernels[i]);
        ledger = one_entry(&h200, &gm_kernels[i], &p);
        options.ledger = ledger;
        assert_ok(gm_gemm_explain(&h200, &p, &options, candidates, rows, &count));
        for (size_t j = 0; j < rows; j++) {
            ck_assert_int_eq(candidates[j].chosen != 0, candidates[j].source != GM_SOURCE_NONE);
            ck_assert_int_eq(candidates[j].source == GM_SOURCE_LEDGER,
                             i == j && gm_kernels[i].production && !gm_gemm_variant(&gm_kernels[i]).split_k);
            ck_assert(candidates[j].measured_us == (candidates[j].source == GM_SOURCE_LEDGER ? 3.25 : 0));
            const char *words = candidates[j].source == GM_SOURCE_LEDGER
                                    ? "; the ledger's choice: measured 3.25 us, the model's pick 4.50 us"
                                : candidates[j].chosen ? "; the model's choice"
                                                       : "";
            ck_assert_msg(strstr(candidates[j].sentence, words) != NULL, "%s", candidates[j].sentence);
        }
        gm_ledger_destroy(ledger);
    }
    ledger = NULL;
    options.ledger = NULL;
    options.kernel = gm_kernels[0].name;
    const struct gm_gemm_problem p = problem_for(&gm_kernels[0], 256, 512, 1024);
    assert_ok(gm_gemm_explain(&h200, &p, &options, candidates, rows, &count));
    ck_assert_int_eq(candidates[0].source, GM_SOURCE_NAME);
    ck_assert_ptr_nonnull(strstr(candidates[0].sentence, "; asked for by name"));
    free(candidates);
}
END_TEST

START_TEST(explain_refuses_what_plans_refuse) {
    const struct gm_device h100 = device_of("h100");
    const struct gm_gemm_problem p = problem_of(64, 64, 64);
    size_t count = 0;
    use("");
    assert_fails(gm_gemm_explain(&h100, &p, &options, NULL, 0, &count), GM_ERROR_LEDGER, "another device");
}
END_TEST

START_TEST(plans_follow_the_ledger_and_outlive_it) {
    struct gm_device device = {.size = sizeof device};
    assert_ok(gm_context_device(context, &device));
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        const int split_k = gm_gemm_variant(row).split_k;
        if (!row->production || split_k || !gm_kernel_runs_on(row, device.cc_major, device.cc_minor))
            continue;
        const struct gm_gemm_problem p = problem_within(row);
        ledger = one_entry(&device, row, &p);
        options.ledger = ledger;
        gm_plan *plan = NULL;
        assert_ok(gm_gemm_plan_create(context, &p, &options, &plan));
        gm_ledger_destroy(ledger);
        ledger = NULL;
        ck_assert_int_eq(gm_plan_kernel(plan), (int)i);
        const struct gm_gemm_args args = args_apart();
        assert_ok(gm_gemm_execute(plan, &args, NULL));
        gm_plan_destroy(plan);
    }
    gm_plan *plan = NULL;
    const struct gm_gemm_problem p = problem_of(64, 64, 64);
    device.sm_count++;
    ledger = one_entry(&device, &gm_kernels[0], &p);
    options.ledger = ledger;
    assert_fails(gm_gemm_plan_create(context, &p, &options, &plan), GM_ERROR_LEDGER, "another device");
    ck_assert_ptr_null(plan);
}
END_TEST

static void set_up_planned(void) {
    planned_set_up();
    set_up();
}

static void tear_down_planned(void) {
    tear_down();
    planned_tear_down();
}

Suite *ledger_choice_suite(void) {
    Suite *suite = suite_create("ledger choice");
    TCase *cases = tcase_create("choice");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, an_entry_overrules_the_model);
    tcase_add_test(cases, what_was_measured_in_bf16_serves_fp16);
    tcase_add_test(cases, every_member_of_the_key_must_match);
    tcase_add_test(cases, a_batch_invariant_plan_takes_the_fastest_that_keeps_the_order);
    tcase_add_test(cases, a_general_epilogue_asks_for_its_own_entry_first);
    tcase_add_test(cases, neighbours_count_where_they_agree_and_the_model_does);
    tcase_add_test(cases, a_divided_choice_wants_a_workspace);
    tcase_add_test(cases, the_fastest_that_divides_nothing_stands_in);
    tcase_add_test(cases, a_choice_is_divided_as_it_was_measured);
    tcase_add_test(cases, a_choice_that_was_measured_whole_stays_whole);
    tcase_add_test(cases, a_row_that_is_not_accepted_leaves_the_model_the_word);
    tcase_add_test(cases, a_name_and_the_model_only_flag_ask_no_ledger);
    tcase_add_test(cases, foreign_ledgers_and_contradictions_are_refused);
    tcase_add_test(cases, explain_refuses_what_plans_refuse);
    suite_add_tcase(suite, cases);
    TCase *explained = tcase_create("every row of the table");
    tcase_set_tags(explained, "long"); /* half a minute under valgrind, beside test_explain.c's */
    tcase_add_checked_fixture(explained, set_up, tear_down);
    tcase_add_test(explained, explain_tells_where_the_choice_is_from);
    suite_add_tcase(suite, explained);
    TCase *plans = tcase_create("plans");
    tcase_set_tags(plans, "long"); /* a minute under valgrind */
    tcase_add_checked_fixture(plans, set_up_planned, tear_down_planned);
    tcase_add_test(plans, plans_follow_the_ledger_and_outlive_it);
    suite_add_tcase(suite, plans);
    return suite;
}
