/* SPDX-License-Identifier: Apache-2.0 */
/* What the ladders transpose, reduction and histogram share: the wavefronts that their steps should take, worked out by
 * the bank model from the kernels' own addresses, and input that both sides can compute. */
#ifndef LAB_LADDERS_H
#define LAB_LADDERS_H

#include "lab/lab.h"

/* What loads and stores of shared memory take, and how many of these wavefronts are bank conflicts. NaN: the model
 * refused an access. */
struct ladder_wavefronts {
    double load, store, load_conflicts, store_conflicts;
};

enum transpose_step {
    TRANSPOSE_STEP_NAIVE,
    TRANSPOSE_STEP_TILED,
    TRANSPOSE_STEP_PADDED,
    TRANSPOSE_STEP_XOR,
    TRANSPOSE_STEP_TMA,
    TRANSPOSE_STEPS
};
/* The word that a lane touches, the first of 4 in a load of the TMA step, in one pass of a 32 x 32 tile: 0 .. 31, or 0
 * .. 7 for those loads. Not for the naive step. */
uint32_t transpose_word(enum transpose_step step, bool store, uint32_t pass, uint32_t lane);
/* Of 32 x 32 elements, in a whole tile. */
struct ladder_wavefronts transpose_wavefronts(enum transpose_step step);

enum reduction_step {
    REDUCTION_STEP_MODULO,
    REDUCTION_STEP_STRIDED,
    REDUCTION_STEP_SEQUENTIAL,
    REDUCTION_STEP_SHUFFLE,
    REDUCTION_STEP_VECTOR,
    REDUCTION_STEPS
};
/* Of a launch of `ctas` whole CTAs. */
struct ladder_wavefronts reduction_wavefronts(enum reduction_step step, uint32_t ctas);

/* Of the atomics that count `count` values in 256 bins, a multiple of 32 x per_lane of them; a lane has per_lane (1 or
 * 4) neighbours at a time. */
double histogram_wavefronts(const uint32_t *values, size_t count, uint32_t per_lane);

/* Bits that look random, of k alone. */
uint32_t ladder_hash(uint32_t k);
/* Uploads the words word(0), word(1), ... */
int ladder_fill(struct lab *lab, CUdeviceptr to, size_t count, uint32_t (*word)(uint32_t k));
uint32_t ladder_bits(float value);

/* The point's number, to find what the experiment keeps of it. */
size_t ladder_index(const struct lab *lab, const struct lab_point *point);
/* Whether the steps that need TMA and clusters can run. */
bool ladder_is_hopper(const struct lab *lab);
/* How many clusters of this launch, with any grid, run at the same time. 0, or -1 with a printed sentence. */
int ladder_resident_clusters(const struct lab *lab, const struct lab_launch *launch, unsigned *clusters);
/* The rate of the point "<step>, <size>"; NaN: there is none. */
double ladder_gbs(struct lab *lab, const char *step, const char *size);

#endif
