/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of lab report: labels taken apart, and what is drawn of which numbers. */
#include "bench_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drawings.h"
#include "lab/lab_figures.h"
#include "lab/lab_label.h"
#include "lab/lab_pairs.h"
#include "lab/lab_report.h"
#include "run_command.h"
#include "lab/modules.h"

/* ---- labels --------------------------------------------------------------------------------------- */

START_TEST(labels_are_taken_apart) {
    static const struct {
        const char *pattern, *label, *row, *column, *x;
        bool matches;
    } cases[] = {
        {"{row}", "stride 1", "stride 1", "", "", true},
        {"stride {x}", "stride 32", "", "", "32", true},
        {"stride {x}", "stride many", "", "", "", false},
        {"stride {x}", "stride ", "", "", "", false},
        {"stride {x}", "a stride 1", "", "", "", false},
        {"{row}, {column} lanes {row}", "red.add of 1, 4 lanes on a word", "red.add of 1 on a word", "4", "", true},
        {"{row}, {x} warp{rest}", "ld, merged, pattern 1, 25 warps", "ld, merged, pattern 1", "", "25", true},
        {"{row}, {column} {x}", "global, one bin 4194304", "global", "one bin", "4194304", true},
        {"{row}, counted|{row}", "u8, inside, counted", "u8, inside", "", "", true},
        {"{row}, counted|{row}", "u8, inside", "u8, inside", "", "", true},
        {"{column} from {row}", "{-2,-1} {-1,0} from 0,0", "0,0", "{-2,-1} {-1,0}", "", true},
        {"{row}, 4096", "naive, 8192", "", "", "", false},
        {"{nothing}", "{nothing}", "", "", "", true},
        {"", "", "", "", "", true},
        {"", "x", "", "", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct label label;
        ck_assert_msg(label_match(cases[i].pattern, cases[i].label, &label) == cases[i].matches, "%s: %s",
                      cases[i].pattern, cases[i].label);
        if (!cases[i].matches)
            continue;
        ck_assert_str_eq(label.part[LABEL_ROW], cases[i].row);
        ck_assert_str_eq(label.part[LABEL_COLUMN], cases[i].column);
        ck_assert_str_eq(label.part[LABEL_X], cases[i].x);
    }
}
END_TEST

START_TEST(numbers_of_labels) {
    struct label label;
    ck_assert(label_match("{y} x {x} CTAs", "528 x -2.5 CTAs", &label));
    ck_assert_double_eq(label_number(&label, LABEL_X), -2.5);
    ck_assert_double_eq(label_number(&label, LABEL_Y), 528);
    ck_assert_double_nan(label_number(&label, LABEL_ROW));
}
END_TEST

/* ---- figures -------------------------------------------------------------------------------------- */

static struct record *record;

static void set_up(void) {
    record = calloc(1, sizeof *record);
}

static void tear_down(void) {
    lab_registry_install(NULL, NULL);
    free(record);
}

static struct record_point *add(const char *label) {
    struct record_point *point = &record->points[record->point_count++];
    *point = (struct record_point){.result = LAB_CORRECT};
    snprintf(point->label, sizeof point->label, "%s", label);
    strcpy(point->kernel, "lab_kernel");
    point->us = point->gbs = point->tflops = point->cycles = point->cycles_predicted = NAN;
    return point;
}

static void add_counted(const char *label, const char *name, double predicted, double counted, double simulated) {
    struct record_point *point = add(label);
    point->quantity_count = 1;
    point->quantities[0] = (struct record_quantity){.predicted = predicted, .counted = counted, .simulated = simulated};
    snprintf(point->quantities[0].name, sizeof point->quantities[0].name, "%s", name);
}

static char *drawn(const char *experiment) {
    struct drawing drawing;
    snprintf(record->meta.experiment, sizeof record->meta.experiment, "%s", experiment);
    record_judge(record);
    drawing_begin(&drawing);
    fputs("<div>", drawing.out);
    report_figures(drawing.out, record);
    fputs("</div>", drawing.out);
    char *text = drawing_end(&drawing);
    drawing_check_xml(text);
    return text;
}

static void check_drawn(const char *experiment, const char *const *parts) {
    char *text = drawn(experiment);
    ck_assert_ptr_nonnull(strstr(text, "<svg"));
    for (; *parts; parts++)
        ck_assert_msg(strstr(text, *parts), "no %s in\n%s", *parts, text);
    free(text);
}
#define CHECK_DRAWN(experiment, ...) check_drawn(experiment, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(figures_are_of_experiments) {
    struct figure figures[FIGURES_MAX];
    ck_assert_uint_eq(figures_listed("no-such-experiment", figures), 0);
    for (size_t i = 0; lab_experiments[i]; i++) {
        const char *name = lab_experiments[i]->name;
        const size_t count = figures_listed(name, figures);
        for (size_t j = 0; j < count; j++) {
            ck_assert_str_eq(figures[j].experiment, name);
            ck_assert_msg(!figures[j].article == !lab_experiments[i]->article, "%s: whose article?", name);
        }
    }
}
END_TEST

