/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of the bench leaves: its results file, which may hold earlier parts, its plot, page and comparison. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/report/compare.h"
#include "bench/report/report.h"
#include "bench/report/report_page.h"
#include "bench/report/results_read.h"

/* ---- the results file ------------------------------------------------------------------------------- */

/* "first; second", unless the second is the first once more. */
static void join_commands(struct bench_meta *meta, const char *earlier) {
    char later[sizeof meta->command];
    const size_t length = strlen(earlier), tail = strlen(meta->command);
    const bool repeated = length >= tail && strcmp(earlier + length - tail, meta->command) == 0;
    snprintf(later, sizeof later, "%s", meta->command);
    int used = snprintf(meta->command, sizeof meta->command, "%s", earlier);
    if (!repeated)
        snprintf(meta->command + used, sizeof meta->command - (size_t)used, "; %s", later);
}

/* The floors of all rows come from one set of ceilings: those of the first part. */
static void adopt(struct bench_results *results, const struct bench_results *earlier) {
    struct bench_meta *meta = &results->meta;
    join_commands(meta, earlier->meta.command);
    meta->ceilings = earlier->meta.ceilings;
    meta->execute_ns = earlier->meta.execute_ns;
    meta->execute_recurring_ns = earlier->meta.execute_recurring_ns;
    meta->execute_plain_ns = earlier->meta.execute_plain_ns;
    meta->baseline_execute_ns = earlier->meta.baseline_execute_ns;
    memcpy(meta->energy_source, earlier->meta.energy_source, sizeof meta->energy_source);
    results->rows = earlier->rows;
    results->count = earlier->count;
    results->capacity = earlier->capacity;
}

int bench_resume(struct bench *bench) {
    struct bench_results earlier;
    char path[4096], difference[512];
    if (!bench->options->append)
        return 0;
    if (results_path(path, sizeof path, bench->options->json, &bench->results.meta) != 0)
        return -1;
    if (file_lock(&bench->lock, path) != 0)
        return -1;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return 0;
    if (results_read_json(&earlier, path) != 0)
        return -1;
    if (results_differ(&earlier.meta, &bench->results.meta, difference, sizeof difference)) {
        results_free(&earlier);
        return complain("%s cannot be appended to; it differs in %s", path, difference);
    }
    adopt(&bench->results, &earlier);
    bench->resumed = true;
    return 0;
}

bool bench_is_done(const struct bench *bench, const struct bench_case *problem) {
    for (size_t i = 0; i < bench->results.count; i++) {
        if (case_equal(&bench->results.rows[i].problem, problem))
            return true;
    }
    return false;
}

static size_t place_of(const struct bench_suite *suite, const struct bench_row *row) {
    size_t place = 0;
    while (place < suite->count && !case_equal(&suite->cases[place], &row->problem))
        place++;
    return place;
}

/* Parts of a suite, in whatever order they were measured, stand in the suite's order. By insertion: they nearly do. */
static void sort_rows(struct bench_results *results, const struct bench_suite *suite) {
    for (size_t i = 1; i < results->count; i++) {
        const struct bench_row row = results->rows[i];
        const size_t place = place_of(suite, &row);
        size_t at = i;
        for (; at > 0 && place_of(suite, &results->rows[at - 1]) > place; at--)
            results->rows[at] = results->rows[at - 1];
        results->rows[at] = row;
    }
}

int bench_write_json(struct bench *bench, const struct bench_suite *suite) {
    char path[4096];
    if (!bench->options->json || bench->results.count == 0)
        return 0;
    if (bench->resumed)
        sort_rows(&bench->results, suite);
    if (results_path(path, sizeof path, bench->options->json, &bench->results.meta) != 0)
        return -1;
    return results_write_json(&bench->results, path);
}

/* ---- plot, page, comparison ------------------------------------------------------------------------- */

static int write_svg(const char *svg, const struct bench_results *results) {
    char path[4096];
    if (!svg)
        return 0;
    if (!results->meta.baseline[0])
        return complain("there is no %s without a baseline: it shows ratios to one", svg);
    if (results_path(path, sizeof path, svg, &results->meta) != 0)
        return -1;
    return report_svg(results, path);
}

static int write_page(const struct bench *bench) {
    char path[4096];
    if (!bench->options->report)
        return 0;
    if (results_path(path, sizeof path, bench->options->report, &bench->results.meta) != 0)
        return -1;
    return report_html(path, NULL, &bench->results, 1);
}

int bench_refuse_outputs(const struct bench_options *options, const char *because) {
    const struct {
        const char *asked, *there_is_no;
    } outputs[] = {{options->json, ""},
                   {options->svg, ""},
                   {options->report, ""},
                   {options->compare, "comparison with "},
                   {options->cublaslt, "baseline of "},
                   {options->profile ? "--profile" : NULL, "launch for "},
                   {options->all_kernels ? "--all-kernels" : NULL, "row for "}};
    int status = 0;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i].asked)
            status = complain("nothing was measured, so there is no %s%s: %s", outputs[i].there_is_no, outputs[i].asked,
                              because);
    return status;
}

int bench_write_outputs(const struct bench *bench, const struct bench_results *before) {
    int status = write_svg(bench->options->svg, &bench->results);
    if (write_page(bench) != 0)
        status = -1;
    if (before) {
        fputc('\n', stdout);
        if (compare_print(stdout, before, &bench->results, bench->options->fail_below) != 0)
            status = -1;
    }
    return status;
}

/* ---- without measuring ------------------------------------------------------------------------------ */

static int read_all_results(const struct args_list *paths, struct bench_results *results) {
    for (size_t i = 0; i < paths->count; i++) {
        if (results_read_json(&results[i], paths->items[i]) != 0)
            return -1;
        if (results[i].count == 0)
            return complain("%s has no rows", paths->items[i]);
    }
    return 0;
}

static int compare_files(const struct bench_options *options, const struct bench_results *now) {
    struct bench_results before;
    if (!options->compare)
        return 0;
    if (results_read_json(&before, options->compare) != 0)
        return -1;
    int status = compare_print(stdout, &before, now, options->fail_below);
    results_free(&before);
    return status;
}

int bench_look_at_files(const struct bench_options *options) {
    const struct args_list *paths = &options->results;
    struct bench_results *results = calloc(paths->count, sizeof *results);
    if (!results)
        return complain("out of host memory");
    int status = read_all_results(paths, results);
    if (status == 0)
        status = compare_files(options, &results[0]);
    if (options->report && results[paths->count - 1].count > 0 &&
        report_html(options->report, options->svg, results, paths->count) != 0)
        status = -1;
    if (status == 0 && !options->report)
        status = write_svg(options->svg, &results[0]);
    for (size_t i = 0; i < paths->count; i++)
        results_free(&results[i]);
    free(results);
    return status;
}
