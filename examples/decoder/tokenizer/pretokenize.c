/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/pretokenize.h"

#include "common.h"
#include "tokenizer/fields.h"
#include "tokenizer/split.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 16 };
enum kind { SPLIT, PREFIX_SPACE, METASPACE, BYTE_LEVEL };
enum scheme { NEVER, FIRST, ALWAYS }; /* which texts get a METASPACE in front */

struct step {
    enum kind kind;
    struct split *split;
    struct text space; /* METASPACE: what a blank becomes */
    enum scheme scheme;
};

struct pretokenizer {
    struct step steps[STEPS_MAX];
    size_t count;
};

/* Words of GPT-2. */
#define GPT2_PATTERN "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

/* ---- reading -------------------------------------------------------------------------------------- */

static struct step *new_step(struct pretokenizer *pretokenizer, const char *path, enum kind kind) {
    if (pretokenizer->count == STEPS_MAX)
        die("%s: more than %d pre-tokenizers", path, STEPS_MAX);
    struct step *step = &pretokenizer->steps[pretokenizer->count++];
    step->kind = kind;
    return step;
}

static void add_split(struct pretokenizer *pretokenizer, const char *path, struct span pattern, int is_literal,
                      enum behavior behavior, int is_inverted) {
    struct step *step = new_step(pretokenizer, path, SPLIT);
    step->split = split_open(path, pattern, is_literal, behavior, is_inverted);
}

static enum behavior read_behavior(const char *path, json_t *json) {
    static const char *const names[BEHAVIORS] = {[ISOLATED] = "Isolated",
                                                 [REMOVED] = "Removed",
                                                 [MERGED_WITH_PREVIOUS] = "MergedWithPrevious",
                                                 [MERGED_WITH_NEXT] = "MergedWithNext",
                                                 [CONTIGUOUS] = "Contiguous"};
    const struct span name = text_field(path, json, "behavior");
    for (int i = 0; i < BEHAVIORS; i++)
        if (spans_equal(name, span_of(names[i])))
            return (enum behavior)i;
    die("%s: the behavior `%.*s` is not supported", path, (int)name.bytes, name.at);
}

static void read_split(struct pretokenizer *pretokenizer, const char *path, json_t *json) {
    json_t *pattern = need_field(path, json, "pattern");
    const int is_literal = field(pattern, "String") != NULL;
    add_split(pretokenizer, path, full_field(path, pattern, is_literal ? "String" : "Regex"), is_literal,
              read_behavior(path, json), flag_field(path, json, "invert", 0));
}

static void read_byte_level(struct pretokenizer *pretokenizer, const char *path, json_t *json) {
    if (flag_field(path, json, "add_prefix_space", 1))
        new_step(pretokenizer, path, PREFIX_SPACE);
    if (flag_field(path, json, "use_regex", 1))
        add_split(pretokenizer, path, span_of(GPT2_PATTERN), 0, ISOLATED, 0);
    new_step(pretokenizer, path, BYTE_LEVEL);
}

static enum scheme read_scheme(const char *path, json_t *json) {
    static const char *const names[] = {[NEVER] = "never", [FIRST] = "first", [ALWAYS] = "always"};
    if (!flag_field(path, json, "add_prefix_space", 1)) /* older files */
        return NEVER;
    if (!field(json, "prepend_scheme"))
        return ALWAYS;
    const struct span name = text_field(path, json, "prepend_scheme");
    for (int i = NEVER; i <= ALWAYS; i++)
        if (spans_equal(name, span_of(names[i])))
            return (enum scheme)i;
    die("%s: the prepend_scheme `%.*s` is not supported", path, (int)name.bytes, name.at);
}

static void read_metaspace(struct pretokenizer *pretokenizer, const char *path, json_t *json) {
    const struct span space = full_field(path, json, "replacement");
    struct step *step = new_step(pretokenizer, path, METASPACE);
    text_add(&step->space, space);
    step->scheme = read_scheme(path, json);
    if (flag_field(path, json, "split", 1))
        add_split(pretokenizer, path, space, 1, MERGED_WITH_NEXT, 0);
}

