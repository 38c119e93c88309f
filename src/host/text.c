/* SPDX-License-Identifier: Apache-2.0 */
/* Formats sentences. Locale and terminal belong to the host program; what a sentence says does not depend on them. */
#include "host/text.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the locale -------------------------------------------------------------------------------------- */

/* No memory of its own in glibc and musl. Where there is none, 0, uselocale() changes nothing. */
static locale_t plain_locale(void) {
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static void leave_locale(locale_t plain, locale_t before) {
    uselocale(before);
    if (plain)
        freelocale(plain);
}

float gm_text_to_real(const char *text, char **end) {
    const locale_t plain = plain_locale(), before = uselocale(plain);
    const float real = strtof(text, end);
    leave_locale(plain, before);
    return real;
}

const char *gm_error_text(int error) {
    const locale_t plain = plain_locale(), before = uselocale(plain);
    const char *text = strerror_l(error, plain ? plain : before);
    leave_locale(plain, before);
    return text;
}

/* ---- the terminal ------------------------------------------------------------------------------------ */

/* Bytes of the UTF-8 sequence that this byte begins; 0: none. */
static size_t sequence_bytes(unsigned char first) {
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* The bytes of the UTF-8 sequence at `text`, and its code point; of a byte that begins none 1, and 0. */
static size_t sequence(const unsigned char *text, uint32_t *code) {
    const size_t bytes = sequence_bytes(text[0]);
    *code = bytes > 1 ? text[0] & (0x7fu >> bytes) : bytes ? text[0] : 0;
    for (size_t i = 1; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            *code = 0;
            return 1;
        }
        *code = *code << 6 | (text[i] & 0x3f);
    }
    return bytes ? bytes : 1;
}

/* Controls, byte order marks, and what is invisible or turns the direction of what follows. A byte that is no UTF-8 has
 * the code point 0. */
static int is_hidden(uint32_t code) {
    static const struct {
        uint32_t first, last;
    } hidden[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x200b, 0x200f}, {0x2028, 0x202e},
                  {0x2060, 0x206f}, {0xd800, 0xdfff}, {0xfeff, 0xfeff}};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return 1;
    return 0;
}

int gm_is_shown(const char *text) {
    uint32_t code = 'a';
    while (*text && !is_hidden(code))
        text += sequence((const unsigned char *)text, &code);
    return !is_hidden(code);
}

/* Copies `from`, of at most GM_TEXT_MAX bytes, and cuts between characters. */
static size_t copy_shown(char *to, size_t bytes, const char *from) {
    size_t length = 0;
    while (*from) {
        uint32_t code;
        const size_t taken = sequence((const unsigned char *)from, &code);
        const int hidden = is_hidden(code);
        const size_t made = hidden ? 4 * taken : taken;
        if (length + made >= bytes)
            break;
        for (size_t i = 0; i < taken && hidden; i++)
            snprintf(to + length + 4 * i, 5, "\\x%02x", (unsigned char)from[i]);
        if (!hidden)
            memcpy(to + length, from, taken);
        from += taken;
        length += made;
    }
    to[length] = 0;
    return length;
}

/* ---- both -------------------------------------------------------------------------------------------- */

size_t gm_format(char *text, size_t bytes, const char *format, va_list arguments) {
    char raw[GM_TEXT_MAX];
    const locale_t plain = plain_locale(), before = uselocale(plain);
    vsnprintf(text, bytes, format, arguments);
    leave_locale(plain, before);
    if (gm_is_shown(text))
        return strlen(text);
    memcpy(raw, text, strlen(text) + 1);
    return copy_shown(text, bytes, raw);
}

size_t gm_print(char *text, size_t bytes, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const size_t length = gm_format(text, bytes, format, arguments);
    va_end(arguments);
    return length;
}
