/* SPDX-License-Identifier: Apache-2.0 */
/* Integer expressions in `lane`: parsed and evaluated in one pass, by precedence climbing. */
#include "program/smem/expression.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "program/base/messages.h"

/* Where the reading stands. After the first error everything returns at once. */
struct reader {
    const char *text;
    size_t at;
    int depth;
    int64_t lane;
    bool failed;
    struct expression_error *error;
};

__attribute__((format(printf, 3, 4))) static int64_t fail(struct reader *reader, size_t column, const char *format,
                                                          ...) {
    if (reader->failed)
        return 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->error->sentence, sizeof reader->error->sentence, format, arguments);
    va_end(arguments);
    reader->error->column = column;
    reader->failed = true;
    return 0;
}

/* ---- operators ---------------------------------------------------------------------------------- */

enum operation { OR, XOR, AND, SHIFT_LEFT, SHIFT_RIGHT, ADD, SUBTRACT, MULTIPLY, DIVIDE, REMAINDER };

static const struct operator{
    const char *sign;
    enum operation operation;
    int tightness;
}
operators[] = {{"|", OR, 1},  {"^", XOR, 2},      {"&", AND, 3},      {"<<", SHIFT_LEFT, 4}, {">>", SHIFT_RIGHT, 4},
               {"+", ADD, 5}, {"-", SUBTRACT, 5}, {"*", MULTIPLY, 6}, {"/", DIVIDE, 6},      {"%", REMAINDER, 6}};
#define OPERATORS (sizeof operators / sizeof *operators)

static void skip_spaces(struct reader *reader) {
    while (isspace((unsigned char)reader->text[reader->at]))
        reader->at++;
}

static const struct operator* next_operator(struct reader *reader) {
    skip_spaces(reader);
    for (size_t i = 0; i < OPERATORS; i++)
        if (strncmp(reader->text + reader->at, operators[i].sign, strlen(operators[i].sign)) == 0)
            return &operators[i];
    return NULL;
}

static int64_t shift(struct reader *reader, size_t column, enum operation operation, int64_t left, int64_t right) {
    if (right < 0 || right > 63)
        return fail(reader, column, "a shift by %lld places; 0 to 63 are possible", (long long)right);
    if (operation == SHIFT_RIGHT) /* rounds down, for negative numbers too */
        return left < 0 ? ~(~left >> right) : left >> right;
    int64_t result;
    if (right == 63 ? left != 0 : __builtin_mul_overflow(left, (int64_t)1 << right, &result))
        return fail(reader, column, "%lld << %lld does not fit 64 bits", (long long)left, (long long)right);
    return right == 63 ? 0 : result;
}

static int64_t divide(struct reader *reader, size_t column, enum operation operation, int64_t left, int64_t right) {
    if (right == 0)
        return fail(reader, column, "a division by 0 (lane %lld)", (long long)reader->lane);
    if (right == -1 && left == INT64_MIN)
        return fail(reader, column, "the quotient does not fit 64 bits");
    return operation == DIVIDE ? left / right : left % right;
}

static int64_t apply(struct reader *reader, size_t column, enum operation operation, int64_t left, int64_t right) {
    int64_t result = 0;
    bool overflow = false;
    if (reader->failed)
        return 0;
    switch (operation) {
    case OR:
        return left | right;
    case XOR:
        return left ^ right;
    case AND:
        return left & right;
    case SHIFT_LEFT:
    case SHIFT_RIGHT:
        return shift(reader, column, operation, left, right);
    case DIVIDE:
    case REMAINDER:
        return divide(reader, column, operation, left, right);
    case ADD:
        overflow = __builtin_add_overflow(left, right, &result);
        break;
    case SUBTRACT:
        overflow = __builtin_sub_overflow(left, right, &result);
        break;
    case MULTIPLY:
        overflow = __builtin_mul_overflow(left, right, &result);
        break;
    }
    return overflow ? fail(reader, column, "the result does not fit 64 bits (lane %lld)", (long long)reader->lane)
                    : result;
}

/* ---- operands ----------------------------------------------------------------------------------- */

static int64_t read_binary(struct reader *reader, int tightness);
static int64_t read_operand(struct reader *reader);

static int digit_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    const int letter = tolower((unsigned char)c);
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 99;
}

static bool in_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static int64_t read_number(struct reader *reader) {
    const char *text = reader->text;
    const size_t first = reader->at;
    const bool hexadecimal = text[first] == '0' && (text[first + 1] == 'x' || text[first + 1] == 'X');
    const int base = hexadecimal ? 16 : 10;
    int64_t value = 0;
    reader->at += hexadecimal ? 2 : 0;
    const size_t digits = reader->at;
    for (; digit_value(text[reader->at]) < base; reader->at++)
        if (__builtin_mul_overflow(value, (int64_t)base, &value) ||
            __builtin_add_overflow(value, (int64_t)digit_value(text[reader->at]), &value))
            return fail(reader, first, "a number does not fit 64 bits");
    if (reader->at == digits || in_word(text[reader->at]))
        return fail(reader, first, "this is no number; there are decimal ones and 0x with hexadecimal digits");
    return value;
}

