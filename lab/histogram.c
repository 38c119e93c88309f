/* SPDX-License-Identifier: Apache-2.0 */
/* The histogram ladder: 256 bins of 32-bit values, from atomics on global memory to clusters that merge counts. The library's
 * operation `histogram` came of it (docs/HISTOGRAM.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/kernels/histogram.h"
#include "lab/kernels/reduction.h"
#include "lab/ladders.h"

enum {
    LARGEST = 1 << 28, /* values: 1 GiB */
    SLOW = 1 << 24,    /* for the step that would take a tenth of a second a launch */
    COUNTED = 1 << 20,
    ONE_VALUE = 0xab, /* of every byte of "one bin" */
};

/* GB/s of CUB's DeviceHistogram on an H200, 256 bins of uniform values; four times that are to be reached. */
static const double of_cub = 800;

enum step { STEP_GLOBAL, STEP_SHARED, STEP_WARPS, STEP_VECTORS, STEP_CLUSTER, STEPS };

struct step_facts {
    const char *label, *kernel;
    uint32_t per_lane; /* neighbouring values of a lane; 0: no atomics on shared memory */
    const char *change;
};

static const struct step_facts steps[STEPS] = {
    [STEP_GLOBAL] = {"global", "lab_histogram_global", 0,
                     "One atomic on global memory a value: all of them meet in the 1 KB of L2 that holds the bins."},
    [STEP_SHARED] =
        {"shared", "lab_histogram_shared", 1,
         "A CTA counts in shared memory and adds its bins to global memory once: values meet within the SM, "
         "where lanes of different bins in one bank wait for each other."},
    [STEP_WARPS] =
        {"warps", "lab_histogram_warps", 1,
         "A copy of the bins for every warp: warps no longer meet in one word. It should change little: shared "
         "memory serves one warp at a time anyway, and lanes of one bin share its word."},
    [STEP_VECTORS] =
        {"vectors", "lab_histogram_vectors", 4,
         "Values come 16 bytes at a time, 4 loads on their way: it was the latency of single loads that the "
         "steps before waited for, not their atomics."},
    [STEP_CLUSTER] = {"cluster", "lab_histogram_cluster", 4,
                      "The CTAs of a cluster read each other's bins in distributed shared memory and add their sum to "
                      "global memory: one global atomic a bin and cluster instead of one a CTA. The operation "
                      "`histogram` came of these steps (docs/HISTOGRAM.md)."},
};

enum values { UNIFORM, ONE_BIN, ONE_BANK, VALUES };
static const char *const values_names[VALUES] = {"uniform", "one bin", "one bank"};

struct histogram_data {
    CUdeviceptr values[VALUES], bins;
    struct {
        enum values values;
        uint32_t count;
    } of_point[LAB_POINTS_MAX];
    uint32_t whole[HISTOGRAM_BINS]; /* of all uniform values */
    unsigned clusters;              /* that run at the same time; 0: not asked yet */
};

/* Lanes 0 to 7 go to the 8 bins of bank 0, and so on: conflicts of 8 ways. */
static uint32_t one_bank_value(uint32_t k) {
    return k % 8 * GM_BANKS << 24 | (ladder_hash(k) & 0xffffff);
}

static uint32_t one_bin_value(uint32_t k) {
    (void)k;
    return ONE_VALUE * 0x01010101u;
}

static uint32_t (*const value_of[VALUES])(uint32_t k) = {ladder_hash, one_bin_value, one_bank_value};

static void count_on_host(enum values values, uint32_t count, uint32_t bins[HISTOGRAM_BINS]) {
    for (uint32_t b = 0; b < HISTOGRAM_BINS; b++)
        bins[b] = 0;
    for (uint32_t k = 0; k < count; k++)
        bins[HISTOGRAM_BIN(value_of[values](k))]++;
}

/* ---- points --------------------------------------------------------------------------------------- */

/* The grid stays, so it must fit: clusters that had to wait for others to end would begin their share when those are
 * done with theirs. */
static int launch(struct lab *lab, struct lab_point *point, enum step step) {
    const unsigned fit = (unsigned)lab->gpu.device.sm_count * HISTOGRAM_CTAS_PER_SM;
    struct histogram_data *data = lab->data;
    lab_kernel(point, step == STEP_CLUSTER ? "histogram_cluster" : "histogram", steps[step].kernel, fit,
               HISTOGRAM_THREADS);
    if (step != STEP_CLUSTER)
        return 0;
    point->launch.cluster[0] = HISTOGRAM_CLUSTER;
    if (!data->clusters && ladder_resident_clusters(lab, &point->launch, &data->clusters) != 0)
        return -1;
    point->launch.grid[0] = data->clusters * HISTOGRAM_CLUSTER;
    return 0;
}

