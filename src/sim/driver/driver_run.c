/* SPDX-License-Identifier: Apache-2.0 */
/* A launch on the machine, and what becomes of it. */
#include "sim/driver/driver_sim.h"

#include <stdlib.h>
#include <string.h>

#include "sim/report/counters.h"
#include "sim/report/report.h"
#include "sim/report/watch.h"

static bool has_fault(const struct sim_reports *reports) {
    for (size_t i = 0; i < reports->count; i++)
        if (sim_report_is_fault(reports->report[i].kind))
            return true;
    return false;
}

/* What hardware traps on ends the context. What only the simulator sees fails this launch, when it is told to; so do a
 * deadlock, which hardware would wait out, and a step function that has seen enough. A launch that ran out of host
 * memory says nothing of its kernel, whatever was reported before its end, and may be repeated. */
static CUresult judge(CUcontext context, const struct sim_options *options, const struct sim_reports *reports,
                      CUresult result) {
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return result;
    if (result != CUDA_SUCCESS && has_fault(reports))
        context->fault = result;
    if (!sim_reports_collect(reports) && result == CUDA_SUCCESS)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS && reports->count && options->reports == SIM_REPORTS_FAIL)
        return CUDA_ERROR_LAUNCH_FAILED;
    return result;
}

static bool is_ready(const struct sim_machine *machine) {
    return machine->counters && machine->executed && machine->executed_lanes && machine->params;
}

static uint64_t launches; /* of the process so far */

CUresult sim_launch_run(CUcontext context, const struct sim_launch *launch) {
    const struct sim_options options = *sim_options_now();
    const uint32_t dynamic = launch->dynamic_shared, count = launch->function->code->count;
    struct sim_reports reports = {0};
    struct sim_machine machine = {.device = sim_device_presented(),
                                  .memory = context->memory,
                                  .function = launch->function->code,
                                  .options = &options,
                                  .dynamic_shared_bytes = dynamic,
                                  .resident_clusters = launch->resident_clusters,
                                  .params = launch->params,
                                  .counters = sim_counters_new(launch->function->code),
                                  .reports = &reports,
                                  .watch = sim_watch_now(),
                                  .executed = calloc(count + 1, sizeof(uint64_t)),
                                  .executed_lanes = calloc(count + 1, sizeof(uint64_t)),
                                  .serial = ++launches};
    memcpy(machine.grid, launch->grid, sizeof machine.grid);
    memcpy(machine.block, launch->block, sizeof machine.block);
    memcpy(machine.cluster_dims, launch->cluster, sizeof machine.cluster_dims);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (is_ready(&machine)) {
        sim_set_launch_runs(true);
        result = sim_machine_run(&machine);
        sim_counters_finish(&machine);
        sim_set_launch_runs(false);
        result = judge(context, &options, &reports, result);
    }
    sim_counters_free(machine.counters);
    free(machine.executed);
    free(machine.executed_lanes);
    sim_reports_free(&reports);
    return result;
}
