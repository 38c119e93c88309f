/* SPDX-License-Identifier: Apache-2.0 */
/* Names of result files made from patterns: "bench/results/{gpu}/{suite}.json". */
#ifndef PROGRAM_BASE_PATHS_H
#define PROGRAM_BASE_PATHS_H

#include <stddef.h>

struct path_word {
    const char *name, *text; /* "gpu", "h200" */
};

/* Replaces {name} by its text, and makes the folders. 0, or -1 with a printed sentence. */
int path_fill(char *path, size_t bytes, const char *pattern, const struct path_word *words, size_t count);

#endif
