/* SPDX-License-Identifier: Apache-2.0 */
/* Names and their scopes. Inline assembly opens a block for nearly every statement, and declares the same names in
 * each: every declaration is a register of its own. */
#include "sim/ptx/ptx_internal.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_of(const char *text, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash ^ hash >> 15;
}

void ptx_names_free(struct ptx_names *names) {
    free(names->bucket);
    free(names->order.items);
}

bool ptx_scope_open(struct ptx_parser *parser) {
    struct ptx_names *names = &parser->names;
    if (names->depth >= PTX_DEPTH_MOST)
        return ptx_fail(parser, parser->token.line, "more than %d nested blocks", PTX_DEPTH_MOST);
    names->scope_first[++names->depth] = names->order.count;
    parser->builder.pending_first[names->depth] = parser->builder.pending.count;
    return true;
}

void ptx_scope_close(struct ptx_parser *parser) {
    struct ptx_names *names = &parser->names;
    const uint32_t first = names->scope_first[names->depth--];
    while (names->order.count > first) {
        const struct ptx_symbol *symbol = *PTX_AT(names->order, struct ptx_symbol *, --names->order.count);
        names->bucket[symbol->hash & (names->bucket_count - 1)] = symbol->chain;
    }
}

static bool is_label(const struct ptx_symbol *symbol) {
    return symbol->kind == PTX_SYMBOL_LABEL || symbol->kind == PTX_SYMBOL_TARGETS;
}

enum want { WANT_VALUE, WANT_LABEL, WANT_RANGE };

/* The innermost of its kind; of ranges, the innermost with that member. */
static struct ptx_symbol *find(const struct ptx_names *names, const char *text, size_t length, enum want want,
                               uint32_t member) {
    if (!names->bucket_count)
        return NULL;
    const uint32_t hash = hash_of(text, length);
    struct ptx_symbol *symbol = names->bucket[hash & (names->bucket_count - 1)];
    while (symbol && !(symbol->hash == hash && symbol->length == length && is_label(symbol) == (want == WANT_LABEL) &&
                       symbol->is_range == (want == WANT_RANGE) && (want != WANT_RANGE || member < symbol->count) &&
                       memcmp(symbol->name, text, length) == 0))
        symbol = symbol->chain;
    return symbol;
}

struct ptx_symbol *ptx_name_find(const struct ptx_names *names, const struct ptx_token *name, bool label) {
    return find(names, name->text, name->length, label ? WANT_LABEL : WANT_VALUE, 0);
}

/* Twice as many buckets; the symbols are entered again, the oldest first. */
static bool grow(struct ptx_parser *parser, struct ptx_names *names) {
    const uint32_t count = names->bucket_count ? names->bucket_count * 2 : 256;
    struct ptx_symbol **bucket = calloc(count, sizeof(struct ptx_symbol *));
    if (!bucket)
        return ptx_out_of_memory(parser);
    free(names->bucket);
    names->bucket = bucket;
    names->bucket_count = count;
    for (uint32_t i = 0; i < names->order.count; i++) {
        struct ptx_symbol *symbol = *PTX_AT(names->order, struct ptx_symbol *, i);
        symbol->chain = bucket[symbol->hash & (count - 1)];
        bucket[symbol->hash & (count - 1)] = symbol;
    }
    return true;
}

struct ptx_symbol *ptx_name_declare(struct ptx_parser *parser, const struct ptx_token *name, enum ptx_symbol_kind kind,
                                    bool is_range) {
    struct ptx_names *names = &parser->names;
    const bool label = kind == PTX_SYMBOL_LABEL || kind == PTX_SYMBOL_TARGETS;
    const enum want same = label ? WANT_LABEL : is_range ? WANT_RANGE : WANT_VALUE;
    const struct ptx_symbol *before = find(names, name->text, name->length, same, 0);
    if (before && before->depth == names->depth) {
        ptx_fail(parser, name->line, "%.*s is declared twice", PTX_SHOW(*name));
        return NULL;
    }
    struct ptx_symbol *symbol = ptx_take_scratch(parser, sizeof *symbol);
    if (!symbol || !ptx_push(parser, &names->order, &symbol, sizeof symbol))
        return NULL;
    symbol->name = name->text;
    symbol->length = name->length;
    symbol->hash = hash_of(name->text, name->length);
    symbol->depth = names->depth;
    symbol->kind = kind;
    symbol->is_range = is_range;
    if (names->order.count > names->bucket_count)
        return grow(parser, names) ? symbol : NULL; /* which enters it, too */
    symbol->chain = names->bucket[symbol->hash & (names->bucket_count - 1)];
    names->bucket[symbol->hash & (names->bucket_count - 1)] = symbol;
    return symbol;
}

/* ---- registers ------------------------------------------------------------------------------- */

/* "%r12" with ".reg .b32 %r<20>": the range %r, member 12. A range's name may itself end in digits, so every split of
 * the name is tried, the longest number first; no member is written with leading zeros. */
static struct ptx_symbol *find_range(const struct ptx_names *names, const struct ptx_token *name, uint32_t *member) {
    uint64_t value = 0, unit = 1;
    uint32_t starts[8], values[8], splits = 0;
    for (uint32_t i = name->length; i-- > 1 && splits < 8 && name->text[i] >= '0' && name->text[i] <= '9'; unit *= 10) {
        value += unit * (uint64_t)(name->text[i] - '0');
        starts[splits] = i;
        values[splits++] = (uint32_t)value;
    }
    while (splits-- > 0) {
        if (name->text[starts[splits]] == '0' && starts[splits] + 1 != name->length)
            continue;
        struct ptx_symbol *range = find(names, name->text, starts[splits], WANT_RANGE, values[splits]);
        if (range) {
            *member = values[splits];
            return range;
        }
    }
    return NULL;
}

static bool use_register(struct ptx_parser *parser, struct ptx_symbol *symbol, const struct ptx_token *name,
                         uint32_t member, uint32_t *number) {
    struct ptx_builder *builder = &parser->builder;
    if (!symbol->numbers) {
        symbol->numbers = ptx_take_scratch(parser, (symbol->is_range ? symbol->count : 1) * sizeof(uint32_t));
        if (!symbol->numbers)
            return false;
    }
    if (symbol->numbers[member] == 0) {
        struct ptx_register added = {.bits = symbol->type->bits};
        memcpy(added.type, symbol->type->name, sizeof added.type - 1);
        added.name = ptx_arena_text(parser->module->arena, name->text, name->length);
        if (!added.name)
            return ptx_out_of_memory(parser);
        if (!ptx_push(parser, &builder->registers, &added, sizeof added))
            return false;
        symbol->numbers[member] = builder->registers.count;
    }
    *number = symbol->numbers[member] - 1;
    return true;
}

bool ptx_register_find(struct ptx_parser *parser, const struct ptx_token *name, uint32_t *number,
                       struct ptx_symbol **symbol) {
    uint32_t member = 0;
    struct ptx_symbol *found = ptx_name_find(&parser->names, name, false);
    struct ptx_symbol *range = find_range(&parser->names, name, &member);
    if (range && (!found || range->depth > found->depth))
        found = range;
    else
        member = 0;
    *symbol = found;
    if (!found || found->kind != PTX_SYMBOL_REGISTERS)
        return false;
    return use_register(parser, found, name, member, number);
}
