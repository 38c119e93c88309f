/* SPDX-License-Identifier: Apache-2.0 */
/* RMSNorm through the public functions: the planner chooses. Random problems, rows beside others, roundings without a bias,
 * operands of more than 2^31 elements, and wrong use. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "rms_norm/rms_norm_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

struct draws {
    uint64_t stream, index;
};

static int64_t draw(struct draws *d, int64_t below) {
    return (int64_t)(hash64(d->stream, d->index++) % (uint64_t)below);
}

static struct norm_case random_case(struct draws *d) {
    static const int64_t widths[] = {1, 8, 64, 100, 128, 257, 512, 1000, 1024, 1536, 2048, 4096, 5120};
    const int64_t most = env.simulated || opt.quick ? 9 : 13;
    struct norm_case nc = {.rows = 1 + draw(d, 9), .columns = widths[draw(d, most)], .type = (enum gm_type)draw(d, 3)};
    nc.inputs = (enum norm_inputs)draw(d, 3);
    nc.fp32_weight = (int)draw(d, 2);
    nc.residual = (int)draw(d, 2);
    nc.sum_rounding = (enum gm_rounding)draw(d, 2);
    nc.normalized_rounding = (enum gm_rounding)draw(d, 2);
    nc.eps = draw(d, 2) ? 1e-5f : 1e-6f;
    nc.weight_offset = (float)draw(d, 2);
    nc.in_place = draw(d, 4) == 0;
    nc.seed = d->index;
    if (draw(d, 3) == 0) {
        nc.x_start = (int)draw(d, 8);
        nc.out_start = (int)draw(d, 8);
        nc.x_pad = draw(d, 9);
        nc.residual_pad = draw(d, 9);
        nc.out_pad = draw(d, 9);
    }
    return nc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0x4e0, 0};
    struct norm_buffers buffers = {0};
    for (int i = 0; i < (opt.quick ? 40 : env.simulated ? 120 : 400); i++) {
        struct norm_case nc = random_case(&draws);
        nc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_norm(result, &nc, NULL, test->mask, &buffers))
            break;
    }
    free_norm(&buffers);
}

/* ---- rows beside others -------------------------------------------------------------------------------- */

/* A row of `width` has the same bits alone, as one of a few, and as one of many. */
static bool check_invariance(struct result *result, int64_t width, enum gm_type type, struct norm_buffers *buffers) {
    static const int64_t counts[] = {1, 2, 7, 65, 300};
    uint8_t *first = NULL;
    bool ok = true;
    for (size_t i = 0; i < COUNT(counts) && ok; i++) {
        const struct norm_case nc = {
            .rows = counts[i], .columns = width, .type = type, .eps = 1e-5f, .inputs = POSITIVE};
        const size_t bytes = (size_t)width * (size_t)gm_type_bytes(type);
        uint8_t *row = malloc(bytes);
        struct placed_norm placed;
        ok = row && place_norm(result, &nc, buffers, &placed) &&
             check_ok(result, gm_rms_norm(env.context, &placed.problem, &placed.args, env.stream), "rms_norm") &&
             check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "synchronize") &&
             check_cuda(result, env.drv->cuMemcpyDtoH(row, placed.args.out, bytes), "copy");
        if (ok && first && memcmp(first, row, bytes) != 0) {
            fail(result, "a row of %lld has other bits among %lld rows", (long long)width, (long long)counts[i]);
            ok = false;
        }
        result->cases++;
        if (first)
            free(row);
        else
            first = row;
    }
    free(first);
    return ok;
}

static void run_invariance(const struct test *test, struct result *result) {
    static const int64_t widths[] = {64, 1000, 4096, 5120};
    struct norm_buffers buffers = {0};
    (void)test;
    for (size_t i = 0; i < COUNT(widths) - (opt.quick || env.simulated); i++)
        for (int type = 0; type < 3; type++)
            if (!check_invariance(result, widths[i], (enum gm_type)type, &buffers))
                break;
    free_norm(&buffers);
}

/* What a kernel makes of a case, into `out`; false where it takes no such case. */
static bool run_kernel(struct result *result, const struct norm_case *nc, const struct gm_kernel *kernel,
                       struct norm_buffers *buffers, uint8_t *out, size_t bytes) {
    const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
    struct placed_norm placed;
    gm_plan *plan = NULL;
    const bool ok = place_norm(result, nc, buffers, &placed) &&
                    gm_rms_norm_plan_create(env.context, &placed.problem, &options, &plan) == GM_OK &&
                    check_ok(result, gm_rms_norm_execute(plan, &placed.args, env.stream), kernel->name) &&
                    check_cuda(result, env.drv->cuStreamSynchronize(env.stream), kernel->name) &&
                    check_cuda(result, env.drv->cuMemcpyDtoH(out, placed.args.out, bytes), kernel->name);
    gm_plan_destroy(plan);
    return ok;
}

static int64_t held(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)c[GM_RMS_NORM_ROW_THREADS] * c[GM_RMS_NORM_VECTORS] * c[GM_RMS_NORM_VECTOR_BYTES];
}

