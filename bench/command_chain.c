/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill chain: layers that follow each other, with and without programmatic dependent launch, beside cuBLASLt. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/types.h"
#include "program/base/args.h"
#include "bench/chain.h"
#include "program/commands.h"
#include "bench/measure/environment.h"
#include "program/base/text_table.h"
#include "program/base/json.h"
#include "bench/measure/nvml.h"
#include "program/base/shared_file.h"
#include "program/base/stats.h"

enum { RESULTS_MAX = 64 };

struct given {
    struct args_list sizes, words;
    const char *m, *dtype, *json, *device, *cublaslt;
    bool no_baseline;
    int layers, rounds, workspace_mib;
    double round_ms, warmup_s;
};

struct run {
    const struct given *given;
    struct gpu gpu;
    struct baselines baselines;
    struct noise noise;
    struct chain_result results[RESULTS_MAX];
    size_t count;
};

/* "4096,14336" into numbers; how many, or -1. */
static int read_numbers(const char *text, int *numbers, int most) {
    int count = 0;
    for (char *end; count < most; text = end + 1) {
        const long number = strtol(text, &end, 10);
        if (end == text || number < 1 || number > 1 << 24)
            return -1;
        numbers[count++] = (int)number;
        if (!*end)
            return count;
        if (*end != ',')
            return -1;
    }
    return -1;
}

/* ---- results ---------------------------------------------------------------------------------------- */

static double median(const struct chain_result *result, enum chain_way way) {
    return stats_median(result->samples[way].us, result->samples[way].count);
}

/* Of the rounds' ratios. */
static double ratio(const struct chain_result *result, enum chain_way theirs, enum chain_way ours) {
    const struct bench_samples *x = &result->samples[theirs], *y = &result->samples[ours];
    double ratios[MAX_ROUNDS];
    for (size_t i = 0; i < y->count && i < x->count; i++)
        ratios[i] = x->us[i] / y->us[i];
    return x->count ? stats_median(ratios, y->count) : NAN;
}

/* "8 x 4096" or "8: 4096 > 14336" */
static void sizes_text(const struct chain_options *options, char *text, size_t bytes) {
    size_t length = (size_t)snprintf(text, bytes, "%d layers of %d", options->layers, options->sizes[0]);
    for (int i = 1; i < options->size_count && length < bytes; i++)
        length += (size_t)snprintf(text + length, bytes - length, " > %d", options->sizes[i]);
}

static int print_results(const struct run *run) {
    struct text_table table;
    bool good = text_table_start(&table, "<chain|M|no overlap us|overlap us|constant B us|cuBLASLt best us|default us|"
                                         "best / constant B|no overlap / constant B");
    for (size_t i = 0; i < run->count && good; i++) {
        const struct chain_result *r = &run->results[i];
        char sizes[128], best[TEXT_TABLE_NUMBER_BYTES], baseline_default[TEXT_TABLE_NUMBER_BYTES],
            better[TEXT_TABLE_NUMBER_BYTES];
        sizes_text(&r->options, sizes, sizeof sizes);
        good = text_table_add(&table, "%s|%lld|%.2f|%.2f|%.2f|%s|%s|%s|%.3f", sizes, (long long)r->options.m,
                              median(r, CHAIN_NO_OVERLAP), median(r, CHAIN_OVERLAP), median(r, CHAIN_CONSTANT_B),
                              text_table_number(best, median(r, CHAIN_BEST), "%.2f"),
                              text_table_number(baseline_default, median(r, CHAIN_DEFAULT), "%.2f"),
                              text_table_number(better, ratio(r, CHAIN_BEST, CHAIN_CONSTANT_B), "%.3f"),
                              ratio(r, CHAIN_NO_OVERLAP, CHAIN_CONSTANT_B));
    }
    if (good)
        text_table_print(&table, stdout);
    text_table_free(&table);
    return good ? 0 : complain("out of host memory");
}

static void write_meta(struct json *json, const struct run *run) {
    struct nvml nvml = {0};
    char driver[96], date[32], revision[64];
    nvml_open(&nvml, &run->gpu);
    environment_driver(driver, sizeof driver, &nvml, &run->gpu.device);
    nvml_close(&nvml);
    environment_date(date, sizeof date);
    build_fact("revision", revision, sizeof revision);
    json_object_begin(json, "meta");
    json_put_string(json, "gpu", run->gpu.device.name);
    json_put_string(json, "driver", driver);
    json_put_string(json, "revision", revision);
    json_put_string(json, "date", date);
    json_put_string(json, "baseline", run->baselines.count ? run->baselines.of[0].version : NULL);
    json_put_string(
        json, "method",
        "every layer reads what the one before wrote and has weights of its own; events around CUDA graphs of "
        "many chains, which take turns; cuBLASLt with the fastest of 32 heuristics of each layer, timed alone "
        "on a cold L2, and with the first");
    json_put_integer(json, "rounds", run->given->rounds);
    json_put_number(json, "round_ms", run->given->round_ms);
    json_put_number(json, "warmup_s", run->given->warmup_s);
    json_object_end(json);
}

