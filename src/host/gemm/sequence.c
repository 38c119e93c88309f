/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM in two or three launches: A or B, whose rows TMA cannot load, copied into rows that it can, or turned where wgmma
 * does not take them as they lie; or gates and ups into the workspace, and a GLU that makes D of them; or what D is quantised
 * from, and a quantiser. */
#include "host/sequence.h"

#include "common/arith.h"
#include "host/gemm/pack.h"

#define COPY_ALIGN 256 /* bytes between the beginnings of copies: whole sectors and lines */

static const char copy_of_a[] = "a copy of a", copy_of_b[] = "a copy of b";

/* ---- what is copied ------------------------------------------------------------------------------------- */

static int is_empty(const struct gm_gemm_problem *p) {
    return p->m == 0 || p->n == 0;
}

/* Adds the copy of an operand, and lets the problem have it. */
static void add_copy(struct gm_sequence *sequence, const struct gm_gemm_problem *from, enum gm_gemm_operand which,
                     struct gm_gemm_problem *p) {
    struct gm_step *step = &sequence->steps[sequence->count++];
    const struct gm_permute_problem copy = gm_gemm_copy_of(from, which);
    *step = (struct gm_step){.name = which == GM_GEMM_A ? copy_of_a : copy_of_b,
                             .operation = &gm_operation_permute,
                             .offset = sequence->bytes};
    *(struct gm_permute_problem *)(void *)step->problem = copy;
    sequence->bytes += (size_t)GM_CEIL_DIV(gm_gemm_copy_bytes(&copy), COPY_ALIGN) * COPY_ALIGN;
    gm_gemm_take_copy(p, which, &copy);
}

/* Not of a batch-invariant plan, which would take one order of sums or the other by the number of rows. */
static void propose_copies(const struct gm_gemm_problem *from, const struct gm_plan_options *options,
                           struct gm_gemm_problem *p, struct gm_sequence *sequence) {
    if (options->flags & GM_PLAN_BATCH_INVARIANT)
        return;
    if (gm_gemm_needs_copy(from, GM_GEMM_A))
        add_copy(sequence, from, GM_GEMM_A, p);
    if (gm_gemm_needs_copy(from, GM_GEMM_B))
        add_copy(sequence, from, GM_GEMM_B, p);
}

struct gm_glu_problem gm_gemm_unit(const struct gm_gemm_problem *gated, int64_t pitch) {
    const enum gm_type type = gm_gemm_type_before(gated);
    const int64_t columns = gm_gemm_columns(gated), to_up = columns * gm_type_bytes(type);
    const int is_pairs = gated->gate == GM_GATE_PAIRS;
    return (struct gm_glu_problem){
        .size = sizeof(struct gm_glu_problem),
        .rows = gated->m,
        .columns = columns,
        .type = type,
        .layout = is_pairs ? GM_GLU_INTERLEAVED : GM_GLU_APART,
        .activation = gated->activation,
        .limit = gated->limit,
        .sigmoid_factor = gated->sigmoid_factor,
        .up_offset = gated->up_offset,
        .gate_stride = pitch,
        .up_stride = is_pairs ? 0 : pitch,
        .out_stride = gated->ldd,
        .up_align = is_pairs ? 0 : gm_copy_bytes((uint64_t)to_up, 0, 1),
        .out_align = gated->d_align,
        .has_out_type = 1,
        .out_type = gated->d_type,
        .scaling = gated->d_scaling,
        .scale_format = gated->d_scale_format,
        .scale_order = gated->d_scale_order,
        .division = gated->d_division,
        .group = gated->d_group,
        .scales_stride = gated->d_scales_stride,
        .scale_floor = gated->d_scale_floor,
    };
}

struct gm_glu_args gm_gemm_unit_args(const struct gm_glu_problem *unit, gm_device_ptr sums,
                                     const struct gm_gemm_args *args) {
    const int64_t to_up = unit->columns * gm_type_bytes(unit->type);
    return (struct gm_glu_args){
        .size = sizeof(struct gm_glu_args),
        .gate = sums,
        .up = unit->layout == GM_GLU_APART ? sums + (uint64_t)to_up : 0,
        .out = args->d,
        .scales = args->d_scales,
    };
}

struct gm_quantize_problem gm_gemm_quantizer(const struct gm_gemm_problem *p, int64_t pitch) {
    return (struct gm_quantize_problem){
        .size = sizeof(struct gm_quantize_problem),
        .rows = p->m,
        .columns = p->n,
        .group = p->d_group,
        .type = gm_gemm_type_before(p),
        .out_type = p->d_type,
        .scaling = p->d_scaling,
        .scale_format = p->d_scale_format,
        .scale_order = p->d_scale_order,
        .division = p->d_division,
        .x_stride = pitch,
        .out_stride = p->ldd,
        .scales_stride = p->d_scales_stride,
        .out_align = p->d_align,
        .scale_floor = p->d_scale_floor,
    };
}

