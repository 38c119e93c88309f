/* SPDX-License-Identifier: Apache-2.0 */
/* mma.sync: one warp multiplies a fragment of 16 rows by one of 8 columns. The front end has checked that the vectors
 * have the lengths and the widths that the shape says. */
#include "sim/execute/instructions.h"
#include "sim/execute/lanes.h"
#include "sim/execute/matrix.h"
#include "sim/execute/matrix_tile.h"

#include <math.h>

bool sim_matrix_gather(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i) {
    uint32_t everyone = 0;
    if (!sim_gather(warp, path, i, SIM_ALL_LANES, &everyone))
        return false;
    if (everyone != SIM_ALL_LANES)
        sim_report(warp, i, SIM_REPORT_DIVERGED, __builtin_ctz(~everyone), 0,
                   "lane %d takes no part in an instruction that needs all 32 lanes of the warp",
                   __builtin_ctz(~everyone));
    return true;
}

const struct ptx_operand *sim_vector(const struct sim_warp *warp, const struct ptx_operand *vector) {
    return warp->machine->function->elements + vector->first;
}

void sim_set_taint(struct sim_warp *warp, const struct ptx_operand *element, uint32_t lanes, bool keep) {
    if (element->kind != PTX_OPERAND_REGISTER)
        return;
    if (warp->tainted && !keep)
        warp->tainted[element->reg / 128] = 0;
    if (lanes)
        sim_taint(warp, element->reg, lanes);
}

uint32_t sim_taint_of(const struct sim_warp *warp, const struct ptx_operand *element) {
    return warp->tainted && element->kind == PTX_OPERAND_REGISTER ? warp->tainted[element->reg / 128] : 0;
}

/* ---- fragments as rows of registers ------------------------------------------------------------------------------ */

enum { FRAGMENT_MAX = 8 };

struct fragment {
    const struct ptx_operand *element;
    uint32_t count;
    const uint32_t *row[FRAGMENT_MAX];
};

static struct fragment fragment_of(const struct sim_warp *warp, const struct ptx_operand *vector) {
    struct fragment fragment = {.element = sim_vector(warp, vector),
                                .count = vector->count < FRAGMENT_MAX ? vector->count : FRAGMENT_MAX};
    for (uint32_t r = 0; r < fragment.count; r++)
        fragment.row[r] = SIM_SOURCE_32(warp, &fragment.element[r]);
    return fragment;
}

/* ---- uninitialised values ---------------------------------------------------------------------------------------- */

/* Lane 4 g + q holds columns 2 q and 2 q + 1 of row g. */
uint32_t sim_spoilt_lanes(uint32_t rows, uint32_t columns, uint32_t parities) {
    uint32_t lanes = 0;
    for (uint32_t g = 0; g < 8; g++)
        lanes |= (rows >> g & 1 ? 0xfu : 0) << 4 * g;
    for (uint32_t q = 0; q < 4; q++)
        lanes |= (columns >> 2 * q & parities ? 0x11111111u : 0) << q;
    return lanes;
}

/* The rows g of which any of the four lanes is set. */
static uint32_t rows_of_lanes(uint32_t lanes) {
    uint32_t rows = 0;
    for (int g = 0; g < 8; g++)
        rows |= (uint32_t)((lanes >> 4 * g & 0xf) != 0) << g;
    return rows;
}

/* A row of A spoils its row of D, a column of B its column. */
static void spread_taint(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t halves) {
    const struct fragment a = fragment_of(warp, &i->operand[1]), b = fragment_of(warp, &i->operand[2]);
    const struct fragment c = fragment_of(warp, &i->operand[3]), d = fragment_of(warp, &i->operand[0]);
    uint32_t rows[2] = {0}, columns = 0, taint[FRAGMENT_MAX] = {0};
    for (uint32_t r = 0; r < a.count; r++)
        rows[r % halves] |= rows_of_lanes(sim_taint_of(warp, &a.element[r]));
    for (uint32_t r = 0; r < b.count; r++)
        columns |= rows_of_lanes(sim_taint_of(warp, &b.element[r]));
    const uint32_t per_half = d.count / halves ? d.count / halves : 1;
    for (uint32_t r = 0; r < d.count; r++)
        taint[r] = sim_spoilt_lanes(rows[r / per_half % 2], columns, per_half == 1 ? 3 : 1 + r % 2) |
                   (r < c.count ? sim_taint_of(warp, &c.element[r]) : 0);
    for (uint32_t r = 0; r < d.count; r++)
        sim_set_taint(warp, &d.element[r], taint[r], false);
}

/* ---- products of narrow types ------------------------------------------------------------------------------------ */

