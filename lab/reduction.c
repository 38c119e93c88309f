/* SPDX-License-Identifier: Apache-2.0 */
/* The reduction ladder: interleaved, sequential, shuffled, vectorised sums of fp32, beside a kernel that only reads.
 * The library's operation `reduce` came of it (docs/REDUCE.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/kernels/reduction.h"
#include "lab/ladders.h"

enum {
    TIMED_ELEMENTS = 1 << 28, /* 1 GiB */
    COUNTED_ELEMENTS = 1 << 20,
};

struct step {
    const char *label, *kernel, *change;
};

static const struct step steps[REDUCTION_STEPS] = {
    [REDUCTION_STEP_MODULO] = {"modulo", "lab_reduction_modulo",
                               "A tree in shared memory that adds neighbours first: working lanes lie scattered over "
                               "all warps, found by a modulo; no conflicts, since their words lie a lane apart."},
    [REDUCTION_STEP_STRIDED] = {"strided", "lab_reduction_strided",
                                "The same additions by the first threads, so that whole warps stop; their words lie 2, "
                                "4, 8 ... apart: conflicts of 2, 4, 8 ... ways."},
    [REDUCTION_STEP_SEQUENTIAL] =
        {"sequential", "lab_reduction_sequential",
         "The far half is added to the near half: whole warps stop and the words of a warp are "
         "neighbours, so no conflicts."},
    [REDUCTION_STEP_SHUFFLE] = {"shuffle", "lab_reduction_shuffle",
                                "Warps add up in registers by shuffles: one store a warp and one barrier instead of a "
                                "barrier for each of 9 rounds."},
    [REDUCTION_STEP_VECTOR] =
        {"vectorised", "lab_reduction_vector",
         "A grid that stays reads 16 bytes at a time, 4 loads on their way: one tree a CTA instead "
         "of one for 512 elements, and the last CTA adds up the others."},
};

struct reduction_data {
    CUdeviceptr from, sum, of_cta, finished;
    uint32_t counts[LAB_POINTS_MAX]; /* elements of every point */
    double whole;                    /* the sum of all */
};

/* -2 .. 2, as random as their sign: so every partial sum stays far below 2^24 and is exact in fp32 in any order. */
static int element_value(uint32_t k) {
    return (int)(ladder_hash(k) % 5) - 2;
}

static uint32_t element_bits(uint32_t k) {
    return ladder_bits((float)element_value(k));
}

static double sum_of(uint32_t count) {
    int64_t sum = 0;
    for (uint32_t k = 0; k < count; k++)
        sum += element_value(k);
    return (double)sum;
}

/* ---- points --------------------------------------------------------------------------------------- */

static struct lab_point *add_step(struct lab *lab, enum reduction_step step, uint32_t count, const char *size) {
    struct reduction_data *data = lab->data;
    const bool last = step == REDUCTION_STEP_VECTOR;
    const unsigned whole_gpu = (unsigned)lab->gpu.device.sm_count * REDUCTION_CTAS_PER_SM;
    char label[64];
    snprintf(label, sizeof label, "%s, %s", steps[step].label, size);
    struct lab_point *point = lab_add(lab, label, steps[step].change);
    if (!point)
        return NULL;
    data->counts[ladder_index(lab, point)] = count;
    point->bytes = (double)count * sizeof(float);
    lab_kernel(point, "reduction", steps[step].kernel,
               last ? whole_gpu : (count + REDUCTION_THREADS - 1) / REDUCTION_THREADS, REDUCTION_THREADS);
    LAB_ARGUMENT(point, data->from);
    LAB_ARGUMENT(point, count);
    LAB_ARGUMENT(point, data->sum);
    if (last) {
        LAB_ARGUMENT(point, data->of_cta);
        LAB_ARGUMENT(point, data->finished);
    }
    return point;
}

static int add_steps(struct lab *lab, enum reduction_step step) {
    static const uint32_t ragged[] = {1, 33, 513, 1000003};
    for (size_t i = 0; i < sizeof ragged / sizeof *ragged; i++) {
        char size[16];
        snprintf(size, sizeof size, "%u", ragged[i]);
        if (!add_step(lab, step, ragged[i], size))
            return -1;
    }
    struct lab_point *counted = add_step(lab, step, COUNTED_ELEMENTS, "2^20");
    struct lab_point *timed = add_step(lab, step, TIMED_ELEMENTS, "2^28");
    if (!counted || !timed)
        return -1;
    const struct ladder_wavefronts launch = reduction_wavefronts(step, counted->launch.grid[0]);
    lab_quantity(counted, "load wavefronts", LAB_EXACT_WAVEFRONTS_LD, launch.load, 0);
    lab_quantity(counted, "store wavefronts", LAB_EXACT_WAVEFRONTS_ST, launch.store, 0);
    timed->timed = true;
    timed->too_large = lab->simulated;
    return 0;
}

/* Whole trips of the grid only, so a little less than what the steps read. */
static int add_read(struct lab *lab) {
    const struct reduction_data *data = lab->data;
    const unsigned ctas = (unsigned)lab->gpu.device.sm_count * REDUCTION_CTAS_PER_SM;
    const uint32_t of_trip = ctas * REDUCTION_THREADS * REDUCTION_LOADS * 4, trips = TIMED_ELEMENTS / of_trip;
    struct lab_point *point = lab_add(lab, "read, 2^28",
                                      "No step: a kernel that reads as the last step does, and adds "
                                      "up nothing.");
    if (!point)
        return -1;
    lab_kernel(point, "reduction", "lab_reduction_read", ctas, REDUCTION_THREADS);
    LAB_ARGUMENT(point, data->from);
    LAB_ARGUMENT(point, trips);
    LAB_ARGUMENT(point, data->sum);
    point->bytes = (double)trips * of_trip * sizeof(float);
    point->timed = true;
    point->too_large = lab->simulated;
    return 0;
}

