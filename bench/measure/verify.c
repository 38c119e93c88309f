/* SPDX-License-Identifier: Apache-2.0 */
/* Do our results agree with the baseline's? */
#include "bench/measure/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

int verify_choose_rows(int64_t count, int64_t rows[VERIFY_ROWS_MAX]) {
    int chosen = count < VERIFY_ROWS_MAX ? (int)count : VERIFY_ROWS_MAX;
    for (int i = 0; i < chosen; i++)
        rows[i] = chosen == 1 ? 0 : i * (count - 1) / (chosen - 1);
    return chosen;
}

/* ---- a sample --------------------------------------------------------------------------------------- */

static int read_rows(const struct gpu *gpu, const struct operands *operands, int of, struct verify_rows *rows,
                     void *raw) {
    const struct bench_operand *operand = rows->operand;
    const size_t element = (size_t)gm_type_bytes(operand->type), row_bytes = (size_t)operand->columns * element;
    const uint64_t pitch = (uint64_t)operands->pitch[of] * element;
    for (int i = 0; i < rows->rows; i++) {
        GPU_TRY(gpu, cuMemcpyDtoH, raw, operands->arena[of] + (uint64_t)rows->index[i] * pitch, row_bytes);
        for (int64_t column = 0; column < operand->columns; column++)
            rows->values[i * operand->columns + column] = operands_value(raw, column, operand->type);
    }
    return 0;
}

static int take_operand(const struct gpu *gpu, const struct operands *operands, int i, struct verify_rows *rows) {
    const size_t columns = (size_t)operands->each[i].columns;
    *rows = (struct verify_rows){.operand = &operands->each[i]};
    rows->rows = verify_choose_rows(operands->each[i].rows, rows->index);
    rows->values = malloc((size_t)rows->rows * columns * sizeof *rows->values);
    void *raw = malloc(columns * (size_t)gm_type_bytes(operands->each[i].type));
    int status = rows->values && raw ? read_rows(gpu, operands, i, rows, raw) : complain("out of host memory");
    free(raw);
    return status;
}

static int take(const struct gpu *gpu, const struct operands *operands, struct verify_sample *sample) {
    int status = gpu_finish(gpu);
    for (int i = 0; i < operands->count && status == 0; i++)
        if (operands->each[i].access != BENCH_READ)
            status = take_operand(gpu, operands, i, &sample->of[sample->count++]);
    return status;
}

int verify_run(const struct timing *timing, struct candidate *candidate, struct noise *noise,
               struct verify_sample *sample) {
    *sample = (struct verify_sample){0};
    if (operands_renew(timing->gpu, timing->operands, noise) != 0 || candidate_try(timing, candidate) != 0)
        return -1;
    return candidate->disqualified ? 0 : take(timing->gpu, timing->operands, sample);
}

void verify_free(struct verify_sample *sample) {
    for (int i = 0; i < sample->count; i++)
        free(sample->of[i].values);
    sample->count = 0;
}

/* ---- two samples ------------------------------------------------------------------------------------ */

/* Looks for a larger difference, as shares of the tolerance, than `worst`; returns the largest. */
static double compare_rows(const struct verify_rows *ours, const struct verify_rows *theirs,
                           struct bench_tolerance tolerance, double worst, struct verify_verdict *verdict) {
    const int64_t columns = ours->operand->columns;
    for (int64_t i = 0; i < ours->rows * columns; i++) {
        const double x = ours->values[i], y = theirs->values[i], difference = fabs(x - y);
        double excess = difference / (tolerance.absolute + tolerance.relative * fmax(fabs(x), fabs(y)));
        if (!isfinite(excess))
            excess = INFINITY;
        if (excess <= worst)
            continue;
        worst = excess;
        *verdict = (struct verify_verdict){.operand = ours->operand,
                                           .row = ours->index[i / columns],
                                           .column = i % columns,
                                           .ours = x,
                                           .theirs = y,
                                           .max_difference = difference};
    }
    return worst;
}

struct verify_verdict verify_compare(const struct verify_sample *ours, const struct verify_sample *theirs,
                                     const struct bench_case *problem) {
    struct verify_verdict verdict = {0};
    double worst = -1;
    for (int i = 0; i < ours->count; i++) {
        const struct bench_tolerance tolerance =
            problem->operation->tolerance(problem->problem.bytes, ours->of[i].operand);
        worst = compare_rows(&ours->of[i], &theirs->of[i], tolerance, worst, &verdict);
    }
    verdict.agrees = worst <= 1;
    return verdict;
}

void verify_complain(const struct bench_case *problem, const char *kernel, const char *whose,
                     const struct verify_verdict *verdict) {
    char label[CASE_TEXT_BYTES];
    complain("MISMATCH: %s on %s: %s[%" PRId64 ", %" PRId64 "] is %g, %s says %g; the kernel is not timed", kernel,
             case_label(problem, label), verdict->operand->name, verdict->row, verdict->column, verdict->ours, whose,
             verdict->theirs);
}
