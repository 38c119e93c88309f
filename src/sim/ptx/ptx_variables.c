/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of variables: where a kernel's shared and local memory lies, and which operands hold an address.
 *
 *   shared:   0 .. 1023   the system's
 *             1024 ..     static variables, in the order of their first use
 *             then, at the next multiple of its alignment, the dynamic part */
#include "sim/ptx/ptx_internal.h"

static uint64_t round_up(uint64_t value, uint32_t align) {
    return (value + align - 1) & ~((uint64_t)align - 1);
}

/* Static shared variables get their offsets; then the dynamic part's is known. */
static bool lay_out(struct ptx_parser *parser, struct ptx_function *function) {
    const struct ptx_vector *used = &parser->builder.variables;
    uint64_t shared = SIM_SHARED_RESERVED, local = 0;
    for (uint32_t n = 0; n < used->count; n++) {
        struct ptx_variable *variable = *PTX_AT(*used, struct ptx_variable *, n);
        const bool is_shared = variable->space == PTX_SPACE_SHARED;
        uint64_t *end = is_shared ? &shared : &local;
        if (variable->is_extern) {
            if (variable->align > function->dynamic_shared_align)
                function->dynamic_shared_align = variable->align;
            continue;
        }
        variable->address = round_up(*end, variable->align);
        variable->offset = variable->address - (is_shared ? SIM_SHARED_RESERVED : 0);
        *end = variable->address + variable->bytes;
        if (shared > PTX_SHARED_MOST || local > PTX_LOCAL_MOST)
            return ptx_fail(parser, parser->token.line, "%s has too many bytes of %s memory", function->name,
                            is_shared ? "shared" : "local");
    }
    function->static_shared_bytes = (uint32_t)(shared - SIM_SHARED_RESERVED);
    function->local_bytes = (uint32_t)round_up(local, 16);
    return true;
}

static bool list_variables(struct ptx_parser *parser, struct ptx_function *function) {
    const struct ptx_vector *used = &parser->builder.variables;
    const uint32_t align = function->dynamic_shared_align ? function->dynamic_shared_align : 1;
    function->variables = ptx_take(parser, used->count * sizeof(struct ptx_variable));
    if (!function->variables)
        return false;
    for (uint32_t n = 0; n < used->count; n++) {
        struct ptx_variable *variable = *PTX_AT(*used, struct ptx_variable *, n);
        if (variable->is_extern)
            variable->address = round_up(SIM_SHARED_RESERVED + function->static_shared_bytes, align);
        if (variable->is_extern)
            variable->offset = variable->address - SIM_SHARED_RESERVED;
        function->variables[function->variable_count++] = *variable;
    }
    return true;
}

/* An address in global memory: the operand gets rows of its own, to be written when the variable is placed. */
static bool remember_placement(struct ptx_parser *parser, const struct ptx_reference *reference,
                               struct ptx_operand *operand) {
    struct ptx_placement *placement = ptx_take(parser, sizeof *placement);
    if (!placement)
        return false;
    placement->operand = operand;
    placement->addend = reference->addend;
    placement->next = reference->variable->placements;
    reference->variable->placements = placement;
    operand->value = reference->addend;
    if (operand->kind != PTX_OPERAND_IMMEDIATE)
        return true;
    operand->row = placement->row = ptx_take(parser, PTX_LANES * sizeof(uint32_t));
    operand->row64 = placement->row64 = ptx_take(parser, PTX_LANES * sizeof(uint64_t));
    return operand->row && operand->row64;
}

bool ptx_place_variables(struct ptx_parser *parser, struct ptx_function *function) {
    const struct ptx_vector *references = &parser->builder.references;
    if (!lay_out(parser, function) || !list_variables(parser, function))
        return false;
    for (uint32_t n = 0; n < references->count; n++) {
        const struct ptx_reference *reference = PTX_AT(*references, struct ptx_reference, n);
        const struct ptx_variable *variable = reference->variable;
        struct ptx_operand *operand = reference->operand == PTX_OPERANDS_MAX
                                          ? &function->elements[reference->instruction]
                                          : &function->code[reference->instruction].operand[reference->operand];
        const int64_t address = (int64_t)(variable->address + (uint64_t)reference->addend);
        bool fine = true;
        if (variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST)
            fine = remember_placement(parser, reference, operand);
        else if (operand->kind == PTX_OPERAND_IMMEDIATE)
            fine = ptx_immediate(parser, operand, address, operand->bits);
        else
            operand->value = address;
        if (!fine)
            return false;
    }
    return true;
}
