/* SPDX-License-Identifier: Apache-2.0 */
/* Launches by a plan's graph: the same launch as the plain one, where it is allowed, and never a failure of its own. */
#include "graphed.h"

#include <string.h>

/* ---- the launch itself ---------------------------------------------------------------------------- */

static unsigned cluster_of(const struct fake_launch *launch) {
    for (unsigned i = 0; i < launch->config.numAttrs; i++)
        if (launch->attributes[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            return launch->attributes[i].value.clusterDim.x;
    return 1;
}

START_TEST(a_graph_launches_what_a_plain_launch_does) {
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        const struct gm_gemm_problem p = problem_for(row, 1000, 2000, 3008);
        gm_plan *plan = plan_for(row, &p);
        execute(plan, STREAM);
        assert_launched(1, 0);
        const struct fake_launch by_graph = fake.launch;
        fake.capturing = STREAM;
        execute(plan, STREAM);
        assert_launched(0, 1);
        fake.capturing = NULL;
        const struct fake_launch *plain = &fake.launch;
        ck_assert_int_eq(by_graph.kernel, plain->kernel);
        ck_assert_mem_eq(&by_graph.params, &plain->params, row->family->params_bytes);
        ck_assert_uint_eq(by_graph.config.gridDimX, plain->config.gridDimX);
        ck_assert_uint_eq(by_graph.config.gridDimY, 1);
        ck_assert_uint_eq(by_graph.config.gridDimZ, 1);
        ck_assert_uint_eq(by_graph.config.blockDimX, plain->config.blockDimX);
        ck_assert_uint_eq(by_graph.config.blockDimY, 1);
        ck_assert_uint_eq(by_graph.config.blockDimZ, 1);
        ck_assert_uint_eq(by_graph.config.sharedMemBytes, plain->config.sharedMemBytes);
        ck_assert_ptr_eq(by_graph.config.hStream, plain->config.hStream);
        ck_assert_uint_eq(cluster_of(&by_graph), cluster_of(plain));
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(parameters_go_to_the_driver_when_they_change) {
    struct gm_gemm_args args = args_apart();
    const float alpha = 2;
    gm_plan *plan = some_plan();
    execute(plan, STREAM);
    ck_assert_int_eq(fake.count[FAKE_cuGraphExecKernelNodeSetParams], 1);
    execute(plan, STREAM);
    ck_assert_int_eq(fake.count[FAKE_cuGraphExecKernelNodeSetParams], 0);
    args.d += 4096;
    args.alpha = &alpha;
    assert_ok(gm_gemm_execute(plan, &args, STREAM));
    ck_assert_int_eq(fake.count[FAKE_cuGraphExecKernelNodeSetParams], 1);
    assert_launched(2, 0);
    const struct gm_epilogue_params *e = launched_epilogue(&gm_kernels[0]);
    ck_assert_uint_eq(e->d, ADDRESS_D + 4096);
    ck_assert_float_eq(e->alpha, 2);
    gm_plan_destroy(plan);
}
END_TEST

/* Calls of the plan with D at these pages; of which the driver was told anew. */
static int told(const gm_plan *plan, const int *pages, size_t count) {
    struct gm_gemm_args args = args_apart();
    fake_clear_counts();
    for (size_t i = 0; i < count; i++) {
        args.d = ADDRESS_D + 4096 * (uint64_t)pages[i];
        assert_ok(gm_gemm_execute(plan, &args, STREAM));
        ck_assert_uint_eq(launched_epilogue(plan->kernel)->d, args.d);
    }
    ck_assert_int_eq(fake.count[FAKE_cuGraphLaunch], (int)count);
    return fake.count[FAKE_cuGraphExecKernelNodeSetParams];
}

START_TEST(arguments_that_recur_are_told_once) {
    gm_plan *plan = plan_with_sets(3);
    ck_assert_int_eq(fake.graphs, 4); /* a graph, and what is made of it */
    ck_assert_int_eq(told(plan, (int[]){0, 1, 2}, 3), 3);
    ck_assert_int_eq(told(plan, (int[]){0, 1, 2, 0, 1, 2, 2, 1, 0, 0}, 10), 0);
    ck_assert_int_eq(told(plan, (int[]){3}, 1), 1); /* instead of 0, which was told first */
    ck_assert_int_eq(told(plan, (int[]){1, 2, 3}, 3), 0);
    ck_assert_int_eq(told(plan, (int[]){0}, 1), 1);
    gm_plan_destroy(plan);
    plan = plan_with_sets(0);
    ck_assert_int_eq(fake.graphs, 2);
    ck_assert_int_eq(told(plan, (int[]){0, 0, 1, 1, 0}, 5), 3);
    gm_plan_destroy(plan);
    ck_assert_int_eq(fake.graphs, 0);
}
END_TEST

START_TEST(there_is_a_limit_to_argument_sets) {
    const int32_t wrong[] = {-1, GM_ARGUMENT_SETS_MAX + 1};
    const struct gm_gemm_problem p = problem_for(&gm_kernels[0], 128, 128, 128);
    for (size_t i = 0; i < 2; i++) {
        const struct gm_plan_options options = {.size = sizeof options, .argument_sets = wrong[i]};
        gm_plan *plan = NULL;
        ck_assert_int_eq(gm_gemm_plan_create(context, &p, &options, &plan), GM_ERROR_INVALID_ARGUMENT);
        ck_assert_ptr_null(plan);
        ck_assert_ptr_nonnull(strstr(gm_last_error(), "argument_sets is "));
        ck_assert_ptr_nonnull(strstr(gm_last_error(), "1 to 256"));
    }
    gm_plan_destroy(plan_with_sets(GM_ARGUMENT_SETS_MAX));
}
END_TEST

START_TEST(planning_leaves_the_threads_capture_mode) {
    fake.capture_mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    gm_plan *plan = some_plan();
    ck_assert_ptr_nonnull(plan->graphs);
    ck_assert_int_eq(fake.capture_mode, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    gm_plan_destroy(plan);
    ck_assert_int_eq(fake.capture_mode, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}
END_TEST

START_TEST(a_launch_by_graph_does_not_change_its_plan) {
    gm_plan *plan = some_plan(), before;
    memcpy(&before, plan, sizeof before);
    execute(plan, STREAM);
    assert_launched(1, 0);
    ck_assert_mem_eq(&before, plan, sizeof before);
    gm_plan_destroy(plan);
}
END_TEST

/* ---- where it is allowed -------------------------------------------------------------------------- */

START_TEST(the_graph_belongs_to_the_first_stream) {
    gm_plan *plan = some_plan();
    execute(plan, STREAM);
    assert_launched(1, 0);
    execute(plan, OTHER_STREAM);
    assert_launched(0, 1);
    ck_assert_ptr_eq(fake.launch.config.hStream, OTHER_STREAM);
    execute(plan, STREAM);
    assert_launched(1, 0);
    gm_plan_destroy(plan);
    plan = some_plan();
    execute(plan, NULL); /* the default stream is as good as another */
    assert_launched(1, 0);
    execute(plan, STREAM);
    assert_launched(0, 1);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(capture_is_plain_and_takes_no_graph) {
    gm_plan *plan = some_plan();
    fake.capturing = STREAM;
    execute(plan, STREAM);
    assert_launched(0, 1);
    execute(plan, OTHER_STREAM); /* the capturing stream did not become the owner */
    assert_launched(1, 0);
    fake.result[FAKE_cuStreamIsCapturing] = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    execute(plan, OTHER_STREAM);
    assert_launched(0, 1);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(streams_that_a_graph_would_escape_are_plain) {
    gm_plan *plan = some_plan();
    execute(plan, CU_STREAM_PER_THREAD);
    assert_launched(0, 1);
    fake.stream_device = 1; /* or a green context of device 0 */
    execute(plan, STREAM);
    assert_launched(0, 1);
    fake.stream_device = 0;
    fake.result[FAKE_cuStreamGetCtx] = CUDA_ERROR_INVALID_HANDLE;
    execute(plan, STREAM);
    assert_launched(0, 1);
    fake.result[FAKE_cuStreamGetCtx] = CUDA_SUCCESS;
    execute(plan, STREAM);
    assert_launched(1, 0);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(the_plans_context_must_be_current) {
    gm_plan *plan = some_plan();
    fake_make_current(1);
    execute(plan, STREAM);
    assert_launched(0, 1);
    fake_make_current(-1); /* execute makes it current, and then it is */
    execute(plan, STREAM);
    assert_launched(1, 1);
    ck_assert_int_eq(fake_context_depth(), 0);
    fake.result[FAKE_cuCtxGetCurrent] = CUDA_ERROR_NOT_INITIALIZED;
    fake_make_current(0);
    execute(plan, STREAM);
    assert_launched(0, 1);
    gm_plan_destroy(plan);
}
END_TEST

static void assert_no_graph_calls(void) {
    for (int i = 0; i < GRAPH_FUNCTIONS; i++)
        ck_assert_int_eq(fake.count[graph_functions[i]], 0);
}

START_TEST(plain_plans_have_no_graph) {
    const struct gm_plan_options options = {.size = sizeof options, .flags = GM_PLAN_PLAIN_LAUNCH};
    const struct gm_gemm_problem p = problem_for(&gm_kernels[0], 128, 128, 128);
    struct gm_gemm_args args = args_apart();
    gm_plan *plan = NULL;
    fake_clear_counts();
    assert_ok(gm_gemm_plan_create(context, &p, &options, &plan));
    assert_no_graph_calls();
    execute(plan, STREAM);
    assert_launched(0, 1);
    assert_no_graph_calls();
    gm_plan_destroy(plan);
    assert_ok(gm_gemm(context, &p, &args, STREAM)); /* one call is not worth one */
    assert_no_graph_calls();
}
END_TEST

Suite *launch_graph_suite(void) {
    Suite *suite = suite_create("launch_graph");
    TCase *cases = tcase_create("graphs");
    tcase_add_checked_fixture(cases, graphed_set_up, planned_tear_down);
    tcase_add_test(cases, parameters_go_to_the_driver_when_they_change);
    tcase_add_test(cases, arguments_that_recur_are_told_once);
    tcase_add_test(cases, there_is_a_limit_to_argument_sets);
    tcase_add_test(cases, planning_leaves_the_threads_capture_mode);
    tcase_add_test(cases, a_launch_by_graph_does_not_change_its_plan);
    tcase_add_test(cases, the_graph_belongs_to_the_first_stream);
    tcase_add_test(cases, capture_is_plain_and_takes_no_graph);
    tcase_add_test(cases, streams_that_a_graph_would_escape_are_plain);
    tcase_add_test(cases, the_plans_context_must_be_current);
    tcase_add_test(cases, plain_plans_have_no_graph);
    suite_add_tcase(suite, cases);
    TCase *table = tcase_create("every row of the table");
    tcase_set_tags(table, "long"); /* minutes under valgrind */
    tcase_add_checked_fixture(table, graphed_set_up, planned_tear_down);
    tcase_add_test(table, a_graph_launches_what_a_plain_launch_does);
    suite_add_tcase(suite, table);
    return suite;
}
