/* SPDX-License-Identifier: Apache-2.0 */
/* What every part of the parser needs: messages, memory, tokens. */
#include "sim/ptx/ptx_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages -------------------------------------------------------------------------------- */

bool ptx_fail(struct ptx_parser *parser, uint32_t line, const char *format, ...) {
    if (parser->failed)
        return false;
    parser->failed = true;
    if (!parser->message || parser->message_bytes == 0)
        return false;
    const int used = snprintf(parser->message, parser->message_bytes, "line %u: ", line);
    if (used < 0 || (size_t)used >= parser->message_bytes)
        return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(parser->message + used, parser->message_bytes - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

bool ptx_unsupported(struct ptx_parser *parser, const struct ptx_token *token, const char *before) {
    if (!parser->failed && parser->message && parser->message_bytes)
        snprintf(parser->message, parser->message_bytes, "unsupported: %s%.*s at line %u", before,
                 (int)(token->length < 200 ? token->length : 200), token->text, token->line);
    parser->failed = true;
    return false;
}

bool ptx_out_of_memory(struct ptx_parser *parser) {
    parser->out_of_memory |= !parser->failed;
    return ptx_fail(parser, parser->token.line, "the module needs more memory than there is");
}

/* ---- memory ---------------------------------------------------------------------------------- */

void *ptx_take(struct ptx_parser *parser, size_t bytes) {
    void *taken = ptx_arena_take(parser->module->arena, bytes);
    if (!taken)
        ptx_out_of_memory(parser);
    return taken;
}

void *ptx_take_scratch(struct ptx_parser *parser, size_t bytes) {
    void *taken = ptx_arena_take(parser->scratch, bytes);
    if (!taken)
        ptx_out_of_memory(parser);
    return taken;
}

bool ptx_push(struct ptx_parser *parser, struct ptx_vector *vector, const void *item, size_t bytes) {
    if (vector->count == vector->room) {
        const size_t room = vector->room ? (size_t)vector->room * 2 : 16;
        void *items = room * bytes <= PTX_ARENA_MOST ? realloc(vector->items, room * bytes) : NULL;
        if (!items)
            return ptx_out_of_memory(parser);
        vector->items = items;
        vector->room = (uint32_t)room;
    }
    memcpy((char *)vector->items + vector->count++ * bytes, item, bytes);
    return true;
}

void *ptx_settle(struct ptx_parser *parser, const struct ptx_vector *vector, size_t bytes) {
    void *settled = ptx_take(parser, vector->count * bytes);
    if (settled && vector->count)
        memcpy(settled, vector->items, vector->count * bytes);
    return settled;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

void ptx_next(struct ptx_parser *parser) {
    parser->token = ptx_lexer_next(&parser->lexer);
}

bool ptx_at_mark(const struct ptx_parser *parser, char mark) {
    return parser->token.kind == PTX_TOKEN_MARK && *parser->token.text == mark;
}

bool ptx_at_directive(const struct ptx_parser *parser, const char *directive) {
    return parser->token.kind == PTX_TOKEN_DIRECTIVE && ptx_token_is(&parser->token, directive);
}

bool ptx_take_mark(struct ptx_parser *parser, char mark) {
    const bool there = ptx_at_mark(parser, mark);
    if (there)
        ptx_next(parser);
    return there;
}

/* "'x' where ... is expected" */
bool ptx_fail_here(struct ptx_parser *parser, const char *expected) {
    const struct ptx_token *token = &parser->token;
    if (token->kind == PTX_TOKEN_END)
        return ptx_fail(parser, token->line, "the text ends where %s is expected", expected);
    if (token->kind == PTX_TOKEN_WRONG && token->length == 0)
        return ptx_fail(parser, token->line, "a comment does not end");
    if (token->length == 1 && (*token->text <= ' ' || *token->text >= 127))
        return ptx_fail(parser, token->line, "byte 0x%02x where %s is expected", (unsigned char)*token->text, expected);
    return ptx_fail(parser, token->line, "'%.*s' where %s is expected", PTX_SHOW(*token), expected);
}

bool ptx_expect_mark(struct ptx_parser *parser, char mark) {
    const char expected[] = {'\'', mark, '\'', '\0'};
    return ptx_take_mark(parser, mark) || ptx_fail_here(parser, expected);
}

bool ptx_expect_word(struct ptx_parser *parser, const char *what, struct ptx_token *word) {
    if (parser->token.kind != PTX_TOKEN_WORD)
        return ptx_fail_here(parser, what);
    *word = parser->token;
    ptx_next(parser);
    return true;
}

bool ptx_expect_count(struct ptx_parser *parser, const char *what, uint64_t most, uint64_t *count) {
    const uint32_t line = parser->token.line;
    struct ptx_number number;
    if (parser->token.kind != PTX_TOKEN_NUMBER)
        return ptx_fail_here(parser, what);
    if (!ptx_number_read(&parser->token, &number) || number.kind != PTX_NUMBER_INTEGER || number.bits > most)
        return ptx_fail(parser, line, "%.*s as %s: there may be %llu at most", PTX_SHOW(parser->token), what,
                        (unsigned long long)most);
    *count = number.bits;
    ptx_next(parser);
    return true;
}

bool ptx_parse_integer(struct ptx_parser *parser, int64_t *value) {
    uint64_t sum = 0;
    do {
        bool negative = false;
        while (ptx_at_mark(parser, '-') || ptx_at_mark(parser, '+')) {
            negative ^= *parser->token.text == '-';
            ptx_next(parser);
        }
        struct ptx_number number = {.bits = PTX_LANES};
        if (parser->token.kind == PTX_TOKEN_NUMBER) {
            if (!ptx_number_read(&parser->token, &number) || number.kind != PTX_NUMBER_INTEGER)
                return ptx_fail_here(parser, "an integer");
        } else if (!ptx_token_is(&parser->token, "WARP_SZ")) {
            return ptx_fail_here(parser, "an integer");
        }
        sum += negative ? 0 - number.bits : number.bits;
        ptx_next(parser);
    } while (ptx_at_mark(parser, '+') || ptx_at_mark(parser, '-'));
    *value = (int64_t)sum;
    return true;
}
