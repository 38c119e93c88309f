/* SPDX-License-Identifier: Apache-2.0 */
/* Launches by a graph of one kernel node, in one executable graph for each set of parameters that is kept.
 *
 * The driver keeps the launches of one executable graph in order even across streams, and wants the calls that name it
 * one at a time. So a plan's graphs belong to one stream, the first that executes the plan, and to one thread at a
 * time, which nobody waits for: whoever does not get them launches plainly, which costs more host time and changes
 * nothing else. */
#include "host/launch_graph.h"

#include "host/log.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* No stream's handles: the graph has no stream yet, or it shall never be used again. */
#define UNOWNED UINTPTR_MAX
#define RETIRED (UINTPTR_MAX - 1)

/* An executable graph, and the parameters that it has. */
struct params_set {
    CUgraphExec exec;
    unsigned char params[GM_PARAMS_MAX];
};

struct gm_launch_graphs {
    CUgraph graph; /* lives as long as what is made of it: the node is named by it */
    CUgraphNode node;
    size_t bytes;            /* of a set's parameters */
    int count;               /* of sets */
    _Atomic uintptr_t owner; /* the stream */
    atomic_flag busy;        /* a thread is between the parameters and the launch; guards what follows */
    int last, next;          /* the set that was launched last; the one that new parameters go to */
    struct params_set sets[];
};

/* ---- its life ------------------------------------------------------------------------------------- */

static CUDA_KERNEL_NODE_PARAMS node_params(const gm_plan *plan, void **params) {
    const CUlaunchConfig *config = &plan->config;
    return (CUDA_KERNEL_NODE_PARAMS){.func = plan->function,
                                     .gridDimX = config->gridDimX,
                                     .gridDimY = config->gridDimY,
                                     .gridDimZ = config->gridDimZ,
                                     .blockDimX = config->blockDimX,
                                     .blockDimY = config->blockDimY,
                                     .blockDimZ = config->blockDimZ,
                                     .sharedMemBytes = config->sharedMemBytes,
                                     .kernelParams = params};
}

static int has_graphs(const struct gm_driver *driver) {
    return driver->cuCtxGetCurrent && driver->cuStreamGetCtx && driver->cuStreamIsCapturing &&
           driver->cuThreadExchangeStreamCaptureMode && driver->cuGraphCreate && driver->cuGraphAddKernelNode &&
           driver->cuGraphKernelNodeSetAttribute && driver->cuGraphInstantiateWithFlags &&
           driver->cuGraphExecKernelNodeSetParams && driver->cuGraphLaunch && driver->cuGraphExecDestroy &&
           driver->cuGraphDestroy;
}

/* The node's attributes are those of the launch, but for the one that looks across launches: a graph's first node waits
 * for all that is before the graph. */
static CUresult set_attributes(const gm_plan *plan, CUgraphNode node) {
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < plan->config.numAttrs && result == CUDA_SUCCESS; i++) {
        const CUlaunchAttribute *attribute = &plan->attributes[i];
        if (attribute->id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            result = plan->context->driver->cuGraphKernelNodeSetAttribute(node, attribute->id, &attribute->value);
    }
    return result;
}

/* Switches this thread's capture mode and returns the old one. In the default mode (global), creating or destroying a
 * graph would invalidate any capture under way on another stream, although it has nothing to do with it. */
