/* SPDX-License-Identifier: Apache-2.0 */
/* The page of lab report: what agreed in all, then topic by topic every experiment with its question, figures and claims. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_pairs.h"
#include "lab/lab_profile.h"
#include "lab/lab_report.h"
#include "lab/modules.h"
#include "program/draw/page.h"

static const enum page_state state_of_record[] = {
    [RECORD_AGREE] = PAGE_OK, [RECORD_DISAGREE] = PAGE_BAD, [RECORD_NOT_MEASURED] = PAGE_NEUTRAL};

static const struct lab_topic *topic_of(const struct record *record) {
    return lab_topic_of(lab_experiment_find(record->meta.experiment));
}

/* ---- the summary ---------------------------------------------------------------------------------- */

/* What agreed, of all experiments. */
struct sum {
    size_t agreeing, points, correct, predicted, counted, counted_as_predicted, simulated, simulated_as_counted, clocks,
        clocks_as_predicted, claims, claims_that_hold;
};

static void add_quantity(struct sum *sum, const struct record_quantity *quantity) {
    const bool predicted = isfinite(quantity->predicted);
    sum->predicted += predicted;
    sum->counted += predicted && isfinite(quantity->counted);
    sum->counted_as_predicted += quantity->agrees == AGREES;
    sum->simulated += quantity->simulated_agrees == AGREES || quantity->simulated_agrees == DISAGREES;
    sum->simulated_as_counted += quantity->simulated_agrees == AGREES;
}

static void add_record(struct sum *sum, const struct record *record) {
    sum->agreeing += record->state == RECORD_AGREE;
    sum->claims += record->claim_count;
    for (size_t i = 0; i < record->claim_count; i++)
        sum->claims_that_hold += record->claims[i].holds;
    for (size_t i = 0; i < record->point_count; i++) {
        const struct record_point *point = &record->points[i];
        sum->points += point->result != LAB_NOT_CHECKED;
        sum->correct += point->result == LAB_CORRECT;
        sum->clocks += point->cycles_agree == AGREES || point->cycles_agree == DISAGREES;
        sum->clocks_as_predicted += point->cycles_agree == AGREES;
        for (size_t j = 0; j < point->quantity_count; j++)
            add_quantity(sum, &point->quantities[j]);
    }
}

/* "184 of 184"; nothing where there is nothing to count. */
static void put_fact(FILE *out, size_t number, size_t all, const char *what) {
    char text[64];
    snprintf(text, sizeof text, "%zu of %zu", number, all);
    if (all)
        page_fact(out, text, what);
}

static void put_summary(FILE *out, const struct record *const *records, size_t count) {
    const struct record_meta *meta = &records[0]->meta;
    struct sum sum = {0};
    for (size_t i = 0; i < count; i++)
        add_record(&sum, records[i]);
    page_facts_begin(out);
    put_fact(out, sum.agreeing, count, "experiments agree");
    put_fact(out, sum.correct, sum.points, "results are right");
    put_fact(out, sum.counted_as_predicted, sum.counted, "counted numbers are as predicted");
    put_fact(out, sum.simulated_as_counted, sum.simulated, "simulated numbers are the counted ones");
    put_fact(out, sum.clocks_as_predicted, sum.clocks, "clocks are as predicted");
    put_fact(out, sum.claims_that_hold, sum.claims, "claims hold");
    page_facts_end(out);
    page_paragraph(out, "%s, driver %s, toolkit %s. %zu numbers are predicted from the model before anything is run.",
                   meta->gpu, meta->driver, meta->toolkit[0] ? meta->toolkit : "unknown", sum.predicted);
}

static const char pairs_heading[] = "Without shared memory, and with it";

static void put_contents(FILE *out, const struct record *const *records, size_t count, bool pairs) {
    struct page_link *links = calloc(2 * count + 1, sizeof *links);
    char(*texts)[192] = calloc(count, sizeof *texts);
    size_t used = 0;
    if (links && pairs)
        links[used++] = (struct page_link){LAB_PAIRS, pairs_heading, false};
    for (size_t i = 0; links && texts && i < count; i++) {
        const struct lab_topic *topic = topic_of(records[i]);
        if (i == 0 || topic != topic_of(records[i - 1]))
            links[used++] = (struct page_link){topic->id, topic->heading, false};
        snprintf(texts[i], sizeof texts[i], "%s%s", records[i]->meta.title,
                 records[i]->state == RECORD_AGREE      ? ""
                 : records[i]->state == RECORD_DISAGREE ? ": DISAGREE"
                                                        : ": not measured");
        links[used++] = (struct page_link){records[i]->meta.experiment, texts[i], true};
    }
    page_contents(out, links, used);
    free(links);
    free(texts);
}

