/* SPDX-License-Identifier: Apache-2.0 */
/* Running experiments, each in a process of its own. */
#include "lab/lab_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/commands.h"
#include "bench/measure/environment.h"
#include "lab/lab_profile.h"
#include "program/base/paths.h"
#include "bench/report/results.h"
#include "lab/lab_simulator.h"
#include "lab/spawn.h"

/* Of the time an experiment may take, what other processes may use of it. */
#define PROFILER_SHARE  0.5
#define SIMULATOR_SHARE 0.25

/* ---- one experiment ------------------------------------------------------------------------------- */

static struct runner_method method_of(const struct lab_request *request, const struct lab *lab) {
    struct runner_method method = {.rounds = 7, .round_ms = 10, .warmup_s = 0.3};
    if (request->quick)
        method = (struct runner_method){.rounds = 3, .round_ms = 3, .warmup_s = 0.1};
    if (request->rounds)
        method.rounds = request->rounds;
    if (request->no_time || lab->simulated)
        method.rounds = 0;
    return method;
}

/* What the witnesses beside the clock say of themselves. */
struct witnesses {
    struct profiler_report counters;
    struct simulator_report simulator;
};

void lab_describe(struct record_meta *meta, const struct lab *lab, const struct profiler_report *counters) {
    struct nvml nvml;
    const struct gm_device *device = &lab->gpu.device;
    snprintf(meta->gpu, sizeof meta->gpu, "%s", device->name);
    nvml_open(&nvml, &lab->gpu);
    environment_driver(meta->driver, sizeof meta->driver, &nvml, device);
    nvml_close(&nvml);
    build_fact("toolkit", meta->toolkit, sizeof meta->toolkit);
    build_fact("revision", meta->revision, sizeof meta->revision);
    environment_date(meta->date, sizeof meta->date);
    meta->counted = counters->counted;
    snprintf(meta->counters, sizeof meta->counters, "%s", counters->counted ? counters->version : counters->why);
    meta->simulated_gpu = lab->simulated;
}

static void fill_meta(struct record_meta *meta, const struct lab *lab, const struct witnesses *witnesses,
                      const struct runner_method *method) {
    const struct simulator_report *simulator = &witnesses->simulator;
    lab_describe(meta, lab, &witnesses->counters);
    meta->simulated = simulator->simulated;
    snprintf(meta->simulator, sizeof meta->simulator, "%s%s%s", simulator->simulated ? simulator->device : "",
             simulator->simulated && simulator->why[0] ? "; " : "", simulator->why);
    meta->rounds = method->rounds;
    meta->round_ms = method->rounds ? method->round_ms : 0;
    meta->warmup_s = method->rounds ? method->warmup_s : 0;
}

static int write_json(const struct record *record, const char *pattern) {
    char path[4096], slug[64];
    results_fill_name(slug, sizeof slug, record->meta.gpu);
    const struct path_word words[] = {{"gpu", slug}, {"experiment", record->meta.experiment}};
    if (path_fill(path, sizeof path, pattern, words, sizeof words / sizeof *words) != 0)
        return -1;
    return record_write(record, path);
}

/* On the simulated GPU the counters that were read beside the checks are all there is. */
static void describe_simulator(struct witnesses *witnesses) {
    *witnesses = (struct witnesses){.counters.why = "the GPU is simulated", .simulator.simulated = true};
    snprintf(witnesses->simulator.device, sizeof witnesses->simulator.device, "the GPU itself, which takes no time");
}

static void count(struct lab *lab, const struct lab_request *request, struct witnesses *witnesses) {
    if (lab->simulated) {
        describe_simulator(witnesses);
        return;
    }
    if (request->no_counters)
        witnesses->counters = (struct profiler_report){.why = "switched off by --no-counters"};
    else
        profiler_count(lab, request->timeout_s * PROFILER_SHARE, &witnesses->counters);
    simulator_run(lab, fmin(request->simulate_s, request->timeout_s * SIMULATOR_SHARE), &witnesses->simulator);
}

/* The witnesses one after the other: right results, counters, the simulator, the kernel's clock, events. */
static int measure(struct runner *runner, const struct lab_request *request, const struct runner_method *method,
                   struct witnesses *witnesses) {
    struct lab *lab = runner->lab;
    if (runner_check(runner) != 0)
        return -1;
    count(lab, request, witnesses);
    lab->has_counts = witnesses->counters.counted;
    lab->has_times = method->rounds > 0;
    if (lab->has_times && (runner_read_clocks(runner) != 0 || runner_time(runner, method) != 0))
        return -1;
    if (lab->experiment->conclude && lab->experiment->conclude(lab) != 0)
        return complain("%s: its conclusions failed", lab->experiment->name);
    return 0;
}

