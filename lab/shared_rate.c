/* SPDX-License-Identifier: Apache-2.0 */
/* degree-bandwidth, reads-and-writes: shared memory at its full rate, by the degree of the conflicts, and with loads and
 * stores mixed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/bank_access.h"
#include "lab/kernels/shared_rate.h"
#include "lab/ladders.h"

enum {
    WARPS = RATE_THREADS / GM_LANES,
    COUNTED_TRIPS = 16,
    COUNTED_ROUNDS = 2, /* the first one warms the instruction cache up */
    TIMED_TRIPS = 256,
    GLOBAL_VECTORS = 1 << 19, /* 8 MB: in the L2 of any GPU that the laboratory knows */
    GLOBAL_TRIPS = 32
};

enum what { LOADS = 1, STORES = 2, BOTH = 3, GLOBAL = 4 };

/* The work of a point. */
struct shot {
    enum what what;
    uint32_t width, lane_bytes, trips, rounds, ctas;
    struct gm_bank_cost load, store; /* of an access */
    bool merges;
};

struct study {
    CUdeviceptr sums, clock, global;
    uint32_t *fetched;
    size_t sum_count; /* room for the sums of a CTA on every SM */
    struct shot shots[LAB_POINTS_MAX];
};

/* ---- points --------------------------------------------------------------------------------------- */

static int price(struct shot *shot) {
    uint32_t address[GM_LANES];
    struct bank_shot load, store;
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        address[lane] = lane * shot->lane_bytes;
    const bool words = shot->width == 4;
    if (bank_shot_fill(&load, words ? LOAD_B32 : LOAD_V4, address, 0) != 0 ||
        bank_shot_fill(&store, words ? STORE_B32 : STORE_V4, address, 0) != 0)
        return -1;
    shot->load = load.cost;
    shot->store = store.cost;
    shot->merges = bank_merges(&load);
    return 0;
}

static double accesses_of(const struct shot *shot) {
    return (double)shot->rounds * shot->trips * RATE_ACCESSES * WARPS;
}

/* The image is filled by a store a thread and 4 KB of it, and what a thread has stored last it loads in the end. */
static void predict_counters(const struct shot *shot, struct lab_point *point) {
    const bool loads = shot->what & LOADS, stores = shot->what & STORES;
    const double accesses = accesses_of(shot);
    const double filled = loads ? RATE_IMAGE_BYTES / 4 / GM_LANES : 0, looked_at = stores ? WARPS : 0;
    const bool inexact = shot->merges && shot->load.conflicts > 0; /* the counter of the instruction: bank_predict.c */
    lab_quantity(point, "load wavefronts", inexact ? LAB_WAVEFRONTS_LD : LAB_EXACT_WAVEFRONTS_LD,
                 ((loads ? accesses : 0) + looked_at) * shot->load.wavefronts, 0);
    lab_quantity(point, "store wavefronts", LAB_EXACT_WAVEFRONTS_ST,
                 (stores ? accesses : 0) * shot->store.wavefronts + filled, 0);
}

/* A wavefront a cycle, of loads and stores together. Of 4-byte accesses without conflicts the load/store unit would have
 * to take one a cycle, so there the experiment asks and predicts nothing. */
static void predict_cycles(const struct shot *shot, struct lab_point *point) {
    const uint32_t load = shot->what & LOADS ? shot->load.wavefronts : 0;
    const uint32_t store = shot->what & STORES ? shot->store.wavefronts : 0;
    if (load == 1 || store == 1)
        return;
    point->cycles_predicted = accesses_of(shot) / shot->rounds * (load + store);
    point->cycles_tolerance = 0.15;
}

