/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/detokenize.h"

#include "common.h"
#include "tokenizer/fields.h"
#include "tokenizer/pretokenize.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 16, CODES_MAX = 0x144 };
enum kind { BYTE_LEVEL, REPLACE, BYTE_FALLBACK, FUSE, STRIP, METASPACE };

struct step {
    enum kind kind;
    struct text pattern, content; /* REPLACE; STRIP and METASPACE: pattern */
    int32_t start, stop;          /* STRIP: how many at each end */
    int strips_first;             /* METASPACE: those of the first token vanish */
};

struct detokenizer {
    struct step steps[STEPS_MAX];
    size_t count;
    short bytes[CODES_MAX]; /* what a code stands for in byte-level BPE; -1: nothing */
};

/* ---- reading -------------------------------------------------------------------------------------- */

static const char *const type_names[] = {
    [BYTE_LEVEL] = "ByteLevel", [REPLACE] = "Replace",     [BYTE_FALLBACK] = "ByteFallback", [FUSE] = "Fuse",
    [STRIP] = "Strip",          [METASPACE] = "Metaspace",
};

static enum kind kind_of(const char *path, const char *type) {
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (strcmp(type, type_names[i]) == 0)
            return (enum kind)i;
    die("%s: the decoder `%s` is not supported", path, type);
}

static int strips_first(const char *path, json_t *json) {
    const int has_prefix = flag_field(path, json, "add_prefix_space", 1);
    return has_prefix &&
           !(field(json, "prepend_scheme") && spans_equal(text_field(path, json, "prepend_scheme"), span_of("never")));
}

static void read_step(struct detokenizer *detokenizer, const char *path, json_t *json) {
    const char *type = type_field(path, json, "decoder");
    if (strcmp(type, "Sequence") == 0) {
        json_t *list = array_field(path, json, "decoders");
        for (size_t i = 0; i < json_array_size(list); i++)
            read_step(detokenizer, path, json_array_get(list, i));
        return;
    }
    if (detokenizer->count == STEPS_MAX)
        die("%s: more than %d decoders", path, STEPS_MAX);
    struct step *step = &detokenizer->steps[detokenizer->count++];
    step->kind = kind_of(path, type);
    if (step->kind == REPLACE) {
        text_add(&step->pattern, replaced_field(path, json));
        text_add(&step->content, text_field(path, json, "content"));
    } else if (step->kind == STRIP) {
        text_add(&step->pattern, full_field(path, json, "content"));
        step->start = whole_of(path, need_field(path, json, "start"), "start", INT32_MAX);
        step->stop = whole_of(path, need_field(path, json, "stop"), "stop", INT32_MAX);
    } else if (step->kind == METASPACE) {
        text_add(&step->pattern, full_field(path, json, "replacement"));
        step->strips_first = strips_first(path, json);
    }
}

struct detokenizer *detokenizer_open(const char *path, json_t *json) {
    struct detokenizer *detokenizer = grab(1, sizeof *detokenizer);
    if (!json)
        die("%s: `decoder` is missing: without one, texts of tokens would be joined by blanks", path);
    read_step(detokenizer, path, json);
    memset(detokenizer->bytes, 0xFF, sizeof detokenizer->bytes);
    for (int byte = 0; byte < 256; byte++)
        detokenizer->bytes[byte_level_code((unsigned char)byte)] = (short)byte;
    return detokenizer;
}

void detokenizer_close(struct detokenizer *detokenizer) {
    for (size_t i = 0; i < detokenizer->count; i++) {
        free(detokenizer->steps[i].pattern.at);
        free(detokenizer->steps[i].content.at);
    }
    free(detokenizer);
}

/* ---- steps ---------------------------------------------------------------------------------------- */

/* The bytes that a token stands for. One with a character that stands for none is taken as it is. */
static void add_bytes(const struct detokenizer *detokenizer, struct span token, struct text *out) {
    const size_t before = out->bytes;
    for (size_t at = 0; at < token.bytes;) {
        const struct span rest = {token.at + at, token.bytes - at};
        const uint32_t code = char_code(rest);
        if (code >= CODES_MAX || detokenizer->bytes[code] < 0) {
            out->bytes = before;
            text_add(out, token);
            return;
        }
        const char byte = (char)detokenizer->bytes[code];
        text_add(out, (struct span){&byte, 1});
        at += char_bytes(rest);
    }
}

