/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a block, where labels are resolved, and the end of a kernel, where all that was left open is filled in.
 *
 *   register file:   special registers | predicates, 4 bytes each | rows of 32 and 64 bits | a spare row
 *
 * Registers come in the order of their first use, so that code runs along its rows. A register that is declared and not
 * used takes no room. */
#include "sim/ptx/ptx_internal.h"

#include <stdlib.h>
#include <string.h>

enum { ROW_BYTES = 4 * PTX_LANES, SPARE_BYTES = 8 * PTX_LANES };

/* ---- labels ---------------------------------------------------------------------------------- */

static void resolve_label(struct ptx_builder *builder, const struct ptx_pending *pending,
                          const struct ptx_symbol *symbol) {
    struct ptx_operand *operand =
        pending->operand == PTX_OPERANDS_MAX
            ? PTX_AT(builder->elements, struct ptx_operand, pending->instruction)
            : &PTX_AT(builder->code, struct ptx_instruction, pending->instruction)->operand[pending->operand];
    if (symbol->kind == PTX_SYMBOL_LABEL)
        operand->value = symbol->first;
    operand->first = symbol->first;
    operand->count = symbol->kind == PTX_SYMBOL_TARGETS ? symbol->count : 0;
}

/* Is the pending name of the kind that its operand takes: a label for 'l', a list of labels for 't'? */
static bool kind_fits(const struct ptx_builder *builder, const struct ptx_pending *pending,
                      const struct ptx_symbol *symbol) {
    bool list = false;
    if (pending->operand < PTX_OPERANDS_MAX) {
        const struct ptx_instruction *i = PTX_AT(builder->code, struct ptx_instruction, pending->instruction);
        list = ptx_letter(i->operation->operands, pending->operand) == 't';
    }
    return list == (symbol->kind == PTX_SYMBOL_TARGETS);
}

/* A label may be declared behind its use, so uses wait for the end of their block: what the block declares is meant
 * before what encloses it. The others wait for the end of the enclosing block. */
bool ptx_labels_resolve(struct ptx_parser *parser, bool outermost) {
    struct ptx_builder *builder = &parser->builder;
    const uint32_t depth = parser->names.depth;
    uint32_t kept = builder->pending_first[depth];
    for (uint32_t i = kept; i < builder->pending.count; i++) {
        const struct ptx_pending pending = *PTX_AT(builder->pending, struct ptx_pending, i);
        const struct ptx_symbol *symbol = ptx_name_find(&parser->names, &pending.name, true);
        if (symbol && symbol->depth == depth) {
            if (!kind_fits(builder, &pending, symbol))
                return ptx_fail(parser, pending.name.line, "%.*s is no %s", PTX_SHOW(pending.name),
                                symbol->kind == PTX_SYMBOL_LABEL ? "list of labels" : "label");
            resolve_label(builder, &pending, symbol);
        } else if (outermost) {
            return ptx_fail(parser, pending.name.line, "label %.*s is not declared", PTX_SHOW(pending.name));
        } else {
            *PTX_AT(builder->pending, struct ptx_pending, kept++) = pending;
        }
    }
    builder->pending.count = kept;
    return true;
}

/* A kernel ends with a ret, written or not, so that every label has an instruction. */
static bool add_ret(struct ptx_parser *parser, uint32_t line) {
    const struct ptx_token text = {.kind = PTX_TOKEN_WORD, .text = "ret", .length = 3, .line = line};
    const struct ptx_opcode *ret = ptx_opcode_find(parser, &text);
    const struct ptx_statement statement = {.opcode = text};
    if (!ret)
        return false;
    if (!ret->candidates)
        return ptx_unsupported(parser, &text, "");
    parser->raw->count = 0;
    return ptx_decode(parser, &statement, parser->raw);
}

/* ---- registers ------------------------------------------------------------------------------- */

static void place_registers(struct ptx_parser *parser) {
    struct ptx_function *function = parser->builder.function;
    const struct ptx_vector *used = &parser->builder.registers;
    uint32_t predicates = 0, at = PTX_SPECIAL_OFFSET(PTX_SPECIALS);
    for (uint32_t n = 0; n < used->count; n++)
        predicates += PTX_AT(*used, struct ptx_register, n)->bits == 1;
    uint32_t predicate_at = at;
    at += (predicates * 4 + ROW_BYTES - 1) / ROW_BYTES * ROW_BYTES;
    for (uint32_t n = 0; n < used->count; n++) {
        struct ptx_register *placed = PTX_AT(*used, struct ptx_register, n);
        const bool is_predicate = placed->bits == 1;
        placed->offset = is_predicate ? predicate_at : at;
        predicate_at += is_predicate ? 4 : 0;
        at += is_predicate ? 0 : placed->bits == 64 ? 2 * ROW_BYTES : ROW_BYTES;
    }
    function->register_bytes = at + SPARE_BYTES;
}

