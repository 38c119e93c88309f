/* SPDX-License-Identifier: Apache-2.0 */
/* The second witness: finding and running Nsight Compute. */
#include "lab/profiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/runner.h"
#include "lab/spawn.h"

#define USUAL_PLACE     "/usr/local/cuda/bin/ncu"
#define VERSION_SECONDS 20.0

/* Calls `see` with every single metric of the points; those joined by '+' one by one. */
static void each_metric(const struct lab *lab, void (*see)(void *what, const char *metric, size_t length), void *what) {
    for (size_t i = 0; i < lab->point_count; i++) {
        const struct lab_point *point = &lab->points[i];
        for (size_t j = 0; runner_is_profiled(point) && j < point->quantity_count; j++) {
            const char *metric = point->quantities[j].metric;
            while (metric && *metric) {
                size_t length = strcspn(metric, "+");
                see(what, metric, length);
                metric += length + (metric[length] == '+');
            }
        }
    }
}

static void add_length(void *what, const char *metric, size_t length) {
    (void)metric;
    *(size_t *)what += length + 1;
}

/* Appends the metric unless the list has it. */
static void add_metric(void *what, const char *metric, size_t length) {
    char *list = what;
    for (const char *item = list; *item;) {
        size_t item_length = strcspn(item, ",");
        if (item_length == length && strncmp(item, metric, length) == 0)
            return;
        item += item_length + (item[item_length] == ',');
    }
    strcat(list, *list ? "," : "");
    strncat(list, metric, length);
}

char *profiler_metrics(const struct lab *lab) {
    size_t bytes = 1;
    each_metric(lab, add_length, &bytes);
    char *list = calloc(1, bytes);
    if (list)
        each_metric(lab, add_metric, list);
    return list;
}

/* The version in "... Version 2025.3.0.0 (build ...)"; false when this is no ncu that runs. */
static bool ask_version(char *program, char *version, size_t bytes) {
    char *output, *arguments[] = {program, "--version", NULL};
    struct spawned spawned = spawn_program(arguments, VERSION_SECONDS, &output);
    const char *found = output ? strstr(output, "Version ") : NULL;
    bool works = spawned.started && spawned.code == 0 && found;
    if (works)
        snprintf(version, bytes, "Nsight Compute %.*s", (int)strcspn(found + 8, " \n"), found + 8);
    free(output);
    return works;
}

char *profiler_find(struct profiler_report *report) {
    char *candidates[] = {getenv("NCU"), "ncu", USUAL_PLACE};
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        char *program = candidates[i];
        if (program && *program && ask_version(program, report->version, sizeof report->version))
            return program;
        if (i == 0 && program && *program) {
            snprintf(report->why, sizeof report->why, "NCU=%.200s does not run", program);
            return NULL;
        }
    }
    snprintf(report->why, sizeof report->why, "Nsight Compute is not here: no ncu in PATH or in /usr/local/cuda/bin");
    return NULL;
}

/* ncu's command line in front of that of this program: lists that NULL ends are put behind each other. */
enum { WORDS_MAX = 128 };

static size_t append(char *words[WORDS_MAX], size_t count, char *const *more) {
    while (*more && count < WORDS_MAX - 1)
        words[count++] = *more++;
    words[count] = NULL;
    return count;
}

/* Runs it on launches of this program; `before` and `behind` are its options around those that choose kernels. The output,
 * which the caller frees; NULL: the report says why. */
static char *run_profiler(char *profiler, char *const *before, char *const *behind, const struct profiler_launches *launches,
                          double seconds, struct profiler_report *report) {
    char self[4096], *output, *words[WORDS_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0) {
        snprintf(report->why, sizeof report->why, "/proc/self/exe cannot be read");
        return NULL;
    }
    self[length] = 0;
    char *const always[] = {profiler, "--csv", "--print-units", "base", "--clock-control", "none", NULL};
    char *const program[] = {self, NULL};
    char *const *const parts[] = {always, before, launches->selection, behind, program, launches->command};
    for (size_t i = 0, count = 0; i < sizeof parts / sizeof *parts; i++)
        count = append(words, count, parts[i]);
    struct spawned spawned = spawn_program(words, seconds, &output);
    if (spawned.started && !spawned.timed_out && output)
        return output;
    if (spawned.timed_out)
        snprintf(report->why, sizeof report->why, "Nsight Compute took more than %g s and was stopped", seconds);
    else
        snprintf(report->why, sizeof report->why, "Nsight Compute could not be started");
    free(output);
    return NULL;
}

void profiler_count_launches(struct lab *lab, const struct profiler_launches *launches, double seconds,
                             struct profiler_report *report) {
    *report = (struct profiler_report){0};
    char *metrics = profiler_metrics(lab);
    if (!metrics || !*metrics) {
        snprintf(report->why, sizeof report->why, metrics ? "no point asks for any" : "out of host memory");
        free(metrics);
        return;
    }
    progress_show(0, 1, "counters");
    char *profiler = profiler_find(report);
    char *const before[] = {"--page", "raw", NULL}, *const behind[] = {"--metrics", metrics, NULL};
    char *output = profiler ? run_profiler(profiler, before, behind, launches, seconds, report) : NULL;
    report->counted = output && profiler_read(lab, output, report->why, sizeof report->why) == 0;
    progress_clear();
    free(output);
    free(metrics);
}

void profiler_count_lines(struct launch_lines *lines, const struct profiler_launches *launches, double seconds,
                          struct profiler_report *report) {
    *report = (struct profiler_report){0};
    progress_show(0, 1, "lines");
    char *profiler = profiler_find(report);
    char *const before[] = {"--page", "source", "--print-source", "cuda,sass", "--import-source", "yes", NULL};
    char *const behind[] = {"--section", "SourceCounters", NULL};
    char *output = profiler ? run_profiler(profiler, before, behind, launches, seconds, report) : NULL;
    report->counted = output && profiler_read_lines(lines, output, report->why, sizeof report->why) == 0;
    progress_clear();
    free(output);
}

void profiler_count(struct lab *lab, double seconds, struct profiler_report *report) {
    char device[16];
    snprintf(device, sizeof device, "%d", lab->gpu.device.ordinal);
    char *const selection[] = {"--kernel-name", "regex:^lab_", NULL};
    char *const command[] = {"lab", "launch", (char *)lab->experiment->name, "--device", device, NULL};
    profiler_count_launches(lab, &(struct profiler_launches){selection, command}, seconds, report);
}
