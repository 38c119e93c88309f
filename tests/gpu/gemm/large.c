/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of more than 2^31 elements and 4 GiB: sampled rows and columns of D, and the guard around it. */
#include <stdlib.h>
#include <string.h>

#include "gemm/gemm_tests.h"

/* The long operand repeats a block of this many rows. A prime, so that an address that lost its upper bits reads
 * other numbers than it should. */
enum { BLOCK_ROWS = 1021, GUARD_BYTES = 1 << 16, SAMPLES = 48 };

struct large {
    enum gm_type type, d_type; /* of A and B, of D */
    int64_t m, n, k;
    CUdeviceptr a, b, d; /* d is inside d_base's guards */
    CUdeviceptr d_base;
    size_t d_bytes;
};

static float value(enum gm_type type, int operand, int64_t row, int64_t k, int64_t k_size) {
    return logical_element(opt.seed, INTEGER, type, operand, row % BLOCK_ROWS, k, k_size);
}

struct block {
    uint8_t *image;
    enum gm_type type;
    int64_t k;
    int operand;
};

static void fill_block(int64_t first, int64_t last, void *arg) {
    const struct block *block = arg;
    for (int64_t row = first; row < last; row++)
        for (int64_t k = 0; k < block->k; k++)
            store_bits(block->image + (row * block->k + k) * gm_type_bytes(block->type), block->type,
                       double_to_bits(block->type, value(block->type, block->operand, row, k, block->k)));
}

/* `rows` rows of K elements, packed: one block from the host, then doubled on the device. */
static CUdeviceptr make_operand(struct result *result, enum gm_type type, int operand, int64_t rows, int64_t k) {
    CUdeviceptr base = 0;
    const int64_t first = rows < BLOCK_ROWS ? rows : BLOCK_ROWS;
    const size_t total = (size_t)(rows * k * gm_type_bytes(type));
    size_t have = (size_t)(first * k * gm_type_bytes(type));
    struct block block = {malloc(have), type, k, operand};
    if (!block.image)
        exit(2);
    parallel_for(first, 10.0 * (double)(first * k), fill_block, &block);
    bool ok = check_cuda(result, env.drv->cuMemAlloc(&base, total), "cuMemAlloc") &&
              to_device(result, base, block.image, have);
    free(block.image);
    for (; ok && have < total; have *= 2)
        ok = check_cuda(result, env.drv->cuMemcpyDtoD(base + have, base, have < total - have ? have : total - have),
                        "cuMemcpyDtoD");
    return ok ? base : 0;
}

static double dot(const struct large *large, int64_t m, int64_t n) {
    double sum = 0;
    for (int64_t k = 0; k < large->k; k++)
        sum += (double)value(large->type, 0, m, k, large->k) * value(large->type, 1, n, k, large->k);
    return sum;
}

/* First, last, the rows on either side of 2^31 elements of `pitch` and of 4 GiB, and random ones. */
static int64_t sample(int i, int64_t rows, int64_t pitch) {
    const int64_t at_31 = (INT64_C(1) << 31) / pitch;
    const int64_t fixed[] = {0, rows - 1, at_31 - 1, at_31, at_31 + 1, at_31 / 2 - 1, at_31 / 2, at_31 / 2 + 1};
    const int64_t row =
        i < (int)COUNT(fixed) ? fixed[i] : (int64_t)(hash64(opt.seed ^ 0x1a6, (uint64_t)i) % (uint64_t)rows);
    return row < rows ? row : rows - 1;
}

static bool check_element(struct result *result, const struct large *large, int64_t m, int64_t n, uint32_t got) {
    const uint32_t want = double_to_bits(large->d_type, dot(large, m, n));
    if (got == want || bits_to_double(large->d_type, got) == bits_to_double(large->d_type, want))
        return true;
    fail(result, "D[%lld, %lld] = %g (0x%x), want %g", (long long)m, (long long)n, bits_to_double(large->d_type, got),
         got, bits_to_double(large->d_type, want));
    return false;
}

