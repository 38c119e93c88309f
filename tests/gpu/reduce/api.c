/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions through the public functions: the planner chooses. Random problems, rows that do not depend on how many there
 * are, operands of more than 2^31 elements, workspaces, and wrong use. */
#include <stdlib.h>
#include <string.h>

#include "reduce/reduce_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct reduce_case random_case(struct draws *d) {
    static const int64_t widths[] = {1, 8, 64, 100, 128, 257, 512, 1000, 1024, 2880, 5632, 33000};
    static const int64_t heights[] = {1, 2, 3, 7, 16, 31, 64, 65, 100, 257, 1000, 4099};
    const bool is_slow = env.simulated || opt.quick || opt.self_test;
    struct reduce_case rc = {.columns = widths[draw(d, is_slow ? 10 : 12)],
                             .rows = heights[draw(d, is_slow ? 10 : 12)]};
    if (is_slow && rc.rows * rc.columns > 60000)
        rc.rows = 7;
    rc.type = (enum gm_type)draw(d, 3);
    rc.along = (enum gm_reduce_along)draw(d, 3);
    rc.reduction = (enum gm_reduction)draw(d, 7);
    rc.inputs = (enum reduce_inputs)draw(d, REDUCE_INPUTS);
    rc.fp32_out = draw(d, 2);
    rc.workspace = draw(d, 3) ? GM_REDUCE_WORKSPACE_BYTES : (size_t)draw(d, 5000);
    rc.counted = draw(d, 4) == 0;
    rc.count = (int)draw(d, rc.rows + 2);
    rc.x_pad = draw(d, 3) ? 0 : draw(d, 9);
    rc.x_start = draw(d, 3) ? 0 : (int)draw(d, 8);
    rc.out_start = (int)draw(d, 4);
    rc.sm_budget = draw(d, 4) ? 0 : 1 + (int)draw(d, 8);
    rc.seed = d->index;
    return rc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0x3e9, 0};
    struct reduce_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 40 : env.simulated ? 120 : 500); i++) {
        struct reduce_case rc = random_case(&draws);
        rc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_reduce(result, &rc, NULL, test->mask, &memory))
            break;
    }
    free_reduce_memory(&memory);
}

/* ---- the bits of a row ---------------------------------------------------------------------------------- */

enum { INVARIANT_ROWS = 9 };

/* The results of so many of the rows, from the first one on, as the planner chooses for them. */
static bool results_of_rows(struct result *result, struct placed_reduce *placed, int64_t first, int64_t rows,
                            float *results) {
    struct gm_reduce_problem problem = placed->problem;
    struct gm_reduce_args args = placed->args;
    problem.rows = rows;
    args.x += (uint64_t)(first * problem.x_stride * gm_type_bytes(problem.type));
    return check_ok(result, gm_reduce(env.context, &problem, &args, env.stream), "rows") &&
           check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "rows") &&
           check_cuda(result, env.drv->cuMemcpyDtoH(results, args.out, (size_t)rows * sizeof *results), "rows");
}

static void run_invariance(const struct test *test, struct result *result) {
    static const int64_t widths[] = {8, 64, 1000, 1001, 4096, 9000, 33000};
    struct reduce_memory memory = {0};
    struct placed_reduce placed = {0};
    (void)test;
    for (size_t i = 0; i < COUNT(widths) * 3 && result->state == PASSED; i++) {
        const struct reduce_case rc = {.rows = INVARIANT_ROWS,
                                       .columns = widths[i / 3],
                                       .type = (enum gm_type)(i % 3),
                                       .inputs = REDUCE_NORMAL,
                                       .fp32_out = true};
        float all[INVARIANT_ROWS], alone[INVARIANT_ROWS];
        bool ok = place_reduce(result, &rc, &memory, &placed);
        const int bytes = gm_type_bytes(rc.type);
        placed.problem.x_align = rc.columns * bytes % 16 ? bytes : 16; /* of every row, so that all are loaded alike */
        ok = ok && results_of_rows(result, &placed, 0, INVARIANT_ROWS, all);
        for (int row = 0; row < INVARIANT_ROWS && ok; row += 4)
            ok = results_of_rows(result, &placed, row, 1, alone + row);
        for (int row = 0; row < INVARIANT_ROWS && ok; row += 4)
            if (memcmp(&all[row], &alone[row], sizeof(float)) != 0)
                fail(result, "row %d of %lld columns is %.9g among others and %.9g alone", row, (long long)rc.columns,
                     (double)all[row], (double)alone[row]);
        result->cases += ok;
    }
    free_placed_reduce(&placed);
    free_reduce_memory(&memory);
}

