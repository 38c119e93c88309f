/* SPDX-License-Identifier: Apache-2.0 */
/* The timed launches of an experiment under Nsight Compute. */
#include "lab/lab_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/report/results.h"
#include "lab/lab_run.h"
#include "lab/modules.h"
#include "lab/profiler.h"
#include "program/base/paths.h"
#include "program/base/text_table.h"

#define PERCENT(metric) metric ".avg.pct_of_peak_sustained_elapsed"
#define ACTIVE(metric)  metric ".avg.pct_of_peak_sustained_active"
#define STALLED(reason) "smsp__average_warps_issue_stalled_" reason "_per_issue_active.ratio"

static const struct {
    const char *name, *metric;
} quantities[] = {
    {PROFILE_DURATION, "gpu__time_duration.sum"},
    {PROFILE_MEMORY, "dram__bytes_read.sum+dram__bytes_write.sum"},
    {PROFILE_WAVES, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
    {"warps, %", ACTIVE("sm__warps_active")},
    {"issue slots, %", ACTIVE("smsp__issue_active")},
    {PROFILE_PIPE, PERCENT("l1tex__data_pipe_lsu_wavefronts_mem_shared")},
    {"L1, %", ACTIVE("l1tex__throughput")},
    {"L2, %", PERCENT("lts__throughput")},
    {PROFILE_DRAM, PERCENT("gpu__dram_throughput")},
    {PROFILE_LATENCY, "smsp__average_warp_latency_per_inst_issued.ratio"},
    {PROFILE_STALLED "long scoreboard", STALLED("long_scoreboard")},
    {PROFILE_STALLED "short scoreboard", STALLED("short_scoreboard")},
    {PROFILE_STALLED "MIO throttle", STALLED("mio_throttle")},
    {PROFILE_STALLED "LG throttle", STALLED("lg_throttle")},
    {PROFILE_STALLED "barrier", STALLED("barrier")},
    {PROFILE_STALLED "membar", STALLED("membar")},
    {PROFILE_STALLED "wait", STALLED("wait")},
    {PROFILE_STALLED "math pipe throttle", STALLED("math_pipe_throttle")},
    {PROFILE_STALLED "dispatch", STALLED("dispatch_stall")},
    {PROFILE_STALLED "no instruction", STALLED("no_instruction")},
    {PROFILE_STALLED "branch resolving", STALLED("branch_resolving")},
    {PROFILE_STALLED "drain", STALLED("drain")},
    {PROFILE_STALLED "not selected", STALLED("not_selected")},
    {PROFILE_STALLED "selected", STALLED("selected")},
};
enum { QUANTITIES = sizeof quantities / sizeof *quantities };
_Static_assert((int)QUANTITIES <= (int)LAB_QUANTITIES_MAX, "a point has room for them");

/* ---- what is asked for, and what came ----------------------------------------------------------------------------- */

size_t profile_ask(struct lab *lab) {
    size_t asked = 0;
    for (size_t i = 0; i < lab->point_count; i++) {
        struct lab_point *point = &lab->points[i];
        const bool ask = point->timed && point->launch.kernel && !point->too_large;
        asked += ask;
        point->quantity_count = 0;
        for (size_t j = 0; ask && j < QUANTITIES; j++)
            lab_quantity(point, quantities[j].name, quantities[j].metric, NAN, 0);
    }
    return asked;
}

double profile_counted(const struct record_point *point, const char *name) {
    for (size_t i = 0; i < point->quantity_count; i++) {
        if (strcmp(point->quantities[i].name, name) == 0)
            return point->quantities[i].counted;
    }
    return NAN;
}

double profile_share(const struct record_point *point, const struct record_quantity *quantity) {
    const bool reason = strncmp(quantity->name, PROFILE_STALLED, strlen(PROFILE_STALLED)) == 0;
    return reason ? quantity->counted / profile_counted(point, PROFILE_LATENCY) : NAN;
}

/* ---- the record --------------------------------------------------------------------------------------------------- */

/* Their time is that of the counted launch. */
static void take_duration(struct lab *lab) {
    for (size_t i = 0; i < lab->point_count; i++) {
        struct lab_point *point = &lab->points[i];
        point->us = lab_counted(point, PROFILE_DURATION) * 1e-3;
    }
}

/* Only what was profiled. */
static void drop_others(struct record *record) {
    size_t kept = 0;
    for (size_t i = 0; i < record->point_count; i++) {
        if (record->points[i].quantity_count)
            record->points[kept++] = record->points[i];
    }
    record->point_count = kept;
}

static struct record *make_record(struct lab *lab, const struct profiler_report *counters) {
    struct record *record = calloc(1, sizeof *record);
    if (!record) {
        complain("out of host memory");
        return NULL;
    }
    take_duration(lab);
    lab_describe(&record->meta, lab, counters);
    record_fill(record, lab);
    drop_others(record);
    record_judge(record);
    return record;
}

/* ---- the table ---------------------------------------------------------------------------------------------------- */

enum { FIRST_PERCENT = 3, FIRST_REASON = 10, NAMED = 3, WORDS_BYTES = 160 };

/* "long scoreboard 62 %, barrier 20 %": the greatest shares, in turn. */
static void name_reasons(const struct record_point *point, char *words, size_t bytes) {
    double below = INFINITY;
    words[0] = 0;
    for (int n = 0; n < NAMED; n++) {
        const struct record_quantity *most = NULL;
        double share = 0;
        for (size_t i = FIRST_REASON; i < point->quantity_count; i++) {
            const double one = profile_share(point, &point->quantities[i]);
            if (one < below && one > share) {
                share = one;
                most = &point->quantities[i];
            }
        }
        const size_t used = strlen(words);
        if (most)
            snprintf(words + used, bytes - used, "%s%s %.0f %%", used ? ", " : "", most->name + strlen(PROFILE_STALLED),
                     100 * share);
        below = share;
    }
}

static void print(const struct record *record) {
    struct text_table table;
    text_table_start(&table, "<|us|warps|issue|shared|L1|L2|DRAM|cycles|<warps wait for");
    for (size_t i = 0; i < record->point_count; i++) {
        const struct record_point *point = &record->points[i];
        char us[TEXT_TABLE_NUMBER_BYTES], latency[TEXT_TABLE_NUMBER_BYTES], words[WORDS_BYTES];
        char percents[FIRST_REASON][TEXT_TABLE_NUMBER_BYTES];
        for (int j = FIRST_PERCENT; j < FIRST_REASON; j++)
            text_table_number(percents[j], point->quantities[j].counted, "%.0f");
        name_reasons(point, words, sizeof words);
        text_table_add(&table, "%s|%s|%s|%s|%s|%s|%s|%s|%s|%s", point->label, text_table_number(us, point->us, "%.1f"),
                       percents[3], percents[4], percents[5], percents[6], percents[7], percents[8],
                       text_table_number(latency, profile_counted(point, PROFILE_LATENCY), "%.1f"), words);
    }
    text_table_print(&table, stdout);
    text_table_free(&table);
    printf(
        "\n%s: warps, issue slots, shared memory's pipe, L1, L2 and DRAM in %% of their peak; cycles of a warp from an "
        "instruction to the next, and what it waits for meanwhile\n",
        record->meta.experiment);
}

/* ---- one experiment ----------------------------------------------------------------------------------------------- */

static int keep(const struct record *record, const char *pattern) {
    char path[4096], slug[64];
    results_fill_name(slug, sizeof slug, record->meta.gpu);
    const struct path_word words[] = {{"gpu", slug}, {"experiment", record->meta.experiment}};
    return path_fill(path, sizeof path, pattern, words, sizeof words / sizeof *words) == 0 ? record_write(record, path)
                                                                                           : -1;
}

static int profile_ready(struct lab *lab, const struct profile_request *request) {
    struct profiler_report counters;
    char device[16];
    if (profile_ask(lab) == 0) {
        note("%s: no kernel of it is timed", lab->experiment->name);
        return 0;
    }
    snprintf(device, sizeof device, "%d", request->device);
    char *const selection[] = {"--kernel-name", "regex:^lab_", NULL};
    char *const command[] = {"lab", "launch", (char *)lab->experiment->name, "--device", device, "--timed", NULL};
    profiler_count_launches(lab, &(struct profiler_launches){selection, command}, request->timeout_s, &counters);
    if (!counters.counted)
        return complain("%s: nothing was counted: %s", lab->experiment->name, counters.why);
    struct record *record = make_record(lab, &counters);
    if (record)
        print(record);
    const int status = !record ? -1 : request->json ? keep(record, request->json) : 0;
    free(record);
    return status;
}

int profile_one(const struct lab_experiment *experiment, const struct profile_request *request) {
    struct runner runner;
    const bool ready = runner_open(&runner, experiment, request->device, true) == RUNNER_READY;
    const int status = ready ? profile_ready(runner.lab, request) : -1;
    runner_close(&runner);
    return status;
}
