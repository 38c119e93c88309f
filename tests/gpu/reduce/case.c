/* SPDX-License-Identifier: Apache-2.0 */
/* One reduction: its operands, its workspace, and what out shall be. */
#include <math.h>
#include <stdlib.h>

#include "reduce/reduce_tests.h"

void describe_reduce(const struct reduce_case *rc, char *text, size_t bytes) {
    static const char *const alongs[] = {"columns", "rows", "all"};
    static const char *const reductions[] = {"sum", "mean", "max", "min", "l2", "argmax", "argmin"};
    static const char *const inputs[] = {"integer", "normal", "positive", "special", "ties", "equal"};
    char counted[32] = "";
    if (rc->counted)
        snprintf(counted, sizeof counted, " count %d", rc->count);
    snprintf(text, bytes, "%s along %s of %lld rows%s of %lld %s%s %s pad %lld starts %d,%d workspace %zu",
             reductions[rc->reduction], alongs[rc->along], (long long)rc->rows, counted, (long long)rc->columns,
             gm_type_name(rc->type), rc->fp32_out ? " to fp32" : "", inputs[rc->inputs], (long long)rc->x_pad,
             rc->x_start, rc->out_start, rc->workspace);
}

static bool finds_place(const struct reduce_case *rc) {
    return rc->reduction == GM_REDUCTION_ARGMAX || rc->reduction == GM_REDUCTION_ARGMIN;
}

static bool is_extreme(const struct reduce_case *rc) {
    return finds_place(rc) || rc->reduction == GM_REDUCTION_MAX || rc->reduction == GM_REDUCTION_MIN;
}

static bool finds_least(const struct reduce_case *rc) {
    return rc->reduction == GM_REDUCTION_MIN || rc->reduction == GM_REDUCTION_ARGMIN;
}

static int64_t results_of(const struct reduce_case *rc) {
    return rc->along == GM_REDUCE_ALL ? 1 : rc->along == GM_REDUCE_ROWS ? rc->columns : rc->rows;
}

static int64_t result_of(const struct reduce_case *rc, int64_t row, int64_t column) {
    return rc->along == GM_REDUCE_ALL ? 0 : rc->along == GM_REDUCE_ROWS ? column : row;
}

static int64_t rows_read(const struct reduce_case *rc) {
    return !rc->counted ? rc->rows : rc->count < 0 ? 0 : rc->count < rc->rows ? rc->count : rc->rows;
}

/* ---- values ------------------------------------------------------------------------------------------ */

/* A kind for each result: so that not all are NaN. Sums that pass the largest number depend on their order; they have
 * none of that size. */
static double special(const struct reduce_case *rc, int64_t result, uint64_t random, double ordinary) {
    const double largest = rc->type == GM_FP16 ? 65504 : 0x1.fep127, least = rc->type == GM_FP16 ? 0x1p-24 : 0x1p-133;
    const double kinds[][4] = {{NAN, INFINITY, -INFINITY, ordinary},
                               {INFINITY, ordinary, is_extreme(rc) ? largest : 1, ordinary},
                               {-INFINITY, least, is_extreme(rc) ? -largest : -1, -least},
                               {0, -0.0, least, -least},
                               {-0.0, 0, finds_least(rc) ? 2 : -2, 0}};
    return kinds[hash64(rc->seed + 77, (uint64_t)result) % COUNT(kinds)][random >> 20 & 3];
}

static double x_of(const struct reduce_case *rc, int64_t row, int64_t column) {
    const uint64_t seed = (opt.seed + rc->seed) * 2, index = (uint64_t)(row * rc->columns + column);
    const uint64_t random = hash64(seed, index);
    switch (rc->inputs) {
    case REDUCE_INTEGERS:
        return (double)((int)((random >> 32) % 9) - 4);
    case REDUCE_TIES:
        return (double)((int)((random >> 32) % 3) - 1) * 0.5;
    case REDUCE_EQUAL:
        return finds_least(rc) ? INFINITY : -INFINITY;
    case REDUCE_SPECIAL:
        return special(rc, result_of(rc, row, column), random, round_to(rc->type, hash_normal(seed, index)));
    default:
        return round_to(rc->type, (rc->inputs == REDUCE_POSITIVE) + hash_normal(seed, index));
    }
}

static double x_value(const void *of, int64_t row, int64_t column) {
    const struct reduce_case *rc = of;
    return round_to(rc->type, (rc->scale != 0 ? (double)rc->scale : 1) * x_of(rc, row, column));
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct reduce_case *)of)->count;
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

struct reference {
    double sum, size, squares, extreme; /* size: sum of magnitudes */
    int64_t count, at;
};

