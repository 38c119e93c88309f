/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the simulator: the environment first, then what the program sets. */
#include "sim/driver/driver_sim.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 16 };

static struct sim_options options = {.device = "h100"};
static struct sim_setup setup = {.devices = 1};
static bool seed_is_set, counting_is_set, reports_are_set; /* by the program: stronger than the environment */

const struct sim_options *sim_options_now(void) {
    return &options;
}

const struct sim_setup *sim_setup_now(void) {
    return &setup;
}

void sim_say(const char *format, ...) {
    if (options.reports == SIM_REPORTS_QUIET)
        return;
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    fprintf(stderr, "gristmill-sim: %s\n", sentence);
}

/* ---- the environment ------------------------------------------------------------------------------------------- */

/* Leaves *value alone where the variable is not set. */
static bool read_number(const char *variable, uint64_t least, uint64_t most, uint64_t *value) {
    const char *text = getenv(variable);
    if (!text || !*text)
        return true;
    char *end;
    errno = 0;
    const uint64_t number = strtoull(text, &end, 0);
    if (errno || *end || end == text || *text == '-' || number < least || number > most) {
        sim_say("%s is \"%.40s\"; it must be a number from %llu to %llu", variable, text, (unsigned long long)least,
                (unsigned long long)most);
        return false;
    }
    *value = number;
    return true;
}

static bool find_mode(const char *text, struct sim_options *to) {
    static const char *const modes[] = {
        [SIM_REPORTS_FAIL] = "fail", [SIM_REPORTS_PRINT] = "print", [SIM_REPORTS_QUIET] = "quiet"};
    for (int i = SIM_REPORTS_FAIL; i <= SIM_REPORTS_QUIET; i++)
        if (strcmp(text, modes[i]) == 0) {
            to->reports = i;
            return true;
        }
    return false;
}

static bool read_mode(void) {
    const char *text = getenv("GM_SIM_REPORTS");
    if (!text || !*text || reports_are_set || find_mode(text, &options))
        return true;
    sim_say("GM_SIM_REPORTS is \"%.40s\"; it can be fail, print or quiet", text);
    return false;
}

static bool read_device(void) {
    const char *text = getenv("GM_SIM_DEVICE");
    if (!text || !*text)
        return true;
    if (!sim_device_find(text)) {
        sim_say("GM_SIM_DEVICE is \"%.40s\"; there are a100, h100, h200, rtx4090", text);
        return false;
    }
    snprintf(options.device, sizeof options.device, "%s", text);
    return true;
}

bool sim_options_read(void) {
    uint64_t seed = options.seed, count = (uint64_t)options.count, devices = 1, sms = 0;
    if (!read_mode() || !read_device() || !read_number("GM_SIM_SEED", 0, UINT64_MAX, &seed) ||
        !read_number("GM_SIM_COUNT", 0, 1, &count) || !read_number("GM_SIM_DEVICES", 1, DEVICES_MAX, &devices) ||
        !read_number("GM_SIM_SMS", 1, 1024, &sms) ||
        !read_number("GM_SIM_MEMORY", 1 << 20, UINT64_MAX, &options.memory_bytes))
        return false;
    if (!seed_is_set)
        options.seed = seed;
    if (!counting_is_set)
        options.count = (int)count;
    setup = (struct sim_setup){.devices = (int)devices, .sms = (int)sms};
    return true;
}

/* ---- the program ----------------------------------------------------------------------------------------------- */

void gm_sim_set_seed(uint64_t seed) {
    SIM_LOCKED();
    options.seed = seed;
    seed_is_set = true;
}

void gm_sim_set_counting(int on) {
    SIM_LOCKED();
    options.count = on != 0;
    counting_is_set = true;
}

void gm_sim_set_reports(const char *mode) {
    SIM_LOCKED();
    reports_are_set |= mode && find_mode(mode, &options);
}
