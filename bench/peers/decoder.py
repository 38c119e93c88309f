# SPDX-License-Identifier: Apache-2.0
"""What a decoder's step costs in plain torch, at its best: Llama's layers, or Qwen3's with norms of heads, random bf16
weights, caches that stay in place, each way captured in one CUDA graph and replayed.

    python3 bench/peers/decoder.py config.json --batch 1 --context 1024 --compile --prefill 2048 8192 --json step.json
    python3 bench/peers/decoder.py ... --decoder build/decoder --results bench/results/h200/decoder.json

A step takes one token of each of --batch requests that have --context tokens in their caches, and ends with the
likeliest next ones. --prefill takes so many tokens of one request, as well. Ways, by turns in each round:

    eager          kernels of torch
    compile        torch.compile of the first, the last and one layer, whose code all layers share      with --compile
    max-autotune   likewise, with GEMMs chosen by time
    whole ...      likewise, of the model in one piece, which compiles for as long as it has layers     with --whole

With --decoder, examples/decoder measures the same step behind them, and --results gets a row for the step and one for each
prompt beside those that it has. A step's row has parts: ours as `decoder bench` tells them; of torch the linear layers and
attention, each alone in a graph, and what is left of the fastest way's time.

Attention is scaled_dot_product_attention by that of its kernels which is fastest in eager. `floor_ms` is what reading
the weights and caches takes at --read-tbs; `difference` is a way's logits against eager's, by norm."""
import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

