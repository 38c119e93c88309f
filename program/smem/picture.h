/* SPDX-License-Identifier: Apache-2.0 */
/* A command's picture: on the terminal, and in the files that were asked for. */
#ifndef PROGRAM_SMEM_PICTURE_H
#define PROGRAM_SMEM_PICTURE_H

#include "program/smem/draw.h"

struct picture {
    int (*draw)(FILE *out, enum draw_form form, const void *what); /* 0, or -1 with a printed sentence */
    const void *what;
    const char *svg, *html; /* paths; NULL: not asked for */
};

int picture_put(const struct picture *picture);

#endif
