/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of operations as numbers and as text: of GEMM, and of an operation that has every kind of field. */
#include "host/operation.h"

#include "common/gemm/tokens.h"
#include "host/gemm/problem.h"
#include "host/ledger.h"
#include "unit.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <string.h>

/* ---- an operation of the tests --------------------------------------------------------------------------- */

enum mode { PLAIN, SHARED, ROTATED };

struct toy_problem {
    size_t size;
    int64_t rows;
    enum gm_type type;
    enum mode mode;
    float eps;
};

static int64_t get_double_rows(const void *problem) {
    return 2 * ((const struct toy_problem *)problem)->rows;
}

static int set_double_rows(void *problem, int64_t value) {
    struct toy_problem *p = problem;
    if (value % 2)
        return 0;
    p->rows = value / 2;
    return 1;
}

static const char *const modes[] = {"plain", "shared", "rotated", NULL};
#define AT(member) offsetof(struct toy_problem, member)
enum { TYPE, ROWS, MODE, EPS, DOUBLE_ROWS, ONLY_READ, TOY_FIELDS };
static const struct gm_field toy_fields[TOY_FIELDS] = {
    [TYPE] = {.name = "type", .kind = GM_FIELD_TYPE, .uses = GM_IN_SUITES, .offset = AT(type),
              .types = GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP32)},
    [ROWS] = {.name = "rows", .kind = GM_FIELD_SIZE, .uses = GM_IN_SUITES, .offset = AT(rows)},
    [MODE] = {.name = "mode", .kind = GM_FIELD_WORD, .uses = GM_IN_OPTIONS, .offset = AT(mode), .words = modes},
    [EPS] = {.name = "eps", .kind = GM_FIELD_REAL, .uses = GM_IN_SUITES, .offset = AT(eps)},
    [DOUBLE_ROWS] = {.name = "double_rows", .kind = GM_FIELD_SIZE, .get = get_double_rows, .set = set_double_rows},
    [ONLY_READ] = {.name = "only_read", .kind = GM_FIELD_SIZE, .get = get_double_rows},
};
static const struct gm_operation toy = {.name = "toy", .fields = toy_fields, .field_count = TOY_FIELDS};

/* ---- the list ------------------------------------------------------------------------------------------- */

START_TEST(operations_are_found_by_name) {
    ck_assert_uint_ge(gm_operation_count(), 1);
    for (size_t i = 0; i < gm_operation_count(); i++)
        ck_assert_ptr_eq(gm_operation_named(gm_operations[i]->name), gm_operations[i]);
    ck_assert_ptr_eq(gm_operation_named("gemm"), &gm_operation_gemm);
    ck_assert_ptr_null(gm_operation_named("gem"));
    ck_assert_ptr_null(gm_operation_named("gemm "));
    ck_assert_ptr_null(gm_operation_named(""));
}
END_TEST

/* What the core, the ledgers and the benchmark take for granted of an operation. */
START_TEST(operations_fit_what_the_core_keeps_of_them) {
    for (size_t i = 0; i < gm_operation_count(); i++) {
        const struct gm_operation *operation = gm_operations[i];
        int in_ledgers = 0, falls_back = 0;
        ck_assert_int_le(operation->field_count, GM_FIELDS_MAX);
        for (int f = 0; f < operation->field_count; f++) {
            const struct gm_field *field = &operation->fields[f];
            ck_assert_int_eq(gm_field_named(operation, field->name), f); /* so names differ */
            ck_assert_int_eq(field->kind == GM_FIELD_WORD, field->words != NULL);
            ck_assert_int_eq(field->kind == GM_FIELD_TYPE, field->types != 0);
            ck_assert_msg(!field->set || field->get, "%s", field->name);
            ck_assert_msg(!(field->uses & GM_IN_SUITES) || !field->get || field->set, "%s", field->name);
            ck_assert(!(field->uses & GM_FALLS_BACK) || field->uses & GM_IN_LEDGERS);
            in_ledgers += (field->uses & GM_IN_LEDGERS) != 0;
            falls_back += (field->uses & GM_FALLS_BACK) != 0;
        }
        ck_assert_int_le(in_ledgers, GM_LEDGER_FIELDS_MAX);
        ck_assert_int_le(falls_back, 1);
        ck_assert_int_eq(operation->fields[operation->type].kind, GM_FIELD_TYPE);
        ck_assert_int_eq(operation->fields[operation->axis].kind, GM_FIELD_SIZE);
        ck_assert_int_ge(gm_ledger_place(operation, operation->axis), 0);
        ck_assert_int_ge(gm_ledger_place(operation, operation->type), 0);
        ck_assert(operation->problem_bytes >= operation->problem_bytes_least);
        ck_assert(operation->args_bytes >= operation->args_bytes_least);
        ck_assert(operation->planned_bytes >= operation->problem_bytes);
    }
}
END_TEST

