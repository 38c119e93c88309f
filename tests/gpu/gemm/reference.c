/* SPDX-License-Identifier: Apache-2.0 */
/* The operands of a case as plain matrices and their product in double, computed once per shape and kept: every
 * row of the table, layout and output type of that shape is compared with the same reference. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gemm/gemm_tests.h"

/* In SPECIAL operands row m of A holds one value, at k = m mod K, and zeros; B holds powers of two. So each
 * element of D is one product and its value is known exactly. Some columns of B hold an Inf or a NaN as well. */
static float special_element(uint64_t random, enum gm_type type, int operand, int64_t outer, int64_t k,
                             int64_t k_size) {
    static const struct {
        float largest, denormal;
        int denormals;
    } formats[] = {[GM_BF16] = {0x1.fep127f, 0x1p-133f, 127},
                   [GM_FP16] = {65504.0f, 0x1p-24f, 1023},
                   [GM_FP32] = {0x1.fffffep127f, 0x1p-149f, 0x7fffff},
                   [GM_E4M3] = {448, 0x1p-9f, 7},
                   [GM_E5M2] = {57344, 0x1p-16f, 3},
                   [GM_TF32] = {0x1.ffcp127f, 0x1p-136f, 1023},
                   [GM_TF32X3] = {0x1.ffcp127f, 0x1p-136f, 1023}};
    const float infinity = type == GM_E4M3 ? NAN : INFINITY; /* which e4m3 does not have */
    const float largest = formats[type].largest, denormal = formats[type].denormal;
    const int denormals = formats[type].denormals;
    if (operand == 1) {
        if (outer % 7 == 3 && k == k_size - 1)
            return infinity;
        if (outer % 7 == 5 && k == 0)
            return NAN;
        return ldexpf(random & 1 ? 1.0f : -1.0f, (int)(random >> 1 & 3) - 1);
    }
    if (k != outer % k_size)
        return 0;
    const float values[] = {infinity,
                            -infinity,
                            NAN,
                            largest,
                            -largest,
                            denormal,
                            denormal * (float)denormals,
                            denormal * (float)(1 + random % (uint64_t)denormals),
                            1.5f};
    return values[(size_t)outer % COUNT(values)];
}

/* What a product takes of an element: of tf32 the nearest number of 10 bits of mantissa. */
float multiplied(enum gm_type type, float value) {
    uint32_t bits;
    if (type != GM_TF32 || !isfinite(value))
        return value;
    memcpy(&bits, &value, 4);
    bits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
    memcpy(&value, &bits, 4);
    return value;
}

/* The number, or one beside it where it is as far from the next tf32 number above as from the one below: TMA rounds such
 * a number to even, and kernels of sm80 away from zero. */
static float between_ties(enum gm_type type, float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    bits |= type == GM_TF32 && (bits & 0x1fff) == 0x1000;
    memcpy(&value, &bits, 4);
    return value;
}

float logical_element(uint64_t seed, enum inputs inputs, enum gm_type type, int operand, int64_t outer, int64_t k,
                      int64_t k_size) {
    const uint64_t index = (uint64_t)outer * (uint64_t)k_size + (uint64_t)k;
    const uint64_t stream = seed * 2 + (uint64_t)operand;
    if (inputs == ONES)
        return 1;
    if (inputs == HOLED && operand == 0 && k == outer % k_size && outer % 5 > 2)
        return outer % 5 == 3 ? NAN : INFINITY;
    if (inputs == INTEGER || inputs == HOLED)
        return (float)((int)((hash64(stream, index) >> 32) % 9) - 4);
    if (inputs == NORMAL && type == GM_INT8)
        return (float)((int)((hash64(stream, index) >> 32) % 256) - 128);
    if (inputs == POSITIVE)
        return (float)round_to(type, fabs(hash_normal(stream, index)));
    if (inputs == NORMAL)
        return between_ties(type, (float)round_to(type, hash_normal(stream, index)));
    return special_element(hash64(stream, index), type, operand, outer, k, k_size);
}

static void fill_a(int64_t first, int64_t last, void *arg) {
    const struct logical *l = arg;
    for (int64_t m = first; m < last; m++)
        for (int64_t k = 0; k < l->k; k++)
            l->a[m * l->k + k] = logical_element(opt.seed, l->inputs, l->type, 0, m, k, l->k);
}

static void fill_b(int64_t first, int64_t last, void *arg) {
    const struct logical *l = arg;
    for (int64_t k = first; k < last; k++)
        for (int64_t n = 0; n < l->n; n++) {
            l->b[k * l->n + n] = logical_element(opt.seed, l->inputs, l->b_type, 1, n, k, l->k);
            l->products_b[k * l->n + n] = multiplied(l->b_type, l->b[k * l->n + n]);
        }
}

/* Eight columns of a row of D at a time, which vectorises without reordering any sum; then what is left of them. */
typedef float eight_floats __attribute__((vector_size(32), aligned(4), may_alias));
typedef double eight_doubles __attribute__((vector_size(64)));
enum { EIGHT = 8, FOUR = 4 };

static void multiply_eight(const struct logical *l, int64_t m, int64_t n) {
    const float *a = l->a + m * l->k, *b = l->products_b + n;
    eight_doubles sum = {0};
    for (int64_t k = 0; k < l->k; k++, b += l->n)
        sum += (double)multiplied(l->type, a[k]) * __builtin_convertvector(*(const eight_floats *)b, eight_doubles);
    memcpy(l->acc + m * l->n + n, &sum, sizeof sum);
}

