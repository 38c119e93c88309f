/* SPDX-License-Identifier: Apache-2.0 */
/* dsmem: loads from a peer's shared memory beside loads from one's own, and messages to a peer. */
#include <stdio.h>
#include <stdlib.h>

#include "lab/lab.h"

enum {
    HOPS = 1008, /* not a multiple of 1024, so that the chains of different ranks end at different words */
    CHAIN_WORDS = 1024,
    STREAM_THREADS = 256,
    STREAM_BYTES = 32768,
    STREAM_ROUNDS = 64,
    MESSAGES = 1000, /* round trips */
    CTAS_MAX = 8
};

#define BYTES_REQUESTED "l1tex__t_bytes_pipe_lsu_mem_dshared_op_ld.sum"

enum kind { KIND_CHASE, KIND_STREAM, KIND_MESSAGE };

struct shot {
    enum kind kind;
    uint32_t cluster, distance, local, message;
};

struct study {
    CUdeviceptr words, clock; /* what the kernel writes: one word, or one a thread */
    struct shot shots[LAB_POINTS_MAX];
    uint32_t sums[CTAS_MAX * STREAM_THREADS];
};

/* ---- points --------------------------------------------------------------------------------------- */

static struct lab_point *add(struct lab *lab, const struct shot *shot, const char *kernel, const char *label,
                             const char *change) {
    struct study *study = lab->data;
    struct lab_point *point = lab_add(lab, label, change);
    if (!point)
        return NULL;
    study->shots[point - lab->points] = *shot;
    lab_kernel(point, "dsmem", kernel, shot->cluster, shot->kind == KIND_STREAM ? STREAM_THREADS : 32);
    point->launch.cluster[0] = shot->cluster;
    point->launch.cluster[1] = point->launch.cluster[2] = 1;
    point->clock = study->clock;
    LAB_ARGUMENT(point, study->words);
    LAB_ARGUMENT(point, study->clock);
    return point;
}

static int add_chase(struct lab *lab, uint32_t cluster, uint32_t distance, uint32_t local) {
    const struct shot shot = {.kind = KIND_CHASE, .cluster = cluster, .distance = distance, .local = local};
    const uint32_t hops = HOPS;
    char label[64];
    if (distance)
        snprintf(label, sizeof label, "%d dependent loads, %u of %u away", HOPS, distance, cluster);
    else
        snprintf(label, sizeof label, "%d dependent loads, own, ld.shared::%s", HOPS, local ? "cta" : "cluster");
    struct lab_point *point = add(lab, &shot, "lab_dsmem_chase", label,
                                  distance ? "every load waits for the one before it, from a peer's shared memory"
                                           : "every load waits for the one before it, from one's own shared memory");
    if (!point)
        return -1;
    LAB_ARGUMENT(point, hops);
    LAB_ARGUMENT(point, distance);
    LAB_ARGUMENT(point, local);
    return 0;
}

static int add_stream(struct lab *lab, uint32_t cluster, uint32_t distance) {
    const struct shot shot = {.kind = KIND_STREAM, .cluster = cluster, .distance = distance};
    const uint32_t rounds = STREAM_ROUNDS;
    char label[64];
    snprintf(label, sizeof label, "%d x 32 KB, %u CTAs, %s", STREAM_ROUNDS, cluster,
             distance ? "the next one's" : "own");
    struct lab_point *point = add(lab, &shot, "lab_dsmem_stream", label,
                                  distance ? "every CTA reads the next one's shared memory, 16 bytes a thread"
                                           : "every CTA reads its own through the same instruction");
    if (!point)
        return -1;
    LAB_ARGUMENT(point, rounds);
    LAB_ARGUMENT(point, distance);
    if (distance)
        lab_quantity(point, "bytes requested", BYTES_REQUESTED, (double)cluster * STREAM_ROUNDS * STREAM_BYTES, 0);
    return 0;
}

static int add_message(struct lab *lab, uint32_t message) {
    static const char *const names[] = {"st.async", "store and releasing arrive", "arrive alone"};
    static const char *const changes[] = {"the data completes the peer's barrier: no fence",
                                          "the arrive must not overtake the data: a fence before it",
                                          "permission without data: no order, no fence"};
    const struct shot shot = {.kind = KIND_MESSAGE, .cluster = 2, .message = message};
    const uint32_t rounds = MESSAGES;
    char label[64];
    snprintf(label, sizeof label, "%d round trips, %s", MESSAGES, names[message]);
    struct lab_point *point = add(lab, &shot, "lab_dsmem_message", label, changes[message]);
    if (!point)
        return -1;
    LAB_ARGUMENT(point, rounds);
    LAB_ARGUMENT(point, message);
    return 0;
}

enum { LOCAL, OWN, NEAR }; /* the first points: the ones that the claims compare */

