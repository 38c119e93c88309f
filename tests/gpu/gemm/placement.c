/* SPDX-License-Identifier: Apache-2.0 */
/* Where operands lie: D in the gaps between A's rows, and strides of 2^29 to 2^33 elements, which leave 32 bits in
 * every way that an offset may be counted. Memory between the rows is never touched, so the simulated GPU can hold
 * them. */
#include <stdlib.h>

#include "gemm/gemm_tests.h"

static bool no_such_path(const struct test *test, struct result *result) {
    if (test->mask != GM_ARCH_SM90 || env.device.cc_major == 9)
        return false;
    skip(result, "no sm90 row runs on compute capability %d.%d", env.device.cc_major, env.device.cc_minor);
    return true;
}

/* ---- a matrix in device memory ------------------------------------------------------------------------ */

/* Rows of 16-bit elements. */
struct matrix {
    CUdeviceptr at;
    int64_t rows, columns, stride;
};

typedef double element_of(const struct logical *logical, int64_t row, int64_t column);

static double a_by_rows(const struct logical *l, int64_t row, int64_t column) {
    return l->a[row * l->k + column];
}
static double a_by_columns(const struct logical *l, int64_t row, int64_t column) {
    return l->a[column * l->k + row];
}
static double b_by_rows(const struct logical *l, int64_t row, int64_t column) {
    return l->b[row * l->n + column];
}
static double b_by_columns(const struct logical *l, int64_t row, int64_t column) {
    return l->b[column * l->n + row];
}
static double c_by_rows(const struct logical *l, int64_t row, int64_t column) {
    (void)l;
    return (double)(row % 3 * 5 + column % 7 - 3);
}

static bool upload(struct result *result, const struct matrix *x, const struct logical *logical, element_of *element) {
    uint8_t *row = malloc((size_t)x->columns * 2);
    bool ok = row != NULL;
    for (int64_t r = 0; r < x->rows && ok; r++) {
        for (int64_t c = 0; c < x->columns; c++)
            store_bits(row + 2 * c, GM_BF16, double_to_bits(GM_BF16, element(logical, r, c)));
        ok = to_device(result, x->at + (CUdeviceptr)(r * x->stride * 2), row, (size_t)x->columns * 2);
    }
    free(row);
    return ok;
}

/* Every element of `x` is what it shall be; `what` begins the sentence. */
static bool check(struct result *result, const struct matrix *x, const struct logical *logical, element_of *element,
                  const char *what) {
    uint8_t *row = malloc((size_t)x->columns * 2);
    bool ok = row != NULL;
    for (int64_t r = 0; r < x->rows && ok; r++) {
        ok = check_cuda(
            result, env.drv->cuMemcpyDtoH(row, x->at + (CUdeviceptr)(r * x->stride * 2), (size_t)x->columns * 2), what);
        for (int64_t c = 0; c < x->columns && ok; c++) {
            const uint32_t got = load_bits(row + 2 * c, GM_BF16);
            const double want = round_to(GM_BF16, element(logical, r, c));
            ok = bits_to_double(GM_BF16, got) == want;
            if (!ok)
                fail(result, "%s: element (%lld, %lld) is %g (0x%x), want %g", what, (long long)r, (long long)c,
                     bits_to_double(GM_BF16, got), got, want);
        }
    }
    free(row);
    return ok;
}

static double d_without_c(const struct logical *l, int64_t row, int64_t column) {
    return l->acc[row * l->n + column];
}
static double d_with_c(const struct logical *l, int64_t row, int64_t column) {
    return d_without_c(l, row, column) + c_by_rows(l, row, column);
}

/* ---- D in the gaps of A's rows ------------------------------------------------------------------------ */

enum { GAP_M = 150, GAP_N = 72, GAP_K = 136, CHUNK = 8 };

struct gaps {
    struct matrix a, b, d; /* D's rows fill the gaps between A's to the last element */
    const struct logical *logical;
    gm_plan *plan;
};

static bool set_up_gaps(struct result *result, struct gaps *g, struct arena arenas[2], uint32_t mask) {
    const struct gm_gemm_problem problem = {
        .size = sizeof problem, .m = GAP_M, .n = GAP_N, .k = GAP_K, .lda = GAP_K + GAP_N, .ldd = GAP_K + GAP_N};
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = mask};
    const CUdeviceptr both = arena_take(result, &arenas[0], (size_t)(GAP_M + 1) * (GAP_K + GAP_N) * 2);
    const CUdeviceptr b = arena_take(result, &arenas[1], (size_t)GAP_N * GAP_K * 2);
    g->logical = logical_operands(GAP_M, GAP_N, GAP_K, INTEGER, GM_BF16, GM_BF16);
    g->a = (struct matrix){both, GAP_M, GAP_K, problem.lda};
    g->b = (struct matrix){b, GAP_N, GAP_K, GAP_K};
    g->d = (struct matrix){both + GAP_K * 2, GAP_M, GAP_N, problem.ldd};
    return both && b && upload(result, &g->a, g->logical, a_by_rows) &&
           upload(result, &g->b, g->logical, b_by_columns) &&
           check_ok(result, gm_gemm_plan_create(env.context, &problem, &options, &g->plan), "plan");
}

