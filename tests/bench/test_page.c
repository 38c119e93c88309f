/* SPDX-License-Identifier: Apache-2.0 */
/* Pages, charts, their colours, and the writing of text and numbers for them. */
#include "bench_tests.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/draw/chart_axis.h"
#include "drawings.h"
#include "program/base/utf8.h"
#include "program/draw/page.h"
#include "program/draw/terminal_paint.h"
#include "program/draw/palette.h"
#include "program/draw/svg.h"

/* ---- text and numbers --------------------------------------------------------------------------- */

static char *number_of(double value) {
    struct drawing drawing;
    drawing_begin(&drawing);
    svg_number(drawing.out, value);
    return drawing_end(&drawing);
}

START_TEST(numbers_are_short) {
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},         {-0.0, "0"},     {-0.001, "0"}, {1.5, "1.5"},    {100, "100"},
                 {-7.25, "-7.25"}, {0.126, "0.13"}, {NAN, "0"},    {INFINITY, "0"}, {1e300, "0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = number_of(cases[i].value);
        ck_assert_str_eq(text, cases[i].text);
        free(text);
    }
}
END_TEST

START_TEST(utf8_are_counted_by_bytes) {
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {{"a", 1},
                 {"\n", 0},
                 {"\x7f", 0},
                 {"\xc3\xa9", 2},
                 {"\xc2\x85", 0},
                 {"\xc0\x80", 0},
                 {"\xe2\x82\xac", 3},
                 {"\xed\xa0\x80", 0},
                 {"\xf0\x9f\x99\x82", 4},
                 {"\xf4\x90\x80\x80", 0},
                 {"\xe2\x82", 0},
                 {"\xff", 0},
                 {"\xf8\x88\x80\x80", 0},
                 {"\xef\xbf\xbf", 0},
                 {"", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(utf8_length(cases[i].text) == cases[i].length, "case %zu: %zu", i, utf8_length(cases[i].text));
}
END_TEST

START_TEST(lines_break_at_blanks) {
    const char *rest = "one two  three-and-four five";
    static const char *const lines[] = {"one two", "three-an", "d-four", "five"};
    char line[16];
    for (size_t i = 0; i < 4; i++) {
        rest = utf8_wrap(rest, 8, line, sizeof line);
        ck_assert_ptr_nonnull(rest);
        ck_assert_str_eq(line, lines[i]);
    }
    ck_assert_ptr_null(utf8_wrap(rest, 8, line, sizeof line));
    rest = utf8_wrap("\xc3\xa9\xc3\xa9\xc3\xa9", 99, line, 6); /* no character is cut in two */
    ck_assert_str_eq(line, "\xc3\xa9\xc3\xa9");
    ck_assert_str_eq(rest, "\xc3\xa9");
}
END_TEST

START_TEST(a_terminal_gets_no_control_characters) {
    struct drawing drawing;
    drawing_begin(&drawing);
    terminal_paint_text(drawing.out, "a\x1b[2J\tb\xc2\x9b\xc3\xa9");
    const struct terminal_paint off = {drawing.out, false};
    terminal_paint_begin(off, COLOUR_BAD, COLOUR_PAPER, true);
    terminal_paint_end(off);
    char *text = drawing_end(&drawing);
    ck_assert_str_eq(text, "a?[2J?b??\xc3\xa9");
    free(text);
}
END_TEST

/* ---- colours ------------------------------------------------------------------------------------ */

static double channel_light(uint32_t rgb, int shift) {
    const double c = (rgb >> shift & 0xff) / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double contrast(uint32_t left, uint32_t right) {
    double light[2];
    const uint32_t both[] = {left, right};
    for (int i = 0; i < 2; i++)
        light[i] = 0.2126 * channel_light(both[i], 16) + 0.7152 * channel_light(both[i], 8) +
                   0.0722 * channel_light(both[i], 0) + 0.05;
    return light[0] > light[1] ? light[0] / light[1] : light[1] / light[0];
}

static char *utf8_in(const char *locale, const char *text, size_t columns) {
    struct drawing drawing;
    drawing_begin(&drawing);
    ck_assert_int_eq(setenv("LC_ALL", locale, 1), 0);
    ck_assert_uint_eq(utf8_put(NULL, text), columns);
    ck_assert_uint_eq(utf8_put(drawing.out, text), columns);
    setenv("LC_ALL", "C.UTF-8", 1);
    return drawing_end(&drawing);
}

/* The program's marks; what is not one of them, such as a name, stays as it is. */
START_TEST(a_terminal_of_ascii_gets_ascii) {
    static const char text[] = "M ≤ 64 × 2 → – ─▶·✗ é";
    static const char *const utf8[] = {"C.UTF-8", "de_DE.utf8", "en_US.UTF-8@x"};
    static const char *const ascii[] = {"C", "POSIX", "de_DE"};
    for (size_t i = 0; i < 3; i++) {
        char *shown = utf8_in(utf8[i], text, 21);
        ck_assert_str_eq(shown, text);
        free(shown);
        shown = utf8_in(ascii[i], text, 23);
        ck_assert_str_eq(shown, "M <= 64 x 2 -> - ->.x é");
        free(shown);
    }
    unsetenv("LC_ALL");
    unsetenv("LC_CTYPE");
    unsetenv("LANG");
    ck_assert(utf8_on_terminal());
    setenv("LANG", "C", 1);
    ck_assert(!utf8_on_terminal());
    setenv("LC_CTYPE", "C.UTF-8", 1);
    ck_assert(utf8_on_terminal());
    setenv("LC_ALL", "", 1); /* says nothing */
    ck_assert(utf8_on_terminal());
    setenv("LC_ALL", "C", 1);
    ck_assert(!utf8_on_terminal());
    setenv("LC_ALL", "C.UTF-8", 1);
}
END_TEST

START_TEST(colour_is_for_terminals_that_have_it) {
    static const struct {
        const char *terminal, *no_colour;
        bool wanted;
    } cases[] = {
        {"xterm-256color", "", true}, {"xterm", "1", false}, {"dumb", "", false}, {"", "", false}, {NULL, "", false}};
    const int leader = posix_openpt(O_RDWR | O_NOCTTY);
    if (leader < 0)
        return; /* no terminal can be had here */
    ck_assert(grantpt(leader) == 0 && unlockpt(leader) == 0);
    FILE *terminal = fopen(ptsname(leader), "w"), *file = tmpfile();
    ck_assert(terminal && file);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].terminal)
            setenv("TERM", cases[i].terminal, 1);
        else
            unsetenv("TERM");
        setenv("NO_COLOR", cases[i].no_colour, 1);
        ck_assert_msg(terminal_paint_wanted(terminal) == cases[i].wanted, "case %zu", i);
        ck_assert(!terminal_paint_wanted(file));
    }
    fclose(terminal);
    fclose(file);
    close(leader);
}
END_TEST

