/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy: how many blocks an SM holds at once, by threads, registers and shared memory. */
#include <stdio.h>
#include <stdlib.h>

#include "lab/ladders.h"
#include "lab/residency.h"

enum {
    SMS_MAX = 1024,
    STAY_CYCLES = 200000, /* long enough for every block of a wave to come */
    WAVES = 2,
    KEPT_WORDS = 200,
    BY_DRIVER = 0, /* quantities of every point */
    AT_ONCE = 1
};

static const int threads[] = {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
static const int shared_kb[] = {1, 8, 16, 24, 32, 37, 44, 56, 57, 75, 76, 99, 113, 114, 163, 227};
/* Their names say how many words they keep in registers; the driver says how many registers that takes. */
static const char *const keepers[] = {"lab_stay_24", "lab_stay_48", "lab_stay_72", "lab_stay_112", "lab_stay_200"};
enum {
    THREADS = sizeof threads / sizeof *threads,
    SHARED = sizeof shared_kb / sizeof *shared_kb,
    KEEPERS = sizeof keepers / sizeof *keepers
};

struct study {
    CUlibrary library;
    CUdeviceptr present, most, blocks, words;
    uint32_t most_of[SMS_MAX];
};

/* ---- points --------------------------------------------------------------------------------------- */

/* A GPU launches two waves of blocks; the simulated one, whose SMs hold no blocks, one block. */
static int add(struct lab *lab, const char *kernel, const char *label, CUfunction function, int block,
               size_t dynamic_bytes) {
    const struct study *study = lab->data;
    const uint32_t cycles = lab->simulated ? 0 : STAY_CYCLES;
    const int warps_of_sm = lab->gpu.device.max_threads_per_sm / 32;
    struct residency taken;
    int said;
    char change[160];
    if (residency_prefer_shared(lab, function) != 0 || residency_of(lab, function, block, dynamic_bytes, &taken) != 0 ||
        residency_by_driver(lab, function, block, dynamic_bytes, &said) != 0)
        return -1;
    const int blocks = residency_model(&lab->gpu.device, &taken), warps = blocks * ((block + 31) / 32);
    snprintf(change, sizeof change, "%d threads of %d registers and %zu bytes: %d of %d warps, %.0f %%", block,
             taken.registers, taken.shared_bytes, warps, warps_of_sm, 100.0 * warps / warps_of_sm);
    struct lab_point *point = lab_add(lab, label, change);
    if (!point)
        return -1;
    lab_kernel(point, "occupancy", kernel,
               lab->simulated || blocks < 1 ? 1 : (unsigned)(WAVES * blocks * lab->gpu.device.sm_count),
               (unsigned)block);
    point->launch.shared_bytes = (unsigned)dynamic_bytes;
    point->launch.carve_out = RESIDENCY_CARVE_OUT;
    LAB_ARGUMENT(point, study->present);
    LAB_ARGUMENT(point, study->most);
    LAB_ARGUMENT(point, study->blocks);
    LAB_ARGUMENT(point, study->words);
    LAB_ARGUMENT(point, cycles);
    lab_quantity(point, "blocks, by the driver", NULL, blocks, 0);
    lab_quantity(point, "blocks at once", NULL, blocks, 0);
    residency_answer(lab, &point->quantities[BY_DRIVER], said);
    return 0;
}

static int add_threads(struct lab *lab, CUfunction function) {
    for (int i = 0; i < THREADS; i++) {
        char label[64];
        snprintf(label, sizeof label, "%d threads", threads[i]);
        if (add(lab, "lab_stay", label, function, threads[i], 0) != 0)
            return -1;
    }
    return 0;
}

static int add_shared(struct lab *lab, CUfunction function) {
    for (int i = 0; i < SHARED; i++) {
        char label[64];
        snprintf(label, sizeof label, "128 threads, %d KB", shared_kb[i]);
        if (shared_kb[i] * 1024 <= lab->gpu.device.smem_per_block_bytes &&
            add(lab, "lab_stay", label, function, 128, (size_t)shared_kb[i] * 1024) != 0)
            return -1;
    }
    return 0;
}

static int add_registers(struct lab *lab) {
    const struct study *study = lab->data;
    for (int i = 0; i < KEEPERS; i++) {
        CUfunction function;
        struct residency taken;
        char label[64];
        if (residency_function(lab, study->library, keepers[i], 0, &function) != 0 ||
            residency_of(lab, function, 256, 0, &taken) != 0)
            return -1;
        snprintf(label, sizeof label, "256 threads, %d registers", taken.registers);
        if (add(lab, keepers[i], label, function, 256, 0) != 0)
            return -1;
    }
    return 0;
}

static int setup(struct lab *lab) {
    struct study *study = lab->data = calloc(1, sizeof *study);
    const size_t most = (size_t)lab->gpu.device.smem_per_block_bytes;
    CUfunction function;
    if (!study)
        return complain("out of host memory");
    if (lab->gpu.device.sm_count > SMS_MAX)
        return complain("more than %d SMs", SMS_MAX);
    if (lab_alloc(lab, &study->present, sizeof study->most_of, 0) != 0 ||
        lab_alloc(lab, &study->most, sizeof study->most_of, 0) != 0 ||
        lab_alloc(lab, &study->blocks, sizeof(uint32_t), 0) != 0 ||
        lab_alloc(lab, &study->words, KEPT_WORDS * sizeof(uint32_t), 1) != 0 ||
        residency_open(lab, "occupancy", &study->library) != 0 ||
        residency_function(lab, study->library, "lab_stay", most, &function) != 0)
        return -1;
    if (add_threads(lab, function) != 0 || add_shared(lab, function) != 0)
        return -1;
    return add_registers(lab);
}

/* ---- results -------------------------------------------------------------------------------------- */

static int prepare(struct lab *lab, struct lab_point *point) {
    (void)point;
    const struct study *study = lab->data;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->present, 0, sizeof study->most_of, lab->gpu.stream);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->most, 0, sizeof study->most_of, lab->gpu.stream);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->blocks, 0, sizeof(uint32_t), lab->gpu.stream);
    return 0;
}