/* Where equal ones, and zeros of either sign, are no better. */
static bool is_better(const struct reduce_case *rc, double x, double than) {
    if (isnan(x) || isnan(than))
        return isnan(x) && !isnan(than);
    return finds_least(rc) ? x < than : x > than;
}

static void add(const struct reduce_case *rc, struct reference *r, double x, int64_t at) {
    r->sum += x;
    r->size += fabs(x);
    r->squares += x * x;
    if (r->count++ > 0 && !is_better(rc, x, r->extreme))
        return;
    r->extreme = x;
    r->at = at;
}

/* The sum as the kernel rounds it to fp32, and how far that may be off: an order of additions of so many numbers. */
static double expected(const struct reduce_case *rc, const struct reference *r, double *tolerance) {
    const double steps = (double)r->count * 0x1p-24, count = (double)(float)r->count;
    const enum gm_type out = rc->fp32_out ? GM_FP32 : rc->type;
    double value = 0, error = 0;
    *tolerance = 0;
    if (finds_place(rc))
        return (double)r->at;
    if (is_extreme(rc))
        return r->count ? r->extreme : finds_least(rc) ? INFINITY : -INFINITY;
    if (rc->reduction == GM_REDUCTION_L2) {
        const double most = r->squares * (1 + steps) + (double)r->count * 0x1p-149;
        value = rc->inputs == REDUCE_INTEGERS ? (double)sqrtf((float)r->squares) : sqrt(r->squares);
        error = sqrt(most) - value;
    } else if (rc->reduction == GM_REDUCTION_MEAN) {
        value = rc->inputs == REDUCE_INTEGERS ? (double)((float)r->sum / (float)count) : r->sum / count;
        error = r->size / count * (steps + 0x1p-22);
    } else {
        value = r->sum;
        error = r->size * steps;
    }
    if (isfinite(error) && rc->inputs != REDUCE_INTEGERS)
        *tolerance = error + half_ulp(GM_FP32, value) + half_ulp(out, fabs(value) + error);
    return value;
}

/* An index of 64 bits is two of 32. */
static void find_expected(struct placed_reduce *placed, const struct reduce_case *rc) {
    const int64_t results = results_of(rc);
    struct reference *r = calloc((size_t)results, sizeof *r);
    placed->want = calloc((size_t)results + 1, sizeof(double));
    placed->tolerance = calloc((size_t)results + 1, sizeof(double));
    if (!r || !placed->want || !placed->tolerance)
        exit(2);
    for (int64_t i = 0; i < results; i++)
        r[i].at = -1;
    for (int64_t row = 0; row < rows_read(rc); row++)
        for (int64_t column = 0; column < rc->columns; column++)
            add(rc, &r[result_of(rc, row, column)], x_value(rc, row, column),
                rc->along == GM_REDUCE_ALL    ? row * rc->columns + column
                : rc->along == GM_REDUCE_ROWS ? row
                                              : column);
    for (int64_t i = 0; i < results; i++)
        placed->want[i] = expected(rc, &r[i], &placed->tolerance[i]);
    if (rc->along == GM_REDUCE_ALL && finds_place(rc))
        placed->want[1] = placed->want[0] < 0 ? -1 : 0;
    for (int64_t i = rows_read(rc); rc->along == GM_REDUCE_COLUMNS && i < results; i++)
        placed->tolerance[i] = AS_BEFORE;
    free(r);
}

