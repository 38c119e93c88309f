/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "common.h"
#include "device.h"
#include "engine.h"
#include "plans.h"
#include "safetensors.h"

#include <gristmill/core.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MADE = 6, QUANTILES_MAX = 16 };

/* What another implementation computed: logits in fp32 from the same weights, and how far it is off in 16 bits. */
struct expected {
    int64_t count, vocabulary, quantile_count;
    int32_t *tokens;
    float *logits;                                       /* [count][vocabulary] */
    float quantile[QUANTILES_MAX], error[QUANTILES_MAX]; /* of |16 bits - fp32| */
};

static void *read_tensor(const struct tensors *tensors, const char *name, const char *dtype, uint64_t bytes) {
    const struct tensor *t = tensors_find(tensors, name);
    if (!t || strcmp(t->dtype, dtype) != 0 || (bytes && t->bytes != bytes))
        die("expected.safetensors has no %s of %s with the right shape", name, dtype);
    void *data = grab(t->bytes, 1);
    tensor_read(t, 0, t->bytes, data);
    return data;
}

static struct expected read_expected(const char *folder, int64_t vocabulary) {
    char *path = path_of(folder, "expected.safetensors");
    struct tensors tensors = tensors_open_file(path);
    struct expected e = {.tokens = read_tensor(&tensors, "tokens", "I32", 0), .vocabulary = vocabulary};
    e.count = tensors_find(&tensors, "tokens")->shape[0];
    e.logits = read_tensor(&tensors, "logits", "F32", (uint64_t)(e.count * vocabulary) * sizeof(float));
    float *quantile = read_tensor(&tensors, "quantiles", "F32", 0);
    e.quantile_count = tensors_find(&tensors, "quantiles")->shape[0];
    if (e.quantile_count > QUANTILES_MAX)
        die("expected.safetensors has %lld quantiles", (long long)e.quantile_count);
    float *error = read_tensor(&tensors, "bf16_error", "F32", (uint64_t)e.quantile_count * sizeof(float));
    memcpy(e.quantile, quantile, (size_t)e.quantile_count * sizeof(float));
    memcpy(e.error, error, (size_t)e.quantile_count * sizeof(float));
    free(quantile);
    free(error);
    tensors_close(&tensors);
    free(path);
    return e;
}

static int failures, checks;

static void tell(int is_right, const char *what, const char *detail) {
    printf("%-52s %s%s%s\n", what, is_right ? "PASS" : "FAIL", *detail ? "    " : "", detail);
    fflush(stdout);
    checks++;
    failures += !is_right;
}

