/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that launch by graphs. */
#include "graphed.h"

const enum fake_function graph_functions[GRAPH_FUNCTIONS] = {FAKE_cuCtxGetCurrent,
                                                             FAKE_cuStreamGetCtx,
                                                             FAKE_cuStreamIsCapturing,
                                                             FAKE_cuThreadExchangeStreamCaptureMode,
                                                             FAKE_cuGraphCreate,
                                                             FAKE_cuGraphAddKernelNode,
                                                             FAKE_cuGraphKernelNodeSetAttribute,
                                                             FAKE_cuGraphInstantiateWithFlags,
                                                             FAKE_cuGraphExecKernelNodeSetParams,
                                                             FAKE_cuGraphLaunch,
                                                             FAKE_cuGraphExecDestroy,
                                                             FAKE_cuGraphDestroy};
void graphed_set_up(void) {
    fake_install_graphs(FAKE_FUNCTIONS);
    ck_assert_int_eq(gm_context_create(0, &context), GM_OK);
    fake_make_current(0);
}

gm_plan *plan_with_sets(int32_t sets) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = gm_kernels[0].name, .argument_sets = sets};
    const struct gm_gemm_problem p = problem_for(&gm_kernels[0], 128, 128, 128);
    gm_plan *plan = NULL;
    assert_ok(gm_gemm_plan_create(context, &p, &options, &plan));
    return plan;
}

gm_plan *some_plan(void) {
    return plan_with_sets(0);
}

void execute(const gm_plan *plan, void *stream) {
    const struct gm_gemm_args args = args_apart();
    fake_clear_counts();
    assert_ok(gm_gemm_execute(plan, &args, stream));
}
