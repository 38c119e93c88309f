/* SPDX-License-Identifier: Apache-2.0 */
/* The attention ladder: its problem and its tiles, written once for the kernels and for what predicts their counters.
 * */
#ifndef LAB_ATTENTION_H
#define LAB_ATTENTION_H

#include <stdint.h>

#define ATTENTION_HEAD 64 /* elements of a row of q, k, v and out */

/* out = softmax(scale q k^T) v for every head: q, k, v and out are [heads][tokens][64] of bf16, scores and weights
 * [heads][tokens][tokens] of fp32, less than 2^31 of them. `tokens` is a multiple of 128: the ladder has no ragged
 * edges, no mask and no batch; the library's operation has. */
struct attention {
    const uint16_t *q, *k, *v;
    uint16_t *out;
    float *scores, *weights;
    int tokens;
    float scale;
};

/* ---- one element a thread ------------------------------------------------------------------------- */

#define ATTENTION_NAIVE_ROWS 8  /* of 32 threads: a warp each */
#define ATTENTION_TILE       32 /* rows and tokens: a CTA of 32 x 32 threads */

/* ---- a register tile a thread --------------------------------------------------------------------- */

/*  256 threads stand 16 x 16 over every tile. Thread (x, y) has rows y, y + 16, ... and, of scores, tokens x, x + 16,
 *  ...; of an output row four neighbours from 4 x on. So 16 lanes, half a warp, share a row from its scores to its
 *  outputs, and what they pass one another of it needs no barrier of the CTA. */
#define ATTENTION_THREADS 256
#define ATTENTION_SIDE    16
#define ATTENTION_SQUARE  64 /* rows and tokens of a CTA while scores go to memory */

/*  Tiles in shared memory are fp32, as they are multiplied. Only k is read down a column: 8 lanes that load 16 bytes
 *  each of 8 rows would meet in 4 banks. 4 words more a row put them side by side. Weights are written by two rows of
 *  16 lanes at once; 16 words more a row put the two beside each other. q, v and out need no pad. */
#define ATTENTION_PAD             4
#define ATTENTION_K_PITCH         (ATTENTION_HEAD + ATTENTION_PAD)
#define ATTENTION_W_PITCH(tokens) ((tokens) + ATTENTION_SIDE)
#define ATTENTION_BYTES(rows, tokens)                                                                                  \
    (4 *                                                                                                               \
     ((rows) * ATTENTION_HEAD + (tokens) * (ATTENTION_K_PITCH + ATTENTION_HEAD) + (rows) * ATTENTION_W_PITCH(tokens)))

/* ---- tensor cores --------------------------------------------------------------------------------- */

/*  One warpgroup a CTA: 64 rows of q, and a ring of two stages, each 128 tokens of k and of v, as TMA writes them: 128
 *  bytes a row, swizzled. Behind the ring a barrier for each stage. */
#define ATTENTION_WGMMA_THREADS 128
#define ATTENTION_WGMMA_ROWS    64
#define ATTENTION_WGMMA_TOKENS  128
#define ATTENTION_WGMMA_STAGES  2
#define ATTENTION_ROW_BYTES     (2 * ATTENTION_HEAD)
#define ATTENTION_WGMMA_Q_BYTES (ATTENTION_WGMMA_ROWS * ATTENTION_ROW_BYTES)
#define ATTENTION_WGMMA_K_BYTES (ATTENTION_WGMMA_TOKENS * ATTENTION_ROW_BYTES) /* and of v */
#define ATTENTION_WGMMA_BYTES   (ATTENTION_WGMMA_Q_BYTES + ATTENTION_WGMMA_STAGES * (2 * ATTENTION_WGMMA_K_BYTES + 8))

#endif
