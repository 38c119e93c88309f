/* SPDX-License-Identifier: Apache-2.0 */
/* Permutations through the public functions: the planner chooses. Random problems, more than 2^31 elements, and wrong
 * use. */
#include <stdlib.h>
#include <string.h>

#include "permute/permute_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static void draw_order(struct draws *d, struct permute_case *pc) {
    for (int k = 0; k < pc->rank; k++) {
        const int at = (int)draw(d, k + 1);
        pc->order[k] = pc->order[at];
        pc->order[at] = k;
    }
}

/* Some thousand elements at most: the first extents may be large, the others then are small. */
static void draw_extents(struct draws *d, struct permute_case *pc) {
    static const int64_t extents[] = {1, 2, 3, 4, 5, 8, 16, 17, 24, 32, 64, 67, 128, 200, 257};
    int64_t left = env.simulated || opt.quick ? 20000 : 200000;
    const int first = (int)draw(d, pc->rank);
    for (int k = 0; k < pc->rank; k++) {
        int64_t *extent = &pc->extents[(first + k) % pc->rank];
        do
            *extent = extents[draw(d, COUNT(extents))];
        while (*extent > left);
        left /= *extent;
    }
}

/* Dimensions of out, or of x, in any order in memory, with gaps. */
static void draw_strides(struct draws *d, const struct permute_case *pc, bool of_x, int64_t *strides) {
    int order[PERMUTE_RANK] = {0};
    int64_t next = draw(d, 4) ? 1 : 1 + draw(d, 3);
    for (int k = 0; k < pc->rank; k++) {
        const int at = (int)draw(d, k + 1);
        order[k] = order[at];
        order[at] = k;
    }
    for (int i = 0; i < pc->rank; i++) {
        strides[order[i]] = next;
        next *= pc->extents[of_x ? order[i] : pc->order[order[i]]];
        next += draw(d, 3) ? 0 : draw(d, 2) ? 8 * draw(d, 3) : draw(d, 5);
    }
}

