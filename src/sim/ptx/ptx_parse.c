/* SPDX-License-Identifier: Apache-2.0 */
/* A module: what stands at its top level, and the parse as a whole. */
#include "sim/ptx/ptx_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the top level --------------------------------------------------------------------------- */

/* ".version 9.0": 90 */
static bool parse_version(struct ptx_parser *parser) {
    unsigned major = 0, minor = 0;
    ptx_next(parser);
    const struct ptx_token *token = &parser->token;
    if (token->kind != PTX_TOKEN_NUMBER || token->length > 5 ||
        sscanf(token->text, "%3u.%1u", &major, &minor) != 2) /* the text ends in NUL */
        return ptx_fail_here(parser, "a version");
    parser->module->version = major * 10 + minor;
    ptx_next(parser);
    return true;
}

/* ".target sm_90a, debug" */
static bool parse_target(struct ptx_parser *parser) {
    struct ptx_token word;
    ptx_next(parser);
    do {
        if (!ptx_expect_word(parser, "a target", &word))
            return false;
        if (word.length > 3 && word.length < 8 && memcmp(word.text, "sm_", 3) == 0) {
            parser->module->target = (unsigned)strtoul(word.text + 3, NULL, 10);
            parser->module->target_accelerated = word.text[word.length - 1] == 'a';
        } else if (!ptx_token_is(&word, "debug")) {
            return ptx_unsupported(parser, &word, ".target ");
        }
    } while (ptx_take_mark(parser, ','));
    return true;
}

static bool parse_address_size(struct ptx_parser *parser) {
    const uint32_t line = parser->token.line;
    uint64_t bits;
    ptx_next(parser);
    if (!ptx_expect_count(parser, "the address size", 64, &bits))
        return false;
    return bits == 64 || ptx_fail(parser, line, "addresses of %u bits: there is 64 only", (unsigned)bits);
}

static bool parse_top(struct ptx_parser *parser) {
    bool done, is_extern = false;
    if (!ptx_skip_note(parser, &done) || done)
        return !parser->failed;
    if (ptx_at_directive(parser, ".version"))
        return parse_version(parser);
    if (ptx_at_directive(parser, ".target"))
        return parse_target(parser);
    if (ptx_at_directive(parser, ".address_size"))
        return parse_address_size(parser);
    if (ptx_take_mark(parser, ';'))
        return true;
    while (ptx_at_directive(parser, ".visible") || ptx_at_directive(parser, ".weak") ||
           ptx_at_directive(parser, ".extern") || ptx_at_directive(parser, ".common")) {
        is_extern |= ptx_at_directive(parser, ".extern");
        ptx_next(parser);
    }
    if (ptx_at_directive(parser, ".entry") && !is_extern)
        return ptx_parse_entry(parser);
    if (ptx_at_directive(parser, ".func"))
        return ptx_skip_function(parser);
    if (ptx_at_directive(parser, ".shared") || ptx_at_directive(parser, ".global") ||
        ptx_at_directive(parser, ".const"))
        return ptx_declare_variables(parser, is_extern);
    if (parser->token.kind == PTX_TOKEN_DIRECTIVE)
        return ptx_unsupported(parser, &parser->token, "");
    return ptx_fail_here(parser, "a directive");
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool split_lines(struct ptx_parser *parser, const char *end) {
    struct ptx_module *module = parser->module;
    module->line_count = 1;
    for (const char *at = module->text; at < end; at++)
        module->line_count += *at == '\n';
    module->lines = ptx_take(parser, module->line_count * sizeof(const char *));
    if (!module->lines)
        return false;
    uint32_t line = 0;
    module->lines[line++] = module->text;
    for (const char *at = module->text; at < end; at++)
        if (*at == '\n')
            module->lines[line++] = at + 1;
    return true;
}

static bool settle_module(struct ptx_parser *parser) {
    struct ptx_module *module = parser->module;
    module->variables = ptx_take(parser, parser->variables.count * sizeof(struct ptx_variable));
    module->functions = ptx_settle(parser, &parser->functions, sizeof(struct ptx_function));
    if (!module->variables || !module->functions)
        return false;
    module->variable_count = parser->variables.count;
    module->function_count = parser->functions.count;
    for (uint32_t i = 0; i < module->variable_count; i++)
        module->variables[i] = **PTX_AT(parser->variables, struct ptx_variable *, i);
    return ptx_settle_sources(parser);
}

static bool parse_module(struct ptx_parser *parser, const char *end) {
    if (!split_lines(parser, end))
        return false;
    if (!ptx_note_functions(parser, end))
        return false;
    ptx_lexer_begin(&parser->lexer, parser->module->text, end);
    ptx_next(parser);
    while (parser->token.kind != PTX_TOKEN_END)
        if (!parse_top(parser))
            return false;
    if (parser->module->version == 0 || parser->module->target == 0)
        return ptx_fail(parser, parser->token.line, "the text has no .%s",
                        parser->module->version ? "target" : "version");
    return settle_module(parser);
}

static void free_parser(struct ptx_parser *parser) {
    struct ptx_builder *builder = &parser->builder;
    struct ptx_vector *const vectors[] = {&parser->functions,   &parser->variables,   &parser->notes,
                                          &parser->callees,     &parser->files,       &builder->code,
                                          &builder->elements,   &builder->registers,  &builder->pending,
                                          &builder->references, &builder->parameters, &builder->variables};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        free(vectors[i]->items);
    free(parser->lanes);
    ptx_names_free(&parser->names);
    ptx_arena_free(parser->scratch);
}

struct ptx_module *ptx_parse(const char *text, size_t bytes, char *message, size_t message_bytes) {
    struct ptx_parser parser = {.message = message, .message_bytes = message_bytes, .token = {.line = 1}};
    const char *nul = bytes ? memchr(text, '\0', bytes) : NULL;
    const size_t length = nul ? (size_t)(nul - text) : bytes;
    bool fine = length <= PTX_TEXT_MOST || ptx_fail(&parser, 1, "the text has more than %d bytes", PTX_TEXT_MOST);
    parser.module = fine ? calloc(1, sizeof *parser.module) : NULL;
    if (parser.module) {
        parser.module->arena = ptx_arena_new(PTX_ARENA_MOST);
        parser.module->text = malloc(length + 1);
        parser.scratch = ptx_arena_new(PTX_ARENA_MOST);
    }
    if (fine && (!parser.module || !parser.module->arena || !parser.module->text || !parser.scratch))
        fine = ptx_out_of_memory(&parser);
    if (fine) {
        if (length)
            memcpy(parser.module->text, text, length);
        parser.module->text[length] = '\0';
        fine = parse_module(&parser, parser.module->text + length);
    }
    free_parser(&parser);
    if (fine)
        return parser.module;
    ptx_free(parser.module);
    errno = parser.out_of_memory ? ENOMEM : EINVAL;
    return NULL;
}
