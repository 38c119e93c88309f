/* SPDX-License-Identifier: Apache-2.0 */
/* The operands of wgmma in shared memory: what is wrong with where their descriptors say they are, and reading them. */
#include "sim/wgmma/wgmma.h"

#include <string.h>

#include "gristmill/smem.h"
#include "sim/memory/memory.h"
#include "sim/report/counters.h"
#include "sim/report/report.h"

enum { PIECE = 16, K_OF_16_BITS = 16 };

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* False: the operand leaves the CTA's shared memory. */
static bool mark_pieces(struct wgmma_check *check, uint32_t *repeated) {
    const struct sim_cta *const cta = check->warp->cta;
    const uint32_t end = cta->shared_bytes < WGMMA_UNITS_MAX * PIECE ? cta->shared_bytes : WGMMA_UNITS_MAX * PIECE;
    *repeated = wgmma_pieces(check->matrix);
    for (uint32_t piece = 0; piece < wgmma_pieces(check->matrix); piece++) {
        const uint32_t address = check->addresses[piece], unit = address / PIECE;
        if (address < SIM_SHARED_RESERVED || (uint64_t)address + PIECE > end) {
            sim_report(check->warp, check->operation->instruction, SIM_REPORT_OUT_OF_BOUNDS, PTX_NONE, address,
                       "operand %c is read from 0x%x on; shared memory of the CTA ends at 0x%x (descriptor 0x%016llx)",
                       check->name, address, cta->shared_bytes, (unsigned long long)check->matrix->descriptor);
            return false;
        }
        if (check->read[unit / 64] >> unit % 64 & 1)
            *repeated = piece;
        check->read[unit / 64] |= UINT64_C(1) << unit % 64;
    }
    return true;
}

/* Bytes that two rows share are nobody's intention, but for one core matrix that stands for all (both offsets 0). */
static void report_repeated(const struct wgmma_check *check, uint32_t repeated) {
    struct gm_matrix_descriptor fields = {.size = sizeof fields};
    if (repeated == wgmma_pieces(check->matrix) ||
        gm_matrix_descriptor_decode(check->matrix->descriptor, &fields) != GM_OK ||
        (fields.swizzle == GM_SWIZZLE_NONE && fields.leading_bytes == 0 && fields.stride_bytes == 0))
        return;
    sim_report(
        check->warp, check->operation->instruction, SIM_REPORT_DESCRIPTOR, PTX_NONE, check->addresses[repeated],
        "operand %c reads the 16 bytes at 0x%x for two of its %u x %u elements: LBO is %u, SBO %u, swizzle %u bytes",
        check->name, check->addresses[repeated], check->matrix->rows, 32 / sim_element_bytes(check->matrix->element),
        fields.leading_bytes, fields.stride_bytes,
        fields.swizzle == GM_SWIZZLE_NONE ? 0 : gm_swizzle_span_bytes(fields.swizzle));
}

/* Each run of pieces at once. True: some byte of them was never written. */
static bool read_runs(const struct wgmma_check *check, const struct sim_actor *actor) {
    bool uninitialised = false;
    const uint32_t units = check->warp->cta->shared_bytes / PIECE;
    for (uint32_t unit = 0; unit < units && unit < WGMMA_UNITS_MAX;) {
        const uint64_t word = check->read[unit / 64] >> unit % 64;
        if (!word) {
            unit = (unit / 64 + 1) * 64;
            continue;
        }
        uint32_t end = unit += (uint32_t)__builtin_ctzll(word);
        while (end < units && end < WGMMA_UNITS_MAX && check->read[end / 64] >> end % 64 & 1)
            end++;
        bool here = false;
        sim_shadow_read(check->warp->cta, unit * PIECE, (end - unit) * PIECE, actor, &here);
        uninitialised |= here;
        unit = end;
    }
    return uninitialised;
}

/* Which rows: seldom asked. */
static void find_uninitialised(const struct wgmma_check *check, const struct sim_actor *actor) {
    const struct wgmma_matrix *const matrix = check->matrix;
    for (uint32_t piece = 0; piece < wgmma_pieces(matrix); piece++) {
        bool here = false;
        sim_shadow_read(check->warp->cta, check->addresses[piece], PIECE, actor, &here);
        if (!here)
            continue;
        const uint32_t row = matrix->mn_major ? piece % (matrix->rows / 8) * 8 : piece / 2;
        const uint64_t bits = (matrix->mn_major ? UINT64_C(0xff) : 1) << row % 64;
        if (check->name == 'A')
            check->operation->tainted_rows |= bits;
        else
            check->operation->tainted_columns[row / 64] |= bits;
    }
}

