/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of permutations by chunks and tiles, by name: extents around these, orders, strides, alignments, guards,
 * casts, and late operands. */
#include "columns.h"
#include "permute/permute_tests.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
    bool is_tiled;
    int x_bytes, out_bytes;
    int64_t x_chunk, out_chunk; /* elements of one access */
    int64_t columns, rows;      /* of a tile; of chunks in the order of out: those of a CTA, and 1 */
};

static bool is_cast(const struct rows *rows) {
    return rows->x_bytes != rows->out_bytes;
}

/* Of packed dimensions; the rest of the case is zeros. Elements that only single accesses reach begin beside 16 bytes: else
 * they would be joined to larger ones, which are another kernel's. */
static struct permute_case plain(const struct rows *rows, int rank, const int64_t *extents, const int *order) {
    struct permute_case pc = {.rank = rank, .may_refuse = BIT(GM_REASON_NO_IMAGE)};
    for (int k = 0; k < rank; k++) {
        pc.extents[k] = extents[k];
        pc.order[k] = order[k];
    }
    pack_permute(&pc);
    pc.element_bytes = is_cast(rows) ? 0 : rows->x_bytes;
    pc.type = rows->x_bytes == 4 ? GM_FP32 : GM_BF16;
    pc.out_type = rows->out_bytes == 4 ? GM_FP32 : rows->x_bytes == 4 ? GM_BF16 : GM_FP16;
    pc.x_start = rows->x_bytes * rows->x_chunk < 16;
    return pc;
}

/* Variants of 2 bytes on both sides move, and cast. */
static void make_cast(const struct rows *rows, struct permute_case *pc, int choice) {
    if (rows->x_bytes > 4 || rows->x_bytes == 1 || rows->x_bytes * rows->out_bytes == 16)
        return;
    pc->element_bytes = 0;
    pc->type = rows->x_bytes == 4 ? GM_FP32 : choice % 2 ? GM_FP16 : GM_BF16;
    pc->out_type = rows->out_bytes == 4  ? GM_FP32
                   : rows->x_bytes == 4  ? (choice % 2 ? GM_FP16 : GM_BF16)
                   : pc->type == GM_FP16 ? GM_BF16
                                         : GM_FP16;
}

