/* SPDX-License-Identifier: Apache-2.0 */
/* tma-walk: the pace at which TMA reads a matrix that passes by once, as weights do for a few tokens. */
#include <stdio.h>
#include <stdlib.h>

#include "host/cuda_abi.h"
#include "lab/kernels/tma_walk.h"
#include "lab/ladders.h"

enum {
    ROWS = 25344,     /* 3 tiles of 64 for each of 132 SMs, 6 for 66, 12 for 33 */
    ROW_WORDS = 4096, /* 16 KB: 8192 elements of 16 bits */
    SMALL_ROWS = 320,
    SMALL_ROW_WORDS = 448,
    PAD_WORDS = 32,
    BOX_ROWS = 64,
    RING_KB = 192,
};

struct walk {
    const char *label;
    int promotion;
    uint32_t boxes, ring_kb, pad_words;
    const char *change;
    uint32_t step;   /* every step-th SM takes part, 0: a CTA of any */
    bool first_half; /* of the SMs, by number */
};

static const struct walk walks[] = {
    {"256 at once, one box", CU_TENSOR_MAP_L2_PROMOTION_L2_256B, 1, RING_KB, 0,
     "L2 fetches 256 bytes for each 128 that are asked for: the next box's, too.", 0, false},
    {"256 at once, two boxes", CU_TENSOR_MAP_L2_PROMOTION_L2_256B, 2, RING_KB, 0,
     "Both halves of the 256 bytes are asked for in one stage.", 0, false},
    {"128 at once, one box", CU_TENSOR_MAP_L2_PROMOTION_L2_128B, 1, RING_KB, 0, "No more than is asked for.", 0, false},
    {"128 at once, two boxes", CU_TENSOR_MAP_L2_PROMOTION_L2_128B, 2, RING_KB, 0,
     "The same, 256 bytes of a row a stage.", 0, false},
    {"as asked, two boxes", CU_TENSOR_MAP_L2_PROMOTION_NONE, 2, RING_KB, 0,
     "No promotion: a box's rows are 128 bytes anyway.", 0, false},
    {"128 at once, ring of 64 KB", CU_TENSOR_MAP_L2_PROMOTION_L2_128B, 2, 64, 0, "A third of the bytes under way.", 0,
     false},
    {"128 at once, rows 128 bytes apart", CU_TENSOR_MAP_L2_PROMOTION_L2_128B, 2, RING_KB, PAD_WORDS,
     "A pitch that is no power of two: if memory's channels are hashed well, it changes little.", 0, false},
    {"every other SM", CU_TENSOR_MAP_L2_PROMOTION_L2_128B, 2, RING_KB, 0, "Half of the SMs, one of each pair.", 2,
     false},
    {"the first half of the SMs", CU_TENSOR_MAP_L2_PROMOTION_L2_128B, 2, RING_KB, 0,
     "As many SMs, both of each TPC: do the two, whose numbers are neighbours, share a way to memory?", 1, true},
    {"every other SM of the first half", CU_TENSOR_MAP_L2_PROMOTION_L2_128B, 2, RING_KB, 0,
     "Half as many: one of each of these pairs.", 2, true},
};
enum { WALKS = sizeof walks / sizeof *walks };

struct walk_data {
    CUdeviceptr matrix, sums_address;
    struct walk_shape shapes[LAB_POINTS_MAX];
    uint32_t pitch_words[LAB_POINTS_MAX];
    uint32_t ctas, *sums;
};

/* ---- points --------------------------------------------------------------------------------------- */

static int encode(struct lab *lab, const struct walk *walk, uint32_t rows, uint32_t row_words, struct lab_map *map) {
    const struct walk_data *data = lab->data;
    const struct gm_tensor_map_request request = {.size = sizeof request,
                                                  .type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                                                  .rank = 2,
                                                  .address = data->matrix,
                                                  .dims = {row_words, rows},
                                                  .strides = {4 * (uint64_t)(row_words + walk->pad_words)},
                                                  .box = {WALK_BOX_WORDS, BOX_ROWS},
                                                  .swizzle = GM_SWIZZLE_128B,
                                                  .l2_promotion = walk->promotion};
    return lab_tensor_map(lab, &request, map);
}

static struct lab_point *add(struct lab *lab, const struct walk *walk, bool small) {
    struct walk_data *data = lab->data;
    const uint32_t rows = small ? SMALL_ROWS : ROWS, row_words = small ? SMALL_ROW_WORDS : ROW_WORDS;
    char label[64];
    snprintf(label, sizeof label, "%s%s", walk->label, small ? ", small" : "");
    struct lab_point *point = lab_add(lab, label, small ? "" : walk->change);
    struct lab_map map;
    if (!point || encode(lab, walk, rows, row_words, &map) != 0)
        return NULL;
    struct walk_shape shape = {.tiles = rows / BOX_ROWS,
                               .blocks = row_words / WALK_BOX_WORDS / walk->boxes,
                               .boxes = walk->boxes,
                               .box_rows = BOX_ROWS};
    shape.stages = walk->ring_kb * 1024 / WALK_STAGE_BYTES(shape);
    if (walk->step) {
        shape.sms = walk->first_half ? data->ctas / 2 : data->ctas;
        shape.step = walk->step;
    }
    data->shapes[ladder_index(lab, point)] = shape;
    data->pitch_words[ladder_index(lab, point)] = row_words + walk->pad_words;
    lab_kernel(point, "tma_walk", "lab_tma_walk", data->ctas, WALK_THREADS);
    point->launch.shared_bytes = shape.stages * (WALK_STAGE_BYTES(shape) + 8);
    LAB_ARGUMENT(point, map);
    LAB_ARGUMENT(point, shape);
    LAB_ARGUMENT(point, data->sums_address);
    point->bytes = 4.0 * rows * row_words;
    lab_quantity(point, "sectors received", LAB_SECTORS_TMA_LD, point->bytes / 32, 0.005);
    return point;
}

