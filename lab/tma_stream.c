/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of boxes: launch and check. */
#include "lab/tma_stream.h"

#include <stdlib.h>
#include <string.h>

#include "host/cuda_abi.h"
#include "lab/tma_image.h"

enum { TENSOR_ROWS = STREAM_TENSOR_BOXES * STREAM_BOX_ROWS, MARGIN = 256, CTAS = 128 };

int stream_open(struct lab *lab, uint32_t pitch) {
    struct stream_study *study = calloc(1, sizeof *study);
    lab->data = study;
    if (!study)
        return complain("out of memory");
    const size_t bytes = (size_t)TENSOR_ROWS * pitch + MARGIN;
    study->ctas = CTAS;
    study->tensor = malloc(bytes);
    study->dump = malloc((size_t)CTAS * STREAM_BOX_BYTES);
    study->sums = malloc(CTAS * sizeof *study->sums);
    if (!study->tensor || !study->dump || !study->sums)
        return complain("out of memory");
    tma_fill_tensor(study->tensor, bytes);
    if (lab_alloc(lab, &study->tensor_address, bytes, 0) != 0 ||
        lab_alloc(lab, &study->sums_address, CTAS * sizeof *study->sums, 0) != 0 ||
        lab_alloc(lab, &study->dump_address, (size_t)CTAS * STREAM_BOX_BYTES, 0) != 0 ||
        lab_alloc(lab, &study->report_address, sizeof(uint32_t), 0) != 0)
        return -1;
    return lab_upload(lab, study->tensor_address, study->tensor, bytes);
}

void stream_close(struct lab *lab) {
    struct stream_study *study = lab->data;
    if (study) {
        free(study->tensor);
        free(study->dump);
        free(study->sums);
    }
}

double stream_delivered(const struct lab *lab) {
    const struct stream_study *study = lab->data;
    return (double)study->ctas * STREAM_BOXES * STREAM_BOX_BYTES;
}

uint32_t stream_box(uint32_t cta, uint32_t step, uint32_t ctas, uint32_t cluster) {
    const uint32_t clusters = ctas / cluster, first = cta / cluster * STREAM_TENSOR_BOXES / clusters;
    return (first + step) % STREAM_TENSOR_BOXES;
}

/* The map's box is one slice: the rows that one of a cluster's CTAs loads. */
static int encode(struct lab *lab, const struct stream_shot *shot, struct lab_map *map) {
    const struct stream_study *study = lab->data;
    const struct gm_tensor_map_request request = {.size = sizeof request,
                                                  .type = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                                                  .rank = 2,
                                                  .address = study->tensor_address + shot->address,
                                                  .dims = {STREAM_ROW_BYTES, TENSOR_ROWS},
                                                  .strides = {shot->pitch},
                                                  .box = {STREAM_ROW_BYTES, STREAM_BOX_ROWS / shot->cluster},
                                                  .swizzle = shot->swizzle};
    return lab_tensor_map(lab, &request, map);
}

struct lab_point *stream_add(struct lab *lab, const struct stream_shot *shot, const char *label, const char *change) {
    struct stream_study *study = lab->data;
    struct lab_map map;
    struct lab_point *point = lab_add(lab, label, change);
    if (!point || encode(lab, shot, &map) != 0)
        return NULL;
    study->shots[point - lab->points] = *shot;
    const uint32_t boxes = STREAM_BOXES, tensor_boxes = STREAM_TENSOR_BOXES;
    lab_kernel(point, "multicast", "lab_multicast", study->ctas, 64);
    point->launch.cluster[0] = shot->cluster;
    point->launch.cluster[1] = point->launch.cluster[2] = 1;
    point->launch.shared_bytes = STREAM_STAGES * STREAM_BOX_BYTES + 1024;
    LAB_ARGUMENT(point, map);
    LAB_ARGUMENT(point, study->sums_address);
    LAB_ARGUMENT(point, study->dump_address);
    LAB_ARGUMENT(point, study->report_address);
    LAB_ARGUMENT(point, boxes);
    LAB_ARGUMENT(point, tensor_boxes);
    LAB_ARGUMENT(point, shot->multicast);
    point->bytes = stream_delivered(lab);
    point->timed = true;
    return point;
}

int stream_prepare(struct lab *lab, struct lab_point *point) {
    (void)point;
    const struct stream_study *study = lab->data;
    const CUstream stream = lab->gpu.stream;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->sums_address, 0xff, study->ctas * sizeof *study->sums, stream);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->dump_address, 0xff, (size_t)study->ctas * STREAM_BOX_BYTES, stream);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->report_address, 0, sizeof(uint32_t), stream);
    return 0;
}

static const unsigned char *row_of(const struct stream_study *study, const struct stream_shot *shot, uint32_t box,
                                   uint32_t row) {
    return study->tensor + shot->address + ((size_t)box * STREAM_BOX_ROWS + row) * shot->pitch;
}

/* What the consumer adds up: the first word of slice 0 of its first box, of slice 1 of its second, and so on. */
static uint32_t sum_of(const struct stream_study *study, const struct stream_shot *shot, uint32_t cta) {
    const uint32_t slice_rows = STREAM_BOX_ROWS / shot->cluster;
    uint32_t sum = 0;
    for (uint32_t step = 0; step < STREAM_BOXES; step++) {
        uint32_t word;
        const uint32_t box = stream_box(cta, step, study->ctas, shot->cluster);
        memcpy(&word, row_of(study, shot, box, step % shot->cluster * slice_rows), sizeof word);
        sum += word;
    }
    return sum;
}

/* Stages begin on multiples of 1024, so that offsets may stand for addresses in the XOR. */
static bool last_box_is_right(const struct stream_study *study, const struct stream_shot *shot, uint32_t cta) {
    const unsigned char *dumped = study->dump + (size_t)cta * STREAM_BOX_BYTES;
    const uint32_t box = stream_box(cta, STREAM_BOXES - 1, study->ctas, shot->cluster);
    const struct gm_swizzle swizzle = gm_swizzle_of_mode(shot->swizzle);
    for (uint32_t row = 0; row < STREAM_BOX_ROWS; row++) {
        for (uint32_t byte = 0; byte < STREAM_ROW_BYTES; byte += 16) {
            const uint32_t at = gm_swizzle_apply(swizzle, row * STREAM_ROW_BYTES + byte);
            if (memcmp(dumped + at, row_of(study, shot, box, row) + byte, 16) != 0)
                return false;
        }
    }
    return true;
}

int stream_check(struct lab *lab, struct lab_point *point) {
    const struct stream_study *study = lab->data;
    const struct stream_shot *shot = &study->shots[point - lab->points];
    uint32_t gave_up;
    if (lab_download(lab, &gave_up, study->report_address, sizeof gave_up) != 0 ||
        lab_download(lab, study->sums, study->sums_address, study->ctas * sizeof *study->sums) != 0 ||
        lab_download(lab, study->dump, study->dump_address, (size_t)study->ctas * STREAM_BOX_BYTES) != 0)
        return -1;
    if (gave_up) {
        lab_wrong(point, "a wait for a box or a free stage gave up");
        return 0;
    }
    for (uint32_t cta = 0; cta < study->ctas; cta++) {
        const uint32_t sum = sum_of(study, shot, cta);
        const bool last = last_box_is_right(study, shot, cta);
        if (sum != study->sums[cta] || !last) {
            lab_wrong(point, "CTA %u: sum 0x%08x, predicted 0x%08x; its last box is %s", cta, study->sums[cta], sum,
                      last ? "right" : "wrong");
            return 0;
        }
    }
    lab_correct(point);
    return 0;
}
