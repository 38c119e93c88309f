/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill tune: options, set-up, the loop over the problems. */
#include <string.h>

#include "program/commands.h"
#include "bench/measure/environment.h"
#include "bench/tune/tune.h"

/* ---- what to measure ------------------------------------------------------------------------------ */

static int load_problems(const struct tune_options *options, struct bench_suite *suite) {
    if (options->words.count + options->shapes.count == 0)
        return complain("tune wants problems: suites, or --shape MxNxK; `gristmill tune --help` says more");
    for (size_t i = 0; i < options->words.count; i++)
        if (suite_load(suite, options->words.items[i]) != 0)
            return -1;
    if (suite_add_shapes(suite, options->operation, options->shapes.items, options->shapes.count) != 0)
        return -1;
    const struct suite_override override = {options->dtype, options->out, options->layout, options->sets.items,
                                            options->sets.count};
    for (size_t i = 0; i < suite->count; i++)
        if (suite_override(&suite->cases[i], &override) != 0 || case_complete(&suite->cases[i]) != 0)
            return -1;
    return 0;
}

/* ---- options -------------------------------------------------------------------------------------- */

static int check_measuring(struct tune_options *options) {
    options->general = options->epilogue && strcmp(options->epilogue, "general") == 0;
    if (options->epilogue && !options->general && strcmp(options->epilogue, "plain") != 0)
        return complain("--epilogue is plain or general, not `%s`", options->epilogue);
    if (options->rounds < 1 || options->rounds > MAX_ROUNDS)
        return complain("--rounds is 1 to %d, not %d", MAX_ROUNDS, options->rounds);
    if (options->top < 1 || options->top > TUNE_TOP_MAX)
        return complain("--top is 1 to %d, not %d", TUNE_TOP_MAX, options->top);
    if (options->no_baseline && options->cublaslt)
        return complain("--no-baseline leaves out the baseline that --cublaslt names");
    if (check_kernel(options->kernel) != 0)
        return -1;
    return arch_from_option(options->arch, &options->arch_mask);
}

static int check_options(struct tune_options *options) {
    if (options->check &&
        (options->file || options->merge || options->import || options->words.count + options->shapes.count))
        return complain("--check FILE goes with --device and nothing else");
    if (options->check)
        return 0;
    if (!options->file)
        return complain("tune wants -o FILE, the ledger to write");
    if (options->merge && (options->words.count != 2 || options->shapes.count || options->import))
        return complain("--merge wants two ledgers, A and B");
    if (options->import && (options->words.count == 0 || options->shapes.count))
        return complain("--import wants files of results, RESULT.json, and no --shape");
    if (options->import && (options->dtype || options->out || options->layout || options->epilogue))
        return complain("--import takes types, layout and epilogue from the results");
    return options->merge ? 0 : check_measuring(options);
}

/* What does not measure has no use for how to. */
static int check_mode(const struct tune_options *options, const struct args_command *command, int argc, char **argv) {
    static const char *const check[] = {"check", "device", "quiet", NULL};
    static const char *const merge[] = {"merge", "o", "quiet", NULL};
    static const char *const import[] = {"import", "o",         "again",         "top",   "kernel", "arch",
                                         "device", "workspace", "all-divisions", "quiet", NULL};
    if (options->check)
        return args_only(command, argc, argv, check, "--check");
    if (options->merge)
        return args_only(command, argc, argv, merge, "--merge");
    return options->import ? args_only(command, argc, argv, import, "--import") : 0;
}

/* ---- measuring ------------------------------------------------------------------------------------ */

static int put_origin(struct tune *tune) {
    struct nvml nvml = {0};
    char driver[96], revision[64], library[96];
    nvml_open(&nvml, &tune->gpu);
    environment_driver(driver, sizeof driver, &nvml, &tune->gpu.device);
    nvml_close(&nvml);
    build_fact("revision", revision, sizeof revision);
    snprintf(library, sizeof library, "%s %s", gm_version_string(), revision);
    return tune_put_origin(tune, gm_ledger_table_hash(gm_kernels, gm_kernel_count()), library, driver);
}