/* As many elements of row m as cost about two million products, the last one among them. */
static bool check_row(struct result *result, const struct large *large, int64_t m, uint8_t *row) {
    const int64_t bytes = gm_type_bytes(large->d_type), last = large->n - 1;
    const CUdeviceptr at = large->d + (CUdeviceptr)(m * large->n * bytes);
    const int64_t step = (large->n * large->k >> 21) | 1;
    if (!check_cuda(result, env.drv->cuMemcpyDtoH(row, at, (size_t)(large->n * bytes)), "cuMemcpyDtoH"))
        return false;
    for (int64_t n = 0; n < large->n; n += step)
        if (!check_element(result, large, m, n, load_bits(row + n * bytes, large->d_type)))
            return false;
    return check_element(result, large, m, last, load_bits(row + last * bytes, large->d_type));
}

static bool check_guard(struct result *result, CUdeviceptr at, const char *side) {
    static uint8_t bytes[GUARD_BYTES];
    if (!check_cuda(result, env.drv->cuMemcpyDtoH(bytes, at, GUARD_BYTES), "cuMemcpyDtoH"))
        return false;
    for (size_t i = 0; i < GUARD_BYTES; i++)
        if (bytes[i] != POISON) {
            fail(result, "wrote %s D, at byte %zu of the guard", side, i);
            return false;
        }
    return true;
}

static bool execute_and_check(struct result *result, const struct large *large, uint32_t mask, int64_t pitch,
                              bool by_row) {
    const struct gm_gemm_problem problem = {.size = sizeof problem,
                                            .m = large->m,
                                            .n = large->n,
                                            .k = large->k,
                                            .ab_type = large->type,
                                            .d_type = large->d_type};
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = mask};
    const struct gm_gemm_args args = {.size = sizeof args, .a = large->a, .b = large->b, .d = large->d};
    gm_plan *plan = NULL;
    bool ok = check_ok(result, gm_gemm_plan_create(env.context, &problem, &options, &plan), "plan") &&
              check_ok(result, gm_gemm_execute(plan, &args, env.stream), "execute") &&
              check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "kernel");
    gm_plan_destroy(plan);
    const int64_t row_bytes = large->n * gm_type_bytes(large->d_type);
    uint8_t *row = malloc((size_t)row_bytes);
    for (int i = 0; ok && row && i < SAMPLES; i++) {
        heartbeat("checking sampled rows");
        ok = check_row(result, large, by_row ? sample(i, large->m, pitch) : i * (large->m - 1) / (SAMPLES - 1), row);
    }
    free(row);
    return ok && check_guard(result, large->d_base, "above") &&
           check_guard(result, large->d + (CUdeviceptr)(large->m * row_bytes), "below");
}

static bool make_d(struct result *result, struct large *large) {
    large->d_bytes = (size_t)(large->m * large->n * gm_type_bytes(large->d_type)) + 2 * GUARD_BYTES;
    if (!check_cuda(result, env.drv->cuMemAlloc(&large->d_base, large->d_bytes), "cuMemAlloc"))
        return false;
    large->d = large->d_base + GUARD_BYTES;
    return check_cuda(result, env.drv->cuMemsetD8(large->d_base, POISON, large->d_bytes), "cuMemsetD8") &&
           check_cuda(result, env.drv->cuCtxSynchronize(), "cuCtxSynchronize"); /* env.stream does not wait for these */
}

