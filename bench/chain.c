/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of layers, each reading what the one before wrote, captured into graphs that take turns. */
#include "bench/chain.h"

#include <math.h>
#include <stdlib.h>

#include "bench/bench.h"

/* Two right chains differ by the roundings of every layer to 8 or 11 bits; a wrong tile would be near 1. */
#define DIFFERENCE_LIMIT 0.05
#define LAUNCHES_MAX     1024

const char *const chain_way_names[CHAIN_WAYS] = {"no_overlap", "overlap", "constant_b", "cublaslt_best",
                                                 "cublaslt_default"};

struct layer {
    struct gm_gemm_problem problem;
    CUdeviceptr weights, out;
    gm_plan *plans[CHAIN_BEST]; /* of the ways that are ours */
    struct rivals rivals;
    int best, baseline_default; /* of their ways; -1: none */
};

struct chain {
    const struct gpu *gpu;
    const struct baselines *baselines;
    const struct chain_options *options;
    struct layer layers[CHAIN_LAYERS_MAX];
    CUdeviceptr input, workspace;
    struct timing timing; /* for its rounds */
};

/* ---- layers ----------------------------------------------------------------------------------------- */

static size_t bytes_of(int64_t rows, int64_t columns) {
    return (size_t)(rows * columns) * 2;
}

/* Every operand of the chain begins at another piece of the noise. */
static int make_filled(const struct chain *chain, struct noise *noise, CUdeviceptr *to, int64_t rows, int64_t columns,
                       int number) {
    const size_t bytes = bytes_of(rows, columns);
    if (gpu_alloc(chain->gpu, to, bytes) != 0)
        return -1;
    return operands_fill(chain->gpu, *to, bytes, noise, chain->options->type, (uint64_t)number * 1000);
}

static int make_plans(const struct chain *chain, struct layer *layer) {
    static const uint32_t flags[CHAIN_BEST] = {GM_PLAN_NO_OVERLAP, 0, GM_PLAN_CONSTANT_B};
    for (int way = 0; way < CHAIN_BEST; way++) {
        const struct gm_plan_options options = {
            .size = sizeof options, .flags = flags[way], .workspace_limit = chain->options->workspace_bytes};
        const enum gm_status status =
            gm_gemm_plan_create(chain->gpu->context, &layer->problem, &options, &layer->plans[way]);
        if (status != GM_OK)
            return gpu_fail_library(status, "gm_gemm_plan_create");
    }
    return 0;
}

static int make_layer(struct chain *chain, struct noise *noise, int index) {
    const struct chain_options *options = chain->options;
    struct layer *layer = &chain->layers[index];
    layer->best = layer->baseline_default = -1;
    layer->problem = (struct gm_gemm_problem){.size = sizeof layer->problem,
                                              .m = options->m,
                                              .n = options->sizes[(index + 1) % options->size_count],
                                              .k = options->sizes[index % options->size_count],
                                              .ab_type = options->type,
                                              .d_type = options->type};
    if (make_filled(chain, noise, &layer->weights, layer->problem.n, layer->problem.k, index + 1) != 0 ||
        gpu_alloc(chain->gpu, &layer->out, bytes_of(options->m, layer->problem.n)) != 0)
        return -1;
    return make_plans(chain, layer);
}

/* ---- the baseline's ways ---------------------------------------------------------------------------- */

/* As the bench finds them: on operands that L2 does not hold. */
static int search(struct layer *layer, struct timing *timing) {
    struct candidate best, baseline_default;
    int ran;
    if (timing_open(timing) != 0 || bench_default(timing, &baseline_default) != 0)
        return -1;
    if (baseline_default.disqualified)
        return 0;
    if (candidate_capture(timing, &baseline_default, 2) != 0 ||
        bench_search(timing, &best, &baseline_default, &ran) != 0)
        return -1;
    candidate_drop(timing, &baseline_default);
    layer->baseline_default = baseline_default.way;
    layer->best = best.disqualified ? baseline_default.way : best.way;
    return 0;
}