static void write_result(struct json *json, const struct chain_result *result) {
    double sizes[CHAIN_SIZES_MAX];
    for (int i = 0; i < result->options.size_count; i++)
        sizes[i] = result->options.sizes[i];
    json_line_begin(json, NULL);
    json_put_string(json, "type", result->options.type == GM_BF16 ? "bf16" : "fp16");
    json_put_integer(json, "layers", result->options.layers);
    json_put_numbers(json, "sizes", sizes, (size_t)result->options.size_count);
    json_put_integer(json, "m", result->options.m);
    for (int way = 0; way < CHAIN_WAYS; way++) {
        char key[48];
        snprintf(key, sizeof key, "%s_us", chain_way_names[way]);
        json_put_number(json, key, median(result, (enum chain_way)way));
    }
    json_put_number(json, "ratio_best", ratio(result, CHAIN_BEST, CHAIN_CONSTANT_B));
    json_put_number(json, "ratio_default", ratio(result, CHAIN_DEFAULT, CHAIN_CONSTANT_B));
    json_put_number(json, "ratio_no_overlap", ratio(result, CHAIN_NO_OVERLAP, CHAIN_CONSTANT_B));
    json_put_number(json, "difference", result->difference);
    for (int way = 0; way < CHAIN_WAYS; way++) {
        char key[48];
        snprintf(key, sizeof key, "%s_us_rounds", chain_way_names[way]);
        json_put_numbers(json, key, result->samples[way].us, result->samples[way].count);
    }
    json_object_end(json);
}

static int write_json(const struct run *run) {
    struct bench_meta meta = {0};
    char path[512];
    results_fill_name(meta.slug, sizeof meta.slug, run->gpu.device.name);
    snprintf(meta.suite, sizeof meta.suite, "chain");
    if (results_path(path, sizeof path, run->given->json, &meta) != 0)
        return -1;
    struct draft draft;
    if (draft_begin(&draft, path) != 0)
        return -1;
    struct json json;
    json_start(&json, draft.out);
    json_object_begin(&json, NULL);
    write_meta(&json, run);
    json_array_begin(&json, "rows");
    for (size_t i = 0; i < run->count; i++)
        write_result(&json, &run->results[i]);
    json_array_end(&json);
    json_object_end(&json);
    fputc('\n', draft.out);
    return draft_end(&draft);
}

/* ---- the run ---------------------------------------------------------------------------------------- */

static int run_chain(struct run *run, const struct chain_options *options) {
    char label[160];
    const size_t length = (size_t)snprintf(label, sizeof label, "M = %lld, ", (long long)options->m);
    sizes_text(options, label + length, sizeof label - length);
    if (run->count == RESULTS_MAX)
        return complain("these are more than %d chains", RESULTS_MAX);
    note("%s", label);
    return chain_run(&run->gpu, &run->baselines, &run->noise, options, &run->results[run->count++]);
}

static int run_all(struct run *run, const struct chain_options *chains, size_t count, const int *m, int m_count) {
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++)
        for (int j = 0; j < m_count && status == 0; j++) {
            struct chain_options options = chains[i];
            options.m = m[j];
            status = run_chain(run, &options);
        }
    return status;
}

static int measure(const struct given *given, const struct chain_options *chains, size_t count, const int *m,
                   int m_count) {
    struct run *run = calloc(1, sizeof *run);
    struct gm_device device;
    char why[256];
    if (!run || device_from_option(given->device, &device, why, sizeof why) != 0) {
        free(run);
        return -1;
    }
    run->given = given;
    int status = 0;
    if (device.ordinal < 0)
        status = complain("a chain is measured, never predicted%s%s", why[0] ? ": " : "", why);
    else if (gm_driver_is_simulated())
        status = complain("%s has no clock worth reading: nothing was measured", device.name);
    if (status == 0)
        status = gpu_open(&run->gpu, device.ordinal);
    struct bench_case usual;
    const struct bench_suite suite = {.cases = &usual, .count = 1};
    case_start(&usual, &gemm_bench);
    if (status == 0 && !given->no_baseline)
        status = baselines_open(&run->baselines, &run->gpu, &suite, given->cublaslt);
    if (status == 0)
        status = run_all(run, chains, count, m, m_count);
    if (status == 0)
        status = print_results(run);
    if (status == 0 && given->json)
        status = write_json(run);
    if (run->gpu.drv) {
        noise_free(&run->gpu, &run->noise);
        baselines_close(&run->baselines, &run->gpu);
        gpu_close(&run->gpu);
    }
    free(run);
    return status;
}

