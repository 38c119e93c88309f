/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of the carve-out experiment: one entry point for each wish, since the wish is the kernel's. */
#ifndef LAB_CARVE_OUT_H
#define LAB_CARVE_OUT_H

/* The carve-outs that are asked for, in per cent of an SM's shared memory. */
#define CARVE_OUT_PERCENTS(X) X(0) X(3) X(5) X(10) X(20) X(30) X(40) X(50) X(60) X(70) X(80) X(90) X(100)

#define CARVE_OUT_READERS 1024       /* threads of a block that reads */
#define CARVE_OUT_SET     (96 << 10) /* bytes that it reads again and again */
#define CARVE_OUT_VECTORS (CARVE_OUT_SET / 16 / CARVE_OUT_READERS)

#define CARVE_OUT_STEP 97 /* words from one hop to the next, in a block that lives in shared memory */

#endif
