/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma.mma_async: each of the four warps reads its operands; what they say is compared, and what the operation does to
 * registers and shared memory is checked. */
#include "sim/wgmma/wgmma.h"

#include "sim/execute/instructions.h"
#include "sim/execute/lanes.h"

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* The warp's next operation: the oldest that it has not issued yet. */
static struct wgmma_operation *next_of(const struct sim_warp *warp) {
    struct wgmma_operation *operation = warp->warpgroup->first;
    while (operation && operation->issued & wgmma_bit(warp))
        operation = operation->next;
    return operation;
}

static void lower(struct sim_clocks *clocks, const struct sim_clocks *with, uint32_t agents) {
    for (uint32_t a = 0; clocks->entry && a < agents; a++)
        if (clocks->entry[a] > sim_clock_of(with, a))
            clocks->entry[a] = sim_clock_of(with, a);
}

/* The first warp's knowledge, less whatever a later one lacks. */
static void learn(struct sim_warp *warp, struct wgmma_operation *operation) {
    if (operation->issued) {
        lower(&operation->known, &warp->known, operation->agents);
        lower(&operation->flushed, &warp->flushed, operation->agents);
        return;
    }
    sim_clocks_reset(&operation->known, operation->agents); /* of its last use */
    sim_clocks_reset(&operation->flushed, operation->agents);
    operation->agents = warp->cluster->agents->count;
    sim_clocks_join(warp->cluster, &operation->known, &warp->known);
    sim_clocks_join(warp->cluster, &operation->flushed, &warp->flushed);
}

/* ---- issuing ----------------------------------------------------------------------------------------------------- */

/* What the handlers differ in. */
struct kind {
    enum sim_element a, b;
    enum sim_accumulator type;
    bool saturate;
};

/* A descriptor: the same 64 bits in all lanes. */
static uint64_t descriptor_of(struct sim_warp *warp, const struct ptx_instruction *i, const struct ptx_operand *operand,
                              char name) {
    const uint64_t *const row = SIM_SOURCE_64(warp, operand);
    for (int lane = 1; lane < PTX_LANES; lane++) {
        if (row[lane] != row[0]) {
            sim_report(warp, i, SIM_REPORT_DESCRIPTOR, lane, 0,
                       "the descriptor of %c is 0x%016llx in lane %d and 0x%016llx in lane 0", name,
                       (unsigned long long)row[lane], lane, (unsigned long long)row[0]);
            break;
        }
    }
    return row[0];
}

static bool scale_of(struct sim_warp *warp, const struct ptx_instruction *i) {
    const uint32_t lanes = sim_predicate(warp, &i->operand[3]);
    if (lanes && ~lanes)
        sim_report(warp, i, SIM_REPORT_DIVERGED, __builtin_ctz(lanes & 1 ? ~lanes : lanes), 0,
                   "scale-d differs from lane to lane: 0x%08x", lanes);
    return lanes & 1;
}

/* d, a, b, scale-d {, scale-a, scale-b {, trans-a where a is in shared memory, trans-b}} */
static bool read_operands(struct sim_warp *warp, const struct ptx_instruction *i, const struct kind *kind,
                          struct wgmma_operation *operation) {
    const bool in_registers = i->operand[1].kind == PTX_OPERAND_VECTOR;
    const uint32_t turns = i->operand_count > 6 ? i->operand_count - 6 : 0;
    operation->a_in_registers = in_registers;
    operation->type = kind->type;
    operation->saturate = kind->saturate;
    operation->a.element = kind->a;
    operation->b.element = kind->b;
    operation->a.rows = SIM_TILE_ROWS;
    operation->b.rows = i->operand[0].count * (kind->type == SIM_ACCUMULATE_F16 ? 4 : 2);
    operation->a.descriptor = in_registers ? 0 : descriptor_of(warp, i, &i->operand[1], 'A');
    operation->b.descriptor = descriptor_of(warp, i, &i->operand[2], 'B');
    operation->keep = scale_of(warp, i);
    operation->a.mn_major = turns == 2 && i->operand[6].value;
    operation->b.mn_major = turns && i->operand[5 + turns].value;
    operation->negate = i->operand_count > 5 && i->operand[4].value * i->operand[5].value < 0;
    for (uint32_t k = 4; k < i->operand_count; k++) {
        const int64_t value = i->operand[k].value;
        if (k < 6 ? value != 1 && value != -1 : value != 0 && value != 1) {
            sim_report(warp, i, SIM_REPORT_ILLEGAL, PTX_NONE, 0, "operand %u of wgmma is %lld, which it may not be",
                       k + 1, (long long)value);
            return false;
        }
    }
    const uint32_t n = operation->b.rows;
    const bool coarse = kind->type == SIM_ACCUMULATE_S32 && n > 32 && n % 16;
    if (n % 8 || n < 8 || n > SIM_TILE_COLUMNS || coarse || (in_registers && i->operand[1].count != 4)) {
        sim_report(warp, i, SIM_REPORT_ILLEGAL, PTX_NONE, 0, "wgmma has no shape with N = %u for these types", n);
        return false;
    }
    return true;
}

