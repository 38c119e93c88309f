/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: matrices behind each other, beside each other in common rows, one for all, and in arrays of pointers of which some
 * are missing; by every kernel that takes them, and as the planner chooses, one product of more rows or columns too. */
#include <stdlib.h>
#include <string.h>

#include "gemm/gemm_tests.h"

/* BEHIND: an operand's matrices follow each other, `gap` elements apart. BESIDE: they lie beside each other in common rows.
 * SHARED: there is one. */
enum place { BEHIND, BESIDE, SHARED };

/* An operand's matrices: rows of `columns` elements, in memory and on paper. */
struct side {
    int64_t rows, columns, ld, stride, matrices;
    enum gm_type type;
    size_t before, total; /* bytes of the image before the first element, and of all */
    uint8_t *image;
    CUdeviceptr at; /* of the first element */
};

struct batch_case {
    struct gemm_case gc; /* of one matrix; first */
    int64_t batch, gap, bias_stride;
    enum place a, b, c, d;
    bool arrays;
    bool divided;     /* by k-blocks, in a workspace */
    bool packed;      /* A and B, before the plan */
    uint32_t missing; /* bit i: matrix i lacks a pointer, one operand's or another's by turns */
};

enum { GUARD = 1024, MISSING_OF = 3, WORKSPACE = 32 << 20 };

/* ---- where things are ----------------------------------------------------------------------------------- */

static struct side side_of(const struct batch_case *bc, enum place place, int64_t rows, int64_t columns, int64_t pad,
                           int offset, enum gm_type type) {
    struct side s = {.rows = rows, .columns = columns, .type = type, .matrices = place == SHARED ? 1 : bc->batch};
    s.ld = place == BESIDE ? bc->batch * (columns + bc->gap) + pad : columns + pad;
    s.stride = place == BEHIND ? rows * s.ld + bc->gap : place == BESIDE ? columns + bc->gap : 0;
    const int64_t elements = (s.matrices - 1) * s.stride + rows * s.ld;
    s.before = (size_t)(GUARD + offset * gm_type_bytes(type));
    s.total = s.before + (size_t)(elements * gm_type_bytes(type)) + GUARD;
    s.image = malloc(s.total);
    if (!s.image) {
        fprintf(stderr, "gpu_tests: out of memory for an operand of %zu bytes\n", s.total);
        exit(2);
    }
    memset(s.image, 0xff, s.total);
    return s;
}

static uint8_t *element(const struct side *s, int64_t matrix, int64_t row, int64_t column) {
    const int64_t of = s->matrices > 1 ? matrix : 0;
    return s->image + s->before + (of * s->stride + row * s->ld + column) * gm_type_bytes(s->type);
}

static bool upload(struct result *result, struct arena *arena, struct side *s) {
    const CUdeviceptr base = arena_take(result, arena, s->total);
    s->at = base + s->before;
    return base && to_device(result, base, s->image, s->total);
}

/* ---- what they hold ------------------------------------------------------------------------------------- */

/* Rows of A, or columns of B, of another matrix are others. */
static float a_value(const struct batch_case *bc, int64_t matrix, int64_t m, int64_t k) {
    const int64_t outer = m + (bc->a == SHARED ? 0 : matrix * bc->gc.m);
    return logical_element(opt.seed, bc->gc.inputs, bc->gc.ab_type, 0, outer, k, bc->gc.k);
}

static float b_value(const struct batch_case *bc, int64_t matrix, int64_t n, int64_t k) {
    const int64_t outer = n + (bc->b == SHARED ? 0 : matrix * bc->gc.n);
    return logical_element(opt.seed, bc->gc.inputs, bc->gc.ab_type, 1, outer, k, bc->gc.k);
}

/* The row and the column by which C and the bias of a matrix are told from those of others. */
static int64_t row_of(const struct batch_case *bc, int64_t matrix, int64_t m) {
    return m + (bc->c == SHARED ? 0 : matrix * bc->gc.m);
}
static int64_t column_of(const struct batch_case *bc, int64_t matrix, int64_t n) {
    return n + (bc->gc.bias == GM_BIAS_N && bc->bias_stride ? matrix * bc->gc.n : 0);
}

