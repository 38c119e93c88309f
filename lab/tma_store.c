/* SPDX-License-Identifier: Apache-2.0 */
/* tma-store-edges: which bytes a TMA store writes where a row of the tensor ends inside the box, and where the box may
 * begin. Stores that may end in an error are tried by other processes first (lab_child.h). */
#include "lab/tma_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cuda_abi.h"
#include "lab/lab_child.h"
#include "lab/tma_image.h"

enum { POISON = 0xee, BOX_ROW_BYTES = 64, BOX_ROWS = 8, SOURCE_BYTES = BOX_ROW_BYTES * BOX_ROWS, CHUNK = 16 };
enum { GUARD_BYTES = 4096, OUT_BYTES = 32768 };

/* What a point is about. BETWEEN: the box begins between two multiples of 16 bytes, which loads may not either.
 * NEGATIVE: it begins before the tensor, which the programming guide allows for loads only. Both are to be refused. */
enum edge { EDGE_RIGHT, EDGE_OTHER, EDGE_BETWEEN, EDGE_NEGATIVE, EDGES };

struct study {
    unsigned char source[SOURCE_BYTES], out[OUT_BYTES], predicted[OUT_BYTES];
    CUdeviceptr source_address, out_address, report_address;
    struct tma_store stores[LAB_POINTS_MAX];
    enum edge edges[LAB_POINTS_MAX];
    struct lab_trial trials[LAB_POINTS_MAX];
    uint32_t units[LAB_POINTS_MAX]; /* bit i: rounding up to 1 << i bytes explains what was written */
};

static int setup_memory(struct lab *lab) {
    struct study *study = calloc(1, sizeof *study);
    lab->data = study;
    if (!study)
        return complain("out of memory");
    tma_fill_tensor(study->source, sizeof study->source);
    if (lab_alloc(lab, &study->source_address, SOURCE_BYTES, 0) != 0 ||
        lab_alloc(lab, &study->out_address, OUT_BYTES, 0) != 0 || lab_alloc(lab, &study->report_address, 4, 0) != 0)
        return -1;
    return lab_upload(lab, study->source_address, study->source, SOURCE_BYTES);
}

/* A tensor of `columns` x 12 elements in rows that lie `stride` bytes apart, and a box of 64 bytes x 8 rows. */
static struct tma_store store_of(int type, uint32_t columns, uint32_t stride) {
    return (struct tma_store){.map = {.size = sizeof(struct gm_tensor_map_request),
                                      .type = type,
                                      .rank = 2,
                                      .address = GUARD_BYTES,
                                      .dims = {columns, 12},
                                      .strides = {stride},
                                      .box = {BOX_ROW_BYTES / gm_tensor_map_element_bytes(type), BOX_ROWS}}};
}

static int add(struct lab *lab, const struct tma_store *store, enum edge edge, const char *label, const char *change) {
    struct study *study = lab->data;
    struct lab_point *point = lab_add(lab, label, change);
    if (!point)
        return -1;
    struct gm_tensor_map_request request = store->map;
    request.address += study->out_address;
    struct lab_map map;
    if (lab_tensor_map(lab, &request, &map) != 0)
        return -1;
    study->stores[point - lab->points] = *store;
    study->edges[point - lab->points] = edge;
    const uint32_t bytes = SOURCE_BYTES;
    lab_kernel(point, "tma_store", "lab_tma_store", 1, 128);
    point->launch.shared_bytes = SOURCE_BYTES + 1024;
    LAB_ARGUMENT(point, map);
    LAB_ARGUMENT(point, study->source_address);
    LAB_ARGUMENT(point, study->report_address);
    LAB_ARGUMENT(point, bytes);
    LAB_ARGUMENT(point, store->x);
    LAB_ARGUMENT(point, store->y);
    return 0;
}

static const struct {
    int type;
    const char *name;
} types[] = {{CU_TENSOR_MAP_DATA_TYPE_UINT8, "u8"},
             {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, "bf16"},
             {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, "f32"}};
enum { U8, BF16, F32, TYPES };

