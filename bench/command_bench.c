/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill bench: options, set-up, the loop over the cases, the outputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/measure/ceilings.h"
#include "program/commands.h"
#include "bench/report/compare.h"
#include "bench/measure/environment.h"
#include "bench/report/report.h"
#include "bench/report/results_read.h"

#define SIMULATED_FLOPS_MAX (2 * 2048.0 * 2048 * 2048)
#define SIMULATED_BYTES_MAX 64e6

static void set_facts(struct bench *bench, const char *suite_name) {
    struct bench_meta *meta = &bench->results.meta;
    meta->device = bench->gpu.device;
    snprintf(meta->gpu, sizeof meta->gpu, "%s", meta->device.name);
    results_fill_name(meta->slug, sizeof meta->slug, meta->gpu);
    environment_driver(meta->driver, sizeof meta->driver, &bench->nvml, &meta->device);
    meta->power_limit_watts = nvml_power_limit(&bench->nvml);
    build_fact("toolkit", meta->toolkit, sizeof meta->toolkit);
    build_fact("revision", meta->revision, sizeof meta->revision);
    environment_date(meta->date, sizeof meta->date);
    snprintf(meta->suite, sizeof meta->suite, "%s", suite_name);
    baselines_print(&bench->baselines, meta->baseline, sizeof meta->baseline);
    for (int i = 0; i < bench->baselines.count; i++)
        meta->ways_asked += bench->baselines.of[i].kind->most_ways;
}

/* Of every operation that the suite has. An operation whose baseline is not found has no ratios. */
static int open_baselines(struct bench *bench, const struct bench_suite *suite) {
    const struct bench_options *options = bench->options;
    if (!options->no_baseline && baselines_open(&bench->baselines, &bench->gpu, suite, options->cublaslt) != 0)
        return -1;
    if (bench->baselines.count > 0)
        return 0;
    note(options->profile ? "There is no baseline in this run."
                          : "There is no baseline in this run: no ratios, and the results are not checked.");
    return options->svg ? complain("there is no %s without a baseline: it shows ratios to one", options->svg) : 0;
}

/* A resumed run has the ceilings of its first part. */
static int set_up(struct bench *bench, int ordinal, const struct bench_suite *suite) {
    struct bench_meta *meta = &bench->results.meta;
    if (gpu_open(&bench->gpu, ordinal) != 0)
        return -1;
    nvml_open(&bench->nvml, &bench->gpu);
    if (open_baselines(bench, suite) != 0)
        return -1;
    if (bench->options->profile)
        return 0;
    set_facts(bench, suite->name);
    if (bench_resume(bench) != 0)
        return -1;
    if (bench->resumed)
        return 0;
    progress_show(0, 1, "ceilings");
    if (ceilings_measure(&bench->gpu, &meta->ceilings) != 0)
        return -1;
    return host_cost(&bench->gpu, &bench->baselines, suite->cases[0].operation, &bench->noise, meta);
}

static void tear_down(struct bench *bench) {
    if (bench->gpu.drv) {
        noise_free(&bench->gpu, &bench->noise);
        baselines_close(&bench->baselines, &bench->gpu);
    }
    nvml_close(&bench->nvml);
    if (bench->gpu.drv)
        gpu_close(&bench->gpu);
    results_free(&bench->results);
    file_unlock(&bench->lock);
}

/* The results file is rewritten after every case, so that a run that is cut short leaves what it has. */
static int run_case(struct bench *bench, const struct bench_suite *suite, size_t i) {
    char label[CASE_TEXT_BYTES];
    const struct bench_case *problem = &suite->cases[i];
    size_t before = bench->results.count;
    progress_show(i, suite->count, case_sizes(problem, " x ", label));
    int status = bench_case_run(bench, problem);
    results_floors(&bench->results);
    progress_clear();
    for (size_t row = before; row < bench->results.count && !bench->options->quiet; row++)
        report_row(stdout, &bench->results.meta, &bench->results.rows[row]);
    fflush(stdout);
    return bench_write_json(bench, suite) == 0 ? status : -1;
}

