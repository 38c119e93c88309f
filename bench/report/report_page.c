/* SPDX-License-Identifier: Apache-2.0 */
/* The page of gristmill bench --report: means, method, plots, and the whole table of each results file. */
#include "bench/report/report_page.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/base/text_table.h"
#include "program/draw/page.h"
#include "program/base/paths.h"
#include "bench/report/report.h"
#include "program/base/messages.h"
#include "program/base/shared_file.h"
#include "program/base/stats.h"

const struct report_plot report_plots[REPORT_PLOTS] = {
    {"ratio", "One panel for each weight matrix that was measured at three sizes of M, or rows, or more.",
     report_ratio_has_data, report_ratio_draw},
    {"roofline",
     "A point is a problem. The ceilings, where there are any, were measured in the same run: a plain read kernel, and "
     "the fastest compute-bound row. The time of a launch is not in them, so small problems stand further below.",
     report_roofline_has_data, report_roofline_draw},
    {"efficiency", "A point is a problem. gristmill and the baseline ran alone, one after the other.",
     report_efficiency_has_data, report_efficiency_draw},
};

const struct bench_row *report_view_row(const struct report_view *view, size_t i) {
    return &view->results->rows[view->index[i]];
}

/* ---- means ------------------------------------------------------------------------------------------ */

/* A line of means: problems of an operation, in a regime, or only its special ones. */
struct mean_of {
    const struct bench_operation *operation;
    const struct bench_regime *regime;
    bool special;
};

static bool is_member(const struct bench_case *problem, const struct mean_of *of) {
    return report_is_in(problem, of->operation, of->regime) &&
           (!of->special || of->operation->is_special(problem->problem.bytes));
}

static void put_number(FILE *out, enum page_state state, double value, const char *format) {
    char text[TEXT_TABLE_NUMBER_BYTES];
    page_cell(out, state, false, "%s", text_table_number(text, value, format));
}

static void put_mean(FILE *out, double value, bool is_ratio) {
    const enum page_state state = !is_ratio || !isfinite(value) ? PAGE_NEUTRAL
                                  : value >= 1                  ? PAGE_OK
                                  : value < 0.9                 ? PAGE_BAD
                                                                : PAGE_NEUTRAL;
    put_number(out, state, value, "%.3f");
}

static void put_means(FILE *out, const struct report_view *view, struct mean_of of, double *scratch) {
    double *best = scratch, *baseline_default = best + view->count, *floors = baseline_default + view->count;
    double *energy = floors + view->count, *alone = energy + view->count;
    size_t used = 0;
    for (size_t i = 0; i < view->count; i++) {
        const struct bench_row *row = report_view_row(view, i);
        if (!is_member(&row->problem, &of))
            continue;
        best[used] = row->ratio_best.median;
        baseline_default[used] = row->ratio_default.median;
        floors[used] = row->us.median / row->floor_us;
        alone[used] = row->ratio_alone;
        energy[used++] = row->best_joules / row->ours_joules;
    }
    if (used == 0)
        return;
    double lowest = INFINITY;
    for (size_t i = 0; i < used; i++)
        lowest = fmin(lowest, best[i]);
    page_row_begin(out);
    const bool is_alone = report_operations(view->results) == 1;
    page_cell(out, PAGE_NEUTRAL, true, "%s%s%s%s", is_alone ? "" : of.operation->operation->name, is_alone ? "" : ", ",
              of.special ? of.operation->special : of.regime->name, of.special ? " (counted above too)" : "");
    page_cell(out, PAGE_NEUTRAL, false, "%zu", used);
    put_mean(out, stats_geomean(best, used), true);
    put_mean(out, lowest, true);
    put_mean(out, stats_geomean(baseline_default, used), true);
    put_mean(out, stats_geomean(alone, used), true);
    put_mean(out, stats_geomean(floors, used), false);
    put_mean(out, stats_geomean(energy, used), true);
    page_row_end(out);
}