static bool try(struct rows *rows, struct permute_case pc) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_permute(rows->result, &pc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

static const int identity[] = {0, 1, 2, 3, 4}, transpose[] = {1, 0};

/* ---- chunk by chunk ------------------------------------------------------------------------------------ */

/* A vector variant of 2 bytes on both sides is for casts: what it would move is joined to 16 bytes. */
static bool is_for_casts(const struct rows *rows) {
    return !rows->is_tiled && rows->x_chunk > 1;
}

static bool test_lengths(struct rows *rows) {
    const int64_t chunk = rows->x_chunk, cta = rows->columns;
    const int64_t lengths[] = {chunk, cta - chunk, cta, cta + chunk, 2 * cta + 3 * chunk, 97 * chunk};
    for (size_t i = 0; i < (opt.quick ? 3 : COUNT(lengths)); i++) {
        struct permute_case pc = plain(rows, 1, &lengths[i], identity);
        if (is_for_casts(rows))
            make_cast(rows, &pc, (int)i);
        pc.repeats = i == 2 ? 2 : 0;
        if (!try(rows, pc))
            return false;
    }
    return true;
}

/* Copies into other strides, the innermost dimension the same on both sides. */
static bool test_copies(struct rows *rows) {
    static const int orders[][5] = {{0, 1}, {0, 1, 2}, {1, 0, 2}, {0, 2, 1, 3}, {2, 1, 0, 3}, {3, 1, 0, 2, 4}};
    static const int ranks[] = {2, 3, 3, 4, 4, 5};
    for (size_t i = 0; i < COUNT(orders); i++) {
        const int64_t chunk = rows->x_chunk, extents[5] = {5, 3, 4, 2, 3};
        struct permute_case pc = plain(rows, ranks[i], extents, orders[i]);
        pc.extents[ranks[i] - 1] = 3 * chunk;
        pad_permute(&pc, i % 2 ? 2 * chunk : 0, chunk);
        if (is_for_casts(rows))
            make_cast(rows, &pc, (int)i);
        if (!try(rows, pc))
            return false;
    }
    return true;
}

/* No neighbours in common: strides above 1 everywhere, and dimensions in every order. */
static bool test_scattered(struct rows *rows) {
    static const int orders[][5] = {{0}, {1, 0}, {2, 0, 1}, {3, 2, 1, 0}, {4, 3, 2, 1, 0}, {1, 2, 3, 4, 0}};
    static const int ranks[] = {1, 2, 3, 4, 5, 5};
    if (rows->x_chunk > 1)
        return true;
    for (size_t i = 0; i < COUNT(orders); i++) {
        const int64_t extents[5] = {7, 5, 6, 3, 4};
        struct permute_case pc = plain(rows, ranks[i], extents, orders[i]);
        for (int k = 0; k < pc.rank; k++) {
            pc.x_strides[k] *= 3;
            pc.out_strides[k] *= 2;
        }
        make_cast(rows, &pc, (int)i);
        if (!try(rows, pc))
            return false;
        pack_permute(&pc); /* neighbours, but not the same */
        if (!try(rows, pc))
            return false;
    }
    const int64_t windows[] = {9, 5};
    struct permute_case pc = plain(rows, 2, windows, identity);
    pc.x_strides[0] = 1; /* x's rows share elements */
    return try(rows, pc);
}

/* ---- tile by tile -------------------------------------------------------------------------------------- */

/* x of `height` rows of `width`, transposed. */
static struct permute_case matrix(const struct rows *rows, int64_t height, int64_t width) {
    const int64_t extents[] = {height, width};
    return plain(rows, 2, extents, transpose);
}

static bool test_tiles(struct rows *rows) {
    const int64_t x = rows->x_chunk, out = rows->out_chunk, c = rows->columns, r = rows->rows;
    const int64_t sizes[][2] = {{r, c},           {r, c - x},           {r - out, c},
                                {r + out, c + x}, {2 * r + 3 * out, x}, {out, 2 * c + x},
                                {out, x},         {2 * r, 2 * c},       {r + 5 * out, 2 * c + 3 * x}};
    for (size_t i = 0; i < (opt.quick ? 4 : COUNT(sizes)); i++) {
        struct permute_case pc = matrix(rows, sizes[i][0], sizes[i][1]);
        pc.may_refuse |= sizes[i][0] == 1 || sizes[i][1] == 1 ? BIT(GM_REASON_LAYOUT) | BIT(GM_REASON_TYPE) : 0;
        pc.repeats = i == 3 ? 2 : 0;
        if (i % 3 == 2)
            pad_permute(&pc, 2 * x, out);
        if (i % 2)
            make_cast(rows, &pc, (int)i / 2);
        if (!try(rows, pc))
            return false;
    }
    return true;
}

/* With other dimensions around the two, on both sides. */
static bool test_batches(struct rows *rows) {
    static const int orders[][5] = {{0, 2, 1}, {2, 1, 0}, {0, 2, 3, 1}, {0, 3, 1, 2}, {2, 0, 4, 1, 3}, {4, 1, 3, 0, 2}};
    static const int ranks[] = {3, 3, 4, 4, 5, 5};
    for (size_t i = 0; i < COUNT(orders); i++) {
        const int64_t few[5] = {3, 2, 3, 2, 2};
        struct permute_case pc = plain(rows, ranks[i], few, orders[i]);
        pc.extents[ranks[i] - 1] = rows->columns / 2 + rows->x_chunk;
        pc.extents[orders[i][ranks[i] - 1]] = rows->rows / 2 + 3 * rows->out_chunk;
        if (i % 2)
            pad_permute(&pc, rows->x_chunk, 2 * rows->out_chunk);
        else
            pack_permute(&pc);
        if (!try(rows, pc))
            return false;
    }
    return true;
}

/* On the simulated GPU: a whole tile leaves shared memory in as few wavefronts as its accesses need, and single elements
 * come so as well. Nothing counts those of cp.async.cg. */
static bool test_banks(struct rows *rows) {
#define WAVEFRONTS(op) "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_" op ".sum"
    static const char *const counters[] = {WAVEFRONTS("ldsm") "+" WAVEFRONTS("ld"), WAVEFRONTS("st")};
    const bool is_wide = rows->x_bytes * rows->x_chunk == 16;
    const int64_t lanes = is_wide || rows->x_bytes > 4 ? 128 / rows->x_bytes : 32; /* of a wavefront */
    const double least = (double)(rows->rows * rows->columns / lanes);
    void (*set_counting)(int on);
    int (*metric)(const char *name, double *value);
    *(void **)&set_counting = gm_driver_symbol("gm_sim_set_counting");
    *(void **)&metric = gm_driver_symbol("gm_sim_metric");
    if (!env.simulated || !set_counting || !metric)
        return true;
    const int ran = rows->result->cases;
    set_counting(1);
    bool ok = try(rows, matrix(rows, rows->rows, rows->columns));
    for (int i = 0; i < (is_wide ? 1 : 2) && ok && rows->result->cases != ran; i++) {
        double wavefronts = 0;
        ok = metric(counters[i], &wavefronts) == 0 && wavefronts == least;
        if (!ok) {
            fail(rows->result, "a tile takes %g wavefronts instead of %g: %s", wavefronts, least, counters[i]);
            rows->failures++;
        }
    }
    set_counting(0);
    return ok;
}

/* ---- both ---------------------------------------------------------------------------------------------- */

static struct permute_case ordinary(const struct rows *rows) {
    if (rows->is_tiled)
        return matrix(rows, rows->rows + 2 * rows->out_chunk, rows->columns + 3 * rows->x_chunk);
    const int64_t extents[] = {4, 5, 7 * rows->x_chunk};
    const int order[] = {1, 0, 2};
    struct permute_case pc = plain(rows, 3, extents, order);
    pad_permute(&pc, rows->x_chunk, rows->x_chunk);
    if (is_for_casts(rows))
        make_cast(rows, &pc, 0);
    return pc;
}

static bool test_casts(struct rows *rows) {
    for (int choice = 0; choice < 6; choice++) {
        struct permute_case pc = ordinary(rows);
        make_cast(rows, &pc, choice);
        pc.inputs = (enum permute_inputs)(choice / 2);
        if (pc.element_bytes == 0 && !try(rows, pc))
            return false;
    }
    return true;
}

/* Of few SMs, each CTA takes several tiles. In place, every element stays where it is. */
static bool test_others(struct rows *rows) {
    const int64_t several = 6 * rows->columns, few = 3;
    struct permute_case few_sms = rows->is_tiled ? matrix(rows, rows->rows * few, rows->columns * few + rows->x_chunk)
                                                 : plain(rows, 1, &several, identity);
    if (is_for_casts(rows))
        make_cast(rows, &few_sms, 0);
    few_sms.sm_budget = 1;
    if (!try(rows, few_sms))
        return false;
    if (rows->is_tiled || rows->x_bytes != rows->out_bytes)
        return true;
    const int64_t extents[] = {3, 9 * rows->x_chunk};
    struct permute_case in_place = plain(rows, 2, extents, identity);
    pad_permute(&in_place, rows->x_chunk, rows->x_chunk);
    make_cast(rows, &in_place, 1);
    in_place.out_start = in_place.x_start;
    in_place.in_place = true;
    return try(rows, in_place);
}

/* Variants of accesses of 16 bytes must refuse what is aligned to less, as all others must take it. */
static bool test_alignment(struct rows *rows) {
    const bool is_wide = rows->x_bytes * rows->x_chunk >= 16 && rows->x_bytes < 16;
    for (int offset = 1; offset < (opt.quick ? 3 : 6); offset++) {
        struct permute_case pc = ordinary(rows);
        pc.x_start = offset;
        pc.out_start = offset * 3 % 8;
        if (is_wide)
            pc.may_refuse |= BIT(GM_REASON_ALIGNMENT) | BIT(GM_REASON_STRIDE);
        const int ran = rows->result->cases;
        if (!try(rows, pc))
            return false;
        if (is_wide && rows->result->cases != ran && offset * rows->x_bytes % 16) {
            fail(rows->result, "a variant of 16-byte accesses accepted element offset %d", offset);
            return false;
        }
    }
    return true;
}

static struct rows rows_of(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    const int32_t *c = kernel->columns;
    struct rows rows = {.kernel = kernel, .result = result};
    rows.is_tiled = kernel->family == &gm_family_permute_tile;
    rows.x_bytes = rows.is_tiled ? c[GM_PERMUTE_TILE_X_BYTES] : c[GM_PERMUTE_X_BYTES];
    rows.out_bytes = rows.is_tiled ? c[GM_PERMUTE_TILE_OUT_BYTES] : c[GM_PERMUTE_OUT_BYTES];
    rows.x_chunk = rows.is_tiled ? c[GM_PERMUTE_TILE_ELEMENTS] : c[GM_PERMUTE_ELEMENTS];
    rows.out_chunk = !rows.is_tiled ? rows.x_chunk : rows.x_bytes * rows.x_chunk == 16 ? 16 / rows.out_bytes : 1;
    rows.columns = rows.is_tiled ? c[GM_PERMUTE_TILE_WIDTH]
                                 : (int64_t)c[GM_PERMUTE_THREADS] * c[GM_PERMUTE_VECTORS] * rows.x_chunk;
    rows.rows = rows.is_tiled ? c[GM_PERMUTE_TILE_HEIGHT] : 1;
    return rows;
}

static bool test_shapes(struct rows *rows) {
    if (rows->is_tiled)
        return test_tiles(rows) && test_batches(rows) && test_banks(rows);
    return test_lengths(rows) && test_copies(rows) && test_scattered(rows);
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_shapes(&rows) && test_casts(&rows) && test_others(&rows))
        test_alignment(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        set_schedule((uint64_t)seed);
        try(&rows, ordinary(&rows));
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct permute_case pc = ordinary(&rows);
    struct placed_permute placed = {0};
    pack_permute(&pc); /* the slow copy wants whole words of 16 bits, and that x begins with one */
    pc.x_start = 0;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_permute(result, &pc, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed_permute(&placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct permute_case pc = ordinary(&rows), cast = pc;
    make_cast(&rows, &cast, 1);
    cast.inputs = PERMUTE_SPECIAL;
    if (try(&rows, pc) && try(&rows, cast) && test_shapes(&rows))
        test_others(&rows);
    free_operands(&rows.memory);
}

void add_permute_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_permute && kernel->family != &gm_family_permute_tile)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