/* A chunk earlier D's rows would begin in A's, a chunk later they would end in the next of A's. */
static void refuse_shifted(struct result *result, const struct gaps *g, int64_t chunks) {
    const struct gm_gemm_args args = {
        .size = sizeof args, .a = g->a.at, .b = g->b.at, .d = g->d.at + (CUdeviceptr)(chunks * CHUNK * 2)};
    const enum gm_status status = gm_gemm_execute(g->plan, &args, env.stream);
    result->cases++;
    if (status != GM_ERROR_OVERLAP)
        fail(result, "D %lld chunks from the gaps: %s, want GM_ERROR_OVERLAP", (long long)chunks,
             gm_status_name(status));
}

static void run_gaps(const struct test *test, struct result *result) {
    struct arena arenas[2] = {{0}, {0}};
    struct gaps g = {.plan = NULL};
    if (no_such_path(test, result))
        return;
    if (set_up_gaps(result, &g, arenas, test->mask)) {
        refuse_shifted(result, &g, -1);
        refuse_shifted(result, &g, 1);
        const struct gm_gemm_args args = {.size = sizeof args, .a = g.a.at, .b = g.b.at, .d = g.d.at};
        result->cases += check(result, &g.a, g.logical, a_by_rows, "A after refused calls") &&
                         check_ok(result, gm_gemm_execute(g.plan, &args, env.stream), "execute") &&
                         check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "kernel") &&
                         check(result, &g.d, g.logical, d_without_c, "D between A's rows") &&
                         check(result, &g.a, g.logical, a_by_rows, "A beside D's rows");
    }
    gm_plan_destroy(g.plan);
    struct buffers buffers = {.a = arenas[0], .b = arenas[1]};
    free_buffers(&buffers);
}

/* ---- long strides -------------------------------------------------------------------------------------- */

/* The operand with the long stride has few rows: M = 3 of A, C and D, N = 3 of B, or K = 3 where K counts the rows. */
enum { FEW = 3, MANY = 80, LEAST_SHIFT = 29, MOST_SHIFT = 33, STRIDED = 6 };
enum strided { A_ROWS, A_COLUMNS, B_ROWS, B_COLUMNS, C_ROWS, D_ROWS };

struct strides {
    struct matrix a, b, c, d;
    struct gm_gemm_problem problem;
    const struct logical *logical;
    struct arena arenas[4];
};

static int64_t up8(int64_t x) {
    return (x + 7) / 8 * 8;
}

/* All packed, up to TMA's 16 bytes, but for the one. */
static void describe_strides(struct strides *s, enum strided which, int64_t stride) {
    const bool a_turned = which == A_COLUMNS, b_turned = which == B_COLUMNS;
    const int64_t m = which == A_ROWS || which == C_ROWS || which == D_ROWS ? FEW : MANY;
    const int64_t n = which == B_ROWS ? FEW : MANY, k = a_turned || b_turned ? FEW : MANY;
    s->a = a_turned ? (struct matrix){0, k, m, up8(m)} : (struct matrix){0, m, k, up8(k)};
    s->b = b_turned ? (struct matrix){0, k, n, up8(n)} : (struct matrix){0, n, k, up8(k)};
    s->c = s->d = (struct matrix){0, m, n, up8(n)};
    struct matrix *const of[STRIDED] = {&s->a, &s->a, &s->b, &s->b, &s->c, &s->d};
    of[which]->stride = stride;
    s->problem = (struct gm_gemm_problem){.size = sizeof s->problem,
                                          .m = m,
                                          .n = n,
                                          .k = k,
                                          .a_major = a_turned ? GM_MN_MAJOR : GM_K_MAJOR,
                                          .b_major = b_turned ? GM_MN_MAJOR : GM_K_MAJOR,
                                          .lda = s->a.stride,
                                          .ldb = s->b.stride,
                                          .ldc = s->c.stride,
                                          .ldd = s->d.stride};
    s->logical = logical_operands(m, n, k, INTEGER, GM_BF16, GM_BF16);
}

