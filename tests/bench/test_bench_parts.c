/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics, suites, options, JSON, the terminal table, limits, conversions, the comparison of results. */
#include "bench_tests.h"
#include "cases.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/base/args.h"
#include "program/commands.h"
#include "bench/baseline/cublaslt.h"
#include "program/base/text_table.h"
#include "program/base/json.h"
#include "bench/measure/nvml.h"
#include "program/row_limits.h"
#include "run_command.h"
#include "program/base/stats.h"
#include "bench/suite.h"
#include "bench/measure/verify.h"

#define NEAR(x, y) ck_assert_double_eq_tol((x), (y), 1e-9)

START_TEST(percentiles_interpolate) {
    const double values[] = {4, 1, 3, 2, 5};
    NEAR(stats_median(values, 5), 3);
    NEAR(stats_median(values, 4), 2.5);
    NEAR(stats_percentile(values, 5, 0.1), 1.4);
    NEAR(stats_percentile(values, 5, 0.9), 4.6);
    NEAR(stats_percentile(values, 5, 1), 5);
    NEAR(stats_median(values, 1), 4);
    ck_assert(isnan(stats_median(values, 0)));
}
END_TEST

START_TEST(geometric_mean_passes_over_no_value) {
    const double values[] = {0.5, NAN, 2, INFINITY};
    NEAR(stats_geomean(values, 4), 1);
    ck_assert(isnan(stats_geomean(values + 1, 1)));
}
END_TEST

START_TEST(suite_lines) {
    struct bench_case c;
    char error[256];
    ck_assert_int_eq(suite_parse_line("  # nothing\n", &c, error, sizeof error), 0);
    ck_assert_int_eq(suite_parse_line("\n", &c, error, sizeof error), 0);
    ck_assert_int_eq(suite_parse_line("gemm fp16 fp16 fp32 nt 1 28672 4096 # a comment\n", &c, error, sizeof error), 1);
    const struct gm_gemm_problem *problem = gemm_of(&c);
    ck_assert_int_eq(problem->n, 28672);
    ck_assert_int_eq(problem->d_type, GM_FP32);
    ck_assert_int_eq(problem->ab_type, GM_FP16);
    ck_assert(problem->a_major == GM_MN_MAJOR && problem->b_major == GM_MN_MAJOR);
    ck_assert_str_eq(c.untaken, "");
    ck_assert_int_eq(suite_parse_line("gemm e5m2 e5m2 bf16 tn 1 2 3\n", &c, error, sizeof error), 1);
    ck_assert_str_eq(c.untaken, "gemm e5m2 e5m2 bf16 tn 1 2 3");
    ck_assert_int_eq(case_axis(&c), 1);
    ck_assert_int_eq(suite_parse_line("gemm bf16 fp16 bf16 tn 1 2 3", &c, error, sizeof error), 1);
    ck_assert_str_ne(c.untaken, ""); /* A and B have one type, */
    ck_assert_int_eq(suite_parse_line("gemm e5m2 e4m3 bf16 tn 1 2 3", &c, error, sizeof error), 1);
    ck_assert_str_eq(c.untaken, ""); /* or these two */
    ck_assert(gemm_of(&c)->ab_type == GM_E5M2 && gemm_of(&c)->has_b_type == 1 && gemm_of(&c)->b_type == GM_E4M3);
}
END_TEST

START_TEST(a_case_in_words) {
    struct bench_case c = gemm_case(1, 2, 3), other = gemm_case(9, 2, 3);
    char text[CASE_TEXT_BYTES];
    ck_assert_str_eq(case_sizes(&c, " x ", text), "1 x 2 x 3");
    ck_assert_str_eq(case_label(&c, text), "1 x 2 x 3 bf16 tn");
    ck_assert_str_eq(case_columns(&gemm_bench, text), "M|N|K|<type");
    ck_assert(case_is_usual(&c) && !case_equal(&c, &other) && case_equal_beside_axis(&c, &other));
    gemm_of(&c)->d_type = GM_FP32;
    gemm_of(&c)->b_major = GM_MN_MAJOR;
    ck_assert_str_eq(case_cells(&c, text), "1|2|3|bf16 tt → fp32");
    ck_assert(!case_is_usual(&c) && !case_equal_beside_axis(&c, &other));
}
END_TEST

