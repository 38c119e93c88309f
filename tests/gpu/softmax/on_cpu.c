/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include <math.h>
#include <stdlib.h>

#include "common/softmax/params.h"
#include "softmax/softmax_tests.h"

struct job {
    const struct gm_softmax_params *p;
    enum gm_type type, out;
    double *y, *x; /* of a row */
};

static float float_at(uint64_t base, int64_t index) {
    return (float)bits_to_double(GM_FP32, load_bits((const uint8_t *)(uintptr_t)base + index * 4, GM_FP32));
}

static double capped(const struct gm_softmax_params *p, double x) {
    if (!(p->flags & GM_SOFTMAX_CAPPED) || planted_bug == SOFTMAX_BUG_NO_CAP || isnan(x))
        return x;
    return (double)p->cap * tanh(x / (double)p->cap);
}

static double temperature_of(const struct gm_softmax_params *p, int64_t row) {
    if (!p->temperatures)
        return (double)p->temperature;
    return (double)float_at(p->temperatures, planted_bug == SOFTMAX_BUG_ONE_TEMPERATURE ? 0 : row);
}

/* Reads a row; the column of its largest element. */
static int64_t read_row(const struct job *job, int64_t row, double temperature) {
    const struct gm_softmax_params *p = job->p;
    const int64_t bytes = gm_type_bytes(job->type);
    int64_t first = 0;
    for (int64_t c = 0; c < p->columns; c++) {
        const uint8_t *at = (const uint8_t *)(uintptr_t)(p->x + (uint64_t)(row * p->x_pitch + c * bytes));
        double x = bits_to_double(job->type, load_bits(at, job->type));
        if (isnan(x) && planted_bug == SOFTMAX_BUG_DROPS_NAN)
            x = -INFINITY;
        job->x[c] = x;
        job->y[c] = planted_bug == SOFTMAX_BUG_CAP_BEHIND && temperature > 0 ? capped(p, x / temperature) * temperature
                                                                             : capped(p, x);
        if (x > job->x[first] || (x == job->x[first] && planted_bug == SOFTMAX_BUG_LAST_OF_TIES))
            first = c;
    }
    for (int64_t c = 0; c < p->columns; c++)
        if (isnan(job->x[c]))
            first = c; /* whose y is NaN */
    return first;
}

static double shifted(double y, double shift, double temperature) {
    return (double)(float)((double)(float)(y - shift) / temperature);
}

static double sum_of(const struct job *job, double shift, double temperature) {
    double sum = 0;
    for (int64_t c = 0; c < job->p->columns - (planted_bug == SOFTMAX_BUG_LOST_TERM); c++) {
        const double power = exp(shifted(job->y[c], shift, temperature));
        sum += planted_bug == SOFTMAX_BUG_NO_SHIFT ? (double)(float)power : power;
    }
    return sum;
}

static void store(const struct job *job, int64_t row, int64_t column, double value) {
    const uint64_t at = job->p->out + (uint64_t)(row * job->p->out_pitch + column * gm_type_bytes(job->out));
    store_bits((uint8_t *)(uintptr_t)at, job->out, double_to_bits(job->out, value));
}

static void store_lse(const struct gm_softmax_params *p, int64_t row, double lse) {
    if (p->lse)
        store_bits((uint8_t *)(uintptr_t)p->lse + row * 4, GM_FP32,
                   double_to_bits(GM_FP32, planted_bug == SOFTMAX_BUG_LSE_LOG2 ? lse / log(2) : lse));
}

static void compute_greedy(const struct job *job, int64_t row, int64_t first) {
    const bool is_log = job->p->flags & GM_SOFTMAX_LOG;
    const double rest = isnan(job->x[first]) ? NAN : is_log ? -INFINITY : 0;
    for (int64_t c = 0; c < job->p->columns - (planted_bug == SOFTMAX_BUG_LOST_TAIL); c++)
        store(job, row, c, isnan(rest) ? NAN : c == first ? !is_log : rest);
    store_lse(job->p, row, job->y[first]);
}

static void compute_row(const struct job *job, int64_t row) {
    const struct gm_softmax_params *p = job->p;
    const double temperature = temperature_of(p, row);
    const int64_t first = read_row(job, row, temperature);
    const double largest = job->y[first], shift = planted_bug == SOFTMAX_BUG_NO_SHIFT ? 0 : largest;
    if (temperature < 0x1p-126) {
        compute_greedy(job, row, first);
        return;
    }
    const double sum = sum_of(job, shift, temperature);
    const int is_empty = planted_bug == SOFTMAX_BUG_ZEROS && largest < 0 && isinf(largest);
    for (int64_t c = 0; c < p->columns - (planted_bug == SOFTMAX_BUG_LOST_TAIL); c++) {
        const double z = shifted(job->y[c], shift, temperature);
        const double power = p->flags & GM_SOFTMAX_LOG ? z - log(sum) : (double)(float)exp(z) / sum;
        store(job, row, c, is_empty ? 0 : (double)(float)power);
    }
    if (planted_bug == SOFTMAX_BUG_COLUMN_AFTER)
        store(job, row, p->columns, 1);
    store_lse(p, row, isinf(largest) ? largest : (double)(float)(largest / temperature) + log(sum));
}

void compute_softmax(const struct gm_kernel *kernel, const void *params) {
    const struct gm_softmax_params *p = params;
    const size_t bytes = (size_t)p->columns * sizeof(double);
    const struct job job = {p, kernel->type, p->flags & GM_SOFTMAX_WIDE_OUT ? GM_FP32 : kernel->type, malloc(bytes),
                            malloc(bytes)};
    int64_t rows = p->rows;
    if (p->row_count && planted_bug != SOFTMAX_BUG_COUNT) {
        const int32_t count = (int32_t)load_bits((const uint8_t *)(uintptr_t)p->row_count, GM_INT32);
        rows = count < rows ? count : rows;
    }
    if (!job.x || !job.y)
        exit(2);
    for (int64_t row = 0; row < rows - (planted_bug == SOFTMAX_BUG_LOST_ROW); row++)
        compute_row(&job, row);
    free(job.x);
    free(job.y);
}
