/* SPDX-License-Identifier: Apache-2.0 */
/* Points that do one instruction at 32 addresses: their launch and their prediction. */
#include "lab/bank_access.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/bank_kernels.h"

/* ---- the instructions ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum gm_access_kind kind;
    uint32_t width, matrices;
} instructions[BANK_INSTRUCTIONS] = {
    [LOAD_B8] = {"ld.shared.b8", GM_ACCESS_LOAD, 1, 0},
    [LOAD_B16] = {"ld.shared.b16", GM_ACCESS_LOAD, 2, 0},
    [LOAD_B32] = {"ld.shared.b32", GM_ACCESS_LOAD, 4, 0},
    [LOAD_V2] = {"ld.shared.v2", GM_ACCESS_LOAD, 8, 0},
    [LOAD_V4] = {"ld.shared.v4", GM_ACCESS_LOAD, 16, 0},
    [STORE_B8] = {"st.shared.b8", GM_ACCESS_STORE, 1, 0},
    [STORE_B16] = {"st.shared.b16", GM_ACCESS_STORE, 2, 0},
    [STORE_B32] = {"st.shared.b32", GM_ACCESS_STORE, 4, 0},
    [STORE_V2] = {"st.shared.v2", GM_ACCESS_STORE, 8, 0},
    [STORE_V4] = {"st.shared.v4", GM_ACCESS_STORE, 16, 0},
    [LDMATRIX_X1] = {"ldmatrix.x1", GM_ACCESS_LDMATRIX, 16, 1},
    [LDMATRIX_X2] = {"ldmatrix.x2", GM_ACCESS_LDMATRIX, 16, 2},
    [LDMATRIX_X4] = {"ldmatrix.x4", GM_ACCESS_LDMATRIX, 16, 4},
    [LDMATRIX_X4_TRANS] = {"ldmatrix.x4.trans", GM_ACCESS_LDMATRIX, 16, 4},
    [RED_ADD] = {"red.add", GM_ACCESS_ATOMIC, 4, 0},
    [ATOM_ADD] = {"atom.add", GM_ACCESS_ATOMIC, 4, 0},
    [RED_INCREMENT] = {"red.add of 1", GM_ACCESS_INCREMENT, 4, 0},
    [ATOM_CAS] = {"atom.cas", GM_ACCESS_CAS, 4, 0},
    [ATOM_EXCH] = {"atom.exch", GM_ACCESS_ATOMIC, 4, 0},
    [RED_MAX] = {"red.max", GM_ACCESS_ATOMIC, 4, 0},
    [STMATRIX_X1] = {"stmatrix.x1", GM_ACCESS_STMATRIX, 16, 1},
    [STMATRIX_X2] = {"stmatrix.x2", GM_ACCESS_STMATRIX, 16, 2},
    [STMATRIX_X4] = {"stmatrix.x4", GM_ACCESS_STMATRIX, 16, 4},
    [STMATRIX_X4_TRANS] = {"stmatrix.x4.trans", GM_ACCESS_STMATRIX, 16, 4},
    [CP_ASYNC_4] = {"cp.async.ca 4", GM_ACCESS_CP_ASYNC, 4, 0},
    [CP_ASYNC_8] = {"cp.async.ca 8", GM_ACCESS_CP_ASYNC, 8, 0},
    [CP_ASYNC_16] = {"cp.async.ca 16", GM_ACCESS_CP_ASYNC, 16, 0},
    [CP_ASYNC_CG] = {"cp.async.cg 16", GM_ACCESS_CP_ASYNC, 16, 0},
};

const char *bank_name(enum bank_instruction instruction) {
    return instructions[instruction].name;
}

enum gm_access_kind bank_kind(enum bank_instruction instruction) {
    return instructions[instruction].kind;
}

uint32_t bank_width(enum bank_instruction instruction) {
    return instructions[instruction].width;
}

static uint32_t common_divisor(uint32_t a, uint32_t b) {
    return b == 0 ? a : common_divisor(b, a % b);
}

uint32_t bank_ways_of_stride(uint32_t stride) {
    return common_divisor(stride, GM_BANKS);
}

static bool reads(const struct bank_shot *shot) {
    return shot->access.kind == GM_ACCESS_LOAD || shot->access.kind == GM_ACCESS_LDMATRIX;
}

static bool is_atomic(const struct bank_shot *shot) {
    return shot->access.kind >= GM_ACCESS_ATOMIC;
}

int bank_shot_fill(struct bank_shot *shot, enum bank_instruction instruction, const uint32_t address[GM_LANES],
                   uint32_t inactive) {
    *shot = (struct bank_shot){.instruction = instruction,
                               .warps = instructions[instruction].kind == GM_ACCESS_CP_ASYNC ? 1 : BANK_WARPS,
                               .access = {.size = sizeof shot->access,
                                          .kind = instructions[instruction].kind,
                                          .width = instructions[instruction].width,
                                          .matrices = instructions[instruction].matrices,
                                          .inactive = inactive},
                               .cost = {.size = sizeof shot->cost}};
    memcpy(shot->access.address, address, sizeof shot->access.address);
    for (int lane = 0; lane < GM_LANES; lane++) {
        if (address[lane] + shot->access.width > BANK_REACH)
            return complain("lane %d's address %u leaves the %d bytes of a pattern", lane, address[lane], BANK_REACH);
    }
    enum gm_status status = gm_bank_cost(&shot->access, &shot->cost);
    return status == GM_OK ? 0 : gpu_fail_library(status, "gm_bank_cost");
}

/* ---- the experiment's memory ---------------------------------------------------------------------- */

