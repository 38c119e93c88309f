/* SPDX-License-Identifier: Apache-2.0 */
/* The lexer. */
#include "sim/ptx/ptx_lexer.h"

#include <string.h>

void ptx_lexer_begin(struct ptx_lexer *lexer, const char *text, const char *end) {
    *lexer = (struct ptx_lexer){.at = text, .end = end, .line = 1};
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
static bool is_word(char c) {
    return is_letter(c) || is_digit(c);
}

/* Steps over the comment that begins here. False: it does not end. */
static bool skip_comment(struct ptx_lexer *lexer) {
    if (lexer->at[1] == '/') {
        while (lexer->at < lexer->end && *lexer->at != '\n')
            lexer->at++;
        return true;
    }
    for (lexer->at += 2; lexer->at < lexer->end; lexer->at++) {
        if (lexer->at[0] == '*' && lexer->at[1] == '/') {
            lexer->at += 2;
            return true;
        }
        lexer->line += *lexer->at == '\n';
    }
    return false;
}

/* False: an unfinished comment. */
static bool skip_space(struct ptx_lexer *lexer) {
    while (lexer->at < lexer->end) {
        const char c = *lexer->at;
        if (c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lexer->line += c == '\n';
            lexer->at++;
        } else if (c == '/' && (lexer->at[1] == '/' || lexer->at[1] == '*')) {
            if (!skip_comment(lexer))
                return false;
        } else {
            break;
        }
    }
    return true;
}

static const char *after_word(const struct ptx_lexer *lexer, const char *at) {
    while (at < lexer->end && is_word(*at))
        at++;
    return at;
}

/* 0f3F800000 and 0x1E+4: hexadecimal digits are no exponents. */
static bool is_prefixed(const char *number) {
    return number[0] == '0' && number[1] != '\0' && strchr("xXbBfFdD", number[1]);
}

static const char *after_number(const struct ptx_lexer *lexer, const char *at) {
    const bool plain = !is_prefixed(at);
    while (at < lexer->end) {
        const bool exponent = plain && (*at == 'e' || *at == 'E') && (at[1] == '+' || at[1] == '-') && is_digit(at[2]);
        if (!is_word(*at) && *at != '.')
            break;
        at += exponent ? 2 : 1;
    }
    return at;
}

/* NULL: the string does not end on its line. */
static const char *after_string(const struct ptx_lexer *lexer, const char *at) {
    for (at++; at < lexer->end && *at != '\n'; at++) {
        if (*at == '"')
            return at + 1;
        if (*at == '\\' && at + 1 < lexer->end && at[1] != '\n')
            at++;
    }
    return NULL;
}

static const char *after_token(const struct ptx_lexer *lexer, enum ptx_token_kind *kind) {
    const char *at = lexer->at;
    if (is_letter(*at) || (*at == '%' && is_letter(at[1]))) {
        *kind = PTX_TOKEN_WORD;
        const char *end = after_word(lexer, at + 1);
        if (*at == '%' && *end == '.' && end[1] >= 'w' && end[1] <= 'z' && !is_word(end[2]))
            end += 2; /* %tid.x */
        return end;
    }
    if (*at == '.' && is_letter(at[1])) {
        *kind = PTX_TOKEN_DIRECTIVE;
        return after_word(lexer, at + 1);
    }
    if (is_digit(*at)) {
        *kind = PTX_TOKEN_NUMBER;
        return after_number(lexer, at);
    }
    if (*at == '"') {
        const char *end = after_string(lexer, at);
        *kind = end ? PTX_TOKEN_STRING : PTX_TOKEN_WRONG;
        return end ? end : at + 1;
    }
    *kind = *at > ' ' && *at < 127 ? PTX_TOKEN_MARK : PTX_TOKEN_WRONG;
    return at + 1;
}

struct ptx_token ptx_lexer_next(struct ptx_lexer *lexer) {
    const bool finished = skip_space(lexer);
    struct ptx_token token = {
        .text = lexer->at, .line = lexer->line, .kind = finished ? PTX_TOKEN_END : PTX_TOKEN_WRONG};
    if (finished && lexer->at < lexer->end) {
        lexer->at = after_token(lexer, &token.kind);
        token.length = (uint32_t)(lexer->at - token.text);
    }
    return token;
}

bool ptx_lexer_takes_colon(struct ptx_lexer *lexer) {
    if (!skip_space(lexer) || lexer->at >= lexer->end || lexer->at[0] != ':' || lexer->at[1] == ':')
        return false;
    lexer->at++;
    return true;
}

void ptx_lexer_extend_opcode(struct ptx_lexer *lexer, struct ptx_token *word) {
    const char *at = lexer->at;
    if (at != word->text + word->length)
        return; /* something lies between: the opcode has one piece */
    for (;;) {
        if (*at == '.' && is_word(at[1]))
            at = after_word(lexer, at + 1);
        else if (at[0] == ':' && at[1] == ':' && is_word(at[2]))
            at = after_word(lexer, at + 2);
        else
            break;
    }
    lexer->at = at;
    word->length = (uint32_t)(at - word->text);
}

bool ptx_token_is(const struct ptx_token *token, const char *text) {
    return strlen(text) == token->length && memcmp(token->text, text, token->length) == 0;
}
