/* SPDX-License-Identifier: Apache-2.0 */
/* silu_mul, gelu_mul and gelu_tanh_mul: act(gate) * up, of two tensors or of the two halves of one. */
#include "plans.h"

#include <string.h>

RUNS_BY_PLAN(glu, WITHOUT_WORKSPACE)

enum { GATE, UP, ROUND_EARLY };

static bool shape(struct call *call) {
    if (!call_rows(call, GATE, 1)) {
        return false;
    }
    const struct tensor *gate = call_tensor(call, GATE), *up = call_tensor(call, UP);
    int64_t columns = gate->size[gate->rank - 1];
    if (!up && columns % 2 != 0) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT,
                         "the last dimension of gate is %lld and must have two halves: up is None", (long long)columns);
    }
    call_output_like(call, 0, gate, gate->type, up ? columns : columns / 2);
    return !up || call_alike(call, UP, gate);
}

static bool run(struct call *call) {
    const struct tensor *out = &call->out[0];
    struct tensor gate = *call_tensor(call, GATE), up = gate;
    struct leading gate_rows, up_rows, out_rows;
    if (!call_leading(call, GATE, 1, &gate_rows)) {
        return false;
    }
    up_rows = gate_rows;
    if (call_tensor(call, UP)) {
        up = *call_tensor(call, UP);
        if (!call_leading(call, UP, 1, &up_rows)) {
            return false;
        }
    } else {
        int64_t bytes = gate.type == GM_FP32 ? 4 : 2;
        up.data = gate.data + (gm_device_ptr)(out->size[out->rank - 1] * bytes);
    }
    if (!call_output_rows(call, &out_rows)) {
        return false;
    }
    struct gm_glu_problem problem;
    memset(&problem, 0, sizeof problem);
    struct gm_glu_args args = {.size = sizeof args, .gate = gate.data, .up = up.data, .out = out->data};
    problem.size = sizeof problem;
    problem.rows = gate_rows.count;
    problem.columns = out->size[out->rank - 1];
    problem.type = gate.type;
    problem.activation = (enum gm_activation)call->operation->parameter;
    problem.rounding = call->in[ROUND_EARLY].integer ? GM_ROUND_EARLY : GM_ROUND_LATE;
    problem.gate_stride = leading_stride(gate_rows);
    problem.up_stride = leading_stride(up_rows);
    problem.out_stride = leading_stride(out_rows);
    problem.gate_align = tensor_align(&gate);
    problem.up_align = tensor_align(&up);
    problem.out_align = tensor_align(out);
    return run_glu(call, &problem, 0, &args);
}

#define GATED(name, activation)                                                                                        \
    const struct tensor_operation operation_##name = {                                                                 \
        #name "(Tensor gate, Tensor? up=None, bool round_early=False) -> Tensor", shape, run, activation}
GATED(silu_mul, GM_ACT_SILU);
GATED(gelu_mul, GM_ACT_GELU_ERF);
GATED(gelu_tanh_mul, GM_ACT_GELU_TANH);