static struct lab_point *add_shared(struct lab *lab, struct shot shot, const char *label, const char *change) {
    static const char *const kernels[2][BOTH + 1] = {
        {NULL, "lab_rate_b32_loads", "lab_rate_b32_stores", "lab_rate_b32_both"},
        {NULL, "lab_rate_v4_loads", "lab_rate_v4_stores", "lab_rate_v4_both"}};
    struct study *study = lab->data;
    struct lab_point *point = lab_add(lab, label, change);
    if (!point || price(&shot) != 0)
        return NULL;
    study->shots[ladder_index(lab, point)] = shot;
    lab_kernel(point, "shared_rate", kernels[shot.width == 16][shot.what], shot.ctas, RATE_THREADS);
    point->launch.shared_bytes = RATE_IMAGE_BYTES + (shot.what & STORES ? RATE_THREADS * shot.lane_bytes : 0);
    LAB_ARGUMENT(point, study->sums);
    LAB_ARGUMENT(point, study->clock);
    LAB_ARGUMENT(point, shot.lane_bytes);
    LAB_ARGUMENT(point, shot.trips);
    LAB_ARGUMENT(point, shot.rounds);
    return point;
}

/* One CTA, with the kernel's clock. */
static int add_counted(struct lab *lab, enum what what, uint32_t width, uint32_t lane_bytes, const char *label,
                       const char *change) {
    const struct study *study = lab->data;
    const struct shot shot = {.what = what,
                              .width = width,
                              .lane_bytes = lane_bytes,
                              .trips = COUNTED_TRIPS,
                              .rounds = COUNTED_ROUNDS,
                              .ctas = 1};
    struct lab_point *point = add_shared(lab, shot, label, change);
    if (!point)
        return -1;
    const struct shot *priced = &study->shots[ladder_index(lab, point)];
    predict_counters(priced, point);
    predict_cycles(priced, point);
    point->clock = study->clock;
    return 0;
}

/* A CTA on every SM, timed. The bytes are those that the lanes asked for. */
static int add_timed(struct lab *lab, uint32_t width, uint32_t lane_bytes, const char *label, const char *change) {
    const struct shot shot = {.what = LOADS,
                              .width = width,
                              .lane_bytes = lane_bytes,
                              .trips = TIMED_TRIPS,
                              .rounds = 1,
                              .ctas = (uint32_t)lab->gpu.device.sm_count};
    struct lab_point *point = add_shared(lab, shot, label, change);
    if (!point)
        return -1;
    point->bytes = accesses_of(&shot) * shot.ctas * GM_LANES * width;
    point->timed = true;
    point->too_large = lab->simulated;
    return 0;
}

static uint32_t global_word(uint32_t k) {
    return RATE_WORD(k);
}

static int add_global(struct lab *lab, uint32_t trips, uint32_t ctas, bool timed, const char *label) {
    struct study *study = lab->data;
    struct lab_point *point =
        lab_add(lab, label, "No shared memory: 16 bytes a thread out of L2, past L1, 8 such loads under way.");
    if (!point)
        return -1;
    const struct shot shot = {.what = GLOBAL, .width = 16, .trips = trips, .rounds = 1, .ctas = ctas};
    const uint32_t vectors = GLOBAL_VECTORS;
    study->shots[ladder_index(lab, point)] = shot;
    lab_kernel(point, "shared_rate", "lab_rate_global", ctas, RATE_THREADS);
    LAB_ARGUMENT(point, study->global);
    LAB_ARGUMENT(point, study->sums);
    LAB_ARGUMENT(point, vectors);
    LAB_ARGUMENT(point, trips);
    const double bytes = (double)ctas * trips * RATE_GLOBAL_LOADS * RATE_THREADS * 16;
    point->bytes = bytes;
    point->timed = timed;
    point->too_large = timed && lab->simulated;
    if (!timed)
        lab_quantity(point, "load sectors", LAB_SECTORS_LD, bytes / 32, 0);
    return 0;
}

static int open_study(struct lab *lab) {
    struct study *study = lab->data = calloc(1, sizeof *study);
    if (!study)
        return complain("out of host memory");
    study->sum_count = (size_t)lab->gpu.device.sm_count * RATE_THREADS;
    study->fetched = malloc(study->sum_count * sizeof *study->fetched);
    if (!study->fetched)
        return complain("out of host memory");
    return lab_alloc(lab, &study->sums, study->sum_count * sizeof *study->fetched, 0) != 0 ||
                   lab_alloc(lab, &study->clock, sizeof(uint64_t), 0) != 0
               ? -1
               : 0;
}

