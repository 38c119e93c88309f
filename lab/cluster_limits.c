/* SPDX-License-Identifier: Apache-2.0 */
/* cluster-limits: how many clusters of 1 to 16 CTAs run at the same time, with how much shared memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/image.h"
#include "lab/lab.h"
#include "lab/modules.h"

enum { SIZES = 16, PORTABLE = 8, CTAS_MAX = 8192, LOOKS = 20000, SIMULATED_MAX = 400 };

static const uint32_t shared_kb[] = {1, 56, 113, 227};
enum { SHARED = sizeof shared_kb / sizeof *shared_kb };

/* Sizes that are also launched with one cluster more than fits. */
static const uint32_t too_many[] = {1, 2, 4, 8, 16};
enum { TOO_MANY = sizeof too_many / sizeof *too_many };

struct seat {
    uint32_t rank, size, sm, met;
};

struct study {
    CUlibrary library;
    CUdeviceptr seats_address, arrived_address;
    int clusters[SHARED][SIZES + 1]; /* as the driver says; of no CTAs: none */
    bool meets[LAB_POINTS_MAX];      /* the CTAs of point i are to see one another all */
    struct seat seats[CTAS_MAX];
};

/* ---- what the driver says ------------------------------------------------------------------------- */

static int open_function(struct lab *lab, CUfunction *function) {
    struct study *study = lab->data;
    const struct lab_module *module = lab_module_find("cluster_limits");
    if (!module)
        return complain("this build has no module cluster_limits");
    struct gm_image_step step = gm_image_load(lab->gpu.drv, module->image, &study->library);
    if (step.result == CUDA_SUCCESS)
        step = gm_image_function(lab->gpu.drv, study->library, "lab_cluster_meet", (int)shared_kb[SHARED - 1] * 1024,
                                 function);
    if (step.result != CUDA_SUCCESS)
        return gpu_fail(step.result, step.name);
    GPU_TRY(&lab->gpu, cuFuncSetAttribute, *function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    return 0;
}

/* 0 where the driver has no such cluster. */
static int clusters_of(const struct lab *lab, CUfunction function, uint32_t size, uint32_t kb) {
    const struct lab_launch launch = {.block = {32}, .cluster = {size}, .shared_bytes = kb * 1024};
    int clusters = 0;
    return lab_resident_clusters(lab, function, &launch, &clusters) == CUDA_SUCCESS ? clusters : 0;
}

/* ---- points --------------------------------------------------------------------------------------- */

static int add(struct lab *lab, uint32_t size, uint32_t kb, uint32_t clusters, bool meets) {
    struct study *study = lab->data;
    const uint32_t ctas = clusters * size, looks = LOOKS;
    char label[64], change[160];
    snprintf(label, sizeof label, "%u x %u CTAs, %u KB", clusters, size, kb);
    snprintf(change, sizeof change,
             clusters == 0 ? "the driver has no such cluster"
             : meets       ? "as many as the driver says: all CTAs see one another"
                           : "one cluster more: they cannot all be there at once");
    struct lab_point *point = lab_add(lab, label, change);
    if (!point)
        return -1;
    study->meets[point - lab->points] = meets;
    point->too_large = lab->simulated && clusters > SIMULATED_MAX;
    if (clusters == 0 || ctas > CTAS_MAX) {
        point->run = lab_launch_nothing;
        return 0;
    }
    lab_kernel(point, "cluster_limits", "lab_cluster_meet", ctas, 32);
    point->launch.cluster[0] = size;
    point->launch.cluster[1] = point->launch.cluster[2] = 1;
    point->launch.shared_bytes = kb * 1024;
    LAB_ARGUMENT(point, study->seats_address);
    LAB_ARGUMENT(point, study->arrived_address);
    LAB_ARGUMENT(point, looks);
    return 0;
}

static int add_points(struct lab *lab, CUfunction function) {
    struct study *study = lab->data;
    for (size_t s = 0; s < SHARED; s++) {
        for (uint32_t size = 1; size <= SIZES; size++) {
            const int clusters = clusters_of(lab, function, size, shared_kb[s]);
            study->clusters[s][size] = clusters;
            if (add(lab, size, shared_kb[s], (uint32_t)clusters, true) != 0)
                return -1;
        }
    }
    for (size_t i = 0; i < TOO_MANY; i++) {
        const int clusters = study->clusters[SHARED - 1][too_many[i]];
        if (clusters && add(lab, too_many[i], shared_kb[SHARED - 1], (uint32_t)clusters + 1, false) != 0)
            return -1;
    }
    return 0;
}

static int setup(struct lab *lab) {
    struct study *study = calloc(1, sizeof *study);
    CUfunction function;
    lab->data = study;
    if (!study)
        return complain("out of memory");
    if (lab_alloc(lab, &study->seats_address, sizeof study->seats, 0xff) != 0 ||
        lab_alloc(lab, &study->arrived_address, sizeof(uint32_t), 0) != 0 || open_function(lab, &function) != 0)
        return -1;
    return add_points(lab, function);
}

static int prepare(struct lab *lab, struct lab_point *point) {
    (void)point;
    const struct study *study = lab->data;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->seats_address, 0xff, sizeof study->seats, lab->gpu.stream);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->arrived_address, 0, sizeof(uint32_t), lab->gpu.stream);
    return 0;
}

