/* SPDX-License-Identifier: Apache-2.0 */
/* The wavefronts that the steps of three ladders should take, and their input. */
#include "lab/ladders.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/image.h"
#include "lab/kernels/histogram.h"
#include "lab/kernels/reduction.h"
#include "lab/kernels/transpose_tile.h"
#include "lab/modules.h"

enum { REDUCTION_WARPS = REDUCTION_THREADS / GM_LANES };

static void add_cost(const struct gm_access *access, double *wavefronts, double *conflicts) {
    struct gm_bank_cost cost = {.size = sizeof cost};
    const bool known = gm_bank_cost(access, &cost) == GM_OK;
    *wavefronts += known ? cost.wavefronts : NAN;
    *conflicts += known ? cost.conflicts : NAN;
}

static void add_load(const struct gm_access *access, struct ladder_wavefronts *sum) {
    add_cost(access, &sum->load, &sum->load_conflicts);
}

static void add_store(const struct gm_access *access, struct ladder_wavefronts *sum) {
    add_cost(access, &sum->store, &sum->store_conflicts);
}

static struct gm_access new_access(enum gm_access_kind kind, uint32_t width) {
    return (struct gm_access){.size = sizeof(struct gm_access), .kind = kind, .width = width};
}

/* ---- transpose ------------------------------------------------------------------------------------ */

uint32_t transpose_word(enum transpose_step step, bool store, uint32_t pass, uint32_t lane) {
    /* Tiles: a pass stores row `pass` and loads column `pass`. */
    const uint32_t row = store ? pass : lane, column = store ? lane : pass;
    switch (step) {
    case TRANSPOSE_STEP_TILED:
        return TRANSPOSE_PLAIN(row, column);
    case TRANSPOSE_STEP_PADDED:
        return TRANSPOSE_PADDED(row, column);
    case TRANSPOSE_STEP_XOR:
        return TRANSPOSE_XOR(row, column);
    case TRANSPOSE_STEP_TMA: /* here a pass loads the 16 bytes of column 4 pass */
        return store ? TRANSPOSE_TMA_OUT(pass, lane) : TRANSPOSE_TMA_IN(lane, 4 * pass);
    default:
        return 0;
    }
}

static struct gm_access transpose_access(enum transpose_step step, bool store, uint32_t pass) {
    const bool vector = step == TRANSPOSE_STEP_TMA && !store;
    struct gm_access access = new_access(store ? GM_ACCESS_STORE : GM_ACCESS_LOAD, vector ? 16 : 4);
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        access.address[lane] = 4 * transpose_word(step, store, pass, lane);
    return access;
}

struct ladder_wavefronts transpose_wavefronts(enum transpose_step step) {
    struct ladder_wavefronts sum = {0};
    if (step == TRANSPOSE_STEP_NAIVE) /* no shared memory */
        return sum;
    const uint32_t loads = step == TRANSPOSE_STEP_TMA ? TRANSPOSE_TILE / 4 : TRANSPOSE_TILE;
    for (uint32_t pass = 0; pass < TRANSPOSE_TILE; pass++) {
        const struct gm_access store = transpose_access(step, true, pass), load = transpose_access(step, false, pass);
        add_store(&store, &sum);
        if (pass < loads)
            add_load(&load, &sum);
    }
    return sum;
}

/* ---- reduction ------------------------------------------------------------------------------------ */

/* In the round of a tree with this distance: the word that the thread adds to; the other lies `distance` further on.
 * false: the thread is idle. */
static bool tree_word(enum reduction_step step, uint32_t distance, uint32_t thread, uint32_t *word) {
    *word = step == REDUCTION_STEP_STRIDED ? 2 * distance * thread : thread;
    switch (step) {
    case REDUCTION_STEP_MODULO:
        return thread % (2 * distance) == 0;
    case REDUCTION_STEP_STRIDED:
        return *word < REDUCTION_THREADS;
    default:
        return thread < distance;
    }
}

/* One round of one warp: loads of both words, a store of the first. */
static void add_round(enum reduction_step step, uint32_t distance, uint32_t warp, struct ladder_wavefronts *sum) {
    struct gm_access near = new_access(GM_ACCESS_LOAD, 4), far = near, store = new_access(GM_ACCESS_STORE, 4);
    uint32_t word, active = 0;
    for (uint32_t lane = 0; lane < GM_LANES; lane++) {
        if (!tree_word(step, distance, warp * GM_LANES + lane, &word))
            continue;
        active |= 1u << lane;
        near.address[lane] = store.address[lane] = 4 * word;
        far.address[lane] = 4 * (word + distance);
    }
    if (active == 0)
        return;
    near.inactive = far.inactive = store.inactive = ~active;
    add_load(&near, sum);
    add_load(&far, sum);
    add_store(&store, sum);
}

/* One exchange between warps: a word stored by each of them, all loaded by the first. */
static const struct ladder_wavefronts exchange = {.load = 1, .store = REDUCTION_WARPS};

