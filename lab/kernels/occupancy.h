/* SPDX-License-Identifier: Apache-2.0 */
/* The tile of the kernels that show what an SM's blocks are worth, and where its elements lie. */
#ifndef LAB_OCCUPANCY_H
#define LAB_OCCUPANCY_H

/* 56 KB of floats: four such blocks fit the 228 KB of an SM of 9.0, with the KB that each of them loses; with one float
 * more a row, three. */
#define OCCUPANCY_ROWS    128
#define OCCUPANCY_COLUMNS 112
#define OCCUPANCY_THREADS 256

/* The word of the tile in which element (row, column) lies: as it is, with a pad of `pad` words a row, and swizzled. A
 * row is 3.5 times the banks, so two rows share theirs with the rows two further on: 16 rows by the XOR of four bits. */
#define OCCUPANCY_PADDED(row, column, pad) ((row) * (OCCUPANCY_COLUMNS + (pad)) + (column))
#define OCCUPANCY_XOR(row, column)         ((row) * OCCUPANCY_COLUMNS + ((column) ^ ((row) / 2 % 16)))

#endif
