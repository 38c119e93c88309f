/* SPDX-License-Identifier: Apache-2.0 */
/* ldmatrix, stmatrix, movmatrix: 8 x 8 matrices of 16-bit elements between shared memory and registers.
 *
 *  Matrix j of an instruction has its rows of 16 bytes at the addresses of lanes 8 j .. 8 j + 7. In its register lane l
 *  holds the elements 2 (l mod 4) and the next of row l / 4: the row r is lanes 4 r .. 4 r + 3, in order. */
#include <string.h>

#include "sim/barriers/barriers.h"
#include "sim/execute/instructions.h"
#include "sim/execute/lanes.h"
#include "sim/execute/matrix.h"
#include "sim/memory/memory.h"
#include "sim/report/counters.h"

enum { ROWS = 8, ROW_BYTES = 16, MATRICES_MAX = 4 };

/* Turns rows into columns; lane 4 r + c / 2 has element (r, c) in half c mod 2. */
static void transpose(uint32_t lanes[PTX_LANES]) {
    uint16_t from[ROWS][ROWS], to[ROWS][ROWS];
    memcpy(from, lanes, sizeof from);
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < ROWS; column++)
            to[column][row] = from[row][column];
    memcpy(lanes, to, sizeof to);
}

/* The lanes that element sets of whole rows become when the matrix is turned: each row is a half of 8 lanes. */
static uint32_t transpose_lanes(uint32_t lanes) {
    uint32_t turned[PTX_LANES], result = 0;
    for (int lane = 0; lane < PTX_LANES; lane++)
        turned[lane] = lanes >> lane & 1 ? UINT32_MAX : 0;
    transpose(turned);
    for (int lane = 0; lane < PTX_LANES; lane++)
        result |= (uint32_t)(turned[lane] != 0) << lane;
    return result;
}

/* ---- rows in shared memory --------------------------------------------------------------------------------------- */

struct matrix_rows {
    uint32_t count;
    struct sim_cta *cta[PTX_LANES]; /* NULL: the address is wrong, and that was reported */
    uint32_t offset[PTX_LANES];
};

static void locate_rows(struct sim_warp *warp, const struct ptx_instruction *i, const struct ptx_operand *address,
                        uint32_t matrices, enum sim_shared_op op, struct matrix_rows *rows) {
    uint64_t addresses[PTX_LANES];
    sim_addresses(warp, address, addresses);
    rows->count = ROWS * matrices;
    for (uint32_t lane = 0; lane < rows->count; lane++) {
        const uint64_t window = addresses[lane] & SIM_WINDOW_MASK; /* a generic address, or a shared one */
        if (window == SIM_SHARED_WINDOW)
            addresses[lane] &= ~SIM_WINDOW_MASK;
        if (addresses[lane] > UINT32_MAX) {
            sim_report(warp, i, SIM_REPORT_OUT_OF_BOUNDS, (int)lane, addresses[lane],
                       "the address is not one of shared memory");
            rows->cta[lane] = NULL;
        } else if (!sim_shared_locate(warp, i, (int)lane, (uint32_t)addresses[lane], ROW_BYTES, ROW_BYTES,
                                      &rows->cta[lane], &rows->offset[lane])) {
            rows->cta[lane] = NULL;
        }
    }
    sim_count_shared(warp, i, op, addresses, (uint32_t)((UINT64_C(1) << rows->count) - 1), ROW_BYTES, false, false);
}

/* ---- ldmatrix ---------------------------------------------------------------------------------------------------- */

/* Row r of the matrix, into its four lanes; the lanes that got uninitialised bytes. */
static uint32_t load_row(const struct matrix_rows *rows, uint32_t lane, const struct sim_actor *actor,
                         uint32_t values[PTX_LANES]) {
    struct sim_cta *const cta = rows->cta[lane];
    const uint32_t row = lane % ROWS;
    uint32_t taint = 0;
    bool uninitialised = false;
    if (!cta)
        return 0;
    sim_shadow_read(cta, rows->offset[lane], ROW_BYTES, actor, &uninitialised);
    memcpy(values + 4 * row, cta->shared + rows->offset[lane], ROW_BYTES);
    for (uint32_t part = 0; uninitialised && part < 4; part++) {
        bool here = false;
        sim_shadow_read(cta, rows->offset[lane] + 4 * part, 4, actor, &here);
        taint |= (uint32_t)here << (4 * row + part);
    }
    return taint;
}

