/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens and literals of PTX. */
#include "sim_tests.h"

#include "sim/ptx/ptx_lexer.h"

#include <string.h>

static struct ptx_lexer lexer_of(const char *text) {
    struct ptx_lexer lexer;
    ptx_lexer_begin(&lexer, text, text + strlen(text));
    return lexer;
}

static void expect(struct ptx_lexer *lexer, enum ptx_token_kind kind, const char *text, uint32_t line) {
    const struct ptx_token token = ptx_lexer_next(lexer);
    ck_assert_msg(ptx_token_is(&token, text), "'%.*s', expected '%s'", (int)token.length, token.text, text);
    ck_assert_int_eq(token.kind, kind);
    ck_assert_uint_eq(token.line, line);
}

START_TEST(tokens_have_kinds_and_lines) {
    struct ptx_lexer lexer =
        lexer_of("// one\n.reg .b32\t%r<12>; /* two\nlines */ $L__BB0_2\n\"a \\\" b\" @!%p 1.5e-3]");
    expect(&lexer, PTX_TOKEN_DIRECTIVE, ".reg", 2);
    expect(&lexer, PTX_TOKEN_DIRECTIVE, ".b32", 2);
    expect(&lexer, PTX_TOKEN_WORD, "%r", 2);
    expect(&lexer, PTX_TOKEN_MARK, "<", 2);
    expect(&lexer, PTX_TOKEN_NUMBER, "12", 2);
    expect(&lexer, PTX_TOKEN_MARK, ">", 2);
    expect(&lexer, PTX_TOKEN_MARK, ";", 2);
    expect(&lexer, PTX_TOKEN_WORD, "$L__BB0_2", 3);
    expect(&lexer, PTX_TOKEN_STRING, "\"a \\\" b\"", 4);
    expect(&lexer, PTX_TOKEN_MARK, "@", 4);
    expect(&lexer, PTX_TOKEN_MARK, "!", 4);
    expect(&lexer, PTX_TOKEN_WORD, "%p", 4);
    expect(&lexer, PTX_TOKEN_NUMBER, "1.5e-3", 4);
    expect(&lexer, PTX_TOKEN_MARK, "]", 4);
    expect(&lexer, PTX_TOKEN_END, "", 4);
    expect(&lexer, PTX_TOKEN_END, "", 4);
}
END_TEST

START_TEST(special_registers_keep_their_dot) {
    struct ptx_lexer lexer = lexer_of("%tid.x,%ctaid.z;%r.xx %r1+4");
    expect(&lexer, PTX_TOKEN_WORD, "%tid.x", 1);
    expect(&lexer, PTX_TOKEN_MARK, ",", 1);
    expect(&lexer, PTX_TOKEN_WORD, "%ctaid.z", 1);
    expect(&lexer, PTX_TOKEN_MARK, ";", 1);
    expect(&lexer, PTX_TOKEN_WORD, "%r", 1);
    expect(&lexer, PTX_TOKEN_DIRECTIVE, ".xx", 1);
    expect(&lexer, PTX_TOKEN_WORD, "%r1", 1);
    expect(&lexer, PTX_TOKEN_MARK, "+", 1);
    expect(&lexer, PTX_TOKEN_NUMBER, "4", 1);
}
END_TEST

START_TEST(what_does_not_end_is_wrong) {
    struct ptx_lexer comment = lexer_of("a /* b"), string = lexer_of("\"a\n\""), odd = lexer_of("\x80\x01");
    ck_assert_int_eq(ptx_lexer_next(&comment).kind, PTX_TOKEN_WORD);
    ck_assert_int_eq(ptx_lexer_next(&comment).kind, PTX_TOKEN_WRONG);
    ck_assert_int_eq(ptx_lexer_next(&string).kind, PTX_TOKEN_WRONG);
    ck_assert_int_eq(ptx_lexer_next(&odd).kind, PTX_TOKEN_WRONG);
    ck_assert_int_eq(ptx_lexer_next(&odd).kind, PTX_TOKEN_WRONG);
    ck_assert_int_eq(ptx_lexer_next(&odd).kind, PTX_TOKEN_END);
}
END_TEST

