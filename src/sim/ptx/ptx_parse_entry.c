/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel: its parameters, its limits, and the statements of its body. */
#include "sim/ptx/ptx_internal.h"

#include <string.h>

/* ---- parameters ------------------------------------------------------------------------------ */

/* ".ptr .global .align 16": what a pointer points to; nothing here depends on it. */
static bool skip_pointer_notes(struct ptx_parser *parser) {
    uint32_t unused;
    if (!ptx_at_directive(parser, ".ptr"))
        return true;
    ptx_next(parser);
    if (ptx_at_directive(parser, ".global") || ptx_at_directive(parser, ".shared") ||
        ptx_at_directive(parser, ".const") || ptx_at_directive(parser, ".local"))
        ptx_next(parser);
    return ptx_parse_align(parser, &unused);
}

static bool add_parameter(struct ptx_parser *parser, const struct ptx_token *name, const struct ptx_type *type,
                          uint64_t bytes, uint32_t align) {
    struct ptx_builder *builder = &parser->builder;
    struct ptx_function *function = builder->function;
    const uint64_t offset = (function->parameter_bytes + (uint64_t)align - 1) & ~((uint64_t)align - 1);
    if (offset + bytes > PTX_PARAMETERS_MOST)
        return ptx_fail(parser, name->line, "the parameters take more than %d bytes", PTX_PARAMETERS_MOST);
    struct ptx_symbol *symbol = ptx_name_declare(parser, name, PTX_SYMBOL_PARAMETER, false);
    struct ptx_parameter parameter = {
        .type = type->name, .offset = (uint32_t)offset, .bytes = (uint32_t)bytes, .align = align};
    parameter.name = ptx_arena_text(parser->module->arena, name->text, name->length);
    if (!parameter.name)
        return ptx_out_of_memory(parser);
    if (!symbol || !ptx_push(parser, &builder->parameters, &parameter, sizeof parameter))
        return false;
    symbol->first = parameter.offset;
    function->parameter_bytes = (uint32_t)(offset + bytes);
    return true;
}

static bool parse_parameter(struct ptx_parser *parser) {
    uint32_t align = 0;
    uint64_t count = 1;
    const struct ptx_type *type;
    struct ptx_token name;
    if (!ptx_at_directive(parser, ".param"))
        return ptx_fail_here(parser, ".param");
    ptx_next(parser);
    if (!ptx_parse_align(parser, &align))
        return false;
    const struct ptx_token token = parser->token;
    if (!ptx_expect_type(parser, &type) || !skip_pointer_notes(parser) ||
        !ptx_expect_word(parser, "a parameter's name", &name))
        return false;
    if (type->kind == 'p')
        return ptx_unsupported(parser, &token, ".param ");
    if (ptx_take_mark(parser, '[') &&
        (!ptx_expect_count(parser, "an array's length", PTX_PARAMETERS_MOST, &count) || !ptx_expect_mark(parser, ']')))
        return false;
    const uint32_t natural = type->bits / 8u;
    return add_parameter(parser, &name, type, count * natural, align > natural ? align : natural);
}

