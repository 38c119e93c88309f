/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a launch by source line. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/sim/launch_lines.h"
#include "program/sim/launch_report.h"

struct table {
    struct launch_row *rows;
    size_t count;
};

void launch_place(const char *file, uint32_t line, char *text, size_t bytes) {
    if (file)
        snprintf(text, bytes, "%s:%u", source_base(file), line);
    else
        snprintf(text, bytes, "PTX %u", line);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static struct launch_row *row_of(struct table *table, const char *file, uint32_t line, const char *access) {
    for (size_t i = 0; i < table->count; i++) {
        struct launch_row *row = &table->rows[i];
        if (row->line == line && row->access == access &&
            (row->file == file || (row->file && file && strcmp(row->file, file) == 0)))
            return row;
    }
    struct launch_row *row = &table->rows[table->count++];
    *row = (struct launch_row){.file = file, .line = line, .access = access};
    return row;
}

static void add_line(struct simulator *simulator, struct table *table, const struct gm_sim_line *line) {
    const char *file = NULL;
    uint32_t number = line->line;
    simulator->line_source(line->line, &file, &number);
    struct launch_row *row = row_of(table, file, number, line->access);
    row->ptx_line = row->ptx_line ? row->ptx_line : line->line;
    row->width = line->width > row->width ? line->width : row->width;
    row->accesses += line->accesses;
    row->wavefronts += line->wavefronts;
    row->ideal += line->ideal_wavefronts;
    row->conflicts += line->conflicts;
    row->requests += line->requests;
    row->sectors += line->sectors;
    row->ideal_sectors += line->ideal_sectors;
}

static int by_place(const void *left, const void *right) {
    const struct launch_row *a = left, *b = right;
    const int files = strcmp(a->file ? a->file : "", b->file ? b->file : "");
    if (files != 0)
        return files;
    return a->line != b->line ? (a->line > b->line ? 1 : -1)
                              : (a->ptx_line > b->ptx_line) - (a->ptx_line < b->ptx_line);
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static int place_width(const struct table *table) {
    char place[300];
    int width = 4;
    for (size_t i = 0; i < table->count; i++) {
        launch_place(table->rows[i].file, table->rows[i].line, place, sizeof place);
        const int length = (int)strlen(place);
        width = length > width ? length : width;
    }
    return width;
}

/* What a table shows of a row: its accesses, what they took, the fewest they could, and two numbers made of these. */
struct shown {
    uint64_t times, taken, least; /* nothing taken: the row is of the other table */
    bool known;                   /* the fewest are */
    char numbers[48];
};

static struct shown shared_of(const struct launch_row *row) {
    struct shown shown = {row->accesses, row->wavefronts, row->ideal, row->ideal > 0, ""};
    if (shown.known)
        snprintf(shown.numbers, sizeof shown.numbers, "%11" PRIu64 "%8.2f", row->conflicts,
                 (double)row->wavefronts / (double)row->ideal);
    return shown;
}

static struct shown global_of(const struct launch_row *row) {
    struct shown shown = {row->requests, row->sectors, row->ideal_sectors, row->requests > 0, ""};
    if (shown.known)
        snprintf(shown.numbers, sizeof shown.numbers, "%11.2f%8.2f", (double)row->sectors / (double)row->requests,
                 (double)row->ideal_sectors / (double)row->requests);
    return shown;
}

static const struct view {
    const char *title, *taken, *third, *fourth; /* and the words above the numbers */
    struct shown (*of)(const struct launch_row *row);
} views[] = {
    {"shared memory, by source line (degree: wavefronts for one of the ideal)", "wavefronts", "conflicts", "degree",
     shared_of},
    {"global memory, by source line (sectors of 32 bytes; ideal: as few as hold what is asked for)", "sectors",
     "a request", "at best", global_of},
};

static void print_row(struct simulator *simulator, const struct launch_row *row, const struct shown *shown, int width) {
    char place[300];
    launch_place(row->file, row->line, place, sizeof place);
    printf("%-*s  %-13s", width, place, row->access);
    if (row->width)
        printf("%6u", row->width);
    else
        printf("%6s", "");
    printf("%11" PRIu64 "%11" PRIu64, shown->times, shown->taken);
    if (shown->known)
        printf("%11" PRIu64 "%s", shown->least, shown->numbers);
    else
        printf("%11s%11s%8s", "", "", "");
    printf("  %.44s\n", simulator_line_text(simulator, row->ptx_line));
}

static void print_view(struct simulator *simulator, const struct table *table, const struct view *view, int width) {
    bool begun = false;
    for (size_t i = 0; i < table->count; i++) {
        const struct shown shown = view->of(&table->rows[i]);
        if (!shown.taken)
            continue;
        if (!begun)
            printf("\n%s\n\n%-*s  %-13s%6s%11s%11s%11s%11s%8s  text\n", view->title, width, "line", "access", "bytes",
                   "times", view->taken, "ideal", view->third, view->fourth);
        begun = true;
        print_row(simulator, &table->rows[i], &shown, width);
    }
}

static bool has_sources(const struct table *table) {
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].file)
            return true;
    return table->count == 0;
}

static int make_table(struct simulator *simulator, struct table *table) {
    struct gm_sim_line line;
    *table = (struct table){.rows = calloc(simulator->line_count() + 1, sizeof *table->rows)};
    if (!table->rows)
        return complain("out of host memory");
    for (size_t i = 0; i < simulator->line_count() && simulator->line_get(i, &line) == 0; i++)
        if (line.access && (line.wavefronts || line.sectors))
            add_line(simulator, table, &line);
    qsort(table->rows, table->count, sizeof *table->rows, by_place);
    return 0;
}

int launch_print_table(struct simulator *simulator) {
    struct table table;
    if (make_table(simulator, &table) != 0)
        return -1;
    const int width = place_width(&table);
    if (!has_sources(&table))
        printf("\nthe PTX names no lines of its source, only its own stand here: -lineinfo makes nvcc write them\n");
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        print_view(simulator, &table, &views[i], width);
    free(table.rows);
    return 0;
}

/* ---- for another process ----------------------------------------------------------------------------------------- */

int launch_print_lines(struct simulator *simulator, FILE *out) {
    struct table table;
    char place[LAUNCH_PLACE_BYTES];
    if (make_table(simulator, &table) != 0)
        return -1;
    for (size_t i = 0; i < table.count; i++) {
        const struct launch_row *row = &table.rows[i];
        launch_place(row->file, row->line, place, sizeof place);
        fprintf(out, LAUNCH_LINE "%" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", row->wavefronts, row->ideal, row->sectors,
                place);
    }
    free(table.rows);
    return 0;
}
