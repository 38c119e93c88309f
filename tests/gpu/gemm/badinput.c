/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong use on a real driver: the status, a sentence, and not one byte written. */
#include <stdlib.h>
#include <string.h>

#include "gemm/gemm_tests.h"

static const struct gemm_case ordinary = {.m = 40,
                                          .n = 72,
                                          .k = 48,
                                          .a_pad = 8,
                                          .b_pad = 8,
                                          .c_pad = 8,
                                          .d_pad = 8,
                                          .alpha = 1,
                                          .beta = 1,
                                          .bias = GM_BIAS_N,
                                          .bias_type = GM_FP32};

/* ---- execute --------------------------------------------------------------------------------------- */

/* What is done to one 8-byte field of the arguments: set it, move it, or point it that far into D. */
enum change { SET, MOVE, INTO_D };

static void change_field(struct gm_gemm_args *args, size_t offset, enum change change, uint64_t value) {
    uint64_t field;
    memcpy(&field, (char *)args + offset, sizeof field);
    field = change == SET ? value : change == MOVE ? field + value : args->d + value;
    memcpy((char *)args + offset, &field, sizeof field);
}

static void run_arguments(const struct test *test, struct result *result) {
    static const struct {
        const char *what;
        size_t offset;
        enum change change;
        uint64_t value;
        enum gm_status want;
    } bad[] = {
#define ARG(what, field, change, value, want) {what, offsetof(struct gm_gemm_args, field), change, value, want}
        ARG("A null", a, SET, 0, GM_ERROR_INVALID_ARGUMENT),
        ARG("B null", b, SET, 0, GM_ERROR_INVALID_ARGUMENT),
        ARG("C null, beta 1", c, SET, 0, GM_ERROR_INVALID_ARGUMENT),
        ARG("D null", d, SET, 0, GM_ERROR_INVALID_ARGUMENT),
        ARG("bias null", bias, SET, 0, GM_ERROR_INVALID_ARGUMENT),
        ARG("odd A", a, MOVE, 1, GM_ERROR_MISALIGNED),
        ARG("odd B", b, MOVE, 1, GM_ERROR_MISALIGNED),
        ARG("odd C", c, MOVE, 1, GM_ERROR_MISALIGNED),
        ARG("odd D", d, MOVE, 1, GM_ERROR_MISALIGNED),
        ARG("fp32 bias at 2", bias, MOVE, 2, GM_ERROR_MISALIGNED),
        ARG("A at 8, 16 promised", a, MOVE, 8, GM_ERROR_MISALIGNED),
        ARG("D at 8, 16 promised", d, MOVE, 8, GM_ERROR_MISALIGNED),
        ARG("args.size 3", size, SET, 3, GM_ERROR_SIZE),
        ARG("A is D", a, INTO_D, 0, GM_ERROR_OVERLAP),
        ARG("B in D's last row", b, INTO_D, 39 * 80 * 2, GM_ERROR_OVERLAP),
        ARG("C 16 bytes into D", c, INTO_D, 16, GM_ERROR_OVERLAP),
        ARG("bias in D", bias, INTO_D, 64, GM_ERROR_OVERLAP)};
    struct buffers buffers = {0};
    struct placed placed;
    gm_plan *plan = NULL;
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = test->mask};
    if (place_gemm(result, &ordinary, &buffers, &placed) &&
        check_ok(result, gm_gemm_plan_create(env.context, &placed.problem, &options, &plan), "plan")) {
        for (size_t i = 0; i < COUNT(bad); i++) {
            struct gm_gemm_args args = placed.args;
            change_field(&args, bad[i].offset, bad[i].change, bad[i].value);
            check_refusal(result, gm_gemm_execute(plan, &args, env.stream), bad[i].want, bad[i].what);
        }
        check_refusal(result, gm_gemm_execute(NULL, &placed.args, env.stream), GM_ERROR_INVALID_ARGUMENT, "plan null");
        check_refusal(result, gm_gemm_execute(plan, NULL, env.stream), GM_ERROR_INVALID_ARGUMENT, "args null");
        check_unwritten(result, &placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_buffers(&buffers);
}

/* ---- execute with an extended epilogue ---------------------------------------------------------------- */

static const struct gemm_case of_bytes = {.m = 40,
                                          .n = 72,
                                          .k = 48,
                                          .d_type = GM_E4M3,
                                          .out.static_scale = 1,
                                          .a_scales = GM_PER_ROW,
                                          .residual = true,
                                          .amax = true,
                                          .d_pad = 8,
                                          .alpha = 1};
/* C and the residual are apart from D; they may be D in turn. */
static const struct gemm_case of_two = {
    .m = 40, .n = 72, .k = 48, .residual = true, .d_pad = 8, .r_pad = 8, .c_pad = 8, .alpha = 1, .beta = 1};

struct bad_argument {
    const char *what;
    size_t offset;
    enum change change;
    uint64_t value;
    enum gm_status want;
};

/* The region is as it was before: it holds more than poison. */
static void check_untouched(struct result *result, const struct placed *placed) {
    const size_t bytes = placed->call.region_bytes;
    uint8_t *got = malloc(bytes), *want = malloc(bytes);
    if (!got || !want)
        exit(2);
    memset(want, POISON, bytes);
    gemm_fill_region(&placed->call, want);
    check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "after refused executes");
    check_cuda(result, env.drv->cuMemcpyDtoH(got, placed->call.region, bytes), "after refused executes");
    if (memcmp(got, want, bytes) != 0)
        fail(result, "a refused execute has written something");
    free(got);
    free(want);
}

