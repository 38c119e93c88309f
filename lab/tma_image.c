/* SPDX-License-Identifier: Apache-2.0 */
/* One TMA load of one box: predicted, launched, and compared byte for byte. */
#include "lab/tma_image.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tensor_map.h"

/* ---- on paper ------------------------------------------------------------------------------------ */

void tma_fill_tensor(unsigned char *tensor, size_t bytes) {
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
        const uint32_t word = (uint32_t)(i / 4 + 1) * 2654435761u; /* odd: no two words are alike */
        memcpy(tensor + i, &word, 4);
    }
}

struct tma_shot tma_shot_of_bytes(enum gm_swizzle_mode mode, uint32_t row_bytes, uint32_t rows) {
    enum { COLUMNS = 512, ROWS = TMA_TENSOR_BYTES / COLUMNS };
    return (struct tma_shot){.map = {.size = sizeof(struct gm_tensor_map_request),
                                     .type = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                                     .rank = 2,
                                     .dims = {COLUMNS, ROWS},
                                     .strides = {COLUMNS},
                                     .box = {row_bytes, rows},
                                     .swizzle = mode}};
}

struct tma_shot tma_as_elements(struct tma_shot shot, int type) {
    const uint32_t bytes = gm_tensor_map_element_bytes(type);
    shot.map.type = type;
    shot.map.dims[0] /= bytes;
    shot.map.box[0] /= bytes;
    shot.x /= (int32_t)bytes;
    return shot;
}

static uint32_t element_bytes(const struct tma_shot *shot) {
    return gm_tensor_map_element_bytes(shot->map.type);
}

static uint32_t row_bytes(const struct tma_shot *shot) {
    return shot->map.box[0] * element_bytes(shot);
}

uint32_t tma_box_bytes(const struct tma_shot *shot) {
    return row_bytes(shot) * shot->map.box[1];
}

uint32_t tma_predict_address(const struct tma_shot *shot, uint32_t base, uint32_t row, uint32_t byte) {
    const uint32_t pitch = shot->pitch ? shot->pitch : row_bytes(shot);
    return gm_swizzle_apply(gm_swizzle_of_mode(shot->map.swizzle), base + shot->offset + row * pitch + byte);
}

bool tma_inside(const struct tma_shot *shot, uint32_t column, uint32_t row) {
    const int64_t x = (int64_t)shot->x + column, y = (int64_t)shot->y + row;
    return x >= 0 && y >= 0 && (uint64_t)x < shot->map.dims[0] && (uint64_t)y < shot->map.dims[1];
}

/* Byte `byte` of row `row` of the box, read from the tensor, or from the bits that stand for what lies outside. */
static unsigned char box_byte(const struct tma_shot *shot, const unsigned char *tensor, uint32_t row, uint32_t byte) {
    const uint32_t bytes = element_bytes(shot), column = byte / bytes;
    if (!tma_inside(shot, column, row))
        return (unsigned char)(shot->fill >> (byte % bytes * 8));
    const int64_t x = (int64_t)shot->x + column, y = (int64_t)shot->y + row;
    return tensor[shot->map.address + (uint64_t)y * shot->map.strides[0] + (uint64_t)x * bytes + byte % bytes];
}

void tma_predict_image(const struct tma_shot *shot, const unsigned char *tensor, uint32_t base, unsigned char *image) {
    memset(image, TMA_POISON, TMA_IMAGE_BYTES);
    for (uint32_t row = 0; row < shot->map.box[1]; row++) {
        for (uint32_t byte = 0; byte < row_bytes(shot); byte++)
            image[tma_predict_address(shot, base, row, byte) - base] = box_byte(shot, tensor, row, byte);
    }
}

/* ---- the experiment ------------------------------------------------------------------------------- */

int tma_open(struct lab *lab) {
    struct tma_study *study = calloc(1, sizeof *study);
    lab->data = study;
    if (!study)
        return complain("out of memory");
    tma_fill_tensor(study->tensor, sizeof study->tensor);
    if (lab_alloc(lab, &study->tensor_address, sizeof study->tensor, 0) != 0 ||
        lab_alloc(lab, &study->image_address, TMA_IMAGE_BYTES, 0) != 0 ||
        lab_alloc(lab, &study->report_address, 4 * sizeof(uint32_t), 0xff) != 0)
        return -1;
    return lab_upload(lab, study->tensor_address, study->tensor, sizeof study->tensor);
}

struct tma_study *tma_study_of(struct lab *lab) {
    return lab->data;
}

struct tma_shot *tma_shot_of(struct lab *lab, const struct lab_point *point) {
    return &tma_study_of(lab)->shots[point - lab->points];
}