static struct lab_point *add_step(struct lab *lab, enum step step, enum values values, uint32_t count) {
    struct histogram_data *data = lab->data;
    char label[64];
    snprintf(label, sizeof label, "%s, %s %u", steps[step].label, values_names[values], count);
    struct lab_point *point = lab_add(lab, label, steps[step].change);
    if (!point)
        return NULL;
    data->of_point[ladder_index(lab, point)].values = values;
    data->of_point[ladder_index(lab, point)].count = count;
    point->bytes = (double)count * sizeof(uint32_t);
    if (launch(lab, point, step) != 0)
        return NULL;
    LAB_ARGUMENT(point, data->values[values]);
    LAB_ARGUMENT(point, count);
    LAB_ARGUMENT(point, data->bins);
    return point;
}

/* Wavefronts of counting the first values; each step has no other atomics on shared memory. */
static int predict(struct lab_point *point, enum step step, enum values values) {
    uint32_t *first = malloc(COUNTED * sizeof *first);
    if (!first)
        return complain("out of host memory");
    for (uint32_t k = 0; k < COUNTED; k++)
        first[k] = value_of[values](k);
    lab_quantity(point, "atomic wavefronts", LAB_EXACT_WAVEFRONTS_ATOM,
                 histogram_wavefronts(first, COUNTED, steps[step].per_lane), 0);
    free(first);
    return 0;
}

static int add_counted(struct lab *lab, enum step step) {
    for (int values = 0; values < VALUES; values++) {
        struct lab_point *point = add_step(lab, step, (enum values)values, COUNTED);
        if (!point || (step != STEP_GLOBAL && predict(point, step, (enum values)values) != 0))
            return -1;
    }
    return 0;
}

static int add_steps(struct lab *lab, enum step step) {
    static const uint32_t ragged[] = {1, 1000003, 30000001};
    for (size_t i = 0; i < sizeof ragged / sizeof *ragged; i++) {
        struct lab_point *point = add_step(lab, step, UNIFORM, ragged[i]);
        if (!point)
            return -1;
        point->too_large = lab->simulated && ragged[i] > COUNTED;
    }
    if (add_counted(lab, step) != 0)
        return -1;
    for (int values = UNIFORM; values <= ONE_BIN; values++) {
        struct lab_point *point = add_step(lab, step, (enum values)values, step == STEP_GLOBAL ? SLOW : LARGEST);
        if (!point)
            return -1;
        point->timed = true;
        point->too_large = lab->simulated;
    }
    return 0;
}

/* The read kernel of the reduction ladder, whole trips of its grid only. */
static int add_read(struct lab *lab) {
    const struct histogram_data *data = lab->data;
    const unsigned ctas = (unsigned)lab->gpu.device.sm_count * REDUCTION_CTAS_PER_SM;
    const uint32_t of_trip = ctas * REDUCTION_THREADS * REDUCTION_LOADS * 4, trips = LARGEST / of_trip;
    struct lab_point *point = lab_add(lab, "read", "No step: a kernel that reads the values and counts nothing.");
    if (!point)
        return -1;
    lab_kernel(point, "reduction", "lab_reduction_read", ctas, REDUCTION_THREADS);
    LAB_ARGUMENT(point, data->values[UNIFORM]);
    LAB_ARGUMENT(point, trips);
    LAB_ARGUMENT(point, data->bins);
    point->bytes = (double)trips * of_trip * sizeof(uint32_t);
    point->timed = true;
    point->too_large = lab->simulated;
    return 0;
}

