/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of any type, as the benchmark knows them. */
#include "bench/out.h"

struct bench_operand bench_scales(const struct gm_out *out, size_t argument, enum bench_access access) {
    const struct gm_matrix scales = gm_scales_of(out);
    const enum gm_type type = scales.element_bytes == 1 ? GM_UINT8 : GM_FP32;
    return (struct bench_operand){"scales", type, 1, scales.rows * scales.columns, argument, access};
}

int bench_out_operands(const struct gm_out *out, size_t out_argument, size_t scales_argument,
                       struct bench_operand found[2]) {
    found[0] = (struct bench_operand){
        "out", out->has_type ? out->type : out->of, out->rows, out->columns, out_argument, BENCH_WRITTEN};
    if (!gm_out_has_8_bits(out))
        return 1;
    found[1] = bench_scales(out, scales_argument, out->scaling == GM_SCALE_STATIC ? BENCH_READ : BENCH_WRITTEN);
    return 2;
}

struct bench_tolerance bench_out_tolerance(const struct bench_operand *operand, double unit) {
    if (operand->type == GM_E4M3 || operand->type == GM_E5M2)
        unit = operand->type == GM_E4M3 ? 0x1p-3 : 0x1p-2;
    if (operand->type == GM_INT8 || operand->type == GM_UINT8)
        return (struct bench_tolerance){.absolute = 1};
    return (struct bench_tolerance){.relative = 4 * unit, .absolute = unit};
}
