/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a case of attention: functions of request, row, token, head and element. */
#include <math.h>

#include "attention/attention_tests.h"

static uint64_t seed_of(const struct attention_case *ac, int stream) {
    return (opt.seed + ac->seed) * 16 + (uint64_t)stream;
}

/* ---- lengths ------------------------------------------------------------------------------------------ */

static int64_t length(const int *lengths, int64_t request) {
    return lengths[request < ATTENTION_LENGTHS ? request : ATTENTION_LENGTHS - 1];
}

int64_t attention_q_len(const struct attention_case *ac, int64_t request) {
    return length(ac->q_lens, request);
}

/* Of the requests before one, together: from the last length on all are alike. */
static int64_t sum_before(const struct attention_case *ac, int64_t request,
                          int64_t (*of)(const struct attention_case *, int64_t)) {
    const int64_t last = ATTENTION_LENGTHS - 1, apart = request < last ? request : last;
    int64_t sum = (request - apart) * of(ac, last);
    for (int64_t b = 0; b < apart; b++)
        sum += of(ac, b);
    return sum;
}

int64_t attention_first_row(const struct attention_case *ac, int64_t request) {
    return sum_before(ac, request, attention_q_len);
}

int64_t attention_max_kv_len(const struct attention_case *ac) {
    int64_t most = 1;
    for (int64_t b = 0; b < ac->batch && b < ATTENTION_LENGTHS; b++)
        most = length(ac->kv_lens, b) > most ? length(ac->kv_lens, b) : most;
    most += ac->spare_tokens - ac->hidden_tokens;
    return most > 1 ? most : 1;
}

int64_t attention_kv_len(const struct attention_case *ac, int64_t request) {
    const int64_t said = length(ac->kv_lens, request), most = attention_max_kv_len(ac);
    return said < most ? said : most;
}

int64_t attention_tokens_before(const struct attention_case *ac, int64_t request) {
    return sum_before(ac, request, attention_kv_len);
}

/* ---- pages -------------------------------------------------------------------------------------------- */

int64_t attention_page_tokens(const struct attention_case *ac) {
    return ac->kv_layout == GM_ATTENTION_KV_PAGED ? ac->page_size : attention_max_kv_len(ac);
}

static int64_t pages_of(const struct attention_case *ac, int64_t request) {
    return (attention_kv_len(ac, request) + ac->page_size - 1) / ac->page_size;
}

/* No multiple of 7, so that steps of 7 reach every page once. */
int64_t attention_pages(const struct attention_case *ac) {
    if (ac->kv_layout != GM_ATTENTION_KV_PAGED)
        return ac->batch + ac->spare_batch;
    const int64_t pages = 2 + sum_before(ac, ac->batch, pages_of);
    return pages % 7 ? pages : pages + 1;
}

/* A gap of a token behind every request. */
int64_t attention_first_token(const struct attention_case *ac, int64_t request) {
    return 1 + request + attention_tokens_before(ac, request);
}

static bool is_bad_page(const struct attention_case *ac, int64_t entry) {
    return ac->bad_pages && entry == 1;
}

int64_t attention_table_entry(const struct attention_case *ac, int64_t request, int64_t entry) {
    static const int32_t bad[] = {-1, INT32_MAX, INT32_MIN, 0};
    if (request >= ac->batch || entry >= pages_of(ac, request))
        return bad[(request + entry) % 3];
    if (is_bad_page(ac, entry))
        return request % 2 ? attention_pages(ac) : bad[request % 3];
    return (sum_before(ac, request, pages_of) + entry) * 7 %
           attention_pages(ac); /* page 0 is the first request's first */
}

int64_t attention_said_start(const struct attention_case *ac, int64_t request) {
    enum { LATE = 10 };
    return attention_first_token(ac, request) + (ac->bad_starts && request == ac->batch - 1 ? LATE : 0);
}