struct gm_quantize_args gm_gemm_quantizer_args(gm_device_ptr sums, const struct gm_gemm_args *args) {
    return (struct gm_quantize_args){
        .size = sizeof(struct gm_quantize_args), .x = sums, .out = args->d, .scales = args->d_scales};
}

/* A step behind the operation, whose D is then rows in the workspace that are not quantised. */
static struct gm_step *propose_behind(const struct gm_gemm_problem *from, struct gm_gemm_problem *p, int64_t columns,
                                      struct gm_sequence *sequence) {
    const int bytes = gm_type_bytes(gm_gemm_type_before(from));
    p->d_type = gm_gemm_type_before(from);
    p->ldd = gm_gemm_pitch(columns, bytes);
    p->d_align = GM_WORKSPACE_ALIGN;
    sequence->before = 0;
    sequence->bytes = (size_t)(from->m * p->ldd * bytes);
    return &sequence->steps[sequence->count++];
}

/* Gates and ups in the workspace, by a GEMM that has none of the gate, and a GLU that makes D of them. */
static void propose_unit(const struct gm_gemm_problem *from, struct gm_gemm_problem *p, struct gm_sequence *sequence) {
    struct gm_step *step = propose_behind(from, p, from->n, sequence);
    p->gate = GM_GATE_NONE;
    p->activation = GM_ACT_NONE;
    p->ldc = p->ldd;
    p->has_c_type = 0;
    *step = (struct gm_step){.name = "a GLU", .operation = &gm_operation_glu};
    *(struct gm_glu_problem *)(void *)step->problem = gm_gemm_unit(from, p->ldd);
}

/* All but the rounding into the workspace, and a quantiser. */
static void propose_quantizer(const struct gm_gemm_problem *from, struct gm_gemm_problem *p,
                              struct gm_sequence *sequence) {
    struct gm_step *step = propose_behind(from, p, from->n, sequence);
    *step = (struct gm_step){.name = "a quantiser", .operation = &gm_operation_quantize};
    *(struct gm_quantize_problem *)(void *)step->problem = gm_gemm_quantizer(from, p->ldd);
}

static void propose(const void *planned, const struct gm_plan_options *options, struct gm_sequence *sequence) {
    const struct gm_gemm_planned *from = planned;
    struct gm_gemm_problem *p = (struct gm_gemm_problem *)(void *)sequence->problem;
    sequence->count = 0;
    sequence->bytes = 0;
    if (from->transposed || is_empty(&from->problem) || from->problem.pointer_arrays)
        return;
    if (from->problem.gate != GM_GATE_NONE && from->problem.batch > 1) /* the GLU would have rows of two distances */
        return;
    if (from->problem.gate != GM_GATE_NONE && from->problem.amax) /* which a GLU does not find */
        return;
    *p = from->problem;
    p->size = sizeof *p;
    if (from->problem.gate != GM_GATE_NONE) {
        propose_unit(&from->problem, p, sequence);
    } else if (gm_gemm_has_8_bits(&from->problem) && from->problem.d_scaling != GM_SCALE_STATIC) {
        propose_quantizer(&from->problem, p, sequence);
    } else if (from->problem.k > 0) {
        propose_copies(&from->problem, options, p, sequence);
        sequence->before = sequence->count;
    }
    if (sequence->bytes > options->workspace_limit)
        sequence->count = 0;
}

/* ---- a call --------------------------------------------------------------------------------------------- */

/* Where a copy's operand has its address. */
static gm_device_ptr *copied(const struct gm_step *step, struct gm_gemm_args *args) {
    return step->name == copy_of_a ? &args->a : &args->b;
}

/* Where copies lie before the operation, or what it leaves for a GLU. */
static void place(const struct gm_sequence *sequence, gm_device_ptr workspace, struct gm_gemm_args *own) {
    for (int i = 0; i < sequence->before; i++)
        *copied(&sequence->steps[i], own) = workspace + sequence->steps[i].offset;
    if (sequence->before == 0)
        own->d = workspace;
    own->workspace += sequence->bytes;
    own->workspace_bytes -= sequence->bytes;
}

static void arguments(const struct gm_sequence *sequence, int number, const void *args, void *into) {
    struct gm_gemm_args given = *(const struct gm_gemm_args *)args;
    const struct gm_step *step = &sequence->steps[number < sequence->count ? number : 0];
    if (number == sequence->count) {
        place(sequence, given.workspace, &given);
        *(struct gm_gemm_args *)into = given;
    } else if (number < sequence->before) {
        *(struct gm_permute_args *)into = (struct gm_permute_args){
            .size = sizeof(struct gm_permute_args), .x = *copied(step, &given), .out = given.workspace + step->offset};
    } else if (step->operation == &gm_operation_quantize) {
        *(struct gm_quantize_args *)into = gm_gemm_quantizer_args(given.workspace, &given);
    } else {
        const struct gm_glu_problem *unit = (const struct gm_glu_problem *)(const void *)step->problem;
        *(struct gm_glu_args *)into = gm_gemm_unit_args(unit, given.workspace, &given);
    }
}

const struct gm_sequences gm_gemm_sequences = {propose, arguments};
