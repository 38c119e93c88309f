/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of several launches: operands that TMA cannot load are copied into the workspace first, where that is faster. */
#include "planned.h"

#include "gristmill/permute.h"

#include <string.h>

#define LIMIT     ((size_t)64 << 20)
#define WORKSPACE UINT64_C(0x600000000000)

static const struct gm_plan_options with_workspace = {.size = sizeof with_workspace, .workspace_limit = LIMIT};

static struct gm_gemm_problem odd_problem(void) {
    return problem_of(4096, 4096, 4095);
}

static gm_plan *plan_of(const struct gm_gemm_problem *problem, const struct gm_plan_options *options) {
    gm_plan *plan = NULL;
    ck_assert_msg(gm_gemm_plan_create(context, problem, options, &plan) == GM_OK, "%s", gm_last_error());
    return plan;
}

/* The copies of a plan with these options; 0: it is one launch. */
static int copies_of(const struct gm_gemm_problem *problem, const struct gm_plan_options *options) {
    gm_plan *plan = plan_of(problem, options);
    const int copies = plan->steps ? plan->steps->sequence.count : 0;
    gm_plan_destroy(plan);
    return copies;
}

START_TEST(operands_with_odd_rows_are_copied) {
    struct gm_gemm_problem p = odd_problem();
    ck_assert_int_eq(copies_of(&p, &with_workspace), 2);
    p.lda = 4096;
    ck_assert_int_eq(copies_of(&p, &with_workspace), 1);
    p.ldb = 4104;
    ck_assert_int_eq(copies_of(&p, &with_workspace), 0);
    p.b_align = 2;
    ck_assert_int_eq(copies_of(&p, &with_workspace), 1);
}
END_TEST

/* What wgmma takes K-major only is turned; K-major operands of whole rows are not. */
START_TEST(tf32_and_int8_are_turned) {
    static const struct {
        enum gm_type type, d_type;
    } types[] = {{GM_TF32, GM_FP32}, {GM_TF32X3, GM_FP32}, {GM_INT8, GM_INT32}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int layout = 0; layout < 4; layout++) {
            struct gm_gemm_problem p = problem_of(1024, 2048, 512);
            p.ab_type = types[i].type;
            p.d_type = types[i].d_type;
            p.a_major = layout & 1 ? GM_MN_MAJOR : GM_K_MAJOR;
            p.b_major = layout & 2 ? GM_MN_MAJOR : GM_K_MAJOR;
            gm_plan *plan = plan_of(&p, &with_workspace);
            const int copies = plan->steps ? plan->steps->sequence.count : 0;
            ck_assert_int_eq(copies, (layout & 1) + (layout >> 1));
            ck_assert_int_eq(gm_gemm_variant(plan->kernel).layout, 0);
            gm_plan_destroy(plan);
        }
}
END_TEST

/* Without a workspace int8 has no kernel for them. */
START_TEST(int8_that_lies_otherwise_is_refused_without_leave) {
    struct gm_gemm_problem p = problem_of(64, 64, 64);
    gm_plan *plan = NULL;
    p.ab_type = GM_INT8;
    p.d_type = GM_INT32;
    p.lda = 66;
    assert_fails(gm_gemm_plan_create(context, &p, NULL, &plan), GM_ERROR_NO_KERNEL, "TMA needs it; pad lda to 80");
    ck_assert_int_eq(copies_of(&p, &with_workspace), 1);
    p.lda = 68; /* whole words, which cp.async takes */
    ck_assert_int_eq(copies_of(&p, NULL), 0);
    p.a_major = GM_MN_MAJOR;
    assert_fails(gm_gemm_plan_create(context, &p, NULL, &plan), GM_ERROR_NO_KERNEL,
                 "takes layout tn; the problem is nn, which gm_gemm_pack() turns once");
}
END_TEST

