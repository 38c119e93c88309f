/* SPDX-License-Identifier: Apache-2.0 */
/* What the fp32 GEMM and stencil ladders predict, by hand where that is possible, and that their check of C sees what
 * it should. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_tests.h"
#include "lab/gemm_matrices.h"
#include "lab/gemm_model.h"
#include "lab/stencil_model.h"

/* ---- predictions ---------------------------------------------------------------------------------- */

START_TEST(test_gemm_sectors) {
    const double cube = 128.0 * 128 * 128;
    ck_assert_double_eq(gemm_predict(GEMM_NAIVE, 128).sectors, cube / 32 * 33);
    ck_assert_double_eq(gemm_predict(GEMM_COALESCED, 128).sectors, cube / 32 * 5);
    ck_assert_double_eq(gemm_predict(GEMM_TILED, 128).sectors, cube / 128);
    ck_assert_double_eq(gemm_predict(GEMM_1D, 128).sectors, cube / 256);
    ck_assert_double_eq(gemm_predict(GEMM_VECTORISED, 128).sectors, cube / 512);
    ck_assert(isnan(gemm_predict(GEMM_WARP_TILE, 128).sectors));
}
END_TEST

/* A warp stores a column of 32 words into one bank, 31 conflicts, once a k-block of 32: 4 x 4 CTAs x 4 k-blocks x 32
 * warps. Nowhere else is there a conflict. */
START_TEST(test_gemm_conflicts) {
    for (int step = GEMM_TILED; step < GEMM_STEPS; step++) {
        const struct gemm_counts counts = gemm_predict(step, 128);
        ck_assert_double_eq(counts.load.all, counts.load.ideal);
        ck_assert_double_eq(counts.store.all - counts.store.ideal, step == GEMM_TRANSPOSED ? 4 * 4 * 4 * 32 * 31 : 0);
    }
    ck_assert(isnan(gemm_predict(GEMM_COALESCED, 128).load.all));
}
END_TEST

/* For every warp and k-block, of a matrix that every tile divides. 16 bytes a lane take 2 wavefronts where lanes n and
 * n ^ 1 (or n and n ^ 2) ask for the same, else 4. */
START_TEST(test_gemm_wavefronts) {
    const double small = 4 * 4 * 4 * 32, column = 2 * 2 * 16 * 16, square = 16 * 8;
    ck_assert_double_eq(gemm_predict(GEMM_TILED, 128).load.all, small * (8 * 2 + 32));
    ck_assert_double_eq(gemm_predict(GEMM_PADDED, 128).load.all, small * 64);
    ck_assert_double_eq(gemm_predict(GEMM_1D, 128).load.all, column * (16 * 2 + 8));
    ck_assert_double_eq(gemm_predict(GEMM_2D, 128).load.all, square * 128);
    ck_assert_double_eq(gemm_predict(GEMM_2D, 128).store.all, square * 8);
    ck_assert_double_eq(gemm_predict(GEMM_DOUBLE_BUFFER, 128).load.all, square * (16 * 2 + 16 * 4));
    ck_assert_double_eq(gemm_predict(GEMM_DOUBLE_BUFFER, 128).store.all, square * (4 + 4));
    ck_assert_double_eq(gemm_predict(GEMM_CP_ASYNC, 128).load.all, square * (16 * 2 + 16 * 4));
    ck_assert_double_eq(gemm_predict(GEMM_CP_ASYNC, 128).store.all, 0);
    ck_assert_double_eq(gemm_predict(GEMM_WARP_TILE, 256).load.all, 2 * 8 * (32 * (16 + 32) + 2 + 4) * 2);
}
END_TEST

START_TEST(test_reuse) {
    ck_assert_double_eq(gemm_reuse_requests(1, 64) / gemm_reuse_requests(16, 64), 16);
    ck_assert_double_eq(gemm_reuse_sectors(8, 64) / gemm_reuse_sectors(32, 64), 4);
    ck_assert_double_eq(gemm_reuse_sectors(32, 512), gemm_predict(GEMM_TILED, 512).sectors);
}
END_TEST

/* One plane of one tile. Of the 32 warps each reads 4 sectors of its own points and 4 + 5 of the neighbours left and
 * right, which lack one point at the grid's edges; 15 of 16 rows have one before them and 15 one behind. */
START_TEST(test_stencil_sectors) {
    ck_assert_double_eq(stencil_predict(STENCIL_NAIVE, 64, 16, 1).sectors, 16 * (8 + 9 + 9) + 2 * 15 * 8);
    ck_assert_double_eq(stencil_predict(STENCIL_SHARED, 64, 16, 1).sectors, 2 * 16 * 8);
    ck_assert_double_eq(stencil_predict(STENCIL_TMA, 64, 16, 1).sectors, 16 * 8);
}
END_TEST