static void fill_operand(const struct batch_case *bc, struct side *s, bool is_a) {
    const bool k_major = (is_a ? bc->gc.a_major : bc->gc.b_major) == GM_K_MAJOR;
    for (int64_t i = 0; i < s->matrices; i++)
        for (int64_t row = 0; row < s->rows; row++)
            for (int64_t column = 0; column < s->columns; column++) {
                const int64_t outer = k_major ? row : column, k = k_major ? column : row;
                const float value = is_a ? a_value(bc, i, outer, k) : b_value(bc, i, outer, k);
                store_bits(element(s, i, row, column), s->type, double_to_bits(s->type, value));
            }
}

static void fill_c(const struct batch_case *bc, struct side *s) {
    for (int64_t i = 0; i < s->matrices; i++)
        for (int64_t m = 0; m < bc->gc.m; m++)
            for (int64_t n = 0; n < bc->gc.n; n++)
                store_bits(element(s, i, m, n), s->type,
                           double_to_bits(s->type, c_value(&bc->gc, row_of(bc, i, m), column_of(bc, i, n))));
}

/* ---- one case ------------------------------------------------------------------------------------------- */

enum { A, B, C, D, BIAS, SIDES, POINTERS = SIDES, TENSOR_SCALES, ARENAS };

struct batch {
    const struct batch_case *bc;
    struct side side[SIDES];
    struct arena *arenas; /* of the sides; of pointers and the counter; of scales */
    struct gm_gemm_problem problem;
    struct gm_gemm_args args;
};

static void make_sides(struct batch *b) {
    const struct batch_case *bc = b->bc;
    const struct gemm_case *gc = &bc->gc;
    const bool a_k = gc->a_major == GM_K_MAJOR, b_k = gc->b_major == GM_K_MAJOR;
    const int64_t biases = gc->bias == GM_BIAS_M ? gc->m : gc->n;
    b->side[A] = side_of(bc, bc->a, a_k ? gc->m : gc->k, a_k ? gc->k : gc->m, gc->a_pad, gc->a_offset, gc->ab_type);
    b->side[B] = side_of(bc, bc->b, b_k ? gc->n : gc->k, b_k ? gc->k : gc->n, gc->b_pad, gc->b_offset, gc->ab_type);
    b->side[C] = side_of(bc, bc->c, gc->m, gc->n, gc->c_pad, gc->c_offset, gc->d_type);
    b->side[D] = side_of(bc, bc->d, gc->m, gc->n, gc->d_pad, gc->d_offset, gc->d_type);
    b->side[BIAS] = (struct side){0};
    if (gc->bias != GM_BIAS_NONE) {
        b->side[BIAS] = side_of(bc, bc->bias_stride ? BEHIND : SHARED, 1, biases, 0, 0, gc->bias_type);
        b->side[BIAS].stride = bc->bias_stride ? biases : 0;
    }
}

static void fill_sides(struct batch *b) {
    const struct batch_case *bc = b->bc;
    fill_operand(bc, &b->side[A], true);
    fill_operand(bc, &b->side[B], false);
    fill_c(bc, &b->side[C]);
    memset(b->side[D].image, POISON, b->side[D].total);
    if (bc->gc.in_place)
        fill_c(bc, &b->side[D]);
    for (int64_t i = 0; bc->gc.bias != GM_BIAS_NONE && i < b->side[BIAS].matrices * b->side[BIAS].columns; i++)
        store_bits(element(&b->side[BIAS], 0, 0, i), bc->gc.bias_type,
                   double_to_bits(bc->gc.bias_type, bias_value(&bc->gc, i)));
}

/* An array of pointers to a side's matrices. Of a missing one D, A or B is 0, or A is at an odd address. */
static bool point(struct result *result, struct batch *b, int which, CUdeviceptr array) {
    uint64_t pointers[32];
    for (int64_t i = 0; i < b->bc->batch; i++) {
        const struct side *s = &b->side[which];
        pointers[i] = s->at + (uint64_t)(i * s->stride * gm_type_bytes(s->type));
        if (b->bc->missing >> i & 1 && which == (int[]){D, A, B}[i % MISSING_OF])
            pointers[i] = i % 2 && which == A ? pointers[i] + 1 : 0;
    }
    return to_device(result, array, pointers, (size_t)b->bc->batch * sizeof *pointers);
}

