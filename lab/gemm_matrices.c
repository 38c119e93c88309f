/* SPDX-License-Identifier: Apache-2.0 */
/* C = A B of small integers, on the device and on the host: one size, with what is needed to check C exactly.
 *
 * C is not compared with another C, which would take the host minutes at 4096^3, but with its row sums under random
 * integer weights x:  C x = A (B x). All of it is integers below 2^53, so doubles hold it exactly and one wrong element
 * always shows; several in a row go unnoticed with a chance below 1 in 10^4. A row that differs is then computed in
 * full, to name the element. */
#include "lab/gemm_matrices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_MAX   4 /* of A and B */
#define WEIGHT_MAX  (1 << 14)
#define POISON      0xffu /* four of them are a NaN */
#define POISON_WORD 0xffffffffu

/* Numbers that look random, the same on every machine (a 32-bit xorshift). */
static uint32_t next_number(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state >> 8;
}

static int pitch_of(int columns) {
    return (columns + 3) / 4 * 4;
}

static size_t matrix_bytes(int rows, int pitch) {
    return ((size_t)rows + 1) * (size_t)pitch * sizeof(float);
}

/* A matrix on both sides; `address` stays 0 when there is no lab. */
static float *make_matrix(struct lab *lab, CUdeviceptr *address, int rows, int columns, uint32_t seed) {
    const int pitch = pitch_of(columns);
    const size_t bytes = matrix_bytes(rows, pitch);
    float *values = malloc(bytes);
    if (!values) {
        complain("no host memory for a matrix of %d x %d", rows, columns);
        return NULL;
    }
    memset(values, POISON, bytes);
    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++)
            values[(size_t)row * (size_t)pitch + (size_t)column] =
                (float)((int)(next_number(&seed) % (2 * VALUE_MAX + 1)) - VALUE_MAX);
    }
    if (lab && (lab_alloc(lab, address, bytes, POISON) != 0 || lab_upload(lab, *address, values, bytes) != 0)) {
        free(values);
        return NULL;
    }
    return values;
}

/* The row sums: first B x, then A (B x). */
static int sum_rows(struct gemm_matrices *made) {
    const struct gemm_fp32 *p = &made->problem;
    uint32_t seed = 3;
    double *products = calloc((size_t)p->k, sizeof *products);
    made->weights = calloc((size_t)p->n, sizeof *made->weights);
    made->sums = calloc((size_t)p->m, sizeof *made->sums);
    if (!products || !made->weights || !made->sums) {
        free(products);
        return complain("no host memory to check %d x %d x %d", p->m, p->n, p->k);
    }
    for (int j = 0; j < p->n; j++)
        made->weights[j] = 1 + next_number(&seed) % WEIGHT_MAX;
    for (int k = 0; k < p->k; k++) {
        for (int j = 0; j < p->n; j++)
            products[k] += made->b[(size_t)k * (size_t)p->b_pitch + (size_t)j] * made->weights[j];
    }
    for (int i = 0; i < p->m; i++) {
        for (int k = 0; k < p->k; k++)
            made->sums[i] += made->a[(size_t)i * (size_t)p->a_pitch + (size_t)k] * products[k];
    }
    free(products);
    return 0;
}

int gemm_matrices_make(struct lab *lab, struct gemm_matrices *made, int m, int n, int k) {
    CUdeviceptr a = 0, b = 0, c = 0;
    *made = (struct gemm_matrices){
        .problem = {.m = m, .n = n, .k = k, .a_pitch = pitch_of(k), .b_pitch = pitch_of(n), .c_pitch = pitch_of(n)}};
    made->a = make_matrix(lab, &a, m, k, 1);
    made->b = make_matrix(lab, &b, k, n, 2);
    if (!made->a || !made->b)
        return -1;
    if (lab && lab_alloc(lab, &c, matrix_bytes(m, made->problem.c_pitch), POISON) != 0)
        return -1;
    made->problem.a = (const float *)(uintptr_t)a;
    made->problem.b = (const float *)(uintptr_t)b;
    made->problem.c = (float *)(uintptr_t)c;
    return lab && lab->launching_only ? 0 : sum_rows(made);
}

void gemm_matrices_free(struct gemm_matrices *matrices) {
    free(matrices->a);
    free(matrices->b);
    free(matrices->weights);
    free(matrices->sums);
    *matrices = (struct gemm_matrices){0};
}

int gemm_matrices_poison(struct lab *lab, const struct gemm_matrices *matrices) {
    const struct gemm_fp32 *p = &matrices->problem;
    const CUdeviceptr c = (CUdeviceptr)(uintptr_t)p->c;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, c, POISON, matrix_bytes(p->m, p->c_pitch), lab->gpu.stream);
    return 0;
}

/* ---- what is wrong -------------------------------------------------------------------------------- */

static float element_of_c(const struct gemm_matrices *matrices, int row, int column) {
    const struct gemm_fp32 *p = &matrices->problem;
    float sum = 0;
    for (int k = 0; k < p->k; k++)
        sum += matrices->a[(size_t)row * (size_t)p->a_pitch + (size_t)k] *
               matrices->b[(size_t)k * (size_t)p->b_pitch + (size_t)column];
    return sum;
}

static void name_element(const struct gemm_matrices *matrices, const float *line, int row, char *wrong, size_t bytes) {
    for (int column = 0; column < matrices->problem.n; column++) {
        const float right = element_of_c(matrices, row, column);
        if (!(line[column] == right)) {
            snprintf(wrong, bytes, "C[%d][%d] is %g, not %g", row, column, (double)line[column], (double)right);
            return;
        }
    }
}

bool gemm_matrices_differ(const struct gemm_matrices *matrices, const float *c, char *wrong, size_t bytes) {
    const struct gemm_fp32 *p = &matrices->problem;
    for (int row = 0; row <= p->m; row++) {
        const float *line = c + (size_t)row * (size_t)p->c_pitch;
        const int columns = row < p->m ? p->n : 0;
        double sum = 0;
        for (int j = 0; j < columns; j++)
            sum += line[j] * matrices->weights[j];
        if (columns && !(sum == matrices->sums[row])) {
            name_element(matrices, line, row, wrong, bytes);
            return true;
        }
        for (int j = columns; j < p->c_pitch; j++) {
            uint32_t word;
            memcpy(&word, &line[j], sizeof word);
            if (word != POISON_WORD) {
                snprintf(wrong, bytes, "%g was written outside C, at [%d][%d]", (double)line[j], row, j);
                return true;
            }
        }
    }
    return false;
}

int gemm_matrices_check(struct lab *lab, struct lab_point *point, const struct gemm_matrices *matrices) {
    const struct gemm_fp32 *p = &matrices->problem;
    const size_t bytes = matrix_bytes(p->m, p->c_pitch);
    char wrong[sizeof point->wrong];
    float *c = malloc(bytes);
    if (!c)
        return complain("no host memory to check %d x %d", p->m, p->n);
    if (lab_download(lab, c, (CUdeviceptr)(uintptr_t)p->c, bytes) != 0) {
        free(c);
        return -1;
    }
    if (gemm_matrices_differ(matrices, c, wrong, sizeof wrong))
        lab_wrong(point, "%s", wrong);
    else
        lab_correct(point);
    free(c);
    return 0;
}
