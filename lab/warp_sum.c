/* SPDX-License-Identifier: Apache-2.0 */
/* warp-sum: the sum over a warp, through shared memory with barriers of the block or of the warp, or by shuffles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/kernels/warp_sum.h"
#include "lab/lab.h"

enum { ROUNDS = 100, WARPS = WARP_SUM_THREADS / GM_LANES };

enum way { BY_BLOCK, BY_WARP, BY_SHUFFLE, WAYS };

static const struct {
    const char *label, *kernel, *change;
} ways[WAYS] = {
    [BY_BLOCK] = {"barriers of the block", "lab_warp_sum_block",
                  "Shared memory, and two barriers a step that all 8 warps wait at, though none needs another."},
    [BY_WARP] = {"barriers of the warp", "lab_warp_sum_warp",
                 "The same with __syncwarp(): a warp waits for its own lanes only."},
    [BY_SHUFFLE] = {"shuffles", "lab_warp_sum_shuffle",
                    "From register to register: a shuffle is exchange and barrier in one, and no memory is used."},
};

struct warp_sum_data {
    CUdeviceptr sums, clock;
};

static int setup(struct lab *lab) {
    const uint32_t rounds = ROUNDS;
    struct warp_sum_data *data = lab->data = calloc(1, sizeof *data);
    if (!data)
        return complain("out of host memory");
    if (lab_alloc(lab, &data->sums, WARP_SUM_THREADS * sizeof(uint32_t), 0) != 0 ||
        lab_alloc(lab, &data->clock, sizeof(uint64_t), 0) != 0)
        return -1;
    for (int way = 0; way < WAYS; way++) {
        struct lab_point *point = lab_add(lab, ways[way].label, ways[way].change);
        if (!point)
            return -1;
        lab_kernel(point, "warp_sum", ways[way].kernel, 1, WARP_SUM_THREADS);
        LAB_ARGUMENT(point, data->sums);
        LAB_ARGUMENT(point, data->clock);
        LAB_ARGUMENT(point, rounds);
        const double accesses = way == BY_SHUFFLE ? 0 : ROUNDS * WARPS * WARP_SUM_STEPS; /* a wavefront each */
        lab_quantity(point, "load wavefronts", LAB_EXACT_WAVEFRONTS_LD, accesses, 0);
        lab_quantity(point, "store wavefronts", LAB_EXACT_WAVEFRONTS_ST, accesses, 0);
        point->clock = data->clock;
    }
    return 0;
}

static int prepare(struct lab *lab, struct lab_point *point) {
    const struct warp_sum_data *data = lab->data;
    (void)point;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, data->sums, 0xff, WARP_SUM_THREADS * sizeof(uint32_t), lab->gpu.stream);
    return 0;
}

/* Of every lane of a warp. */
static uint32_t expected_sum(uint32_t warp) {
    uint32_t last = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t sum = 0;
        for (uint32_t lane = 0; lane < GM_LANES; lane++)
            sum += WARP_SUM_VALUE(last, warp * GM_LANES + lane);
        last = sum;
    }
    return last;
}

static int check(struct lab *lab, struct lab_point *point) {
    const struct warp_sum_data *data = lab->data;
    uint32_t sums[WARP_SUM_THREADS];
    if (lab_download(lab, sums, data->sums, sizeof sums) != 0)
        return -1;
    lab_correct(point);
    for (uint32_t thread = 0; thread < WARP_SUM_THREADS; thread++) {
        const uint32_t expected = expected_sum(thread / GM_LANES);
        if (sums[thread] != expected)
            lab_wrong(point, "thread %u has the sum 0x%08x, not 0x%08x", thread, sums[thread], expected);
    }
    return 0;
}

static int conclude(struct lab *lab) {
    const double block = lab->points[BY_BLOCK].cycles / ROUNDS, warp = lab->points[BY_WARP].cycles / ROUNDS;
    const double shuffle = lab->points[BY_SHUFFLE].cycles / ROUNDS;
    lab_claim(lab, shuffle < warp && warp < block, true,
              "A sum takes %.0f cycles with barriers of the block, %.0f with barriers of the warp, %.0f by shuffles.",
              block, warp, shuffle);
    return 0;
}

const struct lab_experiment warp_sum = {
    .name = "warp-sum",
    .title = "The sum over a warp",
    .question = "What does a warp pay for barriers that it does not need, and for shared memory that it does not need?",
    .page = "worth-fixing",
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
};
