/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of the table, by name: shapes around its tile, every output type, guards, alignments, epilogues. */
#include <string.h>

#include "gemm/gemm_tests.h"

struct rows {
    const struct variant *variant;
    struct result *result;
    struct buffers buffers;
    int failures;
};

static struct gemm_case plain_case(const struct rows *rows, int64_t m, int64_t n, int64_t k) {
    const struct variant *variant = rows->variant;
    return (struct gemm_case){.m = m,
                              .n = n,
                              .k = k,
                              .ab_type = variant->kernel.type,
                              .a_major = variant->gemm.a_major,
                              .b_major = variant->gemm.b_major,
                              .alpha = 1,
                              .inputs = INTEGER,
                              .may_refuse = BIT(GM_REASON_NO_IMAGE) | BIT(GM_REASON_SMEM)};
}

/* D's types, which take turns: of operands of 32 bits fp32 alone, see run_gemm(). */
static int d_types(const struct rows *rows) {
    return gm_type_bytes(rows->variant->kernel.type) == 4 ? 1 : 3;
}

/* Strides that TMA takes, one pitched (at least 8 elements of guard) and one as short as it can be, by turns. */
static void set_tma_pitch(struct gemm_case *gc, bool tight) {
    const int64_t a = gc->a_major == GM_K_MAJOR ? gc->k : gc->m, b = gc->b_major == GM_K_MAJOR ? gc->k : gc->n;
    const int64_t more = tight ? 0 : row_unit(gc->ab_type);
    gc->a_pad = pad_row(gc->ab_type, a) + more;
    gc->b_pad = pad_row(gc->ab_type, b) + more;
    gc->d_pad = (8 - gc->n % 8) % 8 + (tight ? 0 : 16);
    gc->c_pad = (8 - gc->n % 8) % 8 + more;
}

