/* SPDX-License-Identifier: Apache-2.0 */
/* latency: what a load takes that nothing hides, from shared memory, the caches, and memory. */
#include <stdio.h>
#include <stdlib.h>

#include "lab/lab.h"

enum {
    HOPS = 1024,
    SHARED_WORDS = 1024,
    SHARED_STEP = 33,
    WARM = 1024,
    FLUSH_BYTES = 256 << 20 /* more than any L2 */
};

/* A chain of `nodes`, one every `pitch` bytes, in a part of memory of its own. */
static const struct place {
    const char *label, *kernel;
    uint32_t nodes, pitch, warm; /* loads before the clock starts; 0: the words are in memory only */
    const char *change;
} places[] = {
    {"shared memory", "lab_latency_shared", SHARED_WORDS, 4, WARM, "a chain of 4 KB"},
    {"L1", "lab_latency_cached", 256, 128, WARM, "a chain of 32 KB through the L1, walked before"},
    {"L2, 4 MB", "lab_latency_global", 1024, 4 << 10, WARM, "a chain of 4 MB past the L1, walked before"},
    {"L2, 32 MB", "lab_latency_global", 1024, 32 << 10, WARM, "the same in 32 MB: more pages to translate"},
    {"memory", "lab_latency_global", 1024, 32 << 10, 0,
     "the same chain after 256 MB of other data went through the L2"},
};
enum { SHARED, L1, L2, L2_WIDE, MEMORY, PLACES };

struct study {
    CUdeviceptr end, clock, chains[PLACES], other;
    const struct place *of_point[LAB_POINTS_MAX];
};

/* ---- points --------------------------------------------------------------------------------------- */

static int make_chain(struct lab *lab, const struct place *place, CUdeviceptr *chain) {
    const size_t bytes = (size_t)place->nodes * place->pitch;
    if (lab_alloc(lab, chain, bytes, 0) != 0)
        return -1;
    uint64_t *words = calloc(bytes / sizeof *words, sizeof *words);
    if (!words)
        return complain("out of host memory");
    for (uint32_t i = 0; i < place->nodes; i++)
        words[(size_t)i * place->pitch / sizeof *words] = *chain + (uint64_t)((i + 1) % place->nodes) * place->pitch;
    const int status = lab_upload(lab, *chain, words, bytes);
    free(words);
    return status;
}

static int add(struct lab *lab, const struct place *place) {
    struct study *study = lab->data;
    const uint32_t hops = HOPS, step = SHARED_STEP;
    const bool shared = place == &places[SHARED];
    CUdeviceptr *chain = &study->chains[place - places];
    char label[64];
    snprintf(label, sizeof label, "%d dependent loads, %s", HOPS, place->label);
    struct lab_point *point = lab_add(lab, label, place->change);
    if (!point || (!shared && make_chain(lab, place, chain) != 0))
        return -1;
    study->of_point[point - lab->points] = place;
    lab_kernel(point, "latency", place->kernel, 1, 32);
    point->clock = study->clock;
    LAB_ARGUMENT(point, study->end);
    LAB_ARGUMENT(point, study->clock);
    if (shared)
        LAB_ARGUMENT(point, step);
    else
        LAB_ARGUMENT(point, *chain);
    LAB_ARGUMENT(point, place->warm);
    LAB_ARGUMENT(point, hops);
    const double loads = place->warm + hops;
    if (shared)
        lab_quantity(point, "load wavefronts", LAB_EXACT_WAVEFRONTS_LD, loads, 0);
    else
        lab_quantity(point, "load sectors", LAB_SECTORS_LD, loads, 0);
    return 0;
}

static int setup(struct lab *lab) {
    struct study *study = lab->data = calloc(1, sizeof *study);
    if (!study)
        return complain("out of host memory");
    if (lab_alloc(lab, &study->end, sizeof(uint64_t), 0xff) != 0 ||
        lab_alloc(lab, &study->clock, sizeof(uint64_t), 0) != 0 ||
        (!lab->simulated && lab_alloc(lab, &study->other, FLUSH_BYTES, 0) != 0))
        return -1;
    for (int i = 0; i < PLACES; i++) {
        if (add(lab, &places[i]) != 0)
            return -1;
    }
    return 0;
}

/* ---- results -------------------------------------------------------------------------------------- */

static int prepare(struct lab *lab, struct lab_point *point) {
    const struct study *study = lab->data;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->end, 0xff, sizeof(uint64_t), lab->gpu.stream);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->clock, 0, sizeof(uint64_t), lab->gpu.stream);
    if (study->of_point[point - lab->points] == &places[MEMORY] && study->other)
        GPU_TRY(&lab->gpu, cuMemsetD8Async, study->other, 0, FLUSH_BYTES, lab->gpu.stream);
    return 0;
}

static int check(struct lab *lab, struct lab_point *point) {
    const struct study *study = lab->data;
    const struct place *place = study->of_point[point - lab->points];
    const uint64_t loads = place->warm + HOPS;
    const uint64_t expected = place == &places[SHARED]
                                  ? loads * SHARED_STEP % SHARED_WORDS
                                  : study->chains[place - places] + loads % place->nodes * place->pitch;
    uint64_t end;
    if (lab_download(lab, &end, study->end, sizeof end) != 0)
        return -1;
    if (end == expected)
        lab_correct(point);
    else
        lab_wrong(point, "the walk ends at %#llx, not %#llx", (unsigned long long)end, (unsigned long long)expected);
    return 0;
}

static int conclude(struct lab *lab) {
    double cycles[PLACES];
    for (int i = 0; i < PLACES; i++)
        cycles[i] = lab->points[i].cycles / HOPS;
    lab_claim(lab, cycles[SHARED] >= 20 && cycles[SHARED] <= 30, true,
              "a load from shared memory takes %.1f cycles (articles: 20 to 30)", cycles[SHARED]);
    lab_claim(lab, cycles[MEMORY] > 400, true,
              "one from memory %.0f cycles, %.0f times as many (articles: more than 400, an order of magnitude)",
              cycles[MEMORY], cycles[MEMORY] / cycles[SHARED]);
    lab_claim(lab, cycles[SHARED] < cycles[L1] && cycles[L1] < cycles[L2] && cycles[L2] < cycles[MEMORY], true,
              "shared memory, L1, L2, memory: %.0f, %.0f, %.0f and %.0f cycles", cycles[SHARED], cycles[L1], cycles[L2],
              cycles[MEMORY]);
    lab_claim(lab, cycles[L2_WIDE] < cycles[MEMORY], true,
              "the chain of 32 MB takes %.0f cycles a load where the L2 has it, %.0f where it does not",
              cycles[L2_WIDE], cycles[MEMORY]);
    return 0;
}

const struct lab_experiment latency = {
    .name = "latency",
    .title = "Latency of a load",
    .question = "How long does a load take that nothing hides, from shared memory, L1, L2 and memory?",
    .page = "banks",
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
};