static int find_heuristics(struct chain *chain, struct noise *noise, int index) {
    const struct chain_options *options = chain->options;
    struct layer *layer = &chain->layers[index];
    struct operands operands = {0};
    struct timing timing = {.gpu = chain->gpu, .operands = &operands, .rivals = &layer->rivals};
    if (rivals_prepare(&layer->rivals, chain->baselines, &gemm_bench, &layer->problem) == 0)
        return 0;
    if (index >= options->size_count) { /* seen before */
        layer->best = chain->layers[index - options->size_count].best;
        layer->baseline_default = chain->layers[index - options->size_count].baseline_default;
        return 0;
    }
    int status = operands_make(chain->gpu, &operands, &gemm_bench, &layer->problem, noise, 3, 1);
    if (status == 0)
        status = search(layer, &timing);
    timing_close(&timing);
    operands_free(chain->gpu, &operands);
    return status;
}

/* ---- running ---------------------------------------------------------------------------------------- */

static int launch_layer(const struct chain *chain, enum chain_way way, const struct layer *layer, CUdeviceptr in) {
    const struct gm_gemm_args args = {.size = sizeof args,
                                      .a = in,
                                      .b = layer->weights,
                                      .d = layer->out,
                                      .workspace = chain->workspace,
                                      .workspace_bytes = chain->options->workspace_bytes};
    if (way >= CHAIN_BEST)
        return rivals_run(&layer->rivals, way == CHAIN_BEST ? layer->best : layer->baseline_default, &args,
                          chain->gpu->stream);
    const enum gm_status status = gm_gemm_execute(layer->plans[way], &args, chain->gpu->stream);
    return status == GM_OK ? 0 : gpu_fail_library(status, "gm_gemm_execute");
}

static int launch_chain(const struct chain *chain, enum chain_way way) {
    CUdeviceptr in = chain->input;
    for (int i = 0; i < chain->options->layers; i++) {
        if (launch_layer(chain, way, &chain->layers[i], in) != 0)
            return complain("%s: layer %d was refused", chain_way_names[way], i);
        in = chain->layers[i].out;
    }
    return 0;
}

static int capture(const struct chain *chain, enum chain_way way, int chains, CUgraphExec *exec) {
    int status = 0;
    if (gpu_begin_capture(chain->gpu) != 0)
        return -1;
    for (int i = 0; i < chains && status == 0; i++)
        status = launch_chain(chain, way);
    return gpu_end_capture(chain->gpu, status, exec);
}

/* A graph of some chains, to be repeated until a round is long enough. */
static int enter(struct chain *chain, enum chain_way way, struct candidate *candidate) {
    const struct chain_options *options = chain->options;
    float milliseconds = 0;
    candidate->launches = LAUNCHES_MAX / options->layers / 8 + 1;
    if (capture(chain, way, candidate->launches, &candidate->exec) != 0)
        return -1;
    for (int i = 0; i < 2; i++) { /* the first uploads the graph */
        GPU_TRY(chain->gpu, cuEventRecord, chain->timing.start, chain->gpu->stream);
        GPU_TRY(chain->gpu, cuGraphLaunch, candidate->exec, chain->gpu->stream);
        GPU_TRY(chain->gpu, cuEventRecord, chain->timing.stop, chain->gpu->stream);
        GPU_TRY(chain->gpu, cuEventSynchronize, chain->timing.stop);
        GPU_TRY(chain->gpu, cuEventElapsedTime, &milliseconds, chain->timing.start, chain->timing.stop);
    }
    candidate->repeats = (int)ceil(options->round_ms / fmax(milliseconds, 1e-3));
    return 0;
}

/* Of the last layer. What no kernel writes is NaN. */
static int values_of(const struct chain *chain, enum chain_way way, uint16_t *values, size_t count) {
    const struct layer *last = &chain->layers[chain->options->layers - 1];
    for (const struct layer *layer = chain->layers; layer <= last; layer++)
        GPU_TRY(chain->gpu, cuMemsetD8Async, layer->out, 0xff, bytes_of(layer->problem.m, layer->problem.n),
                chain->gpu->stream);
    if (launch_chain(chain, way) != 0 || gpu_finish(chain->gpu) != 0)
        return -1;
    GPU_TRY(chain->gpu, cuMemcpyDtoH, values, last->out, count * 2);
    return 0;
}

static float value(const struct chain *chain, uint16_t bits) {
    return chain->options->type == GM_BF16 ? operands_from_bf16(bits) : operands_from_fp16(bits);
}