static int setup(struct lab *lab) {
    static const struct {
        uint32_t cluster, distance, local;
    } chases[] = {{2, 0, 1}, {2, 0, 0}, {2, 1, 0}, {4, 1, 0}, {4, 3, 0}, {8, 1, 0}, {8, 4, 0}, {8, 7, 0}};
    static const struct {
        uint32_t cluster, distance;
    } streams[] = {{2, 0}, {2, 1}, {4, 1}, {8, 1}};
    struct study *study = calloc(1, sizeof *study);
    lab->data = study;
    if (!study)
        return complain("out of memory");
    if (lab_alloc(lab, &study->words, sizeof study->sums, 0xff) != 0 ||
        lab_alloc(lab, &study->clock, sizeof(uint64_t), 0) != 0)
        return -1;
    for (size_t i = 0; i < sizeof chases / sizeof *chases; i++) {
        if (add_chase(lab, chases[i].cluster, chases[i].distance, chases[i].local) != 0)
            return -1;
    }
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        if (add_stream(lab, streams[i].cluster, streams[i].distance) != 0)
            return -1;
    }
    for (uint32_t message = 0; message < 3; message++) {
        if (add_message(lab, message) != 0)
            return -1;
    }
    return 0;
}

/* ---- results -------------------------------------------------------------------------------------- */

static int prepare(struct lab *lab, struct lab_point *point) {
    (void)point;
    const struct study *study = lab->data;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->words, 0xff, sizeof study->sums, lab->gpu.stream);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->clock, 0, sizeof(uint64_t), lab->gpu.stream);
    return 0;
}

/* Thread `thread` of rank `rank` reads four words of each of eight pieces of 4096 bytes of its peer. */
static uint32_t sum_of(const struct shot *shot, uint32_t rank, uint32_t thread) {
    const uint32_t peer = (rank + shot->distance) % shot->cluster;
    uint32_t sum = 0;
    for (uint32_t piece = 0; piece < STREAM_BYTES / 4096; piece++) {
        for (uint32_t word = 0; word < 4; word++)
            sum += 8192 * peer + piece * 1024 + thread * 4 + word;
    }
    return sum * STREAM_ROUNDS;
}

/* What the kernel should have written to word i of its output. */
static uint32_t predicted(const struct shot *shot, uint32_t i) {
    switch (shot->kind) {
    case KIND_CHASE: /* rank r's chain goes 2r + 1 words at a time */
        return HOPS * (2 * shot->distance + 1) % CHAIN_WORDS;
    case KIND_STREAM:
        return sum_of(shot, i / STREAM_THREADS, i % STREAM_THREADS);
    default:
        return 2 * MESSAGES;
    }
}

static int check(struct lab *lab, struct lab_point *point) {
    struct study *study = lab->data;
    const struct shot *shot = &study->shots[point - lab->points];
    const uint32_t words = shot->kind == KIND_STREAM ? shot->cluster * STREAM_THREADS : 1;
    if (lab_download(lab, study->sums, study->words, words * sizeof *study->sums) != 0)
        return -1;
    for (uint32_t i = 0; i < words; i++) {
        const uint32_t wanted = predicted(shot, i);
        if (study->sums[i] != wanted) {
            lab_wrong(point, "word %u is %u, predicted %u%s", i, study->sums[i], wanted,
                      shot->kind == KIND_MESSAGE && study->sums[i] == UINT32_MAX ? ": a wait gave up" : "");
            return 0;
        }
    }
    lab_correct(point);
    return 0;
}

static void claim_latency(struct lab *lab) {
    const double local = lab->points[LOCAL].cycles / HOPS, own = lab->points[OWN].cycles / HOPS;
    double least = lab->points[NEAR].cycles / HOPS, most = least;
    const struct study *study = lab->data;
    for (size_t i = NEAR; study->shots[i].kind == KIND_CHASE; i++) {
        const double cycles = lab->points[i].cycles / HOPS;
        least = cycles < least ? cycles : least;
        most = cycles > most ? cycles : most;
    }
    lab_claim(lab, least > 2 * local, true,
              "A load from a peer takes %.0f to %.0f cycles, one from one's own shared memory %.0f, and %.0f through "
              "ld.shared::cluster.",
              least, most, local, own);
}

static void claim_rates(struct lab *lab) {
    const struct study *study = lab->data;
    size_t first = 0;
    while (study->shots[first].kind != KIND_STREAM)
        first++;
    double rates[4];
    for (size_t i = 0; i < 4; i++)
        rates[i] = (double)STREAM_ROUNDS * STREAM_BYTES / lab->points[first + i].cycles;
    lab_claim(
        lab, rates[0] > rates[1], true,
        "A CTA reads %.0f bytes a cycle of its own shared memory, and in a ring of 2, 4 and 8 CTAs %.0f, %.0f and %.0f "
        "of its neighbour's.",
        rates[0], rates[1], rates[2], rates[3]);
}

static int conclude(struct lab *lab) {
    size_t correct = 0;
    for (size_t i = 0; i < lab->point_count; i++)
        correct += lab->points[i].result == LAB_CORRECT;
    lab_claim(lab, correct == lab->point_count, false,
              "Every value read from a peer and every message is right: %zu of %zu.", correct, lab->point_count);
    claim_latency(lab);
    claim_rates(lab);
    const struct lab_point *messages = &lab->points[lab->point_count - 3];
    lab_claim(
        lab, messages[0].cycles < messages[1].cycles, true,
        "A round trip takes %.0f cycles with st.async, %.0f with a store and a releasing arrive, %.0f with arrives "
        "alone.",
        messages[0].cycles / MESSAGES, messages[1].cycles / MESSAGES, messages[2].cycles / MESSAGES);
    return 0;
}

const struct lab_experiment cluster_dsmem = {
    .name = "dsmem",
    .title = "The shared memory of a peer",
    .question = "What does a load from another CTA's shared memory cost, and what a message to it?",
    .page = "clusters",
    .hopper = true,
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
};
