/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms on the host: what a problem may be, what is said of one that may not, how it is divided, what a launch is told. */
#include "common/histogram/params.h"
#include "gristmill/histogram.h"
#include "host/choose.h"
#include "host/histogram/histogram.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <math.h>
#include <string.h>

static struct gm_histogram_problem of(enum gm_type type, int64_t rows, int64_t columns, int64_t bins) {
    struct gm_histogram_problem p = {.size = sizeof p, .rows = rows, .columns = columns, .bins = bins, .type = type};
    if (type <= GM_FP32)
        p.lower = -2, p.upper = 3;
    return p;
}

static enum gm_status read_problem(const struct gm_histogram_problem *given, struct gm_histogram_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_histogram, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_packed_and_one_value_a_bin) {
    struct gm_histogram_problem p = of(GM_UINT8, 3, 100, 256), read;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.x_stride == 100 && read.counts_stride == 256 && read.width == 1 && read.first == 0);
    p = of(GM_BF16, 3, 100, 256);
    assert_ok(read_problem(&p, &read));
    ck_assert(read.width == 1 && read.first == 0);
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    enum gm_type type;
    const char *words;
} bad[] = {
#define BAD(type, member, value, words)                                                                                \
    {offsetof(struct gm_histogram_problem, member), value, sizeof(((struct gm_histogram_problem *)0)->member), type,   \
     words}
    BAD(GM_INT32, rows, -1, "rows is -1; it must be 0 to 2147483647"),
    BAD(GM_INT32, columns, (INT64_C(1) << 40) + 1, "columns is 1099511627777; it must be 0 to 1099511627776"),
    BAD(GM_INT32, bins, 0, "bins is 0; it must be 1 to 131072"),
    BAD(GM_INT32, bins, 131073, "bins is 131073; it must be 1 to 131072"),
    BAD(GM_INT32, type, 3, "type is 3; histograms are of bf16, fp16, fp32, uint8, int32 and int64"),
    BAD(GM_INT32, type, -1, "type is -1; histograms are of"),
    BAD(GM_INT32, type, 9, "type is 9; histograms are of"),
    BAD(GM_INT32, of, 2, "of is 2; known values are 0 to 1"),
    BAD(GM_INT32, int64_counts, 2, "int64_counts is 2; known values are 0 to 1"),
    BAD(GM_INT32, accumulate, -1, "accumulate is -1; known values are 0 to 1"),
    BAD(GM_INT32, x_stride, 63, "x_stride is 63; a row has 64 elements"),
    BAD(GM_INT32, x_stride, INT64_C(1) << 62, "exceed 2^63 bytes"),
    BAD(GM_INT32, counts_stride, 99, "counts_stride is 99; a row has 100 elements"),
    BAD(GM_INT32, width, -1, "width is -1; it must be 1 to 42949672"),
    BAD(GM_INT32, width, 42949673, "width is 42949673; it must be 1 to 42949672"),
    BAD(GM_INT32, first, INT32_MIN - INT64_C(1), "first is -2147483649; it must be -2147483648 to 2147483548"),
    BAD(GM_INT32, first, (INT64_C(1) << 32) - 99, "first is 4294967197; it must be -2147483648 to 4294967196"),
    BAD(GM_UINT8, first, INT64_C(1) << 32, "first is 4294967296"),
    BAD(GM_INT64, first, INT64_MAX - 98, "first is 9223372036854775709; it must be -9223372036854775808 to"),
    BAD(GM_FP32, first, 1, "first is 1 and width 0; the bins of floats are said by lower and upper"),
    BAD(GM_FP32, width, 2, "first is 0 and width 2; the bins of floats are said by lower and upper"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_histogram_problem p = of(bad[_i].type, 8, 64, 100), read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(ranges_of_floats_are_checked) {
    static const struct {
        float lower, upper;
        const char *words;
    } ranges[] = {
        {0, 0, "upper is 0; it must be above lower, 0"},
        {1, -1, "upper is -1; it must be above lower, 1"},
        {NAN, 1, "lower is nan; it must be finite"},
        {0, INFINITY, "upper is inf; it must be finite"},
        {-3e38f, 3e38f, "lower is -3e+38 and upper 3e+38; their difference, and bins / that, must be finite in fp32"},
        {0, 1e-38f, "lower is 0 and upper 1e-38"},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct gm_histogram_problem p = of(GM_FP16, 8, 64, 100), read;
        p.lower = ranges[i].lower;
        p.upper = ranges[i].upper;
        assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, ranges[i].words);
    }
    struct gm_histogram_problem p = of(GM_INT32, 8, 64, 100), read;
    p.upper = 1;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT,
                 "the bins of integers are said by first and width");
}
END_TEST

