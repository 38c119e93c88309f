/* SPDX-License-Identifier: Apache-2.0 */
/* Two results files, problem by problem. */
#include "bench/report/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/base/text_table.h"
#include "program/base/utf8.h"
#include "bench/report/report.h"
#include "program/base/messages.h"
#include "program/base/stats.h"

struct comparison {
    FILE *out;
    const struct bench_results *before, *now;
    size_t *of_before, *of_now; /* rows: the fastest of each problem */
    size_t before_count, now_count;
    const struct bench_row **was; /* for each of of_now its row of before; NULL: none */
    size_t pairs;
};

int compare_check(const struct bench_meta *before, const struct bench_meta *now) {
    if (strcmp(results_l2(before), results_l2(now)) == 0)
        return 0;
    return complain("results of L2 %s and of L2 %s cannot be compared: they answer different questions",
                    results_l2(before), results_l2(now));
}

static const struct bench_row *row_now(const struct comparison *c, size_t i) {
    return &c->now->rows[c->of_now[i]];
}

/* Above 1: it became faster. */
static double speedup(const struct comparison *c, size_t i) {
    return c->was[i] ? c->was[i]->us.median / row_now(c, i)->us.median : NAN;
}

/* ---- pairing ---------------------------------------------------------------------------------------- */

static const struct bench_row *find(const struct comparison *c, const struct bench_case *problem) {
    for (size_t i = 0; i < c->before_count; i++) {
        const struct bench_row *row = &c->before->rows[c->of_before[i]];
        if (case_equal(&row->problem, problem))
            return row;
    }
    return NULL;
}

static int pair(struct comparison *c) {
    c->of_before = calloc(c->before->count + 1, sizeof *c->of_before);
    c->of_now = calloc(c->now->count + 1, sizeof *c->of_now);
    c->was = calloc(c->now->count + 1, sizeof *c->was);
    if (!c->of_before || !c->of_now || !c->was)
        return complain("out of host memory");
    c->before_count = results_fastest(c->before, c->of_before);
    c->now_count = results_fastest(c->now, c->of_now);
    for (size_t i = 0; i < c->now_count; i++) {
        c->was[i] = find(c, &row_now(c, i)->problem);
        c->pairs += c->was[i] != NULL;
    }
    return c->pairs ? 0 : complain("the two have no problem in common");
}

/* ---- printing --------------------------------------------------------------------------------------- */

static void print_caption(FILE *out, const char *what, const struct bench_results *results) {
    const struct bench_meta *meta = &results->meta;
    fprintf(out, "%s: %s, %s, revision %s, %s, L2 %s\n", what, meta->suite, meta->gpu, report_known(meta->revision),
            report_known(meta->date), results_l2(meta));
}

/* Rounds that overlap, p10 to p90, may be the same time. */
static bool within_noise(const struct bench_row *was, const struct bench_row *is) {
    return was->us.p10 <= is->us.p90 && is->us.p10 <= was->us.p90;
}

static bool add_pair(struct text_table *table, const struct bench_row *was, const struct bench_row *is) {
    const bool changed = strcmp(was->kernel, is->kernel) != 0;
    char cells[CASE_TEXT_BYTES], ratio_was[TEXT_TABLE_NUMBER_BYTES], ratio_is[TEXT_TABLE_NUMBER_BYTES];
    return text_table_add(table, "%s|%.2f|%.2f|%.3f|%+.1f|%s|%s|%s|%s%s%s", case_cells(&is->problem, cells),
                          was->us.median, is->us.median, was->us.median / is->us.median,
                          100 * (is->us.median / was->us.median - 1), within_noise(was, is) ? "~" : "",
                          text_table_number(ratio_was, was->ratio_best.median, "%.3f"),
                          text_table_number(ratio_is, is->ratio_best.median, "%.3f"), changed ? was->kernel : "",
                          changed ? " → " : "", is->kernel);
}

/* The table of one operation's problems; nothing where there are none. */
static int print_pairs(const struct comparison *c, const struct bench_operation *operation) {
    struct text_table table;
    char columns[CASE_TEXT_BYTES], titles[2 * CASE_TEXT_BYTES];
    size_t count = 0;
    snprintf(titles, sizeof titles, "%s|old us|new us|old / new|change %%|<|old × best|new × best|<kernel",
             case_columns(operation, columns));
    bool fits = text_table_start(&table, titles);
    for (size_t i = 0; i < c->now_count && fits; i++) {
        if (!c->was[i] || row_now(c, i)->problem.operation != operation)
            continue;
        fits = add_pair(&table, c->was[i], row_now(c, i));
        count++;
    }
    if (fits && count)
        text_table_print(&table, c->out);
    text_table_free(&table);
    return fits ? 0 : complain("out of host memory");
}

