/* SPDX-License-Identifier: Apache-2.0 */
/* RMSNorm on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch is told. */
#include "common/norm.h"
#include "common/makes_tokens.h"
#include "gristmill/rms_norm.h"
#include "host/choose.h"
#include "host/occupancy.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <stdio.h>
#include <string.h>

static struct gm_rms_norm_problem rows_of(int64_t rows, int64_t columns) {
    return (struct gm_rms_norm_problem){
        .size = sizeof(struct gm_rms_norm_problem), .rows = rows, .columns = columns, .eps = 1e-5f};
}

static enum gm_status read_problem(const struct gm_rms_norm_problem *given, struct gm_rms_norm_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_rms_norm, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_packed_and_aligned) {
    struct gm_rms_norm_problem p = rows_of(3, 100), read;
    p.fp32_weight = 1;
    p.sum_rounding = GM_ROUND_EARLY; /* of no residual */
    assert_ok(read_problem(&p, &read));
    ck_assert(read.x_stride == 100 && read.residual_stride == 100 && read.out_stride == 100);
    ck_assert(read.x_align == 16 && read.residual_align == 16 && read.weight_align == 16 && read.out_align == 16);
    ck_assert(read.fp32_weight == 1 && read.sum_rounding == GM_ROUND_LATE);
    p.type = GM_FP32;
    assert_ok(read_problem(&p, &read));
    ck_assert_int_eq(read.fp32_weight, 0); /* it has the same type */
    p = rows_of(0, 1);
    assert_ok(read_problem(&p, &read));
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_rms_norm_problem, member), value, sizeof(((struct gm_rms_norm_problem *)0)->member), words}
    BAD(rows, -1, "rows is -1; it must be 0 to 2147483647"),
    BAD(rows, INT64_C(1) << 31, "rows is 2147483648"),
    BAD(columns, 0, "columns is 0; it must be 1 to 1073741824"),
    BAD(columns, (INT64_C(1) << 30) + 1, "columns is 1073741825"),
    BAD(type, 3, "type is 3; known values are 0 to 2"),
    BAD(fp32_weight, 2, "fp32_weight is 2"),
    BAD(residual, -1, "residual is -1"),
    BAD(sum_rounding, 2, "sum_rounding is 2"),
    BAD(normalized_rounding, -1, "normalized_rounding is -1"),
    BAD(eps, 0x7fc00000, "eps is nan; it must be finite and 0 or more"),
    BAD(eps, (int32_t)0xbf800000, "eps is -1; it must be finite and 0 or more"),
    BAD(weight_offset, 0x7f800000, "weight_offset is inf; it must be finite"),
    BAD(x_stride, 63, "x_stride is 63; a row has 64 elements"),
    BAD(residual_stride, -1, "residual_stride is -1"),
    BAD(out_stride, INT64_C(1) << 62, "exceed 2^63 bytes"),
    BAD(heads, -1, "heads is -1; it must be 0 to 65535"),
    BAD(heads, 65536, "heads is 65536"),
    BAD(x_align, 3, "x_align is 3; it must be 16 (or 0), 8, 4 or 2"),
    BAD(residual_align, 1, "residual_align is 1"),
    BAD(weight_align, 32, "weight_align is 32"),
    BAD(out_align, -2, "out_align is -2"),
    BAD(has_out_type, 2, "has_out_type is 2; known values are 0 to 1"),
    BAD(out_rounding, 2, "out_rounding is 2"),
    BAD(norm_rounding, -1, "norm_rounding is -1"),
    BAD(scaling, 5, "scaling is 5"),
    BAD(scale_format, 3, "scale_format is 3"),
    BAD(scale_order, 2, "scale_order is 2"),
    BAD(division, 2, "division is 2"),
    BAD(group, 16, "group is 16; it must be 128 (or 0), 64 or 32"),
    BAD(scale_floor, (int32_t)0xbf800000, "scale_floor is -1; it must be finite and 0 or more"),
    BAD(scale_floor, 1, "it must be 0 or 2^-126 and more"),
    BAD(x_weight_align, 3, "x_weight_align is 3"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_rms_norm_problem p = rows_of(8, 64), read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(an_alignment_below_the_element_is_refused) {
    struct gm_rms_norm_problem p = rows_of(8, 64), read;
    p.fp32_weight = 1;
    p.weight_align = 2;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "weight_align is 2; an element has 4 bytes");
}
END_TEST