static struct permute_case random_case(struct draws *d) {
    struct permute_case pc = {.rank = 1 + (int)draw(d, PERMUTE_RANK), .seed = d->index};
    draw_order(d, &pc);
    draw_extents(d, &pc);
    pack_permute(&pc);
    if (draw(d, 3) == 0)
        draw_strides(d, &pc, true, pc.x_strides);
    if (draw(d, 3) == 0)
        draw_strides(d, &pc, false, pc.out_strides);
    if (draw(d, 2)) {
        pc.element_bytes = 1 << draw(d, 5);
    } else {
        pc.type = (enum gm_type)draw(d, 3);
        pc.out_type = (enum gm_type)((pc.type + 1 + draw(d, 2)) % 3);
        pc.inputs = (enum permute_inputs)draw(d, 3);
    }
    if (draw(d, 3) == 0) {
        pc.x_start = (int)draw(d, 9);
        pc.out_start = (int)draw(d, 9);
    }
    return pc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0x9e2, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 60 : env.simulated ? 150 : 1000); i++) {
        struct permute_case pc = random_case(&draws);
        pc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_permute(result, &pc, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

enum { LARGE_ROWS = 65600, LARGE_COLUMNS = 32768, BLOCK = 1021 };

struct large {
    struct result *result;
    CUdeviceptr x, out;
    uint8_t *block; /* of rows of x, which repeat */
};

static uint8_t byte_of_x(const struct large *large, int64_t row, int64_t column) {
    return large->block[row % BLOCK * LARGE_COLUMNS + column];
}

/* The rows of out at both ends, and beside 2^31 elements: row r of the transposed one is column r of x. */
static void check_large(const struct large *large, int64_t rows, int64_t columns, bool is_transposed) {
    const int64_t edge = (INT64_C(1) << 31) / columns, samples[] = {0, 1, rows / 2, edge - 1, edge, rows - 1};
    uint8_t *got = malloc((size_t)columns);
    for (size_t i = 0; i < COUNT(samples) && got; i++) {
        const int64_t row = samples[i] < rows ? samples[i] : 0;
        if (!check_cuda(large->result,
                        env.drv->cuMemcpyDtoH(got, large->out + (uint64_t)(row * columns), (size_t)columns), "copy"))
            break;
        for (int64_t c = 0; c < columns; c++) {
            const uint8_t want = is_transposed ? byte_of_x(large, c, row) : byte_of_x(large, row, c);
            if (got[c] != want) {
                fail(large->result, "out[%lld, %lld] is 0x%02x, want 0x%02x", (long long)row, (long long)c, got[c],
                     want);
                break;
            }
        }
        large->result->cases++;
    }
    free(got);
}

static void run_large_problem(const struct large *large, int64_t columns, int32_t align, bool is_transposed) {
    const struct gm_permute_problem problem = {.size = sizeof problem,
                                               .rank = 2,
                                               .extents = {LARGE_ROWS, columns},
                                               .x_strides = {LARGE_COLUMNS, 1},
                                               .order = {is_transposed, !is_transposed},
                                               .element_bytes = 1,
                                               .x_align = align,
                                               .out_align = align};
    const struct gm_permute_args args = {.size = sizeof args, .x = large->x, .out = large->out};
    const size_t bytes = (size_t)LARGE_ROWS * (size_t)columns;
    if (check_cuda(large->result, env.drv->cuMemsetD8(large->out, POISON, bytes), "poison") &&
        check_cuda(large->result, env.drv->cuCtxSynchronize(), "poison") &&
        check_ok(large->result, gm_permute(env.context, &problem, &args, env.stream), "large") &&
        check_cuda(large->result, env.drv->cuStreamSynchronize(env.stream), "large"))
        check_large(large, is_transposed ? columns : LARGE_ROWS, is_transposed ? LARGE_ROWS : columns, is_transposed);
}

/* Transposed by tiles of 16-byte accesses and of single ones; copied by single bytes, in slabs. */
static void run_large(const struct test *test, struct result *result) {
    const size_t bytes = (size_t)LARGE_ROWS * LARGE_COLUMNS, block_bytes = (size_t)BLOCK * LARGE_COLUMNS;
    struct large large = {.result = result, .x = take_large(result, bytes)};
    (void)test;
    if (!large.x)
        return;
    large.out = take_large(result, bytes);
    large.block = malloc(block_bytes);
    for (size_t i = 0; large.block && i < block_bytes; i++)
        large.block[i] = (uint8_t)(hash64(opt.seed, i / 8) >> 8 * (i % 8));
    if (large.out && large.block && to_device(result, large.out, large.block, block_bytes) &&
        repeat_rows(result, large.x, LARGE_ROWS, LARGE_COLUMNS, large.out, BLOCK)) {
        run_large_problem(&large, LARGE_COLUMNS, 16, true);
        run_large_problem(&large, LARGE_COLUMNS - 1, 1, true);
        run_large_problem(&large, LARGE_COLUMNS - 1, 1, false);
    }
    free(large.block);
    if (large.out)
        env.drv->cuMemFree(large.out);
    env.drv->cuMemFree(large.x);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

/* Rows of 64 elements, 72 apart in both: so much of x lies between the rows of out as fits there. */
static void run_arguments(const struct test *test, struct result *result) {
    struct permute_case pc = {.rank = 2, .extents = {24, 64}, .order = {1, 0}, .element_bytes = 2};
    struct operand_memory memory = {0};
    struct placed_permute placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    pad_permute(&pc, 8, 8);
    if (place_permute(result, &pc, &memory, &placed) &&
        check_ok(result, gm_permute_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_permute_args good = placed.args;
        const struct {
            const char *what;
            struct gm_permute_args args;
            enum gm_status want;
        } bad[] = {{"x null", {sizeof good, 0, good.out}, GM_ERROR_INVALID_ARGUMENT},
                   {"out null", {sizeof good, good.x, 0}, GM_ERROR_INVALID_ARGUMENT},
                   {"x at 8, 16 promised", {sizeof good, good.x + 8, good.out}, GM_ERROR_MISALIGNED},
                   {"out at 2", {sizeof good, good.x, good.out + 2}, GM_ERROR_MISALIGNED},
                   {"out is x", {sizeof good, good.out, good.out}, GM_ERROR_OVERLAP},
                   {"x ends in out", {sizeof good, good.out - 16, good.out}, GM_ERROR_OVERLAP},
                   {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
        for (size_t i = 0; i < COUNT(bad); i++)
            check_refusal(result, gm_permute_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed_permute(&placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_permute_problem problem = {.size = sizeof problem, .rank = 3, .extents = {5, 0, 7}};
    const struct gm_permute_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_permute(env.context, &problem, &args, env.stream), "no elements");
}

void add_permute_api_tests(void) {
    add_test("api", "permute_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "permute_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "permute_of_no_elements", run_empty, -1, 0);
    add_test("api", "permute_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("badinput", "permute_arguments", run_arguments, -1, 0);
}
