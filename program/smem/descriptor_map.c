/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill descriptor tensor-map: a request of cuTensorMapEncodeTiled, rule by rule. */
#include "program/smem/descriptor_options.h"
#include "program/smem/map_options.h"
#include "program/base/messages.h"

#define RULES_MAX 64

struct map_job {
    struct gm_tensor_map_request request;
    struct gm_rule rules[RULES_MAX];
    size_t count;
    int legal;
};

static int draw(FILE *out, enum draw_form form, const void *what) {
    const struct map_job *job = what;
    return draw_tensor_map(out, form, &job->request, job->rules, job->count, job->legal);
}

static int run(const struct map_options *given, const struct file_options *files, const struct args_list *words) {
    struct map_job job = {.rules = {{.size = sizeof *job.rules}}};
    if (descriptor_check_words(words, 0, "tensor-map") != 0 || map_options_read(given, &job.request) != 0)
        return EXIT_CODE_USAGE;
    if (gm_tensor_map_explain(&job.request, job.rules, RULES_MAX, &job.count, &job.legal) != GM_OK) {
        complain("%s", gm_last_error());
        return EXIT_CODE_USAGE;
    }
    return file_options_put(files, (struct picture){.draw = draw, .what = &job}, job.legal);
}

static const char about[] =
    "What cuTensorMapEncodeTiled would say to a request, rule by rule, with the request's numbers; and how a box of "
    "it\n"
    "lies in shared memory. The rules are those that the driver of an H200 enforces. Needs no GPU.\n"
    "Modes and types may also be numbers of the driver's enums. Exit code 1: the driver refuses the request.\n\n"
    "examples:\n"
    "  gristmill descriptor tensor-map --dims 4096,4096 --box 64,128 --swizzle 128B\n"
    "  gristmill descriptor tensor-map --type f32 --dims 1000,70 --box 64,64 --swizzle 128B\n"
    "  gristmill descriptor tensor-map --dims 257,64 --strides 514 --box 64,64 --html map.html";

int descriptor_tensor_map(int argc, char **argv) {
    struct map_options given = {0};
    struct file_options files = {0};
    struct args_option options[MAP_OPTIONS + FILE_OPTIONS];
    map_options_list(&given, options);
    file_options_list(&files, options + MAP_OPTIONS);
    const struct args_command command = {"gristmill descriptor tensor-map --dims N,N --box N,N [options]", about,
                                         options, MAP_OPTIONS + FILE_OPTIONS};
    struct args_list words = {0};
    const enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    return run(&given, &files, &words);
}
