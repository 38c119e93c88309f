/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of any variant on the CPU, from the parameter struct that all families' have, and the planted bugs. */
#include <math.h>
#include <stdlib.h>

#include "attention/attention_tests.h"
#include "common/attention_mla_sm90/params.h"
#include "common/attention_sm90/params.h"

struct job {
    const struct gm_attention_params *p;
    enum gm_type type, kv_type;
    int64_t request, first_row, q_len, kv_len, row, head;
    double *scores, *o;
};

static const uint8_t *at_address(uint64_t address) {
    return (const uint8_t *)(uintptr_t)address;
}

static int64_t word(uint64_t base, int64_t index) {
    return (int32_t)load_bits(at_address(base) + index * 4, GM_INT32);
}

static double number(uint64_t base, int64_t index, enum gm_type type) {
    return bits_to_double(type, load_bits(at_address(base) + index * gm_type_bytes(type), type));
}

static int64_t clamp(int64_t value, int64_t most) {
    return value < 0 ? 0 : value < most ? value : most;
}

static uint64_t row_of_cache(const struct job *job, const struct gm_attention_cache *c, int64_t token) {
    const struct gm_attention_params *p = job->p;
    int64_t page = job->request, in_page = token, group = p->group.divisor;
    if (p->flags & GM_ATTENTION_IS_RAGGED)
        page = 0, in_page = clamp(word(p->kv_indptr, job->request) + token, p->kv_tokens - 1);
    if (p->flags & GM_ATTENTION_IS_PAGED) {
        page = word(p->page_table, job->request * p->table_stride + token / p->page.divisor);
        in_page = token % p->page.divisor;
        page += planted_bug == ATTENTION_BUG_PAGE;
        page = page < 0 || page >= p->page_count ? 0 : page;
    }
    const int64_t head = planted_bug == ATTENTION_BUG_GROUP ? job->head % p->kv_heads : job->head / group;
    return c->address + (uint64_t)(page * c->page + in_page * c->token + head * c->head);
}

/* An element of a row of k or v. */
static double cached(const struct job *job, uint64_t row, int64_t at) {
    const uint8_t byte = at_address(row)[at];
    if (planted_bug == ATTENTION_BUG_NAN_IS_480 && job->kv_type == GM_E4M3 && (byte & 0x7f) == 0x7f)
        return byte & 0x80 ? -480 : 480;
    return number(row, at, job->kv_type);
}

/* 1 where there is none. */
static double scale_at(const struct job *job, uint64_t scales) {
    const struct gm_attention_params *p = job->p;
    const int64_t request = planted_bug == ATTENTION_BUG_SCALE ? 0 : job->request;
    const int64_t next = planted_bug == ATTENTION_BUG_SCALE_HEAD;
    const int64_t head = (job->head / p->group.divisor + next) % p->kv_heads;
    const int64_t at = request * p->scale_request + head * p->scale_head;
    return scales ? number(scales, at, GM_FP32) : 1;
}

static uint64_t row_of(const struct job *job, const struct gm_attention_rows *rows) {
    return rows->address + (uint64_t)((job->first_row + job->row) * rows->token + job->head * rows->head);
}

static bool sees(const struct job *job, int64_t token) {
    const struct gm_attention_params *p = job->p;
    const int64_t first = job->kv_len - job->q_len;
    const int64_t own = job->row + (planted_bug == ATTENTION_BUG_CAUSAL_START ? 0 : first);
    if (p->tree_mask && token >= first && planted_bug != ATTENTION_BUG_TREE) {
        uint64_t bits;
        memcpy(&bits, at_address(p->tree_mask) + (job->first_row + job->row) * 8, sizeof bits);
        if (!(bits >> (token - first) & 1))
            return false;
    }
    return token >= own - p->left - (planted_bug == ATTENTION_BUG_WINDOW) && token <= own + p->right;
}

static double score_of(const struct job *job, int64_t token) {
    const struct gm_attention_params *p = job->p;
    const uint64_t q = row_of(job, &p->q), k = row_of_cache(job, &p->k, token);
    double dot = 0;
    for (int64_t i = 0; i < p->head_dim; i++)
        dot += number(q, i, job->type) * cached(job, k, i);
    const double scale = scale_at(job, p->q_scale) * scale_at(job, p->k_scale);
    const bool is_late = planted_bug == ATTENTION_BUG_SCALE_BEHIND_CAP;
    if (!(p->flags & GM_ATTENTION_HAS_CAP))
        return dot * scale * (double)p->scale * log(2);
    dot *= (double)p->scale * (is_late ? 1 : scale);
    dot = planted_bug == ATTENTION_BUG_CAP ? dot : (double)p->cap * tanh(dot / (double)p->cap);
    return is_late ? dot * scale : dot;
}

/* What the row sees; returns the largest score. */
static double find_scores(const struct job *job) {
    double largest = -INFINITY;
    for (int64_t j = 0; j < job->kv_len - (planted_bug == ATTENTION_BUG_LOST_TOKEN); j++) {
        job->scores[j] = sees(job, j) ? score_of(job, j) : -INFINITY;
        if (isnan(job->scores[j]) && planted_bug == ATTENTION_BUG_DROPS_NAN)
            job->scores[j] = -INFINITY;
        largest = isnan(job->scores[j]) || isnan(largest) ? NAN : fmax(largest, job->scores[j]);
    }
    return largest;
}

