/* SPDX-License-Identifier: Apache-2.0 */
/* The device code embedded in the program, and the experiments that launch it. */
#ifndef LAB_MODULES_H
#define LAB_MODULES_H

#include "lab/lab.h"

/* One row of modules.def; the table ends with a row without a name. */
struct lab_module {
    const char *name, *source; /* "strides", "ptx/strides.ptx" */
    const unsigned char *image, *image_end;
};

extern const struct lab_module lab_modules[];

/* The row of this name; NULL: this build has none. */
const struct lab_module *lab_module_find(const char *name);

/* The experiments, ended by NULL. */
const struct lab_experiment *const *lab_registry(void);
const struct lab_experiment *lab_experiment_find(const char *name);

/* A heading of the report, with the experiments that stand below it in experiments.def. */
struct lab_topic {
    const char *id, *heading; /* "topic-banks", "Banks" */
};
/* What is not in experiments.def, or NULL, is of the topic "topic-other", and has no source. */
const struct lab_topic *lab_topic_of(const struct lab_experiment *experiment);
/* Below the project root: "lab/bank_strides.c"; NULL: nobody knows. */
const char *lab_experiment_source(const struct lab_experiment *experiment);
/* Names like `wrong`, ", "-separated, for the sentence that says there is no such experiment; "" when none is near. */
void lab_experiments_near(const char *wrong, char *names, size_t bytes);

/* Tests: these experiments and modules from now on (NULL: the program's own again). */
void lab_registry_install(const struct lab_experiment *const *experiments, const struct lab_module *modules);

#endif