/* choice: {.x1|.x2|.x4}[.trans][.shared|.shared::cta] */
enum sim_next sim_do_ldmatrix(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                              uint32_t mask) {
    if (!sim_matrix_gather(warp, path, i))
        return SIM_WAIT;
    const uint32_t matrices = i->operand[0].count <= MATRICES_MAX ? i->operand[0].count : MATRICES_MAX;
    const struct ptx_operand *const element = sim_vector(warp, &i->operand[0]);
    const struct sim_actor actor = sim_warp_actor(warp, i, SIM_LANE_COLLECTIVE, false);
    struct matrix_rows rows;
    uint32_t values[MATRICES_MAX][PTX_LANES] = {0}, taint[MATRICES_MAX] = {0};
    locate_rows(warp, i, &i->operand[1], matrices, SIM_SHARED_LDMATRIX, &rows);
    for (uint32_t lane = 0; lane < rows.count; lane++)
        taint[lane / ROWS] |= load_row(&rows, lane, &actor, values[lane / ROWS]);
    for (uint32_t j = 0; j < matrices; j++) {
        if (i->choice[1]) {
            transpose(values[j]);
            taint[j] = taint[j] ? transpose_lanes(taint[j]) : 0;
        }
        if (element[j].kind == PTX_OPERAND_REGISTER)
            memcpy(SIM_ROW_32(warp, &element[j]), values[j], sizeof values[j]);
        if (warp->tainted || taint[j])
            sim_set_taint(warp, &element[j], taint[j], false);
    }
    (void)mask;
    return warp->machine->fault ? SIM_FAULT : SIM_NEXT;
}

/* ---- stmatrix ---------------------------------------------------------------------------------------------------- */

/* `taint`: the lanes whose two elements stem from uninitialised memory, before they are transposed. */
static void store_row(struct sim_warp *warp, const struct ptx_instruction *i, const struct matrix_rows *rows,
                      uint32_t lane, const struct sim_actor *actor, const uint32_t values[PTX_LANES], uint32_t taint,
                      bool transposed) {
    struct sim_cta *const cta = rows->cta[lane];
    const uint32_t row = lane % ROWS, offset = rows->offset[lane];
    if (!cta)
        return;
    sim_shadow_write(cta, offset, ROW_BYTES, actor);
    sim_mbarrier_overwritten(warp, i, (int)lane, cta, offset, ROW_BYTES);
    memcpy(cta->shared + offset, values + 4 * row, ROW_BYTES);
    for (uint32_t element = 0; taint && element < ROWS; element++) {
        const uint32_t from = transposed ? 4 * element + row / 2 : 4 * row + element / 2;
        if (taint >> from & 1)
            sim_shadow_taint(cta, offset + 2 * element, 2);
    }
}

/* choice: {.x1|.x2|.x4}[.trans][.shared|.shared::cta] */
enum sim_next sim_do_stmatrix(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                              uint32_t mask) {
    if (!sim_matrix_gather(warp, path, i))
        return SIM_WAIT;
    const uint32_t matrices = i->operand[1].count <= MATRICES_MAX ? i->operand[1].count : MATRICES_MAX;
    const struct ptx_operand *const element = sim_vector(warp, &i->operand[1]);
    const struct sim_actor actor = sim_warp_actor(warp, i, SIM_LANE_COLLECTIVE, false);
    struct matrix_rows rows;
    locate_rows(warp, i, &i->operand[0], matrices, SIM_SHARED_STMATRIX, &rows);
    for (uint32_t j = 0; j < matrices; j++) {
        const uint32_t taint = sim_taint_of(warp, &element[j]);
        uint32_t values[PTX_LANES];
        memcpy(values, SIM_SOURCE_32(warp, &element[j]), sizeof values);
        if (i->choice[1])
            transpose(values);
        for (uint32_t row = 0; row < ROWS; row++)
            store_row(warp, i, &rows, ROWS * j + row, &actor, values, taint, i->choice[1]);
    }
    sim_progress(warp->cluster);
    (void)mask;
    return warp->machine->fault ? SIM_FAULT : SIM_NEXT;
}

/* ---- movmatrix --------------------------------------------------------------------------------------------------- */

enum sim_next sim_do_movmatrix(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                               uint32_t mask) {
    if (!sim_matrix_gather(warp, path, i))
        return SIM_WAIT;
    uint32_t values[PTX_LANES];
    const uint32_t taint = sim_taint_of(warp, &i->operand[1]);
    memcpy(values, SIM_SOURCE_32(warp, &i->operand[1]), sizeof values);
    transpose(values);
    if (i->operand[0].kind == PTX_OPERAND_REGISTER)
        memcpy(SIM_ROW_32(warp, &i->operand[0]), values, sizeof values);
    if (warp->tainted)
        sim_set_taint(warp, &i->operand[0], taint ? transpose_lanes(taint) : 0, false);
    (void)mask;
    return SIM_NEXT;
}
