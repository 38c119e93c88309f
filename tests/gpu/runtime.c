/* SPDX-License-Identifier: Apache-2.0 */
/* Plans among threads, streams, contexts and graphs. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_tests.h"

struct setup {
    const struct tested_operation *operation;
    struct call *call;
    gm_plan *plan;
};

/* A call placed, ordinary, and its plan. */
static bool set_up(struct result *result, struct setup *s, const struct test *test) {
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = test->mask};
    *s = (struct setup){test->operation, test->operation->new_call(false), NULL};
    heartbeat("set-up");
    return s->operation->place_call(result, s->call, 0, false) &&
           check_ok(result, s->operation->plan(env.context, s->call->problem, &options, &s->plan), "plan");
}

static void tear_down(struct setup *s) {
    gm_plan_destroy(s->plan);
    s->operation->free_call(s->call);
}

static enum gm_status execute(const struct setup *s, CUstream stream) {
    return s->operation->execute(s->plan, s->call->args, stream);
}

/* ---- a thread that has no current context ---------------------------------------------------------- */

struct thread_job {
    const gm_plan *plan;
    const struct call *call;
    CUstream stream;
    int executes;
    enum gm_status status;
    char sentence[256];
};

static void *execute_job(void *arg) {
    struct thread_job *job = arg;
    for (int i = 0; i < job->executes && job->status == GM_OK; i++)
        job->status = job->call->operation->execute(job->plan, job->call->args, job->stream);
    snprintf(job->sentence, sizeof job->sentence, "%s", gm_last_error());
    return NULL;
}

static void *plan_and_execute(void *arg) {
    struct thread_job *job = arg;
    gm_plan *plan = NULL;
    job->status = job->call->operation->plan(env.context, job->call->problem, NULL, &plan);
    if (job->status == GM_OK)
        job->status = job->call->operation->execute(plan, job->call->args, job->stream);
    snprintf(job->sentence, sizeof job->sentence, "%s", gm_last_error());
    gm_plan_destroy(plan);
    return NULL;
}

static bool run_job(struct result *result, struct thread_job *job, void *(*body)(void *), const char *what) {
    pthread_t id;
    if (pthread_create(&id, NULL, body, job) != 0 || pthread_join(id, NULL) != 0) {
        fail(result, "%s: no thread", what);
        return false;
    }
    if (job->status != GM_OK)
        fail(result, "%s: %s: %s", what, gm_status_name(job->status), job->sentence);
    return job->status == GM_OK && check_cuda(result, env.drv->cuStreamSynchronize(env.stream), what) &&
           check_output(result, job->call, what);
}

static void run_cold_thread(const struct test *test, struct result *result) {
    struct setup s;
    if (set_up(result, &s, test)) {
        struct thread_job warm = {.plan = s.plan, .call = s.call, .stream = env.stream, .executes = 1};
        struct thread_job cold = warm;
        result->cases += run_job(result, &warm, execute_job, "execute on a thread with no context");
        poison_output(result, s.call);
        result->cases += run_job(result, &cold, plan_and_execute, "plan and execute on a thread with no context");
    }
    tear_down(&s);
}

/* ---- one plan, two threads, two streams ------------------------------------------------------------ */