static void expect(const struct placed_operands *operands, int operand, int64_t row, struct expectation *e) {
    struct placed_reduce *placed = (struct placed_reduce *)(uintptr_t)operands;
    const size_t bytes = (size_t)operands->operands[operand].columns * sizeof(double);
    (void)row;
    if (!placed->want)
        find_expected(placed, operands->of);
    memcpy(e->want, placed->want, bytes);
    memcpy(e->tolerance, placed->tolerance, bytes);
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void list_operands(struct placed_reduce *placed, const struct reduce_case *rc) {
    struct operand *o = placed->placed.operands;
    const int64_t results = results_of(rc);
    const bool is_wide = rc->along == GM_REDUCE_ALL && finds_place(rc);
    const enum gm_type out = finds_place(rc) ? GM_INT32 : rc->fp32_out ? GM_FP32 : rc->type;
#define ARGUMENT(member) offsetof(struct gm_reduce_args, member)
    o[REDUCE_X] = (struct operand){
        "x",         ARGUMENT(x),     rc->type, rc->columns ? rc->rows : 0, rc->columns, rc->columns + rc->x_pad,
        rc->x_start, .value = x_value};
    o[REDUCE_OUT] = (struct operand){"out",
                                     ARGUMENT(out),
                                     out,
                                     results > 0,
                                     is_wide ? 2 : results,
                                     is_wide ? 2 : results,
                                     rc->out_start * (is_wide ? 2 : 1),
                                     .written = true};
    o[REDUCE_COUNT] =
        (struct operand){"row_count", ARGUMENT(row_count), GM_INT32, rc->counted, 1, 1, 0, .value = count_value};
#undef ARGUMENT
}

bool place_reduce(struct result *result, const struct reduce_case *rc, struct reduce_memory *memory,
                  struct placed_reduce *placed) {
    free_placed_reduce(placed);
    *placed = (struct placed_reduce){.args = {.size = sizeof placed->args}};
    placed->problem = (struct gm_reduce_problem){.size = sizeof placed->problem,
                                                 .rows = rc->rows,
                                                 .columns = rc->columns,
                                                 .type = rc->type,
                                                 .along = rc->along,
                                                 .reduction = rc->reduction,
                                                 .fp32_out = rc->fp32_out,
                                                 .x_stride = rc->columns + rc->x_pad};
    placed->placed = (struct placed_operands){
        .call = {.operation = &reduce_tests, .problem = &placed->problem, .args = &placed->args},
        .of = rc,
        .args = &placed->args,
        .count = REDUCE_OPERANDS,
        .expect = expect,
    };
    list_operands(placed, rc);
    if (!place_operands(result, &placed->placed, &memory->operands))
        return false;
    placed->problem.x_align = alignment_of(&placed->placed, REDUCE_X);
    if (placed->problem.x_align < gm_type_bytes(rc->type))
        placed->problem.x_align = 0;
    return true;
}

void free_placed_reduce(struct placed_reduce *placed) {
    free_placed(&placed->placed);
    free(placed->want);
    free(placed->tolerance);
    placed->want = placed->tolerance = NULL;
}

void free_reduce_memory(struct reduce_memory *memory) {
    free_operands(&memory->operands);
    arena_free(&memory->workspace.arena);
}

/* ---- a call ------------------------------------------------------------------------------------------------ */

bool run_reduce(struct result *result, const struct reduce_case *rc, const char *kernel, uint32_t mask,
                struct reduce_memory *memory) {
    const struct gm_plan_options options = {.size = sizeof options,
                                            .kernel = kernel,
                                            .arch_mask = mask,
                                            .sm_budget = rc->sm_budget,
                                            .workspace_limit = rc->workspace};
    char what[320];
    struct placed_reduce placed = {0};
    describe_reduce(rc, what, sizeof what);
    heartbeat(what);
    const bool ok =
        place_reduce(result, rc, memory, &placed) &&
        run_call_with_workspace(result, &placed.placed.call, &options, rc->repeats, rc->may_refuse, &memory->workspace,
                                rc->seed % 2, &placed.args.workspace, &placed.args.workspace_bytes, what);
    free_placed_reduce(&placed);
    return ok;
}

static bool run_next(struct result *result, const struct reduce_case *rc, const gm_plan *plan,
                     struct reduce_memory *memory, struct placed_reduce *placed, const char *what) {
    const struct gm_reduce_args before = placed->args;
    if (!place_reduce(result, rc, memory, placed))
        return false;
    placed->args.workspace = before.workspace;
    placed->args.workspace_bytes = before.workspace_bytes;
    return check_ok(result, gm_reduce_execute(plan, &placed->args, env.stream), what) &&
           check_cuda(result, env.drv->cuStreamSynchronize(env.stream), what) &&
           check_output(result, &placed->placed.call, what);
}

void run_reduce_again(struct result *result, struct reduce_case *rc, const char *kernel, int launches,
                      struct reduce_memory *memory) {
    const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel, .workspace_limit = rc->workspace};
    struct placed_reduce placed = {0};
    gm_plan *plan = NULL;
    char what[320];
    describe_reduce(rc, what, sizeof what);
    heartbeat(what);
    bool ok = place_reduce(result, rc, memory, &placed);
    const enum gm_status status = gm_reduce_plan_create(env.context, &placed.problem, &options, &plan);
    if (status == GM_ERROR_NO_KERNEL) {
        result->refused[GM_REASON_NO_IMAGE]++;
    } else if (ok && check_ok(result, status, what)) {
        if (gm_plan_workspace_bytes(plan) == 0)
            fail(result, "%s: the plan has no parts", what);
        ok = place_workspace(result, &memory->workspace, gm_plan_workspace_bytes(plan), rc->seed % 2);
        placed.args.workspace = memory->workspace.address;
        placed.args.workspace_bytes = memory->workspace.bytes;
        for (int i = 0; i < launches && ok; i++) {
            set_schedule(opt.schedule + (uint64_t)i);
            rc->seed += 1000;
            ok = run_next(result, rc, plan, memory, &placed, what);
            result->cases++;
        }
        set_schedule(opt.schedule);
    }
    gm_plan_destroy(plan);
    free_placed_reduce(&placed);
}
