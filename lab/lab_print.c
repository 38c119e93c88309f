/* SPDX-License-Identifier: Apache-2.0 */
/* What an experiment prints: predicted beside counted beside timed, the claims, the verdict. */
#include <math.h>
#include <string.h>

#include "program/base/text_table.h"
#include "lab/lab_results.h"

enum { NUMBER_BYTES = 32 };

/* "–" where a number was wanted and there is none; nothing where none was wanted. */
static const char *number(char *text, double value, const char *format, bool wanted) {
    if (isfinite(value))
        snprintf(text, NUMBER_BYTES, format, value);
    else
        snprintf(text, NUMBER_BYTES, "%s", wanted ? "–" : "");
    return text;
}

/* What is to be said of the point as a whole. */
static const char *verdict_of_point(const struct record_point *point) {
    static const char *const cycles[AGREEMENTS] = {"cycles not measured", "cycles agree", "cycles DISAGREE", ""};
    if (point->result == LAB_WRONG)
        return "WRONG RESULT";
    if (point->too_large && point->result == LAB_NOT_CHECKED)
        return "too large for the simulator";
    return isfinite(point->cycles_predicted) ? cycles[point->cycles_agree] : "";
}

static const char *verdict_of_quantity(const struct record_quantity *quantity) {
    static const char *const counts[AGREEMENTS] = {"not counted", "agrees", "DISAGREES", "not predicted"};
    if (quantity->simulated_agrees == DISAGREES)
        return quantity->agrees == AGREES ? "agrees; the simulator DISAGREES" : "the simulator DISAGREES";
    if (quantity->agrees == NOT_MEASURED && quantity->simulated_agrees == AGREES)
        return "agrees, simulated";
    return counts[quantity->agrees];
}

/* Row `index` of a point: one of its quantities, and in the first row what is the point's own. */
static void add_row(struct text_table *table, const struct record_point *point, size_t index) {
    char predicted[NUMBER_BYTES] = "", counted[NUMBER_BYTES] = "", simulated[NUMBER_BYTES] = "";
    char own[5][NUMBER_BYTES] = {{0}};
    const struct record_quantity *quantity = index < point->quantity_count ? &point->quantities[index] : NULL;
    const char *of_quantity = quantity ? verdict_of_quantity(quantity) : "", *of_point = "";
    if (quantity) {
        number(predicted, quantity->predicted, "%.15g", true);
        number(counted, quantity->counted, "%.15g", true);
        number(simulated, quantity->simulated, "%.15g", true);
        if (point->too_large)
            strcpy(simulated, "too large");
    }
    if (index == 0) {
        of_point = verdict_of_point(point);
        number(own[0], point->cycles_predicted, "%.0f", false);
        number(own[1], point->cycles, "%.0f", isfinite(point->cycles_predicted));
        number(own[2], point->us, "%.3f", point->timed);
        number(own[3], point->gbs, "%.1f", false);
        number(own[4], point->tflops, "%.2f", false);
    }
    if (!quantity && !*of_point && point->result == LAB_CORRECT)
        of_point = "correct";
    text_table_add(table, "%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s%s%s", index == 0 ? point->label : "",
                   quantity ? quantity->name : "", predicted, counted, simulated, own[0], own[1], own[2], own[3],
                   own[4], of_quantity, *of_quantity && *of_point ? "; " : "", of_point);
}

static void print_table(const struct record *record, FILE *out) {
    struct text_table table;
    text_table_start(&table,
                     "<point|<quantity|predicted|counted|simulated|cycles pred.|cycles|us|GB/s|TFLOPS|<verdict");
    for (size_t i = 0; i < record->point_count; i++) {
        add_row(&table, &record->points[i], 0);
        for (size_t j = 1; j < record->points[i].quantity_count; j++)
            add_row(&table, &record->points[i], j);
    }
    text_table_print(&table, out);
    text_table_free(&table);
}

void record_print(const struct record *record, FILE *out) {
    const struct record_meta *meta = &record->meta;
    fprintf(out, "\n%s: %s\n%s, %s%s\n", meta->title, meta->question, meta->gpu,
            meta->counted ? "counters by " : "no counters: ", meta->counters);
    if (meta->simulator[0])
        fprintf(out, "%s%s\n", meta->simulated ? "simulated by " : "not simulated: ", meta->simulator);
    fputc('\n', out);
    print_table(record, out);
    for (size_t i = 0; i < record->point_count; i++) {
        const struct record_point *point = &record->points[i];
        if (point->result == LAB_WRONG)
            fprintf(out, "  wrong: `%s`: %s\n", point->label, point->wrong);
    }
    for (size_t i = 0; i < record->claim_count; i++)
        fprintf(out, "  %s %s\n", record->claims[i].holds ? "holds: " : "BROKEN:", record->claims[i].sentence);
    fprintf(out, "%s: %s\n", meta->experiment, record->verdict);
}