START_TEST(every_ground_has_an_ink_that_can_be_read) {
    static const uint32_t grounds[] = {COLOUR_LANES_0, COLOUR_LANES_1, COLOUR_LANES_2, COLOUR_LANES_3,
                                       COLOUR_BAD,     COLOUR_OK,      COLOUR_FAINT,   COLOUR_SERIES_0};
    for (size_t i = 0; i < sizeof grounds / sizeof *grounds; i++)
        ck_assert_double_ge(contrast(grounds[i], palette_ink_on(grounds[i])), 4.45);
    for (uint32_t step = 0; step < 32; step++) {
        const uint32_t ground = palette_step(step, 32);
        ck_assert_double_ge(contrast(ground, palette_ink_on(ground)), 4.45);
        if (step) /* the order survives without colour */
            ck_assert_double_lt(contrast(ground, 0), contrast(palette_step(step - 1, 32), 0));
    }
    ck_assert_double_ge(contrast(COLOUR_MUTED, COLOUR_PAPER), 4.5);
    ck_assert_double_ge(contrast(COLOUR_OK, COLOUR_PANEL), 4.5);
    ck_assert_double_ge(contrast(COLOUR_BAD, COLOUR_PANEL), 4.5);
    ck_assert_uint_eq(palette_step(0, 1), palette_step(0, 8));
    ck_assert_uint_eq(palette_terminal(0xffffff), 231);
    ck_assert_uint_eq(palette_terminal(0x000000), 16);
}
END_TEST

/* ---- page --------------------------------------------------------------------------------------- */