int64_t attention_slot(const struct attention_case *ac, int64_t request, int64_t token) {
    const int64_t tokens = attention_page_tokens(ac);
    if (ac->kv_layout == GM_ATTENTION_KV_RAGGED) {
        const int64_t slot = attention_said_start(ac, request) + token, last = attention_first_token(ac, ac->batch) - 1;
        return slot < last ? slot : last;
    }
    if (ac->kv_layout == GM_ATTENTION_KV_BATCHED)
        return request * tokens + token;
    const int64_t page = is_bad_page(ac, token / tokens) ? 0 : attention_table_entry(ac, request, token / tokens);
    return page * tokens + token % tokens;
}

/* ---- what a row sees ---------------------------------------------------------------------------------- */

/* The row's own token, a few others, and bits that are no token's. */
int32_t attention_tree_word(const struct attention_case *ac, int64_t row_of_q) {
    int64_t request = 0;
    while (request + 1 < ac->batch && attention_first_row(ac, request + 1) <= row_of_q)
        request++;
    const int64_t row = row_of_q - attention_first_row(ac, request);
    return (int32_t)(hash64(seed_of(ac, 5), (uint64_t)row_of_q) | (row < 31 ? UINT32_C(1) << row : 0));
}

bool attention_sees(const struct attention_case *ac, int64_t request, int64_t row, int64_t token) {
    const int64_t first = attention_kv_len(ac, request) - attention_q_len(ac, request), own = first + row;
    if (token < 0 || token >= attention_kv_len(ac, request))
        return false;
    if (ac->tree && token >= first) {
        const int64_t bits = attention_tree_word(ac, attention_first_row(ac, request) + row); /* the sign goes on */
        if (!((uint64_t)bits >> (token - first) & 1))
            return false;
    }
    if (ac->mask == GM_ATTENTION_CAUSAL)
        return token <= own;
    return ac->mask == GM_ATTENTION_FULL ||
           ((ac->left < 0 || token >= own - ac->left) && (ac->right < 0 || token <= own + ac->right));
}

/* ---- elements ----------------------------------------------------------------------------------------- */

enum gm_type attention_kv_type(const struct attention_case *ac) {
    return ac->kv_type == GM_ATTENTION_KV_E4M3 ? GM_E4M3 : ac->type;
}

enum gm_type attention_out_type(const struct attention_case *ac) {
    const enum gm_type types[] = {[GM_ATTENTION_OUT_SAME] = ac->type,
                                  [GM_ATTENTION_OUT_FP32] = GM_FP32,
                                  [GM_ATTENTION_OUT_BF16] = GM_BF16,
                                  [GM_ATTENTION_OUT_FP16] = GM_FP16};
    return types[ac->out];
}

double attention_scale(const struct attention_case *ac, enum attention_scale of, int64_t request, int64_t kv_head) {
    static const double odd[][3] = {{1, 0, 1}, {1, -1, 1}, {1, 1, 0}, {NAN, 1, 1}, {1, 1, NAN}};
    if (ac->scales == GM_ATTENTION_SCALES_NONE || (of == ATTENTION_SCALE_OF_Q && ac->type != GM_E4M3))
        return 1;
    const int64_t row = ac->scales == GM_ATTENTION_SCALES_REQUEST_HEAD ? request : 0;
    const int64_t column = ac->scales == GM_ATTENTION_SCALES_TENSOR ? 0 : kv_head;
    if (ac->odd_scales)
        return odd[row % (int64_t)COUNT(odd)][of];
    const uint64_t index = (uint64_t)((row * ac->kv_heads + column) * 3 + of);
    return (double)(float)(0.5 + (double)(hash64(seed_of(ac, 6), index) % 1000) / 1000);
}

/* 448 of either sign, by the lowest bit of a hash. */
static double most_of(const struct attention_case *ac, int stream, uint64_t index) {
    return hash64(seed_of(ac, stream), index) & 1 ? -448 : 448;
}

/* A finite number of e4m3. */
static double code_of(const struct attention_case *ac, int stream, uint64_t index) {
    const double value = bits_to_double(GM_E4M3, hash64(seed_of(ac, stream), index) % 256);
    return isnan(value) ? 448 : value;
}

