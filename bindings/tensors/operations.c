/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operations on tensors, and their schemas read. */
#include "call.h"

#include <pthread.h>

#define OPERATION(name) extern const struct tensor_operation operation_##name;
#include "operations.def"
#undef OPERATION

static const struct tensor_operation *const operations[] = {
#define OPERATION(name) &operation_##name,
#include "operations.def"
#undef OPERATION
};

enum { COUNT = sizeof operations / sizeof *operations };

static struct signature signatures[COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_schemas(void) {
    for (int i = 0; i < COUNT; i++) {
        signature_parse(operations[i]->schema, &signatures[i]);
    }
}

const struct tensor_operation *tensor_operation(int number) {
    return operations[number];
}

const struct signature *tensor_operation_signature(int number) {
    pthread_once(&once, read_schemas);
    return &signatures[number];
}

int tensor_operations_count(void) {
    return COUNT;
}