static int64_t read_name(struct reader *reader) {
    const size_t first = reader->at;
    while (in_word(reader->text[reader->at]))
        reader->at++;
    const int length = (int)(reader->at - first);
    if (length == 4 && strncmp(reader->text + first, "lane", 4) == 0)
        return reader->lane;
    return fail(reader, first, "`%.*s` is unknown; the one name is `lane`, 0 to 31", length > 40 ? 40 : length,
                reader->text + first);
}

static int64_t read_parentheses(struct reader *reader) {
    const size_t open = reader->at++;
    const int64_t value = read_binary(reader, 1);
    skip_spaces(reader);
    if (reader->text[reader->at] != ')')
        return fail(reader, open, "this parenthesis is never closed");
    reader->at++;
    return value;
}

static int64_t read_signed(struct reader *reader) {
    const size_t column = reader->at++;
    const int64_t value = read_operand(reader);
    switch (reader->text[column]) {
    case '-':
        return apply(reader, column, SUBTRACT, 0, value);
    case '~':
        return ~value;
    default:
        return value;
    }
}

static int64_t refuse_operand(struct reader *reader) {
    const unsigned char c = (unsigned char)reader->text[reader->at];
    if (!c)
        return fail(reader, reader->at, "an operand is missing at the end");
    if (c < ' ' || c > '~')
        return fail(reader, reader->at, "a byte 0x%02x has no meaning here", c);
    return fail(reader, reader->at, "`%c` stands where a number, lane or ( must be", c);
}

static int64_t read_operand(struct reader *reader) {
    int64_t value = 0;
    skip_spaces(reader);
    const char c = reader->text[reader->at];
    if (++reader->depth > EXPRESSION_DEPTH_MAX)
        fail(reader, reader->at, "more than %d parentheses and signs within each other", EXPRESSION_DEPTH_MAX);
    if (!reader->failed) {
        if (isdigit((unsigned char)c))
            value = read_number(reader);
        else if (in_word(c))
            value = read_name(reader);
        else if (c == '(')
            value = read_parentheses(reader);
        else if (c == '-' || c == '+' || c == '~')
            value = read_signed(reader);
        else
            value = refuse_operand(reader);
    }
    reader->depth--;
    return value;
}

/* Operands joined by operators that bind at least so tightly; those of equal tightness from left to right. */
static int64_t read_binary(struct reader *reader, int tightness) {
    int64_t left = read_operand(reader);
    for (;;) {
        const struct operator* operator= next_operator(reader);
        if (reader->failed || !operator|| operator->tightness<tightness)
            return left;
        const size_t column = reader->at;
        reader->at += strlen(operator->sign);
        const int64_t right = read_binary(reader, operator->tightness + 1);
        left = apply(reader, column, operator->operation, left, right);
    }
}

int expression_value(const char *text, int64_t lane, int64_t *value, struct expression_error *error) {
    struct reader reader = {.text = text, .lane = lane, .error = error};
    if (strnlen(text, EXPRESSION_BYTES_MAX + 1) > EXPRESSION_BYTES_MAX) {
        fail(&reader, EXPRESSION_BYTES_MAX, "the expression is longer than %d characters", EXPRESSION_BYTES_MAX);
        return -1;
    }
    const int64_t result = read_binary(&reader, 1);
    skip_spaces(&reader);
    const unsigned char rest = (unsigned char)text[reader.at];
    if (rest == ')')
        fail(&reader, reader.at, "this parenthesis was never opened");
    else if (rest)
        fail(&reader, reader.at, "an operator is missing before this; there are + - * / %% & | ^ << >>");
    if (reader.failed)
        return -1;
    *value = result;
    return 0;
}

/* ---- the complaint ------------------------------------------------------------------------------ */

#define WINDOW 60 /* characters shown before and after the column */

int expression_complain(const char *what, const char *text, const struct expression_error *error) {
    char shown[2 * WINDOW + 1];
    const size_t column = error->column, first = column > WINDOW ? column - WINDOW : 0;
    size_t length = strnlen(text + first, 2 * WINDOW);
    for (size_t i = 0; i < length; i++) /* one cell each, whatever it is */
        shown[i] = text[first + i] >= ' ' && text[first + i] <= '~' ? text[first + i] : '?';
    shown[length] = 0;
    return complain("%s, column %zu: %s\n    %s\n    %*s^", what, column + 1, error->sentence, shown,
                    (int)(column - first), "");
}
