/* SPDX-License-Identifier: Apache-2.0 */
/* bmm: a b of every matrix of a batch, by GEMM. */
#include "plans.h"

#include <string.h>

RUNS_BY_PLAN(gemm, WITH_WORKSPACE)

enum { A, B, FP32_OUT, BATCH_INVARIANT, PRECISION };

static bool has_three_dimensions(struct call *call, int argument, const char *sizes) {
    const struct tensor *tensor = call_tensor(call, argument);
    return tensor->rank == 3 || call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s has %d dimensions and must have 3: %s",
                                          call->signature->arguments[argument].name, tensor->rank, sizes);
}

static bool shape(struct call *call) {
    const struct tensor *a = call_tensor(call, A), *b = call_tensor(call, B);
    if (!has_three_dimensions(call, A, "batch, m, k") || !has_three_dimensions(call, B, "batch, k, n")) {
        return false;
    }
    call_output_like(call, 0, a, call->in[FP32_OUT].integer ? GM_FP32 : a->type, b->size[2]);
    if (a->size[0] == 1) { /* one for all */
        call->out[0].size[0] = b->size[0];
    }
    return (b->size[0] == 1 || call_size(call, B, 0, call->out[0].size[0])) && call_size(call, B, 1, a->size[2]) &&
           call_type(call, B, a->type);
}

static int64_t stride_of(const struct tensor *t, int dimension) {
    return t->size[dimension] > 1 && tensor_elements(t) > 0 ? t->stride[dimension] : 0;
}

/* Matrices as they lie: their elements are neighbours along k, dimension `along_k`, or along the other. */
static bool read_matrices(struct call *call, int argument, int along_k, enum gm_major *major, int64_t *leading,
                          int64_t *batch) {
    const struct tensor *t = call_tensor(call, argument);
    const int other = 3 - along_k;
    const bool is_k_major = stride_of(t, along_k) <= 1;
    *major = is_k_major ? GM_K_MAJOR : GM_MN_MAJOR;
    *leading = stride_of(t, is_k_major ? other : along_k);
    *batch = stride_of(t, 0);
    return is_k_major || stride_of(t, other) <= 1 ||
           call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s has strides %lld and %lld in its matrices and one must be 1",
                     call->signature->arguments[argument].name, (long long)t->stride[1], (long long)t->stride[2]);
}

/* There is no C, but a plan is of any: its strides are D's, so that a batch may be planned as one product. */
static bool read_out(struct call *call, struct gm_gemm_problem *problem) {
    const struct tensor *out = &call->out[0];
    problem->ldc = problem->ldd = stride_of(out, 1);
    problem->c_batch_stride = problem->d_batch_stride = stride_of(out, 0);
    return tensor_is_dense_last(out) ||
           call_fail(call, GM_ERROR_INVALID_ARGUMENT, "out has a last dimension of stride %lld and must have 1",
                     (long long)out->stride[2]);
}

static bool run(struct call *call) {
    const struct tensor *a = call_tensor(call, A), *b = call_tensor(call, B), *out = &call->out[0];
    struct gm_gemm_problem problem;
    memset(&problem, 0, sizeof problem);
    struct gm_gemm_args args = {.size = sizeof args, .a = a->data, .b = b->data, .d = out->data};
    problem.size = sizeof problem;
    problem.batch = out->size[0];
    problem.m = out->size[0] > 0 ? a->size[1] : 0; /* no product: 0 rows of one */
    problem.n = b->size[2];
    problem.k = a->size[2];
    problem.d_type = out->type;
    problem.a_align = tensor_align(a);
    problem.b_align = tensor_align(b);
    problem.d_align = tensor_align(out);
    return call_precision(call, PRECISION, a->type, &problem.ab_type) &&
           read_matrices(call, A, 2, &problem.a_major, &problem.lda, &problem.a_batch_stride) &&
           read_matrices(call, B, 1, &problem.b_major, &problem.ldb, &problem.b_batch_stride) &&
           read_out(call, &problem) &&
           run_gemm(call, &problem, call->in[BATCH_INVARIANT].integer ? GM_PLAN_BATCH_INVARIANT : 0u, &args);
}

const struct tensor_operation operation_bmm = {
    .schema =
        "bmm(Tensor a, Tensor b, bool fp32_out=False, bool batch_invariant=False, str precision=\"fp32\") -> Tensor",
    .shape = shape,
    .run = run};
