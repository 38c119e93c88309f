/* SPDX-License-Identifier: Apache-2.0 */
/* process_logits as a scalar program. With a planted bug it is the kernel of the self-test, from the same parameter struct that
 * the GPU kernel gets. */
#include <math.h>

#include "columns.h"
#include "common/process_logits/params.h"
#include "process_logits/process_logits_tests.h"

/* ---- the model ------------------------------------------------------------------------------------------ */

static float above_0(float x) {
    return x > 0 ? x : 1;
}

static float capped(float x, float cap) {
    const float u = exp2f(fabsf(x) * (-2.88539008f / cap));
    return copysignf((1 - u) / (1 + u) * cap, x);
}

static float penalised(float y, const struct logits_wish *w, int bug) {
    const float r = above_0(w->repetition), times = (float)(w->count & GM_LOGITS_MOST);
    if (w->count)
        y *= y > 0 || bug == LOGITS_BUG_ONE_SIDE ? 1 / r : r;
    if (times > 0 && bug == LOGITS_BUG_TWO_ROUNDINGS) {
        const volatile float penalty = w->frequency * times;
        y = y - penalty;
    } else if (times > 0) {
        y = fmaf(-w->frequency, times, y);
    }
    return times > 0 || (bug == LOGITS_BUG_PROMPT_COUNTS && w->count) ? y - w->presence : y;
}

float logits_model(float x, const struct logits_wish *w, int bug) {
    const float inverse = fminf(1 / above_0(w->temperature), 0x1.fffffep127f);
    float y = w->cap > 0 ? capped(x, w->cap) : x;
    if (bug != LOGITS_BUG_BIAS_LAST)
        y += w->bias;
    y = penalised(y, w, bug);
    if (bug == LOGITS_BUG_BIAS_LAST)
        y += w->bias;
    y *= inverse;
    if (bug == LOGITS_BUG_MASK_ADDS)
        return y + (w->allowed ? 0 : -INFINITY);
    return w->allowed ? y : -INFINITY;
}

uint32_t counted_once_more(uint32_t count, int bug) {
    return (count & GM_LOGITS_MOST) < GM_LOGITS_MOST || bug == LOGITS_BUG_WRAPS ? (count + 1) & 0xffff : count;
}

/* ---- the kernel of the self-test ------------------------------------------------------------------------- */

static const uint8_t *at(uint64_t address, int64_t offset) {
    return (const uint8_t *)(uintptr_t)address + offset;
}

static int32_t integer_at(uint64_t array, int64_t row, int32_t own) {
    return array ? (int32_t)load_bits(at(array, row * 4), GM_INT32) : own;
}

static float real_at(uint64_t array, int64_t row, float own) {
    return array ? (float)bits_to_double(GM_FP32, load_bits(at(array, row * 4), GM_FP32)) : own;
}

/* A row of a state; 0: there is none. */
static uint64_t state_of(const struct gm_process_logits_params *p, uint64_t base, int64_t pitch, uint64_t slots,
                         int64_t row) {
    const int32_t slot = planted_bug == LOGITS_BUG_ROW_IS_SLOT ? (int32_t)row : integer_at(slots, row, (int32_t)row);
    if (base && planted_bug == LOGITS_BUG_NO_SLOT && (uint32_t)slot >= p->slot_count)
        return base;
    return base && (uint32_t)slot < p->slot_count ? base + (uint64_t)(slot * pitch) : 0;
}

struct row_state {
    uint64_t counts, bias, mask;
    int32_t last;
};

static void compute_element(const struct gm_process_logits_params *p, enum gm_type type, int64_t row, int64_t column,
                            struct logits_wish *wish, const struct row_state *s) {
    const int64_t bytes = gm_type_bytes(type);
    const enum gm_type out_type = p->is_wide ? GM_FP32 : type;
    uint8_t *const out =
        (uint8_t *)(uintptr_t)(p->out + (uint64_t)(row * p->out_pitch + column * gm_type_bytes(out_type)));
    const int64_t read = column < p->columns ? column : p->columns - 1;
    const uint8_t *const x = at(p->logits, row * p->logits_pitch + read * bytes);
    uint32_t count = s->counts ? load_bits(at(s->counts, read * 2), GM_BF16) : 0, next = count;
    if (s->counts && column == s->last) {
        next = counted_once_more(count, planted_bug);
        store_bits((uint8_t *)(uintptr_t)(s->counts + (uint64_t)column * 2), GM_BF16, next);
    }
    wish->count = planted_bug == LOGITS_BUG_LAST_LATER ? count : next;
    wish->bias = s->bias ? real_at(s->bias, read, 0) : 0;
    wish->allowed = !s->mask || (uint32_t)integer_at(s->mask, read / 32, 0) >> read % 32 & 1;
    const float y = logits_model((float)bits_to_double(type, load_bits(x, type)), wish, planted_bug);
    store_bits(out, out_type, double_to_bits(out_type, (double)y));
}

static void compute_row(const struct gm_process_logits_params *p, enum gm_type type, int64_t row) {
    struct logits_wish wish = {
        .cap = p->cap,
        .temperature = real_at(p->temperatures, row, p->temperature),
        .repetition = real_at(p->repetitions, row, p->repetition),
        .frequency = real_at(p->frequencies, row, p->frequency),
        .presence = real_at(p->presences, row, p->presence),
    };
    const struct row_state s = {
        .counts = state_of(p, p->counts, p->counts_pitch, p->slots, row),
        .bias = state_of(p, p->bias, p->bias_pitch, p->bias_slots, row),
        .mask = state_of(p, p->mask, p->mask_pitch, p->mask_slots, row),
        .last = integer_at(p->last_ids, row, -1),
    };
    const int64_t written =
        p->columns + (planted_bug == LOGITS_BUG_COLUMN_AFTER) - (planted_bug == LOGITS_BUG_LOST_TAIL);
    for (int64_t column = 0; column < written; column++)
        compute_element(p, type, row, column, &wish, &s);
}

void compute_logits(const struct gm_kernel *kernel, const void *params) {
    const struct gm_process_logits_params *p = params;
    int64_t rows = p->rows;
    if (p->row_count && planted_bug != LOGITS_BUG_COUNT) {
        const int32_t count = integer_at(p->row_count, 0, 0);
        rows = count < rows ? count : rows;
    }
    for (int64_t row = 0; row < rows - (planted_bug == LOGITS_BUG_LOST_ROW); row++)
        compute_row(p, kernel->type, row);
}