START_TEST(ladders_stand_beside_an_article) {
    add("naive, 4096 x 4096")->gbs = 467;
    add("padded, 4096 x 4096")->gbs = 3582;
    add("padded, 8192 x 8192")->gbs = 3597;
    record->points[0].us = record->points[1].us = record->points[2].us = 1;
    CHECK_DRAWN("transpose", ">GB/s at 4096 x 4096</text>", ">a V100 in the articles</text>", ">120</text>",
                ">3,582</text>", ">750</text>");
    char *text = drawn("transpose");
    ck_assert_ptr_null(strstr(text, "3,597"));
    ck_assert_ptr_null(strstr(text, "logarithmic"));
    free(text);
}
END_TEST

START_TEST(rates_may_be_percents) {
    add("naive")->tflops = 0.5;
    add("cuBLAS")->tflops = 50;
    CHECK_DRAWN("gemm-fp32", ">Percent of cuBLAS at 4096 x 4096 x 4096</text>", ">100</text>", ">1</text>",
                ">1.30</text>", ">an A6000's ladder</text>");
}
END_TEST

START_TEST(rates_of_two_decades_are_logarithmic) {
    add("global, uniform 16")->gbs = 15;
    add("global, one bin 16")->gbs = 5;
    add("shared, uniform 99")->gbs = 4000;
    add("read")->gbs = 4600;
    for (size_t i = 0; i < record->point_count; i++)
        record->points[i].us = 1;
    CHECK_DRAWN("histogram", ">logarithmic axis</text>", ">uniform</text>", ">one bin</text>", ">global</text>",
                ">4,600</text>");
}
END_TEST

/* GB/s and TFLOPS have no axis in common. */
START_TEST(rates_of_two_kinds_are_times) {
    add("a kernel")->gbs = 1000;
    add("a call")->tflops = 40;
    record->points[0].us = 12.5;
    record->points[1].us = 37.5;
    CHECK_DRAWN("new", ">Time of a launch, µs</text>", ">12.5</text>", ">37.5</text>");
    record->points[0].tflops = 10;
    CHECK_DRAWN("new", ">Arithmetic, TFLOPS</text>", ">10</text>", ">40</text>");
}
END_TEST

/* Two figures of one experiment may have a rate each. */
START_TEST(a_figure_has_the_rate_of_its_own_points) {
    add("tile, plain")->gbs = 2500;
    add("product, no tile")->tflops = 6.5;
    record->points[0].us = 182;
    record->points[1].us = 2657;
    CHECK_DRAWN("occupancy-worth", ">2,500</text>", ">6.50</text>");
}
END_TEST

/* What was simulated stands in for what was not counted. */
START_TEST(sweeps_are_lines) {
    add_counted("stride 1", "wavefronts", 10000, 10000, NAN);
    add_counted("stride 2", "wavefronts", 20000, NAN, 20000);
    CHECK_DRAWN("strided-reads", ">counted</text>", ">predicted</text>", ">stride, in words</text>",
                "counted: 2 at 2, stride 2");
}
END_TEST

