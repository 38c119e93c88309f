/* SPDX-License-Identifier: Apache-2.0 */
/* carve-out: what the wish for more shared memory, or for more cache, moves. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/kernels/carve_out.h"
#include "lab/ladders.h"
#include "lab/residency.h"

#define MISSED "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum"

enum {
    KB = 1024,
    ROUNDS = 64,
    SIMULATED_ROUNDS = 2,
    HOPS = 20000,
    SIMULATED_HOPS = 100,
    SMS_MAX = 1024,
    RESULTS_OF_SM = 6144, /* threads of the most blocks */
    AT_ONCE = 0           /* the first quantity of those that share */
};

static const struct wish {
    unsigned percent;
    const char *reads, *shares; /* kernels */
} wishes[] = {
#define WISH(percent) {percent, "lab_carve_out_read_" #percent, "lab_carve_out_share_" #percent},
    CARVE_OUT_PERCENTS(WISH)
#undef WISH
};
enum { WISHES = sizeof wishes / sizeof *wishes };

/* Blocks that share: large ones, whose number changes the time, and small ones, by which one can tell the carve-outs apart. */
static const struct sharing {
    const char *label;
    unsigned bytes, threads, blocks; /* in all, for each SM: a multiple of 1, 2, 3 and 4 */
} sharings[] = {{"48 KB of shared memory", 48 * KB, 256, 12}, {"7 KB of shared memory", 7 * KB, 64, 96}};
enum { LARGE = 0, SHARINGS = sizeof sharings / sizeof *sharings };

struct study {
    CUdeviceptr words, results, present, most;
    uint32_t *host; /* results */
    uint32_t rounds, hops;
    uint32_t most_of[SMS_MAX];
};

/* ---- the model ------------------------------------------------------------------------------------ */

/* The capacities of docs/course/capacity.md, by the largest, and all of the L1; KB. NULL: the table has no such SM. */
static const int *capacities(const struct gm_device *device, int *l1) {
    static const int ampere[] = {0, 8, 16, 32, 64, 100, 132, 164, -1};
    static const int ada[] = {0, 8, 16, 32, 64, 100, -1};
    static const int hopper[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228, -1};
    const int most = device->smem_per_sm_bytes / KB;
    *l1 = most == 228 ? 256 : most == 164 ? 192 : 128;
    return most == 228 ? hopper : most == 164 ? ampere : most == 100 ? ada : NULL;
}

/* The smallest carve-out that has room for one block and, beside the KB that the system keeps of each block, at least so
 * many per cent of the largest; KB. That the wish does not count those KB is what an H200 shows, no page says it. */
static int carve_out_of(const struct gm_device *device, unsigned percent, unsigned block_bytes) {
    int l1;
    const int *sizes = capacities(device, &l1);
    const double block = (double)block_bytes / KB + 1, own = block_bytes ? block / (block - 1) : 1;
    const double most = (double)device->smem_per_sm_bytes / KB, wanted = fmin(percent / 100.0 * own, 1) * most;
    while (sizes && *sizes >= 0 && (*sizes < wanted || *sizes < block))
        sizes++;
    return sizes ? *sizes : -1;
}

/* ---- points --------------------------------------------------------------------------------------- */

