/* SPDX-License-Identifier: Apache-2.0 */
/* One WGMMA whose result names the addresses that it read: its launch and its judgement. */
#include "lab/wgmma_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PICKER_BYTES = 2048,
    FIRST_BITS = 0x400, /* of element 0 of the image as fp16: the smallest normal number */
    COLUMNS = 64        /* of D */
};

/* What a launch leaves in global memory. */
struct wgmma_result {
    uint64_t cycles;
    uint32_t base, unused[13];
    uint16_t d[WGMMA_ROWS][COLUMNS];
};

struct wgmma_study {
    CUdeviceptr result;
    struct wgmma_shot shots[LAB_POINTS_MAX];
    unsigned laws[LAB_POINTS_MAX]; /* bit i: law i holds for what the point read */
    struct wgmma_result fetched;
};

/* ---- on paper ------------------------------------------------------------------------------------- */

static struct gm_wgmma_operand operand_of(const struct wgmma_shot *shot) {
    return (struct gm_wgmma_operand){
        .size = sizeof(struct gm_wgmma_operand), .major = shot->major, .element_bytes = 2, .rows = WGMMA_ROWS};
}

static uint32_t model_address(const struct wgmma_shot *shot, uint32_t row, uint32_t k) {
    const struct gm_wgmma_operand operand = operand_of(shot);
    uint32_t address = UINT32_MAX;
    return gm_wgmma_address(&shot->descriptor, &operand, row, k, &address) == GM_OK ? address : UINT32_MAX;
}

static const char *const law_names[WGMMA_LAWS] = {
    "the line of its address",
    "the line of its address less the base offset",
    "the line of its address plus the base offset",
    "the line of its address xor the base offset",
    "the line counted from the start address",
    "the line counted from the start address, plus the base offset",
};

static uint32_t line_by_law(enum wgmma_law law, uint32_t line, uint32_t start_line, uint32_t base_offset) {
    switch (law) {
    case LAW_LESS_BASE_OFFSET:
        return line - base_offset;
    case LAW_PLUS_BASE_OFFSET:
        return line + base_offset;
    case LAW_XOR_BASE_OFFSET:
        return line ^ base_offset;
    case LAW_FROM_START:
        return line - start_line;
    case LAW_FROM_START_PLUS:
        return line - start_line + base_offset;
    default:
        return line;
    }
}

/* The swizzle is its own inverse, so applying it to where it leads gives the address before it. */
uint32_t wgmma_address_by_law(const struct wgmma_shot *shot, enum wgmma_law law, uint32_t row, uint32_t k) {
    const struct gm_swizzle swizzle = gm_swizzle_of_mode(shot->descriptor.swizzle);
    struct wgmma_shot absolute = *shot;
    absolute.descriptor.base_offset = 0;
    const uint32_t plain = gm_swizzle_apply(swizzle, model_address(&absolute, row, k));
    const uint32_t line =
        line_by_law(law, plain / 128, shot->descriptor.start / 128, shot->descriptor.base_offset) * 128;
    return plain ^ line ^ gm_swizzle_apply(swizzle, line);
}

/* ---- the experiment's memory ---------------------------------------------------------------------- */

int wgmma_open(struct lab *lab) {
    struct wgmma_study *study = calloc(1, sizeof *study);
    lab->data = study;
    if (!study)
        return complain("out of host memory");
    return lab_alloc(lab, &study->result, sizeof study->fetched, 0);
}

const struct wgmma_shot *wgmma_shot_of(const struct lab *lab, size_t point) {
    const struct wgmma_study *study = lab->data;
    return &study->shots[point];
}

bool wgmma_law_holds(const struct lab *lab, size_t point, enum wgmma_law law) {
    const struct wgmma_study *study = lab->data;
    return study->laws[point] >> law & 1;
}

size_t wgmma_count_correct(const struct lab *lab) {
    size_t correct = 0;
    for (size_t i = 0; i < lab->point_count; i++)
        correct += lab->points[i].result == LAB_CORRECT;
    return correct;
}

/* ---- a point -------------------------------------------------------------------------------------- */

/* By whatever law the phase is found, a swizzle stays within a line of 128 bytes. */
static int check_reach(const struct wgmma_shot *shot, const char *label) {
    for (uint32_t row = 0; row < WGMMA_ROWS; row++) {
        for (uint32_t k = 0; k < WGMMA_K; k++) {
            const uint32_t address = model_address(shot, row, k);
            if (address >= WGMMA_IMAGE_BYTES)
                return complain("%s: element (%u, %u) at %u lies outside the image of %d bytes", label, row, k, address,
                                WGMMA_IMAGE_BYTES);
        }
    }
    return 0;
}