/* Stands for the launch of a map that there is none of. */
/* The driver decides, not our list of its rules: some of these maps are drawn to find out. */
static bool encode(struct lab *lab, const struct tma_shot *shot, struct gm_tensor_map *map) {
    struct gm_map_desc description = gm_map_desc_of(&shot->map);
    description.address += tma_study_of(lab)->tensor_address;
    return gm_tensor_map_encode(lab->gpu.drv, &description, map) == CUDA_SUCCESS;
}

static void add_arguments(struct lab *lab, struct lab_point *point, const struct tma_shot *shot,
                          const struct gm_tensor_map *map) {
    const struct tma_study *study = tma_study_of(lab);
    const uint32_t image_bytes = TMA_IMAGE_BYTES, expected = tma_box_bytes(shot) + shot->surplus;
    lab_kernel(point, "tma_load", "lab_tma_load", 1, 128);
    point->launch.shared_bytes = TMA_IMAGE_BYTES + 1024;
    lab_argument(point, map->bytes, sizeof map->bytes);
    LAB_ARGUMENT(point, study->image_address);
    LAB_ARGUMENT(point, study->report_address);
    LAB_ARGUMENT(point, image_bytes);
    LAB_ARGUMENT(point, shot->offset);
    LAB_ARGUMENT(point, expected);
    LAB_ARGUMENT(point, shot->x);
    LAB_ARGUMENT(point, shot->y);
}

struct lab_point *tma_add(struct lab *lab, const struct tma_shot *shot, const char *change, const char *format, ...) {
    char label[sizeof((struct lab_point *)0)->label];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(label, sizeof label, format, arguments);
    va_end(arguments);
    struct lab_point *point = lab_add(lab, label, change);
    if (!point)
        return NULL;
    struct gm_tensor_map map;
    *tma_shot_of(lab, point) = *shot;
    if (encode(lab, shot, &map)) {
        add_arguments(lab, point, shot, &map);
    } else {
        tma_study_of(lab)->refused[point - lab->points] = true;
        point->run = lab_launch_nothing;
    }
    return point;
}

int tma_try(struct lab *lab) {
    return lab_child_try(lab, tma_study_of(lab)->trials);
}

int tma_prepare(struct lab *lab, struct lab_point *point) {
    (void)point;
    const struct tma_study *study = tma_study_of(lab);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->image_address, 0xee, TMA_IMAGE_BYTES, lab->gpu.stream);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->report_address, 0xff, 4 * sizeof(uint32_t), lab->gpu.stream);
    return 0;
}

int tma_fetch(struct lab *lab, struct lab_point *point) {
    struct tma_study *study = tma_study_of(lab);
    struct tma_result *result = &study->result;
    if (study->refused[point - lab->points]) {
        lab_wrong(point, "the driver refuses this map");
        return 1;
    }
    if (study->trials[point - lab->points].refused) {
        lab_wrong(point, "the launch ends in %s", study->trials[point - lab->points].error);
        return 1;
    }
    uint32_t report[4];
    if (lab_download(lab, report, study->report_address, sizeof report) != 0 ||
        lab_download(lab, result->image, study->image_address, sizeof result->image) != 0)
        return -1;
    result->status = report[0];
    result->base = report[1];
    result->delivered = report[2];
    result->tests = report[3];
    if (result->status > 1) {
        lab_wrong(point, result->status == 2 ? "the barrier never completed" : "the kernel reported nothing");
        return 1;
    }
    return 0;
}

static void report_difference(struct lab_point *point, const struct tma_study *study) {
    size_t first = TMA_IMAGE_BYTES, count = 0;
    for (size_t i = TMA_IMAGE_BYTES; i-- > 0;) {
        if (study->result.image[i] != study->predicted[i])
            first = i, count++;
    }
    lab_wrong(point, "%zu bytes of the image differ, the first at 0x%zx: 0x%02x, predicted 0x%02x", count,
              study->result.base + first, study->result.image[first], study->predicted[first]);
}

void tma_judge(struct lab *lab, struct lab_point *point) {
    struct tma_study *study = tma_study_of(lab);
    const struct tma_shot *shot = tma_shot_of(lab, point);
    const uint32_t bytes = tma_box_bytes(shot);
    if (study->result.delivered != bytes) {
        lab_wrong(point, "the load reported %u bytes, predicted %u", study->result.delivered, bytes);
        return;
    }
    tma_predict_image(shot, study->tensor, study->result.base, study->predicted);
    if (memcmp(study->predicted, study->result.image, TMA_IMAGE_BYTES) == 0)
        lab_correct(point);
    else
        report_difference(point, study);
}

int tma_check(struct lab *lab, struct lab_point *point) {
    const int fetched = tma_fetch(lab, point);
    if (fetched == 0)
        tma_judge(lab, point);
    return fetched < 0 ? -1 : 0;
}

size_t tma_count_correct(const struct lab *lab) {
    size_t correct = 0;
    for (size_t i = 0; i < lab->point_count; i++)
        correct += lab->points[i].result == LAB_CORRECT;
    return correct;
}
