/* SPDX-License-Identifier: Apache-2.0 */
/* The device's fp32 peak, and the column of the ladders that says how much of it a point reaches. */
#include "lab/gemm_peak.h"

#include <math.h>
#include <string.h>

#define PER_CENT "% of fp32 peak"

/* An SM of 8.0 has 64 lanes for fp32, those of 8.6 and later 128. */
double gemm_peak_tflops(const struct gm_device *device) {
    const int lanes = device->cc_major == 8 && device->cc_minor == 0 ? 64 : 128;
    return device->sm_clock_mhz > 0 ? 2.0 * lanes * device->sm_count * device->sm_clock_mhz * 1e-6 : NAN;
}

void gemm_peak_add(struct lab *lab, struct lab_point *point) {
    if (!lab->simulated)
        lab_quantity(point, PER_CENT, NULL, NAN, 0);
}

void gemm_peak_fill(struct lab *lab) {
    for (size_t i = 0; i < lab->point_count; i++) {
        struct lab_point *point = &lab->points[i];
        for (size_t j = 0; j < point->quantity_count; j++) {
            if (strcmp(point->quantities[j].name, PER_CENT) == 0)
                point->quantities[j].counted =
                    round(1000 * lab_tflops(point) / gemm_peak_tflops(&lab->gpu.device)) / 10;
        }
    }
}