static int relax_capture_mode(const struct gm_driver *driver, int mode) {
    driver->cuThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

static CUresult build(const gm_plan *plan, struct gm_launch_graphs *graphs) {
    const struct gm_driver *driver = plan->context->driver;
    void *pointers[] = {graphs->sets[0].params};
    const CUDA_KERNEL_NODE_PARAMS params = node_params(plan, pointers);
    if (!has_graphs(driver))
        return CUDA_ERROR_NOT_SUPPORTED;
    const int mode = relax_capture_mode(driver, CU_STREAM_CAPTURE_MODE_RELAXED);
    CUresult result = driver->cuGraphCreate(&graphs->graph, 0);
    if (result == CUDA_SUCCESS)
        result = driver->cuGraphAddKernelNode(&graphs->node, graphs->graph, NULL, 0, &params);
    if (result == CUDA_SUCCESS)
        result = set_attributes(plan, graphs->node);
    for (int i = 0; i < graphs->count && result == CUDA_SUCCESS; i++)
        result = driver->cuGraphInstantiateWithFlags(&graphs->sets[i].exec, graphs->graph, 0);
    relax_capture_mode(driver, mode);
    return result;
}

static void destroy(const struct gm_driver *driver, struct gm_launch_graphs *graphs) {
    if (graphs->graph) {
        const int mode = relax_capture_mode(driver, CU_STREAM_CAPTURE_MODE_RELAXED);
        for (int i = 0; i < graphs->count; i++)
            if (graphs->sets[i].exec)
                driver->cuGraphExecDestroy(graphs->sets[i].exec);
        driver->cuGraphDestroy(graphs->graph);
        relax_capture_mode(driver, mode);
    }
    free(graphs);
}

struct gm_launch_graphs *gm_launch_graphs_new(const gm_plan *plan, int sets) {
    struct gm_launch_graphs *graphs = calloc(1, sizeof *graphs + (size_t)sets * sizeof *graphs->sets);
    if (!graphs)
        return NULL;
    graphs->bytes = plan->kernel->family->params_bytes;
    graphs->count = sets;
    for (int i = 0; i < sets; i++)
        memcpy(graphs->sets[i].params, plan->params, graphs->bytes);
    atomic_init(&graphs->owner, UNOWNED);
    atomic_flag_clear(&graphs->busy);
    const CUresult result = build(plan, graphs);
    if (result == CUDA_SUCCESS)
        return graphs;
    gm_log(GM_LOG_INFO, "%s: no graph of it (%s), so its launches are plain", plan->kernel->name,
           gm_driver_error_name(result));
    destroy(plan->context->driver, graphs);
    return NULL;
}

void gm_launch_graphs_free(const gm_plan *plan) {
    if (plan->graphs)
        destroy(plan->context->driver, plan->graphs);
}

/* ---- when it may launch ----------------------------------------------------------------------------- */

/* A graph would run on a stream of any device or partition of one, where a plain launch is refused or confined. The
 * stream is asked once: a later one with the same handle is taken for it. The per-thread default stream is many. */
static int claim_stream(const gm_plan *plan, CUstream stream) {
    CUcontext context = NULL;
    uintptr_t owner = UNOWNED;
    if (stream == CU_STREAM_PER_THREAD || plan->context->driver->cuStreamGetCtx(stream, &context) != CUDA_SUCCESS ||
        context != plan->context->cuda)
        return 0;
    return atomic_compare_exchange_strong_explicit(&plan->graphs->owner, &owner, (uintptr_t)stream,
                                                   memory_order_relaxed, memory_order_relaxed);
}

/* Whether this launch is the graph's. Not without the plan's context, in which the driver looks for the default stream,
 * nor under capture: there it would save nothing, and be a graph within the graph instead of a kernel. */
static int may_launch_by_graph(const gm_plan *plan, CUstream stream) {
    const struct gm_driver *driver = plan->context->driver;
    CUcontext current = NULL;
    int capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    const uintptr_t owner = atomic_load_explicit(&plan->graphs->owner, memory_order_relaxed);
    if (owner != UNOWNED && owner != (uintptr_t)stream)
        return 0;
    if (driver->cuCtxGetCurrent(&current) != CUDA_SUCCESS || current != plan->context->cuda)
        return 0;
    if (driver->cuStreamIsCapturing(stream, &capture) != CUDA_SUCCESS || capture != CU_STREAM_CAPTURE_STATUS_NONE)
        return 0;
    return owner != UNOWNED || claim_stream(plan, stream);
}

/* ---- launching ------------------------------------------------------------------------------------ */

/* The set that has these parameters; NULL: none. What recurs mostly does so in turn, so the search begins with the set
 * of the call before and goes on behind it. */
static struct params_set *find(struct gm_launch_graphs *graphs, const void *params) {
    for (int i = 0; i < graphs->count; i++) {
        struct params_set *set = &graphs->sets[(graphs->last + i) % graphs->count];
        if (memcmp(set->params, params, graphs->bytes) == 0)
            return set;
    }
    return NULL;
}

/* New parameters are those of the launches to come; the driver has its own copy for every launch in flight. */
static CUresult renew(const gm_plan *plan, struct params_set *set, void *params) {
    const CUDA_KERNEL_NODE_PARAMS changed = node_params(plan, &params);
    const CUresult result =
        plan->context->driver->cuGraphExecKernelNodeSetParams(set->exec, plan->graphs->node, &changed);
    if (result == CUDA_SUCCESS)
        memcpy(set->params, params, plan->graphs->bytes);
    return result;
}

static CUresult relaunch(const gm_plan *plan, void *params, CUstream stream) {
    struct gm_launch_graphs *graphs = plan->graphs;
    struct params_set *set = find(graphs, params);
    if (!set) {
        set = &graphs->sets[graphs->next];
        graphs->next = (graphs->next + 1) % graphs->count;
        const CUresult result = renew(plan, set, params);
        if (result != CUDA_SUCCESS)
            return result;
    }
    graphs->last = (int)(set - graphs->sets);
    return plan->context->driver->cuGraphLaunch(set->exec, stream);
}

/* 700 to 799 is what a kernel came to that ran, this one or one before it: launching again would not undo it. */
static int is_refusal(CUresult result) {
    return result != CUDA_SUCCESS && (result < CUDA_ERROR_ILLEGAL_ADDRESS || result >= CUDA_ERROR_NOT_PERMITTED);
}

int gm_launch_by_graph(const gm_plan *plan, void *params, CUstream stream, CUresult *result) {
    struct gm_launch_graphs *graphs = plan->graphs;
    if (!graphs || !may_launch_by_graph(plan, stream) ||
        atomic_flag_test_and_set_explicit(&graphs->busy, memory_order_acquire))
        return 0;
    *result = relaunch(plan, params, stream);
    atomic_flag_clear_explicit(&graphs->busy, memory_order_release);
    if (!is_refusal(*result))
        return 1;
    atomic_store_explicit(&graphs->owner, RETIRED, memory_order_relaxed);
    gm_log(GM_LOG_INFO, "%s: the driver refused its graph (%s); its launches are plain from now on", plan->kernel->name,
           gm_driver_error_name(*result));
    return 0;
}
