/* SPDX-License-Identifier: Apache-2.0 */
/* One permutation: its operands, and what out shall be. Both are one row, from the first element to the last: of the type
 * where there is a cast, of bytes where there is none. */
#include <math.h>
#include <stdlib.h>

#include "permute/permute_tests.h"

static int x_bytes_of(const struct permute_case *pc) {
    return pc->element_bytes ? pc->element_bytes : gm_type_bytes(pc->type);
}

static int out_bytes_of(const struct permute_case *pc) {
    return pc->element_bytes ? pc->element_bytes : gm_type_bytes(pc->out_type);
}

static bool is_packed(const struct permute_case *pc) {
    struct permute_case packed = *pc;
    pack_permute(&packed);
    return memcmp(packed.x_strides, pc->x_strides, (size_t)pc->rank * sizeof *pc->x_strides) == 0 &&
           memcmp(packed.out_strides, pc->out_strides, (size_t)pc->rank * sizeof *pc->out_strides) == 0;
}

/* Short, since the first words of a failure are kept. */
void describe_permute(const struct permute_case *pc, char *text, size_t bytes) {
    static const char *const inputs[] = {"normal", "wide", "special"};
    size_t used = pc->element_bytes ? (size_t)snprintf(text, bytes, "%d B", pc->element_bytes)
                                    : (size_t)snprintf(text, bytes, "%s to %s %s", gm_type_name(pc->type),
                                                       gm_type_name(pc->out_type), inputs[pc->inputs]);
    for (int k = 0; k < pc->rank; k++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%lld", k ? "x" : " ", (long long)pc->extents[k]);
    for (int k = 0; k < pc->rank; k++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%d", k ? "" : " ", pc->order[k]);
    for (int k = 0; k < pc->rank && !is_packed(pc); k++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%lld:%lld", k ? "," : " strides ",
                                 (long long)pc->x_strides[k], (long long)pc->out_strides[k]);
    snprintf(text + used, bytes - used, " starts %d,%d%s", pc->x_start, pc->out_start, pc->in_place ? " in place" : "");
}

/* ---- strides ------------------------------------------------------------------------------------------- */

void pack_permute(struct permute_case *pc) {
    int64_t x = 1, out = 1;
    for (int k = pc->rank - 1; k >= 0; k--) {
        pc->x_strides[k] = x;
        pc->out_strides[k] = out;
        x *= pc->extents[k];
        out *= pc->extents[pc->order[k]];
    }
}

void pad_permute(struct permute_case *pc, int64_t x_pad, int64_t out_pad) {
    pack_permute(pc);
    int64_t x = pc->extents[pc->rank - 1] + x_pad, out = pc->extents[pc->order[pc->rank - 1]] + out_pad;
    for (int k = pc->rank - 2; k >= 0; k--) {
        pc->x_strides[k] = x;
        pc->out_strides[k] = out;
        x *= pc->extents[k];
        out *= pc->extents[pc->order[k]];
    }
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* Among them: what is halfway between neighbours in bf16 and fp16, and what rounds beyond the largest. */
static double special(enum gm_type type, uint64_t random, double ordinary) {
    const double values[] = {NAN,        INFINITY, -INFINITY, 0,          -0.0,       0x1.fep127,     -65504,
                             65519,      65520,    0x1p-24,   0x1p-25,    -0x1.8p-24, 0x1p-133,       0x1p-134,
                             1.00390625, 0x1.02p0, 0x1.03p0,  -0x1.002p0, 0x1.006p0,  0x1.fffffep127, ordinary};
    return round_to(type, values[random % COUNT(values)]);
}

static double typed_value(const struct permute_case *pc, int64_t element) {
    const uint64_t seed = opt.seed + pc->seed, random = hash64(seed, (uint64_t)element);
    const double normal = hash_normal(seed, (uint64_t)element);
    if (pc->inputs == PERMUTE_SPECIAL)
        return special(pc->type, random, normal);
    return bits_to_double(
        pc->type,
        double_to_bits(pc->type, pc->inputs == PERMUTE_WIDE ? ldexp(normal, (int)(random % 51) - 30) : normal));
}

/* Any bits; but that no byte is poison, so that an element which is not written shows. */
static double byte_value(const struct permute_case *pc, int64_t element, int byte) {
    const uint64_t random = hash64(opt.seed + pc->seed, 2 * (uint64_t)element + (uint64_t)(byte / 8));
    const uint8_t value = (uint8_t)(random >> 8 * (byte % 8));
    return value == POISON ? POISON + 1 : value;
}

/* Of x's element, or of one of its bytes. */
static double value_at(const struct permute_case *pc, int64_t element, int byte) {
    return pc->element_bytes ? byte_value(pc, element, byte) : typed_value(pc, element);
}

static double x_value(const void *of, int64_t row, int64_t column) {
    const struct placed_permute *placed = of;
    const int unit = placed->pc.element_bytes ? placed->pc.element_bytes : 1;
    (void)row;
    if (!placed->is_read[column / unit])
        return placed->pc.element_bytes ? 0xff : NAN;
    return value_at(&placed->pc, column / unit, (int)(column % unit));
}

static void expect(const struct placed_operands *placed_operands, int operand, int64_t row, struct expectation *e) {
    const struct placed_permute *placed = (const struct placed_permute *)placed_operands;
    const int unit = placed->pc.element_bytes ? placed->pc.element_bytes : 1;
    (void)operand, (void)row;
    for (int64_t element = 0; element < placed->out_span; element++)
        for (int byte = 0; byte < unit; byte++) {
            const int64_t column = element * unit + byte, source = placed->source[element];
            e->tolerance[column] = source < 0 ? AS_BEFORE : 0;
            if (source >= 0)
                e->want[column] = value_at(&placed->pc, source, byte);
        }
}

/* ---- placing ------------------------------------------------------------------------------------------- */

static int64_t span_of(int rank, const int64_t *extents, const int64_t *strides, const int *order) {
    int64_t last = 0;
    for (int k = 0; k < rank; k++)
        last += (extents[order ? order[k] : k] - 1) * strides[k];
    return last + 1;
}

/* Index by index, as the definition has it. */
static void fill_sources(struct placed_permute *placed) {
    const struct permute_case *pc = &placed->pc;
    int64_t index[PERMUTE_RANK] = {0};
    for (int64_t i = 0; i < placed->out_span; i++)
        placed->source[i] = -1;
    memset(placed->is_read, 0, (size_t)placed->x_span);
    for (int k = 0; k >= 0;) {
        int64_t x = 0, out = 0;
        for (int d = 0; d < pc->rank; d++) {
            x += index[d] * pc->x_strides[d];
            out += index[pc->order[d]] * pc->out_strides[d];
        }
        placed->source[out] = x;
        placed->is_read[x] = true;
        for (k = pc->rank - 1; k >= 0 && ++index[k] == pc->extents[k]; k--)
            index[k] = 0;
    }
}

static void find_sources(struct placed_permute *placed) {
    const struct permute_case *pc = &placed->pc;
    placed->x_span = span_of(pc->rank, pc->extents, pc->x_strides, NULL);
    placed->out_span = span_of(pc->rank, pc->extents, pc->out_strides, pc->order);
    placed->source = malloc((size_t)placed->out_span * sizeof *placed->source);
    placed->is_read = malloc((size_t)placed->x_span);
    if (!placed->source || !placed->is_read)
        exit(2);
    fill_sources(placed);
}

static void list_operands(struct placed_permute *placed) {
    const struct permute_case *pc = &placed->pc;
    const int unit = pc->element_bytes ? pc->element_bytes : 1;
    const enum gm_type x = pc->element_bytes ? GM_UINT8 : pc->type, out = pc->element_bytes ? GM_UINT8 : pc->out_type;
    struct operand *o = placed->placed.operands;
#define ARGUMENT(member) offsetof(struct gm_permute_args, member)
    o[PERMUTE_X] = (struct operand){
        "x", ARGUMENT(x), x, 1, unit * placed->x_span, unit * placed->x_span, unit * pc->x_start, .value = x_value};
    o[PERMUTE_OUT] = (struct operand){
        "out",          ARGUMENT(out), out, 1, unit * placed->out_span, unit * placed->out_span, unit * pc->out_start,
        .written = true};
#undef ARGUMENT
    if (pc->in_place)
        o[PERMUTE_X].in_place_of = 1 + PERMUTE_OUT;
}

static struct gm_permute_problem problem_of(const struct permute_case *pc) {
    struct gm_permute_problem p = {.size = sizeof p,
                                   .rank = pc->rank,
                                   .element_bytes = pc->element_bytes,
                                   .type = pc->type,
                                   .out_type = pc->out_type};
    for (int k = 0; k < pc->rank; k++) {
        p.extents[k] = pc->extents[k];
        p.x_strides[k] = pc->x_strides[k];
        p.out_strides[k] = pc->out_strides[k];
        p.order[k] = pc->order[k];
    }
    return p;
}

static int32_t alignment_for(const struct placed_permute *placed, int operand, int bytes) {
    const int32_t align = alignment_of(&placed->placed, operand);
    return align < bytes ? bytes : align;
}

bool place_permute(struct result *result, const struct permute_case *pc, struct operand_memory *memory,
                   struct placed_permute *placed) {
    uint8_t *const before = placed->placed.before;
    free(placed->source);
    free(placed->is_read);
    *placed = (struct placed_permute){.pc = *pc, .problem = problem_of(pc), .args = {.size = sizeof placed->args}};
    find_sources(placed);
    placed->placed = (struct placed_operands){
        .call = {.operation = &permute_tests, .problem = &placed->problem, .args = &placed->args},
        .of = placed,
        .args = &placed->args,
        .count = PERMUTE_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed);
    const bool ok = place_operands(result, &placed->placed, memory);
    placed->problem.x_align = alignment_for(placed, PERMUTE_X, x_bytes_of(pc));
    placed->problem.out_align = alignment_for(placed, PERMUTE_OUT, out_bytes_of(pc));
    return ok;
}

void free_placed_permute(struct placed_permute *placed) {
    free(placed->source);
    free(placed->is_read);
    placed->source = NULL;
    placed->is_read = NULL;
    free_placed(&placed->placed);
}

bool run_permute(struct result *result, const struct permute_case *pc, const char *kernel, uint32_t mask,
                 struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = pc->sm_budget};
    struct placed_permute placed = {0};
    char what[320];
    describe_permute(pc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_permute(result, pc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, pc->repeats, pc->may_refuse, what);
    free_placed_permute(&placed);
    return ok;
}