static bool point_all(struct result *result, struct batch *b) {
    const size_t bytes = (size_t)b->bc->batch * 8;
    const uint32_t none = 0;
    const CUdeviceptr base = arena_take(result, &b->arenas[POINTERS], 4 * bytes + 16);
    CUdeviceptr *const of[] = {&b->args.a, &b->args.b, &b->args.c, &b->args.d};
    bool ok = base != 0;
    for (int i = A; i <= D && ok; i++) {
        *of[i] = base + 16 + (CUdeviceptr)i * bytes;
        ok = point(result, b, i == C && b->bc->gc.in_place ? D : i, *of[i]);
    }
    b->args.left_out = base;
    return ok && to_device(result, base, &none, sizeof none);
}

/* A's scale and B's, of all matrices. */
static bool place_scales(struct result *result, struct batch *b) {
    const struct gemm_case *gc = &b->bc->gc;
    const float scales[] = {(float)scaling_value(gc, NULL, A_SCALES, 0), (float)scaling_value(gc, NULL, B_SCALES, 0)};
    const CUdeviceptr at = arena_take(result, &b->arenas[TENSOR_SCALES], sizeof scales);
    b->args.a_scales = gc->a_scales ? at : 0;
    b->args.b_scales = gc->b_scales ? at + sizeof *scales : 0;
    return at && to_device(result, at, scales, sizeof scales);
}

static bool place(struct result *result, struct batch *b) {
    const struct batch_case *bc = b->bc;
    const struct gemm_case *gc = &bc->gc;
    struct side *s = b->side;
    make_sides(b);
    fill_sides(b);
    for (int i = 0; i < SIDES; i++)
        if (s[i].image && !upload(result, &b->arenas[i], &s[i]))
            return false;
    b->problem = (struct gm_gemm_problem){.size = sizeof b->problem,
                                          .m = gc->m,
                                          .n = gc->n,
                                          .k = gc->k,
                                          .ab_type = gc->ab_type,
                                          .d_type = gc->d_type,
                                          .a_major = gc->a_major,
                                          .b_major = gc->b_major,
                                          .lda = s[A].ld,
                                          .ldb = s[B].ld,
                                          .ldc = gc->in_place ? s[D].ld : s[C].ld,
                                          .ldd = s[D].ld,
                                          .activation = gc->activation,
                                          .bias = gc->bias,
                                          .bias_type = gc->bias_type,
                                          .a_scales = gc->a_scales,
                                          .b_scales = gc->b_scales,
                                          .a_align = pointer_alignment(s[A].at),
                                          .b_align = pointer_alignment(s[B].at),
                                          .d_align = pointer_alignment(s[D].at),
                                          .batch = bc->batch,
                                          .a_batch_stride = s[A].stride,
                                          .b_batch_stride = s[B].stride,
                                          .c_batch_stride = gc->in_place ? s[D].stride : s[C].stride,
                                          .d_batch_stride = s[D].stride,
                                          .bias_batch_stride = s[BIAS].stride,
                                          .pointer_arrays = bc->arrays};
    b->args = (struct gm_gemm_args){.size = sizeof b->args,
                                    .a = s[A].at,
                                    .b = s[B].at,
                                    .c = gc->in_place ? s[D].at : s[C].at,
                                    .d = s[D].at,
                                    .bias = s[BIAS].at,
                                    .alpha = &gc->alpha,
                                    .beta = &gc->beta};
    return place_scales(result, b) && (!bc->arrays || point_all(result, b));
}

/* ---- what came of it ------------------------------------------------------------------------------------ */

/* A's rows and B's columns of one matrix, each along K. */
struct factors {
    float *a, *b;
};