/* Variants that hold as many columns give the same bits: the planner takes one or the other by the number of rows. */
static void run_twins(const struct test *test, struct result *result) {
    struct norm_buffers buffers = {0};
    (void)test;
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *first = &gm_kernels[i];
        if (first->family->operation != &gm_operation_rms_norm)
            continue;
        const int64_t columns = held(first) / gm_type_bytes(first->type);
        const struct norm_case nc = {.rows = 3, .columns = columns, .type = first->type, .inputs = POSITIVE};
        const size_t bytes = 3 * (size_t)held(first);
        uint8_t *one = malloc(bytes), *other = malloc(bytes);
        const bool ran = one && other && run_kernel(result, &nc, first, &buffers, one, bytes);
        for (size_t j = i + 1; j < gm_kernel_count() && ran; j++) {
            const struct gm_kernel *second = &gm_kernels[j];
            if (second->family != first->family || second->type != first->type || held(second) != held(first) ||
                second->columns[GM_RMS_NORM_VECTOR_BYTES] != first->columns[GM_RMS_NORM_VECTOR_BYTES] ||
                !run_kernel(result, &nc, second, &buffers, other, bytes))
                continue;
            result->cases++;
            if (memcmp(one, other, bytes) != 0)
                fail(result, "%s and %s give other bits", first->name, second->name);
        }
        free(one);
        free(other);
    }
    free_norm(&buffers);
}

/* ---- roundings ----------------------------------------------------------------------------------------- */

/* The mean signed error of out is far below half a unit: truncation would make it half a unit towards zero. */
static void run_bias(const struct test *test, struct result *result) {
    const struct norm_case nc = {
        .rows = 16, .columns = 1024, .type = GM_BF16, .eps = 1e-5f, .inputs = NORMAL_ROWS, .fp32_weight = 1};
    struct norm_buffers buffers = {0};
    struct placed_norm placed;
    double units = 0;
    (void)test;
    if (run_norm(result, &nc, NULL, 0, &buffers) && place_norm(result, &nc, &buffers, &placed) &&
        check_ok(result, gm_rms_norm(env.context, &placed.problem, &placed.args, env.stream), "rms_norm") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "synchronize")) {
        uint16_t *out = malloc(1024 * sizeof *out);
        for (int64_t row = 0; row < nc.rows && out; row++) {
            double squares = 0;
            check_cuda(result, env.drv->cuMemcpyDtoH(out, placed.args.out + (uint64_t)row * 2048, 2048), "copy");
            for (int64_t i = 0; i < 1024; i++)
                squares += norm_x(&nc, row, i) * norm_x(&nc, row, i);
            for (int64_t i = 0; i < 1024; i++) {
                const double want = norm_x(&nc, row, i) / sqrt(squares / 1024 + 1e-5) * norm_weight(&nc, i);
                const double error = fabs(bits_to_double(GM_BF16, out[i])) - fabs(want);
                units += error / (2 * half_ulp(GM_BF16, want));
            }
        }
        free(out);
        units /= 16 * 1024;
        if (fabs(units) > 0.02)
            fail(result, "the mean error is %.4f units in the last place", units);
    }
    free_norm(&buffers);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

/* x has 2^31 elements and more: a block of rows, repeated. Rows at both ends and beside 2^31 elements are compared with
 * the block's. */
