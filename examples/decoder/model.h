/* SPDX-License-Identifier: Apache-2.0 */
/* A model's weights on the GPU. Matrices that are multiplied with the same rows lie behind each other, so that one GEMM does
 * for all of them: q, k and v, and gate and up. */
#ifndef DECODER_MODEL_H
#define DECODER_MODEL_H

#include "config.h"

#include <gristmill/gemm.h>

/* A matrix that rows are multiplied with, or several of them as one. */
struct linear {
    gm_device_ptr weights; /* [out][in] of the model's dtype; or of e4m3, where there are */
    gm_device_ptr scales;  /* fp32: what a 1 of weights of e4m3 stands for; else 0 */
    /* Of scales: GM_PER_ROW, [out]; GM_PER_BLOCK, [out / 128][in / 128]; GM_PER_GROUP, [out][in / 128], where there are blocks
     * and one of several matrices does not begin with a block of the whole. */
    enum gm_granularity granularity;
    gm_device_ptr input_scale; /* fp32, of rows of e4m3 that it is multiplied with; 0: each row has its own */
    gm_device_ptr bias;        /* [out] of the model's dtype, or 0 */
};

struct layer {
    gm_device_ptr attention_norm; /* [hidden], and so the other norms but those of heads, [head_dim] */
    struct linear qkv;            /* [(q + 2 kv) heads * head_dim][hidden] */
    gm_device_ptr q_norm, k_norm;
    struct linear attention_out;
    gm_device_ptr after_attention_norm; /* with a sandwich; else 0 */
    gm_device_ptr mlp_norm;
    struct linear gate_up, down;  /* with experts those of all of them, behind each other */
    struct linear router;         /* [experts][hidden]; without experts 0 */
    gm_device_ptr after_mlp_norm; /* with a sandwich; else 0 */
};

struct model {
    struct config config;
    gm_device_ptr embeddings, final_norm;
    struct linear head; /* [vocabulary][hidden], as the embeddings are; they may be the same */
    struct layer layer[LAYERS_MAX];
    gm_device_ptr weights; /* all of these, in one piece */
    size_t weight_bytes;
    gm_device_ptr rope, local_rope; /* [positions][head_dim]: fp32 cosines, then sines */
    int64_t positions;
};

/* Reads the folder's tensors, each of which must be known and used. With `positions` rows of angles. A line on stderr tells how
 * far it is, where that is a terminal. */
struct model *model_load(const char *folder, const struct config *config, int64_t positions);
/* Random weights of this shape: for measuring. */
struct model *model_random(const struct config *config, int64_t positions);
void model_free(struct model *model);

/* Bytes that the weights and the angles of so many positions take. */
size_t model_bytes(const struct config *config, int64_t positions);
/* Bytes of weights that a step of so many rows reads. Left out is the table of embeddings, of which it reads a few rows,
 * and experts that no row chooses, where all are chosen alike often. */
double model_step_bytes(const struct config *config, int64_t rows);

#endif
