/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of all launches of the process. */
#include "sim/driver/driver_sim.h"
#include "sim/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_MAX = 4096, PRINTED_MAX = 24 };

static struct sim_reports kept;

/* All of them, as far as KEPT_MAX allows, or none. False: no memory. */
static bool keep(const struct sim_reports *reports) {
    const size_t left = KEPT_MAX - kept.count, count = reports->count < left ? reports->count : left;
    if (kept.count + count > kept.room) {
        const size_t room = kept.count + count > 2 * kept.room ? kept.count + count : 2 * kept.room;
        struct gm_sim_report *grown = realloc(kept.report, room * sizeof *grown);
        if (!grown)
            return false;
        kept.report = grown;
        kept.room = room;
    }
    if (count)
        memcpy(kept.report + kept.count, reports->report, count * sizeof *kept.report);
    kept.count += count;
    return true;
}

/* "proxy: gemm_sm90 line 210 (gemm.cu:34), CTA (0,0,0), warp 4, lane 0: the sentence (3 times)" */
static void print(const struct gm_sim_report *report) {
    char where[460] = "";
    size_t at = 0;
    if (report->line)
        at += (size_t)snprintf(where, sizeof where, " line %u", report->line);
    if (report->source_line)
        at += (size_t)snprintf(where + at, sizeof where - at, " (%s:%u)", report->source_file, report->source_line);
    at += (size_t)snprintf(where + at, sizeof where - at, ", CTA (%u,%u,%u)", report->cta[0], report->cta[1],
                           report->cta[2]);
    if (report->warp >= 0)
        at += (size_t)snprintf(where + at, sizeof where - at, ", warp %d", report->warp);
    if (report->warp >= 0 && report->lane >= 0)
        at += (size_t)snprintf(where + at, sizeof where - at, ", lane %d", report->lane);
    if (report->times > 1)
        snprintf(where + at, sizeof where - at, " and %llu times more", (unsigned long long)report->times - 1);
    sim_say("%s: %s%s: %s", gm_sim_report_kind_name(report->kind), report->kernel, where, report->sentence);
}

bool sim_reports_collect(const struct sim_reports *reports) {
    const bool are_kept = keep(reports);
    for (size_t i = 0; i < reports->count && i < PRINTED_MAX; i++)
        print(&reports->report[i]);
    if (reports->count > PRINTED_MAX)
        sim_say("and %zu reports more", reports->count - PRINTED_MAX);
    return are_kept;
}

size_t gm_sim_report_count(void) {
    SIM_LOCKED();
    return kept.count;
}

int gm_sim_report_get(size_t index, struct gm_sim_report *report) {
    SIM_LOCKED();
    if (index >= kept.count || !report)
        return -1;
    *report = kept.report[index];
    return 0;
}

void gm_sim_reports_clear(void) {
    SIM_LOCKED();
    sim_reports_free(&kept);
}
