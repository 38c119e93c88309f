/* SPDX-License-Identifier: Apache-2.0 */
/* One WGMMA that says from which address of shared memory it read every element of an operand (ptx/wgmma_read.ptx). */
#ifndef LAB_WGMMA_READ_H
#define LAB_WGMMA_READ_H

#include "lab/lab.h"

enum {
    WGMMA_ROWS = 64,
    WGMMA_K = 16,
    WGMMA_IMAGE_BYTES = 60 << 10 /* that the descriptor may point into */
};

/* What the descriptor is; its start address counts from the image's first byte, a multiple of 1024. */
struct wgmma_shot {
    struct gm_matrix_descriptor descriptor;
    enum gm_major major;
    bool is_b; /* the operand B, of 64 columns, instead of A */
};

/* Ways in which a swizzled operand could find the phase of its pattern: by which line of 128 bytes it counts. */
enum wgmma_law {
    LAW_ABSOLUTE,         /* the address's own line */
    LAW_LESS_BASE_OFFSET, /* less the base offset: the PTX ISA's pattern that begins at another line */
    LAW_PLUS_BASE_OFFSET,
    LAW_XOR_BASE_OFFSET,
    LAW_FROM_START,      /* counted from the line of the start address */
    LAW_FROM_START_PLUS, /* and moved on by the base offset */
    WGMMA_LAWS
};

/* Address of element (row, k) in the image by that law. */
uint32_t wgmma_address_by_law(const struct wgmma_shot *shot, enum wgmma_law law, uint32_t row, uint32_t k);

/* In an experiment; 0, or -1 with a printed sentence. `turns`: how often a launch multiplies. */
int wgmma_open(struct lab *lab);
struct lab_point *wgmma_add(struct lab *lab, const struct wgmma_shot *shot, uint32_t turns, const char *why,
                            const char *label, ...) __attribute__((format(printf, 5, 6)));
int wgmma_prepare(struct lab *lab, struct lab_point *point);
/* Correct when every element was read from where gm_wgmma_address() says; if not, says which law holds instead. */
int wgmma_check(struct lab *lab, struct lab_point *point);
const struct wgmma_shot *wgmma_shot_of(const struct lab *lab, size_t point);
bool wgmma_law_holds(const struct lab *lab, size_t point, enum wgmma_law law); /* as check() found it */
size_t wgmma_count_correct(const struct lab *lab);

#endif