static void put_operation(FILE *out, const struct report_view *view, const struct bench_operation *operation,
                          double *scratch) {
    put_means(out, view, (struct mean_of){operation, &report_all, false}, scratch);
    for (int i = 0; i < operation->regime_count; i++)
        put_means(out, view, (struct mean_of){operation, &operation->regimes[i], false}, scratch);
    if (operation->is_special)
        put_means(out, view, (struct mean_of){operation, &report_all, true}, scratch);
}

static void write_means(FILE *out, const struct report_view *view) {
    double *scratch = calloc(5 * view->count + 5, sizeof *scratch);
    if (!scratch)
        return;
    page_table_begin(out, "<problems|number|× best|lowest|× default|× best alone|× floor|energy × best",
                     "Geometric means; above 1, but for the floor, gristmill is better");
    for (size_t i = 0; i < gm_operation_count(); i++)
        put_operation(out, view, bench_operations[i], scratch);
    page_table_end(out);
    free(scratch);
}

/* ---- method ----------------------------------------------------------------------------------------- */

static bool has_alone(const struct report_view *view) {
    for (size_t i = 0; i < view->count; i++) {
        if (isfinite(report_view_row(view, i)->ratio_alone))
            return true;
    }
    return false;
}

static void write_alone(FILE *out, const struct bench_meta *meta) {
    page_paragraph(out,
                   "× best alone: the best's time over gristmill's, each running by itself for %g s and timed once its "
                   "clock has settled. The candidates of a round share one clock, which the power limit moves more "
                   "slowly than they take turns, so the other ratios compare clock cycles; alone, each has the clock "
                   "that its own watts leave it.",
                   meta->energy_s);
}

static void write_floor(FILE *out, const struct bench_ceilings *ceilings) {
    char read[TEXT_TABLE_NUMBER_BYTES], tensor[TEXT_TABLE_NUMBER_BYTES], launch[TEXT_TABLE_NUMBER_BYTES];
    if (!isfinite(ceilings->read_gbs) && !isfinite(ceilings->tensor_tflops) && !isfinite(ceilings->launch_us)) {
        page_paragraph(out, "%s", "There is no floor: the results have no ceilings of the machine.");
        return;
    }
    page_paragraph(out,
                   "Floor: the larger of least bytes over %s GB/s of reading and operations over %s TFLOPS, and "
                   "%s us of a launch. Read: %s. Tensor: %s.",
                   text_table_number(read, ceilings->read_gbs, "%.0f"),
                   text_table_number(tensor, ceilings->tensor_tflops, "%.0f"),
                   text_table_number(launch, ceilings->launch_us, "%.2f"), report_known(ceilings->read_source),
                   report_known(ceilings->tensor_source));
}

static void write_method(FILE *out, const struct report_view *view) {
    const struct bench_meta *meta = &view->results->meta;
    char l2[96], against[160] = "There was no baseline.", energy[200] = "Energy was not measured.";
    report_l2(l2, sizeof l2, meta);
    if (meta->baseline[0])
        snprintf(against, sizeof against, "The baseline is %s: its default (heuristic 0), and the best of up to %d.",
                 meta->baseline, meta->ways_asked);
    if (meta->energy_source[0])
        snprintf(energy, sizeof energy, "For joules, ours and the best ran alone for %g s each, by %s.", meta->energy_s,
                 meta->energy_source);
    page_paragraph(
        out,
        "%s, driver %s, toolkit %s, revision %s, %s. N(0,1) operands. %s. After %g s of warm-up at each size "
        "the candidates took turns, as CUDA graphs of many launches, for %d rounds of at least %g ms; a "
        "ratio is the median of the rounds' ratios. %s %s",
        meta->gpu, report_known(meta->driver), report_known(meta->toolkit), report_known(meta->revision),
        report_known(meta->date), l2, meta->warmup_s, meta->rounds, meta->round_ms, against, energy);
    if (has_alone(view))
        write_alone(out, meta);
    write_floor(out, &meta->ceilings);
    page_code(out, "%s", meta->command);
}

/* ---- table ------------------------------------------------------------------------------------------ */

