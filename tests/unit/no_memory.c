/* SPDX-License-Identifier: Apache-2.0 */
/* malloc and its kin as the library sees them: `ld --wrap=malloc` turns calls of malloc into calls of __wrap_malloc, and
 * those of __real_malloc into calls of malloc. */
#include "no_memory.h"

#include <stddef.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);

static _Thread_local int left, failed;

void fail_allocation(int nth) {
    left = nth;
    failed = 0;
}

int allocation_has_failed(void) {
    return failed;
}

static int fails(void) {
    if (left == 0 || --left > 0)
        return 0;
    failed = 1;
    return 1;
}

void *__wrap_malloc(size_t bytes) {
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes) {
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *block, size_t bytes) {
    return fails() ? NULL : __real_realloc(block, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    return fails() ? NULL : __real_aligned_alloc(alignment, bytes);
}
