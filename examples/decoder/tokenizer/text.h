/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that grow, lists of pieces of them, and UTF-8: what the parts of the tokenizer hand to each other. */
#ifndef DECODER_TEXT_H
#define DECODER_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Text that belongs to someone else. */
struct span {
    const char *at;
    size_t bytes;
};
struct span span_of(const char *text); /* up to its 0 */
int spans_equal(struct span a, struct span b);

/* Text that grows. All zeros: none yet. free(text.at) ends it. */
struct text {
    char *at;
    size_t bytes, room;
};
void text_add(struct text *text, struct span more);
/* Adds bytes that may be no UTF-8: each longest beginning of a character that never ends becomes one U+FFFD. */
void text_add_valid(struct text *text, struct span bytes);
/* Adds `from` with every `pattern` replaced, from the left. */
void text_add_replaced(struct text *text, struct span from, struct span pattern, struct span content);

/* Bytes of the character at the front of a text that is UTF-8. */
size_t char_bytes(struct span text);
int is_utf8(struct span bytes);
uint32_t char_code(struct span character);
/* Writes up to 4 bytes and returns their number. */
size_t char_write(uint32_t code, char *at);

enum { NO_ID = -1 };

/* A part of a text, or the id that has taken its place. */
struct piece {
    size_t from, bytes;
    int32_t id;          /* NO_ID: this is text */
    unsigned char first; /* it begins where the user's text does */
};

/* All zeros: none yet. */
struct pieces {
    struct text text;
    struct piece *list;
    size_t count, room;
};
struct span piece_span(const struct pieces *pieces, size_t index);
/* Adds a piece of text. An empty one is left out. */
void pieces_add(struct pieces *pieces, struct span text, int is_first);
void pieces_add_id(struct pieces *pieces, int32_t id);
/* The same for a piece whose text is behind pieces->text already, from `from` on. */
void pieces_end(struct pieces *pieces, size_t from, int is_first);
void pieces_free(struct pieces *pieces);

/* Token ids that grow in number. All zeros: none yet. */
struct ids {
    int32_t *at;
    size_t count, room;
};
void ids_add(struct ids *ids, int32_t id);

#endif
