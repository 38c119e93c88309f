/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of A and B into rows that every kernel takes. */
#include "host/gemm/pack.h"

#include "common/arith.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/plan.h"
#include "host/structs.h"

#define PITCH_ALIGN 128 /* bytes of a copy's rows: a span of the swizzle, which is a line of L2 */
#define BYTES_LIMIT (INT64_C(1) << 62)

static struct gm_operand operand_of(const struct gm_gemm_problem *p, enum gm_gemm_operand which) {
    return which == GM_GEMM_A ? gm_operand_a(p) : gm_operand_b(p);
}

static int32_t align_of(const struct gm_gemm_problem *p, enum gm_gemm_operand which) {
    return which == GM_GEMM_A ? p->a_align : p->b_align;
}

static int64_t batch_stride_of(const struct gm_gemm_problem *p, enum gm_gemm_operand which) {
    return which == GM_GEMM_A ? p->a_batch_stride : p->b_batch_stride;
}

static enum gm_major major_of(const struct gm_gemm_problem *p, enum gm_gemm_operand which) {
    return which == GM_GEMM_A ? p->a_major : p->b_major;
}

/* Its columns become rows. */
static int is_turned(const struct gm_gemm_problem *p, enum gm_gemm_operand which) {
    return gm_needs_k_major(p) && major_of(p, which) == GM_MN_MAJOR;
}

int gm_gemm_needs_copy(const struct gm_gemm_problem *p, enum gm_gemm_operand which) {
    const struct gm_operand operand = operand_of(p, which);
    return is_turned(p, which) || !gm_is_aligned(operand, align_of(p, which)) ||
           batch_stride_of(p, which) * operand.element_bytes % GM_TMA_ALIGN != 0;
}

int64_t gm_gemm_pitch(int64_t columns, int element_bytes) {
    const int64_t elements = PITCH_ALIGN / element_bytes;
    return GM_CEIL_DIV(columns, elements) * elements;
}

struct gm_permute_problem gm_gemm_copy_of(const struct gm_gemm_problem *p, enum gm_gemm_operand which) {
    const struct gm_operand operand = operand_of(p, which);
    const int turned = is_turned(p, which);
    const int64_t rows = turned ? operand.columns : operand.rows, columns = turned ? operand.rows : operand.columns;
    const int64_t pitch = gm_gemm_pitch(columns, operand.element_bytes);
    return (struct gm_permute_problem){
        .size = sizeof(struct gm_permute_problem),
        .rank = 3,
        .extents = {gm_gemm_matrices(p, batch_stride_of(p, which)), rows, columns},
        .x_strides = {batch_stride_of(p, which), turned ? 1 : operand.stride, turned ? operand.stride : 1},
        .out_strides = {rows * pitch, pitch, 1},
        .element_bytes = operand.element_bytes,
        .x_align = align_of(p, which),
        .out_align = GM_TMA_ALIGN,
    };
}

int64_t gm_gemm_copy_bytes(const struct gm_permute_problem *copy) {
    int64_t bytes = 0;
    const int is_too_long = __builtin_mul_overflow(copy->extents[0], copy->out_strides[0], &bytes) ||
                            __builtin_mul_overflow(bytes, (int64_t)copy->element_bytes, &bytes);
    return is_too_long || bytes > BYTES_LIMIT ? BYTES_LIMIT : bytes;
}

void gm_gemm_take_copy(struct gm_gemm_problem *p, enum gm_gemm_operand which, const struct gm_permute_problem *copy) {
    const int64_t batch_stride = copy->extents[0] > 1 ? copy->out_strides[0] : 0;
    const enum gm_major major = is_turned(p, which) ? GM_K_MAJOR : major_of(p, which);
    if (which == GM_GEMM_A) {
        p->a_major = major;
        p->lda = copy->out_strides[1];
        p->a_align = copy->out_align;
        p->a_batch_stride = batch_stride;
    } else {
        p->b_major = major;
        p->ldb = copy->out_strides[1];
        p->b_align = copy->out_align;
        p->b_batch_stride = batch_stride;
    }
}

/* ---- the public functions ------------------------------------------------------------------------------- */

/* The caller's problem as it is, and its operand's copy, which has no bytes where none is needed. */
static enum gm_status read_problem(const struct gm_gemm_problem *given, enum gm_gemm_operand which,
                                   struct gm_gemm_problem *problem, struct gm_permute_problem *copy) {
    const struct gm_operation *gemm = &gm_operation_gemm;
    if (!gm_struct_take(given, problem, gemm->problem_bytes_least, gemm->problem_bytes, "problem"))
        return gm_last_status();
    struct gm_gemm_problem normal = *problem;
    enum gm_status status = gm_gemm_normalize(&normal);
    if (status == GM_OK)
        status = gm_check_enum("operand", (int)which, GM_GEMM_A, GM_GEMM_B);
    if (status == GM_OK && normal.pointer_arrays)
        status = gm_fail(GM_ERROR_INVALID_ARGUMENT,
                         "matrices of pointer_arrays are not packed: their strides are not known");
    if (status == GM_OK) {
        *copy = gm_gemm_copy_of(&normal, which);
        copy->extents[0] = gm_gemm_needs_copy(&normal, which) ? copy->extents[0] : 0;
    }
    return status;
}

enum gm_status gm_gemm_packed(const struct gm_gemm_problem *problem, enum gm_gemm_operand operand,
                              struct gm_gemm_problem *packed, size_t *bytes) {
    struct gm_gemm_problem made;
    struct gm_permute_problem copy = {0};
    enum gm_status status = read_problem(problem, operand, &made, &copy);
    if (status == GM_OK)
        status = gm_struct_check_output(packed, gm_operation_gemm.problem_bytes_least, sizeof *packed, "packed");
    if (status == GM_OK && !bytes)
        status = gm_fail(GM_ERROR_INVALID_ARGUMENT, "bytes is NULL");
    if (status != GM_OK)
        return status;
    *bytes = (size_t)gm_gemm_copy_bytes(&copy);
    if (*bytes > 0)
        gm_gemm_take_copy(&made, operand, &copy);
    GM_OUTPUT(packed, &made);
    return GM_OK;
}

enum gm_status gm_gemm_pack(gm_context *context, const struct gm_gemm_problem *problem, enum gm_gemm_operand operand,
                            gm_device_ptr x, gm_device_ptr out, void *stream) {
    const struct gm_permute_args args = {.size = sizeof args, .x = x, .out = out};
    struct gm_gemm_problem given;
    struct gm_permute_problem copy = {0};
    const enum gm_status status = read_problem(problem, operand, &given, &copy);
    if (status != GM_OK)
        return status;
    if (gm_gemm_copy_bytes(&copy) == 0)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "%s lies as every kernel takes it, or is empty: there is nothing to pack",
                       operand == GM_GEMM_A ? "a" : "b");
    return gm_plan_and_execute(&gm_operation_permute, context, &copy, &args, stream);
}
