/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill explain: every kernel's verdict on one problem. Its options are the fields of the operation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/gpu.h"
#include "bench/suite.h"
#include "host/plan.h"
#include "program/base/args.h"
#include "program/base/text_table.h"
#include "program/base/utf8.h"
#include "program/commands.h"

struct explain_options {
    const char *dtype, *out, *arch, *kernel, *device, *ledger;
    bool model_only, batch_invariant;
    int workspace_mib;
    const char *fields[GM_FIELDS_MAX]; /* what was said of each of the operation's; NULL: nothing */
};

/* ---- the problem ------------------------------------------------------------------------------------ */

/* A field that has an option of its own: sizes of suites are the words of the command, and the types of operands that are
 * called by one letter are --dtype and --out, but for one that --help has something to say of. */
static bool has_option(const struct gm_field *field) {
    if (strlen(field->name) == 1 && !field->about)
        return false;
    return field->uses & GM_IN_OPTIONS || (field->uses & GM_IN_SUITES && field->kind != GM_FIELD_SIZE);
}

/* "d_type" -> "d-type" */
static void option_name(const struct gm_field *field, char name[GM_FIELD_TEXT_BYTES]) {
    snprintf(name, GM_FIELD_TEXT_BYTES, "%s", field->name);
    for (char *at = name; *at; at++)
        *at = *at == '_' ? '-' : *at;
}

/* One word "MxNxK", or a word for each size, of which some may be 0. */
static int set_sizes(const struct args_list *words, struct bench_case *problem) {
    const struct gm_operation *operation = problem->operation->operation;
    size_t used = 0;
    if (words->count == 1 && suite_parse_shape(words->items[0], problem))
        return 0;
    for (int i = 0; i < operation->field_count; i++) {
        const struct gm_field *field = &operation->fields[i];
        const char *word = used < words->count ? words->items[used] : NULL;
        char title[GM_FIELD_TEXT_BYTES];
        int64_t size;
        if (!(field->uses & GM_IN_SUITES) || field->kind != GM_FIELD_SIZE)
            continue;
        if (!word)
            return complain("explain wants a size for %s; `gristmill explain %s --help` says more",
                            field_title(field, title), operation->name);
        if (!gm_field_parse(field, word, strlen(word), &size))
            return complain("%s is `%s`, not a size from 0 to 2147483647", field_title(field, title), word);
        gm_field_set(field, problem->problem.bytes, size);
        used++;
    }
    return used == words->count ? 0 : complain("explain %s takes no `%s`", operation->name, words->items[used]);
}

static int set_fields(const struct explain_options *given, struct bench_case *problem) {
    const struct suite_override types = {.dtype = given->dtype, .out = given->out};
    if (suite_override(problem, &types) != 0)
        return -1;
    for (int i = 0; i < problem->operation->operation->field_count; i++) {
        char name[GM_FIELD_TEXT_BYTES], option[GM_FIELD_TEXT_BYTES + 2];
        const struct gm_field *field = &problem->operation->operation->fields[i];
        option_name(field, name);
        snprintf(option, sizeof option, "--%s", name);
        if (given->fields[i] && suite_set(problem, field, option, given->fields[i]) != 0)
            return -1;
    }
    return 0;
}

/* ---- the verdicts ----------------------------------------------------------------------------------- */

/* The chosen one, then what is legal by time, then the refusals in table order. */
static int compare_candidates(const void *left, const void *right) {
    const struct gm_candidate *x = left, *y = right;
    bool x_legal = x->reason == GM_ACCEPTED || x->reason == GM_REASON_NOT_PRODUCTION;
    bool y_legal = y->reason == GM_ACCEPTED || y->reason == GM_REASON_NOT_PRODUCTION;
    if (x->chosen != y->chosen)
        return y->chosen - x->chosen;
    if (x_legal != y_legal)
        return y_legal - x_legal;
    if (x_legal && x->predicted_us != y->predicted_us)
        return x->predicted_us < y->predicted_us ? -1 : 1;
    return x->kernel - y->kernel;
}

