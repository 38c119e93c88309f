/* SPDX-License-Identifier: Apache-2.0 */
/* Options behind a suite's line, and the batches of GEMM that they make: strides, operands, results, baseline. */
#include "bench_tests.h"
#include "cases.h"
#include "fake_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/operands.h"
#include "bench/measure/verify.h"
#include "bench/report/results_read.h"
#include "program/commands.h"

#define LINE "gemm bf16 bf16 bf16 tn 64 512 128"
#define MLA  LINE " batch=4 lda=512 a_batch_stride=128 b_batch_stride=65536 ldd=2048 d_batch_stride=512"

/* The problem of a line, as it is measured. */
static struct bench_case case_of(const char *line) {
    struct bench_case c;
    char error[256] = "";
    ck_assert_msg(suite_parse_line(line, &c, error, sizeof error) == 1, "%s: %s", line, error);
    ck_assert_int_eq(case_complete(&c), 0);
    return c;
}

/* ---- the line -------------------------------------------------------------------------------------------- */

START_TEST(options_stand_behind_a_lines_fields) {
    struct bench_case c = case_of(LINE " act=silu  bias_type=fp32 limit=1.5 b_batch_stride=0 a_align=8 # batch=3");
    const struct gm_gemm_problem *p = gemm_of(&c);
    ck_assert(p->m == 64 && p->n == 512 && p->k == 128 && p->batch == 0 && p->b_batch_stride == 0 && p->a_align == 8);
    ck_assert(p->activation == GM_ACT_SILU && p->bias_type == GM_FP32);
    ck_assert_double_eq((double)p->limit, 1.5);
    c = case_of("rms_norm bf16 same no late late same 8 64 heads=4");
    char words[CASE_TEXT_BYTES];
    ck_assert_ptr_nonnull(strstr(case_words(&c, words), "heads 4"));
}
END_TEST

