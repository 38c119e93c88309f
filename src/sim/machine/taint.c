/* SPDX-License-Identifier: Apache-2.0 */
/* Where values of uninitialised memory go: per register row, the lanes that hold one; predicates likewise. Nothing is
 * kept until something is tainted. Instructions over many lanes look after their results themselves. */
#include "sim/machine/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "sim/execute/instructions.h"
#include "sim/execute/lanes.h"
#include "sim/report/report.h"

void sim_taint(struct sim_warp *warp, uint32_t register_offset, uint32_t lanes) {
    const uint32_t bytes = warp->machine->function->register_bytes;
    if (!warp->tainted) {
        warp->tainted = calloc(bytes / 128 + 2, sizeof *warp->tainted);
        warp->tainted_predicates = calloc(bytes / 4 + 2, sizeof *warp->tainted_predicates);
        if (!warp->tainted || !warp->tainted_predicates) {
            sim_taint_clear(warp);
            sim_out_of_memory(warp->machine);
        }
    }
    if (warp->tainted && register_offset < bytes)
        warp->tainted[register_offset / 128] |= lanes;
}

void sim_taint_clear(struct sim_warp *warp) {
    free(warp->tainted);
    free(warp->tainted_predicates);
    warp->tainted = warp->tainted_predicates = NULL;
}

/* What a class does with taint. */
static bool is_arithmetic(enum sim_class class) {
    return class == SIM_CLASS_INTEGER || class == SIM_CLASS_FLOAT || class == SIM_CLASS_CONVERT ||
           class == SIM_CLASS_MOVE || class == SIM_CLASS_PREDICATE;
}
static bool is_load(enum sim_class class) {
    return class == SIM_CLASS_GLOBAL_LOAD || class == SIM_CLASS_SHARED_LOAD || class == SIM_CLASS_PARAM ||
           class == SIM_CLASS_LOCAL || class == SIM_CLASS_GLOBAL_ATOMIC || class == SIM_CLASS_SHARED_ATOMIC ||
           class == SIM_CLASS_LDMATRIX;
}

static uint32_t guard_taint(const struct sim_warp *warp, const struct ptx_instruction *i, uint32_t lanes) {
    return i->guard < 0 ? 0 : warp->tainted_predicates[i->guard / 4] & lanes;
}

void sim_taint_before(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t lanes, uint32_t mask) {
    const enum sim_class class = i->operation->class;
    const uint32_t *const written = warp->machine->function->touched + i->writes_first;
    const uint32_t guarded = guard_taint(warp, i, lanes);
    if (is_load(class))
        for (uint32_t n = 0; n < i->writes_count; n++)
            warp->tainted[written[n] / 128] &= ~mask;
    if (guarded && !is_arithmetic(class)) {
        const struct ptx_operand guard = {.kind = PTX_OPERAND_PREDICATE, .bits = 1, .reg = (uint32_t)i->guard};
        sim_check_defined(warp, i, &guard, guarded, "the guard");
    }
    if (i->handler == sim_do_branch_indexed)
        sim_check_defined(warp, i, &i->operand[0], mask, "the index");
}

static uint32_t operand_taint(const struct sim_warp *warp, const struct ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_REGISTER)
        return warp->tainted[operand->reg / 128];
    return operand->kind == PTX_OPERAND_PREDICATE ? warp->tainted_predicates[operand->reg / 4] : 0;
}

/* selp passes on what it selects. */
static uint32_t selected_taint(const struct sim_warp *warp, const struct ptx_instruction *i) {
    const uint32_t chosen = sim_predicate(warp, &i->operand[3]);
    return (operand_taint(warp, &i->operand[1]) & chosen) | (operand_taint(warp, &i->operand[2]) & ~chosen) |
           operand_taint(warp, &i->operand[3]);
}

/* A pack of two values, one of which nobody may want: the last column of a tile beside one that was never loaded. Taint
 * is kept per register, so the pack counts as tainted only when all of it is. */
static bool is_pack(const struct ptx_instruction *i) {
    return i->handler == sim_do_pack || (i->operation->class == SIM_CLASS_CONVERT && i->operand_count > 2);
}

static uint32_t packed_taint(const struct sim_warp *warp, const struct ptx_instruction *i) {
    uint32_t taint = UINT32_MAX;
    for (uint32_t n = 1; n < i->operand_count; n++) {
        const struct ptx_operand *const operand = &i->operand[n];
        if (operand->kind != PTX_OPERAND_VECTOR)
            taint &= operand_taint(warp, operand);
        for (uint32_t e = 0; operand->kind == PTX_OPERAND_VECTOR && e < operand->count; e++)
            taint &= operand_taint(warp, &warp->machine->function->elements[operand->first + e]);
    }
    return taint;
}

/* Lanes in which some source is tainted. Vectors hold no predicates, so rows and predicate operands are all. */
static uint32_t sources_taint(const struct sim_warp *warp, const struct ptx_instruction *i) {
    const uint32_t *const read = warp->machine->function->touched + i->reads_first;
    uint32_t taint = 0;
    if (i->handler == sim_do_select_32 || i->handler == sim_do_select_64)
        return selected_taint(warp, i);
    if (is_pack(i))
        return packed_taint(warp, i);
    for (uint32_t n = 0; n < i->reads_count; n++)
        taint |= warp->tainted[read[n] / 128];
    const char *letter = i->operation->operands;
    for (uint32_t n = 0; n < i->operand_count && *letter; n++, letter++) {
        letter += *letter == '?';
        if (*letter == 'P')
            taint |= operand_taint(warp, &i->operand[n]);
    }
    return taint;
}

void sim_taint_after(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t lanes, uint32_t mask) {
    const uint32_t *const written = warp->machine->function->touched + i->writes_first;
    const char *letter = i->operation->operands;
    if (!is_arithmetic(i->operation->class))
        return;
    const uint32_t guarded = guard_taint(warp, i, lanes), taint = (sources_taint(warp, i) & mask) | guarded;
    for (uint32_t n = 0; n < i->writes_count; n++)
        warp->tainted[written[n] / 128] = (warp->tainted[written[n] / 128] & ~mask) | taint;
    for (uint32_t n = 0; n < i->operand_count && *letter; n++, letter++) {
        letter += *letter == '?';
        if (*letter == 'D' && i->operand[n].kind == PTX_OPERAND_PREDICATE) {
            uint32_t *const predicate = &warp->tainted_predicates[i->operand[n].reg / 4];
            *predicate = (*predicate & ~mask) | taint;
        }
    }
}
