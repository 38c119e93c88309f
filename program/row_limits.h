/* SPDX-License-Identifier: Apache-2.0 */
/* What arithmetic alone says of a kernel on a device. Pure. */
#ifndef PROGRAM_ROW_LIMITS_H
#define PROGRAM_ROW_LIMITS_H

#include "host/table.h"

struct kernel_limits {
    int ctas_per_sm;           /* 0: it does not fit the device */
    double flop_per_fill_byte; /* of GEMM: operations for each byte that fills shared memory */
    double flop_per_l2_byte;   /* ... for each byte read from L2: multicast shares an operand in a cluster */
    double tensor_share;       /* of the dense tensor rate, as the planner has it; 0: no tensor cores */
    double tensor_tflops;      /* that share of the device's datasheet rate; 0: unknown */
};

struct kernel_limits limits_of(const struct gm_kernel *kernel, const struct gm_device *device);

#endif