/* A cell for each size, and one for the words, which are not broken. */
static void put_problem(FILE *out, const struct bench_case *problem) {
    const struct gm_operation *operation = problem->operation->operation;
    char words[CASE_TEXT_BYTES], unbroken[2 * CASE_TEXT_BYTES] = "";
    for (int i = 0; i < operation->field_count; i++)
        if (operation->fields[i].uses & GM_IN_SUITES && operation->fields[i].kind == GM_FIELD_SIZE)
            page_cell(out, PAGE_NEUTRAL, false, "%" PRId64,
                      gm_field_get(&operation->fields[i], problem->problem.bytes));
    case_words(problem, words);
    for (const char *at = words; *at; at++) {
        const size_t used = strlen(unbroken);
        snprintf(unbroken + used, sizeof unbroken - used, *at == ' ' ? "\u00a0" : "%c", *at);
    }
    page_cell(out, PAGE_NEUTRAL, true, "%s", unbroken);
}

static void put_row(FILE *out, const struct bench_row *row, bool alone, bool energy) {
    page_row_begin(out);
    put_problem(out, &row->problem);
    put_number(out, PAGE_NEUTRAL, row->us.median, "%.2f");
    put_mean(out, row->ratio_best.median, true);
    put_mean(out, row->ratio_default.median, true);
    put_number(out, PAGE_NEUTRAL, row->us.median / row->floor_us, "%.2f");
    put_number(out, PAGE_NEUTRAL, row->tflops, "%.1f");
    put_number(out, PAGE_NEUTRAL, row->gbs, "%.0f");
    put_number(out, PAGE_NEUTRAL, row->best_us.median, "%.2f");
    put_number(out, PAGE_NEUTRAL, row->default_us.median, "%.2f");
    put_number(out, PAGE_NEUTRAL, row->floor_us, "%.2f");
    put_number(out, PAGE_NEUTRAL, row->sm_mhz, "%.0f");
    put_number(out, PAGE_NEUTRAL, row->watts, "%.0f");
    if (alone) {
        put_mean(out, row->ratio_alone, true);
        put_number(out, PAGE_NEUTRAL, row->ours_alone_us, "%.2f");
        put_number(out, PAGE_NEUTRAL, row->best_alone_us, "%.2f");
    }
    if (energy) {
        put_number(out, PAGE_NEUTRAL, row->ours_joules * 1e3, "%.3f");
        put_number(out, PAGE_NEUTRAL, row->best_joules * 1e3, "%.3f");
        put_number(out, PAGE_NEUTRAL, row->tflops_per_watt, "%.3f");
        put_number(out, PAGE_NEUTRAL, row->best_tflops_per_watt, "%.3f");
    }
    page_cell(out, PAGE_NEUTRAL, true, "%s", row->kernel);
    page_row_end(out);
}

static void write_table(FILE *out, const struct report_view *view, const struct bench_operation *operation) {
    const bool alone = has_alone(view), energy = report_efficiency_has_data(view);
    char caption[256], l2[96], columns[384], sizes[CASE_TEXT_BYTES];
    size_t count = 0;
    for (size_t i = 0; i < view->count; i++)
        count += report_view_row(view, i)->problem.operation == operation;
    if (count == 0)
        return;
    report_l2(l2, sizeof l2, &view->results->meta);
    snprintf(caption, sizeof caption, "%zu problem%s of %s. %s.%s", count, count == 1 ? "" : "s",
             operation->operation->name, l2, energy ? " mJ: of one launch; TF/W: TFLOPS per watt." : "");
    snprintf(columns, sizeof columns,
             "%s|us|× best|× default|× floor|TFLOPS|GB/s|best us|default us|floor us|MHz|W%s%s|<kernel",
             case_columns(operation, sizes), alone ? "|× best alone|us alone|best us alone" : "",
             energy ? "|mJ|best mJ|TF/W|best TF/W" : "");
    page_table_begin(out, columns, caption);
    for (size_t i = 0; i < view->count; i++)
        if (report_view_row(view, i)->problem.operation == operation)
            put_row(out, report_view_row(view, i), alone, energy);
    page_table_end(out);
}

/* ---- page ------------------------------------------------------------------------------------------- */

static int write_plots(FILE *out, const struct report_view *view) {
    for (int i = 0; i < REPORT_PLOTS; i++) {
        const struct report_plot *plot = &report_plots[i];
        if (!plot->has_data(view))
            continue;
        page_figure_begin(out);
        if (plot->draw(out, view, true) != 0)
            return -1;
        page_figure_end(out, plot->caption);
    }
    return 0;
}

