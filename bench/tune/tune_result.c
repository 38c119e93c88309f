/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill tune: which rows are timed, which of them is chosen, and the line that says so. Pure. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "host/ledger.h"
#include "host/plan.h"
#include "bench/planner.h"
#include "program/base/stats.h"
#include "bench/suite.h"
#include "bench/tune/tune.h"

#define GOES_ON   1.06 /* times the fastest of the first rounds, by clocks: watts may turn that around */
#define TIE_RATIO 1.01 /* by the median of paired rounds */

double tune_median(const struct tune_sample *sample) {
    return stats_median(sample->samples.us, sample->samples.count);
}

const char *tune_name(const struct tune_sample *sample, char name[DIVIDED_NAME_BYTES]) {
    gm_divided_name(&gm_kernels[sample->kernel], sample->division, name, DIVIDED_NAME_BYTES);
    return name;
}

/* Of one round; 0: its clock was not read, or is none that a GPU has. */
static double mhz_of(const struct bench_samples *samples, size_t round) {
    const double mhz = samples->clocks[round] / samples->us[round];
    return mhz > 100 && mhz < 10000 ? mhz : 0;
}

void tune_at_one_clock(struct tune_sample *samples, size_t count) {
    double *mhz = calloc(count * MAX_ROUNDS + 1, sizeof *mhz);
    size_t known = 0;
    if (!mhz)
        return;
    for (size_t i = 0; i < count; i++)
        for (size_t round = 0; round < samples[i].samples.count; round++)
            if (mhz_of(&samples[i].samples, round) > 0)
                mhz[known++] = mhz_of(&samples[i].samples, round);
    stats_sort(mhz, known);
    for (size_t i = 0; i < count && known > 0; i++)
        for (size_t round = 0; round < samples[i].samples.count; round++)
            if (mhz_of(&samples[i].samples, round) > 0)
                samples[i].samples.us[round] *= mhz_of(&samples[i].samples, round) / mhz[known / 2];
    free(mhz);
}

bool tune_follows_clock(const struct gm_device *device, const struct bench_case *problem) {
    const struct gm_work work = case_work(problem);
    return 2 * work.flops * device->dram_gbs >= work.least_bytes * device->tensor_tflops * 1e3;
}

/* ---- candidates ----------------------------------------------------------------------------------- */

static int compare_predictions(const void *left, const void *right) {
    const struct tune_sample *x = left, *y = right;
    if (x->predicted_us != y->predicted_us)
        return x->predicted_us < y->predicted_us ? -1 : 1;
    return x->kernel != y->kernel ? x->kernel - y->kernel : x->division - y->division;
}

static bool is_allowed(const struct tune_options *options, const struct gm_kernel *row) {
    return (!options->arch_mask || (options->arch_mask & (uint32_t)row->arch)) && is_asked(options->kernel, row->name);
}

/* An accepted kernel, whole, and divided as is predicted to pay: its best division, and one that is faster than whole;
 * or with all divisions, or the one that is asked for. The model picks the best of them. */
static size_t add_kernel(const struct tune_options *options, const struct gm_candidate *candidate,
                         const struct planner *planner, struct tune_sample *into) {
    const struct gm_kernel *kernel = &gm_kernels[candidate->kernel];
    const struct gm_verdict best = planner_verdict(planner, kernel, GM_DIVISION_BEST);
    const struct gm_verdict whole = planner_verdict(planner, kernel, GM_DIVISION_NONE);
    const int chosen = candidate->chosen ? best.division : GM_DIVISION_BEST;
    const int asked = asked_division(options->kernel);
    size_t count = 0;
    for (int division = GM_DIVISION_NONE; division < kernel->family->divisions; division++) {
        const struct gm_verdict verdict = planner_verdict(planner, kernel, division);
        const bool faster = whole.reason == GM_ACCEPTED && verdict.predicted_us < whole.predicted_us;
        const bool pays = faster || division == best.division || division == GM_DIVISION_NONE;
        const bool is_timed = asked != GM_DIVISION_BEST ? division == asked : pays || options->all_divisions;
        if (verdict.reason != GM_ACCEPTED || (!is_timed && division != chosen))
            continue;
        into[count++] = (struct tune_sample){.kernel = candidate->kernel,
                                             .division = division,
                                             .predicted_us = verdict.predicted_us,
                                             .is_model = division == chosen};
    }
    return count;
}

