/* SPDX-License-Identifier: Apache-2.0 */
/* tma-bounds: boxes that hang over the edges of their tensor. What fills the elements that are not there, and how many
 * bytes does the load report? Boxes begin on multiples of 16 bytes (tma-start says why), and the tensor's rows end
 * between two: the edge lies inside a 16-byte chunk. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/cuda_abi.h"
#include "lab/tma_image.h"

enum { COLUMNS = 99, ROWS = 50, BOX_ROW_BYTES = 64, BOX_ROWS = 16, SURPLUS = 4096, CHUNK = 16 };

static const struct {
    int type;
    const char *name;
    uint32_t exponent; /* its bits; 0: no floating type */
} types[] = {{CU_TENSOR_MAP_DATA_TYPE_UINT8, "u8", 0},
             {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, "f16", 0x7c00},
             {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, "bf16", 0x7f80},
             {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, "f32", 0x7f800000}};
enum { U8, F16, BF16, F32 };

/* Where the box begins, in bytes and rows: relative to the tensor's first element, or to the 16-byte chunk in which its
 * rows end and to the row behind its last. */
static const struct {
    const char *name;
    int x, y;
    bool from_right, from_bottom;
} places[] = {{"inside", 16, 4, false, false},
              {"over the left edge", -16, 4, false, false},
              {"over the right edge", -16, 4, true, false},
              {"over the top", 16, -3, false, false},
              {"over the bottom", 16, -2, false, true},
              {"over the first corner", -48, -15, false, false},
              {"over the last corner", 0, -1, true, true},
              {"right of it all", 16, 4, true, false},
              {"before it all", -304, -300, false, false}};
enum { PLACES = sizeof places / sizeof *places };

static struct tma_shot shot_at(size_t type, size_t place) {
    const uint32_t bytes = gm_tensor_map_element_bytes(types[type].type);
    const uint32_t row_bytes = (COLUMNS * bytes + CHUNK - 1) / CHUNK * CHUNK;
    const int x = places[place].x + (places[place].from_right ? (int)row_bytes - CHUNK : 0);
    return (struct tma_shot){.map = {.size = sizeof(struct gm_tensor_map_request),
                                     .type = types[type].type,
                                     .rank = 2,
                                     .dims = {COLUMNS, ROWS},
                                     .strides = {row_bytes},
                                     .box = {BOX_ROW_BYTES / bytes, BOX_ROWS},
                                     .swizzle = GM_SWIZZLE_64B},
                             .x = x / (int)bytes,
                             .y = places[place].y + (places[place].from_bottom ? ROWS : 0)};
}

static int add_zero(struct lab *lab, size_t type, size_t place) {
    struct tma_shot shot = shot_at(type, place);
    if (!tma_add(lab, &shot, "elements that are not there read as zero, one by one", "%s, zero, %s", types[type].name,
                 places[place].name))
        return -1;
    shot.surplus = SURPLUS;
    return tma_add(lab, &shot, "counted: the barrier is told of the whole box", "%s, zero, %s, counted",
                   types[type].name, places[place].name)
               ? 0
               : -1;
}

static int add_nan(struct lab *lab, size_t type, size_t place) {
    struct tma_shot shot = shot_at(type, place);
    shot.map.oob_fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    return tma_add(lab, &shot, "elements that are not there read as one NaN", "%s, NaN, %s", types[type].name,
                   places[place].name)
               ? 0
               : -1;
}

static int setup(struct lab *lab) {
    if (tma_open(lab) != 0)
        return -1;
    for (size_t place = 0; place < PLACES; place++) {
        if (add_zero(lab, U8, place) != 0 || add_zero(lab, F32, place) != 0 || add_nan(lab, F16, place) != 0 ||
            add_nan(lab, BF16, place) != 0 || add_nan(lab, F32, place) != 0)
            return -1;
    }
    return tma_try(lab);
}

static size_t type_of(const struct tma_shot *shot) {
    size_t type = 0;
    while (types[type].type != shot->map.type)
        type++;
    return type;
}

/* The bits of the box's first element outside the tensor, as they lie in the image; ~0: all are inside. */
static uint64_t bits_outside(const struct tma_study *study, const struct tma_shot *shot) {
    const uint32_t bytes = gm_tensor_map_element_bytes(shot->map.type);
    for (uint32_t row = 0; row < BOX_ROWS; row++) {
        for (uint32_t column = 0; column < BOX_ROW_BYTES / bytes; column++) {
            uint32_t bits = 0;
            const uint32_t base = study->result.base;
            const uint32_t at = tma_predict_address(shot, base, row, column * bytes) - base;
            memcpy(&bits, study->result.image + at, bytes);
            if (!tma_inside(shot, column, row))
                return bits;
        }
    }
    return ~UINT64_C(0);
}

/* No document says which NaN: the first one found is taken for the prediction of all the others. */
static int check(struct lab *lab, struct lab_point *point) {
    struct tma_study *study = tma_study_of(lab);
    struct tma_shot *shot = tma_shot_of(lab, point);
    const int fetched = tma_fetch(lab, point);
    if (fetched != 0)
        return fetched < 0 ? -1 : 0;
    const uint64_t bits = bits_outside(study, shot);
    study->found[point - lab->points] = bits;
    const uint32_t exponent = types[type_of(shot)].exponent, mantissa = exponent & (~exponent + 1);
    if (shot->map.oob_fill && bits != ~UINT64_C(0)) {
        if ((bits & exponent) != exponent || (bits & (mantissa - 1)) == 0) {
            lab_wrong(point, "filled with 0x%" PRIx64 ", which is no NaN", bits);
            return 0;
        }
        shot->fill = bits;
    }
    tma_judge(lab, point);
    return 0;
}

/* One type: every point found the same NaN, or nothing outside. */
static void claim_nan(struct lab *lab, size_t type) {
    const struct tma_study *study = tma_study_of(lab);
    uint64_t bits = ~UINT64_C(0);
    bool holds = true;
    for (size_t i = 0; i < lab->point_count; i++) {
        const struct tma_shot *shot = &study->shots[i];
        if (type_of(shot) != type || !shot->map.oob_fill || study->found[i] == ~UINT64_C(0))
            continue;
        holds &= lab->points[i].result == LAB_CORRECT && (bits == ~UINT64_C(0) || bits == study->found[i]);
        bits = study->found[i];
    }
    lab_claim(lab, holds, false, "NaN fill of %s writes 0x%" PRIx64 " into every element outside the tensor.",
              types[type].name, bits);
}

static int conclude(struct lab *lab) {
    const struct tma_study *study = tma_study_of(lab);
    size_t zeros = 0, correct = 0;
    for (size_t i = 0; i < lab->point_count; i++) {
        zeros += !study->shots[i].map.oob_fill;
        correct += !study->shots[i].map.oob_fill && lab->points[i].result == LAB_CORRECT;
    }
    lab_claim(
        lab, correct == zeros, false,
        "Zero fill is exact to the element, at every edge and with negative coordinates, and the barrier is told of "
        "the whole box, also of one that lies wholly outside: %zu of %zu loads.",
        correct, zeros);
    for (size_t type = F16; type <= F32; type++)
        claim_nan(lab, type);
    return 0;
}

const struct lab_experiment tma_bounds = {
    .name = "tma-bounds",
    .title = "Boxes that hang over the tensor's edge",
    .question = "What does a TMA load deliver for elements that are not there?",
    .page = "tma",
    .hopper = true,
    .setup = setup,
    .prepare = tma_prepare,
    .check = check,
    .conclude = conclude,
};
