/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/added_tokens.h"

#include "common.h"
#include "tokenizer/fields.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN(span) (int)((span).bytes < 100 ? (span).bytes : 100), (span).at

struct token {
    struct text text, pattern; /* pattern: the text, normalized where it is looked for in the normalized one */
    int32_t id;
    int takes_left, takes_right; /* white space at its sides becomes part of it */
    int is_normalized, is_special;
};

/* Tokens by the bytes of their patterns. */
struct matcher {
    const struct token **tokens;
    size_t count;
};

struct added_tokens {
    struct token *tokens; /* by id */
    size_t count;
    struct matcher matchers[2]; /* of the user's text, of the normalized one */
};

/* ---- reading -------------------------------------------------------------------------------------- */

static void read_token(struct token *token, const char *path, json_t *json, const struct bpe *bpe,
                       const struct normalizer *normalizer) {
    const struct span content = full_field(path, json, "content");
    text_add(&token->text, content);
    token->id = whole_of(path, need_field(path, json, "id"), "id", TOKEN_ID_MAX);
    token->is_special = flag_field(path, json, "special", 0);
    token->is_normalized = flag_field(path, json, "normalized", !token->is_special);
    token->takes_left = flag_field(path, json, "lstrip", 0);
    token->takes_right = flag_field(path, json, "rstrip", 0);
    if (flag_field(path, json, "single_word", 0))
        die("%s: `single_word` of the added token `%.*s` is not supported", path, SHOWN(content));
    const int32_t id = bpe_id(bpe, content);
    if (id != NO_ID ? id != token->id : bpe_text(bpe, token->id).at != NULL)
        die("%s: the added token `%.*s` has the id %d, which the vocabulary says otherwise", path, SHOWN(content),
            (int)token->id);
    if (token->is_normalized)
        normalize(normalizer, content, &token->pattern);
    else
        text_add(&token->pattern, content);
    if (token->pattern.bytes == 0)
        die("%s: nothing is left of the added token `%.*s` once it is normalized", path, SHOWN(content));
}

