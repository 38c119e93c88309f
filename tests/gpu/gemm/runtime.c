/* SPDX-License-Identifier: Apache-2.0 */
/* Plans among threads, streams, contexts and graphs. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gemm_tests.h"

static const struct gemm_case ordinary = {
    .m = 200, .n = 264, .k = 136, .a_pad = 8, .b_pad = 8, .c_pad = 8, .d_pad = 8, .alpha = 1};

struct setup {
    struct buffers buffers;
    struct placed placed;
    gm_plan *plan;
};

static bool set_up(struct result *result, struct setup *s, const struct gemm_case *gc, uint32_t mask) {
    *s = (struct setup){.plan = NULL};
    heartbeat("set-up");
    if (!place_case(result, gc, &s->buffers, &s->placed))
        return false;
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = mask};
    return check_ok(result, gm_gemm_plan_create(env.context, &s->placed.problem, &options, &s->plan), "plan");
}

static void tear_down(struct setup *s) {
    gm_plan_destroy(s->plan);
    free_buffers(&s->buffers);
}

/* ---- a thread that has no current context ---------------------------------------------------------- */

struct thread_job {
    const gm_plan *plan;
    const struct placed *placed;
    CUstream stream;
    int executes;
    enum gm_status status;
    char sentence[256];
};

static void *execute_job(void *arg) {
    struct thread_job *job = arg;
    for (int i = 0; i < job->executes && job->status == GM_OK; i++)
        job->status = gm_gemm_execute(job->plan, &job->placed->args, job->stream);
    snprintf(job->sentence, sizeof job->sentence, "%s", gm_last_error());
    return NULL;
}

static void *plan_and_execute(void *arg) {
    struct thread_job *job = arg;
    gm_plan *plan = NULL;
    job->status = gm_gemm_plan_create(env.context, &job->placed->problem, NULL, &plan);
    if (job->status == GM_OK)
        job->status = gm_gemm_execute(plan, &job->placed->args, job->stream);
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
           check_output(result, job->placed, what);
}

static void run_cold_thread(const struct test *test, struct result *result) {
    struct setup s;
    if (set_up(result, &s, &ordinary, test->mask)) {
        struct thread_job warm = {.plan = s.plan, .placed = &s.placed, .stream = env.stream, .executes = 1};
        struct thread_job cold = warm;
        result->cases += run_job(result, &warm, execute_job, "execute on a thread with no context");
        poison_output(result, &s.placed);
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
        ok = set_up(result, &setups[t], &ordinary, test->mask) && ok;
    for (int t = 0; t < THREADS && ok; t++) {
        jobs[t] = (struct thread_job){.plan = setups[0].plan, .placed = &setups[t].placed, .executes = EXECUTES};
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
        result->cases += check_output(result, &setups[t].placed, "shared plan");
        env.drv->cuStreamDestroy(jobs[t].stream);
    }
    for (int t = 0; t < THREADS; t++)
        tear_down(&setups[t]);
}

/* ---- plan, execute, destroy in one call ------------------------------------------------------------- */

static void run_one_call(const struct test *test, struct result *result) {
    struct setup s;
    if (set_up(result, &s, &ordinary, test->mask) &&
        check_ok(result, gm_gemm(env.context, &s.placed.problem, &s.placed.args, env.stream), "gm_gemm") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "gm_gemm"))
        result->cases += check_output(result, &s.placed, "gm_gemm");
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
    if (set_up(result, &s, &ordinary, test->mask) &&
        check_cuda(result, env.drv->cuDeviceGet(&device, 1), "cuDeviceGet") &&
        check_cuda(result, env.drv->cuDevicePrimaryCtxRetain(&other, device), "cuDevicePrimaryCtxRetain")) {
        env.drv->cuCtxPushCurrent(other);
        const bool ok =
            check_ok(result, gm_gemm_execute(s.plan, &s.placed.args, env.stream), "execute under another context");
        CUcontext after = NULL;
        env.drv->cuCtxGetCurrent(&after);
        if (after != other)
            fail(result, "execute left another context current than it found");
        env.drv->cuCtxPopCurrent(&popped);
        if (ok && check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "cuStreamSynchronize"))
            result->cases += check_output(result, &s.placed, "execute under another context");
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
    const bool launched =
        check_ok(result, gm_gemm_execute(s->plan, &s->placed.args, env.stream), "execute under capture");
    const bool ok = check_cuda(result, env.drv->cuStreamEndCapture(env.stream, &graph), "end capture") && launched &&
                    check_cuda(result, env.drv->cuGraphInstantiateWithFlags(exec, graph, 0), "cuGraphInstantiate");
    if (graph)
        env.drv->cuGraphDestroy(graph);
    return ok;
}

