# SPDX-License-Identifier: Apache-2.0
"""The layers of a decoder at a few tokens, without attention, as one CUDA graph: what a kernel costs beside the bytes that
it reads. Llama-3-8B: norm, qkv, o, norm, gate_up, glu, down; the weights of 8 layers by turns, so none is in L2.

    python3 bench/peers/decode_chain.py libgristmill.so -o decode-chain.json

Beside it the same layers of torch: cuBLAS through torch.mm, and what torch.compile makes of the rest. gap = (time -
weights / read rate) / kernels; the read rate is what `gristmill bench` measured on the same machine."""
import argparse
import json
import pathlib
import statistics
import sys

import torch

from library import VALUES, Library, make

HIDDEN, QKV, INTERMEDIATE, LAYERS, EPS = 4096, 6144, 14336, 8, 1e-5
KERNELS = 7  # of a layer


def normal(*sizes, scale=0.02):
    return (torch.randn(*sizes, device="cuda") * scale).to(torch.bfloat16)


class Weights:
    def __init__(self):
        self.norm1, self.norm2 = normal(HIDDEN, scale=1), normal(HIDDEN, scale=1)
        self.qkv, self.o = normal(QKV, HIDDEN), normal(HIDDEN, HIDDEN)
        self.gate_up, self.down = normal(2 * INTERMEDIATE, HIDDEN), normal(HIDDEN, INTERMEDIATE)

    def bytes(self):
        return sum(tensor.numel() * 2 for tensor in vars(self).values())


class Buffers:
    def __init__(self, tokens):
        self.residual, self.x, self.y = normal(tokens, HIDDEN), normal(tokens, HIDDEN), normal(tokens, HIDDEN)
        self.qkv, self.gate_up = normal(tokens, QKV), normal(tokens, 2 * INTERMEDIATE)
        self.glu = normal(tokens, INTERMEDIATE)


class Ours:
    """A layer by the library; plans are made once."""

    def __init__(self, library, tokens, flags):
        self.library = library
        norm = make("gm_rms_norm_problem", rows=tokens, columns=HIDDEN, residual=1, eps=EPS)
        glu = make("gm_glu_problem", rows=tokens, columns=INTERMEDIATE, activation=VALUES["GM_ACT_SILU"],
                   gate_stride=2 * INTERMEDIATE, up_stride=2 * INTERMEDIATE)
        self.norm, self.glu = library.plan("rms_norm", norm), library.plan("glu", glu)
        self.gemms = {name: library.plan("gemm", make("gm_gemm_problem", m=tokens, n=n, k=k), flags=flags)
                      for name, n, k in (("qkv", QKV, HIDDEN), ("o", HIDDEN, HIDDEN),
                                         ("gate_up", 2 * INTERMEDIATE, HIDDEN), ("down", HIDDEN, INTERMEDIATE))}

    def gemm(self, name, a, weight, d):
        args = make("gm_gemm_args", a=a.data_ptr(), b=weight.data_ptr(), d=d.data_ptr())
        self.library.execute("gemm", self.gemms[name], args, self.stream)

    def normalize(self, weight, b):
        args = make("gm_rms_norm_args", x=b.x.data_ptr(), residual=b.residual.data_ptr(), weight=weight.data_ptr(),
                    out=b.y.data_ptr())
        self.library.execute("rms_norm", self.norm, args, self.stream)

    def gemms_alone(self, w, b):
        self.stream = torch.cuda.current_stream().cuda_stream
        self.gemm("qkv", b.y, w.qkv, b.qkv)
        self.gemm("o", b.qkv, w.o, b.x)
        self.gemm("gate_up", b.x, w.gate_up, b.gate_up)
        self.gemm("down", b.gate_up, w.down, b.y)

    def layer(self, w, b):
        self.stream = torch.cuda.current_stream().cuda_stream
        self.normalize(w.norm1, b)
        self.gemm("qkv", b.y, w.qkv, b.qkv)
        self.gemm("o", b.y, w.o, b.x)  # of attention's output, which y stands for
        self.normalize(w.norm2, b)
        self.gemm("gate_up", b.y, w.gate_up, b.gate_up)
        args = make("gm_glu_args", gate=b.gate_up.data_ptr(), up=b.gate_up.data_ptr() + 2 * INTERMEDIATE,
                    out=b.glu.data_ptr())
        self.library.execute("glu", self.glu, args, self.stream)
        self.gemm("down", b.glu, w.down, b.x)


def add_and_normalize(x, residual, weight):
    total = x.float() + residual.float()
    residual.copy_(total)
    return (total * torch.rsqrt(total.pow(2).mean(-1, keepdim=True) + EPS) * weight.float()).to(x.dtype)


def gated(gate_up):
    gate, up = gate_up.chunk(2, dim=-1)
    return (torch.nn.functional.silu(gate.float()) * up.float()).to(gate.dtype)


class Torch:
    def __init__(self):
        self.normalize = torch.compile(add_and_normalize, dynamic=False, fullgraph=True)
        self.gated = torch.compile(gated, dynamic=False, fullgraph=True)

    def layer(self, w, b):
        y = self.normalize(b.x, b.residual, w.norm1)
        torch.mm(y, w.qkv.t(), out=b.qkv)
        torch.mm(y, w.o.t(), out=b.x)
        y = self.normalize(b.x, b.residual, w.norm2)
        torch.mm(y, w.gate_up.t(), out=b.gate_up)
        torch.mm(self.gated(b.gate_up), w.down.t(), out=b.x)


def captured(run):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        run()
        run()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            run()
    return graph


def replay_us(graph, replays=10):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    graph.replay()
    start.record()
    for _ in range(replays):
        graph.replay()
    end.record()
    end.synchronize()
    return 1000 * start.elapsed_time(end) / replays


def measure(library, layers, tokens, gbs, rounds):
    buffers = Buffers(tokens)
    plain, constant = Ours(library, tokens, 0), Ours(library, tokens, VALUES["GM_PLAN_CONSTANT_B"])
    ways = {"gristmill": (plain.layer, KERNELS), "gristmill, constant B": (constant.layer, KERNELS),
            "gristmill, constant B, GEMMs alone": (constant.gemms_alone, 4), "torch": (Torch().layer, KERNELS)}
    graphs = {name: captured(lambda layer=way[0]: [layer(w, buffers) for w in layers]) for name, way in ways.items()}
    times = {name: [] for name in graphs}
    for _ in range(rounds):
        for name, graph in graphs.items():
            times[name].append(replay_us(graph) / len(layers))
    floor = layers[0].bytes() / gbs * 1e-3
    for name, us in times.items():
        median, kernels = statistics.median(us), ways[name][1]
        gap = (median - floor) / kernels
        print(f"{tokens} tokens, {name}: {median:.1f} us a layer, the weights' bytes {floor:.1f}, {gap:.2f} us a kernel "
              "beside them", flush=True)
        yield {"tokens": tokens, "way": name, "kernels": kernels, "us": median, "us_rounds": us, "floor_us": floor,
               "gap_us": gap}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--tokens", default="1,4,16,64")
    parser.add_argument("--read-gbs", type=float, required=True, help="`ceilings of this machine` of gristmill bench")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    library, gbs = Library(options.library.resolve()), options.read_gbs
    layers = [Weights() for _ in range(LAYERS)]
    rows = [row for tokens in options.tokens.split(",") for row in measure(library, layers, int(tokens), gbs, options.rounds)]
    meta = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "read_gbs": gbs,
            "layer": {"hidden": HIDDEN, "qkv": QKV, "intermediate": INTERMEDIATE, "layers": LAYERS}}
    options.output.write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
