/* SPDX-License-Identifier: Apache-2.0 */
/* The operands of wgmma in shared memory: where a descriptor says they are, what is wrong with that, and reading them.
 *
 * Whatever the mode, an operand comes in pieces of 16 bytes at multiples of 16. Where they would be without a swizzle
 * depends on the descriptor but for its start address, and is kept in a table; the XOR works on the whole address. */
#include "sim/wgmma/wgmma.h"

#include <stdio.h>
#include <string.h>

#include "gristmill/smem.h"
#include "sim/memory/memory.h"
#include "sim/report/counters.h"
#include "sim/report/report.h"

enum { PIECE = 16, K_OF_16_BITS = 16, TABLES = 32 };

/* ---- addresses --------------------------------------------------------------------------------------------------- */

/* Offsets from the start address, before the swizzle. Launches are serialised, so one set of tables is enough. */
struct offset_table {
    uint64_t key;
    bool filled;
    uint32_t offset[WGMMA_PIECES_MAX];
};
static struct offset_table tables[TABLES];

static uint32_t piece_count(const struct wgmma_matrix *matrix) {
    return 2 * matrix->rows;
}

/* In units of 16-bit elements; narrower and wider ones have their 16 bytes in the same places. The swizzle is its own
 * inverse: applied to where an operand at address 0 is read, it gives the address before the swizzle. */
static void fill_table(struct offset_table *table, const struct wgmma_matrix *matrix,
                       const struct gm_matrix_descriptor *fields) {
    const struct gm_swizzle swizzle = gm_swizzle_of_mode(fields->swizzle);
    const struct gm_wgmma_operand operand = {.size = sizeof operand,
                                             .major = matrix->mn_major ? GM_MN_MAJOR : GM_K_MAJOR,
                                             .element_bytes = 2,
                                             .rows = matrix->rows};
    struct gm_matrix_descriptor origin = *fields;
    origin.start = 0;
    origin.base_offset = 0;
    for (uint32_t piece = 0; piece < piece_count(matrix); piece++) {
        const uint32_t in_line = matrix->rows / 8;
        const uint32_t row = matrix->mn_major ? piece % in_line * 8 : piece / 2;
        const uint32_t k = matrix->mn_major ? piece / in_line : piece % 2 * 8;
        uint32_t address = 0;
        gm_wgmma_address(&origin, &operand, row, k, &address);
        table->offset[piece] = gm_swizzle_apply(swizzle, address);
    }
}

static const struct offset_table *table_of(const struct wgmma_matrix *matrix,
                                           const struct gm_matrix_descriptor *fields) {
    const uint64_t key = (uint64_t)fields->leading_bytes << 40 | (uint64_t)fields->stride_bytes << 16 |
                         (uint64_t)matrix->rows << 4 | (uint64_t)fields->swizzle << 1 | matrix->mn_major;
    struct offset_table *const table = &tables[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 59];
    if (!table->filled || table->key != key) {
        fill_table(table, matrix, fields);
        table->key = key;
        table->filled = true;
    }
    return table;
}

uint32_t wgmma_span(const struct wgmma_matrix *matrix) {
    struct gm_matrix_descriptor fields = {.size = sizeof fields};
    if (gm_matrix_descriptor_decode(matrix->descriptor, &fields) != GM_OK || fields.swizzle == GM_SWIZZLE_NONE)
        return 0;
    return gm_swizzle_span_bytes(fields.swizzle);
}

bool wgmma_addresses(const struct wgmma_matrix *matrix, uint32_t addresses[WGMMA_PIECES_MAX], char *why, size_t bytes) {
    static const uint32_t masks[] = {
        [GM_SWIZZLE_NONE] = 0, [GM_SWIZZLE_32B] = 0x10, [GM_SWIZZLE_64B] = 0x30, [GM_SWIZZLE_128B] = 0x70};
    struct gm_matrix_descriptor fields = {.size = sizeof fields};
    if (gm_matrix_descriptor_decode(matrix->descriptor, &fields) != GM_OK) {
        snprintf(why, bytes, "%s", gm_last_error());
        return false;
    }
    const struct offset_table *const table = table_of(matrix, &fields);
    const uint32_t mask = masks[fields.swizzle], phase = fields.base_offset * 128;
    for (uint32_t piece = 0; piece < piece_count(matrix); piece++) {
        const uint32_t address = fields.start + table->offset[piece];
        addresses[piece] = address ^ ((address - phase) >> 3 & mask);
    }
    return true;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* False: the operand leaves the CTA's shared memory. */
static bool mark_pieces(struct wgmma_check *check, uint32_t *repeated) {
    const struct sim_cta *const cta = check->warp->cta;
    const uint32_t end = cta->shared_bytes < WGMMA_UNITS_MAX * PIECE ? cta->shared_bytes : WGMMA_UNITS_MAX * PIECE;
    *repeated = piece_count(check->matrix);
    for (uint32_t piece = 0; piece < piece_count(check->matrix); piece++) {
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
    if (repeated == piece_count(check->matrix) ||
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
    for (uint32_t piece = 0; piece < piece_count(matrix); piece++) {
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
        sim_count_wgmma(warp, operation->instruction, piece_count(matrix) / SIM_CORE_ROWS);
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
    for (uint32_t piece = 0; piece < piece_count(matrix); piece++) {
        if ((uint64_t)addresses[piece] + PIECE > cta->shared_bytes)
            return false;
        memcpy(bytes + piece * PIECE, cta->shared + addresses[piece], PIECE);
    }
    sim_widen(matrix->element, bytes, values, piece_count(matrix) * PIECE / sim_element_bytes(matrix->element));
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