static bool parse_parameters(struct ptx_parser *parser) {
    if (!ptx_take_mark(parser, '(') || ptx_take_mark(parser, ')'))
        return true;
    do {
        if (!parse_parameter(parser))
            return false;
    } while (ptx_take_mark(parser, ','));
    return ptx_expect_mark(parser, ')');
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* ".maxntid 384, 1, 1": what is not written is 1. */
static bool parse_three(struct ptx_parser *parser, uint32_t three[3]) {
    uint64_t value;
    three[0] = three[1] = three[2] = 1;
    for (int i = 0; i < 3; i++) {
        if (!ptx_expect_count(parser, "a number of threads or CTAs", UINT32_MAX, &value))
            return false;
        three[i] = (uint32_t)value;
        if (!ptx_take_mark(parser, ','))
            break;
    }
    return true;
}

static bool parse_one(struct ptx_parser *parser, uint32_t *one) {
    uint64_t value;
    if (!ptx_expect_count(parser, "a limit", UINT32_MAX, &value))
        return false;
    *one = (uint32_t)value;
    return true;
}

bool ptx_parse_limits(struct ptx_parser *parser, struct ptx_function *function) {
    while (parser->token.kind == PTX_TOKEN_DIRECTIVE) {
        const struct ptx_token directive = parser->token;
        uint32_t unused;
        bool fine, skipped;
        if (!ptx_skip_note(parser, &skipped))
            return false;
        if (skipped)
            continue;
        ptx_next(parser);
        if (ptx_token_is(&directive, ".maxntid") || ptx_token_is(&directive, ".reqntid")) {
            function->threads_required |= directive.text[1] == 'r';
            fine = parse_three(parser, function->max_threads);
        } else if (ptx_token_is(&directive, ".minnctapersm")) {
            fine = parse_one(parser, &function->min_ctas);
        } else if (ptx_token_is(&directive, ".maxnctapersm")) {
            fine = parse_one(parser, &unused);
        } else if (ptx_token_is(&directive, ".maxnreg")) {
            fine = parse_one(parser, &function->max_registers);
        } else if (ptx_token_is(&directive, ".maxclusterrank")) {
            fine = parse_one(parser, &function->max_cluster);
        } else if (ptx_token_is(&directive, ".reqnctapercluster")) {
            fine = parse_three(parser, function->required_cluster);
        } else if (ptx_token_is(&directive, ".explicitcluster")) {
            fine = function->explicit_cluster = true;
        } else {
            fine = ptx_unsupported(parser, &directive, "");
        }
        if (!fine)
            return false;
    }
    return true;
}

/* ---- statements ------------------------------------------------------------------------------ */

/* "name: .branchtargets a, b, c;": the labels are elements; the name is declared in the block. */
static bool parse_branch_targets(struct ptx_parser *parser, struct ptx_symbol *symbol) {
    struct ptx_builder *builder = &parser->builder;
    ptx_next(parser);
    symbol->kind = PTX_SYMBOL_TARGETS;
    symbol->first = builder->elements.count;
    do {
        struct ptx_operand target = {.kind = PTX_OPERAND_LABEL};
        struct ptx_pending pending = {.instruction = builder->elements.count, .operand = PTX_OPERANDS_MAX};
        if (!ptx_expect_word(parser, "a label", &pending.name) ||
            !ptx_push(parser, &builder->elements, &target, sizeof target) ||
            !ptx_push(parser, &builder->pending, &pending, sizeof pending))
            return false;
        symbol->count++;
    } while (ptx_take_mark(parser, ','));
    return ptx_expect_mark(parser, ';');
}

static bool parse_label(struct ptx_parser *parser, const struct ptx_token *name) {
    ptx_next(parser);
    struct ptx_symbol *symbol = ptx_name_declare(parser, name, PTX_SYMBOL_LABEL, false);
    if (!symbol)
        return false;
    symbol->first = parser->builder.code.count;
    return !ptx_at_directive(parser, ".branchtargets") || parse_branch_targets(parser, symbol);
}

/* "@p" or "@!p" */
static bool parse_guard(struct ptx_parser *parser, struct ptx_statement *statement) {
    struct ptx_token name;
    struct ptx_symbol *symbol;
    if (!ptx_take_mark(parser, '@'))
        return true;
    statement->guarded = true;
    statement->guard_negated = ptx_take_mark(parser, '!');
    if (!ptx_expect_word(parser, "a predicate", &name))
        return false;
    if (!ptx_register_find(parser, &name, &statement->guard, &symbol))
        return ptx_fail(parser, name.line, "%.*s is not declared", PTX_SHOW(name));
    return symbol->type->bits == 1 || ptx_fail(parser, name.line, "%.*s is no predicate", PTX_SHOW(name));
}

static bool parse_statement(struct ptx_parser *parser);

static bool parse_instruction(struct ptx_parser *parser) {
    struct ptx_statement statement = {.guarded = false};
    if (!parse_guard(parser, &statement))
        return false;
    if (parser->token.kind != PTX_TOKEN_WORD)
        return ptx_fail_here(parser, "an instruction");
    ptx_lexer_extend_opcode(&parser->lexer, &parser->token);
    statement.opcode = parser->token;
    const struct ptx_opcode *opcode = ptx_opcode_find(parser, &statement.opcode);
    if (!opcode)
        return false;
    if (ptx_token_is(&statement.opcode, "call") || ptx_token_is(&statement.opcode, "call.uni"))
        return ptx_parse_call(parser, &statement, parse_statement);
    if (parser->calls && (ptx_token_is(&statement.opcode, "ret") || ptx_token_is(&statement.opcode, "ret.uni")))
        return ptx_parse_return(parser, &statement);
    if (!opcode->candidates)
        return ptx_unsupported(parser, &statement.opcode, "");
    ptx_next(parser);
    return ptx_parse_operands(parser, parser->raw) && ptx_decode(parser, &statement, parser->raw);
}

static bool parse_directive(struct ptx_parser *parser) {
    bool skipped;
    if (!ptx_skip_note(parser, &skipped) || skipped)
        return !parser->failed;
    if (ptx_at_directive(parser, ".reg"))
        return ptx_declare_registers(parser);
    if (ptx_at_directive(parser, ".shared") || ptx_at_directive(parser, ".local") ||
        ptx_at_directive(parser, ".global") || ptx_at_directive(parser, ".const") || ptx_at_directive(parser, ".param"))
        return ptx_declare_variables(parser, false);
    if (ptx_at_directive(parser, ".extern")) {
        ptx_next(parser);
        if (ptx_at_directive(parser, ".shared"))
            return ptx_declare_variables(parser, true);
    }
    return ptx_unsupported(parser, &parser->token, "");
}

static bool parse_statement(struct ptx_parser *parser) {
    if (ptx_take_mark(parser, ';'))
        return true;
    if (ptx_take_mark(parser, '{'))
        return ptx_scope_open(parser);
    if (parser->token.kind == PTX_TOKEN_DIRECTIVE)
        return parse_directive(parser);
    const struct ptx_token word = parser->token;
    if (word.kind == PTX_TOKEN_WORD && ptx_lexer_takes_colon(&parser->lexer))
        return parse_label(parser, &word);
    return parse_instruction(parser);
}

/* From behind the kernel's '{' to its '}', which is consumed. Scope 1 holds the parameters, 2 the body. */
static bool parse_body(struct ptx_parser *parser) {
    const uint32_t outermost = parser->names.depth + 1;
    if (!parser->raw && !(parser->raw = ptx_take_scratch(parser, sizeof *parser->raw)))
        return false;
    if (!ptx_scope_open(parser))
        return false;
    for (;;) {
        const uint32_t line = parser->token.line;
        if (!ptx_take_mark(parser, '}')) {
            if (!parse_statement(parser))
                return false;
            continue;
        }
        const bool last = parser->names.depth == outermost;
        if (!ptx_labels_resolve(parser, last))
            return false;
        ptx_scope_close(parser);
        if (last)
            return ptx_finish_function(parser, line);
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void begin_kernel(struct ptx_builder *builder, struct ptx_function *function) {
    struct ptx_vector *const vectors[] = {&builder->code,     &builder->elements,   &builder->registers,
                                          &builder->pending,  &builder->references, &builder->parameters,
                                          &builder->variables};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        vectors[i]->count = 0;
    builder->function = function;
    builder->declared_registers = 0;
}

bool ptx_parse_entry(struct ptx_parser *parser) {
    struct ptx_function function = {.module = parser->module};
    struct ptx_token name;
    ptx_next(parser);
    if (!ptx_expect_word(parser, "a kernel's name", &name) || !ptx_begin_source(parser, name.line))
        return false;
    begin_kernel(&parser->builder, &function);
    function.name = ptx_arena_text(parser->module->arena, name.text, name.length);
    if (!function.name)
        return ptx_out_of_memory(parser);
    if (!ptx_scope_open(parser) || !parse_parameters(parser) || !ptx_parse_limits(parser, &function))
        return false;
    const bool declared_only = ptx_take_mark(parser, ';');
    if (!declared_only && (!ptx_expect_mark(parser, '{') || !parse_body(parser)))
        return false;
    ptx_scope_close(parser);
    if (declared_only)
        return true;
    return ptx_name_declare(parser, &name, PTX_SYMBOL_FUNCTION, false) &&
           ptx_push(parser, &parser->functions, &function, sizeof function);
}
