/* SPDX-License-Identifier: Apache-2.0 */
/* The operands of an instruction, as they are written, with their names looked up. */
#include "sim/ptx/ptx_internal.h"

#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

/* The kernel's own copy of a variable in shared or local memory, made at its first use: only what a kernel uses takes
 * room. Variables of global memory are the module's. */
struct ptx_variable *ptx_use_variable(struct ptx_parser *parser, struct ptx_symbol *symbol) {
    const uint32_t kernel = parser->functions.count + 1;
    if (symbol->variable->space != PTX_SPACE_SHARED && symbol->variable->space != PTX_SPACE_LOCAL)
        return symbol->variable;
    if (symbol->used_by != kernel) {
        symbol->used = ptx_take_scratch(parser, sizeof *symbol->used);
        if (!symbol->used || !ptx_push(parser, &parser->builder.variables, &symbol->used, sizeof symbol->used))
            return NULL;
        *symbol->used = *symbol->variable;
        symbol->used_by = kernel;
    }
    return symbol->used;
}

/* Finds out what the name means. A name that means nothing may still be a label. */
static bool look_up(struct ptx_parser *parser, struct ptx_raw *raw) {
    struct ptx_symbol *symbol;
    raw->meaning = PTX_MEANS_NOTHING;
    if (ptx_register_find(parser, &raw->token, &raw->number, &symbol)) {
        raw->meaning = PTX_MEANS_REGISTER;
        raw->bits = symbol->type->bits;
        return true;
    }
    if (parser->failed)
        return false;
    const int special = symbol ? -1 : ptx_special_find(raw->token.text, raw->token.length);
    if (symbol && symbol->kind == PTX_SYMBOL_VARIABLE) {
        raw->meaning = PTX_MEANS_VARIABLE;
        raw->variable = ptx_use_variable(parser, symbol);
        return raw->variable != NULL;
    }
    if (symbol && symbol->kind == PTX_SYMBOL_PARAMETER) {
        raw->meaning = PTX_MEANS_PARAMETER;
        raw->addend = symbol->first;
    } else if (special >= 0) {
        raw->meaning = special < PTX_SPECIALS ? PTX_MEANS_SPECIAL : PTX_MEANS_CLOCK;
        raw->number = (uint32_t)special;
        raw->bits = 32;
    } else if (*raw->token.text == '%') {
        return ptx_fail(parser, raw->token.line, "%.*s is not declared", PTX_SHOW(raw->token));
    }
    return true;
}

/* "+ 8" behind a symbol or a base. */
static bool parse_addend(struct ptx_parser *parser, struct ptx_raw *raw) {
    int64_t value;
    if (!ptx_at_mark(parser, '+') && !ptx_at_mark(parser, '-'))
        return true;
    if (!ptx_parse_integer(parser, &value))
        return false;
    raw->addend = (int64_t)((uint64_t)raw->addend + (uint64_t)value);
    return true;
}

/* ---- one operand ----------------------------------------------------------------------------- */

static bool parse_number(struct ptx_parser *parser, struct ptx_raw *raw) {
    bool negative = false;
    raw->kind = PTX_RAW_NUMBER;
    while (ptx_take_mark(parser, '-'))
        negative = !negative;
    raw->token = parser->token;
    raw->literal.bits = PTX_LANES;
    if (!ptx_token_is(&raw->token, "WARP_SZ") &&
        (raw->token.kind != PTX_TOKEN_NUMBER || !ptx_number_read(&raw->token, &raw->literal)))
        return ptx_fail_here(parser, "an operand");
    ptx_next(parser);
    if (negative && raw->literal.kind == PTX_NUMBER_INTEGER)
        raw->literal.bits = 0 - raw->literal.bits;
    else if (negative)
        raw->literal.bits ^= UINT64_C(1) << (raw->literal.kind == PTX_NUMBER_FLOAT32 ? 31 : 63);
    return true;
}

static bool parse_name(struct ptx_parser *parser, struct ptx_raw *raw) {
    raw->kind = PTX_RAW_NAME;
    raw->negated = ptx_take_mark(parser, '!');
    if (!ptx_expect_word(parser, "a name", &raw->token))
        return false;
    if (ptx_token_is(&raw->token, "_") && !raw->negated) {
        raw->kind = PTX_RAW_SINK;
        return true;
    }
    return look_up(parser, raw) && parse_addend(parser, raw);
}

