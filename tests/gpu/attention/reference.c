/* SPDX-License-Identifier: Apache-2.0 */
/* Attention in double, and how far a kernel may be from it that keeps scores and sums in fp32, rounds the weights to the
 * type of v, or of e4m3 to fp16, and adds up blocks of keys in any order. Where q is e4m3 too, the weights may be e4m3, 2^8 times as
 * large, and the sums of a score and of a block of 128 keys those of wgmma, which keep some 14 bits.
 *
 * With weights w of the softmax, W = sum w |v| and W2 = sqrt(sum w^2 v^2), an element o may be off by
 *
 *   (weight + exponent + addition) W + (exponent + sum) |o|, and by what rounding to the type adds;
 *   of random values the first term is 2.5 weight W2, six times the deviation of roundings with either sign */
#include <math.h>
#include <stdlib.h>

#include "attention/attention_tests.h"

struct row {
    const struct attention_case *ac;
    int64_t request, row, head;
    const double *k, *v; /* of the first token and the row's head; the next token's are all heads further on */
    double *scores;      /* of every token; hidden: -infinity */
    double largest;      /* of those and of the sink */
    double products;     /* the largest sum of |q k| of a score, scaled */
    double peak;         /* the largest |q k| of a score, or sum of some of them, scaled */
    double sum, with_sink;
};

static double scale_of(const struct attention_case *ac) {
    return ac->scale != 0 ? (double)ac->scale : (double)(float)(1 / sqrt((double)ac->head_dim));
}

static double scale_of_head(const struct row *r, enum attention_scale of) {
    return attention_scale(r->ac, of, r->request, r->head / (r->ac->q_heads / r->ac->kv_heads));
}

static double score_of(struct row *r, const double *q, int64_t token) {
    const struct attention_case *ac = r->ac;
    const double *k = r->k + token * ac->kv_heads * ac->head_dim;
    const double scale = scale_of(ac) * scale_of_head(r, ATTENTION_SCALE_OF_Q) * scale_of_head(r, ATTENTION_SCALE_OF_K);
    double dot = 0, size = 0;
    for (int64_t i = 0; i < ac->head_dim; i++) {
        const double product = q[i] * k[i];
        dot += product;
        size += fabs(product);
        r->peak = fmax(r->peak, fabs(scale) * fmax(fabs(product), fabs(dot)));
    }
    r->products = fmax(r->products, fabs(scale) * size);
    dot *= scale;
    return ac->softcap != 0 ? (double)ac->softcap * tanh(dot / (double)ac->softcap) : dot;
}

static void find_scores(struct row *r, const double *q) {
    const struct attention_case *ac = r->ac;
    const double sink = ac->sinks ? attention_sink(ac, r->head) : -INFINITY;
    r->largest = sink;
    for (int64_t j = 0; j < attention_kv_len(ac, r->request); j++) {
        r->scores[j] = attention_sees(ac, r->request, r->row, j) ? score_of(r, q, j) : -INFINITY;
        r->largest = isnan(r->scores[j]) ? NAN : r->scores[j] > r->largest ? r->scores[j] : r->largest;
    }
    for (int64_t j = 0; j < attention_kv_len(ac, r->request); j++)
        r->sum += r->scores[j] == -INFINITY ? 0 : exp(r->scores[j] - r->largest);
    r->with_sink = r->sum + (sink == -INFINITY ? 0 : exp(sink - r->largest));
}

/* ---- how far off -------------------------------------------------------------------------------------- */

struct errors {
    double weight, exponent, addition, sum;
};

static bool has_e4m3_weights(const struct attention_case *ac) {
    return ac->type == GM_E4M3 && !ac->fp16_weights;
}

/* What a weight is rounded by: relative, and as one that is small, of the largest. */
static double weight_unit(const struct attention_case *ac) {
    return has_e4m3_weights(ac) ? 0x1p-4 : attention_kv_type(ac) == GM_BF16 ? 0x1p-8 : 0x1p-11;
}

static double least_weight(const struct attention_case *ac) {
    return has_e4m3_weights(ac) ? 0x1p-18 : attention_kv_type(ac) == GM_BF16 ? 0x1p-126 : 0x1p-25;
}

/* Scores come from steps of 8 elements, sums of values from steps of 8 keys; 16 parts, whose sums are put together. Where
 * weights are e4m3 a step is wgmma's: 32 products and the sum so far, each cut off 13 bits behind the first one of the largest;
 * those of values begin anew with every block. */