/* Of k, what is in the first element grows with the token; q has there 4. */
#define RISE 0.25

double attention_q(const struct attention_case *ac, int64_t row, int64_t head, int64_t at) {
    const uint64_t index = (uint64_t)((row * ac->q_heads + head) * ac->head_dim + at);
    const int powers[] = {0, ac->type == GM_BF16 ? -115 : -13, 4, -3};
    const bool is_steered = ac->inputs == ATTENTION_RISING || ac->inputs == ATTENTION_FALLING;
    if (row >= attention_first_row(ac, ac->batch))
        return NAN;
    if (ac->inputs == ATTENTION_SPECIAL && row == 0 && head == 0 && at == 3)
        return NAN;
    if (is_steered && at == 0)
        return 4;
    if (ac->inputs == ATTENTION_MOST)
        return most_of(ac, 0, index);
    if (ac->inputs == ATTENTION_CODES && ac->type != GM_E4M3)
        return round_to(ac->type, ldexp(hash_normal(seed_of(ac, 0), index), powers[(row + head) % 4]));
    return round_to(ac->type, hash_normal(seed_of(ac, 0), index) * (ac->inputs == ATTENTION_LARGE ? 64 : 1));
}

/* Where v is k, k has what tells of v. */
static bool tells_of_v(const struct attention_case *ac, int64_t at) {
    return ac->v_is_k && at < ac->v_head_dim && ac->inputs == ATTENTION_PLANTED;
}

double attention_k(const struct attention_case *ac, int64_t slot, int64_t head, int64_t at) {
    const uint64_t index = (uint64_t)((slot * ac->kv_heads + head) * ac->head_dim + at);
    if (tells_of_v(ac, at))
        return slot % ac->v_head_dim == at;
    if (at == 0 && (ac->inputs == ATTENTION_RISING || ac->inputs == ATTENTION_FALLING)) {
        const double token = (double)(slot % attention_page_tokens(ac));
        return round_to(attention_kv_type(ac), ac->inputs == ATTENTION_RISING ? RISE * token : -RISE * token);
    }
    if (ac->inputs == ATTENTION_MOST)
        return most_of(ac, 1, index);
    if (ac->inputs == ATTENTION_CODES)
        return code_of(ac, 1, index);
    if (ac->inputs == ATTENTION_SPECIAL && head == 0 && at == 2 && slot == attention_slot(ac, 1, 1))
        return NAN;
    return round_to(attention_kv_type(ac),
                    hash_normal(seed_of(ac, 1), index) * (ac->inputs == ATTENTION_LARGE ? 64 : 1));
}

double attention_v(const struct attention_case *ac, int64_t slot, int64_t head, int64_t at) {
    const uint64_t index = (uint64_t)((slot * ac->kv_heads + head) * ac->v_head_dim + at);
    const double scale = ac->v_scale != 0 ? (double)ac->v_scale : 1;
    if (ac->v_is_k)
        return attention_k(ac, slot, head, at);
    if (ac->inputs == ATTENTION_PLANTED)
        return slot % ac->v_head_dim == at;
    if (ac->inputs == ATTENTION_SPECIAL && head == 0 && at == 1 && slot == attention_slot(ac, 2, 0))
        return NAN;
    if (ac->inputs == ATTENTION_MOST)
        return most_of(ac, 2, index);
    if (ac->inputs == ATTENTION_CODES)
        return code_of(ac, 2, index);
    if (ac->inputs == ATTENTION_POSITIVE)
        return round_to(attention_kv_type(ac), 1 + (double)(hash64(seed_of(ac, 2), index) % 8) / 8);
    return scale * round_to(attention_kv_type(ac), hash_normal(seed_of(ac, 2), index));
}

double attention_sink(const struct attention_case *ac, int64_t head) {
    const uint64_t random = hash64(seed_of(ac, 3), (uint64_t)head);
    return random % 4 == 0 ? -INFINITY : random % 4 == 1 ? 100 : (double)(float)hash_normal(seed_of(ac, 3), random);
}