/* Signed words from a first value below 0 on, unsigned ones else. */
START_TEST(ranges_of_words_are_signed_or_unsigned) {
    struct gm_histogram_problem p = of(GM_INT32, 8, 64, 256), read;
    p.width = 1 << 24;
    assert_ok(read_problem(&p, &read));
    p.first = INT32_MIN;
    assert_ok(read_problem(&p, &read));
    p.first = -1;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT,
                 "first is -1; it must be -2147483648 to -2147483648");
    p = of(GM_INT32, 8, 64, 1), p.width = INT64_C(1) << 31;
    assert_ok(read_problem(&p, &read));
    p.width++;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "width is 2147483649; it must be 1 to 2147483648");
}
END_TEST

START_TEST(counts_of_32_bits_are_of_fewer_elements) {
    struct gm_histogram_problem p = of(GM_UINT8, 1, (INT64_C(1) << 32) - 1, 256), read;
    assert_ok(read_problem(&p, &read));
    p.columns++;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT,
                 "a histogram of 4294967296 elements may have counts beyond 2^32 - 1; int64_counts has room");
    p.int64_counts = 1;
    assert_ok(read_problem(&p, &read));
    p = of(GM_UINT8, 2, INT64_C(1) << 31, 256);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "a histogram of 4294967296 elements");
    p.of = GM_HISTOGRAM_ROWS;
    assert_ok(read_problem(&p, &read));
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_histogram_problem p = of(GM_FP32, 16, 4096, 100), read;
    char text[160];
    assert_ok(read_problem(&p, &read));
    gm_problem_print(&gm_operation_histogram, &read, text, sizeof text);
    ck_assert_str_eq(text, "histogram fp32 uint32 all 16 4096 100 1 -2 3");
    p = of(GM_UINT8, 16, 4096, 64), p.width = 4, p.int64_counts = 1, p.of = GM_HISTOGRAM_ROWS;
    assert_ok(read_problem(&p, &read));
    gm_problem_print(&gm_operation_histogram, &read, text, sizeof text);
    ck_assert_str_eq(text, "histogram uint8 int64 rows 16 4096 64 4 0 0");
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    struct gm_histogram_problem p = of(GM_BF16, 10, 100, 50);
    ck_assert(gm_operation_histogram.work(&p).flops == 1000);
    ck_assert(gm_operation_histogram.work(&p).least_bytes == 2000 + 200);
    p.of = GM_HISTOGRAM_ROWS, p.int64_counts = 1, p.accumulate = 1;
    ck_assert(gm_operation_histogram.work(&p).least_bytes == 2000 + 2 * 10 * 400);
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

static const struct gm_kernel *chosen(const struct gm_histogram_problem *p, const char *model, char *said,
                                      size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options, .workspace_limit = GM_HISTOGRAM_WORKSPACE_BYTES};
    struct explained all = explained_room();
    assert_ok(gm_histogram_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "histogram", said, bytes);
}

START_TEST(every_type_has_its_kernel) {
    static const enum gm_type types[] = {GM_BF16, GM_FP16, GM_FP32, GM_UINT8, GM_INT32, GM_INT64};
    char said[1 << 14];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct gm_histogram_problem p = of(types[i], 3, 1001, 131072);
        p.x_stride = 1003; /* whatever its alignment */
        ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->arch, GM_ARCH_SM90);
        ck_assert_int_eq(chosen(&p, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
        ck_assert_int_eq(chosen(&p, "rtx4090", said, sizeof said)->arch, GM_ARCH_SM80);
        ck_assert_ptr_nonnull(strstr(said, "predicted "));
    }
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

static const struct gm_histogram_args good = {.size = sizeof good,
                                              .x = ADDRESS_A,
                                              .counts = ADDRESS_D,
                                              .workspace = ADDRESS_B,
                                              .workspace_bytes = GM_HISTOGRAM_WORKSPACE_BYTES};

static gm_plan *plan_within(const struct gm_histogram_problem *p, size_t limit, const char *kernel) {
    const struct gm_plan_options options = {.size = sizeof options, .workspace_limit = limit, .kernel = kernel};
    gm_plan *plan = NULL;
    assert_ok(gm_histogram_plan_create(context, p, &options, &plan));
    return plan;
}

static void execute_once(const gm_plan *plan) {
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_histogram_execute(plan, &good, NULL));
    ck_assert_int_eq(fake_calls(), 1);
}

