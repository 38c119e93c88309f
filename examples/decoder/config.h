/* SPDX-License-Identifier: Apache-2.0 */
/* What a model's config.json says, in the terms of what is computed. Architectures differ in numbers and switches. */
#ifndef DECODER_CONFIG_H
#define DECODER_CONFIG_H

#include <stdint.h>

enum { LAYERS_MAX = 256, END_TOKENS_MAX = 16, ELEMENT_BYTES = 2 /* of either dtype */ };
enum { EXPERTS_MAX = 1024, CHOSEN_MAX = 32 /* of a row */ };

enum activation { ACTIVATION_SILU, ACTIVATION_GELU_TANH };
enum rope_kind { ROPE_PLAIN, ROPE_LINEAR, ROPE_LLAMA3, ROPE_YARN };
enum dtype { DTYPE_BF16, DTYPE_FP16 };

/* Matrices of a layer that are of e4m3 together, or not: bits. */
enum e4m3 { E4M3_QKV = 1, E4M3_ATTENTION_OUT = 2, E4M3_MLP = 4, E4M3_ALL = 7 };
/* What has a scale of its own of a matrix of e4m3. */
enum scaled { SCALED_CHANNELS /* each row of the matrix */, SCALED_TENSORS, SCALED_BLOCKS /* each 128 x 128 of it */ };
enum { SCALES_BLOCK = 128 /* rows, and columns, and those of a row that is quantised to be multiplied with it */ };

/* Blocks of so many; the last one may be smaller. */
static inline int64_t blocks_of(int64_t rows_or_columns) {
    return (rows_or_columns + SCALES_BLOCK - 1) / SCALES_BLOCK;
}

/* Angles of rotary embedding. */
struct rope_scaling {
    enum rope_kind kind;
    double theta;
    double factor;                                 /* LINEAR, LLAMA3, YARN */
    double low_freq_factor, high_freq_factor;      /* LLAMA3 */
    double beta_fast, beta_slow, attention_factor; /* YARN: 32 and 1; 0.1 ln(factor) + 1 unless told */
    int64_t original_max_position;                 /* LLAMA3, YARN */
    int truncate;                                  /* YARN: the ramp begins and ends at whole pairs; 1 unless told */
};

struct config {
    const char *architecture; /* as config.json names it: "LlamaForCausalLM" */
    /* Of all tensors but lm_head.weight: "model." or, where the model of text is nested in one of images too,
     * "language_model.model.". There the last matrix is language_model.lm_head.weight, if it is not tied. */
    char tensor_prefix[32];
    enum dtype dtype;
    int64_t vocabulary, hidden, layers, q_heads, kv_heads, head_dim;
    int64_t intermediate; /* of layers without experts; 0: all have them */
    int64_t max_position;
    double eps;
    int has_tied_embeddings; /* the table of embeddings is the last matrix too */
    int has_qkv_bias;        /* Qwen2 */
    int has_head_norm;       /* of q and k before rotation: Qwen3, Gemma-3 */
    int has_sandwich;        /* norms before and behind attention and MLP: Gemma-3 */
    double weight_offset;    /* of norms: Gemma 1 */
    double embedding_scale;  /* Gemma: sqrt(hidden), rounded to the dtype; 0: none */
    enum activation activation;
    double attention_scale;           /* 1 / sqrt(head_dim), or of query_pre_attn_scalar */
    double attention_cap, logits_cap; /* 0: none */
    struct rope_scaling rope;         /* of layers that see all tokens */
    struct rope_scaling local_rope;   /* of layers with a window: Gemma-3 has another */
    int64_t experts;                  /* of a layer that has some; 0: none has */
    int64_t chosen;                   /* experts of a row */
    int64_t expert_intermediate;      /* a multiple of 8, as hidden is where there are experts */
    int renormalizes;                 /* the weights of a row's experts add up to 1 */
    int has_mixtral_names;            /* of experts' tensors */
    uint8_t has_experts[LAYERS_MAX];  /* each layer */
    uint8_t e4m3[LAYERS_MAX];         /* of each layer, of enum e4m3: what rows of e4m3 are multiplied with */
    uint8_t any_e4m3;                 /* of all layers */
    enum scaled scaled;
    int has_inverse_names; /* of scales of weights: weight_scale_inv, which they are multiplied with all the same */
    int has_input_scales;  /* rows are quantised by scales of the files, each for a matrix's rows; else as they come */
    int64_t window;        /* tokens that a layer with a window sees, its own included; 0: there is none */
    uint8_t has_window[LAYERS_MAX];     /* of each layer */
    int64_t end_tokens[END_TOKENS_MAX]; /* any of them ends the text: config.json's and generation_config.json's */
    int end_token_count;
    int64_t begin_token; /* -1: none */
};

/* Reads folder/config.json, and generation_config.json if there is one. What it does not know is refused by die() with
 * the key and the value: an architecture, a rope type, a dtype, an activation, biases where none are known, a
 * quantisation other than quantization.h's, experts that all tokens share. A key that is missing has the value of transformers' class, where it has
 * one that is sure. */
struct config config_read(const char *folder);

#endif