struct bank_study {
    CUdeviceptr addresses, source, result; /* the tables of all points; what cp.async copies; a struct bank_result */
    struct bank_shot shots[LAB_POINTS_MAX];
    struct bank_result fetched;
};

/* Where the kernels write. */
_Static_assert(offsetof(struct bank_result, sum) == 64 && offsetof(struct bank_result, image) == 8192,
               "struct bank_result is not what ptx/access.ptx writes");

enum { SOURCE_BYTES = GM_LANES * 16, TABLE_BYTES = GM_LANES * 4 };

int bank_open(struct lab *lab) {
    unsigned char source[SOURCE_BYTES];
    struct bank_study *study = calloc(1, sizeof *study);
    lab->data = study;
    if (!study)
        return complain("out of host memory");
    for (uint32_t i = 0; i < SOURCE_BYTES; i++)
        source[i] = bank_source_byte(i);
    if (lab_alloc(lab, &study->addresses, TABLE_BYTES * LAB_POINTS_MAX, 0) != 0 ||
        lab_alloc(lab, &study->source, SOURCE_BYTES, 0) != 0 ||
        lab_alloc(lab, &study->result, sizeof study->fetched, 0) != 0)
        return -1;
    return lab_upload(lab, study->source, source, sizeof source);
}

struct bank_shot *bank_shot_of(struct lab *lab, const struct lab_point *point) {
    struct bank_study *study = lab->data;
    return &study->shots[point - lab->points];
}

/* ---- a point -------------------------------------------------------------------------------------- */

/* In the order of the kernels' parameters. */
static void set_launch(const struct bank_study *study, const struct bank_shot *shot, struct lab_point *point) {
    const bool cp_async = shot->access.kind == GM_ACCESS_CP_ASYNC, stmatrix = shot->access.kind == GM_ACCESS_STMATRIX;
    const int first = cp_async ? CP_ASYNC_4 : stmatrix ? STMATRIX_X1 : LOAD_B8;
    const CUdeviceptr addresses = study->addresses + TABLE_BYTES * (CUdeviceptr)(shot - study->shots);
    const uint32_t active = ~shot->access.inactive, instruction = (uint32_t)((int)shot->instruction - first);
    const uint32_t trips = BANK_TRIPS, rounds = BANK_ACCESSES / BANK_REPEATS / shot->warps;
    const uint32_t multiplier = is_atomic(shot) ? 0 : BANK_FILL;
    const uint32_t filled = reads(shot) || is_atomic(shot) ? BANK_IMAGE_BYTES : 0;
    const uint32_t dumped = reads(shot) ? 0 : BANK_IMAGE_BYTES;
    const char *name = cp_async ? "cp_async" : stmatrix ? "stmatrix" : "access";
    const char *kernel = cp_async ? "lab_cp_async" : stmatrix ? "lab_stmatrix" : "lab_access";
    lab_kernel(point, name, kernel, 1, shot->warps * GM_LANES);
    point->launch.shared_bytes = BANK_IMAGE_BYTES;
    LAB_ARGUMENT(point, addresses);
    if (cp_async)
        LAB_ARGUMENT(point, study->source);
    LAB_ARGUMENT(point, study->result);
    if (!stmatrix)
        LAB_ARGUMENT(point, active);
    LAB_ARGUMENT(point, instruction);
    LAB_ARGUMENT(point, trips);
    LAB_ARGUMENT(point, rounds);
    if (!stmatrix && !cp_async) {
        LAB_ARGUMENT(point, multiplier);
        LAB_ARGUMENT(point, filled);
    }
    LAB_ARGUMENT(point, dumped);
    point->clock = study->result;
}

