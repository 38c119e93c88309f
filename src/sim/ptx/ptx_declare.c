/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations: registers, and variables of the memory spaces. */
#include "sim/ptx/ptx_internal.h"

#include <string.h>

static const struct ptx_type types[] = {
    {"b8", 'b', 8},     {"u8", 'u', 8},   {"s8", 's', 8},     {"b16", 'b', 16},    {"u16", 'u', 16},
    {"s16", 's', 16},   {"f16", 'f', 16}, {"bf16", 'f', 16},  {"b32", 'b', 32},    {"u32", 'u', 32},
    {"s32", 's', 32},   {"f32", 'f', 32}, {"f16x2", 'f', 32}, {"bf16x2", 'f', 32}, {"tf32", 'f', 32},
    {"b64", 'b', 64},   {"u64", 'u', 64}, {"s64", 's', 64},   {"f64", 'f', 64},    {"pred", 'p', 1},
    {"b128", 'b', 128}, {"e4m3", 'f', 8}, {"e5m2", 'f', 8},   {"e4m3x2", 'f', 16}, {"e5m2x2", 'f', 16}};

const struct ptx_type *ptx_type_find(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0)
            return &types[i];
    return NULL;
}

/* ".b32": a type that something can be declared with. */
bool ptx_expect_type(struct ptx_parser *parser, const struct ptx_type **type) {
    const struct ptx_token *token = &parser->token;
    *type = token->kind == PTX_TOKEN_DIRECTIVE ? ptx_type_find(token->text + 1, token->length - 1u) : NULL;
    if (!*type && token->kind == PTX_TOKEN_DIRECTIVE)
        return ptx_unsupported(parser, token, "type ");
    if (!*type)
        return ptx_fail_here(parser, "a type");
    ptx_next(parser);
    return true;
}

bool ptx_parse_align(struct ptx_parser *parser, uint32_t *align) {
    uint64_t value;
    if (!ptx_at_directive(parser, ".align"))
        return true;
    const uint32_t line = parser->token.line;
    ptx_next(parser);
    if (!ptx_expect_count(parser, "the alignment", 1 << 20, &value))
        return false;
    if (value == 0 || (value & (value - 1)))
        return ptx_fail(parser, line, "an alignment of %u bytes: it is a power of two", (unsigned)value);
    *align = (uint32_t)value;
    return true;
}

/* ---- registers ------------------------------------------------------------------------------- */

static bool declare_register(struct ptx_parser *parser, const struct ptx_type *type) {
    struct ptx_token name;
    uint64_t count = 1;
    if (!ptx_expect_word(parser, "a register's name", &name))
        return false;
    const bool is_range = ptx_take_mark(parser, '<');
    if (is_range && (!ptx_expect_count(parser, "the number of registers", PTX_REGISTERS_MOST, &count) ||
                     !ptx_expect_mark(parser, '>')))
        return false;
    parser->builder.declared_registers += count;
    if (parser->builder.declared_registers > PTX_REGISTERS_MOST)
        return ptx_fail(parser, name.line, "the kernel declares more than %d registers", PTX_REGISTERS_MOST);
    struct ptx_symbol *symbol = ptx_name_declare(parser, &name, PTX_SYMBOL_REGISTERS, is_range);
    if (!symbol)
        return false;
    symbol->type = type;
    symbol->count = (uint32_t)count;
    return true;
}

bool ptx_declare_registers(struct ptx_parser *parser) {
    const struct ptx_type *type;
    ptx_next(parser);
    const struct ptx_token token = parser->token;
    if (!ptx_expect_type(parser, &type))
        return false;
    if (type->bits == 8 || type->bits == 128)
        return ptx_unsupported(parser, &token, ".reg ");
    do {
        if (!declare_register(parser, type))
            return false;
    } while (ptx_take_mark(parser, ','));
    return ptx_expect_mark(parser, ';');
}

/* ---- variables ------------------------------------------------------------------------------- */

struct declaration {
    enum ptx_space space;
    bool is_extern, is_param;
    uint32_t align, elements; /* elements: of a vector type */
    const struct ptx_type *type;
};

/* "[4][8]", "[]" or nothing. `*open`: the size is to come from the initialiser or from the launch. */
static bool parse_dimensions(struct ptx_parser *parser, uint64_t *count, bool *open) {
    const uint32_t line = parser->token.line;
    *count = 1;
    *open = false;
    while (ptx_take_mark(parser, '[')) {
        uint64_t length = 0;
        if (ptx_at_mark(parser, ']'))
            *open = true;
        else if (!ptx_expect_count(parser, "an array's length", PTX_VARIABLE_MOST, &length))
            return false;
        if (length && *count > PTX_VARIABLE_MOST / length)
            return ptx_fail(parser, line, "an array of more than %llu elements", (unsigned long long)PTX_VARIABLE_MOST);
        if (!*open)
            *count *= length;
        if (!ptx_expect_mark(parser, ']'))
            return false;
    }
    return true;
}