static int check(struct lab *lab, struct lab_point *point) {
    struct study *study = lab->data;
    const uint32_t ctas = point->launch.grid[0], size = point->launch.cluster[0];
    uint32_t met = 0;
    if (!point->launch.kernel) { /* nothing was predicted to run */
        lab_correct(point);
        return 0;
    }
    if (lab_download(lab, study->seats, study->seats_address, ctas * sizeof *study->seats) != 0)
        return -1;
    for (uint32_t i = 0; i < ctas; i++) {
        const struct seat *seat = &study->seats[i];
        if (seat->rank != i % size || seat->size != size) {
            lab_wrong(point, "CTA %u says that it is %u of a cluster of %u, not %u of %u", i, seat->rank, seat->size,
                      i % size, size);
            return 0;
        }
        met += seat->met;
    }
    const bool meets = study->meets[point - lab->points];
    if ((met == ctas) == meets)
        lab_correct(point);
    else
        lab_wrong(point, "%u of %u CTAs saw all the others, and %s were to", met, ctas, meets ? "all" : "not all");
    return 0;
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

static void claim_row(struct lab *lab, size_t s) {
    const struct study *study = lab->data;
    char text[160] = "";
    for (uint32_t size = 1; size <= SIZES; size++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%d", size > 1 ? " " : "", study->clusters[s][size]);
    }
    size_t right = 0, launched = 0;
    for (const struct lab_point *point = &lab->points[s * SIZES]; point < &lab->points[(s + 1) * SIZES]; point++) {
        launched += !point->too_large;
        right += point->result == LAB_CORRECT;
    }
    lab_claim(lab, right == launched, false,
              "With %u KB a CTA, clusters of 1 to 16 CTAs that run at once: %s. So many met in %zu of %zu launches.",
              shared_kb[s], text, right, launched);
}

/* " and " before the last of a list, ", " before the others. */
static void append(char *text, size_t bytes, bool first, bool last, const char *what) {
    const size_t used = strlen(text);
    snprintf(text + used, bytes - used, "%s%s", first ? "" : last ? " and " : ", ", what);
}

static void claim_largest(struct lab *lab) {
    const struct study *study = lab->data;
    char text[120] = "", part[40];
    bool runs = true;
    for (size_t s = 0; s < SHARED; s++) {
        snprintf(part, sizeof part, "%d with %u KB a CTA", study->clusters[s][SIZES], shared_kb[s]);
        append(text, sizeof text, s == 0, s == SHARED - 1, part);
        runs &= study->clusters[s][SIZES] > 0 && lab->points[(s + 1) * SIZES - 1].result == LAB_CORRECT;
    }
    lab_claim(lab, runs, false, "Clusters of %d CTAs, where %d are portable, run with any of the shared memory: %s.",
              SIZES, PORTABLE, text);
}

/* With all of the shared memory there is one CTA an SM. */
static void claim_empty(struct lab *lab) {
    const struct study *study = lab->data;
    const int *clusters = study->clusters[SHARED - 1], sms = lab->gpu.device.sm_count;
    char sizes[40] = "", used[60] = "", part[16];
    for (size_t i = 0; i < TOO_MANY; i++) {
        snprintf(part, sizeof part, "%u", too_many[i]);
        append(sizes, sizeof sizes, i == 0, i == TOO_MANY - 1, part);
        snprintf(part, sizeof part, "%d", clusters[too_many[i]] * (int)too_many[i]);
        append(used, sizeof used, i == 0, i == TOO_MANY - 1, part);
    }
    lab_claim(
        lab, clusters[1] == sms && clusters[SIZES] * SIZES < sms, false,
        "With %u KB a CTA has an SM to itself, and large clusters leave SMs empty: of %d, clusters of %s CTAs use "
        "%s.",
        shared_kb[SHARED - 1], sms, sizes, used);
}

static int conclude(struct lab *lab) {
    size_t refused = 0, beyond = lab->point_count - SHARED * SIZES;
    for (size_t s = 0; s < SHARED; s++)
        claim_row(lab, s);
    for (size_t i = SHARED * SIZES; i < lab->point_count; i++)
        refused += lab->points[i].result == LAB_CORRECT;
    lab_claim(lab, refused == beyond, false,
              "One cluster more than that is never there at once: %zu of %zu launches with %u KB.", refused, beyond,
              shared_kb[SHARED - 1]);
    claim_largest(lab);
    claim_empty(lab);
    return 0;
}

static void teardown(struct lab *lab) {
    struct study *study = lab->data;
    if (study && study->library)
        lab->gpu.drv->cuLibraryUnload(study->library);
}

const struct lab_experiment cluster_limits = {
    .name = "cluster-limits",
    .title = "How many clusters fit",
    .question = "How many clusters of which size run at the same time, and does one of 16 CTAs run at all?",
    .page = "clusters",
    .hopper = true,
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
    .teardown = teardown,
};
