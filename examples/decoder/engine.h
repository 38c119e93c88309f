/* SPDX-License-Identifier: Apache-2.0 */
/* Requests in, tokens out. Requests that are there together share steps (continuous batching): prompts go through in chunks of
 * rows, of several requests where they are short; those that are through decode together, a row each, by one captured graph for
 * each size of the batch. The next step is under way before the host has read the tokens of the one before. */
#ifndef DECODER_ENGINE_H
#define DECODER_ENGINE_H

#include "model.h"
#include "step.h"

struct request {
    const int32_t *prompt; /* one token at least */
    int64_t prompt_count;
    int64_t limit;                   /* tokens that are made, at most */
    int goes_on;                     /* 1: no token ends the text */
    float temperature, top_p, min_p; /* temperature 0: the likeliest token */
    int32_t top_k;
    uint64_t seed;
    /* Each token as it is read, or NULL. */
    void (*on_token)(const struct request *request, int32_t token, void *user);
    void *user;

    int32_t *made; /* what came out; request_free() frees it */
    int64_t made_count;
    double first_token; /* seconds() when the first was read */

    struct request *next; /* from here on the engine's */
    int32_t *pages;
    int64_t page_count;
    int64_t length;   /* tokens in the cache, those of steps under way included */
    int64_t launched; /* tokens made or under way */
    int is_done;
};

struct engine_options {
    int64_t context;      /* tokens of one request, prompt and made */
    int64_t max_requests; /* that decode together */
    int64_t chunk;        /* rows of a step of prompts */
    int64_t page_size;
    uint32_t plan_flags;
    int is_eager; /* 1: no graphs */
};

struct engine_times {
    int64_t prompt_tokens, made_tokens, decode_steps;
    int64_t decoded_tokens; /* of those made, all but each request's first */
    double prompt_seconds, decode_seconds;
};

struct engine;
struct engine *engine_create(gm_context *context, const struct model *model, const struct engine_options *options);
void engine_free(struct engine *engine);
/* Bytes of the cache and of what steps write, for telling what is needed. */
size_t engine_bytes(const struct config *config, const struct engine_options *options);

/* The request stays the caller's, and must stay where it is until it is done. */
void engine_add(struct engine *engine, struct request *request);
/* A step or two. 0: all requests are done. */
int engine_advance(struct engine *engine);
struct engine_times engine_times(const struct engine *engine);
void request_free(struct request *request);

/* Logits of every row of one prompt, [count][vocabulary], to be freed: in chunks of at most `chunk` rows. */
float *engine_logits(struct engine *engine, const int32_t *tokens, int64_t count, int64_t chunk);

/* Logits of a seat in the last step of decoding, [vocabulary]. */
void engine_last_logits(struct engine *engine, int64_t seat, float *logits);

/* Keys and values that are no zeros, for those who measure: the weights, as often as they fit. */
void engine_fill_cache(struct engine *engine);
/* Milliseconds of a decoding step of so many requests that have so many tokens each: of `steps` graphs, one behind the other.
 * With `parts` of enum part, of these alone. */
double engine_time_decode(struct engine *engine, int64_t requests, int64_t length, int steps, int64_t parts);
/* Milliseconds of one request's prompt, from the first row to the first token on the device. */
double engine_time_prompt(struct engine *engine, int64_t length);
/* What is launched in a step of decoding, or of a prompt's rows. */
void engine_explain(struct engine *engine, int64_t requests, int64_t rows);

#endif
