/* SPDX-License-Identifier: Apache-2.0 */
/* A tile in shared memory and how a warp walks through it, as the command line says them. */
#ifndef PROGRAM_SMEM_WALK_H
#define PROGRAM_SMEM_WALK_H

#include "gristmill/smem.h"

/* Texts as given; NULL: not given. */
struct walk_options {
    const char *tile;    /* "32x33": rows and elements a row */
    const char *type;    /* "f32" */
    const char *walk;    /* "column" */
    const char *at;      /* "0,5": row and element where lane 0 begins */
    const char *pad;     /* elements a row */
    const char *swizzle; /* "128B" or "3,4,3" */
    const char *base;    /* byte address of the tile */
};

enum walk_name { WALK_ROW, WALK_COLUMN, WALK_TRANSPOSE, WALK_LDMATRIX };

struct walk_tile {
    enum walk_name walk;
    const char *type;       /* "f32" */
    uint32_t element_bytes; /* of the type */
    uint32_t columns;       /* elements a row */
    uint32_t row, column;   /* where lane 0 begins */
    struct gm_smem_tile tile;
};

/* Everything but the lanes. All of these return 0, or -1 with a printed sentence. */
int walk_read(const struct walk_options *given, struct walk_tile *out);

/*  Row and byte of every lane, for an access of this shape:
 *      row        side by side along the rows, wrapping to the next row
 *      column     one below the other, wrapping to the next column
 *      ldmatrix   16 rows x 32 bytes, the fragment of mma.m16n8k16: lane l at row l mod 16, byte 16 * (l / 16)  */
int walk_fill(const struct walk_tile *tile, enum walk_name walk, const struct gm_access *shape,
              struct gm_tile_access *lanes);

/* "none", "32B", "64B", "128B", or B,M,S on byte addresses. `option` is what the sentence calls it. */
int walk_read_swizzle(const char *option, const char *text, struct gm_swizzle *swizzle);

#endif
