/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a plan: check, fill in the pointers, launch. No lock, no allocation, no question to the device. */
#include "arguments.h"
#include "choose.h"
#include "cost.h"
#include "error.h"
#include "replay.h"
#include "structs.h"
#include "table.h"

static void fill_epilogue(struct gm_epilogue_params *e, const struct gm_gemm_problem *p,
                          const struct gm_gemm_args *args, float alpha, float beta) {
    const int bytes = gm_type_bytes(p->d_type);
    e->c = args->c;
    e->d = args->d;
    e->bias = args->bias;
    e->alpha = alpha;
    e->beta = beta;
    e->c_vector = gm_copy_bytes(args->c, p->ldc * bytes, p->m) == 16;
    e->d_vector = gm_copy_bytes(args->d, p->ldd * bytes, p->m) == 16;
}

static CUresult launch(const gm_plan *plan, void *params, void *stream) {
    CUlaunchConfig config = plan->config;
    CUlaunchAttribute attributes[2] = {plan->attributes[0], plan->attributes[1]};
    void *pointers[] = {params};
    CUresult result;
    if (gm_replay_launch(plan, params, (CUstream)stream, &result))
        return result;
    config.hStream = (CUstream)stream;
    config.attrs = attributes;
    return plan->context->driver->cuLaunchKernelEx(&config, plan->function, pointers, NULL);
}

/* This call's address into a map of the plan, where the map is in use and nothing has failed so far. */
static void readdress(const struct gm_driver *driver, struct gm_tensor_map *map, gm_device_ptr address, int in_use,
                      CUresult *result) {
    if (in_use && *result == CUDA_SUCCESS)
        *result = driver->cuTensorMapReplaceAddress(map->bytes, (void *)(uintptr_t)address);
}

static CUresult launch_sm90(const gm_plan *plan, const struct gm_gemm_args *args, float alpha, float beta,
                            void *stream) {
    const struct gm_driver *driver = plan->context->driver;
    const struct gm_gemm_problem *p = &plan->problem;
    struct gm_gemm_sm90_params params = plan->params.sm90;
    fill_epilogue(&params.epilogue, p, args, alpha, beta);
    params.plain = params.plain && beta == 0;
    params.stream_k.workspace = args->workspace;
    CUresult result = CUDA_SUCCESS;
    readdress(driver, &params.a, args->a, 1, &result);
    readdress(driver, &params.b, args->b, 1, &result);
    readdress(driver, &params.d, args->d, 1, &result);
    readdress(driver, &params.a_tail, args->a, params.a_tiles.rows, &result);
    readdress(driver, &params.b_tail, args->b, params.b_tiles.rows, &result);
    return result == CUDA_SUCCESS ? launch(plan, &params, stream) : result;
}

static CUresult launch_sm80(const gm_plan *plan, const struct gm_gemm_args *args, float alpha, float beta,
                            void *stream) {
    const struct gm_gemm_problem *p = &plan->problem;
    const struct gm_operand a = gm_operand_a(p), b = gm_operand_b(p);
    struct gm_gemm_sm80_params params = plan->params.sm80;
    fill_epilogue(&params.epilogue, p, args, alpha, beta);
    params.a = args->a;
    params.b = args->b;
    params.stream_k.workspace = args->workspace;
    params.a_vector = gm_copy_bytes(args->a, a.stride * a.element_bytes, a.rows);
    params.b_vector = gm_copy_bytes(args->b, b.stride * b.element_bytes, b.rows);
    return launch(plan, &params, stream);
}

static CUresult attempt(const gm_plan *plan, const struct gm_gemm_args *args, float alpha, float beta, void *stream) {
    return gm_uses_tma(&gm_kernels[plan->kernel]) ? launch_sm90(plan, args, alpha, beta, stream)
                                                  : launch_sm80(plan, args, alpha, beta, stream);
}

/* What the driver answers when the thread has no context, another one, or a stream of another one. */
static int context_mismatch(CUresult result) {
    return result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_INVALID_HANDLE ||
           result == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

static enum gm_status launch_failed(const gm_plan *plan, CUresult result) {
    const struct gm_device *device = &plan->context->device;
    const char *name = gm_kernels[plan->kernel].name;
    if (context_mismatch(result))
        return gm_fail_cuda(GM_ERROR_WRONG_DEVICE, result,
                            "the plan is of device %d (%s); the stream is of another device or context, or not alive",
                            device->ordinal, device->name);
    return gm_fail_cuda(GM_ERROR_LAUNCH, result, "the driver refused to launch %s (grid %u, block %u, %u bytes)", name,
                        plan->config.gridDimX, plan->config.blockDimX, plan->config.sharedMemBytes);
}

static enum gm_status execute(const gm_plan *plan, const struct gm_gemm_args *args, void *stream) {
    const float alpha = args->alpha ? *args->alpha : 1;
    const float beta = args->beta ? *args->beta : 0;
    enum gm_status status = gm_arguments_check(plan, args, beta);
    if (status != GM_OK)
        return status;

    CUresult result = attempt(plan, args, alpha, beta, stream);
    if (context_mismatch(result)) {
        status = gm_context_enter(plan->context);
        if (status != GM_OK)
            return status;
        result = attempt(plan, args, alpha, beta, stream);
        if (context_mismatch(result))
            status = gm_context_check(plan->context, plan->function, result);
        gm_context_leave(plan->context);
        if (status != GM_OK)
            return status;
    }
    return result == CUDA_SUCCESS ? GM_OK : launch_failed(plan, result);
}

/* The problem that was planned is the transposed one, in which A and B have changed places. */
static enum gm_status execute_transposed(const gm_plan *plan, const struct gm_gemm_args *args, void *stream) {
    struct gm_gemm_args transposed = *args;
    transposed.a = args->b;
    transposed.b = args->a;
    return execute(plan, &transposed, stream);
}

enum gm_status gm_gemm_execute(const gm_plan *plan, const struct gm_gemm_args *args, void *stream) {
    if (!plan)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "plan is NULL");
    struct gm_gemm_args today;
    const enum gm_status status = GM_TAKE(args, &today, "args");
    if (status != GM_OK || plan->empty)
        return status;
    return plan->flags & GM_PLAN_TRANSPOSED ? execute_transposed(plan, args, stream) : execute(plan, args, stream);
}

enum gm_status gm_gemm(gm_context *context, const struct gm_gemm_problem *problem, const struct gm_gemm_args *args,
                       void *stream) {
    const struct gm_plan_options options = {.size = sizeof options, .flags = GM_PLAN_PLAIN_LAUNCH};
    gm_plan *plan = NULL;
    enum gm_status status = gm_gemm_plan_create(context, problem, &options, &plan);
    if (status == GM_OK)
        status = gm_gemm_execute(plan, args, stream);
    gm_plan_destroy(plan);
    return status;
}
