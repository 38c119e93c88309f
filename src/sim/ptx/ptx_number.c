/* SPDX-License-Identifier: Apache-2.0 */
/* Literals. */
#include "sim/ptx/ptx_lexer.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static int digit_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

/* All `length` characters are digits of the base, and the value fits 64 bits. */
static bool read_digits(const char *text, size_t length, unsigned base, uint64_t *value) {
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        const unsigned digit = (unsigned)digit_value(text[i]);
        if (digit >= base || *value > (UINT64_MAX - digit) / base)
            return false;
        *value = *value * base + digit;
    }
    return length > 0;
}

/* "1.5e-3": with '.' as the decimal point, whatever the program's locale says. */
static bool read_fraction(const char *text, size_t length, struct ptx_number *number) {
    char copy[64], *end;
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return false;
    const double value = strtod_l(copy, &end, plain);
    freelocale(plain);
    number->kind = PTX_NUMBER_FLOAT64;
    memcpy(&number->bits, &value, sizeof value);
    return *end == '\0';
}

bool ptx_number_read(const struct ptx_token *token, struct ptx_number *number) {
    const char *text = token->text;
    size_t length = token->length;
    const char prefix = length > 2 && text[0] == '0' ? (char)(text[1] | 0x20) : '\0';
    number->kind = PTX_NUMBER_INTEGER;
    if (prefix == 'f' || prefix == 'd') {
        number->kind = prefix == 'f' ? PTX_NUMBER_FLOAT32 : PTX_NUMBER_FLOAT64;
        return length == (prefix == 'f' ? 10 : 18) && read_digits(text + 2, length - 2, 16, &number->bits);
    }
    if (prefix != 'x' && (memchr(text, '.', length) || memchr(text, 'e', length) || memchr(text, 'E', length)))
        return read_fraction(text, length, number);
    if (length > 1 && text[length - 1] == 'U')
        length--;
    if (prefix == 'x' || prefix == 'b')
        return read_digits(text + 2, length - 2, prefix == 'x' ? 16 : 2, &number->bits);
    return read_digits(text, length, length > 1 && text[0] == '0' ? 8 : 10, &number->bits);
}
