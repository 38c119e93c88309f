/* SPDX-License-Identifier: Apache-2.0 */
/* ring-stages: how many stages a ring of cp.async needs, and what the way past the registers is worth by itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/kernels/ring.h"
#include "lab/ladders.h"

enum {
    TILE_WORDS = RING_TILE_BYTES / 4,
    TIMED_TILES = 1 << 16, /* 256 MB in, as much out */
    COUNTED_TILES = 64,
    COUNTED_CTAS = 8,
    WARPS = RING_THREADS / GM_LANES
};

static const struct step {
    const char *label, *kernel;
    int stages;
    bool registers;
} steps[] = {
    {"registers, 1 stage", "lab_ring_registers_1", 1, true},  {"cp.async, 1 stage", "lab_ring_1", 1, false},
    {"registers, 2 stages", "lab_ring_registers_2", 2, true}, {"cp.async, 2 stages", "lab_ring_2", 2, false},
    {"cp.async, 3 stages", "lab_ring_3", 3, false},           {"cp.async, 4 stages", "lab_ring_4", 4, false},
    {"cp.async, 5 stages", "lab_ring_5", 5, false},           {"cp.async, 6 stages", "lab_ring_6", 6, false},
};
enum { STEPS = sizeof steps / sizeof *steps };

/* The pairs that differ by nothing but the way through registers; and the first step of the sweep. */
static const int pairs[][2] = {{0, 1}, {2, 3}};
static const int sweep[] = {1, 3, 4, 5, 6, 7};
enum { PAIRS = sizeof pairs / sizeof *pairs, SWEEP = sizeof sweep / sizeof *sweep };

/* Fewer tiles than stages, and shares of CTAs that differ; then what is counted, and what is timed. */
static const struct size {
    int tiles, ctas; /* 0: RING_CTAS_PER_SM */
} sizes[] = {{1, 1}, {5, 2}, {13, 3}, {COUNTED_TILES, COUNTED_CTAS}, {TIMED_TILES, 0}};
enum { SIZES = sizeof sizes / sizeof *sizes, COUNTED = 3, TIMED = 4 };

struct study {
    CUdeviceptr in, out;
    uint32_t *host;
    int tiles_of[LAB_POINTS_MAX]; /* of every point; 0: the copy */
};

/* ---- predictions ---------------------------------------------------------------------------------- */

/* Of a tile: what it takes to store it as it comes, or to load it backwards. NaN: the model refused. */
static double wavefronts_of(enum gm_access_kind kind) {
    struct gm_access access = {.size = sizeof access, .kind = kind, .width = 16};
    struct gm_bank_cost cost = {.size = sizeof cost};
    for (int lane = 0; lane < GM_LANES; lane++)
        access.address[lane] = 16u * (unsigned)(kind == GM_ACCESS_LOAD ? GM_LANES - 1 - lane : lane);
    return gm_bank_cost(&access, &cost) == GM_OK ? WARPS * cost.wavefronts : NAN;
}

/* ---- points --------------------------------------------------------------------------------------- */

static int add_step(struct lab *lab, const struct step *step, int size) {
    struct study *study = lab->data;
    const int tiles = sizes[size].tiles;
    const int ctas = sizes[size].ctas ? sizes[size].ctas : lab->gpu.device.sm_count * RING_CTAS_PER_SM;
    const int ahead = step->stages > 1 ? step->stages - 1 : 1;
    char label[64], change[160] = "";
    snprintf(label, sizeof label, size == TIMED ? "%s" : "%s, %d tiles", step->label, tiles);
    if (size == TIMED)
        snprintf(change, sizeof change, "%d KB of shared memory a CTA; %d KB of every SM are under way%s",
                 step->stages * RING_TILE_BYTES >> 10, ahead * RING_CTAS_PER_SM * RING_TILE_BYTES >> 10,
                 step->stages > 1 ? "" : ", and none while a tile is worked on");
    struct lab_point *point = lab_add(lab, label, change);
    if (!point)
        return -1;
    study->tiles_of[ladder_index(lab, point)] = tiles;
    lab_kernel(point, "ring", step->kernel, (unsigned)ctas, RING_THREADS);
    LAB_ARGUMENT(point, study->out);
    LAB_ARGUMENT(point, study->in);
    LAB_ARGUMENT(point, tiles);
    if (size == COUNTED) {
        if (step->registers) /* cp.async is not counted as a load */
            lab_quantity(point, "load sectors", LAB_SECTORS_LD, tiles * RING_TILE_BYTES / 32, 0);
        lab_quantity(point, "load wavefronts", LAB_EXACT_WAVEFRONTS_LD, tiles * wavefronts_of(GM_ACCESS_LOAD), 0);
        lab_quantity(point, "store wavefronts", LAB_EXACT_WAVEFRONTS_ST,
                     step->registers ? tiles * wavefronts_of(GM_ACCESS_STORE) : 0, 0);
    }
    point->timed = size == TIMED;
    point->too_large = lab->simulated && size == TIMED;
    point->bytes = size == TIMED ? 2.0 * tiles * RING_TILE_BYTES : 0;
    return 0;
}

