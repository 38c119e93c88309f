/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of access to shared memory: their names, what each may ask for, and which lanes take part. */
#ifndef GM_BANK_H
#define GM_BANK_H

#include "gristmill/smem.h"

struct gm_access_rule {
    const char *name;      /* "cp.async", as the program's --kind spells it */
    uint32_t widths;       /* the sum of the allowed widths: 4 + 8 + 16 */
    uint32_t matrices;     /* of 1, 2, 4: the allowed counts' sum; 0: no matrix kind */
    uint32_t lanes_share;  /* 1: lanes that ask for the same word are served together; 0: one after the other */
    uint32_t phases_merge; /* 1: wide accesses of equal neighbours take half the phases; gm_access_phases() */
    uint32_t passes;       /* wavefronts that each turn of a bank takes */
};

#define GM_ACCESS_KINDS 8
/* Indexed by enum gm_access_kind. */
extern const struct gm_access_rule gm_access_rules[GM_ACCESS_KINDS];

/* What one access asks for, defaults filled in. */
struct gm_access_shape {
    uint32_t width;  /* bytes of each lane's address */
    uint32_t active; /* bit i: lane i gives an address that counts */
};
/* GM_ERROR_INVALID_ARGUMENT when the kind has no such width or count of matrices. */
enum gm_status gm_access_shape_of(enum gm_access_kind kind, uint32_t width, uint32_t matrices, uint32_t inactive,
                                  struct gm_access_shape *shape);

/* The groups of lanes that are served together, one bit a lane, in the order in which they are served; those without
 * an active lane are left out. Returns their count. `shape` is the access's. */
uint32_t gm_access_phases(const struct gm_access *access, const struct gm_access_shape *shape,
                          uint32_t phases[GM_LANES]);

#endif
