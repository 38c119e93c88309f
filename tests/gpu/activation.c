/* SPDX-License-Identifier: Apache-2.0 */
/* Activations in double, and the errors that include/gristmill/core.h promises. */
#include <math.h>

#include "gpu_tests.h"

/* x sigmoid(y) without a difference of near equals; its limit at -inf. */
static double gate(double x, double y) {
    return x == -INFINITY ? -0.0 : x / (1 + exp(-y));
}

double activation_value(enum gm_activation activation, double x) {
    switch (activation) {
    case GM_ACT_RELU:
        return x < 0 ? 0 : x;
    case GM_ACT_GELU_TANH:
        return gate(x, 2 * 0.7978845608028654 * (x + 0.044715 * x * x * x));
    case GM_ACT_GELU_ERF:
        return x == -INFINITY ? -0.0 : 0.5 * x * erfc(-x * 0.7071067811865476);
    case GM_ACT_SILU:
        return gate(x, x);
    default:
        return x;
    }
}

/* |error| <= (base + slope |y|) |value| and one rounding, where the tail of negative x is proportional to exp(y). */
static const struct {
    double base, slope;
} bounds[] = {[GM_ACT_GELU_TANH] = {0x1p-20, 0x1p-22},
              [GM_ACT_GELU_ERF] = {0x1p-19, 0x1p-27}, /* carries the exponent's rounding */
              [GM_ACT_SILU] = {0x1p-20, 0x1p-22}};

static double tail_exponent(enum gm_activation activation, double x) {
    if (x >= 0)
        return 0;
    return activation == GM_ACT_GELU_ERF    ? -x * x / 2
           : activation == GM_ACT_GELU_TANH ? 1.5957691216057308 * (x + 0.044715 * x * x * x)
                                            : x;
}

double activation_error(enum gm_activation activation, double x) {
    if (activation <= GM_ACT_RELU || activation > GM_ACT_SILU || !isfinite(x))
        return 0;
    return fabs(activation_value(activation, x)) *
           (bounds[activation].base + bounds[activation].slope * -tail_exponent(activation, x));
}
