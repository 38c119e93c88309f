/* SPDX-License-Identifier: Apache-2.0 */
/* The product of a wgmma, all four warps' rows at once, and its way into their registers. */
#include "sim/wgmma/wgmma.h"

#include <string.h>

/*  Register 4 j + 2 h + p of warp w (fp16: 2 j + h, both p in one): rows 16 w + 8 h + g, columns 8 j + 2 q + p. */
struct place {
    struct sim_warp *warp;
    const struct ptx_operand *even, *odd;
    uint32_t row, column;
};

static struct place place_of(const struct sim_warpgroup *warpgroup, const struct wgmma_operation *operation, uint32_t w,
                             uint32_t j, uint32_t h) {
    struct sim_warp *const warp = &warpgroup->warp[w];
    const struct ptx_operand *const element = sim_vector(warp, &operation->instruction->operand[0]);
    const bool pairs = operation->type == SIM_ACCUMULATE_F16;
    const uint32_t r = pairs ? 2 * j + h : 4 * j + 2 * h;
    return (struct place){warp, &element[r], &element[pairs ? r : r + 1], 16 * w + 8 * h, 8 * j};
}

static void accumulate(const struct wgmma_operation *operation, const struct place *place, const float *sums) {
    uint32_t unwanted[2][PTX_LANES];
    uint32_t *into[2];
    const struct ptx_operand *const elements[2] = {place->even, place->odd};
    for (int p = 0; p < 2; p++) {
        into[p] = SIM_ROW_32(place->warp, elements[p]);
        if (elements[p]->kind != PTX_OPERAND_REGISTER) /* '_' */
            into[p] = memset(unwanted[p], 0, sizeof unwanted[p]);
    }
    const struct sim_accumulators registers = {into[0], into[1], operation->keep ? into[0] : NULL,
                                               operation->keep ? into[1] : NULL};
    sim_accumulate(operation->type, &registers, sums + place->row * operation->b.rows + place->column,
                   operation->b.rows, operation->saturate);
}

static void taint(const struct wgmma_operation *operation, const struct place *place) {
    const uint32_t rows = operation->tainted_rows >> place->row & 0xff;
    const uint32_t columns = operation->tainted_columns[place->column / 64] >> place->column % 64 & 0xff;
    if (!rows && !columns && !place->warp->tainted)
        return;
    const bool pairs = operation->type == SIM_ACCUMULATE_F16;
    sim_set_taint(place->warp, place->even, sim_spoilt_lanes(rows, columns, pairs ? 3 : 1), operation->keep);
    if (!pairs)
        sim_set_taint(place->warp, place->odd, sim_spoilt_lanes(rows, columns, 2), operation->keep);
}

/* A fragment of A in registers may hold uninitialised values, too. */
static uint64_t tainted_fragments(const struct sim_warpgroup *warpgroup, const struct wgmma_operation *operation) {
    uint64_t rows = 0;
    for (uint32_t w = 0; w < WGMMA_WARPS && operation->a_in_registers; w++) {
        const struct sim_warp *const warp = &warpgroup->warp[w];
        const struct ptx_operand *const element = sim_vector(warp, &operation->instruction->operand[1]);
        for (uint32_t r = 0; r < 4; r++) {
            const uint32_t lanes = sim_taint_of(warp, &element[r]);
            for (uint32_t g = 0; g < 8; g++)
                rows |= (uint64_t)((lanes >> 4 * g & 0xf) != 0) << (16 * w + 8 * (r & 1) + g);
        }
    }
    return rows;
}

void wgmma_run(struct sim_warpgroup *warpgroup, struct wgmma_operation *operation) {
    float a[SIM_TILE_ROWS * SIM_TILE_DEPTH], b[SIM_TILE_DEPTH * SIM_TILE_COLUMNS];
    float sums[SIM_TILE_ROWS * SIM_TILE_COLUMNS];
    const uint32_t columns = operation->b.rows;
    if (!wgmma_read_a(warpgroup, operation, a) || !wgmma_read_b(warpgroup, operation, b))
        return;
    sim_multiply(a, b, sums, SIM_TILE_ROWS, columns, wgmma_k(operation));
    operation->tainted_rows |= tainted_fragments(warpgroup, operation);
    for (uint32_t w = 0; w < WGMMA_WARPS; w++) {
        for (uint32_t j = 0; j < columns / 8; j++) {
            for (uint32_t h = 0; h < 2; h++) {
                const struct place place = place_of(warpgroup, operation, w, j, h);
                accumulate(operation, &place, sums);
                taint(operation, &place);
            }
        }
    }
}