/* The list for reports, by offset: special registers, predicates, the rest. */
static bool list_registers(struct ptx_parser *parser) {
    struct ptx_function *function = parser->builder.function;
    const struct ptx_vector *used = &parser->builder.registers;
    function->registers = ptx_take(parser, (PTX_SPECIALS + used->count) * sizeof(struct ptx_register));
    if (!function->registers)
        return false;
    for (uint32_t special = 0; special < PTX_SPECIALS; special++)
        function->registers[function->register_count++] = (struct ptx_register){
            .name = ptx_special_name(special), .offset = PTX_SPECIAL_OFFSET(special), .bits = 32, .type = "u32"};
    for (int predicates = 1; predicates >= 0; predicates--)
        for (uint32_t n = 0; n < used->count; n++)
            if ((PTX_AT(*used, struct ptx_register, n)->bits == 1) == predicates)
                function->registers[function->register_count++] = *PTX_AT(*used, struct ptx_register, n);
    return true;
}

static uint32_t offset_of(const struct ptx_parser *parser, uint32_t number) {
    return number >= PTX_SPECIAL_NUMBER ? PTX_SPECIAL_OFFSET(number - PTX_SPECIAL_NUMBER)
                                        : PTX_AT(parser->builder.registers, struct ptx_register, number)->offset;
}

static void point_operand(const struct ptx_parser *parser, struct ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_PREDICATE ||
        (operand->kind == PTX_OPERAND_ADDRESS && operand->based))
        operand->reg = offset_of(parser, operand->reg);
    else if (operand->kind == PTX_OPERAND_SINK)
        operand->reg = parser->builder.function->register_bytes - SPARE_BYTES;
}

static void point_operands(const struct ptx_parser *parser, struct ptx_function *function) {
    for (uint32_t e = 0; e < function->element_count; e++)
        point_operand(parser, &function->elements[e]);
    for (uint32_t pc = 0; pc < function->count; pc++) {
        struct ptx_instruction *i = &function->code[pc];
        if (i->guard != PTX_NONE)
            i->guard = (int32_t)offset_of(parser, (uint32_t)i->guard);
        for (uint32_t k = 0; k < i->operand_count; k++)
            point_operand(parser, &i->operand[k]);
    }
}

/* ---- lists of registers touched -------------------------------------------------------------- */

static bool touch(struct ptx_parser *parser, struct ptx_vector *touched, const struct ptx_function *function,
                  const struct ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_REGISTER || (operand->kind == PTX_OPERAND_ADDRESS && operand->based))
        return ptx_push(parser, touched, &operand->reg, sizeof operand->reg);
    for (uint32_t e = 0; operand->kind == PTX_OPERAND_VECTOR && e < operand->count; e++)
        if (function->elements[operand->first + e].kind == PTX_OPERAND_REGISTER &&
            !ptx_push(parser, touched, &function->elements[operand->first + e].reg, sizeof operand->reg))
            return false;
    return true;
}

/* wgmma adds to its destination. */
static bool reads_destination(const struct ptx_instruction *i) {
    return strncmp(i->operation->opcode, "wgmma.mma_async", 15) == 0;
}

static bool list_touched(struct ptx_parser *parser, struct ptx_vector *touched, const struct ptx_function *function,
                         struct ptx_instruction *i) {
    const char *pattern = i->operation->operands;
    i->reads_first = touched->count;
    for (uint32_t k = 0; k < i->operand_count; k++)
        if ((!strchr("dW", ptx_letter(pattern, k)) || reads_destination(i)) &&
            !touch(parser, touched, function, &i->operand[k]))
            return false;
    i->reads_count = (uint16_t)(touched->count - i->reads_first);
    i->writes_first = touched->count;
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (strchr("dW", ptx_letter(pattern, k)) && !touch(parser, touched, function, &i->operand[k]))
            return false;
    i->writes_count = (uint16_t)(touched->count - i->writes_first);
    return true;
}

static bool list_all_touched(struct ptx_parser *parser, struct ptx_function *function) {
    struct ptx_vector touched = {0};
    bool fine = true;
    for (uint32_t pc = 0; fine && pc < function->count; pc++)
        fine = list_touched(parser, &touched, function, &function->code[pc]);
    function->touched = fine ? ptx_settle(parser, &touched, sizeof(uint32_t)) : NULL;
    free(touched.items);
    return function->touched != NULL;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

bool ptx_finish_function(struct ptx_parser *parser, uint32_t line) {
    struct ptx_builder *builder = &parser->builder;
    struct ptx_function *function = builder->function;
    if (!add_ret(parser, line))
        return false;
    place_registers(parser);
    if (!list_registers(parser))
        return false;
    function->code = ptx_settle(parser, &builder->code, sizeof(struct ptx_instruction));
    function->elements = ptx_settle(parser, &builder->elements, sizeof(struct ptx_operand));
    function->parameters = ptx_settle(parser, &builder->parameters, sizeof(struct ptx_parameter));
    if (!function->code || !function->elements || !function->parameters)
        return false;
    function->count = builder->code.count;
    function->element_count = builder->elements.count;
    function->parameter_count = builder->parameters.count;
    point_operands(parser, function);
    return list_all_touched(parser, function) && ptx_place_variables(parser, function) && ptx_flow(parser, function);
}
