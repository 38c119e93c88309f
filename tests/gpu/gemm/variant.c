/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a kernel of GEMM. */
#include "gemm/gemm_tests.h"

bool read_variant(size_t kernel, struct variant *variant) {
    *variant = (struct variant){{.size = sizeof variant->kernel}, {.size = sizeof variant->gemm}};
    return gm_kernel_get(kernel, &variant->kernel) == GM_OK && gm_gemm_kernel_get(kernel, &variant->gemm) == GM_OK;
}

bool uses_tma(const struct variant *variant) {
    return strcmp(variant->kernel.family, "gemm_sm90") == 0;
}

/* Halves and pairs, and the gate's numbers, by turns of what cases differ in. */
struct gemm_case fit_gate(const struct variant *variant, const struct gemm_case *gc) {
    struct gemm_case fit = *gc;
    const int turn = (int)((gc->m + gc->n + gc->k) % 4);
    if (!variant->gemm.gate)
        return fit;
    fit.n = (gc->n + 15) / 16 * 16;
    fit.d_pad -= gc->d_pad ? (8 - gc->n % 8) % 8 : 0;
    fit.d_type = gc->ab_type;
    fit.gate = turn % 2 ? GM_GATE_PAIRS : GM_GATE_HALVES;
    /* Of a row as long as one box the simulator would take an up for the rest of its gate. */
    if (fit.gate == GM_GATE_PAIRS && gc->k <= 64 && gc->b_pad == 0 && !gc->exact)
        fit.b_pad = 8;
    fit.limit = turn == 2 ? 40 : 0;
    fit.up_offset = turn >= 2 ? 1 : 0;
    fit.sigmoid_factor = turn == 3 ? 1.5f : 0;
    fit.bias = gc->bias == GM_BIAS_M ? GM_BIAS_N : gc->bias;
    fit.beta = 0;
    fit.in_place = fit.c_is_nan = false;
    return fit;
}

enum gm_type d_type_of(const struct variant *variant) {
    const enum gm_type type = variant->kernel.type;
    return type == GM_INT8 ? GM_BF16 : gm_type_bytes(type) == 4 ? GM_FP32 : type;
}

bool is_gemv(const struct variant *variant) {
    return strcmp(variant->kernel.family, "gemv") == 0;
}
