/* SPDX-License-Identifier: Apache-2.0 */
/* One histogram: its operands, its workspace, and what the counts shall be. */
#include <math.h>
#include <stdlib.h>

#include "histogram/histogram_tests.h"

void describe_histogram(const struct histogram_case *hc, char *text, size_t bytes) {
    static const char *const inputs[] = {"uniform", "skewed", "equal", "edges"};
    char counted[32] = "", range[80];
    if (hc->counted)
        snprintf(counted, sizeof counted, " count %d", hc->count);
    if (is_of_floats(hc->type))
        snprintf(range, sizeof range, "from %g to %g", (double)hc->lower, (double)hc->upper);
    else
        snprintf(range, sizeof range, "first %lld width %lld", (long long)hc->first, (long long)hc->width);
    snprintf(text, bytes,
             "%lld bins %s of %s of %lld rows%s of %lld %s, %s, %s%s pads %lld,%lld starts %d,%d workspace %zu",
             (long long)hc->bins, range, hc->of == GM_HISTOGRAM_ALL ? "all" : "each", (long long)hc->rows, counted,
             (long long)hc->columns, gm_type_name(hc->type), inputs[hc->inputs], hc->accumulate ? "added" : "written",
             hc->wide ? " wide" : "", (long long)hc->x_pad, (long long)hc->counts_pad, hc->x_start, hc->counts_start,
             hc->workspace);
}

bool is_of_floats(enum gm_type type) {
    return type == GM_BF16 || type == GM_FP16 || type == GM_FP32;
}

static int64_t results_of(const struct histogram_case *hc) {
    return hc->of == GM_HISTOGRAM_ALL ? 1 : hc->rows;
}

static int64_t rows_read(const struct histogram_case *hc) {
    return !hc->counted ? hc->rows : hc->count < 0 ? 0 : hc->count < hc->rows ? hc->count : hc->rows;
}

/* ---- values ------------------------------------------------------------------------------------------ */

static double unit_of(uint64_t random) {
    return (double)(random >> 11) * 0x1p-53;
}

static double float_edge(const struct histogram_case *hc, uint64_t random) {
    const double step = ((double)hc->upper - (double)hc->lower) / (double)hc->bins;
    const double edge = round_to(hc->type, (double)hc->lower + step * (double)(random >> 16 & 0xffff) * 0x1p-16 *
                                                                   (double)(hc->bins + 1));
    const float lower = hc->lower, upper = hc->upper;
    const double kinds[] = {edge,
                            (double)nextafterf((float)edge, INFINITY),
                            (double)nextafterf((float)edge, -INFINITY),
                            (double)lower,
                            (double)upper,
                            (double)nextafterf(lower, -INFINITY),
                            (double)nextafterf(upper, INFINITY),
                            NAN,
                            INFINITY,
                            -INFINITY,
                            0,
                            -0.0,
                            hc->type == GM_FP16 ? 65504 : 0x1.fep127,
                            hc->type == GM_FP16 ? -65504 : -0x1.fep127};
    return kinds[random % COUNT(kinds)];
}

static double float_of(const struct histogram_case *hc, uint64_t random) {
    const double lower = (double)hc->lower, length = (double)hc->upper - lower, u = unit_of(random);
    switch (hc->inputs) {
    case HISTOGRAM_SKEWED:
        return lower + length * pow(u, 8);
    case HISTOGRAM_EQUAL:
        return lower + length * unit_of(hash64(hc->seed, 3));
    case HISTOGRAM_EDGES:
        return float_edge(hc, random);
    default:
        return lower + length * (1.1 * u - 0.05);
    }
}

static int64_t integer_edge(const struct histogram_case *hc, uint64_t random) {
    const int64_t end = hc->first + hc->bins * hc->width;
    const int64_t edge = hc->first + hc->width * (int64_t)((random >> 16) % (uint64_t)(hc->bins + 1));
    const int64_t kinds[] = {edge, edge - 1, hc->first, hc->first - 1, end, end - 1, INT32_MAX, INT32_MIN, -1, 0};
    return kinds[random % COUNT(kinds)];
}

static int64_t integer_of(const struct histogram_case *hc, uint64_t random) {
    const int64_t span = hc->bins * hc->width, beyond = span / 16 + 1;
    switch (hc->inputs) {
    case HISTOGRAM_SKEWED:
        return hc->first + (int64_t)((double)span * pow(unit_of(random), 8));
    case HISTOGRAM_EQUAL:
        return hc->first + (int64_t)((double)span * unit_of(hash64(hc->seed, 3)));
    case HISTOGRAM_EDGES:
        return integer_edge(hc, random);
    default:
        return hc->first - beyond + (int64_t)((random >> 8) % (uint64_t)(span + 2 * beyond));
    }
}

