/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and destroys GEMM plans. */
#include "plan.h"

#include "choose.h"
#include "cost.h"
#include "error.h"
#include "log.h"
#include "replay.h"
#include "tensor_map.h"

#include <stdio.h>
#include <stdlib.h>

#define OVERLAP_DRIVER 12030     /* as cuDriverGetVersion */
#define DUMMY_ADDRESS  0x1000000 /* what a template map points at until execute replaces it */

static enum gm_status encode(gm_plan *plan, const char *letter, struct gm_map_desc desc, struct gm_tensor_map *map) {
    char why[160];
    const char *of = plan->flags & GM_PLAN_TRANSPOSED ? " (in D^T = B^T A^T)" : "";
    desc.address = DUMMY_ADDRESS;
    if (!gm_tensor_map_check(&desc, why, sizeof why))
        return gm_fail(GM_ERROR_DRIVER, "%s: the tensor map of %s%s is not legal: %s", gm_kernels[plan->kernel].name,
                       letter, of, why);
    CUresult result = gm_tensor_map_encode(plan->context->driver, &desc, map);
    if (result != CUDA_SUCCESS)
        return gm_fail_cuda(GM_ERROR_DRIVER, result, "%s: the driver refused the tensor map of %s%s",
                            gm_kernels[plan->kernel].name, letter, of);
    return GM_OK;
}

static struct gm_epilogue_params epilogue_template(const struct gm_gemm_problem *p) {
    return (struct gm_epilogue_params){
        .ldc = p->ldc,
        .ldd = p->ldd,
        .d_type = (int32_t)p->d_type,
        .bias_type = (int32_t)p->bias_type,
        .bias_mode = (int32_t)p->bias,
        .activation = (int32_t)p->activation,
        .m = (int32_t)p->m,
        .n = (int32_t)p->n,
    };
}

/* Where the kernel waits for the one before it itself (griddepcontrol), its set-up, and its first requests to L2, may
 * overlap that one's end. Graphs keep such an order from driver 12.3 on. */
static void set_attributes(gm_plan *plan) {
    const struct gm_kernel *row = &gm_kernels[plan->kernel];
    const unsigned cluster_size = (unsigned)gm_cluster_size(row);
    CUlaunchAttribute *next = plan->attributes;
    if (gm_waits_itself(row) && plan->context->device.driver_version >= OVERLAP_DRIVER &&
        !(plan->flags & GM_PLAN_NO_OVERLAP)) {
        next->id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        next++->value.programmaticStreamSerializationAllowed = 1;
    }
    if (cluster_size > 1) {
        next->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        next->value.clusterDim.x = cluster_size;
        next->value.clusterDim.y = next->value.clusterDim.z = 1;
        next++;
    }
    plan->config.numAttrs = (unsigned)(next - plan->attributes);
}

struct gm_stream_k *gm_plan_stream_k(gm_plan *plan) {
    return gm_uses_tma(&gm_kernels[plan->kernel]) ? &plan->params.sm90.stream_k : &plan->params.sm80.stream_k;
}

int gm_plan_kind(gm_plan *plan) {
    const struct gm_stream_k *s = gm_plan_stream_k(plan);
    const int pieces = s->even > 0 ? s->shares / s->even : 0;
    return s->shares == 0 || pieces == 1 ? GM_KIND_WHOLE : pieces > 0 ? pieces : GM_KIND_ANYWHERE;
}

/* Clusters of a launch at most: what the device holds at once, of rows that stay; but under a budget of SMs of all,
 * since a CTA more would take an SM more. */
static int64_t most_clusters(const gm_plan *plan) {
    const struct gm_kernel *row = &gm_kernels[plan->kernel];
    const int budgeted = plan->device.sm_count < plan->context->device.sm_count;
    return gm_is_persistent(row) || budgeted ? gm_clusters_at_once(row, &plan->device) : INT32_MAX;
}

/* The grid, and what each of its CTAs computes. */
void gm_plan_divide(gm_plan *plan, const struct gm_split *split) {
    const struct gm_kernel *row = &gm_kernels[plan->kernel];
    const int64_t most = most_clusters(plan);
    const int64_t busy = split->whole > split->shares ? split->whole : split->shares;
    *gm_plan_stream_k(plan) = gm_split_params(row, &plan->problem, split);
    plan->config.gridDimX = (unsigned)((busy < most ? busy : most) * gm_cluster_size(row));
    plan->workspace_bytes = split->workspace_bytes;
}