static void check_operand(struct sim_warpgroup *warpgroup, struct wgmma_operation *operation, struct sim_warp *warp,
                          const struct wgmma_matrix *matrix, char name) {
    struct wgmma_check check; /* its addresses are filled in, the rest here */
    check.operation = operation;
    check.warp = warp;
    check.matrix = matrix;
    check.name = name;
    memset(check.read, 0, sizeof check.read);
    const struct sim_actor actor = {.stamp = {warpgroup->agent, operation->group + 1},
                                    .known = &operation->known,
                                    .flushed = &operation->flushed,
                                    .proxy = SIM_PROXY_ASYNC,
                                    .lane = SIM_LANE_COLLECTIVE,
                                    .warp = warp,
                                    .instruction = operation->instruction};
    char why[200];
    uint32_t repeated;
    if (!wgmma_addresses(matrix, check.addresses, why, sizeof why)) {
        sim_report(warp, operation->instruction, SIM_REPORT_DESCRIPTOR, PTX_NONE, 0, "operand %c: %s", name, why);
        operation->broken = true;
    } else if (!mark_pieces(&check, &repeated)) {
        operation->broken = true;
    } else {
        report_repeated(&check, repeated);
        wgmma_check_origin(warpgroup, &check);
        if (read_runs(&check, &actor))
            find_uninitialised(&check, &actor);
        sim_count_wgmma(warp, operation->instruction, wgmma_pieces(matrix) / SIM_CORE_ROWS);
    }
}

void wgmma_check_operands(struct sim_warpgroup *warpgroup, struct wgmma_operation *operation, struct sim_warp *last) {
    if (!operation->a_in_registers)
        check_operand(warpgroup, operation, last, &operation->a, 'A');
    check_operand(warpgroup, operation, last, &operation->b, 'B');
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* All pieces one after the other, widened. False: they are not to be had (which the check at the issue has reported).
 */
static bool read_pieces(const struct sim_cta *cta, const struct wgmma_matrix *matrix, float *values) {
    uint32_t addresses[WGMMA_PIECES_MAX];
    uint8_t bytes[WGMMA_PIECES_MAX * PIECE];
    char why[8];
    if (!wgmma_addresses(matrix, addresses, why, sizeof why))
        return false;
    for (uint32_t piece = 0; piece < wgmma_pieces(matrix); piece++) {
        if ((uint64_t)addresses[piece] + PIECE > cta->shared_bytes)
            return false;
        memcpy(bytes + piece * PIECE, cta->shared + addresses[piece], PIECE);
    }
    sim_widen(matrix->element, bytes, values, wgmma_pieces(matrix) * PIECE / sim_element_bytes(matrix->element));
    return true;
}

static void read_a_registers(const struct sim_warpgroup *warpgroup, const struct wgmma_operation *operation, float *a) {
    for (uint32_t w = 0; w < WGMMA_WARPS; w++) {
        const struct sim_warp *const warp = &warpgroup->warp[w];
        const struct ptx_operand *const vector = &operation->instruction->operand[1];
        const struct ptx_operand *const element = sim_vector(warp, vector);
        const uint32_t *registers[4];
        for (uint32_t r = 0; r < 4; r++)
            registers[r] = SIM_SOURCE_32(warp, &element[r]);
        sim_fragment_rows(operation->a.element, registers, 4, a + 16 * w * wgmma_k(operation));
    }
}

static bool read_a_shared(const struct sim_warpgroup *warpgroup, const struct wgmma_operation *operation, float *a) {
    float turned[SIM_TILE_ROWS * K_OF_16_BITS];
    if (!operation->a.mn_major)
        return read_pieces(warpgroup->cta, &operation->a, a);
    if (!read_pieces(warpgroup->cta, &operation->a, turned))
        return false;
    for (uint32_t row = 0; row < SIM_TILE_ROWS; row++)
        for (uint32_t k = 0; k < K_OF_16_BITS; k++)
            a[row * K_OF_16_BITS + k] = turned[k * SIM_TILE_ROWS + row];
    return true;
}

bool wgmma_read_a(const struct sim_warpgroup *warpgroup, const struct wgmma_operation *operation, float *a) {
    if (operation->a_in_registers)
        read_a_registers(warpgroup, operation, a);
    else if (!read_a_shared(warpgroup, operation, a))
        return false;
    for (uint32_t e = 0; operation->negate && e < SIM_TILE_ROWS * wgmma_k(operation); e++)
        a[e] = -a[e];
    return true;
}

bool wgmma_read_b(const struct sim_warpgroup *warpgroup, const struct wgmma_operation *operation, float *b) {
    const uint32_t columns = operation->b.rows, depth = wgmma_k(operation);
    float values[SIM_TILE_COLUMNS * SIM_TILE_DEPTH];
    if (!read_pieces(warpgroup->cta, &operation->b, values))
        return false;
    if (operation->b.mn_major) {
        for (uint32_t at = 0; at < depth * columns; at++)
            b[(at & ~7u) | sim_column(at & 7)] = values[at];
        return true;
    }
    for (uint32_t n = 0; n < columns; n++)
        for (uint32_t k = 0; k < depth; k++)
            b[k * columns + sim_column(n)] = values[n * depth + k];
    return true;
}
