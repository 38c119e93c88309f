/* SPDX-License-Identifier: Apache-2.0 */
/* What the program can be asked for, and with which options. */
#ifndef DECODER_COMMANDS_H
#define DECODER_COMMANDS_H

#include "engine.h"

#include <stdint.h>

struct options {
    const char *folder; /* of the model */
    const char *prompt;
    const char *prompts;            /* a file: each line is a prompt, and all run together */
    const char *json;               /* a file for the bench's numbers */
    int64_t tokens;                 /* made for a prompt, at most */
    int64_t context;                /* tokens of one request; 0: what the prompts and `tokens` need */
    int64_t batch, prefill, layers; /* layers 0: all */
    int64_t chunk, page_size;
    float temperature, top_p, min_p;
    int64_t top_k;
    uint64_t seed;
    int is_invariant, is_eager, explains;
};

/* What an engine is made with for so many requests of so many tokens. */
struct engine_options engine_options_of(const struct options *options, int64_t requests, int64_t context);

/* Text to stdout as it is made; what it took to stderr. */
int command_generate(const struct options *options);
/* Times of steps, with random weights of config.json's shape. */
int command_bench(const struct options *options);
/* The model's own expected.safetensors: logits that another implementation computed. Every way through the engine is compared
 * with them, and with the others. */
int command_check(const struct options *options);

#endif
