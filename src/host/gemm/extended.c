/* SPDX-License-Identifier: Apache-2.0 */
/* Extended epilogues of GEMM: what they are refused for, and what a launch is told. */
#include "host/gemm/extended.h"

#include "host/check_problem.h"
#include "host/error.h"

#include <inttypes.h>

struct gm_out gm_gemm_out(const struct gm_gemm_problem *p) {
    return (struct gm_out){.rows = p->m,
                           .columns = gm_gemm_columns(p),
                           .type = p->d_type,
                           .of = GM_FP32,
                           .has_type = 1,
                           .scaling = p->d_scaling,
                           .scale_format = p->d_scale_format,
                           .scale_order = p->d_scale_order,
                           .division = p->d_division,
                           .group = p->d_group,
                           .scales_stride = p->d_scales_stride,
                           .scale_floor = p->d_scale_floor};
}

static enum gm_status check_enums(const struct gm_gemm_problem *p) {
    enum gm_status status = gm_check_enum("has_c_type", p->has_c_type, 0, 1);
    if (status == GM_OK && p->has_c_type && p->d_type != GM_INT32)
        status = gm_check_enum("c_type", (int)p->c_type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_enum("residual", p->residual, 0, 1);
    if (status == GM_OK && p->residual)
        status = gm_check_enum("residual_type", (int)p->residual_type, GM_BF16, GM_FP32);
    return status == GM_OK ? gm_check_enum("amax", p->amax, 0, 1) : status;
}

/* The scales of a D of 8 bits; of any other they mean nothing. */
static enum gm_status check_scales(struct gm_gemm_problem *p) {
    struct gm_out out = gm_gemm_out(p);
    if (!gm_gemm_has_8_bits(p)) {
        out = (struct gm_out){0};
    } else {
        const enum gm_status status = gm_out_normalize(&out);
        if (status != GM_OK)
            return status;
    }
    p->d_scaling = out.scaling;
    p->d_scale_format = out.scale_format;
    p->d_scale_order = out.scale_order;
    p->d_division = out.division;
    p->d_group = out.group;
    p->d_scales_stride = out.scales_stride;
    p->d_scale_floor = out.scale_floor;
    return GM_OK;
}

static enum gm_status check_fit(const struct gm_gemm_problem *p) {
    if (!gm_gemm_is_extended(p))
        return GM_OK;
    if (gm_type_bytes(p->ab_type) == 4 || p->d_type == GM_INT32)
        return gm_fail(
            GM_ERROR_INVALID_ARGUMENT,
            "an extended epilogue (scales, c_type, residual, amax, D of 8 bits) is of bf16 and fp16, of fp8, "
            "and of int8 with scales; A and B are %s and D is %s",
            gm_type_name(p->ab_type), gm_type_name(p->d_type));
    if (gm_gemm_is_batch(p))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "a batch has no extended epilogue: no scales of 16-bit operands, c_type, residual, amax, or D "
                       "of 8 bits");
    if (p->residual && p->gate != GM_GATE_NONE)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "there is no residual beside a gate");
    return GM_OK;
}

enum gm_status gm_gemm_check_extended(struct gm_gemm_problem *p) {
    enum gm_status status = check_enums(p);
    if (status == GM_OK)
        status = check_scales(p);
    if (status != GM_OK)
        return status;
    if (!p->has_c_type || p->d_type == GM_INT32)
        p->c_type = gm_gemm_type_before(p);
    p->has_c_type = 1;
    if (!p->residual) {
        p->residual_type = GM_BF16;
        p->ldr = 0;
    }
    status = check_fit(p);
    return status == GM_OK && p->residual
               ? gm_fill_stride("ldr", &p->ldr, p->m, gm_gemm_columns(p), gm_type_bytes(p->residual_type))
               : status;
}

/* ---- a launch ------------------------------------------------------------------------------------------- */

struct gm_extension_params gm_gemm_extension_template(const struct gm_gemm_problem *p) {
    struct gm_extension_params extension = {
        .ldr = p->ldr, .residual_type = (int32_t)p->residual_type, .c_type = (int32_t)p->c_type};
    if (gm_gemm_has_8_bits(p)) {
        const struct gm_out out = gm_gemm_out(p);
        extension.store = gm_out_store(&out);
    }
    return extension;
}

void gm_gemm_bind_extension(const struct gm_gemm_problem *p, const struct gm_gemm_args *args,
                            struct gm_extension_params *extension) {
    extension->residual = p->residual ? args->residual : 0;
    extension->amax = p->amax ? args->amax : 0;
    extension->store.scales = args->d_scales;
    extension->c_vector = gm_copy_bytes(args->c, p->ldc * gm_type_bytes(p->c_type), p->m);
    extension->residual_vector = gm_copy_bytes(args->residual, p->ldr * gm_type_bytes(p->residual_type), p->m);
}
