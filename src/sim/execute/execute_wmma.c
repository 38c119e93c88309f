/* SPDX-License-Identifier: Apache-2.0 */
/* wmma: whole matrices of a warp, loaded, multiplied and stored. How a fragment's elements are spread over the lanes is
 * not specified; here lane l holds, row by row, the elements l s .. l s + s - 1 of a matrix of 32 s, and where a fragment
 * has room for more, the same ones again. Products are summed up in fp32. */
#include "sim/execute/instructions.h"
#include "sim/execute/lanes.h"
#include "sim/execute/matrix.h"
#include "sim/memory/memory.h"
#include "sim/report/counters.h"

enum { SIDE_MOST = 32, DEPTH = 16, ELEMENTS_MOST = SIDE_MOST * DEPTH };

enum format { FORMAT_F16, FORMAT_BF16, FORMAT_F32 };

/* A matrix as its fragment holds it. */
struct matrix {
    const struct ptx_operand *element;       /* the registers */
    uint32_t rows, columns, registers, each; /* each: elements of a lane */
    enum format format;
};

/* choice of the shapes: .m16n16k16, .m8n32k16, .m32n8k16 */
static uint32_t side_m(uint32_t shape) {
    return shape == 1 ? 16 : shape == 2 ? 8 : 32;
}

static struct matrix matrix_of(const struct sim_warp *warp, const struct ptx_operand *vector, uint32_t rows,
                               uint32_t columns, enum format format) {
    return (struct matrix){.element = sim_vector(warp, vector),
                           .rows = rows,
                           .columns = columns,
                           .registers = vector->count,
                           .each = rows * columns / PTX_LANES,
                           .format = format};
}

static struct matrix matrix_by_letter(const struct sim_warp *warp, const struct ptx_operand *vector, char letter,
                                      uint32_t shape, enum format format) {
    const uint32_t m = side_m(shape), n = ELEMENTS_MOST / 2 / m;
    return matrix_of(warp, vector, letter == 'b' ? DEPTH : m, letter == 'a' ? DEPTH : n, format);
}

static uint32_t bytes_of(enum format format) {
    return format == FORMAT_F32 ? 4 : 2;
}

/* ---- elements in registers ---------------------------------------------------------------------------------------- */

static uint32_t get(const struct sim_warp *warp, const struct matrix *matrix, uint32_t n) {
    const uint32_t lane = n / matrix->each, slot = n % matrix->each;
    if (matrix->format == FORMAT_F32)
        return SIM_SOURCE_32(warp, &matrix->element[slot])[lane];
    return SIM_SOURCE_32(warp, &matrix->element[slot / 2])[lane] >> 16 * (slot % 2) & 0xffff;
}

static float get_float(const struct sim_warp *warp, const struct matrix *matrix, uint32_t n) {
    const uint32_t bits = get(warp, matrix, n);
    return matrix->format == FORMAT_F32   ? sim_float_of(bits)
           : matrix->format == FORMAT_F16 ? sim_half_to_float((uint16_t)bits)
                                          : sim_bfloat16_to_float((uint16_t)bits);
}

/* Fills the registers from the elements' bits; `tainted`: a bit for each lane. */
static void put_all(struct sim_warp *warp, const struct matrix *matrix, const uint32_t *bits, uint32_t tainted) {
    for (uint32_t r = 0; r < matrix->registers; r++) {
        const struct ptx_operand *element = &matrix->element[r];
        if (element->kind != PTX_OPERAND_REGISTER)
            continue;
        for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
            const uint32_t *own = bits + lane * matrix->each;
            SIM_ROW_32(warp, element)
            [lane] = matrix->format == FORMAT_F32 ? own[r]
                                                  : own[2 * r % matrix->each] | own[(2 * r + 1) % matrix->each] << 16;
        }
        if (warp->tainted || tainted)
            sim_set_taint(warp, element, tainted, false);
    }
}

static uint32_t taint_of(const struct sim_warp *warp, const struct matrix *matrix) {
    uint32_t lanes = 0;
    for (uint32_t r = 0; r < matrix->registers; r++)
        lanes |= sim_taint_of(warp, &matrix->element[r]);
    return lanes;
}

/* ---- elements in memory ------------------------------------------------------------------------------------------- */

