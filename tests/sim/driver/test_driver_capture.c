/* SPDX-License-Identifier: Apache-2.0 */
/* Captures and graphs of the simulated driver. */
#include "driver_kit.h"
#include "sim_tests.h"

/* ---- capture and replay ---------------------------------------------------------------------------------------- */

static void begin(int mode) {
    kit_ok(cuStreamBeginCapture(kit_stream, mode));
}

static CUgraphExec make_executable(void) {
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    kit_ok(cuStreamEndCapture(kit_stream, &graph));
    kit_ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
    kit_ok(cuGraphDestroy(graph));
    return exec;
}

START_TEST(a_graph_does_again_what_was_captured) {
    uint32_t word = 7;
    begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    kit_ok(kit_fill(kit_filler, kit_stream, kit_memory, 5, 32));
    kit_ok(cuMemcpyDtoDAsync(kit_memory + 256, kit_memory, 64, kit_stream));
    kit_ok(cuMemsetD8Async(kit_memory + 512, 9, 4, kit_stream));
    kit_ok(cuMemcpyHtoDAsync(kit_memory + 1024, &word, 4, kit_stream));
    CUgraphExec exec = make_executable();
    ck_assert_uint_eq(kit_word(kit_memory), 0);
    word = 8;
    for (int again = 0; again < 2; again++) {
        kit_ok(cuMemsetD8(kit_memory, 0, 4096));
        kit_ok(cuGraphLaunch(exec, kit_stream));
        ck_assert_uint_eq(kit_word(kit_memory + 124), 5);
        ck_assert_uint_eq(kit_word(kit_memory + 256 + 60), 5);
        ck_assert_uint_eq(kit_word(kit_memory + 512), 0x09090909);
        ck_assert_uint_eq(kit_word(kit_memory + 1024), 8);
    }
    begin(CU_STREAM_CAPTURE_MODE_RELAXED); /* a graph in a graph */
    kit_ok(cuGraphLaunch(exec, kit_stream));
    CUgraphExec outer = make_executable();
    kit_ok(cuGraphExecDestroy(exec));
    kit_ok(cuMemsetD8(kit_memory, 0, 4096));
    kit_ok(cuGraphLaunch(outer, NULL));
    ck_assert_uint_eq(kit_word(kit_memory + 124), 5);
    kit_ok(cuGraphExecDestroy(outer));
    kit_gives(cuGraphExecDestroy(outer), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuGraphLaunch(outer, kit_stream), CUDA_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(a_graph_whose_kernel_is_gone_does_not_run) {
    CUlibrary short_lived = kit_library(kit_ptx);
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    kit_ok(kit_fill(kit_function(short_lived, "fill"), kit_stream, kit_memory, 5, 32));
    CUgraphExec exec = make_executable();
    kit_ok(cuLibraryUnload(short_lived));
    kit_gives(cuGraphLaunch(exec, kit_stream), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuGraphExecDestroy(exec));
}
END_TEST

START_TEST(captures_begin_and_end_in_order) {
    CUgraph graph = KIT_GARBAGE;
    CUgraphExec exec;
    int status;
    kit_gives(cuStreamBeginCapture(NULL, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    kit_gives(cuStreamBeginCapture(kit_stream, 3), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuStreamBeginCapture(KIT_GARBAGE, 0), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuStreamEndCapture(kit_stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    ck_assert_ptr_null(graph);
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    kit_gives(cuStreamBeginCapture(kit_stream, 0), CUDA_ERROR_ILLEGAL_STATE);
    kit_gives(cuStreamEndCapture(kit_stream, NULL), CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuStreamIsCapturing(kit_stream, &status));
    ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    kit_ok(cuStreamEndCapture(kit_stream, &graph));
    kit_gives(cuGraphInstantiateWithFlags(NULL, graph, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGraphInstantiateWithFlags(&exec, graph, 1 << 10), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGraphInstantiateWithFlags(&exec, KIT_GARBAGE, 0), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuGraphDestroy(graph));
    kit_gives(cuGraphDestroy(graph), CUDA_ERROR_INVALID_HANDLE);
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    kit_ok(cuStreamDestroy(kit_stream)); /* the capture goes with it */
    kit_ok(cuMemsetD8(kit_memory, 0, 4));
}
END_TEST

/* What a call that waits or allocates does to a capture, by mode. */
static CUresult end_after(CUresult (*call)(void), int mode, CUresult expected) {
    CUgraph graph = NULL;
    begin(mode);
    kit_gives(call(), expected);
    const CUresult result = cuStreamEndCapture(kit_stream, &graph);
    if (result == CUDA_SUCCESS)
        kit_ok(cuGraphDestroy(graph));
    else
        ck_assert_ptr_null(graph);
    return result;
}

static CUresult allocate(void) {
    CUdeviceptr address;
    const CUresult result = cuMemAlloc(&address, 16);
    if (result == CUDA_SUCCESS)
        kit_ok(cuMemFree(address));
    return result;
}
static CUresult wait_for_stream(void) {
    return cuStreamSynchronize(kit_stream);
}
static CUresult copy_now(void) {
    uint32_t word;
    return cuMemcpyDtoH(&word, kit_memory, sizeof word);
}

START_TEST(captures_forbid_what_they_cannot_hold) {
    const CUresult unsupported = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, spoilt = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    for (int mode = CU_STREAM_CAPTURE_MODE_GLOBAL; mode <= CU_STREAM_CAPTURE_MODE_THREAD_LOCAL; mode++) {
        kit_gives(end_after(allocate, mode, unsupported), spoilt);
        kit_gives(end_after(copy_now, mode, unsupported), spoilt);
    }
    for (int mode = CU_STREAM_CAPTURE_MODE_GLOBAL; mode <= CU_STREAM_CAPTURE_MODE_RELAXED; mode++) {
        kit_gives(end_after(wait_for_stream, mode, unsupported), spoilt);
        kit_gives(end_after(cuCtxSynchronize, mode, unsupported), spoilt);
    }
    kit_ok(end_after(allocate, CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_SUCCESS));
    kit_ok(end_after(copy_now, CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_SUCCESS));
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    kit_gives(cuStreamQuery(kit_stream), unsupported);
    kit_gives(kit_fill(kit_filler, kit_stream, kit_memory, 1, 32), spoilt);
    CUgraph graph;
    int status;
    kit_ok(cuStreamIsCapturing(kit_stream, &status));
    ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    kit_gives(cuStreamEndCapture(kit_stream, &graph), spoilt);
}
END_TEST

START_TEST(a_relaxed_thread_may_do_what_captures_forbid) {
    int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    kit_ok(cuThreadExchangeStreamCaptureMode(&mode));
    ck_assert_int_eq(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    kit_ok(end_after(allocate, CU_STREAM_CAPTURE_MODE_GLOBAL, CUDA_SUCCESS));
    kit_ok(cuThreadExchangeStreamCaptureMode(&mode));
    ck_assert_int_eq(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    kit_gives(end_after(allocate, CU_STREAM_CAPTURE_MODE_GLOBAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
              CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    kit_gives(cuThreadExchangeStreamCaptureMode(NULL), CUDA_ERROR_INVALID_VALUE);
    mode = 3;
    kit_gives(cuThreadExchangeStreamCaptureMode(&mode), CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(the_default_stream_does_not_wait_for_a_capture) {
    CUstream blocking;
    CUgraph graph;
    kit_ok(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    kit_ok(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    kit_gives(kit_fill(kit_filler, NULL, kit_memory, 1, 32), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    kit_gives(cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    kit_ok(kit_fill(kit_filler, NULL, kit_memory, 1, 32)); /* a stream that does not block */
    kit_ok(cuStreamEndCapture(kit_stream, &graph));
    kit_ok(cuGraphDestroy(graph));
}
END_TEST

static void *end_elsewhere(void *arg) {
    static CUresult result;
    (void)arg;
    result = cuCtxSetCurrent(kit_context());
    CUgraph graph;
    result = result == CUDA_SUCCESS ? cuStreamEndCapture(kit_stream, &graph) : result;
    return &result;
}

START_TEST(a_capture_ends_where_it_began) {
    pthread_t thread;
    void *result;
    CUgraph graph;
    begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    ck_assert_int_eq(pthread_create(&thread, NULL, end_elsewhere, NULL), 0);
    pthread_join(thread, &result);
    kit_gives(*(CUresult *)result, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    kit_ok(cuStreamEndCapture(kit_stream, &graph));
    kit_ok(cuGraphDestroy(graph));
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    ck_assert_int_eq(pthread_create(&thread, NULL, end_elsewhere, NULL), 0);
    pthread_join(thread, &result);
    kit_ok(*(CUresult *)result);
}
END_TEST

/* ---- several streams in one capture ---------------------------------------------------------------------------- */

static CUstream other;
static CUevent fork_event, join_event;

/* A capture that a second stream has joined and in which it has filled 32 words. */
static void begin_forked(void) {
    kit_ok(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    kit_ok(cuEventCreate(&fork_event, CU_EVENT_DISABLE_TIMING));
    kit_ok(cuEventCreate(&join_event, CU_EVENT_DISABLE_TIMING));
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    kit_ok(cuEventRecord(fork_event, kit_stream));
    kit_ok(cuStreamWaitEvent(other, fork_event, 0));
    kit_ok(kit_fill(kit_filler, other, kit_memory, 3, 32));
}

START_TEST(a_forked_capture_must_join) {
    CUgraph graph;
    begin_forked();
    kit_gives(cuStreamEndCapture(kit_stream, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    kit_ok(cuEventRecord(fork_event, kit_stream));
    kit_ok(cuStreamWaitEvent(other, fork_event, 0));
    kit_ok(kit_fill(kit_filler, other, kit_memory, 4, 32));
    kit_ok(cuEventRecord(join_event, other));
    kit_ok(cuStreamWaitEvent(kit_stream, join_event, 0));
    CUgraphExec exec = make_executable();
    kit_ok(cuGraphLaunch(exec, kit_stream));
    ck_assert_uint_eq(kit_word(kit_memory), 4);
    kit_ok(cuGraphExecDestroy(exec));
}
END_TEST

START_TEST(a_fork_ends_with_its_origin_only) {
    CUgraph graph;
    begin_forked();
    kit_gives(cuStreamEndCapture(other, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    kit_gives(cuStreamEndCapture(kit_stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    kit_ok(kit_fill(kit_filler, other, kit_memory, 6, 32)); /* out of it again */
    ck_assert_uint_eq(kit_word(kit_memory), 6);
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    kit_ok(cuEventRecord(fork_event, kit_stream));
    kit_ok(cuStreamWaitEvent(other, fork_event, 0));
    kit_ok(cuStreamDestroy(other));
    kit_gives(cuStreamEndCapture(kit_stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(captured_events_are_no_times) {
    CUgraph graph;
    float milliseconds;
    begin_forked();
    kit_gives(cuEventSynchronize(fork_event), CUDA_ERROR_CAPTURED_EVENT);
    kit_gives(cuEventElapsedTime(&milliseconds, fork_event, join_event), CUDA_ERROR_CAPTURED_EVENT);
    kit_gives(cuEventRecord(join_event, other), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    kit_gives(cuStreamEndCapture(kit_stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    kit_ok(cuEventSynchronize(fork_event)); /* as if it had never been recorded */
}
END_TEST

START_TEST(captures_do_not_mix) {
    CUgraph graph;
    begin_forked();
    CUstream third;
    CUevent early;
    kit_ok(cuStreamCreate(&third, CU_STREAM_NON_BLOCKING));
    kit_ok(cuStreamBeginCapture(third, CU_STREAM_CAPTURE_MODE_RELAXED));
    kit_gives(cuStreamWaitEvent(third, fork_event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    kit_gives(cuStreamEndCapture(third, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    kit_gives(cuStreamEndCapture(kit_stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    kit_ok(cuEventCreate(&early, 0));
    kit_ok(cuEventRecord(early, third));
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    kit_gives(cuStreamWaitEvent(kit_stream, early, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    kit_gives(cuStreamEndCapture(kit_stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    kit_ok(cuEventRecord(early, kit_stream));
    kit_gives(cuStreamWaitEvent(NULL, early, 0), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    kit_gives(cuStreamEndCapture(kit_stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}
END_TEST

Suite *driver_capture_suite(void) {
    Suite *suite = suite_create("driver captures");
    TCase *cases = tcase_create("captures");
    tcase_add_checked_fixture(cases, kit_start_stream, kit_stop_module);
    tcase_add_test(cases, a_graph_does_again_what_was_captured);
    tcase_add_test(cases, a_graph_whose_kernel_is_gone_does_not_run);
    tcase_add_test(cases, captures_begin_and_end_in_order);
    tcase_add_test(cases, captures_forbid_what_they_cannot_hold);
    tcase_add_test(cases, a_relaxed_thread_may_do_what_captures_forbid);
    tcase_add_test(cases, the_default_stream_does_not_wait_for_a_capture);
    tcase_add_test(cases, a_capture_ends_where_it_began);
    tcase_add_test(cases, a_forked_capture_must_join);
    tcase_add_test(cases, a_fork_ends_with_its_origin_only);
    tcase_add_test(cases, captured_events_are_no_times);
    tcase_add_test(cases, captures_do_not_mix);
    suite_add_tcase(suite, cases);
    return suite;
}
