/* SPDX-License-Identifier: Apache-2.0 */
/* shared-limit: how much shared memory a block may have, static and dynamic, and what the driver says to more. */
#include <stdio.h>
#include <stdlib.h>

#include "host/driver.h"
#include "lab/residency.h"

enum { KB = 1024, WITHOUT_ASKING = 48 * KB, WORD = 4, ANSWER = 7 };

static const int limits_kb[] = {99, 163, 227}; /* of 8.6 and 8.9, 8.0, and 9.0 */
static const char *const kernels[] = {"lab_shared_limit_0", "lab_shared_limit_16", "lab_shared_limit_48"};
static const int fixed_kb[] = {0, 16, 48}; /* of these kernels */
enum { LIMITS = sizeof limits_kb / sizeof *limits_kb };

struct attempt {
    int kernel;
    unsigned dynamic_bytes;
    bool asks;                  /* sets the attribute first */
    CUresult attribute, launch; /* what the driver said */
};

struct study {
    CUdeviceptr out;
    struct attempt attempts[LAB_POINTS_MAX]; /* of every point */
};

enum { LAUNCH = 0, ATTRIBUTE = 1 }; /* quantities; the latter of attempts that ask */

/* ---- an attempt ----------------------------------------------------------------------------------- */

/* A kernel that nobody has asked anything for yet: attributes stay with it. */
static int attempt_with(struct lab *lab, struct attempt *attempt, CUlibrary library) {
    const struct study *study = lab->data;
    CUdeviceptr out = study->out;
    uint32_t words = attempt->dynamic_bytes / WORD;
    void *arguments[] = {&out, &words};
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 32,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .sharedMemBytes = attempt->dynamic_bytes,
                                   .hStream = lab->gpu.stream};
    CUfunction function;
    if (residency_function(lab, library, kernels[attempt->kernel], 0, &function) != 0)
        return -1;
    if (attempt->asks)
        attempt->attribute = lab->gpu.drv->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                              (int)attempt->dynamic_bytes);
    attempt->launch = lab->gpu.drv->cuLaunchKernelEx(&config, function, arguments, NULL);
    return gpu_finish(&lab->gpu);
}

static int run(struct lab *lab, const struct lab_point *point) {
    struct study *study = lab->data;
    CUlibrary library;
    if (residency_open(lab, "shared_limit", &library) != 0)
        return -1;
    const int status = attempt_with(lab, &study->attempts[point - lab->points], library);
    lab->gpu.drv->cuLibraryUnload(library);
    return status;
}

/* ---- points --------------------------------------------------------------------------------------- */

static void write_bytes(char *text, size_t bytes, unsigned count) {
    if (count && count < KB)
        snprintf(text, bytes, "%u bytes", count);
    else
        snprintf(text, bytes, count % KB ? "%u KB + %u" : "%u KB", count / KB, count % KB);
}

/* Static and dynamic count together, against 48 KB, or, of a kernel that asked, against the device's limit. */
static int add(struct lab *lab, int kernel, unsigned dynamic_bytes, bool asks) {
    struct study *study = lab->data;
    const unsigned all = (unsigned)fixed_kb[kernel] * KB + dynamic_bytes;
    const bool granted = all <= (unsigned)lab->gpu.device.smem_per_block_bytes;
    const bool launches = asks && granted ? true : all <= WITHOUT_ASKING;
    char dynamic[24], label[64];
    write_bytes(dynamic, sizeof dynamic, dynamic_bytes);
    snprintf(label, sizeof label, "%d KB static, %s dynamic%s", fixed_kb[kernel], dynamic,
             asks ? ", asked" : ", not asked");
    struct lab_point *point = lab_add(lab, label,
                                      launches ? "it runs"
                                      : asks   ? "the attribute is refused, and so is the launch"
                                               : "the launch is refused");
    if (!point)
        return -1;
    study->attempts[point - lab->points] =
        (struct attempt){.kernel = kernel, .dynamic_bytes = dynamic_bytes, .asks = asks};
    point->run = run;
    lab_quantity(point, "CUresult of the launch", NULL, launches ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, 0);
    if (asks)
        lab_quantity(point, "CUresult of the attribute", NULL, granted ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, 0);
    return 0;
}

static int add_limits(struct lab *lab) {
    for (int i = 0; i < LIMITS; i++) {
        const unsigned limit = (unsigned)limits_kb[i] * KB;
        if (add(lab, 0, limit, false) != 0 || add(lab, 0, limit, true) != 0 || add(lab, 0, limit + WORD, true) != 0)
            return -1;
    }
    return 0;
}

static int setup(struct lab *lab) {
    struct study *study = lab->data = calloc(1, sizeof *study);
    const unsigned most = (unsigned)lab->gpu.device.smem_per_block_bytes;
    if (!study)
        return complain("out of host memory");
    if (lab_alloc(lab, &study->out, sizeof(uint32_t), 0) != 0)
        return -1;
    if (add(lab, 0, WITHOUT_ASKING, false) != 0 || add(lab, 0, WITHOUT_ASKING + WORD, false) != 0 ||
        add(lab, 0, WITHOUT_ASKING + WORD, true) != 0 || add_limits(lab) != 0)
        return -1;
    if (add(lab, 2, 0, false) != 0 || add(lab, 2, WORD, false) != 0 || add(lab, 2, WORD, true) != 0)
        return -1;
    return add(lab, 1, most - 16 * KB, true) != 0 || add(lab, 1, most - 16 * KB + WORD, true) != 0 ? -1 : 0;
}

/* ---- results -------------------------------------------------------------------------------------- */

static int prepare(struct lab *lab, struct lab_point *point) {
    (void)point;
    const struct study *study = lab->data;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->out, 0, sizeof(uint32_t), lab->gpu.stream);
    return 0;
}

static int check(struct lab *lab, struct lab_point *point) {
    struct study *study = lab->data;
    const struct attempt *attempt = &study->attempts[point - lab->points];
    const uint32_t expected = attempt->launch == CUDA_SUCCESS ? ANSWER : 0;
    uint32_t out;
    if (lab_download(lab, &out, study->out, sizeof out) != 0)
        return -1;
    residency_answer(lab, &point->quantities[LAUNCH], attempt->launch);
    if (attempt->asks)
        residency_answer(lab, &point->quantities[ATTRIBUTE], attempt->attribute);
    if (out == expected)
        lab_correct(point);
    else
        lab_wrong(point, "it left %u, not %u, and the driver said %s", out, expected,
                  gm_driver_error_name(attempt->launch));
    return 0;
}

static int conclude(struct lab *lab) {
    const struct study *study = lab->data;
    size_t run_count = 0, refused = 0, other = 0;
    for (size_t i = 0; i < lab->point_count; i++) {
        const CUresult said = study->attempts[i].launch;
        run_count += said == CUDA_SUCCESS;
        refused += said == CUDA_ERROR_INVALID_VALUE;
        other += said != CUDA_SUCCESS && said != CUDA_ERROR_INVALID_VALUE;
    }
    lab_claim(lab, other == 0, false,
              "%zu of %zu launches run, and %zu are refused, all with CUDA_ERROR_INVALID_VALUE, before anything runs",
              run_count, lab->point_count, refused);
    return 0;
}

const struct lab_experiment shared_limit = {
    .name = "shared-limit",
    .title = "How much a block may have",
    .question =
        "How much shared memory may a block have, static and dynamic, and what does the driver say to a word more?",
    .page = "capacity",
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
};
