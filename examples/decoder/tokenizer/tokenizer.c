/* SPDX-License-Identifier: Apache-2.0 */
/* A text -> pieces: added tokens and what is between them -> normalized -> words -> ids. And back. */
#include "tokenizer.h"

#include "tokenizer/added_tokens.h"
#include "tokenizer/bpe.h"
#include "common.h"
#include "tokenizer/detokenize.h"
#include "tokenizer/fields.h"
#include "tokenizer/normalize.h"
#include "tokenizer/pretokenize.h"
#include "tokenizer/text.h"

#include <stdlib.h>
#include <string.h>

struct tokenizer {
    struct bpe *bpe;
    struct added_tokens *added;
    struct normalizer *normalizer;
    struct pretokenizer *pretokenizer;
    struct detokenizer *detokenizer;
    struct ids before, behind; /* those of the post-processor */
};

/* ---- the post-processor --------------------------------------------------------------------------- */

static void add_template_ids(const char *path, json_t *token, json_t *json, struct ids *ids) {
    const struct span name = text_field(path, token, "id");
    json_t *found = json_object_get(need_field(path, json, "special_tokens"), name.at);
    if (!found)
        die("%s: the template's `%s` is not among its `special_tokens`", path, name.at);
    json_t *list = array_field(path, found, "ids");
    for (size_t i = 0; i < json_array_size(list); i++)
        ids_add(ids, whole_of(path, json_array_get(list, i), "ids", TOKEN_ID_MAX));
}

/* [{"SpecialToken":{"id":"<s>"}},{"Sequence":{"id":"A"}}] */
static void read_template(struct tokenizer *tokenizer, const char *path, json_t *json) {
    json_t *list = array_field(path, json, "single");
    int texts = 0;
    if (tokenizer->before.count || tokenizer->behind.count)
        die("%s: more than one `TemplateProcessing`", path);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i), *token = field(item, "SpecialToken"), *text = field(item, "Sequence");
        if (token)
            add_template_ids(path, token, json, texts ? &tokenizer->behind : &tokenizer->before);
        else if (text && spans_equal(text_field(path, text, "id"), span_of("A")))
            texts++;
        else
            die("%s: the template has something that is neither a SpecialToken nor the Sequence A", path);
    }
    if (texts != 1)
        die("%s: the template has the text %d times", path, texts);
}

static void read_post_processor(struct tokenizer *tokenizer, const char *path, json_t *json) {
    if (!json)
        return;
    const char *type = type_field(path, json, "post-processor");
    if (strcmp(type, "Sequence") == 0) {
        json_t *list = array_field(path, json, "processors");
        for (size_t i = 0; i < json_array_size(list); i++)
            read_post_processor(tokenizer, path, json_array_get(list, i));
    } else if (strcmp(type, "TemplateProcessing") == 0) {
        read_template(tokenizer, path, json);
    } else if (strcmp(type, "ByteLevel") != 0) { /* that one trims offsets, which nobody asks for here */
        die("%s: the post-processor `%s` is not supported", path, type);
    }
}

/* ---- open, close ---------------------------------------------------------------------------------- */

/* `truncation` and `padding` are not read: they are for batches of equal length. */
struct tokenizer *tokenizer_open(const char *folder) {
    char *path = path_of(folder, "tokenizer.json");
    json_t *json = read_object(path, JSON_ALLOW_NUL);
    struct tokenizer *tokenizer = grab(1, sizeof *tokenizer);
    tokenizer->bpe = bpe_open(path, need_field(path, json, "model"));
    tokenizer->normalizer = normalizer_open(path, field(json, "normalizer"));
    tokenizer->added = added_open(path, field(json, "added_tokens"), tokenizer->bpe, tokenizer->normalizer);
    tokenizer->pretokenizer = pretokenizer_open(path, field(json, "pre_tokenizer"));
    tokenizer->detokenizer = detokenizer_open(path, field(json, "decoder"));
    read_post_processor(tokenizer, path, field(json, "post_processor"));
    json_decref(json);
    free(path);
    return tokenizer;
}