START_TEST(heads_are_packed_within_a_row) {
    struct gm_rms_norm_problem p = rows_of(3, 128), read;
    p.heads = 1, p.x_head_stride = 5; /* of one head nobody asks */
    assert_ok(read_problem(&p, &read));
    ck_assert(read.heads == 0 && read.x_head_stride == 0 && read.x_stride == 128);
    p.heads = 4, p.x_head_stride = 0, p.out_head_stride = 136;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.x_head_stride == 128 && read.x_stride == 512 && read.out_stride == 544);
    ck_assert(gm_operation_rms_norm.work(&read).flops == 4 * 4 * 3 * 128);
    p.x_head_stride = 127;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "x_head_stride is 127; a row has 128 elements");
    p.x_head_stride = 0, p.out_stride = 535; /* 3 * 136 + 128 are needed */
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "out_stride is 535; a row has 536 elements");
    p.out_stride = 0, p.residual = 1;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "heads is 4 beside a residual");
    p.residual = 0, p.has_out_type = 1, p.out_type = GM_E4M3;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "heads is 4; then out_type must be the type");
}
END_TEST

START_TEST(an_out_of_8_bits_is_of_rows_or_groups) {
    struct gm_rms_norm_problem p = rows_of(8, 300), read;
    p.out_type = GM_E4M3; /* nobody asks without has_out_type */
    p.scaling = GM_SCALE_BLOCK;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.has_out_type == 1 && read.out_type == GM_BF16 && read.scaling == GM_SCALE_STATIC);
    p.has_out_type = 1;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "scaling is 4; a scale is static, or of a row");
    p.scaling = GM_SCALE_AMAX_ONLY;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "scaling is 1");
    p.out_type = GM_UINT8;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "out_type is 6; known values are 0 to 5");
    p.out_type = GM_E4M3, p.scaling = GM_SCALE_GROUP;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.group == 128 && read.scales_stride == 3 && read.scale_floor == 1e-10f / 448);
    p.scale_order = GM_SCALES_BY_COLUMN;
    assert_ok(read_problem(&p, &read));
    ck_assert_int_eq(read.scales_stride, 8);
    p.scales_stride = 7;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "scales_stride is 7; a row has 8 elements");
    p.scales_stride = 0, p.scaling = GM_SCALE_ROW;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.scale_order == GM_SCALES_BY_ROW && read.scale_floor == 0x1p-126f);
    p.out_align = 1; /* a byte's */
    assert_ok(read_problem(&p, &read));
}
END_TEST

START_TEST(what_has_no_effect_is_forgotten) {
    struct gm_rms_norm_problem p = rows_of(8, 64), read;
    p.norm_rounding = p.out_rounding = GM_ROUND_EARLY;
    p.residual = GM_RESIDUAL_BEFORE;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.norm_rounding == GM_ROUND_LATE && read.out_rounding == GM_ROUND_LATE);
    p.residual = GM_RESIDUAL_AFTER, p.has_out_type = 1, p.out_type = GM_FP32;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.norm_rounding == GM_ROUND_EARLY && read.out_rounding == GM_ROUND_EARLY);
}
END_TEST

START_TEST(out_is_one_word_of_a_suite) {
    static const char *const words[] = {"same", "fp32", "e4m3", "e4m3_row", "int8_group", "e5m2_group", "fp16"};
    const struct gm_field *field = &gm_operation_rms_norm.fields[gm_field_named(&gm_operation_rms_norm, "out")];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct gm_rms_norm_problem p = rows_of(1, 1), read;
        char text[GM_FIELD_TEXT_BYTES];
        int64_t value;
        ck_assert(gm_field_parse(field, words[i], strlen(words[i]), &value) && gm_field_set(field, &p, value));
        assert_ok(read_problem(&p, &read));
        ck_assert_str_eq(gm_field_print(field, gm_field_get(field, &read), text), words[i]);
    }
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_rms_norm_problem p = rows_of(16, 4096);
    char text[160];
    p.type = GM_FP16;
    gm_problem_print(&gm_operation_rms_norm, &p, text, sizeof text);
    ck_assert_str_eq(text, "rms_norm fp16 same no late late same 16 4096");
    p.fp32_weight = p.residual = 1;
    p.sum_rounding = p.normalized_rounding = GM_ROUND_EARLY;
    gm_problem_print(&gm_operation_rms_norm, &p, text, sizeof text);
    ck_assert_str_eq(text, "rms_norm fp16 fp32 yes early early same 16 4096");
}
END_TEST