static void run_large(const struct test *test, struct result *result, struct large large, int64_t pitch, bool by_row) {
    const double need =
        gm_type_bytes(large.type) * ((double)large.m * (double)large.k + (double)large.n * (double)large.k) +
        gm_type_bytes(large.d_type) * (double)large.m * (double)large.n + (1 << 28);
    size_t free_bytes = 0, total_bytes = 0;
    if (test->mask == GM_ARCH_SM90 && (env.device.cc_major != 9 || env.device.cc_minor != 0)) {
        skip(result, "no sm90 row runs on compute capability %d.%d", env.device.cc_major, env.device.cc_minor);
        return;
    }
    if (opt.quick || opt.self_test || env.simulated) {
        skip(result, env.simulated ? "more than a simulated GPU can do" : "not in a quick run");
        return;
    }
    env.drv->cuMemGetInfo(&free_bytes, &total_bytes);
    if ((double)free_bytes < need) {
        skip(result, "needs %.1f GB of device memory, %.1f are free", need * 1e-9, (double)free_bytes * 1e-9);
        return;
    }
    heartbeat("filling operands");
    large.a = make_operand(result, large.type, 0, large.m, large.k);
    large.b = make_operand(result, large.type, 1, large.n, large.k);
    if (large.a && large.b && make_d(result, &large))
        result->cases += execute_and_check(result, &large, test->mask, pitch, by_row);
    env.drv->cuMemFree(large.a);
    env.drv->cuMemFree(large.b);
    env.drv->cuMemFree(large.d_base);
}

/* What is long, and of what types. Pitch: of the rows that samples are taken of. */
static const struct {
    const char *name;
    struct large large;
    int64_t pitch;
    bool by_row;
} cases[] = {
    {"large_d", {.m = 33000, .n = 66000, .k = 64}, 66000, true},
    /* More rows than 2^22, and D past 2^31 bytes though not past 2^31 elements. */
    {"large_m", {.m = 5326464, .n = 256, .k = 48}, 256, true},
    {"large_a", {.m = 270000, .n = 64, .k = 8192}, 8192, true},
    /* B's long dimension is N: D is narrow in M, and every column counts. */
    {"large_b", {.m = 24, .n = 270000, .k = 8192}, 8192, false},
    /* With an odd K, which TMA cannot take, and few enough rows of A for gemv on either path. */
    {"large_v", {.m = 2, .n = 270000, .k = 8191}, 8191, false},
    {"large_d_tf32", {.m = 33000, .n = 66000, .k = 64, .type = GM_TF32, .d_type = GM_FP32}, 66000, true},
    {"large_a_tf32", {.m = 270000, .n = 64, .k = 8192, .type = GM_TF32, .d_type = GM_FP32}, 8192, true},
    {"large_b_tf32", {.m = 24, .n = 270000, .k = 8192, .type = GM_TF32, .d_type = GM_FP32}, 8192, false},
    {"large_d_tf32x3", {.m = 33000, .n = 66000, .k = 64, .type = GM_TF32X3, .d_type = GM_FP32}, 66000, true},
    {"large_d_int8", {.m = 33000, .n = 66000, .k = 64, .type = GM_INT8, .d_type = GM_INT32}, 66000, true},
    {"large_a_int8", {.m = 270000, .n = 64, .k = 8192, .type = GM_INT8, .d_type = GM_INT32}, 8192, true},
    {"large_b_int8", {.m = 24, .n = 270000, .k = 8192, .type = GM_INT8, .d_type = GM_BF16}, 8192, false},
};

/* The test's name is the case's and an architecture's. */
static void run_case(const struct test *test, struct result *result) {
    for (size_t i = 0; i < COUNT(cases); i++) {
        const size_t length = strlen(cases[i].name);
        if (strncmp(test->name, cases[i].name, length) == 0 && strncmp(test->name + length, "_sm", 3) == 0)
            run_large(test, result, cases[i].large, cases[i].pitch, cases[i].by_row);
    }
}

void add_gemm_large_tests(void) {
    static const struct {
        const char *name;
        uint32_t mask;
    } paths[] = {{"sm80", GM_ARCH_SM80}, {"sm90", GM_ARCH_SM90}};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t p = 0; p < COUNT(paths); p++) {
            char name[32];
            snprintf(name, sizeof name, "%s_%s", cases[i].name, paths[p].name);
            add_test("api", name, run_case, -1, paths[p].mask);
        }
}