static void store(const struct job *job, int64_t column, double value) {
    const int flags = job->p->flags;
    const enum gm_type half = job->kv_type != GM_E4M3            ? job->type
                              : flags & GM_ATTENTION_OUT_IS_FP16 ? GM_FP16
                                                                 : GM_BF16;
    const enum gm_type type = flags & GM_ATTENTION_OUT_IS_FP32 ? GM_FP32 : half;
    const uint64_t at = row_of(job, &job->p->out) + (uint64_t)(column * gm_type_bytes(type));
    store_bits((uint8_t *)(uintptr_t)at, type, double_to_bits(type, value));
}

static void add_values(const struct job *job, int64_t tokens, double largest) {
    const struct gm_attention_params *p = job->p;
    const double scale = scale_at(job, planted_bug == ATTENTION_BUG_V_SCALE ? p->k_scale : p->v_scale);
    for (int64_t j = 0; j < tokens; j++) {
        if (job->scores[j] == -INFINITY)
            continue;
        const double weight = exp(job->scores[j] - largest) * scale;
        const uint64_t v = row_of_cache(job, &p->v, j);
        for (int64_t i = 0; i < p->v_head_dim; i++)
            job->o[i] += weight * cached(job, v, i);
    }
    if (planted_bug == ATTENTION_BUG_READS_BEHIND && !(p->flags & GM_ATTENTION_IS_PAGED) && job->kv_len < p->max_kv_len)
        job->o[0] += 0 * cached(job, row_of_cache(job, &p->v, job->kv_len), 0);
}

static void compute_row(const struct job *job) {
    const struct gm_attention_params *p = job->p;
    const int64_t tokens = job->kv_len - (planted_bug == ATTENTION_BUG_LOST_TOKEN);
    const double sink = p->sinks ? number(p->sinks, job->head, GM_FP32) : -INFINITY;
    const double shown = find_scores(job), largest = isnan(shown) ? NAN : fmax(shown, sink);
    double sum = 0;
    for (int64_t j = 0; j < tokens; j++)
        sum += job->scores[j] == -INFINITY ? 0 : exp(job->scores[j] - largest);
    const double with_sink = sum + (sink == -INFINITY ? 0 : exp(sink - largest));
    memset(job->o, 0, (size_t)p->v_head_dim * sizeof *job->o);
    add_values(job, tokens, largest);
    if (sum == 0 && planted_bug == ATTENTION_BUG_EMPTY)
        return;
    for (int64_t i = 0; i < p->v_head_dim; i++)
        store(job, i, sum == 0 ? 0 : job->o[i] / (planted_bug == ATTENTION_BUG_SINK ? sum : with_sink));
    if (planted_bug == ATTENTION_BUG_ELEMENT_AFTER)
        store(job, p->v_head_dim, 1);
    if (p->lse.address) {
        const double of = planted_bug == ATTENTION_BUG_SINK_LSE ? with_sink : sum, lse = log(of) + largest;
        store_bits((uint8_t *)(uintptr_t)row_of(job, &p->lse), GM_FP32,
                   double_to_bits(GM_FP32, of == 0                             ? -INFINITY
                                           : planted_bug == ATTENTION_BUG_BASE ? lse / log(2)
                                                                               : lse));
    }
}

/* Tensor maps come first of the families that have some. */
static const struct gm_attention_params *params_of(const struct gm_kernel *kernel, const void *params) {
    if (kernel->family == &gm_family_attention_mla_sm90)
        return &((const struct gm_attention_mla_sm90_params *)params)->a;
    return kernel->family == &gm_family_attention_sm90 ? &((const struct gm_attention_sm90_params *)params)->attention
                                                       : params;
}

/* Of q. */
static enum gm_type type_of(const struct gm_kernel *kernel, int32_t flags) {
    if (!(kernel->traits & GM_TRAIT_ANY_TYPE))
        return kernel->type;
    return flags & GM_ATTENTION_Q_IS_E4M3 ? GM_E4M3 : flags & GM_ATTENTION_Q_IS_BF16 ? GM_BF16 : GM_FP16;
}

void compute_attention(const struct gm_kernel *kernel, const void *params) {
    const struct gm_attention_params *p = params_of(kernel, params);
    struct job job = {.p = p, .type = type_of(kernel, p->flags), .kv_type = kernel->type};
    job.scores = malloc(((size_t)p->max_kv_len + 1) * sizeof *job.scores);
    job.o = malloc((size_t)p->v_head_dim * sizeof *job.o);
    if (!job.scores || !job.o)
        exit(2);
    for (job.request = 0; job.request < p->batch; job.request++) {
        job.first_row = clamp(word(p->q_indptr, job.request), p->max_q_tokens);
        job.q_len = clamp(clamp(word(p->q_indptr, job.request + 1), p->max_q_tokens) - job.first_row, p->max_q_len);
        job.kv_len = clamp(word(p->kv_len, job.request), p->max_kv_len);
        for (job.row = 0; job.row < job.q_len - (planted_bug == ATTENTION_BUG_LOST_ROW); job.row++)
            for (job.head = 0; job.head < p->kv_heads * p->group.divisor; job.head++)
                compute_row(&job);
    }
    free(job.scores);
    free(job.o);
}
