# SPDX-License-Identifier: Apache-2.0
"""Attention by cuDNN's own frontend, where it is installed (nvidia-cudnn-frontend): every plan that its heuristics offer is
built and timed, and the fastest is the peer. torch's operator takes the first."""
import statistics

import torch

try:
    import cudnn
except ImportError:
    cudnn = None


def heads_first(tensor):
    """[requests, tokens, heads, elements], as cuDNN counts dimensions."""
    return tensor.transpose(1, 2)


class Plans:
    def __init__(self, operands, scale, causal):
        self.handle = cudnn.create_handle()
        graph = cudnn.pygraph(io_data_type=cudnn.data_type.BFLOAT16 if operands["q"].dtype == torch.bfloat16
                              else cudnn.data_type.HALF, intermediate_data_type=cudnn.data_type.FLOAT,
                              compute_data_type=cudnn.data_type.FLOAT, handle=self.handle)
        q, k, v = (heads_first(operands[name]) for name in "qkv")
        self.tensors = {name: graph.tensor(name=name, dim=list(t.shape), stride=list(t.stride()))
                        for name, t in (("q", q), ("k", k), ("v", v))}
        # bottom right, which is the same where q and k are equally long
        mask = {"use_causal_mask": True} if causal and q.shape[2] == k.shape[2] else {
            "use_causal_mask_bottom_right": True} if causal else {}
        out, _ = graph.sdpa(name="sdpa", is_inference=True, attn_scale=scale, **self.tensors, **mask)
        like = heads_first(operands["out"])
        out.set_output(True).set_dim(list(like.shape)).set_stride(list(like.stride()))
        self.tensors["out"] = out
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.B, cudnn.heur_mode.FALLBACK])
        graph.check_support()
        graph.build_plans(cudnn.build_plan_policy.ALL)
        self.graph, self.count = graph, graph.get_execution_plan_count()
        self.workspace = torch.empty(max(graph.get_workspace_size(), 64 << 20), device="cuda", dtype=torch.uint8)

    def execute(self, operands, index):
        cudnn.set_stream(handle=self.handle, stream=torch.cuda.current_stream().cuda_stream)
        pack = {self.tensors[name]: operands[name].data_ptr() for name in ("q", "k", "v", "out")}
        self.graph.execute_plan_at_index(pack, self.workspace.data_ptr(), index, handle=self.handle)

    def time(self, operands, index):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        times = []
        for _ in range(4):
            start.record()
            self.execute(operands, index)
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
        return statistics.median(times[1:])


def fastest(operands, scale, causal):
    """A call by the fastest plan; None: the frontend is missing, or has none."""
    if cudnn is None:
        return None
    try:
        plans = Plans(operands, scale, causal)
    except Exception as error:  # the frontend's own types
        print(f"  cudnn-frontend: {str(error).splitlines()[0][:120]}")
        return None
    times = {}
    for index in range(plans.count):
        try:
            times[index] = plans.time(operands, index)
        except Exception:  # not every plan that is offered can be built
            continue
    if not times:
        return None
    best = min(times, key=times.get)
    print(f"  cudnn-frontend: plan {best} of {sorted((round(1000 * ms, 1), i) for i, ms in times.items())}", flush=True)

    def call(o):
        plans.execute(o, best)
        return o["out"]

    return call
