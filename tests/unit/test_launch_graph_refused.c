/* SPDX-License-Identifier: Apache-2.0 */
/* Launches by a plan's graph where the driver will not have them, and from many threads: every call succeeds. */
#include "graphed.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* ---- drivers that fail ------------------------------------------------------------------------------ */

static char logged[256];

static void note_graphs(enum gm_log_level level, const char *message, void *user) {
    (void)level, (void)user;
    if (strstr(message, "graph"))
        snprintf(logged, sizeof logged, "%s", message);
}

START_TEST(a_driver_without_graphs_launches_plainly) {
    for (int i = 0; i < GRAPH_FUNCTIONS; i++) {
        fake_install_graphs(graph_functions[i]);
        ck_assert_int_eq(gm_context_create(0, &context), GM_OK);
        fake_make_current(0);
        gm_plan *plan = some_plan();
        ck_assert_ptr_null(plan->graphs);
        execute(plan, STREAM);
        assert_launched(0, 1);
        gm_plan_destroy(plan);
        gm_context_destroy(context);
        fake_remove();
    }
}
END_TEST

/* A row with a cluster, so that the graph's node has an attribute; else any. */
static const struct gm_kernel *clustered_row(void) {
    for (size_t i = 0; i < gemm_count(); i++)
        if (gm_kernels[i].cluster_ctas > 1)
            return &gm_kernels[i];
    return &gm_kernels[0];
}

START_TEST(a_graph_that_cannot_be_made_is_done_without) {
    static const enum fake_function steps[] = {FAKE_cuGraphCreate, FAKE_cuGraphAddKernelNode,
                                               FAKE_cuGraphKernelNodeSetAttribute, FAKE_cuGraphInstantiateWithFlags};
    const struct gm_kernel *row = clustered_row();
    const struct gm_gemm_problem p = problem_for(row, 128, 128, 128);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i] == FAKE_cuGraphKernelNodeSetAttribute && row->cluster_ctas == 1)
            continue;
        fake.result[steps[i]] = CUDA_ERROR_OUT_OF_MEMORY;
        gm_set_log_callback(note_graphs, GM_LOG_INFO, NULL);
        gm_plan *plan = plan_for(row, &p);
        gm_set_log_callback(NULL, GM_LOG_OFF, NULL);
        ck_assert_ptr_nonnull(strstr(logged, "no graph of it (CUDA_ERROR_OUT_OF_MEMORY)"));
        ck_assert_ptr_null(plan->graphs);
        ck_assert_int_eq(fake.graphs, 0);
        execute(plan, STREAM);
        assert_launched(0, 1);
        gm_plan_destroy(plan);
        fake.result[steps[i]] = CUDA_SUCCESS;
    }
}
END_TEST

START_TEST(a_refused_graph_is_retired_and_the_call_succeeds) {
    static const enum fake_function steps[] = {FAKE_cuGraphExecKernelNodeSetParams, FAKE_cuGraphLaunch};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        gm_plan *plan = some_plan();
        gm_set_log_callback(note_graphs, GM_LOG_INFO, NULL);
        fake.result[steps[i]] = CUDA_ERROR_OUT_OF_MEMORY;
        execute(plan, STREAM);
        ck_assert_int_eq(fake.count[steps[i]], 1);
        ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], 1);
        ck_assert_ptr_nonnull(strstr(logged, "refused its graph (CUDA_ERROR_OUT_OF_MEMORY)"));
        fake.result[steps[i]] = CUDA_SUCCESS;
        execute(plan, STREAM);
        assert_launched(0, 1);
        gm_set_log_callback(NULL, GM_LOG_OFF, NULL);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(when_both_are_refused_the_plain_launch_says_why) {
    const struct gm_gemm_args args = args_apart();
    gm_plan *plan = some_plan();
    fake.result[FAKE_cuGraphLaunch] = CUDA_ERROR_INVALID_VALUE;
    fake.result[FAKE_cuLaunchKernelEx] = CUDA_ERROR_OUT_OF_MEMORY;
    assert_fails(gm_gemm_execute(plan, &args, STREAM), GM_ERROR_LAUNCH, "CUDA_ERROR_OUT_OF_MEMORY");
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(a_kernel_that_faulted_is_not_launched_again) {
    const struct gm_gemm_args args = args_apart();
    gm_plan *plan = some_plan();
    fake.result[FAKE_cuGraphLaunch] = CUDA_ERROR_LAUNCH_FAILED;
    fake_clear_counts();
    assert_fails(gm_gemm_execute(plan, &args, STREAM), GM_ERROR_LAUNCH, gm_kernels[0].name);
    ck_assert_int_eq(gm_last_cuda_result(), CUDA_ERROR_LAUNCH_FAILED);
    assert_launched(1, 0);
    gm_plan_destroy(plan);
}
END_TEST

/* ---- threads -------------------------------------------------------------------------------------- */

enum { THREADS = 8, TIMES = 500 };
static gm_plan *shared;

static void *execute_often(void *number) {
    struct gm_gemm_args args = args_apart();
    fake_make_current(0);
    for (int i = 0; i < TIMES; i++) {
        args.d = ADDRESS_D + 256 * (uint64_t)(i % 6);
        *(int *)number += gm_gemm_execute(shared, &args, STREAM) != GM_OK;
    }
    return NULL;
}

START_TEST(threads_share_a_graph_one_at_a_time) {
    pthread_t threads[THREADS];
    int failures[THREADS] = {0};
    shared = plan_with_sets(1 + 3 * _i);
    fake_clear_counts();
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, execute_often, &failures[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(failures[i], 0);
    }
    ck_assert_int_eq(fake.count[FAKE_cuGraphLaunch] + fake.count[FAKE_cuLaunchKernelEx], THREADS * TIMES);
    ck_assert_int_gt(fake.count[FAKE_cuGraphLaunch], 0);
    ck_assert_int_eq(fake.collisions, 0);
    gm_plan_destroy(shared);
}
END_TEST

Suite *launch_graph_refused_suite(void) {
    Suite *suite = suite_create("launch_graph refused");
    TCase *cases = tcase_create("graphs"), *bare = tcase_create("no graphs");
    tcase_add_checked_fixture(cases, graphed_set_up, planned_tear_down);
    tcase_add_test(cases, a_graph_that_cannot_be_made_is_done_without);
    tcase_add_test(cases, a_refused_graph_is_retired_and_the_call_succeeds);
    tcase_add_test(cases, when_both_are_refused_the_plain_launch_says_why);
    tcase_add_test(cases, a_kernel_that_faulted_is_not_launched_again);
    tcase_add_loop_test(cases, threads_share_a_graph_one_at_a_time, 0, 2);
    suite_add_tcase(suite, cases);
    tcase_add_test(bare, a_driver_without_graphs_launches_plainly);
    suite_add_tcase(suite, bare);
    return suite;
}