START_TEST(fields_of_alignments_reach_their_members) {
    static const char *const names[] = {"x_align", "residual_align", "weight_align", "out_align"};
    struct gm_rms_norm_problem p = rows_of(1, 1);
    for (int i = 0; i < 4; i++) {
        const struct gm_field *field = &gm_operation_rms_norm.fields[gm_field_named(&gm_operation_rms_norm, names[i])];
        ck_assert_int_eq(gm_field_set(field, &p, 2 << i), 1);
        ck_assert_int_eq(gm_field_get(field, &p), 2 << i);
    }
    ck_assert(p.x_align == 2 && p.residual_align == 4 && p.weight_align == 8 && p.out_align == 16);
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    struct gm_rms_norm_problem p = rows_of(10, 100);
    struct gm_work work = gm_operation_rms_norm.work(&p);
    ck_assert(work.flops == 4000 && work.least_bytes == 2 * 2000 + 200);
    p.residual = p.fp32_weight = 1;
    work = gm_operation_rms_norm.work(&p);
    ck_assert(work.flops == 5000 && work.least_bytes == 4 * 2000 + 400);
}
END_TEST

START_TEST(bytes_of_other_outs_and_residuals_are_counted) {
    struct gm_rms_norm_problem p = rows_of(10, 256);
    p.has_out_type = 1, p.out_type = GM_E4M3, p.scaling = GM_SCALE_GROUP;
    ck_assert(gm_operation_rms_norm.work(&p).least_bytes == 10 * 256 * 3 + 1 * 512 + 10 * 2 * 4);
    p.scaling = GM_SCALE_ROW, p.scale_format = GM_SCALE_E8M0;
    ck_assert(gm_operation_rms_norm.work(&p).least_bytes == 10 * 256 * 3 + 1 * 512 + 10);
    p.residual = GM_RESIDUAL_AFTER; /* is read only */
    ck_assert(gm_operation_rms_norm.work(&p).least_bytes == 10 * 256 * 5 + 1 * 512 + 10);
    p.residual = GM_RESIDUAL_BETWEEN;
    ck_assert(gm_operation_rms_norm.work(&p).least_bytes == 10 * 256 * 7 + 2 * 1 * 512 + 10);
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_rms_norm_problem *p, const char *model, char *said,
                                      size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    struct explained all = explained_room();
    assert_ok(gm_rms_norm_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "rms_norm", said, bytes);
}

static int64_t held_by(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)c[GM_RMS_NORM_ROW_THREADS] * c[GM_RMS_NORM_VECTORS] * c[GM_RMS_NORM_VECTOR_BYTES] /
           gm_type_bytes(kernel->type);
}

/* How many threads of two chunks would add up as a kernel does; 0: single elements. */
static int64_t pairs_of(const struct gm_kernel *kernel, const struct gm_rms_norm_problem *p, const char *model) {
    static const struct gm_plan_options options = {.size = sizeof options};
    const struct gm_device device = device_of(model);
    struct gm_rms_norm_problem read;
    assert_ok(read_problem(p, &read));
    const struct gm_question question = {&device, &read, &options, GM_DIVISION_BEST};
    const int32_t *c = kernel->columns;
    const int64_t threads = gm_verdict_of(kernel, &question, NULL).detail[1];
    return c[GM_RMS_NORM_VECTOR_BYTES] < 16 ? 0 : threads * c[GM_RMS_NORM_VECTORS] / 2;
}

