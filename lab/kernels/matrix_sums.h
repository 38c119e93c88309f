/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of the kernels of matrix_sums.cu, and where an element of a tile lies, for them and for what predicts them. */
#ifndef LAB_MATRIX_SUMS_H
#define LAB_MATRIX_SUMS_H

#define MATRIX_THREADS 256
#define MATRIX_STRIP   1024 /* elements of a row or a column that a CTA adds up; an atomic joins the strips */
#define MATRIX_TILE    32

#define MATRIX_PLAIN(row, column)  ((row) * MATRIX_TILE + (column))
#define MATRIX_PADDED(row, column) ((row) * (MATRIX_TILE + 1) + (column))

#endif
