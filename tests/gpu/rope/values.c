/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a case of the rotary embedding: functions of token, head and element. */
#include <math.h>

#include "rope/rope_tests.h"

static uint64_t seed_of(const struct rope_case *rc, int stream) {
    return (opt.seed + rc->seed) * 16 + (uint64_t)stream;
}

static double small_integer(uint64_t random) {
    return (double)((int)((random >> 32) % 5) - 2);
}

static double special(enum gm_type type, uint64_t random, double ordinary) {
    const double largest = type == GM_FP16 ? 65504 : 0x1.fep127, least = type == GM_FP16 ? 0x1p-24 : 0x1p-133;
    const double values[] = {NAN, INFINITY, -INFINITY, 0, -0.0, largest, -largest, least, -least};
    return random % 29 < COUNT(values) ? values[random % 29] : ordinary;
}

double rope_x(const struct rope_case *rc, int stream, int64_t token, int64_t head, int64_t at) {
    const int64_t heads = stream ? rc->kv_heads : rc->q_heads;
    const uint64_t seed = seed_of(rc, stream), index = (uint64_t)((token * heads + head) * rc->head_dim + at);
    const uint64_t random = hash64(seed, index);
    if (rc->inputs == ROPE_INTEGERS)
        return small_integer(random);
    if (rc->inputs == ROPE_SIGNS)
        return ldexp(random & 1 ? -1 : 1, (int)((token + head) % 7) - 3);
    const double x = round_to(rc->type, hash_normal(seed, index) + (rc->inputs == ROPE_POSITIVE ? 3 : 0));
    return rc->inputs == ROPE_SPECIAL ? special(rc->type, random, x) : x;
}

double rope_weight(const struct rope_case *rc, int stream, int64_t at) {
    const uint64_t seed = seed_of(rc, 4 + stream);
    if (rc->inputs == ROPE_INTEGERS || rc->inputs == ROPE_SIGNS)
        return small_integer(hash64(seed, (uint64_t)at));
    return round_to(rc->fp32_weight ? GM_FP32 : rc->type, hash_normal(seed, (uint64_t)at));
}

/* Angles of a base of 10000, or integers. */
double rope_table(const struct rope_case *rc, int64_t position, int64_t at) {
    const int64_t half = rc->rotary_dim / 2;
    const double scale = rc->scale != 0 ? (double)rc->scale : 1;
    if (rc->inputs == ROPE_INTEGERS || rc->inputs == ROPE_SIGNS)
        return scale * small_integer(hash64(seed_of(rc, 8), (uint64_t)(position * rc->rotary_dim + at)));
    const double angle = (double)position * pow(10000, -(double)(at % half) / (double)half);
    return (float)(scale * (at < half ? cos(angle) : sin(angle)));
}

int64_t rope_max_position(const struct rope_case *rc) {
    return rc->tokens + 13;
}

/* No multiple of 7, so that steps of 7 reach every slot once. */
int64_t rope_slot_count(const struct rope_case *rc) {
    const int64_t count = rc->tokens + rc->spare_slots;
    return count % 7 ? count : count + 1;
}

int64_t rope_position(const struct rope_case *rc, int64_t token) {
    const int64_t bad[] = {-1, rope_max_position(rc), INT32_MIN, INT32_MAX};
    const uint64_t random = hash64(seed_of(rc, 9), (uint64_t)token);
    if (rc->bad && random % 3 == 0)
        return bad[random / 3 % COUNT(bad)];
    return (int64_t)(random / 12 % (uint64_t)rope_max_position(rc));
}

/* The last of several tokens is always skipped. */
int64_t rope_slot(const struct rope_case *rc, int64_t token) {
    const int64_t count = rope_slot_count(rc);
    const uint64_t random = hash64(seed_of(rc, 10), (uint64_t)token);
    if (random % 5 == 0 || (token > 1 && token == rc->tokens - 1))
        return random / 5 % 2 ? -1 : INT32_MIN;
    if (rc->bad && random % 5 == 1)
        return random / 5 % 2 ? count : INT32_MAX;
    return (token * 7 + 2) % count;
}

bool rope_is_bad_position(const struct rope_case *rc, int64_t token) {
    const int64_t position = rope_position(rc, token);
    return position < 0 || position >= rope_max_position(rc) || (rc->huge && rc->int64_positions && token == 0);
}

bool rope_is_bad_slot(const struct rope_case *rc, int64_t token) {
    return rope_slot(rc, token) >= rope_slot_count(rc) || (rc->huge && token == 0);
}