void tokenizer_close(struct tokenizer *tokenizer) {
    bpe_close(tokenizer->bpe);
    added_close(tokenizer->added);
    normalizer_close(tokenizer->normalizer);
    pretokenizer_close(tokenizer->pretokenizer);
    detokenizer_close(tokenizer->detokenizer);
    free(tokenizer->before.at);
    free(tokenizer->behind.at);
    free(tokenizer);
}

/* ---- encode --------------------------------------------------------------------------------------- */

/* The texts between added tokens, normalized, and cut again at the added tokens that are looked for there. */
static void normalize_all(const struct tokenizer *tokenizer, struct pieces *pieces) {
    struct pieces next = {0};
    for (size_t i = 0; i < pieces->count; i++) {
        if (pieces->list[i].id != NO_ID) {
            pieces_add_id(&next, pieces->list[i].id);
            continue;
        }
        struct text text = {0};
        normalize(tokenizer->normalizer, piece_span(pieces, i), &text);
        added_find(tokenizer->added, 1, (struct span){text.at, text.bytes}, pieces->list[i].first, &next);
        free(text.at);
    }
    pieces_free(pieces);
    *pieces = next;
}

static void add_all(struct ids *ids, const struct ids *more) {
    for (size_t i = 0; i < more->count; i++)
        ids_add(ids, more->at[i]);
}

size_t tokenizer_encode(const struct tokenizer *tokenizer, const char *text, size_t bytes, int adds_special,
                        int32_t **ids) {
    struct text valid = {0};
    struct pieces pieces = {0};
    struct ids list = {0};
    text_add_valid(&valid, (struct span){text, bytes});
    added_find(tokenizer->added, 0, (struct span){valid.at, valid.bytes}, 1, &pieces);
    free(valid.at);
    normalize_all(tokenizer, &pieces);
    pretokenize(tokenizer->pretokenizer, &pieces);
    if (adds_special)
        add_all(&list, &tokenizer->before);
    for (size_t i = 0; i < pieces.count; i++) {
        if (pieces.list[i].id != NO_ID)
            ids_add(&list, pieces.list[i].id);
        else
            bpe_encode(tokenizer->bpe, piece_span(&pieces, i), &list);
    }
    if (adds_special)
        add_all(&list, &tokenizer->behind);
    pieces_free(&pieces);
    *ids = list.at ? list.at : grab(1, sizeof **ids);
    return list.count;
}

/* ---- decode --------------------------------------------------------------------------------------- */

char *tokenizer_decode(const struct tokenizer *tokenizer, const int32_t *ids, size_t count, int skips_special) {
    struct pieces pieces = {0};
    for (size_t i = 0; i < count; i++) {
        if (skips_special && added_is_special(tokenizer->added, ids[i]))
            continue;
        struct span text = added_text(tokenizer->added, ids[i]);
        if (!text.at)
            text = bpe_text(tokenizer->bpe, ids[i]);
        pieces_add(&pieces, text, 0);
    }
    detokenize(tokenizer->detokenizer, &pieces);
    struct text text = {0};
    for (size_t i = 0; i < pieces.count; i++)
        text_add(&text, piece_span(&pieces, i));
    text_add(&text, (struct span){"", 1});
    pieces_free(&pieces);
    return text.at;
}

/* ---- questions ------------------------------------------------------------------------------------ */

int64_t tokenizer_size(const struct tokenizer *tokenizer) {
    const int32_t words = bpe_end(tokenizer->bpe), added = added_end(tokenizer->added);
    return words > added ? words : added;
}

int32_t tokenizer_id(const struct tokenizer *tokenizer, const char *token) {
    const int32_t id = added_id(tokenizer->added, span_of(token));
    return id != NO_ID ? id : bpe_id(tokenizer->bpe, span_of(token));
}