START_TEST(a_page_is_whole_and_escaped) {
    const struct page_link links[] = {{"bank-model", "The <bank> model", false}, {"a b\"c", "odd", true}};
    struct drawing drawing;
    drawing_begin(&drawing);
    FILE *out = drawing.out;
    page_begin(out, "T <1> & \"2\"", "lead");
    page_contents(out, links, 2);
    page_section_begin(out, links[1].to, "Section");
    page_heading(out, "smaller");
    page_paragraph(out, "%s", "1 < 2");
    page_aside(out, "aside");
    page_code(out, "gristmill bank --address 'lane << 2'\nsecond line & more");
    page_verdict(out, PAGE_BAD, "%d wrong", 3);
    page_links(out, (const struct page_link[]){{"../a b/<x>.md", "a & b", false}, {"c.c", "c.c", false}}, 2);
    page_facts_begin(out);
    page_fact(out, "3 of 4", "claims < all");
    page_facts_end(out);
    page_part_begin(out, "part", "Why?");
    page_pair_begin(out);
    page_pair_middle(out);
    page_list_begin(out);
    page_item(out, PAGE_OK, "%d < 2", 1);
    page_item(out, PAGE_BAD, "no");
    page_item(out, PAGE_NEUTRAL, "so");
    page_list_end(out);
    page_pair_end(out);
    page_part_end(out);
    page_beside_begin(out);
    page_table_begin(out, "<name|value", "caption");
    page_row_begin(out);
    page_cell(out, PAGE_OK, true, "a<b");
    page_cell(out, PAGE_NEUTRAL, false, "%d", 7);
    page_row_end(out);
    page_table_end(out);
    page_beside_end(out);
    page_details_begin(out, "more");
    page_figure_begin(out);
    svg_begin(out, 10.2, 10, true, "a > b");
    svg_end(out);
    page_figure_end(out, "caption");
    page_details_end(out);
    page_section_end(out);
    page_end(out, "made by a test");
    char *text = drawing_end(&drawing);
    drawing_check_xml(text);
    ck_assert_ptr_nonnull(strstr(text, "<section id=\"a-b-c\">"));
    ck_assert_ptr_nonnull(strstr(text, "<li class=\"section\"><a href=\"#bank-model\">The &lt;bank&gt; model</a>"));
    ck_assert_ptr_nonnull(strstr(text, "<li class=\"part\"><a href=\"#a-b-c\">odd</a>"));
    ck_assert_ptr_nonnull(strstr(text, "<a href=\"../a b/&lt;x&gt;.md\">a &amp; b</a> · <a href=\"c.c\">c.c</a></p>"));
    ck_assert_ptr_nonnull(strstr(text, "<dt>3 of 4</dt>\n<dd>claims &lt; all</dd>"));
    ck_assert_ptr_nonnull(strstr(text, "<article id=\"part\">\n<h3>Why?</h3>"));
    ck_assert_ptr_nonnull(
        strstr(text, "<li class=\"ok\"><b>✓</b>1 &lt; 2</li>\n<li class=\"bad\"><b>✗</b>no</li>\n<li>so</li>"));
    ck_assert_ptr_nonnull(strstr(text, "'lane &lt;&lt; 2'\nsecond line &amp; more</pre>"));
    ck_assert_ptr_nonnull(strstr(text, "<td class=\"ok left\">a&lt;b</td><td>7</td>"));
    ck_assert_ptr_nonnull(strstr(text, "viewBox=\"0 0 11 10\""));
    free(text);
}
END_TEST

/* ---- charts ------------------------------------------------------------------------------------- */

static const char *const series[] = {"gristmill", "other & co", "third", "fourth"};

static char *bars_drawn(const struct chart *chart, size_t series_count, const struct chart_bar *bars, size_t count,
                        int status) {
    struct drawing drawing;
    drawing_begin(&drawing);
    ck_assert_int_eq(svg_bars(drawing.out, chart, series, series_count, "predicted", bars, count), status);
    return drawing_end(&drawing);
}