START_TEST(fields_are_found_by_name) {
    ck_assert_int_eq(gm_field_named(&toy, "type"), TYPE);
    ck_assert_int_eq(gm_field_named(&toy, "only_read"), ONLY_READ);
    ck_assert_int_eq(gm_field_named(&toy, "row"), -1);
    ck_assert_int_eq(gm_field_named(&toy, "rows "), -1);
    ck_assert_int_eq(gm_field_named(&toy, ""), -1);
}
END_TEST

/* ---- as numbers ------------------------------------------------------------------------------------------ */

START_TEST(values_are_set_and_got) {
    struct toy_problem p = {.size = sizeof p};
    int32_t bits;
    ck_assert_int_eq(gm_field_set(&toy_fields[ROWS], &p, INT64_C(1) << 40), 1);
    ck_assert_int_eq(p.rows, INT64_C(1) << 40);
    ck_assert_int_eq(gm_field_get(&toy_fields[ROWS], &p), INT64_C(1) << 40);
    ck_assert_int_eq(gm_field_set(&toy_fields[TYPE], &p, GM_FP32), 1);
    ck_assert(p.type == GM_FP32 && gm_field_get(&toy_fields[TYPE], &p) == GM_FP32);
    ck_assert_int_eq(gm_field_set(&toy_fields[MODE], &p, ROTATED), 1);
    ck_assert(p.mode == ROTATED && gm_field_get(&toy_fields[MODE], &p) == ROTATED);
    p.eps = -1e-5f;
    memcpy(&bits, &p.eps, sizeof bits);
    ck_assert_int_eq(gm_field_get(&toy_fields[EPS], &p), bits);
    p.eps = 0;
    ck_assert_int_eq(gm_field_set(&toy_fields[EPS], &p, bits), 1);
    ck_assert_float_eq(p.eps, -1e-5f);
    ck_assert_uint_eq(p.size, sizeof p);
}
END_TEST

START_TEST(a_field_that_is_no_member_has_its_own_way) {
    struct toy_problem p = {.size = sizeof p, .rows = 21};
    ck_assert_int_eq(gm_field_get(&toy_fields[DOUBLE_ROWS], &p), 42);
    ck_assert_int_eq(gm_field_set(&toy_fields[DOUBLE_ROWS], &p, 10), 1);
    ck_assert_int_eq(p.rows, 5);
    ck_assert_int_eq(gm_field_set(&toy_fields[DOUBLE_ROWS], &p, 11), 0); /* no problem has it */
    ck_assert_int_eq(p.rows, 5);
    ck_assert_int_eq(gm_field_get(&toy_fields[ONLY_READ], &p), 10);
    ck_assert_int_eq(gm_field_set(&toy_fields[ONLY_READ], &p, 10), 0);
}
END_TEST

/* ---- as text --------------------------------------------------------------------------------------------- */

static int parses(int field, const char *text, int64_t *value) {
    return gm_field_parse(&toy_fields[field], text, strlen(text), value);
}