static int set_up(struct tune *tune, int ordinal, const struct bench_suite *suite) {
    if (gpu_open(&tune->gpu, ordinal) != 0 || clock_meter_open(&tune->gpu, &tune->meter) != 0 ||
        ledger_writer_open(&tune->writer, tune->options->file, &tune->gpu.device) != 0)
        return -1;
    const struct tune_options *options = tune->options;
    if (!options->no_baseline && baselines_open(&tune->baselines, &tune->gpu, suite, options->cublaslt) != 0)
        return -1;
    if (tune->baselines.count == 0)
        note("There is no baseline in this run: kernels are checked against each other.");
    return 0;
}

static void tear_down(struct tune *tune) {
    if (tune->gpu.drv) {
        noise_free(&tune->gpu, &tune->noise);
        clock_meter_close(&tune->gpu, &tune->meter);
        baselines_close(&tune->baselines, &tune->gpu);
        gpu_close(&tune->gpu);
    }
    ledger_writer_free(&tune->writer);
}

/* The file is rewritten after every problem, so that a run that is cut short leaves what it has. */
static int run_problems(struct tune *tune, const struct bench_suite *suite) {
    int known = 0;
    for (size_t i = 0; i < suite->count; i++) {
        struct gm_ledger_key key;
        char label[CASE_TEXT_BYTES];
        const struct bench_case *problem = &suite->cases[i];
        struct bench_case tuned = *problem;
        if (!tune->options->again && tune_key(&tuned, tune->options->general, &key) &&
            ledger_writer_find(&tune->writer, &key)) {
            known++;
            continue;
        }
        progress_show(i, suite->count, case_sizes(problem, " x ", label));
        const int before = tune->measured, status = tune_case_run(tune, problem);
        progress_clear();
        if (tune->measured > before &&
            (put_origin(tune) != 0 || ledger_writer_extend(&tune->writer, tune->options->file) != 0))
            return -1;
        if (status != 0)
            return -1;
    }
    printf("%d measured, %d already there; %s has %zu entries\n", tune->measured, known, tune->options->file,
           ledger_writer_entries(&tune->writer));
    return 0;
}