/* ---- an experiment -------------------------------------------------------------------------------- */

static void put_claims(FILE *out, const struct record *record) {
    page_list_begin(out);
    for (size_t i = 0; i < record->claim_count; i++)
        page_item(out, record->claims[i].holds ? PAGE_OK : PAGE_BAD, "%s", record->claims[i].sentence);
    page_list_end(out);
}

enum { LINKS_MAX = 12 };
struct links {
    struct page_link links[LINKS_MAX];
    char paths[LINKS_MAX][4352];
    size_t count;
};

/* To a file below the project root; `text` NULL: its path. Each only once. */
static void add_link(struct links *links, const char *root, const char *file, const char *text) {
    char path[4352];
    snprintf(path, sizeof path, "%s%s", root, file);
    for (size_t i = 0; i < links->count; i++) {
        if (strcmp(links->paths[i], path) == 0)
            return;
    }
    if (links->count == LINKS_MAX)
        return;
    memcpy(links->paths[links->count], path, sizeof path);
    links->links[links->count] = (struct page_link){links->paths[links->count], text ? text : file, false};
    links->count++;
}

/* Where a module of this name is built from today: older results may name an older place. */
static const char *source_today(const char *source) {
    char name[96];
    const char *slash = strrchr(source, '/');
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : source);
    name[strcspn(name, ".")] = 0;
    const struct lab_module *module = lab_module_find(name);
    return module ? module->source : source;
}

/* To the page of the course, the host code, the device code. */
static void put_links(FILE *out, const struct record *record, const char *root) {
    const struct lab_experiment *experiment = lab_experiment_find(record->meta.experiment);
    const char *page = experiment && experiment->page ? experiment->page : record->meta.page;
    const char *source = lab_experiment_source(experiment);
    struct links links = {.count = 0};
    char file[96], text[96];
    snprintf(file, sizeof file, "docs/course/%s.md", page);
    snprintf(text, sizeof text, "the course on %s", page);
    if (page[0])
        add_link(&links, root, file, text);
    if (source)
        add_link(&links, root, source, source);
    for (size_t i = 0; i < record->point_count; i++) {
        if (record->points[i].source[0])
            add_link(&links, root, source_today(record->points[i].source), NULL);
    }
    if (links.count)
        page_links(out, links.links, links.count);
}

/* What its profile says, if there is one. */
static void put_profile(FILE *out, const struct report_input *input, const char *experiment) {
    for (size_t i = 0; i < input->profile_count; i++) {
        if (strcmp(input->profiles[i]->meta.experiment, experiment) == 0)
            profile_figures(out, input->profiles[i]);
    }
}

static void put_experiment(FILE *out, const struct record *record, const struct report_input *input) {
    page_part_begin(out, record->meta.experiment, record->meta.question);
    page_verdict(out, state_of_record[record->state], "%s: %s", record->meta.title, record->verdict);
    page_pair_begin(out);
    report_figures(out, record);
    put_profile(out, input, record->meta.experiment);
    page_pair_middle(out);
    put_claims(out, record);
    put_links(out, record, input->root);
    page_pair_end(out);
    report_rows(out, record);
    page_part_end(out);
}

/* ---- the page ------------------------------------------------------------------------------------- */

static void put_pairs(FILE *out, const struct report_input *input) {
    page_section_begin(out, LAB_PAIRS, pairs_heading);
    page_figure_begin(out);
    pairs_picture(out, input->records, input->count, true);
    page_figure_end(out, NULL);
    page_section_end(out);
}

void report_page(FILE *out, const struct report_input *input) {
    const struct lab_topic *open = NULL;
    const bool pairs = pairs_are_there(input->records, input->count);
    char title[128];
    snprintf(title, sizeof title, "The laboratory on %s", input->records[0]->meta.gpu);
    page_begin_adaptive(out, title,
                        "Experiments on shared memory. Each predicts its numbers from a model, has them counted by the "
                        "profiler and by the simulated GPU, and takes times.");
    put_summary(out, input->records, input->count);
    put_contents(out, input->records, input->count, pairs);
    if (pairs)
        put_pairs(out, input);
    for (size_t i = 0; i < input->count; i++) {
        const struct lab_topic *topic = topic_of(input->records[i]);
        if (open && topic != open)
            page_section_end(out);
        if (topic != open)
            page_section_begin(out, topic->id, topic->heading);
        open = topic;
        put_experiment(out, input->records[i], input);
    }
    page_section_end(out);
    page_end(out, "Made by gristmill lab report from the saved results.");
}