static void run_large(const struct test *test, struct result *result) {
    enum { COLUMNS = 4096, BLOCK = 1021 };
    const int64_t rows = (INT64_C(1) << 31) / COLUMNS + 7;
    const size_t row_bytes = COLUMNS * 2, block_bytes = BLOCK * row_bytes, total = (size_t)rows * row_bytes;
    const struct norm_case nc = {.rows = BLOCK, .columns = COLUMNS, .type = GM_BF16, .eps = 1e-5f, .inputs = NORMAL_ROWS};
    struct norm_buffers buffers = {0};
    struct placed_norm placed;
    CUdeviceptr x = 0;
    size_t available = 0, all = 0;
    (void)test;
    if (env.simulated || opt.self_test || env.drv->cuMemGetInfo(&available, &all) != CUDA_SUCCESS ||
        available < total + (size_t)1e9) {
        skip(result, "needs %.1f GB of device memory", (double)total * 1e-9);
        return;
    }
    uint8_t *want = malloc(block_bytes), *got = malloc(row_bytes);
    bool ok = want && got && run_norm(result, &nc, NULL, 0, &buffers) && place_norm(result, &nc, &buffers, &placed) &&
              check_ok(result, gm_rms_norm(env.context, &placed.problem, &placed.args, env.stream), "block") &&
              check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "block") &&
              check_cuda(result, env.drv->cuMemcpyDtoH(want, placed.args.out, block_bytes), "block") &&
              check_cuda(result, env.drv->cuMemAlloc(&x, total), "cuMemAlloc");
    for (int64_t row = 0; row < rows && ok; row += BLOCK)
        ok = check_cuda(result,
                        env.drv->cuMemcpyDtoD(x + (uint64_t)row * row_bytes, placed.args.x,
                                              (size_t)(rows - row < BLOCK ? rows - row : BLOCK) * row_bytes),
                        "fill");
    struct gm_rms_norm_problem problem = placed.problem;
    struct gm_rms_norm_args args = placed.args;
    problem.rows = rows;
    args.x = args.out = x;
    ok = ok && check_cuda(result, env.drv->cuCtxSynchronize(), "fill") &&
         check_ok(result, gm_rms_norm(env.context, &problem, &args, env.stream), "large") &&
         check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large");
    const int64_t samples[] = {0, 1, rows / 2, (INT64_C(1) << 31) / COLUMNS - 1, (INT64_C(1) << 31) / COLUMNS, rows - 1};
    for (size_t i = 0; i < COUNT(samples) && ok; i++) {
        ok = check_cuda(result, env.drv->cuMemcpyDtoH(got, x + (uint64_t)samples[i] * row_bytes, row_bytes), "sample");
        if (ok && memcmp(got, want + (size_t)(samples[i] % BLOCK) * row_bytes, row_bytes) != 0)
            fail(result, "row %lld of %lld is wrong", (long long)samples[i], (long long)rows);
        result->cases++;
    }
    if (x)
        env.drv->cuMemFree(x);
    free(want);
    free(got);
    free_norm(&buffers);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void run_arguments(const struct test *test, struct result *result) {
    static const struct {
        const char *what;
        size_t offset;
        int64_t move, to_out; /* the field moves by so much, or is out and so much more */
        enum gm_status want;
    } bad[] = {
#define ARG(what, field, move, to_out, want) {what, offsetof(struct gm_rms_norm_args, field), move, to_out, want}
        ARG("x null", x, 0, -1, GM_ERROR_INVALID_ARGUMENT),
        ARG("residual null", residual, 0, -1, GM_ERROR_INVALID_ARGUMENT),
        ARG("weight null", weight, 0, -1, GM_ERROR_INVALID_ARGUMENT),
        ARG("out null", out, 0, -1, GM_ERROR_INVALID_ARGUMENT),
        ARG("odd x", x, 1, 0, GM_ERROR_MISALIGNED),
        ARG("weight at 8, 16 promised", weight, 8, 0, GM_ERROR_MISALIGNED),
        ARG("x 16 bytes into out", x, 0, 16, GM_ERROR_OVERLAP),
        ARG("residual is out", residual, 0, 1, GM_ERROR_OVERLAP),
        ARG("weight in out", weight, 0, 32, GM_ERROR_OVERLAP)};
    const struct norm_case nc = {
        .rows = 5, .columns = 64, .type = GM_BF16, .eps = 1e-5f, .residual = 1, .x_pad = 8, .out_pad = 8};
    struct norm_buffers buffers = {0};
    struct placed_norm placed;
    gm_plan *plan = NULL;
    (void)test;
    if (place_norm(result, &nc, &buffers, &placed) &&
        check_ok(result, gm_rms_norm_plan_create(env.context, &placed.problem, NULL, &plan), "plan") &&
        check_cuda(result, env.drv->cuMemsetD8(placed.call.region, POISON, placed.call.region_bytes), "poison")) {
        for (size_t i = 0; i < COUNT(bad); i++) {
            struct gm_rms_norm_args args = placed.args;
            gm_device_ptr field;
            memcpy(&field, (char *)&args + bad[i].offset, sizeof field);
            field = bad[i].to_out < 0    ? 0
                    : bad[i].to_out == 1 ? args.out
                    : bad[i].to_out > 0  ? args.out + (gm_device_ptr)bad[i].to_out
                                         : field + (gm_device_ptr)bad[i].move;
            memcpy((char *)&args + bad[i].offset, &field, sizeof field);
            check_refusal(result, gm_rms_norm_execute(plan, &args, env.stream), bad[i].want, bad[i].what);
        }
        check_refusal(result, gm_gemm_execute(plan, &(struct gm_gemm_args){.size = sizeof(struct gm_gemm_args)}, NULL),
                      GM_ERROR_INVALID_ARGUMENT, "a plan of another operation");
        check_unwritten(result, &placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_norm(&buffers);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_rms_norm_problem problem = {.size = sizeof problem, .columns = 64};
    const struct gm_rms_norm_args args = {.size = sizeof args, .weight = 4096};
    (void)test;
    result->cases += check_ok(result, gm_rms_norm(env.context, &problem, &args, env.stream), "no rows");
}

void add_norm_api_tests(void) {
    add_test("api", "rms_norm_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "rms_norm_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "rms_norm_rounds_without_bias", run_bias, -1, 0);
    add_test("api", "rms_norm_of_no_rows", run_empty, -1, 0);
    add_test("api", "rms_norm_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("invariance", "rms_norm_rows_have_the_same_bits_beside_others", run_invariance, -1, 0);
    add_test("invariance", "rms_norm_variants_of_one_width_give_the_same_bits", run_twins, -1, 0);
    add_test("badinput", "rms_norm_arguments", run_arguments, -1, 0);
}
