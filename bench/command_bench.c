/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill bench: options, set-up, the loop over the cases, the outputs. */
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "ceilings.h"
#include "commands.h"
#include "facts.h"
#include "report.h"

#define ROTATE_OVER_L2 3.0

/* Overrides of --dtype, --out and --layout; without --out, D follows A where it did before. */
static void apply_overrides(const struct bench_options *options, struct bench_case *problem) {
    bool d_follows = strcmp(problem->d, problem->a) == 0;
    if (options->dtype) {
        snprintf(problem->a, sizeof problem->a, "%s", options->dtype);
        snprintf(problem->b, sizeof problem->b, "%s", options->dtype);
    }
    if (options->out || (options->dtype && d_follows))
        snprintf(problem->d, sizeof problem->d, "%s", options->out ? options->out : options->dtype);
    if (options->layout)
        snprintf(problem->layout, sizeof problem->layout, "%s", options->layout);
}

static int add_shapes(const struct bench_options *options, struct bench_suite *suite) {
    for (size_t i = 0; i < options->shapes.count; i++) {
        struct bench_case problem = {.op = "gemm", .a = "bf16", .b = "bf16", .d = "bf16", .layout = "tn"};
        if (!suite_parse_shape(options->shapes.items[i], &problem.m, &problem.n, &problem.k))
            return complain("--shape wants MxNxK, each from 1 to 2147483647, not `%s`", options->shapes.items[i]);
        if (suite_add(suite, &problem) != 0)
            return -1;
    }
    if (suite->name[0] == 0)
        snprintf(suite->name, sizeof suite->name, "custom");
    return 0;
}

static int load_cases(const struct bench_options *options, struct bench_suite *suite) {
    for (size_t i = 0; i < options->suites.count; i++) {
        if (suite_load(suite, options->suites.items[i]) != 0)
            return -1;
    }
    for (size_t i = 0; i < options->files.count; i++) {
        if (suite_load(suite, options->files.items[i]) != 0)
            return -1;
    }
    if (options->suites.count + options->files.count + options->shapes.count == 0 &&
        suite_load(suite, "gemm-quick") != 0)
        return -1;
    if (add_shapes(options, suite) != 0)
        return -1;
    for (size_t i = 0; i < suite->count; i++)
        apply_overrides(options, &suite->cases[i]);
    return 0;
}

static int check_options(struct bench_options *options) {
    enum gm_type type;
    enum gm_major a, b;
    if (options->dtype && (!suite_type(options->dtype, &type) || type == GM_FP32))
        return complain("--dtype is bf16 or fp16, not `%s`", options->dtype);
    if (options->out && !suite_type(options->out, &type))
        return complain("--out is bf16, fp16 or fp32, not `%s`", options->out);
    if (options->layout && !suite_layout(options->layout, &a, &b))
        return complain("--layout is tn, nn, nt or tt, not `%s`", options->layout);
    if (options->rounds > MAX_ROUNDS)
        return complain("--rounds is at most %d, not %d", MAX_ROUNDS, options->rounds);
    for (size_t i = 0; options->kernel && i < gm_kernel_count(); i++) {
        struct gm_kernel_info kernel = {.size = sizeof kernel};
        if (gm_kernel_get(i, &kernel) == GM_OK && fnmatch(options->kernel, kernel.name, 0) == 0)
            return pick_arch(options->arch, &options->arch_mask);
    }
    if (options->kernel)
        return complain("no kernel of the table is called `%s`; `gristmill info` lists them", options->kernel);
    return pick_arch(options->arch, &options->arch_mask);
}

/* The published method, a shorter one for sweeps over the whole table, a shorter one yet for a quick look. */
static void set_method(struct bench_meta *meta, const struct bench_options *options) {
    bool sweep = options->all_kernels;
    meta->rounds = options->quick || sweep ? 3 : 7;
    meta->round_ms = options->quick || sweep ? 3 : 10;
    meta->warmup_s = options->quick ? 0.1 : sweep ? 0.3 : 1;
    if (options->rounds)
        meta->rounds = options->rounds;
    if (options->warmup_s >= 0)
        meta->warmup_s = options->warmup_s;
    if (options->round_ms >= 0)
        meta->round_ms = options->round_ms;
    meta->rotate_l2 = ROTATE_OVER_L2;
}

