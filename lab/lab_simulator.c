/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated GPU's counters: read in this process, or by a child of this program. */
#include "lab/lab_simulator.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/spawn.h"

#define DRIVER_CHOICE "GM_DRIVER"     /* src/host/driver.h */
#define DEVICE_CHOICE "GM_SIM_DEVICE" /* src/sim/sim.h */

enum { GRACE_SECONDS = 20 }; /* of a child beyond its budget: setup, and a launch that takes longer than thought */

/* ---- in the process that uses the simulator ------------------------------------------------------- */

static simulator_metric *installed;

void simulator_install(simulator_metric *metric) {
    installed = metric;
}

simulator_metric *simulator_opened(void) {
    simulator_metric *metric = installed;
    if (!metric)
        *(void **)&metric = gm_driver_symbol("gm_sim_metric");
    return metric;
}

void simulator_start(const struct lab_experiment *experiment) {
    void (*set_counting)(int on), (*set_reports)(const char *mode);
    *(void **)&set_counting = gm_driver_symbol("gm_sim_set_counting");
    *(void **)&set_reports = gm_driver_symbol("gm_sim_set_reports");
    if (set_counting)
        set_counting(1);
    if (set_reports && experiment->races_on_purpose)
        set_reports("quiet");
}

void simulator_read(struct lab_point *point) {
    simulator_metric *metric = simulator_opened();
    for (size_t i = 0; metric && point->launch.kernel && i < point->quantity_count; i++) {
        struct lab_quantity *quantity = &point->quantities[i];
        double value;
        if (quantity->metric && metric(quantity->metric, &value) == 0)
            quantity->simulated = value;
    }
}

/* ---- the child ------------------------------------------------------------------------------------ */

static double threads_of(const struct lab_launch *launch) {
    double threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= (double)launch->grid[i] * launch->block[i];
    return threads;
}

/* Of the points not yet done the one with the fewest threads; NULL: all are done. */
static struct lab_point *smallest(struct lab *lab, const bool done[LAB_POINTS_MAX]) {
    struct lab_point *found = NULL;
    for (size_t i = 0; i < lab->point_count; i++) {
        struct lab_point *point = &lab->points[i];
        if (!done[i] && runner_is_profiled(point) &&
            (!found || threads_of(&point->launch) < threads_of(&found->launch)))
            found = point;
    }
    return found;
}

static void print_point(const struct lab *lab, const struct lab_point *point, FILE *out) {
    for (size_t i = 0; i < point->quantity_count; i++) {
        const struct lab_quantity *quantity = &point->quantities[i];
        if (quantity->metric && isfinite(quantity->simulated))
            fprintf(out, "simulated %zu %.17g %s\n", (size_t)(point - lab->points), quantity->simulated,
                    quantity->metric);
    }
    fflush(out);
}

int simulator_launch_all(struct runner *runner, double budget, FILE *out) {
    struct lab *lab = runner->lab;
    bool done[LAB_POINTS_MAX] = {false};
    const double start = gpu_seconds();
    for (struct lab_point *point; (point = smallest(lab, done)) != NULL;) {
        const size_t index = (size_t)(point - lab->points);
        done[index] = true;
        if (point->too_large || gpu_seconds() - start >= budget) {
            fprintf(out, "too-large %zu\n", index);
            continue;
        }
        if (runner_launch_alone(runner, point) != 0)
            return -1;
        simulator_read(point);
        print_point(lab, point, out);
    }
    fputs("simulated all\n", out);
    return 0;
}

/* ---- the parent ----------------------------------------------------------------------------------- */

static void keep_value(struct lab *lab, size_t index, double value, const char *metric, size_t length) {
    if (index >= lab->point_count)
        return;
    struct lab_point *point = &lab->points[index];
    for (size_t i = 0; i < point->quantity_count; i++) {
        struct lab_quantity *quantity = &point->quantities[i];
        if (quantity->metric && strlen(quantity->metric) == length && strncmp(quantity->metric, metric, length) == 0)
            quantity->simulated = value;
    }
}

