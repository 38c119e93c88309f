# SPDX-License-Identifier: Apache-2.0
"""The layers of a decoder at a few tokens as one CUDA graph: what a kernel costs beside the bytes that it reads, and beside
what it costs among its like. Llama-3-8B: norm, qkv, rotary and append, attention, o, norm, gate_up, glu, down; weights and
caches of 8 layers by turns, so none is in L2.

    python3 bench/peers/decode_chain.py libgristmill.so --read-gbs 4530 -o decode-chain.json

A token is a request's, with --kv-len tokens in its cache; --kv-len 0 leaves attention out, and what it needs. Beside it the
same layers of torch: cuBLAS through torch.mm, cuDNN's attention, and what torch.compile makes of the rest.

    gap_us    (time - bytes of weights and caches / read rate) / kernels; the rate is what `gristmill bench` measured
    apart_us  what the layer's kernels take when each is replayed in a graph of its own, all together"""
import argparse
import json
import pathlib
import statistics
import sys

import torch

from library import VALUES, Library, make

HIDDEN, INTERMEDIATE, LAYERS, EPS = 4096, 14336, 8, 1e-5
Q_HEADS, KV_HEADS, HEAD_DIM = 32, 8, 128
Q, KV = Q_HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM
QKV = Q + 2 * KV
ROUTES = ("norm1", "qkv", "rope", "attention", "o", "norm2", "gate_up", "glu", "down")
GEMMS = ("qkv", "o", "gate_up", "down")
WORKSPACE_BYTES = 8 << 20


def normal(*sizes, scale=0.02):
    return (torch.randn(*sizes, device="cuda") * scale).to(torch.bfloat16)


def elements_at(tensor, first):
    return tensor.data_ptr() + 2 * first


class Layer:
    """Weights, and the requests' keys and values."""

    def __init__(self, tokens, kv_len):
        self.norm1, self.norm2 = normal(HIDDEN, scale=1), normal(HIDDEN, scale=1)
        self.qkv, self.o = normal(QKV, HIDDEN), normal(HIDDEN, Q)
        self.gate_up, self.down = normal(2 * INTERMEDIATE, HIDDEN), normal(HIDDEN, INTERMEDIATE)
        self.k, self.v = (normal(tokens, kv_len, KV_HEADS, HEAD_DIM, scale=1) for _ in range(2))

    def bytes(self):
        return sum(tensor.numel() * 2 for tensor in vars(self).values())


class Buffers:
    def __init__(self, tokens, kv_len):
        self.residual, self.x, self.y = normal(tokens, HIDDEN), normal(tokens, HIDDEN), normal(tokens, HIDDEN)
        self.qkv, self.gate_up = normal(tokens, QKV), normal(tokens, 2 * INTERMEDIATE)
        self.glu = normal(tokens, INTERMEDIATE)
        last = max(kv_len - 1, 0)
        self.positions = torch.full((tokens,), last, device="cuda", dtype=torch.int32)
        self.slots = torch.arange(tokens, device="cuda", dtype=torch.int64) * kv_len + last
        angles = torch.outer(torch.arange(last + 1), 500000.0 ** -(torch.arange(0, HEAD_DIM, 2) / HEAD_DIM))
        self.table = torch.cat((angles.cos(), angles.sin()), dim=-1).cuda()
        self.q_indptr = torch.arange(tokens + 1, device="cuda", dtype=torch.int32)
        self.kv_len = torch.full((tokens,), kv_len, device="cuda", dtype=torch.int32)
        self.workspace = torch.empty(WORKSPACE_BYTES, device="cuda", dtype=torch.uint8)