static void set_facts(struct bench *bench, const char *suite_name) {
    struct bench_meta *meta = &bench->results.meta;
    meta->device = bench->gpu.device;
    snprintf(meta->gpu, sizeof meta->gpu, "%s", meta->device.name);
    results_fill_name(meta->slug, sizeof meta->slug, meta->gpu);
    fact_driver(meta->driver, sizeof meta->driver, &bench->nvml, &meta->device);
    meta->power_limit_watts = nvml_power_limit(&bench->nvml);
    build_fact("toolkit", meta->toolkit, sizeof meta->toolkit);
    build_fact("revision", meta->revision, sizeof meta->revision);
    fact_date(meta->date, sizeof meta->date);
    snprintf(meta->suite, sizeof meta->suite, "%s", suite_name);
    if (bench->has_baseline) {
        snprintf(meta->baseline, sizeof meta->baseline, "cuBLASLt %s", bench->lt.version);
        meta->heuristics_asked = LT_HEURISTICS_MAX;
    }
}

static int set_up(struct bench *bench, int ordinal, const char *suite_name) {
    struct bench_meta *meta = &bench->results.meta;
    if (gpu_open(&bench->gpu, ordinal) != 0)
        return -1;
    nvml_open(&bench->nvml, &bench->gpu);
    if (!bench->options->no_baseline)
        bench->has_baseline = lt_open(&bench->lt, &bench->gpu, bench->options->cublaslt) == 0;
    if (!bench->has_baseline && bench->options->cublaslt && !bench->options->no_baseline)
        return -1;
    if (!bench->has_baseline)
        note("There is no baseline in this run: no ratios, and the results are not checked.");
    set_facts(bench, suite_name);
    progress_show(0, 1, "ceilings");
    if (noise_make(&bench->gpu, &bench->noise, GM_BF16) != 0 || ceilings_measure(&bench->gpu, &meta->ceilings) != 0)
        return -1;
    return host_cost(&bench->gpu, bench->has_baseline ? &bench->lt : NULL, &bench->noise, &meta->execute_ns,
                     &meta->baseline_execute_ns);
}

static void tear_down(struct bench *bench) {
    if (bench->gpu.drv) {
        noise_free(&bench->gpu, &bench->noise);
        lt_close(&bench->lt, &bench->gpu);
    }
    nvml_close(&bench->nvml);
    if (bench->gpu.drv)
        gpu_close(&bench->gpu);
    results_free(&bench->results);
}

static int write_json(const struct bench *bench) {
    char path[4096];
    if (!bench->options->json)
        return 0;
    if (results_path(path, sizeof path, bench->options->json, &bench->results.meta) != 0)
        return -1;
    return results_write_json(&bench->results, path);
}

static int write_svg(const struct bench *bench) {
    char path[4096];
    if (!bench->options->svg || bench->results.count == 0)
        return 0;
    if (!bench->has_baseline) {
        note("There is no plot: it shows ratios to a baseline.");
        return 0;
    }
    if (results_path(path, sizeof path, bench->options->svg, &bench->results.meta) != 0)
        return -1;
    return report_svg(&bench->results, path);
}

/* The results file is rewritten after every case, so that a run that is cut short leaves what it has. */
static int run_cases(struct bench *bench, const struct bench_suite *suite) {
    if (!bench->options->quiet)
        report_header(stdout);
    for (size_t i = 0; i < suite->count; i++) {
        char label[80];
        const struct bench_case *problem = &suite->cases[i];
        size_t before = bench->results.count;
        snprintf(label, sizeof label, "%" PRId64 " x %" PRId64 " x %" PRId64, problem->m, problem->n, problem->k);
        progress_show(i, suite->count, label);
        int status = bench_case_run(bench, problem);
        results_floors(&bench->results);
        progress_clear();
        for (size_t row = before; row < bench->results.count && !bench->options->quiet; row++)
            report_row(stdout, &bench->results.rows[row]);
        fflush(stdout);
        if (write_json(bench) != 0 || status != 0)
            return -1;
    }
    return 0;
}

