/* SPDX-License-Identifier: Apache-2.0 */
/* A parsed module in use: looking things up, placing its variables, freeing it. */
#include "sim/ptx/ptx_internal.h"

#include <stdlib.h>
#include <string.h>

void ptx_free(struct ptx_module *module) {
    if (!module)
        return;
    ptx_arena_free(module->arena);
    free(module->text);
    free(module);
}

struct ptx_function *ptx_find_function(const struct ptx_module *module, const char *name) {
    for (uint32_t i = 0; i < module->function_count; i++)
        if (strcmp(module->functions[i].name, name) == 0)
            return &module->functions[i];
    return NULL;
}

const char *ptx_register_name(const struct ptx_function *function, uint32_t offset) {
    uint32_t low = 0, high = function->register_count; /* they are sorted by offset */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (function->registers[middle].offset == offset)
            return function->registers[middle].name;
        if (function->registers[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return "?";
}

/* The rows of an address belong to one operand, so they may be written again. */
static void place(const struct ptx_placement *placement, uint64_t address) {
    struct ptx_operand *operand = placement->operand;
    operand->value = (int64_t)(address + (uint64_t)placement->addend);
    if (operand->kind != PTX_OPERAND_IMMEDIATE)
        return;
    uint32_t *row = placement->row;
    uint64_t *row64 = placement->row64;
    for (int lane = 0; lane < PTX_LANES; lane++) {
        row[lane] = (uint32_t)operand->value;
        row64[lane] = (uint64_t)operand->value;
    }
}

bool ptx_place_variable(struct ptx_module *module, struct ptx_variable *variable, uint64_t address) {
    const uintptr_t at = (uintptr_t)variable, first = (uintptr_t)module->variables;
    if (at < first || at - first >= module->variable_count * sizeof *variable ||
        (variable->space != PTX_SPACE_GLOBAL && variable->space != PTX_SPACE_CONST))
        return false;
    variable->address = address;
    for (const struct ptx_placement *placement = variable->placements; placement; placement = placement->next)
        place(placement, address);
    return true;
}