/* How many k-blocks of a CTA's first piece L2 is asked for before the wait for the kernel before. Where memory sets the
 * pace, as many as it brings while one kernel gives way to the next; but what is loaded before it has come is brought
 * twice, so less where there is less in all, and where each line is asked for twice. docs/TUNING.md, entry 43. */
static int32_t prefetched_blocks(const gm_plan *plan) {
    enum { LEAST = 20 << 10, SHARE = 8, MOST_BLOCKS = 8, USUAL_BLOCKS = 4 };
    const struct gm_kernel *row = &gm_kernels[plan->kernel];
    const struct gm_gemm_problem *p = &plan->problem;
    if (!gm_is_streamed(p))
        return USUAL_BLOCKS;
    const struct gm_operand streamed = p->m > p->n ? gm_operand_a(p) : gm_operand_b(p);
    const int tile_rows = p->m > p->n ? row->tile_m / row->cluster_n : row->tile_n / row->cluster_m;
    const int64_t block_bytes = (int64_t)tile_rows * row->tile_k * GM_ELEM_BYTES;
    const int64_t passing = streamed.rows * streamed.columns * streamed.element_bytes / plan->config.gridDimX;
    int64_t bytes = LEAST + passing / SHARE;
    if (streamed.stride * streamed.element_bytes % row->smem_map != 0)
        bytes /= 2;
    const int64_t blocks = (bytes + block_bytes / 2) / block_bytes;
    return (int32_t)(blocks < 1 ? 1 : blocks > MOST_BLOCKS ? MOST_BLOCKS : blocks);
}

static enum gm_status prepare_sm90(gm_plan *plan, const struct gm_split *split) {
    const struct gm_kernel *row = &gm_kernels[plan->kernel];
    const struct gm_gemm_problem *p = &plan->problem;
    struct gm_gemm_sm90_params *params = &plan->params.sm90;
    params->epilogue = epilogue_template(p);
    params->raster = gm_raster_choose(row, p, &plan->device);
    params->plain = gm_has_plain_store(p); /* unless beta is not 0 */
    params->k_blocks = (int32_t)GM_CEIL_DIV(p->k, (int64_t)row->tile_k);
    params->b_early = (plan->flags & GM_PLAN_CONSTANT_B) != 0;

    gm_plan_divide(plan, split);
    params->prefetched = prefetched_blocks(plan);
    /* An operand that is read once should not push the one that is read by every tile out of L2. */
    const int a_once = params->raster.tiles_n == 1, b_once = params->raster.tiles_m == 1;
    params->a_policy = a_once == b_once ? GM_L2_EVICT_NORMAL : a_once ? GM_L2_EVICT_FIRST : GM_L2_EVICT_LAST;
    params->b_policy = a_once == b_once ? GM_L2_EVICT_NORMAL : b_once ? GM_L2_EVICT_FIRST : GM_L2_EVICT_LAST;

    const struct gm_gemm_maps maps = gm_gemm_sm90_maps(row, p);
    params->a_tiles = maps.a_tiles;
    params->b_tiles = maps.b_tiles;
    enum gm_status status = encode(plan, "A", maps.a, &params->a);
    if (status == GM_OK)
        status = encode(plan, "B", maps.b, &params->b);
    if (status == GM_OK)
        status = encode(plan, "D", maps.d, &params->d);
    if (status == GM_OK && maps.a_tiles.rows)
        status = encode(plan, "A's last rows", maps.a_tail, &params->a_tail);
    if (status == GM_OK && maps.b_tiles.rows)
        status = encode(plan, "B's last rows", maps.b_tail, &params->b_tail);
    return status;
}

static enum gm_status prepare_sm80(gm_plan *plan, const struct gm_split *split) {
    const struct gm_kernel *row = &gm_kernels[plan->kernel];
    const struct gm_gemm_problem *p = &plan->problem;
    struct gm_gemm_sm80_params *params = &plan->params.sm80;
    params->epilogue = epilogue_template(p);
    params->raster = gm_raster_choose(row, p, &plan->device);
    params->lda = p->lda;
    params->ldb = p->ldb;
    params->k = (int32_t)p->k;
    params->b_early = (plan->flags & GM_PLAN_CONSTANT_B) != 0;
    gm_plan_divide(plan, split);
    return GM_OK;
}