static struct factors factors_of(const struct batch_case *bc, int64_t matrix) {
    const int64_t k_size = bc->gc.k;
    float *values = malloc((size_t)((bc->gc.m + bc->gc.n) * k_size + 1) * sizeof *values);
    if (!values) {
        fprintf(stderr, "gpu_tests: out of memory for a matrix of a batch\n");
        exit(2);
    }
    const struct factors f = {values, values + bc->gc.m * k_size};
    for (int64_t m = 0; m < bc->gc.m; m++)
        for (int64_t k = 0; k < k_size; k++)
            f.a[m * k_size + k] = multiplied(bc->gc.ab_type, a_value(bc, matrix, m, k));
    for (int64_t n = 0; n < bc->gc.n; n++)
        for (int64_t k = 0; k < k_size; k++)
            f.b[n * k_size + k] = multiplied(bc->gc.ab_type, b_value(bc, matrix, n, k));
    return f;
}

static double wanted(const struct batch *b, struct factors f, int64_t matrix, int64_t m, int64_t n, double *tolerance) {
    const struct batch_case *bc = b->bc;
    const struct placed placed = {.gc = &bc->gc, .args = b->args};
    const float *row = f.a + m * bc->gc.k, *column = f.b + n * bc->gc.k;
    double sum = 0;
    for (int64_t k = 0; k < bc->gc.k; k++)
        sum += (double)row[k] * (double)column[k];
    return expected(&placed, row_of(bc, matrix, m), column_of(bc, matrix, n), sum, tolerance);
}

/* Compares a matrix, and makes in `image` what it was before of what it has found right. */
static bool compare_matrix(struct result *result, const struct batch *b, struct factors f, int64_t matrix,
                           const struct side *got, const char *what) {
    for (int64_t m = 0; m < b->bc->gc.m; m++)
        for (int64_t n = 0; n < b->bc->gc.n; n++) {
            double tolerance;
            uint8_t *const at = element(got, matrix, m, n);
            const double want = wanted(b, f, matrix, m, n, &tolerance);
            const uint32_t bits = load_bits(at, got->type);
            if (!bits_match(got->type, bits, want, tolerance)) {
                fail(result, "%s: element (%lld, %lld) of matrix %lld is %g, want %g", what, (long long)m, (long long)n,
                     (long long)matrix, bits_to_double(got->type, bits), want);
                return false;
            }
            memcpy(at, element(&b->side[D], matrix, m, n), (size_t)gm_type_bytes(got->type));
        }
    return true;
}

static bool check_matrix(struct result *result, const struct batch *b, int64_t matrix, const struct side *got,
                         const char *what) {
    const struct factors f = factors_of(b->bc, matrix);
    const bool ok = compare_matrix(result, b, f, matrix, got, what);
    free(f.a);
    return ok;
}

/* Every element of every matrix that was there, and every byte beside them. */
static bool check(struct result *result, const struct batch *b, const char *what) {
    struct side got = b->side[D];
    got.image = malloc(got.total);
    bool ok = got.image && check_cuda(result, env.drv->cuMemcpyDtoH(got.image, got.at - got.before, got.total), what);
    for (int64_t i = 0; i < b->bc->batch && ok; i++)
        ok = (i < 32 && b->bc->missing >> i & 1) || check_matrix(result, b, i, &got, what);
    for (size_t i = 0; i < got.total && ok; i++)
        if (got.image[i] != b->side[D].image[i]) {
            fail(result, "%s: wrote byte %lld of D's memory, which is no matrix's", what,
                 (long long)i - (long long)got.before);
            ok = false;
        }
    free(got.image);
    return ok;
}

static bool check_left_out(struct result *result, const struct batch *b, uint32_t runs, const char *what) {
    uint32_t counted = 0;
    if (!b->bc->arrays)
        return true;
    if (!check_cuda(result, env.drv->cuMemcpyDtoH(&counted, b->args.left_out, sizeof counted), what))
        return false;
    const uint32_t want = runs * (uint32_t)__builtin_popcount(b->bc->missing);
    if (counted != want)
        fail(result, "%s: %u matrices were left out, want %u", what, counted, want);
    return counted == want;
}

