/* SPDX-License-Identifier: Apache-2.0 */
/* conflict-worth: one 4-way conflict, off the critical path and on it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/bank_access.h"
#include "lab/kernels/worth.h"
#include "lab/ladders.h"

enum {
    STRUCTURES = 1 << 24, /* of the timed splits, about: 256 MiB */
    COUNTED_CTAS = 2,
    COUNTED_ROUNDS = 32,
    TIMED_ROUNDS = 1024,
    CTAS_FULL = 4,       /* of a full tile, an SM */
    CTA_RESERVED = 1024, /* bytes of shared memory that every CTA takes beside its own */
    CTAS_BY_THREADS = 8
};

enum layout { PLAIN, PADDED, SWIZZLED, LAYOUTS };
enum work { MEMORY, FULL, FFMA, CRITICAL, WORKS };

static const struct {
    const char *label, *change;
} works[WORKS] = {
    [MEMORY] = {"memory",
                "Structures are taken apart by way of tiles of 8 KB, 4-way, while memory brings the next ones."},
    [FULL] = {"memory, full tiles", "The same with tiles of which four fill an SM: a pad leaves room for three."},
    [FFMA] = {"32 FFMA a value", "Structures are read 4-way again and again, and 32 FFMA done with every word."},
    [CRITICAL] = {"1 FFMA a value", "The same reads with 1 FFMA a word: nothing else to wait for."},
};

static const char *const layouts[LAYOUTS] = {"plain", "padded", "swizzled"};
static const uint32_t words_of[LAYOUTS] = {WORTH_FIELDS, WORTH_FIELDS + 1, WORTH_FIELDS};

static const char *const kernels[WORKS][LAYOUTS] = {
    {"lab_worth_split_plain", "lab_worth_split_padded", "lab_worth_split_swizzled"},
    {"lab_worth_split_plain", "lab_worth_split_padded", "lab_worth_split_swizzled"},
    {"lab_worth_much_plain", "lab_worth_much_padded", "lab_worth_much_swizzled"},
    {"lab_worth_little_plain", "lab_worth_little_padded", "lab_worth_little_swizzled"},
};

/* The work of a point. */
struct shot {
    enum work work;
    enum layout layout;
    uint32_t tile, ctas, rounds; /* structures of a CTA; its rounds, of a sum */
};

struct worth_data {
    CUdeviceptr from, to;
    float *result;
    size_t words; /* room for the largest result */
    struct shot shots[LAB_POINTS_MAX];
};

static bool splits(const struct shot *shot) {
    return shot->work == MEMORY || shot->work == FULL;
}

static size_t words_out(const struct shot *shot) {
    return (size_t)shot->ctas * (splits(shot) ? (size_t)shot->tile * WORTH_FIELDS : WORTH_THREADS);
}

static uint32_t tile_bytes(const struct shot *shot) {
    return shot->tile * words_of[shot->layout] * (uint32_t)sizeof(float);
}

/* Small, so that every sum is exact in fp32 in any order. */
static int value_of(uint32_t k) {
    return (int)(ladder_hash(k) % 5) - 2;
}

static uint32_t word_of(uint32_t k) {
    return ladder_bits((float)value_of(k));
}

/* ---- prediction ----------------------------------------------------------------------------------- */

static uint32_t address_of(enum layout layout, uint32_t s, uint32_t f) {
    return 4 * (layout == PADDED ? WORTH_PADDED(s, f) : layout == SWIZZLED ? WORTH_SWIZZLED(s, f) : WORTH_PLAIN(s, f));
}

/* Wavefronts of a warp that stores 32 words as they come from memory, or loads a field of 32 structures. Every group of 32
 * structures lies alike, and so does every field. */
static double wavefronts(enum layout layout, bool store) {
    struct bank_shot shot;
    uint32_t address[GM_LANES];
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        address[lane] =
            store ? address_of(layout, lane / WORTH_FIELDS, lane % WORTH_FIELDS) : address_of(layout, lane, 0);
    return bank_shot_fill(&shot, store ? STORE_B32 : LOAD_B32, address, 0) == 0 ? shot.cost.wavefronts : NAN;
}

static uint32_t resident_ctas(const struct lab *lab, const struct shot *shot) {
    const uint32_t fit = (uint32_t)lab->gpu.device.smem_per_sm_bytes / (tile_bytes(shot) + CTA_RESERVED);
    return fit < CTAS_BY_THREADS ? fit : CTAS_BY_THREADS;
}