/* ---- many elements -------------------------------------------------------------------------------------- */

enum { LARGE_COLUMNS = 4096, BLOCK = 1021 };

/* Rows repeat; the last element of all is the largest. */
static void check_large(struct result *result, CUdeviceptr x, int64_t rows, int32_t align, CUdeviceptr out,
                        CUdeviceptr workspace) {
    const struct gm_plan_options options = {.size = sizeof options, .workspace_limit = GM_REDUCE_WORKSPACE_BYTES};
    const struct gm_reduce_args args = {
        .size = sizeof args, .x = x, .out = out, .workspace = workspace, .workspace_bytes = GM_REDUCE_WORKSPACE_BYTES};
    for (int along = GM_REDUCE_COLUMNS; along <= GM_REDUCE_ALL; along++) {
        const struct gm_reduce_problem problem = {.size = sizeof problem,
                                                  .rows = rows,
                                                  .columns = LARGE_COLUMNS,
                                                  .along = (enum gm_reduce_along)along,
                                                  .reduction = GM_REDUCTION_ARGMAX,
                                                  .x_align = align};
        const int64_t last = along == GM_REDUCE_COLUMNS ? rows - 1 : along == GM_REDUCE_ROWS ? LARGE_COLUMNS - 1 : 0;
        const int64_t want = along == GM_REDUCE_COLUMNS ? LARGE_COLUMNS - 1
                             : along == GM_REDUCE_ROWS  ? rows - 1
                                                        : rows * LARGE_COLUMNS - 1;
        const size_t bytes = along == GM_REDUCE_ALL ? 8 : 4;
        int64_t got = 0;
        gm_plan *plan = NULL;
        if (check_ok(result, gm_reduce_plan_create(env.context, &problem, &options, &plan), "plan") &&
            check_ok(result, gm_reduce_execute(plan, &args, env.stream), "large") &&
            check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large") &&
            check_cuda(result, env.drv->cuMemcpyDtoH(&got, out + (size_t)last * bytes, bytes), "copy") && got != want)
            fail(result, "along %d: the largest is at %lld, want %lld", along, (long long)got, (long long)want);
        gm_plan_destroy(plan);
        result->cases++;
    }
}