START_TEST(nothing_is_copied_without_leave) {
    const struct gm_gemm_problem p = odd_problem();
    struct gm_plan_options options = with_workspace;
    ck_assert_int_eq(copies_of(&p, NULL), 0);
    options.workspace_limit = LIMIT - 1; /* the copies of A and B take 2 x 32 MiB */
    ck_assert_int_eq(copies_of(&p, &options), 0);
    options = with_workspace;
    options.flags = GM_PLAN_BATCH_INVARIANT;
    ck_assert_int_eq(copies_of(&p, &options), 0);
}
END_TEST

/* cp.async copies 16 bytes as fast again as four times 4. */
START_TEST(the_sm80_path_takes_copies_too) {
    const struct gm_gemm_problem p = odd_problem();
    struct gm_plan_options options = with_workspace;
    options.arch_mask = GM_ARCH_SM80;
    ck_assert_int_eq(copies_of(&p, &options), 2);
}
END_TEST

START_TEST(nothing_is_copied_where_it_does_not_pay) {
    const struct gm_gemm_problem row = problem_of(1, 4096, 4095), empty = problem_of(0, 4096, 4095);
    const struct gm_gemm_problem no_k = problem_of(64, 4097, 0);
    ck_assert_int_eq(copies_of(&row, &with_workspace), 0);
    ck_assert_int_eq(copies_of(&empty, &with_workspace), 0);
    ck_assert_int_eq(copies_of(&no_k, &with_workspace), 0);
}
END_TEST

START_TEST(a_kernel_that_needs_copies_may_be_named) {
    const struct gm_kernel *row = row_of(&gm_family_gemm_sm90);
    if (!row)
        return;
    struct gm_gemm_problem p = problem_for(row, 65, 67, 71);
    p.ldd = 72;
    struct gm_plan_options options = {.size = sizeof options, .kernel = row->name, .workspace_limit = 1 << 20};
    gm_plan *plan = plan_of(&p, &options);
    ck_assert_str_eq(gm_kernels[gm_plan_kernel(plan)].name, row->name);
    ck_assert_int_eq(plan->steps->sequence.count, 2);
    gm_plan_destroy(plan);
    options.workspace_limit = 0;
    assert_fails(gm_gemm_plan_create(context, &p, &options, &plan), GM_ERROR_NO_KERNEL, "TMA needs it; pad");
}
END_TEST

/* The explanation is the plan's. */
START_TEST(an_explanation_tells_of_copies) {
    const struct gm_gemm_problem p = odd_problem();
    const struct gm_device h200 = device_of("h200");
    struct explained all = explained_room();
    static char said[1 << 20];
    ck_assert_int_eq(gm_gemm_explain(&h200, &p, &with_workspace, all.candidates, all.count, &all.count), GM_OK);
    const struct gm_kernel *kernel = chosen_of(&all, "gemm", said, sizeof said);
    gm_plan *plan = plan_of(&p, &with_workspace);
    ck_assert_ptr_eq(kernel, plan->kernel);
    ck_assert_ptr_nonnull(
        strstr(said, "for a copy of a and a copy of b in 67108864 bytes of workspace; then predicted "));
    ck_assert(gm_plan_predicted_us(plan) > plan->steps->plans[2]->predicted_us);
    ck_assert_uint_eq(gm_plan_workspace_bytes(plan), LIMIT + gm_plan_workspace_bytes(plan->steps->plans[2]));
    gm_plan_destroy(plan);
}
END_TEST

