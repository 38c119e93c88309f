/* SPDX-License-Identifier: Apache-2.0 */
/* The list of operations, as gpu_tests knows them. */
#include "gpu_tests.h"
#include "host/family.h"
#include "host/table.h"

const struct test_operation *const test_operations[] = {
#define OPERATION(name, computes) &test_operation_##name,
#include "operations.def"
#undef OPERATION
};

size_t test_operation_count(void) {
    return COUNT(test_operations);
}

const struct test_operation *operation_of_kernel(size_t kernel) {
    size_t i = 0;
    while (test_operations[i]->operation != gm_kernels[kernel].family->operation)
        i++;
    return test_operations[i];
}