static void describe(const struct batch_case *bc, char *text, size_t bytes) {
    static const char places[] = "-|1";
    char one[320];
    describe_gemm(&bc->gc, one, sizeof one);
    snprintf(text, bytes, "%lld of %s, places %c%c%c%c gap %lld bias stride %lld%s", (long long)bc->batch, one,
             places[bc->a], places[bc->b], places[bc->c], places[bc->d], (long long)bc->gap, (long long)bc->bias_stride,
             bc->arrays ? ", arrays" : "");
}

static bool execute(struct result *result, struct batch *b, gm_plan *plan, const char *what) {
    struct guarded_workspace workspace = {0};
    const size_t bytes = gm_plan_workspace_bytes(plan);
    bool ok = bytes == 0 || place_workspace(result, &workspace, bytes, false);
    b->args.workspace = workspace.address;
    b->args.workspace_bytes = bytes;
    ok = ok && check_ok(result, gm_gemm_execute(plan, &b->args, env.stream), what) &&
         check_cuda(result, env.drv->cuStreamSynchronize(env.stream), what) && check(result, b, what) &&
         (bytes == 0 || check_workspace(result, &workspace, what));
    arena_free(&workspace.arena);
    return ok;
}

static bool pack(struct result *result, struct batch *b, struct guarded_workspace rooms[2], const char *what) {
    return !b->bc->packed || (pack_operand(result, &b->problem, GM_GEMM_A, &b->args.a, &rooms[0], what) &&
                              pack_operand(result, &b->problem, GM_GEMM_B, &b->args.b, &rooms[1], what));
}

/* A kernel that does not take the case says why: TMA's kernels may. */
static bool run(struct result *result, const struct batch_case *bc, const char *kernel, uint32_t mask,
                struct arena *arenas) {
    char divided[160];
    snprintf(divided, sizeof divided, "%s/k", kernel ? kernel : "");
    const struct gm_plan_options options = {.size = sizeof options,
                                            .kernel = bc->divided ? divided : kernel,
                                            .arch_mask = mask,
                                            .workspace_limit = bc->divided ? WORKSPACE : 0};
    struct batch b = {.bc = bc, .arenas = arenas};
    struct guarded_workspace rooms[2] = {0};
    gm_plan *plan = NULL;
    char what[480];
    describe(bc, what, sizeof what);
    heartbeat(what);
    bool ok = place(result, &b) && pack(result, &b, rooms, what);
    const enum gm_status status = ok ? gm_gemm_plan_create(env.context, &b.problem, &options, &plan) : GM_OK;
    const bool is_tma = kernel && strncmp(kernel, "gemm_sm90", 9) == 0;
    const bool refused = status == GM_ERROR_NO_KERNEL && is_tma && !bc->divided;
    if (ok && !refused)
        ok = check_ok(result, status, what) && execute(result, &b, plan, what) && check_left_out(result, &b, 1, what);
    gm_plan_destroy(plan);
    arena_free(&rooms[0].arena);
    arena_free(&rooms[1].arena);
    for (int i = 0; i < SIDES; i++)
        free(b.side[i].image);
    result->cases += ok && !refused;
    return ok;
}

/* ---- cases ---------------------------------------------------------------------------------------------- */

/* Strides of whole 16 bytes, which TMA takes, or of any number of elements. */
static void align(struct batch_case *bc) {
    struct gemm_case *gc = &bc->gc;
    const int64_t a = gc->a_major == GM_K_MAJOR ? gc->k : gc->m, b = gc->b_major == GM_K_MAJOR ? gc->k : gc->n;
    gc->a_pad = pad_row(gc->ab_type, a);
    gc->b_pad = pad_row(gc->ab_type, b);
    gc->d_pad = gc->c_pad = (8 - gc->n % 8) % 8;
}

