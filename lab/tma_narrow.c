/* SPDX-License-Identifier: Apache-2.0 */
/* tma-narrow: boxes whose rows are narrower than the swizzle span. How far apart do the rows lie, and how many bytes
 * does the load report? */
#include "lab/tma_image.h"

/*  Rows of 64 bytes under the 128-byte span lie a whole span apart, the XOR of the address on top:
 *
 *      | row 0 |       |
 *      | row 1 |       |       (and not  | row 0 | row 1 |)  */
enum { SURPLUS = 4096, ROWS = 70 };

static int add_pair(struct lab *lab, enum gm_swizzle_mode mode, uint32_t row_bytes) {
    struct tma_shot shot = tma_shot_of_bytes(mode, row_bytes, ROWS);
    const uint32_t span = gm_swizzle_span_bytes(mode);
    shot.x = 32;
    shot.y = 3;
    shot.pitch = span;
    if (!tma_add(lab, &shot, "the barrier expects rows x row bytes, and must complete by itself", "%u of %u bytes",
                 row_bytes, span))
        return -1;
    shot.surplus = SURPLUS;
    return tma_add(lab, &shot, "the barrier expects 4096 bytes more, so that those delivered can be counted",
                   "%u of %u bytes, counted", row_bytes, span)
               ? 0
               : -1;
}

static int setup(struct lab *lab) {
    if (tma_open(lab) != 0)
        return -1;
    for (int mode = GM_SWIZZLE_32B; mode <= GM_SWIZZLE_128B; mode++) {
        for (uint32_t row_bytes = 16; row_bytes < gm_swizzle_span_bytes(mode); row_bytes += 16) {
            if (add_pair(lab, mode, row_bytes) != 0)
                return -1;
        }
    }
    return 0;
}

static int conclude(struct lab *lab) {
    size_t counted = 0, right = 0;
    for (size_t i = 0; i < lab->point_count; i++) {
        const bool counts = tma_shot_of(lab, &lab->points[i])->surplus != 0;
        counted += counts;
        right += counts && lab->points[i].result == LAB_CORRECT;
    }
    lab_claim(
        lab, tma_count_correct(lab) == lab->point_count, false,
        "The rows of a box narrower than the span lie a whole span apart, the XOR of the absolute address on top, and "
        "the bytes between them are untouched: %zu of %zu images.",
        tma_count_correct(lab), lab->point_count);
    lab_claim(lab, right == counted, false,
              "The load reports rows x row bytes to the barrier, not rows x span: %zu of %zu loads that were counted.",
              right, counted);
    return 0;
}

const struct lab_experiment tma_narrow = {
    .name = "tma-narrow",
    .title = "Boxes narrower than the swizzle span",
    .question = "How far apart are the rows of a box that does not fill the span?",
    .page = "tma",
    .hopper = true,
    .setup = setup,
    .prepare = tma_prepare,
    .check = tma_check,
    .conclude = conclude,
};