START_TEST(options_override_fields) {
    struct bench_case c = gemm_case(1, 2, 3);
    const char *const sets[] = {"bias=n", "lda=16"};
    const struct suite_override all = {"fp16", "fp32", "nn", sets, 2};
    ck_assert_int_eq(suite_override(&c, &(struct suite_override){.dtype = "fp16"}), 0);
    ck_assert(gemm_of(&c)->ab_type == GM_FP16 && gemm_of(&c)->d_type == GM_FP16); /* D follows, as it was A's */
    ck_assert_int_eq(suite_override(&c, &all), 0);
    ck_assert(gemm_of(&c)->d_type == GM_FP32 && gemm_of(&c)->a_major == GM_MN_MAJOR);
    ck_assert(gemm_of(&c)->bias == GM_BIAS_N && gemm_of(&c)->lda == 16);
    ck_assert_int_eq(suite_override(&c, &(struct suite_override){.dtype = "bf16"}), 0);
    ck_assert(gemm_of(&c)->ab_type == GM_BF16 && gemm_of(&c)->d_type == GM_FP32); /* and does not, as it was not */
}
END_TEST

START_TEST(suite_lines_that_are_wrong) {
    static const char *const lines[] = {"gemm bf16 bf16 bf16 tn 1 2",        "gemm bf16 bf16 bf16 tn 1 2 0",
                                        "gemm bf16 bf16 bf16 tn 1 2 3x",     "gemm bf16 bf16 bf16 xx 1 2 3",
                                        "gemm bf16 bf16 bf16 tn 1 2 3 four", "gemm bf16 bf16 bf16 tn 1 2 99999999999"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct bench_case c;
        char error[256] = "";
        ck_assert_int_eq(suite_parse_line(lines[i], &c, error, sizeof error), -1);
        ck_assert_uint_gt(strlen(error), 0);
    }
}
END_TEST