static int measure(const struct tune_options *options, const struct bench_suite *suite) {
    struct tune tune = {.options = options};
    struct gm_device device;
    char why[256];
    if (device_from_option(options->device, &device, why, sizeof why) != 0)
        return EXIT_CODE_FAILURE;
    int status = 0;
    if (device.ordinal < 0)
        status = why[0]
                     ? complain("there is no GPU here (%s), and a ledger is measured, never predicted", why)
                     : complain("--device %s is a model, and a ledger is measured, never predicted", options->device);
    else if (gm_driver_is_simulated())
        status = complain("%s has no clock worth reading: nothing was measured", device.name);
    else
        status = set_up(&tune, device.ordinal, suite);
    if (status == 0)
        status = run_problems(&tune, suite);
    if (status == 0 && tune.failures)
        status = complain("%d kernels failed; the sentences above say which", tune.failures);
    tear_down(&tune);
    return status == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

static int run(struct tune_options *options) {
    struct bench_suite suite = {0};
    if (options->check)
        return tune_check(options);
    if (options->merge)
        return tune_merge(options);
    if (options->import)
        return tune_import(options);
    if (options->quiet)
        progress_silence();
    const int code = load_problems(options, &suite) == 0 ? measure(options, &suite) : EXIT_CODE_USAGE;
    suite_free(&suite);
    return code;
}

int command_tune(int argc, char **argv) {
    struct tune_options given = {.top = 12,
                                 .rounds = 3,
                                 .workspace_mib = BASELINE_WORKSPACE_BYTES >> 20,
                                 .round_ms = 100,
                                 .settle_ms = 60,
                                 .warmup_s = 0.3};
    const struct args_option options[] = {
        {"o", "FILE", ARGS_TEXT, &given.file, "the ledger to write; one that is there is extended"},
        {"shape", "MxNxK", ARGS_LIST, &given.shapes, "one problem; may be given more than once"},
        {"operation", "NAME", ARGS_TEXT, &given.operation, "of --shape (default: gemm)"},
        {"dtype", "TYPE", ARGS_TEXT, &given.dtype, "of the kernels, instead of what the suite says"},
        {"out", "TYPE", ARGS_TEXT, &given.out, "of the output, where an operation has another: of D"},
        {"layout", "LAYOUT", ARGS_TEXT, &given.layout, "of gemm: tn, nn, nt or tt"},
        {"set", "FIELD=VALUE", ARGS_LIST, &given.sets, "of every problem; `gristmill explain OP --help` lists fields"},
        {"epilogue", "CLASS", ARGS_TEXT, &given.epilogue, "plain (default), or general: with an activation"},
        {"kernel", "NAME|GLOB", ARGS_TEXT, &given.kernel, "of these rows only, and the model's pick"},
        {"arch", "sm80|sm90", ARGS_TEXT, &given.arch, "of this path only, and the model's pick"},
        {"top", "N", ARGS_COUNT, &given.top, "the N rows predicted fastest, or with --import timed so (default: 12)"},
        {"rounds", "N", ARGS_COUNT, &given.rounds, "last rounds, of those within 6 %, ten at most (default: 3)"},
        {"round-ms", "MS", ARGS_SECONDS, &given.round_ms,
         "least length of one such round of one kernel (default: 100)"},
        {"settle", "MS", ARGS_SECONDS, &given.settle_ms,
         "before it, untimed, to find its own clock; 0: all share one (default: 60)"},
        {"warmup", "SECONDS", ARGS_SECONDS, &given.warmup_s, "at each size (default: 0.3)"},
        {"workspace", "MIB", ARGS_COUNT, &given.workspace_mib, "that rows may divide tiles with (default: 64)"},
        {"all-divisions", NULL, ARGS_FLAG, &given.all_divisions,
         "divide each row in all ways, not only the one that the model likes best"},
        {"again", NULL, ARGS_FLAG, &given.again, "measure, or import, what the ledger has already, too"},
        {"import", NULL, ARGS_FLAG, &given.import,
         "measure nothing: entries from results of bench --all-kernels --json"},
        {"merge", NULL, ARGS_FLAG, &given.merge, "measure nothing: A B -o C writes the entries of both; B's win"},
        {"check", "FILE", ARGS_TEXT, &given.check, "measure nothing: is this a ledger of this table and device?"},
        {"device", "N", ARGS_TEXT, &given.device, "device number; with --check and --import, or a model"},
        {"no-baseline", NULL, ARGS_FLAG, &given.no_baseline, "check the kernels against each other, not cuBLASLt"},
        {"cublaslt", "PATH", ARGS_TEXT, &given.cublaslt, "libcublasLt to use (also GM_CUBLASLT)"},
        {"quiet", NULL, ARGS_FLAG, &given.quiet, "no progress and no lines, only the summary"},
    };
    const struct args_command command = {"gristmill tune [SUITE ...] -o FILE [options]\n"
                                         "       gristmill tune --import RESULT.json [RESULT.json ...] -o FILE",
                                         "Measures which kernel is fastest on each problem and writes a tuning ledger, "
                                         "which the planner asks before its\n"
                                         "model: docs/LEDGER.md. SUITE is a file or the name of one in bench/suites.",
                                         options, sizeof options / sizeof *options};
    enum args_outcome outcome = args_parse(&command, argc, argv, &given.words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    if (check_options(&given) != 0 || check_mode(&given, &command, argc, argv) != 0)
        return EXIT_CODE_USAGE;
    return run(&given);
}