/* Rows that end 0 to 16 bytes after a multiple of 16. */
static int add_tails(struct lab *lab) {
    for (size_t t = 0; t < TYPES; t++) {
        const uint32_t bytes = gm_tensor_map_element_bytes(types[t].type);
        for (uint32_t tail = 0; tail <= 16; tail += bytes) {
            const struct tma_store store = store_of(types[t].type, (32 + tail) / bytes, 128);
            char label[64], change[128];
            snprintf(label, sizeof label, "%s rows of 32 + %u bytes", types[t].name, tail);
            snprintf(change, sizeof change, "%u bytes of the last 16-byte chunk belong to the tensor", tail);
            if (add(lab, &store, EDGE_RIGHT, label, change) != 0)
                return -1;
        }
    }
    return 0;
}

static enum edge edge_of(int start, int row) {
    if (start % CHUNK != 0)
        return EDGE_BETWEEN;
    return start < 0 || row < 0 ? EDGE_NEGATIVE : EDGE_OTHER;
}

/* Rows of 96 bytes, so that no end of a row is rounded, and boxes that begin in the most different places. */
static int add_starts(struct lab *lab) {
    static const struct {
        int type, start, row; /* in bytes, and rows */
    } boxes[] = {{U8, 0, 9},    {U8, 0, 12},  {U8, 16, 2},  {U8, 32, 0},  {U8, 48, -1},  {U8, 96, 0},   {U8, 208, 0},
                 {BF16, 16, 2}, {F32, 16, 2}, {U8, 0, -3},  {U8, -16, 0}, {F32, -16, 0}, {U8, -48, -3}, {U8, 0, -8},
                 {U8, -208, 0}, {U8, 1, 0},   {U8, 2, 0},   {U8, 4, 0},   {U8, 8, 0},    {U8, 12, 0},   {U8, 20, 0},
                 {U8, -4, 0},   {BF16, 2, 0}, {BF16, 8, 0}, {F32, 4, 0},  {F32, 8, 0},   {F32, -4, 0}};
    static const char *const changes[EDGES] = {[EDGE_OTHER] = "allowed: exact, byte by byte",
                                               [EDGE_BETWEEN] = "begins between two multiples of 16 bytes: refused",
                                               [EDGE_NEGATIVE] = "begins before the tensor: refused"};
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        const int type = boxes[i].type, bytes = (int)gm_tensor_map_element_bytes(types[type].type);
        const enum edge edge = edge_of(boxes[i].start, boxes[i].row);
        struct tma_store store = store_of(types[type].type, 96 / (uint32_t)bytes, 128);
        store.x = boxes[i].start / bytes;
        store.y = boxes[i].row;
        char label[64];
        snprintf(label, sizeof label, "%s, from %d bytes of row %d", types[type].name, boxes[i].start, boxes[i].row);
        if (add(lab, &store, edge, label, changes[edge]) != 0)
            return -1;
    }
    return 0;
}

static int setup(struct lab *lab) {
    if (setup_memory(lab) != 0 || add_tails(lab) != 0)
        return -1;
    struct tma_store wide = store_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 257, 544);
    wide.x = 256;
    if (add(lab, &wide, EDGE_RIGHT, "bf16 rows of 257 columns, box at 256", "the last column of a GEMM's ragged D") !=
        0)
        return -1;
    if (add_starts(lab) != 0)
        return -1;
    return lab_child_try(lab, ((struct study *)lab->data)->trials);
}

static int prepare(struct lab *lab, struct lab_point *point) {
    (void)point;
    const struct study *study = lab->data;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->out_address, POISON, OUT_BYTES, lab->gpu.stream);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->report_address, 0xff, 4, lab->gpu.stream);
    return 0;
}

static bool explains(struct study *study, const struct tma_store *store, uint32_t unit) {
    memset(study->predicted, POISON, OUT_BYTES);
    tma_predict_store(store, study->source, unit, study->predicted);
    return memcmp(study->predicted, study->out, OUT_BYTES) == 0;
}