/* Everything that needs the driver, with the context current. */
static enum gm_status prepare(gm_context *context, gm_plan *plan, const struct gm_split *split, int argument_sets) {
    const struct gm_kernel *row = &gm_kernels[plan->kernel];
    plan->config.gridDimY = plan->config.gridDimZ = 1;
    plan->config.blockDimX = (unsigned)row->threads;
    plan->config.blockDimY = plan->config.blockDimZ = 1;
    plan->config.sharedMemBytes = (unsigned)row->smem_bytes;
    set_attributes(plan);
    enum gm_status status = gm_context_enter(context);
    if (status != GM_OK)
        return status;
    status = gm_context_load(context, plan->kernel, &plan->function);
    if (status == GM_OK)
        status = gm_uses_tma(row) ? prepare_sm90(plan, split) : prepare_sm80(plan, split);
    if (status == GM_OK && !(plan->flags & GM_PLAN_PLAIN_LAUNCH))
        plan->replay = gm_replay_new(plan, argument_sets);
    gm_context_leave(context);
    return status;
}

/* No row accepts: say how many there are, and what the named or the first of the right type and layout answers. */
static enum gm_status no_kernel(const struct gm_device *device, const struct gm_gemm_problem *p,
                                const struct gm_plan_options *options) {
    const size_t rows = gm_kernel_count();
    char sentence[232] = "none multiplies this type and layout";
    int shown = -1;
    for (size_t i = 0; i < rows && shown < 0; i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        if (options && options->kernel ? gm_find_kernel(row, 1, options->kernel) == 0
                                       : row->type == (int)p->ab_type && row->layout == gm_problem_layout(p))
            shown = (int)i;
    }
    if (shown >= 0)
        gm_judge(&gm_kernels[shown], device, p, options, sentence, sizeof sentence);
    return gm_fail(GM_ERROR_NO_KERNEL, "no kernel of %zu accepts the problem on %s%s%s: %s", rows, device->name,
                   shown >= 0 ? "; " : "", shown >= 0 ? gm_kernels[shown].name : "", sentence);
}

static void log_plan(const gm_plan *plan, const struct gm_judgement *judgement) {
    const struct gm_gemm_problem *p = &plan->problem;
    const int by_ledger = judgement->source == GM_SOURCE_LEDGER || judgement->source == GM_SOURCE_NEIGHBOURS;
    gm_log(GM_LOG_INFO, "plan %lld x %lld x %lld%s: %s, predicted %.2f us%s", (long long)p->m, (long long)p->n,
           (long long)p->k, plan->flags & GM_PLAN_TRANSPOSED ? ", transposed" : "", gm_kernels[plan->kernel].name,
           plan->predicted_us, by_ledger ? ", by the ledger" : "");
}

enum gm_status gm_gemm_plan_create(gm_context *context, const struct gm_gemm_problem *problem,
                                   const struct gm_plan_options *options, gm_plan **out) {
    if (!context || !out)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is NULL", context ? "plan" : "context");
    struct gm_gemm_problem p;
    struct gm_plan_options today;
    enum gm_status status = gm_problem_normalize(problem, &p);
    if (status == GM_OK)
        status = gm_options_take(&options, &today);
    if (status == GM_OK)
        status = gm_ledger_check(options, &context->device);
    if (status != GM_OK)
        return status;
    const struct gm_gemm_problem given = p;
    p = gm_problem_planned(&given, options);
    const struct gm_plan_options planned = gm_options_planned(options, &given, &p);
    options = &planned;
    struct gm_judgement judgement;
    const struct gm_device device = gm_device_within(&context->device, options);
    const int kernel = gm_choose(gm_kernels, gm_kernel_count(), &device, &p, options, &judgement);
    if (kernel < 0)
        return no_kernel(&device, &p, options);

    gm_plan *plan = aligned_alloc(_Alignof(gm_plan), sizeof *plan);
    if (!plan)
        return gm_fail(GM_ERROR_OUT_OF_MEMORY, "no host memory for a plan");
    *plan = (gm_plan){.context = context, .kernel = kernel, .problem = p, .predicted_us = judgement.predicted_us};
    plan->empty = p.m == 0 || p.n == 0;
    plan->flags = options->flags;
    plan->device = device;
    const int argument_sets = options->argument_sets > 0 ? options->argument_sets : 1;
    status = plan->empty ? GM_OK : prepare(context, plan, &judgement.split, argument_sets);
    if (status != GM_OK) {
        gm_plan_destroy(plan);
        return status;
    }
    log_plan(plan, &judgement);
    *out = plan;
    return GM_OK;
}

void gm_plan_destroy(gm_plan *plan) {
    if (plan)
        gm_replay_free(plan);
    free(plan);
}

size_t gm_plan_workspace_bytes(const gm_plan *plan) {
    return plan ? plan->workspace_bytes : 0;
}

int gm_plan_kernel(const gm_plan *plan) {
    return plan ? plan->kernel : -1;
}

double gm_plan_predicted_us(const gm_plan *plan) {
    return plan ? plan->predicted_us : 0;
}
