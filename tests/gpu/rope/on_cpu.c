/* SPDX-License-Identifier: Apache-2.0 */
/* The rotary embedding of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the
 * planted bugs. */
#include <math.h>

#include "columns.h"
#include "common/rope/params.h"
#include "rope/rope_tests.h"

enum { MOST = 512 }; /* elements of a head */

struct job {
    const struct gm_rope_params *p;
    const struct gm_rope_heads *heads;
    int kind; /* ROPE_Q, ROPE_K, ROPE_V */
    enum gm_type type;
    int64_t bytes, token, head;
    float v[MOST];
};

static float load(uint64_t address, enum gm_type type) {
    return (float)bits_to_double(type, load_bits((const uint8_t *)(uintptr_t)address, type));
}

static void store(uint64_t address, enum gm_type type, float value) {
    store_bits((uint8_t *)(uintptr_t)address, type, double_to_bits(type, (double)value));
}

static int64_t load_int64(uint64_t address) {
    int64_t value;
    memcpy(&value, (const void *)(uintptr_t)address, sizeof value);
    return value;
}

static void set_flag(const struct job *job, int error) {
    uint8_t *const at = (uint8_t *)(uintptr_t)job->p->error_flag;
    if (at && planted_bug != ROPE_BUG_FLAG)
        store_bits(at, GM_INT32, load_bits(at, GM_INT32) | (uint32_t)error);
}

/* ---- a head of q or k ------------------------------------------------------------------------------------ */

static bool has(const struct job *job, int flag) {
    return (job->p->flags & flag) != 0;
}

static void normalize(struct job *job) {
    const struct gm_rope_params *p = job->p;
    const enum gm_type weight_type = has(job, GM_ROPE_WIDE_WEIGHT) ? GM_FP32 : job->type;
    double squares = 0; /* one sum of fp32 would be further off than those of a kernel's lanes */
    for (int i = 0; i < p->head_dim; i++) {
        const bool counts =
            planted_bug != ROPE_BUG_NORM_OF_ROTARY || (i >= p->rotary_offset && i < p->rotary_offset + p->rotary_dim);
        squares += counts ? (double)(job->v[i] * job->v[i]) : 0;
    }
    const float scale = 1 / sqrtf((float)squares * p->inverse_head_dim + p->eps);
    for (int i = 0; i < p->head_dim; i++) {
        const float weight = load(job->heads->weight + (uint64_t)(i * gm_type_bytes(weight_type)), weight_type);
        float y = job->v[i] * scale;
        if (has(job, GM_ROPE_ROUNDS_NORMALIZED))
            y = (float)round_to(job->type, y);
        y *= weight + (planted_bug == ROPE_BUG_OFFSET ? 0 : p->weight_offset);
        job->v[i] = has(job, GM_ROPE_ROUNDS) ? (float)round_to(job->type, y) : y;
    }
}

static void rotate(const struct job *job, float *a, float *b, float cosine, float sine) {
    const float x = *a, y = *b;
    if (has(job, GM_ROPE_ROUNDS) || planted_bug == ROPE_BUG_EARLY) {
        cosine = (float)round_to(job->type, cosine), sine = (float)round_to(job->type, sine);
        *a = (float)round_to(job->type, x * cosine) - (float)round_to(job->type, y * sine);
        *b = (float)round_to(job->type, y * cosine) + (float)round_to(job->type, x * sine);
        return;
    }
    const float ys = y * sine, xs = x * sine;
    *a = fmaf(x, cosine, -ys);
    *b = fmaf(y, cosine, xs);
}

static void rotate_head(struct job *job, int64_t position) {
    const struct gm_rope_params *p = job->p;
    const int pairs = p->rotary_dim / 2;
    const bool is_interleaved = has(job, GM_ROPE_IS_INTERLEAVED) != (planted_bug == ROPE_BUG_PAIRING);
    const bool is_inverse = has(job, GM_ROPE_IS_INVERSE) != (planted_bug == ROPE_BUG_SIGN);
    const uint64_t row = p->table + (uint64_t)(position * p->rotary_dim * 4);
    for (int j = 0; j < pairs; j++) {
        const int a = p->rotary_offset + (is_interleaved ? 2 * j : j), b = is_interleaved ? a + 1 : a + pairs;
        const float cosine = load(row + (uint64_t)j * 4, GM_FP32),
                    sine = load(row + (uint64_t)(pairs + j) * 4, GM_FP32);
        rotate(job, &job->v[a], &job->v[b], cosine, is_inverse ? -sine : sine);
    }
    for (int i = 0; i < p->head_dim && planted_bug == ROPE_BUG_REST; i++)
        if (i < p->rotary_offset || i >= p->rotary_offset + p->rotary_dim)
            job->v[i] = 0;
}