static int run_cases(struct bench *bench, const struct bench_suite *suite) {
    size_t done = 0;
    int status = 0;
    if (!bench->options->quiet)
        report_header(stdout, &bench->results.meta);
    for (size_t i = 0; i < suite->count && status == 0; i++) {
        if (!bench_is_chosen(bench->options, &suite->cases[i]))
            continue;
        if (bench->resumed && bench_is_done(bench, &suite->cases[i]))
            done++;
        else
            status = run_case(bench, suite, i);
    }
    if (done)
        note("%zu problems were in the file already and were not measured again.", done);
    return status;
}

/* Nothing is launched but what the lines say, so that a profiler's list has the same order. */
static int profile(struct bench *bench, const struct bench_suite *suite, int ordinal) {
    int status = set_up(bench, ordinal, suite);
    if (status == 0)
        printf("%7s  %-38s  %s\n", "launch", "problem", "kernel");
    for (size_t i = 0; i < suite->count && status == 0; i++) {
        if (bench_is_chosen(bench->options, &suite->cases[i]))
            status = bench_case_profile(bench, &suite->cases[i]);
    }
    if (status == 0 && bench->failures)
        status = complain("%d kernels failed; the sentences above say which", bench->failures);
    return status;
}

static int measure(struct bench *bench, const struct bench_suite *suite, int ordinal) {
    const char *compared = bench->options->compare;
    struct bench_results before = {0};
    if (compared && (results_read_json(&before, compared) != 0 || compare_check(&before.meta, &bench->results.meta))) {
        results_free(&before);
        return -1;
    }
    int status = set_up(bench, ordinal, suite);
    if (status == 0)
        status = run_cases(bench, suite);
    if (bench->results.count)
        report_summary(stdout, &bench->results);
    if (bench->results.count && bench_write_outputs(bench, compared ? &before : NULL) != 0)
        status = -1;
    if (status == 0 && bench->results.count == 0)
        status = bench_refuse_outputs(bench->options, "no problem gave a row");
    results_free(&before);
    if (status == 0 && bench->failures)
        status = complain("%d problems or kernels failed; the sentences above say which", bench->failures);
    return status;
}

/* argv as one line, without the options that name files of this machine. */
static void note_command(struct bench_meta *meta, int argc, char **argv) {
    static const char *const paths[] = {"--json", "--svg", "--cublaslt", "--report", "--compare"};
    size_t used = (size_t)snprintf(meta->command, sizeof meta->command, "gristmill bench");
    for (int i = 0; i < argc && used < sizeof meta->command; i++) {
        bool is_path = false;
        for (size_t j = 0; j < sizeof paths / sizeof *paths && !is_path; j++) {
            is_path = strncmp(argv[i], paths[j], strlen(paths[j])) == 0;
            i += is_path && !strchr(argv[i], '=');
        }
        if (!is_path && strcmp(argv[i], "--append") != 0)
            used += (size_t)snprintf(meta->command + used, sizeof meta->command - used, " %s", argv[i]);
    }
}

/* What the simulated GPU takes of a run: launches for --profile, of problems that end while somebody waits. */
static int check_simulated(const struct bench_options *options, const struct bench_suite *suite,
                           const struct gm_device *device) {
    if (!options->profile)
        return complain(
            "%s has no clock worth reading: nothing was measured. `gristmill bench --device MODEL` predicts",
            device->name);
    for (size_t i = 0; i < suite->count; i++) {
        const struct bench_case *problem = &suite->cases[i];
        const struct gm_work work = case_work(problem);
        char label[CASE_TEXT_BYTES];
        if (bench_is_chosen(options, problem) &&
            (work.flops > SIMULATED_FLOPS_MAX || work.least_bytes > SIMULATED_BYTES_MAX))
            return complain("%s is too large for %s, which takes 2 s for a GEMM of 2048 x 2048 x 2048 and no more; "
                            "nothing was launched",
                            case_sizes(problem, " x ", label), device->name);
    }
    return 0;
}