static int run_copy(struct lab *lab, const struct lab_point *point) {
    const struct study *study = lab->data;
    (void)point;
    GPU_TRY(&lab->gpu, cuMemcpyDtoDAsync, study->out, study->in, (size_t)TIMED_TILES * RING_TILE_BYTES,
            lab->gpu.stream);
    return 0;
}

static int add_copy(struct lab *lab) {
    struct lab_point *point = lab_add(lab, "copy", "No step: the driver's copy of as many bytes.");
    if (!point)
        return -1;
    point->run = run_copy;
    point->bytes = 2.0 * TIMED_TILES * RING_TILE_BYTES;
    point->timed = true;
    point->too_large = lab->simulated;
    return 0;
}

static int setup(struct lab *lab) {
    const size_t words = (size_t)(lab->simulated ? COUNTED_TILES : TIMED_TILES) * TILE_WORDS;
    struct study *study = lab->data = calloc(1, sizeof *study);
    if (!study || !(study->host = malloc(words * sizeof *study->host)))
        return complain("out of host memory");
    if (lab_alloc(lab, &study->in, words * sizeof(uint32_t), 0) != 0 ||
        lab_alloc(lab, &study->out, words * sizeof(uint32_t), 0) != 0 ||
        (!lab->launching_only && ladder_fill(lab, study->in, words, ladder_hash) != 0))
        return -1;
    for (int size = 0; size < SIZES; size++) {
        for (int i = 0; i < STEPS; i++) {
            if (add_step(lab, &steps[i], size) != 0)
                return -1;
        }
    }
    return add_copy(lab);
}

/* ---- results -------------------------------------------------------------------------------------- */

static size_t words_of(const struct lab *lab, const struct lab_point *point) {
    const struct study *study = lab->data;
    return (size_t)study->tiles_of[ladder_index(lab, point)] * TILE_WORDS;
}

/* And the tile behind the last, where there is one. */
static int prepare(struct lab *lab, struct lab_point *point) {
    const struct study *study = lab->data;
    const size_t words = words_of(lab, point), all = lab->simulated || words < (size_t)COUNTED_TILES * TILE_WORDS
                                                         ? (size_t)COUNTED_TILES * TILE_WORDS
                                                         : words;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->out, 0xff, all * sizeof(uint32_t), lab->gpu.stream);
    return 0;
}

static int check(struct lab *lab, struct lab_point *point) {
    const struct study *study = lab->data;
    const size_t words = words_of(lab, point);
    const size_t seen = words && words < (size_t)COUNTED_TILES * TILE_WORDS ? words + TILE_WORDS : words;
    if (seen == 0) /* the copy */
        return 0;
    if (lab_download(lab, study->host, study->out, seen * sizeof(uint32_t)) != 0)
        return -1;
    lab_correct(point);
    for (size_t i = 0; i < seen && point->result == LAB_CORRECT; i++) {
        const size_t from = i / TILE_WORDS * TILE_WORDS + TILE_WORDS - 1 - i % TILE_WORDS;
        const uint32_t expected = i < words ? 3 * ladder_hash((uint32_t)from) + 1 : 0xffffffff;
        if (study->host[i] != expected)
            lab_wrong(point, "word %zu is %#x, not %#x", i, study->host[i], expected);
    }
    return 0;
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

static double rate(struct lab *lab, int step) {
    return lab_gbs(lab_find(lab, steps[step].label));
}

static int conclude(struct lab *lab) {
    for (int i = 1; i < SWEEP; i++) {
        const double now = rate(lab, sweep[i]), before = rate(lab, sweep[i - 1]);
        lab_claim(lab, now > 0.97 * before, true, "%s: %.2f times the speed of %s, %.0f GB/s", steps[sweep[i]].label,
                  now / before, steps[sweep[i - 1]].label, now);
    }
    for (int i = 0; i < PAIRS; i++) {
        const double registers = rate(lab, pairs[i][0]), past = rate(lab, pairs[i][1]);
        lab_claim(lab, registers > 0 && past > 0, true,
                  "the way past the registers alone, %d stage%s: %.2f times the speed, %.0f and %.0f GB/s",
                  steps[pairs[i][0]].stages, i ? "s" : "", past / registers, registers, past);
    }
    const double last = rate(lab, sweep[SWEEP - 1]), copy = lab_gbs(lab_find(lab, "copy"));
    lab_claim(lab, last > 0.75 * copy, true, "six stages reach %.1f %% of a copy, %.0f GB/s (to reach: 75 %%)",
              100 * last / copy, copy);
    return 0;
}

static void teardown(struct lab *lab) {
    struct study *study = lab->data;
    if (study)
        free(study->host);
}

const struct lab_experiment ring_stages = {
    .name = "ring-stages",
    .title = "Stages of a ring",
    .question = "How many stages does a ring of cp.async need, and what is the way past the registers worth alone?",
    .page = "cp-async",
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
    .teardown = teardown,
};