START_TEST(a_launch_is_told_what_the_call_says) {
    struct gm_histogram_problem p = of(GM_FP32, 1000, 512, 100);
    p.x_stride = 1024, p.counts_stride = 128, p.of = GM_HISTOGRAM_ROWS, p.int64_counts = 1;
    gm_plan *plan = plan_within(&p, 0, NULL);
    const struct gm_histogram_params *params = plan->params;
    ck_assert(params->pitch == 4096 && params->counts_pitch == 1024 && params->row_bytes == 2048);
    ck_assert(params->rows == 1000 && params->bins == 100 && params->of_rows && !params->is_packed);
    ck_assert(params->is_wide && !params->accumulates && params->row_blocks == 1000 && params->parts == 1);
    ck_assert(params->slices == 1 && params->slice_bins == 100 && params->copies == 32);
    ck_assert(params->lower == -2 && params->upper == 3 && params->scale == 20 && params->ready != 0);
    ck_assert_uint_eq(plan->config.gridDimX, 1000);
    ck_assert_uint_eq(plan->config.blockDimX, 128); /* 128 chunks in a row */
    ck_assert_uint_eq(plan->config.sharedMemBytes, 102 * 32 * 4);
    ck_assert_uint_eq(gm_plan_workspace_bytes(plan), 0);
    execute_once(plan);
    gm_plan_destroy(plan);
}
END_TEST

/* What a CTA's shared memory holds of the bins, and of their copies. */
START_TEST(bins_of_many_elements_are_copied_or_cut_into_slices) {
    static const struct {
        enum gm_type type;
        int64_t bins;
        int slices, slice_bins, copies;
        unsigned bytes;
    } layouts[] = {
        {GM_INT32, 8, 1, 8, 32, 10 * 32 * 4},
        {GM_INT32, 256, 1, 256, 32, 258 * 32 * 4},
        {GM_INT32, 510, 1, 510, 32, 65536},
        {GM_INT32, 511, 1, 511, 16, 513 * 16 * 4},
        {GM_INT32, 8190, 1, 8190, 2, 65536},
        {GM_INT32, 8191, 1, 8191, 1, 8193 * 4 + 12},
        {GM_INT32, 58110, 1, 58110, 1, 232448},
        {GM_INT32, 58111, 2, 29056, 1, 29058 * 4 + 8},
        {GM_FP32, 131072, 3, 43691, 1, 43693 * 4 + 12},
        {GM_UINT8, 256, 1, 256, 32, 33792},
        {GM_UINT8, 131072, 1, 131072, 32, 33792},
    };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const struct gm_histogram_problem p = of(layouts[i].type, 1, 1 << 28, layouts[i].bins);
        gm_plan *plan = plan_within(&p, GM_HISTOGRAM_WORKSPACE_BYTES, NULL);
        const struct gm_histogram_params *params = plan->params;
        ck_assert_int_eq(params->slices, layouts[i].slices);
        ck_assert_int_eq(params->slice_bins, layouts[i].slice_bins);
        ck_assert_int_eq(params->copies, layouts[i].copies);
        ck_assert_uint_eq(plan->config.sharedMemBytes, layouts[i].bytes);
        ck_assert_uint_eq(plan->config.gridDimX, (unsigned)(params->parts * layouts[i].slices));
        gm_plan_destroy(plan);
    }
}
END_TEST

/* Of few elements, bins are the work. */
START_TEST(bins_of_few_elements_are_cut_into_more_slices) {
    struct gm_histogram_problem p = of(GM_INT32, 1, 1000, 131072);
    gm_plan *plan = plan_within(&p, 0, NULL);
    const struct gm_histogram_params *params = plan->params;
    ck_assert(params->slices > 3 && params->slices <= 48 && params->slice_bins >= 1024);
    ck_assert_int_ge((int64_t)params->slices * params->slice_bins, 131072);
    ck_assert_int_lt((int64_t)(params->slices - 1) * params->slice_bins, 131072);
    ck_assert_uint_eq(plan->config.gridDimX, (unsigned)params->slices);
    gm_plan_destroy(plan);
    p.bins = 1000;
    plan = plan_within(&p, 0, NULL);
    ck_assert_uint_eq(plan->config.gridDimX, 1);
    gm_plan_destroy(plan);
}
END_TEST

/* The quotient as the kernel finds it. */
static uint32_t quotient_of(const struct gm_histogram_width *by, uint32_t number) {
    const uint32_t high = (uint32_t)((uint64_t)number * by->magic >> 32);
    return (high + ((number - high) >> by->first)) >> by->second;
}

