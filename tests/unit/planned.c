/* SPDX-License-Identifier: Apache-2.0 */
/* Plans on the fake driver. */
#include "planned.h"

#include "columns.h"
#include "common/gemm/tokens.h"
#include "host/types.h"

#include <stdio.h>
#include <stdlib.h>

gm_context *context;

void planned_set_up(void) {
    fake_install();
    context = NULL;
    ck_assert_int_eq(gm_context_create(0, &context), GM_OK);
}

void planned_tear_down(void) {
    gm_context_destroy(context);
    fake_remove();
}

void set_operand_types(struct gm_gemm_problem *p, const struct gm_kernel *row) {
    const int b_is_e5m2 = row->family == &gm_family_gemm_sm90 && row->columns[GM_GEMM_SM90_SWAP];
    p->ab_type = row->type;
    if (row->type != GM_E5M2)
        return;
    p->ab_type = b_is_e5m2 ? GM_E4M3 : GM_E5M2;
    p->has_b_type = 1;
    p->b_type = b_is_e5m2 ? GM_E5M2 : GM_E4M3;
}

struct gm_gemm_problem problem_for(const struct gm_kernel *row, int64_t m, int64_t n, int64_t k) {
    struct gm_gemm_problem p = problem_of(m, n, k);
    const int layout = gm_gemm_variant(row).layout;
    set_operand_types(&p, row);
    p.fast_accumulation = gm_gemm_variant(row).fast_accumulation;
    p.d_type = gm_type_bytes(row->type) == 4 || GM_TYPE_IS_FP8(row->type) ? GM_FP32
               : row->type == GM_INT8                                     ? GM_INT32
                                                                          : row->type;
    if (gm_gemm_variant(row).sum_scales) {
        p.a_scales = GM_PER_GROUP;
        p.b_scales = GM_PER_BLOCK;
    }
    p.a_major = GM_LAYOUT_A_MN(layout) ? GM_MN_MAJOR : GM_K_MAJOR;
    p.b_major = GM_LAYOUT_B_MN(layout) ? GM_MN_MAJOR : GM_K_MAJOR;
    if (gm_gemm_variant(row).gate) {
        p.gate = GM_GATE_HALVES;
        p.n = (n + 15) / 16 * 16;
    }
    if (gm_gemm_variant(row).extended) {
        p.amax = 1;
        p.d_type = p.d_type == GM_INT32 ? GM_BF16 : p.d_type;
    }
    return p;
}

gm_plan *plan_for(const struct gm_kernel *row, const struct gm_gemm_problem *problem) {
    const struct gm_plan_options options = {.size = sizeof options, .kernel = row->name};
    gm_plan *plan = NULL;
    ck_assert_msg(gm_gemm_plan_create(context, problem, &options, &plan) == GM_OK, "%s: %s", row->name,
                  gm_last_error());
    return plan;
}

const struct gm_kernel *row_of(const struct gm_family *family) {
    for (size_t i = 0; i < gemm_count(); i++)
        if (gm_kernels[i].family == family)
            return &gm_kernels[i];
    return NULL;
}

int has_maps(const struct gm_kernel *row) {
    return row->family == &gm_family_gemm_sm90;
}

const struct gm_epilogue_params *launched_epilogue(const struct gm_kernel *row) {
    return has_maps(row) ? &fake.launch.params.sm90.epilogue : &fake.launch.params.sm80.epilogue;
}

struct explained explained_room(void) {
    const size_t count = gm_kernel_count();
    return (struct explained){calloc(count, sizeof(struct gm_candidate)), count};
}

const struct gm_kernel *chosen_of(struct explained *all, const char *operation, char *said, size_t bytes) {
    const struct gm_kernel *kernel = NULL;
    size_t used = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct gm_candidate *candidate = &all->candidates[i];
        ck_assert_str_eq(gm_kernels[candidate->kernel].family->operation->name, operation);
        if (used < bytes)
            used += (size_t)snprintf(said + used, bytes - used, "%s\n", candidate->sentence);
        if (candidate->chosen)
            kernel = &gm_kernels[candidate->kernel];
    }
    free(all->candidates);
    return kernel;
}

struct gm_gemm_args args_apart(void) {
    return (struct gm_gemm_args){.size = sizeof(struct gm_gemm_args),
                                 .a = ADDRESS_A,
                                 .b = ADDRESS_B,
                                 .c = ADDRESS_C,
                                 .d = ADDRESS_D,
                                 .bias = ADDRESS_BIAS,
                                 .amax = ADDRESS_AMAX,
                                 .a_scales = ADDRESS_A_SCALES,
                                 .b_scales = ADDRESS_B_SCALES};
}
