/* SPDX-License-Identifier: Apache-2.0 */
/* convolution through the public functions: the planner chooses. Random problems, planes of more than 2^31 elements, and
 * wrong use. */
#include <stdlib.h>
#include <string.h>

#include "convolution/convolution_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct convolution_case random_case(struct draws *d) {
    const int64_t most = env.simulated || opt.quick ? 7 : 31;
    struct convolution_case cc = {.width = 1 + draw(d, 150), .height = 1 + draw(d, 12), .planes = 1 + draw(d, 3)};
    cc.filter_width = 1 + draw(d, most);
    cc.filter_height = 1 + draw(d, most);
    cc.shift_x = draw(d, cc.filter_width) - cc.filter_width / 2;
    cc.shift_y = draw(d, cc.filter_height) - cc.filter_height / 2;
    cc.type = (enum gm_type)draw(d, 3);
    cc.edge = (int)draw(d, 3);
    cc.separable = draw(d, 2);
    cc.inputs = draw(d, 4) ? CONVOLUTION_UNIFORM : CONVOLUTION_SPECIAL;
    cc.seed = d->index;
    if (draw(d, 2)) {
        cc.width = (cc.width + 7) / 8 * 8;
    } else {
        cc.x_start = (int)draw(d, 8);
        cc.out_start = (int)draw(d, 8);
        cc.x_pad = draw(d, 9);
        cc.out_pad = draw(d, 9);
        cc.x_plane_pad = draw(d, 9);
        cc.out_plane_pad = draw(d, 9);
    }
    return cc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0xc04f, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 30 : env.simulated ? 60 : 400); i++) {
        struct convolution_case cc = random_case(&draws);
        cc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_convolution(result, &cc, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

enum { LARGE_COLUMNS = 4096, BLOCK = 1021 };

/* A filter of one tap, 1: out is x, which has more than 2^31 elements. `align`: 2, by elements. */
static void large_copy(struct result *result, CUdeviceptr x, CUdeviceptr out, CUdeviceptr filter, int64_t rows,
                       const uint8_t *block, int32_t align) {
    const struct gm_convolution_problem problem = {.size = sizeof problem,
                                                   .width = LARGE_COLUMNS,
                                                   .height = rows,
                                                   .planes = 1,
                                                   .filter_width = 1,
                                                   .filter_height = 1,
                                                   .x_align = align,
                                                   .out_align = align};
    const struct gm_convolution_args args = {.size = sizeof args, .x = x, .filter = filter, .out = out};
    if (check_cuda(result, env.drv->cuMemsetD8(out, 0xff, (size_t)rows * LARGE_COLUMNS * 2), "poison") &&
        check_cuda(result, env.drv->cuCtxSynchronize(), "poison") && /* env.stream does not wait for it */
        check_ok(result, gm_convolution(env.context, &problem, &args, env.stream), "large") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large"))
        check_repeated_rows(result, out, rows, LARGE_COLUMNS * 2, LARGE_COLUMNS, block, BLOCK);
}

static bool fill_large(struct result *result, CUdeviceptr x, CUdeviceptr filter, int64_t rows, uint8_t *block) {
    const float one = 1;
    for (int64_t i = 0; i < (int64_t)BLOCK * LARGE_COLUMNS; i++)
        store_bits(block + 2 * i, GM_BF16, (uint32_t)(0x1000 + (hash64(opt.seed, (uint64_t)i) & 0x3fff)));
    return to_device(result, filter, &one, sizeof one) &&
           to_device(result, x, block, (size_t)BLOCK * LARGE_COLUMNS * 2) &&
           repeat_rows(result, x + (uint64_t)BLOCK * LARGE_COLUMNS * 2, rows - BLOCK, LARGE_COLUMNS * 2, x, BLOCK);
}

static void run_large(const struct test *test, struct result *result) {
    const int64_t rows = (INT64_C(1) << 31) / LARGE_COLUMNS + 7;
    const size_t bytes = (size_t)rows * LARGE_COLUMNS * 2;
    const CUdeviceptr x = take_large(result, 2 * bytes + 16);
    uint8_t *block = malloc((size_t)BLOCK * LARGE_COLUMNS * 2);
    (void)test;
    if (x && block && fill_large(result, x, x + 2 * bytes, rows, block)) {
        large_copy(result, x, x + bytes, x + 2 * bytes, rows, block, 16);
        large_copy(result, x, x + bytes, x + 2 * bytes, rows, block, 2);
    }
    free(block);
    if (x)
        env.drv->cuMemFree(x);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void run_arguments(const struct test *test, struct result *result) {
    const struct convolution_case cc = {.width = 64,
                                        .height = 5,
                                        .planes = 2,
                                        .filter_width = 4,
                                        .filter_height = 3,
                                        .separable = true,
                                        .x_pad = 8,
                                        .out_pad = 8};
    struct operand_memory memory = {0};
    struct placed_convolution placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_convolution(result, &cc, &memory, &placed) &&
        check_ok(result, gm_convolution_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_convolution_args g = placed.args;
        const struct {
            const char *what;
            struct gm_convolution_args args;
            enum gm_status want;
        } bad[] = {
#define ARGS(...) {sizeof g, __VA_ARGS__}
            {"x null", ARGS(0, g.filter, g.filter_y, g.out), GM_ERROR_INVALID_ARGUMENT},
            {"filter null", ARGS(g.x, 0, g.filter_y, g.out), GM_ERROR_INVALID_ARGUMENT},
            {"filter_y null", ARGS(g.x, g.filter, 0, g.out), GM_ERROR_INVALID_ARGUMENT},
            {"out null", ARGS(g.x, g.filter, g.filter_y, 0), GM_ERROR_INVALID_ARGUMENT},
            {"x at 8, 16 promised", ARGS(g.x + 8, g.filter, g.filter_y, g.out), GM_ERROR_MISALIGNED},
            {"filter at 2", ARGS(g.x, g.filter + 2, g.filter_y, g.out), GM_ERROR_MISALIGNED},
            {"filter_y at 2", ARGS(g.x, g.filter, g.filter_y + 2, g.out), GM_ERROR_MISALIGNED},
            {"out is x", ARGS(g.x, g.filter, g.filter_y, g.x), GM_ERROR_OVERLAP},
            {"filter in out", ARGS(g.x, g.out, g.filter_y, g.out), GM_ERROR_OVERLAP},
#undef ARGS
            {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
        for (size_t i = 0; i < COUNT(bad); i++)
            check_refusal(result, gm_convolution_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const int64_t extents[][3] = {{0, 5, 2}, {5, 0, 2}, {5, 2, 0}};
    const struct gm_convolution_args args = {.size = sizeof args};
    (void)test;
    for (size_t i = 0; i < COUNT(extents); i++) {
        const struct gm_convolution_problem problem = {.size = sizeof problem,
                                                       .width = extents[i][0],
                                                       .height = extents[i][1],
                                                       .planes = extents[i][2],
                                                       .filter_width = 3,
                                                       .filter_height = 3};
        result->cases += check_ok(result, gm_convolution(env.context, &problem, &args, env.stream), "empty");
    }
}

void add_convolution_api_tests(void) {
    add_test("api", "convolution_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "convolution_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "convolution_of_nothing", run_empty, -1, 0);
    add_test("api", "convolution_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("badinput", "convolution_arguments", run_arguments, -1, 0);
}
