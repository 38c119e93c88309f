/* SPDX-License-Identifier: Apache-2.0 */
/* A launch without a driver. */
#include "run_ptx.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/machine/devices.h"
#include "sim/memory/memory.h"
#include "sim/report/counters.h"
#include "sim/report/report.h"
#include "sim/report/watch.h"

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static uint8_t *parameters_of(const struct run_ptx *run, const struct ptx_function *function, uint64_t address) {
    const size_t bytes = (function->parameter_bytes + (size_t)127) / 128 * 128 + 128;
    uint8_t *params = aligned_alloc(128, bytes);
    memset(params, 0, bytes);
    if (function->parameter_bytes >= sizeof address)
        memcpy(params, &address, sizeof address);
    if (run->parameter_bytes)
        memcpy(params + run->parameter_offset, run->parameters, run->parameter_bytes);
    return params;
}

/* Module variables are placed as the driver places them. */
static void place_variables(struct ptx_module *module, struct sim_memory *memory) {
    for (uint32_t v = 0; v < module->variable_count; v++) {
        struct ptx_variable *const variable = &module->variables[v];
        if (variable->space != PTX_SPACE_GLOBAL && variable->space != PTX_SPACE_CONST)
            continue;
        ptx_place_variable(module, variable, sim_memory_allocate(memory, variable->bytes));
        if (variable->initial)
            memcpy(sim_memory_view(memory, variable->address, variable->bytes), variable->initial, variable->bytes);
        sim_memory_mark(memory, variable->address, variable->bytes);
    }
}

static void dimensions(uint32_t to[3], const uint32_t from[3]) {
    for (int n = 0; n < 3; n++)
        to[n] = from[n] ? from[n] : 1;
}

static void take_results(struct run_ptx *run, const struct sim_machine *machine, const struct sim_reports *reports) {
    for (uint32_t pc = 0; pc < machine->function->count; pc++)
        run->instructions += machine->executed[pc];
    run->reports = reports->count;
    for (size_t n = 0; n < reports->count && n < sizeof run->report / sizeof *run->report; n++)
        run->report[n] = reports->report[n];
}

static void launch(struct run_ptx *run, struct ptx_function *function, struct sim_memory *memory, uint64_t address) {
    struct sim_reports reports = {0};
    const struct sim_options options = {.seed = run->seed, .reports = SIM_REPORTS_QUIET};
    struct sim_watch watch = {.step = run->step, .step_arg = run->step_arg, .step_cta = -1, .step_warp = -1};
    struct sim_machine machine = {.device = sim_device_find("h100"),
                                  .resident_clusters = 132,
                                  .memory = memory,
                                  .function = function,
                                  .options = &options,
                                  .dynamic_shared_bytes = run->dynamic_shared,
                                  .params = parameters_of(run, function, address),
                                  .counters = sim_counters_new(function),
                                  .reports = &reports,
                                  .watch = run->step ? &watch : NULL,
                                  .executed = calloc(function->count + 1, sizeof(uint64_t)),
                                  .executed_lanes = calloc(function->count + 1, sizeof(uint64_t)),
                                  .serial = 1};
    dimensions(machine.grid, run->grid);
    dimensions(machine.block, run->block);
    dimensions(machine.cluster_dims, run->cluster);
    const double start = now();
    run->result = sim_machine_run(&machine);
    run->seconds = now() - start;
    take_results(run, &machine, &reports);
    sim_reports_free(&reports);
    sim_counters_free(machine.counters);
    free(machine.params);
    free(machine.executed);
    free(machine.executed_lanes);
}

void run_ptx(struct run_ptx *run) {
    run->message[0] = '\0';
    run->instructions = run->reports = 0;
    run->result = -1;
    struct ptx_module *module = ptx_parse(run->text, strlen(run->text), run->message, sizeof run->message);
    if (!module)
        return;
    struct sim_memory *memory = sim_memory_new(UINT64_C(1) << 30);
    struct ptx_function *function = run->kernel ? ptx_find_function(module, run->kernel) : &module->functions[0];
    const uint64_t address = run->bytes ? sim_memory_allocate(memory, run->bytes) : 0;
    place_variables(module, memory);
    if (run->bytes) {
        memcpy(sim_memory_view(memory, address, run->bytes), run->buffer, run->bytes);
        sim_memory_mark(memory, address, run->bytes);
    }
    launch(run, function, memory, address);
    if (run->bytes)
        memcpy(run->buffer, sim_memory_view(memory, address, run->bytes), run->bytes);
    sim_memory_free(memory);
    ptx_free(module);
}

void run_ptx_clean(struct run_ptx *run) {
    run_ptx(run);
    ck_assert_msg(run->message[0] == '\0', "%s", run->message);
    ck_assert_msg(run->reports == 0, "%s at line %u: %s", gm_sim_report_kind_name(run->report[0].kind),
                  run->report[0].line, run->report[0].sentence);
    ck_assert_msg(run->result == 0, "CUresult %d", run->result);
}