START_TEST(bars_show_values_and_gaps) {
    const struct chart chart = {.title = "Bars <1>", .subtitle = "sub", .decimals = -1};
    const struct chart_bar bars[] = {
        {"one", "naive", {120.25, NAN}, {118, NAN}, "note \"x\""},
        {"one",
         "a label that is far too long for any chart and therefore is cut \xc3\xa9\xc3\xa9",
         {1048576, 0},
         {NAN, 1},
         NULL},
        {"two", "last", {-5, INFINITY}, {0, 0}, NULL}};
    char *text = bars_drawn(&chart, 2, bars, 3, 0), *again = bars_drawn(&chart, 2, bars, 3, 0);
    drawing_check_xml(text);
    ck_assert_str_eq(text, again);
    ck_assert_ptr_nonnull(strstr(text, ">1,048,576</text>"));
    ck_assert_ptr_nonnull(strstr(text, ">120</text>"));
    ck_assert_ptr_nonnull(strstr(text, ">-</text>"));
    ck_assert_ptr_nonnull(strstr(text, "naive, gristmill: 120; predicted: 118. note &quot;x&quot;"));
    free(text);
    free(again);
}
END_TEST

static double attribute_of(const char *tag, const char *name) {
    const char *at = tag ? strstr(tag, name) : NULL;
    ck_assert_ptr_nonnull(at);
    return strtod(at + strlen(name), NULL);
}

/* Of the one bar of a drawing: where it begins and ends, where its tick is, and whether paper is drawn around that. */
struct drawn_bar {
    double from, to, tick;
    bool halo;
};

static struct drawn_bar bar_drawn(double value, double marker) {
    const struct chart chart = {.title = "Ticks", .from = -200, .to = 200, .decimals = 0};
    const struct chart_bar bars[] = {{NULL, "one", {value}, {marker}, NULL}};
    char ink[32], halo[32];
    snprintf(ink, sizeof ink, "stroke=\"#%06x\"", COLOUR_INK);
    snprintf(halo, sizeof halo, "stroke=\"#%06x\"", COLOUR_PAPER);
    char *text = bars_drawn(&chart, 1, bars, 1, 0);
    char *const bar = strstr(text, "<title>one,");
    ck_assert_ptr_nonnull(bar);
    const char *line = strstr(bar, ink), *tag = bar;
    ck_assert_ptr_nonnull(line);
    struct drawn_bar drawn = {.halo = strstr(bar, halo) != NULL};
    while (strncmp(tag, "<rect", 5) != 0)
        tag--;
    while (strncmp(line, "<line", 5) != 0)
        line--;
    drawn.from = attribute_of(tag, " x=\"");
    drawn.to = drawn.from + attribute_of(tag, " width=\"");
    drawn.tick = attribute_of(line, " x1=\"");
    free(text);
    return drawn;
}

START_TEST(a_bar_of_its_ticks_value_ends_at_the_tick) {
    const double values[] = {200, 100, 7, 1};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const struct drawn_bar right = bar_drawn(values[i], values[i]), left = bar_drawn(-values[i], -values[i]);
        ck_assert_double_eq_tol(right.to, right.tick, 0.02);
        ck_assert_double_eq_tol(left.from, left.tick, 0.02);
        ck_assert(!right.halo && !left.halo);
    }
}
END_TEST