START_TEST(options_that_make_no_sense) {
    static const char *const lines[][2] = {
        {LINE " four", "a line of gemm is `gemm a b d layout M N K`, and NAME=VALUE"},
        {LINE " batches=4", "gemm has no option batches"},
        {LINE " =4", "gemm has no option ;"},
        {LINE " m=4", "gemm has no option m;"},
        {LINE " epilogue=plain", "gemm has no option epilogue"},
        {LINE " batch=", "batch is , not a size from 1 to 2147483647"},
        {LINE " batch=0", "batch is 0, not a size from 1"},
        {LINE " batch=-1", "batch is -1, not a size"},
        {LINE " batch=4x", "batch is 4x, not a size"},
        {LINE " act=tanh", "act is tanh, not one of none, relu"},
        {LINE " limit=inf", "limit is inf, not a decimal number"},
        {LINE " batch=4 lda=256 batch=4", "batch is said twice"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct bench_case c;
        char error[256] = "";
        ck_assert_int_eq(suite_parse_line(lines[i][0], &c, error, sizeof error), -1);
        ck_assert_msg(strstr(error, lines[i][1]) != NULL, "%s: %s", lines[i][0], error);
    }
}
END_TEST

START_TEST(problems_differ_by_their_options) {
    const struct bench_case plain = case_of(LINE), same = case_of(LINE " batch=1 a_batch_stride=7");
    const struct bench_case four = case_of(LINE " batch=4"), five = case_of(LINE " batch=5");
    const struct bench_case taller = case_of("gemm bf16 bf16 bf16 tn 65 512 128 batch=4");
    ck_assert(case_equal(&plain, &same) && !case_equal(&plain, &four) && !case_equal(&four, &five));
    ck_assert(case_equal_beside_axis(&four, &taller) && !case_equal_beside_axis(&plain, &taller));
}
END_TEST

/* ---- strides and operands -------------------------------------------------------------------------------- */

START_TEST(a_batch_without_strides_is_packed) {
    struct bench_case c = case_of(LINE " batch=4"), wide = case_of(LINE " batch=4 lda=256 ldd=1024");
    struct bench_case one_a = case_of(LINE " batch=4 b_batch_stride=65536 d_batch_stride=32768");
    struct bench_case turned = case_of("gemm bf16 bf16 bf16 nt 64 512 128 batch=4 lda=72 ldb=520");
    const struct gm_gemm_problem *p = gemm_of(&c);
    ck_assert(p->a_batch_stride == 64 * 128 && p->b_batch_stride == 512 * 128);
    ck_assert(p->d_batch_stride == 64 * 512 && p->c_batch_stride == 64 * 512);
    p = gemm_of(&wide);
    ck_assert(p->a_batch_stride == 64 * 256 && p->d_batch_stride == 64 * 1024 && p->ldc == 1024);
    p = gemm_of(&turned);
    ck_assert(p->a_batch_stride == 128 * 72 && p->b_batch_stride == 128 * 520);
    p = gemm_of(&one_a);
    ck_assert(p->a_batch_stride == 0 && p->b_batch_stride == 65536 && p->c_batch_stride == 32768);
    const struct bench_case before = c;
    ck_assert_int_eq(case_complete(&c), 0);
    ck_assert(case_equal(&c, &before));
}
END_TEST

START_TEST(arrays_of_pointers_are_not_measured) {
    struct bench_case c;
    char error[256];
    ck_assert_int_eq(suite_parse_line(LINE " batch=4 pointer_arrays=1", &c, error, sizeof error), 1);
    ck_assert_int_eq(case_complete(&c), -1);
    char *arguments[] = {"--shape", "64x64x64", "--set", "pointer_arrays=1", "--device", "h200"};
    ck_assert_int_eq(command_bench(6, arguments), 2);
}
END_TEST

START_TEST(a_matrix_that_is_too_large_is_not_packed) {
    struct bench_case c = gemm_case(1 << 20, 8, 1 << 12);
    gemm_of(&c)->batch = 2;
    ck_assert_int_eq(case_complete(&c), -1);
}
END_TEST

/* Rows, columns and the pitch of A, B and D. */
static void expect_operands(const char *line, const int64_t (*sizes)[3]) {
    const struct bench_case c = case_of(line);
    struct bench_operand operands[BENCH_OPERANDS_MAX];
    ck_assert_int_eq(gemm_bench.operands(c.problem.bytes, operands), 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_msg(operands[i].rows == sizes[i][0] && operands[i].columns == sizes[i][1] &&
                          gemm_bench.pitch(c.problem.bytes, &operands[i]) == sizes[i][2],
                      "%s: %s is %jd x %jd, %jd apart", line, operands[i].name, (intmax_t)operands[i].rows,
                      (intmax_t)operands[i].columns, (intmax_t)gemm_bench.pitch(c.problem.bytes, &operands[i]));
    }
}

START_TEST(operands_have_all_matrices) {
    static const int64_t one[][3] = {{64, 128, 128}, {512, 128, 128}, {64, 512, 520}};
    static const int64_t behind[][3] = {{256, 128, 128}, {2048, 128, 128}, {256, 512, 512}};
    static const int64_t one_a[][3] = {{64, 128, 128}, {2048, 128, 128}, {256, 512, 512}};
    static const int64_t beside[][3] = {{64, 512, 512}, {2048, 128, 128}, {64, 2048, 2048}};
    static const int64_t narrow[][3] = {{64, 320, 320}, {512, 128, 128}, {256, 512, 512}};
    static const int64_t odd[][3] = {{1, 3 * 8200 + 8192, 3 * 8200 + 8192}, {512, 128, 128}, {256, 512, 512}};
    expect_operands(LINE " ldd=520", one);
    expect_operands(LINE " batch=4", behind);
    expect_operands(LINE " batch=4 b_batch_stride=65536 d_batch_stride=32768", one_a);
    expect_operands(MLA, beside);
    expect_operands(LINE " batch=4 lda=320 a_batch_stride=64 d_batch_stride=32768", narrow); /* windows that overlap */
    expect_operands(LINE " batch=4 a_batch_stride=8200 d_batch_stride=32768", odd);
}
END_TEST

/* Factors of sums lie in rows that are packed, and have room for cuBLASLt's, which are whole fours. */
START_TEST(operands_have_all_factors_of_sums) {
    const struct bench_case c =
        case_of("gemm e4m3 e4m3 bf16 tn 70 136 300 a_scales=group b_scales=block a_scale_order=column");
    struct bench_operand operands[BENCH_OPERANDS_MAX];
    ck_assert_int_eq(gemm_bench.operands(c.problem.bytes, operands), 5);
    ck_assert_int_eq(operands[3].columns, 3 * 72); /* 3 groups of K, 70 rows */
    ck_assert_int_eq(operands[4].columns, 2 * 4);  /* 2 blocks of columns, 3 of K */
}
END_TEST

START_TEST(a_batch_in_words) {
    static const char *const words[][2] = {
        {LINE " batch=64", "bf16 tn, 64 matrices"},
        {LINE " batch=4 b_batch_stride=65536 d_batch_stride=32768", "bf16 tn, 4 matrices, one A"},
        {MLA, "bf16 tn, 4 matrices, A and D in common rows"},
        {LINE " batch=4 lda=512 a_batch_stride=128 d_batch_stride=32768",
         "bf16 tn, 4 matrices, one B, A in common rows"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const struct bench_case c = case_of(words[i][0]);
        char text[CASE_TEXT_BYTES];
        ck_assert_str_eq(case_words(&c, text), words[i][1]);
    }
}
END_TEST

/* ---- results and the baseline ----------------------------------------------------------------------------- */

START_TEST(results_keep_the_options) {
    struct bench_results written = {0}, read;
    const char *const lines[] = {LINE, MLA, LINE " batch=4", LINE " act=silu limit=1.5"};
    snprintf(written.meta.gpu, sizeof written.meta.gpu, "NVIDIA FAKE 9");
    written.meta.rounds = 2;
    snprintf(written.meta.suite, sizeof written.meta.suite, "batches");
    for (size_t i = 0; i < 4; i++) {
        struct bench_row *row = results_add(&written);
        row->problem = case_of(lines[i]);
        row->ours.us[0] = row->ours.us[1] = 5;
        row->ours.count = 2;
        snprintf(row->kernel, sizeof row->kernel, "gemm");
        results_fill(row);
    }
    ck_assert_int_eq(results_write_json(&written, "bench-tests-batch.json"), 0);
    char *text = read_all("bench-tests-batch.json");
    ck_assert_ptr_nonnull(strstr(text, "\"k\": 128, \"kernel\"")); /* of a plain problem as before */
    ck_assert_ptr_nonnull(strstr(text, "\"k\": 128, \"batch\": 4, \"a_batch_stride\": 128, "));
    free(text);
    ck_assert_int_eq(results_read_json(&read, "bench-tests-batch.json"), 0);
    ck_assert_uint_eq(read.count, 4);
    for (size_t i = 0; i < 4; i++)
        ck_assert(case_equal(&read.rows[i].problem, &written.rows[i].problem));
    results_free(&written);
    results_free(&read);
    remove("bench-tests-batch.json");
}
END_TEST

/* Options as earlier versions told them: in the command, if it is one; or none but a batch of 1. */
static void expect_earlier(const char *command, const char *more, const char *line) {
    static const char rows[] =
        "\"rows\": [{\"op\": \"gemm\", \"a\": \"bf16\", \"b\": \"bf16\", \"d\": \"bf16\", \"layout\": "
        "\"tn\", %s \"m\": 64, \"n\": 512, \"k\": 128, \"kernel\": \"x\", \"us\": 5, \"us_rounds\": [5], "
        "\"best_us_rounds\": [], \"default_us_rounds\": [], \"best_heuristic\": -1, \"heuristics\": 0}]}";
    struct bench_results read;
    FILE *out = fopen("bench-tests-batch.json", "w");
    fprintf(
        out,
        "{\"meta\": {\"gpu\": \"NVIDIA X\", \"suite\": \"s\", \"command\": \"%s\", \"sm_count\": 1, \"l2_bytes\": 1, "
        "\"sm_clock_max_mhz\": 1, \"ceilings\": {}, \"method\": {\"rounds\": 1, \"baseline_heuristics\": 0}},",
        command);
    fprintf(out, rows, more);
    fclose(out);
    ck_assert_int_eq(results_read_json(&read, "bench-tests-batch.json"), 0);
    const struct bench_case c = case_of(line);
    ck_assert_msg(case_equal(&read.rows[0].problem, &c), "%s: %s", command, line);
    results_free(&read);
    remove("bench-tests-batch.json");
}

START_TEST(earlier_results_told_options_in_their_command) {
    expect_earlier("gristmill bench x", "\"epilogue\": \"none\", \"batch\": 1,", LINE);
    expect_earlier("gristmill bench x --set gate=halves --set=act=silu --quick", "", LINE " gate=halves act=silu");
    expect_earlier("gristmill bench x --set gate=halves; gristmill bench x", "", LINE);
    expect_earlier("gristmill bench x --set nothing=1 --set gate=wrong --set lda=256", "", LINE " lda=256");
    expect_earlier("gristmill bench x --set gate=halves", "\"act\": \"silu\",", LINE " act=silu");
}
END_TEST

static void expect_layout(int i, uint64_t rows, int64_t ld, int32_t batch, int64_t batch_stride) {
    const struct fake_layout *layout = &fake_layouts[i];
    ck_assert_uint_eq(layout->rows, rows);
    ck_assert_int_eq(layout->ld, ld);
    ck_assert_int_eq(layout->batch, batch);
    ck_assert_int_eq(layout->batch_stride, batch_stride);
}

/* Of the first heuristic alone; the layouts are B's, A's and D's. */
static void prepare(struct baselines *baselines, const char *line) {
    const struct bench_case c = case_of(line);
    struct rivals rivals;
    ck_assert_int_eq(rivals_prepare(&rivals, baselines, c.operation, c.problem.bytes), 1);
    rivals_forget(&rivals);
}

START_TEST(the_baseline_has_the_matrices) {
    struct baselines baselines = {0};
    fake = (struct fake_gpu){.heuristic_count = 1, .refused_heuristic = -1};
    fake_cublaslt(&baselines);
    prepare(&baselines, LINE);
    for (int i = 0; i < 3; i++)
        ck_assert(fake_layouts[i].batch == 1 && fake_layouts[i].batch_stride == 0);
    prepare(&baselines, MLA);
    expect_layout(0, 128, 128, 4, 65536);
    expect_layout(1, 128, 512, 4, 128);
    expect_layout(2, 512, 2048, 4, 512);
    prepare(&baselines, "gemm bf16 bf16 bf16 tt 64 512 128 batch=4 a_batch_stride=8192 d_batch_stride=32768");
    expect_layout(0, 512, 512, 4, 0);
    expect_layout(1, 128, 128, 4, 8192);
    expect_layout(2, 512, 512, 4, 32768);
}
END_TEST

START_TEST(the_gates_of_a_batch_have_no_baseline) {
    const struct bench_case c = case_of(LINE " batch=4 gate=halves");
    struct baselines baselines = {0};
    struct rivals rivals;
    fake = (struct fake_gpu){.heuristic_count = 1, .refused_heuristic = -1};
    fake_cublaslt(&baselines);
    ck_assert_int_eq(rivals_prepare(&rivals, &baselines, c.operation, c.problem.bytes), 0);
    rivals_forget(&rivals);
}
END_TEST

TCase *batch_tests(void) {
    TCase *tests = tcase_create("batch");
    tcase_add_test(tests, options_stand_behind_a_lines_fields);
    tcase_add_test(tests, options_that_make_no_sense);
    tcase_add_test(tests, problems_differ_by_their_options);
    tcase_add_test(tests, a_batch_without_strides_is_packed);
    tcase_add_test(tests, arrays_of_pointers_are_not_measured);
    tcase_add_test(tests, a_matrix_that_is_too_large_is_not_packed);
    tcase_add_test(tests, operands_have_all_matrices);
    tcase_add_test(tests, operands_have_all_factors_of_sums);
    tcase_add_test(tests, a_batch_in_words);
    tcase_add_test(tests, results_keep_the_options);
    tcase_add_test(tests, earlier_results_told_options_in_their_command);
    tcase_add_test(tests, the_baseline_has_the_matrices);
    tcase_add_test(tests, the_gates_of_a_batch_have_no_baseline);
    return tests;
}