static void run_bad(struct result *result, const struct gemm_case *gc, uint32_t mask, const struct bad_argument *bad,
                    size_t count) {
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = mask};
    struct buffers buffers = {0};
    struct placed placed;
    gm_plan *plan = NULL;
    if (place_gemm(result, gc, &buffers, &placed) &&
        check_ok(result, gm_gemm_plan_create(env.context, &placed.problem, &options, &plan), "plan")) {
        for (size_t i = 0; i < count; i++) {
            struct gm_gemm_args args = placed.args;
            change_field(&args, bad[i].offset, bad[i].change, bad[i].value);
            check_refusal(result, gm_gemm_execute(plan, &args, env.stream), bad[i].want, bad[i].what);
        }
        check_untouched(result, &placed);
    }
    gm_plan_destroy(plan);
    free_buffers(&buffers);
}

static void run_extended(const struct test *test, struct result *result) {
    static const struct bad_argument bytes[] = {
        ARG("residual null", residual, SET, 0, GM_ERROR_INVALID_ARGUMENT),
        ARG("amax null", amax, SET, 0, GM_ERROR_INVALID_ARGUMENT),
        ARG("d_scales null", d_scales, SET, 0, GM_ERROR_INVALID_ARGUMENT),
        ARG("a_scales null", a_scales, SET, 0, GM_ERROR_INVALID_ARGUMENT),
        ARG("odd residual", residual, MOVE, 1, GM_ERROR_MISALIGNED),
        ARG("amax at 2", amax, MOVE, 2, GM_ERROR_MISALIGNED),
        ARG("d_scales at 2", d_scales, MOVE, 2, GM_ERROR_MISALIGNED),
        ARG("a_scales at 2", a_scales, MOVE, 2, GM_ERROR_MISALIGNED),
        ARG("residual is D of fewer bytes", residual, INTO_D, 0, GM_ERROR_OVERLAP),
        ARG("amax in D", amax, INTO_D, 64, GM_ERROR_OVERLAP),
        ARG("d_scales in D", d_scales, INTO_D, 64, GM_ERROR_OVERLAP),
        ARG("a_scales in D", a_scales, INTO_D, 64, GM_ERROR_OVERLAP),
    };
    static const struct bad_argument two[] = {
        ARG("residual is D, beta 1", residual, INTO_D, 0, GM_ERROR_OVERLAP),
        ARG("residual 16 bytes into D", residual, INTO_D, 16, GM_ERROR_OVERLAP),
    };
    static const struct bad_argument strides[] = {
        ARG("residual is D with another stride", residual, INTO_D, 0, GM_ERROR_OVERLAP),
        ARG("residual 16 bytes into D", residual, INTO_D, 16, GM_ERROR_OVERLAP),
    };
    struct gemm_case other_stride = of_two;
    other_stride.beta = 0;
    other_stride.r_pad = 16;
    run_bad(result, &of_bytes, test->mask, bytes, COUNT(bytes));
    run_bad(result, &of_two, test->mask, two, COUNT(two));
    run_bad(result, &other_stride, test->mask, strides, COUNT(strides));
}