static void join_bytes(const struct detokenizer *detokenizer, const struct pieces *in, struct pieces *out) {
    struct text bytes = {0};
    for (size_t i = 0; i < in->count; i++)
        add_bytes(detokenizer, piece_span(in, i), &bytes);
    text_add_valid(&out->text, (struct span){bytes.at, bytes.bytes});
    pieces_end(out, 0, 0);
    free(bytes.at);
}

/* The byte of <0x0A>, or -1. */
static int named_byte(struct span token) {
    if (token.bytes != 6 || memcmp(token.at, "<0x", 3) != 0 || token.at[5] != '>')
        return -1;
    int byte = 0;
    for (size_t i = 3; i < 5; i++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = token.at[i] ? strchr(digits, token.at[i]) : NULL;
        if (!digit)
            return -1;
        byte = 16 * byte + (int)((digit - digits) % 16);
    }
    return byte;
}

static void end_bytes(struct text *bytes, struct pieces *out) {
    const struct span all = {bytes->at, bytes->bytes};
    if (is_utf8(all))
        pieces_add(out, all, 0);
    else
        for (size_t i = 0; i < all.bytes; i++)
            pieces_add(out, span_of("\xEF\xBF\xBD"), 0);
    bytes->bytes = 0;
}

/* Byte tokens beside each other are one text; where that is no UTF-8, each is U+FFFD. */
static void fall_back(const struct pieces *in, struct pieces *out) {
    struct text bytes = {0};
    for (size_t i = 0; i < in->count; i++) {
        const int named = named_byte(piece_span(in, i));
        if (named < 0) {
            end_bytes(&bytes, out);
            pieces_add(out, piece_span(in, i), 0);
        } else {
            const char byte = (char)named;
            text_add(&bytes, (struct span){&byte, 1});
        }
    }
    end_bytes(&bytes, out);
    free(bytes.at);
}

static struct span stripped(const struct step *step, struct span token) {
    const struct span edge = {step->pattern.at, step->pattern.bytes};
    for (int32_t i = 0; i < step->start; i++) {
        if (token.bytes < edge.bytes || memcmp(token.at, edge.at, edge.bytes) != 0)
            break;
        token.at += edge.bytes;
        token.bytes -= edge.bytes;
    }
    for (int32_t i = 0; i < step->stop; i++) {
        if (token.bytes < edge.bytes || memcmp(token.at + token.bytes - edge.bytes, edge.at, edge.bytes) != 0)
            break;
        token.bytes -= edge.bytes;
    }
    return token;
}

static void rewrite(const struct step *step, struct span token, int is_first, struct text *out) {
    const struct span pattern = {step->pattern.at, step->pattern.bytes};
    const struct span blank = {" ", !(is_first && step->strips_first)};
    if (step->kind == STRIP)
        text_add(out, stripped(step, token));
    else if (step->kind == METASPACE)
        text_add_replaced(out, token, pattern, blank);
    else if (step->kind == REPLACE)
        text_add_replaced(out, token, pattern, (struct span){step->content.at, step->content.bytes});
    else
        text_add(out, token);
}

void detokenize(const struct detokenizer *detokenizer, struct pieces *pieces) {
    for (size_t s = 0; s < detokenizer->count; s++) {
        const struct step *step = &detokenizer->steps[s];
        struct pieces next = {0};
        if (step->kind == BYTE_LEVEL) {
            join_bytes(detokenizer, pieces, &next);
        } else if (step->kind == BYTE_FALLBACK) {
            fall_back(pieces, &next);
        } else {
            for (size_t i = 0, from = 0; i < pieces->count; i++) {
                rewrite(step, piece_span(pieces, i), i == 0, &next.text);
                if (step->kind != FUSE || i + 1 == pieces->count) {
                    pieces_end(&next, from, 0);
                    from = next.text.bytes;
                }
            }
        }
        pieces_free(pieces);
        *pieces = next;
    }
}
