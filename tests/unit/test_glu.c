/* SPDX-License-Identifier: Apache-2.0 */
/* GLU on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch is told. */
#include "common/glu/params.h"
#include "common/makes_tokens.h"
#include "gristmill/glu.h"
#include "host/choose.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <string.h>

static struct gm_glu_problem rows_of(int64_t rows, int64_t columns) {
    return (struct gm_glu_problem){
        .size = sizeof(struct gm_glu_problem), .rows = rows, .columns = columns, .activation = GM_ACT_SILU};
}

static enum gm_status read_problem(const struct gm_glu_problem *given, struct gm_glu_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_glu, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_packed_and_aligned) {
    struct gm_glu_problem p = rows_of(3, 100), read;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.gate_stride == 100 && read.up_stride == 100 && read.out_stride == 100);
    ck_assert(read.gate_align == 16 && read.up_align == 16 && read.out_align == 16);
    ck_assert(read.sigmoid_factor == 1 && read.limit == 0);
    p.layout = GM_GLU_INTERLEAVED;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.gate_stride == 200 && read.out_stride == 100);
    p.layout = GM_GLU_NO_UP;
    p.up_offset = 1; /* of no up */
    p.rounding = GM_ROUND_EARLY;
    p.activation = GM_ACT_RELU;
    p.sigmoid_factor = 2; /* of another activation */
    assert_ok(read_problem(&p, &read));
    ck_assert(read.up_offset == 0 && read.rounding == GM_ROUND_LATE && read.sigmoid_factor == 1);
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_glu_problem, member), value, sizeof(((struct gm_glu_problem *)0)->member), words}
    BAD(rows, -1, "rows is -1; it must be 0 to 2147483647"),
    BAD(columns, 0, "columns is 0; it must be 1 to 536870912"),
    BAD(type, 3, "type is 3; known values are 0 to 2"),
    BAD(layout, 3, "layout is 3"),
    BAD(activation, 5, "activation is 5"),
    BAD(rounding, -1, "rounding is -1"),
    BAD(limit, (int32_t)0xbf800000, "limit is -1; it must be finite and 0 or more"),
    BAD(limit, 0x7f800000, "limit is inf"),
    BAD(sigmoid_factor, 0x7fc00000, "sigmoid_factor is nan; it must be finite and 0 or more"),
    BAD(up_offset, 0x7f800000, "up_offset is inf; it must be finite"),
    BAD(gate_stride, 63, "gate_stride is 63; a row has 64 elements"),
    BAD(up_stride, -1, "up_stride is -1"),
    BAD(out_stride, INT64_C(1) << 62, "exceed 2^63 bytes"),
    BAD(gate_align, 3, "gate_align is 3; it must be 16 (or 0), 8, 4 or 2"),
    BAD(up_align, 1, "up_align is 1"),
    BAD(out_align, 32, "out_align is 32"),
    BAD(has_out_type, 2, "has_out_type is 2; known values are 0 to 1"),
    BAD(out_rounding, 2, "out_rounding is 2"),
    BAD(scaling, 5, "scaling is 5"),
    BAD(scale_format, 3, "scale_format is 3"),
    BAD(scale_order, 2, "scale_order is 2"),
    BAD(division, 2, "division is 2"),
    BAD(group, 16, "group is 16; it must be 128 (or 0), 64 or 32"),
    BAD(scale_floor, 1, "it must be 0 or 2^-126 and more"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_glu_problem p = rows_of(8, 64), read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(interleaved_rows_have_twice_the_columns) {
    struct gm_glu_problem p = rows_of(8, 64), read;
    p.layout = GM_GLU_INTERLEAVED;
    p.gate_stride = 127;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "gate_stride is 127; a row has 128 elements");
}
END_TEST