/* False once the row has failed a few times: one broken row should not take the time of a whole run. */
static bool try(struct rows *rows, struct gemm_case gc) {
    enum { MOST_FAILURES = 3 };
    gc = fit_variant(rows->variant, &gc);
    rows->failures += !run_gemm(rows->result, &gc, rows->variant->kernel.name, 0, &rows->buffers);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

/* ---- shapes --------------------------------------------------------------------------------------- */

enum { MOST_SHAPES = 24 };

struct shape {
    int64_t m, n, k;
};

static int64_t least_root(int64_t square) {
    int64_t root = 1;
    while (root * root < square)
        root++;
    return root;
}

/* Tiles of one or a few rows leave nothing of some sides. */
static struct shape at_least_1(int64_t m, int64_t n, int64_t k) {
    return (struct shape){m > 0 ? m : 1, n > 0 ? n : 1, k > 0 ? k : 1};
}

/* So many tiles that every CTA, cluster and ping-pong consumer comes round more than twice, with ragged ends. */
static struct shape many_tiles(const struct variant *variant) {
    const int64_t at_once = (int64_t)env.device.sm_count * (variant->gemm.schedule == GM_PINGPONG ? 2 : 1);
    const int64_t waves = at_once * 23 / 10 + 1;
    const int64_t side = least_root(waves);
    return at_least_1(side * variant->gemm.tile_m - 3, ((waves + side - 1) / side) * variant->gemm.tile_n - 5,
                      variant->gemm.tile_k - 8 + 1);
}

static int list_shapes(const struct variant *variant, struct shape *s) {
    const int64_t tm = variant->gemm.tile_m, tn = variant->gemm.tile_n, tk = variant->gemm.tile_k,
                  ring = tk * variant->gemm.stages;
    int count = 0;
    s[count++] = (struct shape){tm + 1, tn + 1, tk + 1};
    s[count++] = (struct shape){1, 1, 1};
    s[count++] = (struct shape){tm, tn, tk};
    s[count++] = at_least_1(tm - 1, tn - 1, tk - 1);
    s[count++] = at_least_1(3 * tm - 7, 2 * tn + 9, ring + tk + 3); /* odd cluster tail along M */
    if (opt.self_test)
        s[count++] = many_tiles(variant);
    if (opt.quick)
        return count;
    s[count++] = at_least_1(2 * tm + 9, 3 * tn - 7, 2 * ring); /* odd cluster tail along N */
    s[count++] = (struct shape){131, 257, 97};
    s[count++] = (struct shape){509, 61, 211};
    s[count++] = (struct shape){1, 2 * tn + 3, 2 * tk};
    s[count++] = (struct shape){2 * tm + 5, 1, 3 * tk - 1};
    s[count++] = (struct shape){tm + 3, tn + 5, 1};
    s[count++] = at_least_1(tm - 5, tn + 8, 2);
    s[count++] = (struct shape){67, 83, 2053};
    s[count++] = (struct shape){2 * tm, 2 * tn, ring};
    s[count++] = (struct shape){tm + tm / 2, tn + tn / 2, ring - 1};
    s[count++] = many_tiles(variant);
    s[count++] = (struct shape){2 * tm * variant->gemm.cluster_m, 2 * tn * variant->gemm.cluster_n,
                                env.simulated ? 3 * tk : 1024};
    return count;
}

static bool test_shapes(struct rows *rows) {
    struct shape shapes[MOST_SHAPES];
    const int count = list_shapes(rows->variant, shapes);
    for (int i = 0; i < count; i++) {
        /* All three types of D at the first shape, by turns at the others. */
        for (int type = 0; type < (i == 0 ? d_types(rows) : 1); type++) {
            struct gemm_case gc = plain_case(rows, shapes[i].m, shapes[i].n, shapes[i].k);
            gc.d_type = (enum gm_type)((i + type) % 3);
            set_tma_pitch(&gc, i % 2 == 1);
            if (!try(rows, gc))
                return false;
        }
    }
    struct gemm_case empty = plain_case(rows, rows->variant->gemm.tile_m + 3, 70, 0);
    set_tma_pitch(&empty, false);
    empty.may_refuse |= uses_tma(rows->variant) ? BIT(GM_REASON_EMPTY_K) : 0;
    return try(rows, empty);
}

/* A CTA stores a tile while it multiplies its next, whose K may be over before that: from one k-block to more than a
 * ring of them, with D of the operands' type, which some rows hold in registers, with a factor, and with D of fp32. */
static bool test_persistence(struct rows *rows) {
    const struct variant *variant = rows->variant;
    if (opt.quick)
        return true;
    const int64_t tk = variant->gemm.tile_k,
                  k[] = {tk, 2 * tk - 7, 3 * tk + 8, tk * variant->gemm.stages + tk + 8, 2 * tk};
    struct shape s = many_tiles(variant);
    for (size_t i = 0; i < COUNT(k); i++) {
        struct gemm_case gc = plain_case(rows, s.m, s.n, k[i]);
        gc.alpha = i == 2 ? -0.5f : 1;
        gc.d_type = i == 4 ? GM_FP32 : d_type_of(variant);
        set_tma_pitch(&gc, false);
        if (!try(rows, gc))
            return false;
        if (s.m > variant->gemm.tile_m)
            s.m -= variant->gemm.tile_m; /* other tiles are the last ones */
    }
    return true;
}

/* ---- inputs that hurt ----------------------------------------------------------------------------- */

static bool test_inputs(struct rows *rows) {
    const int64_t tm = rows->variant->gemm.tile_m, tn = rows->variant->gemm.tile_n;
    const struct shape shapes[] = {{tm + 17, tn + 24, 333}, {70, 90, 1531}};
    for (size_t i = 0; i < (opt.quick ? 1 : COUNT(shapes)); i++)
        for (int type = 0; type < d_types(rows); type++) {
            struct gemm_case gc = plain_case(rows, shapes[i].m, shapes[i].n, shapes[i].k);
            gc.inputs = NORMAL;
            gc.d_type = (enum gm_type)type;
            set_tma_pitch(&gc, false);
            if (!try(rows, gc))
                return false;
        }
    for (int type = 0; type < (rows->variant->kernel.type == GM_INT8 ? 0 : d_types(rows)); type++) {
        struct gemm_case gc = plain_case(rows, tm + 30, tn + 3, 45);
        gc.inputs = SPECIAL;
        gc.d_type = (enum gm_type)type;
        set_tma_pitch(&gc, false);
        if (!try(rows, gc))
            return false;
    }
    const bool few = opt.quick || env.simulated; /* the simulated GPU repeats itself but for its seed */
    struct gemm_case again = plain_case(rows, 2 * tm + 1, 2 * tn + 1, env.simulated ? 300 : 1100);
    again.inputs = NORMAL;
    again.d_type = GM_FP32;
    again.repeats = few ? 3 : 19;
    set_tma_pitch(&again, false);
    return try(rows, again);
}

/* ---- alignment ------------------------------------------------------------------------------------ */

/* TMA's rows, and all of 8 bits, must say that they do not take every element offset and every stride of A and B, as all
 * others do. */
static bool test_alignment(struct rows *rows) {
    const int64_t tm = rows->variant->gemm.tile_m, tn = rows->variant->gemm.tile_n, tk = rows->variant->gemm.tile_k;
    const int bytes = gm_type_bytes(rows->variant->kernel.type);
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct gemm_case gc = plain_case(rows, tm + 5 + offset, tn + 13, 2 * tk + offset);
        set_tma_pitch(&gc, false);
        gc.d_type = (enum gm_type)(offset % 3);
        gc.a_offset = offset;
        gc.b_offset = offset * 3 % 8;
        gc.d_offset = offset * 5 % 8;
        gc.a_pad += offset % 2 ? offset : offset & 4; /* strides of 16, 8, 4 and 2 bytes' alignment */
        gc.b_pad += (offset * 3) % 8;
        gc.d_pad += offset & 3;
        const int needs = uses_tma(rows->variant) ? 16 : bytes * copied_elements(gc.ab_type);
        const bool refuses = offset * bytes % needs != 0;
        if (refuses)
            gc.may_refuse |= BIT(GM_REASON_STRIDE) | BIT(GM_REASON_ALIGNMENT);
        const int ran = rows->result->cases;
        if (!try(rows, gc))
            return false;
        if (refuses && rows->result->cases != ran) {
            fail(rows->result, "the row accepted operands at element offset %d", offset);
            return false;
        }
    }
    return true;
}