static int measure(struct bench *bench, const struct bench_suite *suite, int ordinal) {
    int status = set_up(bench, ordinal, suite->name);
    if (status == 0)
        status = run_cases(bench, suite);
    if (bench->results.count)
        report_summary(stdout, &bench->results);
    if (write_svg(bench) != 0)
        status = -1;
    if (status == 0 && bench->failures)
        status = complain("%d problems or kernels failed; the sentences above say which", bench->failures);
    return status == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

/* argv as one line, without the options that name files of this machine. */
static void note_command(struct bench_meta *meta, int argc, char **argv) {
    static const char *const paths[] = {"--json", "--svg", "--cublaslt"};
    size_t used = (size_t)snprintf(meta->command, sizeof meta->command, "gristmill bench");
    for (int i = 0; i < argc && used < sizeof meta->command; i++) {
        bool is_path = false;
        for (size_t j = 0; j < sizeof paths / sizeof *paths && !is_path; j++) {
            is_path = strncmp(argv[i], paths[j], strlen(paths[j])) == 0;
            i += is_path && !strchr(argv[i], '=');
        }
        if (!is_path)
            used += (size_t)snprintf(meta->command + used, sizeof meta->command - used, " %s", argv[i]);
    }
}

static int run(struct bench_options *options, int argc, char **argv) {
    struct bench_suite suite = {0};
    struct bench bench = {.options = options};
    struct gm_device device;
    char why[256];
    int code = EXIT_CODE_FAILURE;
    if (check_options(options) != 0 || load_cases(options, &suite) != 0) {
        suite_free(&suite);
        return EXIT_CODE_USAGE;
    }
    set_method(&bench.results.meta, options);
    note_command(&bench.results.meta, argc, argv);
    if (options->quiet)
        progress_silence();
    if (pick_device(options->device, &device, why, sizeof why) != 0) {
        code = EXIT_CODE_FAILURE;
    } else if (device.ordinal < 0) {
        if (why[0])
            printf("There is no GPU here (%s).\n", why);
        printf("Nothing was measured; these are the planner's predictions for the %s model. To measure, run the same\n"
               "command on a machine with an NVIDIA GPU of compute capability 8.0 or newer and its driver.\n\n",
               device.name);
        code = bench_predict(options, &suite, &device) == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
    } else if (gm_driver_is_simulated()) {
        complain("%s has no clock worth reading: nothing was measured. `gristmill bench --device MODEL` predicts",
                 device.name);
    } else {
        code = measure(&bench, &suite, device.ordinal);
        tear_down(&bench);
    }
    suite_free(&suite);
    return code;
}

int command_bench(int argc, char **argv) {
    struct bench_options given = {.warmup_s = -1, .round_ms = -1};
    const struct args_option options[] = {
        {"suite", "FILE", ARGS_LIST, &given.files, "a suite file: lines `op a b d layout M N K`, # for comments"},
        {"shape", "MxNxK", ARGS_LIST, &given.shapes, "one problem; may be given more than once"},
        {"dtype", "TYPE", ARGS_TEXT, &given.dtype, "bf16 or fp16, instead of what the suite says"},
        {"out", "TYPE", ARGS_TEXT, &given.out, "bf16, fp16 or fp32: the type of D"},
        {"layout", "LAYOUT", ARGS_TEXT, &given.layout, "tn, nn, nt or tt"},
        {"kernel", "NAME|GLOB", ARGS_TEXT, &given.kernel, "these rows of the table instead of the planner's choice"},
        {"arch", "sm80|sm90", ARGS_TEXT, &given.arch, "only this path"},
        {"all-kernels", NULL, ARGS_FLAG, &given.all_kernels, "time every legal row: 3 rounds of 3 ms, 0.3 s warm-up"},
        {"rounds", "N", ARGS_COUNT, &given.rounds, "interleaved rounds (default: 7)"},
        {"round-ms", "MS", ARGS_SECONDS, &given.round_ms, "least length of one round of one contender (default: 10)"},
        {"workspace", "MIB", ARGS_COUNT, &given.workspace_mib, "our plans may ask for so much (default: 0)"},
        {"warmup", "SECONDS", ARGS_SECONDS, &given.warmup_s, "at each size (default: 1)"},
        {"quick", NULL, ARGS_FLAG, &given.quick, "3 rounds of 3 ms, 0.1 s warm-up; not for publication"},
        {"device", "N|MODEL", ARGS_TEXT, &given.device, "device number; a model's name gives predictions only"},
        {"no-baseline", NULL, ARGS_FLAG, &given.no_baseline, "without cuBLASLt: no ratio and no check of the results"},
        {"cublaslt", "PATH", ARGS_TEXT, &given.cublaslt, "libcublasLt to use (also GM_CUBLASLT)"},
        {"json", "FILE", ARGS_TEXT, &given.json, "write the results; {gpu} and {suite} are replaced, folders made"},
        {"svg", "FILE", ARGS_TEXT, &given.svg, "draw the ratios; {gpu} and {suite} as above"},
        {"quiet", NULL, ARGS_FLAG, &given.quiet, "no progress and no rows, only the summary"},
    };
    const struct args_command command = {"gristmill bench [SUITE ...] [options]",
                                         "Measures problems beside cuBLASLt (default and best of 32 heuristics, "
                                         "interleaved, on rotated N(0,1) operands).\n"
                                         "SUITE is a file or the name of one in bench/suites (default: gemm-quick). "
                                         "Ratios above 1: gristmill is faster.",
                                         options, sizeof options / sizeof *options};
    enum args_outcome outcome = args_parse(&command, argc, argv, &given.suites);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    return run(&given, argc, argv);
}