struct lab_point *wgmma_add(struct lab *lab, const struct wgmma_shot *shot, uint32_t turns, const char *why,
                            const char *label, ...) {
    struct wgmma_study *study = lab->data;
    const uint32_t operand = (shot->is_b ? 2 : 0) + (shot->major == GM_MN_MAJOR ? 1 : 0);
    uint64_t bits;
    struct lab_point *point = lab_add(lab, "", why);
    if (!point)
        return NULL;
    va_list arguments;
    va_start(arguments, label);
    vsnprintf(point->label, sizeof point->label, label, arguments);
    va_end(arguments);
    if (check_reach(shot, point->label) != 0)
        return NULL;
    enum gm_status status = gm_matrix_descriptor_encode(&shot->descriptor, &bits);
    if (status != GM_OK) {
        gpu_fail_library(status, "gm_matrix_descriptor_encode");
        return NULL;
    }
    study->shots[point - lab->points] = *shot;
    lab_kernel(point, "wgmma_read", "lab_wgmma_read", 1, 128);
    point->launch.shared_bytes = WGMMA_IMAGE_BYTES + PICKER_BYTES + 1024;
    LAB_ARGUMENT(point, bits);
    LAB_ARGUMENT(point, study->result);
    LAB_ARGUMENT(point, operand);
    LAB_ARGUMENT(point, turns);
    return point;
}

int wgmma_prepare(struct lab *lab, struct lab_point *point) {
    struct wgmma_study *study = lab->data;
    (void)point;
    memset(&study->fetched, 0xff, sizeof study->fetched);
    return lab_upload(lab, study->result, &study->fetched, sizeof study->fetched);
}

/* ---- what it read --------------------------------------------------------------------------------- */

/* D repeats the operand every 16 columns (A) or rows (B); all of it is looked at. */
static uint32_t row_of(const struct wgmma_shot *shot, uint32_t m, uint32_t n) {
    return shot->is_b ? n : m;
}

static uint32_t k_of(const struct wgmma_shot *shot, uint32_t m, uint32_t n) {
    return (shot->is_b ? m : n) % WGMMA_K;
}

static uint32_t read_address(const struct wgmma_result *result, uint32_t m, uint32_t n) {
    return (result->d[m][n] - (uint32_t)FIRST_BITS) * 2;
}

static bool law_fits(const struct wgmma_shot *shot, const struct wgmma_result *result, enum wgmma_law law) {
    for (uint32_t i = 0; i < WGMMA_ROWS * COLUMNS; i++) {
        const uint32_t m = i / COLUMNS, n = i % COLUMNS;
        if (read_address(result, m, n) != wgmma_address_by_law(shot, law, row_of(shot, m, n), k_of(shot, m, n)))
            return false;
    }
    return true;
}

/* The index of the first element of D that was read from elsewhere; WGMMA_ROWS * COLUMNS: none. */
static uint32_t first_wrong(const struct wgmma_shot *shot, const struct wgmma_result *result) {
    uint32_t i = 0;
    while (i < WGMMA_ROWS * COLUMNS &&
           read_address(result, i / COLUMNS, i % COLUMNS) ==
               model_address(shot, row_of(shot, i / COLUMNS, i % COLUMNS), k_of(shot, i / COLUMNS, i % COLUMNS)))
        i++;
    return i;
}

static void say_wrong(struct lab_point *point, const struct wgmma_shot *shot, const struct wgmma_result *result,
                      uint32_t at, unsigned laws) {
    const uint32_t m = at / COLUMNS, n = at % COLUMNS, row = row_of(shot, m, n), k = k_of(shot, m, n);
    const char *law = laws ? law_names[__builtin_ctz(laws)] : "none of the laws that were thought of";
    lab_wrong(point, "element (%u, %u) was read from %u (bits 0x%04x), not %u; what fits the phase: %s", row, k,
              read_address(result, m, n), result->d[m][n], model_address(shot, row, k), law);
}

int wgmma_check(struct lab *lab, struct lab_point *point) {
    struct wgmma_study *study = lab->data;
    const size_t index = (size_t)(point - lab->points);
    const struct wgmma_shot *shot = &study->shots[index];
    if (lab_download(lab, &study->fetched, study->result, sizeof study->fetched) != 0)
        return -1;
    study->laws[index] = 0;
    for (int law = 0; law < WGMMA_LAWS; law++)
        study->laws[index] |= (unsigned)law_fits(shot, &study->fetched, (enum wgmma_law)law) << law;
    const uint32_t wrong = first_wrong(shot, &study->fetched);
    if (wrong == WGMMA_ROWS * COLUMNS)
        lab_correct(point);
    else
        say_wrong(point, shot, &study->fetched, wrong, study->laws[index]);
    return 0;
}