static void run_shared_plan(const struct test *test, struct result *result) {
    enum { THREADS = 2, EXECUTES = 50 };
    struct setup setups[THREADS];
    struct thread_job jobs[THREADS];
    pthread_t ids[THREADS];
    bool ok = true;
    for (int t = 0; t < THREADS; t++)
        ok = set_up(result, &setups[t], test) && ok;
    for (int t = 0; t < THREADS && ok; t++) {
        jobs[t] = (struct thread_job){.plan = setups[0].plan, .call = setups[t].call, .executes = EXECUTES};
        ok = check_cuda(result, env.drv->cuStreamCreate(&jobs[t].stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    }
    for (int t = 0; t < THREADS && ok; t++)
        if (pthread_create(&ids[t], NULL, execute_job, &jobs[t]) != 0)
            exit(2);
    for (int t = 0; t < THREADS && ok; t++) {
        pthread_join(ids[t], NULL);
        if (jobs[t].status != GM_OK)
            fail(result, "thread %d: %s: %s", t, gm_status_name(jobs[t].status), jobs[t].sentence);
        check_cuda(result, env.drv->cuStreamSynchronize(jobs[t].stream), "cuStreamSynchronize");
        result->cases += check_output(result, setups[t].call, "shared plan");
        env.drv->cuStreamDestroy(jobs[t].stream);
    }
    for (int t = 0; t < THREADS; t++)
        tear_down(&setups[t]);
}

/* ---- plan, execute, destroy in one call ------------------------------------------------------------- */

static void run_one_call(const struct test *test, struct result *result) {
    struct setup s;
    if (set_up(result, &s, test) &&
        check_ok(result, s.operation->in_one_call(env.context, s.call->problem, s.call->args, env.stream),
                 "one call") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "one call"))
        result->cases += check_output(result, s.call, "one call");
    tear_down(&s);
}

/* ---- the context of another device is current ------------------------------------------------------ */

static void run_foreign_context(const struct test *test, struct result *result) {
    CUcontext other, popped;
    CUdevice device;
    if (env.device_count < 2) {
        skip(result, "needs two GPUs");
        return;
    }
    struct setup s;
    if (set_up(result, &s, test) && check_cuda(result, env.drv->cuDeviceGet(&device, 1), "cuDeviceGet") &&
        check_cuda(result, env.drv->cuDevicePrimaryCtxRetain(&other, device), "cuDevicePrimaryCtxRetain")) {
        env.drv->cuCtxPushCurrent(other);
        const bool ok = check_ok(result, execute(&s, env.stream), "execute under another context");
        CUcontext after = NULL;
        env.drv->cuCtxGetCurrent(&after);
        if (after != other)
            fail(result, "execute left another context current than it found");
        env.drv->cuCtxPopCurrent(&popped);
        if (ok && check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "cuStreamSynchronize"))
            result->cases += check_output(result, s.call, "execute under another context");
        env.drv->cuDevicePrimaryCtxRelease(device);
    }
    tear_down(&s);
}

/* ---- graphs ---------------------------------------------------------------------------------------- */

static bool capture(struct result *result, const struct setup *s, CUgraphExec *exec) {
    CUgraph graph = NULL;
    if (!check_cuda(result, env.drv->cuStreamBeginCapture(env.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                    "begin capture"))
        return false;
    const bool launched = check_ok(result, execute(s, env.stream), "execute under capture");
    const bool ok = check_cuda(result, env.drv->cuStreamEndCapture(env.stream, &graph), "end capture") && launched &&
                    check_cuda(result, env.drv->cuGraphInstantiateWithFlags(exec, graph, 0), "cuGraphInstantiate");
    if (graph)
        env.drv->cuGraphDestroy(graph);
    return ok;
}

/* Capture, replay twice; between the replays the inputs change, at the same addresses. */
static void run_graph(const struct test *test, struct result *result) {
    struct setup s;
    CUgraphExec exec = NULL;
    if (set_up(result, &s, test) && capture(result, &s, &exec)) {
        const bool ok = check_cuda(result, env.drv->cuGraphLaunch(exec, env.stream), "cuGraphLaunch") &&
                        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "replay");
        result->cases += ok && check_output(result, s.call, "first replay");
        if (ok && s.operation->place_call(result, s.call, 0, true) &&
            check_cuda(result, env.drv->cuGraphLaunch(exec, env.stream), "cuGraphLaunch") &&
            check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "replay"))
            result->cases += check_output(result, s.call, "replay on changed inputs");
    }
    if (exec)
        env.drv->cuGraphExecDestroy(exec);
    tear_down(&s);
}

/* A capture keeps what it was told: the second one has other scalars, and the plan is gone before the replays. */
static void run_captured_twice(const struct test *test, struct result *result) {
    struct setup s;
    CUgraphExec execs[2] = {NULL, NULL};
    bool ok = set_up(result, &s, test);
    for (int i = 0; i < 2 && ok; i++)
        ok = s.operation->place_call(result, s.call, i, false) && capture(result, &s, &execs[i]);
    gm_plan_destroy(s.plan);
    s.plan = NULL;
    for (int i = 0; i < 4 && ok; i++) {
        ok = s.operation->place_call(result, s.call, i % 2, false) &&
             check_cuda(result, env.drv->cuGraphLaunch(execs[i % 2], env.stream), "cuGraphLaunch") &&
             check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "replay") &&
             check_output(result, s.call, i % 2 ? "replay with other scalars" : "replay with the first scalars");
        result->cases += ok;
    }
    for (int i = 0; i < 2; i++)
        if (execs[i])
            env.drv->cuGraphExecDestroy(execs[i]);
    tear_down(&s);
}

