/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include <math.h>

#include "common/histogram/params.h"
#include "histogram/histogram_tests.h"

struct job {
    const struct gm_histogram_params *p;
    enum gm_type type;
    int64_t rows, columns; /* that are read */
};

static uint8_t *count_at(const struct job *job, int64_t row, int64_t bin) {
    const struct gm_histogram_params *p = job->p;
    return (uint8_t *)(uintptr_t)p->counts + row * p->counts_pitch + bin * (p->is_wide ? 8 : 4);
}

static void add(const struct job *job, int64_t row, int64_t bin, int64_t number) {
    uint8_t *const at = count_at(job, row, bin);
    uint64_t wide = 0;
    uint32_t low = 0;
    if (job->p->is_wide && planted_bug != HISTOGRAM_BUG_CARRY) {
        memcpy(&wide, at, sizeof wide);
        wide += (uint64_t)number;
        memcpy(at, &wide, sizeof wide);
        return;
    }
    memcpy(&low, at, sizeof low);
    low += (uint32_t)number;
    memcpy(at, &low, sizeof low);
}

static int64_t bin_of_float(const struct job *job, float x) {
    const struct gm_histogram_params *p = job->p;
    const bool is_inside = x >= p->lower && (planted_bug == HISTOGRAM_BUG_UPPER ? x < p->upper : x <= p->upper);
    if (!is_inside && !(planted_bug == HISTOGRAM_BUG_CLAMPS && x > p->upper))
        return -1;
    const float difference = x - (planted_bug == HISTOGRAM_BUG_FIRST ? p->lower / 2 : p->lower);
    const float product = difference * p->scale;
    const float bin = planted_bug == HISTOGRAM_BUG_NEAREST ? nearbyintf(product) : floorf(product);
    return bin < (float)p->bins ? (int64_t)fmaxf(bin, 0) : p->bins - 1;
}

static int64_t bin_of_integer(const struct job *job, int64_t x) {
    const struct gm_histogram_params *p = job->p;
    const int64_t first = planted_bug == HISTOGRAM_BUG_FIRST ? 0 : p->first;
    const int64_t width = planted_bug == HISTOGRAM_BUG_WIDTH ? 1 : p->width;
    if (job->type == GM_INT32 && p->first >= 0)
        x = (uint32_t)x;
    const int64_t bin = x < first ? -1 : (x - first) / width;
    return bin < p->bins ? bin : planted_bug == HISTOGRAM_BUG_CLAMPS ? p->bins - 1 : -1;
}

static int64_t bin_of(const struct job *job, int64_t row, int64_t column) {
    const int64_t bytes = gm_type_bytes(job->type);
    const uint8_t *at = (const uint8_t *)(uintptr_t)job->p->x + row * job->p->pitch + column * bytes;
    int64_t wide = 0;
    if (is_of_floats(job->type))
        return bin_of_float(job, (float)bits_to_double(job->type, load_bits(at, job->type)));
    if (job->type != GM_INT64)
        return bin_of_integer(job, (int64_t)bits_to_double(job->type, load_bits(at, job->type)));
    memcpy(&wide, at, sizeof wide);
    return bin_of_integer(job, wide);
}

static void clear_row(const struct job *job, int64_t row) {
    const struct gm_histogram_params *p = job->p;
    const int64_t written =
        p->bins + (planted_bug == HISTOGRAM_BUG_COUNT_AFTER) - (planted_bug == HISTOGRAM_BUG_LOST_COUNT);
    if (p->accumulates ? planted_bug == HISTOGRAM_BUG_OVERWRITES : planted_bug != HISTOGRAM_BUG_ADDS)
        memset(count_at(job, row, 0), 0, (size_t)(count_at(job, row, written) - count_at(job, row, 0)));
}

void compute_histogram(const struct gm_kernel *kernel, const void *params) {
    const struct gm_histogram_params *p = params;
    const int64_t columns = p->row_bytes / gm_type_bytes(kernel->type);
    struct job job = {p, kernel->type, p->rows, columns - (planted_bug == HISTOGRAM_BUG_LOST_COLUMN && columns > 0)};
    if (p->row_count && planted_bug != HISTOGRAM_BUG_ROW_COUNT) {
        const int32_t count = (int32_t)load_bits((const uint8_t *)(uintptr_t)p->row_count, GM_INT32);
        job.rows = count < 0 ? 0 : count < job.rows ? count : job.rows;
    }
    const int64_t results = p->of_rows ? job.rows : 1;
    for (int64_t row = 0; row < results; row++)
        clear_row(&job, row);
    if (planted_bug == HISTOGRAM_BUG_LOST_ROW && job.rows > 1)
        job.rows--;
    for (int64_t row = 0; row < job.rows; row++)
        for (int64_t column = 0; column < job.columns; column++) {
            const int64_t bin = bin_of(&job, row, column);
            if (bin >= 0 && (bin < p->bins - 1 || planted_bug != HISTOGRAM_BUG_LOST_COUNT))
                add(&job, p->of_rows ? row : 0, bin, 1);
        }
}