static void compute_head(struct job *job) {
    const struct gm_rope_params *p = job->p;
    const uint64_t at = p->positions + (uint64_t)(job->token * (has(job, GM_ROPE_WIDE_POSITIONS) ? 8 : 4));
    const int64_t position = has(job, GM_ROPE_WIDE_POSITIONS)
                                 ? load_int64(at)
                                 : (int32_t)load_bits((const uint8_t *)(uintptr_t)at, GM_INT32);
    if (position < 0 || position >= p->max_position) {
        set_flag(job, ROPE_ERROR_POSITION);
        memset(job->v, 0, sizeof job->v);
        return;
    }
    if (has(job, GM_ROPE_HAS_NORM))
        normalize(job);
    rotate_head(job, position);
}

/* ---- where it goes ---------------------------------------------------------------------------------------- */

static float e4m3_of(const struct job *job, float value) {
    const float scale = load(job->heads->scale, GM_FP32), x = (float)round_to(job->type, value);
    const float quotient = planted_bug == ROPE_BUG_MULTIPLIES ? x * (1 / scale) : x / scale;
    return isnan(quotient) || planted_bug == ROPE_BUG_UNSATURATED ? quotient : fminf(fmaxf(quotient, -448), 448);
}

static void append(const struct job *job) {
    const struct gm_rope_params *p = job->p;
    const int64_t page_size = p->page.divisor;
    int64_t slot = load_int64(p->slots + (uint64_t)job->token * 8);
    if (slot < 0 && planted_bug == ROPE_BUG_SKIPS_NOTHING)
        slot = 0;
    if (slot >= p->slot_count)
        set_flag(job, ROPE_ERROR_SLOT);
    if (slot < 0 || slot >= p->slot_count)
        return;
    const bool is_e4m3 = has(job, GM_ROPE_CACHES_E4M3);
    const int64_t in_page = planted_bug == ROPE_BUG_PAGE ? page_size - 1 - slot % page_size : slot % page_size;
    const uint64_t at =
        job->heads->cache + (uint64_t)(slot / page_size * job->heads->cache_page + in_page * job->heads->cache_token +
                                       job->head * job->heads->cache_head);
    for (int i = 0; i < p->head_dim; i++)
        if (is_e4m3)
            store(at + (uint64_t)i, GM_E4M3, e4m3_of(job, job->v[i]));
        else
            store(at + (uint64_t)(i * job->bytes), job->type, job->v[i]);
}

static void compute_job(struct job *job) {
    const struct gm_rope_heads *h = job->heads;
    const int dim = job->p->head_dim;
    for (int i = 0; i < dim; i++)
        job->v[i] =
            load(h->in + (uint64_t)(job->token * h->in_token + job->head * h->in_head + i * job->bytes), job->type);
    if (job->kind != ROPE_V)
        compute_head(job);
    for (int i = 0; i < dim + (planted_bug == ROPE_BUG_ELEMENT_AFTER) && h->out; i++)
        store(h->out + (uint64_t)(job->token * h->out_token + job->head * h->out_head + i * job->bytes), job->type,
              i < dim ? job->v[i] : 1);
    if (h->cache)
        append(job);
}

void compute_rope(const struct gm_kernel *kernel, const void *params) {
    const struct gm_rope_params *p = params;
    struct job job = {.p = p, .type = kernel->type, .bytes = gm_type_bytes(kernel->type)};
    int64_t tokens = p->tokens;
    if (p->row_count && planted_bug != ROPE_BUG_COUNT) {
        const int32_t count = (int32_t)load_bits((const uint8_t *)(uintptr_t)p->row_count, GM_INT32);
        tokens = count < tokens ? count : tokens;
    }
    for (job.token = 0; job.token < tokens - (planted_bug == ROPE_BUG_LOST_TOKEN); job.token++)
        for (job.kind = ROPE_Q; job.kind < ROPE_KINDS; job.kind++) {
            job.heads = &p->heads[job.kind];
            if (job.kind == ROPE_V && !job.heads->cache)
                continue;
            for (job.head = 0; job.head < job.heads->count - (planted_bug == ROPE_BUG_LOST_HEAD); job.head++)
                compute_job(&job);
        }
}
