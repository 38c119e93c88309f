/* SPDX-License-Identifier: Apache-2.0 */
/* moe_route of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include <math.h>

#include "common/moe_route/params.h"
#include "moe_route/moe_route_tests.h"

/* A token's experts. */
struct token {
    const struct gm_moe_route_params *p;
    float x[EXPERTS_MOST], choice[EXPERTS_MOST];
    bool taken[EXPERTS_MOST];
    int ids[SLOTS_MOST];
};

static float sigmoid(float x) {
    return (float)(1 / (1 + exp(-(double)x)));
}

static float bias_of(const struct gm_moe_route_params *p, int expert) {
    if (!p->bias || planted_bug == ROUTE_BUG_NO_BIAS)
        return 0;
    return (float)bits_to_double(GM_FP32, load_bits((const uint8_t *)(uintptr_t)p->bias + expert * 4, GM_FP32));
}

static void load_token(struct token *t, enum gm_type type, int64_t token) {
    const struct gm_moe_route_params *p = t->p;
    const uint8_t *row = (const uint8_t *)(uintptr_t)(p->logits + (uint64_t)(token * p->logits_pitch));
    for (int e = 0; e < p->experts; e++) {
        t->x[e] = (float)bits_to_double(type, load_bits(row + e * gm_type_bytes(type), type));
        t->choice[e] = (p->is_sigmoid ? sigmoid(t->x[e]) : t->x[e]) + bias_of(p, e);
        t->taken[e] = false;
    }
}

static bool is_larger(float x, float y) {
    if (planted_bug == ROUTE_BUG_NAN_FIRST)
        return isnan(x) ? !isnan(y) : x > y;
    return isnan(y) ? !isnan(x) : planted_bug == ROUTE_BUG_HIGH_ID ? x >= y : x > y;
}

static int largest_of(const float *values, const bool *taken, int count) {
    int best = -1;
    for (int i = 0; i < count; i++)
        if (!taken[i] && (best < 0 || is_larger(values[i], values[best])))
            best = i;
    return best;
}

static float score_of_group(const struct token *t, int group) {
    const int size = t->p->group_size;
    const float *choice = t->choice + group * size;
    bool taken[EXPERTS_MOST] = {false};
    const int best = largest_of(choice, taken, size);
    taken[best] = true;
    const int second = largest_of(choice, taken, size);
    return choice[best] + (second < 0 || planted_bug == ROUTE_BUG_ONE_BEST ? 0 : choice[second]);
}

static void keep_top_groups(struct token *t) {
    float scores[GROUPS_MOST];
    bool kept[GROUPS_MOST] = {false};
    for (int group = 0; group < t->p->groups; group++)
        scores[group] = score_of_group(t, group);
    for (int i = 0; i < t->p->top_groups; i++)
        kept[largest_of(scores, kept, t->p->groups)] = true;
    for (int e = 0; e < t->p->experts; e++)
        t->taken[e] = !kept[e / t->p->group_size];
}

static float weight_of(const struct token *t, int expert) {
    const float largest = planted_bug == ROUTE_BUG_NO_SHIFT ? 0 : t->choice[t->ids[0]];
    if (!t->p->is_sigmoid)
        return (float)exp((double)(t->choice[expert] - largest));
    return sigmoid(t->x[expert]) + (planted_bug == ROUTE_BUG_BIAS_WEIGHS ? bias_of(t->p, expert) : 0);
}

static double sum_of_weights(const struct token *t) {
    const bool renormalizes = t->p->renormalizes && planted_bug != ROUTE_BUG_PLAIN;
    double sum = 0;
    if (t->p->is_sigmoid && !renormalizes)
        return 1;
    for (int i = 0; i < (renormalizes ? t->p->k : t->p->experts); i++)
        sum += (double)weight_of(t, renormalizes ? t->ids[i] : i);
    return t->p->is_sigmoid ? sum + 1e-20 : sum;
}

static void store_slot(const struct token *t, int64_t at, int id, float weight) {
    store_bits((uint8_t *)(uintptr_t)t->p->ids + at * 4, GM_INT32, (uint32_t)id);
    store_bits((uint8_t *)(uintptr_t)t->p->weights + at * 4, GM_FP32, double_to_bits(GM_FP32, (double)weight));
}

static void compute_token(struct token *t, enum gm_type type, int64_t token) {
    const int k = t->p->k, written = k - (planted_bug == ROUTE_BUG_LOST_SLOT);
    load_token(t, type, token);
    if (t->p->groups > t->p->top_groups && planted_bug != ROUTE_BUG_ALL_GROUPS)
        keep_top_groups(t);
    for (int slot = 0; slot < k; slot++) {
        t->ids[slot] = largest_of(t->choice, t->taken, t->p->experts);
        t->taken[t->ids[slot]] = true;
    }
    const double scale = planted_bug == ROUTE_BUG_NO_SCALE ? 1 : (double)t->p->scale, sum = sum_of_weights(t);
    for (int slot = 0; slot < written; slot++)
        store_slot(t, token * k + slot, t->ids[slot], (float)((double)weight_of(t, t->ids[slot]) / sum * scale));
    if (planted_bug == ROUTE_BUG_SLOT_AFTER)
        store_slot(t, token * k + k, 0, 1);
}

void compute_route(const struct gm_kernel *kernel, const void *params) {
    struct token t;
    t.p = params;
    int64_t tokens = t.p->tokens;
    if (t.p->row_count && planted_bug != ROUTE_BUG_COUNT) {
        const int32_t count = (int32_t)load_bits((const uint8_t *)(uintptr_t)t.p->row_count, GM_INT32);
        tokens = count < tokens ? count : tokens;
    }
    for (int64_t token = 0; token < tokens - (planted_bug == ROUTE_BUG_LOST_TOKEN); token++)
        compute_token(&t, kernel->type, token);
}
