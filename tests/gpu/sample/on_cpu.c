/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling as a scalar program: the token that a row shall have. With a planted bug it is the kernel of the self-test, from the
 * same parameter struct that the GPU kernel gets. */
#include <math.h>
#include <stdlib.h>

#include "common/sample/arithmetic.h"
#include "common/sample/params.h"
#include "sample/sample_tests.h"

/* ---- the model ------------------------------------------------------------------------------------------ */

struct row {
    float *logits, *sorted; /* canonical; sorted: from the largest on */
    int columns;
    float largest, inverse_temperature;
    const struct sample_wish *wish;
    int bug;
};

static int compare_descending(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

static float shifted(const struct row *row, float logit) {
    return sample_shifted(logit, row->largest, row->inverse_temperature);
}

static uint64_t mass_of(const struct row *row, float logit) {
    return logit > -INFINITY ? sample_mass(shifted(row, logit)) : 0;
}

/* Of the logits from `least` on. */
static uint64_t mass_from(const struct row *row, float least) {
    uint64_t mass = 0;
    for (int i = 0; i < row->columns; i++)
        mass += row->logits[i] >= least ? mass_of(row, row->logits[i]) : 0;
    return mass;
}

static float top_k_threshold(const struct row *row) {
    const int64_t k = (int64_t)row->wish->top_k + (row->bug == SAMPLE_BUG_ONE_TOO_MANY);
    return row->wish->top_k > 0 && k < row->columns ? row->sorted[k - 1] : -INFINITY;
}

/* The least of the fewest of the largest whose mass is top_p of what is from `from` on. */
static float top_p_threshold(const struct row *row, float from) {
    const uint64_t all = mass_from(row, row->bug == SAMPLE_BUG_P_OF_ALL ? -INFINITY : from);
    uint64_t mass = 0;
    if (!(row->wish->top_p < 1))
        return from;
    const uint64_t quota = sample_quota(row->wish->top_p, all);
    for (int i = 0; i < row->columns && row->sorted[i] >= from; i++) {
        mass += mass_of(row, row->sorted[i]);
        if (mass >= quota)
            return row->bug == SAMPLE_BUG_P_WITHOUT_LAST && i > 0 ? row->sorted[i - 1] : row->sorted[i];
    }
    return from;
}

static int draw_token(const struct row *row, float threshold) {
    const float all = row->bug == SAMPLE_BUG_MIN_P_OF_SUM ? (float)mass_from(row, -INFINITY) * 0x1p-40f : 1;
    const float least = sample_least(row->wish->min_p * all);
    const uint64_t seed = row->bug == SAMPLE_BUG_SHORT_SEED ? (uint32_t)row->wish->seed : row->wish->seed;
    const float third = row->wish->top_k > 0 && row->wish->top_k < row->columns ? row->sorted[row->wish->top_k - 1] : 0;
    float best = -INFINITY;
    int token = -1, ties = 0;
    for (int i = 0; i < row->columns; i++) {
        uint32_t words[4];
        if (!(row->logits[i] > -INFINITY && row->logits[i] >= threshold && shifted(row, row->logits[i]) >= least))
            continue;
        if (row->bug == SAMPLE_BUG_DROPS_TIES && row->logits[i] == third && ++ties > 1)
            continue;
        sample_noise(seed, (uint32_t)i / 4, row->wish->step, words);
        const float score = sample_sum(shifted(row, row->logits[i]), sample_gumbel(words[i % 4]));
        if (score > best || (score == best && row->bug == SAMPLE_BUG_LAST_OF_EQUALS))
            best = score, token = i;
    }
    return token;
}

static int first_of_largest(const struct row *row) {
    int token = -1;
    for (int i = 0; i < row->columns && row->largest > -INFINITY; i++)
        if (row->logits[i] == row->largest && (token < 0 || row->bug == SAMPLE_BUG_LAST_OF_EQUALS))
            token = i;
    return token;
}

static int32_t token_of(struct row *row, float *logprob) {
    const bool is_greedy = !(row->wish->temperature > 0);
    row->largest = row->sorted[0];
    row->inverse_temperature = is_greedy ? 1 : sample_inverse(row->wish->temperature);
    *logprob = NAN;
    if (row->largest == -INFINITY)
        return -1;
    *logprob = 0;
    if (row->largest == INFINITY)
        return first_of_largest(row);
    const float threshold = top_p_threshold(row, top_k_threshold(row));
    const int token = is_greedy ? first_of_largest(row) : draw_token(row, threshold);
    const uint64_t all = mass_from(row, row->bug == SAMPLE_BUG_LOGPROB && !is_greedy ? threshold : -INFINITY);
    if (token >= 0)
        *logprob = sample_sum(shifted(row, row->logits[token]), -sample_ln((float)all * 0x1p-40f));
    return token;
}

int32_t sample_model(const float *logits, int columns, const struct sample_wish *wish, int bug, float *logprob) {
    const size_t bytes = (size_t)columns * sizeof(float);
    struct row row = {.logits = malloc(bytes), .sorted = malloc(bytes), .columns = columns, .wish = wish, .bug = bug};
    if (!row.logits || !row.sorted)
        exit(2);
    for (int i = 0; i < columns; i++) {
        const bool wins = bug == SAMPLE_BUG_NAN_WINS && isnan(logits[i]);
        row.logits[i] = wins ? INFINITY : sample_canonical(logits[i]);
    }
    row.columns -= bug == SAMPLE_BUG_LOST_TAIL && columns > 1;
    memcpy(row.sorted, row.logits, bytes);
    qsort(row.sorted, (size_t)row.columns, sizeof(float), compare_descending);
    const int32_t token = token_of(&row, logprob);
    free(row.logits);
    free(row.sorted);
    return token;
}

/* ---- the kernel of the self-test ------------------------------------------------------------------------- */

static uint64_t number_at(uint64_t array, int64_t row, int bytes) {
    uint64_t number = 0;
    memcpy(&number, (const uint8_t *)(uintptr_t)array + row * bytes, (size_t)bytes);
    return number;
}

static float real_at(uint64_t array, int64_t row, float own) {
    return array ? sample_float_of((uint32_t)number_at(array, row, 4)) : own;
}

static struct sample_wish wish_of(const struct gm_sample_params *p, int64_t row) {
    struct sample_wish wish = {
        .temperature = real_at(p->temperatures, row, p->temperature),
        .top_p = real_at(p->top_ps, row, p->top_p),
        .min_p = real_at(p->min_ps, row, p->min_p),
        .top_k = p->top_ks ? (int32_t)number_at(p->top_ks, row, 4) : p->top_k,
        .seed = p->seeds ? number_at(p->seeds, row, 8) : p->seed,
        .step = p->first_step,
    };
    if (p->step)
        wish.step += (int64_t)number_at(p->step, 0, 8);
    if (p->steps && planted_bug != SAMPLE_BUG_STEP)
        wish.step += (int64_t)number_at(p->steps, row, 8);
    if (planted_bug == SAMPLE_BUG_PLACE)
        wish.seed += (uint64_t)row;
    return wish;
}

void compute_sample(const struct gm_kernel *kernel, const void *params) {
    const struct gm_sample_params *p = params;
    const int bytes = gm_type_bytes(kernel->type);
    float *logits = malloc((size_t)p->columns * sizeof(float));
    int64_t rows = p->rows;
    if (!logits)
        exit(2);
    if (p->row_count && planted_bug != SAMPLE_BUG_COUNT) {
        const int32_t count = (int32_t)number_at(p->row_count, 0, 4);
        rows = count < rows ? count : rows;
    }
    for (int64_t row = 0; row < rows - (planted_bug == SAMPLE_BUG_LOST_ROW); row++) {
        const uint8_t *at = (const uint8_t *)(uintptr_t)(p->logits + (uint64_t)(row * p->pitch));
        const struct sample_wish wish = wish_of(p, row);
        float logprob;
        for (int i = 0; i < p->columns; i++)
            logits[i] = (float)bits_to_double(kernel->type, load_bits(at + (int64_t)i * bytes, kernel->type));
        const int32_t token = sample_model(logits, p->columns, &wish, planted_bug, &logprob);
        memcpy((uint8_t *)(uintptr_t)p->ids + row * 4, &token, 4);
        if (p->logprobs)
            memcpy((uint8_t *)(uintptr_t)p->logprobs + row * 4, &logprob, 4);
    }
    if (planted_bug == SAMPLE_BUG_ROW_AFTER)
        memset((uint8_t *)(uintptr_t)p->ids + p->rows * 4, 0, 4);
    free(logits);
}
