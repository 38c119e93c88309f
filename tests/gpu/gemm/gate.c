/* SPDX-License-Identifier: Apache-2.0 */
/* Gates and ups: where no kernel makes D of them at once, by a GEMM and a GLU; and a row's bits, which are the same in every
 * kernel that does, for every number of rows. */
#include <stdlib.h>
#include <string.h>

#include "gemm/gemm_tests.h"
#include "host/plan.h"
#include "workspace.h"

enum { LIMIT = 8 << 20 };

/* ---- sequences ---------------------------------------------------------------------------------------- */

static const struct size {
    int64_t m, n, k;
} sizes[] = {{72, 144, 264}, {1, 2, 7}, {33, 122, 67}, {129, 62, 192}, {20, 514, 1}, {5, 48, 0}};

static struct gemm_case case_of(int i) {
    const struct size *size = &sizes[i % (int)COUNT(sizes)];
    struct gemm_case gc = {.m = size->m,
                           .n = size->n,
                           .k = size->k,
                           .ab_type = (enum gm_type)(i / 2 % 2),
                           .d_type = (enum gm_type)(i % 3),
                           .a_major = (enum gm_major)(i / 3 % 2),
                           .b_major = (enum gm_major)(i / 5 % 2),
                           .bias = i % 2 ? GM_BIAS_N : GM_BIAS_NONE,
                           .bias_type = GM_FP32,
                           .alpha = i % 4 == 3 ? -0.5f : 1,
                           .gate = i % 2 ? GM_GATE_HALVES : GM_GATE_PAIRS,
                           .activation = (enum gm_activation)(i % 5),
                           .limit = i % 3 == 1 ? 7 : 0,
                           .sigmoid_factor = i % 5 == 4 ? 1.702f : 0,
                           .up_offset = i % 3 == 1 ? 1 : 0,
                           .inputs = i % 2 ? NORMAL : INTEGER,
                           .repeats = 1,
                           .may_refuse = BIT(GM_REASON_NO_IMAGE) | BIT(GM_REASON_SMEM)};
    gc.a_pad = (8 - leading(&gc, 'a') % 8) % 8 + i % 2;
    gc.b_pad = (8 - leading(&gc, 'b') % 8) % 8;
    gc.d_pad = i % 3;
    gc.d_offset = i % 4;
    return gc;
}

/* Whether gates and ups are rounded on their way. */
static bool is_sequence(const struct placed *placed, const struct gm_plan_options *options) {
    gm_plan *plan = NULL;
    if (gm_gemm_plan_create(env.context, &placed->problem, options, &plan) != GM_OK)
        return false; /* run_call() says why */
    const bool found = plan->steps != NULL;
    gm_plan_destroy(plan);
    return found;
}

static void run_sequences(const struct test *test, struct result *result) {
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = test->mask, .workspace_limit = LIMIT};
    struct buffers buffers = {0};
    struct guarded_workspace workspace = {0};
    struct placed placed;
    bool ok = true;
    for (int i = 0; i < (opt.quick ? 30 : 90) && ok; i++) {
        struct gemm_case gc = case_of(i);
        char what[400];
        describe_gemm(&gc, what, sizeof what);
        heartbeat(what);
        ok = place_gemm(result, &gc, &buffers, &placed);
        gc.rounded_sums = ok && is_sequence(&placed, &options);
        ok = ok && run_call_with_workspace(result, &placed.call, &options, gc.repeats, gc.may_refuse, &workspace, i % 2,
                                           &placed.args.workspace, &placed.args.workspace_bytes, what);
    }
    arena_free(&workspace.arena);
    free_buffers(&buffers);
}

/* ---- one row's bits ------------------------------------------------------------------------------------- */

enum { ROW = 2, COLUMNS = 152, DEPTH = 328 };

static struct gemm_case rows_of(int64_t m) {
    return (struct gemm_case){.m = m,
                              .n = 2 * COLUMNS,
                              .k = DEPTH,
                              .bias = GM_BIAS_N,
                              .bias_type = GM_FP32,
                              .alpha = 0.75f,
                              .gate = GM_GATE_HALVES,
                              .activation = GM_ACT_SILU,
                              .inputs = NORMAL};
}

static bool row_bits(struct result *result, int64_t m, const char *kernel, struct buffers *buffers,
                     uint16_t bits[COLUMNS]) {
    const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel, .flags = GM_PLAN_BATCH_INVARIANT};
    const struct gemm_case gc = rows_of(m);
    struct placed placed;
    gm_plan *plan = NULL;
    char what[400];
    describe_gemm(&gc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_gemm(result, &gc, buffers, &placed) &&
                    check_ok(result, gm_gemm_plan_create(env.context, &placed.problem, &options, &plan), what) &&
                    check_ok(result, gm_gemm_execute(plan, &placed.args, env.stream), what) &&
                    check_cuda(result, env.drv->cuStreamSynchronize(env.stream), what) &&
                    check_output(result, &placed.call, what) &&
                    check_cuda(result,
                               env.drv->cuMemcpyDtoH(bits, placed.args.d + (uint64_t)placed.problem.ldd * ROW * 2,
                                                     COLUMNS * sizeof *bits),
                               what);
    gm_plan_destroy(plan);
    return ok;
}

static bool compare(struct result *result, const uint16_t *first, const uint16_t *bits, int64_t m, const char *kernel) {
    if (memcmp(first, bits, COLUMNS * sizeof *bits) == 0)
        return ++result->cases;
    fail(result, "a row of %lld by %s has other bits", (long long)m, kernel ? kernel : "the planner's choice");
    return false;
}

static void run_rows(const struct test *test, struct result *result) {
    static const int64_t most[] = {3, 64, 65, 129, 300, 777};
    uint16_t first[COLUMNS], bits[COLUMNS];
    struct buffers buffers = {0};
    (void)test;
    if (opt.self_test || env.device.cc_major != 9) {
        skip(result, "these rows want compute capability 9.0, and sums of their own");
        return;
    }
    bool ok = row_bits(result, most[0], NULL, &buffers, first);
    for (size_t i = 1; i < COUNT(most) && ok; i++)
        ok = row_bits(result, most[i], NULL, &buffers, bits) && compare(result, first, bits, most[i], NULL);
    for (size_t i = 0; i < gm_kernel_count() && ok; i++) {
        struct variant variant;
        if (read_variant(i, &variant) && variant.gemm.gate && !variant.gemm.extended && variant.kernel.type == GM_BF16)
            ok = row_bits(result, 140, variant.kernel.name, &buffers, bits) &&
                 compare(result, first, bits, 140, variant.kernel.name);
    }
    free_buffers(&buffers);
}

void add_gemm_gate_tests(void) {
    add_test("gate", "sequences_sm80", run_sequences, -1, GM_ARCH_SM80);
    add_test("gate", "sequences_sm90", run_sequences, -1, 0);
    add_test("gate", "a_row_has_the_same_bits", run_rows, -1, 0);
}
