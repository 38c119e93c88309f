/* SPDX-License-Identifier: Apache-2.0 */
/* One pass through the model: rows of tokens in, a token for each of some rows out. A step is a list of gristmill's plans for so
 * many rows; what it works on is read on the device, so that a step that was captured once serves every time. */
#ifndef DECODER_STEP_H
#define DECODER_STEP_H

#include "model.h"

enum { WORKSPACE_BYTES = 32 << 20 };

/* The workspace of a step: of any plan, and room for gates and ups where no kernel makes the unit of them at once. */
size_t gated_workspace_bytes(int64_t rows, int64_t columns);

/* The keys and values of all requests, in pages: [layer][page][token][head of k][element]. */
struct cache {
    int64_t pages, page_size, table_stride; /* table_stride: pages of the longest request */
    gm_device_ptr k, v;
};

/* What a step is told, in device memory. Rows come request by request. */
struct inputs {
    gm_device_ptr tokens;                       /* int32_t [rows] */
    gm_device_ptr positions;                    /* int32_t [rows] */
    gm_device_ptr slots;                        /* int64_t [rows]: page * page_size + token, -1: the row is none */
    gm_device_ptr wanted;                       /* int32_t [results]: rows whose next token is wanted */
    gm_device_ptr q_indptr;                     /* int32_t [requests + 1] */
    gm_device_ptr kv_len;                       /* int32_t [requests] */
    gm_device_ptr table;                        /* int32_t [requests][table_stride]: pages */
    gm_device_ptr temperatures, top_ps, min_ps; /* float [results] */
    gm_device_ptr top_ks;                       /* int32_t [results] */
    gm_device_ptr seeds, steps;                 /* uint64_t, int64_t [results] */
};

/* What steps write and share: one runs at a time. */
struct scratch {
    int64_t rows, results;
    gm_device_ptr stream;   /* [rows][hidden]: the residual stream */
    gm_device_ptr normed;   /* [rows][hidden] */
    gm_device_ptr branch;   /* [rows][hidden]: what attention or the MLP adds, where the norm behind it does */
    gm_device_ptr qkv;      /* [rows][(q + 2 kv) heads][head_dim] */
    gm_device_ptr attended; /* [rows][q heads][head_dim] */
    gm_device_ptr mlp;      /* [rows][intermediate]: the unit of gates and ups */
    /* Where matrices are of e4m3, else 0. What they read is made there, also in `normed` and `mlp`, with the same pitch in
     * elements; there are scales of one such operand at a time. */
    gm_device_ptr quantized;  /* e4m3 [rows][q heads][head_dim]: `attended` */
    gm_device_ptr gates;      /* [rows][2 intermediate]: gates and ups */
    gm_device_ptr row_scales; /* float [rows], or of blocks [columns / 128][rows of the step] */
    gm_device_ptr last;       /* [results][hidden] */
    gm_device_ptr logits;     /* float [results][vocabulary] */
    gm_device_ptr sampled;    /* int32_t [results] */
    gm_device_ptr logprobs;   /* float [results] */
    gm_device_ptr workspace;
    size_t workspace_bytes;
    struct moe *moe; /* NULL: no layer has experts */
};

/* `flags` of enum gm_plan_flags go to the plans of experts. */
struct scratch scratch_create(gm_context *context, const struct config *config, int64_t rows, int64_t results,
                              uint32_t flags);
void scratch_free(struct scratch *scratch);
size_t scratch_bytes(const struct config *config, int64_t rows, int64_t results);

/* Bits: what is launched. Apart from each other, for those who measure. */
enum part { PART_LINEARS = 1, PART_ATTENTION = 2, PART_REST = 4 };

struct step_shape {
    int64_t rows, requests;
    int64_t longest; /* rows of one request, at most */
    int64_t results; /* rows whose next token is wanted; 0: each of them, in order */
    int64_t decodes; /* 1: a row a request, the next of a text that is being made */
    int64_t parts;   /* of enum part; 0: all */
};

struct step;
/* `flags` of enum gm_plan_flags go to all plans. */
struct step *step_create(gm_context *context, const struct model *model, const struct cache *cache,
                         int64_t context_length, struct step_shape shape, uint32_t flags);
void step_destroy(struct step *step);
/* Launches everything on the device's stream. */
void step_run(const struct step *step, const struct model *model, const struct cache *cache,
              const struct inputs *inputs, const struct scratch *scratch);
/* One line for each kind of plan: the kernel that was chosen, and what it is thought to take. */
void step_explain(const struct step *step, const struct scratch *scratch);

#endif