static int reduction_setup(struct lab *lab) {
    const size_t elements = lab->simulated ? COUNTED_ELEMENTS : TIMED_ELEMENTS;
    const size_t ctas = (size_t)lab->gpu.device.sm_count * REDUCTION_CTAS_PER_SM;
    struct reduction_data *data = lab->data = calloc(1, sizeof *data);
    if (!data)
        return complain("out of host memory");
    if (lab_alloc(lab, &data->from, elements * sizeof(float), 0) != 0 ||
        lab_alloc(lab, &data->sum, sizeof(float), 0) != 0 ||
        lab_alloc(lab, &data->of_cta, ctas * sizeof(float), 0xff) != 0 ||
        lab_alloc(lab, &data->finished, sizeof(uint32_t), 0) != 0)
        return -1;
    if (!lab->launching_only) {
        data->whole = lab->simulated ? NAN : sum_of(TIMED_ELEMENTS);
        if (ladder_fill(lab, data->from, elements, element_bits) != 0)
            return -1;
    }
    for (int step = 0; step < REDUCTION_STEPS; step++) {
        if (add_steps(lab, (enum reduction_step)step) != 0)
            return -1;
    }
    return add_read(lab);
}

/* ---- results -------------------------------------------------------------------------------------- */

/* Steps 1 to 4 add to the sum, the last one replaces it: by the bits of a NaN when it does not. */
static int reduction_prepare(struct lab *lab, struct lab_point *point) {
    const struct reduction_data *data = lab->data;
    const bool replaces = point->launch.kernel == steps[REDUCTION_STEP_VECTOR].kernel;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, data->sum, replaces ? 0xff : 0, sizeof(float), lab->gpu.stream);
    return 0;
}

static int reduction_check(struct lab *lab, struct lab_point *point) {
    const struct reduction_data *data = lab->data;
    const uint32_t count = data->counts[ladder_index(lab, point)];
    float sum;
    if (count == 0) /* it only reads */
        return 0;
    if (lab_download(lab, &sum, data->sum, sizeof sum) != 0)
        return -1;
    const double expected = count == TIMED_ELEMENTS ? data->whole : sum_of(count);
    if ((double)sum == expected)
        lab_correct(point);
    else
        lab_wrong(point, "the sum of %u elements is %.9g, not %.9g", count, (double)sum, expected);
    return 0;
}

/* GB/s of a V100: its naive kernel and the one through shared memory. */
static double reduction_article(const char *step) {
    return strcmp(step, "modulo") == 0 ? 280 : strcmp(step, "sequential") == 0 ? 820 : NAN;
}

/* How many of the wavefronts counted are more than the same accesses take without conflicts. */
static void conclude_conflicts(struct lab *lab) {
    const struct lab_point *strided = lab_find(lab, "strided, 2^20"), *sequential = lab_find(lab, "sequential, 2^20");
    const struct ladder_wavefronts expected =
        reduction_wavefronts(REDUCTION_STEP_STRIDED, COUNTED_ELEMENTS / REDUCTION_THREADS);
    const double loads = lab_counted(strided, "load wavefronts"), stores = lab_counted(strided, "store wavefronts");
    const double ideal = expected.load - expected.load_conflicts + expected.store - expected.store_conflicts;
    const double others = lab_counted(sequential, "load wavefronts") + lab_counted(sequential, "store wavefronts");
    const double conflicts = loads + stores - ideal;
    lab_claim(lab, conflicts == expected.load_conflicts + expected.store_conflicts && others == ideal, false,
              "%.0f of %.0f wavefronts of strided are bank conflicts, and sequential takes the other %.0f", conflicts,
              loads + stores, others);
}

static int reduction_conclude(struct lab *lab) {
    if (lab->has_counts)
        conclude_conflicts(lab);
    double rates[REDUCTION_STEPS];
    for (int step = 0; step < REDUCTION_STEPS; step++)
        rates[step] = ladder_gbs(lab, steps[step].label, "2^28");
    for (int step = 1; step < REDUCTION_STEPS; step++)
        lab_claim(lab, rates[step] > rates[step - 1], true, "%s is faster than %s: %.0f and %.0f GB/s",
                  steps[step].label, steps[step - 1].label, rates[step], rates[step - 1]);
    lab_claim(
        lab, rates[REDUCTION_STEP_SEQUENTIAL] > rates[REDUCTION_STEP_MODULO], true,
        "sequential is %.1f times as fast as modulo (a V100 in the articles, shared and naive: %.0f / %.0f = %.1f)",
        rates[REDUCTION_STEP_SEQUENTIAL] / rates[REDUCTION_STEP_MODULO], reduction_article("sequential"),
        reduction_article("modulo"), reduction_article("sequential") / reduction_article("modulo"));
    const double read = ladder_gbs(lab, "read", "2^28"), last = rates[REDUCTION_STEP_VECTOR];
    lab_claim(lab, last >= 0.95 * read, true,
              "the last step reaches %.1f %% of a plain read, %.0f GB/s (to reach: 95 %%)", 100 * last / read, read);
    return 0;
}

const struct lab_experiment reduction = {
    .name = "reduction",
    .title = "Sum of fp32",
    .question =
        "What do scattered lanes, bank conflicts and barriers cost a sum, and how near does it come to reading?",
    .page = "worth-fixing",
    .setup = reduction_setup,
    .prepare = reduction_prepare,
    .check = reduction_check,
    .conclude = reduction_conclude,
    .article = reduction_article,
};