/* Three launches, the last of which reads the copies; nothing is promised of B any more. */
START_TEST(a_call_launches_every_step) {
    const struct gm_gemm_problem p = odd_problem();
    struct gm_plan_options options = with_workspace;
    options.flags = GM_PLAN_CONSTANT_B;
    gm_plan *plan = plan_of(&p, &options);
    struct gm_gemm_args args = args_apart();
    args.workspace = WORKSPACE;
    args.workspace_bytes = gm_plan_workspace_bytes(plan);
    fake_clear_counts();
    assert_ok(gm_gemm_execute(plan, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], 2 * 3); /* each in vain first: no context is current */
    ck_assert_int_eq(fake.launch.kernel, gm_plan_kernel(plan));
    ck_assert_int_eq(fake.launch.params.sm90.b_early, 0);
    ck_assert_uint_eq(fake.launch.params.sm90.epilogue.d, ADDRESS_D);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(a_call_without_its_workspace_launches_nothing) {
    const struct gm_gemm_problem p = odd_problem();
    gm_plan *plan = plan_of(&p, &with_workspace);
    struct gm_gemm_args args = args_apart();
    fake_clear_counts();
    assert_fails(gm_gemm_execute(plan, &args, NULL), GM_ERROR_WORKSPACE, "workspace");
    args.workspace = WORKSPACE;
    args.workspace_bytes = gm_plan_workspace_bytes(plan) - 1;
    assert_fails(gm_gemm_execute(plan, &args, NULL), GM_ERROR_WORKSPACE, "workspace");
    args.workspace_bytes++;
    args.workspace = ADDRESS_D + 256;
    assert_fails(gm_gemm_execute(plan, &args, NULL), GM_ERROR_OVERLAP, "workspace");
    args.workspace = WORKSPACE;
    args.a = ADDRESS_A + 1;
    assert_fails(gm_gemm_execute(plan, &args, NULL), GM_ERROR_MISALIGNED, "a ");
    ck_assert_int_eq(fake_calls(), 0);
    gm_plan_destroy(plan);
}
END_TEST

/* Whichever launch the driver refuses, the call says so, and launches no further. */
START_TEST(a_refused_step_ends_the_call) {
    const struct gm_gemm_problem p = odd_problem();
    gm_plan *plan = plan_of(&p, &with_workspace);
    struct gm_gemm_args args = args_apart();
    args.workspace = WORKSPACE;
    args.workspace_bytes = gm_plan_workspace_bytes(plan);
    fake_clear_counts();
    fake.result[FAKE_cuLaunchKernelEx] = CUDA_ERROR_INVALID_VALUE;
    assert_fails(gm_gemm_execute(plan, &args, NULL), GM_ERROR_LAUNCH, "permute");
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], 1);
    gm_plan_destroy(plan);
}
END_TEST

/* ---- gates and ups ----------------------------------------------------------------------------------- */

static struct gm_gemm_problem gate_problem(int64_t n) {
    struct gm_gemm_problem p = problem_of(64, n, 512);
    p.gate = GM_GATE_HALVES;
    p.activation = GM_ACT_SILU;
    return p;
}

