/* SPDX-License-Identifier: Apache-2.0 */
/* GM_PLAN_BATCH_INVARIANT: a row of A among others, at any place of any batch, gives the same bits of D; and all rows
 * of the table that such a plan may choose sum K in the same order. Inputs are N(0, 1), so that another order shows. */
#include <stdlib.h>
#include <string.h>

#include "gemm/gemm_tests.h"

struct batch {
    enum gm_type type;
    enum gm_major a_major, b_major;
    int64_t n, k, most_m; /* of M */
    bool odd;             /* K-major rows stand at no more than K, which may be no stride for TMA */
    enum gm_activation activation;
    enum gm_bias bias;
    bool amax; /* asked for, which takes kernels of extended epilogues and changes no bit of D */
    struct arena a, b, bias_values, d, largest;
    uint8_t *image; /* of A as the device has it: most_m rows, M-major with a stride of most_m */
    uint8_t *first; /* the anchor's row of D as it was alone */
};

static const enum gm_type types[] = {GM_BF16, GM_FP16, GM_FP32, GM_TF32, GM_TF32X3};

static enum gm_type type_of_d(const struct batch *batch) {
    return gm_type_bytes(batch->type) == 4 ? GM_FP32 : batch->type;
}

static int64_t up8(int64_t x) {
    return (x + 7) / 8 * 8;
}

static int64_t lda_of(const struct batch *batch) {
    return batch->a_major == GM_MN_MAJOR ? batch->most_m : batch->odd ? batch->k : up8(batch->k);
}

static int64_t ldb_of(const struct batch *batch) {
    return batch->b_major == GM_MN_MAJOR ? up8(batch->n) : batch->odd ? batch->k : up8(batch->k);
}

/* N(0, 1) in rows of `columns` elements; one in eight is a zero with the other sign. */
static void fill(uint8_t *bytes, int64_t count, uint64_t stream, enum gm_type type) {
    for (int64_t i = 0; i < count; i++) {
        const uint64_t at = (uint64_t)i;
        const double value = hash64(opt.seed ^ stream, at) % 8 ? hash_normal(opt.seed ^ stream, at) : -0.0;
        store_bits(bytes + gm_type_bytes(type) * i, type, double_to_bits(type, value));
    }
}

static CUdeviceptr place(struct result *result, struct arena *arena, int64_t count, uint64_t stream,
                         enum gm_type type) {
    const size_t total = (size_t)(count * gm_type_bytes(type));
    uint8_t *bytes = malloc(total);
    if (!bytes)
        exit(2);
    fill(bytes, count, stream, type);
    const CUdeviceptr at = arena_take(result, arena, total);
    const bool ok = at && to_device(result, at, bytes, total);
    free(bytes);
    return ok ? at : 0;
}

/* Random rows; the anchor, of stream 1, at row `anchor`. */
static CUdeviceptr place_a(struct result *result, struct batch *batch, int64_t m, int64_t anchor) {
    const int64_t step = batch->a_major == GM_K_MAJOR ? 1 : batch->most_m;
    const int64_t rows = batch->a_major == GM_K_MAJOR ? m : batch->k;
    const int64_t ld = lda_of(batch), bytes = gm_type_bytes(batch->type);
    uint8_t *row = malloc((size_t)(batch->k * bytes));
    if (!row)
        exit(2);
    fill(row, batch->k, 1, batch->type);
    fill(batch->image, rows * ld, 2 + (uint64_t)m, batch->type);
    for (int64_t k = 0; k < batch->k; k++)
        memcpy(batch->image + bytes * (step == 1 ? anchor * ld + k : k * ld + anchor), row + bytes * k, (size_t)bytes);
    free(row);
    const CUdeviceptr at = arena_take(result, &batch->a, (size_t)(rows * ld * bytes));
    return at && to_device(result, at, batch->image, (size_t)(rows * ld * bytes)) ? at : 0;
}

static struct gm_gemm_problem problem_of(const struct batch *batch, int64_t m) {
    return (struct gm_gemm_problem){.size = sizeof(struct gm_gemm_problem),
                                    .m = m,
                                    .n = batch->n,
                                    .k = batch->k,
                                    .ab_type = batch->type,
                                    .d_type = type_of_d(batch),
                                    .a_major = batch->a_major,
                                    .b_major = batch->b_major,
                                    .lda = lda_of(batch),
                                    .ldb = ldb_of(batch),
                                    .ldd = up8(batch->n),
                                    .activation = batch->activation,
                                    .bias = batch->bias,
                                    .bias_type = type_of_d(batch),
                                    .amax = batch->amax};
}

