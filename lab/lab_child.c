/* SPDX-License-Identifier: Apache-2.0 */
/* One child launches the points one after the other; where it fails, the next begins behind that point. */
#include "lab/lab_child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/spawn.h"

#define FIRST_POINT "GM_LAB_FIRST_POINT" /* tells a child where to begin */

enum { TRY_SECONDS = 20 };

/* ---- in the child --------------------------------------------------------------------------------- */

/* `lab launch` makes the launches that have something to count. */
static void choose_points(struct lab *lab, size_t first) {
    for (size_t i = first; i < lab->point_count; i++)
        lab_quantity(&lab->points[i], "launched", "smsp__warps_launched.sum", 0, 0);
}

/* ---- in the parent -------------------------------------------------------------------------------- */

/* The error that the driver named in front of the sentence at `end`. */
static void copy_error(char *error, size_t bytes, const char *output, const char *end) {
    const char *last = NULL;
    for (const char *at = output; (at = strstr(at, "CUDA_ERROR_")) && at < end; at++)
        last = at;
    snprintf(error, bytes, "%.*s", last ? (int)strcspn(last, "\r\n") : 8, last ? last : "an error");
}

size_t lab_child_failed(const struct lab *lab, size_t first, const char *output, struct lab_trial *trial) {
    for (size_t i = first; i < lab->point_count; i++) {
        char sentence[128];
        snprintf(sentence, sizeof sentence, "point `%s`: the launch failed", lab->points[i].label);
        const char *found = strstr(output, sentence);
        if (found) {
            trial->refused = true;
            copy_error(trial->error, sizeof trial->error, output, found);
            return i;
        }
    }
    return lab->point_count;
}

static struct spawned run_child(const struct lab *lab, size_t first, char **output) {
    char program[] = "/proc/self/exe", command[] = "lab", launch[] = "launch", option[] = "--device";
    char device[16], first_text[24];
    char *const arguments[] = {program, command, launch, (char *)lab->experiment->name, option, device, NULL};
    snprintf(device, sizeof device, "%d", lab->gpu.device.ordinal);
    snprintf(first_text, sizeof first_text, "%zu", first);
    setenv(FIRST_POINT, first_text, 1);
    const struct spawned child = spawn_program(arguments, TRY_SECONDS, output);
    unsetenv(FIRST_POINT);
    return child;
}

int lab_child_try(struct lab *lab, struct lab_trial trials[LAB_POINTS_MAX]) {
    const char *first_text = getenv(FIRST_POINT);
    if (lab->launching_only) {
        if (first_text)
            choose_points(lab, strtoul(first_text, NULL, 10));
        return 0;
    }
    for (size_t first = 0; first < lab->point_count;) {
        char *output = NULL;
        struct lab_trial trial = {0};
        const struct spawned child = run_child(lab, first, &output);
        const size_t failed = output ? lab_child_failed(lab, first, output, &trial) : lab->point_count;
        if (child.started && child.code != 0 && failed == lab->point_count)
            complain("the process that tries the launches ended with %d: %s", child.code, output ? output : "");
        free(output);
        if (child.code == 0)
            return 0;
        if (failed == lab->point_count)
            return -1;
        trials[failed] = trial;
        lab->points[failed].launch.kernel = NULL;
        lab->points[failed].run = lab_launch_nothing;
        first = failed + 1;
    }
    return 0;
}