static int by_value(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* At every quantile our error is at most twice that of the other implementation in 16 bits. */
static void check_logits(const struct expected *e, const float *logits, const char *what) {
    const size_t count = (size_t)(e->count * e->vocabulary);
    float *error = grab(count, sizeof *error);
    char detail[160] = "";
    double worst = 0;
    for (size_t i = 0; i < count; i++)
        error[i] = isfinite(logits[i]) ? fabsf(logits[i] - e->logits[i]) : INFINITY;
    qsort(error, count, sizeof *error, by_value);
    for (int64_t i = 0; i < e->quantile_count; i++)
        worst =
            fmax(worst, (double)error[(size_t)((double)e->quantile[i] * (double)(count - 1))] / (double)e->error[i]);
    snprintf(detail, sizeof detail, "median error %.2g, largest %.2g; at most %.2f of the other's",
             (double)error[count / 2], (double)error[count - 1], worst);
    tell(worst <= 2, what, detail);
    free(error);
}

static int64_t likeliest(const float *logits, int64_t vocabulary, float *gap) {
    int64_t best = 0;
    float second = -INFINITY;
    for (int64_t i = 1; i < vocabulary; i++) {
        if (logits[i] > logits[best]) {
            second = logits[best];
            best = i;
        } else if (logits[i] > second) {
            second = logits[i];
        }
    }
    *gap = logits[best] - second;
    return best;
}

/* The likeliest token is the same wherever it is likelier by more than both may be off. */
static void check_greedy(const struct expected *e, const float *logits) {
    const float margin = 3 * e->error[e->quantile_count - 1];
    int64_t clear = 0, wrong = 0;
    char detail[80];
    for (int64_t i = 0; i < e->count; i++) {
        float gap, ours;
        const int64_t best = likeliest(e->logits + i * e->vocabulary, e->vocabulary, &gap);
        if (gap <= margin)
            continue;
        clear++;
        wrong += likeliest(logits + i * e->vocabulary, e->vocabulary, &ours) != best;
    }
    snprintf(detail, sizeof detail, "%lld of %lld rows are clear", (long long)clear, (long long)e->count);
    tell(wrong == 0 && clear > 0, "the likeliest tokens", detail);
}

/* What a request made, with the logits that its last token was chosen from. */
struct outcome {
    struct engine *engine;
    int32_t made[MADE];
    float *logits;
};

/* Of the first request, which keeps the first seat until it is done. No step is under way behind its last token. */
static void keep_logits(const struct request *request, int32_t token, void *user) {
    struct outcome *outcome = user;
    outcome->made[request->made_count - 1] = token;
    if (request->made_count == MADE)
        engine_last_logits(outcome->engine, 0, outcome->logits);
}

/* Requests whose prompts differ in length, run together: what became of the first, whose prompt has `count` tokens. */
static struct outcome run_requests(struct engine *engine, const struct expected *e, int64_t requests, int64_t count,
                                   float temperature) {
    struct request *all = grab((size_t)requests, sizeof *all);
    struct outcome outcome = {.engine = engine, .logits = grab((size_t)e->vocabulary, sizeof(float))};
    for (int64_t i = 0; i < requests; i++) {
        all[i] = (struct request){.prompt = e->tokens,
                                  .prompt_count = i ? 1 + (i * 7 + 3) % (e->count - 1) : count,
                                  .limit = MADE,
                                  .goes_on = 1,
                                  .temperature = temperature,
                                  .seed = 11 + (uint64_t)i,
                                  .on_token = i ? NULL : keep_logits,
                                  .user = &outcome};
        engine_add(engine, &all[i]);
    }
    while (engine_advance(engine))
        ;
    for (int64_t i = 0; i < requests; i++)
        request_free(&all[i]);
    free(all);
    return outcome;
}

static int is_same(const struct expected *e, const struct outcome *a, const struct outcome *b) {
    return memcmp(a->made, b->made, sizeof a->made) == 0 &&
           memcmp(a->logits, b->logits, (size_t)e->vocabulary * sizeof(float)) == 0;
}

/* Decoding token by token against the rows of one prompt that has the same tokens. */
static void check_decoding(struct engine *engine, const struct expected *e, const struct outcome *decoded) {
    const int64_t before = e->count - MADE, count = e->count - 1;
    int32_t *tokens = grab((size_t)e->count, sizeof *tokens);
    memcpy(tokens, e->tokens, (size_t)before * sizeof *tokens);
    memcpy(tokens + before, decoded->made, (MADE - 1) * sizeof *tokens);
    float *logits = engine_logits(engine, tokens, count, count);
    const float *last = logits + (count - 1) * e->vocabulary;
    const float limit = 2 * e->error[e->quantile_count - 1];
    float worst = 0;
    int64_t wrong = 0;
    char detail[80];
    for (int64_t i = 0; i < e->vocabulary; i++)
        worst = fmaxf(worst, fabsf(last[i] - decoded->logits[i]));
    for (int64_t i = 0; i < MADE; i++) {
        float gap;
        const int64_t best = likeliest(logits + (before - 1 + i) * e->vocabulary, e->vocabulary, &gap);
        wrong += gap > limit && best != decoded->made[i];
    }
    snprintf(detail, sizeof detail, "logits differ by %.2g at most, of %.2g", (double)worst, (double)limit);
    tell(worst <= limit && wrong == 0, "a prompt of n, and of n - 5 with 5 decoded", detail);
    free(tokens);
    free(logits);
}

struct place {
    gm_context *context;
    const struct model *model;
    struct engine_options options;
};

static struct engine *engine_of(const struct place *place, uint32_t flags, int is_eager) {
    struct engine_options options = place->options;
    options.plan_flags = flags;
    options.is_eager = is_eager;
    return engine_create(place->context, place->model, &options);
}

/* A request whose neighbours may not matter, alone and among others, with a seed. */
static void check_invariance(struct engine *invariant, const struct expected *e, int64_t requests, int64_t count) {
    struct outcome alone = run_requests(invariant, e, 1, count, 0.8f);
    struct outcome among = run_requests(invariant, e, requests, count, 0.8f);
    char what[80];
    snprintf(what, sizeof what, "a prompt of %lld alone and among %lld, invariant", (long long)count,
             (long long)requests);
    tell(is_same(e, &alone, &among), what, "");
    free(alone.logits);
    free(among.logits);
}

static void check_engines(const struct place *place, const struct expected *e, const struct options *o) {
    const int64_t count = e->count - MADE;
    struct engine *graphs = engine_of(place, 0, 0), *eager = engine_of(place, 0, 1);
    struct engine *invariant = engine_of(place, GM_PLAN_BATCH_INVARIANT, 0);
    struct outcome once = run_requests(graphs, e, 1, count, 0), again = run_requests(graphs, e, 1, count, 0);
    struct outcome launched = run_requests(eager, e, 1, count, 0);
    tell(is_same(e, &once, &again), "two runs have the same bits", "");
    if (!place->model->config.experts) /* with them there are no graphs */
        tell(is_same(e, &once, &launched), "a replayed graph has the bits of plain launches", "");
    check_decoding(graphs, e, &once);
    check_invariance(invariant, e, o->batch, count);
    check_invariance(invariant, e, o->batch, 1);
    engine_free(graphs);
    engine_free(eager);
    engine_free(invariant);
    free(once.logits);
    free(again.logits);
    free(launched.logits);
}

int command_check(const struct options *o) {
    gm_context *context = device_open(0);
    const struct config config = config_read(o->folder);
    demand_kernels(context, &config);
    struct expected e = read_expected(o->folder, config.vocabulary);
    struct model *model = model_load(o->folder, &config, e.count + MADE);
    const struct place place = {
        context,
        model,
        {.context = e.count + MADE, .max_requests = o->batch, .chunk = e.count, .page_size = o->page_size}};
    struct engine_options whole = place.options;
    whole.max_requests = e.count; /* as many results */
    struct engine *engine = engine_create(context, place.model, &whole);
    float *logits = engine_logits(engine, e.tokens, e.count, e.count);
    float *chunks = engine_logits(engine, e.tokens, e.count, (e.count + 2) / 3);
    check_logits(&e, logits, "logits of a prompt");
    check_logits(&e, chunks, "logits of a prompt in three chunks");
    check_greedy(&e, logits);
    engine_free(engine);
    check_engines(&place, &e, o);
    printf("%d passed, %d failed, 0 skipped\n", checks - failures, failures);
    free(logits);
    free(chunks);
    free(e.tokens);
    free(e.logits);
    model_free(model);
    device_close(context);
    return failures > 0;
}