/* A CTA of steps 1 to 3: the elements are stored, the tree is climbed, its root loaded. */
static struct ladder_wavefronts tree_wavefronts(enum reduction_step step) {
    struct ladder_wavefronts sum = {.load = 1, .store = REDUCTION_WARPS};
    for (uint32_t distance = 1; distance < REDUCTION_THREADS; distance *= 2) {
        for (uint32_t warp = 0; warp < REDUCTION_WARPS; warp++)
            add_round(step, distance, warp, &sum);
    }
    return sum;
}

/* Step 5: an exchange in every CTA, and a second one in the last. One thread stores whether that is this one, and every
 * warp loads it. */
static struct ladder_wavefronts vector_wavefronts(uint32_t ctas) {
    return (struct ladder_wavefronts){.load = ctas * (exchange.load + REDUCTION_WARPS) + exchange.load,
                                      .store = ctas * (exchange.store + 1) + exchange.store};
}

struct ladder_wavefronts reduction_wavefronts(enum reduction_step step, uint32_t ctas) {
    if (step == REDUCTION_STEP_VECTOR)
        return vector_wavefronts(ctas);
    const struct ladder_wavefronts cta = step == REDUCTION_STEP_SHUFFLE ? exchange : tree_wavefronts(step);
    return (struct ladder_wavefronts){cta.load * ctas, cta.store * ctas, cta.load_conflicts * ctas,
                                      cta.store_conflicts * ctas};
}

/* ---- histogram ------------------------------------------------------------------------------------ */

double histogram_wavefronts(const uint32_t *values, size_t count, uint32_t per_lane) {
    struct gm_access access = new_access(GM_ACCESS_INCREMENT, 4);
    double sum = 0, conflicts = 0;
    for (size_t first = 0; first < count; first += GM_LANES * per_lane) {
        for (uint32_t i = 0; i < per_lane; i++) {
            for (uint32_t lane = 0; lane < GM_LANES; lane++)
                access.address[lane] = 4 * HISTOGRAM_BIN(values[first + lane * per_lane + i]);
            add_cost(&access, &sum, &conflicts);
        }
    }
    return sum;
}

/* ---- input ---------------------------------------------------------------------------------------- */

uint32_t ladder_hash(uint32_t k) {
    k = (k ^ k >> 16) * 0x7feb352du;
    k = (k ^ k >> 15) * 0x846ca68bu;
    return k ^ k >> 16;
}

uint32_t ladder_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

int ladder_fill(struct lab *lab, CUdeviceptr to, size_t count, uint32_t (*word)(uint32_t k)) {
    enum { PIECE = 1 << 22 };
    uint32_t *piece = malloc(PIECE * sizeof *piece);
    if (!piece)
        return complain("out of host memory");
    int status = 0;
    for (size_t first = 0; first < count && status == 0; first += PIECE) {
        const size_t words = count - first < PIECE ? count - first : PIECE;
        for (size_t i = 0; i < words; i++)
            piece[i] = word((uint32_t)(first + i));
        status = lab_upload(lab, to + first * sizeof *piece, piece, words * sizeof *piece);
    }
    free(piece);
    return status;
}

/* ---- points --------------------------------------------------------------------------------------- */

size_t ladder_index(const struct lab *lab, const struct lab_point *point) {
    return (size_t)(point - lab->points);
}

bool ladder_is_hopper(const struct lab *lab) {
    return lab->gpu.device.cc_major == 9 && lab->gpu.device.cc_minor == 0;
}

int ladder_resident_clusters(const struct lab *lab, const struct lab_launch *launch, unsigned *clusters) {
    const struct gm_driver *driver = lab->gpu.drv;
    const struct lab_module *module = lab_module_find(launch->module);
    CUlibrary library;
    CUfunction function;
    int resident = 0;
    if (!module)
        return complain("this build has no module %s", launch->module);
    struct gm_image_step step = gm_image_load(driver, module->image, &library);
    if (step.result != CUDA_SUCCESS)
        return gpu_fail(step.result, step.name);
    step = gm_image_function(driver, library, launch->kernel, (int)launch->shared_bytes, &function);
    if (step.result == CUDA_SUCCESS)
        step = (struct gm_image_step){lab_resident_clusters(lab, function, launch, &resident),
                                      "cuOccupancyMaxActiveClusters"};
    driver->cuLibraryUnload(library);
    if (step.result != CUDA_SUCCESS)
        return gpu_fail(step.result, step.name);
    *clusters = (unsigned)resident;
    return resident > 0 ? 0
                        : complain("no cluster of %u CTAs of %s fits on this GPU", launch->cluster[0], launch->kernel);
}

double ladder_gbs(struct lab *lab, const char *step, const char *size) {
    char label[64];
    snprintf(label, sizeof label, "%s, %s", step, size);
    const struct lab_point *point = lab_find(lab, label);
    return point ? lab_gbs(point) : NAN;
}