/* Capture, replay twice; between the replays A's contents change to those of a second case. */
static void run_graph(const struct test *test, struct result *result) {
    struct setup s;
    CUgraphExec exec = NULL;
    struct gemm_case other = ordinary;
    other.inputs = NORMAL;
    struct placed second;
    if (set_up(result, &s, &ordinary, test->mask) && capture(result, &s, &exec)) {
        const bool ok = check_cuda(result, env.drv->cuGraphLaunch(exec, env.stream), "cuGraphLaunch") &&
                        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "replay");
        result->cases += ok && check_output(result, &s.placed, "first replay");
        /* The same sizes take the same addresses, so the captured launch reads the new contents. */
        if (ok && place_case(result, &other, &s.buffers, &second) &&
            check_cuda(result, env.drv->cuGraphLaunch(exec, env.stream), "cuGraphLaunch") &&
            check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "replay"))
            result->cases += check_output(result, &second, "replay on changed inputs");
    }
    if (exec)
        env.drv->cuGraphExecDestroy(exec);
    tear_down(&s);
}

/* A capture keeps what it was told: alpha is another at the second capture, and the plan is gone before the replays. */
static void run_captured_twice(const struct test *test, struct result *result) {
    struct setup s;
    CUgraphExec execs[2] = {NULL, NULL};
    struct gemm_case cases[2] = {ordinary, ordinary};
    struct placed placed[2];
    cases[1].alpha = -2;
    bool ok = set_up(result, &s, &ordinary, test->mask);
    for (int i = 0; i < 2 && ok; i++) {
        /* The same sizes take the same addresses. */
        ok = place_case(result, &cases[i], &s.buffers, &placed[i]);
        s.placed.args.alpha = i ? &cases[1].alpha : NULL;
        ok = ok && capture(result, &s, &execs[i]);
    }
    gm_plan_destroy(s.plan);
    s.plan = NULL;
    for (int i = 0; i < 4 && ok; i++) {
        ok = poison_output(result, &placed[i % 2]) &&
             check_cuda(result, env.drv->cuGraphLaunch(execs[i % 2], env.stream), "cuGraphLaunch") &&
             check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "replay") &&
             check_output(result, &placed[i % 2], i % 2 ? "replay with alpha -2" : "replay with alpha 1");
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
    const enum gm_status status = gm_gemm_execute(s->plan, &s->placed.args, stream);
    const char *const what = "execute on a recycled handle";
    result->cases++;
    if (status == GM_OK) {
        check_cuda(result, env.drv->cuStreamSynchronize(stream), what);
        check_output(result, &s->placed, what);
    } else if (status != GM_ERROR_WRONG_DEVICE) {
        fail(result, "%s: %s: %s", what, gm_status_name(status), gm_last_error());
    } else {
        check_unwritten(result, &s->placed, what);
    }
}

/* Twice, so that the second may be by the plan's graph, which belongs to that stream. */
static bool execute_and_destroy(struct result *result, struct setup *s, CUstream stream) {
    bool ok = true;
    for (int i = 0; i < 2 && ok; i++)
        ok = check_ok(result, gm_gemm_execute(s->plan, &s->placed.args, stream), "execute") &&
             check_cuda(result, env.drv->cuStreamSynchronize(stream), "kernel") &&
             check_output(result, &s->placed, "before the handle comes back") && poison_output(result, &s->placed);
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
    if (set_up(result, &s, &ordinary, test->mask) &&
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
    add_test("api", "one_call", run_one_call, -1, 0);
    add_test("api", "cold_thread", run_cold_thread, -1, 0);
    add_test("api", "shared_plan_sm80", run_shared_plan, -1, GM_ARCH_SM80);
    add_test("api", "shared_plan", run_shared_plan, -1, 0);
    add_test("api", "foreign_context", run_foreign_context, -1, 0);
    add_test("api", "graph_sm80", run_graph, -1, GM_ARCH_SM80);
    add_test("api", "graph", run_graph, -1, 0);
    add_test("api", "a_plan_captured_twice_replays_each_alpha_without_the_plan_sm80", run_captured_twice, -1,
             GM_ARCH_SM80);
    add_test("api", "a_plan_captured_twice_replays_each_alpha_without_the_plan", run_captured_twice, -1, 0);
    add_test("api", "a_stream_handle_that_comes_back_on_another_device", run_recycled_stream, -1, 0);
}
