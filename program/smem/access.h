/* SPDX-License-Identifier: Apache-2.0 */
/* A warp's access as the command line says it: its kind, its lanes, and their addresses. */
#ifndef PROGRAM_SMEM_ACCESS_H
#define PROGRAM_SMEM_ACCESS_H

#include "gristmill/smem.h"

/* Texts as given; NULL: not given. */
struct access_options {
    const char *kind, *width, *matrices, *lanes;
    const char *address, *addresses, *stride; /* at most one */
};

/* Kind, width, matrices and inactive lanes. `usual` is the kind and `usual_width` the width where none is given (0: 4
 * bytes, 16 for cp.async). 0, or -1 with a printed sentence. */
int access_read_shape(const struct access_options *given, enum gm_access_kind usual, uint32_t usual_width,
                      struct gm_access *access);

/* The addresses, for an access whose shape is known. */
int access_read_addresses(const struct access_options *given, struct gm_access *access);

/* Every lane whose address the instruction reads has one: ldmatrix and stmatrix leave no lane out. */
int access_check_lanes(const struct gm_access *access);

/* "load of 4 bytes a lane", "ldmatrix.x4" */
void access_name(const struct gm_access *access, char *text, size_t bytes);

#endif