/* ---- a stream's handle that comes back on another device ---------------------------------------------- */

/* A stream of the device whose context is `other`, with the handle `wanted`. NULL: the driver gives others. */
static CUstream recycle(struct result *result, CUcontext other, CUstream wanted) {
    enum { TRIES = 64 };
    CUstream tries[TRIES], found = NULL;
    CUcontext popped;
    int count = 0;
    env.drv->cuCtxPushCurrent(other);
    while (count < TRIES && !found &&
           check_cuda(result, env.drv->cuStreamCreate(&tries[count], CU_STREAM_NON_BLOCKING), "cuStreamCreate"))
        if (tries[count++] == wanted)
            found = tries[--count];
    for (int i = 0; i < count; i++)
        env.drv->cuStreamDestroy(tries[i]);
    env.drv->cuCtxPopCurrent(&popped);
    return found;
}

/* Refused and nothing written; or computed, where the driver lets a stream launch the graph of another device. */
static void execute_recycled(struct result *result, struct setup *s, CUstream stream) {
    const enum gm_status status = execute(s, stream);
    const char *const what = "execute on a recycled handle";
    result->cases++;
    if (status == GM_OK) {
        check_cuda(result, env.drv->cuStreamSynchronize(stream), what);
        check_output(result, s->call, what);
    } else if (status != GM_ERROR_WRONG_DEVICE) {
        fail(result, "%s: %s: %s", what, gm_status_name(status), gm_last_error());
    } else {
        check_unwritten(result, s->call, what);
    }
}

/* Twice, so that the second may be by the plan's graph, which belongs to that stream. */
static bool execute_and_destroy(struct result *result, struct setup *s, CUstream stream) {
    bool ok = true;
    for (int i = 0; i < 2 && ok; i++)
        ok = check_ok(result, execute(s, stream), "execute") &&
             check_cuda(result, env.drv->cuStreamSynchronize(stream), "kernel") &&
             check_output(result, s->call, "before the handle comes back") && poison_output(result, s->call);
    env.drv->cuStreamDestroy(stream);
    return ok;
}

static void run_recycled_stream(const struct test *test, struct result *result) {
    CUcontext other;
    CUdevice device;
    CUstream stream;
    struct setup s;
    if (env.device_count < 2) {
        skip(result, "needs two GPUs");
        return;
    }
    if (set_up(result, &s, test) &&
        check_cuda(result, env.drv->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate") &&
        check_cuda(result, env.drv->cuDeviceGet(&device, 1), "cuDeviceGet") &&
        check_cuda(result, env.drv->cuDevicePrimaryCtxRetain(&other, device), "cuDevicePrimaryCtxRetain")) {
        if (execute_and_destroy(result, &s, stream)) {
            const CUstream recycled = recycle(result, other, stream);
            if (recycled) {
                execute_recycled(result, &s, recycled);
                env.drv->cuStreamDestroy(recycled);
            } else {
                skip(result, "the driver gives the other device no stream of the same handle");
            }
        }
        env.drv->cuDevicePrimaryCtxRelease(device);
    }
    tear_down(&s);
}

void add_runtime_tests(void) {
    add_operation_test("api", "one_call", run_one_call, 0);
    add_operation_test("api", "cold_thread", run_cold_thread, 0);
    add_operation_test("api", "shared_plan_sm80", run_shared_plan, GM_ARCH_SM80);
    add_operation_test("api", "shared_plan", run_shared_plan, 0);
    add_operation_test("api", "foreign_context", run_foreign_context, 0);
    add_operation_test("api", "graph_sm80", run_graph, GM_ARCH_SM80);
    add_operation_test("api", "graph", run_graph, 0);
    add_operation_test("api", "a_plan_captured_twice_replays_its_scalars_without_the_plan_sm80", run_captured_twice,
                       GM_ARCH_SM80);
    add_operation_test("api", "a_plan_captured_twice_replays_its_scalars_without_the_plan", run_captured_twice, 0);
    add_operation_test("api", "a_stream_handle_that_comes_back_on_another_device", run_recycled_stream, 0);
}
