/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma-modes: every layout of an operand, element by element. wgmma-conflicts: what its reads cost. */
#include <stdio.h>

#include "lab/wgmma_read.h"

struct layout {
    const char *name, *why;
    enum gm_major major;
    enum gm_swizzle_mode swizzle;
    uint32_t start, leading, stride;
};

#define K_MAJOR(mode, ...)  .major = GM_K_MAJOR, .swizzle = GM_SWIZZLE_##mode, __VA_ARGS__
#define MN_MAJOR(mode, ...) .major = GM_MN_MAJOR, .swizzle = GM_SWIZZLE_##mode, __VA_ARGS__

static int add_layout(struct lab *lab, const struct layout *layout, bool is_b, uint32_t turns) {
    const struct wgmma_shot shot = {.descriptor = {.size = sizeof shot.descriptor,
                                                   .start = layout->start,
                                                   .leading_bytes = layout->leading,
                                                   .stride_bytes = layout->stride,
                                                   .swizzle = layout->swizzle},
                                    .major = layout->major,
                                    .is_b = is_b};
    return wgmma_add(lab, &shot, turns, layout->why, "%s, %s", is_b ? "B" : "A", layout->name) ? 0 : -1;
}

static int add_layouts(struct lab *lab, const struct layout *layouts, size_t count, uint32_t turns) {
    if (wgmma_open(lab) != 0)
        return -1;
    for (size_t i = 0; i < 2 * count; i++) {
        if (add_layout(lab, &layouts[i % count], i >= count, turns) != 0)
            return -1;
    }
    return 0;
}

/* ---- wgmma-modes ---------------------------------------------------------------------------------- */

static const struct layout modes[] = {
    {"K-major, none, dense", "core matrices of 8 rows x 16 bytes, one after the other", K_MAJOR(NONE, 0, 128, 256)},
    {"K-major, none, 16-byte boxes", "as TMA leaves boxes that are 8 elements wide", K_MAJOR(NONE, 0, 1024, 128)},
    {"K-major, none, scattered", "any multiples of 16 as LBO and SBO", K_MAJOR(NONE, 48, 8208, 560)},
    {"K-major, 32B", "rows of 32 bytes", K_MAJOR(32B, 0, 0, 256)},
    {"K-major, 32B, SBO 768", "gaps between groups of 8 rows", K_MAJOR(32B, 0, 0, 768)},
    {"K-major, 32B, SBO 384", "every second group begins in the middle of a pattern", K_MAJOR(32B, 0, 0, 384)},
    {"K-major, 64B", "rows of 64 bytes", K_MAJOR(64B, 0, 0, 512)},
    {"K-major, 64B, k step 1", "32 bytes further along the rows", K_MAJOR(64B, 32, 0, 512)},
    {"K-major, 64B, SBO 640", "groups begin in the middle of a pattern", K_MAJOR(64B, 0, 0, 640)},
    {"K-major, 128B", "rows of 128 bytes", K_MAJOR(128B, 0, 0, 1024)},
    {"K-major, 128B, k step 1", "32 bytes further along the rows", K_MAJOR(128B, 32, 0, 1024)},
    {"K-major, 128B, k step 2", "64 bytes further along the rows", K_MAJOR(128B, 64, 0, 1024)},
    {"K-major, 128B, k step 3", "96 bytes further along the rows", K_MAJOR(128B, 96, 0, 1024)},
    {"K-major, 128B, 8 elements on", "a start that is a multiple of 16 only", K_MAJOR(128B, 16, 0, 1024)},
    {"K-major, 128B, LBO 4096", "LBO is not used", K_MAJOR(128B, 0, 4096, 1024)},
    {"K-major, 128B, SBO 2048", "gaps between groups of 8 rows", K_MAJOR(128B, 0, 0, 2048)},
    {"K-major, 128B, SBO 1152", "groups begin in the middle of a pattern", K_MAJOR(128B, 0, 0, 1152)},
    {"MN-major, none", "core matrices of 8 k x 16 bytes; LBO: 8 k on; SBO: 8 rows on", MN_MAJOR(NONE, 0, 1024, 128)},
    {"MN-major, none, k first", "the same with the two exchanged", MN_MAJOR(NONE, 0, 128, 256)},
    {"MN-major, 32B", "SBO: 8 k on; LBO: 16 rows on", MN_MAJOR(32B, 0, 512, 256)},
    {"MN-major, 32B, rows first", "the same, slabs of 16 rows side by side", MN_MAJOR(32B, 0, 256, 1024)},
    {"MN-major, 64B", "SBO: 8 k on; LBO: 32 rows on", MN_MAJOR(64B, 0, 1024, 512)},
    {"MN-major, 64B, k step 1", "16 k further down", MN_MAJOR(64B, 1024, 4096, 512)},
    {"MN-major, 128B", "SBO: 8 k on; 64 rows are one slab", MN_MAJOR(128B, 0, 0, 1024)},
    {"MN-major, 128B, k step 1", "16 k further down", MN_MAJOR(128B, 2048, 0, 1024)},
};