static struct batch_case case_of(const struct variant *v, int i) {
    const int64_t tm = v ? v->gemm.tile_m : 64, tn = v ? v->gemm.tile_n : 64, tk = v ? v->gemm.tile_k : 64;
    const struct {
        int64_t m, n, k, batch;
    } sizes[] = {{tm, tn, tk, 5}, {tm + 3, 24, tk + 8, 7}, {17, tn + 8, 40, 3}, {8, 16, 24, 19}, {1, 40, 72, 9}};
    struct batch_case bc = {.batch = sizes[i % 5].batch, .gap = i % 3 == 1 ? 8 : 0};
    bc.gc = (struct gemm_case){.m = sizes[i % 5].m,
                               .n = sizes[i % 5].n,
                               .k = sizes[i % 5].k,
                               .ab_type = v ? v->kernel.type : (enum gm_type)(i % 2),
                               .a_major = v ? v->gemm.a_major : (enum gm_major)(i / 2 % 2),
                               .b_major = v ? v->gemm.b_major : (enum gm_major)(i / 3 % 2),
                               .alpha = i % 4 == 2 ? -0.5f : 1,
                               .beta = i % 7 == 3   ? 1
                                       : i % 7 == 5 ? -2
                                                    : 0,
                               .in_place = i % 7 == 5,
                               .bias = (enum gm_bias)(i % 4 == 1   ? GM_BIAS_N
                                                      : i % 6 == 5 ? GM_BIAS_M
                                                                   : GM_BIAS_NONE),
                               .bias_type = (enum gm_type)(i % 3),
                               .activation = i % 8 == 6 ? GM_ACT_RELU : GM_ACT_NONE,
                               .inputs = i % 5 == 4 ? NORMAL : INTEGER};
    bc.gc.d_type = gm_type_bytes(bc.gc.ab_type) != 2 ? GM_FP32 : i % 3 == 2 ? (enum gm_type)(i / 3 % 3) : bc.gc.ab_type;
    if (bc.gc.ab_type == GM_E4M3 || (bc.gc.ab_type == GM_INT8 && i % 2)) { /* sums that are scaled */
        bc.gc.d_type = (enum gm_type)(i / 2 % 3);
        bc.gc.a_scales = i % 3 ? GM_PER_TENSOR : GM_PER_NONE;
        bc.gc.b_scales = i % 5 ? GM_PER_TENSOR : GM_PER_NONE;
    } else if (bc.gc.ab_type == GM_INT8) { /* the sums themselves */
        bc.gc.d_type = GM_INT32;
        bc.gc.alpha = 1;
        bc.gc.beta = 0;
        bc.gc.in_place = false;
        bc.gc.bias = GM_BIAS_NONE;
        bc.gc.activation = GM_ACT_NONE;
    }
    bc.bias_stride = bc.gc.bias == GM_BIAS_M || (bc.gc.bias == GM_BIAS_N && i % 8 == 1);
    bc.a = (enum place[]){BEHIND, BESIDE, BEHIND, SHARED, BEHIND, BESIDE, BEHIND}[i % 7];
    bc.b = (enum place[]){BEHIND, BEHIND, SHARED, BEHIND, BESIDE, BEHIND}[i % 6];
    bc.d = bc.c = i % 4 == 3 ? BESIDE : BEHIND;
    if (bc.gc.beta == 1 && bc.gc.bias == GM_BIAS_NONE && i % 2)
        bc.c = SHARED;
    if (i % 5 != 2 || !v || strcmp(v->kernel.family, "gemm_sm90") == 0 || is_of_8_bits(bc.gc.ab_type))
        align(&bc);
    if (is_of_8_bits(bc.gc.ab_type)) /* matrices begin on what TMA, or cp.async, takes */
        bc.gap *= 2;
    if (i % 9 == 8) {
        bc.gc.d_pad += 3;
        bc.gc.d_offset = 1;
    }
    return bc;
}

/* Pointers of any element, some of them missing. */
static struct batch_case arrays_of(const struct variant *v, int i) {
    struct batch_case bc = case_of(v, i);
    bc.arrays = true;
    bc.gap = is_of_8_bits(bc.gc.ab_type) ? 16 : i % 2 ? 8 : 3;
    bc.missing = i % 3 == 1 ? 0x2d : i % 3 == 2 ? 0x2 : 0;
    bc.missing &= (1u << bc.batch) - 1;
    return bc;
}

