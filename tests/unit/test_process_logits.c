/* SPDX-License-Identifier: Apache-2.0 */
/* process_logits on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch is
 * told. */
#include "common/process_logits/params.h"
#include "gristmill/process_logits.h"
#include "host/choose.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <math.h>
#include <string.h>

static struct gm_process_logits_problem rows_of(int64_t rows, int64_t columns) {
    return (struct gm_process_logits_problem){
        .size = sizeof(struct gm_process_logits_problem), .rows = rows, .columns = columns};
}

static enum gm_status read_problem(const struct gm_process_logits_problem *given,
                                   struct gm_process_logits_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_process_logits, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_are_defaults) {
    struct gm_process_logits_problem p = rows_of(3, 100), read;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.logits_stride == 100 && read.out_stride == 100 && read.counts_stride == 100);
    ck_assert(read.bias_stride == 100 && read.mask_stride == 4 && read.slots == 3);
    ck_assert(read.logits_align == 16 && read.out_align == 16 && read.counts_align == 16 && read.bias_align == 16);
    ck_assert(read.temperature == 1 && read.repetition == 1 && read.cap == 0);
    p.type = GM_FP32;
    p.fp32_out = 1;
    assert_ok(read_problem(&p, &read));
    ck_assert_int_eq(read.fp32_out, 0);
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_process_logits_problem, member), value,                                                        \
     sizeof(((struct gm_process_logits_problem *)0)->member), words}
    BAD(rows, -1, "rows is -1; it must be 0 to 2147483647"),
    BAD(columns, 0, "columns is 0; it must be 1 to 1073741824"),
    BAD(slots, -1, "slots is -1; it must be 0 to 2147483647"),
    BAD(type, 3, "type is 3; known values are 0 to 2"),
    BAD(fp32_out, 2, "fp32_out is 2"),
    BAD(cap, 0xbf800000, "cap is -1"),
    BAD(temperature, 0x7f800000, "temperature is inf"),
    BAD(repetition, 0x7fc00000, "repetition is nan"),
    BAD(frequency, 0x7f800000, "frequency is inf"),
    BAD(presence, 0xff800000, "presence is -inf"),
    BAD(logits_stride, 63, "logits_stride is 63; a row has 64 elements"),
    BAD(out_stride, -1, "out_stride is -1"),
    BAD(counts_stride, 1, "counts_stride is 1; a row has 64 elements"),
    BAD(bias_stride, INT64_C(1) << 61, "exceed 2^63 bytes"),
    BAD(mask_stride, 1, "mask_stride is 1; a row has 2 elements"),
    BAD(logits_align, 3, "logits_align is 3; it must be 16 (or 0), 8, 4 or 2"),
    BAD(out_align, 32, "out_align is 32"),
    BAD(counts_align, 1, "counts_align is 1"),
    BAD(bias_align, 2, "bias_align is 2"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_process_logits_problem p = rows_of(8, 64), read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_process_logits_problem p = rows_of(16, 4096);
    char text[160];
    p.fp32_out = 1;
    p.cap = 30;
    gm_problem_print(&gm_operation_process_logits, &p, text, sizeof text);
    ck_assert_str_eq(text, "process_logits bf16 fp32 30 16 4096");
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    struct gm_process_logits_problem p = rows_of(10, 100);
    ck_assert(gm_operation_process_logits.work(&p).least_bytes == 6000);
    ck_assert(gm_operation_process_logits.work(&p).flops == 5000);
    p.fp32_out = 1;
    p.cap = 2;
    ck_assert(gm_operation_process_logits.work(&p).least_bytes == 8000);
    ck_assert(gm_operation_process_logits.work(&p).flops == 13000);
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_process_logits_problem *p, const char *model, char *said,
                                      size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    struct explained all = explained_room();
    assert_ok(gm_process_logits_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "process_logits", said, bytes);
}

