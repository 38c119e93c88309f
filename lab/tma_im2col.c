/* SPDX-License-Identifier: Apache-2.0 */
/* tma-im2col: which entry of an im2col map's corners is W's, and which pixels a load delivers. */
#include "lab/tma_im2col.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cuda_abi.h"
#include "lab/lab.h"
#include "lab/tma_image.h"

/* ---- on paper ------------------------------------------------------------------------------------- */

/* A pixel's byte; 0 outside. */
static unsigned char byte_at(const struct im2col *l, const unsigned char *tensor, int c, int w, int h, int n) {
    if (c < 0 || c >= l->channels || w < 0 || w >= l->width || h < 0 || h >= l->height || n < 0 || n >= l->images)
        return 0;
    return tensor[((n * l->height + h) * l->width + w) * l->channels + c];
}

void im2col_predict(const struct im2col *l, enum im2col_order order, const unsigned char *tensor, uint32_t base,
                    unsigned char *image) {
    const int of_w = order == IM2COL_H_FIRST, of_h = !of_w;
    const int first_w = l->lower[of_w], last_w = l->width - 1 + l->upper[of_w];
    const int first_h = l->lower[of_h], last_h = l->height - 1 + l->upper[of_h];
    const struct gm_swizzle swizzle = gm_swizzle_of_mode(l->swizzle);
    int w = l->w, h = l->h, n = l->n;
    for (int pixel = 0; pixel < l->box_pixels; pixel++) {
        for (int i = 0; i < l->box_channels; i++) {
            const uint32_t address = base + (uint32_t)(pixel * l->box_channels + i);
            image[gm_swizzle_apply(swizzle, address) - base] =
                byte_at(l, tensor, l->c + i, w + l->offset_w, h + l->offset_h, n);
        }
        if (++w > last_w) { /* the next line of the bounding box */
            w = first_w;
            if (++h > last_h) {
                h = first_h;
                n++;
            }
        }
    }
}

/* ---- the experiment ------------------------------------------------------------------------------- */

enum { CHANNELS = 64, WIDTH = 7, HEIGHT = 5, IMAGES = 3, TENSOR_BYTES = CHANNELS * WIDTH * HEIGHT * IMAGES };
enum { PIXELS = 64, IMAGE_BYTES = PIXELS * CHANNELS + 1024 };

struct study {
    unsigned char tensor[TENSOR_BYTES], image[IMAGE_BYTES], predicted[IMAGE_BYTES];
    CUdeviceptr tensor_address, image_address, report_address;
    struct im2col loads[LAB_POINTS_MAX];
    bool fits[LAB_POINTS_MAX][IM2COL_ORDERS];
};

/* Bounding boxes that are different ones for the two orders; all starts lie in both. 64 pixels run over the end of
 * an image. */
static const struct {
    int lower[2], upper[2], w, h, n, offset_w, offset_h;
} cases[] = {
    {{-2, -1}, {-1, 0}, 0, 0, 0, 0, 0},   {{-2, -1}, {-1, 0}, -1, -1, 0, 0, 0}, {{-2, -1}, {-1, 0}, -1, -1, 0, 2, 0},
    {{-2, -1}, {-1, 0}, -1, -1, 0, 0, 1}, {{-2, -1}, {-1, 0}, 3, 2, 1, 2, 1},   {{-2, -1}, {-1, 0}, 1, 3, 1, 0, 1},
    {{-1, -3}, {1, -2}, 0, 0, 0, 0, 0},   {{-1, -3}, {1, -2}, 2, 1, 1, 1, 3},   {{0, 0}, {-2, -1}, 0, 0, 0, 2, 1}};

