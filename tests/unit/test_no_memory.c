/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of the library that allocates, with each of its allocations failing once: it says so, writes nothing,
 * leaves nothing behind, and does its work when it is called again. */
#include "no_memory.h"

#include "ledgers.h"
#include "planned.h"
#include "unit.h"

#include <string.h>

static struct gm_device h200;
static struct gm_gemm_problem problem;

static int nth, failed; /* the allocation that fails, and whether it has */

/* Check allocates as well, so nothing fails but within the call. */
#define FAILING(call)                                                                                                  \
    do {                                                                                                               \
        fail_allocation(nth);                                                                                          \
        call;                                                                                                          \
        failed = allocation_has_failed();                                                                              \
        fail_allocation(0);                                                                                            \
    } while (0)

static void set_up(void) {
    nth = failed = 0;
    planned_set_up();
    h200 = device_of("h200");
    problem = problem_of(64, 2112, 7168);
    gm_ledger_forget_builtins();
}

static enum gm_status explain(void) {
    enum gm_status status;
    size_t count = 77;
    FAILING(status = gm_gemm_explain(&h200, &problem, NULL, NULL, 0, &count));
    ck_assert(status == GM_OK ? count == gemm_count() : count == 77);
    gm_ledger_forget_builtins();
    return status;
}

static enum gm_status create_plan(void) {
    const struct gm_plan_options options = {.size = sizeof options, .flags = GM_PLAN_PLAIN_LAUNCH};
    enum gm_status status;
    gm_plan *plan = NULL;
    FAILING(status = gm_gemm_plan_create(context, &problem, &options, &plan));
    ck_assert((status == GM_OK) == (plan != NULL));
    gm_plan_destroy(plan);
    gm_ledger_forget_builtins();
    return status;
}

/* Of three launches. */
static enum gm_status create_sequence(void) {
    const struct gm_plan_options options = {.size = sizeof options, .workspace_limit = (size_t)64 << 20};
    const struct gm_gemm_problem odd = problem_of(4096, 4096, 4095);
    enum gm_status status;
    gm_plan *plan = NULL;
    FAILING(status = gm_gemm_plan_create(context, &odd, &options, &plan));
    ck_assert((status == GM_OK) == (plan && plan->steps));
    gm_plan_destroy(plan);
    gm_ledger_forget_builtins();
    return status;
}

static enum gm_status find_builtin(void) {
    const gm_ledger *ledger;
    FAILING(ledger = gm_ledger_builtin(&h200));
    gm_ledger_forget_builtins();
    return ledger || !failed ? GM_OK : GM_ERROR_OUT_OF_MEMORY; /* a build may have none */
}

static enum gm_status parse_ledger(void) {
    static const char text[] = HEAD "measured table 0123456789abcdef\nmeasured table 0123456789abcdee\n";
    enum gm_status status;
    gm_ledger *ledger = NULL;
    FAILING(status = gm_ledger_parse(text, sizeof text - 1, &ledger));
    ck_assert((status == GM_OK) == (ledger != NULL));
    gm_ledger_destroy(ledger);
    return status;
}

static enum gm_status create_context(void) {
    enum gm_status status;
    gm_context *other = NULL;
    FAILING(status = gm_context_create(0, &other));
    ck_assert((status == GM_OK) == (other != NULL));
    gm_context_destroy(other);
    return status;
}

static enum gm_status (*const calls[])(void) = {explain,      create_plan,  create_sequence,
                                                find_builtin, parse_ledger, create_context};

START_TEST(an_allocation_that_fails_is_reported_and_tried_again) {
    for (int i = 1, goes_on = 1; goes_on; i++) {
        ck_assert_int_lt(i, 100);
        nth = i;
        const enum gm_status status = calls[_i]();
        goes_on = failed;
        ck_assert_msg(status == (failed ? GM_ERROR_OUT_OF_MEMORY : GM_OK), "allocation %d: %s: %s", i,
                      gm_status_name(status), gm_last_error());
        ck_assert(!failed || strstr(gm_last_error(), "no host memory for a"));
        ck_assert(i > 1 || failed);
        nth = 0;
        assert_ok(calls[_i]());
    }
}
END_TEST

/* The ledger's choice is there again, not the model's. */
START_TEST(the_ledger_answers_after_a_failure) {
    static struct gm_candidate candidates[1024];
    size_t count = 0;
    int by_ledger = 0;
    if (!gm_ledger_builtin(&h200))
        return; /* a build without its rows */
    gm_ledger_forget_builtins();
    nth = 3;
    ck_assert_int_eq(explain(), GM_ERROR_OUT_OF_MEMORY);
    ck_assert_str_eq(gm_last_error(), "no host memory for a ledger");
    assert_ok(gm_gemm_explain(&h200, &problem, NULL, candidates, 1024, &count));
    for (size_t i = 0; i < count; i++)
        by_ledger += candidates[i].source == GM_SOURCE_LEDGER;
    ck_assert_int_eq(by_ledger, gemm_count() > 250); /* a build of some rows may lack the entry's */
}
END_TEST

/* A graph to launch by is a convenience: without memory for one the plan launches plainly. */
START_TEST(a_plan_without_memory_for_a_graph_launches_plainly) {
    const struct gm_plan_options options = {.size = sizeof options, .flags = GM_PLAN_MODEL_ONLY};
    enum gm_status status = GM_ERROR_OUT_OF_MEMORY;
    gm_plan *plan = NULL;
    for (int i = 2; status != GM_OK; i++) { /* behind the plan, and what unpacks its image */
        nth = i;
        FAILING(status = gm_gemm_plan_create(context, &problem, &options, &plan));
        ck_assert_int_eq(failed, 1);
    }
    ck_assert_ptr_null(plan->graphs);
    gm_plan_destroy(plan);
}
END_TEST

Suite *no_memory_suite(void) {
    Suite *suite = suite_create("no memory");
    TCase *cases = tcase_create("allocations");
    tcase_add_checked_fixture(cases, set_up, planned_tear_down);
    tcase_add_loop_test(cases, an_allocation_that_fails_is_reported_and_tried_again, 0, sizeof calls / sizeof *calls);
    tcase_add_test(cases, the_ledger_answers_after_a_failure);
    tcase_add_test(cases, a_plan_without_memory_for_a_graph_launches_plainly);
    suite_add_tcase(suite, cases);
    return suite;
}
