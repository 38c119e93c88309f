/* SPDX-License-Identifier: Apache-2.0 */
/* rotary, rotary_ and rotary_append_: rotary embedding of q and k of [tokens..., heads, head_dim], with a norm of the
 * heads before it if they have weights, and the append of k and v to a paged cache. */
#include "plans.h"

#include <string.h>

RUNS_BY_PLAN(rope, WITHOUT_WORKSPACE)

/* What rotary_append_ has more stands at the end. */
enum {
    Q,
    K,
    POSITIONS,
    TABLE,
    Q_WEIGHT,
    K_WEIGHT,
    EPS,
    WEIGHT_OFFSET,
    INTERLEAVED,
    ROUND_EARLY,
    V,
    K_CACHE,
    V_CACHE,
    SLOTS
};
enum rotary_kind { ROTARY_NEW, ROTARY_IN_PLACE, ROTARY_APPEND };

/* Heads of one tensor as the problem has them. */
struct heads {
    int64_t tokens, count, dim, token_stride, head_stride;
};

static bool read_heads(struct call *call, int argument, struct heads *heads) {
    struct leading tokens;
    if (!call_rows(call, argument, 3) || !call_leading(call, argument, 2, &tokens)) {
        return false;
    }
    const struct tensor *tensor = call_tensor(call, argument);
    int heads_at = tensor->rank - 2;
    heads->tokens = tokens.count;
    heads->count = tensor->size[heads_at];
    heads->dim = tensor->size[heads_at + 1];
    heads->head_stride = heads->count > 1 ? tensor->stride[heads_at] : heads->dim;
    heads->token_stride = tokens.count > 1 ? tokens.stride : heads->head_stride * heads->count;
    return true;
}

static bool check_heads(struct call *call, int argument, const struct heads *q) {
    struct heads heads;
    if (!read_heads(call, argument, &heads)) {
        return false;
    }
    const char *name = call->signature->arguments[argument].name;
    if (heads.tokens != q->tokens) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s has %lld tokens and q %lld", name,
                         (long long)heads.tokens, (long long)q->tokens);
    }
    return call_size(call, argument, call_tensor(call, argument)->rank - 1, q->dim) &&
           call_type(call, argument, call_tensor(call, Q)->type);
}

static bool check_positions(struct call *call, int argument, bool int32_too, int64_t tokens) {
    const struct tensor *tensor = call_tensor(call, argument);
    const char *name = call->signature->arguments[argument].name;
    if (tensor->type != GM_INT64 && !(int32_too && tensor->type == GM_INT32)) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s is of %s and must be of int64%s", name,
                         call_type_name(tensor->type), int32_too ? " or int32" : "");
    }
    if (tensor_elements(tensor) != tokens || !tensor_is_contiguous(tensor)) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s must be contiguous, with one of each of the %lld tokens",
                         name, (long long)tokens);
    }
    return true;
}

static bool check_norm(struct call *call, int64_t head_dim) {
    const struct tensor *q_weight = call_tensor(call, Q_WEIGHT), *k_weight = call_tensor(call, K_WEIGHT);
    if (!q_weight != !k_weight) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "q_weight and k_weight go together");
    }
    enum gm_type type = q_weight && q_weight->type == GM_FP32 ? GM_FP32 : call_tensor(call, Q)->type;
    return call_vector(call, Q_WEIGHT, type, head_dim) && call_vector(call, K_WEIGHT, type, head_dim);
}

static bool check_cache(struct call *call, const struct heads *q) {
    if (call->operation->parameter != ROTARY_APPEND) {
        return true;
    }
    if (!check_heads(call, V, q) || !check_positions(call, SLOTS, false, q->tokens)) {
        return false;
    }
    const struct tensor *k = call_tensor(call, K);
    int64_t kv_heads = k->size[k->rank - 2];
    for (int cache = K_CACHE; cache <= V_CACHE; cache++) {
        if (!call_rank(call, cache, 4) || !call_size(call, cache, 2, kv_heads) || !call_size(call, cache, 3, q->dim) ||
            !call_size(call, cache, 0, call_tensor(call, K_CACHE)->size[0]) ||
            !call_size(call, cache, 1, call_tensor(call, K_CACHE)->size[1]) || !call_type(call, cache, k->type)) {
            return false;
        }
    }
    return call_size(call, V, call_tensor(call, V)->rank - 2, kv_heads);
}

static bool shape(struct call *call) {
    struct heads q;
    if (!read_heads(call, Q, &q) || !check_heads(call, K, &q) || !check_positions(call, POSITIONS, true, q.tokens) ||
        !check_norm(call, q.dim) || !check_cache(call, &q)) {
        return false;
    }
    const struct tensor *table = call_tensor(call, TABLE);
    if (!call_rank(call, TABLE, 2) || !call_type(call, TABLE, GM_FP32)) {
        return false;
    }
    if (!tensor_is_contiguous(table)) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "table must be contiguous");
    }
    for (int i = 0; i < call->signature->outputs_count; i++) {
        const struct tensor *like = call_tensor(call, Q + i);
        call_output_like(call, i, like, like->type, q.dim);
    }
    return true;
}