/* Whatever the number of rows, the sum has one order. */
START_TEST(the_order_of_the_sum_does_not_depend_on_the_rows) {
    static const int64_t widths[] = {8, 128, 136, 1024, 2048, 3072, 4096, 5120, 8192, 16384, 40000};
    static const char *const models[] = {"a100", "h200", "rtx4090"};
    char said[1 << 15];
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (size_t m = 0; m < 3; m++) {
            const struct gm_rms_norm_problem few = rows_of(1, widths[i]), many = rows_of(100000, widths[i]);
            const struct gm_kernel *one = chosen(&few, models[m], said, sizeof said);
            const struct gm_kernel *other = chosen(&many, models[m], said, sizeof said);
            ck_assert(one && other);
            const int64_t pairs = pairs_of(one, &few, models[m]);
            ck_assert_int_eq(pairs, pairs_of(other, &many, models[m]));
            ck_assert(pairs * 16 >= widths[i] || pairs == 1024);
            ck_assert(pairs * 16 < widths[i] + 1024 || pairs < 64); /* and no more threads than that takes */
        }
}
END_TEST

START_TEST(few_rows_take_more_threads_than_many) {
    char said[1 << 15];
    const struct gm_rms_norm_problem few = rows_of(16, 4096), many = rows_of(8192, 4096);
    const struct gm_kernel *one = chosen(&few, "h200", said, sizeof said);
    const struct gm_kernel *other = chosen(&many, "h200", said, sizeof said);
    ck_assert_int_gt(one->threads, other->threads);
    ck_assert_int_eq(one->arch, GM_ARCH_SM90);
    ck_assert_ptr_nonnull(strstr(said, "predicted "));
    ck_assert_ptr_nonnull(strstr(said, "4096 columns: its registers hold 2048"));
}
END_TEST

static const struct gm_kernel *one_that_holds(int64_t columns) {
    for (size_t i = 0; i < gm_kernel_count(); i++)
        if (gm_kernels[i].family == &gm_family_rms_norm && gm_kernels[i].arch == GM_ARCH_SM90 &&
            gm_kernels[i].type == GM_BF16 && held_by(&gm_kernels[i]) == columns)
            return &gm_kernels[i];
    return NULL;
}

START_TEST(who_holds_more_than_is_needed_has_another_order) {
    const struct gm_rms_norm_problem p = rows_of(16, 512);
    const struct gm_device h200 = device_of("h200");
    const struct gm_kernel *wide = one_that_holds(1024);
    struct gm_plan_options options = {.size = sizeof options};
    struct gm_rms_norm_problem read;
    const struct gm_question asked = {&h200, &read, &options, GM_DIVISION_BEST};
    char said[232] = "";
    const struct gm_sentence why = {said, sizeof said};
    assert_ok(read_problem(&p, &read));
    ck_assert_int_eq(gm_verdict_of(wide, &asked, &why).reason, GM_REASON_ORDER);
    ck_assert_msg(strstr(said, "than that of 32 threads with two chunks each") != NULL, "%s", said);
    options.kernel = wide->name; /* then the caller has chosen it */
    ck_assert_int_eq(gm_verdict_of(wide, &asked, &why).reason, GM_ACCEPTED);
}
END_TEST