static bool parse_scalar(struct ptx_parser *parser, struct ptx_raw *raw) {
    const bool name = parser->token.kind == PTX_TOKEN_WORD && !ptx_token_is(&parser->token, "WARP_SZ");
    return name || ptx_at_mark(parser, '!') ? parse_name(parser, raw) : parse_number(parser, raw);
}

static bool parse_vector(struct ptx_parser *parser, struct ptx_raw_list *list, struct ptx_raw *raw) {
    raw->kind = PTX_RAW_VECTOR;
    raw->elements = &list->element[list->element_count];
    const uint32_t line = parser->token.line;
    ptx_next(parser); /* { */
    do {
        if (list->element_count == sizeof list->element / sizeof *list->element)
            return ptx_fail(parser, line, "the vectors have more elements than any instruction takes");
        struct ptx_raw *element = &list->element[list->element_count++];
        memset(element, 0, sizeof *element);
        if (!parse_scalar(parser, element))
            return false;
        raw->count++;
    } while (ptx_take_mark(parser, ','));
    return ptx_expect_mark(parser, '}');
}

/* Behind '[': a register, a symbol or a number, and what is added to it. */
static bool parse_address(struct ptx_parser *parser, struct ptx_raw *raw) {
    raw->kind = PTX_RAW_ADDRESS;
    if (parser->token.kind != PTX_TOKEN_WORD || ptx_token_is(&parser->token, "WARP_SZ")) {
        raw->token = parser->token;
        return ptx_parse_integer(parser, &raw->addend);
    }
    if (!ptx_expect_word(parser, "an address", &raw->token) || !look_up(parser, raw))
        return false;
    if (raw->meaning == PTX_MEANS_NOTHING)
        return ptx_fail(parser, raw->token.line, "%.*s is not declared", PTX_SHOW(raw->token));
    if (raw->meaning == PTX_MEANS_CLOCK || (raw->meaning == PTX_MEANS_REGISTER && raw->bits < 32))
        return ptx_fail(parser, raw->token.line, "%.*s cannot be an address", PTX_SHOW(raw->token));
    return parse_addend(parser, raw);
}

static struct ptx_raw *add_operand(struct ptx_parser *parser, struct ptx_raw_list *list) {
    if (list->count == PTX_RAW_MOST) {
        ptx_fail(parser, parser->token.line, "more operands than any instruction takes");
        return NULL;
    }
    struct ptx_raw *raw = &list->raw[list->count++];
    memset(raw, 0, sizeof *raw);
    return raw;
}

/* "[address]", or "[map, {x, y}, ...]": then what follows the address are operands of their own. */
static bool parse_bracket(struct ptx_parser *parser, struct ptx_raw_list *list) {
    ptx_next(parser); /* [ */
    struct ptx_raw *raw = add_operand(parser, list);
    if (!raw || !parse_address(parser, raw))
        return false;
    while (ptx_take_mark(parser, ',')) {
        raw = add_operand(parser, list);
        if (!raw || !(ptx_at_mark(parser, '{') ? parse_vector(parser, list, raw) : parse_scalar(parser, raw)))
            return false;
    }
    return ptx_expect_mark(parser, ']');
}

/* "a", "a|b", "{a, b}", "[a]" */
static bool parse_operand(struct ptx_parser *parser, struct ptx_raw_list *list) {
    if (ptx_at_mark(parser, '['))
        return parse_bracket(parser, list);
    struct ptx_raw *raw = add_operand(parser, list);
    if (!raw)
        return false;
    if (ptx_at_mark(parser, '{'))
        return parse_vector(parser, list, raw);
    if (!parse_scalar(parser, raw))
        return false;
    if (!ptx_take_mark(parser, '|'))
        return true;
    raw = add_operand(parser, list);
    if (!raw || !parse_scalar(parser, raw))
        return false;
    raw->piped = true;
    return true;
}

bool ptx_parse_operands(struct ptx_parser *parser, struct ptx_raw_list *list) {
    list->count = list->element_count = 0;
    if (ptx_take_mark(parser, ';'))
        return true;
    do {
        if (!parse_operand(parser, list))
            return false;
    } while (ptx_take_mark(parser, ','));
    return ptx_expect_mark(parser, ';');
}