START_TEST(an_out_of_8_bits_has_scales) {
    struct gm_glu_problem p = rows_of(8, 300), read;
    p.out_type = GM_E4M3; /* nobody asks without has_out_type */
    assert_ok(read_problem(&p, &read));
    ck_assert(read.has_out_type == 1 && read.out_type == GM_BF16);
    p.has_out_type = 1, p.scaling = GM_SCALE_BLOCK;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "scaling is 4; a scale is static, or of a row");
    p.scaling = GM_SCALE_GROUP;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.group == 128 && read.scales_stride == 3 && read.scale_floor == 1e-10f / 448);
    p.scales_stride = 2;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "scales_stride is 2; a row has 3 elements");
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_glu_problem p = rows_of(16, 4096);
    char text[160];
    gm_problem_print(&gm_operation_glu, &p, text, sizeof text);
    ck_assert_str_eq(text, "glu bf16 apart silu late same 16 4096");
    p.type = GM_FP32, p.layout = GM_GLU_INTERLEAVED, p.activation = GM_ACT_GELU_ERF, p.rounding = GM_ROUND_EARLY;
    gm_problem_print(&gm_operation_glu, &p, text, sizeof text);
    p.has_out_type = 1, p.out_type = GM_E4M3, p.scaling = GM_SCALE_ROW;
    gm_problem_print(&gm_operation_glu, &p, text, sizeof text);
    ck_assert_str_eq(text, "glu fp32 interleaved gelu_erf early e4m3_row 16 4096");
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    struct gm_glu_problem p = rows_of(10, 100);
    struct gm_work work = gm_operation_glu.work(&p);
    ck_assert(work.flops == 9000 && work.least_bytes == 3 * 2000);
    p.layout = GM_GLU_NO_UP;
    work = gm_operation_glu.work(&p);
    ck_assert(work.least_bytes == 2 * 2000);
    p.has_out_type = 1, p.out_type = GM_E4M3, p.scaling = GM_SCALE_ROW;
    work = gm_operation_glu.work(&p);
    ck_assert(work.flops == 12000 && work.least_bytes == 3000 + 40);
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_glu_problem *p, const char *model, char *said, size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    struct explained all = explained_room();
    assert_ok(gm_glu_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "glu", said, bytes);
}

/* An activation alone moves fewer bytes for each chunk that is under way. */
START_TEST(many_elements_take_as_many_chunks_of_a_thread_as_dram_wants) {
    char said[1 << 14];
    struct gm_glu_problem few = rows_of(1, 4096), many = rows_of(8192, 8192);
    few.layout = many.layout = GM_GLU_NO_UP;
    const struct gm_kernel *one = chosen(&few, "h200", said, sizeof said);
    const struct gm_kernel *other = chosen(&many, "h200", said, sizeof said);
    ck_assert_int_lt(one->columns[GM_GLU_VECTORS], other->columns[GM_GLU_VECTORS]);
    ck_assert_int_eq(other->arch, GM_ARCH_SM90);
    ck_assert_int_eq(chosen(&many, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
    ck_assert_ptr_nonnull(strstr(said, "predicted "));
}
END_TEST

static struct gm_glu_problem to_e4m3(int64_t rows, int64_t columns, enum gm_scaling scaling) {
    struct gm_glu_problem p = rows_of(rows, columns);
    p.has_out_type = 1, p.out_type = GM_E4M3, p.scaling = scaling;
    return p;
}

/* Only variants with any out make 8 bits, wherever rows are, and they make nothing else unless they are named. */
START_TEST(other_outs_have_variants_of_their_own) {
    char said[1 << 14];
    struct gm_glu_problem p = to_e4m3(16, 4096, GM_SCALE_STATIC);
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_GLU_MAKES], GM_MAKES_any);
    ck_assert_ptr_nonnull(strstr(said, "its out has the type of gate and up; kernels whose names end in any"));
    ck_assert_ptr_nonnull(strstr(said, "128 threads with 1 chunks each, 16 bytes at once"));
    p.gate_align = 2;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_GLU_MAKES], GM_MAKES_any);
    ck_assert_ptr_nonnull(strstr(said, "element by element"));
    p = rows_of(16, 4096);
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_GLU_MAKES], GM_MAKES_same);
    ck_assert_ptr_nonnull(strstr(said, "out has the type of gate and up: kernels that make no other are sooner done"));
    p = to_e4m3(16, 4096, GM_SCALE_ROW);
    ck_assert_int_eq(chosen(&p, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
}
END_TEST

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_glu_problem p = rows_of(16, 4096);
    char said[1 << 14];
    p.gate_align = 8;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_GLU_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "gate_align promises 8 bytes: it loads 16 at once"));
    p = rows_of(16, 4096);
    p.up_stride = 4100;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_GLU_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "up_stride 4100 x 2 B = 8200 B is not a multiple of the 16"));
    p.layout = GM_GLU_NO_UP; /* then nobody asks */
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_GLU_VECTOR_BYTES], 16);
    p = rows_of(1, 4096);
    p.out_stride = 4100; /* of one row */
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_GLU_VECTOR_BYTES], 16);
    p = rows_of(16, 4099); /* packed: one row */
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_GLU_VECTOR_BYTES], 16);
    p.out_align = 8;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_GLU_VECTOR_BYTES], 2);
    p = rows_of(16, 4099);
    p.gate_stride = 4104;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_GLU_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "out has 4099 columns x 2 B = 8198 B, which is not a multiple of the 16"));
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