static void print_mean(const struct comparison *c, const struct bench_operation *operation,
                       const struct bench_regime *regime, double *ratios) {
    size_t used = 0;
    for (size_t i = 0; i < c->now_count; i++) {
        if (c->was[i] && report_is_in(&row_now(c, i)->problem, operation, regime))
            ratios[used++] = speedup(c, i);
    }
    if (used == 0)
        return;
    fputs("  ", c->out);
    text_table_put(c->out, regime->name, 14, true);
    fprintf(c->out, " %4zu problems   old / new %.3f   lowest %.3f\n", used, stats_geomean(ratios, used),
            stats_percentile(ratios, used, 0));
}

static int print_means(const struct comparison *c) {
    double *ratios = calloc(c->now_count, sizeof *ratios);
    size_t changed = 0;
    if (!ratios)
        return complain("out of host memory");
    for (size_t i = 0; i < c->now_count; i++)
        changed += c->was[i] && strcmp(c->was[i]->kernel, row_now(c, i)->kernel) != 0;
    fprintf(c->out, "\ngeometric means of old us / new us (above 1: faster now); %zu of %zu kernels changed\n", changed,
            c->pairs);
    for (size_t i = 0; i < gm_operation_count(); i++) {
        print_mean(c, bench_operations[i], &report_all, ratios);
        for (int j = 0; j < bench_operations[i]->regime_count; j++)
            print_mean(c, bench_operations[i], &bench_operations[i]->regimes[j], ratios);
    }
    free(ratios);
    return 0;
}

static void print_alone(FILE *out, const char *where, bool *first, const struct bench_case *problem) {
    char sizes[CASE_TEXT_BYTES], words[CASE_TEXT_BYTES];
    if (*first)
        fprintf(out, "\nonly in the %s results:\n", where);
    *first = false;
    utf8_print(out, "  %s %s\n", case_sizes(problem, " × ", sizes), case_words(problem, words));
}

static void print_unpaired(const struct comparison *c) {
    bool first = true;
    for (size_t i = 0; i < c->before_count; i++) {
        const struct bench_case *problem = &c->before->rows[c->of_before[i]].problem;
        bool found = false;
        for (size_t j = 0; j < c->now_count && !found; j++)
            found = case_equal(problem, &row_now(c, j)->problem);
        if (!found)
            print_alone(c->out, "old", &first, problem);
    }
    first = true;
    for (size_t i = 0; i < c->now_count; i++) {
        if (!c->was[i])
            print_alone(c->out, "new", &first, &row_now(c, i)->problem);
    }
}

/* ---- verdict ---------------------------------------------------------------------------------------- */

static int judge(const struct comparison *c, double fail_below) {
    size_t below = 0, lowest = 0;
    for (size_t i = 0; i < c->now_count; i++) {
        if (!(speedup(c, i) < fail_below))
            continue;
        if (below == 0 || speedup(c, i) < speedup(c, lowest))
            lowest = i;
        below++;
    }
    if (below == 0)
        return 0;
    char label[CASE_TEXT_BYTES];
    return complain("%zu of %zu problems fell below %g of their old speed; the worst is %s with %.3f", below, c->pairs,
                    fail_below, case_sizes(&row_now(c, lowest)->problem, " x ", label), speedup(c, lowest));
}

int compare_print(FILE *out, const struct bench_results *before, const struct bench_results *now, double fail_below) {
    struct comparison c = {.out = out, .before = before, .now = now};
    int status = compare_check(&before->meta, &now->meta);
    if (status == 0)
        status = pair(&c);
    if (status == 0) {
        print_caption(out, "old", before);
        print_caption(out, "new", now);
        utf8_put(out, "~ the rounds overlap, p10 to p90; × best: the baseline's best time over ours\n\n");
    }
    for (size_t i = 0; i < gm_operation_count() && status == 0; i++)
        status = print_pairs(&c, bench_operations[i]);
    if (status == 0)
        status = print_means(&c);
    if (status == 0)
        print_unpaired(&c);
    if (status == 0)
        status = judge(&c, fail_below);
    free(c.of_before);
    free(c.of_now);
    free(c.was);
    return status;
}
