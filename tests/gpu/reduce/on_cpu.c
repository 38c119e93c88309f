/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include <math.h>

#include "common/reduce/params.h"
#include "reduce/reduce_tests.h"

struct job {
    const struct gm_reduce_params *p;
    enum gm_type type;
    int64_t rows, columns; /* that are read */
};

/* Of the elements so far. */
struct so_far {
    float value;
    int64_t at, count;
};

static float load(const struct job *job, int64_t row, int64_t column) {
    const int64_t bytes = gm_type_bytes(job->type);
    const uint8_t *at = (const uint8_t *)(uintptr_t)(job->p->x + (uint64_t)(row * job->p->pitch + column * bytes));
    return (float)bits_to_double(job->type, load_bits(at, job->type));
}

static bool is_larger(const struct job *job, float x, float than) {
    if (isnan(x) || isnan(than)) {
        if (planted_bug == REDUCE_BUG_DROPS_NAN)
            return isnan(than);
        return isnan(x) && (!isnan(than) || planted_bug == REDUCE_BUG_LAST_NAN);
    }
    if (planted_bug == REDUCE_BUG_LAST_TIE || (job->p->keeps == REDUCE_LARGEST && x == 0))
        return x > than || (x == than && (planted_bug == REDUCE_BUG_LAST_TIE || !signbit(x)));
    if (planted_bug == REDUCE_BUG_ZEROS_DIFFER && x == 0 && than == 0)
        return signbit(than) && !signbit(x);
    return x > than;
}

static void add(const struct job *job, struct so_far *s, int64_t row, int64_t column, int64_t at) {
    const struct gm_reduce_params *p = job->p;
    const float x = load(job, row, column);
    if (p->keeps == REDUCE_SUMS || p->keeps == REDUCE_SQUARES) {
        s->value += p->keeps == REDUCE_SQUARES ? x * x : x;
        if (planted_bug == REDUCE_BUG_ROUNDS_EARLY)
            s->value = (float)round_to(GM_BF16, (double)s->value);
    } else if (s->count == 0 || is_larger(job, x * p->sign, s->value)) {
        s->value = x * p->sign;
        s->at = at;
    }
    s->count++;
}

static float finished(const struct gm_reduce_params *p, const struct so_far *s) {
    if (p->finish == REDUCE_MEAN && planted_bug != REDUCE_BUG_MEAN)
        return s->value / (float)s->count;
    if (p->finish == REDUCE_ROOT && planted_bug != REDUCE_BUG_ROOT)
        return sqrtf(s->value);
    return s->value * p->sign;
}

static void store(const struct job *job, int64_t result, const struct so_far *s) {
    const struct gm_reduce_params *p = job->p;
    static const enum gm_type types[] = {
        [REDUCE_TO_FP32] = GM_FP32, [REDUCE_TO_INT32] = GM_INT32, [REDUCE_TO_INT64] = GM_INT64};
    const enum gm_type out = p->stored_as == REDUCE_TO_TYPE ? job->type : types[p->stored_as];
    uint8_t *at = (uint8_t *)(uintptr_t)p->out + result * gm_type_bytes(out);
    store_bits(at, out, double_to_bits(out, p->keeps == REDUCE_PLACE ? (double)s->at : (double)finished(p, s)));
}

static struct so_far none(const struct gm_reduce_params *p) {
    return (struct so_far){p->keeps == REDUCE_LARGEST ? -INFINITY : 0, -1, 0};
}

static void reduce_columns(const struct job *job) {
    const int64_t written = job->rows + (planted_bug == REDUCE_BUG_RESULT_AFTER);
    for (int64_t row = 0; row < written; row++) {
        struct so_far s = none(job->p);
        for (int64_t column = 0; column < job->columns && row < job->rows; column++)
            add(job, &s, row, column, column);
        if (row < job->rows - (planted_bug == REDUCE_BUG_LOST_RESULT) || row == job->rows)
            store(job, row, &s);
    }
}

static void reduce_rows(const struct job *job) {
    for (int64_t column = 0; column < job->p->columns - (planted_bug == REDUCE_BUG_LOST_RESULT); column++) {
        struct so_far s = none(job->p);
        for (int64_t row = 0; row < job->rows; row++)
            add(job, &s, row, column, row);
        store(job, column, &s);
    }
}

static void reduce_all(const struct job *job) {
    struct so_far s = none(job->p);
    for (int64_t row = 0; row < job->rows; row++)
        for (int64_t column = 0; column < job->columns; column++)
            add(job, &s, row, column, row * job->p->columns + column);
    store(job, 0, &s);
}

void compute_reduce(const struct gm_kernel *kernel, const void *params) {
    const struct gm_reduce_params *p = params;
    struct job job = {p, kernel->type, p->rows, p->columns - (planted_bug == REDUCE_BUG_LOST_COLUMN)};
    if (p->row_count && planted_bug != REDUCE_BUG_COUNT) {
        const int32_t count = (int32_t)load_bits((const uint8_t *)(uintptr_t)p->row_count, GM_INT32);
        job.rows = count < 0 ? 0 : count < job.rows ? count : job.rows;
    }
    if (planted_bug == REDUCE_BUG_LOST_ROW && p->along != REDUCE_COLUMNS && job.rows > 1)
        job.rows--;
    if (p->along == REDUCE_COLUMNS)
        reduce_columns(&job);
    else if (p->along == REDUCE_ROWS)
        reduce_rows(&job);
    else
        reduce_all(&job);
}
