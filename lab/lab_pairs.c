/* SPDX-License-Identifier: Apache-2.0 */
/* The bar chart of an article: a transposition, a sum and a product, each without shared memory and with it, on a V100. */
#include "lab/lab_pairs.h"

#include <math.h>
#include <string.h>

#include "lab/modules.h"
#include "program/base/messages.h"
#include "program/draw/chart.h"

enum { SECTOR_BYTES = 32 };

/* `article`: GB/s of the V100, where the experiment has them not. The product's are "effective", and no more is said of
 * them; ours are the bytes that its loads ask of L1. */
static const struct side {
    const char *group, *label, *experiment, *step, *size;
    double article;
} sides[] = {
    {"transposition", "without", "transpose", "naive", ", 4096 x 4096", 0},
    {"transposition", "with, padded", "transpose", "padded", ", 4096 x 4096", 0},
    {"sum of 2^28", "naive: modulo", "reduction", "modulo", ", 2^28", 0},
    {"sum of 2^28", "sequential", "reduction", "sequential", ", 2^28", 0},
    {"product, bytes that its loads ask for", "without", "reuse", "no tile", "", 45},
    {"product, bytes that its loads ask for", "with, tiles of 32", "reuse", "tile 32", "", 680},
};

enum { SIDES = sizeof sides / sizeof *sides };

static double article_of(const struct side *side) {
    const struct lab_experiment *experiment = lab_experiment_find(side->experiment);
    return side->article > 0                   ? side->article
           : experiment && experiment->article ? experiment->article(side->step)
                                               : NAN;
}

static const struct record_point *point_of(const struct side *side, const struct record *record) {
    char label[64];
    snprintf(label, sizeof label, "%s%s", side->step, side->size);
    for (size_t i = 0; i < record->point_count; i++) {
        if (strcmp(record->points[i].label, label) == 0)
            return &record->points[i];
    }
    return NULL;
}

/* Its own GB/s, or else those of the sectors that were counted. */
static double rate_of(const struct record_point *point) {
    for (size_t i = 0; !isfinite(point->gbs) && i < point->quantity_count; i++) {
        if (strcmp(point->quantities[i].name, "sectors") == 0)
            return SECTOR_BYTES * point->quantities[i].counted / point->us * 1e-3;
    }
    return point->gbs;
}

static double value_of(const struct side *side, const struct record *const *records, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(records[i]->meta.experiment, side->experiment) != 0)
            continue;
        const struct record_point *point = point_of(side, records[i]);
        return point ? rate_of(point) : NAN;
    }
    return NAN;
}

bool pairs_are_there(const struct record *const *records, size_t count) {
    bool any = false;
    for (size_t i = 0; i < SIDES; i++)
        any |= isfinite(value_of(&sides[i], records, count));
    return any;
}

int pairs_picture(FILE *out, const struct record *const *records, size_t count, bool inside_page) {
    const struct chart chart = {.title = "GB/s without shared memory and with it",
                                .subtitle = "logarithmic axis",
                                .log = true,
                                .decimals = -1,
                                .inside_page = inside_page};
    struct chart_bar bars[SIDES];
    if (!pairs_are_there(records, count))
        return complain("there are no times of transpose, reduction or reuse");
    for (size_t i = 0; i < SIDES; i++) {
        bars[i] = (struct chart_bar){.group = sides[i].group, .label = sides[i].label, .note = sides[i].step};
        for (size_t s = 0; s < CHART_SERIES_MAX; s++)
            bars[i].value[s] = bars[i].marker[s] = NAN;
        bars[i].value[0] = value_of(&sides[i], records, count);
        bars[i].value[1] = article_of(&sides[i]);
    }
    const char *const series[] = {records[0]->meta.gpu, "a V100 in an article"};
    return svg_bars(out, &chart, series, 2, NULL, bars, SIDES);
}
