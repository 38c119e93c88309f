/* SPDX-License-Identifier: Apache-2.0 */
/* The experiments and modules of the program, found by name. */
#include <string.h>

#include "lab/modules.h"

#define EXPERIMENT(symbol) extern const struct lab_experiment symbol;
#include "lab/experiments.def"
#undef EXPERIMENT

const struct lab_experiment *const lab_experiments[] = {
#define EXPERIMENT(symbol) &symbol,
#include "lab/experiments.def"
#undef EXPERIMENT
    NULL};

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
