/* SPDX-License-Identifier: Apache-2.0 */
/* The single step: which instructions a step function is called for, and what it may look at. */
#include "sim/machine/schedule.h"

#include <string.h>

#include "sim/barriers/barriers.h"
#include "sim/report/watch.h"

struct gm_sim_view {
    struct sim_warp *warp;
    struct sim_path *path;
    const struct ptx_instruction *instruction;
    char text[512];
};

bool sim_step(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i) {
    const struct sim_machine *const machine = warp->machine;
    const struct sim_watch *const asked = machine->watch;
    const uint32_t *const id = warp->cta->id, *const grid = machine->grid;
    const uint64_t cta = id[0] + (uint64_t)grid[0] * (id[1] + (uint64_t)grid[1] * id[2]);
    if ((asked->step_line && asked->step_line != i->line) ||
        (asked->step_cta >= 0 && (uint64_t)asked->step_cta != cta) ||
        (asked->step_warp >= 0 && (uint32_t)asked->step_warp != warp->index) || path->waiting)
        return true;
    struct gm_sim_view view = {.warp = warp, .path = path, .instruction = i};
    return asked->step(&view, asked->step_arg) == 0;
}

uint32_t gm_sim_view_line(struct gm_sim_view *view) {
    return view->instruction->line;
}

/* The line without the blanks around it. */
const char *gm_sim_view_source(struct gm_sim_view *view, uint32_t line) {
    const struct ptx_module *const module = view->warp->machine->function->module;
    if (line == 0 || line > module->line_count)
        return NULL;
    const char *const text = module->lines[line - 1] + strspn(module->lines[line - 1], " \t");
    size_t length = strcspn(text, "\r\n");
    length = length < sizeof view->text ? length : sizeof view->text - 1;
    memcpy(view->text, text, length);
    view->text[length] = '\0';
    return view->text;
}

const char *gm_sim_view_text(struct gm_sim_view *view) {
    const char *const text = gm_sim_view_source(view, view->instruction->line);
    return text ? text : "";
}

uint32_t gm_sim_view_line_from(struct gm_sim_view *view, uint32_t line) {
    const struct ptx_function *const function = view->warp->machine->function;
    uint32_t nearest = 0;
    for (uint32_t pc = 0; pc < function->count; pc++) {
        const uint32_t at = function->code[pc].line;
        if (at >= line && (nearest == 0 || at < nearest))
            nearest = at;
    }
    return nearest;
}

void gm_sim_view_where(struct gm_sim_view *view, uint32_t cta[3], int *warp, uint32_t *mask, uint64_t *time) {
    memcpy(cta, view->warp->cta->id, sizeof view->warp->cta->id);
    *warp = (int)view->warp->index;
    *mask = view->path->mask;
    *time = view->path->time;
}

static void read_lanes(const struct sim_warp *warp, uint32_t offset, int bits, uint64_t lanes[PTX_LANES]) {
    const uint8_t *const row = warp->registers + offset;
    for (int lane = 0; lane < PTX_LANES; lane++) {
        uint32_t narrow;
        if (bits == 64) {
            memcpy(&lanes[lane], row + 8 * (size_t)lane, 8);
            continue;
        }
        memcpy(&narrow, bits == 1 ? row : row + 4 * (size_t)lane, 4);
        lanes[lane] = bits == 1 ? narrow >> lane & 1 : narrow;
    }
}

int gm_sim_view_register(struct gm_sim_view *view, const char *name, uint64_t lanes[32], int *bits) {
    const struct ptx_function *const function = view->warp->machine->function;
    for (uint32_t n = 0; n < function->register_count; n++) {
        const struct ptx_register *const candidate = &function->registers[n];
        if (strcmp(candidate->name, name) == 0) {
            *bits = candidate->bits;
            read_lanes(view->warp, candidate->offset, candidate->bits, lanes);
            return 0;
        }
    }
    for (uint32_t special = 0; special < PTX_SPECIALS; special++)
        if (strcmp(ptx_register_name(function, PTX_SPECIAL_OFFSET(special)), name) == 0) {
            *bits = 32;
            read_lanes(view->warp, PTX_SPECIAL_OFFSET(special), 32, lanes);
            return 0;
        }
    return -1;
}

/* ---- operands in the order in which they are written ------------------------------------------------------------ */

struct search {
    const struct ptx_function *function;
    size_t left; /* names to pass over */
};

static const char *name_of(struct search *search, const struct ptx_operand *operand) {
    const bool names = operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_PREDICATE ||
                       (operand->kind == PTX_OPERAND_ADDRESS && operand->based);
    if (!names || search->left-- > 0)
        return NULL;
    return ptx_register_name(search->function, operand->reg);
}

const char *gm_sim_view_operand(struct gm_sim_view *view, size_t index) {
    const struct ptx_instruction *const i = view->instruction;
    struct search search = {view->warp->machine->function, index};
    if (i->guard >= 0 && search.left-- == 0)
        return ptx_register_name(search.function, (uint32_t)i->guard);
    for (uint32_t n = 0; n < i->operand_count; n++) {
        const struct ptx_operand *const operand = &i->operand[n];
        const char *name = name_of(&search, operand);
        if (operand->kind == PTX_OPERAND_VECTOR)
            for (uint32_t e = 0; e < operand->count && !name; e++)
                name = name_of(&search, &search.function->elements[operand->first + e]);
        if (name)
            return name;
    }
    return NULL;
}

/* ---- memory and barriers ---------------------------------------------------------------------------------------- */

size_t gm_sim_view_shared(struct gm_sim_view *view, uint32_t address, void *bytes, size_t count) {
    const struct sim_cta *const cta = view->warp->cta;
    if (address >= cta->shared_bytes)
        return 0;
    const size_t there = cta->shared_bytes - address, copied = count < there ? count : there;
    memcpy(bytes, cta->shared + address, copied);
    return copied;
}

int gm_sim_view_mbarrier(struct gm_sim_view *view, size_t index, struct gm_sim_mbarrier *barrier) {
    return sim_mbarrier_view(view->warp->cta, index, barrier) ? 0 : -1;
}