START_TEST(opcodes_and_labels) {
    struct ptx_lexer lexer = lexer_of("L : st.shared::cta.v2.f32 [a]; M: ret;");
    struct ptx_token token = ptx_lexer_next(&lexer);
    ck_assert(ptx_lexer_takes_colon(&lexer));
    token = ptx_lexer_next(&lexer);
    ck_assert(!ptx_lexer_takes_colon(&lexer));
    ptx_lexer_extend_opcode(&lexer, &token);
    ck_assert(ptx_token_is(&token, "st.shared::cta.v2.f32"));
    expect(&lexer, PTX_TOKEN_MARK, "[", 1);
    struct ptx_lexer qualified = lexer_of("shared::cta");
    ptx_lexer_next(&qualified);
    ck_assert_msg(!ptx_lexer_takes_colon(&qualified), "'::' is no label");
}
END_TEST

static const struct {
    const char *text;
    int kind; /* -1: refused */
    uint64_t bits;
} literals[] = {
    {"0", PTX_NUMBER_INTEGER, 0},
    {"4294967295", PTX_NUMBER_INTEGER, UINT32_MAX},
    {"18446744073709551615", PTX_NUMBER_INTEGER, UINT64_MAX},
    {"18446744073709551616", -1, 0},
    {"7U", PTX_NUMBER_INTEGER, 7},
    {"0x1fU", PTX_NUMBER_INTEGER, 31},
    {"0XFFFFFFFFFFFFFFFF", PTX_NUMBER_INTEGER, UINT64_MAX},
    {"0x1e1", PTX_NUMBER_INTEGER, 0x1e1},
    {"0x", -1, 0},
    {"0x12345678123456789", -1, 0},
    {"017", PTX_NUMBER_INTEGER, 15},
    {"018", -1, 0},
    {"0b101", PTX_NUMBER_INTEGER, 5},
    {"0b102", -1, 0},
    {"12ab", -1, 0},
    {"0f3F800000", PTX_NUMBER_FLOAT32, 0x3f800000},
    {"0F3F800000", PTX_NUMBER_FLOAT32, 0x3f800000},
    {"0f3F80000", -1, 0},
    {"0d3FF0000000000000", PTX_NUMBER_FLOAT64, UINT64_C(0x3ff0000000000000)},
    {"0d3FF000000000000", -1, 0},
    {"1.0", PTX_NUMBER_FLOAT64, UINT64_C(0x3ff0000000000000)},
    {"1e3", PTX_NUMBER_FLOAT64, UINT64_C(0x408f400000000000)},
    {"1.2.3", -1, 0},
};

START_TEST(literals_have_their_value) {
    const struct ptx_token token = {
        .text = literals[_i].text, .length = (uint32_t)strlen(literals[_i].text), .kind = PTX_TOKEN_NUMBER};
    struct ptx_number number = {0};
    ck_assert_msg(ptx_number_read(&token, &number) == (literals[_i].kind >= 0), "%s", token.text);
    if (literals[_i].kind < 0)
        return;
    ck_assert_int_eq(number.kind, literals[_i].kind);
    ck_assert_msg(number.bits == literals[_i].bits, "%s: 0x%llx", token.text, (unsigned long long)number.bits);
}
END_TEST

Suite *ptx_lexer_suite(void) {
    Suite *suite = suite_create("ptx_lexer");
    TCase *tests = tcase_create("ptx_lexer");
    tcase_add_test(tests, tokens_have_kinds_and_lines);
    tcase_add_test(tests, special_registers_keep_their_dot);
    tcase_add_test(tests, what_does_not_end_is_wrong);
    tcase_add_test(tests, opcodes_and_labels);
    tcase_add_loop_test(tests, literals_have_their_value, 0, sizeof literals / sizeof *literals);
    suite_add_tcase(suite, tests);
    return suite;
}