/* 8 warps load 5 words for each of a thread's 4 points, and store 36 half rows and the rim's columns: 32 words 72
 * apart, four to a bank, in each plane and in the one that does not exist. */
START_TEST(test_stencil_wavefronts) {
    ck_assert_double_eq(stencil_predict(STENCIL_SHARED, 64, 16, 10).store_conflicts, 11 * 3);
    ck_assert_double_eq(stencil_predict(STENCIL_SHARED, 64, 16, 10).store_wavefronts, 11 * (36 + 4));
    ck_assert_double_eq(stencil_predict(STENCIL_CP_ASYNC, 64, 16, 10).store_wavefronts, 0);
    for (int step = STENCIL_SHARED; step < STENCIL_STEPS; step++)
        ck_assert_double_eq(stencil_predict(step, 64, 16, 10).load_wavefronts, 10 * 8 * 4 * 5);
}
END_TEST

/* ---- the check of C ------------------------------------------------------------------------------- */

enum { M = 5, N = 7, K = 3, PITCH = 8 };

/* A B with what surrounds it, and the matrices. */
static void multiply(struct gemm_matrices *matrices, float c[(M + 1) * PITCH]) {
    ck_assert_int_eq(gemm_matrices_make(NULL, matrices, M, N, K), 0);
    ck_assert_int_eq(matrices->problem.c_pitch, PITCH);
    memset(c, 0xff, (M + 1) * PITCH * sizeof *c);
    for (int i = 0; i < M * N; i++) {
        const int row = i / N, column = i % N;
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += matrices->a[row * matrices->problem.a_pitch + k] * matrices->b[k * PITCH + column];
        c[row * PITCH + column] = sum;
    }
}

START_TEST(test_check_accepts) {
    struct gemm_matrices matrices;
    float c[(M + 1) * PITCH];
    char wrong[200];
    multiply(&matrices, c);
    ck_assert(!gemm_matrices_differ(&matrices, c, wrong, sizeof wrong));
    gemm_matrices_free(&matrices);
}
END_TEST

/* Every single element, by the least that it can be wrong, and unwritten. */
START_TEST(test_check_finds_elements) {
    struct gemm_matrices matrices;
    float c[(M + 1) * PITCH];
    char wrong[200], expected[32];
    multiply(&matrices, c);
    for (int i = 0; i < M * N; i++) {
        float *element = &c[i / N * PITCH + i % N];
        const float right = *element;
        const float errors[] = {right + 1, right + 0.5f, NAN};
        for (int j = 0; j < 3; j++) {
            *element = errors[j];
            ck_assert(gemm_matrices_differ(&matrices, c, wrong, sizeof wrong));
            snprintf(expected, sizeof expected, "C[%d][%d] is ", i / N, i % N);
            ck_assert_ptr_eq(strstr(wrong, expected), wrong);
        }
        *element = right;
    }
    gemm_matrices_free(&matrices);
}
END_TEST

START_TEST(test_check_finds_what_is_outside) {
    struct gemm_matrices matrices;
    float c[(M + 1) * PITCH];
    char wrong[200];
    multiply(&matrices, c);
    for (int i = 0; i < (M + 1) * PITCH; i++) {
        if (i / PITCH < M && i % PITCH < N)
            continue;
        float *outside = &c[i], poison = *outside;
        *outside = 0;
        ck_assert(gemm_matrices_differ(&matrices, c, wrong, sizeof wrong));
        ck_assert_ptr_nonnull(strstr(wrong, "outside C"));
        memcpy(outside, &poison, sizeof poison);
    }
    ck_assert(!gemm_matrices_differ(&matrices, c, wrong, sizeof wrong));
    gemm_matrices_free(&matrices);
}
END_TEST

TCase *lab_gemm_tests(void) {
    TCase *tests = tcase_create("lab_gemm");
    tcase_add_test(tests, test_gemm_sectors);
    tcase_add_test(tests, test_gemm_conflicts);
    tcase_add_test(tests, test_gemm_wavefronts);
    tcase_add_test(tests, test_reuse);
    tcase_add_test(tests, test_stencil_sectors);
    tcase_add_test(tests, test_stencil_wavefronts);
    tcase_add_test(tests, test_check_accepts);
    tcase_add_test(tests, test_check_finds_elements);
    tcase_add_test(tests, test_check_finds_what_is_outside);
    return tests;
}