static int histogram_setup(struct lab *lab) {
    const size_t largest = lab->simulated ? COUNTED : LARGEST;
    struct histogram_data *data = lab->data = calloc(1, sizeof *data);
    if (!data)
        return complain("out of host memory");
    if (lab_alloc(lab, &data->values[UNIFORM], largest * sizeof(uint32_t), 0) != 0 ||
        lab_alloc(lab, &data->values[ONE_BIN], largest * sizeof(uint32_t), ONE_VALUE) != 0 ||
        lab_alloc(lab, &data->values[ONE_BANK], COUNTED * sizeof(uint32_t), 0) != 0 ||
        lab_alloc(lab, &data->bins, HISTOGRAM_BINS * sizeof(uint32_t), 0) != 0)
        return -1;
    /* The profiler's counters ask for no more than the first of them. */
    if (ladder_fill(lab, data->values[UNIFORM], lab->launching_only ? COUNTED : largest, ladder_hash) != 0 ||
        ladder_fill(lab, data->values[ONE_BANK], COUNTED, one_bank_value) != 0)
        return -1;
    if (!lab->launching_only && !lab->simulated)
        count_on_host(UNIFORM, LARGEST, data->whole);
    for (int step = 0; step < (ladder_is_hopper(lab) ? STEPS : STEP_CLUSTER); step++) {
        if (add_steps(lab, (enum step)step) != 0)
            return -1;
    }
    return add_read(lab);
}

/* ---- results -------------------------------------------------------------------------------------- */

static int histogram_prepare(struct lab *lab, struct lab_point *point) {
    const struct histogram_data *data = lab->data;
    (void)point;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, data->bins, 0, HISTOGRAM_BINS * sizeof(uint32_t), lab->gpu.stream);
    return 0;
}

static int histogram_check(struct lab *lab, struct lab_point *point) {
    const struct histogram_data *data = lab->data;
    const size_t at = ladder_index(lab, point);
    const uint32_t count = data->of_point[at].count;
    uint32_t bins[HISTOGRAM_BINS], counted[HISTOGRAM_BINS];
    if (count == 0) /* it only reads */
        return 0;
    if (lab_download(lab, bins, data->bins, sizeof bins) != 0)
        return -1;
    const bool known = count == LARGEST && data->of_point[at].values == UNIFORM;
    if (!known)
        count_on_host(data->of_point[at].values, count, counted);
    const uint32_t *expected = known ? data->whole : counted;
    lab_correct(point);
    for (uint32_t b = 0; b < HISTOGRAM_BINS && point->result == LAB_CORRECT; b++) {
        if (bins[b] != expected[b])
            lab_wrong(point, "bin %u of %u values has %u, not %u", b, count, bins[b], expected[b]);
    }
    return 0;
}

static double rate(struct lab *lab, enum step step, enum values values) {
    char size[32];
    snprintf(size, sizeof size, "%s %u", values_names[values], step == STEP_GLOBAL ? SLOW : LARGEST);
    return ladder_gbs(lab, steps[step].label, size);
}

static int histogram_conclude(struct lab *lab) {
    const bool clusters = ladder_is_hopper(lab);
    const double global = rate(lab, STEP_GLOBAL, UNIFORM), shared = rate(lab, STEP_SHARED, UNIFORM);
    const double warps = rate(lab, STEP_WARPS, UNIFORM), vectors = rate(lab, STEP_VECTORS, UNIFORM);
    lab_claim(lab, global < shared && shared < vectors, true,
              "global < shared < vectors: %.0f, %.0f, %.0f GB/s of uniform values", global, shared, vectors);
    lab_claim(lab, fabs(warps / shared - 1) < 0.05, true,
              "a copy of the bins for every warp changes nothing: %.3f times one for all, for warps did not wait for "
              "each other's words",
              warps / shared);
    const double one_bin = rate(lab, STEP_VECTORS, ONE_BIN);
    lab_claim(lab, fabs(one_bin / vectors - 1) < 0.05, true,
              "shared increments do not care for the values, for lanes share words: %.0f GB/s when all are one, %.0f "
              "when uniform",
              one_bin, vectors);
    const double last = rate(lab, clusters ? STEP_CLUSTER : STEP_VECTORS, UNIFORM);
    if (clusters) {
        lab_claim(lab, last >= 0.95 * vectors, true, "merging by cluster costs nothing: %.3f times the step before",
                  last / vectors);
        lab_claim(lab, last >= 4 * of_cub, true,
                  "the last step reaches %.0f GB/s, %.1f %% of a plain read (to reach: 4 times CUB's %.0f)", last,
                  100 * last / lab_gbs(lab_find(lab, "read")), of_cub);
    }
    return 0;
}

const struct lab_experiment histogram = {
    .name = "histogram",
    .title = "Histogram of 256 bins",
    .question = "Where do the counts of a histogram meet, and what is left when they no longer do?",
    .page = "worth-fixing",
    .setup = histogram_setup,
    .prepare = histogram_prepare,
    .check = histogram_check,
    .conclude = histogram_conclude,
};
