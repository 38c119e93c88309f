/* SPDX-License-Identifier: Apache-2.0 */
/* One plan, launched again and again with other pointers: back to back, on several streams, from several threads. What
 * one launch is given must not reach another that is still under way. */
#include <pthread.h>
#include <stdlib.h>

#include "gpu_tests.h"

enum { COPIES = SCALES, STREAMS = 3, ROUNDS = 4 };

struct relaunch {
    const struct tested_operation *operation;
    struct call *copies[COPIES]; /* of one problem, each in memory of its own, with scalars of its own */
    CUstream streams[STREAMS];   /* the last is the default stream */
    gm_plan *plan;
};

static bool set_up(struct result *result, struct relaunch *r, const struct test *test, int argument_sets) {
    *r = (struct relaunch){.operation = test->operation};
    for (int i = 0; i < COPIES; i++)
        r->copies[i] = r->operation->new_call(true);
    for (int i = 0; i < COPIES; i++) {
        heartbeat("set-up");
        if (!r->operation->place_call(result, r->copies[i], i, false))
            return false;
    }
    for (int i = 0; i + 1 < STREAMS; i++)
        if (!check_cuda(result, env.drv->cuStreamCreate(&r->streams[i], CU_STREAM_NON_BLOCKING), "cuStreamCreate"))
            return false;
    const struct gm_plan_options options = {
        .size = sizeof options, .arch_mask = test->mask, .argument_sets = argument_sets};
    return check_ok(result, r->operation->plan(env.context, r->copies[0]->problem, &options, &r->plan), "plan");
}

static void tear_down(struct relaunch *r) {
    gm_plan_destroy(r->plan);
    for (int i = 0; i + 1 < STREAMS; i++)
        if (r->streams[i])
            env.drv->cuStreamDestroy(r->streams[i]);
    for (int i = 0; i < COPIES; i++)
        r->operation->free_call(r->copies[i]);
}

/* Waits, checks every copy, and poisons it again. */
static void check_all(struct result *result, struct relaunch *r, const char *what) {
    if (!check_cuda(result, env.drv->cuCtxSynchronize(), what))
        return;
    for (int i = 0; i < COPIES; i++) {
        heartbeat(what);
        result->cases += check_output(result, r->copies[i], what) && poison_output(result, r->copies[i]);
    }
}

static enum gm_status execute(const struct relaunch *r, int copy, CUstream stream) {
    return r->operation->execute(r->plan, r->copies[copy]->args, stream);
}

/* Executes every copy `rounds` times in turn, the i-th on stream i mod `streams`. */
static void execute_in_turn(struct result *result, const struct relaunch *r, int streams, const char *what) {
    for (int i = 0; i < ROUNDS * COPIES; i++) {
        const int copy = i % COPIES;
        if (!check_ok(result, execute(r, copy, r->streams[copy % streams]), what))
            return;
    }
}

/* ---- threads ---------------------------------------------------------------------------------------- */

struct worker {
    pthread_t id;
    const struct relaunch *r;
    int number;
    enum gm_status status;
    char sentence[256];
};

/* Copy and stream by the worker's number: some share a stream, none a copy. */
static void *work(void *arg) {
    struct worker *worker = arg;
    const struct relaunch *r = worker->r;
    if (env.drv->cuCtxSetCurrent(worker->number % 2 ? env.primary : NULL) != CUDA_SUCCESS)
        worker->status = GM_ERROR_DRIVER;
    for (int i = 0; i < ROUNDS && worker->status == GM_OK; i++)
        worker->status = execute(r, worker->number, r->streams[worker->number / 2 % STREAMS]);
    snprintf(worker->sentence, sizeof worker->sentence, "%s", gm_last_error());
    return NULL;
}

static void execute_in_threads(struct result *result, const struct relaunch *r) {
    struct worker workers[COPIES];
    for (int i = 0; i < COPIES; i++) {
        workers[i] = (struct worker){.r = r, .number = i};
        if (pthread_create(&workers[i].id, NULL, work, &workers[i]) != 0)
            exit(2);
    }
    for (int i = 0; i < COPIES; i++) {
        pthread_join(workers[i].id, NULL);
        if (workers[i].status != GM_OK)
            fail(result, "thread %d: %s: %s", i, gm_status_name(workers[i].status), workers[i].sentence);
    }
}

/* ---- the tests -------------------------------------------------------------------------------------- */

static void relaunch(const struct test *test, struct result *result, int argument_sets) {
    struct relaunch r;
    if (set_up(result, &r, test, argument_sets)) {
        execute_in_turn(result, &r, 1, "back to back");
        check_all(result, &r, "back to back");
        heartbeat("streams");
        execute_in_turn(result, &r, STREAMS, "on streams in turn");
        check_all(result, &r, "on streams in turn");
        heartbeat("threads");
        execute_in_threads(result, &r);
        check_all(result, &r, "from threads");
        execute_in_turn(result, &r, 1, "before the plan's end");
        gm_plan_destroy(r.plan);
        r.plan = NULL;
        check_all(result, &r, "after the plan's end");
    }
    tear_down(&r);
}

static void run_relaunch(const struct test *test, struct result *result) {
    relaunch(test, result, 1);
}

/* Every copy's arguments are kept; or some, and others take their place. */
static void run_relaunch_sets(const struct test *test, struct result *result) {
    relaunch(test, result, COPIES);
    relaunch(test, result, COPIES - 2);
}

/* Planning makes a graph, which must not disturb a capture that goes on meanwhile. */
static void run_plan_under_capture(const struct test *test, struct result *result) {
    struct relaunch r;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    gm_plan *plan = NULL;
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = test->mask};
    if (set_up(result, &r, test, 1) && /* which loads the kernel: that is no call for a capture */
        check_cuda(result, env.drv->cuStreamBeginCapture(env.stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "begin capture")) {
        const struct call *call = r.copies[0];
        const bool ok =
            check_ok(result, call->operation->plan(env.context, call->problem, &options, &plan), "plan in capture") &&
            check_ok(result, call->operation->execute(plan, call->args, env.stream), "execute in capture");
        if (check_cuda(result, env.drv->cuStreamEndCapture(env.stream, &graph), "end capture") && ok &&
            check_cuda(result, env.drv->cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate") &&
            check_cuda(result, env.drv->cuGraphLaunch(exec, env.stream), "cuGraphLaunch") &&
            check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "replay"))
            result->cases += check_output(result, call, "planned in a capture");
    }
    if (exec)
        env.drv->cuGraphExecDestroy(exec);
    if (graph)
        env.drv->cuGraphDestroy(graph);
    gm_plan_destroy(plan);
    tear_down(&r);
}

void add_relaunch_tests(void) {
    add_operation_test("api", "relaunch", run_relaunch, 0);
    add_operation_test("api", "relaunch_sm80", run_relaunch, GM_ARCH_SM80);
    add_operation_test("api", "relaunch_sets", run_relaunch_sets, 0);
    add_operation_test("api", "plan_under_capture", run_plan_under_capture, 0);
}
