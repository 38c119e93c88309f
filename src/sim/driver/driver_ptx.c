/* SPDX-License-Identifier: Apache-2.0 */
/* What a PTX text holds, for programs that launch kernels they know nothing of. */
#include "sim/driver/driver_sim.h"

#include <stdlib.h>
#include <string.h>

struct gm_sim_ptx {
    struct ptx_module *module;
};

struct gm_sim_ptx *gm_sim_ptx_read(const char *text, char *message, size_t bytes) {
    struct gm_sim_ptx *ptx = text ? calloc(1, sizeof *ptx) : NULL;
    if (!ptx)
        return NULL;
    ptx->module = ptx_parse(text, strlen(text), message, bytes);
    if (ptx->module)
        return ptx;
    free(ptx);
    return NULL;
}

void gm_sim_ptx_free(struct gm_sim_ptx *ptx) {
    if (!ptx)
        return;
    ptx_free(ptx->module);
    free(ptx);
}

static const struct ptx_function *function_at(const struct gm_sim_ptx *ptx, size_t index) {
    return ptx && index < ptx->module->function_count ? &ptx->module->functions[index] : NULL;
}

/* The n-th variable in shared memory that the kernel names. */
static const struct ptx_variable *shared_at(const struct ptx_function *function, size_t index) {
    for (uint32_t n = 0; n < function->variable_count; n++)
        if (function->variables[n].space == PTX_SPACE_SHARED && index-- == 0)
            return &function->variables[n];
    return NULL;
}

int gm_sim_ptx_kernel(const struct gm_sim_ptx *ptx, size_t index, struct gm_sim_kernel *kernel) {
    const struct ptx_function *function = function_at(ptx, index);
    if (!function || !kernel)
        return -1;
    *kernel = (struct gm_sim_kernel){.name = function->name,
                                     .parameters = function->parameter_count,
                                     .static_shared = function->static_shared_bytes};
    while (shared_at(function, kernel->variables))
        kernel->variables++;
    if (function->threads_required)
        memcpy(kernel->threads, function->max_threads, sizeof kernel->threads);
    memcpy(kernel->cluster, function->required_cluster, sizeof kernel->cluster);
    return 0;
}

int gm_sim_ptx_parameter(const struct gm_sim_ptx *ptx, size_t kernel, size_t index,
                         struct gm_sim_parameter *parameter) {
    const struct ptx_function *function = function_at(ptx, kernel);
    if (!function || !parameter || index >= function->parameter_count)
        return -1;
    const struct ptx_parameter *known = &function->parameters[index];
    const uint32_t bits = (uint32_t)strtoul(known->type + strcspn(known->type, "0123456789"), NULL, 10);
    *parameter = (struct gm_sim_parameter){
        .type = known->type[0], .bytes = known->bytes, .element_bytes = bits ? bits / 8 : known->bytes};
    return 0;
}

int gm_sim_ptx_variable(const struct gm_sim_ptx *ptx, size_t kernel, size_t index, struct gm_sim_variable *variable) {
    const struct ptx_function *function = function_at(ptx, kernel);
    const struct ptx_variable *known = function ? shared_at(function, index) : NULL;
    if (!known || !variable)
        return -1;
    *variable = (struct gm_sim_variable){
        .name = known->name, .address = (uint32_t)known->address, .bytes = (uint32_t)known->bytes};
    return 0;
}
