/* SPDX-License-Identifier: Apache-2.0 */
/* The wrappers around the allocations that the simulator makes. */
#include "failing_memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <zlib.h>

static size_t left; /* allocations up to the one that fails; 0: none is to fail */
static bool all, failed;

void failing_memory_begin(size_t n, bool others) {
    left = n;
    all = others;
    failed = false;
}

bool failing_memory_end(void) {
    left = 0;
    return failed;
}

static bool fails(void) {
    if (left == 0 || --left > 0)
        return false;
    failed = true;
    left = all;
    errno = ENOMEM;
    return true;
}

/* result NAME(parameters), or `failure` without a call. */
#define WRAP(result, name, failure, parameters, arguments)                                                             \
    result __real_##name parameters;                                                                                   \
    result __wrap_##name parameters;                                                                                   \
    result __wrap_##name parameters {                                                                                  \
        return fails() ? failure : __real_##name arguments;                                                            \
    }
WRAP(void *, malloc, NULL, (size_t bytes), (bytes))
WRAP(void *, calloc, NULL, (size_t count, size_t bytes), (count, bytes))
WRAP(void *, realloc, NULL, (void *old, size_t bytes), (old, bytes))
WRAP(void *, aligned_alloc, NULL, (size_t alignment, size_t bytes), (alignment, bytes))
WRAP(char *, strdup, NULL, (const char *text), (text))
WRAP(void *, mmap, MAP_FAILED, (void *at, size_t bytes, int access, int flags, int file, off_t offset),
     (at, bytes, access, flags, file, offset))
WRAP(int, inflateInit2_, Z_MEM_ERROR, (z_streamp stream, int window, const char *version, int bytes),
     (stream, window, version, bytes))
WRAP(int, inflate, Z_MEM_ERROR, (z_streamp stream, int flush), (stream, flush))