static void describe_heads(const struct call *call, const struct heads *q, const struct heads *k,
                           struct gm_rope_problem *p) {
    const struct tensor *table = call_tensor(call, TABLE), *q_weight = call_tensor(call, Q_WEIGHT);
    memset(p, 0, sizeof *p);
    p->size = sizeof *p;
    p->tokens = q->tokens;
    p->q_heads = q->count;
    p->kv_heads = k->count;
    p->head_dim = q->dim;
    p->rotary_dim = table->size[1];
    p->max_position = table->size[0];
    p->q_token_stride = q->token_stride;
    p->q_head_stride = q->head_stride;
    p->k_token_stride = k->token_stride;
    p->k_head_stride = k->head_stride;
    p->type = call_tensor(call, Q)->type;
    p->pairing = call->in[INTERLEAVED].integer ? GM_ROPE_INTERLEAVED : GM_ROPE_HALVES;
    p->rounding = call->in[ROUND_EARLY].integer ? GM_ROUND_EARLY : GM_ROUND_LATE;
    p->int64_positions = call_tensor(call, POSITIONS)->type == GM_INT64;
    if (q_weight) {
        p->norm = GM_ROPE_NORM;
        p->fp32_weight = q_weight->type == GM_FP32;
        p->normalized_rounding = p->rounding;
        p->eps = (float)call->in[EPS].real;
        p->weight_offset = (float)call->in[WEIGHT_OFFSET].real;
        p->q_weight_align = tensor_align(q_weight);
        p->k_weight_align = tensor_align(call_tensor(call, K_WEIGHT));
    }
    p->q_align = tensor_align(call_tensor(call, Q));
    p->k_align = tensor_align(call_tensor(call, K));
    p->table_align = tensor_align(table);
}

/* Where q and k go: new tensors, or where they are. */
static bool describe_out(struct call *call, const struct heads *q, const struct heads *k, struct gm_rope_problem *p,
                         struct gm_rope_args *args) {
    if (call->operation->parameter != ROTARY_NEW) {
        p->q_out_token_stride = q->token_stride;
        p->q_out_head_stride = q->head_stride;
        p->k_out_token_stride = k->token_stride;
        p->k_out_head_stride = k->head_stride;
        p->q_out_align = p->q_align;
        p->k_out_align = p->k_align;
        args->q_out = args->q;
        args->k_out = args->k;
        return true;
    }
    for (int i = 0; i < 2; i++) {
        if (!tensor_is_contiguous(&call->out[i])) {
            return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "what the results go to must be contiguous");
        }
    }
    p->q_out_align = tensor_align(&call->out[0]);
    p->k_out_align = tensor_align(&call->out[1]);
    args->q_out = call->out[0].data;
    args->k_out = call->out[1].data;
    return true;
}

static bool describe_append(struct call *call, struct gm_rope_problem *p, struct gm_rope_args *args) {
    struct heads v;
    if (call->operation->parameter != ROTARY_APPEND) {
        return true;
    }
    if (!read_heads(call, V, &v)) {
        return false;
    }
    const struct tensor *k_cache = call_tensor(call, K_CACHE), *v_cache = call_tensor(call, V_CACHE);
    p->append = GM_ROPE_APPEND;
    p->v_token_stride = v.token_stride;
    p->v_head_stride = v.head_stride;
    p->v_align = tensor_align(call_tensor(call, V));
    p->page_size = k_cache->size[1];
    p->slot_count = k_cache->size[0] * k_cache->size[1];
    p->k_cache_page_stride = k_cache->stride[0];
    p->k_cache_token_stride = k_cache->stride[1];
    p->k_cache_head_stride = k_cache->stride[2];
    p->v_cache_page_stride = v_cache->stride[0];
    p->v_cache_token_stride = v_cache->stride[1];
    p->v_cache_head_stride = v_cache->stride[2];
    p->k_cache_align = tensor_align(k_cache);
    p->v_cache_align = tensor_align(v_cache);
    args->v = call_tensor(call, V)->data;
    args->k_cache = k_cache->data;
    args->v_cache = v_cache->data;
    args->slots = call_tensor(call, SLOTS)->data;
    return true;
}

static bool run(struct call *call) {
    const struct tensor *q_weight = call_tensor(call, Q_WEIGHT), *k_weight = call_tensor(call, K_WEIGHT);
    struct heads q, k;
    struct gm_rope_problem problem;
    struct gm_rope_args args = {.size = sizeof args,
                                .q = call_tensor(call, Q)->data,
                                .k = call_tensor(call, K)->data,
                                .positions = call_tensor(call, POSITIONS)->data,
                                .table = call_tensor(call, TABLE)->data,
                                .q_weight = q_weight ? q_weight->data : 0,
                                .k_weight = k_weight ? k_weight->data : 0};
    if (!read_heads(call, Q, &q) || !read_heads(call, K, &k)) {
        return false;
    }
    describe_heads(call, &q, &k, &problem);
    return describe_out(call, &q, &k, &problem, &args) && describe_append(call, &problem, &args) &&
           run_rope(call, &problem, 0, &args);
}

#define HEADS                                                                                                          \
    "Tensor positions, Tensor table, Tensor? q_weight=None, Tensor? k_weight=None, float eps=1e-6, "                   \
    "float weight_offset=0.0, bool interleaved=False, bool round_early=False"

const struct tensor_operation operation_rotary = {"rotary(Tensor q, Tensor k, " HEADS ") -> (Tensor, Tensor)", shape,
                                                  run, ROTARY_NEW};
const struct tensor_operation operation_rotary_ = {"rotary_(Tensor(a!) q, Tensor(b!) k, " HEADS ") -> ()", shape, run,
                                                   ROTARY_IN_PLACE};
const struct tensor_operation operation_rotary_append_ = {
    "rotary_append_(Tensor(a!) q, Tensor(b!) k, " HEADS
    ", *, Tensor v, Tensor(c!) k_cache, Tensor(d!) v_cache, Tensor slots) -> ()",
    shape, run, ROTARY_APPEND};
