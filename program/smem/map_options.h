/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor-map request as the command line says it. */
#ifndef PROGRAM_SMEM_MAP_OPTIONS_H
#define PROGRAM_SMEM_MAP_OPTIONS_H

#include "program/base/args.h"
#include "gristmill/smem.h"

/* Texts as given; NULL: not given. */
struct map_options {
    const char *type, *dims, *strides, *box, *element_strides, *swizzle, *interleave, *address, *oob, *l2;
};

#define MAP_OPTIONS 10
/* The MAP_OPTIONS options of the command line that fill `given`. */
void map_options_list(struct map_options *given, struct args_option *options);

/* The request, legal or not: 0; or -1 with a printed sentence when the texts say none. */
int map_options_read(const struct map_options *given, struct gm_tensor_map_request *request);

#endif
