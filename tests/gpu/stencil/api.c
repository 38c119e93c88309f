/* SPDX-License-Identifier: Apache-2.0 */
/* stencil through the public functions: the planner chooses. Random problems, grids of more than 2^31 elements, and wrong
 * use. */
#include <stdlib.h>
#include <string.h>

#include "stencil/stencil_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct stencil_case random_case(struct draws *d) {
    const bool is_small = env.simulated || opt.quick;
    struct stencil_case sc = {.width = 1 + draw(d, 150),
                              .height = 1 + draw(d, is_small ? 7 : 70),
                              .depth = 1 + draw(d, 4),
                              .grids = 1 + draw(d, 2)};
    sc.shape = (int)draw(d, 4);
    sc.type = (enum gm_type)draw(d, 3);
    sc.edge = (int)draw(d, 3);
    sc.inputs = draw(d, 4) ? STENCIL_UNIFORM : STENCIL_SPECIAL;
    sc.sm_budget = (int)draw(d, 2);
    sc.seed = d->index;
    if (draw(d, 2)) {
        sc.width = (sc.width + 7) / 8 * 8;
    } else {
        sc.x_start = (int)draw(d, 8);
        sc.out_start = (int)draw(d, 8);
        sc.x_pad = draw(d, 9);
        sc.out_pad = draw(d, 9);
        sc.x_plane_pad = draw(d, 9);
        sc.out_plane_pad = draw(d, 9);
        sc.x_grid_pad = draw(d, 9);
        sc.out_grid_pad = draw(d, 9);
    }
    return sc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0x57e4, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 20 : env.simulated ? 40 : 400); i++) {
        struct stencil_case sc = random_case(&draws);
        sc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_stencil(result, &sc, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

enum { LARGE_COLUMNS = 4096, BLOCK = 1021 };

/* One tap, 1: out is x, which has more than 2^31 elements. `align`: 2, by elements. In three dimensions a row is a plane. */
static void large_copy(struct result *result, CUdeviceptr x, CUdeviceptr out, int64_t rows, const uint8_t *block,
                       enum gm_stencil_shape shape, int32_t align) {
    const bool is_flat = shape == GM_STENCIL_STAR_5;
    struct gm_stencil_problem problem = {.size = sizeof problem,
                                         .width = LARGE_COLUMNS,
                                         .height = is_flat ? rows : 1,
                                         .depth = is_flat ? 1 : rows,
                                         .grids = 1,
                                         .shape = shape,
                                         .x_align = align,
                                         .out_align = align};
    const struct gm_stencil_args args = {.size = sizeof args, .x = x, .out = out};
    problem.coefficients[is_flat ? 2 : 3] = 1;
    if (check_cuda(result, env.drv->cuMemsetD8(out, 0xff, (size_t)rows * LARGE_COLUMNS * 2), "poison") &&
        check_cuda(result, env.drv->cuCtxSynchronize(), "poison") && /* env.stream does not wait for it */
        check_ok(result, gm_stencil(env.context, &problem, &args, env.stream), "large") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large"))
        check_repeated_rows(result, out, rows, LARGE_COLUMNS * 2, LARGE_COLUMNS, block, BLOCK);
}

static bool fill_large(struct result *result, CUdeviceptr x, int64_t rows, uint8_t *block) {
    for (int64_t i = 0; i < (int64_t)BLOCK * LARGE_COLUMNS; i++)
        store_bits(block + 2 * i, GM_BF16, (uint32_t)(0x1000 + (hash64(opt.seed, (uint64_t)i) & 0x3fff)));
    return to_device(result, x, block, (size_t)BLOCK * LARGE_COLUMNS * 2) &&
           repeat_rows(result, x + (uint64_t)BLOCK * LARGE_COLUMNS * 2, rows - BLOCK, LARGE_COLUMNS * 2, x, BLOCK);
}

static void run_large(const struct test *test, struct result *result) {
    const int64_t rows = (INT64_C(1) << 31) / LARGE_COLUMNS + 7;
    const size_t bytes = (size_t)rows * LARGE_COLUMNS * 2;
    const CUdeviceptr x = take_large(result, 2 * bytes);
    uint8_t *block = malloc((size_t)BLOCK * LARGE_COLUMNS * 2);
    (void)test;
    if (x && block && fill_large(result, x, rows, block)) {
        large_copy(result, x, x + bytes, rows, block, GM_STENCIL_STAR_5, 16);
        large_copy(result, x, x + bytes, rows, block, GM_STENCIL_STAR_5, 2);
        large_copy(result, x, x + bytes, rows, block, GM_STENCIL_STAR_7, 16);
        large_copy(result, x, x + bytes, rows, block, GM_STENCIL_STAR_7, 2);
    }
    free(block);
    if (x)
        env.drv->cuMemFree(x);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void run_arguments(const struct test *test, struct result *result) {
    const struct stencil_case sc = {
        .width = 64, .height = 5, .depth = 3, .grids = 2, .shape = GM_STENCIL_STAR_7, .x_pad = 8, .out_pad = 8};
    struct operand_memory memory = {0};
    struct placed_stencil placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_stencil(result, &sc, &memory, &placed) &&
        check_ok(result, gm_stencil_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_stencil_args g = placed.args;
        const struct {
            const char *what;
            struct gm_stencil_args args;
            enum gm_status want;
        } bad[] = {
#define ARGS(...) {sizeof g, __VA_ARGS__}
            {"x null", ARGS(0, g.out), GM_ERROR_INVALID_ARGUMENT},
            {"out null", ARGS(g.x, 0), GM_ERROR_INVALID_ARGUMENT},
            {"x at 8, 16 promised", ARGS(g.x + 8, g.out), GM_ERROR_MISALIGNED},
            {"out at 8, 16 promised", ARGS(g.x, g.out + 8), GM_ERROR_MISALIGNED},
            {"out is x", ARGS(g.x, g.x), GM_ERROR_OVERLAP},
            {"out is x one row on", ARGS(g.x, g.x + 144), GM_ERROR_OVERLAP},
#undef ARGS
            {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
        for (size_t i = 0; i < COUNT(bad); i++)
            check_refusal(result, gm_stencil_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const int64_t extents[][4] = {{0, 5, 2, 1}, {5, 0, 2, 1}, {5, 2, 0, 1}, {5, 2, 1, 0}};
    const struct gm_stencil_args args = {.size = sizeof args};
    (void)test;
    for (size_t i = 0; i < COUNT(extents); i++) {
        const struct gm_stencil_problem problem = {.size = sizeof problem,
                                                   .width = extents[i][0],
                                                   .height = extents[i][1],
                                                   .depth = extents[i][2],
                                                   .grids = extents[i][3],
                                                   .shape = GM_STENCIL_STAR_7};
        result->cases += check_ok(result, gm_stencil(env.context, &problem, &args, env.stream), "empty");
    }
}

void add_stencil_api_tests(void) {
    add_test("api", "stencil_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "stencil_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "stencil_of_nothing", run_empty, -1, 0);
    add_test("api", "stencil_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("badinput", "stencil_arguments", run_arguments, -1, 0);
}