START_TEST(shapes) {
    struct bench_case c = gemm_case(1, 1, 1);
    ck_assert(suite_parse_shape("1x28672x4096", &c));
    ck_assert_int_eq(gemm_of(&c)->k, 4096);
    ck_assert(suite_parse_shape("3,4,5", &c));
    static const char *const wrong[] = {"3x4", "3x4x5x6", "0x4x5", "-1x4x5", "", "3x4x", "3xx5", "3x4x5x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!suite_parse_shape(wrong[i], &c), "%s", wrong[i]);
}
END_TEST

/* The operands are the ranges of a call, written or not like these. */
static void check_operands(const struct bench_case *c) {
    const struct gm_operation *operation = c->operation->operation;
    struct bench_operand operands[BENCH_OPERANDS_MAX];
    struct gm_range ranges[GM_RANGES_MAX];
    struct gm_workspace workspace = {0};
    unsigned char *planned = calloc(1, operation->planned_bytes), *args = calloc(1, operation->args_bytes);
    memcpy(planned, c->problem.bytes, operation->problem_bytes);
    ck_assert_int_eq(operation->normalize(planned), GM_OK);
    const int count = c->operation->operands(planned, operands);
    if (c->operation->tell)
        c->operation->tell(planned, args);
    ck_assert_int_ge(count, 2);
    for (int i = 0; i < count; i++) {
        const gm_device_ptr address = (gm_device_ptr)(i + 1) << 44;
        ck_assert_uint_le(operands[i].argument + sizeof address, operation->args_bytes);
        memcpy(args + operands[i].argument, &address, sizeof address);
    }
    const int range_count = operation->ranges(planned, args, ranges, &workspace);
    for (int i = 0; i < count; i++) {
        int at = 0;
        while (at < range_count && ranges[at].address != (gm_device_ptr)(i + 1) << 44)
            at++;
        ck_assert_msg(at < range_count, "%s is no range of a call", operands[i].name);
        ck_assert_int_eq(ranges[at].written, operands[i].access != BENCH_READ);
        ck_assert_int_eq(ranges[at].rows * ranges[at].row_bytes,
                         operands[i].rows * operands[i].columns * gm_type_bytes(operands[i].type));
        const struct bench_tolerance tolerance = c->operation->tolerance(planned, &operands[i]);
        ck_assert(tolerance.relative >= 0 && tolerance.absolute >= 0); /* 0: bit for bit */
    }
    free(planned);
    free(args);
}

static void check_regimes(const struct bench_case *c) {
    const struct bench_operation *operation = c->operation;
    int regimes = 0;
    for (int i = 0; i < operation->regime_count; i++)
        regimes += case_axis(c) >= operation->regimes[i].from && case_axis(c) <= operation->regimes[i].to;
    ck_assert_int_eq(regimes, 1);
}

/* Of bench/suites. Nothing computes those of gemm-fp8 yet. */
static const char *const suites[] = {"gemm-quick",
                                     "gemm-bf16",
                                     "gemm-odd",
                                     "gemm-narrow",
                                     "gemm-fp8",
                                     "gemm-fit",
                                     "gemm-batched",
                                     "rms_norm",
                                     "glu",
                                     "quantize",
                                     "rope",
                                     "permute",
                                     "reduce",
                                     "embed",
                                     "moe_route",
                                     "moe_align",
                                     "moe_finalize",
                                     "sample",
                                     "softmax",
                                     "layer_norm",
                                     "histogram",
                                     "convolution",
                                     "stencil",
                                     "process_logits",
                                     "axpby",
                                     "dequantize",
                                     "row-ops",
                                     "attention-d192",
                                     "attention-prefill",
                                     "attention-fp8-prefill",
                                     "attention-decode",
                                     "attention-fp8-decode",
                                     "attention-mla",
                                     "attention_merge"};

START_TEST(every_suite_of_the_folder_loads) {
    struct bench_suite suite = {0};
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) {
        size_t before = suite.count;
        ck_assert_int_eq(suite_load(&suite, suites[i]), 0);
        ck_assert_uint_gt(suite.count, before);
    }
    ck_assert_ptr_eq(strstr(suite.name, "gemm-quick+gemm-bf16+gemm-odd+gemm-narrow+gemm-fp8+gemm-fit+gemm-batched"),
                     suite.name);
    ck_assert_int_eq(suite_load(&suite, "no-such-suite"), -1);
    suite_free(&suite);
}
END_TEST

START_TEST(every_suites_problems_have_operands_and_a_regime) {
    struct bench_suite suite = {0};
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        if (strcmp(suites[i], "gemm-fp8"))
            ck_assert_int_eq(suite_load(&suite, suites[i]), 0);
    for (size_t i = 0; i < suite.count; i++) {
        ck_assert_int_eq(case_complete(&suite.cases[i]), 0);
        check_operands(&suite.cases[i]);
        check_regimes(&suite.cases[i]);
    }
    suite_free(&suite);
}
END_TEST

/* What the bench says of a file of such bytes that is given as a suite. */
static void load_bytes(const char *bytes, int code, const char *words) {
    FILE *out = fopen("bench-tests-out.txt", "w");
    fputs(bytes, out);
    fclose(out);
    struct outcome got = run_command(command_bench, "bench-tests-out.txt --device h200");
    ck_assert_msg(got.code == code, "%s: exit code %d", bytes, got.code);
    ck_assert_msg(strstr(code ? got.err : got.out, words) != NULL, "%s: %s", bytes, got.err);
    forget_outcome(&got);
    remove("bench-tests-out.txt");
}

