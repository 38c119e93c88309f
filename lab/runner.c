/* SPDX-License-Identifier: Apache-2.0 */
/* One experiment at work on one GPU: opened, launched, checked. */
#include "lab/runner.h"

#include <stdlib.h>
#include <string.h>

#include "lab/lab_simulator.h"
#include "program/base/stats.h"

#define CLOCK_READINGS 5

/* ---- open and close ------------------------------------------------------------------------------- */

static struct lab *new_lab(const struct lab_experiment *experiment) {
    struct lab *lab = aligned_alloc(_Alignof(struct lab), sizeof *lab);
    if (!lab) {
        complain("out of host memory");
        return NULL;
    }
    memset(lab, 0, sizeof *lab);
    lab->experiment = experiment;
    return lab;
}

enum runner_outcome runner_open(struct runner *runner, const struct lab_experiment *experiment, int device,
                                bool launching_only) {
    char why[256];
    *runner = (struct runner){.lab = new_lab(experiment)};
    if (!runner->lab)
        return RUNNER_FAILED;
    struct lab *lab = runner->lab;
    lab->launching_only = launching_only;
    if (gpu_count_or_simulate(why, sizeof why) == 0) {
        complain("the laboratory needs a GPU: %s", why);
        return RUNNER_NO_GPU;
    }
    if (gpu_open(&lab->gpu, device) != 0)
        return RUNNER_FAILED;
    const struct gm_device *here = &lab->gpu.device;
    if (experiment->hopper && (here->cc_major != 9 || here->cc_minor != 0)) {
        note("%s: needs compute capability 9.0; %s has %d.%d", experiment->name, here->name, here->cc_major,
             here->cc_minor);
        return RUNNER_NOT_HERE;
    }
    lab->simulated = simulator_opened() != NULL;
    if (lab->simulated)
        simulator_start(experiment);
    runner->opened = true;
    if (experiment->setup(lab) != 0) {
        complain("%s: its setup failed", experiment->name);
        return RUNNER_FAILED;
    }
    return RUNNER_READY;
}

void runner_close(struct runner *runner) {
    struct lab *lab = runner->lab;
    if (!lab)
        return;
    if (runner->opened && lab->experiment->teardown)
        lab->experiment->teardown(lab);
    free(lab->data);
    for (size_t i = 0; i < lab->allocation_count; i++)
        gpu_free(&lab->gpu, &lab->allocations[i]);
    for (size_t i = 0; i < runner->module_count; i++)
        lab->gpu.drv->cuLibraryUnload(runner->libraries[i]);
    if (lab->gpu.drv)
        gpu_close(&lab->gpu);
    free(lab);
    *runner = (struct runner){0};
}

/* ---- launch --------------------------------------------------------------------------------------- */

static int launch_kernel(const struct gpu *gpu, struct lab_launch *launch, CUfunction function) {
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    cluster.value.clusterDim.x = launch->cluster[0];
    cluster.value.clusterDim.y = launch->cluster[1] ? launch->cluster[1] : 1;
    cluster.value.clusterDim.z = launch->cluster[2] ? launch->cluster[2] : 1;
    const CUlaunchConfig config = {.gridDimX = launch->grid[0],
                                   .gridDimY = launch->grid[1],
                                   .gridDimZ = launch->grid[2],
                                   .blockDimX = launch->block[0],
                                   .blockDimY = launch->block[1],
                                   .blockDimZ = launch->block[2],
                                   .sharedMemBytes = launch->shared_bytes,
                                   .hStream = gpu->stream,
                                   .attrs = &cluster,
                                   .numAttrs = launch->cluster[0] ? 1 : 0};
    GPU_TRY(gpu, cuLaunchKernelEx, &config, function, launch->arguments, NULL);
    return 0;
}

int runner_launch(struct runner *runner, struct lab_point *point) {
    struct lab *lab = runner->lab;
    CUfunction *function = &runner->functions[point - lab->points];
    if (point->malformed)
        return complain("%s cannot be launched: see above", point->label);
    if (!point->launch.kernel)
        return point->run ? point->run(lab, point) : complain("%s has neither a kernel nor a call", point->label);
    if (!*function && runner_load(runner, &point->launch, function) != 0)
        return -1;
    return launch_kernel(&lab->gpu, &point->launch, *function);
}

/* ---- check, clocks, the profiler's launches ------------------------------------------------------- */

static int failed(const struct runner *runner, const struct lab_point *point, const char *what) {
    return complain("%s: point `%s`: %s failed", runner->lab->experiment->name, point->label, what);
}

int runner_launch_alone(struct runner *runner, struct lab_point *point) {
    struct lab *lab = runner->lab;
    if (lab->experiment->prepare && lab->experiment->prepare(lab, point) != 0)
        return failed(runner, point, "prepare()");
    if (runner_launch(runner, point) != 0 || gpu_finish(&lab->gpu) != 0)
        return failed(runner, point, "the launch");
    return 0;
}

int runner_check(struct runner *runner) {
    struct lab *lab = runner->lab;
    for (size_t i = 0; i < lab->point_count; i++) {
        struct lab_point *point = &lab->points[i];
        progress_show(i, lab->point_count, point->label);
        if (point->too_large)
            continue;
        if (runner_launch_alone(runner, point) != 0)
            return -1;
        if (lab->simulated)
            simulator_read(point);
        if (lab->experiment->check && lab->experiment->check(lab, point) != 0)
            return failed(runner, point, "check()");
    }
    progress_clear();
    return 0;
}

static int read_clock(struct runner *runner, struct lab_point *point) {
    double cycles[CLOCK_READINGS];
    for (int i = 0; i < CLOCK_READINGS; i++) {
        uint64_t reading = 0;
        if (runner_launch_alone(runner, point) != 0)
            return -1;
        if (lab_download(runner->lab, &reading, point->clock, sizeof reading) != 0)
            return failed(runner, point, "reading its clock");
        cycles[i] = (double)reading;
    }
    point->cycles = stats_median(cycles, CLOCK_READINGS);
    return 0;
}

int runner_read_clocks(struct runner *runner) {
    struct lab *lab = runner->lab;
    for (size_t i = 0; i < lab->point_count; i++) {
        struct lab_point *point = &lab->points[i];
        if (point->clock && point->result != LAB_WRONG && read_clock(runner, point) != 0)
            return -1;
    }
    return 0;
}

bool runner_is_profiled(const struct lab_point *point) {
    for (size_t i = 0; i < point->quantity_count; i++) {
        if (point->launch.kernel && point->quantities[i].metric)
            return true;
    }
    return false;
}

int runner_launch_all(struct runner *runner) {
    for (size_t i = 0; i < runner->lab->point_count; i++) {
        struct lab_point *point = &runner->lab->points[i];
        if (runner_is_profiled(point) && runner_launch_alone(runner, point) != 0)
            return -1;
    }
    return 0;
}
