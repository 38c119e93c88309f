/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 text that comes from outside. */
#include "letters.h"

#include <stdint.h>
#include <string.h>

size_t letters_length(const char *text) {
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
    size_t length = letters_length(text);
    return length ? length : 1;
}

const char *letters_wrap(const char *text, size_t letters, char *line, size_t bytes) {
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
