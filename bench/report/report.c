/* SPDX-License-Identifier: Apache-2.0 */
/* What the bench prints. */
#include "bench/report/report.h"

#include <math.h>
#include <stdlib.h>

#include "program/base/text_table.h"
#include "program/base/utf8.h"
#include "program/base/stats.h"

const struct bench_regime report_all = {"all", 0, INT64_MAX};

bool report_is_in(const struct bench_case *problem, const struct bench_operation *operation,
                  const struct bench_regime *regime) {
    const int64_t axis = problem->operation == operation ? case_axis(problem) : -1;
    return axis >= regime->from && axis <= regime->to;
}

int report_operations(const struct bench_results *results) {
    int operations = 0;
    for (size_t i = 0; i < gm_operation_count(); i++) {
        bool has_any = false;
        for (size_t row = 0; row < results->count; row++)
            has_any |= results->rows[row].problem.operation == bench_operations[i];
        operations += has_any;
    }
    return operations;
}

const char *report_known(const char *text) {
    return text[0] ? text : "unknown";
}

enum { PROBLEM_WIDTH = 38, US_WIDTH = 9, RATE_WIDTH = 7, RATIO_WIDTH = 7, RANGE_WIDTH = 11 };
enum { JOULE_WIDTH = 9, EFFICIENCY_WIDTH = 6 };

static void put_number(FILE *out, double value, int width, const char *format) {
    char text[TEXT_TABLE_NUMBER_BYTES];
    fputc(' ', out);
    text_table_put(out, text_table_number(text, value, format), (size_t)width, false);
}

void report_l2(char *text, size_t bytes, const struct bench_meta *meta) {
    if (meta->rotate_l2 > 0)
        snprintf(text, bytes, "L2 cold: operands rotate over %g x L2", meta->rotate_l2);
    else
        snprintf(text, bytes, "L2 warm: one set of operands, which stays in L2 as far as it fits");
}

struct title {
    const char *text;
    int width;
};

static void put_titles(FILE *out, const struct title *titles, size_t count) {
    for (size_t i = 0; i < count; i++) {
        fputc(' ', out);
        text_table_put(out, titles[i].text, (size_t)titles[i].width, false);
    }
}

void report_header(FILE *out, const struct bench_meta *meta) {
    static const struct title times[] = {{"us", US_WIDTH},
                                         {"TFLOPS", RATE_WIDTH},
                                         {"GB/s", RATE_WIDTH},
                                         {"best us", US_WIDTH},
                                         {"default", US_WIDTH},
                                         {"× best", RATIO_WIDTH},
                                         {"p10–p90", RANGE_WIDTH},
                                         {"× deflt", RATIO_WIDTH},
                                         {"× floor", RATIO_WIDTH},
                                         {"MHz", 5},
                                         {"W", 4}};
    static const struct title alone[] = {{"× alone", RATIO_WIDTH},
                                         {"mJ", JOULE_WIDTH},
                                         {"best mJ", JOULE_WIDTH},
                                         {"TF/W", EFFICIENCY_WIDTH},
                                         {"best", EFFICIENCY_WIDTH}};
    char l2[96];
    report_l2(l2, sizeof l2, meta);
    fprintf(out, "%s\n", l2);
    text_table_put(out, "problem", PROBLEM_WIDTH, true);
    put_titles(out, times, sizeof times / sizeof *times);
    if (meta->energy_s > 0)
        put_titles(out, alone, sizeof alone / sizeof *alone);
    fputs("  kernel\n", out);
}

void report_row(FILE *out, const struct bench_meta *meta, const struct bench_row *row) {
    char text[2 * CASE_TEXT_BYTES], sizes[CASE_TEXT_BYTES], words[CASE_TEXT_BYTES], range[32] = "";
    snprintf(text, sizeof text, "%s %s", case_sizes(&row->problem, " × ", sizes), case_words(&row->problem, words));
    text_table_put(out, text, PROBLEM_WIDTH, true);
    put_number(out, row->us.median, US_WIDTH, "%.2f");
    put_number(out, row->tflops, RATE_WIDTH, "%.1f");
    put_number(out, row->gbs, RATE_WIDTH, "%.0f");
    put_number(out, row->best_us.median, US_WIDTH, "%.2f");
    put_number(out, row->default_us.median, US_WIDTH, "%.2f");
    put_number(out, row->ratio_best.median, RATIO_WIDTH, "%.3f");
    if (isfinite(row->ratio_best.p10) && isfinite(row->ratio_best.p90))
        snprintf(range, sizeof range, "%.3f–%.3f", row->ratio_best.p10, row->ratio_best.p90);
    fputc(' ', out);
    text_table_put(out, range, RANGE_WIDTH, false);
    put_number(out, row->ratio_default.median, RATIO_WIDTH, "%.3f");
    put_number(out, row->us.median / row->floor_us, RATIO_WIDTH, "%.2f");
    put_number(out, row->sm_mhz, 5, "%.0f");
    put_number(out, row->watts, 4, "%.0f");
    if (meta->energy_s > 0) {
        put_number(out, row->ratio_alone, RATIO_WIDTH, "%.3f");
        put_number(out, row->ours_joules * 1e3, JOULE_WIDTH, "%.3f");
        put_number(out, row->best_joules * 1e3, JOULE_WIDTH, "%.3f");
        put_number(out, row->tflops_per_watt, EFFICIENCY_WIDTH, "%.3f");
        put_number(out, row->best_tflops_per_watt, EFFICIENCY_WIDTH, "%.3f");
    }
    fprintf(out, "  %s%s%s\n", row->kernel, row->throttle[0] ? "  limit: " : "", row->throttle);
}