bool simulator_parse(struct lab *lab, const char *output) {
    bool whole = false;
    for (const char *line = output; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t index;
        double value;
        int metric = 0;
        if (strncmp(line, "simulated all\n", 14) == 0)
            whole = true;
        else if (sscanf(line, "simulated %zu %lf %n", &index, &value, &metric) == 2 && metric)
            keep_value(lab, index, value, line + metric, strcspn(line + metric, "\n"));
        else if (sscanf(line, "too-large %zu", &index) == 1 && index < lab->point_count)
            lab->points[index].too_large = true;
    }
    return whole;
}

const char *simulator_device_like(const struct gm_device *device) {
    static const char *const tokens[][2] = {{"H200", "h200"}, {"H100", "h100"}, {"A100", "a100"}, {"4090", "rtx4090"}};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        if (strstr(device->name, tokens[i][0]))
            return tokens[i][1];
    }
    return NULL;
}

/* Sets a variable of the environment, or takes it away; returns what it was, for restore(). */
static char *replace(const char *name, const char *value) {
    const char *now = getenv(name);
    char *before = now ? strdup(now) : NULL;
    setenv(name, value, 1);
    return before;
}

static void restore(const char *name, char *before) {
    if (before)
        setenv(name, before, 1);
    else
        unsetenv(name);
    free(before);
}

static struct spawned run_child(const struct lab *lab, const char *device, double budget, char **output) {
    char program[] = "/proc/self/exe", command[] = "lab", simulate[] = "simulate", option[] = "--budget", seconds[32];
    char *const arguments[] = {program, command, simulate, (char *)lab->experiment->name, option, seconds, NULL};
    snprintf(seconds, sizeof seconds, "%g", budget);
    char *const driver = replace(DRIVER_CHOICE, "sim"), *const like = replace(DEVICE_CHOICE, device);
    const struct spawned child = spawn_program(arguments, budget + GRACE_SECONDS, output);
    restore(DRIVER_CHOICE, driver);
    restore(DEVICE_CHOICE, like);
    return child;
}

/* The last line that a failed child printed is its own account. */
static void copy_last_line(char *to, size_t bytes, const char *output) {
    size_t end = strlen(output);
    while (end && output[end - 1] == '\n')
        end--;
    size_t start = end;
    while (start && output[start - 1] != '\n')
        start--;
    snprintf(to, bytes, "%.*s", (int)(end - start < bytes ? end - start : bytes - 1), output + start);
}

static bool wants_any(const struct lab *lab) {
    bool any = false;
    for (size_t i = 0; i < lab->point_count; i++)
        any |= runner_is_profiled(&lab->points[i]);
    return any;
}

void simulator_run(struct lab *lab, double budget, struct simulator_report *report) {
    const char *device = simulator_device_like(&lab->gpu.device);
    char *output = NULL, last[200] = "";
    *report = (struct simulator_report){0};
    if (!device || budget <= 0 || !wants_any(lab)) {
        snprintf(report->why, sizeof report->why, "%s",
                 !device       ? "there is no simulated GPU like this one"
                 : budget <= 0 ? "switched off"
                               : "no point asks for any");
        return;
    }
    progress_show(0, 1, "simulation");
    const struct spawned child = run_child(lab, device, budget, &output);
    progress_clear();
    const bool whole = output && simulator_parse(lab, output);
    if (output)
        copy_last_line(last, sizeof last, output);
    for (size_t i = 0; i < lab->point_count; i++) {
        for (size_t j = 0; j < lab->points[i].quantity_count; j++)
            report->simulated |= isfinite(lab->points[i].quantities[j].simulated);
    }
    snprintf(report->device, sizeof report->device, "the simulated %s", device);
    if (child.timed_out)
        snprintf(report->why, sizeof report->why, "it took more than %g s and was stopped", budget + GRACE_SECONDS);
    else if (!whole)
        snprintf(report->why, sizeof report->why, "it ended with %d: %s", child.code, last);
    free(output);
}