/* All rows take every element offset and every stride of C, D and bias. */
static bool test_alignment_of_d(struct rows *rows) {
    const int64_t tm = rows->variant->gemm.tile_m, tn = rows->variant->gemm.tile_n, tk = rows->variant->gemm.tile_k;
    const struct shape shapes[] = {{tm + 9, tn + 19, tk + 5}, {tm, tn, tk}, {2 * tm + 3, 2 * tn - 1, 3 * tk}};
    for (int i = 0; i < (opt.quick ? 4 : 9); i++) {
        const struct shape s = at_least_1(shapes[i % 3].m, shapes[i % 3].n, shapes[i % 3].k);
        struct gemm_case gc = plain_case(rows, s.m, s.n, s.k);
        set_tma_pitch(&gc, i % 2);
        gc.d_type = (enum gm_type)((i + i / 3) % 3);
        gc.d_pad = 1 + (8 - gc.n % 8) % 8 + i * 3 % 7; /* rows that begin on every element of 16 bytes, or two */
        gc.d_offset = i == 8 ? 0 : i;
        gc.alpha = i % 4 == 1 ? -0.5f : 1;
        gc.beta = i % 4 == 2 ? 0.5f : i % 4 == 3 ? 1 : 0;
        gc.in_place = i % 4 == 3;
        gc.c_pad = i % 2;
        gc.c_offset = gc.in_place ? gc.d_offset : 5 * i % 8;
        gc.bias = (enum gm_bias)(i % 5 % 3);
        gc.bias_type = (enum gm_type)(i / 2 % 3);
        gc.bias_offset = i % 4;
        gc.activation = i == 4 ? GM_ACT_RELU : GM_ACT_NONE;
        if (!try(rows, gc))
            return false;
    }
    return true;
}

/* No byte outside the logical rows is read: the simulated GPU sees one behind an allocation's end, and so does
 * compute-sanitizer. Whole chunks of 8 elements up to the very end, under odd strides, then ragged ones; of 8 bits whole
 * words, since compute-sanitizer takes a cp.async of a part of one for one of all its bytes. */
static bool test_bounds(struct rows *rows) {
    const int64_t tm = rows->variant->gemm.tile_m, tn = rows->variant->gemm.tile_n, tk = rows->variant->gemm.tile_k;
    for (int ragged = 0; ragged < 2; ragged++) {
        struct gemm_case gc = plain_case(rows, (tm + 7) / 8 * 8 + 8, (tn + 7) / 8 * 8 + 8, 2 * tk + 8);
        gc.m += 5 * ragged;
        gc.n += 3 * ragged;
        gc.k += (is_of_8_bits(rows->variant->kernel.type) && !env.simulated ? 4 : 3) * ragged;
        gc.exact = true;
        set_tma_pitch(&gc, ragged);
        if (!uses_tma(rows->variant)) {
            gc.a_pad += copied_elements(gc.ab_type);
            gc.b_pad += copied_elements(gc.ab_type);
        }
        if (!try(rows, gc))
            return false;
    }
    return true;
}

/* ---- epilogues ------------------------------------------------------------------------------------ */