/* An entry of so many rows, whose choice holds more columns than are needed, and whose other candidate does not. */
START_TEST(no_ledger_changes_the_order_of_the_sum) {
    const struct gm_device h200 = device_of("h200");
    const struct gm_kernel *wide = one_that_holds(1024), *fitting = one_that_holds(512);
    struct gm_rms_norm_problem p = rows_of(16, 512), read;
    gm_ledger *ledger = NULL;
    char text[600];
    assert_ok(read_problem(&p, &read));
    snprintf(text, sizeof text,
             "gristmill-ledger 1\ndevice NVIDIA H200\ncc 9.0\nsms 132\nl2_bytes 62914560\ndram_gbs 4814\n"
             "rms_norm bf16 same no late late same 16 512 *%s 1 1 1 7 %s 2 2 2 7\n",
             wide->name, fitting->name);
    assert_ok(
        gm_ledger_parse_with("the text", text, strlen(text), gm_kernels, gm_kernel_count(), GM_STALE_REFUSED, &ledger));
    const struct gm_plan_options options = {.size = sizeof options, .ledger = ledger};
    const struct gm_question question = {&h200, &read, &options, GM_DIVISION_BEST};
    const struct gm_choice choice = gm_choose(&gm_operation_rms_norm, gm_kernels, gm_kernel_count(), &question);
    ck_assert_int_eq(choice.source, GM_SOURCE_LEDGER);
    ck_assert_ptr_eq(choice.kernel, fitting);
    gm_ledger_destroy(ledger);
}
END_TEST

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_rms_norm_problem p = rows_of(16, 4096);
    char said[1 << 15];
    p.x_align = 8;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_RMS_NORM_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "x_align promises 8 bytes: it loads 16 at once"));
    p = rows_of(16, 4096);
    p.out_stride = 4100;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_RMS_NORM_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "out_stride 4100 x 2 B = 8200 B is not a multiple of the 16"));
    p = rows_of(16, 4099);
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_RMS_NORM_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "x has 4099 columns x 2 B = 8198 B, which is not a multiple of the 16"));
    p = rows_of(16, 4096);
    p.residual = 1;
    p.residual_align = 4;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_RMS_NORM_VECTOR_BYTES], 2);
    p.residual = 0; /* then nobody asks */
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_RMS_NORM_VECTOR_BYTES], 16);
}
END_TEST

START_TEST(heads_go_by_kernels_of_short_rows) {
    struct gm_rms_norm_problem p = rows_of(16, 128);
    char said[1 << 15];
    p.heads = 40;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_RMS_NORM_ROW_THREADS], 8);
    ck_assert_ptr_nonnull(strstr(said, "40 heads: it takes rows of one"));
    p.out_head_stride = 132;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_RMS_NORM_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "out_head_stride 132 x 2 B = 264 B is not a multiple of the 16"));
}
END_TEST

START_TEST(other_outs_go_by_kernels_with_any) {
    struct gm_rms_norm_problem p = rows_of(16, 4096);
    char said[1 << 15];
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_RMS_NORM_MAKES], GM_MAKES_same);
    p.has_out_type = 1, p.out_type = GM_E4M3;
    const struct gm_kernel *kernel = chosen(&p, "h200", said, sizeof said);
    ck_assert(kernel->columns[GM_RMS_NORM_MAKES] == GM_MAKES_any && kernel->columns[GM_RMS_NORM_VECTOR_BYTES] == 16);
    ck_assert_ptr_nonnull(strstr(said, "its out has the type of x, and no residual is added to it"));
    p.out_align = 4; /* it stores 8 bytes at once */
    kernel = chosen(&p, "h200", said, sizeof said);
    ck_assert(kernel->columns[GM_RMS_NORM_MAKES] == GM_MAKES_any && kernel->columns[GM_RMS_NORM_VECTOR_BYTES] == 2);
    ck_assert_ptr_nonnull(strstr(said, "out_align promises 4 bytes: it loads 8 at once"));
    p = rows_of(100000, 4096);
    p.residual = GM_RESIDUAL_BETWEEN;
    p.x_weight_align = 8;
    ck_assert_int_eq(chosen(&p, "a100", said, sizeof said)->columns[GM_RMS_NORM_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "x_weight_align promises 8 bytes"));
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

START_TEST(a_launch_is_told_what_the_call_says) {
    struct gm_rms_norm_problem p = rows_of(10, 512);
    const struct gm_rms_norm_args args = {
        .size = sizeof args, .x = ADDRESS_A, .residual = ADDRESS_B, .weight = ADDRESS_C, .out = ADDRESS_D};
    gm_plan *plan = NULL;
    p.residual = 1;
    p.normalized_rounding = GM_ROUND_EARLY;
    p.x_stride = 520;
    p.weight_offset = 1;
    assert_ok(gm_rms_norm_plan_create(context, &p, NULL, &plan));
    const struct gm_norm_params *params = plan->params;
    ck_assert_int_eq(params->x_pitch, 1040);
    ck_assert_int_eq(params->out_pitch, 1024);
    ck_assert_int_eq(params->flags, GM_NORM_HAS_RESIDUAL | GM_NORM_ROUNDS_NORMALIZED);
    ck_assert(params->inverse_columns == 1.0f / 512 && params->weight_offset == 1);
    const int together = plan->kernel->threads / plan->kernel->columns[GM_RMS_NORM_ROW_THREADS];
    ck_assert_uint_eq(plan->config.gridDimX, (unsigned)((10 + together - 1) / together));
    assert_ok(gm_rms_norm_execute(plan, &args, NULL));
    struct gm_rms_norm_args bad_args = args;
    bad_args.residual = args.out;
    assert_fails(gm_rms_norm_execute(plan, &bad_args, NULL), GM_ERROR_OVERLAP, "overlaps");
    bad_args = args;
    bad_args.x = args.out; /* another stride */
    assert_fails(gm_rms_norm_execute(plan, &bad_args, NULL), GM_ERROR_OVERLAP, "only x = out");
    bad_args = args;
    bad_args.weight = 0;
    assert_fails(gm_rms_norm_execute(plan, &bad_args, NULL), GM_ERROR_INVALID_ARGUMENT, "weight is NULL");
    gm_plan_destroy(plan);
}
END_TEST