static void title_of(const struct bench_meta *meta, char *title, size_t bytes) {
    snprintf(title, bytes, "%s on %s", meta->suite, meta->gpu);
}

static int write_results(FILE *out, const struct report_view *view, bool alone) {
    char title[256];
    title_of(&view->results->meta, title, sizeof title);
    page_section_begin(out, NULL, alone ? NULL : title);
    write_means(out, view);
    int status = write_plots(out, view);
    page_heading(out, "Every problem");
    for (size_t i = 0; i < gm_operation_count(); i++)
        write_table(out, view, bench_operations[i]);
    page_heading(out, "Method");
    write_method(out, view);
    page_section_end(out);
    return status;
}

static int write_page(FILE *out, const struct report_view *views, size_t count) {
    char title[320], first[256];
    int status = 0;
    title_of(&views[0].results->meta, first, sizeof first);
    snprintf(title, sizeof title, "gristmill bench: %s%s", first, count > 1 ? ", and others" : "");
    page_begin_adaptive(
        out, title,
        "gristmill's kernels beside other libraries. Every ratio is the baseline's time over gristmill's: "
        "above 1, gristmill is faster.");
    for (size_t i = 0; i < count && status == 0; i++)
        status = write_results(out, &views[i], count == 1);
    page_end(out, "Made by `gristmill bench --report` from saved results.");
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------ */

static FILE *open_file(const char *path) {
    FILE *out = fopen(path, "w");
    if (!out)
        complain("cannot write %s: %s", path, strerror(errno));
    return out;
}

static int close_file(FILE *out, const char *path) {
    if (file_finish(out, path) != 0)
        return -1;
    printf("%s\n", path);
    return 0;
}

/* The plots of the second file are {chart}-2, and so on. */
static int save_plots(const char *pattern, const struct report_view *view, size_t number) {
    const struct bench_meta *meta = &view->results->meta;
    int status = 0, saved = 0;
    for (int i = 0; i < REPORT_PLOTS && status == 0; i++) {
        char path[4096], name[64], suffix[24] = "";
        if (!report_plots[i].has_data(view))
            continue;
        if (number > 0)
            snprintf(suffix, sizeof suffix, "-%zu", number + 1);
        snprintf(name, sizeof name, "%s%s", report_plots[i].name, suffix);
        const struct path_word words[] = {{"gpu", meta->slug}, {"suite", meta->suite}, {"chart", name}};
        if (path_fill(path, sizeof path, pattern, words, sizeof words / sizeof *words) != 0)
            return -1;
        FILE *out = open_file(path);
        status = out ? report_plots[i].draw(out, view, false) : -1;
        if (out && close_file(out, path) != 0)
            status = -1;
        saved++;
    }
    return saved ? status : complain("there is no %s: the results of %s have no data for any", pattern, meta->suite);
}

static int write_all(const char *pattern, const char *svg, const struct report_view *views, size_t count) {
    char path[4096];
    if (results_path(path, sizeof path, pattern, &views[0].results->meta) != 0)
        return -1;
    FILE *out = open_file(path);
    int status = out ? write_page(out, views, count) : -1;
    if (out && close_file(out, path) != 0)
        status = -1;
    for (size_t i = 0; i < count && status == 0 && svg; i++)
        status = save_plots(svg, &views[i], i);
    return status;
}

int report_html(const char *path, const char *svg, const struct bench_results *results, size_t count) {
    struct report_view *views = calloc(count, sizeof *views);
    int status = views ? 0 : complain("out of host memory");
    for (size_t i = 0; i < count && status == 0; i++) {
        size_t *index = calloc(results[i].count + 1, sizeof *index);
        if (!index)
            status = complain("out of host memory");
        else
            views[i] = (struct report_view){&results[i], index, results_fastest(&results[i], index)};
    }
    if (status == 0)
        status = write_all(path, svg, views, count);
    for (size_t i = 0; i < count && views; i++)
        free((void *)views[i].index);
    free(views);
    return status;
}