static bool try_epilogue(struct rows *rows, struct gemm_case gc, int turn) {
    const int64_t tm = rows->variant->gemm.tile_m, tn = rows->variant->gemm.tile_n;
    const struct shape shapes[] = {{tm + 9, tn + 19, 77}, {tm, tn, 64}};
    gc.m = shapes[turn % 2].m;
    gc.n = shapes[turn % 2].n;
    gc.k = shapes[turn % 2].k;
    set_tma_pitch(&gc, false);
    if (turn % 3 == 2 && !gc.in_place) { /* C has no alignment to keep on either path */
        gc.c_pad += 1;
        gc.c_offset = 3;
    }
    return try(rows, gc);
}

static bool test_scaling(struct rows *rows) {
    static const struct {
        float alpha, beta;
        bool in_place, nan;
    } scalings[] = {{2, 0, false, false}, {1, 1, false, false},     {-1, 0.5f, true, false},
                    {1, 0, false, true},  {0.5f, -2, false, false}, {1, 1, true, false},
                    {0, 1, false, false}, {-0.5f, 0, false, false}, {1, 0, true, true}};
    for (size_t i = 0; i < COUNT(scalings); i++) {
        struct gemm_case gc = plain_case(rows, 0, 0, 0);
        gc.alpha = scalings[i].alpha;
        gc.beta = scalings[i].beta;
        gc.in_place = scalings[i].in_place;
        gc.c_is_nan = scalings[i].nan;
        gc.d_type = (enum gm_type)(i % 3);
        if (!try_epilogue(rows, gc, (int)i))
            return false;
    }
    return true;
}

static bool test_bias(struct rows *rows) {
    for (int i = 0; i < (opt.quick ? 2 : 6); i++) {
        struct gemm_case gc = plain_case(rows, 0, 0, 0);
        gc.bias = i % 2 ? GM_BIAS_M : GM_BIAS_N;
        gc.bias_type = (enum gm_type)(i / 2);
        gc.bias_offset = i % 4;
        gc.d_type = (enum gm_type)((i / 2 + i) % 3);
        gc.activation = i == 3 ? GM_ACT_RELU : GM_ACT_NONE;
        if (!try_epilogue(rows, gc, i))
            return false;
    }
    return true;
}

static bool test_activations(struct rows *rows) {
    for (int i = 0; i < 8; i++) {
        struct gemm_case gc = plain_case(rows, 0, 0, 0);
        gc.activation = (enum gm_activation)(1 + i % 4);
        gc.inputs = i < 4 ? INTEGER : NORMAL; /* integers: the function's own error, nothing else */
        gc.alpha = i < 4 ? 1 / 32.0f : 0.25f;
        gc.d_type = i < 4 ? GM_FP32 : (enum gm_type)(i % 2);
        if (i >= 4) { /* all at once */
            gc.beta = -0.5f;
            gc.bias = i % 2 ? GM_BIAS_M : GM_BIAS_N;
            gc.bias_type = (enum gm_type)(i % 3);
            gc.in_place = i == 6;
        }
        if (!try_epilogue(rows, gc, i))
            return false;
    }
    return true;
}

/* ---- schedules ------------------------------------------------------------------------------------ */

/* A race shows in some order of warps and copies; the simulated GPU takes the one that the seed says. */
static bool test_schedules(struct rows *rows) {
    const struct variant *variant = rows->variant;
    const struct shape s = at_least_1(3 * variant->gemm.tile_m - 7, 2 * variant->gemm.tile_n + 9,
                                      variant->gemm.tile_k * (variant->gemm.stages + 1) + 3);
    struct gemm_case gc = plain_case(rows, s.m, s.n, s.k);
    set_tma_pitch(&gc, false);
    bool good = true;
    for (int seed = 1; seed <= opt.seeds && good && env.simulated; seed++) {
        set_schedule(opt.schedule + (uint64_t)seed);
        good = try(rows, gc);
    }
    set_schedule(opt.schedule);
    return good;
}

static void run_row(const struct test *test, struct result *result) {
    struct variant variant;
    if (!read_variant((size_t)test->kernel, &variant))
        return;
    struct rows rows = {.variant = &variant, .result = result};
    if (test_shapes(&rows) && !(variant.gemm.batch && env.simulated) && test_persistence(&rows) && test_inputs(&rows) &&
        test_alignment(&rows) && test_alignment_of_d(&rows) && test_bounds(&rows) && test_scaling(&rows) &&
        test_bias(&rows) && test_activations(&rows))
        test_schedules(&rows);
    free_buffers(&rows.buffers);
}

/* Kernels for batches do with one product what their twins do, so few of it are tried. batch.c has what is their own. */
void add_gemm_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        struct variant variant;
        if (read_variant(i, &variant) && !(variant.gemm.batch && (opt.quick || opt.self_test)))
            add_test("rows", variant.kernel.name, run_row, (int)i, 0);
    }
}
