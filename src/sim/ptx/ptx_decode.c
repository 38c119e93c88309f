/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions as written -> instructions that the machine runs. */
#include "sim/ptx/ptx_internal.h"

#include <string.h>

/* ---- immediates ------------------------------------------------------------------------------ */

/* A literal as the instruction's type has it: its bits. */
static bool literal_value(struct ptx_parser *parser, const struct ptx_raw *raw, const struct ptx_type *type,
                          int64_t *value) {
    const unsigned bits = type ? type->bits : 32;
    double wide;
    float narrow;
    *value = (int64_t)raw->literal.bits;
    if (raw->literal.kind == PTX_NUMBER_INTEGER)
        return true;
    if (bits < 32)
        return ptx_fail(parser, raw->token.line, "a float literal where 16 bits are taken");
    if (raw->literal.kind == PTX_NUMBER_FLOAT32 && type && type->kind == 'f' && bits == 64) {
        const uint32_t low = (uint32_t)raw->literal.bits;
        memcpy(&narrow, &low, sizeof narrow);
        wide = (double)narrow;
        memcpy(value, &wide, sizeof wide);
    } else if (raw->literal.kind == PTX_NUMBER_FLOAT64 && bits == 32) {
        uint32_t low;
        memcpy(&wide, &raw->literal.bits, sizeof wide);
        narrow = (float)wide;
        memcpy(&low, &narrow, sizeof low);
        *value = low;
    }
    return true;
}

/* `instruction`, `k`: where the operand will be, for those whose value is not known yet. */
static bool decode_source(struct ptx_parser *parser, const struct ptx_raw *raw, const struct ptx_type *type,
                          uint32_t instruction, uint32_t k, struct ptx_operand *operand) {
    const unsigned bits = type ? type->bits : 32;
    if (raw->kind == PTX_RAW_NAME && raw->meaning == PTX_MEANS_REGISTER) {
        operand->kind = PTX_OPERAND_REGISTER;
        operand->reg = raw->number;
        operand->bits = raw->bits;
        return true;
    }
    if (raw->kind == PTX_RAW_NAME && raw->meaning == PTX_MEANS_SPECIAL) {
        operand->kind = PTX_OPERAND_REGISTER;
        operand->reg = PTX_SPECIAL_NUMBER + raw->number;
        operand->bits = 32;
        return true;
    }
    if (raw->kind == PTX_RAW_NAME && raw->meaning == PTX_MEANS_VARIABLE) {
        const struct ptx_reference reference = {
            .variable = raw->variable, .addend = raw->addend, .instruction = instruction, .operand = k};
        operand->kind = PTX_OPERAND_IMMEDIATE;
        operand->bits = (uint8_t)bits;
        return ptx_push(parser, &parser->builder.references, &reference, sizeof reference);
    }
    int64_t value = raw->addend; /* a parameter's offset */
    if (raw->kind == PTX_RAW_NUMBER && !literal_value(parser, raw, type, &value))
        return false;
    return ptx_immediate(parser, operand, value, bits);
}

/* ---- the other kinds ------------------------------------------------------------------------- */

static bool decode_address(struct ptx_parser *parser, const struct ptx_raw *raw, uint32_t instruction, uint32_t k,
                           struct ptx_operand *operand) {
    operand->kind = PTX_OPERAND_ADDRESS;
    operand->bits = 64;
    operand->value = raw->addend;
    if (raw->meaning == PTX_MEANS_VARIABLE) {
        const struct ptx_reference reference = {
            .variable = raw->variable, .addend = raw->addend, .instruction = instruction, .operand = k};
        return ptx_push(parser, &parser->builder.references, &reference, sizeof reference);
    }
    operand->based = raw->meaning == PTX_MEANS_REGISTER || raw->meaning == PTX_MEANS_SPECIAL;
    if (operand->based) {
        operand->reg = raw->number + (raw->meaning == PTX_MEANS_SPECIAL ? PTX_SPECIAL_NUMBER : 0);
        operand->bits = raw->bits;
    }
    return true;
}

static bool decode_predicate(struct ptx_parser *parser, const struct ptx_raw *raw, struct ptx_operand *operand) {
    if (raw->kind == PTX_RAW_NUMBER) /* nvcc writes -1 for true */
        return ptx_immediate(parser, operand, raw->literal.bits != 0, 1);
    operand->kind = PTX_OPERAND_PREDICATE;
    operand->bits = 1;
    operand->reg = raw->number;
    operand->negated = raw->negated;
    return true;
}

static bool decode_label(struct ptx_parser *parser, const struct ptx_raw *raw, uint32_t instruction, uint32_t k,
                         struct ptx_operand *operand) {
    const struct ptx_pending pending = {.name = raw->token, .instruction = instruction, .operand = k};
    operand->kind = PTX_OPERAND_LABEL;
    return ptx_push(parser, &parser->builder.pending, &pending, sizeof pending);
}

