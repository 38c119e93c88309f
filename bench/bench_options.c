/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line of gristmill bench asks for: checked, and made into cases and a method. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "program/commands.h"

#define ROTATE_OVER_L2 3.0
#define ENERGY_S       0.4

/* ---- checks ----------------------------------------------------------------------------------------- */

/* "MIN:MAX", either of which may be missing, or one size. */
static int read_m_range(const char *text, int64_t *from, int64_t *to) {
    char *end = (char *)text;
    *from = 1;
    *to = INT64_MAX;
    if (!text)
        return 0;
    if (*text != ':')
        *from = *to = strtoll(text, &end, 10);
    if (*end == ':' && end[1] == 0)
        *to = INT64_MAX;
    else if (*end == ':')
        *to = strtoll(end + 1, &end, 10);
    if ((*end && strcmp(end, ":") != 0) || strcmp(text, ":") == 0 || !*text || *from < 1 || *to < *from ||
        strspn(text, "0123456789:") != strlen(text))
        return complain("--m wants MIN:MAX, sizes of M from 1 up, either of which may be missing, not `%s`", text);
    return 0;
}

/* Which words are suites, and which are results to look at. */
static int sort_words(struct bench_options *options) {
    for (size_t i = 0; i < options->words.count; i++) {
        const char *word = options->words.items[i];
        const size_t length = strlen(word);
        struct args_list *to =
            length > 5 && strcmp(word + length - 5, ".json") == 0 ? &options->results : &options->suites;
        to->items[to->count++] = word;
    }
    const bool measures = options->suites.count + options->files.count + options->shapes.count > 0;
    if (options->results.count && !options->compare && !options->report && !options->svg)
        return complain("%s is a results file: it needs --report, --compare or --svg", options->results.items[0]);
    if (options->results.count && measures)
        return complain("either results files are looked at or suites are measured, not both");
    if (options->compare && options->results.count > 1)
        return complain("--compare OLD takes one file to compare it with, not %zu", options->results.count);
    return 0;
}

static int check_outputs(const struct bench_options *options) {
    if (options->l2 && strcmp(options->l2, "cold") != 0 && strcmp(options->l2, "warm") != 0)
        return complain("--l2 is cold or warm, not `%s`", options->l2);
    if (options->append && !options->json)
        return complain("--append adds to the file of --json, which is missing");
    if (options->fail_below >= 0 && !options->compare)
        return complain("--fail-below is about --compare, which is missing");
    if (options->profile && (options->json || options->svg || options->report || options->compare))
        return complain("--profile measures nothing: there is nothing for --json, --svg, --report or --compare");
    if (options->profile && (options->rounds || options->quick || options->round_ms >= 0 || options->warmup_s >= 0 ||
                             options->energy_s >= 0))
        return complain(
            "--profile takes no times: --rounds, --round-ms, --warmup, --energy and --quick are not for it");
    if (options->no_baseline && options->svg && !options->results.count)
        return complain("--svg draws ratios to the baseline, and --no-baseline leaves it out");
    if (options->no_baseline && options->cublaslt)
        return complain("--no-baseline leaves out the baseline that --cublaslt names");
    if (options->operation && options->shapes.count == 0)
        return complain("--operation is of the problems of --shape, which is missing");
    if (options->svg && options->report && options->results.count && !strstr(options->svg, "{chart}"))
        return complain("--svg of --report wants a name with {chart} in it, such as 'plots/{chart}.svg', not `%s`",
                        options->svg);
    if (options->svg && options->compare && options->results.count && !options->report)
        return complain("--svg draws what is measured, one RESULT, or what --report shows");
    if (options->svg && options->results.count > 1 && !options->report)
        return complain("--svg draws one results file, not %zu", options->results.count);
    return 0;
}

int bench_options_check(struct bench_options *options) {
    if (sort_words(options) != 0 || check_outputs(options) != 0 ||
        read_m_range(options->m, &options->m_from, &options->m_to) != 0)
        return -1;
    if (options->rounds > MAX_ROUNDS)
        return complain("--rounds is at most %d, not %d", MAX_ROUNDS, options->rounds);
    if (check_kernel(options->kernel) != 0)
        return -1;
    options->flags = (options->no_overlap ? GM_PLAN_NO_OVERLAP : 0u) | (options->model_only ? GM_PLAN_MODEL_ONLY : 0u) |
                     (options->constant_b ? GM_PLAN_CONSTANT_B : 0u) |
                     (options->batch_invariant ? GM_PLAN_BATCH_INVARIANT : 0u);
    return arch_from_option(options->arch, &options->arch_mask);
}

/* ---- cases ------------------------------------------------------------------------------------------ */

int bench_options_cases(const struct bench_options *options, struct bench_suite *suite) {
    for (size_t i = 0; i < options->suites.count; i++) {
        if (suite_load(suite, options->suites.items[i]) != 0)
            return -1;
    }
    for (size_t i = 0; i < options->files.count; i++) {
        if (suite_load(suite, options->files.items[i]) != 0)
            return -1;
    }
    if (options->suites.count + options->files.count + options->shapes.count == 0 &&
        suite_load(suite, "gemm-quick") != 0)
        return -1;
    if (suite_add_shapes(suite, options->operation, options->shapes.items, options->shapes.count) != 0)
        return -1;
    if (suite->name[0] == 0)
        snprintf(suite->name, sizeof suite->name, "custom");
    const struct suite_override override = {options->dtype, options->out, options->layout, options->sets.items,
                                            options->sets.count};
    size_t chosen = 0;
    for (size_t i = 0; i < suite->count; i++) {
        if (suite_override(&suite->cases[i], &override) != 0 || case_complete(&suite->cases[i]) != 0)
            return -1;
        chosen += bench_is_chosen(options, &suite->cases[i]);
    }
    return chosen ? 0 : complain("no problem of %s has its M in %s", suite->name, options->m); /* without --m: all do */
}

bool bench_is_chosen(const struct bench_options *options, const struct bench_case *problem) {
    const int64_t axis = case_axis(problem);
    return axis >= options->m_from && axis <= options->m_to;
}

/* ---- method ----------------------------------------------------------------------------------------- */

/* The published method, a shorter one for sweeps over the whole table, a shorter one yet for a quick look. */
void bench_options_method(const struct bench_options *options, struct bench_meta *meta) {
    bool sweep = options->all_kernels;
    meta->rounds = options->quick || sweep ? 3 : 7;
    meta->round_ms = options->quick || sweep ? 3 : 10;
    meta->warmup_s = options->quick ? 0.1 : sweep ? 0.3 : 1;
    meta->energy_s = options->quick || sweep ? 0 : ENERGY_S;
    if (options->rounds)
        meta->rounds = options->rounds;
    if (options->warmup_s >= 0)
        meta->warmup_s = options->warmup_s;
    if (options->round_ms >= 0)
        meta->round_ms = options->round_ms;
    if (options->energy_s >= 0)
        meta->energy_s = options->energy_s;
    meta->workspace_bytes = (double)options->workspace_mib * (1 << 20);
    meta->rotate_l2 = options->l2 && strcmp(options->l2, "warm") == 0 ? 0 : ROTATE_OVER_L2;
}
