/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions in `lane`: values, every error with its column, and many random ones. */
#include "bench_tests.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "program/smem/expression.h"

static const struct {
    const char *text;
    int64_t lane, value;
} good[] = {
    {"lane", 7, 7},
    {" 0x1F ", 0, 31},
    {"lane*132", 31, 4092},
    {"1 + 2 * 3", 0, 7},
    {"(1 + 2) * 3", 0, 9},
    {"20 - 8 - 4", 0, 8},
    {"100 / 10 / 5", 0, 2},
    {"17 % 8 * 2", 0, 2},
    {"1 | 6 ^ 3 & 5", 0, 7}, /* 1 | (6 ^ (3 & 5)) */
    {"1 << 2 + 1", 0, 8},    /* 1 << (2 + 1) */
    {"6 & 3 << 1", 0, 6},    /* 6 & (3 << 1) */
    {"256 >> 2 >> 1", 0, 32},
    {"-8 >> 1", 0, -4}, /* rounds down */
    {"-7 / 2", 0, -3},  /* towards 0, as in C */
    {"-7 % 4", 0, -3},
    {"~lane & 7", 2, 5},
    {"- -3 + + 2", 0, 5},
    {"(lane*128) ^ ((lane&7)<<4)", 9, 1152 ^ 16},
    {"lane/4*80+lane%4*16", 30, 7 * 80 + 32},
    {"\tlane\n+ 1", 3, 4},
    {"9223372036854775807", 0, INT64_MAX},
    {"-9223372036854775807 - 1", 0, INT64_MIN},
    {"1 << 62", 0, INT64_C(1) << 62},
    {"-1 << 62", 0, -(INT64_C(1) << 62)},
    {"0 << 63", 0, 0},
    {"5 >> 63", 0, 0},
    {"-1 >> 63", 0, -1},
};

START_TEST(expressions_have_values) {
    struct expression_error error;
    int64_t value = 0;
    ck_assert_msg(expression_value(good[_i].text, good[_i].lane, &value, &error) == 0, "%s: %s", good[_i].text,
                  error.sentence);
    ck_assert_msg(value == good[_i].value, "%s is %" PRId64 ", not %" PRId64, good[_i].text, good[_i].value, value);
}
END_TEST

static const struct {
    const char *text;
    size_t column; /* from 0 */
    const char *words;
} bad[] = {
    {"", 0, "an operand is missing at the end"},
    {"   ", 3, "an operand is missing at the end"},
    {"lane +", 6, "an operand is missing at the end"},
    {"lane * * 2", 7, "`*` stands where a number, lane or ( must be"},
    {"lan * 2", 0, "`lan` is unknown; the one name is `lane`"},
    {"lanes", 0, "`lanes` is unknown"},
    {"2 * threadIdx", 4, "`threadIdx` is unknown"},
    {"12ab", 0, "this is no number"},
    {"0x", 0, "this is no number"},
    {"0xg", 0, "this is no number"},
    {"1.5", 1, "an operator is missing before this"},
    {"lane 4", 5, "an operator is missing before this"},
    {"lane < 4", 5, "an operator is missing before this"},
    {"(lane + 1", 0, "this parenthesis is never closed"},
    {"2 * (lane + (1)", 4, "this parenthesis is never closed"},
    {"lane + 1)", 8, "this parenthesis was never opened"},
    {"()", 1, "`)` stands where a number"},
    {"lane / 0", 5, "a division by 0 (lane 3)"},
    {"8 % (lane - 3)", 2, "a division by 0 (lane 3)"},
    {"(-9223372036854775807 - 1) / -1", 27, "the quotient does not fit 64 bits"},
    {"9223372036854775808", 0, "a number does not fit 64 bits"},
    {"0x8000000000000000", 0, "a number does not fit 64 bits"},
    {"9223372036854775807 + 1", 20, "the result does not fit 64 bits"},
    {"-9223372036854775807 - 2", 21, "the result does not fit 64 bits"},
    {"4294967296 * 4294967296", 11, "the result does not fit 64 bits"},
    {"-(-9223372036854775807 - 1)", 0, "the result does not fit 64 bits"},
    {"1 << 64", 2, "a shift by 64 places; 0 to 63 are possible"},
    {"1 >> -1", 2, "a shift by -1 places"},
    {"1 << 63", 2, "1 << 63 does not fit 64 bits"},
    {"4 << 61", 2, "4 << 61 does not fit 64 bits"},
    {"lane\x01", 4, "an operator is missing"},
    {"\x01", 0, "a byte 0x01 has no meaning here"},
    {"\xc3\x97", 0, "a byte 0xc3 has no meaning here"},
    {"lane = 4", 5, "an operator is missing"},
    {"!lane", 0, "`!` stands where"},
};

START_TEST(wrong_expressions_are_refused_where_they_are_wrong) {
    struct expression_error error = {0};
    int64_t value = 77;
    ck_assert_msg(expression_value(bad[_i].text, 3, &value, &error) == -1, "%s is accepted", bad[_i].text);
    ck_assert_msg(strstr(error.sentence, bad[_i].words) != NULL, "%s: \"%s\" lacks \"%s\"", bad[_i].text,
                  error.sentence, bad[_i].words);
    ck_assert_msg(error.column == bad[_i].column, "%s: column %zu, not %zu", bad[_i].text, error.column,
                  bad[_i].column);
    ck_assert_int_eq(value, 77);
    ck_assert_int_eq(expression_complain("--address", bad[_i].text, &error), -1);
}
END_TEST

