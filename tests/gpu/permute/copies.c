/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of copies of rows of any alignment, by name: lengths of rows around its chunks, strides and beginnings of x,
 * sizes of elements, orders, guards, and late operands. */
#include "columns.h"
#include "permute/permute_tests.h"

#include <string.h>

struct copies {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures, threads, vectors;
};

static struct copies copies_of(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    return (struct copies){.kernel = kernel,
                           .result = result,
                           .threads = kernel->columns[GM_PERMUTE_ROWS_THREADS],
                           .vectors = kernel->columns[GM_PERMUTE_ROWS_VECTORS]};
}

static bool try(struct copies *copies, struct permute_case pc) {
    enum { MOST_FAILURES = 3 };
    copies->failures += !run_permute(copies->result, &pc, copies->kernel->name, 0, &copies->memory);
    return copies->failures < MOST_FAILURES || opt.verbose;
}

/* `rows` of so many elements, which begin `start` elements behind a multiple of 256 bytes of x and `x_pad` more than their
 * length from each other. Out's begin on multiples of 16 bytes. Where nothing is odd a kernel of 16-byte elements takes
 * it; and where the rows are one larger element, that of single ones. */
static struct permute_case rows_of(int element_bytes, int64_t rows, int64_t length, int64_t x_pad, int start) {
    struct permute_case pc = {.rank = 2,
                              .order = {0, 1},
                              .extents = {rows, length},
                              .element_bytes = element_bytes,
                              .x_start = start,
                              .seed = (uint64_t)(length + 131 * x_pad),
                              .may_refuse = BIT(GM_REASON_NO_IMAGE)};
    const int64_t chunk = 16 / element_bytes;
    pc.x_strides[0] = length + x_pad;
    pc.out_strides[0] = (length + chunk - 1) / chunk * chunk + (x_pad % 3) * chunk;
    pc.x_strides[1] = pc.out_strides[1] = 1;
    if ((pc.x_strides[0] % chunk == 0 || rows == 1) && start % chunk == 0 && length % chunk == 0)
        pc.may_refuse |= BIT(GM_REASON_TYPE);
    if (length <= chunk)
        pc.may_refuse |= BIT(GM_REASON_LAYOUT);
    return pc;
}

/* Lengths that leave every remainder of a chunk, and rows at every one in x. */
static bool test_lengths(struct copies *copies) {
    static const int64_t lengths[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 61, 97, 127, 509};
    for (int bytes = 1; bytes <= 8; bytes *= 2)
        for (size_t i = 0; i < (opt.quick ? 8 : COUNT(lengths)); i++)
            if (!try(copies, rows_of(bytes, 19, lengths[i], (int64_t)(i % 4), (int)i % 9)))
                return false;
    return true;
}

/* Rows that begin at each byte of a span in turn, in x of few of them: its own ends are never passed. */
static bool test_beginnings(struct copies *copies) {
    for (int start = 0; start < 17; start++)
        for (int64_t rows = 1; rows <= 3; rows++)
            if (!try(copies, rows_of(1, rows, 32 + start % 5 + rows, start % 3, start)))
                return false;
    return try(copies, rows_of(2, 1, 4001, 0, 3)) && try(copies, rows_of(2, 300, 7, 0, 1));
}

/* x ends where its allocation does, and what lies in front of it was never written: the simulator, and compute-sanitizer,
 * then see what is read beside it. */
enum { END_ROWS = 3, END_BYTES = 45, END_PITCH = 46, END_SPAN = (END_ROWS - 1) * END_PITCH + END_BYTES, END_OUT = 48 };

static void check_ends(struct copies *copies, CUdeviceptr out, const uint8_t *x, int start) {
    uint8_t got[END_ROWS * END_OUT];
    if (!check_cuda(copies->result, env.drv->cuMemcpyDtoH(got, out, sizeof got), "copy"))
        return;
    for (int row = 0; row < END_ROWS; row++)
        if (memcmp(got + row * END_OUT, x + row * END_PITCH, END_BYTES) != 0)
            fail(copies->result, "row %d of x, which begins %d bytes behind its allocation, is another one", row,
                 start);
    copies->result->cases++;
}

static bool copy_to_the_ends(struct copies *copies, int start, struct arena *exact, struct arena *written) {
    const struct gm_permute_problem problem = {.size = sizeof problem,
                                               .rank = 2,
                                               .extents = {END_ROWS, END_BYTES},
                                               .x_strides = {END_PITCH, 1},
                                               .out_strides = {END_OUT, 1},
                                               .element_bytes = 1,
                                               .x_align = 1};
    const struct gm_plan_options options = {.size = sizeof options, .kernel = copies->kernel->name};
    const CUdeviceptr x = arena_take_exactly(copies->result, exact, (size_t)(start + END_SPAN));
    const struct gm_permute_args args = {
        .size = sizeof args, .x = x + (unsigned)start, .out = arena_take(copies->result, written, END_ROWS * END_OUT)};
    uint8_t bytes[END_SPAN];
    gm_plan *plan = NULL;
    for (int i = 0; i < END_SPAN; i++)
        bytes[i] = (uint8_t)hash64(opt.seed, (uint64_t)(start * END_SPAN + i));
    bool ok = x && args.out && to_device(copies->result, args.x, bytes, sizeof bytes) &&
              check_ok(copies->result, gm_permute_plan_create(env.context, &problem, &options, &plan), "plan") &&
              check_ok(copies->result, gm_permute_execute(plan, &args, env.stream), "execute") &&
              check_cuda(copies->result, env.drv->cuStreamSynchronize(env.stream), "execute");
    if (ok)
        check_ends(copies, args.out, bytes, start);
    gm_plan_destroy(plan);
    return ok;
}

