/* SPDX-License-Identifier: Apache-2.0 */
/* attention_merge of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include <math.h>

#include "attention_merge/attention_merge_tests.h"
#include "columns.h"
#include "common/attention_merge/params.h"

struct job {
    const struct gm_attention_merge_params *p;
    enum gm_type type;
    int64_t head_dim;
};

struct shares {
    float a, b, lse;
    bool is_none;
};

static float load(enum gm_type type, uint64_t base, int64_t at) {
    return (float)bits_to_double(type, load_bits((const uint8_t *)(uintptr_t)(base + (uint64_t)at), type));
}

static void store(enum gm_type type, uint64_t base, int64_t at, float value) {
    store_bits((uint8_t *)(uintptr_t)(base + (uint64_t)at), type, double_to_bits(type, (double)value));
}

static uint64_t at(const struct gm_attention_merge_operand *o, int64_t token, int64_t head) {
    return o->address + (uint64_t)(token * o->token + head * o->head);
}

static float weight(float lse, float largest) {
    const bool is_equal = lse == largest && !(planted_bug == MERGE_BUG_ALL_IS_NAN && lse == INFINITY) &&
                          !(planted_bug == MERGE_BUG_NONE_IS_NAN && lse == -INFINITY);
    const float difference = planted_bug == MERGE_BUG_NO_MAXIMUM ? lse : lse - largest;
    const float w = is_equal && planted_bug != MERGE_BUG_NO_MAXIMUM ? 1
                    : planted_bug == MERGE_BUG_BASE_2               ? exp2f(difference)
                                                                    : expf(difference);
    return w < 0x1p-126f ? 0 : w;
}

static struct shares shares_of(float lse_a, float lse_b) {
    const float largest = isnan(lse_a) || isnan(lse_b) ? NAN : fmaxf(lse_a, lse_b);
    const float a = weight(lse_a, largest), b = weight(lse_b, largest), sum = a + b;
    const bool is_none = largest == -INFINITY && planted_bug != MERGE_BUG_NONE_IS_NAN;
    const float inverse = is_none ? 0 : planted_bug == MERGE_BUG_NO_SUM ? 1 : 1 / sum;
    const float lse = largest + (planted_bug == MERGE_BUG_LSE_IS_LARGEST ? 0 : logf(sum));
    const struct shares s = {a * inverse, b * inverse, is_none ? largest : lse, is_none};
    return planted_bug == MERGE_BUG_SWAPPED ? (struct shares){s.b, s.a, s.lse, s.is_none} : s;
}

static float merge(const struct shares *s, float a, float b) {
    const float nothing = planted_bug == MERGE_BUG_LOST_SIGN ? 0.0f : -0.0f;
    if (planted_bug != MERGE_BUG_ZERO_COUNTS) {
        a = s->is_none ? 0 : s->a == 0 ? nothing : a;
        b = s->b == 0 ? nothing : b;
    }
    return fmaf(s->a, a, s->b * b);
}

/* lse may be lse_a or lse_b, and out a or b. */
static void compute_head(const struct job *job, int64_t token, int64_t head) {
    const struct gm_attention_merge_params *p = job->p;
    const int64_t bytes = gm_type_bytes(job->type), out_bytes = gm_type_bytes((enum gm_type)p->out_type);
    const struct shares s =
        shares_of(load(GM_FP32, at(&p->lse_a, token, head), 0), load(GM_FP32, at(&p->lse_b, token, head), 0));
    struct gm_attention_merge_operand of_b = p->b;
    if (planted_bug == MERGE_BUG_STRIDES)
        of_b = (struct gm_attention_merge_operand){p->b.address, p->a.token, p->a.head};
    const int64_t written =
        job->head_dim + (planted_bug == MERGE_BUG_ELEMENT_AFTER) - (planted_bug == MERGE_BUG_LOST_TAIL);
    for (int64_t i = 0; i < written; i++) {
        float value = 1;
        if (i < job->head_dim)
            value = merge(&s, load(job->type, at(&p->a, token, head), i * bytes),
                          load(job->type, at(&of_b, token, head), i * bytes));
        store((enum gm_type)p->out_type, at(&p->out, token, head), i * out_bytes, value);
    }
    if (p->lse.address)
        store(GM_FP32, at(&p->lse, token, head), 0, s.lse);
}

void compute_merge(const struct gm_kernel *kernel, const void *params) {
    const struct gm_attention_merge_params *p = params;
    const int64_t chunk = kernel->columns[GM_ATTENTION_MERGE_VECTOR_BYTES] / gm_type_bytes(kernel->type);
    const struct job job = {p, kernel->type, p->head_chunks * chunk};
    int64_t tokens = p->tokens;
    if (p->row_count && planted_bug != MERGE_BUG_COUNT) {
        const int32_t count = (int32_t)load_bits((const uint8_t *)(uintptr_t)p->row_count, GM_INT32);
        tokens = count < tokens ? count : tokens;
    }
    const int64_t heads = p->heads.divisor, rows = tokens * heads - (planted_bug == MERGE_BUG_LOST_HEAD);
    for (int64_t row = 0; row < rows; row++)
        compute_head(&job, row / heads, row % heads);
}