static int setup_modes(struct lab *lab) {
    return add_layouts(lab, modes, sizeof modes / sizeof *modes, 1);
}

static int conclude_modes(struct lab *lab) {
    const size_t correct = wgmma_count_correct(lab);
    lab_claim(
        lab, correct == lab->point_count, false,
        "WGMMA reads element (row, k) from where gm_wgmma_address() says, and the XOR is taken from the bits of the "
        "absolute address: in %zu of %zu layouts for all 1,024 elements.",
        correct, lab->point_count);
    return 0;
}

const struct lab_experiment wgmma_modes = {
    .name = "wgmma-modes",
    .title = "Where WGMMA reads an operand",
    .question = "From which address does WGMMA read element (row, k), in each mode, K-major and MN-major?",
    .page = "wgmma-descriptors",
    .hopper = true,
    .setup = setup_modes,
    .prepare = wgmma_prepare,
    .check = wgmma_check,
    .conclude = conclude_modes,
};

/* ---- wgmma-conflicts ------------------------------------------------------------------------------ */

enum { TURNS = 1000 };

/* The prediction: WGMMA reads core matrices, 8 times 16 bytes, and in each mode at each phase these eight lie in eight
 * different chunk columns. So there is no descriptor that makes it conflict. An operand of 64 x 16 elements is 16 core
 * matrices, and the other operand of the study is another 16. */
static const struct layout costs[] = {
    {"K-major, none", "a core matrix is 128 bytes in a row", K_MAJOR(NONE, 0, 128, 256)},
    {"K-major, none, one for all", "LBO and SBO 0: the same core matrix 16 times", K_MAJOR(NONE, 0, 0, 0)},
    {"K-major, none, 16 bytes on", "core matrices that begin on bank 4", K_MAJOR(NONE, 16, 128, 256)},
    {"K-major, 32B", NULL, K_MAJOR(32B, 0, 0, 256)},
    {"K-major, 32B, one row on", "begins in the middle of the pattern", K_MAJOR(32B, 32, 0, 256)},
    {"K-major, 64B", NULL, K_MAJOR(64B, 0, 0, 512)},
    {"K-major, 64B, one row on", "begins in the middle of the pattern", K_MAJOR(64B, 64, 0, 512)},
    {"K-major, 128B", NULL, K_MAJOR(128B, 0, 0, 1024)},
    {"K-major, 128B, 8 elements on", "k columns that are not a pair", K_MAJOR(128B, 16, 0, 1024)},
    {"K-major, 128B, SBO 1152", "every group at another phase", K_MAJOR(128B, 0, 0, 1152)},
    {"MN-major, none", NULL, MN_MAJOR(NONE, 0, 1024, 128)},
    {"MN-major, 32B", NULL, MN_MAJOR(32B, 0, 512, 256)},
    {"MN-major, 64B", NULL, MN_MAJOR(64B, 0, 1024, 512)},
    {"MN-major, 128B", NULL, MN_MAJOR(128B, 0, 0, 1024)},
};

static int setup_conflicts(struct lab *lab) {
    if (add_layouts(lab, costs, sizeof costs / sizeof *costs, TURNS) != 0)
        return -1;
    for (size_t i = 0; i < lab->point_count; i++) {
        lab_quantity(&lab->points[i], "conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma.sum", 0, 0);
        lab_quantity(&lab->points[i], "wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum",
                     TURNS * 32.0, 0);
    }
    return 0;
}

static int conclude_conflicts(struct lab *lab) {
    size_t without = 0;
    for (size_t i = 0; i < lab->point_count; i++)
        without += lab_counted(&lab->points[i], "conflicts") == 0;
    if (lab->has_counts)
        lab_claim(
            lab, without == lab->point_count, false,
            "No descriptor makes WGMMA's own reads conflict: none is counted in %zu of %zu layouts. The swizzles are "
            "for those that write the tile.",
            without, lab->point_count);
    return 0;
}

const struct lab_experiment wgmma_conflicts = {
    .name = "wgmma-conflicts",
    .title = "Conflicts of WGMMA operand reads",
    .question = "Can a descriptor make WGMMA's reads of shared memory conflict?",
    .page = "wgmma-descriptors",
    .hopper = true,
    .setup = setup_conflicts,
    .prepare = wgmma_prepare,
    .check = wgmma_check,
    .conclude = conclude_conflicts,
};