START_TEST(a_launch_is_told_what_the_call_says) {
    struct gm_glu_problem p = rows_of(10, 512);
    const struct gm_glu_args args = {
        .size = sizeof args, .gate = ADDRESS_A, .up = ADDRESS_B, .out = ADDRESS_D, .row_count = ADDRESS_C};
    gm_plan *plan = NULL;
    p.gate_stride = 1024;
    p.rounding = GM_ROUND_EARLY;
    p.limit = 7, p.sigmoid_factor = 2, p.up_offset = 1;
    assert_ok(gm_glu_plan_create(context, &p, NULL, &plan));
    const struct gm_glu_params *params = plan->params;
    ck_assert(params->gate_pitch == 2048 && params->out_pitch == 1024 && params->rows == 10);
    ck_assert(params->row_chunks.divisor == 64 && params->slab_rows == 10 && params->columns == 512 &&
              !params->is_packed);
    ck_assert(params->layout == GLU_APART && params->activation == GM_ACT_SILU && params->rounds_early == 1);
    ck_assert(params->has_limit && params->limit == 7 && params->silu_exponent == -0.72134752f * 2 &&
              params->up_offset == 1);
    const int tile = plan->kernel->threads * plan->kernel->columns[GM_GLU_VECTORS];
    ck_assert_uint_eq(plan->config.gridDimX, (unsigned)((640 + tile - 1) / tile));
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_glu_execute(plan, &args, NULL));
    ck_assert_int_eq(fake_calls(), 1);
    gm_plan_destroy(plan);
}
END_TEST

/* Threads and chunks of each that such a plan has, and tiles of a row. */
static void check_shape(const struct gm_glu_problem *p, unsigned threads, int vectors, int tiles, unsigned ctas) {
    gm_plan *plan = NULL;
    assert_ok(gm_glu_plan_create(context, p, NULL, &plan));
    const struct gm_glu_any_params *params = plan->params;
    ck_assert_uint_eq(plan->config.blockDimX, threads);
    ck_assert_int_eq(params->vectors, vectors);
    ck_assert_int_eq(params->row_tiles, tiles);
    ck_assert_uint_eq(plan->config.gridDimX, ctas);
    gm_plan_destroy(plan);
}

START_TEST(tiles_are_of_as_many_threads_as_a_row_wants) {
    struct gm_glu_problem p = to_e4m3(1, 14336, GM_SCALE_STATIC);
    check_shape(&p, 128, 1, 14, 14);
    p.rows = 8192;
    check_shape(&p, 64, 4, 7, 7 * 8192); /* 128 threads would have half a tile too many */
    p.columns = 4096;
    check_shape(&p, 128, 4, 1, 8192);
    p = to_e4m3(1, 14336, GM_SCALE_ROW);
    check_shape(&p, 1024, 2, 1, 1);
    p.rows = 8192;
    check_shape(&p, 448, 4, 1, 8192);
    p.columns = 28672; /* all but the first tile are computed twice */
    check_shape(&p, 512, 4, 2, 8192);
    p.columns = 8;
    check_shape(&p, 32, 1, 1, 8192);
}
END_TEST