class Ours:
    """A layer by the library; plans are made once."""

    def __init__(self, library, tokens, kv_len, flags):
        self.library, self.tokens, self.kv_len = library, tokens, kv_len
        self.plans = {name: library.plan("gemm", make("gm_gemm_problem", m=tokens, n=n, k=k), flags=flags)
                      for name, n, k in (("qkv", QKV, HIDDEN), ("o", HIDDEN, Q), ("gate_up", 2 * INTERMEDIATE, HIDDEN),
                                         ("down", HIDDEN, INTERMEDIATE))}
        norm = make("gm_rms_norm_problem", rows=tokens, columns=HIDDEN, residual=1, eps=EPS)
        glu = make("gm_glu_problem", rows=tokens, columns=INTERMEDIATE, activation=VALUES["GM_ACT_SILU"],
                   gate_stride=2 * INTERMEDIATE, up_stride=2 * INTERMEDIATE)
        self.plans["norm1"] = self.plans["norm2"] = library.plan("rms_norm", norm)
        self.plans["glu"] = library.plan("glu", glu)
        if kv_len:
            self.plan_attention()
        self.names = [name for name in ROUTES if name in self.plans]

    def plan_attention(self):
        rope = make("gm_rope_problem", tokens=self.tokens, q_heads=Q_HEADS, kv_heads=KV_HEADS, head_dim=HEAD_DIM,
                    max_position=self.kv_len, page_size=self.kv_len, slot_count=self.tokens * self.kv_len,
                    q_token_stride=QKV, k_token_stride=QKV, v_token_stride=QKV, q_out_token_stride=QKV,
                    append=VALUES["GM_ROPE_APPEND"])
        attention = make("gm_attention_problem", max_batch=self.tokens, max_q_len=1, max_kv_len=self.kv_len,
                         q_heads=Q_HEADS, kv_heads=KV_HEADS, head_dim=HEAD_DIM, q_token_stride=QKV,
                         mask=VALUES["GM_ATTENTION_CAUSAL"])
        self.plans["rope"] = self.library.plan("rope", rope)
        self.plans["attention"] = self.library.plan("attention", attention, workspace_limit=WORKSPACE_BYTES)

    def execute(self, operation, name, **addresses):
        args = make(f"gm_{operation}_args", **addresses)
        self.library.execute(operation, self.plans[name], args, torch.cuda.current_stream().cuda_stream)

    def gemm(self, name, a, weight, d):
        self.execute("gemm", name, a=a.data_ptr(), b=weight.data_ptr(), d=d.data_ptr())

    def norm(self, name, weight, b):
        self.execute("rms_norm", name, x=b.x.data_ptr(), residual=b.residual.data_ptr(), weight=weight.data_ptr(),
                     out=b.y.data_ptr())

    def rope(self, w, b):
        q, k, v = (elements_at(b.qkv, first) for first in (0, Q, Q + KV))
        self.execute("rope", "rope", q=q, k=k, v=v, positions=b.positions.data_ptr(), table=b.table.data_ptr(), q_out=q,
                     k_cache=w.k.data_ptr(), v_cache=w.v.data_ptr(), slots=b.slots.data_ptr())

    def attention(self, w, b):
        self.execute("attention", "attention", batch=self.tokens, q=b.qkv.data_ptr(), k=w.k.data_ptr(),
                     v=w.v.data_ptr(), out=b.y.data_ptr(), q_indptr=b.q_indptr.data_ptr(), kv_len=b.kv_len.data_ptr(),
                     workspace=b.workspace.data_ptr(), workspace_bytes=WORKSPACE_BYTES)

    def glu(self, b):
        self.execute("glu", "glu", gate=b.gate_up.data_ptr(), up=elements_at(b.gate_up, INTERMEDIATE),
                     out=b.glu.data_ptr())

    def run(self, name, w, b):
        """Without attention, o reads what stands for its result: y."""
        calls = {"norm1": lambda: self.norm("norm1", w.norm1, b), "qkv": lambda: self.gemm("qkv", b.y, w.qkv, b.qkv),
                 "rope": lambda: self.rope(w, b), "attention": lambda: self.attention(w, b),
                 "o": lambda: self.gemm("o", b.y, w.o, b.x), "norm2": lambda: self.norm("norm2", w.norm2, b),
                 "gate_up": lambda: self.gemm("gate_up", b.y, w.gate_up, b.gate_up), "glu": lambda: self.glu(b),
                 "down": lambda: self.gemm("down", b.glu, w.down, b.x)}
        calls[name]()

    def layer(self, w, b):
        for name in self.names:
            self.run(name, w, b)

    def gemms(self, w, b):
        for name in GEMMS:
            self.run(name, w, b)


def add_and_normalize(x, residual, weight):
    total = x.float() + residual.float()
    residual.copy_(total)
    return (total * torch.rsqrt(total.pow(2).mean(-1, keepdim=True) + EPS) * weight.float()).to(x.dtype)


def gated(gate_up):
    gate, up = gate_up.chunk(2, dim=-1)
    return (torch.nn.functional.silu(gate.float()) * up.float()).to(gate.dtype)


def rotate(qkv, table, positions):
    q, k, v = qkv.view(-1, Q_HEADS + 2 * KV_HEADS, HEAD_DIM).split((Q_HEADS, KV_HEADS, KV_HEADS), dim=1)
    cos, sin = table[positions.long()][:, None].chunk(2, dim=-1)

    def rotated(x):
        a, b = x.float().chunk(2, dim=-1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1).to(qkv.dtype)

    return rotated(q), rotated(k), v