static int predict(struct lab *lab, const struct shot *shot, struct lab_point *point) {
    const double warps = shot->tile / (double)GM_LANES * shot->ctas * WORTH_FIELDS;
    const double reads =
        splits(shot) ? warps : (double)shot->ctas * WORTH_THREADS / GM_LANES * shot->rounds * WORTH_FIELDS;
    unsigned resident = 0;
    lab_quantity(point, "load wavefronts", LAB_EXACT_WAVEFRONTS_LD, reads * wavefronts(shot->layout, false), 0);
    lab_quantity(point, "store wavefronts", LAB_EXACT_WAVEFRONTS_ST, warps * wavefronts(shot->layout, true), 0);
    if (!ladder_is_hopper(lab)) /* the driver tells of clusters, of one CTA here, on Hopper only */
        return 0;
    struct lab_launch launch = point->launch;
    launch.cluster[0] = launch.cluster[1] = launch.cluster[2] = 1;
    if (ladder_resident_clusters(lab, &launch, &resident) != 0)
        return -1;
    lab_quantity(point, "CTAs an SM", NULL, resident_ctas(lab, shot), 0);
    struct lab_quantity *quantity = &point->quantities[point->quantity_count - 1];
    *(lab->simulated ? &quantity->simulated : &quantity->counted) = (double)resident / lab->gpu.device.sm_count;
    return 0;
}

/* ---- points --------------------------------------------------------------------------------------- */

static struct lab_point *add(struct lab *lab, struct shot shot, const char *label) {
    struct worth_data *data = lab->data;
    const uint32_t count = shot.tile * shot.ctas;
    const float scale = 1;
    struct lab_point *point = lab_add(lab, label, works[shot.work].change);
    if (!point)
        return NULL;
    data->shots[ladder_index(lab, point)] = shot;
    lab_kernel(point, "worth", kernels[shot.work][shot.layout], shot.ctas, WORTH_THREADS);
    LAB_ARGUMENT(point, data->from);
    LAB_ARGUMENT(point, data->to);
    if (splits(&shot)) {
        point->launch.shared_bytes = tile_bytes(&shot);
        LAB_ARGUMENT(point, count);
        LAB_ARGUMENT(point, shot.tile);
    } else {
        LAB_ARGUMENT(point, shot.rounds);
        LAB_ARGUMENT(point, scale);
    }
    return point;
}

/* The most structures, in whole rows of threads, of which CTAS_FULL tiles fit an SM. */
static uint32_t full_tile(const struct lab *lab) {
    const uint32_t bytes = (uint32_t)lab->gpu.device.smem_per_sm_bytes / CTAS_FULL - CTA_RESERVED;
    return bytes / (WORTH_FIELDS * 4) / WORTH_THREADS * WORTH_THREADS;
}

static int add_counted(struct lab *lab, struct shot shot) {
    char label[64];
    shot.ctas = COUNTED_CTAS;
    shot.rounds = COUNTED_ROUNDS;
    snprintf(label, sizeof label, "%s: %s, %d CTAs", works[shot.work].label, layouts[shot.layout], COUNTED_CTAS);
    struct lab_point *point = add(lab, shot, label);
    return point ? predict(lab, &shot, point) : -1;
}

static int add_timed(struct lab *lab, struct shot shot) {
    char label[64];
    const uint32_t ffmas = shot.work == FFMA ? WORTH_FFMAS : 1;
    shot.ctas = splits(&shot) ? STRUCTURES / shot.tile : (uint32_t)lab->gpu.device.sm_count * CTAS_BY_THREADS;
    shot.rounds = TIMED_ROUNDS;
    snprintf(label, sizeof label, "%s: %s", works[shot.work].label, layouts[shot.layout]);
    struct lab_point *point = add(lab, shot, label);
    if (!point)
        return -1;
    if (splits(&shot))
        point->bytes = 2.0 * sizeof(float) * (double)words_out(&shot);
    else
        point->flops = 2.0 * ffmas * WORTH_FIELDS * shot.rounds * (double)words_out(&shot);
    point->timed = true;
    point->too_large = lab->simulated;
    return 0;
}

static int setup(struct lab *lab) {
    struct worth_data *data = lab->data = calloc(1, sizeof *data);
    if (!data)
        return complain("out of host memory");
    data->words = (size_t)(lab->simulated ? full_tile(lab) * COUNTED_CTAS : STRUCTURES) * WORTH_FIELDS;
    if (lab_alloc(lab, &data->from, data->words * sizeof(float), 0) != 0 ||
        lab_alloc(lab, &data->to, data->words * sizeof(float), 0xff) != 0)
        return -1;
    if (!lab->launching_only) {
        data->result = malloc(data->words * sizeof *data->result);
        if (!data->result)
            return complain("out of host memory");
        if (ladder_fill(lab, data->from, data->words, word_of) != 0)
            return -1;
    }
    for (int work = 0; work < WORKS; work++) {
        for (int layout = 0; layout < LAYOUTS; layout++) {
            const struct shot shot = {.work = (enum work)work,
                                      .layout = (enum layout)layout,
                                      .tile = work == FULL ? full_tile(lab) : WORTH_SMALL};
            if (add_counted(lab, shot) != 0 || add_timed(lab, shot) != 0)
                return -1;
        }
    }
    return 0;
}

/* ---- results -------------------------------------------------------------------------------------- */

static int prepare(struct lab *lab, struct lab_point *point) {
    const struct worth_data *data = lab->data;
    const size_t bytes = words_out(&data->shots[ladder_index(lab, point)]) * sizeof(float);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, data->to, 0xff, bytes, lab->gpu.stream);
    return 0;
}