/* Row `row` of D of the planned product; false: it failed, or there is no such plan. */
static bool row_of_d(struct result *result, struct batch *batch, const struct gm_plan_options *options, CUdeviceptr a,
                     CUdeviceptr b, CUdeviceptr bias, int64_t m, int64_t row, uint8_t *into, char *what) {
    const struct gm_gemm_problem problem = problem_of(batch, m);
    const size_t bytes = (size_t)gm_type_bytes(batch->type), row_bytes = (size_t)problem.ldd * bytes;
    const CUdeviceptr d = arena_take(result, &batch->d, row_bytes * (size_t)m);
    const CUdeviceptr amax = arena_take(result, &batch->largest, sizeof(float));
    const struct gm_gemm_args args = {
        .size = sizeof args, .a = a, .b = b, .d = d, .bias = bias, .amax = batch->amax ? amax : 0};
    gm_plan *plan = NULL;
    const bool ok =
        d && amax && check_cuda(result, env.drv->cuMemsetD8(amax, 0, sizeof(float)), what) &&
        check_ok(result, gm_gemm_plan_create(env.context, &problem, options, &plan), what) &&
        check_ok(result, gm_gemm_execute(plan, &args, env.stream), what) &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), what) &&
        check_cuda(result, env.drv->cuMemcpyDtoH(into, d + row_bytes * (size_t)row, (size_t)batch->n * bytes), what);
    gm_plan_destroy(plan);
    return ok;
}

static void compare_rows(struct result *result, const struct batch *batch, const uint8_t *row, const char *what) {
    const size_t bytes = (size_t)gm_type_bytes(batch->type);
    for (int64_t n = 0; n < batch->n; n++) {
        const uint8_t *have = row + bytes * (size_t)n, *want = batch->first + bytes * (size_t)n;
        if (memcmp(have, want, bytes) != 0) {
            fail(result, "%s: column %lld is %.9g, alone it was %.9g", what, (long long)n,
                 bits_to_double(batch->type, load_bits(have, batch->type)),
                 bits_to_double(batch->type, load_bits(want, batch->type)));
            return;
        }
    }
    result->cases++;
}

static void begin(struct batch *batch) {
    const size_t bytes = (size_t)gm_type_bytes(batch->type);
    batch->image = malloc(
        (size_t)(batch->a_major == GM_K_MAJOR ? batch->most_m * up8(batch->k) : batch->k * batch->most_m) * bytes);
    batch->first = calloc((size_t)batch->n, bytes);
    if (!batch->image || !batch->first)
        exit(2);
}

static void end(struct batch *batch) {
    struct arena *const arenas[] = {&batch->a, &batch->b, &batch->bias_values, &batch->d, &batch->largest};
    for (size_t i = 0; i < COUNT(arenas); i++)
        if (arenas[i]->base)
            env.drv->cuMemFree(arenas[i]->base);
    free(batch->image);
    free(batch->first);
}

/* ---- any place of any batch -------------------------------------------------------------------------- */

/* Of the sizes of M, those up to most_m. */
static void run_batch(struct result *result, struct batch *batch, uint32_t mask, const int64_t *sizes, size_t count) {
    const struct gm_plan_options options = {.size = sizeof options,
                                            .arch_mask = mask,
                                            .flags = GM_PLAN_BATCH_INVARIANT,
                                            .workspace_limit = (size_t)64 << 20};
    begin(batch);
    uint8_t *row = malloc((size_t)(batch->n * gm_type_bytes(batch->type)));
    const struct gm_gemm_problem p = problem_of(batch, 1);
    const CUdeviceptr b =
        place(result, &batch->b, p.ldb * (batch->b_major == GM_K_MAJOR ? batch->n : batch->k), 7, batch->type);
    const CUdeviceptr bias = batch->bias ? place(result, &batch->bias_values, batch->n, 8, batch->type) : 0;
    for (size_t i = 0; i < count && row && b && sizes[i] <= batch->most_m && result->state == PASSED; i++) {
        const int64_t m = sizes[i], anchor = (int64_t)(hash64(opt.seed, i) % (uint64_t)m);
        char what[120];
        snprintf(what, sizeof what, "row %lld of %lld x %lld x %lld", (long long)anchor, (long long)m,
                 (long long)batch->n, (long long)batch->k);
        heartbeat(what);
        const CUdeviceptr a = place_a(result, batch, m, anchor);
        if (a && row_of_d(result, batch, &options, a, b, bias, m, anchor, i ? row : batch->first, what) && i > 0)
            compare_rows(result, batch, row, what);
    }
    free(row);
    end(batch);
}

