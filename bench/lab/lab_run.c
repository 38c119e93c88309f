/* SPDX-License-Identifier: Apache-2.0 */
/* Running experiments, each in a process of its own. */
#include "lab_run.h"

#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "facts.h"
#include "lab_results.h"
#include "paths.h"
#include "profiler.h"
#include "results.h"
#include "spawn.h"

#define PROFILER_SHARE 0.5 /* of the time an experiment may take */

/* ---- one experiment ------------------------------------------------------------------------------- */

static struct runner_method method_of(const struct lab_request *request) {
    struct runner_method method = {.rounds = 7, .round_ms = 10, .warmup_s = 0.3};
    if (request->quick)
        method = (struct runner_method){.rounds = 3, .round_ms = 3, .warmup_s = 0.1};
    if (request->rounds)
        method.rounds = request->rounds;
    if (request->no_time)
        method.rounds = 0;
    return method;
}

static void fill_meta(struct record_meta *meta, const struct lab *lab, const struct profiler_report *counters,
                      const struct runner_method *method) {
    struct nvml nvml;
    const struct gm_device *device = &lab->gpu.device;
    snprintf(meta->gpu, sizeof meta->gpu, "%s", device->name);
    nvml_open(&nvml, &lab->gpu);
    fact_driver(meta->driver, sizeof meta->driver, &nvml, device);
    nvml_close(&nvml);
    build_fact("toolkit", meta->toolkit, sizeof meta->toolkit);
    build_fact("revision", meta->revision, sizeof meta->revision);
    fact_date(meta->date, sizeof meta->date);
    meta->counted = counters->counted;
    snprintf(meta->counters, sizeof meta->counters, "%s", counters->counted ? counters->version : counters->why);
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

/* The witnesses one after the other: right results, counters, the kernel's clock, events. */
static int measure(struct runner *runner, const struct lab_request *request, const struct runner_method *method,
                   struct profiler_report *counters) {
    struct lab *lab = runner->lab;
    if (runner_check(runner) != 0)
        return -1;
    if (request->no_counters)
        *counters = (struct profiler_report){.why = "switched off by --no-counters"};
    else
        profiler_count(lab, request->timeout_s * PROFILER_SHARE, counters);
    lab->has_counts = counters->counted;
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
    const struct runner_method method = method_of(request);
    struct profiler_report counters;
    struct record *record = calloc(1, sizeof *record);
    enum lab_end end = END_FAILED;
    if (!record) {
        complain("out of host memory");
    } else if (measure(runner, request, &method, &counters) == 0) {
        fill_meta(&record->meta, runner->lab, &counters, &method);
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

int lab_launch(const struct lab_experiment *experiment, int device) {
    struct runner runner;
    int status = -1;
    if (runner_open(&runner, experiment, device, true) == RUNNER_READY)
        status = runner_launch_all(&runner);
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
        printf("\n%zu experiments: %zu agree or lack a witness, %zu disagree, %zu failed, %zu need another GPU\n", count,
               ends[0], disagreed, failed, elsewhere);
    return failed || (request->verify && disagreed) || elsewhere == count ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}