START_TEST(a_suite_that_is_none_is_told_why) {
    static const char good[] = "gemm bf16 bf16 bf16 tn 8 16 32\n";
    char text[1024];
    load_bytes(good, 0, "8  16  32  bf16 tn");
    load_bytes("", 2,
               "bench-tests-out.txt has no problem: a line is an operation and its fields, such as `gemm a b d "
               "layout M N K`");
    load_bytes("# nothing\n\n", 2, "bench-tests-out.txt has no problem");
    load_bytes("conv bf16 bf16 bf16 tn 8 16 32\n", 2, "bench-tests-out.txt:1: operation conv is none of gemm");
    load_bytes("# x\ngemm bf16 bf61 bf16 tn 8 16 32\n", 2, "txt:2: b is bf61, not one of bf16, fp16");
    load_bytes("gemm bf16 bf16 int7 tn 8 16 32\n", 2, "d is int7, not one of bf16, fp16, fp32");
    snprintf(text, sizeof text, "\xef\xbb\xbf%s", good);
    load_bytes(text, 0, "8  16  32  bf16");
    snprintf(text, sizeof text, "%s\xef\xbb\xbf%s", good, good);
    load_bytes(text, 2, "bench-tests-out.txt:2: operation");
    snprintf(text, sizeof text, "# %0600d\n%s", 0, good);
    load_bytes(text, 2, "bench-tests-out.txt:1: a line has at most 510 characters");
    struct outcome got = run_command(command_bench, "/tmp --device h200");
    ck_assert_int_eq(got.code, 2);
    ck_assert_ptr_nonnull(strstr(got.err, "cannot read /tmp: Is a directory"));
    forget_outcome(&got);
}
END_TEST

START_TEST(json_is_indented_and_escaped) {
    char text[512] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    const double numbers[] = {1.5, NAN};
    struct json json;
    json_start(&json, out);
    json_object_begin(&json, NULL);
    json_put_string(&json, "a", "\"\\\n");
    json_array_begin(&json, "rows");
    json_line_begin(&json, NULL);
    json_put_number(&json, "x", INFINITY);
    json_put_integer(&json, "y", -3);
    json_object_end(&json);
    json_array_end(&json);
    json_array_begin(&json, "none");
    json_array_end(&json);
    json_put_numbers(&json, "n", numbers, 2);
    json_put_bool(&json, "b", true);
    json_object_end(&json);
    fclose(out);
    ck_assert_str_eq(text, "{\n  \"a\": \"\\\"\\\\\\u000a\",\n  \"rows\": [\n    {\"x\": null, \"y\": -3}\n  ],\n"
                           "  \"none\": [],\n  \"n\": [1.5, null],\n  \"b\": true\n}\n");
}
END_TEST

START_TEST(text_table_counts_characters) {
    ck_assert_uint_eq(text_table_width("M × N"), 5);
    struct text_table table;
    char text[512] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    ck_assert(text_table_start(&table, "us|<kernel"));
    ck_assert(text_table_add(&table, "%d|%s", 1234, "×"));
    text_table_print(&table, out);
    text_table_free(&table);
    fclose(out);
    ck_assert_str_eq(text, "  us  kernel\n────────────\n1234  ×\n");
}
END_TEST