struct lab_point *bank_add_shot(struct lab *lab, const struct bank_shot *wanted, const char *why, const char *label) {
    struct bank_study *study = lab->data;
    struct lab_point *point = lab_add(lab, label, "");
    if (!point)
        return NULL;
    struct bank_shot *shot = bank_shot_of(lab, point);
    *shot = *wanted;
    const struct gm_bank_cost *cost = &shot->cost;
    snprintf(point->change, sizeof point->change, "%u wavefront%s and %u conflict%s an access%s%s", cost->wavefronts,
             cost->wavefronts == 1 ? "" : "s", cost->conflicts, cost->conflicts == 1 ? "" : "s", why ? ": " : "",
             why ? why : "");
    set_launch(study, shot, point);
    bank_predict(shot, point);
    CUdeviceptr table = study->addresses + TABLE_BYTES * (CUdeviceptr)(shot - study->shots);
    return lab_upload(lab, table, shot->access.address, TABLE_BYTES) == 0 ? point : NULL;
}

struct lab_point *bank_add(struct lab *lab, enum bank_instruction instruction, const uint32_t address[GM_LANES],
                           uint32_t inactive, const char *why, const char *label, ...) {
    struct bank_shot shot;
    char text[sizeof((struct lab_point *)0)->label];
    va_list arguments;
    va_start(arguments, label);
    vsnprintf(text, sizeof text, label, arguments);
    va_end(arguments);
    return bank_shot_fill(&shot, instruction, address, inactive) == 0 ? bank_add_shot(lab, &shot, why, text) : NULL;
}

int bank_prepare(struct lab *lab, struct lab_point *point) {
    struct bank_study *study = lab->data;
    (void)point;
    memset(&study->fetched, 0xab, sizeof study->fetched);
    return lab_upload(lab, study->result, &study->fetched, sizeof study->fetched);
}

int bank_check(struct lab *lab, struct lab_point *point) {
    struct bank_study *study = lab->data;
    const struct bank_shot *shot = bank_shot_of(lab, point);
    char sentence[sizeof point->wrong];
    if (lab_download(lab, &study->fetched, study->result, sizeof study->fetched) != 0)
        return -1;
    const int right = reads(shot) ? bank_sums_right(shot, &study->fetched, sentence, sizeof sentence)
                                  : bank_image_right(shot, &study->fetched, sentence, sizeof sentence);
    if (right)
        lab_correct(point);
    else
        lab_wrong(point, "%s", sentence);
    return 0;
}

/* ---- claims --------------------------------------------------------------------------------------- */

void bank_agreement(const struct lab *lab, size_t *counted, size_t *exact) {
    *counted = *exact = 0;
    for (size_t i = 0; i < lab->point_count; i++) {
        const struct lab_point *point = &lab->points[i];
        size_t finite = 0, equal = 0;
        for (size_t j = 0; j < point->quantity_count; j++) {
            finite += isfinite(point->quantities[j].counted);
            equal += point->quantities[j].counted == point->quantities[j].predicted;
        }
        *counted += finite == point->quantity_count;
        *exact += equal == point->quantity_count;
    }
}

int bank_conclude(struct lab *lab) {
    size_t counted, exact;
    bank_agreement(lab, &counted, &exact);
    if (lab->has_counts)
        lab_claim(
            lab, counted == lab->point_count && exact == counted, false,
            "The bank model is exact: in %zu of %zu patterns the counters say what it predicts, to the last one of %d "
            "accesses.",
            exact, lab->point_count, BANK_ACCESSES);
    return 0;
}