size_t tune_most_candidates(void) {
    size_t most = 0;
    for (size_t i = 0; i < gm_kernel_count(); i++)
        most += (size_t)gm_kernels[i].family->divisions;
    return most;
}

/* `all` has room for tune_most_candidates(): all that the options allow, and the model's pick; -1 on an error. */
static int find_candidates(const struct tune_options *options, const struct gm_device *device,
                           const struct bench_case *problem, struct gm_candidate *candidates, struct tune_sample *all) {
    const struct gm_plan_options model = {
        .size = sizeof model, .flags = GM_PLAN_MODEL_ONLY, .workspace_limit = (size_t)options->workspace_mib << 20};
    const struct gm_operation *operation = problem->operation->operation;
    size_t kernels = gm_kernel_count(), accepted = 0;
    struct planner planner;
    if (gm_explain(operation, device, problem->problem.bytes, &model, candidates, kernels, &kernels) != GM_OK)
        return complain("%s", gm_last_error());
    if (planner_open(&planner, operation, device, problem->problem.bytes, &model) != 0)
        return -1;
    for (size_t i = 0; i < kernels; i++)
        if (candidates[i].reason == GM_ACCEPTED)
            accepted += add_kernel(options, &candidates[i], &planner, &all[accepted]);
    if (accepted)
        qsort(all, accepted, sizeof *all, compare_predictions);
    return (int)accepted;
}

int tune_candidates(const struct tune_options *options, const struct gm_device *device,
                    const struct bench_case *problem, struct tune_sample *samples) {
    struct gm_candidate *candidates = calloc(gm_kernel_count() + 1, sizeof *candidates);
    struct tune_sample *all = calloc(tune_most_candidates() + 1, sizeof *all);
    const int found =
        candidates && all ? find_candidates(options, device, problem, candidates, all) : complain("out of host memory");
    int count = 0, others = 0;
    for (int i = 0; i < found; i++) {
        const bool taken = others < options->top && is_allowed(options, &gm_kernels[all[i].kernel]);
        others += taken;
        if (taken || all[i].is_model)
            samples[count++] = all[i];
    }
    free(candidates);
    free(all);
    return found < 0 ? -1 : count;
}

/* ---- choice --------------------------------------------------------------------------------------- */

/* Faster, or else better liked by the model, or else earlier in the table. */
static bool is_before(const struct tune_sample *x, const struct tune_sample *y) {
    if (tune_median(x) != tune_median(y))
        return tune_median(x) < tune_median(y);
    return compare_predictions(x, y) < 0;
}

/* How many are before it. */
static size_t rank_of(const struct tune_sample *sample, const struct tune_sample *samples, size_t count) {
    size_t rank = 0;
    for (size_t i = 0; i < count; i++)
        rank += samples[i].samples.count && is_before(&samples[i], sample);
    return rank;
}

void tune_select(struct tune_sample *samples, size_t count, size_t most) {
    double fastest = INFINITY;
    for (size_t i = 0; i < count; i++) {
        samples[i].first_us = tune_median(&samples[i]);
        fastest = fmin(fastest, samples[i].first_us); /* which passes over a NaN */
    }
    for (size_t i = 0; i < count; i++) {
        const struct tune_sample *sample = &samples[i];
        samples[i].is_final =
            sample->samples.count &&
            (sample->is_model || (sample->first_us <= GOES_ON * fastest && rank_of(sample, samples, count) < most));
    }
}

void tune_carry_over(struct tune_sample *samples, size_t count) {
    double *changes = calloc(count + 1, sizeof *changes);
    size_t finals = 0;
    if (!changes)
        return;
    for (size_t i = 0; i < count; i++)
        if (samples[i].is_final)
            changes[finals++] = tune_median(&samples[i]) / samples[i].first_us;
    const double change = stats_median(changes, finals);
    for (size_t i = 0; i < count && finals > 0; i++)
        for (size_t round = 0; round < samples[i].samples.count && !samples[i].is_final; round++)
            samples[i].samples.us[round] *= change;
    free(changes);
}

/* Alone, a row has the clock that its own watts leave it; beside others, theirs. Who plans knows of neither case, so
 * both count alike: the geometric mean of a time alone and the time at one clock, if that was measured. */
