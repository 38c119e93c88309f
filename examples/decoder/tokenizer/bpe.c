/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/bpe.h"

#include "common.h"
#include "tokenizer/fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN(span) (int)((span).bytes < 100 ? (span).bytes : 100), (span).at

struct merge {
    int32_t left, right; /* NO_ID: the slot is free */
    int32_t rank, id;    /* id: of both together */
};

struct bpe {
    char *text; /* of all tokens, one behind the other */
    struct span *tokens;
    int32_t end;
    int32_t *token_slots; /* ids, by hash of their texts; NO_ID: free */
    size_t token_mask;    /* slots - 1 */
    struct merge *merges; /* by hash of left and right */
    size_t merge_mask;
    int32_t byte_ids[256]; /* of <0x00> to <0xFF>, where has_byte_fallback */
    int32_t unknown_id;    /* NO_ID: characters without a token vanish */
    int has_byte_fallback, fuses_unknown, ignores_merges;
};

/* ---- vocabulary ----------------------------------------------------------------------------------- */

/* Slots for `count` elements, at least a third of them free. */
static size_t slots_for(size_t count) {
    size_t slots = 16;
    while (slots < count + count / 2 + 1)
        slots *= 2;
    return slots;
}

static size_t hash_text(struct span text) {
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < text.bytes; i++)
        hash = (hash ^ (unsigned char)text.at[i]) * 1099511628211u;
    return (size_t)(hash ^ hash >> 32);
}

/* Where a text's id is, or where it would be put. */
static int32_t *token_slot(const struct bpe *bpe, struct span text) {
    size_t slot = hash_text(text) & bpe->token_mask;
    while (bpe->token_slots[slot] != NO_ID && !spans_equal(bpe->tokens[bpe->token_slots[slot]], text))
        slot = (slot + 1) & bpe->token_mask;
    return &bpe->token_slots[slot];
}

int32_t bpe_id(const struct bpe *bpe, struct span text) {
    return *token_slot(bpe, text);
}

struct span bpe_text(const struct bpe *bpe, int32_t id) {
    return id >= 0 && id < bpe->end ? bpe->tokens[id] : (struct span){NULL, 0};
}

int32_t bpe_end(const struct bpe *bpe) {
    return bpe->end;
}

static void read_vocabulary(struct bpe *bpe, const char *path, json_t *vocabulary) {
    const char *key;
    size_t bytes = 0;
    json_t *value;
    if (!json_is_object(vocabulary))
        die("%s: the model's `vocab` is no object", path);
    json_object_foreach(vocabulary, key, value) {
        const int32_t id = whole_of(path, value, "vocab", TOKEN_ID_MAX);
        bpe->end = id >= bpe->end ? id + 1 : bpe->end;
        bytes += strlen(key);
    }
    bpe->text = grab(bytes, 1);
    bpe->tokens = grab((size_t)bpe->end, sizeof *bpe->tokens);
    bpe->token_mask = slots_for(json_object_size(vocabulary)) - 1;
    bpe->token_slots = grab(bpe->token_mask + 1, sizeof *bpe->token_slots);
    memset(bpe->token_slots, 0xFF, (bpe->token_mask + 1) * sizeof *bpe->token_slots);
    char *to = bpe->text;
    json_object_foreach(vocabulary, key, value) { /* no key has a byte 0: Jansson refuses it */
        const size_t key_bytes = strlen(key);
        const int32_t id = (int32_t)json_integer_value(value);
        if (bpe->tokens[id].at)
            die("%s: two tokens have the id %d", path, (int)id);
        memcpy(to, key, key_bytes);
        bpe->tokens[id] = (struct span){to, key_bytes};
        *token_slot(bpe, bpe->tokens[id]) = id;
        to += key_bytes;
    }
}

/* ---- merges --------------------------------------------------------------------------------------- */

static struct merge *merge_slot(const struct bpe *bpe, int32_t left, int32_t right) {
    const uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    size_t slot = (size_t)(key * 11400714819323198485u >> 20) & bpe->merge_mask;
    while (bpe->merges[slot].left != NO_ID && (bpe->merges[slot].left != left || bpe->merges[slot].right != right))
        slot = (slot + 1) & bpe->merge_mask;
    return &bpe->merges[slot];
}