static double difference(const struct chain *chain, const uint16_t *ours, const uint16_t *theirs, size_t count) {
    double apart = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        const double x = value(chain, ours[i]), y = value(chain, theirs[i]);
        apart += (x - y) * (x - y);
        size += y * y;
    }
    return sqrt(apart / size);
}

/* Our ways against the baseline's default, or, without one, against the first of them. */
static int verify(const struct chain *chain, const struct candidate *candidates, struct chain_result *result) {
    const struct layer *last = &chain->layers[chain->options->layers - 1];
    const size_t count = (size_t)(last->problem.m * last->problem.n);
    uint16_t *ours = malloc(count * 2), *theirs = malloc(count * 2);
    int status = ours && theirs ? 0 : complain("out of host memory");
    const enum chain_way reference = candidates[CHAIN_DEFAULT].disqualified ? CHAIN_NO_OVERLAP : CHAIN_DEFAULT;
    if (status == 0)
        status = values_of(chain, reference, theirs, count);
    for (int way = 0; way < CHAIN_BEST && status == 0; way++) {
        status = values_of(chain, (enum chain_way)way, ours, count);
        const double apart = status == 0 ? difference(chain, ours, theirs, count) : 0;
        if (!(apart <= DIFFERENCE_LIMIT))
            status = complain("%s: the last layer is %g away from %s's", chain_way_names[way], apart,
                              chain_way_names[reference]);
        result->difference = reference == CHAIN_DEFAULT ? fmax(apart, way ? result->difference : 0) : NAN;
    }
    free(ours);
    free(theirs);
    return status;
}

static int race(struct chain *chain, struct candidate *candidates, struct chain_result *result) {
    const struct chain_options *options = chain->options;
    for (int way = 0; way < CHAIN_WAYS; way++)
        candidates[way].disqualified = way >= CHAIN_BEST && chain->layers[0].baseline_default < 0;
    if (verify(chain, candidates, result) != 0)
        return -1;
    for (int way = 0; way < CHAIN_WAYS; way++)
        if (!candidates[way].disqualified && enter(chain, (enum chain_way)way, &candidates[way]) != 0)
            return -1;
    if (timing_warm(&chain->timing, candidates, CHAIN_WAYS, options->warmup_s) != 0 ||
        timing_rounds(&chain->timing, candidates, CHAIN_WAYS, options->rounds) != 0)
        return -1;
    for (int way = 0; way < CHAIN_WAYS; way++)
        result->samples[way] = candidates[way].samples;
    return 0;
}

static int make(struct chain *chain, struct noise *noise) {
    const struct chain_options *options = chain->options;
    if (make_filled(chain, noise, &chain->input, options->m, options->sizes[0], 0) != 0 ||
        (options->workspace_bytes && gpu_alloc(chain->gpu, &chain->workspace, options->workspace_bytes) != 0))
        return -1;
    for (int i = 0; i < options->layers; i++)
        if (make_layer(chain, noise, i) != 0 || find_heuristics(chain, noise, i) != 0)
            return -1;
    return timing_open(&chain->timing);
}

static void unmake(struct chain *chain) {
    for (int i = 0; i < chain->options->layers; i++) {
        struct layer *layer = &chain->layers[i];
        for (int way = 0; way < CHAIN_BEST; way++)
            gm_plan_destroy(layer->plans[way]);
        gpu_free(chain->gpu, &layer->weights);
        gpu_free(chain->gpu, &layer->out);
        rivals_forget(&layer->rivals);
    }
    gpu_free(chain->gpu, &chain->input);
    gpu_free(chain->gpu, &chain->workspace);
    timing_close(&chain->timing);
}

int chain_run(const struct gpu *gpu, const struct baselines *baselines, struct noise *noise,
              const struct chain_options *options, struct chain_result *result) {
    struct chain *chain = calloc(1, sizeof *chain);
    struct candidate candidates[CHAIN_WAYS] = {0};
    if (!chain)
        return complain("out of host memory");
    *chain = (struct chain){.gpu = gpu, .baselines = baselines, .options = options, .timing = {.gpu = gpu}};
    *result = (struct chain_result){.options = *options};
    int status = make(chain, noise);
    if (status == 0)
        status = race(chain, candidates, result);
    for (int way = 0; way < CHAIN_WAYS; way++)
        candidate_drop(&chain->timing, &candidates[way]);
    unmake(chain);
    free(chain);
    return status;
}
