/* SPDX-License-Identifier: Apache-2.0 */
/* What an experiment is written with: memory, points, arguments, quantities, verdicts and claims. */
#include "lab/lab.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/tensor_map.h"

/* ---- memory ------------------------------------------------------------------------------------- */

int lab_alloc(struct lab *lab, CUdeviceptr *address, size_t bytes, unsigned char fill) {
    *address = 0;
    if (lab->allocation_count == LAB_ALLOCATIONS_MAX)
        return complain("%s allocates more than %d times", lab->experiment->name, LAB_ALLOCATIONS_MAX);
    if (gpu_alloc(&lab->gpu, address, bytes) != 0)
        return -1;
    lab->allocations[lab->allocation_count++] = *address;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, *address, fill, bytes, lab->gpu.stream);
    return gpu_finish(&lab->gpu);
}

/* The bench's stream does not wait for the driver's default stream, on which plain copies run; so the host does. */
int lab_upload(struct lab *lab, CUdeviceptr to, const void *from, size_t bytes) {
    if (gpu_finish(&lab->gpu) != 0)
        return -1;
    GPU_TRY(&lab->gpu, cuMemcpyHtoD, to, from, bytes);
    GPU_TRY(&lab->gpu, cuCtxSynchronize);
    return 0;
}

int lab_download(struct lab *lab, void *to, CUdeviceptr from, size_t bytes) {
    if (gpu_finish(&lab->gpu) != 0)
        return -1;
    GPU_TRY(&lab->gpu, cuMemcpyDtoH, to, from, bytes);
    return 0;
}

/* ---- points ------------------------------------------------------------------------------------- */

struct lab_point *lab_add(struct lab *lab, const char *label, const char *change) {
    if (lab->point_count == LAB_POINTS_MAX) {
        complain("%s has more than %d points", lab->experiment->name, LAB_POINTS_MAX);
        return NULL;
    }
    struct lab_point *point = &lab->points[lab->point_count++];
    memset(point, 0, sizeof *point);
    snprintf(point->label, sizeof point->label, "%s", label);
    snprintf(point->change, sizeof point->change, "%s", change ? change : "");
    point->us = point->us_p10 = point->us_p90 = point->cycles = point->sm_mhz = point->watts = NAN;
    return point;
}

void lab_kernel(struct lab_point *point, const char *module, const char *kernel, unsigned grid, unsigned block) {
    struct lab_launch *launch = &point->launch;
    launch->module = module;
    launch->kernel = kernel;
    launch->grid[0] = grid;
    launch->block[0] = block;
    launch->grid[1] = launch->grid[2] = launch->block[1] = launch->block[2] = 1;
}

int lab_launch_nothing(struct lab *lab, const struct lab_point *point) {
    (void)lab, (void)point;
    return 0;
}

void lab_argument(struct lab_point *point, const void *value, size_t bytes) {
    enum { ALIGNMENT_MAX = 128 };
    struct lab_launch *launch = &point->launch;
    size_t alignment = bytes & (~bytes + 1); /* the largest power of two that divides it */
    if (alignment > ALIGNMENT_MAX)
        alignment = ALIGNMENT_MAX;
    size_t at = alignment ? (launch->argument_bytes + alignment - 1) / alignment * alignment : 0;
    if (bytes == 0 || launch->argument_count == LAB_ARGUMENTS_MAX || at + bytes > sizeof launch->buffer) {
        complain("%s: argument %zu, of %zu bytes, is more than the %d arguments and %d bytes there is room for",
                 point->label, launch->argument_count + 1, bytes, LAB_ARGUMENTS_MAX, LAB_ARGUMENT_BYTES_MAX);
        point->malformed = true;
        return;
    }
    memcpy(launch->buffer + at, value, bytes);
    launch->argument_sizes[launch->argument_count] = bytes;
    launch->arguments[launch->argument_count++] = launch->buffer + at;
    launch->argument_bytes = at + bytes;
}

void lab_quantity(struct lab_point *point, const char *name, const char *metric, double predicted, double tolerance) {
    if (point->quantity_count == LAB_QUANTITIES_MAX) {
        complain("%s: %s is more than the %d quantities there is room for", point->label, name, LAB_QUANTITIES_MAX);
        point->malformed = true;
        return;
    }
    point->quantities[point->quantity_count++] = (struct lab_quantity){.name = name,
                                                                       .metric = metric,
                                                                       .predicted = predicted,
                                                                       .tolerance = tolerance,
                                                                       .counted = NAN,
                                                                       .simulated = NAN};
}

int lab_tensor_map(struct lab *lab, const struct gm_tensor_map_request *request, struct lab_map *map) {
    const struct gm_map_desc description = gm_map_desc_of(request);
    struct gm_tensor_map encoded;
    char sentence[256];
    if (!gm_tensor_map_check(&description, sentence, sizeof sentence))
        return complain("the tensor map is illegal: %s", sentence);
    CUresult result = gm_tensor_map_encode(lab->gpu.drv, &description, &encoded);
    if (result != CUDA_SUCCESS)
        return gpu_fail(result, "cuTensorMapEncodeTiled");
    memcpy(map->bytes, encoded.bytes, sizeof map->bytes);
    return 0;
}

CUresult lab_resident_clusters(const struct lab *lab, CUfunction function, const struct lab_launch *launch,
                               int *clusters) {
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = {launch->cluster[0], 1, 1}};
    const CUlaunchConfig config = {.gridDimX = launch->cluster[0],
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = launch->block[0],
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .sharedMemBytes = launch->shared_bytes,
                                   .attrs = &cluster,
                                   .numAttrs = 1};
    return lab->gpu.drv->cuOccupancyMaxActiveClusters(clusters, function, &config);
}

/* ---- what came out ------------------------------------------------------------------------------- */

void lab_correct(struct lab_point *point) {
    point->result = LAB_CORRECT;
}

void lab_wrong(struct lab_point *point, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(point->wrong, sizeof point->wrong, format, arguments);
    va_end(arguments);
    point->result = LAB_WRONG;
}

void lab_claim(struct lab *lab, bool holds, bool of_time, const char *format, ...) {
    if (of_time && !lab->has_times)
        return;
    if (lab->claim_count == LAB_CLAIMS_MAX) {
        struct lab_claim *last = &lab->claims[LAB_CLAIMS_MAX - 1];
        snprintf(last->sentence, sizeof last->sentence, "there is room for %d claims, and no more were stated",
                 LAB_CLAIMS_MAX);
        last->holds = false;
        return;
    }
    struct lab_claim *claim = &lab->claims[lab->claim_count++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(claim->sentence, sizeof claim->sentence, format, arguments);
    va_end(arguments);
    claim->holds = holds;
    claim->of_time = of_time;
}

struct lab_point *lab_find(struct lab *lab, const char *label) {
    for (size_t i = 0; i < lab->point_count; i++) {
        if (strcmp(lab->points[i].label, label) == 0)
            return &lab->points[i];
    }
    return NULL;
}

double lab_gbs(const struct lab_point *point) {
    return point->bytes > 0 ? point->bytes * 1e-3 / point->us : NAN;
}

double lab_tflops(const struct lab_point *point) {
    return point->flops > 0 ? point->flops * 1e-6 / point->us : NAN;
}

double lab_counted(const struct lab_point *point, const char *quantity) {
    for (size_t i = 0; i < point->quantity_count; i++) {
        if (strcmp(point->quantities[i].name, quantity) == 0)
            return point->quantities[i].counted;
    }
    return NAN;
}