static int add_reading(struct lab *lab, const struct wish *wish) {
    const struct study *study = lab->data;
    const unsigned blocks = lab->simulated && !lab->launching_only ? 2 : (unsigned)lab->gpu.device.sm_count;
    const double once = (double)blocks * CARVE_OUT_SET;
    char label[64], change[160];
    int l1;
    const int shared = carve_out_of(&lab->gpu.device, wish->percent, 0);
    (void)capacities(&lab->gpu.device, &l1);
    snprintf(label, sizeof label, "96 KB read again, %u %%", wish->percent);
    snprintf(change, sizeof change, "%d KB of shared memory leave a cache of %d KB", shared, l1 - shared);
    struct lab_point *point = lab_add(lab, label, change);
    if (!point)
        return -1;
    lab_kernel(point, "carve_out", wish->reads, blocks, CARVE_OUT_READERS);
    point->launch.carve_out = 1 + wish->percent;
    LAB_ARGUMENT(point, study->results);
    LAB_ARGUMENT(point, study->words);
    LAB_ARGUMENT(point, study->rounds);
    point->timed = true;
    point->bytes = once * study->rounds;
    /* One of them will do to be compared with what the GPU counts. */
    point->too_large = lab->simulated && lab->launching_only && wish != wishes;
    lab_quantity(point, "load sectors", LAB_SECTORS_LD, once * study->rounds / 32, 0);
    lab_quantity(point, "sectors missed", MISSED, NAN, 0); /* which ones a cache keeps, no model here says */
    return 0;
}

static int add_sharing(struct lab *lab, const struct wish *wish, const struct sharing *sharing) {
    const struct study *study = lab->data;
    const uint32_t words = sharing->bytes / 4;
    const int shared = carve_out_of(&lab->gpu.device, wish->percent, sharing->bytes);
    const int blocks = shared * KB / (int)(sharing->bytes + KB);
    char label[64], change[160];
    snprintf(label, sizeof label, "%s, %u %%", sharing->label, wish->percent);
    snprintf(change, sizeof change, "%d KB of shared memory are room for %d blocks", shared, blocks);
    struct lab_point *point = lab_add(lab, label, change);
    if (!point)
        return -1;
    lab_kernel(point, "carve_out", wish->shares,
               lab->simulated ? 2 : (unsigned)lab->gpu.device.sm_count * sharing->blocks, sharing->threads);
    point->launch.carve_out = 1 + wish->percent;
    point->launch.shared_bytes = sharing->bytes;
    LAB_ARGUMENT(point, study->present);
    LAB_ARGUMENT(point, study->most);
    LAB_ARGUMENT(point, study->results);
    LAB_ARGUMENT(point, words);
    LAB_ARGUMENT(point, study->hops);
    lab_quantity(point, "blocks at once", NULL, blocks, 0);
    point->timed = sharing == &sharings[LARGE];
    return 0;
}

static int setup(struct lab *lab) {
    struct study *study = lab->data = calloc(1, sizeof *study);
    const size_t sms = (size_t)lab->gpu.device.sm_count, sets = sms * CARVE_OUT_SET;
    const size_t results = sms * RESULTS_OF_SM * sizeof(uint32_t);
    int l1;
    if (!study || !(study->host = malloc(results)))
        return complain("out of host memory");
    if (sms > SMS_MAX || !capacities(&lab->gpu.device, &l1))
        return complain("the carve-outs of this device are not known");
    study->rounds = lab->simulated && !lab->launching_only ? SIMULATED_ROUNDS : ROUNDS;
    study->hops = lab->simulated ? SIMULATED_HOPS : HOPS;
    if (lab_alloc(lab, &study->words, sets, 0) != 0 || lab_alloc(lab, &study->results, results, 0) != 0 ||
        lab_alloc(lab, &study->present, sizeof study->most_of, 0) != 0 ||
        lab_alloc(lab, &study->most, sizeof study->most_of, 0) != 0 ||
        (!lab->launching_only && ladder_fill(lab, study->words, sets / sizeof(uint32_t), ladder_hash) != 0))
        return -1;
    for (int i = 0; i < WISHES; i++) {
        if (add_reading(lab, &wishes[i]) != 0)
            return -1;
    }
    for (int kind = 0; kind < SHARINGS; kind++) {
        for (int i = 0; i < WISHES; i++) {
            if (add_sharing(lab, &wishes[i], &sharings[kind]) != 0)
                return -1;
        }
    }
    return 0;
}

/* ---- results -------------------------------------------------------------------------------------- */

static size_t threads_of(const struct lab_point *point) {
    return (size_t)point->launch.grid[0] * point->launch.block[0];
}