/* Also with alpha = 0, where BLAS would look at neither: what D is made of does not depend on alpha's value. */
static void run_alpha_0(const struct test *test, struct result *result) {
    static const float zero = 0;
    struct buffers buffers = {0};
    struct placed placed;
    gm_plan *plan = NULL;
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = test->mask};
    if (place_gemm(result, &ordinary, &buffers, &placed) &&
        check_ok(result, gm_gemm_plan_create(env.context, &placed.problem, &options, &plan), "plan"))
        for (int which = 0; which < 2; which++) {
            struct gm_gemm_args args = placed.args;
            args.alpha = &zero;
            *(which ? &args.b : &args.a) = 0;
            const char *what = which ? "B null, alpha 0" : "A null, alpha 0";
            if (check_refusal(result, gm_gemm_execute(plan, &args, env.stream), GM_ERROR_INVALID_ARGUMENT, what) &&
                !strstr(gm_last_error(), which ? "b is NULL" : "a is NULL"))
                fail(result, "%s: the sentence does not name the operand: %s", what, gm_last_error());
        }
    if (plan)
        check_unwritten(result, &placed.call, "alpha 0, after refused executes");
    gm_plan_destroy(plan);
    free_buffers(&buffers);
}

static void run_workspace(const struct test *test, struct result *result) {
    const struct gemm_case long_k = {.m = 40, .n = 72, .k = 8192, .d_pad = 8, .alpha = 1, .beta = 1};
    const struct gm_plan_options options = {
        .size = sizeof options, .arch_mask = test->mask, .workspace_limit = 64 << 20};
    struct buffers buffers = {0};
    struct placed placed;
    gm_plan *plan = NULL;
    if (place_gemm(result, &long_k, &buffers, &placed) &&
        check_ok(result, gm_gemm_plan_create(env.context, &placed.problem, &options, &plan), "plan")) {
        const size_t bytes = gm_plan_workspace_bytes(plan);
        struct gm_gemm_args args = placed.args;
        if (bytes == 0)
            fail(result, "the plan asks for no workspace");
        check_refusal(result, gm_gemm_execute(plan, &args, env.stream), GM_ERROR_WORKSPACE, "no workspace");
        args.workspace_bytes = bytes;
        check_refusal(result, gm_gemm_execute(plan, &args, env.stream), GM_ERROR_WORKSPACE, "null workspace");
        args.workspace = args.a;
        check_refusal(result, gm_gemm_execute(plan, &args, env.stream), GM_ERROR_OVERLAP, "workspace is A");
        args.workspace = args.d - bytes + 16;
        check_refusal(result, gm_gemm_execute(plan, &args, env.stream), GM_ERROR_OVERLAP, "workspace ends in D");
        args.workspace = args.d + 8;
        check_refusal(result, gm_gemm_execute(plan, &args, env.stream), GM_ERROR_MISALIGNED, "workspace at 8");
        args.workspace_bytes = bytes - 1;
        check_refusal(result, gm_gemm_execute(plan, &args, env.stream), GM_ERROR_WORKSPACE, "a byte too few");
        check_unwritten(result, &placed.call, "workspace");
    }
    gm_plan_destroy(plan);
    free_buffers(&buffers);
}

/* ---- plan ------------------------------------------------------------------------------------------ */

