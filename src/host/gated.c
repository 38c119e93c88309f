/* SPDX-License-Identifier: Apache-2.0 */
#include "host/gated.h"

#include "host/check_problem.h"

#include <math.h>

enum gm_status gm_check_gated(enum gm_activation activation, float limit, float *sigmoid_factor, float up_offset) {
    enum gm_status status = gm_check_real("limit", limit, 0);
    if (status == GM_OK)
        status = gm_check_real("sigmoid_factor", *sigmoid_factor, 0);
    if (status == GM_OK)
        status = gm_check_real("up_offset", up_offset, -INFINITY);
    if (status == GM_OK && (*sigmoid_factor == 0 || activation != GM_ACT_SILU))
        *sigmoid_factor = 1;
    return status;
}

float gm_silu_exponent(float sigmoid_factor) {
    return -0.72134752f * sigmoid_factor;
}