static void print_means(FILE *out, const struct bench_results *results, const size_t *index, size_t count,
                        const struct bench_operation *operation, const struct bench_regime *regime) {
    double best[4096], baseline_default[4096], alone[4096], lowest = INFINITY;
    size_t used = 0;
    for (size_t i = 0; i < count && used < 4096; i++) {
        const struct bench_row *row = &results->rows[index[i]];
        if (!report_is_in(&row->problem, operation, regime) || !isfinite(row->ratio_best.median))
            continue;
        best[used] = row->ratio_best.median;
        alone[used] = row->ratio_alone;
        baseline_default[used++] = row->ratio_default.median;
        lowest = fmin(lowest, row->ratio_best.median);
    }
    if (used == 0)
        return;
    fputs("  ", out);
    text_table_put(out, regime->name, 14, true);
    char mean[TEXT_TABLE_NUMBER_BYTES];
    utf8_print(out, " %4zu problems   × best %.3f   × default %s   lowest × best %.3f", used, stats_geomean(best, used),
               text_table_number(mean, stats_geomean(baseline_default, used), "%.3f"), lowest);
    if (isfinite(stats_geomean(alone, used)))
        utf8_print(out, "   × alone %.3f", stats_geomean(alone, used));
    fputc('\n', out);
}

/* Over all problems and by regime; where there are several operations, under its name. */
static void print_operation(FILE *out, const struct bench_results *results, const size_t *index, size_t count,
                            const struct bench_operation *operation) {
    if (report_operations(results) > 1)
        fprintf(out, "%s\n", operation->operation->name);
    print_means(out, results, index, count, operation, &report_all);
    for (int i = 0; i < operation->regime_count; i++)
        print_means(out, results, index, count, operation, &operation->regimes[i]);
}

/* Only where something was: a run without energy, and older files, have no times alone. */
static void explain_alone(FILE *out, const struct bench_results *results) {
    bool any = false;
    for (size_t i = 0; i < results->count; i++)
        any |= isfinite(results->rows[i].ratio_alone);
    if (any)
        utf8_print(
            out,
            "  × best and × default took turns, at one shared clock; × alone is to the best too, each by itself\n"
            "  for %g s, at the clock that its own watts leave it\n",
            results->meta.energy_s);
}

static void print_ceilings(FILE *out, const struct bench_meta *meta) {
    const struct bench_ceilings *ceilings = &meta->ceilings;
    char read[TEXT_TABLE_NUMBER_BYTES], write[TEXT_TABLE_NUMBER_BYTES], copy[TEXT_TABLE_NUMBER_BYTES];
    char tensor[TEXT_TABLE_NUMBER_BYTES], launch[TEXT_TABLE_NUMBER_BYTES];
    utf8_print(out, "\nceilings of this machine: read %s GB/s (%s), write %s, copy %s\n",
               text_table_number(read, ceilings->read_gbs, "%.0f"), report_known(ceilings->read_source),
               text_table_number(write, ceilings->write_gbs, "%.0f"),
               text_table_number(copy, ceilings->copy_gbs, "%.0f"));
    utf8_print(out, "  tensor %s TFLOPS (%s), launch %s us (%s)\n",
               text_table_number(tensor, ceilings->tensor_tflops, "%.0f"), report_known(ceilings->tensor_source),
               text_table_number(launch, ceilings->launch_us, "%.2f"), report_known(ceilings->launch_source));
}

/* What was measured of it: a file that is added to may be older than some of these. */
static void print_host_cost(FILE *out, const struct bench_meta *meta) {
    if (!(meta->execute_ns > 0))
        return;
    fprintf(out, "host cost of one call: execute %.0f ns", meta->execute_ns);
    if (meta->execute_recurring_ns > 0)
        fprintf(out, " (%.0f with arguments that recur)", meta->execute_recurring_ns);
    if (meta->execute_plain_ns > 0)
        fprintf(out, " (%.0f with plain launches)", meta->execute_plain_ns);
    if (meta->baseline_execute_ns > 0)
        fprintf(out, ", the baseline %.0f ns", meta->baseline_execute_ns);
    if (meta->ceilings.launch_host_ns > 0)
        fprintf(out, ", cuLaunchKernelEx of an empty kernel %.0f ns", meta->ceilings.launch_host_ns);
    fputc('\n', out);
}

void report_summary(FILE *out, const struct bench_results *results) {
    size_t *index = malloc((results->count + 1) * sizeof *index);
    if (!index)
        return;
    size_t count = results_fastest(results, index);
    if (results->meta.baseline[0]) {
        fprintf(out, "\ngeometric means of the ratio to %s (above 1: gristmill is faster), L2 %s\n",
                results->meta.baseline, results_l2(&results->meta));
        for (size_t i = 0; i < gm_operation_count(); i++)
            print_operation(out, results, index, count, bench_operations[i]);
        explain_alone(out, results);
    }
    print_ceilings(out, &results->meta);
    print_host_cost(out, &results->meta);
    free(index);
}