/* 10 rows of 40 heads of 128 in a row of 48 heads: the second dimension of the grid, as far as a budget of SMs allows. */
START_TEST(heads_are_told_to_a_launch) {
    struct gm_rms_norm_problem p = rows_of(10, 128);
    struct gm_plan_options options = {.size = sizeof options};
    const struct gm_rms_norm_args args = {.size = sizeof args, .x = ADDRESS_A, .weight = ADDRESS_C, .out = ADDRESS_A};
    gm_plan *plan = NULL;
    p.heads = 40;
    p.x_stride = p.out_stride = 48 * 128;
    assert_ok(gm_rms_norm_plan_create(context, &p, &options, &plan));
    const struct gm_norm_params *params = plan->params;
    ck_assert(params->heads == 40 && params->x_head_pitch == 256 && params->out_head_pitch == 256);
    ck_assert(plan->config.gridDimX == 1 && plan->config.gridDimY == 40);
    assert_ok(gm_rms_norm_execute(plan, &args, NULL));
    gm_plan_destroy(plan);
    options.sm_budget = 1;
    p.rows = 10000;
    assert_ok(gm_rms_norm_plan_create(context, &p, &options, &plan));
    const unsigned on_sm = (unsigned)gm_ctas_per_sm(plan->kernel, &plan->device);
    ck_assert(plan->config.gridDimY == (on_sm < 40 ? on_sm : 40));
    ck_assert_uint_le(plan->config.gridDimX * plan->config.gridDimY, on_sm);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    const struct gm_rms_norm_args args = {.size = sizeof args, .x = ADDRESS_A, .weight = ADDRESS_C, .out = ADDRESS_D};
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_rms_norm)
            continue;
        struct gm_rms_norm_problem p = rows_of(1001, 64);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        const unsigned together = (unsigned)(kernel->threads / kernel->columns[GM_RMS_NORM_ROW_THREADS]);
        gm_plan *plan = NULL;
        p.type = kernel->type;
        assert_ok(gm_rms_norm_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_rms_norm_execute(plan, &args, NULL));
        ck_assert_int_eq(fake_calls(), 1);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.gridDimX, (1001 + together - 1) / together);
        ck_assert(fake.launch.config.blockDimX <= (unsigned)kernel->threads && fake.launch.config.blockDimX % 32 == 0);
        ck_assert_uint_eq(fake.launch.config.sharedMemBytes, (unsigned)kernel->smem_bytes);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 10 rows of 64 bf16, 80 apart, with a residual: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_rms_norm_args args) {
    struct gm_rms_norm_problem p = rows_of(10, 64);
    gm_plan *plan = NULL;
    p.residual = 1;
    p.x_stride = p.residual_stride = p.out_stride = 80;
    assert_ok(gm_rms_norm_plan_create(context, &p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_rms_norm_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    const struct gm_rms_norm_args good = {
        .size = sizeof good, .x = ADDRESS_A, .residual = ADDRESS_B, .weight = ADDRESS_C, .out = ADDRESS_D};
    struct gm_rms_norm_args args = good;
    args.size = 39;
    assert_fails(execute(args), GM_ERROR_SIZE, "args.size is 39");
    args = good, args.x = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "x is NULL");
    args = good, args.residual = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "residual is NULL");
    args = good, args.out = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "out is NULL");
    args = good, args.x += 8;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "not a multiple of 16 bytes");
    args = good, args.out = UINT64_MAX - 15;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "passes 2^64");
    args = good, args.residual = ADDRESS_A;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "residual");
    args = good, args.weight = ADDRESS_B;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "weight");
    args = good, args.row_count = ADDRESS_C + 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "row_count");
    args = good, args.row_count = ADDRESS_D;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "row_count");
    args = good, args.row_count = ADDRESS_B + 4;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "row_count");
    args = good, args.row_count = ADDRESS_C; /* both are read */
    assert_ok(execute(args));
    args = good, args.out = ADDRESS_A + 16;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "only x = out with the same rows and row stride may");
    args.out = ADDRESS_A;
    assert_ok(execute(args));
}
END_TEST