static bool place_strides(struct result *result, struct strides *s) {
    struct matrix *const all[] = {&s->a, &s->b, &s->c, &s->d};
    element_of *const elements[] = {s->problem.a_major == GM_K_MAJOR ? a_by_rows : a_by_columns,
                                    s->problem.b_major == GM_K_MAJOR ? b_by_columns : b_by_rows, c_by_rows, c_by_rows};
    bool ok = true;
    for (size_t i = 0; i < COUNT(all) && ok; i++) {
        const size_t bytes = (size_t)((all[i]->rows - 1) * all[i]->stride + all[i]->columns) * 2;
        all[i]->at = arena_take_exactly(result, &s->arenas[i], bytes);
        ok = all[i]->at && upload(result, all[i], s->logical, elements[i]);
    }
    return ok;
}

static bool run_strides_of(struct result *result, struct strides *s, const char *kernel, uint32_t mask) {
    static const float one = 1;
    const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel, .arch_mask = mask};
    const struct gm_gemm_args args = {
        .size = sizeof args, .a = s->a.at, .b = s->b.at, .c = s->c.at, .d = s->d.at, .beta = &one};
    char what[200];
    snprintf(what, sizeof what, "%lld x %lld x %lld, strides %lld %lld %lld %lld, %s", (long long)s->problem.m,
             (long long)s->problem.n, (long long)s->problem.k, (long long)s->a.stride, (long long)s->b.stride,
             (long long)s->c.stride, (long long)s->d.stride, kernel ? kernel : "the planner's choice");
    heartbeat(what);
    gm_plan *plan = NULL;
    const bool ok = check_ok(result, gm_gemm_plan_create(env.context, &s->problem, &options, &plan), what) &&
                    check_ok(result, gm_gemm_execute(plan, &args, env.stream), what) &&
                    check_cuda(result, env.drv->cuStreamSynchronize(env.stream), what) &&
                    check(result, &s->d, s->logical, d_with_c, what);
    gm_plan_destroy(plan);
    result->cases += ok;
    return ok;
}

/* The planner takes gemv where M is small; the first gemm row of the layout, of ordinary epilogues, is asked for as
 * well. */
static const char *gemm_row(const struct gm_gemm_problem *problem, uint32_t mask) {
    static struct variant variant;
    for (size_t i = 0; i < gm_kernel_count(); i++)
        if (read_variant(i, &variant) && variant.kernel.arch == mask && !is_gemv(&variant) && !variant.gemm.gate &&
            !variant.gemm.extended && variant.kernel.type == problem->ab_type &&
            variant.gemm.a_major == problem->a_major && variant.gemm.b_major == problem->b_major &&
            variant.kernel.smem_bytes <= env.device.smem_per_block_bytes)
            return variant.kernel.name;
    return NULL;
}

static void free_strides(struct strides *s) {
    struct buffers buffers = {.a = s->arenas[0], .b = s->arenas[1], .c = s->arenas[2], .d = s->arenas[3]};
    free_buffers(&buffers);
    *s = (struct strides){.logical = NULL};
}

static bool fits(struct result *result, int64_t stride) {
    size_t free_bytes = 0, total_bytes = 0;
    const double need = 2.0 * (FEW - 1) * (double)stride + (1 << 24);
    env.drv->cuMemGetInfo(&free_bytes, &total_bytes);
    if (need <= (double)free_bytes)
        return true;
    snprintf(result->note, sizeof result->note, "%.1f GB of device memory are free: no stride of %lld elements",
             (double)free_bytes * 1e-9, (long long)stride);
    return false;
}

static void run_strides(const struct test *test, struct result *result) {
    struct strides s = {.logical = NULL};
    if (no_such_path(test, result))
        return;
    if (opt.self_test) {
        skip(result, "the stand-in's memory is touched as a whole");
        return;
    }
    for (int shift = LEAST_SHIFT; shift <= MOST_SHIFT && result->state == PASSED; shift++)
        for (int which = 0; which < STRIDED && result->state == PASSED && fits(result, INT64_C(1) << shift); which++) {
            describe_strides(&s, (enum strided)which, INT64_C(1) << shift);
            if (place_strides(result, &s) && run_strides_of(result, &s, NULL, test->mask))
                run_strides_of(result, &s, gemm_row(&s.problem, test->mask), test->mask);
            free_strides(&s);
        }
}

void add_gemm_placement_tests(void) {
    add_test("placement", "d_may_lie_in_the_gaps_of_a_but_not_a_chunk_from_them_sm80", run_gaps, -1, GM_ARCH_SM80);
    add_test("placement", "d_may_lie_in_the_gaps_of_a_but_not_a_chunk_from_them_sm90", run_gaps, -1, GM_ARCH_SM90);
    add_test("placement", "strides_of_2_to_the_29_to_33_elements_sm80", run_strides, -1, GM_ARCH_SM80);
    add_test("placement", "strides_of_2_to_the_29_to_33_elements_sm90", run_strides, -1, GM_ARCH_SM90);
}
