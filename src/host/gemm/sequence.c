/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM in two or three launches: A or B, whose rows TMA cannot load, copied into rows that it can. */
#include "host/sequence.h"

#include "common/arith.h"
#include "gristmill/permute.h"
#include "host/gemm/problem.h"

#define COPY_ALIGN  256 /* bytes between the beginnings of copies: whole sectors and lines */
#define PITCH_ALIGN 128 /* bytes of a copy's rows: a span of the swizzle, which is a line of L2 */

/* ---- what is copied ------------------------------------------------------------------------------------- */

static int is_empty(const struct gm_gemm_problem *p) {
    return p->m == 0 || p->n == 0 || p->k == 0;
}

static int64_t pitch_of_copy(const struct gm_operand *operand) {
    const int64_t elements = PITCH_ALIGN / operand->element_bytes;
    return GM_CEIL_DIV(operand->columns, elements) * elements;
}

/* Adds the copy of an operand, and returns the stride of its rows. */
static int64_t add_copy(struct gm_sequence *sequence, const char *name, const struct gm_operand *operand, int align) {
    struct gm_copy *copy = &sequence->copies[sequence->count++];
    const int64_t pitch = pitch_of_copy(operand);
    *copy = (struct gm_copy){.name = name, .operation = &gm_operation_permute, .offset = sequence->copied_bytes};
    *(struct gm_permute_problem *)(void *)copy->problem = (struct gm_permute_problem){
        .size = sizeof(struct gm_permute_problem),
        .rank = 2,
        .extents = {operand->rows, operand->columns},
        .x_strides = {operand->stride, 1},
        .out_strides = {pitch, 1},
        .element_bytes = operand->element_bytes,
        .x_align = align,
        .out_align = GM_WORKSPACE_ALIGN,
    };
    sequence->copied_bytes +=
        (size_t)GM_CEIL_DIV(operand->rows * pitch * operand->element_bytes, COPY_ALIGN) * COPY_ALIGN;
    return pitch;
}

/* Not of a batch-invariant plan, which would take one order of sums or the other by the number of rows. */
static void propose(const void *planned, const struct gm_plan_options *options, struct gm_sequence *sequence) {
    const struct gm_gemm_planned *from = planned;
    const struct gm_operand a = gm_operand_a(&from->problem), b = gm_operand_b(&from->problem);
    struct gm_gemm_problem *p = (struct gm_gemm_problem *)(void *)sequence->problem;
    sequence->count = 0;
    sequence->copied_bytes = 0;
    if (from->transposed || is_empty(&from->problem) || options->flags & GM_PLAN_BATCH_INVARIANT)
        return;
    *p = from->problem;
    p->size = sizeof *p;
    if (!gm_is_aligned(a, p->a_align)) {
        p->lda = add_copy(sequence, "a", &a, p->a_align);
        p->a_align = GM_WORKSPACE_ALIGN;
    }
    if (!gm_is_aligned(b, p->b_align)) {
        p->ldb = add_copy(sequence, "b", &b, p->b_align);
        p->b_align = GM_WORKSPACE_ALIGN;
    }
    if (sequence->copied_bytes > options->workspace_limit)
        sequence->count = 0;
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int is_a(const struct gm_copy *copy) {
    return copy->name[0] == 'a';
}

static void arguments(const struct gm_sequence *sequence, int number, const void *args, void *into) {
    const struct gm_gemm_args *given = args;
    if (number < sequence->count) {
        const struct gm_copy *copy = &sequence->copies[number];
        *(struct gm_permute_args *)into = (struct gm_permute_args){.size = sizeof(struct gm_permute_args),
                                                                   .x = is_a(copy) ? given->a : given->b,
                                                                   .out = given->workspace + copy->offset};
        return;
    }
    struct gm_gemm_args *rest = into;
    *rest = *given;
    for (int i = 0; i < sequence->count; i++)
        *(is_a(&sequence->copies[i]) ? &rest->a : &rest->b) = given->workspace + sequence->copies[i].offset;
    rest->workspace += sequence->copied_bytes;
    rest->workspace_bytes -= sequence->copied_bytes;
}

const struct gm_sequences gm_gemm_sequences = {propose, arguments};