static const struct pattern {
    const char *label, *change;
    uint32_t width, lane_bytes;
} degrees[] = {
    {"b32, 1-way", "4 bytes a lane, lanes 1 word apart", 4, 4},
    {"b32, 2-way", "2 words apart", 4, 8},
    {"b32, 4-way", "4 words apart", 4, 16},
    {"b32, 8-way", "8 words apart", 4, 32},
    {"b32, 16-way", "16 words apart", 4, 64},
    {"b32, 32-way", "32 words apart", 4, 128},
    {"v4, 1-way", "16 bytes a lane, lanes side by side: a quarter of the instructions for the same bytes", 16, 16},
    {"v4, 2-way", "32 bytes apart", 16, 32},
    {"v4, 4-way", "64 bytes apart", 16, 64},
    {"v4, 8-way", "128 bytes apart: all of a phase of eight lanes in four banks", 16, 128},
};

enum { DEGREES = sizeof degrees / sizeof *degrees };

static int setup_degrees(struct lab *lab) {
    struct study *study;
    char label[64];
    if (open_study(lab) != 0)
        return -1;
    study = lab->data;
    if (lab_alloc(lab, &study->global, GLOBAL_VECTORS * 16, 0) != 0 ||
        (!lab->launching_only && ladder_fill(lab, study->global, GLOBAL_VECTORS * 4, global_word) != 0))
        return -1;
    for (size_t i = 0; i < DEGREES; i++) {
        const struct pattern *degree = &degrees[i];
        snprintf(label, sizeof label, "%s, all SMs", degree->label);
        if (add_counted(lab, LOADS, degree->width, degree->lane_bytes, degree->label, degree->change) != 0 ||
            add_timed(lab, degree->width, degree->lane_bytes, label, degree->change) != 0)
            return -1;
    }
    return add_global(lab, 1, 2, false, "L2, v4, two CTAs") != 0
               ? -1
               : add_global(lab, GLOBAL_TRIPS, (uint32_t)lab->gpu.device.sm_count, true, "L2, v4, all SMs");
}

static const struct pattern mixes[] = {
    {"b32, 1-way", "4 bytes a lane, side by side", 4, 4},
    {"b32, 2-way", "4 bytes a lane, 2 words apart: the banks are what the accesses wait for", 4, 8},
    {"v4, 1-way", "16 bytes a lane, side by side", 16, 16},
};

enum { MIXES = sizeof mixes / sizeof *mixes };

static int setup_mixes(struct lab *lab) {
    static const char *const names[] = {NULL, "loads", "stores", "as many of both"};
    char label[64];
    if (open_study(lab) != 0)
        return -1;
    for (size_t i = 0; i < MIXES; i++) {
        for (int what = LOADS; what <= BOTH; what++) {
            snprintf(label, sizeof label, "%s, %s", mixes[i].label, names[what]);
            if (add_counted(lab, (enum what)what, mixes[i].width, mixes[i].lane_bytes, label, mixes[i].change) != 0)
                return -1;
        }
    }
    return 0;
}

/* ---- results -------------------------------------------------------------------------------------- */

static int prepare(struct lab *lab, struct lab_point *point) {
    const struct study *study = lab->data;
    (void)point;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->sums, 0xff, study->sum_count * sizeof *study->fetched, lab->gpu.stream);
    return 0;
}

/* What a load of this thread finds, `at` bytes from where lane 0 begins. */
static uint32_t sum_of_load(const struct shot *shot, uint32_t at) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < shot->width / 4; i++)
        sum += RATE_WORD(at / 4 + i);
    return sum;
}

static uint32_t shared_sum(const struct shot *shot, uint32_t thread) {
    const uint32_t home = thread % GM_LANES * shot->lane_bytes;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < RATE_ACCESSES && shot->what & LOADS; i++)
        sum += shot->trips / 2 *
               (sum_of_load(shot, home + i * RATE_STEP) + sum_of_load(shot, home + i * RATE_STEP + RATE_TRIP_STEP));
    if (shot->what & STORES)
        sum += shot->width / 4 * RATE_STORED(thread);
    return sum;
}

static uint32_t global_sum(const struct shot *shot, uint32_t cta, uint32_t thread) {
    uint32_t sum = 0, at = cta * (GLOBAL_VECTORS / 128) + thread;
    for (uint32_t i = 0; i < shot->trips * RATE_GLOBAL_LOADS; i++, at += RATE_THREADS)
        sum += sum_of_load(shot, at % GLOBAL_VECTORS * 16);
    return sum;
}

