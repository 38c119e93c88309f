/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of shared memory: as text, coloured or not, for a terminal; as an SVG; as a self-contained HTML page.
 *
 * All of these return 0, or -1 with a printed sentence and nothing drawn: what they are given does not fit together, or
 * cannot be written. A file holds one SVG. A page can hold several pictures:
 *     page_begin(out, title, lead);  draw_bank(out, DRAW_PART, ...);  draw_bank(out, DRAW_PART, ...);  page_end(out,
 * NULL);
 */
#ifndef PROGRAM_SMEM_DRAW_H
#define PROGRAM_SMEM_DRAW_H

#include <stdbool.h>
#include <stdio.h>

#include "gristmill/smem.h"

enum draw_form {
    DRAW_TEXT,   /* ASCII (but for what the title holds), at most 110 columns unless the title is longer */
    DRAW_COLOUR, /* the same, for a terminal with 256 colours */
    DRAW_SVG,
    DRAW_HTML,
    DRAW_PART /* a section of a page that the caller begins and ends, see page.h */
};

/* DRAW_COLOUR when `out` is a terminal and neither NO_COLOR nor TERM=dumb says otherwise, else DRAW_TEXT. */
enum draw_form draw_form_of(FILE *out);

/* One access: 32 banks across, one row per wavefront, each cell the lane(s) whose word it serves; above it the verdict
 * (wavefronts, ideal, conflicts); below it lane -> address -> bank -> wavefront. `title` says what is accessed. */
int draw_bank(FILE *out, enum draw_form form, const char *title, const struct gm_access *access,
              const struct gm_bank_map *map);

/* The same access, as an SVG with an arrow from each lane to its banks, phase by phase. */
int draw_arrows(FILE *out, const char *title, const struct gm_access *access, const struct gm_bank_map *map);

/* A tile: which logical chunk lies at each physical place; `unit_bytes` 4, 8 or 16 says how fine, 0: as coarse as
 * possible. Beside it the proof (what is conflict-free), and the 32 banks x lines of the memory image with the logical
 * row and chunk in each cell. */
int draw_swizzle(FILE *out, enum draw_form form, const char *title, const struct gm_smem_tile *tile,
                 uint32_t unit_bytes, const struct gm_swizzle_proof *proof);

/* A pad advice: the tile before and after, and the sentence. */
int draw_advice(FILE *out, enum draw_form form, const char *title, const struct gm_pad_question *question,
                const struct gm_pad_advice *advice);

/* The 64 bits of a matrix descriptor, field by field, with what each means for `operand` (NULL: unknown). */
int draw_matrix_descriptor(FILE *out, enum draw_form form, uint64_t bits, const struct gm_matrix_descriptor *fields,
                           const struct gm_wgmma_operand *operand);

/* The rules of a tensor-map request, held or broken, and where the box lies in shared memory. */
int draw_tensor_map(FILE *out, enum draw_form form, const struct gm_tensor_map_request *request,
                    const struct gm_rule *rules, size_t count, bool legal);

/* Both against each other: agreement, or the first element that is read from elsewhere, and why. */
int draw_comparison(FILE *out, enum draw_form form, const struct gm_descriptor_question *question,
                    const struct gm_descriptor_answer *answer);

#endif