/* All four must give the same. */
static void compare(struct sim_warp *warp, const struct wgmma_operation *operation, const struct wgmma_operation *own) {
    const uint32_t first = warp->warpgroup->warp->index + (uint32_t)__builtin_ctz(operation->issued);
    if (operation->instruction != own->instruction) {
        sim_report(warp, own->instruction, SIM_REPORT_DIVERGED, PTX_NONE, 0,
                   "the warpgroup's warps issue different operations: warp %u that of line %u", first,
                   operation->instruction->line);
    } else if (operation->a.descriptor != own->a.descriptor || operation->b.descriptor != own->b.descriptor) {
        const bool a = operation->a.descriptor != own->a.descriptor;
        sim_report(warp, own->instruction, SIM_REPORT_DESCRIPTOR, PTX_NONE, 0,
                   "the descriptor of %c is 0x%016llx, and 0x%016llx in warp %u of the warpgroup", a ? 'A' : 'B',
                   (unsigned long long)(a ? own->a.descriptor : own->b.descriptor),
                   (unsigned long long)(a ? operation->a.descriptor : operation->b.descriptor), first);
    } else if (operation->keep != own->keep) {
        sim_report(warp, own->instruction, SIM_REPORT_DESCRIPTOR, PTX_NONE, 0,
                   "scale-d is %d, and %d in warp %u of the warpgroup", own->keep, operation->keep, first);
    } else if (operation->group != own->group) {
        sim_report(warp, own->instruction, SIM_REPORT_DIVERGED, PTX_NONE, 0,
                   "the operation is in the warp's group %u, and in group %u of warp %u", own->group, operation->group,
                   first);
    }
}

/* Adds the warp to its next operation, or makes it. NULL: there is no room, or no memory, and then the launch ends. */
static struct wgmma_operation *attach(struct sim_warp *warp, const struct wgmma_operation *own) {
    struct wgmma_operation *operation = next_of(warp);
    if (operation) {
        compare(warp, operation, own);
        operation->broken |= operation->instruction != own->instruction;
        learn(warp, operation);
    } else if ((operation = wgmma_append(warp->warpgroup))) {
        wgmma_set(operation, own);
        learn(warp, operation);
    } else {
        return NULL;
    }
    operation->issued |= (uint8_t)wgmma_bit(warp);
    return operation;
}

static enum sim_next issue(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i, uint32_t mask,
                           const struct kind *kind) {
    enum sim_next next;
    if (!wgmma_check_warp(warp, path, i, mask, &next))
        return next;
    struct sim_warpgroup *const warpgroup = warp->warpgroup;
    struct wgmma_operation own = {
        .instruction = i, .group = warpgroup->committed[warp->index % WGMMA_WARPS], .time = warp->cluster->now};
    if (!read_operands(warp, i, kind, &own))
        return SIM_FAULT;
    struct wgmma_operation *const operation = attach(warp, &own);
    if (!operation && warp->machine->fault)
        return SIM_FAULT;
    if (!operation) {
        sim_report(warp, i, SIM_REPORT_ILLEGAL, PTX_NONE, 0, "%u operations are in no group that has been waited for",
                   (uint32_t)WGMMA_OPERATIONS_MAX);
        return SIM_FAULT;
    }
    wgmma_registers_take(warp, operation);
    if (operation->issued == WGMMA_ALL && !operation->broken)
        wgmma_check_operands(warpgroup, operation, warp);
    return warp->machine->fault ? SIM_FAULT : SIM_NEXT;
}

#define WGMMA(name, ...)                                                                                               \
    enum sim_next sim_do_wgmma_##name(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,   \
                                      uint32_t mask) {                                                                 \
        const struct kind kind = {__VA_ARGS__};                                                                        \
        return issue(warp, path, i, mask, &kind);                                                                      \
    }
/* choice[0] is the shape. */
#define FLOATS(choice) ((choice) == 1 ? SIM_ACCUMULATE_F32 : SIM_ACCUMULATE_F16)
#define EIGHT(choice)  ((choice) == 1 ? SIM_ELEMENT_E4M3 : SIM_ELEMENT_E5M2)
#define BYTES(choice)  ((choice) == 1 ? SIM_ELEMENT_S8BIT : SIM_ELEMENT_U8BIT)
WGMMA(f16, SIM_ELEMENT_F16, SIM_ELEMENT_F16, FLOATS(i->choice[1]), false)
WGMMA(bf16, SIM_ELEMENT_BF16, SIM_ELEMENT_BF16, SIM_ACCUMULATE_F32, false)
WGMMA(tf32, SIM_ELEMENT_TF32, SIM_ELEMENT_TF32, SIM_ACCUMULATE_F32, false)
WGMMA(f8, EIGHT(i->choice[2]), EIGHT(i->choice[3]), FLOATS(i->choice[1]), false)
WGMMA(s8, BYTES(i->choice[2]), BYTES(i->choice[3]), SIM_ACCUMULATE_S32, i->choice[1] || i->choice[4])