START_TEST(a_sweep_ends_where_its_number_falls) {
    add("9 x 1 CTAs, 1 KB");
    add("5 x 2 CTAs, 1 KB");
    add("8 x 1 CTAs, 1 KB");
    CHECK_DRAWN("cluster-limits", ">1 KB</text>", "1 KB: 5 at 2");
    char *text = drawn("cluster-limits");
    ck_assert_ptr_null(strstr(text, "1 KB: 8 at 1"));
    free(text);
}
END_TEST

START_TEST(dots_lie_on_a_diagonal) {
    add_counted("ld, pattern 0", "wavefronts", 10000, 10000, NAN);
    add_counted("ld, pattern 1", "wavefronts", 70000, 80000, NAN);
    CHECK_DRAWN("random-access", ">as predicted</text>", "counted: 8 at 7, ld, pattern 1");
}
END_TEST

START_TEST(cells_are_numbers_or_marks) {
    add_counted("ldmatrix.x4.trans, rows", "wavefronts", 320000, 320000, NAN);
    add_counted("ldmatrix.x1, rows", "wavefronts", 10000, 20000, NAN);
    CHECK_DRAWN("ldmatrix", ">x4 trans</text>", ">32</text>", "stroke-width=\"2\"");
    record->point_count = 0;
    add("add u32");
    add("and s64")->kernel[0] = 0;
    add("min u8")->result = LAB_WRONG;
    CHECK_DRAWN("bulk-reduce", ">as predicted</text>", ">refused, as predicted</text>", ">not as predicted</text>");
    record->point_count = 0;
    add_counted("st every 4 bytes, 24 lanes, 25 warps", "wavefronts of the pipe", 10000, 10054, NAN);
    CHECK_DRAWN("arbitration", ">54</text>", ">25</text>", ">st every 4 bytes, 24 lanes</text>");
}
END_TEST

/* An experiment that nobody listed, or whose results have nothing of what is listed. */
START_TEST(every_record_has_a_figure) {
    add("a point");
    CHECK_DRAWN("new", ">Results</text>", ">a point</text>");
    CHECK_DRAWN("transpose", ">Results</text>");
    record->points[0].cycles = 40;
    record->points[0].cycles_predicted = 41;
    CHECK_DRAWN("new", ">Cycles by the kernel's own clock</text>", ">40</text>", "predicted: 41");
    add_counted("counted", "sectors", 7, 7, NAN);
    CHECK_DRAWN("new", ">sectors</text>", ">7</text>");
    for (int i = 0; i < 40; i++)
        add_counted("again", "sectors", 7 + i, 7 + i, NAN);
    CHECK_DRAWN("new", ">as predicted</text>");
    for (size_t i = 0; i < record->point_count; i++)
        record->points[i].quantities[0].predicted = NAN;
    CHECK_DRAWN("new", ">again</text>", ">46</text>");
    record->points[0].us = 12.5;
    CHECK_DRAWN("new", ">Time of a launch, µs</text>", ">12.5</text>");
    record->points[0].result = LAB_NOT_CHECKED;
    record->point_count = 1;
    record->points[0].us = record->points[0].cycles = NAN;
    CHECK_DRAWN("new", ">-</text>");
}
END_TEST

/* More columns and lines than a chart has. */
START_TEST(figures_have_bounds) {
    for (int i = 0; i < 40; i++) {
        char label[64];
        snprintf(label, sizeof label, "row %d, column %d", i % 3, i);
        add(label)->gbs = 100 + i;
    }
    CHECK_DRAWN("tma-alignment", ">139</text>");
    record->point_count = 0;
    for (int i = 0; i < 40; i++) {
        char label[64];
        snprintf(label, sizeof label, "%d x 2 CTAs, %d KB", i, i);
        add(label);
    }
    CHECK_DRAWN("cluster-limits", ">7 KB</text>");
}
END_TEST

