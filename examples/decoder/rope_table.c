/* SPDX-License-Identifier: Apache-2.0 */
#include "rope_table.h"

#include "common.h"

#include <math.h>

#define PI 3.14159265358979323846

/* Llama-3.1: long waves are slowed down by the factor, short ones stay, and those between are a mixture. */
static double llama3(const struct rope_scaling *s, double frequency) {
    const double turns = (double)s->original_max_position * frequency / (2 * PI);
    const double share = (turns - s->low_freq_factor) / (s->high_freq_factor - s->low_freq_factor);
    if (turns < s->low_freq_factor)
        return frequency / s->factor;
    if (turns > s->high_freq_factor)
        return frequency;
    return (1 - share) * frequency / s->factor + share * frequency;
}

/* The pair whose wave goes round so many times in the original context: not a whole number. */
static double pair_of(const struct rope_scaling *s, int64_t head_dim, double turns) {
    return (double)head_dim * log((double)s->original_max_position / (turns * 2 * PI)) / (2 * log(s->theta));
}

/* YaRN: a ramp over the pairs from those that stay to those that are slowed down by the factor. */
static double yarn(const struct rope_scaling *s, int64_t head_dim, int64_t pair, double frequency) {
    double low = pair_of(s, head_dim, s->beta_fast), high = pair_of(s, head_dim, s->beta_slow);
    if (s->truncate)
        low = floor(low), high = ceil(high);
    low = fmax(low, 0), high = fmin(high, (double)head_dim - 1);
    const double ramp = fmin(fmax(((double)pair - low) / fmax(high - low, 1e-3), 0), 1);
    return frequency / s->factor * ramp + frequency * (1 - ramp);
}

static double frequency_of(const struct rope_scaling *s, int64_t head_dim, int64_t pair) {
    const double plain = pow(s->theta, -2.0 * (double)pair / (double)head_dim);
    switch (s->kind) {
    case ROPE_LINEAR:
        return plain / s->factor;
    case ROPE_LLAMA3:
        return llama3(s, plain);
    case ROPE_YARN:
        return yarn(s, head_dim, pair, plain);
    case ROPE_PLAIN:
        break;
    }
    return plain;
}

float *rope_table(const struct rope_scaling *scaling, int64_t head_dim, int64_t positions) {
    const int64_t pairs = head_dim / 2;
    const double size = scaling->kind == ROPE_YARN ? scaling->attention_factor : 1;
    float *table = grab((size_t)(positions * head_dim), sizeof *table);
    for (int64_t pair = 0; pair < pairs; pair++) {
        const double frequency = frequency_of(scaling, head_dim, pair);
        for (int64_t position = 0; position < positions; position++) {
            float *row = table + position * head_dim;
            row[pair] = (float)(size * cos((double)position * frequency));
            row[pair + pairs] = (float)(size * sin((double)position * frequency));
        }
    }
    return table;
}