START_TEST(sizes_are_digits) {
    static const char *const none[] = {"", "-1", "+1", "1.5", "1e3", "0x10", " 1", "1 ", "2147483648",
                                       "18446744073709551617", "99999999999999999999999999"};
    char text[GM_FIELD_TEXT_BYTES];
    int64_t value;
    ck_assert(parses(ROWS, "0", &value) && value == 0);
    ck_assert(parses(ROWS, "007", &value) && value == 7);
    ck_assert(parses(ROWS, "2147483647", &value) && value == INT32_MAX);
    ck_assert(gm_field_parse(&toy_fields[ROWS], "128 256", 3, &value) && value == 128);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ck_assert_msg(!parses(ROWS, none[i], &value), "%s", none[i]);
    ck_assert_str_eq(gm_field_print(&toy_fields[ROWS], INT64_MIN, text), "-9223372036854775808");
    ck_assert_str_eq(gm_field_print(&toy_fields[ROWS], 128, text), "128");
}
END_TEST

START_TEST(words_are_whole_words) {
    static const char *const none[] = {"", "plai", "plains", "Plain", "shared ", "rotated,"};
    char text[GM_FIELD_TEXT_BYTES];
    int64_t value;
    for (int i = 0; modes[i]; i++) {
        ck_assert(parses(MODE, modes[i], &value) && value == i);
        ck_assert_str_eq(gm_field_print(&toy_fields[MODE], i, text), modes[i]);
    }
    ck_assert(gm_field_parse(&toy_fields[MODE], "shared,rotated", 6, &value) && value == SHARED);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ck_assert_msg(!parses(MODE, none[i], &value), "%s", none[i]);
}
END_TEST

START_TEST(types_are_those_of_the_field) {
    char text[GM_FIELD_TEXT_BYTES];
    int64_t value;
    ck_assert(parses(TYPE, "bf16", &value) && value == GM_BF16);
    ck_assert(parses(TYPE, "fp32", &value) && value == GM_FP32);
    ck_assert(!parses(TYPE, "fp16", &value)); /* a type, but not of this field */
    ck_assert(!parses(TYPE, "int8", &value));
    ck_assert(!parses(TYPE, "", &value));
    ck_assert_str_eq(gm_field_print(&toy_fields[TYPE], GM_FP32, text), "fp32");
}
END_TEST

static float real_of(int64_t bits) {
    const int32_t word = (int32_t)bits;
    float real;
    memcpy(&real, &word, sizeof real);
    return real;
}