/* 16 columns at a time there is a kernel; else a GEMM leaves sums in the workspace, and a GLU makes D of them. */
START_TEST(a_glu_makes_the_unit_where_no_kernel_does) {
    const struct gm_gemm_problem whole = gate_problem(1024), ragged = gate_problem(1026);
    ck_assert_int_eq(copies_of(&whole, &with_workspace), 0);
    gm_plan *plan = plan_of(&ragged, &with_workspace);
    ck_assert_int_eq(plan->steps->sequence.count, 1);
    ck_assert_int_eq(plan->steps->sequence.before, 0);
    ck_assert_uint_ge(gm_plan_workspace_bytes(plan), 64 * 1088 * 2);
    struct gm_gemm_args args = args_apart();
    args.workspace = WORKSPACE;
    args.workspace_bytes = gm_plan_workspace_bytes(plan);
    fake_clear_counts();
    assert_ok(gm_gemm_execute(plan, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], 2 * 2); /* each in vain first: no context is current */
    ck_assert_str_eq(gm_kernels[fake.launch.kernel].family->name, "glu");
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(without_a_workspace_there_is_no_unit) {
    const struct gm_gemm_problem p = gate_problem(1026);
    struct gm_plan_options options = with_workspace;
    gm_plan *plan = NULL;
    options.workspace_limit = 64 * 1088 * 2 - 1;
    assert_fails(gm_gemm_plan_create(context, &p, &options, &plan), GM_ERROR_NO_KERNEL, "gate");
}
END_TEST

/* A sequence has no other within it, so that it needs the workspace that it asks for. */
START_TEST(a_unit_of_odd_operands_copies_none) {
    struct gm_gemm_problem p = gate_problem(1026);
    p.m = 4096, p.k = 4095;
    gm_plan *plan = plan_of(&p, &with_workspace);
    const gm_plan *gemm = plan->steps->plans[1];
    ck_assert_ptr_null(gemm->steps);
    ck_assert_uint_eq(gm_plan_workspace_bytes(plan), plan->steps->sequence.bytes + gm_plan_workspace_bytes(gemm));
    gm_plan_destroy(plan);
}
END_TEST

/* One rounding or two, but for all numbers of rows alike. */
START_TEST(a_batch_invariant_unit_takes_the_kernel_where_there_is_one) {
    struct gm_plan_options options = with_workspace;
    options.flags = GM_PLAN_BATCH_INVARIANT;
    for (int64_t m = 1; m < 5000; m = 3 * m + 1) {
        struct gm_gemm_problem p = gate_problem(1024);
        p.m = m;
        ck_assert_int_eq(copies_of(&p, &options), 0);
        p.n = 1026;
        ck_assert_int_eq(copies_of(&p, &options), 1);
    }
}
END_TEST

START_TEST(an_explanation_tells_of_the_glu) {
    const struct gm_gemm_problem p = gate_problem(1026);
    const struct gm_device h200 = device_of("h200");
    struct explained all = explained_room();
    static char said[1 << 20];
    ck_assert_int_eq(gm_gemm_explain(&h200, &p, &with_workspace, all.candidates, all.count, &all.count), GM_OK);
    ck_assert_ptr_nonnull(chosen_of(&all, "gemm", said, sizeof said));
    ck_assert_ptr_nonnull(strstr(said, "for a GLU of 139264 bytes of workspace; before it predicted "));
}
END_TEST

START_TEST(there_is_no_c_beside_a_gate) {
    const struct gm_gemm_problem p = gate_problem(1024);
    const float beta = 1;
    gm_plan *plan = plan_of(&p, NULL);
    struct gm_gemm_args args = args_apart();
    args.beta = &beta;
    fake_clear_counts();
    assert_fails(gm_gemm_execute(plan, &args, NULL), GM_ERROR_INVALID_ARGUMENT,
                 "beta is 1: there is no C beside a gate");
    ck_assert_int_eq(fake_calls(), 0);
    gm_plan_destroy(plan);
}
END_TEST

/* ---- 8 bits ------------------------------------------------------------------------------------------- */

static struct gm_gemm_problem row_scaled_problem(void) {
    struct gm_gemm_problem p = problem_of(64, 1000, 512);
    p.d_type = GM_E4M3, p.d_scaling = GM_SCALE_ROW, p.residual = 1, p.amax = 1;
    return p;
}

/* y, rounded to A's type or of int8 to fp32, in rows of whole 128 bytes, and D of it. */
START_TEST(a_quantiser_makes_scales_of_rows) {
    struct gm_gemm_problem p = row_scaled_problem();
    struct gm_gemm_args args = args_apart();
    args.residual = ADDRESS_RESIDUAL, args.d_scales = ADDRESS_SCALES, args.workspace = WORKSPACE;
    for (int int8 = 0; int8 < 2; int8++) {
        p.ab_type = int8 ? GM_INT8 : GM_BF16;
        gm_plan *plan = plan_of(&p, &with_workspace);
        ck_assert_int_eq(plan->steps->sequence.count, 1);
        ck_assert_int_eq(plan->steps->sequence.before, 0);
        args.workspace_bytes = gm_plan_workspace_bytes(plan);
        ck_assert_uint_ge(args.workspace_bytes, int8 ? 64 * 1024 * 4 : 64 * 1024 * 2);
        fake_clear_counts();
        assert_ok(gm_gemm_execute(plan, &args, NULL));
        ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], 2 * 2);
        ck_assert_str_eq(gm_kernels[fake.launch.kernel].family->name, "quantize");
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(without_a_workspace_there_are_no_scales_of_rows) {
    const struct gm_gemm_problem p = row_scaled_problem();
    gm_plan *plan = NULL;
    assert_fails(gm_gemm_plan_create(context, &p, NULL, &plan), GM_ERROR_NO_KERNEL, "no kernel of");
}
END_TEST

/* Of a gate and a D of 8 bits a GLU makes both; amax is what a kernel with a gate looks for, or none. */
START_TEST(a_glu_quantises_what_it_gates) {
    struct gm_gemm_problem p = gate_problem(1026);
    p.d_type = GM_E4M3, p.d_scaling = GM_SCALE_ROW, p.b_scales = GM_PER_ROW;
    struct gm_gemm_args args = args_apart();
    gm_plan *plan = plan_of(&p, &with_workspace);
    ck_assert_int_eq(plan->steps->sequence.count, 1);
    args.b_scales = ADDRESS_SCALES, args.d_scales = ADDRESS_SCALES + 65536, args.workspace = WORKSPACE;
    args.workspace_bytes = gm_plan_workspace_bytes(plan);
    assert_ok(gm_gemm_execute(plan, &args, NULL));
    ck_assert_str_eq(gm_kernels[fake.launch.kernel].family->name, "glu");
    gm_plan_destroy(plan);
    p.amax = 1;
    plan = NULL;
    assert_fails(gm_gemm_plan_create(context, &p, &with_workspace, &plan), GM_ERROR_NO_KERNEL, "");
}
END_TEST

Suite *sequence_suite(void) {
    Suite *suite = suite_create("sequence");
    TCase *plans = tcase_create("plans"), *calls = tcase_create("calls");
    tcase_add_checked_fixture(plans, planned_set_up, planned_tear_down);
    tcase_add_test(plans, operands_with_odd_rows_are_copied);
    tcase_add_test(plans, tf32_and_int8_are_turned);
    tcase_add_test(plans, int8_that_lies_otherwise_is_refused_without_leave);
    tcase_add_test(plans, nothing_is_copied_without_leave);
    tcase_add_test(plans, the_sm80_path_takes_copies_too);
    tcase_add_test(plans, nothing_is_copied_where_it_does_not_pay);
    tcase_add_test(plans, a_kernel_that_needs_copies_may_be_named);
    tcase_add_test(plans, an_explanation_tells_of_copies);
    suite_add_tcase(suite, plans);
    tcase_add_checked_fixture(calls, planned_set_up, planned_tear_down);
    tcase_add_test(calls, a_call_launches_every_step);
    tcase_add_test(calls, a_call_without_its_workspace_launches_nothing);
    tcase_add_test(calls, a_refused_step_ends_the_call);
    suite_add_tcase(suite, calls);
    TCase *gates = tcase_create("gates");
    tcase_add_checked_fixture(gates, planned_set_up, planned_tear_down);
    tcase_add_test(gates, a_glu_makes_the_unit_where_no_kernel_does);
    tcase_add_test(gates, without_a_workspace_there_is_no_unit);
    tcase_add_test(gates, a_unit_of_odd_operands_copies_none);
    tcase_add_test(gates, a_batch_invariant_unit_takes_the_kernel_where_there_is_one);
    tcase_add_test(gates, an_explanation_tells_of_the_glu);
    tcase_add_test(gates, there_is_no_c_beside_a_gate);
    suite_add_tcase(suite, gates);
    TCase *bytes = tcase_create("8 bits");
    tcase_add_checked_fixture(bytes, planned_set_up, planned_tear_down);
    tcase_add_test(bytes, a_quantiser_makes_scales_of_rows);
    tcase_add_test(bytes, without_a_workspace_there_are_no_scales_of_rows);
    tcase_add_test(bytes, a_glu_quantises_what_it_gates);
    suite_add_tcase(suite, bytes);
    return suite;
}
