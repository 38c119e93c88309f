/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "common.h"
#include "device.h"
#include "engine.h"
#include "plans.h"

#include <gristmill/core.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 7 };
#define WARM_UP_SECONDS 1.0
#define ROUND_MS        200.0

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

/* Of a step, or of those of its kernels that `parts` names, each behind its like. */
static double time_decode(struct engine *engine, const struct options *o, int64_t parts, double warm_up_seconds) {
    double ms[ROUNDS], once = engine_time_decode(engine, o->batch, o->context, 3, parts);
    const double begin = seconds();
    while (seconds() - begin < warm_up_seconds)
        once = engine_time_decode(engine, o->batch, o->context, 10, parts);
    const int steps = once < ROUND_MS / 3 ? (int)(ROUND_MS / once) : 3;
    for (int i = 0; i < ROUNDS; i++)
        ms[i] = engine_time_decode(engine, o->batch, o->context, steps, parts);
    return median(ms, ROUNDS);
}

static double time_prompt(struct engine *engine, const struct options *o) {
    double ms[ROUNDS];
    const double begin = seconds();
    do
        engine_time_prompt(engine, o->prefill);
    while (seconds() - begin < WARM_UP_SECONDS);
    for (int i = 0; i < ROUNDS; i++)
        ms[i] = engine_time_prompt(engine, o->prefill);
    return median(ms, ROUNDS);
}

/* Bytes of weights and of the cache that a decoding step reads: with a window, what the window has. */
static double bytes_of_step(const struct config *c, const struct options *o) {
    double tokens = 0;
    for (int64_t i = 0; i < c->layers; i++)
        tokens += (double)(c->has_window[i] && c->window < o->context ? c->window : o->context);
    return model_step_bytes(c, o->batch) + 4 * tokens * (double)(o->batch * c->kv_heads * c->head_dim);
}

/* What a step takes by parts, and how much longer it takes as one. */
static json_t *report_parts(struct engine *engine, const struct options *o, double decode_ms) {
    const double linears = time_decode(engine, o, PART_LINEARS, 0.2);
    const double attention = time_decode(engine, o, PART_ATTENTION, 0.2);
    const double rest = time_decode(engine, o, PART_REST, 0.2), gaps = decode_ms - linears - attention - rest;
    printf("        linears %.3f ms, attention %.3f, the rest %.3f; together %.3f more\n", linears, attention, rest,
           gaps);
    return json_pack("{s:f, s:f, s:f, s:f}", "linears", linears, "attention", attention, "rest", rest, "together",
                     gaps);
}

static void report(const struct config *c, const struct options *o, struct engine *engine, double decode_ms,
                   double prompt_ms) {
    const double gb = 1e-9 * bytes_of_step(c, o);
    json_t *numbers = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "model", o->folder, "architecture", c->architecture,
                                "layers", (json_int_t)c->layers, "batch", (json_int_t)o->batch, "context",
                                (json_int_t)o->context, "prefill", (json_int_t)o->prefill);
    if (decode_ms > 0) {
        printf("decode  batch %lld, context %lld: %.3f ms a step, %.1f tokens/s; reads %.2f GB, %.2f TB/s\n",
               (long long)o->batch, (long long)o->context, decode_ms, 1e3 * (double)o->batch / decode_ms, gb,
               gb / decode_ms);
        json_object_set_new(numbers, "decode_ms", json_real(decode_ms));
        json_object_set_new(numbers, "decode_gb", json_real(gb));
        json_object_set_new(numbers, "parts_ms", report_parts(engine, o, decode_ms));
    }
    if (prompt_ms > 0) {
        printf("prompt  %lld tokens: %.2f ms, %.0f tokens/s\n", (long long)o->prefill, prompt_ms,
               1e3 * (double)o->prefill / prompt_ms);
        json_object_set_new(numbers, "prompt_ms", json_real(prompt_ms));
    }
    json_object_set_new(numbers, "device_bytes", json_integer((json_int_t)device_used_bytes()));
    if (o->json && json_dump_file(numbers, o->json, JSON_INDENT(1)) != 0)
        die("cannot write %s", o->json);
    json_decref(numbers);
}

int command_bench(const struct options *o) {
    gm_context *context = device_open(0);
    struct config config = config_read(o->folder);
    if (o->layers && o->layers < config.layers)
        config.layers = o->layers;
    demand_kernels(context, &config);
    const int64_t longest = o->context > o->prefill ? o->context : o->prefill;
    const struct engine_options options = engine_options_of(o, o->batch, longest);
    struct model *model = model_random(&config, longest);
    struct engine *engine = engine_create(context, model, &options);
    if (o->explains) {
        printf("A step of %lld requests:\n", (long long)o->batch);
        engine_explain(engine, o->batch, 0);
    }
    if (o->explains && o->prefill) {
        printf("A step of a prompt:\n");
        engine_explain(engine, 0, o->prefill < o->chunk ? o->prefill : o->chunk);
    }
    engine_fill_cache(engine);
    const double prompt_ms = o->prefill ? time_prompt(engine, o) : 0;
    report(&config, o, engine, time_decode(engine, o, 0, WARM_UP_SECONDS), prompt_ms);
    engine_free(engine);
    model_free(model);
    device_close(context);
    return 0;
}