/* The two texts of a merge: ["a","b"], or of older files "a b". */
static void merge_parts(const char *path, json_t *merge, size_t rank, struct span parts[2]) {
    if (json_is_array(merge) && json_array_size(merge) == 2) {
        for (size_t i = 0; i < 2; i++)
            parts[i] = text_of(path, json_array_get(merge, i), "merges");
        return;
    }
    const struct span both = text_of(path, merge, "merges");
    const char *space = memchr(both.at, ' ', both.bytes);
    const size_t bytes = space ? (size_t)(space - both.at) : 0;
    if (!space || memchr(space + 1, ' ', both.bytes - bytes - 1))
        die("%s: the merge %zu, `%.*s`, is not two texts with a space between them", path, rank, SHOWN(both));
    parts[0] = (struct span){both.at, bytes};
    parts[1] = (struct span){space + 1, both.bytes - bytes - 1};
}

static int32_t merged_id(const struct bpe *bpe, const char *path, struct span text, size_t rank) {
    const int32_t id = bpe_id(bpe, text);
    if (id == NO_ID)
        die("%s: `%.*s` of the merge %zu is no token", path, SHOWN(text), rank);
    return id;
}

/* Of two merges of the same neighbours the later one counts. */
static void read_merges(struct bpe *bpe, const char *path, json_t *merges) {
    bpe->merge_mask = slots_for(json_array_size(merges)) - 1;
    bpe->merges = grab(bpe->merge_mask + 1, sizeof *bpe->merges);
    memset(bpe->merges, 0xFF, (bpe->merge_mask + 1) * sizeof *bpe->merges);
    struct text both = {0};
    json_t *value;
    size_t i, rank = 0;
    json_array_foreach(merges, i, value) {
        if (json_is_string(value) && strncmp(json_string_value(value), "#version", 8) == 0)
            continue;
        struct span parts[2];
        merge_parts(path, value, rank, parts);
        const int32_t left = merged_id(bpe, path, parts[0], rank), right = merged_id(bpe, path, parts[1], rank);
        both.bytes = 0;
        text_add(&both, parts[0]);
        text_add(&both, parts[1]);
        const int32_t id = merged_id(bpe, path, (struct span){both.at, both.bytes}, rank);
        *merge_slot(bpe, left, right) = (struct merge){left, right, (int32_t)rank++, id};
    }
    free(both.at);
}

/* ---- a word --------------------------------------------------------------------------------------- */

struct symbol {
    int32_t id;             /* NO_ID: it was merged into the one before it */
    int32_t before, behind; /* NO_ID: none */
};

/* A merge of the symbol `at` and the one behind it. */
struct candidate {
    int32_t rank, at, id;
};

/* A word that is being merged. */
struct word {
    struct symbol *symbols;
    struct candidate *heap; /* the lowest rank, of those the leftmost, first */
    size_t count, waiting;
};

static int is_sooner(struct candidate a, struct candidate b) {
    return a.rank < b.rank || (a.rank == b.rank && a.at < b.at);
}

static void push(struct word *word, struct candidate candidate) {
    size_t at = word->waiting++;
    for (; at > 0 && is_sooner(candidate, word->heap[(at - 1) / 2]); at = (at - 1) / 2)
        word->heap[at] = word->heap[(at - 1) / 2];
    word->heap[at] = candidate;
}

static struct candidate pop(struct word *word) {
    const struct candidate top = word->heap[0], last = word->heap[--word->waiting];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < word->waiting && is_sooner(word->heap[child + 1], word->heap[child]))
            child++;
        if (child >= word->waiting || !is_sooner(word->heap[child], last))
            break;
        word->heap[at] = word->heap[child];
        at = child;
    }
    word->heap[at] = last;
    return top;
}

static void consider(const struct bpe *bpe, struct word *word, int32_t at) {
    if (at == NO_ID || word->symbols[at].behind == NO_ID)
        return;
    const struct merge *merge = merge_slot(bpe, word->symbols[at].id, word->symbols[word->symbols[at].behind].id);
    if (merge->left != NO_ID)
        push(word, (struct candidate){merge->rank, at, merge->id});
}

static void merge_all(const struct bpe *bpe, struct word *word) {
    struct symbol *symbols = word->symbols;
    for (size_t i = 0; i + 1 < word->count; i++)
        consider(bpe, word, (int32_t)i);
    while (word->waiting) {
        const struct candidate top = pop(word);
        struct symbol *left = &symbols[top.at];
        if (left->id == NO_ID || left->behind == NO_ID)
            continue;
        struct symbol *right = &symbols[left->behind];
        const struct merge *merge = merge_slot(bpe, left->id, right->id);
        if (merge->left == NO_ID || merge->id != top.id) /* a neighbour has changed since */
            continue;
        left->id = top.id;
        left->behind = right->behind;
        right->id = NO_ID;
        if (left->behind != NO_ID)
            symbols[left->behind].before = top.at;
        consider(bpe, word, left->before);
        consider(bpe, word, top.at);
    }
}