/* Nothing of a bar's end is covered, on which side of the tick it may be; in its middle the tick is set off. */
START_TEST(a_tick_is_set_off_from_a_bar_that_crosses_it) {
    const struct {
        double value, marker;
        bool halo;
    } cases[] = {{100, 50, true}, {-100, -50, true}, {50, 100, false}, {100.5, 100, false}, {99.5, 100, false},
                 {0, 100, false}, {100, -50, false}, {100, 0, false},  {NAN, 100, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(bar_drawn(cases[i].value, cases[i].marker).halo == cases[i].halo, "%g with a tick at %g",
                      cases[i].value, cases[i].marker);
}
END_TEST

START_TEST(logarithmic_bars_survive_zeros) {
    struct chart chart = {.title = "Conflicts", .log = true, .decimals = 0, .inside_page = true};
    const struct chart_bar bars[] = {{NULL, "free", {0}, {0}, NULL}, {NULL, "32-way", {31}, {31}, NULL}};
    for (size_t count = 1; count <= 2; count++) {
        char *text = bars_drawn(&chart, 1, bars, count, 0);
        drawing_check_xml(text);
        ck_assert_ptr_null(strstr(text, "<style>"));
        free(text);
    }
    chart.to = 100; /* a logarithmic axis cannot begin at 0 */
    free(bars_drawn(&chart, 1, bars, 2, -1));
}
END_TEST

/* Whatever is to be shown, an axis has an end, finite ticks inside it, and no more of them than fit. */
START_TEST(an_axis_of_any_numbers_has_an_end) {
    static const double numbers[] = {5e-324, 2.3e-308, 1e-300, 1e-18, 0.3, 1, 7, 1e18, 1e300, 1e308, 1.7e308, -1e308};
    const int count = sizeof numbers / sizeof *numbers;
    for (int i = 0; i < count * count * 4; i++) {
        const bool log = i & 1, fitted = i & 2;
        const double x = numbers[i / 4 % count], y = numbers[i / 4 / count];
        struct chart_range range = CHART_RANGE_EMPTY;
        struct chart_axis axis;
        chart_range_add(&range, x);
        chart_range_add(&range, y);
        if (!chart_axis_fit(&axis, log, fitted ? 0 : x, fitted ? 0 : y, &range))
            continue;
        ck_assert(isfinite(axis.from) && isfinite(axis.to) && axis.from < axis.to);
        ck_assert_int_le(axis.tick_count, CHART_TICKS_MAX);
        for (int tick = 0; tick < axis.tick_count; tick++)
            ck_assert(isfinite(axis.ticks[tick]) && (tick == 0 || axis.ticks[tick] > axis.ticks[tick - 1]));
    }
}
END_TEST

START_TEST(a_chart_of_nothing_is_refused) {
    const struct chart chart = {.title = "Nothing"};
    const struct chart_bar bar = {.label = "absent", .value = {NAN, NAN, NAN, NAN}, .marker = {NAN, NAN, NAN, NAN}};
    const struct {
        size_t series_count, count;
    } cases[] = {{1, 0}, {0, 1}, {5, 1}, {4, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = bars_drawn(&chart, cases[i].series_count, &bar, cases[i].count, -1);
        ck_assert_str_eq(text, "");
        free(text);
    }
}
END_TEST

START_TEST(lines_are_drawn_on_every_axis) {
    double x[40], y[CHART_LINES_MAX][40];
    struct chart_line lines[CHART_LINES_MAX];
    for (int i = 0; i < 40; i++) {
        x[i] = i;
        for (int line = 0; line < CHART_LINES_MAX; line++)
            y[line][i] = i == 7 ? NAN : (line - 1) * i * 1e3;
    }
    for (int line = 0; line < CHART_LINES_MAX; line++)
        lines[line] = (struct chart_line){.name = "line <1>", .x = x, .y = y[line], .count = 40, .dashed = line % 2};
    for (int kind = 0; kind < 8; kind++) {
        const struct chart chart = {.title = "Lines",
                                    .axis = "GB/s",
                                    .x_axis = "stride",
                                    .log = kind & 1,
                                    .x_log = kind & 2,
                                    .narrow = kind & 4};
        for (size_t count = 1; count <= CHART_LINES_MAX; count++) {
            struct drawing drawing;
            drawing_begin(&drawing);
            ck_assert_int_eq(svg_lines(drawing.out, &chart, lines, count), 0);
            char *text = drawing_end(&drawing);
            drawing_check_xml(text);
            free(text);
        }
    }
    struct drawing drawing;
    drawing_begin(&drawing);
    const struct chart chart = {.title = "Too many"};
    ck_assert_int_eq(svg_lines(drawing.out, &chart, lines, 0), -1);
    ck_assert_int_eq(svg_lines(drawing.out, &chart, lines, CHART_LINES_MAX + 1), -1);
    free(drawing_end(&drawing));
}
END_TEST

/* ---- cells -------------------------------------------------------------------------------------- */

static char *cells_drawn(const char *title, const struct chart_cell *cells, size_t count, int status) {
    const struct chart chart = {.title = title, .decimals = -1};
    struct drawing drawing;
    drawing_begin(&drawing);
    ck_assert_int_eq(svg_cells(drawing.out, &chart, "refused", cells, count), status);
    return drawing_end(&drawing);
}

/* The text that stands before another one. */
static bool in_order(const char *text, const char *first, const char *second) {
    const char *one = strstr(text, first), *other = strstr(text, second);
    ck_assert_msg(one && other, "%s, %s", first, second);
    return one < other;
}

START_TEST(cells_stand_in_rows_and_columns) {
    const struct chart_cell cells[] = {{"plain <row>", "1", "note & more", CHART_NUMBER, 1, false},
                                       {"plain <row>", "128", NULL, CHART_NUMBER, 32, true},
                                       {"second", "16", NULL, CHART_NUMBER, NAN, false},
                                       {"second", "8", NULL, CHART_NUMBER, 0, false}};
    char *text = cells_drawn("Cells", cells, 4, 0);
    drawing_check_xml(text);
    ck_assert(in_order(text, ">1</text>", ">8</text>") && in_order(text, ">8</text>", ">16</text>") &&
              in_order(text, ">16</text>", ">128</text>"));
    ck_assert(in_order(text, "plain &lt;row&gt;</text>", ">32</text>") &&
              in_order(text, ">32</text>", ">second</text>"));
    ck_assert_ptr_nonnull(strstr(text, "<title>note &amp; more</title>"));
    ck_assert_ptr_nonnull(strstr(text, ">-</text>"));
    ck_assert_ptr_null(strstr(text, "as predicted"));
    free(text);
}
END_TEST

/* Of two marks in one place the worse is shown, and the legend has what is there. */
START_TEST(marks_are_explained) {
    const struct chart_cell cells[] = {
        {"row", "a column of words", NULL, CHART_HOLDS, NAN, false},
        {"row", "a column of words", "why", CHART_BROKEN, NAN, false},
        {"row", "b", NULL, CHART_REFUSED, NAN, false},
        {"a name that is so long that it stands above all of its cells, alas", "c", NULL, CHART_HOLDS, NAN, false}};
    char *text = cells_drawn("Marks", cells, 4, 0);
    drawing_check_xml(text);
    ck_assert_ptr_nonnull(strstr(text, ">as predicted</text>"));
    ck_assert_ptr_nonnull(strstr(text, ">not as predicted</text>"));
    ck_assert_ptr_nonnull(strstr(text, ">refused</text>"));
    ck_assert_ptr_nonnull(strstr(text, "<title>why</title>"));
    ck_assert_ptr_nonnull(strstr(text, ">words</text>"));
    free(text);
    text = cells_drawn("Marks", cells, 1, 0);
    ck_assert_ptr_null(strstr(text, "refused"));
    free(text);
}
END_TEST

START_TEST(cells_of_nothing_are_refused) {
    static struct chart_cell many[200];
    for (size_t i = 0; i < 200; i++)
        many[i] = (struct chart_cell){.row = "row", .column = ""};
    free(cells_drawn("Nothing", many, 0, -1));
    free(cells_drawn(NULL, many, 200, -1));
    free(cells_drawn("No columns", many, 128, 0));
}
END_TEST

TCase *page_tests(void) {
    TCase *tests = tcase_create("page");
    tcase_add_test(tests, numbers_are_short);
    tcase_add_test(tests, utf8_are_counted_by_bytes);
    tcase_add_test(tests, lines_break_at_blanks);
    tcase_add_test(tests, a_terminal_gets_no_control_characters);
    tcase_add_test(tests, a_terminal_of_ascii_gets_ascii);
    tcase_add_test(tests, colour_is_for_terminals_that_have_it);
    tcase_add_test(tests, every_ground_has_an_ink_that_can_be_read);
    tcase_add_test(tests, a_page_is_whole_and_escaped);
    tcase_add_test(tests, bars_show_values_and_gaps);
    tcase_add_test(tests, a_bar_of_its_ticks_value_ends_at_the_tick);
    tcase_add_test(tests, a_tick_is_set_off_from_a_bar_that_crosses_it);
    tcase_add_test(tests, logarithmic_bars_survive_zeros);
    tcase_add_test(tests, an_axis_of_any_numbers_has_an_end);
    tcase_add_test(tests, a_chart_of_nothing_is_refused);
    tcase_add_test(tests, lines_are_drawn_on_every_axis);
    tcase_add_test(tests, cells_stand_in_rows_and_columns);
    tcase_add_test(tests, marks_are_explained);
    tcase_add_test(tests, cells_of_nothing_are_refused);
    return tests;
}