static bool add_candidate(struct text_table *table, const struct gm_candidate *candidate) {
    struct gm_kernel_info kernel = {.size = sizeof kernel};
    if (gm_kernel_get((size_t)candidate->kernel, &kernel) != GM_OK)
        return false;
    bool legal = candidate->reason == GM_ACCEPTED || candidate->reason == GM_REASON_NOT_PRODUCTION;
    char us[32] = "-", sentence[TEXT_TABLE_CELL_BYTES];
    if (legal)
        snprintf(us, sizeof us, "%.2f", candidate->predicted_us);
    snprintf(sentence, sizeof sentence, "%s", candidate->sentence[0] ? candidate->sentence : "accepted");
    return text_table_add(table, "%s|%s|%s|%s", candidate->chosen ? "▶" : legal ? "·" : "✗", kernel.name, us, sentence);
}

static int print_candidates(struct gm_candidate *candidates, size_t count) {
    struct text_table table;
    qsort(candidates, count, sizeof *candidates, compare_candidates);
    bool good = text_table_start(&table, "< |<kernel|predicted us|<verdict");
    for (size_t i = 0; good && i < count; i++)
        good = add_candidate(&table, &candidates[i]);
    if (good)
        text_table_print(&table, stdout);
    text_table_free(&table);
    if (!good)
        return complain("the candidates cannot be listed");
    if (count == 0 || !candidates[0].chosen)
        return complain("no kernel of the table accepts this problem here");
    utf8_put(stdout, "\n▶ chosen   · legal   ✗ refused\n");
    return 0;
}

static int explain(const struct gm_device *device, const struct bench_case *problem,
                   const struct gm_plan_options *options) {
    size_t count = gm_kernel_count();
    struct gm_candidate *candidates = calloc(count + 1, sizeof *candidates);
    if (!candidates)
        return complain("out of host memory");
    enum gm_status status =
        gm_explain(problem->operation->operation, device, problem->problem.bytes, options, candidates, count, &count);
    int result = status == GM_OK ? 0 : gpu_fail_library(status, "explain");
    if (result == 0)
        result = print_candidates(candidates, count);
    free(candidates);
    return result;
}

static int explain_on(const struct explain_options *given, const struct bench_case *problem,
                      struct gm_plan_options *options) {
    gm_ledger *ledger = NULL;
    struct gm_device device;
    char why[256], sizes[CASE_TEXT_BYTES], words[CASE_TEXT_BYTES];
    if (device_from_option(given->device, &device, why, sizeof why) != 0)
        return -1;
    if (why[0])
        printf("There is no GPU here (%s), so this is for the %s model.\n", why, device.name);
    utf8_print(stdout, "%s %s, on %s\n\n", case_sizes(problem, " x ", sizes), case_words(problem, words), device.name);
    if (given->ledger && gm_ledger_read(given->ledger, &ledger) != GM_OK)
        return complain("%s", gm_last_error());
    options->ledger = ledger;
    const int status = explain(&device, problem, options);
    gm_ledger_destroy(ledger);
    return status;
}

