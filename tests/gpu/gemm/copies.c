/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that TMA cannot load, copied into the workspace first: A, B or both, of every layout, with strides and
 * addresses of one element's alignment, bit for bit, and the bytes around the workspace. MN-major tf32, tf32x3 and int8
 * are turned. */
#include "gemm/gemm_tests.h"
#include "workspace.h"

enum { LIMIT = 8 << 20 };

static const struct size {
    int64_t m, n, k;
} sizes[] = {{72, 136, 264}, {75, 133, 67}, {129, 61, 191}, {20, 257, 7}};

/* Bit 0 of `odd`: A's rows begin anywhere; bit 1: B's. `step` elements: strides are odd multiples of it. */
static struct gemm_case case_of(const struct size *size, int i, int odd, int step) {
    struct gemm_case gc = {.m = size->m,
                           .n = size->n,
                           .k = size->k,
                           .ab_type = i % 5 == 2   ? (i % 2 ? GM_TF32X3 : GM_TF32)
                                      : i % 7 == 3 ? (i % 2 ? GM_E4M3 : GM_INT8)
                                                   : (enum gm_type)(i % 2),
                           .d_type = (enum gm_type)(i / 2 % 3),
                           .a_major = (enum gm_major)(i % 2),
                           .b_major = (enum gm_major)(i / 2 % 2),
                           .bias = (enum gm_bias)(i % 3),
                           .bias_type = GM_FP32,
                           .alpha = 1,
                           .beta = i % 4 == 3 ? 2 : 0,
                           .repeats = 1,
                           .may_refuse = BIT(GM_REASON_NO_IMAGE) | BIT(GM_REASON_SMEM)};
    const int64_t a_row = leading(&gc, 'a'), b_row = leading(&gc, 'b');
    gc.a_pad = (8 - a_row % 8) % 8 + (odd & 1 ? step : 8);
    gc.b_pad = (8 - b_row % 8) % 8 + (odd & 2 ? step : 8);
    gc.d_pad = (8 - gc.n % 8) % 8;
    gc.a_offset = odd & 1 ? i % 3 * step : 0;
    gc.b_offset = odd & 2 ? i % 2 * step : 0;
    return fit_type(&gc);
}

/* Rows that begin on no 16 bytes, or that wgmma wants turned. */
static bool is_copied(const struct gm_gemm_problem *p, enum gm_major major, int64_t stride, int align) {
    const bool turned = gm_type_bytes(p->ab_type) != 2 && major == GM_MN_MAJOR;
    return align < 16 || stride * gm_type_bytes(p->ab_type) % 16 || turned;
}

/* Whether the plan asks for room for a copy of each such operand. */
static bool asks_for_copies(struct result *result, const struct placed *placed, const struct gm_plan_options *options,
                            const char *what) {
    const struct gm_gemm_problem *p = &placed->problem;
    gm_plan *plan = NULL;
    if (gm_gemm_plan_create(env.context, p, options, &plan) != GM_OK)
        return true; /* run_call() says why */
    const int64_t elements = (is_copied(p, p->a_major, p->lda, p->a_align) ? p->m * p->k : 0) +
                             (is_copied(p, p->b_major, p->ldb, p->b_align) ? p->n * p->k : 0);
    const bool enough = gm_plan_workspace_bytes(plan) >= (size_t)(elements * gm_type_bytes(p->ab_type));
    gm_plan_destroy(plan);
    if (!enough)
        fail(result, "%s: the plan has no room for copies", what);
    return enough;
}

static void run_copies(const struct test *test, struct result *result) {
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = test->mask, .workspace_limit = LIMIT};
    struct buffers buffers = {0};
    struct guarded_workspace workspace = {0};
    struct placed placed;
    bool ok = true;
    for (int i = 0; i < (int)COUNT(sizes) * 4 * 3 && ok; i++) {
        const int odd = 1 + i % 3;
        const struct gemm_case gc = case_of(&sizes[i / 12], i / 3, odd, i % 5 == 4 ? 4 : i % 5 == 3 ? 2 : 1);
        char what[400];
        describe_gemm(&gc, what, sizeof what);
        heartbeat(what);
        ok = place_gemm(result, &gc, &buffers, &placed) && asks_for_copies(result, &placed, &options, what) &&
             run_call_with_workspace(result, &placed.call, &options, gc.repeats, gc.may_refuse, &workspace, i % 2,
                                     &placed.args.workspace, &placed.args.workspace_bytes, what);
    }
    arena_free(&workspace.arena);
    free_buffers(&buffers);
}

void add_gemm_copies_tests(void) {
    add_test("copies", "gemm", run_copies, -1, GM_ARCH_SM90);
}
