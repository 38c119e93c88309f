/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of wgmma. The program promises two things about accumulators and fragments of A:
 *
 *   - between another instruction's access and the next wgmma on the register there is a wgmma.fence, also before the
 *     first; operations of one shape on the same accumulators need none between them;
 *   - from the issue until the warp has waited for the group nothing else touches the register.
 *
 * Only instructions that name such a register need to be looked at; they are found once per function. */
#include "sim/wgmma/wgmma.h"

#include <stdlib.h>

/* How an operation uses a register: 0 not; 1 as A; else as an accumulator of this shape and type. */
enum { USE_AS_A = 1 };

static uint16_t use_of(const struct wgmma_operation *operation) {
    const uint32_t element_bytes = sim_element_bytes(operation->b.element);
    return (uint16_t)(operation->b.rows << 5 | element_bytes << 2 | operation->type);
}

bool wgmma_registers_begin(struct wgmma_registers *registers, uint32_t rows) {
    registers->touched = calloc(rows, sizeof *registers->touched);
    registers->in_flight = calloc(rows, sizeof *registers->in_flight);
    registers->use = calloc(rows, sizeof *registers->use);
    if (registers->touched && registers->in_flight && registers->use)
        return true;
    wgmma_registers_end(registers);
    return false;
}

void wgmma_registers_end(struct wgmma_registers *registers) {
    free(registers->touched);
    free(registers->in_flight);
    free(registers->use);
    *registers = (struct wgmma_registers){0};
}

/* ---- which instructions touch them ------------------------------------------------------------------------------- */

static void mark_vector(const struct ptx_function *function, const struct ptx_operand *vector, uint8_t *wanted) {
    for (uint32_t e = 0; vector->kind == PTX_OPERAND_VECTOR && e < vector->count; e++) {
        const struct ptx_operand *element = &function->elements[vector->first + e];
        if (element->kind == PTX_OPERAND_REGISTER)
            wanted[element->reg / 128] = 1;
    }
}

static bool touches(const struct ptx_function *function, const struct ptx_instruction *i, const uint8_t *wanted) {
    for (uint32_t k = 0; k < i->reads_count; k++)
        if (wanted[function->touched[i->reads_first + k] / 128])
            return true;
    for (uint32_t k = 0; k < i->writes_count; k++)
        if (wanted[function->touched[i->writes_first + k] / 128])
            return true;
    return false;
}

static bool is_operation(const struct ptx_instruction *i) {
    return i->operation->class == SIM_CLASS_WGMMA && i->operand_count > 1;
}

bool sim_wgmma_prepare(struct ptx_function *function) {
    uint8_t *wanted = NULL;
    if (function->wgmma_prepared)
        return true;
    for (uint32_t pc = 0; pc < function->count; pc++) {
        if (!is_operation(&function->code[pc]))
            continue;
        wanted = wanted ? wanted : calloc(function->register_bytes / 128 + 1, 1);
        if (!wanted)
            return false;
        mark_vector(function, &function->code[pc].operand[0], wanted);
        mark_vector(function, &function->code[pc].operand[1], wanted);
    }
    for (uint32_t pc = 0; wanted && pc < function->count; pc++)
        function->code[pc].touches_wgmma =
            !is_operation(&function->code[pc]) && touches(function, &function->code[pc], wanted);
    function->wgmma_prepared = true;
    free(wanted);
    return true;
}

/* ---- other instructions ------------------------------------------------------------------------------------------ */

static bool vector_has(const struct sim_warp *warp, const struct ptx_operand *vector, uint32_t row) {
    const struct ptx_operand *element = sim_vector(warp, vector);
    for (uint32_t e = 0; vector->kind == PTX_OPERAND_VECTOR && e < vector->count; e++)
        if (element[e].kind == PTX_OPERAND_REGISTER && element[e].reg / 128 == row)
            return true;
    return false;
}

/* The line of the oldest operation that the warp has not waited for and that has this register. */
static uint32_t line_in_flight(const struct sim_warp *warp, uint32_t row) {
    const uint32_t bit = 1u << warp->index % WGMMA_WARPS;
    for (const struct wgmma_operation *o = warp->warpgroup->first; o; o = o->next)
        if (o->issued & bit && !(o->waited & bit) &&
            (vector_has(warp, &o->instruction->operand[0], row) || vector_has(warp, &o->instruction->operand[1], row)))
            return o->instruction->line;
    return 0;
}