/* Integers as the type has them, and a word as a signed one. */
static double x_value(const void *of, int64_t row, int64_t column) {
    const struct histogram_case *hc = of;
    const uint64_t random = hash64(opt.seed * 3 + hc->seed, (uint64_t)(row * hc->columns + column));
    if (is_of_floats(hc->type))
        return round_to(hc->type, float_of(hc, random));
    const int64_t x = integer_of(hc, random);
    return hc->type == GM_UINT8 ? (double)(uint8_t)x : (double)(int32_t)(uint32_t)x;
}

static double rows_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct histogram_case *)of)->count;
}

/* What counts hold where they are added to: of 64 bits, with a low half that soon overflows. */
static int64_t count_before(const struct histogram_case *hc, int64_t row, int64_t bin) {
    return hc->wide ? (3 + row) * (INT64_C(1) << 32) - 1 - bin % 3 : row * 100 + bin % 7;
}

/* A count of 64 bits is two of 32. */
static double half_of(int64_t count, int64_t column) {
    return (double)(int32_t)(uint32_t)((uint64_t)count >> (column % 2 ? 32 : 0));
}

static double count_value(const void *of, int64_t row, int64_t column) {
    const struct histogram_case *hc = of;
    return hc->wide ? half_of(count_before(hc, row, column / 2), column) : (double)count_before(hc, row, column);
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

/* By the formula of the header, operation by operation; -1: none. */
static int64_t bin_of_float(const struct histogram_case *hc, float x) {
    const float scale = (float)((double)hc->bins / ((double)hc->upper - (double)hc->lower));
    if (!(x >= hc->lower && x <= hc->upper))
        return -1;
    const float difference = x - hc->lower, product = difference * scale;
    const int64_t bin = (int64_t)floorf(product);
    return bin < hc->bins ? bin : hc->bins - 1;
}

static int64_t bin_of(const struct histogram_case *hc, double value) {
    if (is_of_floats(hc->type))
        return bin_of_float(hc, (float)value);
    int64_t x = (int64_t)value;
    if (hc->type == GM_INT32 && hc->first >= 0)
        x = (uint32_t)x;
    return x >= hc->first && x < hc->first + hc->bins * hc->width ? (x - hc->first) / hc->width : -1;
}

static void find_want(struct placed_histogram *placed) {
    const struct histogram_case *hc = &placed->of;
    placed->want = calloc((size_t)(results_of(hc) * hc->bins) + 1, sizeof *placed->want);
    if (!placed->want)
        exit(2);
    for (int64_t row = 0; row < rows_read(hc); row++)
        for (int64_t column = 0; column < hc->columns; column++) {
            const int64_t bin = bin_of(hc, x_value(hc, row, column));
            if (bin >= 0)
                placed->want[(hc->of == GM_HISTOGRAM_ALL ? 0 : row * hc->bins) + bin]++;
        }
}

static void expect(const struct placed_operands *operands, int operand, int64_t row, struct expectation *e) {
    struct placed_histogram *placed = (struct placed_histogram *)(uintptr_t)operands;
    const struct histogram_case *hc = &placed->of;
    const bool is_written = hc->of == GM_HISTOGRAM_ALL || row < rows_read(hc);
    if (!placed->want)
        find_want(placed);
    for (int64_t column = 0; column < operands->operands[operand].columns; column++) {
        const int64_t bin = hc->wide ? column / 2 : column;
        const int64_t count = placed->want[row * hc->bins + bin] + (hc->accumulate ? count_before(hc, row, bin) : 0);
        e->want[column] = hc->wide ? half_of(count, column) : (double)count;
        e->tolerance[column] = is_written ? 0 : AS_BEFORE;
    }
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void list_operands(struct placed_histogram *placed) {
    const struct histogram_case *hc = &placed->of;
    struct operand *o = placed->placed.operands;
    const int64_t halves = hc->wide ? 2 : 1;
#define ARGUMENT(member) offsetof(struct gm_histogram_args, member)
    o[HISTOGRAM_X] = (struct operand){
        "x",         ARGUMENT(x),     hc->type, hc->columns ? hc->rows : 0, hc->columns, hc->columns + hc->x_pad,
        hc->x_start, .value = x_value};
    o[HISTOGRAM_COUNTS] = (struct operand){"counts",
                                           ARGUMENT(counts),
                                           GM_INT32,
                                           results_of(hc),
                                           hc->bins * halves,
                                           (hc->bins + hc->counts_pad) * halves,
                                           hc->counts_start * (int)halves,
                                           .written = true,
                                           .value = hc->accumulate ? count_value : NULL};
    o[HISTOGRAM_ROWS_READ] =
        (struct operand){"row_count", ARGUMENT(row_count), GM_INT32, hc->counted, 1, 1, 0, .value = rows_value};
#undef ARGUMENT
}

static struct histogram_case with_defaults(const struct histogram_case *given) {
    struct histogram_case hc = *given;
    if (is_of_floats(hc.type)) {
        hc.first = hc.width = 0;
        if (hc.lower == 0 && hc.upper == 0)
            hc.lower = -2, hc.upper = 3;
    } else {
        hc.width = hc.width ? hc.width : 1;
        hc.lower = hc.upper = 0;
    }
    return hc;
}

bool place_histogram(struct result *result, const struct histogram_case *hc, struct histogram_memory *memory,
                     struct placed_histogram *placed) {
    free_placed_histogram(placed);
    *placed = (struct placed_histogram){.of = with_defaults(hc), .args = {.size = sizeof placed->args}};
    hc = &placed->of;
    placed->problem = (struct gm_histogram_problem){.size = sizeof placed->problem,
                                                    .rows = hc->rows,
                                                    .columns = hc->columns,
                                                    .bins = hc->bins,
                                                    .type = hc->type,
                                                    .of = hc->of,
                                                    .int64_counts = hc->wide,
                                                    .accumulate = hc->accumulate,
                                                    .x_stride = hc->columns + hc->x_pad,
                                                    .counts_stride = hc->bins + hc->counts_pad,
                                                    .first = hc->first,
                                                    .width = hc->width,
                                                    .lower = hc->lower,
                                                    .upper = hc->upper};
    placed->placed = (struct placed_operands){
        .call = {.operation = &histogram_tests, .problem = &placed->problem, .args = &placed->args},
        .of = hc,
        .args = &placed->args,
        .count = HISTOGRAM_OPERANDS,
        .expect = expect,
    };
    list_operands(placed);
    return place_operands(result, &placed->placed, &memory->operands);
}

void free_placed_histogram(struct placed_histogram *placed) {
    free_placed(&placed->placed);
    free(placed->want);
    placed->want = NULL;
}

void free_histogram_memory(struct histogram_memory *memory) {
    free_operands(&memory->operands);
    arena_free(&memory->workspace.arena);
}

/* ---- a call ------------------------------------------------------------------------------------------------ */

/* Counts that are added to have another result when they are added to again. */
bool run_histogram(struct result *result, const struct histogram_case *hc, const char *kernel, uint32_t mask,
                   struct histogram_memory *memory) {
    const struct gm_plan_options options = {.size = sizeof options,
                                            .kernel = kernel,
                                            .arch_mask = mask,
                                            .sm_budget = hc->sm_budget,
                                            .workspace_limit = hc->workspace};
    char what[400];
    struct placed_histogram placed = {0};
    describe_histogram(hc, what, sizeof what);
    heartbeat(what);
    const bool ok =
        place_histogram(result, hc, memory, &placed) &&
        run_call_with_workspace(result, &placed.placed.call, &options, hc->repeats, hc->may_refuse, &memory->workspace,
                                hc->seed % 2, &placed.args.workspace, &placed.args.workspace_bytes, what);
    free_placed_histogram(&placed);
    return ok;
}

static bool run_next(struct result *result, const struct histogram_case *hc, const gm_plan *plan,
                     struct histogram_memory *memory, struct placed_histogram *placed, const char *what) {
    const struct gm_histogram_args before = placed->args;
    if (!place_histogram(result, hc, memory, placed))
        return false;
    placed->args.workspace = before.workspace;
    placed->args.workspace_bytes = before.workspace_bytes;
    return check_ok(result, gm_histogram_execute(plan, &placed->args, env.stream), what) &&
           check_cuda(result, env.drv->cuStreamSynchronize(env.stream), what) &&
           check_output(result, &placed->placed.call, what);
}

void run_histogram_again(struct result *result, struct histogram_case *hc, const char *kernel, int launches,
                         struct histogram_memory *memory) {
    const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel, .workspace_limit = hc->workspace};
    struct placed_histogram placed = {0};
    gm_plan *plan = NULL;
    char what[400];
    describe_histogram(hc, what, sizeof what);
    heartbeat(what);
    bool ok = place_histogram(result, hc, memory, &placed);
    const enum gm_status status = gm_histogram_plan_create(env.context, &placed.problem, &options, &plan);
    if (status == GM_ERROR_NO_KERNEL) {
        result->refused[GM_REASON_NO_IMAGE]++;
    } else if (ok && check_ok(result, status, what)) {
        if (gm_plan_workspace_bytes(plan) == 0)
            fail(result, "%s: the plan has no parts", what);
        ok = place_workspace(result, &memory->workspace, gm_plan_workspace_bytes(plan), hc->seed % 2);
        placed.args.workspace = memory->workspace.address;
        placed.args.workspace_bytes = memory->workspace.bytes;
        for (int i = 0; i < launches && ok; i++) {
            set_schedule(opt.schedule + (uint64_t)i);
            hc->seed += 1000;
            ok = run_next(result, hc, plan, memory, &placed, what);
            result->cases++;
        }
        set_schedule(opt.schedule);
    }
    gm_plan_destroy(plan);
    free_placed_histogram(&placed);
}
