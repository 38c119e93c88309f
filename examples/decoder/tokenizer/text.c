/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/text.h"

#include "common.h"

#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

struct span span_of(const char *text) {
    return (struct span){text, strlen(text)};
}

int spans_equal(struct span a, struct span b) {
    return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.at, b.at, a.bytes) == 0);
}

void text_add(struct text *text, struct span more) {
    if (more.bytes == 0)
        return;
    if (text->room - text->bytes < more.bytes) {
        size_t room = text->room + text->bytes + more.bytes;
        text->at = realloc(text->at, room);
        if (!text->at)
            die("out of host memory: a text of %zu bytes", room);
        text->room = room;
    }
    memcpy(text->at + text->bytes, more.at, more.bytes);
    text->bytes += more.bytes;
}

/* ---- UTF-8 ---------------------------------------------------------------------------------------- */

/* Bytes of the character at the front, or of the longest beginning of one. The second byte tells overlong forms,
 * surrogates and what is beyond U+10FFFF. */
static size_t checked_bytes(struct span text, int *is_valid) {
    const unsigned char *at = (const unsigned char *)text.at;
    const unsigned char lead = at[0];
    *is_valid = lead < 0x80;
    if (lead < 0xC2 || lead > 0xF4)
        return 1;
    const size_t bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    for (size_t i = 1; i < bytes; i++, low = 0x80, high = 0xBF)
        if (i == text.bytes || at[i] < low || at[i] > high)
            return i;
    *is_valid = 1;
    return bytes;
}

void text_add_valid(struct text *text, struct span bytes) {
    size_t valid = 0; /* bytes at the front that wait to be added */
    while (valid < bytes.bytes) {
        int is_valid;
        const size_t next = checked_bytes((struct span){bytes.at + valid, bytes.bytes - valid}, &is_valid);
        if (is_valid) {
            valid += next;
            continue;
        }
        text_add(text, (struct span){bytes.at, valid});
        text_add(text, span_of(REPLACEMENT));
        bytes.at += valid + next;
        bytes.bytes -= valid + next;
        valid = 0;
    }
    text_add(text, bytes);
}

int is_utf8(struct span bytes) {
    int is_valid = 1;
    while (bytes.bytes && is_valid) {
        const size_t next = checked_bytes(bytes, &is_valid);
        bytes.at += next;
        bytes.bytes -= next;
    }
    return is_valid;
}

size_t char_bytes(struct span text) {
    const unsigned char lead = (unsigned char)text.at[0];
    return lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

uint32_t char_code(struct span character) {
    static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    const size_t bytes = char_bytes(character);
    uint32_t code = (unsigned char)character.at[0] & masks[bytes];
    for (size_t i = 1; i < bytes; i++)
        code = code << 6 | ((unsigned char)character.at[i] & 0x3F);
    return code;
}

size_t char_write(uint32_t code, char *at) {
    if (code < 0x80) {
        at[0] = (char)code;
        return 1;
    }
    const size_t bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = bytes - 1; i > 0; i--, code >>= 6)
        at[i] = (char)(0x80 | (code & 0x3F));
    at[0] = (char)(0xF00 >> bytes | code);
    return bytes;
}

void text_add_replaced(struct text *text, struct span from, struct span pattern, struct span content) {
    size_t kept = 0;
    while (from.bytes - kept >= pattern.bytes) {
        const char *found = memchr(from.at + kept, pattern.at[0], from.bytes - kept - pattern.bytes + 1);
        if (!found)
            break;
        kept = (size_t)(found - from.at);
        if (memcmp(found, pattern.at, pattern.bytes) != 0) {
            kept++;
            continue;
        }
        text_add(text, (struct span){from.at, kept});
        text_add(text, content);
        from.at += kept + pattern.bytes;
        from.bytes -= kept + pattern.bytes;
        kept = 0;
    }
    text_add(text, from);
}

/* ---- pieces, ids ---------------------------------------------------------------------------------- */

struct span piece_span(const struct pieces *pieces, size_t index) {
    return (struct span){pieces->text.at + pieces->list[index].from, pieces->list[index].bytes};
}

static void add_piece(struct pieces *pieces, struct piece piece) {
    pieces->list = grown(pieces->list, pieces->count, &pieces->room, sizeof *pieces->list);
    pieces->list[pieces->count++] = piece;
}

void pieces_end(struct pieces *pieces, size_t from, int is_first) {
    if (pieces->text.bytes > from)
        add_piece(pieces, (struct piece){from, pieces->text.bytes - from, NO_ID, is_first != 0});
}

void pieces_add(struct pieces *pieces, struct span text, int is_first) {
    const size_t from = pieces->text.bytes;
    text_add(&pieces->text, text);
    pieces_end(pieces, from, is_first);
}

void pieces_add_id(struct pieces *pieces, int32_t id) {
    add_piece(pieces, (struct piece){pieces->text.bytes, 0, id, 0});
}

void pieces_free(struct pieces *pieces) {
    free(pieces->text.at);
    free(pieces->list);
    *pieces = (struct pieces){0};
}

void ids_add(struct ids *ids, int32_t id) {
    ids->at = grown(ids->at, ids->count, &ids->room, sizeof *ids->at);
    ids->at[ids->count++] = id;
}