static int64_t bits_of(float real) {
    int32_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

START_TEST(reals_are_read_in_every_locale) {
    static const char *const none[] = {"",     "x",    "1x",    "1e",
                                       "1,5",  "1.5 ", " ",     " 1",
                                       "nan",  "inf",  "-inf",  "1e39",
                                       "0x1p3", "1e5e", "1.0000000000000000000000000000001"};
    int64_t value;
    setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* where there is none, nothing changes */
    ck_assert(parses(EPS, "1e-5", &value) && real_of(value) == 1e-5f);
    ck_assert(parses(EPS, "-0.5", &value) && real_of(value) == -0.5f);
    ck_assert(parses(EPS, "3", &value) && real_of(value) == 3);
    ck_assert(gm_field_parse(&toy_fields[EPS], "0.25 8", 4, &value) && real_of(value) == 0.25f);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ck_assert_msg(!parses(EPS, none[i], &value), "\"%s\"", none[i]);
    ck_assert(!gm_field_parse(&toy_fields[EPS], "\0", 1, &value));
    ck_assert(!gm_field_parse(&toy_fields[EPS], "1\0002", 3, &value));
    setlocale(LC_NUMERIC, "C");
}
END_TEST

/* The text of a value is read as the value: it is a key of ledgers and results. It is no longer than that takes. */
START_TEST(reals_survive_their_text) {
    static const struct {
        float real;
        const char *text;
    } texts[] = {{1e-5f, "1e-05"}, {0.1f, "0.1"}, {1.0f / 3, "0.33333334"}, {-2.5f, "-2.5"}, {0, "0"}};
    char text[GM_FIELD_TEXT_BYTES];
    uint32_t state = 7;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_str_eq(gm_field_print(&toy_fields[EPS], bits_of(texts[i].real), text), texts[i].text);
    for (int i = 0; i < 5000; i++) {
        int64_t value = 0, bits;
        state = state * 1664525 + 1013904223;
        bits = (int32_t)state;
        if (!isfinite(real_of(bits)))
            continue;
        const char *printed = gm_field_print(&toy_fields[EPS], bits, text);
        if (!parses(EPS, printed, &value) || value != bits)
            ck_abort_msg("%.9g became \"%s\"", (double)real_of(bits), printed);
    }
    ck_assert_str_eq(gm_field_print(&toy_fields[EPS], bits_of(-FLT_MAX), text), "-3.4028235e+38");
}
END_TEST

/* ---- GEMM's ---------------------------------------------------------------------------------------------- */

static const struct gm_field *gemm_field(const char *name) {
    const int field = gm_field_named(&gm_operation_gemm, name);
    ck_assert_msg(field >= 0, "%s", name);
    return &gm_operation_gemm.fields[field];
}

START_TEST(a_gemm_is_a_line_of_a_suite) {
    struct gm_gemm_problem p = problem_of(128, 4096, INT32_MAX);
    char text[160], small[16];
    gm_problem_print(&gm_operation_gemm, &p, text, sizeof text);
    ck_assert_str_eq(text, "gemm bf16 bf16 bf16 tn 128 4096 2147483647");
    p.ab_type = GM_FP16, p.d_type = GM_FP32, p.a_major = GM_MN_MAJOR, p.bias = GM_BIAS_N, p.lda = 9999;
    gm_problem_print(&gm_operation_gemm, &p, text, sizeof text);
    ck_assert_str_eq(text, "gemm fp16 fp16 fp32 nn 128 4096 2147483647");
    memset(small, 'x', sizeof small);
    gm_problem_print(&gm_operation_gemm, &p, small, 12);
    ck_assert_str_eq(small, "gemm fp16 f");
    ck_assert_int_eq(small[12], 'x');
}
END_TEST

START_TEST(reals_and_options_stay_in_their_lines) {
    const struct toy_problem p = {.size = sizeof p, .rows = 3, .type = GM_FP32, .mode = SHARED, .eps = 1e-6f};
    char text[64];
    gm_problem_print(&toy, &p, text, sizeof text);
    ck_assert_str_eq(text, "toy fp32 3 1e-06");
}
END_TEST

/* A and B have one type: the field of B takes what A's has. */
START_TEST(a_gemm_has_the_layouts_and_types_of_its_fields) {
    static const char *const layouts[] = {"tn", "nn", "tt", "nt"};
    struct gm_gemm_problem p = problem_of(1, 2, 3);
    int64_t value;
    for (int i = 0; i < 4; i++) {
        const struct gm_field *field = gemm_field("layout");
        ck_assert(gm_field_parse(field, layouts[i], 2, &value) && gm_field_set(field, &p, value));
        ck_assert_int_eq(gm_gemm_layout(&p), i);
        ck_assert_int_eq(p.a_major == GM_MN_MAJOR, layouts[i][0] == 'n');
        ck_assert_int_eq(p.b_major == GM_MN_MAJOR, layouts[i][1] == 't');
        ck_assert_int_eq(gm_field_get(field, &p), i);
    }
    ck_assert_int_eq(gm_field_set(gemm_field("b"), &p, GM_BF16), 1);
    ck_assert_int_eq(gm_field_set(gemm_field("b"), &p, GM_FP16), 0);
    ck_assert_int_eq(gm_field_set(gemm_field("a"), &p, GM_FP16), 1);
    ck_assert_int_eq(gm_field_set(gemm_field("b"), &p, GM_FP16), 1);
    ck_assert(p.ab_type == GM_FP16 && gm_field_get(gemm_field("b"), &p) == GM_FP16);
    ck_assert(gm_field_set(gemm_field("a"), &p, GM_E5M2) == 1 && gm_field_set(gemm_field("b"), &p, GM_E5M2) == 0);
    ck_assert_int_eq(gm_field_set(gemm_field("b"), &p, GM_E4M3), 1);
    ck_assert(p.has_b_type == 1 && p.b_type == GM_E4M3 && gm_field_get(gemm_field("b"), &p) == GM_E4M3);
    ck_assert(gm_field_set(gemm_field("a"), &p, GM_E4M3) == 1 && gm_field_set(gemm_field("b"), &p, GM_E4M3) == 1);
    ck_assert(p.has_b_type == 0); /* it goes with A's */
    ck_assert(!gm_field_parse(gemm_field("a"), "uint8", 5, &value));
    ck_assert(gm_field_parse(gemm_field("a"), "e4m3", 4, &value));
    ck_assert(gm_field_parse(gemm_field("a"), "fp32", 4, &value));
    ck_assert(gm_field_parse(gemm_field("d"), "fp32", 4, &value));
}
END_TEST

/* What a ledger tells apart: what is behind the sums, as far as other kernels may be the fastest for it. */
START_TEST(a_gemms_epilogue_says_what_is_behind_the_sums) {
    static const struct {
        const char *word;
        struct gm_gemm_problem says;
    } cases[] = {
        {"plain", {.d_type = GM_FP32}},
        {"general", {.bias = GM_BIAS_N}},
        {"gate", {.gate = GM_GATE_HALVES}},
        {"batch", {.batch = 2}},
        {"fast", {.ab_type = GM_E4M3, .fast_accumulation = 1}},
        {"general", {.ab_type = GM_E5M2, .has_b_type = 1, .b_type = GM_E4M3}},
        {"general", {.ab_type = GM_E4M3}},
        {"sum_scales", {.ab_type = GM_E4M3, .a_scales = GM_PER_GROUP, .b_scales = GM_PER_BLOCK}},
        {"sum_scales", {.ab_type = GM_E4M3, .a_scales = GM_PER_ROW, .b_scales = GM_PER_GROUP, .fast_accumulation = 1}},
        {"extended", {.ab_type = GM_E4M3, .fast_accumulation = 1, .residual = 1}},
        {"extended", {.residual = 1}},
        {"extended", {.d_type = GM_E4M3, .d_scaling = GM_SCALE_STATIC}},
        {"extended_gate", {.gate = GM_GATE_PAIRS, .amax = 1}},
        {"extended_row", {.d_type = GM_INT8, .d_scaling = GM_SCALE_ROW}},
        {"extended_gate_row", {.d_type = GM_E4M3, .d_scaling = GM_SCALE_ROW, .gate = GM_GATE_HALVES}},
        {"extended_group", {.d_type = GM_E5M2, .d_scaling = GM_SCALE_GROUP}},
        {"extended_gate_group", {.d_type = GM_E4M3, .d_scaling = GM_SCALE_GROUP, .gate = GM_GATE_HALVES}},
        {"extended", {.residual = 1, .d_scaling = GM_SCALE_GROUP}}, /* which says nothing of 16 bits */
    };
    const struct gm_field *epilogue = gemm_field("epilogue");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[GM_FIELD_TEXT_BYTES];
        struct gm_gemm_problem p = cases[i].says;
        p.size = sizeof p;
        p.m = p.n = p.k = 128;
        if (p.batch) /* each matrix behind the one before */
            p.a_batch_stride = p.b_batch_stride = p.c_batch_stride = p.d_batch_stride = 256 * 128;
        ck_assert_msg(gm_gemm_normalize(&p) == GM_OK, "%s: %s", cases[i].word, gm_last_error());
        ck_assert_str_eq(gm_field_print(epilogue, gm_field_get(epilogue, &p), text), cases[i].word);
    }
}
END_TEST