static void read_step(struct pretokenizer *pretokenizer, const char *path, json_t *json) {
    const char *type = type_field(path, json, "pre-tokenizer");
    if (strcmp(type, "Sequence") == 0) {
        json_t *list = array_field(path, json, "pretokenizers");
        for (size_t i = 0; i < json_array_size(list); i++)
            read_step(pretokenizer, path, json_array_get(list, i));
    } else if (strcmp(type, "Split") == 0) {
        read_split(pretokenizer, path, json);
    } else if (strcmp(type, "ByteLevel") == 0) {
        read_byte_level(pretokenizer, path, json);
    } else if (strcmp(type, "Metaspace") == 0) {
        read_metaspace(pretokenizer, path, json);
    } else if (strcmp(type, "Digits") == 0) {
        add_split(pretokenizer, path, span_of("\\p{N}"), 0,
                  flag_field(path, json, "individual_digits", 0) ? ISOLATED : CONTIGUOUS, 0);
    } else if (strcmp(type, "Punctuation") == 0) { /* in `tokenizers` that of Unicode 8, in PCRE2 more */
        add_split(pretokenizer, path, span_of("[\\p{P}$+<=>^`|~]"), 0,
                  field(json, "behavior") ? read_behavior(path, json) : ISOLATED, 0);
    } else {
        die("%s: the pre-tokenizer `%s` is not supported", path, type);
    }
}

struct pretokenizer *pretokenizer_open(const char *path, json_t *json) {
    struct pretokenizer *pretokenizer = grab(1, sizeof *pretokenizer);
    if (json)
        read_step(pretokenizer, path, json);
    return pretokenizer;
}

void pretokenizer_close(struct pretokenizer *pretokenizer) {
    for (size_t i = 0; i < pretokenizer->count; i++) {
        if (pretokenizer->steps[i].split)
            split_close(pretokenizer->steps[i].split);
        free(pretokenizer->steps[i].space.at);
    }
    free(pretokenizer);
}

/* ---- steps ---------------------------------------------------------------------------------------- */

/* Itself for what Latin-1 shows; the others are U+0100, U+0101 and so on in their order. */
uint32_t byte_level_code(unsigned char byte) {
    if (byte <= 0x20)
        return 0x100u + byte;
    if (byte >= 0x7F && byte <= 0xA0)
        return 0x121u + (byte - 0x7Fu);
    return byte == 0xAD ? 0x143u : byte;
}

static void add_byte_level(struct text *out, struct span text) {
    for (size_t i = 0; i < text.bytes; i++) {
        char character[4];
        const size_t bytes = char_write(byte_level_code((unsigned char)text.at[i]), character);
        text_add(out, (struct span){character, bytes});
    }
}

static int begins_with(struct span text, struct span beginning) {
    return text.bytes >= beginning.bytes && memcmp(text.at, beginning.at, beginning.bytes) == 0;
}

static void add_metaspace(const struct step *step, struct span text, int is_first, struct text *out) {
    const struct span space = {step->space.at, step->space.bytes}, blank = span_of(" ");
    const int is_wanted = step->scheme == ALWAYS || (step->scheme == FIRST && is_first);
    if (is_wanted && !begins_with(text, space) && !begins_with(text, blank))
        text_add(out, space);
    text_add_replaced(out, text, blank, space);
}

/* A text -> one other text. */
static void rewrite(const struct step *step, struct span text, int is_first, struct text *out) {
    if (step->kind == BYTE_LEVEL) {
        add_byte_level(out, text);
    } else if (step->kind == METASPACE) {
        add_metaspace(step, text, is_first, out);
    } else {
        if (!begins_with(text, span_of(" ")))
            text_add(out, span_of(" "));
        text_add(out, text);
    }
}

static void rewrite_all(const struct step *step, const struct pieces *in, struct pieces *out) {
    for (size_t i = 0; i < in->count; i++) {
        const struct piece piece = in->list[i];
        const size_t from = out->text.bytes;
        if (piece.id != NO_ID) {
            pieces_add_id(out, piece.id);
            continue;
        }
        rewrite(step, piece_span(in, i), piece.first, &out->text);
        pieces_end(out, from, piece.first);
    }
}

void pretokenize(const struct pretokenizer *pretokenizer, struct pieces *pieces) {
    for (size_t i = 0; i < pretokenizer->count; i++) {
        const struct step *step = &pretokenizer->steps[i];
        struct pieces next = {0};
        if (step->kind == SPLIT)
            split_all(step->split, pieces, &next);
        else
            rewrite_all(step, pieces, &next);
        pieces_free(pieces);
        *pieces = next;
    }
}