static int check(struct lab *lab, struct lab_point *point) {
    struct study *study = lab->data;
    const struct shot *shot = &study->shots[ladder_index(lab, point)];
    if (lab_download(lab, study->fetched, study->sums, study->sum_count * sizeof *study->fetched) != 0)
        return -1;
    for (uint32_t i = 0; i < shot->ctas * RATE_THREADS; i++) {
        const uint32_t cta = i / RATE_THREADS, thread = i % RATE_THREADS;
        const uint32_t expected = shot->what == GLOBAL ? global_sum(shot, cta, thread) : shared_sum(shot, thread);
        if (study->fetched[i] != expected) {
            lab_wrong(point, "the sum of thread %u of CTA %u is 0x%08x, not 0x%08x", thread, cta, study->fetched[i],
                      expected);
            return 0;
        }
    }
    lab_correct(point);
    return 0;
}

static void teardown(struct lab *lab) {
    struct study *study = lab->data;
    if (study)
        free(study->fetched);
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

/* Of the lanes' bytes, in a round of a point with one CTA. */
static double bytes_a_clock(struct lab *lab, const char *label) {
    const struct study *study = lab->data;
    const struct lab_point *point = lab_find(lab, label);
    const struct shot *shot = &study->shots[ladder_index(lab, point)];
    return accesses_of(shot) / shot->rounds * GM_LANES * shot->width / point->cycles;
}

static int conclude_degrees(struct lab *lab) {
    const double wide = bytes_a_clock(lab, "v4, 1-way"), narrow = bytes_a_clock(lab, "b32, 1-way");
    const double two = bytes_a_clock(lab, "b32, 2-way"), worst = bytes_a_clock(lab, "b32, 32-way");
    lab_claim(
        lab, wide > 0.9 * 128 && wide <= 128, true,
        "At their full rate the banks of an SM give %.1f bytes a clock to 16-byte loads, of 128 that are predicted.",
        wide);
    lab_claim(lab, narrow > two && narrow <= 128, true,
              "To 4-byte loads without conflicts %.1f, of 2 ways %.1f (predicted 64), of 32 ways %.2f (predicted 4).",
              narrow, two, worst);
    const double l2 = lab_gbs(lab_find(lab, "L2, v4, all SMs"));
    const double whole = lab_gbs(lab_find(lab, "v4, 1-way, all SMs"));
    const double last = lab_gbs(lab_find(lab, "b32, 32-way, all SMs"));
    lab_claim(lab, last < l2 && l2 < whole, true,
              "32-way conflicts make shared memory slower than L2: %.0f GB/s on all SMs, L2 gives %.0f, shared memory "
              "without conflicts %.0f.",
              last, l2, whole);
    return 0;
}

static int conclude_mixes(struct lab *lab) {
    for (size_t i = 1; i < MIXES; i++) {
        const double loads = lab->points[3 * i].cycles, stores = lab->points[3 * i + 1].cycles;
        const double both = lab->points[3 * i + 2].cycles;
        lab_claim(
            lab, fabs(both / (loads + stores) - 1) < 0.1, true,
            "%s: loads %.0f cycles, stores %.0f, both together %.0f, the sum is %.0f: a bank does one or the other "
            "in a cycle.",
            mixes[i].label, loads, stores, both, loads + stores);
    }
    return 0;
}

const struct lab_experiment degree_bandwidth = {
    .name = "degree-bandwidth",
    .title = "Bandwidth by conflict degree",
    .question = "How many bytes a clock does shared memory give at each degree of conflict, and when is L2 faster?",
    .page = "banks",
    .setup = setup_degrees,
    .prepare = prepare,
    .check = check,
    .conclude = conclude_degrees,
    .teardown = teardown,
};

const struct lab_experiment reads_and_writes = {
    .name = "reads-and-writes",
    .title = "Reads and writes together",
    .question = "Does a bank do one read and one write in a cycle?",
    .page = "banks",
    .setup = setup_mixes,
    .prepare = prepare,
    .check = check,
    .conclude = conclude_mixes,
    .teardown = teardown,
};