static int setup(struct lab *lab) {
    struct walk_data *data = lab->data = calloc(1, sizeof *data);
    if (!data)
        return complain("out of host memory");
    data->ctas = (uint32_t)lab->gpu.device.sm_count;
    data->sums = malloc(data->ctas * sizeof *data->sums);
    if (!data->sums)
        return complain("out of host memory");
    const size_t words =
        lab->simulated ? (size_t)SMALL_ROWS * (SMALL_ROW_WORDS + PAD_WORDS) : (size_t)ROWS * (ROW_WORDS + PAD_WORDS);
    if (lab_alloc(lab, &data->matrix, words * sizeof(uint32_t), 0) != 0 ||
        lab_alloc(lab, &data->sums_address, data->ctas * sizeof *data->sums, 0) != 0 ||
        (!lab->launching_only && ladder_fill(lab, data->matrix, words, ladder_hash) != 0))
        return -1;
    for (size_t i = 0; i < WALKS; i++) {
        struct lab_point *const small = walks[i].step ? NULL : add(lab, &walks[i], true);
        struct lab_point *const whole = add(lab, &walks[i], false);
        if ((!small && !walks[i].step) || !whole)
            return -1;
        whole->timed = true;
        whole->too_large = lab->simulated;
    }
    return 0;
}

/* ---- results -------------------------------------------------------------------------------------- */

static int prepare(struct lab *lab, struct lab_point *point) {
    const struct walk_data *data = lab->data;
    (void)point;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, data->sums_address, 0xff, data->ctas * sizeof *data->sums, lab->gpu.stream);
    return 0;
}

/* Of the first words of every box that a CTA takes. */
static uint32_t sum_of(const struct walk_shape *shape, uint32_t pitch_words, uint32_t cta, uint32_t ctas) {
    uint32_t sum = 0;
    for (uint32_t tile = cta; tile < shape->tiles; tile += ctas)
        for (uint32_t box = 0; box < shape->blocks * shape->boxes; box++)
            sum += ladder_hash(tile * shape->box_rows * pitch_words + box * WALK_BOX_WORDS);
    return sum;
}

static int check(struct lab *lab, struct lab_point *point) {
    const struct walk_data *data = lab->data;
    const size_t at = ladder_index(lab, point);
    const struct walk_shape *shape = &data->shapes[at];
    const uint32_t workers = shape->sms ? shape->sms / shape->step : data->ctas;
    if (lab_download(lab, data->sums, data->sums_address, data->ctas * sizeof *data->sums) != 0)
        return -1;
    lab_correct(point);
    for (uint32_t cta = 0; cta < workers && point->result == LAB_CORRECT; cta++) {
        const uint32_t sum = sum_of(shape, data->pitch_words[at], cta, workers);
        if (data->sums[cta] != sum)
            lab_wrong(point, "CTA %u: sum 0x%08x, predicted 0x%08x", cta, data->sums[cta], sum);
    }
    return 0;
}

static int conclude(struct lab *lab) {
    const double more = lab_gbs(lab_find(lab, "256 at once, two boxes"));
    const double asked = lab_gbs(lab_find(lab, "128 at once, two boxes"));
    const double none = lab_gbs(lab_find(lab, "as asked, two boxes"));
    const double few = lab_gbs(lab_find(lab, "128 at once, ring of 64 KB"));
    lab_claim(lab, asked > 1.02 * more, true,
              "asking L2 for no more than a box's 128 bytes is %.1f %% faster than for 256: %.0f and %.0f GB/s",
              100 * (asked / more - 1), asked, more);
    lab_claim(lab, none > 0.99 * asked && none < 1.01 * asked, true, "no promotion at all is as good: %.0f GB/s", none);
    lab_claim(lab, few > 0.95 * asked, true, "64 KB under way on an SM keep memory busy: %.0f GB/s", few);
    const double apart = lab_gbs(lab_find(lab, "every other SM"));
    const double paired = lab_gbs(lab_find(lab, "the first half of the SMs"));
    const double quarter = lab_gbs(lab_find(lab, "every other SM of the first half"));
    lab_claim(lab, apart > 0.95 * asked, true, "half of the SMs are enough for memory's pace: %.0f GB/s", apart);
    lab_claim(lab, paired > 0.97 * apart && paired < 1.03 * apart, true,
              "and it does not matter which: %.0f GB/s into both SMs of half of the TPCs", paired);
    lab_claim(lab, quarter < 0.6 * asked, true, "a quarter of them is not: %.0f GB/s, %.0f into each SM", quarter,
              quarter / (lab->gpu.device.sm_count / 4));
    return 0;
}

static void teardown(struct lab *lab) {
    struct walk_data *data = lab->data;
    if (data)
        free(data->sums);
}

const struct lab_experiment tma_walk = {
    .name = "tma-walk",
    .title = "A matrix that passes by",
    .question = "How much should L2 be asked to fetch at once, and by how many SMs, where TMA reads a matrix that is "
                "used once?",
    .page = "tma",
    .hopper = true,
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
    .teardown = teardown,
};