static void run_large(const struct test *test, struct result *result) {
    const int64_t rows = (INT64_C(1) << 31) / LARGE_COLUMNS + 7;
    const size_t row_bytes = (size_t)LARGE_COLUMNS * 2;
    const struct reduce_case rc = {.rows = BLOCK, .columns = LARGE_COLUMNS, .inputs = REDUCE_NORMAL};
    struct arena out = {0}, workspace = {0};
    struct reduce_memory memory = {0};
    struct placed_reduce placed = {0};
    const uint16_t largest = 0x4300; /* 128 */
    const CUdeviceptr x = take_large(result, (size_t)rows * row_bytes);
    (void)test;
    if (!x)
        return;
    if (place_reduce(result, &rc, &memory, &placed) && repeat_rows(result, x, rows, row_bytes, placed.args.x, BLOCK) &&
        to_device(result, x + (size_t)rows * row_bytes - 2, &largest, sizeof largest) &&
        arena_take(result, &out, (size_t)rows * 4) && arena_take(result, &workspace, GM_REDUCE_WORKSPACE_BYTES)) {
        check_large(result, x, rows, 16, out.base, workspace.base);
        check_large(result, x, rows, 2, out.base, workspace.base);
    }
    free_placed_reduce(&placed);
    free_reduce_memory(&memory);
    arena_free(&out);
    arena_free(&workspace);
    env.drv->cuMemFree(x);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void refuse_each(struct result *result, const gm_plan *plan, const struct gm_reduce_args *good,
                        const struct call *call) {
    const gm_device_ptr x = good->x, out = good->out, w = good->workspace;
    const size_t bytes = good->workspace_bytes;
    const struct {
        const char *what;
        struct gm_reduce_args args;
        enum gm_status want;
    } bad[] = {
#define ARGS(...) {sizeof *good, __VA_ARGS__}
        {"x null", ARGS(0, out, 0, w, bytes), GM_ERROR_INVALID_ARGUMENT},
        {"out null", ARGS(x, 0, 0, w, bytes), GM_ERROR_INVALID_ARGUMENT},
        {"x at 8, 16 promised", ARGS(x + 8, out, 0, w, bytes), GM_ERROR_MISALIGNED},
        {"out at 1", ARGS(x, out + 1, 0, w, bytes), GM_ERROR_MISALIGNED},
        {"row_count at 2", ARGS(x, out, x + 2, w, bytes), GM_ERROR_MISALIGNED},
        {"out in x", ARGS(x, x + 16, 0, w, bytes), GM_ERROR_OVERLAP},
        {"row_count in out", ARGS(x, out, out, w, bytes), GM_ERROR_OVERLAP},
        {"no workspace", ARGS(x, out, 0, 0, bytes), GM_ERROR_WORKSPACE},
        {"a byte too few", ARGS(x, out, 0, w, bytes - 1), GM_ERROR_WORKSPACE},
        {"workspace at 8", ARGS(x, out, 0, w + 8, bytes), GM_ERROR_MISALIGNED},
        {"workspace in x", ARGS(x, out, 0, x, bytes), GM_ERROR_OVERLAP},
#undef ARGS
        {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
    for (size_t i = 0; i < COUNT(bad); i++)
        check_refusal(result, gm_reduce_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
    check_unwritten(result, call, "after refused executes");
}

static void run_arguments(const struct test *test, struct result *result) {
    const struct reduce_case rc = {.rows = 8000, .columns = 64, .along = GM_REDUCE_ROWS, .x_pad = 8};
    const struct gm_plan_options options = {.size = sizeof options, .workspace_limit = GM_REDUCE_WORKSPACE_BYTES};
    struct reduce_memory memory = {0};
    struct placed_reduce placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_reduce(result, &rc, &memory, &placed) &&
        check_ok(result, gm_reduce_plan_create(env.context, &placed.problem, &options, &plan), "plan")) {
        const size_t bytes = gm_plan_workspace_bytes(plan);
        if (bytes == 0)
            fail(result, "the plan asks for no workspace");
        placed.args.workspace = arena_take(result, &memory.workspace.arena, bytes + 16);
        placed.args.workspace_bytes = bytes;
        if (placed.args.workspace)
            refuse_each(result, plan, &placed.args, &placed.placed.call);
    }
    gm_plan_destroy(plan);
    free_placed_reduce(&placed);
    free_reduce_memory(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_reduce_problem no_rows = {.size = sizeof no_rows, .columns = 64};
    const struct gm_reduce_problem no_columns = {.size = sizeof no_columns, .rows = 3, .along = GM_REDUCE_ROWS};
    const struct gm_reduce_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_reduce(env.context, &no_rows, &args, env.stream), "no rows") &&
                     check_ok(result, gm_reduce(env.context, &no_columns, &args, env.stream), "no columns");
}

void add_reduce_api_tests(void) {
    add_test("api", "reduce_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "reduce_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "reduce_of_nothing", run_empty, -1, 0);
    add_test("api", "reduce_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("invariance", "reduce_rows_alone", run_invariance, -1, 0);
    add_test("badinput", "reduce_arguments", run_arguments, -1, 0);
}
