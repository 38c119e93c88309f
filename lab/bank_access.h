/* SPDX-License-Identifier: Apache-2.0 */
/* One instruction at 32 addresses, done ten thousand times: ptx/access.ptx, stmatrix.ptx and cp_async.ptx, their
 * launch, what gm_bank_cost() predicts of it, and whether every byte went where it should. */
#ifndef LAB_BANK_ACCESS_H
#define LAB_BANK_ACCESS_H

#include "lab/lab.h"

/* In the order of the tables `instructions` of the three PTX files. */
enum bank_instruction {
    LOAD_B8,
    LOAD_B16,
    LOAD_B32,
    LOAD_V2,
    LOAD_V4,
    STORE_B8,
    STORE_B16,
    STORE_B32,
    STORE_V2,
    STORE_V4,
    LDMATRIX_X1,
    LDMATRIX_X2,
    LDMATRIX_X4,
    LDMATRIX_X4_TRANS,
    RED_ADD,
    ATOM_ADD,
    RED_INCREMENT,
    ATOM_CAS,
    ATOM_EXCH,
    RED_MAX,
    STMATRIX_X1,
    STMATRIX_X2,
    STMATRIX_X4,
    STMATRIX_X4_TRANS,
    CP_ASYNC_4,
    CP_ASYNC_8,
    CP_ASYNC_16,
    CP_ASYNC_CG,
    BANK_INSTRUCTIONS
};

enum {
    /* 25 warps x 2 rounds x 50 trips x 4, or with one warp, as for cp.async, 50 rounds x 50 trips x 4 */
    BANK_ACCESSES = 10000,
    BANK_REPEATS = 200, /* of a lane in a round, each BANK_STEP bytes after the one before: the same banks */
    BANK_STEP = 128,
    BANK_IMAGE_BYTES = 46 << 10,
    BANK_REACH = BANK_IMAGE_BYTES - BANK_REPEATS * BANK_STEP, /* of the pattern itself: 21,504 bytes */
    BANK_THREADS_MAX = 1024
};

/* What is done, and what is predicted of one access. */
struct bank_shot {
    enum bank_instruction instruction;
    uint32_t warps; /* that do it: a divisor of 50; as many as BANK_WARPS, or 1 for cp.async, unless changed */
    struct gm_access access;
    struct gm_bank_cost cost;
};

/* What a launch leaves in global memory. */
struct bank_result {
    uint64_t cycles, counted;
    uint32_t unused[12];
    uint32_t sum[BANK_THREADS_MAX]; /* of all that the thread read in a round, by exclusive or */
    uint32_t unused_too[1008];
    unsigned char image[BANK_IMAGE_BYTES];
};

/* ---- on paper ---- */

const char *bank_name(enum bank_instruction instruction); /* "ld.shared.v4" */
enum gm_access_kind bank_kind(enum bank_instruction instruction);
uint32_t bank_width(enum bank_instruction instruction); /* bytes a lane */
/* The shot with its cost. 0, or -1 with a printed sentence: an illegal access, or one that leaves BANK_REACH. */
int bank_shot_fill(struct bank_shot *shot, enum bank_instruction instruction, const uint32_t address[GM_LANES],
                   uint32_t inactive);
/* 1, or 0 and the sentence, when what a lane read, or what lies in memory, is not what the instruction leaves. Where
 * several lanes write a byte, any of them may have won. */
int bank_sums_right(const struct bank_shot *shot, const struct bank_result *result, char *sentence, size_t bytes);
int bank_image_right(const struct bank_shot *shot, const struct bank_result *result, char *sentence, size_t bytes);
unsigned char bank_source_byte(uint32_t at); /* of what cp.async copies */

/* How many lanes meet in a bank when lane i is at word i * stride. Lanes i and j do when (i - j) * stride is a multiple of
 * 32: gcd(stride, 32). */
uint32_t bank_ways_of_stride(uint32_t stride);

/* Nsight Compute's names for a kind of instruction. NULL: there is none. */
struct bank_counters {
    const char *conflicts, *wavefronts; /* of the pipe, of all that it does for this kind */
    const char *exact;                  /* wavefronts, counted for each instruction by itself */
};
const struct bank_counters *bank_counters(const struct bank_shot *shot);
bool bank_merges(const struct bank_shot *shot); /* a load of which neighbouring phases are served together */
/* The point's quantities and cycles. */
void bank_predict(const struct bank_shot *shot, struct lab_point *point);

/* ---- in an experiment; 0, or -1 with a printed sentence ---- */

int bank_open(struct lab *lab);
struct bank_shot *bank_shot_of(struct lab *lab, const struct lab_point *point);
/* A point of BANK_ACCESSES accesses. `why` may be NULL; the sentence begins with what the model says of one access. */
struct lab_point *bank_add(struct lab *lab, enum bank_instruction instruction, const uint32_t address[GM_LANES],
                           uint32_t inactive, const char *why, const char *label, ...)
    __attribute__((format(printf, 6, 7)));
struct lab_point *bank_add_shot(struct lab *lab, const struct bank_shot *shot, const char *why, const char *label);
int bank_prepare(struct lab *lab, struct lab_point *point);
int bank_check(struct lab *lab, struct lab_point *point);
/* Points of which all was counted, and those in which every count is the prediction. */
void bank_agreement(const struct lab *lab, size_t *counted, size_t *exact);
/* The usual claim over all points: prediction and counter agree. Nothing when nothing was counted. */
int bank_conclude(struct lab *lab);

#endif
