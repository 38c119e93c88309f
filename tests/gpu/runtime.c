/* SPDX-License-Identifier: Apache-2.0 */
/* Plans among threads, streams, contexts and graphs. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_tests.h"

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

void add_runtime_tests(void) {
    add_test("api", "one_call", run_one_call, -1, 0);
    add_test("api", "cold_thread", run_cold_thread, -1, 0);
    add_test("api", "shared_plan_sm80", run_shared_plan, -1, GM_ARCH_SM80);
    add_test("api", "shared_plan", run_shared_plan, -1, 0);
    add_test("api", "foreign_context", run_foreign_context, -1, 0);
    add_test("api", "graph_sm80", run_graph, -1, GM_ARCH_SM80);
    add_test("api", "graph", run_graph, -1, 0);
}