START_TEST(an_out_of_8_bits_is_told_to_a_launch) {
    struct gm_rms_norm_problem p = rows_of(10, 5120);
    const struct gm_rms_norm_args args = {.size = sizeof args,
                                          .x = ADDRESS_A,
                                          .residual = ADDRESS_B,
                                          .weight = ADDRESS_C,
                                          .out = ADDRESS_D,
                                          .x_weight = ADDRESS_C,
                                          .scales = ADDRESS_A + (1 << 20)};
    struct gm_rms_norm_args bad_args = args;
    gm_plan *plan = NULL;
    p.has_out_type = 1, p.out_type = GM_E4M3, p.scaling = GM_SCALE_GROUP, p.scale_format = GM_SCALE_E8M0;
    p.residual = GM_RESIDUAL_BETWEEN, p.norm_rounding = p.out_rounding = p.sum_rounding = GM_ROUND_EARLY;
    p.division = GM_DIVIDE_BY_RECIPROCAL;
    assert_ok(gm_rms_norm_plan_create(context, &p, NULL, &plan));
    const struct gm_norm_any_params *params = plan->params;
    ck_assert_int_eq(params->norm.flags & ~(GM_NORM_ONE_CHAIN | GM_NORM_FETCHES_VECTORS),
                     GM_NORM_RESIDUAL_BETWEEN | GM_NORM_ROUNDS_NORM | GM_NORM_ROUNDS_SUM | GM_NORM_ROUNDS_OUT);
    ck_assert(params->norm.x_pitch == 10240 && params->norm.out_pitch == 5120);
    ck_assert(params->store.scale_down == 40 && params->store.scale_across == 1 && params->store.group_shift == 7);
    ck_assert(params->store.scaling == SCALE_GROUP && params->store.limit == 448 && params->store.by_reciprocal);
    /* 640 chunks, as 320 threads with two each would add them up */
    const int chains = params->norm.flags & GM_NORM_ONE_CHAIN ? 1 : 2;
    ck_assert_int_eq(params->norm.row_threads * chains, 320);
    ck_assert_uint_eq(plan->config.blockDimX, (unsigned)params->norm.row_threads);
    assert_ok(gm_rms_norm_execute(plan, &args, NULL));
    bad_args.scales = 0;
    assert_fails(gm_rms_norm_execute(plan, &bad_args, NULL), GM_ERROR_INVALID_ARGUMENT, "scales is NULL");
    bad_args = args, bad_args.scales = args.out + 64;
    assert_fails(gm_rms_norm_execute(plan, &bad_args, NULL), GM_ERROR_OVERLAP, "scales");
    bad_args = args, bad_args.x = args.out; /* of other bytes */
    assert_fails(gm_rms_norm_execute(plan, &bad_args, NULL), GM_ERROR_OVERLAP, "overlap");
    bad_args = args, bad_args.x_weight = 0;
    assert_fails(gm_rms_norm_execute(plan, &bad_args, NULL), GM_ERROR_INVALID_ARGUMENT, "x_weight is NULL");
    gm_plan_destroy(plan);
    p = rows_of(10, 64);
    p.has_out_type = 1, p.out_type = GM_INT8, p.scaling = GM_SCALE_GROUP;
    assert_ok(gm_rms_norm_plan_create(context, &p, NULL, &plan));
    params = plan->params; /* a group is a row */
    ck_assert(params->store.scaling == SCALE_ROW && params->store.scale_down == 4);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(out_may_be_the_residual_that_is_added) {
    struct gm_rms_norm_problem p = rows_of(10, 512);
    struct gm_rms_norm_args args = {
        .size = sizeof args, .x = ADDRESS_A, .residual = ADDRESS_B, .weight = ADDRESS_C, .out = ADDRESS_B};
    gm_plan *plan = NULL;
    p.residual = GM_RESIDUAL_AFTER;
    assert_ok(gm_rms_norm_plan_create(context, &p, NULL, &plan));
    assert_ok(gm_rms_norm_execute(plan, &args, NULL));
    args.out = ADDRESS_B + 16;
    assert_fails(gm_rms_norm_execute(plan, &args, NULL), GM_ERROR_OVERLAP, "only residual = out");
    args.out = ADDRESS_A;
    assert_fails(gm_rms_norm_execute(plan, &args, NULL), GM_ERROR_OVERLAP, "overlaps x");
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(a_plan_of_another_operation_is_refused) {
    const struct gm_rms_norm_problem p = rows_of(10, 64);
    const struct gm_rms_norm_args args = {.size = sizeof args};
    const struct gm_gemm_args gemm_args = args_apart();
    gm_plan *plan = NULL;
    assert_ok(gm_rms_norm_plan_create(context, &p, NULL, &plan));
    assert_fails(gm_gemm_execute(plan, &gemm_args, NULL), GM_ERROR_INVALID_ARGUMENT, "rms_norm");
    gm_plan_destroy(plan);
    if (gm_kernels[0].family->operation != &gm_operation_gemm)
        return; /* a build of some kernels */
    const struct gm_gemm_problem gemm = problem_for(&gm_kernels[0], 64, 64, 64);
    plan = plan_for(&gm_kernels[0], &gemm);
    assert_fails(gm_rms_norm_execute(plan, &args, NULL), GM_ERROR_INVALID_ARGUMENT, "gemm");
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_rms_norm_problem p = rows_of(100000, 4096);
    const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    gm_plan *plan = NULL;
    assert_ok(gm_rms_norm_plan_create(context, &p, &options, &plan));
    ck_assert_uint_eq(plan->config.gridDimX, 2); /* a CTA on each */
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(no_rows_launch_nothing) {
    const struct gm_rms_norm_problem p = rows_of(0, 64);
    const struct gm_rms_norm_args args = {.size = sizeof args, .weight = 256};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    assert_ok(gm_rms_norm(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

Suite *rms_norm_suite(void) {
    Suite *suite = suite_create("rms_norm");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_packed_and_aligned);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, an_alignment_below_the_element_is_refused);
    tcase_add_test(problems, heads_are_packed_within_a_row);
    tcase_add_test(problems, an_out_of_8_bits_is_of_rows_or_groups);
    tcase_add_test(problems, what_has_no_effect_is_forgotten);
    tcase_add_test(problems, out_is_one_word_of_a_suite);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, fields_of_alignments_reach_their_members);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(problems, bytes_of_other_outs_and_residuals_are_counted);
    tcase_add_test(choices, the_order_of_the_sum_does_not_depend_on_the_rows);
    tcase_add_test(choices, few_rows_take_more_threads_than_many);
    tcase_add_test(choices, who_holds_more_than_is_needed_has_another_order);
    tcase_add_test(choices, no_ledger_changes_the_order_of_the_sum);
    tcase_add_test(choices, what_is_not_aligned_goes_by_elements);
    tcase_add_test(choices, other_outs_go_by_kernels_with_any);
    tcase_add_test(choices, heads_go_by_kernels_of_short_rows);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_the_call_says);
    tcase_add_test(launches, heads_are_told_to_a_launch);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_test(launches, bad_pointers_are_refused_by_name);
    tcase_add_test(launches, an_out_of_8_bits_is_told_to_a_launch);
    tcase_add_test(launches, out_may_be_the_residual_that_is_added);
    tcase_add_test(launches, a_plan_of_another_operation_is_refused);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    tcase_add_test(launches, no_rows_launch_nothing);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    return suite;
}
