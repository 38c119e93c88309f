/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of the simulated driver that are put together node by node, and the questions that go with them. */
#include "driver_kit.h"
#include "sim_tests.h"

#include <string.h>

/* Of the kernel fill(to, value), 32 threads. */
struct fill {
    CUdeviceptr to;
    uint32_t value;
    void *pointers[2];
    CUDA_KERNEL_NODE_PARAMS params;
};

static CUDA_KERNEL_NODE_PARAMS *fill_params(struct fill *fill, CUdeviceptr to, uint32_t value) {
    *fill = (struct fill){.to = to, .value = value};
    fill->pointers[0] = &fill->to;
    fill->pointers[1] = &fill->value;
    fill->params = (CUDA_KERNEL_NODE_PARAMS){.func = kit_filler,
                                             .gridDimX = 1,
                                             .gridDimY = 1,
                                             .gridDimZ = 1,
                                             .blockDimX = 32,
                                             .blockDimY = 1,
                                             .blockDimZ = 1,
                                             .kernelParams = fill->pointers};
    return &fill->params;
}

static CUgraph graph;
static CUgraphNode node;
static CUgraphExec exec;

/* A graph that fills kit_memory with 5. */
static void set_up(void) {
    struct fill fill;
    kit_start_stream();
    kit_ok(cuGraphCreate(&graph, 0));
    kit_ok(cuGraphAddKernelNode(&node, graph, NULL, 0, fill_params(&fill, kit_memory, 5)));
    kit_ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
}

static void tear_down(void) {
    kit_ok(cuGraphExecDestroy(exec));
    kit_ok(cuGraphDestroy(graph));
    kit_stop_module();
}

static uint32_t launched(CUgraphExec what) {
    kit_ok(cuMemsetD8(kit_memory, 0, 4096));
    kit_ok(cuGraphLaunch(what, kit_stream));
    return kit_word(kit_memory + 124);
}

START_TEST(a_node_is_launched) {
    ck_assert_uint_eq(launched(exec), 5);
    ck_assert_uint_eq(kit_word(kit_memory + 128), 0);
}
END_TEST

START_TEST(nodes_run_in_their_order) {
    struct fill fill;
    CUgraphNode second;
    CUgraphExec both;
    kit_ok(cuGraphAddKernelNode(&second, graph, &node, 1, fill_params(&fill, kit_memory, 6)));
    kit_ok(cuGraphInstantiateWithFlags(&both, graph, 0));
    ck_assert_uint_eq(launched(both), 6);
    ck_assert_uint_eq(launched(exec), 5); /* made before the second was added */
    kit_gives(cuGraphExecKernelNodeSetParams(exec, second, &fill.params), CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuGraphExecDestroy(both));
}
END_TEST

START_TEST(new_parameters_are_of_one_executable_and_of_launches_to_come) {
    struct fill fill;
    CUgraphExec other;
    kit_ok(cuGraphInstantiateWithFlags(&other, graph, 0));
    kit_ok(cuMemsetD8(kit_memory, 0, 4096));
    kit_ok(cuGraphLaunch(exec, kit_stream));
    kit_ok(cuGraphExecKernelNodeSetParams(exec, node, fill_params(&fill, kit_memory + 256, 7)));
    memset(&fill, 0xff, sizeof fill); /* copied by the call */
    kit_ok(cuGraphLaunch(exec, kit_stream));
    ck_assert_uint_eq(kit_word(kit_memory), 5);
    ck_assert_uint_eq(kit_word(kit_memory + 256), 7);
    ck_assert_uint_eq(launched(other), 5);
    kit_ok(cuGraphExecDestroy(other));
    kit_ok(cuGraphInstantiateWithFlags(&other, graph, 0)); /* nor has the graph changed */
    ck_assert_uint_eq(launched(other), 5);
    kit_ok(cuGraphExecDestroy(other));
    fill_params(&fill, kit_memory, 8);
    fill.params.blockDimX = 16;
    kit_ok(cuGraphExecKernelNodeSetParams(exec, node, &fill.params));
    ck_assert_uint_eq(launched(exec), 0);
    ck_assert_uint_eq(kit_word(kit_memory + 60), 8);
}
END_TEST

