/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of the types that a reader's kernel may take: read from a word, made of a number, printed. */
#ifndef PROGRAM_SIM_LAUNCH_ELEMENTS_H
#define PROGRAM_SIM_LAUNCH_ELEMENTS_H

#include <stdio.h>

#include "program/sim/launch_arguments.h"

const struct element_type *element_find(const char *name); /* NULL: no such type */
/* False: the text is no number, or none of this type. */
bool element_read(const struct element_type *type, const char *text, void *to);
/* The number, rounded or cut to the type. */
void element_put(const struct element_type *type, int64_t number, void *to);
void element_print(const struct element_type *type, const void *from, FILE *out);

#endif
