/* SPDX-License-Identifier: Apache-2.0 */
/* The heads that the attention ladder attends to, on the device and on the host, and the check of what came out. */
#include "lab/attention_heads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/operands.h"
#include "lab/ladders.h"

#define POISON 0xffu /* a NaN of either type */

enum { GUARD_BYTES = 1024, HEAD = ATTENTION_HEAD };

/* ---- operands ------------------------------------------------------------------------------------- */

static size_t elements_of(const struct attention_heads *heads) {
    return (size_t)heads->heads * (size_t)heads->problem.tokens * HEAD;
}

static size_t scores_of(const struct attention_heads *heads) {
    return (size_t)heads->heads * (size_t)heads->problem.tokens * (size_t)heads->problem.tokens;
}

static size_t bytes_of(const struct attention_heads *heads, enum attention_result result) {
    return result == ATTENTION_OUT ? elements_of(heads) * sizeof(uint16_t) : scores_of(heads) * sizeof(float);
}

static CUdeviceptr address_of(const struct attention_heads *heads, enum attention_result result) {
    const struct attention *p = &heads->problem;
    const void *const addresses[] = {p->scores, p->weights, p->out};
    return (CUdeviceptr)(uintptr_t)addresses[result];
}

static uint16_t *make_operand(struct lab *lab, size_t count, uint32_t seed, const uint16_t **address) {
    uint16_t *values = malloc(count * sizeof *values);
    CUdeviceptr to = 0;
    if (!values) {
        complain("no host memory for %zu elements", count);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        values[i] = operands_to_bf16((float)((int)(ladder_hash((uint32_t)i ^ seed) % 65) - 32) / 16);
    if (lab && (lab_alloc(lab, &to, count * sizeof *values, POISON) != 0 ||
                lab_upload(lab, to, values, count * sizeof *values) != 0)) {
        free(values);
        return NULL;
    }
    *address = (const uint16_t *)(uintptr_t)to;
    return values;
}

int attention_heads_make(struct lab *lab, struct attention_heads *made, int heads, int tokens, int checked) {
    struct attention *p = &made->problem;
    *made =
        (struct attention_heads){.problem = {.tokens = tokens, .scale = 0.125f}, .heads = heads, .checked = checked};
    made->q = make_operand(lab, elements_of(made), 1u << 28, &p->q);
    made->k = made->q ? make_operand(lab, elements_of(made), 2u << 28, &p->k) : NULL;
    made->v = made->k ? make_operand(lab, elements_of(made), 3u << 28, &p->v) : NULL;
    if (!made->v)
        return -1;
    CUdeviceptr out = 0, scores = 0, weights = 0;
    if (lab && (lab_alloc(lab, &out, bytes_of(made, ATTENTION_OUT) + GUARD_BYTES, POISON) != 0 ||
                lab_alloc(lab, &scores, bytes_of(made, ATTENTION_SCORES) + GUARD_BYTES, POISON) != 0 ||
                lab_alloc(lab, &weights, bytes_of(made, ATTENTION_WEIGHTS) + GUARD_BYTES, POISON) != 0))
        return -1;
    p->out = (uint16_t *)(uintptr_t)out;
    p->scores = (float *)(uintptr_t)scores;
    p->weights = (float *)(uintptr_t)weights;
    return 0;
}

void attention_heads_free(struct attention_heads *heads) {
    free(heads->q);
    free(heads->k);
    free(heads->v);
    *heads = (struct attention_heads){0};
}

int attention_heads_poison(struct lab *lab, const struct attention_heads *heads, enum attention_result result) {
    GPU_TRY(&lab->gpu, cuMemsetD8Async, address_of(heads, result), POISON, bytes_of(heads, result) + GUARD_BYTES,
            lab->gpu.stream);
    return 0;
}

/* ---- float64 -------------------------------------------------------------------------------------- */

int attention_row_make(struct attention_row *row, int tokens) {
    row->scores = malloc((size_t)tokens * sizeof *row->scores);
    row->weights = malloc((size_t)tokens * sizeof *row->weights);
    return row->scores && row->weights ? 0 : complain("no host memory for a row of %d tokens", tokens);
}

void attention_row_free(struct attention_row *row) {
    free(row->scores);
    free(row->weights);
}

int attention_row_number(const struct attention_heads *heads, int head, int i) {
    const int tokens = heads->problem.tokens;
    return heads->checked == tokens ? i : (int)(((long)i * tokens / heads->checked + 37 * i + 5 * head) % tokens);
}

/* The scores; what 64 additions of fp32 may be off by, relative to their largest partial sum. */
static double fill_scores(struct attention_row *row, const struct attention_heads *heads, const uint16_t *q,
                          const uint16_t *k) {
    double most = 0, largest = -INFINITY;
    for (int token = 0; token < heads->problem.tokens; token++) {
        double sum = 0, sizes = 0;
        for (int i = 0; i < HEAD; i++) {
            const double product = (double)operands_from_bf16(q[i]) * operands_from_bf16(k[token * HEAD + i]);
            sum += product;
            sizes += fabs(product);
        }
        row->scores[token] = sum * heads->problem.scale;
        largest = fmax(largest, row->scores[token]);
        most = fmax(most, sizes * heads->problem.scale);
    }
    row->score_bound = 0x1p-23 * HEAD * most;
    return largest;
}

/* With weights w an element is off by e (sum of w |v| + |out|), e of scores, exponentials and as many additions as
 * there are tokens; where weights are rounded, by what many independent roundings of 2^-8 leave, 4 times the root of
 * the sum of their squares; and by the rounding to bf16. */
void attention_row_fill(struct attention_row *row, const struct attention_heads *heads, int head, int number,
                        bool rounded) {
    const int tokens = heads->problem.tokens;
    const size_t first = (size_t)head * (size_t)tokens * HEAD;
    const uint16_t *v = heads->v + first;
    const double top = fill_scores(row, heads, heads->q + first + (size_t)number * HEAD, heads->k + first);
    const double e = row->score_bound + 0x1p-22 * (2 * fabs(top) + 2) + 0x1p-24 * tokens;
    double sum = 0;
    for (int token = 0; token < tokens; token++)
        sum += row->weights[token] = exp(row->scores[token] - top);
    for (int token = 0; token < tokens; token++)
        row->weights[token] /= sum;
    for (int i = 0; i < HEAD; i++) {
        double out = 0, sizes = 0, squares = 0;
        for (int token = 0; token < tokens; token++) {
            const double product = row->weights[token] * operands_from_bf16(v[token * HEAD + i]);
            out += product;
            sizes += fabs(product);
            squares += product * product;
        }
        row->out[i] = out;
        row->bound[i] = e * (sizes + fabs(out)) + (rounded ? 4 * 0x1p-8 * sqrt(squares) : 0) + 0x1p-8 * fabs(out);
    }
}

/* ---- check ---------------------------------------------------------------------------------------- */

/* Rows of a result as they came, and the row they should be. */
struct comparison {
    const struct attention_heads *heads;
    enum attention_result result;
    const void *came;
    struct attention_row row;
};

static bool is_near(double came, double expected, double bound) {
    return fabs(came - expected) <= bound; /* no NaN is */
}

static bool is_row_right(struct lab_point *point, const struct comparison *c, int head, int number) {
    const struct attention_row *row = &c->row;
    const int tokens = c->heads->problem.tokens, count = c->result == ATTENTION_OUT ? HEAD : tokens;
    const size_t first = ((size_t)head * (size_t)tokens + (size_t)number) * (size_t)count;
    for (int i = 0; i < count; i++) {
        const bool out = c->result == ATTENTION_OUT, weight = c->result == ATTENTION_WEIGHTS;
        const double came = out ? (double)operands_from_bf16(((const uint16_t *)c->came)[first + (size_t)i])
                                : (double)((const float *)c->came)[first + (size_t)i];
        const double expected = out ? row->out[i] : weight ? row->weights[i] : row->scores[i];
        const double bound = out      ? row->bound[i]
                             : weight ? row->weights[i] * (2 * row->score_bound + 0x1p-16)
                                      : row->score_bound;
        if (!is_near(came, expected, bound)) {
            lab_wrong(point, "element %d of row %d of head %d is %.9g, not %.9g: off by more than %.2g", i, number,
                      head, came, expected, bound);
            return false;
        }
    }
    return true;
}

/* Rows that are not compared are at least written, and what lies behind the last is not. */
static bool is_written(struct lab_point *point, const struct comparison *c) {
    const size_t bytes = bytes_of(c->heads, c->result), element = c->result == ATTENTION_OUT ? 2 : 4;
    const unsigned char *at = c->came;
    const unsigned char poison[4] = {POISON, POISON, POISON, POISON};
    for (size_t i = 0; i < bytes; i += element) {
        if (memcmp(at + i, poison, element) == 0) {
            lab_wrong(point, "element %zu was not written", i / element);
            return false;
        }
    }
    for (size_t i = bytes; i < bytes + GUARD_BYTES; i++) {
        if (at[i] != POISON) {
            lab_wrong(point, "byte %zu behind the last element was written", i - bytes);
            return false;
        }
    }
    return true;
}

static void compare(struct lab_point *point, struct comparison *c, bool rounded) {
    if (!is_written(point, c))
        return;
    for (int head = 0; head < c->heads->heads; head++) {
        for (int i = 0; i < c->heads->checked; i++) {
            const int number = attention_row_number(c->heads, head, i);
            attention_row_fill(&c->row, c->heads, head, number, rounded);
            if (!is_row_right(point, c, head, number))
                return;
        }
    }
    lab_correct(point);
}

int attention_heads_check(struct lab *lab, struct lab_point *point, const struct attention_heads *heads,
                          enum attention_result result, bool rounded) {
    const size_t bytes = bytes_of(heads, result) + GUARD_BYTES;
    struct comparison comparison = {.heads = heads, .result = result};
    void *came = malloc(bytes);
    int status = came ? attention_row_make(&comparison.row, heads->problem.tokens)
                      : complain("no host memory to check %zu bytes", bytes);
    if (status == 0)
        status = lab_download(lab, came, address_of(heads, result), bytes);
    comparison.came = came;
    if (status == 0)
        compare(point, &comparison, rounded);
    attention_row_free(&comparison.row);
    free(came);
    return status;
}
