/* SPDX-License-Identifier: Apache-2.0 */
/* decoder: a language model in C on gristmill. Weights come from a folder as Hugging Face has it, and nothing but the driver
 * is needed to run them. Read on in this order: config.h what is computed, model.h where the weights are, step.c the layers one
 * by one, engine.c requests that come and go. */
#include "commands.h"
#include "common.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "decoder FOLDER \"prompt\"          goes on with the text\n"
    "decoder FOLDER --prompts FILE    goes on with each line, all together\n"
    "decoder bench FOLDER             times steps with random weights of FOLDER/config.json's shape\n"
    "decoder check FOLDER             compares with FOLDER/expected.safetensors\n"
    "\n"
    "FOLDER has config.json, tokenizer.json and *.safetensors of a Llama, Mistral, Mixtral, Qwen2, Qwen3,\n"
    "Qwen3-MoE or Gemma-3 model, in bf16, fp16 or, but of experts, fp8.\n"
    "\n"
    "  --tokens N        made for a prompt, at most (256)\n"
    "  --temperature T   0, the likeliest token (0.7); --top-k N, --top-p P, --min-p P, --seed N\n"
    "  --context N       tokens of one request; bench: that each has (1024)\n"
    "  --batch N         requests that decode together, at most (generate 256, bench 1, check 5)\n"
    "  --prefill N       bench: tokens of a prompt; 0 for none (2048)\n"
    "  --layers N        bench: of the model's\n"
    "  --chunk N         rows of a step of prompts (2048); --page N, tokens of a page of the cache (64)\n"
    "  --invariant       a request's tokens do not depend on the others', to the bit\n"
    "  --eager           no graphs;  --explain   bench: the kernels;  --json FILE   bench: the numbers\n";

enum kind { INTEGER, UNSIGNED, REAL, TEXT, SWITCH };

static const struct option {
    const char *name;
    enum kind kind;
    size_t offset;
    double least, most;
} known[] = {
#define MEMBER(member) offsetof(struct options, member)
    {"--tokens", INTEGER, MEMBER(tokens), 1, 1 << 24},
    {"--context", INTEGER, MEMBER(context), 1, 1 << 24},
    {"--batch", INTEGER, MEMBER(batch), 1, 256},
    {"--prefill", INTEGER, MEMBER(prefill), 0, 1 << 24},
    {"--layers", INTEGER, MEMBER(layers), 1, 1 << 10},
    {"--chunk", INTEGER, MEMBER(chunk), 1, 1 << 16},
    {"--page", INTEGER, MEMBER(page_size), 1, 1 << 16},
    {"--top-k", INTEGER, MEMBER(top_k), 0, 1 << 30},
    {"--seed", UNSIGNED, MEMBER(seed), 0, 1.8e19},
    {"--temperature", REAL, MEMBER(temperature), 0, 1e6},
    {"--top-p", REAL, MEMBER(top_p), 0, 1},
    {"--min-p", REAL, MEMBER(min_p), 0, 1},
    {"--prompts", TEXT, MEMBER(prompts), 0, 0},
    {"--json", TEXT, MEMBER(json), 0, 0},
    {"--invariant", SWITCH, MEMBER(is_invariant), 0, 0},
    {"--eager", SWITCH, MEMBER(is_eager), 0, 0},
    {"--explain", SWITCH, MEMBER(explains), 0, 0},
};

static const struct option *find_option(const char *name) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    die("there is no option %s; decoder --help lists them", name);
}

static void set_option(struct options *o, const struct option *option, const char *value) {
    char *const member = (char *)o + option->offset, *end = NULL;
    if (option->kind == SWITCH) {
        *(int *)(void *)member = 1;
        return;
    }
    if (!value)
        die("%s wants a value", option->name);
    if (option->kind == TEXT) {
        *(const char **)(void *)member = value;
        return;
    }
    errno = 0;
    const double number = strtod(value, &end);
    if (end == value || *end || errno || !isfinite(number) || number < option->least || number > option->most ||
        (option->kind != REAL && number != floor(number)))
        die("%s is %s; it must be a number from %g to %g", option->name, value, option->least, option->most);
    if (option->kind == REAL)
        *(float *)(void *)member = (float)number;
    else if (option->kind == INTEGER)
        *(int64_t *)(void *)member = (int64_t)number;
    else
        *(uint64_t *)(void *)member = strtoull(value, NULL, 10);
}

int main(int count, char **words) {
    int (*command)(const struct options *) = command_generate;
    struct options o = {.tokens = 256, .batch = 256, .chunk = 2048, .page_size = 64, .temperature = 0.7f, .seed = 1};
    int first = 1;
    if (count < 2 || strcmp(words[1], "--help") == 0) {
        fputs(usage, count < 2 ? stderr : stdout);
        return count < 2;
    }
    if (strcmp(words[1], "bench") == 0)
        command = command_bench, first = 2, o.batch = 1, o.context = 1024, o.prefill = 2048;
    else if (strcmp(words[1], "check") == 0)
        command = command_check, first = 2, o.batch = 5;
    for (int i = first; i < count; i++) {
        if (strncmp(words[i], "--", 2) == 0) {
            const struct option *option = find_option(words[i]);
            set_option(&o, option, i + 1 < count ? words[i + 1] : NULL);
            i += option->kind != SWITCH;
        } else if (!o.folder) {
            o.folder = words[i];
        } else if (!o.prompt && command == command_generate) {
            o.prompt = words[i];
        } else {
            die("%s is one word too many", words[i]);
        }
    }
    if (!o.folder)
        die("which folder? decoder --help says more");
    if (command == command_generate && !o.prompt == !o.prompts)
        die("one prompt is wanted, or --prompts");
    return command(&o);
}