static int run(const struct explain_options *given, const struct bench_operation *operation,
               const struct args_list *words) {
    struct bench_case problem;
    struct gm_plan_options options = {.size = sizeof options,
                                      .kernel = given->kernel,
                                      .flags = (given->model_only ? GM_PLAN_MODEL_ONLY : 0u) |
                                               (given->batch_invariant ? GM_PLAN_BATCH_INVARIANT : 0u),
                                      .workspace_limit = (size_t)given->workspace_mib << 20};
    case_start(&problem, operation);
    if (set_sizes(words, &problem) != 0 || set_fields(given, &problem) != 0 ||
        arch_from_option(given->arch, &options.arch_mask) != 0)
        return EXIT_CODE_USAGE;
    return explain_on(given, &problem, &options) == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

/* ---- options ---------------------------------------------------------------------------------------- */

enum { COMMON_OPTIONS = 9 };

/* The options of the fields behind the common ones. Returns how many there are. */
static size_t add_fields(const struct gm_operation *operation, struct explain_options *given,
                         char names[GM_FIELDS_MAX][GM_FIELD_TEXT_BYTES], struct args_option *options) {
    static const char *const values[] = {
        [GM_FIELD_SIZE] = "N", [GM_FIELD_TYPE] = "TYPE", [GM_FIELD_WORD] = "WORD", [GM_FIELD_REAL] = "X"};
    size_t count = COMMON_OPTIONS;
    for (int i = 0; i < operation->field_count; i++) {
        const struct gm_field *field = &operation->fields[i];
        if (!has_option(field))
            continue;
        option_name(field, names[i]);
        options[count++] = (struct args_option){names[i], values[field->kind], ARGS_TEXT, &given->fields[i],
                                                field->about ? field->about : ""};
    }
    return count;
}

/* The operation that the first word names, which is then taken off; without one, the first of all. */
static const struct bench_operation *take_operation(int *argc, char ***argv) {
    const struct bench_operation *named = *argc > 0 ? bench_operation_named((*argv)[0]) : NULL;
    *argc -= named != NULL;
    *argv += named != NULL;
    return named ? named : bench_operations[0];
}

/* "gristmill explain [gemm] M N K [options]" */
static void print_usage(const struct gm_operation *operation, char *usage, size_t bytes) {
    const bool is_first = operation == gm_operations[0];
    size_t used = (size_t)snprintf(usage, bytes, "gristmill explain %s%s%s", is_first ? "[" : "", operation->name,
                                   is_first ? "]" : "");
    for (int i = 0; i < operation->field_count && used < bytes; i++) {
        char title[GM_FIELD_TEXT_BYTES];
        const struct gm_field *field = &operation->fields[i];
        if (field->uses & GM_IN_SUITES && field->kind == GM_FIELD_SIZE)
            used += (size_t)snprintf(usage + used, bytes - used, " %s", field_title(field, title));
    }
    if (used < bytes)
        snprintf(usage + used, bytes - used, " [options]");
}

int command_explain(int argc, char **argv) {
    const struct bench_operation *operation = take_operation(&argc, &argv);
    struct explain_options given = {0};
    struct args_option options[COMMON_OPTIONS + GM_FIELDS_MAX] = {
        {"dtype", "TYPE", ARGS_TEXT, &given.dtype, "of the kernels (default: bf16)"},
        {"out", "TYPE", ARGS_TEXT, &given.out, "of the output, where the operation has another (default: as dtype)"},
        {"arch", "sm80|sm90", ARGS_TEXT, &given.arch, "only this path"},
        {"kernel", "NAME", ARGS_TEXT, &given.kernel, "this kernel and no other"},
        {"ledger", "FILE", ARGS_TEXT, &given.ledger, "ask this tuning ledger instead of the built-in one"},
        {"model-only", NULL, ARGS_FLAG, &given.model_only, "ask no ledger"},
        {"batch-invariant", NULL, ARGS_FLAG, &given.batch_invariant,
         "only kernels whose rows of results do not depend on how many there are"},
        {"workspace", "MIB", ARGS_COUNT, &given.workspace_mib, "the plan may ask for so much (default: 0)"},
        {"device", "N|MODEL", ARGS_TEXT, &given.device, "device number, or a100, h100, h200, a10, rtx4090"},
    };
    char names[GM_FIELDS_MAX][GM_FIELD_TEXT_BYTES], usage[128], about[512], operations[BENCH_NAMES_BYTES];
    print_usage(operation->operation, usage, sizeof usage);
    snprintf(
        about, sizeof about,
        "Every kernel of an operation: accepted with the time the planner predicts, or why not, with the numbers.\n"
        "Needs no GPU: without one, and without --device, it answers for the h200 model. Operations: %s.",
        bench_operation_names(operations));
    const struct args_command command = {usage, about, options,
                                         add_fields(operation->operation, &given, names, options)};
    struct args_list words = {0};
    enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    return run(&given, operation, &words);
}