static void multiply_one(const struct logical *l, int64_t m, int64_t n) {
    double sum = 0;
    for (int64_t k = 0; k < l->k; k++)
        sum += (double)multiplied(l->type, l->a[m * l->k + k]) * (double)l->products_b[k * l->n + n];
    l->acc[m * l->n + n] = sum;
}

static void multiply(int64_t first, int64_t last, void *arg) {
    const struct logical *l = arg;
    const int64_t whole = l->n - l->n % EIGHT;
    for (int64_t n = 0; n < whole; n += EIGHT)
        for (int64_t m = first; m < last; m++)
            multiply_eight(l, m, n);
    for (int64_t m = first; m < last; m++)
        for (int64_t n = whole; n < l->n; n++)
            multiply_one(l, m, n);
}

/* ---- the product of small integers, whose sums are exact in fp32 too, and which holes make Inf or NaN in both ------- */

static bool has_exact_sums(const struct logical *l) {
    enum { LARGEST_PRODUCT = 16, EXACT = 1 << 24 };
    return (l->inputs == INTEGER || l->inputs == ONES || l->inputs == HOLED) && l->k <= EXACT / LARGEST_PRODUCT;
}

/* Up to eight columns of `rows` rows. B has eight elements more than its own, so that the last columns may be read as
 * eight. */
static inline void multiply_corner(const struct logical *l, int64_t m, int64_t n, const int rows) {
    const float *a = l->a + m * l->k, *b = l->products_b + n;
    const int64_t left = l->n - n, columns = left < EIGHT ? left : EIGHT;
    eight_floats sum[FOUR] = {{0}};
    for (int64_t k = 0; k < l->k; k++, b += l->n)
#pragma GCC unroll 4
        for (int row = 0; row < rows; row++)
            sum[row] += a[row * l->k + k] * *(const eight_floats *)b;
    for (int row = 0; row < rows; row++)
        for (int64_t column = 0; column < columns; column++)
            l->acc[(m + row) * l->n + n + column] = (double)sum[row][column];
}

static void multiply_integers(int64_t first, int64_t last, void *arg) {
    const struct logical *l = arg;
    for (int64_t n = 0; n < l->n; n += EIGHT) {
        int64_t m = first;
        for (; m + FOUR <= last; m += FOUR)
            multiply_corner(l, m, n, FOUR);
        for (; m < last; m++)
            multiply_corner(l, m, n, 1);
    }
}

/* ---- the cache: a ring of entries, oldest replaced, within a budget of bytes ---------------------- */

enum { ENTRIES = 2048 };
static struct logical cache[ENTRIES];
static size_t cache_bytes, next_entry;

/* A quarter of the machine's memory, at most 12 GB: the many-tiles shapes take some 80 MB each. */
static size_t cache_budget(void) {
    const double quarter = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE) / 4;
    return quarter < 12e9 ? (size_t)quarter : (size_t)12e9;
}

static size_t logical_bytes(const struct logical *l) {
    const int64_t copies_of_b = l->type == GM_TF32 ? 2 : 1;
    return (size_t)(l->m * l->k + copies_of_b * l->k * l->n) * sizeof(float) + (size_t)(l->m * l->n) * sizeof(double);
}

static void release(struct logical *l) {
    if (l->a)
        cache_bytes -= logical_bytes(l);
    if (l->products_b != l->b)
        free(l->products_b);
    free(l->a);
    free(l->b);
    free(l->acc);
    *l = (struct logical){0};
}

static void *allocate(int64_t count, size_t bytes) {
    void *memory = malloc((size_t)(count > 0 ? count : 1) * bytes);
    if (!memory) {
        fprintf(stderr, "gpu_tests: out of memory for a reference of %lld elements\n", (long long)count);
        exit(2);
    }
    return memory;
}

static bool same_key(const struct logical *l, const struct logical *key) {
    return l->a && l->m == key->m && l->n == key->n && l->k == key->k && l->inputs == key->inputs &&
           l->type == key->type && l->b_type == key->b_type;
}

const struct logical *logical_operands(int64_t m, int64_t n, int64_t k, enum inputs inputs, enum gm_type type,
                                       enum gm_type b_type) {
    /* Small integers are the same numbers in every type: one reference serves all. */
    const bool integers = inputs == INTEGER || inputs == ONES || inputs == HOLED;
    const struct logical key = {.m = m,
                                .n = n,
                                .k = k,
                                .inputs = inputs,
                                .type = integers ? GM_BF16 : type,
                                .b_type = integers ? GM_BF16 : b_type};
    for (size_t i = 0; i < ENTRIES; i++)
        if (same_key(&cache[i], &key))
            return &cache[i];
    for (size_t tries = 0; tries < ENTRIES && cache_bytes + logical_bytes(&key) > cache_budget(); tries++)
        release(&cache[(next_entry + tries) % ENTRIES]);
    struct logical *l = &cache[next_entry];
    next_entry = (next_entry + 1) % ENTRIES;
    release(l);
    *l = key;
    cache_bytes += logical_bytes(&key);
    l->a = allocate(m * k, sizeof(float));
    l->b = allocate(k * n + EIGHT, sizeof(float));
    memset(l->b + k * n, 0, EIGHT * sizeof(float));
    l->products_b = key.type == GM_TF32 ? allocate(k * n, sizeof(float)) : l->b;
    l->acc = allocate(m * n, sizeof(double));
    parallel_for(m, 20.0 * (double)m * (double)k, fill_a, l);
    parallel_for(k, 20.0 * (double)n * (double)k, fill_b, l);
    parallel_for(m, (double)m * (double)n * (double)k, has_exact_sums(l) ? multiply_integers : multiply, l);
    return l;
}
