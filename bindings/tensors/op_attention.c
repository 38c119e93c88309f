/* SPDX-License-Identifier: Apache-2.0 */
/* attention and attention_lse: of q's rows to the keys and values of their requests, in a tensor for each request,
 * behind each other, or in pages. */
#include "plans.h"

#include <string.h>

RUNS_BY_PLAN(attention, WITH_WORKSPACE)

enum {
    Q,
    K,
    V,
    Q_INDPTR,
    KV_LEN,
    PAGE_TABLE,
    KV_INDPTR,
    SINKS,
    MAX_Q_LEN,
    MAX_KV_LEN,
    CAUSAL,
    LEFT,
    RIGHT,
    SCALE,
    SOFTCAP,
    BATCH_INVARIANT
};

static bool check_requests(struct call *call) {
    const struct tensor *q_indptr = call_tensor(call, Q_INDPTR), *table = call_tensor(call, PAGE_TABLE);
    if (!call_rank(call, Q_INDPTR, 1)) {
        return false;
    }
    if (q_indptr->size[0] < 1) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT,
                         "q_indptr is empty and must have one entry more than requests");
    }
    int64_t batch = q_indptr->size[0] - 1;
    if (!call_vector(call, Q_INDPTR, GM_INT32, batch + 1) || !call_vector(call, KV_LEN, GM_INT32, batch) ||
        !call_vector(call, KV_INDPTR, GM_INT32, batch)) {
        return false;
    }
    if (table && call_tensor(call, KV_INDPTR)) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "page_table and kv_indptr exclude each other");
    }
    return !table || (call_rank(call, PAGE_TABLE, 2) && call_type(call, PAGE_TABLE, GM_INT32) &&
                      call_size(call, PAGE_TABLE, 0, batch));
}

/* k and v are [pages, tokens, heads, elements], of KV_INDPTR without the pages. */
static bool check_kv(struct call *call) {
    const struct tensor *q = call_tensor(call, Q), *k = call_tensor(call, K);
    int rank = call_tensor(call, KV_INDPTR) ? 3 : 4;
    if (!call_rank(call, K, rank) || !call_rank(call, V, rank) || !call_size(call, K, rank - 1, q->size[2]) ||
        !call_type(call, K, q->type) || !call_type(call, V, q->type)) {
        return false;
    }
    for (int i = 0; i < rank - 1; i++) {
        if (!call_size(call, V, i, k->size[i])) {
            return false;
        }
    }
    bool dense = rank == 4 && !call_tensor(call, PAGE_TABLE);
    return !dense || call_size(call, K, 0, call_tensor(call, KV_LEN)->size[0]);
}

static bool shape(struct call *call) {
    if (!call_rank(call, Q, 3) || !check_requests(call) || !check_kv(call)) {
        return false;
    }
    const struct tensor *q = call_tensor(call, Q), *v = call_tensor(call, V);
    call_output_like(call, 0, q, q->type, v->size[v->rank - 1]);
    call->out[1].type = GM_FP32;
    call->out[1].rank = 2;
    call->out[1].size[0] = q->size[0];
    call->out[1].size[1] = q->size[1];
    return call_vector(call, SINKS, GM_FP32, q->size[1]);
}

static int64_t or_else(int64_t given, int64_t otherwise) {
    return given > 0 ? given : otherwise;
}

static void describe_kv(const struct call *call, struct gm_attention_problem *p) {
    const struct tensor *k = call_tensor(call, K), *v = call_tensor(call, V), *table = call_tensor(call, PAGE_TABLE);
    int tokens_at = k->rank - 3;
    p->kv_heads = k->size[tokens_at + 1];
    p->v_head_dim = v->size[tokens_at + 2];
    p->k_token_stride = k->stride[tokens_at];
    p->k_head_stride = k->stride[tokens_at + 1];
    p->v_token_stride = v->stride[tokens_at];
    p->v_head_stride = v->stride[tokens_at + 1];
    p->k_align = tensor_align(k);
    p->v_align = tensor_align(v);
    int64_t tokens = k->size[tokens_at];
    if (tokens_at == 0) {
        p->kv_layout = GM_ATTENTION_KV_RAGGED;
        p->kv_tokens = tokens;
    } else {
        p->page_size = tokens;
        p->k_page_stride = k->stride[0];
        p->v_page_stride = v->stride[0];
    }
    if (table) {
        p->kv_layout = GM_ATTENTION_KV_PAGED;
        p->page_count = k->size[0];
        p->table_stride = table->size[0] > 1 ? table->stride[0] : table->size[1];
        tokens *= table->size[1];
    }
    p->max_kv_len = or_else(call->in[MAX_KV_LEN].integer, tokens);
}