START_TEST(length_and_depth_have_limits) {
    char text[EXPRESSION_BYTES_MAX + 200];
    struct expression_error error;
    int64_t value;
    memset(text, ' ', sizeof text);
    text[EXPRESSION_BYTES_MAX - 1] = '5';
    text[EXPRESSION_BYTES_MAX] = 0;
    ck_assert_int_eq(expression_value(text, 0, &value, &error), 0);
    text[EXPRESSION_BYTES_MAX] = ' ';
    text[EXPRESSION_BYTES_MAX + 1] = 0;
    ck_assert_int_eq(expression_value(text, 0, &value, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.sentence, "longer than 1024 characters"));
    ck_assert_int_eq(expression_complain("--address", text, &error), -1);
    for (int depth = EXPRESSION_DEPTH_MAX - 1; depth <= EXPRESSION_DEPTH_MAX; depth++) {
        memset(text, '(', (size_t)depth);
        text[depth] = '1';
        memset(text + depth + 1, ')', (size_t)depth);
        text[2 * depth + 1] = 0;
        const int status = expression_value(text, 0, &value, &error);
        ck_assert_int_eq(status, depth < EXPRESSION_DEPTH_MAX ? 0 : -1);
    }
    ck_assert_ptr_nonnull(strstr(error.sentence, "more than 64 parentheses"));
    memset(text, '~', 500);
    text[500] = 0;
    ck_assert_int_eq(expression_value(text, 0, &value, &error), -1);
}
END_TEST

/* ---- random ones -------------------------------------------------------------------------------- */

static uint64_t random_state = 0x2545f4914f6cdd1du;

static uint32_t random_below(uint32_t limit) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 20) % limit;
}

/* Appends a random expression with all its parentheses to `text` and returns its value. *legal turns false where C
 * would have none. Numbers stay far below 64 bits. */
static int64_t grow(char *text, int depth, int64_t lane, bool *legal) {
    char *end = text + strlen(text);
    if (depth == 0 || random_below(4) == 0) {
        const int64_t number = random_below(2) ? lane : (int64_t)random_below(40);
        sprintf(end, number == lane ? "lane" : random_below(2) ? "%" PRId64 : "0x%" PRIx64, number);
        return number;
    }
    static const char *const signs[] = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"};
    const uint32_t sign = random_below(10);
    strcpy(end, "(");
    const int64_t left = grow(text, depth - 1, lane, legal);
    sprintf(text + strlen(text), " %s ", signs[sign]);
    const int64_t right = sign >= 8 ? (int64_t)random_below(4) : grow(text, depth - 1, lane, legal);
    if (sign >= 8)
        sprintf(text + strlen(text), "%" PRId64, right);
    strcat(text, ")");
    if ((sign == 3 || sign == 4) && right == 0) {
        *legal = false;
        return 0;
    }
    switch (sign) {
    case 0:
        return left + right;
    case 1:
        return left - right;
    case 2:
        return left * right;
    case 3:
        return left / right;
    case 4:
        return left % right;
    case 5:
        return left & right;
    case 6:
        return left | right;
    case 7:
        return left ^ right;
    case 8:
        return left * (1 << right);
    default:
        return (left - ((left % (1 << right) + (1 << right)) % (1 << right))) / (1 << right);
    }
}

START_TEST(random_expressions_have_the_values_of_c) {
    for (int i = 0; i < 4000; i++) {
        char text[2000] = "";
        bool legal = true;
        const int64_t lane = random_below(32), want = grow(text, 3, lane, &legal);
        struct expression_error error;
        int64_t value = 0;
        if (strlen(text) > EXPRESSION_BYTES_MAX)
            continue;
        const int status = expression_value(text, lane, &value, &error);
        if (status != (legal ? 0 : -1) || (legal && value != want))
            ck_abort_msg("%s with lane %" PRId64 ": status %d, %" PRId64 " instead of %" PRId64, text, lane, status,
                         value, want);
    }
}
END_TEST

/* Nothing but a value or an error within the text, whatever the text. */
START_TEST(rubbish_is_read_safely) {
    static const char alphabet[] = "0123456789xlane lane()()+-*/%&|^~<><<>>  abcfX.,$\x01\x7f\xc3\xff";
    for (int i = 0; i < 40000; i++) {
        char text[48];
        const uint32_t length = random_below(sizeof text);
        for (uint32_t at = 0; at < length; at++)
            text[at] = alphabet[random_below(sizeof alphabet - 1)];
        text[length] = 0;
        struct expression_error error = {0};
        int64_t value;
        if (expression_value(text, 1, &value, &error) != 0 && (error.column > length || !error.sentence[0]))
            ck_abort_msg("`%s`: column %zu, \"%s\"", text, error.column, error.sentence);
    }
}
END_TEST

TCase *expression_tests(void) {
    TCase *tests = tcase_create("expressions");
    tcase_add_loop_test(tests, expressions_have_values, 0, (int)(sizeof good / sizeof *good));
    tcase_add_loop_test(tests, wrong_expressions_are_refused_where_they_are_wrong, 0, (int)(sizeof bad / sizeof *bad));
    tcase_add_test(tests, length_and_depth_have_limits);
    tcase_add_test(tests, random_expressions_have_the_values_of_c);
    tcase_add_test(tests, rubbish_is_read_safely);
    return tests;
}