START_TEST(a_captured_launch_keeps_its_parameters) {
    struct fill fill;
    CUgraph outer;
    CUgraphExec kept;
    kit_ok(cuStreamBeginCapture(kit_stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    kit_ok(cuGraphLaunch(exec, kit_stream));
    kit_ok(cuStreamEndCapture(kit_stream, &outer));
    kit_ok(cuGraphInstantiateWithFlags(&kept, outer, 0));
    kit_ok(cuGraphExecKernelNodeSetParams(exec, node, fill_params(&fill, kit_memory, 9)));
    ck_assert_uint_eq(launched(kept), 5);
    ck_assert_uint_eq(launched(exec), 9);
    kit_ok(cuGraphExecDestroy(kept));
    kit_ok(cuGraphDestroy(outer));
}
END_TEST

START_TEST(a_kernel_handle_serves_as_function) {
    struct fill fill;
    CUkernel kernel;
    kit_ok(cuLibraryGetKernel(&kernel, kit_module, "fill"));
    fill_params(&fill, kit_memory, 11);
    fill.params.func = NULL;
    fill.params.kern = kernel;
    kit_ok(cuGraphExecKernelNodeSetParams(exec, node, &fill.params));
    ck_assert_uint_eq(launched(exec), 11);
    fill.params.ctx = kit_context();
    kit_ok(cuGraphExecKernelNodeSetParams(exec, node, &fill.params));
    fill.params.ctx = KIT_GARBAGE;
    kit_gives(cuGraphExecKernelNodeSetParams(exec, node, &fill.params), CUDA_ERROR_INVALID_CONTEXT);
}
END_TEST

/* ---- attributes ------------------------------------------------------------------------------------------------ */

static CUresult set_cluster(unsigned x) {
    const CUlaunchAttributeValue value = {.clusterDim = {x, 1, 1}};
    return cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value);
}

START_TEST(a_node_has_a_cluster) {
    struct fill fill;
    CUgraphExec clustered;
    kit_gives(set_cluster(2), CUDA_ERROR_INVALID_VALUE); /* of a grid of one CTA */
    CUgraphNode wide;
    fill_params(&fill, kit_memory, 5);
    fill.params.gridDimX = 16;
    kit_ok(cuGraphAddKernelNode(&wide, graph, NULL, 0, &fill.params));
    node = wide;
    kit_ok(set_cluster(4));
    kit_gives(set_cluster(3), CUDA_ERROR_INVALID_VALUE);
    kit_gives(set_cluster(16), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    kit_gives(set_cluster(0), CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuGraphInstantiateWithFlags(&clustered, graph, 0));
    fill.params.gridDimX = 6; /* the cluster stays when the parameters change */
    kit_gives(cuGraphExecKernelNodeSetParams(clustered, node, &fill.params), CUDA_ERROR_INVALID_VALUE);
    fill.params.gridDimX = 8;
    kit_ok(cuGraphExecKernelNodeSetParams(clustered, node, &fill.params));
    ck_assert_uint_eq(launched(clustered), 5);
    ck_assert_uint_eq(kit_word(kit_memory + 8 * 128 - 4), 5);
    ck_assert_uint_eq(kit_word(kit_memory + 8 * 128), 0);
    kit_ok(cuGraphExecDestroy(clustered));
}
END_TEST

START_TEST(attributes_of_nodes_are_looked_at) {
    const CUlaunchAttributeValue value = {.cooperative = 1};
    kit_ok(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    kit_gives(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, &value),
              CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGraphKernelNodeSetAttribute(node, 1000, &value), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, NULL), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGraphKernelNodeSetAttribute(KIT_GARBAGE, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
              CUDA_ERROR_INVALID_HANDLE);
}
END_TEST

/* ---- what is refused ------------------------------------------------------------------------------------------- */

START_TEST(bad_graphs_and_nodes_are_refused) {
    struct fill fill;
    CUgraph second;
    CUgraphNode made, garbage = KIT_GARBAGE;
    CUDA_KERNEL_NODE_PARAMS *params = fill_params(&fill, kit_memory, 5);
    kit_gives(cuGraphCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGraphCreate(&second, 1), CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuGraphCreate(&second, 0));
    kit_gives(cuGraphAddKernelNode(&made, KIT_GARBAGE, NULL, 0, params), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuGraphAddKernelNode(NULL, second, NULL, 0, params), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGraphAddKernelNode(&made, second, NULL, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGraphAddKernelNode(&made, second, NULL, 1, params), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGraphAddKernelNode(&made, second, &garbage, 1, params), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGraphAddKernelNode(&made, second, &node, 1, params), CUDA_ERROR_INVALID_VALUE); /* of another graph */
    params->gridDimY = 0;
    kit_gives(cuGraphAddKernelNode(&made, second, NULL, 0, params), CUDA_ERROR_INVALID_VALUE);
    params->gridDimY = 1;
    params->kernelParams = NULL;
    kit_gives(cuGraphAddKernelNode(&made, second, NULL, 0, params), CUDA_ERROR_INVALID_VALUE);
    params->kernelParams = fill.pointers;
    params->func = KIT_GARBAGE;
    kit_gives(cuGraphAddKernelNode(&made, second, NULL, 0, params), CUDA_ERROR_INVALID_HANDLE);
    params->func = kit_filler;
    kit_ok(cuCtxSetCurrent(NULL));
    kit_gives(cuGraphAddKernelNode(&made, second, NULL, 0, params), CUDA_ERROR_INVALID_CONTEXT);
    kit_ok(cuCtxSetCurrent(kit_context()));
    kit_ok(cuGraphDestroy(second));
}
END_TEST

START_TEST(bad_parameters_change_nothing) {
    struct fill fill;
    CUgraph second;
    CUgraphNode foreign;
    CUDA_KERNEL_NODE_PARAMS *params = fill_params(&fill, kit_memory, 6);
    kit_ok(cuGraphCreate(&second, 0));
    kit_ok(cuGraphAddKernelNode(&foreign, second, NULL, 0, params));
    kit_gives(cuGraphExecKernelNodeSetParams(KIT_GARBAGE, node, params), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuGraphExecKernelNodeSetParams(exec, KIT_GARBAGE, params), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuGraphExecKernelNodeSetParams(exec, foreign, params), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGraphExecKernelNodeSetParams(exec, node, NULL), CUDA_ERROR_INVALID_VALUE);
    params->blockDimX = 1025;
    kit_gives(cuGraphExecKernelNodeSetParams(exec, node, params), CUDA_ERROR_INVALID_VALUE);
    ck_assert_uint_eq(launched(exec), 5);
    kit_ok(cuGraphDestroy(second));
    kit_gives(cuGraphExecKernelNodeSetParams(exec, foreign, params), CUDA_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(a_node_whose_kernel_is_gone_is_dead) {
    struct fill fill;
    CUgraph second;
    CUgraphNode dead;
    CUgraphExec run;
    const CUlaunchAttributeValue value = {.clusterDim = {1, 1, 1}};
    CUlibrary short_lived = kit_library(kit_ptx);
    CUDA_KERNEL_NODE_PARAMS *params = fill_params(&fill, kit_memory, 6);
    params->func = kit_function(short_lived, "fill");
    kit_ok(cuGraphCreate(&second, 0));
    kit_ok(cuGraphAddKernelNode(&dead, second, NULL, 0, params));
    kit_ok(cuGraphInstantiateWithFlags(&run, second, 0));
    kit_ok(cuLibraryUnload(short_lived));
    params->func = kit_filler;
    kit_gives(cuGraphKernelNodeSetAttribute(dead, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value),
              CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuGraphExecKernelNodeSetParams(run, dead, params), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuGraphAddKernelNode(&node, second, NULL, 0, params), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuGraphLaunch(run, kit_stream), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuGraphExecDestroy(run));
    kit_ok(cuGraphDestroy(second));
}
END_TEST

/* ---- questions ------------------------------------------------------------------------------------------------- */

START_TEST(a_stream_has_a_context) {
    CUcontext context = NULL;
    kit_ok(cuStreamGetCtx(kit_stream, &context));
    ck_assert_ptr_eq(context, kit_context());
    kit_ok(cuStreamGetCtx(CU_STREAM_PER_THREAD, &context));
    kit_gives(cuStreamGetCtx(kit_stream, NULL), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuStreamGetCtx(KIT_GARBAGE, &context), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuCtxSetCurrent(NULL));
    kit_gives(cuStreamGetCtx(NULL, &context), CUDA_ERROR_INVALID_CONTEXT);
    kit_ok(cuStreamGetCtx(kit_stream, &context));
    kit_ok(cuCtxSetCurrent(kit_context()));
}
END_TEST

START_TEST(asking_the_default_stream_spoils_no_capture) {
    CUstream blocking;
    CUgraph captured;
    int status;
    kit_ok(cuStreamIsCapturing(NULL, &status));
    ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_NONE);
    kit_ok(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    kit_ok(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    kit_gives(cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    kit_ok(cuStreamIsCapturing(blocking, &status));
    ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    kit_ok(cuStreamEndCapture(blocking, &captured));
    kit_ok(cuGraphDestroy(captured));
}
END_TEST

Suite *driver_graph_suite(void) {
    Suite *suite = suite_create("driver graphs");
    TCase *cases = tcase_create("graphs");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, a_node_is_launched);
    tcase_add_test(cases, nodes_run_in_their_order);
    tcase_add_test(cases, new_parameters_are_of_one_executable_and_of_launches_to_come);
    tcase_add_test(cases, a_captured_launch_keeps_its_parameters);
    tcase_add_test(cases, a_kernel_handle_serves_as_function);
    tcase_add_test(cases, a_node_has_a_cluster);
    tcase_add_test(cases, attributes_of_nodes_are_looked_at);
    tcase_add_test(cases, bad_graphs_and_nodes_are_refused);
    tcase_add_test(cases, bad_parameters_change_nothing);
    tcase_add_test(cases, a_node_whose_kernel_is_gone_is_dead);
    tcase_add_test(cases, a_stream_has_a_context);
    tcase_add_test(cases, asking_the_default_stream_spoils_no_capture);
    suite_add_tcase(suite, cases);
    return suite;
}