START_TEST(a_launch_is_told_of_its_out) {
    struct gm_glu_problem p = to_e4m3(10, 512, GM_SCALE_GROUP);
    const struct gm_glu_args args = {.size = sizeof args, .gate = ADDRESS_A, .out = ADDRESS_D, .scales = ADDRESS_C};
    struct gm_glu_args bad_args = args;
    gm_plan *plan = NULL;
    p.layout = GM_GLU_INTERLEAVED;
    p.out_rounding = GM_ROUND_EARLY, p.scale_format = GM_SCALE_E8M0, p.division = GM_DIVIDE_BY_RECIPROCAL;
    assert_ok(gm_glu_plan_create(context, &p, NULL, &plan));
    const struct gm_glu_any_params *params = plan->params;
    ck_assert(params->glu.gate_pitch == 2048 && params->glu.up_pitch == 2048 && params->glu.out_pitch == 512);
    ck_assert(params->column_bytes == 4 && params->out_bytes == 1 && params->is_wide && params->rounds_out);
    ck_assert(params->store.scaling == SCALE_GROUP && params->store.scale_down == 4 && params->store.by_reciprocal);
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_glu_execute(plan, &args, NULL));
    ck_assert_int_eq(fake_calls(), 1);
    bad_args.scales = 0;
    assert_fails(gm_glu_execute(plan, &bad_args, NULL), GM_ERROR_INVALID_ARGUMENT, "scales is NULL");
    bad_args = args, bad_args.scales = args.out + 64;
    assert_fails(gm_glu_execute(plan, &bad_args, NULL), GM_ERROR_OVERLAP, "scales");
    gm_plan_destroy(plan);
    p.layout = GM_GLU_NO_UP;
    assert_ok(gm_glu_plan_create(context, &p, NULL, &plan));
    bad_args = args, bad_args.out = args.gate; /* of other bytes */
    assert_fails(gm_glu_execute(plan, &bad_args, NULL), GM_ERROR_OVERLAP, "gate");
    gm_plan_destroy(plan);
}
END_TEST