/* The bytes written beyond the row's end in its first written row, for the sentence. */
static void report_written(struct lab_point *point, const struct study *study, const struct tma_store *store) {
    size_t first = 0, last = 0, count = 0;
    for (size_t i = 0; i < OUT_BYTES; i++) {
        if (study->out[i] == POISON)
            continue;
        first = count++ ? first : i;
        last = i;
    }
    lab_wrong(
        point,
        "%zu bytes were written, from %+ld to %+ld of the tensor's start, in no way that a rounded row end explains",
        count, (long)first - (long)store->map.address, (long)last - (long)store->map.address);
}

/* True, and the verdict is there: it was refused, or was to be. */
static bool judge_refusal(struct lab_point *point, const struct study *study, size_t index) {
    const struct lab_trial *trial = &study->trials[index];
    const bool predicted = study->edges[index] == EDGE_BETWEEN || study->edges[index] == EDGE_NEGATIVE;
    if (trial->refused && predicted)
        lab_correct(point);
    else if (trial->refused)
        lab_wrong(point, "the launch ends in %s", trial->error);
    else if (predicted)
        lab_wrong(point, "the launch went through, and was to be refused");
    return trial->refused || predicted;
}

static int check(struct lab *lab, struct lab_point *point) {
    enum { UNITS = 6 };
    struct study *study = lab->data;
    const size_t index = (size_t)(point - lab->points);
    const struct tma_store *store = &study->stores[index];
    uint32_t report;
    study->units[index] = 0;
    if (judge_refusal(point, study, index))
        return 0;
    if (lab_download(lab, &report, study->report_address, sizeof report) != 0 ||
        lab_download(lab, study->out, study->out_address, OUT_BYTES) != 0)
        return -1;
    if (report != 0) {
        lab_wrong(point, "the kernel reported nothing");
        return 0;
    }
    for (uint32_t i = 0; i < UNITS; i++)
        study->units[index] |= (uint32_t)explains(study, store, 1u << i) << i;
    if (study->edges[index] == EDGE_RIGHT ? study->units[index] != 0 : study->units[index] & 1)
        lab_correct(point);
    else
        report_written(point, study, store);
    return 0;
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

static void claim_unit(struct lab *lab) {
    const struct study *study = lab->data;
    uint32_t common = ~0u;
    for (size_t i = 0; i < lab->point_count; i++) {
        if (study->edges[i] == EDGE_RIGHT)
            common &= study->units[i];
    }
    lab_claim(
        lab, common != 0, false,
        "A store writes a row up to its end rounded up to %u bytes, counted from the row's start: the padding behind "
        "a ragged row is overwritten with what shared memory holds there.",
        common ? common & (~common + 1) : 0);
}

struct tally {
    const char *error; /* that the refused ones end in */
    size_t points, right;
};

static struct tally count(const struct lab *lab, enum edge edge) {
    const struct study *study = lab->data;
    struct tally tally = {.error = "an error"};
    for (size_t i = 0; i < lab->point_count; i++) {
        if (study->edges[i] != edge)
            continue;
        tally.points++;
        tally.right += lab->points[i].result == LAB_CORRECT;
        tally.error = study->trials[i].refused ? study->trials[i].error : tally.error;
    }
    return tally;
}

static int conclude(struct lab *lab) {
    const struct tally other = count(lab, EDGE_OTHER), between = count(lab, EDGE_BETWEEN);
    const struct tally negative = count(lab, EDGE_NEGATIVE);
    claim_unit(lab);
    lab_claim(lab, other.right == other.points, false,
              "At the bottom, beyond the tensor and inside it, stores that begin on a multiple of 16 bytes of the row "
              "are exact: %zu of %zu.",
              other.right, other.points);
    lab_claim(lab, between.right == between.points, false,
              "A store that begins between two multiples of 16 bytes of the row ends the launch in %s: %zu of %zu.",
              between.error, between.right, between.points);
    lab_claim(lab, negative.right == negative.points, false,
              "So does one whose first column or row is negative, which a load's may be: %zu of %zu end in %s.",
              negative.right, negative.points, negative.error);
    return 0;
}

const struct lab_experiment tma_store_edges = {
    .name = "tma-store-edges",
    .title = "TMA stores at the edges of a tensor",
    .question = "Which bytes does a TMA store write where a row ends inside the box, and where may the box begin?",
    .page = "tma",
    .hopper = true,
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
};