static enum lab_end report(const struct record *record, const struct lab_request *request) {
    record_print(record, stdout);
    if (request->json && write_json(record, request->json) != 0)
        return END_FAILED;
    if (record->wrong)
        return END_WRONG;
    return record->state == RECORD_DISAGREE ? END_DISAGREED : END_AGREED;
}

static enum lab_end run_ready(struct runner *runner, const struct lab_request *request) {
    const struct runner_method method = method_of(request, runner->lab);
    struct witnesses witnesses = {0};
    struct record *record = calloc(1, sizeof *record);
    enum lab_end end = END_FAILED;
    if (!record) {
        complain("out of host memory");
    } else if (measure(runner, request, &method, &witnesses) == 0) {
        fill_meta(&record->meta, runner->lab, &witnesses, &method);
        record_fill(record, runner->lab);
        record_judge(record);
        end = report(record, request);
    }
    free(record);
    return end;
}

enum lab_end lab_run_one(const struct lab_experiment *experiment, const struct lab_request *request) {
    struct runner runner;
    enum lab_end end = END_FAILED;
    switch (runner_open(&runner, experiment, request->device, false)) {
    case RUNNER_READY:
        end = run_ready(&runner, request);
        break;
    case RUNNER_FAILED:
        break;
    case RUNNER_NO_GPU:
        end = END_NO_GPU;
        break;
    case RUNNER_NOT_HERE:
        end = END_NOT_HERE;
        break;
    }
    runner_close(&runner);
    return end;
}

int lab_launch(const struct lab_experiment *experiment, int device, bool timed) {
    struct runner runner;
    int status = -1;
    if (runner_open(&runner, experiment, device, !timed) == RUNNER_READY) { /* times depend on what is in memory */
        if (timed)
            profile_ask(runner.lab);
        status = runner_launch_all(&runner);
    }
    runner_close(&runner);
    return status == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

int lab_simulate(const struct lab_experiment *experiment, double budget) {
    struct runner runner;
    int status = -1;
    if (runner_open(&runner, experiment, 0, true) == RUNNER_READY)
        status = runner.lab->simulated ? simulator_launch_all(&runner, budget, stdout)
                                       : complain("this GPU is not simulated; GM_DRIVER=sim chooses one that is");
    runner_close(&runner);
    return status == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

/* ---- many, each in its own process ---------------------------------------------------------------- */

struct job {
    const struct lab_experiment *experiment;
    const struct lab_request *request;
};

static int work(void *what) {
    const struct job *job = what;
    return lab_run_one(job->experiment, job->request);
}

static enum lab_end run_apart(const struct lab_experiment *experiment, const struct lab_request *request) {
    struct job job = {experiment, request};
    struct spawned spawned = spawn_function(work, &job, request->timeout_s);
    const char *name = experiment->name;
    if (spawned.code >= END_AGREED && spawned.code <= END_NOT_HERE && spawned.code != END_FAILED)
        return (enum lab_end)spawned.code;
    if (spawned.timed_out)
        printf("%s: DISAGREE: it did not end within %g s and was stopped\n", name, request->timeout_s);
    else if (spawned.signal)
        printf("%s: DISAGREE: it was ended by signal %d (%s)\n", name, spawned.signal, strsignal(spawned.signal));
    else
        printf("%s: DISAGREE: it failed; the sentences above say how\n", name);
    return END_FAILED;
}

int lab_run_all(const struct lab_experiment *const *experiments, size_t count, const struct lab_request *request) {
    size_t ends[END_NOT_HERE - END_AGREED + 1] = {0};
    for (size_t i = 0; i < count; i++) {
        enum lab_end end = run_apart(experiments[i], request);
        if (end == END_NO_GPU)
            return EXIT_CODE_FAILURE;
        ends[end - END_AGREED]++;
        fflush(stdout);
    }
    const size_t disagreed = ends[END_DISAGREED - END_AGREED], elsewhere = ends[END_NOT_HERE - END_AGREED];
    const size_t failed = ends[END_WRONG - END_AGREED] + ends[END_FAILED - END_AGREED];
    if (count > 1)
        printf("\n%zu experiments: %zu agree or lack a witness, %zu disagree, %zu failed, %zu need another GPU\n",
               count, ends[0], disagreed, failed, elsewhere);
    return failed || (request->verify && disagreed) || elsewhere == count ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}
