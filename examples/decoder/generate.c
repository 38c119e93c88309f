/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "common.h"
#include "device.h"
#include "engine.h"
#include "plans.h"
#include "tokenizer.h"

#include <gristmill/core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text on its way. Tokens are shown when their text is whole: a character may come in several, and is U+FFFD until the last
 * is there. A token's text may depend on the one before it, so those shown last are decoded again, and left out. */
struct text {
    const struct tokenizer *tokenizer;
    struct request request;
    int32_t *prompt;
    int streams;
    int64_t before, shown; /* tokens: the first that is decoded again, and those that are shown */
};

static int is_whole(const char *text, size_t bytes) {
    return bytes < 3 || memcmp(text + bytes - 3, "\xef\xbf\xbd", 3) != 0;
}

static void print_text(struct text *text, int is_last) {
    const int32_t *tokens = text->request.made + text->before;
    const int64_t count = text->request.made_count;
    char *old = tokenizer_decode(text->tokenizer, tokens, (size_t)(text->shown - text->before), 1);
    char *all = tokenizer_decode(text->tokenizer, tokens, (size_t)(count - text->before), 1);
    const size_t from = strlen(old), bytes = strlen(all);
    if (bytes > from && (is_last || is_whole(all, bytes))) {
        fwrite(all + from, 1, bytes - from, stdout);
        fflush(stdout);
        text->before = text->shown;
        text->shown = count;
    }
    free(old);
    free(all);
}

static void on_token(const struct request *request, int32_t token, void *user) {
    struct text *text = user;
    (void)request;
    (void)token;
    if (text->streams)
        print_text(text, 0);
}

static void begin_text(struct text *text, const struct tokenizer *tokenizer, const char *prompt, size_t bytes,
                       const struct options *o, uint64_t number) {
    *text = (struct text){.tokenizer = tokenizer, .streams = !o->prompts};
    const size_t count = tokenizer_encode(tokenizer, prompt, bytes, 1, &text->prompt);
    if (count == 0)
        die("the prompt is empty");
    text->request = (struct request){.prompt = text->prompt,
                                     .prompt_count = (int64_t)count,
                                     .limit = o->tokens,
                                     .temperature = o->temperature,
                                     .top_p = o->top_p,
                                     .min_p = o->min_p,
                                     .top_k = (int32_t)o->top_k,
                                     .seed = o->seed + number,
                                     .on_token = on_token,
                                     .user = text};
}

/* All prompts: the one of the command line, or the lines of a file. */
static size_t begin_texts(struct text **texts, const struct tokenizer *tokenizer, const struct options *o) {
    size_t count = 0, room = 0;
    *texts = grown(NULL, 0, &room, sizeof **texts);
    if (!o->prompts) {
        begin_text(*texts, tokenizer, o->prompt, strlen(o->prompt), o, 0);
        return 1;
    }
    char *file = read_file(o->prompts, NULL), *rest = file;
    while (*rest) {
        const size_t bytes = strcspn(rest, "\n");
        if (bytes) {
            *texts = grown(*texts, count, &room, sizeof **texts);
            begin_text(*texts + count, tokenizer, rest, bytes, o, count);
            count++;
        }
        rest += bytes + (rest[bytes] != 0);
    }
    free(file);
    if (count == 0)
        die("%s has no prompt: each line that is not empty is one", o->prompts);
    for (size_t i = 0; i < count; i++) /* they have moved */
        (*texts)[i].request.user = *texts + i;
    return count;
}

static void check_memory(const struct config *config, const struct engine_options *options) {
    const double weights = (double)model_bytes(config, options->context);
    const double rest = (double)engine_bytes(config, options);
    const double free_bytes = (double)device_free_bytes();
    if (weights + rest > free_bytes)
        die("too little memory on the GPU: %.2f GB are needed (%.2f weights, %.2f cache and steps), %.2f are free; "
            "a smaller --context or --batch takes less",
            1e-9 * (weights + rest), 1e-9 * weights, 1e-9 * rest, 1e-9 * free_bytes);
}

static void print_times(const struct engine *engine, double start, double loaded, double first) {
    const struct engine_times t = engine_times(engine);
    fprintf(stderr, "\nweights after %.2f s, first token after %.2f s (%.2f s behind the weights)\n", loaded - start,
            first - start, first - loaded);
    fprintf(stderr, "prompt  %6lld tokens in %.3f s, %.0f tokens/s\n", (long long)t.prompt_tokens, t.prompt_seconds,
            (double)t.prompt_tokens / t.prompt_seconds);
    if (t.decode_steps)
        fprintf(stderr, "made    %6lld tokens in %.3f s, %.1f tokens/s\n", (long long)t.made_tokens, t.decode_seconds,
                (double)t.decoded_tokens / t.decode_seconds);
}

int command_generate(const struct options *o) {
    struct text *texts = NULL;
    const double start = seconds();
    gm_context *context = device_open(0);
    const struct config config = config_read(o->folder);
    demand_kernels(context, &config);
    struct tokenizer *tokenizer = tokenizer_open(o->folder);
    const size_t count = begin_texts(&texts, tokenizer, o);
    struct engine_options options =
        engine_options_of(o, (int64_t)count < o->batch ? (int64_t)count : o->batch, o->context);
    for (size_t i = 0; i < count; i++)
        if (!o->context && texts[i].request.prompt_count + o->tokens > options.context)
            options.context = texts[i].request.prompt_count + o->tokens;
    if (options.context > config.max_position)
        die("%lld tokens are more than the %lld that the model is made for", (long long)options.context,
            (long long)config.max_position);
    check_memory(&config, &options);
    struct model *model = model_load(o->folder, &config, options.context);
    const double loaded = seconds();
    struct engine *engine = engine_create(context, model, &options);
    if (!o->prompts)
        printf("%s", o->prompt);
    for (size_t i = 0; i < count; i++)
        engine_add(engine, &texts[i].request);
    while (engine_advance(engine))
        ;
    double first = seconds();
    for (size_t i = 0; i < count; i++) {
        if (o->prompts)
            printf("%s[%zu] ", i ? "\n" : "", i + 1);
        print_text(&texts[i], 1);
        first = texts[i].request.first_token < first ? texts[i].request.first_token : first;
        request_free(&texts[i].request);
        free(texts[i].prompt);
    }
    printf("\n");
    fflush(stdout);
    print_times(engine, start, loaded, first);
    free(texts);
    engine_free(engine);
    model_free(model);
    tokenizer_close(tokenizer);
    device_close(context);
    return 0;
}