static struct errors errors_of(const struct row *r, int64_t tokens) {
    const struct attention_case *ac = r->ac;
    const double n = (double)tokens, blocks = ceil(n / 16), parts = 16;
    const double largest = isfinite(r->largest) ? fabs(r->largest) : 0, cap = (double)ac->softcap;
    const double step = has_e4m3_weights(ac) ? 33 * 0x1p-13 : 0;
    return (struct errors){
        .weight = weight_unit(ac),
        .exponent = ((double)ac->head_dim / 8 + 2) * 0x1p-23 * r->products +
                    ceil((double)ac->head_dim / 32) * step * r->peak + 0x1p-22 * (2 * largest + 2) + 0x1p-21 +
                    cap * 0x1p-20,
        .addition = (n / 8 + 2 * blocks + parts + 4) * 0x1p-23 + fmin(n / 32, 4) * step,
        .sum = (n / 4 + blocks + parts + 4) * 0x1p-24,
    };
}

/* Sums of a column over all tokens: of v, of |v|, each times the weights; of their squares; of |v|. */
struct column {
    double o, all, squares, values;
};

static void add_token(const struct row *r, int64_t token, struct column *columns) {
    const struct attention_case *ac = r->ac;
    const double *v = r->v + token * ac->kv_heads * ac->v_head_dim;
    const double weight = exp(r->scores[token] - r->largest) / r->with_sink;
    const double scale = scale_of_head(r, ATTENTION_SCALE_OF_V);
    for (int64_t i = 0; i < ac->v_head_dim; i++) {
        struct column *c = &columns[i];
        const double scaled = scale * v[i];
        c->o += weight * scaled;
        c->all += weight * fabs(scaled);
        c->squares += weight * weight * scaled * scaled;
        c->values += fabs(scaled);
    }
}

static void find_tolerance(const struct row *r, const struct errors *e, const struct column *c, double *tolerance) {
    const struct attention_case *ac = r->ac;
    const enum gm_type type = attention_out_type(ac);
    const double floor = r->with_sink > 0 ? least_weight(ac) / r->with_sink * c->values : 0;
    const double rest = (e->exponent + e->addition) * c->all + (e->exponent + e->sum) * fabs(c->o) + floor;
    const double most = e->weight * c->all + rest, random = 2.5 * e->weight * sqrt(c->squares) + rest;
    const double error =
        (ac->inputs == ATTENTION_NORMAL || ac->inputs == ATTENTION_POSITIVE) && random < most ? random : most;
    *tolerance = isfinite(error) && error > 0 ? error + half_ulp(type, fabs(c->o) + error) : 0;
}

static void find_columns(const struct row *r, const struct errors *e, struct attention_row *into) {
    const struct attention_case *ac = r->ac;
    struct column *columns = calloc((size_t)ac->v_head_dim, sizeof *columns);
    if (!columns)
        exit(2);
    for (int64_t j = 0; j < attention_kv_len(ac, r->request); j++)
        if (r->scores[j] != -INFINITY)
            add_token(r, j, columns);
    for (int64_t i = 0; i < ac->v_head_dim; i++) {
        into->want[i] = columns[i].o;
        find_tolerance(r, e, &columns[i], &into->tolerance[i]);
    }
    free(columns);
}

static void find_lse(const struct row *r, const struct errors *e, struct attention_row *into) {
    into->lse = r->sum > 0 ? log(r->sum) + r->largest : isnan(r->sum) ? NAN : -INFINITY;
    into->lse_tolerance =
        isfinite(into->lse) ? e->exponent + e->sum + 0x1p-22 * (fabs(into->lse) + fabs(r->largest) + 1) : 0;
}

void attention_reference(const struct placed_attention *placed, int64_t request, int64_t row, int64_t head,
                         struct attention_row *into) {
    const struct attention_case *ac = placed->ac;
    const int64_t tokens = attention_kv_len(ac, request), first = attention_first_row(ac, request);
    const int64_t kv_head = head / (ac->q_heads / ac->kv_heads);
    const int64_t first_kv = attention_tokens_before(ac, request) * ac->kv_heads + kv_head;
    struct row r = {.ac = ac,
                    .request = request,
                    .row = row,
                    .head = head,
                    .k = placed->k + first_kv * ac->head_dim,
                    .v = placed->v + first_kv * ac->v_head_dim};
    double *q = malloc((size_t)ac->head_dim * sizeof *q);
    r.scores = malloc((size_t)(tokens + 1) * sizeof *r.scores);
    if (!q || !r.scores)
        exit(2);
    for (int64_t i = 0; i < ac->head_dim; i++)
        q[i] = attention_q(ac, first + row, head, i);
    find_scores(&r, q);
    const struct errors e = errors_of(&r, tokens);
    find_columns(&r, &e, into);
    find_lse(&r, &e, into);
    free(q);
    free(r.scores);
}