DEVICE, DTYPE = "cuda", torch.bfloat16
SPARE = 64  # tokens that a cache has room for beyond --context
KERNELS = {"torch's choice": None, "flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
MODES = {"compile": "default", "max-autotune": "max-autotune-no-cudagraphs"}


class Shape:
    def __init__(self, config, layers):
        self.hidden, self.intermediate = config["hidden_size"], config["intermediate_size"]
        self.layers = layers or config["num_hidden_layers"]
        self.q_heads = config["num_attention_heads"]
        self.kv_heads = config.get("num_key_value_heads") or self.q_heads
        self.head_dim = config.get("head_dim") or self.hidden // self.q_heads
        self.vocabulary, self.eps = config["vocab_size"], config["rms_norm_eps"]
        self.theta = config.get("rope_theta") or (config.get("rope_parameters") or {}).get("rope_theta", 10000.0)
        self.has_head_norm = any("Qwen3" in name for name in config.get("architectures") or ())
        self.has_tied_embeddings = bool(config.get("tie_word_embeddings"))


def normal(*sizes, scale=0.02):
    """Made where it is needed, never copied there."""
    return torch.nn.Parameter(torch.empty(sizes, device=DEVICE, dtype=DTYPE).normal_(0, scale), requires_grad=False)


def ones(count):
    return torch.nn.Parameter(torch.ones(count, device=DEVICE, dtype=DTYPE), requires_grad=False)


class Layer(torch.nn.Module):
    """No attribute tells one layer from another, or torch.compile would compile each."""

    def __init__(self, shape):
        super().__init__()
        self.heads = (shape.q_heads, shape.kv_heads, shape.kv_heads)
        self.head_dim, self.eps, self.has_head_norm = shape.head_dim, shape.eps, shape.has_head_norm
        q, kv = shape.q_heads * shape.head_dim, shape.kv_heads * shape.head_dim
        self.norm1, self.norm2 = ones(shape.hidden), ones(shape.hidden)
        self.qkv, self.o = normal(q + 2 * kv, shape.hidden), normal(shape.hidden, q)
        self.gate_up = normal(2 * shape.intermediate, shape.hidden)
        self.down = normal(shape.hidden, shape.intermediate)
        if shape.has_head_norm:
            self.q_norm, self.k_norm = ones(shape.head_dim), ones(shape.head_dim)

    def normalized(self, x, weight):
        return functional.rms_norm(x, weight.shape, weight, self.eps)

    def forward(self, x, cos, sin, positions, k_cache, v_cache, length, causal):
        qkv = functional.linear(self.normalized(x, self.norm1), self.qkv)
        q, k, v = qkv.unflatten(-1, (-1, self.head_dim)).split(self.heads, dim=-2)
        if self.has_head_norm:
            q, k = self.normalized(q, self.q_norm), self.normalized(k, self.k_norm)
        q, k, v = (heads.transpose(1, 2) for heads in (rotated(q, cos, sin), rotated(k, cos, sin), v))
        k_cache.index_copy_(2, positions, k)
        v_cache.index_copy_(2, positions, v)
        seen = functional.scaled_dot_product_attention(q, k_cache[:, :, :length], v_cache[:, :, :length],
                                                       is_causal=causal, enable_gqa=True)
        x = x + functional.linear(seen.transpose(1, 2).flatten(2), self.o)
        gate, up = functional.linear(self.normalized(x, self.norm2), self.gate_up).chunk(2, dim=-1)
        return x + functional.linear(functional.silu(gate) * up, self.down)


def rotated(x, cos, sin):
    """[batch, tokens, heads, head_dim] by [tokens, 1, head_dim / 2]."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


class Decoder(torch.nn.Module):
    def __init__(self, shape, max_position):
        super().__init__()
        self.eps = shape.eps
        self.embeddings, self.norm = normal(shape.vocabulary, shape.hidden, scale=1), ones(shape.hidden)
        self.head = self.embeddings if shape.has_tied_embeddings else normal(shape.vocabulary, shape.hidden)
        self.layers = torch.nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        rates = shape.theta ** -(torch.arange(0, shape.head_dim, 2, dtype=torch.float64) / shape.head_dim)
        angles = torch.outer(torch.arange(max_position, dtype=torch.float64), rates)
        for name, values in (("cos", angles.cos()), ("sin", angles.sin())):
            self.register_buffer(name, values.to(DTYPE).to(DEVICE)[:, None], persistent=False)

    def step_bytes(self, batch):
        """Weights that a step reads; of the embeddings, unless they are the head too, a row each."""
        read = [*self.layers.parameters(), self.norm, self.head]
        return sum(weight.numel() * 2 for weight in read) + batch * self.embeddings.shape[1] * 2


def first(model, tokens, positions):
    return functional.embedding(tokens, model.embeddings), model.cos[positions], model.sin[positions]


def last(model, x):
    logits = functional.linear(functional.rms_norm(x[:, -1], model.norm.shape, model.norm, model.eps), model.head)
    return logits, logits.argmax(dim=-1)


def run(model, work, calls=(first, Layer.forward, last)):
    begin, layer, end = calls
    x, cos, sin = begin(model, work.tokens, work.positions)
    for weights, (k, v) in zip(model.layers, work.caches):
        x = layer(weights, x, cos, sin, work.positions, k, v, work.length, work.causal)
    return end(model, x)


class Work:
    """The tokens of a step or of a prompt, and the caches before it."""

    def __init__(self, shape, batch, count, before):
        self.tokens = torch.randint(0, shape.vocabulary, (batch, count), device=DEVICE)
        self.positions = torch.arange(before, before + count, device=DEVICE)
        self.length, self.causal = before + count, count > 1
        sizes = (batch, shape.kv_heads, self.length + SPARE, shape.head_dim)
        self.caches = [tuple(normal(*sizes, scale=1) for _ in range(2)) for _ in range(shape.layers)]

    def cache_bytes(self):
        """What attention reads."""
        return sum(cache[:, :, :self.length].numel() * 2 for pair in self.caches for cache in pair)


class Graph:
    """A call captured once: it is compiled before, and what it returns is kept."""

    def __init__(self, call):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        begun = time.perf_counter()
        with torch.cuda.stream(stream):
            call()
            call()
            stream.synchronize()
            self.prepare_s = time.perf_counter() - begun
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=stream):
                self.logits, self.next = call()
        torch.cuda.synchronize()

    def warm_up(self, seconds):
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            self.graph.replay()
            torch.cuda.synchronize()

    def ms(self, replays):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.graph.replay()
        start.record()
        for _ in range(replays):
            self.graph.replay()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / replays


def by_kernel(name, call):
    """The call where attention is by that kernel alone."""
    kernel = KERNELS[name]

    def called():
        with contextlib.nullcontext() if kernel is None else sdpa_kernel([kernel]):
            return call()

    return called


def note(text):
    print(text, file=sys.stderr, flush=True)


def try_graph(name, call):
    try:
        graph = Graph(call)
    except Exception as error:  # pylint: disable=broad-except # whatever a way raises, it has no time
        note(f"{name}: {(str(error).splitlines() or [repr(error)])[0][:200]}")
        return None
    note(f"{name}: ready after {graph.prepare_s:.0f} s")
    return graph


def eager_by_kernel(model, work, options):
    """The graph of the fastest kernel, and what all of them took."""
    graphs, ms = {}, {}
    for name in KERNELS if options.attention == "fastest" else [options.attention]:
        graph = try_graph(f"eager, attention by {name}", by_kernel(name, lambda: run(model, work)))
        if graph:
            graph.warm_up(options.warm_up)
            graphs[name], ms[name] = graph, statistics.median(graph.ms(options.replays) for _ in range(3))
    best = min(ms, key=ms.get)
    return best, graphs[best], ms


def compiled_calls(model, work, options):
    """Every way that is compiled: its name, and a call."""
    for name, mode in MODES.items():
        if work.causal and name == "max-autotune" and not options.tune_prompt:
            continue
        if options.compile:
            calls = [torch.compile(call, mode=mode, dynamic=False, fullgraph=True)
                     for call in (first, Layer.forward, last)]
            yield name, lambda calls=calls: run(model, work, calls)
        if options.whole:
            whole = torch.compile(run, mode=mode, dynamic=False, fullgraph=True)
            yield f"whole {name}", lambda whole=whole: whole(model, work)


def measure(model, work, options):
    kernel, eager, of_kernels = eager_by_kernel(model, work, options)
    graphs = {"eager": eager}
    for name, call in compiled_calls(model, work, options):
        graph = try_graph(name, by_kernel(kernel, call))
        if graph:
            graphs[name] = graph
    for graph in graphs.values():
        graph.warm_up(options.warm_up)
    expected = eager.logits.float()
    difference = {name: ((graph.logits.float() - expected).norm() / expected.norm()).item()
                  for name, graph in graphs.items()}
    rounds = {name: [] for name in graphs}
    for _ in range(options.rounds):
        for name, graph in graphs.items():
            rounds[name].append(graph.ms(options.replays))
    ms = {name: statistics.median(times) for name, times in rounds.items()}
    best = min(ms, key=ms.get)
    note("  ".join(f"{name} {value:.4f} ms" for name, value in ms.items()))
    return {"ms": ms, "best": best, "best_ms": ms[best], "attention": kernel, "eager_ms_by_attention": of_kernels,
            "difference": difference, "prepare_s": {name: graph.prepare_s for name, graph in graphs.items()},
            "ms_rounds": rounds}


def linears_alone(model, batch):
    """Every linear layer of a step, of rows that are there."""
    rows = {columns: normal(batch, columns, scale=1) for columns in {w.shape[1] for w in model.layers[0].parameters() if w.dim() == 2}}

    def called():
        for layer in model.layers:
            for weight in (layer.qkv, layer.o, layer.gate_up, layer.down):
                out = functional.linear(rows[weight.shape[1]], weight)
        return functional.linear(rows[model.head.shape[1]], model.head), out

    return called


def attention_alone(shape, work):
    """The attention of a step, of caches as they are."""
    q = normal(work.tokens.shape[0], shape.q_heads, 1, shape.head_dim, scale=1)

    def called():
        for k, v in work.caches:
            out = functional.scaled_dot_product_attention(q, k[:, :, :work.length], v[:, :, :work.length], enable_gqa=True)
        return out, out

    return called


def measure_parts(model, shape, work, found, options):
    """Torch's linear layers and its attention, each alone in a graph, and what is left of the fastest way's time."""
    calls = {"linears": linears_alone(model, options.batch),
             "attention": by_kernel(found["attention"], attention_alone(shape, work))}
    parts = {}
    for name, call in calls.items():
        graph = Graph(call)
        graph.warm_up(options.warm_up)
        parts[name] = statistics.median(graph.ms(options.replays) for _ in range(options.rounds))
    parts["rest"] = found["best_ms"] - parts["linears"] - parts["attention"]
    return parts


def measure_step(model, shape, options):
    work = Work(shape, options.batch, 1, options.context)
    weights, caches = model.step_bytes(options.batch), work.cache_bytes()
    found = measure(model, work, options)
    return {"batch": options.batch, "context": options.context, "weight_bytes": weights, "kv_bytes": caches,
            "floor_ms": (weights + caches) / options.read_tbs * 1e-9, **found,
            "parts_ms": measure_parts(model, shape, work, found, options)}


def measure_ours(options, prefill):
    """What `decoder bench` says of the same step and a prompt, in a process of its own while this one is idle."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    layers = ["--layers", str(options.layers)] if options.layers else []
    with tempfile.NamedTemporaryFile(suffix=".json") as numbers:
        subprocess.run([options.decoder, "bench", options.config.parent, "--batch", str(options.batch), "--context",
                        str(options.context), "--prefill", str(prefill), "--json", numbers.name, *layers],
                       check=True, stdout=sys.stderr)
        return json.loads(pathlib.Path(numbers.name).read_text())


def row_of(result, theirs, ours_ms, **more):
    """A line of the table: our milliseconds, each way's of torch, and the fastest of these over ours."""
    return {"op": "decoder", "model": result["model"], "layers": result["shape"]["layers"], **more, "ms": ours_ms,
            "torch_ms": theirs["ms"], "best": theirs["best"], "best_ms": theirs["best_ms"],
            "ratio_best": theirs["best_ms"] / ours_ms}


def rows_of(result):
    ours, step = result["decoder"], result["step"]
    yield row_of(result, step, ours["decode_ms"], batch=step["batch"], context=step["context"], prefill=0,
                 floor_ms=step["floor_ms"], parts_ms=ours["parts_ms"], torch_parts_ms=step["parts_ms"])
    for prompt in result["prefills"]:
        yield row_of(result, prompt, prompt["decoder_ms"], batch=1, context=0, prefill=prompt["tokens"],
                     floor_ms=None, parts_ms=None, torch_parts_ms=None)


def add_rows(result, path):
    """Rows of the same problems are replaced."""
    keys = ("model", "layers", "batch", "context", "prefill")
    found = json.loads(path.read_text()) if path.exists() else {"rows": []}
    new = list(rows_of(result))
    rows = [row for row in found["rows"] if all([row[key] for key in keys] != [other[key] for key in keys] for other in new)]
    meta = {"gpu": result["gpu"], "torch": result["torch"], "suite": "decoder", "date": time.strftime("%Y-%m-%d")}
    path.write_text(json.dumps({"meta": meta, "rows": rows + new}, indent=1) + "\n")


def name_of(path):
    return path.resolve().parent.name if path.name == "config.json" else path.stem


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("config", type=pathlib.Path, help="a model's config.json, or one like it")
    parser.add_argument("--layers", type=int, help="instead of as many as the model has")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--prefill", type=int, nargs="*", default=[], help="tokens of a prompt, or of several")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--tune-prompt", action="store_true", help="max-autotune of the prompt as well, for a minute more")
    parser.add_argument("--attention", choices=("fastest", *KERNELS), default="fastest")
    parser.add_argument("--json", type=pathlib.Path, help="instead of standard output")
    parser.add_argument("--decoder", help="the program of examples/decoder, which measures as well")
    parser.add_argument("--results", type=pathlib.Path, help="with --decoder: rows are added there")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--replays", type=int, default=20)
    parser.add_argument("--warm-up", type=float, default=1.0, help="seconds, for each way")
    parser.add_argument("--read-tbs", type=float, default=4.62, help="TB/s that the GPU reads")
    return parser.parse_args()


@torch.no_grad()
def main():
    options = parse()
    torch.manual_seed(1)
    shape = Shape(json.loads(options.config.read_text()), options.layers)
    model = Decoder(shape, max(options.context + 1, *options.prefill, 0))
    result = {"model": name_of(options.config), "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
              "shape": vars(shape), "step": measure_step(model, shape, options), "prefills": []}
    for tokens in options.prefill:
        work = Work(shape, 1, tokens, 0)
        result["prefills"].append({"tokens": tokens, **measure(model, work, options)})
        del work
    if options.decoder:
        del model
        result["decoder"] = measure_ours(options, 0)
        for prompt in result["prefills"]:
            prompt["decoder_ms"] = measure_ours(options, prompt["tokens"])["prompt_ms"]
    if options.results:
        add_rows(result, options.results)
    text = json.dumps(result, indent=1) + "\n"
    if options.json:
        options.json.write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