/* One for each --sizes; without any, a square one and an up and down projection. */
static int read_chains(const struct given *given, struct chain_options *chains, size_t *count) {
    static const char *const usual[] = {"4096", "8192", "4096,14336", "7168,2048"};
    const size_t asked = given->sizes.count ? given->sizes.count : sizeof usual / sizeof *usual;
    struct bench_case typed;
    const struct suite_override override = {.dtype = given->dtype};
    case_start(&typed, &gemm_bench);
    if (suite_override(&typed, &override) != 0)
        return -1;
    const enum gm_type type =
        (enum gm_type)gm_field_get(&gm_operation_gemm.fields[gm_operation_gemm.type], typed.problem.bytes);
    if (type != GM_BF16 && type != GM_FP16)
        return complain("--dtype is bf16 or fp16, not %s", gm_type_name(type));
    if (given->layers < 1 || given->layers > CHAIN_LAYERS_MAX)
        return complain("--layers is 1 to %d, not %d", CHAIN_LAYERS_MAX, given->layers);
    if (given->rounds < 1 || given->rounds > MAX_ROUNDS)
        return complain("--rounds is 1 to %d, not %d", MAX_ROUNDS, given->rounds);
    for (size_t i = 0; i < asked; i++) {
        const char *text = given->sizes.count ? given->sizes.items[i] : usual[i];
        chains[i] = (struct chain_options){.type = type,
                                           .layers = given->layers,
                                           .rounds = given->rounds,
                                           .round_ms = given->round_ms,
                                           .warmup_s = given->warmup_s,
                                           .workspace_bytes = (size_t)given->workspace_mib << 20};
        chains[i].size_count = read_numbers(text, chains[i].sizes, CHAIN_SIZES_MAX);
        if (chains[i].size_count < 1)
            return complain("--sizes wants 1 to %d sizes, such as 4096,14336, not `%s`", CHAIN_SIZES_MAX, text);
    }
    *count = asked;
    return 0;
}

static int run(const struct given *given) {
    struct chain_options chains[ARGS_LIST_MAX];
    size_t count = 0;
    int m[16];
    const int m_count = read_numbers(given->m, m, 16);
    if (given->words.count) {
        complain("chain takes options only; `gristmill chain --help` lists them");
        return EXIT_CODE_USAGE;
    }
    if (m_count < 1) {
        complain("--m wants numbers, such as 1,8,64, not `%s`", given->m);
        return EXIT_CODE_USAGE;
    }
    if (given->no_baseline && given->cublaslt) {
        complain("--no-baseline leaves out the baseline that --cublaslt names");
        return EXIT_CODE_USAGE;
    }
    if (read_chains(given, chains, &count) != 0)
        return EXIT_CODE_USAGE;
    return measure(given, chains, count, m, m_count) == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

int command_chain(int argc, char **argv) {
    struct given given = {.m = "1", .layers = 8, .rounds = 7, .round_ms = 10, .warmup_s = 0.5, .workspace_mib = 64};
    const struct args_option options[] = {
        {"sizes", "K,N,...", ARGS_LIST, &given.sizes,
         "widths that the layers go through in turn; may be given more than once (default: four usual ones)"},
        {"m", "M,...", ARGS_TEXT, &given.m, "tokens (default: 1)"},
        {"layers", "N", ARGS_COUNT, &given.layers, "of a chain (default: 8)"},
        {"dtype", "TYPE", ARGS_TEXT, &given.dtype, "bf16 (default) or fp16"},
        {"rounds", "N", ARGS_COUNT, &given.rounds, "interleaved rounds (default: 7)"},
        {"round-ms", "MS", ARGS_SECONDS, &given.round_ms, "least length of one round (default: 10)"},
        {"warmup", "SECONDS", ARGS_SECONDS, &given.warmup_s, "of each chain (default: 0.5)"},
        {"workspace", "MIB", ARGS_COUNT, &given.workspace_mib, "for our plans (default: 64, what cuBLASLt has)"},
        {"device", "N", ARGS_TEXT, &given.device, "device number"},
        {"no-baseline", NULL, ARGS_FLAG, &given.no_baseline, "without cuBLASLt"},
        {"cublaslt", "PATH", ARGS_TEXT, &given.cublaslt, "libcublasLt to use (also GM_CUBLASLT)"},
        {"json", "FILE", ARGS_TEXT, &given.json, "write the results; {gpu} and {suite} are replaced, folders made"},
    };
    const struct args_command command = {"gristmill chain [options]",
                                         "Layers of which each reads what the one before wrote, replayed as a CUDA "
                                         "graph: our plans without programmatic\n"
                                         "dependent launch, with it, and with GM_PLAN_CONSTANT_B, beside cuBLASLt.",
                                         options, sizeof options / sizeof *options};
    enum args_outcome outcome = args_parse(&command, argc, argv, &given.words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    return run(&given);
}
