/* SPDX-License-Identifier: Apache-2.0 */
/* What arithmetic alone says of a table row on a device. Pure. */
#ifndef BENCH_ROW_LIMITS_H
#define BENCH_ROW_LIMITS_H

#include "gristmill/gristmill.h"

struct kernel_limits {
    int ctas_per_sm;           /* 0: it does not fit the device */
    double flop_per_fill_byte; /* operations for each byte that fills shared memory */
    double flop_per_l2_byte;   /* ... for each byte read from L2: multicast shares an operand in a cluster */
    double tensor_share;       /* of the dense tensor rate that the row's instruction shape can reach */
    double tensor_tflops;      /* that share of the device's datasheet rate; 0: unknown */
};

struct kernel_limits limits_of(const struct gm_kernel_info *kernel, const struct gm_device *device);

/* Tensor cycles of one wgmma m64nNk16 on an SM: N / 2, but never under the 16 + N / 4 that reading B takes. */
double limits_wgmma_cycles(int n);

#endif