/* One figure by itself, which is white paper too; what is not there is said. */
START_TEST(a_figure_may_stand_alone) {
    struct drawing drawing;
    add("naive, 4096 x 4096")->gbs = 466;
    add("padded, 4096 x 4096")->gbs = 3597;
    snprintf(record->meta.experiment, sizeof record->meta.experiment, "transpose");
    record_judge(record);
    drawing_begin(&drawing);
    ck_assert_int_eq(report_picture(drawing.out, record, 0), 0);
    char *text = drawing_end(&drawing);
    drawing_check_xml(text);
    ck_assert(strncmp(text, "<svg", 4) == 0);
    ck_assert_ptr_nonnull(strstr(text, "<style>"));
    ck_assert_ptr_nonnull(strstr(text, ">GB/s at 4096 x 4096</text>"));
    free(text);
    drawing_begin(&drawing);
    ck_assert_int_eq(report_picture(drawing.out, record, 1), -1);
    record->point_count = 0;
    ck_assert_int_eq(report_picture(drawing.out, record, 0), -1);
    free(drawing_end(&drawing));
}
END_TEST

/* Rates in GB/s as they are; a product's from the sectors that were counted, 32 bytes each. */
START_TEST(pairs_stand_beside_an_article) {
    struct drawing drawing;
    snprintf(record->meta.experiment, sizeof record->meta.experiment, "reuse");
    snprintf(record->meta.gpu, sizeof record->meta.gpu, "a GPU");
    add_counted("no tile", "sectors", 1e6, 1e6, NAN);
    record->points[0].us = 16;
    add("tile 8")->gbs = 12345;
    drawing_begin(&drawing);
    ck_assert_int_eq(pairs_picture(drawing.out, (const struct record *const *)&record, 1, false), 0);
    char *text = drawing_end(&drawing);
    drawing_check_xml(text);
    static const char *const parts[] = {
        ">a GPU</text>", ">a V100 in an article</text>", ">2,000</text>", ">45</text>", ">680</text>", ">120</text>",
        ">820</text>",   ">transposition</text>"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        ck_assert_msg(strstr(text, parts[i]), "no %s in\n%s", parts[i], text);
    ck_assert_ptr_null(strstr(text, "12,345"));
    free(text);
    record->point_count = 0;
    drawing_begin(&drawing);
    ck_assert_int_eq(pairs_picture(drawing.out, (const struct record *const *)&record, 1, false), -1);
    free(drawing_end(&drawing));
}
END_TEST

static const struct {
    const char *line, *words;
} refused_figures[] = {
    {"", "takes one experiment, and --svg FILE"},
    {"transpose", "takes one experiment, and --svg FILE"},
    {"transpose stencil --svg x", "takes one experiment, and --svg FILE"},
    {"transpose --svg x --figure 0", "figure"},
};

START_TEST(other_figures_are_refused) {
    expect_refusal(lab_figure, refused_figures[_i].line, refused_figures[_i].words);
}
END_TEST

TCase *lab_report_tests(void) {
    TCase *tests = tcase_create("lab report");
    tcase_set_tags(tests, "lab");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, labels_are_taken_apart);
    tcase_add_test(tests, numbers_of_labels);
    tcase_add_test(tests, figures_are_of_experiments);
    tcase_add_test(tests, ladders_stand_beside_an_article);
    tcase_add_test(tests, rates_may_be_percents);
    tcase_add_test(tests, rates_of_two_decades_are_logarithmic);
    tcase_add_test(tests, rates_of_two_kinds_are_times);
    tcase_add_test(tests, a_figure_has_the_rate_of_its_own_points);
    tcase_add_test(tests, sweeps_are_lines);
    tcase_add_test(tests, a_sweep_ends_where_its_number_falls);
    tcase_add_test(tests, dots_lie_on_a_diagonal);
    tcase_add_test(tests, cells_are_numbers_or_marks);
    tcase_add_test(tests, every_record_has_a_figure);
    tcase_add_test(tests, figures_have_bounds);
    tcase_add_test(tests, a_figure_may_stand_alone);
    tcase_add_test(tests, pairs_stand_beside_an_article);
    tcase_add_loop_test(tests, other_figures_are_refused, 0, sizeof refused_figures / sizeof *refused_figures);
    return tests;
}