static void touch(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t offset, const char *verb) {
    struct wgmma_registers *const registers = &warp->warpgroup->registers[warp->index % WGMMA_WARPS];
    const uint32_t row = offset / 128;
    if (row >= warp->warpgroup->rows)
        return;
    registers->touched[row] = registers->fences;
    if (registers->in_flight[row])
        sim_report(warp, i, SIM_REPORT_ACCUMULATOR, PTX_NONE, 0,
                   "%s is %s while it belongs to the wgmma of line %u, which the warp has not waited for",
                   ptx_register_name(warp->machine->function, offset), verb, line_in_flight(warp, row));
}

void sim_wgmma_check_touch(struct sim_warp *warp, const struct ptx_instruction *i) {
    const struct ptx_function *const function = warp->machine->function;
    if (!warp->warpgroup || !warp->warpgroup->registers[0].touched)
        return;
    for (uint32_t k = 0; k < i->reads_count; k++)
        touch(warp, i, function->touched[i->reads_first + k], "read");
    for (uint32_t k = 0; k < i->writes_count; k++)
        touch(warp, i, function->touched[i->writes_first + k], "written");
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

static void report_no_fence(struct sim_warp *warp, const struct wgmma_operation *operation, uint32_t offset,
                            uint32_t fences) {
    const char *name = ptx_register_name(warp->machine->function, offset);
    if (fences == 0)
        sim_report(warp, operation->instruction, SIM_REPORT_ACCUMULATOR, PTX_NONE, 0,
                   "there is no wgmma.fence before the warp's first wgmma (on %s)", name);
    else
        sim_report(warp, operation->instruction, SIM_REPORT_ACCUMULATOR, PTX_NONE, 0,
                   "%s was accessed by another instruction since the warp's last wgmma.fence", name);
}

/* Takes the registers of one vector for `use`. One report is enough. */
static void take_vector(struct sim_warp *warp, const struct wgmma_operation *operation,
                        const struct ptx_operand *vector, uint16_t use) {
    struct wgmma_registers *const registers = &warp->warpgroup->registers[warp->index % WGMMA_WARPS];
    const struct ptx_operand *const element = sim_vector(warp, vector);
    bool reported = false;
    for (uint32_t e = 0; e < vector->count; e++) {
        const uint32_t row = element[e].reg / 128;
        if (element[e].kind != PTX_OPERAND_REGISTER || row >= warp->warpgroup->rows)
            continue;
        if (registers->touched[row] == registers->fences && !reported) {
            report_no_fence(warp, operation, element[e].reg, registers->fences);
            reported = true;
        } else if (registers->in_flight[row] && registers->use[row] != use && !reported) {
            sim_report(warp, operation->instruction, SIM_REPORT_ACCUMULATOR, PTX_NONE, 0,
                       "%s belongs to the wgmma of line %u, of another shape or use, which the warp has not waited for",
                       ptx_register_name(warp->machine->function, element[e].reg), line_in_flight(warp, row));
            reported = true;
        }
        registers->in_flight[row]++;
        registers->use[row] = use;
    }
}

void wgmma_registers_take(struct sim_warp *warp, const struct wgmma_operation *operation) {
    take_vector(warp, operation, &operation->instruction->operand[0], use_of(operation));
    if (operation->a_in_registers)
        take_vector(warp, operation, &operation->instruction->operand[1], USE_AS_A);
    warp->wgmma_busy++;
}

static void give_vector(struct sim_warp *warp, const struct ptx_operand *vector) {
    struct wgmma_registers *const registers = &warp->warpgroup->registers[warp->index % WGMMA_WARPS];
    const struct ptx_operand *const element = sim_vector(warp, vector);
    for (uint32_t e = 0; e < vector->count; e++) {
        const uint32_t row = element[e].reg / 128;
        if (element[e].kind == PTX_OPERAND_REGISTER && row < warp->warpgroup->rows && registers->in_flight[row])
            registers->in_flight[row]--;
    }
}

void wgmma_registers_give(struct sim_warp *warp, const struct wgmma_operation *operation) {
    give_vector(warp, &operation->instruction->operand[0]);
    if (operation->a_in_registers)
        give_vector(warp, &operation->instruction->operand[1]);
    warp->wgmma_busy--;
}