static bool check_size(struct ptx_parser *parser, const struct ptx_variable *variable, uint32_t line) {
    const uint64_t most = variable->space == PTX_SPACE_SHARED  ? PTX_SHARED_MOST
                          : variable->space == PTX_SPACE_LOCAL ? PTX_LOCAL_MOST
                                                               : PTX_VARIABLE_MOST;
    return variable->bytes <= most || ptx_fail(parser, line, "%s has %llu bytes; there may be %llu", variable->name,
                                               (unsigned long long)variable->bytes, (unsigned long long)most);
}

static bool parse_size(struct ptx_parser *parser, const struct declaration *d, struct ptx_variable *variable) {
    const uint32_t line = parser->token.line;
    uint64_t count;
    bool open;
    if (!parse_dimensions(parser, &count, &open))
        return false;
    const bool initialised = ptx_at_mark(parser, '=');
    if (d->is_extern && (d->space != PTX_SPACE_SHARED || !open || initialised))
        return ptx_fail(parser, line, "%s is .extern: only .shared arrays of open length can be", variable->name);
    if (open && !d->is_extern && !initialised)
        return ptx_fail(parser, line, "%s has neither a length nor an initialiser", variable->name);
    if (initialised && d->space != PTX_SPACE_GLOBAL && d->space != PTX_SPACE_CONST)
        return ptx_fail(parser, line, "%s: only .global and .const variables are initialised", variable->name);
    variable->bytes = open ? 0 : count * (d->type->bits / 8u * d->elements);
    if (!check_size(parser, variable, line))
        return false;
    return !initialised || (ptx_parse_initial(parser, variable, d->type) && check_size(parser, variable, line));
}

static bool declare_variable(struct ptx_parser *parser, const struct declaration *d) {
    struct ptx_token name;
    if (!ptx_expect_word(parser, "a variable's name", &name))
        return false;
    struct ptx_symbol *symbol = ptx_name_declare(parser, &name, PTX_SYMBOL_VARIABLE, false);
    struct ptx_variable *variable = symbol ? ptx_take_scratch(parser, sizeof *variable) : NULL;
    if (!variable)
        return false;
    symbol->variable = variable;
    variable->name = ptx_arena_text(parser->module->arena, name.text, name.length);
    if (!variable->name)
        return ptx_out_of_memory(parser);
    variable->space = d->space;
    variable->is_extern = d->is_extern;
    variable->is_param = d->is_param;
    variable->align = d->align;
    if (!parse_size(parser, d, variable))
        return false;
    const bool of_module = d->space == PTX_SPACE_GLOBAL || d->space == PTX_SPACE_CONST || parser->names.depth == 0;
    return !of_module || ptx_push(parser, &parser->variables, &variable, sizeof variable);
}

static enum ptx_space space_of(const struct ptx_parser *parser) {
    return ptx_at_directive(parser, ".shared")   ? PTX_SPACE_SHARED
           : ptx_at_directive(parser, ".local")  ? PTX_SPACE_LOCAL
           : ptx_at_directive(parser, ".param")  ? PTX_SPACE_LOCAL
           : ptx_at_directive(parser, ".global") ? PTX_SPACE_GLOBAL
                                                 : PTX_SPACE_CONST;
}

bool ptx_declare_variables(struct ptx_parser *parser, bool is_extern) {
    struct declaration d = {.space = space_of(parser), .is_extern = is_extern, .elements = 1};
    d.is_param = ptx_at_directive(parser, ".param");
    ptx_next(parser);
    if (!ptx_parse_align(parser, &d.align))
        return false;
    if (ptx_at_directive(parser, ".v2") || ptx_at_directive(parser, ".v4")) {
        d.elements = (uint32_t)(parser->token.text[2] - '0');
        ptx_next(parser);
    }
    const struct ptx_token token = parser->token;
    if (!ptx_expect_type(parser, &d.type))
        return false;
    if (d.type->kind == 'p')
        return ptx_unsupported(parser, &token, "a variable of ");
    const uint32_t natural = d.type->bits / 8u * d.elements;
    d.align = d.align > natural ? d.align : natural;
    do {
        if (!declare_variable(parser, &d))
            return false;
    } while (ptx_take_mark(parser, ','));
    return ptx_expect_mark(parser, ';');
}