static bool has_image(const struct copies *copies) {
    return copies->kernel->arch != GM_ARCH_SM90 || env.device.cc_major == 9;
}

static bool test_ends(struct copies *copies) {
    struct arena exact = {0}, written = {0};
    bool ok = true;
    for (int start = 0; start < 17 && ok && has_image(copies); start++)
        ok = copy_to_the_ends(copies, start, &exact, &written);
    arena_free(&exact);
    arena_free(&written);
    return ok;
}

/* So many chunks as several CTAs have, in rows that no CTA begins with; and so few SMs that each takes several. */
static bool test_grids(struct copies *copies) {
    const int64_t cta = (int64_t)copies->threads * copies->vectors;
    struct permute_case pc = rows_of(2, 37, cta / 3 * 2 + 1, 6, 1);
    pc.repeats = 2;
    if (!try(copies, pc) || !try(copies, rows_of(1, 3, 16 * cta - 1, 1, 0)))
        return false;
    pc = rows_of(4, 5, 4 * cta + 5, 2, 3);
    pc.sm_budget = 1;
    return try(copies, pc);
}

/* Of several dimensions, in every place but the last. */
static bool test_orders(struct copies *copies) {
    static const int orders[][5] = {{1, 0, 2}, {0, 2, 1, 3}, {2, 1, 0, 3}, {3, 1, 0, 2, 4}, {0, 1, 2, 3, 4}};
    static const int ranks[] = {3, 4, 4, 5, 5};
    for (size_t i = 0; i < COUNT(orders); i++) {
        static const int64_t extents[] = {5, 3, 4, 2};
        struct permute_case pc = rows_of(2, 1, 43, 0, 1 + (int)i);
        pc.rank = ranks[i];
        for (int k = 0; k < pc.rank; k++) {
            pc.order[k] = orders[i][k];
            pc.extents[k] = k < pc.rank - 1 ? extents[k] : 43;
        }
        pad_permute(&pc, (int64_t)i % 2, 5 + 8 * ((int64_t)i % 3));
        if (!try(copies, pc))
            return false;
    }
    struct permute_case windows = rows_of(2, 23, 41, 0, 1);
    windows.x_strides[0] = 3; /* rows of x share elements */
    return try(copies, windows);
}

/* Rows of out beside 16 bytes, and casts, are refused; rows of x are taken wherever they are. */
static bool test_refusals(struct copies *copies) {
    const int ran = copies->result->cases;
    struct permute_case pc = rows_of(2, 5, 41, 1, 1);
    pc.may_refuse |= BIT(GM_REASON_ALIGNMENT) | BIT(GM_REASON_STRIDE) | BIT(GM_REASON_TYPE);
    struct permute_case beside = pc, odd = pc, cast = pc;
    beside.out_start = 4;
    odd.out_strides[0]++;
    cast.element_bytes = 0, cast.out_type = GM_FP16;
    if (!try(copies, beside) || !try(copies, odd) || !try(copies, cast))
        return false;
    if (copies->result->cases != ran)
        fail(copies->result, "rows of out beside 16 bytes, or a cast, were accepted");
    return copies->result->cases == ran;
}

/* Rows that stay where they are. */
static bool test_in_place(struct copies *copies) {
    struct permute_case pc = rows_of(2, 7, 77, 3, 0);
    pc.x_strides[0] = pc.out_strides[0];
    pc.in_place = true;
    return try(copies, pc);
}

static bool test_all(struct copies *copies) {
    return test_lengths(copies) && test_beginnings(copies) && test_ends(copies) && test_grids(copies) &&
           test_orders(copies) && test_in_place(copies);
}

/* Odd strides, beginnings and lengths, drawn. */
static bool test_drawn(struct copies *copies) {
    struct draws d = {opt.seed ^ 0x5e0, 0};
    for (int i = 0; i < (opt.quick ? 6 : 24); i++) {
        const int bytes = 1 << draw(&d, 4);
        const int64_t rows = 1 + draw(&d, 40), length = 1 + draw(&d, draw(&d, 2) ? 40 : 700);
        if (!try(copies, rows_of(bytes, rows, length, draw(&d, 18), (int)draw(&d, 18))))
            return false;
    }
    return true;
}

static void run_row(const struct test *test, struct result *result) {
    struct copies copies = copies_of(test, result);
    if (test_all(&copies) && test_drawn(&copies))
        test_refusals(&copies);
    for (int seed = 1; seed < opt.seeds && env.simulated && copies.failures == 0; seed++) {
        set_schedule((uint64_t)seed);
        try(&copies, rows_of(2, 61, 131, 2, 3));
    }
    set_schedule(opt.schedule);
    free_operands(&copies.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct copies copies = copies_of(test, result);
    struct permute_case pc = rows_of(2, 61, 131, 2, 0); /* the slow copy wants that x begins with a word */
    struct placed_permute placed = {0};
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_permute(result, &pc, &copies.memory, &placed))
        run_early(result, &placed.placed, copies.kernel->name);
    free_placed_permute(&placed);
    free_operands(&copies.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct copies copies = copies_of(test, result);
    test_all(&copies);
    free_operands(&copies.memory);
}

void add_permute_copies_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_permute_rows)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
