/* SPDX-License-Identifier: Apache-2.0 */
/* Does our D agree with the baseline's? */
#include "bench/measure/verify.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int verify_rows(int64_t m, int64_t rows[VERIFY_ROWS_MAX]) {
    int count = m < VERIFY_ROWS_MAX ? (int)m : VERIFY_ROWS_MAX;
    for (int i = 0; i < count; i++)
        rows[i] = count == 1 ? 0 : i * (m - 1) / (count - 1);
    return count;
}

static float value_at(const void *row, int64_t column, enum gm_type type) {
    if (type == GM_FP32)
        return ((const float *)row)[column];
    uint16_t bits = ((const uint16_t *)row)[column];
    return type == GM_BF16 ? operands_from_bf16(bits) : operands_from_fp16(bits);
}

static int read_rows(const struct gpu *gpu, const struct operands *operands, struct verify_sample *sample, void *raw) {
    enum gm_type type = operands->problem.d_type;
    size_t row_bytes = (size_t)sample->columns * (size_t)gm_type_bytes(type);
    for (int i = 0; i < sample->rows; i++) {
        CUdeviceptr from = operands->d + (uint64_t)sample->row_index[i] * row_bytes;
        GPU_TRY(gpu, cuMemcpyDtoH, raw, from, row_bytes);
        for (int64_t column = 0; column < sample->columns; column++)
            sample->values[i * sample->columns + column] = value_at(raw, column, type);
    }
    return 0;
}

static int take(const struct gpu *gpu, const struct operands *operands, struct verify_sample *sample) {
    *sample = (struct verify_sample){.columns = operands->problem.n};
    sample->rows = verify_rows(operands->problem.m, sample->row_index);
    if (gpu_finish(gpu) != 0)
        return -1;
    size_t columns = (size_t)sample->columns;
    sample->values = malloc((size_t)sample->rows * columns * sizeof *sample->values);
    void *raw = malloc(columns * sizeof(float));
    int status = sample->values && raw ? read_rows(gpu, operands, sample, raw) : complain("out of host memory");
    free(raw);
    return status;
}

int verify_run(const struct contest *contest, struct contender *contender, struct verify_sample *sample) {
    *sample = (struct verify_sample){0};
    if (operands_spoil(contest->gpu, contest->operands) != 0 || contender_try(contest, contender) != 0)
        return -1;
    return contender->out ? 0 : take(contest->gpu, contest->operands, sample);
}

void verify_free(struct verify_sample *sample) {
    free(sample->values);
    sample->values = NULL;
}

struct verify_verdict verify_compare(const struct verify_sample *ours, const struct verify_sample *theirs, int64_t k,
                                     enum gm_type d_type) {
    double relative = d_type == GM_BF16 ? 0x1p-6 : d_type == GM_FP16 ? 0x1p-9 : 0x1p-12;
    double absolute = sqrt((double)k) * (d_type == GM_BF16 ? 0x1p-7 : d_type == GM_FP16 ? 0x1p-10 : 0x1p-12);
    struct verify_verdict verdict = {.agrees = true};
    double worst = -1;
    for (int64_t i = 0; i < ours->rows * ours->columns; i++) {
        double x = ours->values[i], y = theirs->values[i];
        double difference = fabs(x - y);
        double excess = difference / (absolute + relative * fmax(fabs(x), fabs(y)));
        if (!isfinite(excess))
            excess = INFINITY;
        if (excess <= worst)
            continue;
        worst = excess;
        verdict.row = ours->row_index[i / ours->columns];
        verdict.column = i % ours->columns;
        verdict.ours = x;
        verdict.theirs = y;
        verdict.max_difference = difference;
    }
    verdict.agrees = worst <= 1;
    return verdict;
}

void verify_complain(const struct bench_case *problem, const char *kernel, const char *whose,
                     const struct verify_verdict *verdict) {
    complain("MISMATCH: %s on %" PRId64 " x %" PRId64 " x %" PRId64 " %s: D[%" PRId64 ", %" PRId64
             "] is %g, %s says %g; the kernel is not timed",
             kernel, problem->m, problem->n, problem->k, problem->layout, verdict->row, verdict->column, verdict->ours,
             whose, verdict->theirs);
}