static int encode(struct lab *lab, const struct im2col *l, struct lab_map *map) {
    const struct study *study = lab->data;
    const uint64_t dims[] = {CHANNELS, WIDTH, HEIGHT, IMAGES};
    const uint64_t strides[] = {CHANNELS, CHANNELS * WIDTH, CHANNELS * WIDTH * HEIGHT};
    const uint32_t steps[] = {1, 1, 1, 1};
    GPU_TRY(&lab->gpu, cuTensorMapEncodeIm2col, map->bytes, CU_TENSOR_MAP_DATA_TYPE_UINT8, 4,
            (void *)(uintptr_t)study->tensor_address, dims, strides, l->lower, l->upper, (uint32_t)l->box_channels,
            (uint32_t)l->box_pixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, (int)l->swizzle,
            CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return 0;
}

static int add(struct lab *lab, const struct im2col *l, const char *label) {
    struct study *study = lab->data;
    struct lab_map map;
    struct lab_point *point = lab_add(lab, label, "the pixels of one order of the corners, and not of the other");
    if (!point || encode(lab, l, &map) != 0)
        return -1;
    study->loads[point - lab->points] = *l;
    const uint32_t image_bytes = IMAGE_BYTES, expected = (uint32_t)(l->box_pixels * l->box_channels);
    const uint16_t offset_w = (uint16_t)l->offset_w, offset_h = (uint16_t)l->offset_h;
    lab_kernel(point, "tma_im2col", "lab_tma_im2col", 1, 128);
    point->launch.shared_bytes = IMAGE_BYTES + 1024;
    LAB_ARGUMENT(point, map);
    LAB_ARGUMENT(point, study->image_address);
    LAB_ARGUMENT(point, study->report_address);
    LAB_ARGUMENT(point, image_bytes);
    LAB_ARGUMENT(point, expected);
    LAB_ARGUMENT(point, l->c);
    LAB_ARGUMENT(point, l->w);
    LAB_ARGUMENT(point, l->h);
    LAB_ARGUMENT(point, l->n);
    LAB_ARGUMENT(point, offset_w);
    LAB_ARGUMENT(point, offset_h);
    return 0;
}

/* Every case with all channels, swizzled, and with 16 channels from the 32nd on. */
static int add_case(struct lab *lab, size_t i) {
    struct im2col l = {.channels = CHANNELS,
                       .width = WIDTH,
                       .height = HEIGHT,
                       .images = IMAGES,
                       .box_channels = CHANNELS,
                       .box_pixels = PIXELS,
                       .swizzle = GM_SWIZZLE_64B,
                       .w = cases[i].w,
                       .h = cases[i].h,
                       .n = cases[i].n,
                       .offset_w = cases[i].offset_w,
                       .offset_h = cases[i].offset_h};
    memcpy(l.lower, cases[i].lower, sizeof l.lower);
    memcpy(l.upper, cases[i].upper, sizeof l.upper);
    char label[64];
    snprintf(label, sizeof label, "{%d,%d} {%d,%d} from %d,%d,%d + %d,%d", l.lower[0], l.lower[1], l.upper[0],
             l.upper[1], l.w, l.h, l.n, l.offset_w, l.offset_h);
    if (add(lab, &l, label) != 0)
        return -1;
    l.box_channels = 16;
    l.swizzle = GM_SWIZZLE_NONE;
    l.c = 32;
    strcat(label, ", 16 C");
    return add(lab, &l, label);
}

static int setup(struct lab *lab) {
    struct study *study = calloc(1, sizeof *study);
    lab->data = study;
    if (!study)
        return complain("out of memory");
    tma_fill_tensor(study->tensor, sizeof study->tensor);
    if (lab_alloc(lab, &study->tensor_address, TENSOR_BYTES, 0) != 0 ||
        lab_alloc(lab, &study->image_address, IMAGE_BYTES, 0) != 0 ||
        lab_alloc(lab, &study->report_address, 2 * sizeof(uint32_t), 0xff) != 0 ||
        lab_upload(lab, study->tensor_address, study->tensor, TENSOR_BYTES) != 0)
        return -1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (add_case(lab, i) != 0)
            return -1;
    }
    return 0;
}

static int prepare(struct lab *lab, struct lab_point *point) {
    (void)point;
    const struct study *study = lab->data;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->image_address, 0xee, IMAGE_BYTES, lab->gpu.stream);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->report_address, 0xff, 2 * sizeof(uint32_t), lab->gpu.stream);
    return 0;
}

static int check(struct lab *lab, struct lab_point *point) {
    struct study *study = lab->data;
    const size_t index = (size_t)(point - lab->points);
    uint32_t report[2];
    if (lab_download(lab, report, study->report_address, sizeof report) != 0 ||
        lab_download(lab, study->image, study->image_address, IMAGE_BYTES) != 0)
        return -1;
    if (report[0] != 0) {
        lab_wrong(point, "the barrier did not complete with %d pixels of %d bytes", study->loads[index].box_pixels,
                  study->loads[index].box_channels);
        return 0;
    }
    for (int order = 0; order < IM2COL_ORDERS; order++) {
        memset(study->predicted, TMA_POISON, IMAGE_BYTES);
        im2col_predict(&study->loads[index], order, study->tensor, report[1], study->predicted);
        study->fits[index][order] = memcmp(study->predicted, study->image, IMAGE_BYTES) == 0;
    }
    if (study->fits[index][IM2COL_W_FIRST])
        lab_correct(point);
    else
        lab_wrong(point, "the image is not that of W first%s",
                  study->fits[index][IM2COL_H_FIRST] ? ", but that of H first" : ", nor of H first");
    return 0;
}

static int conclude(struct lab *lab) {
    const struct study *study = lab->data;
    size_t w_first = 0, h_first = 0;
    for (size_t i = 0; i < lab->point_count; i++) {
        w_first += study->fits[i][IM2COL_W_FIRST];
        h_first += study->fits[i][IM2COL_H_FIRST];
    }
    lab_claim(lab, w_first == lab->point_count && h_first == 0, false,
              "The corners' first entry is the one of %s: %zu of %zu images are those of W first, %zu of H first.",
              h_first > w_first ? "H" : "W", w_first, lab->point_count, h_first);
    return 0;
}

const struct lab_experiment tma_im2col = {
    .name = "tma-im2col",
    .title = "The corners of an im2col map",
    .question = "In which order does an im2col tensor map take its corners, and which pixels does a load deliver?",
    .page = "tma",
    .hopper = true,
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
};