class Torch:
    def __init__(self, kv_len):
        self.kv_len = kv_len
        self.norm, self.gated, self.rotate = (torch.compile(call, dynamic=False, fullgraph=True)
                                              for call in (add_and_normalize, gated, rotate))

    def attend(self, w, b):
        q, k, v = self.rotate(b.qkv, b.table, b.positions)
        for cache, new in ((w.k, k), (w.v, v)):  # not compiled: the caches would be copied
            cache.view(-1, KV_HEADS, HEAD_DIM).index_copy_(0, b.slots, new)
        with torch.nn.attention.sdpa_kernel([torch.nn.attention.SDPBackend.CUDNN_ATTENTION]):
            out = torch.nn.functional.scaled_dot_product_attention(q[:, None].transpose(1, 2), w.k.transpose(1, 2),
                                                                   w.v.transpose(1, 2), enable_gqa=True)
        return out.reshape(-1, Q)

    def layer(self, w, b):
        y = self.norm(b.x, b.residual, w.norm1)
        torch.mm(y, w.qkv.t(), out=b.qkv)
        torch.mm(self.attend(w, b) if self.kv_len else y, w.o.t(), out=b.x)
        y = self.norm(b.x, b.residual, w.norm2)
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


def apart(ours, layers, buffers, rounds):
    """The microseconds of each kernel in a graph of its own, over all layers."""
    repeats = 4  # so that a graph is some hundred microseconds long
    graphs = {name: captured(lambda name=name: [ours.run(name, w, buffers) for w in layers * repeats])
              for name in ours.names}
    return {name: statistics.median(replay_us(graph) for _ in range(rounds)) / (repeats * len(layers))
            for name, graph in graphs.items()}


def agree(library, layer, tokens, kv_len):
    """Both layers must leave the same behind, from the same beginning."""
    ours, torchs, found = Ours(library, tokens, kv_len, 0), Torch(kv_len), []
    for run in (ours.layer, torchs.layer):
        torch.manual_seed(1)
        buffers = Buffers(tokens, kv_len)
        run(layer, buffers)
        found.append(buffers.x.float())
    difference = (found[0] - found[1]).norm() / found[1].norm()
    assert difference < 0.02, f"{tokens} tokens, {kv_len} keys: torch's layer is {difference:.3g} off ours"


def measure(library, tokens, kv_len, gbs, rounds):
    layers, buffers = [Layer(tokens, kv_len) for _ in range(LAYERS)], Buffers(tokens, kv_len)
    agree(library, layers[0], tokens, kv_len)
    plain = Ours(library, tokens, kv_len, 0)
    constant = Ours(library, tokens, kv_len, VALUES["GM_PLAN_CONSTANT_B"])
    kernels = len(plain.names)
    ways = {"gristmill": (plain.layer, kernels), "gristmill, constant B": (constant.layer, kernels),
            "torch": (Torch(kv_len).layer, kernels)}
    if kv_len == 0:
        ways["gristmill, constant B, GEMMs alone"] = (constant.gemms, len(GEMMS))
    graphs = {name: captured(lambda layer=way[0]: [layer(w, buffers) for w in layers]) for name, way in ways.items()}
    times = {name: [] for name in graphs}
    for _ in range(rounds):
        for name, graph in graphs.items():
            times[name].append(replay_us(graph) / len(layers))
    floor, of_kernels = layers[0].bytes() / gbs * 1e-3, apart(constant, layers, buffers, rounds)
    for name, us in times.items():
        median, count = statistics.median(us), ways[name][1]
        gap = (median - floor) / count
        print(f"{tokens} tokens, {kv_len} keys, {name}: {median:.1f} us a layer, its bytes {floor:.1f}, {gap:.2f} us a "
              f"kernel beside them", flush=True)
        yield {"tokens": tokens, "kv_len": kv_len, "way": name, "kernels": count, "us": median, "us_rounds": us,
               "floor_us": floor, "gap_us": gap}
    print(f"  apart {sum(of_kernels.values()):.1f} us: " + ", ".join(f"{n} {us:.2f}" for n, us in of_kernels.items()))
    yield {"tokens": tokens, "kv_len": kv_len, "way": "gristmill, constant B, apart", "kernels": kernels,
           "us": sum(of_kernels.values()), "apart_us": of_kernels, "floor_us": floor}


def numbers(text):
    return [int(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--tokens", type=numbers, default=[1, 4, 16, 64])
    parser.add_argument("--kv-len", type=numbers, default=[0, 1024])
    parser.add_argument("--read-gbs", type=float, required=True, help="`ceilings of this machine` of gristmill bench")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    library, gbs = Library(options.library.resolve()), options.read_gbs
    rows = [row for kv_len in options.kv_len for tokens in options.tokens
            for row in measure(library, tokens, kv_len, gbs, options.rounds)]
    meta = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "read_gbs": gbs,
            "layer": {"hidden": HIDDEN, "qkv": QKV, "intermediate": INTERMEDIATE, "layers": LAYERS}}
    options.output.write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