static int compare_ids(const void *a, const void *b) {
    const struct token *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

static int compare_patterns(const void *a, const void *b) {
    const struct text *left = &(*(const struct token *const *)a)->pattern;
    const struct text *right = &(*(const struct token *const *)b)->pattern;
    const int order = memcmp(left->at, right->at, left->bytes < right->bytes ? left->bytes : right->bytes);
    return order ? order : (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

static void sort_patterns(struct added_tokens *added, const char *path, int is_normalized) {
    struct matcher *matcher = &added->matchers[is_normalized];
    matcher->tokens = grab(added->count, sizeof *matcher->tokens);
    for (size_t i = 0; i < added->count; i++)
        if (added->tokens[i].is_normalized == is_normalized)
            matcher->tokens[matcher->count++] = &added->tokens[i];
    qsort(matcher->tokens, matcher->count, sizeof *matcher->tokens, compare_patterns);
    for (size_t i = 1; i < matcher->count; i++)
        if (compare_patterns(&matcher->tokens[i - 1], &matcher->tokens[i]) == 0)
            die("%s: two added tokens have the text `%.*s`", path, SHOWN(matcher->tokens[i]->text));
}

struct added_tokens *added_open(const char *path, json_t *json, const struct bpe *bpe,
                                const struct normalizer *normalizer) {
    if (json && !json_is_array(json))
        die("%s: `added_tokens` is no array", path);
    struct added_tokens *added = grab(1, sizeof *added);
    added->count = json_array_size(json);
    added->tokens = grab(added->count, sizeof *added->tokens);
    for (size_t i = 0; i < added->count; i++)
        read_token(&added->tokens[i], path, json_array_get(json, i), bpe, normalizer);
    qsort(added->tokens, added->count, sizeof *added->tokens, compare_ids);
    for (size_t i = 1; i < added->count; i++)
        if (added->tokens[i - 1].id == added->tokens[i].id)
            die("%s: two added tokens have the id %d", path, (int)added->tokens[i].id);
    sort_patterns(added, path, 0);
    sort_patterns(added, path, 1);
    return added;
}

void added_close(struct added_tokens *added) {
    for (size_t i = 0; i < added->count; i++) {
        free(added->tokens[i].text.at);
        free(added->tokens[i].pattern.at);
    }
    for (size_t i = 0; i < 2; i++)
        free(added->matchers[i].tokens);
    free(added->tokens);
    free(added);
}

/* ---- questions ------------------------------------------------------------------------------------ */

static const struct token *token_of(const struct added_tokens *added, int32_t id) {
    const struct token key = {.id = id};
    return bsearch(&key, added->tokens, added->count, sizeof *added->tokens, compare_ids);
}

int32_t added_id(const struct added_tokens *added, struct span text) {
    for (size_t i = 0; i < added->count; i++)
        if (spans_equal((struct span){added->tokens[i].text.at, added->tokens[i].text.bytes}, text))
            return added->tokens[i].id;
    return NO_ID;
}

struct span added_text(const struct added_tokens *added, int32_t id) {
    const struct token *token = token_of(added, id);
    return token ? (struct span){token->pattern.at, token->pattern.bytes} : (struct span){NULL, 0};
}

int added_is_special(const struct added_tokens *added, int32_t id) {
    const struct token *token = token_of(added, id);
    return token && token->is_special;
}

int32_t added_end(const struct added_tokens *added) {
    return added->count ? added->tokens[added->count - 1].id + 1 : 0;
}

/* ---- finding -------------------------------------------------------------------------------------- */

/* The first token of [from, to), all alike up to `depth`, whose byte there is at least `byte`. One that ends there
 * is less. */
static size_t first_from(const struct matcher *matcher, size_t from, size_t to, size_t depth, int byte) {
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        const struct text *pattern = &matcher->tokens[middle]->pattern;
        if (pattern->bytes <= depth || (unsigned char)pattern->at[depth] < byte)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The longest token at the front of a text, or NULL. */
static const struct token *token_at(const struct matcher *matcher, struct span text) {
    const struct token *longest = NULL;
    size_t from = 0, to = matcher->count;
    for (size_t depth = 0; depth < text.bytes && from < to; depth++) {
        const int byte = (unsigned char)text.at[depth];
        to = first_from(matcher, from, to, depth, byte + 1);
        from = first_from(matcher, from, to, depth, byte);
        if (from < to && matcher->tokens[from]->pattern.bytes == depth + 1)
            longest = matcher->tokens[from];
    }
    return longest;
}

/* Unicode's property White_Space. */
static int is_space(uint32_t code) {
    return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
           code == 0x3000;
}

static size_t spaces_in_front(struct span text) {
    size_t bytes = 0;
    while (bytes < text.bytes && is_space(char_code((struct span){text.at + bytes, text.bytes - bytes})))
        bytes += char_bytes((struct span){text.at + bytes, text.bytes - bytes});
    return bytes;
}

/* Where the white space behind a text begins. */
static size_t spaces_behind(struct span text) {
    size_t end = text.bytes;
    while (end > 0) {
        size_t at = end - 1;
        while (at > 0 && ((unsigned char)text.at[at] & 0xC0) == 0x80)
            at--;
        if (!is_space(char_code((struct span){text.at + at, end - at})))
            break;
        end = at;
    }
    return end;
}

void added_find(const struct added_tokens *added, int is_normalized, struct span text, int is_first,
                struct pieces *out) {
    const struct matcher *matcher = &added->matchers[is_normalized];
    size_t done = 0; /* bytes that are in pieces */
    for (size_t at = 0; at < text.bytes && matcher->count;) {
        const struct token *token = token_at(matcher, (struct span){text.at + at, text.bytes - at});
        if (!token) {
            at++;
            continue;
        }
        size_t begin = at, end = at + token->pattern.bytes;
        at = end;
        if (token->takes_left)
            begin = spaces_behind((struct span){text.at, begin});
        if (begin < done)
            begin = done;
        if (token->takes_right)
            end += spaces_in_front((struct span){text.at + end, text.bytes - end});
        pieces_add(out, (struct span){text.at + done, begin - done}, is_first && done == 0);
        pieces_add_id(out, token->id);
        done = end;
    }
    if (done < text.bytes)
        pieces_add(out, (struct span){text.at + done, text.bytes - done}, is_first && done == 0);
}