START_TEST(a_gemms_epilogue_is_read_only) {
    struct gm_gemm_problem p = problem_of(1, 2, 3);
    char text[GM_FIELD_TEXT_BYTES];
    const struct gm_field *epilogue = gemm_field("epilogue");
    ck_assert_str_eq(gm_field_print(epilogue, gm_field_get(epilogue, &p), text), "plain");
    p.activation = GM_ACT_GELU_ERF;
    ck_assert_str_eq(gm_field_print(epilogue, gm_field_get(epilogue, &p), text), "general");
    ck_assert_str_eq(gm_field_print(gemm_field("act"), gm_field_get(gemm_field("act"), &p), text), "gelu_erf");
    ck_assert_int_eq(gm_field_set(epilogue, &p, 0), 0);
    ck_assert_int_eq(p.activation, GM_ACT_GELU_ERF);
}
END_TEST

/* Words by value: an enumerator that is added wants its word. */
START_TEST(a_gemms_words_are_its_enumerators) {
    static const struct {
        const char *field, *words[6];
    } lists[] = {{"act", {"none", "relu", "gelu", "gelu_erf", "silu", NULL}}, {"bias", {"none", "n", "m", NULL}}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *const *words = gemm_field(lists[i].field)->words;
        int count = 0;
        for (; lists[i].words[count]; count++)
            ck_assert_str_eq(words[count], lists[i].words[count]);
        ck_assert_ptr_null(words[count]);
    }
}
END_TEST