static bool decode_vector(struct ptx_parser *parser, const struct ptx_raw *raw, const struct ptx_type *type,
                          struct ptx_operand *operand) {
    struct ptx_vector *elements = &parser->builder.elements;
    operand->kind = PTX_OPERAND_VECTOR;
    operand->first = elements->count;
    operand->count = raw->count;
    for (uint32_t i = 0; i < raw->count; i++) {
        struct ptx_operand element = {.kind = PTX_OPERAND_SINK, .bits = type ? type->bits : 32};
        if (raw->elements[i].kind != PTX_RAW_SINK &&
            !decode_source(parser, &raw->elements[i], type, elements->count, PTX_OPERANDS_MAX, &element))
            return false;
        if (!ptx_push(parser, elements, &element, sizeof element))
            return false;
    }
    return true;
}

/* The type of a vector's elements: in "mov.b32 {l, h}, r" half of what is said. */
static const struct ptx_type *element_type(const struct ptx_opcode *opcode, const struct ptx_raw *raw) {
    if (opcode->length < 4 || memcmp(opcode->text, "mov.", 4) != 0 || !opcode->last_type)
        return opcode->last_type;
    const unsigned bits = opcode->last_type->bits / raw->count;
    return ptx_type_find(bits == 16 ? "b16" : "b32", 3);
}

static bool decode_operand(struct ptx_parser *parser, const struct ptx_opcode *opcode, char letter,
                           const struct ptx_raw *raw, uint32_t k, struct ptx_operand *operand) {
    const uint32_t instruction = parser->builder.code.count;
    if (raw->kind == PTX_RAW_SINK) {
        operand->kind = PTX_OPERAND_SINK;
        operand->bits = letter == 'D' ? 1 : 32;
        return true;
    }
    switch (letter) {
    case 'a':
    case 'q':
        return decode_address(parser, raw, instruction, k, operand);
    case 'D':
    case 'P':
        return decode_predicate(parser, raw, operand);
    case 'l':
    case 't':
        return decode_label(parser, raw, instruction, k, operand);
    case 'v':
    case 'W':
        return decode_vector(parser, raw, element_type(opcode, raw), operand);
    case 'i':
        return ptx_immediate(parser, operand, (int64_t)raw->literal.bits, 64);
    case 'c':
        return ptx_immediate(parser, operand, raw->number, 32);
    default:
        return decode_source(parser, raw, opcode->last_type, instruction, k, operand);
    }
}

/* ---- the instruction ------------------------------------------------------------------------- */

static const struct ptx_candidate *choose(const struct ptx_opcode *opcode, const struct ptx_raw_list *list,
                                          int at[PTX_OPERANDS_MAX]) {
    const struct ptx_candidate *candidate = opcode->candidates;
    while (candidate && !ptx_operands_fit(candidate->operation->operands, list, at))
        candidate = candidate->next;
    return candidate;
}

/* No row's operands fit: most likely a name is wrong. */
static bool fail_operands(struct ptx_parser *parser, const struct ptx_token *opcode, const struct ptx_raw_list *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        const struct ptx_raw *raw = &list->raw[i], *end = raw + 1;
        if (raw->kind == PTX_RAW_VECTOR) {
            end = raw->elements + raw->count;
            raw = raw->elements;
        }
        for (; raw < end; raw++)
            if (raw->kind == PTX_RAW_NAME && raw->meaning == PTX_MEANS_NOTHING)
                return ptx_fail(parser, raw->token.line, "%.*s is not declared", PTX_SHOW(raw->token));
    }
    return ptx_fail(parser, opcode->line, "%.*s does not take these operands", PTX_SHOW_OPCODE(opcode));
}

bool ptx_decode(struct ptx_parser *parser, const struct ptx_statement *statement, struct ptx_raw_list *list) {
    int at[PTX_OPERANDS_MAX];
    const struct ptx_opcode *opcode = ptx_opcode_find(parser, &statement->opcode);
    const struct ptx_candidate *chosen = opcode ? choose(opcode, list, at) : NULL;
    if (!chosen)
        return opcode && fail_operands(parser, &statement->opcode, list);
    if (parser->calls && chosen->operation->class == SIM_CLASS_PARAM) /* an address that was computed */
        return ptx_unsupported(parser, &statement->opcode, "a function's parameter by its address: ");
    const char *pattern = chosen->operation->operands;
    if (!ptx_check_widths(parser, opcode, pattern, list, at, statement->opcode.line))
        return false;
    struct ptx_instruction instruction = {.operation = chosen->operation,
                                          .handler = chosen->operation->handler,
                                          .line = statement->opcode.line,
                                          .pc = parser->builder.code.count,
                                          .guard = statement->guarded ? (int32_t)statement->guard : PTX_NONE,
                                          .guard_negated = statement->guard_negated,
                                          .rejoin = PTX_NONE};
    memcpy(instruction.choice, chosen->choice, sizeof instruction.choice);
    for (uint32_t k = 0; k < PTX_OPERANDS_MAX && ptx_letter(pattern, k); k++) {
        if (at[k] >= 0 &&
            !decode_operand(parser, opcode, ptx_letter(pattern, k), &list->raw[at[k]], k, &instruction.operand[k]))
            return false;
        instruction.operand_count++;
    }
    return ptx_push(parser, &parser->builder.code, &instruction, sizeof instruction);
}
