/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, options and problems as callers give them: checked, with a sentence for everything wrong. */
#include "host/options.h"

#include "host/device.h"
#include "host/error.h"
#include "host/family.h"
#include "host/structs.h"

#define KNOWN_FLAGS                                                                                                    \
    (GM_PLAN_MODEL_ONLY | GM_PLAN_PLAIN_LAUNCH | GM_PLAN_NO_OVERLAP | GM_PLAN_CONSTANT_B | GM_PLAN_BATCH_INVARIANT)

enum gm_status gm_device_read(const struct gm_device *given, struct gm_device *device) {
    const enum gm_status status = gm_device_take(&given, device);
    if (status != GM_OK)
        return status;
    if (given != device)
        *device = *given;
    if (device->sm_count <= 0 || device->smem_per_block_bytes <= 0 || device->cc_major <= 0)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "the device has %d SMs, %d bytes of shared memory per block, compute capability %d.%d",
                       device->sm_count, device->smem_per_block_bytes, device->cc_major, device->cc_minor);
    return GM_OK;
}

struct gm_device gm_device_under_budget(const struct gm_device *device, const struct gm_plan_options *options) {
    struct gm_device allowed = *device;
    if (options->sm_budget > 0 && options->sm_budget < allowed.sm_count) {
        allowed.sm_count = options->sm_budget;
        allowed.max_threads_per_sm = 1; /* one CTA per SM of the budget: the driver spreads them over all SMs */
    }
    return allowed;
}

static enum gm_status check_kernel(const struct gm_operation *operation, const char *name) {
    const int named = gm_find_kernel(gm_kernels, gm_kernel_count(), name);
    if (named < 0)
        return gm_fail(GM_ERROR_UNKNOWN_KERNEL, "the table has no kernel named %.120s", name);
    if (gm_kernels[named].family->operation != operation)
        return gm_fail(GM_ERROR_UNKNOWN_KERNEL, "%.120s is a kernel of %s, not of %s", name,
                       gm_kernels[named].family->operation->name, operation->name);
    return GM_OK;
}

enum gm_status gm_options_read(const struct gm_operation *operation, const struct gm_plan_options *given,
                               struct gm_plan_options *options) {
    *options = (struct gm_plan_options){.size = sizeof *options, .argument_sets = 1};
    if (!given)
        return GM_OK;
    const enum gm_status status = GM_TAKE(given, options, "options");
    if (status != GM_OK)
        return status;
    if (given != options)
        *options = *given;
    if (options->arch_mask & ~gm_arch_bits())
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "arch_mask is 0x%x; known bits are 0x%x", options->arch_mask,
                       gm_arch_bits());
    if (options->flags & ~(uint32_t)KNOWN_FLAGS)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "flags is 0x%x; known bits are 0x%x", options->flags, KNOWN_FLAGS);
    if (options->sm_budget < 0)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "sm_budget is %d; it is a number of SMs, 0 for all",
                       options->sm_budget);
    if (options->argument_sets < 0 || options->argument_sets > GM_ARGUMENT_SETS_MAX)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "argument_sets is %d; it is a number from 1 to %d, 0 for 1",
                       options->argument_sets, GM_ARGUMENT_SETS_MAX);
    options->argument_sets += options->argument_sets == 0;
    return options->kernel ? check_kernel(operation, options->kernel) : GM_OK;
}

enum gm_status gm_problem_read(const struct gm_operation *operation, const void *given,
                               const struct gm_plan_options *options, void *problem) {
    if (!gm_struct_take(given, problem, operation->problem_bytes_least, operation->problem_bytes, "problem"))
        return gm_last_status();
    const enum gm_status status = operation->normalize(problem);
    if (status == GM_OK && operation->simplify)
        operation->simplify(problem, options);
    return status;
}