/* Chunks of a slab are numbered with 31 bits. */
START_TEST(large_problems_come_in_slabs) {
    struct gm_glu_problem p = rows_of(INT32_MAX, 4096);
    gm_plan *plan = NULL;
    p.out_stride = 4104;
    assert_ok(gm_glu_plan_create(context, &p, NULL, &plan));
    const struct gm_glu_params *params = plan->params;
    const int64_t chunks = (int64_t)params->slab_rows * params->row_chunks.divisor;
    ck_assert(chunks <= INT32_MAX && chunks > INT32_MAX - 512);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    const struct gm_glu_args args = {.size = sizeof args, .gate = ADDRESS_A, .up = ADDRESS_B, .out = ADDRESS_D};
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_glu)
            continue;
        struct gm_glu_problem p = rows_of(1001, 64);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        gm_plan *plan = NULL;
        p.type = kernel->type;
        assert_ok(gm_glu_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_glu_execute(plan, &args, NULL));
        ck_assert_int_eq(fake_calls(), 1);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert(fake.launch.config.blockDimX <= (unsigned)kernel->threads && fake.launch.config.blockDimX % 32 == 0);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 10 rows of 64 bf16, 80 apart: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_glu_args args, enum gm_glu_layout layout) {
    struct gm_glu_problem p = rows_of(10, 64);
    gm_plan *plan = NULL;
    p.layout = layout;
    p.gate_stride = p.up_stride = p.out_stride = layout == GM_GLU_INTERLEAVED ? 160 : 80;
    assert_ok(gm_glu_plan_create(context, &p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_glu_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    const struct gm_glu_args good = {.size = sizeof good, .gate = ADDRESS_A, .up = ADDRESS_B, .out = ADDRESS_D};
    struct gm_glu_args args = good;
    args.size = 39;
    assert_fails(execute(args, GM_GLU_APART), GM_ERROR_SIZE, "args.size is 39");
    args = good, args.gate = 0;
    assert_fails(execute(args, GM_GLU_APART), GM_ERROR_INVALID_ARGUMENT, "gate is NULL");
    args = good, args.up = 0;
    assert_fails(execute(args, GM_GLU_APART), GM_ERROR_INVALID_ARGUMENT, "up is NULL");
    assert_ok(execute(args, GM_GLU_NO_UP));
    assert_ok(execute(args, GM_GLU_INTERLEAVED));
    args = good, args.out = 0;
    assert_fails(execute(args, GM_GLU_APART), GM_ERROR_INVALID_ARGUMENT, "out is NULL");
    args = good, args.gate += 8;
    assert_fails(execute(args, GM_GLU_APART), GM_ERROR_MISALIGNED, "not a multiple of 16 bytes");
    args = good, args.row_count = ADDRESS_C + 2;
    assert_fails(execute(args, GM_GLU_APART), GM_ERROR_MISALIGNED, "row_count");
    args = good, args.row_count = ADDRESS_D;
    assert_fails(execute(args, GM_GLU_APART), GM_ERROR_OVERLAP, "row_count");
    args = good, args.out = ADDRESS_A;
    assert_ok(execute(args, GM_GLU_APART));
    assert_fails(execute(args, GM_GLU_INTERLEAVED), GM_ERROR_OVERLAP, "gate");
    args = good, args.out = ADDRESS_B;
    assert_ok(execute(args, GM_GLU_APART));
    args = good, args.out = ADDRESS_B + 16;
    assert_fails(execute(args, GM_GLU_APART), GM_ERROR_OVERLAP, "only up = out with the same rows and row stride may");
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_glu_problem p = rows_of(100000, 4096);
    const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    gm_plan *plan = NULL;
    assert_ok(gm_glu_plan_create(context, &p, &options, &plan));
    ck_assert_uint_le(plan->config.gridDimX, 2 * 16);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(no_rows_launch_nothing) {
    const struct gm_glu_problem p = rows_of(0, 64);
    const struct gm_glu_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    assert_ok(gm_glu(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

/* ---- numbers of chunks ------------------------------------------------------------------------------------ */

static uint32_t quotient(uint32_t number, struct gm_divisor by) {
    return (uint32_t)((uint64_t)number * by.magic >> by.shift);
}

/* Beside every multiple that is near either end, of divisors beside every power of 2. */
START_TEST(division_by_multiplication_is_exact) {
    for (int bit = 0; bit < 31; bit++)
        for (int beside = -1; beside <= 1; beside++) {
            const int64_t divisor = (INT64_C(1) << bit) + beside;
            if (divisor < 1)
                continue;
            const struct gm_divisor by = gm_divisor_of((uint32_t)divisor);
            const int64_t last = INT32_MAX / divisor, multiples[] = {0, 1, 2, last / 3, last / 2, last - 1, last};
            for (size_t i = 0; i < sizeof multiples / sizeof *multiples; i++)
                for (int64_t n = multiples[i] * divisor - 1; n <= multiples[i] * divisor + 1; n++)
                    if (n >= 0 && n <= INT32_MAX)
                        ck_assert_uint_eq(quotient((uint32_t)n, by), (uint32_t)(n / divisor));
            ck_assert_uint_eq(quotient(INT32_MAX, by), (uint32_t)(INT32_MAX / divisor));
        }
}
END_TEST

Suite *glu_suite(void) {
    Suite *suite = suite_create("glu");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_packed_and_aligned);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, an_out_of_8_bits_has_scales);
    tcase_add_test(problems, interleaved_rows_have_twice_the_columns);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(problems, division_by_multiplication_is_exact);
    tcase_add_test(choices, many_elements_take_as_many_chunks_of_a_thread_as_dram_wants);
    tcase_add_test(choices, other_outs_have_variants_of_their_own);
    tcase_add_test(choices, what_is_not_aligned_goes_by_elements);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_the_call_says);
    tcase_add_test(launches, tiles_are_of_as_many_threads_as_a_row_wants);
    tcase_add_test(launches, a_launch_is_told_of_its_out);
    tcase_add_test(launches, large_problems_come_in_slabs);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_test(launches, bad_pointers_are_refused_by_name);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    tcase_add_test(launches, no_rows_launch_nothing);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    return suite;
}