/* Where a matrix lies. */
struct place {
    uint64_t address;
    uint64_t stride;
    bool by_columns, is_shared;
};

/* choice of the spaces: [.global|.shared|.shared::cta]; the address is that of the first lane. */
static struct place place_of(struct sim_warp *warp, const struct ptx_operand *address, const struct ptx_operand *stride,
                             const struct matrix *matrix, bool by_columns, uint32_t space) {
    uint64_t addresses[PTX_LANES];
    sim_addresses(warp, address, addresses);
    struct place place = {.address = addresses[0], .by_columns = by_columns, .is_shared = space > 1};
    place.stride = stride->kind == PTX_OPERAND_NONE ? (by_columns ? matrix->rows : matrix->columns)
                                                    : SIM_SOURCE_32(warp, stride)[0];
    if ((place.address & SIM_WINDOW_MASK) == SIM_SHARED_WINDOW) {
        place.address &= ~SIM_WINDOW_MASK;
        place.is_shared = true;
    }
    return place;
}

static uint64_t address_of(const struct place *place, const struct matrix *matrix, uint32_t n) {
    const uint64_t row = n / matrix->columns, column = n % matrix->columns;
    return place->address +
           (place->by_columns ? column * place->stride + row : row * place->stride + column) * bytes_of(matrix->format);
}

/* The element's bytes. NULL: a fault was reported. */
static void *locate(struct sim_warp *warp, const struct ptx_instruction *i, const struct place *place,
                    const struct matrix *matrix, uint32_t n, bool write, uint32_t *tainted) {
    const uint32_t bytes = bytes_of(matrix->format), lane = n / matrix->each;
    const uint64_t address = address_of(place, matrix, n);
    const struct sim_actor actor = sim_warp_actor(warp, i, SIM_LANE_COLLECTIVE, false);
    struct sim_cta *cta;
    uint32_t offset;
    bool uninitialised = false;
    if (!place->is_shared)
        return write ? sim_global_write(warp, i, (int)lane, address, bytes, bytes)
                     : sim_global_read(warp, i, (int)lane, address, bytes, bytes);
    if (!sim_shared_locate(warp, i, (int)lane, (uint32_t)address, bytes, bytes, &cta, &offset))
        return NULL;
    if (write)
        sim_shadow_write(cta, offset, bytes, &actor);
    else
        sim_shadow_read(cta, offset, bytes, &actor, &uninitialised);
    if (write && *tainted >> lane & 1)
        sim_shadow_taint(cta, offset, bytes);
    if (uninitialised)
        *tainted |= UINT32_C(1) << lane;
    return cta->shared + offset;
}

static enum sim_next load(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i, char letter,
                          enum format format) {
    if (!sim_matrix_gather(warp, path, i))
        return SIM_WAIT;
    const struct matrix matrix = matrix_by_letter(warp, &i->operand[0], letter, i->choice[1], format);
    const struct place place = place_of(warp, &i->operand[1], &i->operand[2], &matrix, i->choice[0] == 2, i->choice[2]);
    uint32_t bits[ELEMENTS_MOST] = {0}, tainted = 0;
    sim_count_unmodelled(warp);
    for (uint32_t n = 0; n < matrix.rows * matrix.columns; n++) {
        const void *at = locate(warp, i, &place, &matrix, n, false, &tainted);
        if (!at)
            return SIM_FAULT;
        memcpy(&bits[n], at, bytes_of(format));
    }
    put_all(warp, &matrix, bits, tainted);
    return warp->machine->fault ? SIM_FAULT : SIM_NEXT;
}

/* choice: {.row|.col}{shapes}[spaces], and the type of a and b */
#define LOAD(name, letter, format)                                                                                     \
    enum sim_next sim_do_##name(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,         \
                                uint32_t mask) {                                                                       \
        (void)mask;                                                                                                    \
        return load(warp, path, i, letter, format);                                                                    \
    }
LOAD(wmma_load_a, 'a', i->choice[3] == 1 ? FORMAT_F16 : FORMAT_BF16)
LOAD(wmma_load_b, 'b', i->choice[3] == 1 ? FORMAT_F16 : FORMAT_BF16)
LOAD(wmma_load_c, 'c', i->choice[3] == 1 ? FORMAT_F16 : FORMAT_F32)

