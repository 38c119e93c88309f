/* SPDX-License-Identifier: Apache-2.0 */
/* The stencil ladder: its grid and its tiles, written once for the kernels and for what predicts their counters. */
#ifndef LAB_STENCIL_H
#define LAB_STENCIL_H

/* to = the six neighbours of `from` less six times the point itself; outside the grid everything is 0. Point (x, y, z)
 * lies at (z * ny + y) * pitch + x; the pitch is a multiple of 4, so that every row begins on 16 bytes, and what lies
 * between a row's end and the next is anything at all. Less than 2^31 elements. */
struct stencil {
    const float *from;
    float *to;
    int nx, ny, nz, pitch;
};

/* The naive step: one point a thread. */
#define STENCIL_NAIVE_X 32
#define STENCIL_NAIVE_Y 8

/* The others: a CTA marches up a column of the grid, plane by plane. 64 x 4 threads have 4 points each of a plane's
 * 64 x 16. */
#define STENCIL_X       64
#define STENCIL_Y       16
#define STENCIL_PLANES  64
#define STENCIL_THREADS 256
#define STENCIL_POINTS  4 /* of a thread */

/*  A plane in shared memory, with its rim, which lacks only the corners:
 *
 *      column     0 1 2    3     4 .. 67    68    69 70 71
 *      row 0                      rim
 *      row 1-16           rim    points     rim
 *      row 17                     rim
 *
 *  The points of a row begin on 16 bytes, as cp.async wants them. TMA brings the same image as a box of 72 x 18 from
 * (x - 4, y - 1) on, which begins and ends on 16 bytes too. */
#define STENCIL_FIRST 4
#define STENCIL_PITCH 72
#define STENCIL_ROWS  (STENCIL_Y + 2)
#define STENCIL_RING  4 /* planes of a pipeline; 3 without one */

#endif
