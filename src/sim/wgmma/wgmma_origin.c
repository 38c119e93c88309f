/* SPDX-License-Identifier: Apache-2.0 */
/* Do an operand's elements lie in the tensor as in a matrix? In a K-major operand all rows have the same x for the same
 * k, and a row keeps its y; in an MN-major one y counts k, and a column keeps its x. Which rows (columns) they are is
 * the program's business: they may come from different boxes, and so may the rows of k of an MN-major operand, such as
 * pages of values. Asked once for each descriptor at each instruction. */
#include "sim/copies/tile_origin.h"
#include "sim/report/report.h"
#include "sim/wgmma/wgmma.h"

enum { PIECE = 16 };

/* Where the piece should come from, given that of row 0 and k 0, that of its own row or column at k 0, and that of column 0 at
 * the k before. */
static bool fits(const struct wgmma_matrix *matrix, uint32_t piece, const struct sim_origin *origin,
                 const struct sim_origin *first, const struct sim_origin *own, const struct sim_origin *before) {
    const uint32_t in_line = matrix->rows / 8;
    if (!matrix->mn_major)
        return origin->x == first->x + piece % 2 * PIECE && origin->y == own->y && origin->others == own->others;
    const bool is_column_0 = piece % in_line == 0, goes_on = origin->tile == before->tile;
    return origin->x == own->x && (!is_column_0 || !goes_on || piece == 0 || origin->y == before->y + 1) &&
           (is_column_0 || origin->y == before->y);
}

static void report_origin(const struct wgmma_check *check, uint32_t piece, const struct sim_origin *origin,
                          const struct sim_origin *first) {
    const struct wgmma_matrix *const matrix = check->matrix;
    const uint32_t span = wgmma_span(matrix), per_piece = PIECE / sim_element_bytes(matrix->element);
    const uint32_t row = matrix->mn_major ? piece % (matrix->rows / 8) * 8 : piece / 2;
    const uint32_t k = matrix->mn_major ? piece / (matrix->rows / 8) : piece % 2 * per_piece;
    if (span != origin->span)
        sim_report(check->warp, check->operation->instruction, SIM_REPORT_DESCRIPTOR, PTX_NONE, check->addresses[piece],
                   "operand %c is read with a swizzle of %u bytes, and the copy at line %u wrote it with one of %u "
                   "(0: none)",
                   check->name, span, origin->line, origin->span);
    else
        sim_report(
            check->warp, check->operation->instruction, SIM_REPORT_DESCRIPTOR, PTX_NONE, check->addresses[piece],
            "operand %c is no matrix: its element (%u, %u) is byte %lld of row %lld of the tensor, where element "
            "(0, 0) is byte %lld of row %lld (descriptor 0x%016llx, copy at line %u)",
            check->name, row, k, (long long)origin->x, (long long)origin->y, (long long)first->x, (long long)first->y,
            (unsigned long long)matrix->descriptor, origin->line);
}

void wgmma_check_origin(struct sim_warpgroup *warpgroup, const struct wgmma_check *check) {
    const struct wgmma_matrix *const matrix = check->matrix;
    const uint64_t key = (matrix->descriptor ^ (uint64_t)check->operation->instruction->pc << 46) + 1;
    uint64_t *const seen = &warpgroup->seen[key * UINT64_C(0x9e3779b97f4a7c15) >> 56];
    const uint32_t pieces = 2 * matrix->rows, in_line = matrix->mn_major ? matrix->rows / 8 : 1;
    struct sim_origin first, before, own[WGMMA_PIECES_MAX / 16];
    if (*seen == key || !sim_origin_of(warpgroup->cta, check->addresses[0], &first))
        return;
    *seen = key;
    before = first;
    for (uint32_t piece = 0; piece < pieces; piece++) {
        struct sim_origin origin, *const mine = &own[matrix->mn_major ? piece % in_line : 0];
        if (!sim_origin_of(warpgroup->cta, check->addresses[piece], &origin))
            return; /* partly from elsewhere: who knows */
        if (origin.barrier == first.barrier && origin.phase != first.phase)
            return; /* left from an earlier trip of the ring: beyond the last rows, and of no use */
        if (matrix->mn_major ? piece < in_line : piece % 2 == 0)
            *mine = origin;
        if (!fits(matrix, piece, &origin, &first, mine, &before)) {
            report_origin(check, piece, &origin, &first);
            return;
        }
        if (matrix->mn_major && piece % in_line == 0)
            before = origin;
    }
}