static int check(struct lab *lab, struct lab_point *point) {
    struct study *study = lab->data;
    uint32_t ran, most = 0;
    if (lab_download(lab, &ran, study->blocks, sizeof ran) != 0 ||
        lab_download(lab, study->most_of, study->most, sizeof study->most_of) != 0)
        return -1;
    for (int i = 0; i < SMS_MAX; i++)
        most = study->most_of[i] > most ? study->most_of[i] : most;
    if (ran == point->launch.grid[0])
        lab_correct(point);
    else
        lab_wrong(point, "%u blocks ran, not %u", ran, point->launch.grid[0]);
    if (!lab->simulated)
        point->quantities[AT_ONCE].counted = most;
    return 0;
}

static double answer(const struct lab *lab, const struct lab_quantity *quantity) {
    return lab->simulated ? quantity->simulated : quantity->counted;
}

static int conclude(struct lab *lab) {
    size_t said = 0, met = 0;
    for (size_t i = 0; i < lab->point_count; i++) {
        const struct lab_quantity *quantities = lab->points[i].quantities;
        said += answer(lab, &quantities[BY_DRIVER]) == quantities[BY_DRIVER].predicted;
        met += quantities[AT_ONCE].counted == quantities[AT_ONCE].predicted;
    }
    lab_claim(lab, said == lab->point_count, false,
              "The driver says what threads, registers and shared memory leave, in %zu of %zu cases.", said,
              lab->point_count);
    if (!lab->simulated)
        lab_claim(lab, met == lab->point_count, false, "So many blocks were on an SM at once in %zu of %zu launches.",
                  met, lab->point_count);
    return 0;
}

static void teardown(struct lab *lab) {
    const struct study *study = lab->data;
    if (study && study->library)
        lab->gpu.drv->cuLibraryUnload(study->library);
}

const struct lab_experiment occupancy = {
    .name = "occupancy",
    .title = "How many blocks an SM holds",
    .question = "Is the number of blocks on an SM the smallest of what threads, registers and shared memory allow?",
    .page = "occupancy",
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
    .teardown = teardown,
};