static enum sim_next multiply(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                              enum sim_element a_element, enum sim_element b_element, enum sim_accumulator type,
                              bool saturate) {
    if (!sim_matrix_gather(warp, path, i))
        return SIM_WAIT;
    const struct fragment a = fragment_of(warp, &i->operand[1]), b = fragment_of(warp, &i->operand[2]);
    const struct fragment c = fragment_of(warp, &i->operand[3]), d = fragment_of(warp, &i->operand[0]);
    const uint32_t depth = b.count * SIM_CORE_BYTES / sim_element_bytes(b_element);
    const uint32_t halves = a.count > b.count ? 2 : 1, each = type == SIM_ACCUMULATE_F16 ? 1 : 2;
    float left[16 * SIM_TILE_DEPTH], right[SIM_TILE_DEPTH * 8], sums[16 * 8];
    if (b.count > 2 || a.count != halves * b.count || d.count != halves * each || c.count != d.count)
        return SIM_NEXT; /* no shape is like that */
    if (halves == 2) {
        sim_fragment_rows(a_element, a.row, a.count, left);
    } else { /* 8 rows only: the others repeat them */
        const uint32_t *const twice[] = {a.row[0], a.row[0]};
        sim_fragment_rows(a_element, twice, 2, left);
    }
    sim_fragment_columns(b_element, b.row, b.count, right);
    sim_multiply(left, right, sums, 8 * halves, 8, depth);
    uint32_t unwanted[PTX_LANES];
    for (uint32_t half = 0; half < halves; half++) {
        const uint32_t r = half * each;
        uint32_t *into[2] = {unwanted, unwanted};
        for (uint32_t k = 0; k < each; k++)
            if (d.element[r + k].kind == PTX_OPERAND_REGISTER)
                into[k] = SIM_ROW_32(warp, &d.element[r + k]);
        const struct sim_accumulators registers = {into[0], into[1], c.row[r], c.row[r + each - 1]};
        sim_accumulate(type, &registers, sums + half * 64, 8, saturate);
    }
    if (warp->tainted)
        spread_taint(warp, i, halves);
    return SIM_NEXT;
}

/* D and C of fp32 take four registers, of fp16 two. */
static enum sim_accumulator accumulator_of(const struct ptx_instruction *i) {
    return i->operand[0].count == 2 ? SIM_ACCUMULATE_F16 : SIM_ACCUMULATE_F32;
}

enum sim_next sim_do_mma_f16(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                             uint32_t mask) {
    (void)mask;
    return multiply(warp, path, i, SIM_ELEMENT_F16, SIM_ELEMENT_F16, accumulator_of(i), false);
}

enum sim_next sim_do_mma_bf16(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                              uint32_t mask) {
    (void)mask;
    return multiply(warp, path, i, SIM_ELEMENT_BF16, SIM_ELEMENT_BF16, SIM_ACCUMULATE_F32, false);
}

enum sim_next sim_do_mma_tf32(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                              uint32_t mask) {
    (void)mask;
    return multiply(warp, path, i, SIM_ELEMENT_TF32, SIM_ELEMENT_TF32, SIM_ACCUMULATE_F32, false);
}

/* choice: {.m16n8k16|.m16n8k32}{.e4m3|.e5m2}{.e4m3|.e5m2} */
enum sim_next sim_do_mma_f8(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                            uint32_t mask) {
    (void)mask;
    return multiply(warp, path, i, i->choice[1] == 1 ? SIM_ELEMENT_E4M3 : SIM_ELEMENT_E5M2,
                    i->choice[2] == 1 ? SIM_ELEMENT_E4M3 : SIM_ELEMENT_E5M2, accumulator_of(i), false);
}

/* choice: {.m8n8k16|.m16n8k16|.m16n8k32}[.satfinite]{.s8|.u8}{.s8|.u8} */
enum sim_next sim_do_mma_s8(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                            uint32_t mask) {
    (void)mask;
    return multiply(warp, path, i, i->choice[2] == 1 ? SIM_ELEMENT_S8BIT : SIM_ELEMENT_U8BIT,
                    i->choice[3] == 1 ? SIM_ELEMENT_S8BIT : SIM_ELEMENT_U8BIT, SIM_ACCUMULATE_S32, i->choice[1]);
}

/* ---- fp64: one fused multiply-add after the other ---------------------------------------------------------------- */

/*  Lane 4 g + q:  A register r   row g + 8 (r mod halves), k = q + 4 (r / halves)
 *                 B register r   column g, k = q + 4 r
 *                 C, D           row g + 8 (r / 2), column 2 q + r mod 2 */
enum sim_next sim_do_mma_f64(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                             uint32_t mask) {
    if (!sim_matrix_gather(warp, path, i))
        return SIM_WAIT;
    const struct ptx_operand *const a = sim_vector(warp, &i->operand[1]), *const b = sim_vector(warp, &i->operand[2]);
    const struct ptx_operand *const c = sim_vector(warp, &i->operand[3]), *const d = sim_vector(warp, &i->operand[0]);
    const uint32_t results = i->operand[0].count, halves = results / 2, steps = i->operand[2].count;
    double result[4][PTX_LANES];
    if (results > 4 || i->operand[1].count != halves * steps || i->operand[3].count != results)
        return SIM_NEXT; /* no shape is like that */
    for (uint32_t r = 0; r < results; r++) {
        for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
            const uint32_t g = lane / 4, column = 2 * (lane % 4) + r % 2;
            double sum = sim_as_f64(SIM_SOURCE_64(warp, &c[r])[lane]);
            for (uint32_t k = 0; k < 4 * steps; k++)
                sum = fma(sim_as_f64(SIM_SOURCE_64(warp, &a[k / 4 * halves + r / 2])[4 * g + k % 4]),
                          sim_as_f64(SIM_SOURCE_64(warp, &b[k / 4])[4 * column + k % 4]), sum);
            result[r][lane] = sum;
        }
    }
    for (uint32_t r = 0; r < results; r++)
        if (d[r].kind == PTX_OPERAND_REGISTER)
            memcpy(SIM_ROW_64(warp, &d[r]), result[r], sizeof result[r]);
    if (warp->tainted)
        spread_taint(warp, i, halves);
    (void)mask;
    return SIM_NEXT;
}
