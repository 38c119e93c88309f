/* SPDX-License-Identifier: Apache-2.0 */
/* What arithmetic alone says of a table row on a device. Pure. */
#ifndef BENCH_ROW_LIMITS_H
#define BENCH_ROW_LIMITS_H

#include "table.h"

struct kernel_limits {
    int ctas_per_sm;           /* 0: it does not fit the device */
    double flop_per_fill_byte; /* operations for each byte that fills shared memory */
    double flop_per_l2_byte;   /* ... for each byte read from L2: multicast shares an operand in a cluster */
    double tensor_share;       /* of the dense tensor rate that the row can reach, by the planner's model */
    double tensor_tflops;      /* that share of the device's datasheet rate; 0: unknown */
};

struct kernel_limits limits_of(const struct gm_kernel *row, const struct gm_device *device);

#endif
