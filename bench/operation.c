/* SPDX-License-Identifier: Apache-2.0 */
/* The list of operations that the benchmark knows: all. */
#include "bench/operation.h"

#include <stdio.h>
#include <string.h>

const struct bench_operation *const bench_operations[] = {
#define OPERATION(name, computes) &name##_bench,
#include "operations.def"
#undef OPERATION
};

const struct bench_operation *bench_operation_named(const char *name) {
    for (size_t i = 0; i < gm_operation_count(); i++)
        if (strcmp(bench_operations[i]->operation->name, name) == 0)
            return bench_operations[i];
    return NULL;
}

const struct bench_operation *bench_operation_of(const struct gm_operation *operation) {
    return bench_operation_named(operation->name);
}

const char *bench_operation_names(char text[BENCH_NAMES_BYTES]) {
    size_t used = 0;
    for (size_t i = 0; i < gm_operation_count() && used < BENCH_NAMES_BYTES; i++)
        used += (size_t)snprintf(text + used, BENCH_NAMES_BYTES - used, "%s%s", i ? ", " : "", gm_operations[i]->name);
    return text;
}
