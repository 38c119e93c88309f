/* SPDX-License-Identifier: Apache-2.0 */
/* The device's fp32 peak, and the column of the ladders that says how much of it a point reaches. */
#ifndef LAB_GEMM_PEAK_H
#define LAB_GEMM_PEAK_H

#include "lab/lab.h"

/* Of FFMA at the highest clock. NaN: the device's clock is not known. */
double gemm_peak_tflops(const struct gm_device *device);

/* The column, of a point that will be timed; nothing on the simulated GPU, which takes no times. */
void gemm_peak_add(struct lab *lab, struct lab_point *point);
/* Its numbers, once the times are there: call it in conclude(). */
void gemm_peak_fill(struct lab *lab);

#endif