static void describe_mask(const struct call *call, struct gm_attention_problem *p) {
    int64_t left = call->in[LEFT].integer, right = call->in[CAUSAL].integer ? 0 : call->in[RIGHT].integer;
    p->mask = left >= 0 || right > 0 || (right == 0 && !call->in[CAUSAL].integer) ? GM_ATTENTION_WINDOW
              : call->in[CAUSAL].integer                                          ? GM_ATTENTION_CAUSAL
                                                                                  : GM_ATTENTION_FULL;
    if (p->mask == GM_ATTENTION_WINDOW) {
        p->left = left;
        p->right = right;
    }
}

static void describe(const struct call *call, struct gm_attention_problem *p) {
    const struct tensor *q = call_tensor(call, Q), *out = &call->out[0];
    memset(p, 0, sizeof *p);
    p->size = sizeof *p;
    p->max_batch = call_tensor(call, KV_LEN)->size[0];
    p->max_q_tokens = q->size[0];
    p->max_q_len = or_else(call->in[MAX_Q_LEN].integer, q->size[0]);
    p->q_heads = q->size[1];
    p->head_dim = q->size[2];
    p->q_token_stride = q->stride[0];
    p->q_head_stride = q->stride[1];
    p->out_token_stride = out->stride[0];
    p->out_head_stride = out->stride[1];
    p->type = q->type;
    p->scale = (float)call->in[SCALE].real;
    p->softcap = (float)call->in[SOFTCAP].real;
    p->has_sinks = call_tensor(call, SINKS) != NULL;
    p->q_align = tensor_align(q);
    p->out_align = tensor_align(out);
    describe_kv(call, p);
    describe_mask(call, p);
}

static gm_device_ptr address_of(const struct call *call, int argument) {
    const struct tensor *tensor = call_tensor(call, argument);
    return tensor ? tensor->data : 0;
}

static bool run(struct call *call) {
    const struct tensor *out = &call->out[0], *lse = &call->out[1];
    struct gm_attention_problem problem;
    struct gm_attention_args args = {.size = sizeof args,
                                     .batch = call_tensor(call, KV_LEN)->size[0],
                                     .q = address_of(call, Q),
                                     .k = address_of(call, K),
                                     .v = address_of(call, V),
                                     .out = out->data,
                                     .q_indptr = address_of(call, Q_INDPTR),
                                     .kv_len = address_of(call, KV_LEN),
                                     .kv_indptr = address_of(call, KV_INDPTR),
                                     .page_table = address_of(call, PAGE_TABLE),
                                     .sinks = address_of(call, SINKS)};
    if (!tensor_is_dense_last(out)) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "the elements of a head of out must be neighbours");
    }
    if (tensor_elements(out) == 0) {
        return true;
    }
    describe(call, &problem);
    if (call->operation->parameter) {
        problem.has_lse = 1;
        problem.lse_token_stride = lse->stride[0];
        problem.lse_head_stride = lse->stride[1];
        args.lse = lse->data;
    }
    uint32_t flags = call->in[BATCH_INVARIANT].integer ? GM_PLAN_BATCH_INVARIANT : 0u;
    return run_attention(call, &problem, flags, &args);
}

#define REQUESTS                                                                                                       \
    "(Tensor q, Tensor k, Tensor v, Tensor q_indptr, Tensor kv_len, Tensor? page_table=None, "                         \
    "Tensor? kv_indptr=None, Tensor? sinks=None, int max_q_len=0, int max_kv_len=0, bool causal=True, "                \
    "int left=-1, int right=-1, float scale=0.0, float softcap=0.0, bool batch_invariant=False)"

const struct tensor_operation operation_attention = {"attention" REQUESTS " -> Tensor", shape, run, 0};
const struct tensor_operation operation_attention_lse = {"attention_lse" REQUESTS " -> (Tensor, Tensor)", shape, run,
                                                         1};