static void run_problems(const struct test *test, struct result *result) {
    (void)test;
    const struct gm_gemm_problem good = {.size = sizeof good, .m = 40, .n = 72, .k = 48};
    static const struct {
        const char *what;
        size_t offset;
        int64_t value;
        size_t bytes;
        enum gm_status want;
    } bad[] = {
#define FIELD(field, value, want)                                                                                      \
    {#field " = " #value, offsetof(struct gm_gemm_problem, field), value, sizeof good.field, want}
        FIELD(size, 5, GM_ERROR_SIZE),
        FIELD(m, -1, GM_ERROR_INVALID_ARGUMENT),
        FIELD(n, -7, GM_ERROR_INVALID_ARGUMENT),
        FIELD(k, -1, GM_ERROR_INVALID_ARGUMENT),
        FIELD(m, INT64_C(1) << 31, GM_ERROR_INVALID_ARGUMENT),
        FIELD(n, INT64_MAX, GM_ERROR_INVALID_ARGUMENT),
        FIELD(k, INT64_C(1) << 40, GM_ERROR_INVALID_ARGUMENT),
        FIELD(lda, 47, GM_ERROR_INVALID_ARGUMENT),
        FIELD(ldb, -48, GM_ERROR_INVALID_ARGUMENT),
        FIELD(ldc, 71, GM_ERROR_INVALID_ARGUMENT),
        FIELD(ldd, 1, GM_ERROR_INVALID_ARGUMENT),
        FIELD(ldd, INT64_MAX, GM_ERROR_INVALID_ARGUMENT),
        FIELD(ab_type, 2, GM_ERROR_INVALID_ARGUMENT),
        FIELD(ab_type, 4, GM_ERROR_INVALID_ARGUMENT),
        FIELD(ab_type, 99, GM_ERROR_INVALID_ARGUMENT),
        FIELD(has_b_type, 2, GM_ERROR_INVALID_ARGUMENT),
        FIELD(d_type, 6, GM_ERROR_INVALID_ARGUMENT),
        FIELD(has_c_type, 2, GM_ERROR_INVALID_ARGUMENT),
        FIELD(residual, 2, GM_ERROR_INVALID_ARGUMENT),
        FIELD(amax, -1, GM_ERROR_INVALID_ARGUMENT),
        FIELD(a_scales, 3, GM_ERROR_INVALID_ARGUMENT),
        FIELD(a_scales, 5, GM_ERROR_INVALID_ARGUMENT),
        FIELD(b_scales, -1, GM_ERROR_INVALID_ARGUMENT),
        FIELD(a_major, 2, GM_ERROR_INVALID_ARGUMENT),
        FIELD(b_major, 7, GM_ERROR_INVALID_ARGUMENT),
        FIELD(activation, 5, GM_ERROR_INVALID_ARGUMENT),
        FIELD(bias, 3, GM_ERROR_INVALID_ARGUMENT),
        FIELD(a_align, 3, GM_ERROR_INVALID_ARGUMENT),
        FIELD(d_align, -16, GM_ERROR_INVALID_ARGUMENT)};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct gm_gemm_problem problem = good;
        gm_plan *plan = (gm_plan *)&problem;
        memcpy((char *)&problem + bad[i].offset, &bad[i].value, bad[i].bytes); /* little-endian */
        check_refusal(result, gm_gemm_plan_create(env.context, &problem, NULL, &plan), bad[i].want, bad[i].what);
        if (plan != (gm_plan *)&problem)
            fail(result, "%s: *plan was written", bad[i].what);
    }
    gm_plan *plan = NULL;
    const struct gm_plan_options unknown = {.size = sizeof unknown, .kernel = "gemm_sm70_int4"};
    const struct gm_plan_options mask = {.size = sizeof mask, .arch_mask = 0x40};
    check_refusal(result, gm_gemm_plan_create(env.context, &good, &unknown, &plan), GM_ERROR_UNKNOWN_KERNEL,
                  "kernel name");
    check_refusal(result, gm_gemm_plan_create(env.context, &good, &mask, &plan), GM_ERROR_INVALID_ARGUMENT,
                  "arch_mask");
    check_refusal(result, gm_gemm_plan_create(NULL, &good, NULL, &plan), GM_ERROR_INVALID_ARGUMENT, "context null");
    check_refusal(result, gm_gemm_plan_create(env.context, NULL, NULL, &plan), GM_ERROR_INVALID_ARGUMENT,
                  "problem null");
    check_refusal(result, gm_gemm_plan_create(env.context, &good, NULL, NULL), GM_ERROR_INVALID_ARGUMENT, "plan null");
}

void add_gemm_badinput_tests(void) {
    add_test("badinput", "arguments_sm80", run_arguments, -1, GM_ARCH_SM80);
    add_test("badinput", "arguments", run_arguments, -1, 0);
    add_test("badinput", "extended_arguments_sm80", run_extended, -1, GM_ARCH_SM80);
    add_test("badinput", "extended_arguments", run_extended, -1, 0);
    add_test("badinput", "a_null_operand_is_refused_with_alpha_0_as_well", run_alpha_0, -1, 0);
    add_test("badinput", "problems", run_problems, -1, 0);
    add_test("badinput", "workspace", run_workspace, -1, GM_ARCH_SM80);
}