/* K and N of one k-block, of many, ragged; where TMA loads, and, with the odd strides of K = 203, where it does not. */
static void run_batches(const struct test *test, struct result *result) {
    static const int64_t sizes[][2] = {{264, 520}, {2112, 7168}, {768, 4096}, {40, 24}, {96, 203}};
    static const int64_t rows[] = {1,   2,   3,   8,   16,  17,  33,  64,  65,   96,   128,  129,
                                   136, 192, 200, 256, 257, 384, 512, 777, 1024, 2500, 4096, 16384};
    if (opt.self_test) {
        skip(result, "the stand-in's sums are the CPU's");
        return;
    }
    for (size_t i = 0; i < COUNT(sizes) && result->state == PASSED; i++)
        for (int layout = 0; layout < 4 && result->state == PASSED; layout++) {
            struct batch batch = {.type = types[((size_t)layout + i + 1) % COUNT(types)],
                                  .a_major = (enum gm_major)(layout & 1),
                                  .b_major = (enum gm_major)(layout >> 1),
                                  .n = env.simulated && sizes[i][0] > 264 ? 72 : sizes[i][0],
                                  .k = env.simulated && sizes[i][1] > 520 ? 264 : sizes[i][1],
                                  .most_m = env.simulated || (opt.quick && i) ? 136
                                            : i == 0                          ? 16384
                                                                              : 1024,
                                  .activation = i == 2 ? GM_ACT_GELU_TANH : GM_ACT_NONE,
                                  .bias = i == 2 ? GM_BIAS_N : GM_BIAS_NONE,
                                  .odd = sizes[i][1] % 8 != 0};
            run_batch(result, &batch, test->mask, rows, COUNT(rows));
        }
}

/* No M is special: every one from 1 to past 256, at which tiles, waves and families of kernels change. */
static void run_every_m(const struct test *test, struct result *result) {
    enum { MOST = 257 };
    int64_t rows[MOST];
    if (opt.self_test) {
        skip(result, "the stand-in's sums are the CPU's");
        return;
    }
    for (int64_t m = 1; m <= MOST; m++)
        rows[m - 1] = m;
    struct batch batch = {
        .type = GM_BF16, .n = env.simulated ? 72 : 264, .k = env.simulated ? 136 : 520, .most_m = MOST};
    run_batch(result, &batch, test->mask, rows, COUNT(rows));
}

/* ---- every row of the table -------------------------------------------------------------------------- */

/* Rows of gemm of one architecture, type and layout, by name: what a plan chooses among. */
static void run_table(const struct test *test, struct result *result) {
    if (opt.self_test) {
        skip(result, "the stand-in's sums are the CPU's");
        return;
    }
    if (test->mask == GM_ARCH_SM90 && (env.device.cc_major != 9 || env.device.cc_minor != 0)) {
        skip(result, "no sm90 row runs on compute capability %d.%d", env.device.cc_major, env.device.cc_minor);
        return;
    }
    for (int kind = 0; kind < 4 * (int)COUNT(types); kind++) {
        struct batch batch = {.type = types[kind / 4],
                              .a_major = (enum gm_major)(kind & 1),
                              .b_major = (enum gm_major)(kind >> 1 & 1),
                              .n = env.simulated ? 40 : 1032,
                              .k = env.simulated ? 136 : 2056,
                              .most_m = env.simulated ? 8 : 128};
        begin(&batch);
        uint8_t *row = malloc((size_t)(batch.n * gm_type_bytes(batch.type)));
        const struct gm_gemm_problem p = problem_of(&batch, 1);
        const CUdeviceptr b =
            place(result, &batch.b, p.ldb * (batch.b_major == GM_K_MAJOR ? batch.n : batch.k), 7, batch.type);
        const CUdeviceptr a = place_a(result, &batch, batch.most_m, 5);
        bool have = false;
        for (size_t i = 0; i < gm_kernel_count() && row && a && b; i++) {
            struct variant variant;
            if (!read_variant(i, &variant) || variant.kernel.arch != test->mask || variant.kernel.type != batch.type ||
                variant.gemm.a_major != batch.a_major || variant.gemm.b_major != batch.b_major ||
                variant.gemm.cluster_k > 1 || variant.gemm.warp_k > 1 || variant.gemm.split_k || variant.gemm.gate ||
                is_gemv(&variant))
                continue;
            const struct gm_plan_options options = {
                .size = sizeof options, .kernel = variant.kernel.name, .flags = GM_PLAN_BATCH_INVARIANT};
            char what[120];
            snprintf(what, sizeof what, "%s", variant.kernel.name);
            heartbeat(what);
            batch.amax = variant.gemm.extended;
            if (row_of_d(result, &batch, &options, a, b, 0, batch.most_m, 5, have ? row : batch.first, what) && have)
                compare_rows(result, &batch, row, what);
            have = true;
        }
        free(row);
        end(&batch);
    }
}

void add_gemm_invariance_tests(void) {
    add_test("invariance", "batches_sm90", run_batches, -1, 0);
    add_test("invariance", "batches_sm80", run_batches, -1, GM_ARCH_SM80);
    add_test("invariance", "a_row_has_the_same_bits_for_every_m_to_257_sm90", run_every_m, -1, 0);
    add_test("invariance", "a_row_has_the_same_bits_for_every_m_to_257_sm80", run_every_m, -1, GM_ARCH_SM80);
    add_test("invariance", "table_sm90", run_table, -1, GM_ARCH_SM90);
    add_test("invariance", "table_sm80", run_table, -1, GM_ARCH_SM80);
}
