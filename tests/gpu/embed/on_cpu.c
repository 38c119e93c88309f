/* SPDX-License-Identifier: Apache-2.0 */
/* embed of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include "columns.h"
#include "common/embed/params.h"
#include "embed/embed_tests.h"

struct job {
    const struct gm_embed_params *p;
    enum gm_type type;
    int64_t bytes, columns;
};

static int64_t id_of(const struct gm_embed_params *p, int64_t token) {
    const uint8_t *at = (const uint8_t *)(uintptr_t)p->ids;
    const uint32_t low = load_bits(at + token * (p->int64_ids ? 8 : 4), GM_INT32);
    const uint32_t high = p->int64_ids ? load_bits(at + token * 8 + 4, GM_INT32) : 0;
    if (p->int64_ids && planted_bug != EMBED_BUG_LOW_HALF)
        return (int64_t)((uint64_t)high << 32 | low);
    return (int32_t)low;
}

static double element(const struct job *job, int64_t row, int64_t column) {
    const struct gm_embed_params *p = job->p;
    const uint64_t at = p->table + (uint64_t)(row * p->table_pitch + column * job->bytes);
    const double x = bits_to_double(job->type, load_bits((const uint8_t *)(uintptr_t)at, job->type));
    return p->has_scale && planted_bug != EMBED_BUG_NO_SCALE ? (double)((float)x * p->scale) : x;
}

static void compute_token(const struct job *job, int64_t token) {
    const struct gm_embed_params *p = job->p;
    const int64_t written =
        job->columns + (planted_bug == EMBED_BUG_COLUMN_AFTER) - (planted_bug == EMBED_BUG_LOST_TAIL);
    int64_t row = id_of(p, token);
    bool is_bad = row < 0 || row >= p->vocabulary;
    if (p->error_flag && (is_bad ? planted_bug != EMBED_BUG_NO_FLAG : planted_bug == EMBED_BUG_ALWAYS_FLAG))
        store_bits((uint8_t *)(uintptr_t)p->error_flag, GM_INT32, 1);
    if (is_bad && planted_bug == EMBED_BUG_BAD_IS_LEFT)
        return;
    if (is_bad && planted_bug == EMBED_BUG_BAD_IS_FIRST)
        row = 0, is_bad = false;
    if (planted_bug == EMBED_BUG_ROW_AFTER)
        row = (row + 1) % p->vocabulary;
    for (int64_t column = 0; column < written; column++) {
        uint8_t *at = (uint8_t *)(uintptr_t)(p->out + (uint64_t)(token * p->out_pitch + column * job->bytes));
        const double value = column >= job->columns ? 1 : is_bad ? 0 : element(job, row, column);
        store_bits(at, job->type, double_to_bits(job->type, value));
    }
}

void compute_embed(const struct gm_kernel *kernel, const void *params) {
    const struct gm_embed_params *p = params;
    const int64_t chunk = kernel->columns[GM_EMBED_VECTOR_BYTES];
    const int64_t bytes = gm_type_bytes(kernel->type);
    const struct job job = {p, kernel->type, bytes, p->row_chunks.divisor * chunk / bytes};
    int64_t tokens = p->tokens;
    if (p->row_count && planted_bug != EMBED_BUG_COUNT) {
        const int32_t count = (int32_t)load_bits((const uint8_t *)(uintptr_t)p->row_count, GM_INT32);
        tokens = count < tokens ? count : tokens;
    }
    for (int64_t token = 0; token < tokens - (planted_bug == EMBED_BUG_LOST_ROW); token++)
        compute_token(&job, token);
}