/* Of a thread, whatever the CTA. */
static float sum_expected(const struct shot *shot, uint32_t thread) {
    int sum = 0;
    for (uint32_t round = 0; round < shot->rounds; round++) {
        for (uint32_t f = 0; f < WORTH_FIELDS; f++)
            sum += value_of((thread + 32 * round) % WORTH_SMALL * WORTH_FIELDS + f);
    }
    return (float)(sum * (shot->work == FFMA ? WORTH_FFMAS : 1));
}

static bool sums_right(const struct shot *shot, const float *result, size_t *wrong) {
    float expected[WORTH_THREADS];
    for (uint32_t thread = 0; thread < WORTH_THREADS; thread++)
        expected[thread] = sum_expected(shot, thread);
    for (*wrong = 0; *wrong < words_out(shot); ++*wrong) {
        if (result[*wrong] != expected[*wrong % WORTH_THREADS])
            return false;
    }
    return true;
}

static bool split_right(const struct shot *shot, const float *result, size_t *wrong) {
    const uint32_t count = shot->tile * shot->ctas;
    for (*wrong = 0; *wrong < words_out(shot); ++*wrong) {
        const uint32_t f = (uint32_t)(*wrong / count), s = (uint32_t)(*wrong % count);
        if (result[*wrong] != (float)value_of(s * WORTH_FIELDS + f))
            return false;
    }
    return true;
}

static int check(struct lab *lab, struct lab_point *point) {
    struct worth_data *data = lab->data;
    const struct shot *shot = &data->shots[ladder_index(lab, point)];
    size_t wrong;
    if (lab_download(lab, data->result, data->to, words_out(shot) * sizeof(float)) != 0)
        return -1;
    if (splits(shot) ? split_right(shot, data->result, &wrong) : sums_right(shot, data->result, &wrong))
        lab_correct(point);
    else
        lab_wrong(point, "element %zu of the result is %g", wrong, (double)data->result[wrong]);
    return 0;
}

static void teardown(struct lab *lab) {
    struct worth_data *data = lab->data;
    if (data)
        free(data->result);
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

static double us_of(struct lab *lab, enum work work, enum layout layout) {
    char label[64];
    snprintf(label, sizeof label, "%s: %s", works[work].label, layouts[layout]);
    return lab_find(lab, label)->us;
}

static void conclude_counts(struct lab *lab) {
    char label[64];
    double loads[LAYOUTS];
    for (int layout = 0; layout < LAYOUTS; layout++) {
        snprintf(label, sizeof label, "%s: %s, %d CTAs", works[CRITICAL].label, layouts[layout], COUNTED_CTAS);
        loads[layout] = lab_counted(lab_find(lab, label), "load wavefronts");
    }
    lab_claim(
        lab, loads[PLAIN] == 4 * loads[PADDED] && loads[PADDED] == loads[SWIZZLED], false,
        "The pad and the swizzle take away three of four wavefronts of the loads, in all four kernels: %.0f and %.0f "
        "of %.0f are left in the last.",
        loads[PADDED], loads[SWIZZLED], loads[PLAIN]);
}

static int conclude(struct lab *lab) {
    if (lab->has_counts)
        conclude_counts(lab);
    double gain[WORKS][LAYOUTS];
    for (int work = 0; work < WORKS; work++) {
        for (int layout = 0; layout < LAYOUTS; layout++)
            gain[work][layout] = us_of(lab, (enum work)work, PLAIN) / us_of(lab, (enum work)work, (enum layout)layout);
    }
    lab_claim(lab, fmax(gain[MEMORY][PADDED], gain[MEMORY][SWIZZLED]) < 1.15, true,
              "Where memory is waited for, taking the conflict away is worth little: %.2f times the speed padded, "
              "%.2f swizzled.",
              gain[MEMORY][PADDED], gain[MEMORY][SWIZZLED]);
    lab_claim(
        lab, gain[FULL][PADDED] < 1 && gain[FULL][SWIZZLED] > gain[FULL][PADDED], true,
        "A pad that costs a CTA an SM makes the kernel slower, conflicts or not: %.2f times the speed; swizzled %.2f.",
        gain[FULL][PADDED], gain[FULL][SWIZZLED]);
    lab_claim(lab, fmax(gain[FFMA][PADDED], gain[FFMA][SWIZZLED]) < 1.05, true,
              "Under 32 FFMA a value the conflict is hidden: %.2f times the speed padded, %.2f swizzled.",
              gain[FFMA][PADDED], gain[FFMA][SWIZZLED]);
    lab_claim(lab, fmin(gain[CRITICAL][PADDED], gain[CRITICAL][SWIZZLED]) > 1.5, true,
              "With 1 FFMA a value it is what the kernel waits for: %.2f times the speed padded, %.2f swizzled.",
              gain[CRITICAL][PADDED], gain[CRITICAL][SWIZZLED]);
    return 0;
}

const struct lab_experiment conflict_worth = {
    .name = "conflict-worth",
    .title = "One conflict, worth fixing or not",
    .question =
        "What is the same 4-way conflict worth where a kernel waits for memory, for FFMA, or for shared memory?",
    .page = "worth-fixing",
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
    .teardown = teardown,
};