static double in_either_case(const struct tune_sample *sample, double us_alone) {
    return sample->first_us > 0 ? sqrt(us_alone * sample->first_us) : us_alone;
}

static bool is_better(const struct tune_sample *x, const struct tune_sample *y) {
    const double x_us = in_either_case(x, tune_median(x)), y_us = in_either_case(y, tune_median(y));
    return x_us != y_us ? x_us < y_us : compare_predictions(x, y) < 0;
}

/* Whether `other` cannot be told from the best. */
static bool ties(const struct tune_sample *other, const struct tune_sample *best) {
    double ratios[MAX_ROUNDS];
    const size_t rounds = best->samples.count;
    if (!other->is_final || other->samples.count != rounds)
        return false;
    for (size_t i = 0; i < rounds; i++)
        ratios[i] = in_either_case(other, other->samples.us[i]) / in_either_case(best, best->samples.us[i]);
    return stats_median(ratios, rounds) <= TIE_RATIO && stats_percentile(ratios, rounds, 0.1) <= 1;
}

size_t tune_choose(const struct tune_sample *samples, size_t count) {
    size_t best = count;
    for (size_t i = 0; i < count; i++)
        if (samples[i].is_final && (best == count || is_better(&samples[i], &samples[best])))
            best = i;
    size_t choice = best;
    for (size_t i = 0; i < count; i++)
        if (ties(&samples[i], &samples[best]) && compare_predictions(&samples[i], &samples[choice]) < 0)
            choice = i;
    return choice;
}

static int compare_times(const void *left, const void *right) {
    return is_before(left, right) ? -1 : is_before(right, left);
}

/* The fastest of all stays in any case, as what the choice is compared with. */
size_t tune_keep(struct tune_sample *samples, size_t count, int top) {
    if (count == 0)
        return 0;
    qsort(samples, count, sizeof *samples, compare_times);
    const size_t choice = tune_choose(samples, count), wanted = (size_t)top;
    const size_t fastest = choice < wanted || wanted == 1 ? wanted : wanted - 1;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (i < fastest || i == choice || samples[i].is_model)
            samples[kept++] = samples[i];
    return kept;
}

/* ---- the line ------------------------------------------------------------------------------------- */

bool tune_key(struct bench_case *problem, bool general, struct gm_ledger_key *key) {
    const struct gm_plan_options options = {.size = sizeof options};
    const struct gm_operation *operation = problem->operation->operation;
    struct planner planner = {0};
    if (problem->untaken[0])
        return false;
    if (general && problem->operation->generalise)
        problem->operation->generalise(problem->problem.bytes);
    if (gm_problem_read(operation, problem->problem.bytes, &options, planner.problem) != GM_OK)
        return false;
    *key = gm_ledger_key_of(operation, planner.problem);
    return true;
}

static void print_sample(FILE *out, const struct tune_sample *sample) {
    const struct bench_samples *s = &sample->samples;
    char name[DIVIDED_NAME_BYTES];
    fprintf(out, " %s%s %.3f %.3f %.3f %zu", sample->is_model ? "*" : "", tune_name(sample, name), tune_median(sample),
            stats_percentile(s->us, s->count, 0.1), stats_percentile(s->us, s->count, 0.9), s->count);
}

static void print_key(FILE *out, const struct gm_ledger_key *key) {
    const struct gm_operation *operation = key->operation;
    char text[GM_FIELD_TEXT_BYTES];
    fprintf(out, "%s", operation->name);
    for (int i = 0; i < operation->field_count; i++) {
        const int place = gm_ledger_place(operation, i);
        if (place >= 0)
            fprintf(out, " %s", gm_field_print(&operation->fields[i], key->values[place], text));
    }
}

static void print_line(FILE *out, const struct gm_ledger_key *key, const struct tune_sample *samples, size_t count) {
    const size_t choice = tune_choose(samples, count);
    bool printed[TUNE_TOP_MAX + 1] = {false};
    print_key(out, key);
    for (size_t next = choice; next < count;) {
        print_sample(out, &samples[next]);
        printed[next] = true;
        next = count;
        for (size_t i = 0; i < count; i++)
            if (!printed[i] && samples[i].samples.count && (next == count || is_before(&samples[i], &samples[next])))
                next = i;
    }
}

char *tune_line(const struct gm_ledger_key *key, const struct tune_sample *samples, size_t count) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    print_line(out, key, samples, count);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