START_TEST(words_are_divided_by_every_width) {
    static const uint32_t widths[] = {1,          2,          3,         5,       7,          10,
                                      641,        65535,      65536,     65537,   0x7fffffff, 0x40000001,
                                      0x55555555, 0x80000000, 123456789, 1u << 24};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct gm_histogram_problem p = of(GM_INT32, 1, 10, 1);
        p.width = widths[i];
        gm_plan *plan = plan_within(&p, 0, NULL);
        const struct gm_histogram_params *params = plan->params;
        for (uint64_t k = 0; k < 3000; k++) {
            const uint32_t multiple = (uint32_t)(k * 1431655 / 1000) * widths[i];
            const uint32_t numbers[] = {multiple, multiple - 1, multiple + 1, (uint32_t)(k * 2654435769u),
                                        ~(uint32_t)k};
            for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
                ck_assert_uint_eq(quotient_of(&params->by_width, numbers[n]), numbers[n] / widths[i]);
        }
        gm_plan_destroy(plan);
    }
}
END_TEST

/* All CTAs run at once, and each slice of each histogram has its turn in the workspace; where counts are added none is
 * wanted. */
START_TEST(parts_fill_the_device) {
    struct gm_histogram_problem p = of(GM_INT32, 1, 1 << 28, 256);
    const int sms = device_of("h200").sm_count;
    gm_plan *plan = plan_within(&p, GM_HISTOGRAM_WORKSPACE_BYTES, NULL);
    ck_assert_uint_eq(plan->config.gridDimX, (unsigned)sms);
    ck_assert_uint_eq(gm_plan_workspace_bytes(plan), 16);
    execute_once(plan);
    gm_plan_destroy(plan);
    p.bins = 131072;
    plan = plan_within(&p, GM_HISTOGRAM_WORKSPACE_BYTES, NULL);
    ck_assert_uint_eq(plan->config.gridDimX, (unsigned)(sms / 3 * 3));
    ck_assert_uint_eq(gm_plan_workspace_bytes(plan), 48);
    gm_plan_destroy(plan);
    plan = plan_within(&p, 47, NULL);
    ck_assert_int_eq(((const struct gm_histogram_params *)plan->params)->parts, 1);
    ck_assert_uint_eq(gm_plan_workspace_bytes(plan), 0);
    gm_plan_destroy(plan);
    p.accumulate = 1;
    plan = plan_within(&p, 0, NULL);
    ck_assert_uint_eq(plan->config.gridDimX, (unsigned)(sms / 3 * 3));
    ck_assert_uint_eq(gm_plan_workspace_bytes(plan), 0);
    gm_plan_destroy(plan);
    p = of(GM_INT32, 16, 1 << 24, 256), p.of = GM_HISTOGRAM_ROWS;
    plan = plan_within(&p, GM_HISTOGRAM_WORKSPACE_BYTES, NULL);
    ck_assert_uint_eq(plan->config.gridDimX, (unsigned)(sms / 16 * 16));
    ck_assert_uint_eq(gm_plan_workspace_bytes(plan), 256);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(no_plan_asks_for_more_workspace_than_the_header_says) {
    for (int64_t rows = 1; rows <= 1 << 20; rows *= 3)
        for (int64_t bins = 1; bins <= 131072; bins *= 8) {
            struct gm_histogram_problem p = of(GM_FP32, rows, 1 << 24, bins);
            p.of = GM_HISTOGRAM_ROWS;
            gm_plan *plan = plan_within(&p, SIZE_MAX, NULL);
            ck_assert_uint_le(gm_plan_workspace_bytes(plan), GM_HISTOGRAM_WORKSPACE_BYTES);
            gm_plan_destroy(plan);
        }
}
END_TEST

/* Chunks of a slab are numbered with 31 bits. */
START_TEST(large_problems_come_in_slabs) {
    struct gm_histogram_problem p = of(GM_UINT8, INT32_MAX, 4095, 256);
    p.x_stride = 4096, p.int64_counts = 1;
    gm_plan *plan = plan_within(&p, 0, NULL);
    const struct gm_histogram_params *params = plan->params;
    ck_assert_int_eq(params->row_chunks.divisor, 255);
    ck_assert_int_eq(params->slab_rows, GM_HISTOGRAM_SLAB / 257);
    gm_plan_destroy(plan);
    p = of(GM_UINT8, 2, INT64_C(1) << 40, 256), p.x_stride = (INT64_C(1) << 40) + 1, p.int64_counts = 1;
    plan = plan_within(&p, 0, NULL);
    params = plan->params;
    ck_assert_int_eq(params->slab_rows, 1);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_histogram)
            continue;
        const struct gm_histogram_problem p = of(kernel->type, 1001, 64, 77);
        gm_plan *plan = plan_within(&p, GM_HISTOGRAM_WORKSPACE_BYTES, kernel->name);
        execute_once(plan);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 4096 rows of 64 floats, 80 apart: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_histogram_args args) {
    struct gm_histogram_problem p = of(GM_FP32, 4096, 64, 100);
    p.x_stride = 80;
    gm_plan *plan = plan_within(&p, GM_HISTOGRAM_WORKSPACE_BYTES, NULL);
    ck_assert_uint_gt(gm_plan_workspace_bytes(plan), 0);
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_histogram_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    struct gm_histogram_args args = good;
    assert_ok(execute(args));
    args.size = 47;
    assert_fails(execute(args), GM_ERROR_SIZE, "args.size is 47");
    args = good, args.x = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "x is NULL");
    args = good, args.counts = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "counts is NULL");
    args = good, args.x += 4; /* of fp32 */
    assert_ok(execute(args));
    args.x += 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "x");
    args = good, args.counts += 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "counts");
    args = good, args.row_count = ADDRESS_C + 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "row_count");
    args = good, args.row_count = ADDRESS_D;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "row_count");
    args = good, args.counts = ADDRESS_A + 160;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "x");
    args = good, args.workspace = 0;
    assert_fails(execute(args), GM_ERROR_WORKSPACE, "the plan needs");
    args = good, args.workspace_bytes = 15;
    assert_fails(execute(args), GM_ERROR_WORKSPACE, "the workspace has 15 bytes");
    args = good, args.workspace += 8;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "the workspace is at");
    args = good, args.workspace = ADDRESS_D;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "overlaps counts");
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_plan_options options = {
        .size = sizeof options, .sm_budget = 2, .workspace_limit = GM_HISTOGRAM_WORKSPACE_BYTES};
    for (int of_rows = 0; of_rows < 2; of_rows++) {
        struct gm_histogram_problem p = of(GM_UINT8, 100000, 4096, 256);
        p.of = (enum gm_histogram_of)of_rows;
        gm_plan *plan = NULL;
        assert_ok(gm_histogram_plan_create(context, &p, &options, &plan));
        ck_assert_uint_le(plan->config.gridDimX * plan->config.blockDimX, 2 * 1024);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(no_histogram_launches_nothing) {
    const struct gm_histogram_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    struct gm_histogram_problem p = of(GM_INT32, 0, 64, 10);
    p.of = GM_HISTOGRAM_ROWS;
    assert_ok(gm_histogram(context, &p, &args, NULL));
    p = of(GM_INT32, 64, 0, 10), p.accumulate = 1;
    assert_ok(gm_histogram(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

/* x may be anywhere then. */
START_TEST(counts_of_nothing_are_launched) {
    const struct gm_histogram_args args = {.size = sizeof args, .counts = ADDRESS_D};
    struct gm_histogram_problem problems[] = {of(GM_INT32, 0, 64, 10), of(GM_FP32, 64, 0, 10), of(GM_UINT8, 64, 0, 10)};
    problems[2].of = GM_HISTOGRAM_ROWS;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        fake_make_current(0);
        const int launches = fake.count[FAKE_cuLaunchKernelEx];
        assert_ok(gm_histogram(context, &problems[i], &args, NULL));
        ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches + 1);
    }
}
END_TEST

Suite *histogram_suite(void) {
    Suite *suite = suite_create("histogram");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_packed_and_one_value_a_bin);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, ranges_of_floats_are_checked);
    tcase_add_test(problems, ranges_of_words_are_signed_or_unsigned);
    tcase_add_test(problems, counts_of_32_bits_are_of_fewer_elements);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(choices, every_type_has_its_kernel);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_the_call_says);
    tcase_add_test(launches, bins_of_many_elements_are_copied_or_cut_into_slices);
    tcase_add_test(launches, bins_of_few_elements_are_cut_into_more_slices);
    tcase_add_test(launches, parts_fill_the_device);
    tcase_add_test(launches, no_plan_asks_for_more_workspace_than_the_header_says);
    tcase_add_test(launches, large_problems_come_in_slabs);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_test(launches, bad_pointers_are_refused_by_name);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    tcase_add_test(launches, no_histogram_launches_nothing);
    tcase_add_test(launches, counts_of_nothing_are_launched);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    TCase *divisions = tcase_create("divisions");
    tcase_set_tags(divisions, "long"); /* a quarter of a minute under valgrind */
    tcase_add_checked_fixture(divisions, planned_set_up, planned_tear_down);
    tcase_add_test(divisions, words_are_divided_by_every_width);
    suite_add_tcase(suite, divisions);
    return suite;
}
