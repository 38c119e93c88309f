/* SPDX-License-Identifier: Apache-2.0 */
/* Execute: exactly one launch, with exactly the plan's numbers, for every row of the table. */
#include "host/occupancy.h"
#include "planned.h"

#include <string.h>

static void clear(void) {
    fake_make_current(0);
    fake_clear_counts();
}

/* The tensor maps of a plan that a call fills in. Swapped rows with an extended epilogue do not store by TMA. */
static int maps_of(const struct gm_kernel *row, const gm_plan *plan) {
    const struct gm_gemm_sm90_params *params = plan->params;
    if (!has_maps(row))
        return 0;
    return 2 + (params->plain != GM_SM90_ALONG_ROWS) + (params->a_tiles.rows > 0) + (params->b_tiles.rows > 0);
}

START_TEST(execute_makes_one_launch_and_nothing_else) {
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        const struct gm_gemm_problem p = problem_for(row, 1000, 2000, 3008);
        const struct gm_gemm_args args = args_apart();
        gm_plan *plan = plan_for(row, &p);
        const int maps = maps_of(row, plan);
        clear();
        assert_ok(gm_gemm_execute(plan, &args, NULL));
        ck_assert_msg(fake.count[FAKE_cuLaunchKernelEx] == 1, "%s", row->name);
        ck_assert_msg(fake.count[FAKE_cuTensorMapReplaceAddress] == maps, "%s", row->name);
        ck_assert_msg(fake_calls() == 1 + maps, "%s: %d driver calls", row->name, fake_calls());
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* Grid, block, shared memory and cluster of the last launch. */
static void check_config(const struct gm_kernel *row, const struct gm_gemm_problem *p, void *stream) {
    const CUlaunchConfig *config = &fake.launch.config;
    const struct gm_gemm_variant v = gm_gemm_variant(row);
    const int cluster = gm_cluster_size(&v), sm90 = row->arch == GM_ARCH_SM90;
    const int64_t rows = (int64_t)v.tile_m * v.cluster_m, columns = (int64_t)v.tile_n * v.cluster_n;
    const int64_t tiles = ((p->m + rows - 1) / rows) * ((p->n + columns - 1) / columns);
    const int64_t at_once = gm_clusters_at_once(row, &fake.devices[0]);
    const int64_t grid = (tiles < at_once || !v.persistent ? tiles : at_once) * cluster;
    ck_assert_msg(config->gridDimX == grid, "%s: grid %u, expected %d", row->name, config->gridDimX, (int)grid);
    ck_assert_uint_eq(config->gridDimY, 1);
    ck_assert_uint_eq(config->gridDimZ, 1);
    ck_assert_uint_eq(config->blockDimX, row->threads);
    ck_assert_uint_eq(config->blockDimY, 1);
    ck_assert_uint_eq(config->blockDimZ, 1);
    ck_assert_uint_eq(config->sharedMemBytes, row->smem_bytes);
    ck_assert_ptr_eq(config->hStream, (CUstream)stream);
    ck_assert_uint_eq(config->numAttrs, sm90 + (cluster > 1));
    if (sm90) {
        ck_assert_int_eq(fake.launch.attributes[0].id, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
        ck_assert_int_eq(fake.launch.attributes[0].value.programmaticStreamSerializationAllowed, 1);
    }
    if (cluster > 1) {
        ck_assert_int_eq(fake.launch.attributes[1].id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
        ck_assert_uint_eq(fake.launch.attributes[1].value.clusterDim.x, cluster);
        ck_assert_uint_eq(fake.launch.attributes[1].value.clusterDim.y, 1);
        ck_assert_uint_eq(fake.launch.attributes[1].value.clusterDim.z, 1);
        ck_assert_uint_eq(config->gridDimX % (unsigned)cluster, 0);
    }
}

static void check_epilogue(const struct gm_epilogue_params *e, float alpha, float beta) {
    ck_assert_uint_eq(e->c, ADDRESS_C);
    ck_assert_uint_eq(e->d, ADDRESS_D);
    ck_assert_uint_eq(e->bias, ADDRESS_BIAS);
    ck_assert_int_eq(e->ldc, 2008);
    ck_assert_int_eq(e->ldd, 2016);
    ck_assert_float_eq(e->alpha, alpha);
    ck_assert_float_eq(e->beta, beta);
    ck_assert_int_eq(e->d_type, GM_FP32);
    ck_assert_int_eq(e->bias_type, GM_FP16);
    ck_assert_int_eq(e->bias_mode, GM_BIAS_M);
    ck_assert_int_eq(e->activation, GM_ACT_SILU);
    ck_assert_int_eq(e->c_vector, 1);
    ck_assert_int_eq(e->d_vector, 1);
    ck_assert_int_eq(e->m, 1000);
    ck_assert_int_eq(e->n, 2000);
}

START_TEST(every_row_is_launched_with_its_numbers) {
    const float alpha = 0.5f, beta = -2;
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        const struct gm_gemm_variant v = gm_gemm_variant(row);
        struct gm_gemm_problem p = problem_for(row, 1000, 2000, 3008);
        if (v.gate) /* there is no C, nor a bias along M: the next test's */
            continue;
        p.lda = 3024, p.ldb = 3040, p.ldc = 2008, p.ldd = 2016;
        p.d_type = GM_FP32, p.bias = GM_BIAS_M, p.bias_type = GM_FP16, p.activation = GM_ACT_SILU;
        struct gm_gemm_args args = args_apart();
        args.alpha = &alpha, args.beta = &beta;
        gm_plan *plan = plan_for(row, &p);
        void *stream = (void *)0x77;
        clear();
        assert_ok(gm_gemm_execute(plan, &args, stream));
        check_config(row, &p, stream);
        if (has_maps(row)) {
            const struct gm_gemm_sm90_params *params = &fake.launch.params.sm90;
            check_epilogue(&params->epilogue, alpha, beta);
            ck_assert_uint_eq(fake_map_address(&params->a), ADDRESS_A);
            ck_assert_uint_eq(fake_map_address(&params->b), ADDRESS_B);
            ck_assert_int_eq(params->k_blocks, GM_CEIL_DIV(3008, v.tile_k));
            ck_assert_msg(params->plain == 0 || v.extended, "%s", row->name);
            if (params->a_tiles.rows)
                ck_assert_uint_eq(fake_map_address(&params->a_tail), ADDRESS_A);
            if (params->b_tiles.rows)
                ck_assert_uint_eq(fake_map_address(&params->b_tail), ADDRESS_B);
            ck_assert_int_eq(params->raster.tiles_m, GM_CEIL_DIV(1000, v.tile_m * v.cluster_m));
        } else {
            const struct gm_gemm_sm80_params *params = &fake.launch.params.sm80;
            check_epilogue(&params->epilogue, alpha, beta);
            ck_assert_uint_eq(params->a, ADDRESS_A);
            ck_assert_uint_eq(params->b, ADDRESS_B);
            ck_assert_int_eq(params->lda, 3024);
            ck_assert_int_eq(params->ldb, 3040);
            ck_assert_int_eq(params->k, 3008);
            ck_assert_int_eq(params->a_vector, 16);
            ck_assert_int_eq(params->b_vector, 16);
            ck_assert_int_eq(params->raster.tiles_n, GM_CEIL_DIV(2000, v.tile_n));
        }
        gm_plan_destroy(plan);
    }
}
END_TEST

static void check_extension(const struct gm_kernel *row) {
    const struct gm_extension_params *x =
        has_maps(row) ? &fake.launch.params.sm90_extended.extension : &fake.launch.params.sm80_extended.extension;
    const struct gm_scaling_params *s =
        has_maps(row) ? &fake.launch.params.sm90.scaling : &fake.launch.params.sm80.scaling;
    ck_assert_uint_eq(x->residual, ADDRESS_RESIDUAL + 4);
    ck_assert_uint_eq(x->amax, ADDRESS_AMAX);
    ck_assert_uint_eq(x->store.scales, ADDRESS_SCALES);
    ck_assert(x->ldr == 2024 && x->residual_type == GM_FP32 && x->c_type == GM_FP16);
    ck_assert(x->c_vector == 16 && x->residual_vector == 4);
    ck_assert(x->store.out_type == GM_E5M2 && x->store.scaling == SCALE_STATIC && x->store.by_reciprocal == 1);
    ck_assert(s->row_scales == ADDRESS_SCALES + 4096 && s->column_scales == ADDRESS_SCALES + 8192);
    ck_assert(s->row_step == 1 && s->column_step == 0);
}

START_TEST(an_extended_epilogue_is_launched_with_its_numbers) {
    const float beta = 2;
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        struct gm_gemm_problem p = problem_for(row, 1000, 2000, 3008);
        if (!gm_gemm_variant(row).extended || gm_gemm_variant(row).gate)
            continue;
        p.d_type = GM_E5M2, p.d_division = GM_DIVIDE_BY_RECIPROCAL, p.has_c_type = 1, p.c_type = GM_FP16;
        p.residual = 1, p.residual_type = GM_FP32, p.ldr = 2024, p.a_scales = GM_PER_ROW, p.b_scales = GM_PER_TENSOR;
        struct gm_gemm_args args = args_apart();
        args.beta = &beta, args.residual = ADDRESS_RESIDUAL + 4, args.d_scales = ADDRESS_SCALES;
        args.a_scales = ADDRESS_SCALES + 4096, args.b_scales = ADDRESS_SCALES + 8192;
        gm_plan *plan = plan_for(row, &p);
        clear();
        assert_ok(gm_gemm_execute(plan, &args, NULL));
        check_extension(row);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(a_gate_is_launched_with_its_numbers) {
    const float alpha = 0.5f;
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        struct gm_gemm_problem p = problem_for(row, 1000, 2000, 3008);
        if (!gm_gemm_variant(row).gate)
            continue;
        p.gate = i % 2 ? GM_GATE_PAIRS : GM_GATE_HALVES;
        p.activation = GM_ACT_SILU, p.sigmoid_factor = 2, p.limit = 7, p.up_offset = 1;
        p.bias = GM_BIAS_N, p.bias_type = GM_FP16;
        struct gm_gemm_args args = args_apart();
        args.alpha = &alpha;
        gm_plan *plan = plan_for(row, &p);
        clear();
        assert_ok(gm_gemm_execute(plan, &args, NULL));
        const struct gm_gemm_sm90_params *params = &fake.launch.params.sm90;
        ck_assert_int_eq(params->plain, GM_SM90_BY_TMA);
        ck_assert_int_eq(params->epilogue.n, 1000);
        ck_assert_float_eq(params->epilogue.alpha, 0.5f);
        ck_assert(params->gate.has_limit && params->gate.limit == 7 && params->gate.up_offset == 1);
        ck_assert_float_eq(params->gate.silu_exponent, -1.44269504f);
        ck_assert_int_eq(params->gate.gate_step, i % 2 ? 2 : 1);
        ck_assert_int_eq(params->gate.up_first, i % 2 ? 1 : 1000);
        ck_assert_uint_eq(fake_map_address(&params->b), ADDRESS_B);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(alpha_is_1_and_beta_0_when_null) {
    const struct gm_kernel *row = row_of(&gm_family_gemm_sm90);
    if (!row)
        return;
    const struct gm_gemm_problem p = problem_for(row, 64, 64, 64);
    const struct gm_gemm_args args = args_apart();
    gm_plan *plan = plan_for(row, &p);
    clear();
    assert_ok(gm_gemm_execute(plan, &args, NULL));
    ck_assert_float_eq(fake.launch.params.sm90.epilogue.alpha, 1);
    ck_assert_float_eq(fake.launch.params.sm90.epilogue.beta, 0);
    ck_assert_int_eq(fake.launch.params.sm90.plain, 1);
    ck_assert_uint_eq(fake_map_address(&fake.launch.params.sm90.d), ADDRESS_D);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(plain_is_alpha_alone_by_tma_or_along_rows) {
    const struct gm_kernel *row = row_of(&gm_family_gemm_sm90);
    const float beta = 0.5f, none = 0;
    for (int i = 0; i < 7 && row; i++) {
        struct gm_gemm_problem p = problem_for(row, 64, i == 4 ? 65 : 64, 64);
        struct gm_gemm_args args = args_apart();
        p.ldd = i == 5 ? 73 : 72; /* rows of 65 elements end inside a 16-byte chunk: TMA would store beyond them */
        p.d_align = i == 6 ? 8 : 16;
        p.bias = i == 1 ? GM_BIAS_N : GM_BIAS_NONE;
        p.activation = i == 2 ? GM_ACT_RELU : GM_ACT_NONE;
        args.beta = i == 3 ? &beta : &none;
        gm_plan *plan = plan_for(row, &p);
        clear();
        assert_ok(gm_gemm_execute(plan, &args, NULL));
        ck_assert_int_eq(fake.launch.params.sm90.plain, i == 0 ? GM_SM90_BY_TMA : i > 3 ? GM_SM90_ALONG_ROWS : 0);
        ck_assert_int_eq(fake.launch.params.sm90.epilogue.d_vector, i != 5);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(sm80_copies_are_as_wide_as_pointers_and_strides_allow) {
    const struct gm_kernel *row = row_of(&gm_family_gemm_sm80);
    if (!row)
        return;
    struct gm_gemm_problem p = problem_for(row, 100, 101, 102);
    p.lda = 116, p.ldb = 118, p.ldc = 104, p.ldd = 103, p.a_align = p.b_align = p.d_align = 2;
    struct gm_gemm_args args = args_apart();
    gm_plan *plan = plan_for(row, &p);
    clear();
    assert_ok(gm_gemm_execute(plan, &args, NULL));
    ck_assert_int_eq(fake.launch.params.sm80.a_vector, 8);
    ck_assert_int_eq(fake.launch.params.sm80.b_vector, 4);
    ck_assert_int_eq(fake.launch.params.sm80.epilogue.c_vector, 1);
    ck_assert_int_eq(fake.launch.params.sm80.epilogue.d_vector, 0);
    args.a += 2, args.c += 8;
    assert_ok(gm_gemm_execute(plan, &args, NULL));
    ck_assert_int_eq(fake.launch.params.sm80.a_vector, 2);
    ck_assert_int_eq(fake.launch.params.sm80.epilogue.c_vector, 0);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(empty_problems_launch_nothing) {
    static const int64_t sizes[][3] = {{0, 64, 64}, {64, 0, 64}, {0, 0, 0}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const struct gm_gemm_args args = {.size = sizeof args};
        struct gm_gemm_problem p = problem_of(sizes[s][0], sizes[s][1], sizes[s][2]);
        gm_plan *plan = NULL;
        if (sizes[s][2] == 0 && !row_of(&gm_family_gemm_sm80))
            continue;
        assert_ok(gm_gemm_plan_create(context, &p, NULL, &plan));
        clear();
        assert_ok(gm_gemm_execute(plan, &args, NULL));
        ck_assert_int_eq(fake_calls(), 0);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(a_cold_thread_gets_the_plans_context_for_the_call) {
    const struct gm_gemm_args args = args_apart();
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_gemm_problem p = problem_for(&gm_kernels[i], 128, 128, 128);
        gm_plan *plan = plan_for(&gm_kernels[i], &p);
        fake_make_current(-1);
        fake_clear_counts();
        assert_ok(gm_gemm_execute(plan, &args, NULL));
        ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], 2);
        ck_assert_int_eq(fake.count[FAKE_cuCtxPushCurrent], 1);
        ck_assert_int_eq(fake.count[FAKE_cuCtxPopCurrent], 1);
        ck_assert_int_eq(fake_context_depth(), 0);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* A, B, their strides and the bias change places; C and D stay. */
START_TEST(a_column_is_launched_as_the_row_of_its_transpose) {
    const struct gm_plan_options options = {
        .size = sizeof options, .arch_mask = GM_ARCH_SM80, .flags = GM_PLAN_MODEL_ONLY | GM_PLAN_CONSTANT_B};
    struct gm_gemm_problem p = problem_of(4000, 1, 72);
    struct gm_gemm_args args = args_apart();
    gm_plan *plan = NULL;
    p.lda = 80;
    p.bias = GM_BIAS_M;
    p.a_align = 8;
    assert_ok(gm_gemm_plan_create(context, &p, &options, &plan));
    clear();
    assert_ok(gm_gemm_execute(plan, &args, NULL));
    const struct gm_gemm_sm80_params *params = &fake.launch.params.sm80;
    ck_assert(params->a == ADDRESS_B && params->b == ADDRESS_A);
    ck_assert(params->epilogue.c == ADDRESS_C && params->epilogue.d == ADDRESS_D);
    ck_assert(params->epilogue.m == 1 && params->epilogue.n == 4000 && params->k == 72);
    ck_assert(params->lda == 72 && params->ldb == 80 && params->epilogue.ldd == 4000);
    ck_assert_int_eq(params->epilogue.bias_mode, GM_BIAS_N);
    ck_assert_int_eq(params->b_early, 0); /* it is A that would be loaded early, and A is not constant */
    args.a += 4;
    assert_fails(gm_gemm_execute(plan, &args, NULL), GM_ERROR_MISALIGNED, "a is 0x100000000004, not a multiple of 8");
    args = args_apart();
    args.b += 8;
    assert_fails(gm_gemm_execute(plan, &args, NULL), GM_ERROR_MISALIGNED, "b is 0x200000000008, not a multiple of 16");
    args.b = args.d + 16;
    assert_fails(gm_gemm_execute(plan, &args, NULL), GM_ERROR_OVERLAP, "overlaps b");
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(a_context_that_was_reset_is_named_and_not_the_stream) {
    static const CUresult answers[] = {CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_INVALID_CONTEXT,
                                       CUDA_ERROR_INVALID_HANDLE};
    const struct gm_gemm_args args = args_apart();
    const struct gm_gemm_problem p = problem_for(&gm_kernels[0], 128, 128, 128);
    gm_plan *plan = plan_for(&gm_kernels[0], &p);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        clear();
        fake.result[FAKE_cuLaunchKernelEx] = answers[i];
        fake.result[FAKE_cuFuncGetAttribute] = CUDA_ERROR_INVALID_HANDLE;
        assert_fails(gm_gemm_execute(plan, &args, NULL), GM_ERROR_DRIVER,
                     "the primary context of device 0 (NVIDIA H200) was reset or destroyed since gm_context_create()");
        ck_assert_int_eq(gm_last_cuda_result(), answers[i]);
        ck_assert_int_eq(fake_context_depth(), 1);
        fake.result[FAKE_cuFuncGetAttribute] = CUDA_SUCCESS; /* the function is still there: so it is the stream */
        assert_fails(gm_gemm_execute(plan, &args, NULL), GM_ERROR_WRONG_DEVICE, "the stream is of another device");
    }
    fake.result[FAKE_cuLaunchKernelEx] = CUDA_SUCCESS;
    assert_ok(gm_gemm_execute(plan, &args, NULL));
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(a_foreign_stream_is_the_wrong_device) {
    const struct gm_gemm_args args = args_apart();
    const struct gm_gemm_problem p = problem_for(&gm_kernels[0], 128, 128, 128);
    gm_plan *plan = plan_for(&gm_kernels[0], &p);
    fake_make_current(1);
    assert_fails(gm_gemm_execute(plan, &args, FAKE_FOREIGN_STREAM), GM_ERROR_WRONG_DEVICE, "the plan is of device 0");
    ck_assert_int_eq(gm_last_cuda_result(), CUDA_ERROR_INVALID_HANDLE);
    ck_assert_int_eq(fake_context_depth(), 1);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(a_refused_launch_gives_the_drivers_reason) {
    const struct gm_gemm_args args = args_apart();
    const struct gm_gemm_problem p = problem_for(&gm_kernels[0], 128, 128, 128);
    gm_plan *plan = plan_for(&gm_kernels[0], &p);
    clear();
    fake.result[FAKE_cuLaunchKernelEx] = CUDA_ERROR_OUT_OF_MEMORY;
    assert_fails(gm_gemm_execute(plan, &args, NULL), GM_ERROR_LAUNCH, gm_kernels[0].name);
    ck_assert_ptr_nonnull(strstr(gm_last_error(), "CUDA_ERROR_OUT_OF_MEMORY"));
    ck_assert_int_eq(gm_last_cuda_result(), CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], 1);
    fake.result[FAKE_cuLaunchKernelEx] = CUDA_SUCCESS;
    assert_ok(gm_gemm_execute(plan, &args, NULL));
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(a_context_that_cannot_be_made_current_fails_a_cold_thread) {
    const struct gm_gemm_args args = args_apart();
    const struct gm_gemm_problem p = problem_for(&gm_kernels[0], 128, 128, 128);
    gm_plan *plan = plan_for(&gm_kernels[0], &p);
    fake_make_current(-1);
    fake.result[FAKE_cuCtxPushCurrent] = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    assert_fails(gm_gemm_execute(plan, &args, NULL), GM_ERROR_DRIVER, "device 0");
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(a_map_that_cannot_be_pointed_launches_nothing) {
    const struct gm_kernel *row = row_of(&gm_family_gemm_sm90);
    if (!row)
        return;
    const struct gm_gemm_args args = args_apart();
    const struct gm_gemm_problem p = problem_for(row, 128, 128, 128);
    gm_plan *plan = plan_for(row, &p);
    clear();
    fake.result[FAKE_cuTensorMapReplaceAddress] = CUDA_ERROR_INVALID_VALUE;
    assert_fails(gm_gemm_execute(plan, &args, NULL), GM_ERROR_LAUNCH, "CUDA_ERROR_INVALID_VALUE");
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], 0);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(execute_does_not_change_its_plan) {
    const struct gm_gemm_args args = args_apart();
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_gemm_problem p = problem_for(&gm_kernels[i], 304, 200, 128);
        gm_plan *plan = plan_for(&gm_kernels[i], &p);
        gm_plan before;
        memcpy(&before, plan, sizeof before);
        clear();
        assert_ok(gm_gemm_execute(plan, &args, NULL));
        ck_assert_mem_eq(&before, plan, sizeof before);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(gm_gemm_plans_executes_and_destroys) {
    struct gm_gemm_problem p = problem_for(&gm_kernels[0], 512, 512, 512);
    struct gm_gemm_args args = args_apart();
    clear();
    assert_ok(gm_gemm(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], 1);
    args.a = args.d;
    assert_fails(gm_gemm(context, &p, &args, NULL), GM_ERROR_OVERLAP, "overlaps a");
    p.n = -1;
    assert_fails(gm_gemm(context, &p, &args, NULL), GM_ERROR_INVALID_ARGUMENT, "n is -1");
    assert_fails(gm_gemm(NULL, &p, &args, NULL), GM_ERROR_INVALID_ARGUMENT, "context");
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], 1);
}
END_TEST

Suite *execute_suite(void) {
    Suite *suite = suite_create("execute");
    TCase *table = tcase_create("every row of the table");
    tcase_set_tags(table, "long");                                         /* minutes under valgrind */
    tcase_add_unchecked_fixture(table, planned_set_up, planned_tear_down); /* in one process a row is loaded once */
    tcase_add_test(table, execute_makes_one_launch_and_nothing_else);
    tcase_add_test(table, every_row_is_launched_with_its_numbers);
    tcase_add_test(table, a_gate_is_launched_with_its_numbers);
    tcase_add_test(table, an_extended_epilogue_is_launched_with_its_numbers);
    tcase_add_test(table, execute_does_not_change_its_plan);
    tcase_add_test(table, a_cold_thread_gets_the_plans_context_for_the_call);
    suite_add_tcase(suite, table);
    TCase *cases = tcase_create("launches");
    tcase_add_checked_fixture(cases, planned_set_up, planned_tear_down);
    tcase_add_test(cases, alpha_is_1_and_beta_0_when_null);
    tcase_add_test(cases, plain_is_alpha_alone_by_tma_or_along_rows);
    tcase_add_test(cases, sm80_copies_are_as_wide_as_pointers_and_strides_allow);
    tcase_add_test(cases, empty_problems_launch_nothing);
    tcase_add_test(cases, a_column_is_launched_as_the_row_of_its_transpose);
    tcase_add_test(cases, a_context_that_was_reset_is_named_and_not_the_stream);
    tcase_add_test(cases, a_foreign_stream_is_the_wrong_device);
    tcase_add_test(cases, a_refused_launch_gives_the_drivers_reason);
    tcase_add_test(cases, a_context_that_cannot_be_made_current_fails_a_cold_thread);
    tcase_add_test(cases, a_map_that_cannot_be_pointed_launches_nothing);
    tcase_add_test(cases, gm_gemm_plans_executes_and_destroys);
    suite_add_tcase(suite, cases);
    return suite;
}
