/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 text. */
#include "program/base/utf8.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t utf8_length(const char *text) {
    static const uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000}; /* no longer than needed; U+0080 .. 9f are controls */
    const unsigned char *c = (const unsigned char *)text;
    if (*c < 0x80)
        return *c >= 0x20 && *c != 0x7f;
    const size_t length = *c >= 0xf0 ? 4 : *c >= 0xe0 ? 3 : *c >= 0xc0 ? 2 : 0;
    uint32_t code = *c & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (c[i] & 0x3f);
    }
    const int surrogate = code >= 0xd800 && code < 0xe000;
    return length == 0 || code < least[length] || code > 0x10fffd || (code & 0xfffe) == 0xfffe || surrogate ? 0
                                                                                                            : length;
}

static size_t step(const char *text) {
    size_t length = utf8_length(text);
    return length ? length : 1;
}

const char *utf8_wrap(const char *text, size_t letters, char *line, size_t bytes) {
    while (*text == ' ')
        text++;
    if (!*text || letters == 0 || bytes < 5)
        return NULL;
    size_t used = 0, count = 0, blank = 0;
    while (text[used] && count < letters && used + step(text + used) < bytes) {
        if (text[used] == ' ')
            blank = used;
        used += step(text + used);
        count++;
    }
    if (text[used] && text[used] != ' ' && blank)
        used = blank;
    memcpy(line, text, used);
    line[used] = 0;
    for (size_t end = used; end && line[end - 1] == ' '; end--)
        line[end - 1] = 0;
    return text + used;
}

/* ---- on a terminal ---------------------------------------------------------------------------------- */

bool utf8_on_terminal(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (locale && *locale)
            return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
    }
    return true;
}

/* What stands for the letter at `text` in ASCII; NULL: it stays. */
static const char *plain_of(const char *text) {
    static const char *const marks[][2] = {{"─", "-"}, {"–", "-"}, {"×", "x"}, {"→", "->"}, {"≤", "<="},
                                           {"▶", ">"}, {"·", "."}, {"✗", "x"}, {"…", "..."}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strncmp(text, marks[i][0], strlen(marks[i][0])) == 0)
            return marks[i][1];
    return NULL;
}

size_t utf8_put(FILE *out, const char *text) {
    const bool utf8 = utf8_on_terminal();
    size_t columns = 0;
    while (*text) {
        const char *plain = utf8 ? NULL : plain_of(text);
        size_t bytes = 1;
        while (((unsigned char)text[bytes] & 0xc0) == 0x80) /* those that continue a character */
            bytes++;
        if (out)
            fwrite(plain ? plain : text, 1, plain ? strlen(plain) : bytes, out);
        columns += plain ? strlen(plain) : 1;
        text += bytes;
    }
    return columns;
}

void utf8_print(FILE *out, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    utf8_put(out, text);
}
