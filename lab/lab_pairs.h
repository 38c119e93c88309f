/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels in pairs, without shared memory and with it, beside an article's: one figure of several experiments. */
#ifndef LAB_PAIRS_H
#define LAB_PAIRS_H

#include <stdio.h>

#include "lab/lab_results.h"

/* The name that `gristmill lab figure` knows it by, in place of an experiment's. */
#define LAB_PAIRS "pairs"

/* Whether anything of it was measured. */
bool pairs_are_there(const struct record *const *records, size_t count);
/* The picture, of its own or inside a page, from the results of one GPU. What has none is left out. 0, or -1 with a printed
 * sentence. */
int pairs_picture(FILE *out, const struct record *const *records, size_t count, bool inside_page);

#endif