static int vector_bytes(const struct gm_process_logits_problem *p, char *said, size_t bytes) {
    return chosen(p, "h200", said, bytes)->columns[GM_PROCESS_LOGITS_VECTOR_BYTES];
}

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_process_logits_problem p = rows_of(16, 4096);
    char said[1 << 14];
    ck_assert_int_eq(vector_bytes(&p, said, sizeof said), 16);
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->arch, GM_ARCH_SM90);
    ck_assert_int_eq(chosen(&p, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
    ck_assert_ptr_nonnull(strstr(said, "predicted "));
    p.logits_align = 8;
    ck_assert_int_eq(vector_bytes(&p, said, sizeof said), 2);
    ck_assert_ptr_nonnull(strstr(said, "logits_align promises 8 bytes: it loads 16 at once"));
    p = rows_of(16, 4096);
    p.counts_stride = 4100;
    ck_assert_int_eq(vector_bytes(&p, said, sizeof said), 2);
    ck_assert_ptr_nonnull(strstr(said, "counts_stride 4100 x 2 B = 8200 B is not a multiple of the 16"));
    p.type = GM_FP32; /* 4 of its elements have 8 bytes of counts */
    ck_assert_int_eq(vector_bytes(&p, said, sizeof said), 16);
    p = rows_of(16, 4096);
    p.bias_align = 4;
    ck_assert_int_eq(vector_bytes(&p, said, sizeof said), 2);
    p = rows_of(16, 4099);
    ck_assert_int_eq(vector_bytes(&p, said, sizeof said), 2);
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

static const struct gm_process_logits_args plain_args = {
    .size = sizeof plain_args, .logits = ADDRESS_A, .out = ADDRESS_D, .counts = ADDRESS_B, .mask = ADDRESS_C};

START_TEST(a_launch_is_told_what_the_call_says) {
    struct gm_process_logits_problem p = rows_of(10, 512);
    gm_plan *plan = NULL;
    p.slots = 20;
    p.fp32_out = 1;
    p.out_stride = 768;
    p.mask_stride = 20;
    p.cap = 2.88539008f;
    p.repetition = 1.5f;
    assert_ok(gm_process_logits_plan_create(context, &p, NULL, &plan));
    const struct gm_process_logits_params *params = plan->params;
    ck_assert(params->logits_pitch == 1024 && params->out_pitch == 3072 && params->counts_pitch == 1024);
    ck_assert(params->bias_pitch == 2048 && params->mask_pitch == 80);
    ck_assert(params->rows == 10 && params->columns == 512 && params->slot_count == 20 && params->is_wide);
    ck_assert(params->row_tiles.divisor == 1 && params->slab_rows == 10);
    ck_assert(params->cap_exponent == -1 && params->repetition == 1.5f && params->temperature == 1);
    ck_assert_uint_eq(plan->config.gridDimX, 10);
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_process_logits_execute(plan, &plain_args, NULL));
    ck_assert_int_eq(fake_calls(), 1);
    gm_plan_destroy(plan);
}
END_TEST

/* Tiles of a slab are numbered with 31 bits. */
START_TEST(large_problems_come_in_slabs) {
    const struct gm_process_logits_problem p = rows_of(INT32_MAX, 131072);
    gm_plan *plan = NULL;
    assert_ok(gm_process_logits_plan_create(context, &p, NULL, &plan));
    const struct gm_process_logits_params *params = plan->params;
    const int64_t tiles = (int64_t)params->slab_rows * params->row_tiles.divisor;
    ck_assert(params->row_tiles.divisor == 32 && tiles <= INT32_MAX && tiles > INT32_MAX - 32);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_process_logits)
            continue;
        struct gm_process_logits_problem p = rows_of(1001, 64);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        gm_plan *plan = NULL;
        p.type = kernel->type;
        assert_ok(gm_process_logits_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_process_logits_execute(plan, &plain_args, NULL));
        ck_assert_int_eq(fake_calls(), 1);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 10 rows of 64 bf16, 80 apart: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_process_logits_args args) {
    struct gm_process_logits_problem p = rows_of(10, 64);
    gm_plan *plan = NULL;
    p.logits_stride = p.out_stride = 80;
    assert_ok(gm_process_logits_plan_create(context, &p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_process_logits_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    const struct gm_process_logits_args good = plain_args;
    struct gm_process_logits_args args = good;
    assert_ok(execute(args));
    args.size = 119;
    assert_fails(execute(args), GM_ERROR_SIZE, "args.size is 119");
    args = good, args.logits = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "logits is NULL");
    args = good, args.out = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "out is NULL");
    args = good, args.counts = args.mask = 0;
    assert_ok(execute(args));
    args = good, args.logits += 8;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "not a multiple of 16 bytes");
    args = good, args.counts += 8;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "counts");
    args = good, args.mask += 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "mask");
    args = good, args.repetitions = ADDRESS_BIAS + 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "repetitions");
    args = good, args.out = ADDRESS_A;
    assert_ok(execute(args));
    args = good, args.out = ADDRESS_A + 16;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "only logits = out with the same rows and row stride may");
    args = good, args.bias = args.counts;
    assert_ok(execute(args)); /* nothing is written there */
    args.last_ids = ADDRESS_BIAS;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "counts");
    args = good, args.frequencies = ADDRESS_D;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "frequencies");
    args = good, args.row_count = ADDRESS_D;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "row_count");
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_process_logits_problem p = rows_of(100000, 4096);
    const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    gm_plan *plan = NULL;
    assert_ok(gm_process_logits_plan_create(context, &p, &options, &plan));
    ck_assert_uint_le(plan->config.gridDimX, 2 * 16);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(no_rows_launch_nothing) {
    const struct gm_process_logits_problem p = rows_of(0, 64);
    const struct gm_process_logits_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    assert_ok(gm_process_logits(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

Suite *process_logits_suite(void) {
    Suite *suite = suite_create("process_logits");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_are_defaults);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(choices, what_is_not_aligned_goes_by_elements);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_the_call_says);
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
