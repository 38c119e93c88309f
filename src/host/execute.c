/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a plan of any operation: check, fill in the pointers, launch. No lock, no allocation, no question to the
 * device. */
#include "host/check_args.h"
#include "host/error.h"
#include "host/launch_graph.h"
#include "host/plan.h"
#include "host/structs.h"

#include <string.h>

#define ARGS_MAX 512 /* bytes of any operation's argument struct */

static CUresult launch(const gm_plan *plan, void *params, void *stream) {
    CUlaunchConfig config = plan->config;
    CUlaunchAttribute attributes[2] = {plan->attributes[0], plan->attributes[1]};
    void *pointers[] = {params};
    CUresult result;
    if (gm_launch_by_graph(plan, params, (CUstream)stream, &result))
        return result;
    config.hStream = (CUstream)stream;
    config.attrs = attributes;
    return plan->context->driver->cuLaunchKernelEx(&config, plan->function, pointers, NULL);
}

static CUresult bind_and_launch(const gm_plan *plan, const void *args, void *stream) {
    _Alignas(GM_PARAMS_ALIGN) unsigned char params[GM_PARAMS_MAX];
    const struct gm_family *family = plan->kernel->family;
    memcpy(params, plan->params, family->params_bytes);
    const CUresult result = family->bind(plan, args, params);
    return result == CUDA_SUCCESS ? launch(plan, params, stream) : result;
}

/* What the driver answers when the thread has no context, another one, or a stream of another one. */
static int context_mismatch(CUresult result) {
    return result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_INVALID_HANDLE ||
           result == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

static enum gm_status launch_failed(const gm_plan *plan, CUresult result) {
    const struct gm_device *device = &plan->context->device;
    if (context_mismatch(result))
        return gm_fail_cuda(GM_ERROR_WRONG_DEVICE, result,
                            "the plan is of device %d (%s); the stream is of another device or context, or not alive",
                            device->ordinal, device->name);
    return gm_fail_cuda(GM_ERROR_LAUNCH, result, "the driver refused to launch %s (grid %u, block %u, %u bytes)",
                        plan->kernel->name, plan->config.gridDimX, plan->config.blockDimX, plan->config.sharedMemBytes);
}

static enum gm_status check(const gm_plan *plan, const void *args) {
    struct gm_range ranges[GM_RANGES_MAX];
    struct gm_workspace workspace = {.needed = plan->workspace_bytes};
    if (plan->operation->check_call) {
        const enum gm_status status = plan->operation->check_call(plan->problem, args);
        if (status != GM_OK)
            return status;
    }
    const int count = plan->operation->ranges(plan->problem, args, ranges, &workspace);
    return gm_check_args(ranges, count, &workspace);
}

/* The launch, with the plan's context current where the thread's own would not do. */
static enum gm_status launch_checked(const gm_plan *plan, const void *args, void *stream) {
    CUresult result = bind_and_launch(plan, args, stream);
    if (context_mismatch(result)) {
        enum gm_status status = gm_context_enter(plan->context);
        if (status != GM_OK)
            return status;
        result = bind_and_launch(plan, args, stream);
        if (context_mismatch(result))
            status = gm_context_check(plan->context, plan->function, result);
        gm_context_leave(plan->context);
        if (status != GM_OK)
            return status;
    }
    return result == CUDA_SUCCESS ? GM_OK : launch_failed(plan, result);
}

/* Every step checks its own arguments, which the call's make legal. */
static enum gm_status launch_steps(const gm_plan *plan, const void *args, void *stream) {
    const struct gm_sequence *sequence = &plan->steps->sequence;
    _Alignas(8) unsigned char own[ARGS_MAX];
    enum gm_status status = GM_OK;
    for (int i = 0; i <= sequence->count && status == GM_OK; i++) {
        const int number = gm_sequence_at(sequence, i);
        const gm_plan *step = plan->steps->plans[number];
        plan->operation->sequences->arguments(sequence, number, args, own);
        status = gm_plan_execute(step, step->operation, own, stream);
    }
    return status;
}

enum gm_status gm_plan_execute(const gm_plan *plan, const struct gm_operation *operation, const void *args,
                               void *stream) {
    _Alignas(8) unsigned char today[ARGS_MAX];
    if (!plan)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "plan is NULL");
    if (plan->operation != operation)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "the plan is of %s, not of %s", plan->operation->name,
                       operation->name);
    if (!args || *(const size_t *)args != operation->args_bytes) {
        args = gm_struct_take(args, today, operation->args_bytes_least, operation->args_bytes, "args");
        if (!args)
            return gm_last_status();
    }
    if (plan->empty)
        return GM_OK;
    const enum gm_status status = check(plan, args);
    if (status != GM_OK)
        return status;
    return plan->steps ? launch_steps(plan, args, stream) : launch_checked(plan, args, stream);
}

enum gm_status gm_plan_and_execute(const struct gm_operation *operation, gm_context *context, const void *problem,
                                   const void *args, void *stream) {
    const struct gm_plan_options options = {.size = sizeof options, .flags = GM_PLAN_PLAIN_LAUNCH};
    gm_plan *plan = NULL;
    enum gm_status status = gm_plan_create(operation, context, problem, &options, &plan);
    if (status == GM_OK)
        status = gm_plan_execute(plan, operation, args, stream);
    gm_plan_destroy(plan);
    return status;
}