static int run_on(struct bench *bench, const struct bench_suite *suite, const struct gm_device *device) {
    int (*const run)(struct bench *, const struct bench_suite *, int) = bench->options->profile ? profile : measure;
    if (gm_driver_is_simulated() && check_simulated(bench->options, suite, device) != 0)
        return -1;
    int status = run(bench, suite, device->ordinal);
    tear_down(bench);
    return status;
}

static int predict(const struct bench_options *options, const struct bench_suite *suite, const struct gm_device *device,
                   const char *why) {
    char because[320];
    snprintf(because, sizeof because, why[0] ? "there is no GPU here (%s)" : "%s is a model",
             why[0] ? why : device->name);
    if (bench_refuse_outputs(options, because) != 0)
        return -1;
    if (why[0])
        printf("There is no GPU here (%s).\n", why);
    printf("Nothing was measured; these are the planner's predictions for the %s model. To measure, run the same\n"
           "command on a machine with an NVIDIA GPU of compute capability 8.0 or newer and its driver.\n\n",
           device->name);
    return bench_predict(options, suite, device);
}

static int run(struct bench_options *options, int argc, char **argv) {
    struct bench_suite suite = {0};
    struct bench bench = {.options = options};
    struct gm_device device;
    char why[256];
    if (options->results.count)
        return bench_look_at_files(options) == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
    if (bench_options_cases(options, &suite) != 0) {
        suite_free(&suite);
        return EXIT_CODE_USAGE;
    }
    bench_options_method(options, &bench.results.meta);
    note_command(&bench.results.meta, argc, argv);
    if (options->quiet)
        progress_silence();
    int status = device_from_option(options->device, &device, why, sizeof why);
    if (status == 0 && device.ordinal < 0)
        status = predict(options, &suite, &device, why);
    else if (status == 0)
        status = run_on(&bench, &suite, &device);
    suite_free(&suite);
    return status == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

/* Files that are looked at have been measured: how to measure says nothing. */
static int check_mode(const struct bench_options *options, const struct args_command *command, int argc, char **argv) {
    static const char *const look[] = {"compare", "fail-below", "report", "svg", "quiet", NULL};
    return options->results.count ? args_only(command, argc, argv, look, "results files") : 0;
}

int command_bench(int argc, char **argv) {
    struct bench_options given = {.workspace_mib = BASELINE_WORKSPACE_BYTES >> 20,
                                  .warmup_s = -1,
                                  .round_ms = -1,
                                  .energy_s = -1,
                                  .fail_below = -1};
    const struct args_option options[] = {
        {"suite", "FILE", ARGS_LIST, &given.files,
         "a suite file: a line is an operation and its fields, # for comments"},
        {"shape", "MxNxK", ARGS_LIST, &given.shapes, "one problem; may be given more than once"},
        {"operation", "NAME", ARGS_TEXT, &given.operation, "of --shape (default: gemm)"},
        {"m", "MIN:MAX", ARGS_TEXT, &given.m,
         "only the problems with such an M, or rows, or tokens; either end may be missing"},
        {"dtype", "TYPE", ARGS_TEXT, &given.dtype, "of the kernels, instead of what the suite says"},
        {"out", "TYPE", ARGS_TEXT, &given.out, "of the output, where an operation has another: of D"},
        {"layout", "LAYOUT", ARGS_TEXT, &given.layout, "of gemm: tn, nn, nt or tt"},
        {"set", "FIELD=VALUE", ARGS_LIST, &given.sets, "of every problem; `gristmill explain OP --help` lists fields"},
        {"kernel", "NAME|GLOB", ARGS_TEXT, &given.kernel,
         "these rows, not the planner's choice; /k3 behind it: so divided"},
        {"arch", "sm80|sm90", ARGS_TEXT, &given.arch, "only this path"},
        {"all-kernels", NULL, ARGS_FLAG, &given.all_kernels, "time every legal row: 3 rounds of 3 ms, 0.3 s warm-up"},
        {"rounds", "N", ARGS_POSITIVE, &given.rounds, "interleaved rounds (default: 7)"},
        {"round-ms", "MS", ARGS_SECONDS, &given.round_ms, "least length of one round of one candidate (default: 10)"},
        {"workspace", "MIB", ARGS_COUNT, &given.workspace_mib, "for our plans (default: 64, what cuBLASLt has)"},
        {"warmup", "SECONDS", ARGS_SECONDS, &given.warmup_s, "at each size (default: 1)"},
        {"l2", "cold|warm", ARGS_TEXT, &given.l2, "rotate operands over 3x L2 (default), or use one set of them"},
        {"energy", "SECONDS", ARGS_SECONDS, &given.energy_s,
         "each alone, for its time alone and joules (default: 0.4; sweeps: 0)"},
        {"quick", NULL, ARGS_FLAG, &given.quick, "3 rounds of 3 ms, 0.1 s warm-up; not for publication"},
        {"device", "N|MODEL", ARGS_TEXT, &given.device, "device number; a model's name gives predictions only"},
        {"sm-budget", "N", ARGS_POSITIVE, &given.sm_budget, "SMs that a kernel may occupy (default: all)"},
        {"no-overlap", NULL, ARGS_FLAG, &given.no_overlap, "no programmatic dependent launch"},
        {"constant-b", NULL, ARGS_FLAG, &given.constant_b, "B may be loaded while the kernel before still runs"},
        {"batch-invariant", NULL, ARGS_FLAG, &given.batch_invariant, "only kernels whose rows of D do not depend on M"},
        {"model-only", NULL, ARGS_FLAG, &given.model_only, "the planner asks no tuning ledger"},
        {"no-baseline", NULL, ARGS_FLAG, &given.no_baseline, "without cuBLASLt: no ratio and no check of the results"},
        {"cublaslt", "PATH", ARGS_TEXT, &given.cublaslt, "libcublasLt to use (also GM_CUBLASLT)"},
        {"json", "FILE", ARGS_TEXT, &given.json, "write the results; {gpu} and {suite} are replaced, folders made"},
        {"append", NULL, ARGS_FLAG, &given.append, "add to the file of --json; what it has is not measured again"},
        {"svg", "FILE", ARGS_TEXT, &given.svg, "draw the ratios; {gpu} and {suite} as above"},
        {"report", "FILE.html", ARGS_TEXT, &given.report, "one page with plots and the table, of a run or of RESULTs"},
        {"compare", "OLD.json", ARGS_TEXT, &given.compare, "compare a run, or RESULT, with older results"},
        {"fail-below", "RATIO", ARGS_SECONDS, &given.fail_below, "exit 1 if a problem's old us / new us is below"},
        {"profile", NULL, ARGS_FLAG, &given.profile, "launch every kernel and heuristic once, untimed: for ncu"},
        {"quiet", NULL, ARGS_FLAG, &given.quiet, "no progress and no rows, only the summary"},
    };
    const struct args_command command = {"gristmill bench [SUITE ... | RESULT.json ...] [options]",
                                         "Measures problems beside cuBLASLt (default and best of 32 heuristics, "
                                         "interleaved, on rotated N(0,1) operands).\n"
                                         "SUITE is a file or the name of one in bench/suites (default: gemm-quick). "
                                         "Ratios above 1: gristmill is faster.\n"
                                         "RESULT.json with --compare, --report or --svg: files of --json are looked "
                                         "at, with no GPU; --svg\n"
                                         "'plots/{chart}.svg' keeps a page's plots. "
                                         "`gristmill bench --compare OLD.json NEW.json`",
                                         options, sizeof options / sizeof *options};
    enum args_outcome outcome = args_parse(&command, argc, argv, &given.words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    if (bench_options_check(&given) != 0 || check_mode(&given, &command, argc, argv) != 0)
        return EXIT_CODE_USAGE;
    return run(&given, argc, argv);
}
