/* SPDX-License-Identifier: Apache-2.0 */
/* tma-start: where along its innermost dimension a box may begin. Some of these loads end in an error that no later
 * launch of the process survives, so other processes try them first (lab_child.h). */
#include <stdio.h>

#include "host/cuda_abi.h"
#include "lab/tma_image.h"

enum { ROW_BYTES = 128, ROWS = 8, CHUNK = 16 };

static const struct {
    int type;
    const char *name;
} types[] = {{CU_TENSOR_MAP_DATA_TYPE_UINT8, "u8"},
             {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, "bf16"},
             {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, "f32"}};

static const struct {
    enum gm_swizzle_mode mode;
    const char *name;
} modes[] = {{GM_SWIZZLE_NONE, "none"}, {GM_SWIZZLE_128B, "128B"}};

/* Bytes from the tensor's first column to the box's. */
static const int starts[] = {-16, -4, 1, 2, 4, 8, 12, 16, 20, 32};

static bool may_begin_at(const struct tma_shot *shot) {
    return shot->x * (int)gm_tensor_map_element_bytes(shot->map.type) % CHUNK == 0;
}

static int add(struct lab *lab, size_t type, size_t mode, int start, int row) {
    struct tma_shot shot = tma_shot_of_bytes(modes[mode].mode, ROW_BYTES, ROWS);
    shot.x = start;
    shot.y = row;
    shot = tma_as_elements(shot, types[type].type);
    return tma_add(lab, &shot,
                   may_begin_at(&shot) ? "on a multiple of 16 bytes: the box arrives"
                                       : "between two multiples of 16 bytes: the instruction is refused",
                   "%s, %s, from %d bytes of row %d", types[type].name, modes[mode].name, start, row)
               ? 0
               : -1;
}

static int setup(struct lab *lab) {
    if (tma_open(lab) != 0)
        return -1;
    for (size_t type = 0; type < sizeof types / sizeof *types; type++) {
        const int bytes = (int)gm_tensor_map_element_bytes(types[type].type);
        for (size_t mode = 0; mode < sizeof modes / sizeof *modes; mode++) {
            for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
                if (starts[i] % bytes == 0 && add(lab, type, mode, starts[i], 3) != 0)
                    return -1;
            }
            if (add(lab, type, mode, -CHUNK, -3) != 0)
                return -1;
        }
    }
    return tma_try(lab);
}

static int check(struct lab *lab, struct lab_point *point) {
    const struct tma_study *study = tma_study_of(lab);
    const size_t index = (size_t)(point - lab->points);
    if (may_begin_at(tma_shot_of(lab, point)))
        return tma_check(lab, point);
    if (study->trials[index].refused)
        lab_correct(point);
    else
        lab_wrong(point, "the launch went through, although the box begins between two multiples of 16 bytes");
    return 0;
}

static int conclude(struct lab *lab) {
    const struct tma_study *study = tma_study_of(lab);
    size_t allowed = 0, right = 0, others = 0, refused = 0;
    const char *error = "an error";
    for (size_t i = 0; i < lab->point_count; i++) {
        if (may_begin_at(&study->shots[i])) {
            allowed++;
            right += lab->points[i].result == LAB_CORRECT;
        } else {
            others++;
            refused += study->trials[i].refused;
            error = study->trials[i].refused ? study->trials[i].error : error;
        }
    }
    lab_claim(
        lab, right == allowed, false,
        "A box that begins on a multiple of 16 bytes of its row, also before the tensor's first, arrives byte for "
        "byte: %zu of %zu loads.",
        right, allowed);
    lab_claim(lab, refused == others, false,
              "A box that begins anywhere else ends the launch in %s, whatever the element type, with and without "
              "swizzle: %zu of %zu loads.",
              error, refused, others);
    return 0;
}

const struct lab_experiment tma_start = {
    .name = "tma-start",
    .title = "Where a box may begin",
    .question = "At which element of a row may the box of a TMA load begin?",
    .page = "tma",
    .hopper = true,
    .setup = setup,
    .prepare = tma_prepare,
    .check = check,
    .conclude = conclude,
};