static void add_symbol(struct word *word, int32_t id) {
    const int32_t at = (int32_t)word->count++;
    word->symbols[at] = (struct symbol){id, at - 1, NO_ID};
    if (at > 0)
        word->symbols[at - 1].behind = at;
}

static int add_bytes(const struct bpe *bpe, struct word *word, struct span character) {
    for (size_t i = 0; i < character.bytes; i++)
        if (bpe->byte_ids[(unsigned char)character.at[i]] == NO_ID)
            return 0;
    for (size_t i = 0; i < character.bytes; i++)
        add_symbol(word, bpe->byte_ids[(unsigned char)character.at[i]]);
    return 1;
}

/* A symbol for each character; unknown ones give byte tokens, one unknown token (for each, or for neighbours
 * together), or nothing. An unknown token waits for the next character that has a token, and byte tokens pass it. */
static void spell(const struct bpe *bpe, struct word *word, struct span text) {
    int has_unknown = 0;
    for (size_t at = 0; at < text.bytes;) {
        struct span character = {text.at + at, text.bytes - at};
        character.bytes = char_bytes(character);
        at += character.bytes;
        const int32_t id = bpe_id(bpe, character);
        if (id == NO_ID && bpe->has_byte_fallback && add_bytes(bpe, word, character))
            continue;
        if (has_unknown && (id != NO_ID || !bpe->fuses_unknown))
            add_symbol(word, bpe->unknown_id);
        has_unknown = id == NO_ID && bpe->unknown_id != NO_ID;
        if (id != NO_ID)
            add_symbol(word, id);
    }
    if (has_unknown)
        add_symbol(word, bpe->unknown_id);
}

void bpe_encode(const struct bpe *bpe, struct span text, struct ids *ids) {
    const int32_t whole = bpe->ignores_merges ? bpe_id(bpe, text) : NO_ID;
    if (whole != NO_ID) {
        ids_add(ids, whole);
        return;
    }
    if (text.bytes > INT32_MAX / 4)
        die("a word of %zu bytes", text.bytes);
    /* Each merge leaves one symbol fewer and at most two candidates more. */
    struct word word = {grab(text.bytes, sizeof *word.symbols), grab(3 * text.bytes, sizeof *word.heap), 0, 0};
    spell(bpe, &word, text);
    merge_all(bpe, &word);
    for (size_t i = 0; i < word.count; i++)
        if (word.symbols[i].id != NO_ID)
            ids_add(ids, word.symbols[i].id);
    free(word.symbols);
    free(word.heap);
}

/* ---- open, close ---------------------------------------------------------------------------------- */

static void refuse(const char *path, json_t *model) {
    static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    json_t *type = field(model, "type"); /* files of 2019 have none */
    if (type && !(json_is_string(type) && strcmp(json_string_value(type), "BPE") == 0))
        die("%s: the model `%s` is not supported; this decoder reads BPE", path, type_field(path, model, "model"));
    json_t *dropout = field(model, "dropout");
    if (dropout && !(json_is_number(dropout) && json_number_value(dropout) == 0))
        die("%s: `dropout` is not supported: it splits words at random", path);
    for (size_t i = 0; i < 2; i++)
        if (field(model, affixes[i]) && text_field(path, model, affixes[i]).bytes)
            die("%s: `%s` is not supported", path, affixes[i]);
}

struct bpe *bpe_open(const char *path, json_t *model) {
    if (!json_is_object(model))
        die("%s: the model is no object", path);
    refuse(path, model);
    struct bpe *bpe = grab(1, sizeof *bpe);
    read_vocabulary(bpe, path, need_field(path, model, "vocab"));
    read_merges(bpe, path, array_field(path, model, "merges"));
    bpe->has_byte_fallback = flag_field(path, model, "byte_fallback", 0);
    bpe->fuses_unknown = flag_field(path, model, "fuse_unk", 0);
    bpe->ignores_merges = flag_field(path, model, "ignore_merges", 0);
    for (unsigned byte = 0; byte < 256; byte++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", byte);
        bpe->byte_ids[byte] = bpe_id(bpe, span_of(name));
    }
    bpe->unknown_id = NO_ID;
    if (field(model, "unk_token")) {
        const struct span unknown = text_field(path, model, "unk_token");
        bpe->unknown_id = bpe_id(bpe, unknown);
        if (bpe->unknown_id == NO_ID)
            die("%s: `unk_token` `%.*s` is no token of the vocabulary", path, SHOWN(unknown));
    }
    return bpe;
}

void bpe_close(struct bpe *bpe) {
    free(bpe->text);
    free(bpe->tokens);
    free(bpe->token_slots);
    free(bpe->merges);
    free(bpe);
}