static int prepare(struct lab *lab, struct lab_point *point) {
    const struct study *study = lab->data;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->results, 0xff, threads_of(point) * sizeof(uint32_t), lab->gpu.stream);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->present, 0, sizeof study->most_of, lab->gpu.stream);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->most, 0, sizeof study->most_of, lab->gpu.stream);
    return 0;
}

static uint32_t sum_of(const struct study *study, size_t thread) {
    const size_t block = thread / CARVE_OUT_READERS, first = block * (CARVE_OUT_SET / 16) + thread % CARVE_OUT_READERS;
    uint32_t sum = 0;
    for (size_t i = 0; i < CARVE_OUT_VECTORS; i++) {
        for (size_t word = 0; word < 4; word++)
            sum += ladder_hash((uint32_t)((first + i * CARVE_OUT_READERS) * 4 + word));
    }
    return sum * study->rounds;
}

static int check(struct lab *lab, struct lab_point *point) {
    struct study *study = lab->data;
    const bool reads = !point->launch.shared_bytes;
    const uint32_t words = point->launch.shared_bytes / 4;
    if (lab_download(lab, study->host, study->results, threads_of(point) * sizeof(uint32_t)) != 0 ||
        lab_download(lab, study->most_of, study->most, sizeof study->most_of) != 0)
        return -1;
    lab_correct(point);
    for (size_t i = 0; i < threads_of(point) && point->result == LAB_CORRECT; i++) {
        const uint32_t expected =
            reads ? sum_of(study, i) : ((uint32_t)(i % point->launch.block[0]) + study->hops * CARVE_OUT_STEP) % words;
        if (study->host[i] != expected)
            lab_wrong(point, "thread %zu has %u, not %u", i, study->host[i], expected);
    }
    uint32_t most = 0;
    for (int i = 0; i < SMS_MAX; i++)
        most = study->most_of[i] > most ? study->most_of[i] : most;
    if (!reads && !lab->simulated)
        point->quantities[AT_ONCE].counted = most;
    return 0;
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

/* Misses of a hundred sectors that are asked for. */
static double missed(const struct lab_point *point) {
    return 100 * lab_counted(point, "sectors missed") / lab_counted(point, "load sectors");
}

static int conclude(struct lab *lab) {
    const struct study *study = lab->data;
    const struct lab_point *cache = lab_find(lab, "96 KB read again, 0 %"),
                           *no_cache = lab_find(lab, "96 KB read again, 100 %");
    const struct lab_point *few = lab_find(lab, "48 KB of shared memory, 0 %"),
                           *many = lab_find(lab, "48 KB of shared memory, 100 %");
    if (lab->has_counts)
        lab_claim(lab, missed(cache) < 10 && missed(no_cache) > 50, false,
                  "of the sectors of 96 KB read %u times, %.1f %% miss with all of the L1, and %.1f %% with all shared "
                  "memory; the "
                  "first time alone is %.1f %%",
                  study->rounds, missed(cache), missed(no_cache), 100.0 / study->rounds);
    lab_claim(lab, cache->us < no_cache->us, true,
              "a kernel that reads 96 KB again is %.2f times as fast with all of the L1 as with all shared memory",
              no_cache->us / cache->us);
    lab_claim(lab, many->us < few->us, true,
              "one whose blocks have 48 KB is %.2f times as fast with all shared memory as with the least: %.0f blocks "
              "an SM instead of %.0f",
              few->us / many->us, many->quantities[AT_ONCE].counted, few->quantities[AT_ONCE].counted);
    return 0;
}

static void teardown(struct lab *lab) {
    struct study *study = lab->data;
    if (study)
        free(study->host);
}

const struct lab_experiment carve_out = {
    .name = "carve-out",
    .title = "The carve-out",
    .question = "What does the wish for a carve-out move, between the cache and the number of blocks?",
    .page = "occupancy",
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
    .teardown = teardown,
};
