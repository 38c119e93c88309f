/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch found wrong, one entry for each kind and PTX line; repeats are counted. */
#include "sim/report/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A launch with more different faults than this has made its point; the others only count. */
enum { REPORTS_MAX = 256 };

const char *gm_sim_report_kind_name(enum gm_sim_report_kind kind) {
    static const char *const names[SIM_REPORT_KINDS] = {
        [SIM_REPORT_NONE] = "none",
        [SIM_REPORT_OUT_OF_BOUNDS] = "out-of-bounds",
        [SIM_REPORT_MISALIGNED] = "misaligned",
        [SIM_REPORT_ILLEGAL] = "illegal",
        [SIM_REPORT_TRAP] = "trap",
        [SIM_REPORT_READ_BEFORE_WRITTEN] = "read-before-written",
        [SIM_REPORT_WRITE_BEFORE_READ] = "write-before-read",
        [SIM_REPORT_WRITE_BEFORE_WRITTEN] = "write-before-written",
        [SIM_REPORT_PROXY] = "proxy",
        [SIM_REPORT_ACCUMULATOR] = "accumulator",
        [SIM_REPORT_TRANSACTIONS] = "transactions",
        [SIM_REPORT_BARRIER] = "barrier",
        [SIM_REPORT_PEER_EXITED] = "peer-exited",
        [SIM_REPORT_EXIT_IN_FLIGHT] = "exit-in-flight",
        [SIM_REPORT_DIVERGED] = "diverged",
        [SIM_REPORT_DEADLOCK] = "deadlock",
        [SIM_REPORT_UNINITIALISED] = "uninitialised",
        [SIM_REPORT_DESCRIPTOR] = "descriptor",
        [SIM_REPORT_REGISTERS] = "registers",
    };
    return (unsigned)kind < SIM_REPORT_KINDS ? names[kind] : "?";
}

void sim_append(char *text, size_t bytes, const char *format, ...) {
    const size_t used = strnlen(text, bytes);
    va_list arguments;
    va_start(arguments, format);
    if (used < bytes)
        vsnprintf(text + used, bytes - used, format, arguments);
    va_end(arguments);
}

bool sim_report_is_fault(enum gm_sim_report_kind kind) {
    return kind >= SIM_REPORT_OUT_OF_BOUNDS && kind <= SIM_REPORT_TRAP;
}

/* The CUresult of a launch that ends with it. */
static CUresult fault_of(enum gm_sim_report_kind kind) {
    switch (kind) {
    case SIM_REPORT_OUT_OF_BOUNDS:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case SIM_REPORT_MISALIGNED:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case SIM_REPORT_ILLEGAL:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    default:
        return CUDA_ERROR_LAUNCH_FAILED;
    }
}

static struct gm_sim_report *find_report(struct sim_reports *reports, enum gm_sim_report_kind kind, uint32_t line) {
    for (size_t r = 0; r < reports->count; r++)
        if (reports->report[r].kind == kind && reports->report[r].line == line)
            return &reports->report[r];
    return NULL;
}

/* Room for one more, up to REPORTS_MAX. False: no memory. */
static bool make_room(struct sim_reports *reports) {
    if (reports->count < reports->room)
        return true;
    const size_t room = reports->room ? 2 * reports->room : 8;
    struct gm_sim_report *grown = room <= REPORTS_MAX ? realloc(reports->report, room * sizeof *grown) : NULL;
    if (!grown)
        return room > REPORTS_MAX;
    reports->report = grown;
    reports->room = room;
    return true;
}

static void fill_source(struct gm_sim_report *report, const struct ptx_function *function) {
    const char *file;
    if (function && function->module &&
        ptx_source_find(function->module->sources, report->line, &file, &report->source_line))
        snprintf(report->source_file, sizeof report->source_file, "%s", file);
}

static void fill_report(struct gm_sim_report *report, const struct sim_warp *warp, int lane, uint64_t address) {
    const struct ptx_function *function = warp->machine->function;
    memset(report, 0, sizeof *report);
    report->warp = (int)warp->index;
    report->lane = lane;
    report->address = address;
    report->times = 1;
    snprintf(report->kernel, sizeof report->kernel, "%s", function && function->name ? function->name : "");
    if (warp->cta)
        memcpy(report->cta, warp->cta->id, sizeof report->cta);
}

void sim_report(struct sim_warp *warp, const struct ptx_instruction *i, enum gm_sim_report_kind kind, int lane,
                uint64_t address, const char *format, ...) {
    if (!warp)
        return;
    struct sim_machine *machine = warp->machine;
    const uint32_t line = i ? i->line : 0;
    struct sim_reports *reports = machine->reports;
    struct gm_sim_report *report = find_report(reports, kind, line);
    if (!report && !make_room(reports)) {
        machine->fault = CUDA_ERROR_OUT_OF_MEMORY; /* whatever it was: nobody could say why */
        return;
    }
    if (sim_report_is_fault(kind))
        sim_fail(machine, fault_of(kind));
    reports->total++;
    if (report)
        report->times++;
    if (report || reports->count == reports->room)
        return;
    report = &reports->report[reports->count++];
    fill_report(report, warp, lane, address);
    report->kind = kind;
    report->line = line;
    fill_source(report, machine->function);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->sentence, sizeof report->sentence, format, arguments);
    va_end(arguments);
}

void sim_reports_free(struct sim_reports *reports) {
    free(reports->report);
    *reports = (struct sim_reports){0};
}

/* ---- values that stem from uninitialised memory ----------------------------------------------------------------- */

static uint32_t tainted_lanes(const struct sim_warp *warp, const struct ptx_operand *operand) {
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        return warp->tainted[operand->reg / 128];
    case PTX_OPERAND_ADDRESS:
        return operand->based ? warp->tainted[operand->reg / 128] : 0;
    case PTX_OPERAND_PREDICATE:
        return warp->tainted_predicates ? warp->tainted_predicates[operand->reg / 4] : 0;
    default:
        return 0;
    }
}

static void check_one(struct sim_warp *warp, const struct ptx_instruction *i, const struct ptx_operand *operand,
                      uint32_t mask, const char *what) {
    const uint32_t lanes = tainted_lanes(warp, operand) & mask;
    if (!lanes)
        return;
    sim_report(warp, i, SIM_REPORT_UNINITIALISED, __builtin_ctz(lanes), 0,
               "%s (%s) stems from shared memory that was never written, in %d lane%s", what,
               ptx_register_name(warp->machine->function, operand->reg), __builtin_popcount(lanes),
               lanes & (lanes - 1) ? "s" : "");
}

void sim_check_defined(struct sim_warp *warp, const struct ptx_instruction *i, const struct ptx_operand *operand,
                       uint32_t mask, const char *what) {
    if (!warp->tainted)
        return;
    if (operand->kind != PTX_OPERAND_VECTOR) {
        check_one(warp, i, operand, mask, what);
        return;
    }
    for (uint32_t e = 0; e < operand->count; e++)
        check_one(warp, i, &warp->machine->function->elements[operand->first + e], mask, what);
}