enum sim_next sim_do_wmma_store(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                uint32_t mask) {
    if (!sim_matrix_gather(warp, path, i))
        return SIM_WAIT;
    const enum format format = i->choice[3] == 1 ? FORMAT_F16 : FORMAT_F32;
    const struct matrix matrix = matrix_by_letter(warp, &i->operand[1], 'd', i->choice[1], format);
    const struct place place = place_of(warp, &i->operand[0], &i->operand[2], &matrix, i->choice[0] == 2, i->choice[2]);
    uint32_t tainted = taint_of(warp, &matrix);
    (void)mask;
    sim_count_unmodelled(warp);
    for (uint32_t r = 0; tainted && !place.is_shared && r < matrix.registers; r++)
        sim_check_defined(warp, i, &matrix.element[r], sim_taint_of(warp, &matrix.element[r]), "the stored value");
    for (uint32_t n = 0; n < matrix.rows * matrix.columns; n++) {
        const uint32_t bits = get(warp, &matrix, n);
        void *at = locate(warp, i, &place, &matrix, n, true, &tainted);
        if (!at)
            return SIM_FAULT;
        memcpy(at, &bits, bytes_of(format));
    }
    return warp->machine->fault ? SIM_FAULT : SIM_NEXT;
}

/* ---- the product -------------------------------------------------------------------------------------------------- */

/* The lanes of D that uninitialised lanes of A, by rows, of B, by columns, and of C spoil. */
static uint32_t spread(const struct sim_warp *warp, const struct matrix *a, const struct matrix *b,
                       const struct matrix *c) {
    const uint32_t of_a = taint_of(warp, a), of_b = taint_of(warp, b);
    uint32_t rows = 0, columns = 0, lanes = taint_of(warp, c);
    for (uint32_t n = 0; n < a->rows * a->columns; n++)
        rows |= (of_a >> n / a->each & 1) << n / a->columns;
    for (uint32_t n = 0; n < b->rows * b->columns; n++)
        columns |= (of_b >> n / b->each & 1) << n % b->columns;
    for (uint32_t n = 0; n < c->rows * c->columns; n++)
        lanes |= ((rows >> n / c->columns | columns >> n % c->columns) & 1) << n / c->each;
    return lanes;
}

static enum sim_next multiply(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                              enum format factors, enum format to, enum format from) {
    if (!sim_matrix_gather(warp, path, i))
        return SIM_WAIT;
    const uint32_t shape = i->choice[2];
    const struct matrix a = matrix_by_letter(warp, &i->operand[1], 'a', shape, factors);
    const struct matrix b = matrix_by_letter(warp, &i->operand[2], 'b', shape, factors);
    const struct matrix c = matrix_by_letter(warp, &i->operand[3], 'c', shape, from);
    const struct matrix d = matrix_by_letter(warp, &i->operand[0], 'd', shape, to);
    uint32_t bits[ELEMENTS_MOST];
    for (uint32_t n = 0; n < d.rows * d.columns; n++) {
        const uint32_t row = n / d.columns, column = n % d.columns;
        float sum = get_float(warp, &c, n);
        for (uint32_t k = 0; k < DEPTH; k++)
            sum += get_float(warp, &a, row * DEPTH + k) * get_float(warp, &b, k * d.columns + column);
        bits[n] = to == FORMAT_F32 ? sim_bits_f32(sum) : sim_float_to_half(sum);
    }
    put_all(warp, &d, bits, warp->tainted ? spread(warp, &a, &b, &c) : 0);
    return SIM_NEXT;
}

/* choice: {layout of a}{layout of b}{shapes}{d}{c}: the layouts say how the fragments were loaded */
enum sim_next sim_do_wmma_mma_f16(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                  uint32_t mask) {
    (void)mask;
    return multiply(warp, path, i, FORMAT_F16, i->choice[3] == 1 ? FORMAT_F16 : FORMAT_F32,
                    i->choice[4] == 1 ? FORMAT_F16 : FORMAT_F32);
}

enum sim_next sim_do_wmma_mma_bf16(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                   uint32_t mask) {
    (void)mask;
    return multiply(warp, path, i, FORMAT_BF16, FORMAT_F32, FORMAT_F32);
}
