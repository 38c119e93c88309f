/* SPDX-License-Identifier: Apache-2.0 */
/* PTX text -> tokens. Tokens point into the text; nothing is copied. */
#ifndef SIM_PTX_LEXER_H
#define SIM_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_WORD,      /* add  $L__BB0_2  %r12  %tid.x  _ */
    PTX_TOKEN_DIRECTIVE, /* .reg  .b32 */
    PTX_TOKEN_NUMBER,    /* 12  0x1F  017  0b101  4U  0f3F800000  1.5e-3 */
    PTX_TOKEN_STRING,    /* with its quotes */
    PTX_TOKEN_MARK,      /* one character: , ; { [ ( < | @ ... */
    PTX_TOKEN_WRONG      /* an unfinished comment or string, a character PTX does not have */
};

struct ptx_token {
    enum ptx_token_kind kind;
    uint32_t length, line;
    const char *text;
};

struct ptx_lexer {
    const char *at, *end;
    uint32_t line;
};

/* `end[0]` is readable and NUL. */
void ptx_lexer_begin(struct ptx_lexer *lexer, const char *text, const char *end);
struct ptx_token ptx_lexer_next(struct ptx_lexer *lexer);
/* `word` was the last token: is a single ':' next (a label)? The colon is then consumed. */
bool ptx_lexer_takes_colon(struct ptx_lexer *lexer);
/* `word` was the last token and begins an opcode: extends it over ".f32", ".shared::cta" ... */
void ptx_lexer_extend_opcode(struct ptx_lexer *lexer, struct ptx_token *word);

/* A literal's value. */
enum ptx_number_kind {
    PTX_NUMBER_INTEGER,
    PTX_NUMBER_FLOAT32, /* 0fXXXXXXXX: `bits` is an fp32 */
    PTX_NUMBER_FLOAT64  /* 0dXXXXXXXXXXXXXXXX or a decimal fraction: `bits` is an fp64 */
};
struct ptx_number {
    enum ptx_number_kind kind;
    uint64_t bits;
};
/* False: not a number that PTX has, or more than 64 bits. */
bool ptx_number_read(const struct ptx_token *token, struct ptx_number *number);

bool ptx_token_is(const struct ptx_token *token, const char *text);

#endif