/* Rows and matrices that begin anywhere, until they are packed. */
static struct batch_case packed_of(int i) {
    struct batch_case bc = case_of(NULL, i);
    bc.packed = true;
    bc.gap = i % 2 ? 5 : 0;
    bc.gc.a_pad += 1 + i % 3;
    bc.gc.b_pad += i % 4;
    if (i % 3 == 1) {
        bc.gc.ab_type = GM_TF32;
        bc.gc.d_type = GM_FP32;
    }
    return bc;
}

/* So many tiles that every CTA comes round more than twice, to a tile of another matrix each time. */
static struct batch_case many_of(const struct variant *v) {
    struct batch_case bc = {.gc = case_of(v, 0).gc, .gap = is_of_8_bits(v->kernel.type) ? 16 : 8};
    const int64_t at_once = env.device.sm_count * (227 * 1024 / v->kernel.smem_bytes);
    bc.gc.m = v->gemm.tile_m + 8;
    bc.gc.n = v->gemm.tile_n + 8;
    bc.batch = 2 * at_once * v->gemm.cluster_m * v->gemm.cluster_n / 4 + 3;
    align(&bc);
    return bc;
}

/* Pieces of tiles of several matrices. */
static struct batch_case divided_of(const struct variant *v) {
    struct batch_case bc = case_of(v, 1);
    bc.divided = true;
    bc.batch = 5;
    bc.gc.n = 24;
    bc.gc.k = 20 * v->gemm.tile_k;
    align(&bc);
    return bc;
}

static void run_cases(struct result *result, const struct variant *v, uint32_t mask) {
    struct arena arenas[ARENAS] = {{0}};
    const char *kernel = v ? v->kernel.name : NULL;
    const int count = opt.quick ? 11 : 45;
    bool ok = true;
    for (int i = 0; i < count && ok; i++) {
        const struct batch_case bc = case_of(v, i);
        ok = run(result, &bc, kernel, mask, arenas);
    }
    for (int i = 0; i < count / 2 && ok; i++) {
        const struct batch_case bc = arrays_of(v, i);
        ok = run(result, &bc, kernel, mask, arenas);
    }
    if (v) {
        const struct batch_case divided = divided_of(v), many = many_of(v);
        ok = ok && run(result, &divided, kernel, mask, arenas) && run(result, &many, kernel, mask, arenas);
    }
    for (int i = 0; i < ARENAS; i++)
        arena_free(&arenas[i]);
}

static void run_packed(const struct test *test, struct result *result) {
    struct arena arenas[ARENAS] = {{0}};
    bool ok = true;
    if (opt.self_test)
        skip(result, "the stand-in multiplies one matrix");
    for (int i = 0; i < (opt.quick ? 12 : 48) && ok && !opt.self_test; i++) {
        const struct batch_case bc = packed_of(i);
        ok = run(result, &bc, NULL, test->mask, arenas);
    }
    for (int i = 0; i < ARENAS; i++)
        arena_free(&arenas[i]);
}

static void run_kernel(const struct test *test, struct result *result) {
    struct variant variant;
    if (!read_variant((size_t)test->kernel, &variant))
        return;
    if (opt.self_test)
        skip(result, "the stand-in multiplies one matrix");
    else if (uses_tma(&variant) && env.device.cc_major != 9)
        skip(result, "it wants compute capability 9.0");
    else
        run_cases(result, &variant, 0);
}

static void run_chosen(const struct test *test, struct result *result) {
    if (opt.self_test)
        skip(result, "the stand-in multiplies one matrix");
    else
        run_cases(result, NULL, test->mask);
}

void add_gemm_batch_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        struct variant variant;
        if (read_variant(i, &variant) && variant.gemm.batch)
            add_test("matrices", variant.kernel.name, run_kernel, (int)i, 0);
    }
    add_test("batch", "chosen_sm80", run_chosen, -1, GM_ARCH_SM80);
    add_test("batch", "chosen_sm90", run_chosen, -1, 0);
    add_test("pack", "batches", run_packed, -1, 0);
}