START_TEST(options_are_filled_or_refused) {
    bool flag = false;
    int count = 0, rounds = 0;
    const char *name = NULL;
    double seconds = 0;
    const struct args_option options[] = {{"flag", NULL, ARGS_FLAG, &flag, ""},
                                          {"count", "N", ARGS_COUNT, &count, ""},
                                          {"name", "X", ARGS_TEXT, &name, ""},
                                          {"seconds", "S", ARGS_SECONDS, &seconds, ""},
                                          {"rounds", "N", ARGS_POSITIVE, &rounds, ""}};
    const struct args_command command = {"gristmill test", "about", options, 5};
    struct args_list words = {0};
    char *good[] = {"word", "--flag", "--count=3", "--name", "x", "--seconds", "0.5", "--rounds=2147483647"};
    ck_assert_int_eq(args_parse(&command, 8, good, &words), ARGS_GO);
    ck_assert(flag && count == 3 && strcmp(name, "x") == 0 && seconds == 0.5 && words.count == 1);
    ck_assert_int_eq(rounds, INT_MAX);
    char *zeros[] = {"--count", "0", "--seconds", "0"};
    ck_assert_int_eq(args_parse(&command, 4, zeros, &words), ARGS_GO);
    ck_assert(count == 0 && seconds == 0);
    char *bad[][2] = {{"--count", "1.5"},        {"--count", "-1"},  {"--seconds", "x"},    {"--flag=1", "w"},
                      {"--nothing", "1"},        {"w", "--name"},    {"w", "-x"},           {"--rounds", "0"},
                      {"--rounds", "1e300"},     {"--count", "inf"}, {"--seconds", "1e10"}, {"--seconds", "nan"},
                      {"--rounds", "2147483648"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(args_parse(&command, 2, bad[i], &words), ARGS_WRONG);
}
END_TEST

static struct kernel_limits limits_of_named(const char *name, const char *model) {
    struct gm_device device = {.size = sizeof device};
    ck_assert_int_eq(gm_device_model(model, &device), GM_OK);
    const int index = gm_find_kernel(gm_kernels, gm_kernel_count(), name);
    ck_assert_msg(index >= 0, "%s", name);
    return limits_of(&gm_kernels[index], &device);
}

/* wgmma m64nNk16 takes max(N / 2, 16 + N / 4) clocks: reading B limits the narrow ones. With B on the M side, N is
 * tile_m. */
START_TEST(wgmma_is_limited_by_reading_b_when_narrow) {
    NEAR(limits_of_named("gemm_sm90_bf16_tn_128x256x64_s4_c1x1_w2_sw128", "h200").tensor_share, 1);
    NEAR(limits_of_named("gemm_sm90_bf16_tn_64x64x64_s12_c1x1_w1_sw128", "h200").tensor_share, 1);
    NEAR(limits_of_named("gemm_sm90_bf16_tn_64x32x128_s8_c1x1_w1_sw128", "h200").tensor_share, 16.0 / 24);
    const struct kernel_limits swapped = limits_of_named("gemm_sm90_bf16_tn_16x64x128_s11_c1x1_w1s_sw128", "h200");
    NEAR(swapped.tensor_share, 8.0 / 20);
    ck_assert_double_eq_tol(swapped.tensor_tflops, 396, 1);
}
END_TEST

START_TEST(limits_follow_tile_cluster_and_device) {
    const struct kernel_limits sm90 = limits_of_named("gemm_sm90_bf16_tn_256x192x64_s3_c2x1_w2_sw128", "h200");
    ck_assert_int_eq(sm90.ctas_per_sm, 1);
    NEAR(sm90.flop_per_fill_byte, 256.0 * 192 / (256 + 192));
    NEAR(sm90.flop_per_l2_byte, 256.0 * 192 / (256 + 96));
    ck_assert_int_eq(limits_of_named("gemm_sm90_bf16_tn_256x192x64_s3_c2x1_w2_sw128", "a100").ctas_per_sm, 0);
    const char *sm80 = "gemm_sm80_bf16_tn_128x256x64_s3_c1x1_w2x4_xor";
    NEAR(limits_of_named(sm80, "h200").tensor_share, 0.68); /* as the planner has it */
    NEAR(limits_of_named(sm80, "a100").tensor_share, 1);
    NEAR(limits_of_named("gemv_sm90_bf16_tn_1x16x256_s4_c1x1_w1x8_none", "h200").tensor_share, 0);
}
END_TEST

START_TEST(sixteen_bit_round_trips) {
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        bool fp16_nan = (bits & 0x7fff) > 0x7c00, bf16_nan = (bits & 0x7fff) > 0x7f80;
        if (!fp16_nan)
            ck_assert_uint_eq(operands_to_fp16(operands_from_fp16((uint16_t)bits)), bits);
        if (!bf16_nan)
            ck_assert_uint_eq(operands_to_bf16(operands_from_bf16((uint16_t)bits)), bits);
    }
    ck_assert_uint_eq(operands_to_fp16(65520.0f), 0x7c00);       /* half way to 2^16: even is infinity */
    ck_assert_uint_eq(operands_to_fp16(1.00048828125f), 0x3c00); /* 1 + 2^-11: even is 1 */
    ck_assert_uint_eq(operands_to_bf16(1.00390625f), 0x3f80);    /* 1 + 2^-8: even is 1 */
    ck_assert_uint_eq(operands_to_bf16(1.01171875f), 0x3f82);    /* 1 + 3 * 2^-8: even is above */
}
END_TEST

START_TEST(eight_bit_round_trips) {
    static const enum gm_type types[] = {GM_E4M3, GM_E5M2};
    static const uint8_t largest[] = {0x7e, 0x7b};
    for (int i = 0; i < 2; i++)
        for (unsigned bits = 0; bits < 0x100; bits++) {
            const uint8_t from[] = {(uint8_t)bits};
            uint8_t to[] = {0xff};
            operands_put(to, 0, types[i], (bits & 0x7f) > largest[i] ? 0 : operands_value(from, 0, types[i]));
            ck_assert_uint_eq(to[0], (bits & 0x7f) > largest[i] ? 0 : bits);
        }
}
END_TEST

/* Two rows of D, of two columns. */
static struct verify_sample sample_of(const struct bench_operand *operand, float *values) {
    return (struct verify_sample){.count = 1,
                                  .of = {{.operand = operand, .rows = 2, .index = {0, 7}, .values = values}}};
}

START_TEST(results_agree_or_not) {
    float x[] = {10, -20, 0.01f, 30}, y[] = {10.05f, -20, 0.012f, 30};
    const struct bench_case problem = gemm_case(8, 2, 64);
    struct bench_operand d = {.name = "D", .type = GM_BF16, .rows = 8, .columns = 2};
    const struct verify_sample ours = sample_of(&d, x), theirs = sample_of(&d, y);
    ck_assert(verify_compare(&ours, &theirs, &problem).agrees);
    d.type = GM_FP32;
    ck_assert(!verify_compare(&ours, &theirs, &problem).agrees);
    d.type = GM_BF16;
    x[3] = NAN;
    struct verify_verdict verdict = verify_compare(&ours, &theirs, &problem);
    ck_assert(!verdict.agrees);
    ck_assert_int_eq(verdict.row, 7);
    ck_assert_int_eq(verdict.column, 1);
}
END_TEST

START_TEST(sampled_rows_have_both_ends) {
    int64_t rows[VERIFY_ROWS_MAX];
    ck_assert_int_eq(verify_choose_rows(1, rows), 1);
    ck_assert_int_eq(rows[0], 0);
    ck_assert_int_eq(verify_choose_rows(5, rows), 5);
    ck_assert_int_eq(rows[4], 4);
    ck_assert_int_eq(verify_choose_rows(INT64_C(2000000000), rows), VERIFY_ROWS_MAX);
    ck_assert_int_eq(rows[VERIFY_ROWS_MAX - 1], 1999999999);
}
END_TEST

START_TEST(throttle_reasons_are_named) {
    ck_assert_str_eq(nvml_throttle_name(0x1), "");
    ck_assert_str_eq(nvml_throttle_name(0x4), "power");
    ck_assert_str_eq(nvml_throttle_name(0x40), "thermal");
    ck_assert_str_eq(nvml_throttle_name(0x24), "power+thermal");
    ck_assert_uint_eq(sizeof(struct lt_heuristic), 96);
}
END_TEST

TCase *parts_tests(void) {
    TCase *tests = tcase_create("parts");
    tcase_add_test(tests, percentiles_interpolate);
    tcase_add_test(tests, geometric_mean_passes_over_no_value);
    tcase_add_test(tests, suite_lines);
    tcase_add_test(tests, a_case_in_words);
    tcase_add_test(tests, options_override_fields);
    tcase_add_test(tests, suite_lines_that_are_wrong);
    tcase_add_test(tests, shapes);
    tcase_add_test(tests, every_suite_of_the_folder_loads);
    tcase_add_test(tests, every_suites_problems_have_operands_and_a_regime);
    tcase_add_test(tests, a_suite_that_is_none_is_told_why);
    tcase_add_test(tests, json_is_indented_and_escaped);
    tcase_add_test(tests, text_table_counts_characters);
    tcase_add_test(tests, options_are_filled_or_refused);
    tcase_add_test(tests, wgmma_is_limited_by_reading_b_when_narrow);
    tcase_add_test(tests, limits_follow_tile_cluster_and_device);
    tcase_add_test(tests, sixteen_bit_round_trips);
    tcase_add_test(tests, eight_bit_round_trips);
    tcase_add_test(tests, results_agree_or_not);
    tcase_add_test(tests, sampled_rows_have_both_ends);
    tcase_add_test(tests, throttle_reasons_are_named);
    return tests;
}
