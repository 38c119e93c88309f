/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any text through the PTX front end. What it accepts must be sound: the machine follows its offsets,
 * indices and labels without looking. Seeds: ptx/ and the PTX of the kernels. */
#include "sim/ptx/ptx.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void demand(bool sound) {
    if (!sound)
        abort();
}

static void check_operand(const struct ptx_function *function, const struct ptx_operand *operand) {
    switch (operand->kind) {
    case PTX_OPERAND_PREDICATE:
        demand(operand->reg % 4 == 0 && operand->reg + 4 <= function->register_bytes);
        break;
    case PTX_OPERAND_REGISTER:
    case PTX_OPERAND_SINK: /* taken for 64 bits by mistake it must be inside as well */
        demand(operand->reg % 128 == 0 && operand->reg + 256 <= function->register_bytes);
        break;
    case PTX_OPERAND_ADDRESS:
        demand(!operand->based || (operand->reg % 128 == 0 && operand->reg + 256 <= function->register_bytes));
        break;
    case PTX_OPERAND_IMMEDIATE:
        demand(((const uint32_t *)operand->row)[PTX_LANES - 1] == ((const uint32_t *)operand->row)[0]);
        demand(((const uint64_t *)operand->row64)[PTX_LANES - 1] == (uint64_t)operand->value);
        break;
    case PTX_OPERAND_LABEL:
        demand(operand->count ? operand->first + operand->count <= function->element_count
                              : operand->value >= 0 && operand->value < function->count);
        break;
    case PTX_OPERAND_VECTOR:
        demand(operand->count > 0 && operand->first + operand->count <= function->element_count);
        break;
    default:
        demand(operand->kind == PTX_OPERAND_NONE);
    }
}

static void check_instruction(const struct ptx_function *function, const struct ptx_instruction *i) {
    demand(i->operation && i->operand_count <= PTX_OPERANDS_MAX);
    demand(i->line >= 1 && i->line <= function->module->line_count);
    demand(i->guard == PTX_NONE || (uint32_t)i->guard + 4 <= function->register_bytes);
    demand(i->rejoin == PTX_NONE || (i->rejoin >= 0 && (uint32_t)i->rejoin < function->count));
    for (uint32_t k = 0; k < i->operand_count; k++)
        check_operand(function, &i->operand[k]);
    for (uint32_t r = 0; r < i->reads_count; r++)
        demand(*ptx_register_name(function, function->touched[i->reads_first + r]) != '?');
    for (uint32_t w = 0; w < i->writes_count; w++)
        demand(*ptx_register_name(function, function->touched[i->writes_first + w]) != '?');
}

static void check_function(const struct ptx_module *module, const struct ptx_function *function) {
    demand(ptx_find_function(module, function->name) == function && function->count > 0);
    demand(function->code[function->count - 1].guard == PTX_NONE); /* nothing runs off the end */
    for (uint32_t pc = 0; pc < function->count; pc++)
        check_instruction(function, &function->code[pc]);
    for (uint32_t e = 0; e < function->element_count; e++)
        check_operand(function, &function->elements[e]);
    for (uint32_t v = 0; v < function->variable_count; v++)
        demand(function->variables[v].is_extern ||
               function->variables[v].offset + function->variables[v].bytes <=
                   (function->variables[v].space == PTX_SPACE_SHARED ? function->static_shared_bytes
                                                                     : function->local_bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    char message[200] = "";
    struct ptx_module *module = ptx_parse((const char *)bytes, count, message, sizeof message);
    demand(module != NULL || message[0] != '\0');
    if (!module)
        return 0;
    for (uint32_t v = 0; v < module->variable_count; v++)
        demand(ptx_place_variable(module, &module->variables[v], UINT64_C(0x7f0000000000)) ==
               (module->variables[v].space != PTX_SPACE_SHARED));
    for (uint32_t f = 0; f < module->function_count; f++)
        check_function(module, &module->functions[f]);
    ptx_free(module);
    return 0;
}