START_TEST(a_gemm_tells_its_work) {
    struct gm_gemm_problem p = problem_of(128, 256, 512);
    struct gm_work work = gm_operation_gemm.work(&p);
    ck_assert_double_eq(work.flops, 2.0 * 128 * 256 * 512);
    ck_assert_double_eq(work.least_bytes, (128.0 + 256) * 512 * 2 + 128.0 * 256 * 2);
    p.d_type = GM_FP32;
    ck_assert_double_eq(gm_operation_gemm.work(&p).least_bytes, (128.0 + 256) * 512 * 2 + 128.0 * 256 * 4);
    ck_assert(!gm_operation_gemm.is_empty(&p));
    p.k = 0;
    ck_assert(!gm_operation_gemm.is_empty(&p)); /* D is written all the same */
    p.n = 0;
    ck_assert(gm_operation_gemm.is_empty(&p));
    work = gm_operation_gemm.work(&p);
    ck_assert_double_eq(work.flops, 0);
}
END_TEST

Suite *operation_suite(void) {
    Suite *suite = suite_create("operation");
    TCase *cases = tcase_create("fields");
    tcase_add_test(cases, operations_are_found_by_name);
    tcase_add_test(cases, operations_fit_what_the_core_keeps_of_them);
    tcase_add_test(cases, fields_are_found_by_name);
    tcase_add_test(cases, values_are_set_and_got);
    tcase_add_test(cases, a_field_that_is_no_member_has_its_own_way);
    tcase_add_test(cases, sizes_are_digits);
    tcase_add_test(cases, words_are_whole_words);
    tcase_add_test(cases, types_are_those_of_the_field);
    tcase_add_test(cases, reals_are_read_in_every_locale);
    tcase_add_test(cases, reals_survive_their_text);
    tcase_add_test(cases, reals_and_options_stay_in_their_lines);
    suite_add_tcase(suite, cases);
    TCase *gemm = tcase_create("GEMM's");
    tcase_add_test(gemm, a_gemm_is_a_line_of_a_suite);
    tcase_add_test(gemm, a_gemm_has_the_layouts_and_types_of_its_fields);
    tcase_add_test(gemm, a_gemms_epilogue_says_what_is_behind_the_sums);
    tcase_add_test(gemm, a_gemms_epilogue_is_read_only);
    tcase_add_test(gemm, a_gemms_words_are_its_enumerators);
    tcase_add_test(gemm, a_gemm_tells_its_work);
    suite_add_tcase(suite, gemm);
    return suite;
}
