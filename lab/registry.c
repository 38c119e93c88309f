/* SPDX-License-Identifier: Apache-2.0 */
/* The experiments and modules of the program, found by name. */
#include <string.h>

#include "lab/modules.h"

#define TOPIC(id, heading)
#define EXPERIMENT(symbol, file) extern const struct lab_experiment symbol;
#include "lab/experiments.def"
#undef EXPERIMENT

const struct lab_experiment *const lab_experiments[] = {
#define EXPERIMENT(symbol, file) &symbol,
#include "lab/experiments.def"
#undef EXPERIMENT
    NULL};
#undef TOPIC

/* The lines of experiments.def: a topic, or an experiment of the topic above it. */
static const struct line {
    struct lab_topic topic;
    const struct lab_experiment *experiment;
    const char *source;
} lines[] = {
#define TOPIC(id, heading)       {{"topic-" #id, heading}, NULL, NULL},
#define EXPERIMENT(symbol, file) {{NULL, NULL}, &symbol, "lab/" #file ".c"},
#include "lab/experiments.def"
#undef EXPERIMENT
#undef TOPIC
};

static const struct lab_experiment *const *experiments = lab_experiments;
static const struct lab_module *modules = lab_modules;

void lab_registry_install(const struct lab_experiment *const *new_experiments, const struct lab_module *new_modules) {
    experiments = new_experiments ? new_experiments : lab_experiments;
    modules = new_modules ? new_modules : lab_modules;
}

const struct lab_experiment *const *lab_registry(void) {
    return experiments;
}

const struct lab_module *lab_module_find(const char *name) {
    for (const struct lab_module *module = modules; module->name; module++) {
        if (strcmp(module->name, name) == 0)
            return module;
    }
    return NULL;
}

const struct lab_experiment *lab_experiment_find(const char *name) {
    for (size_t i = 0; experiments[i]; i++) {
        if (strcmp(experiments[i]->name, name) == 0)
            return experiments[i];
    }
    return NULL;
}

static const struct line *line_of(const struct lab_experiment *experiment) {
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (experiment && lines[i].experiment == experiment)
            return &lines[i];
    }
    return NULL;
}

const char *lab_experiment_source(const struct lab_experiment *experiment) {
    const struct line *line = line_of(experiment);
    return line ? line->source : NULL;
}

const struct lab_topic *lab_topic_of(const struct lab_experiment *experiment) {
    static const struct lab_topic other = {"topic-other", "Other experiments"};
    const struct line *line = line_of(experiment);
    while (line && line->experiment)
        line--;
    return line ? &line->topic : &other;
}

/* Letters to be added, dropped or changed to make one word of the other (Levenshtein), by rows of the usual table. */
static size_t distance(const char *from, const char *to) {
    enum { LONGEST = 63 };
    size_t row[LONGEST + 1], length = strnlen(to, LONGEST);
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 0; from[i] && i < LONGEST; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            size_t changed = diagonal + (from[i] != to[j]);
            size_t shorter = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            diagonal = row[j + 1];
            row[j + 1] = changed < shorter ? changed : shorter;
        }
    }
    return row[length];
}

void lab_experiments_near(const char *wrong, char *names, size_t bytes) {
    names[0] = 0;
    for (size_t i = 0; experiments[i]; i++) {
        const char *name = experiments[i]->name;
        bool near = distance(wrong, name) <= 3 || (wrong[0] && (strstr(name, wrong) || strstr(wrong, name)));
        size_t used = strlen(names);
        if (near && used + strlen(name) + 3 < bytes) {
            strcat(names, used ? ", " : "");
            strcat(names, name);
        }
    }
}
