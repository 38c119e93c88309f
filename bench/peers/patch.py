#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What gristmill.patch(model) does to a model of transformers: a decoding step with a static cache and a prompt, as they
are and patched, each by torch alone and by torch.compile, random bf16 weights, captured in CUDA graphs and replayed.

    patch.py [--results FILE] config.json ...
"""

import argparse
import copy
import json
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings" / "python"))

import torch  # noqa: E402
import transformers  # noqa: E402

import gristmill  # noqa: E402

CONTEXT, PROMPT, ROUNDS, REPLAYS = 1024, 2048, 7, 20


class Step:
    """One token behind CONTEXT others, or a prompt of PROMPT tokens."""

    def __init__(self, model, prompt):
        self.tokens = torch.randint(0, model.config.vocab_size, (1, PROMPT if prompt else 1), device="cuda")
        self.positions = torch.arange(PROMPT if prompt else 1, device="cuda")[None] + (0 if prompt else CONTEXT)
        self.cache = None
        if not prompt:
            self.cache = transformers.StaticCache(config=model.config, max_cache_len=2 * CONTEXT)
            model(torch.randint(0, model.config.vocab_size, (1, CONTEXT), device="cuda"), past_key_values=self.cache)

    def call(self, model):
        cache = {"use_cache": False} if self.cache is None else {"past_key_values": self.cache}
        return model(self.tokens, position_ids=self.positions, logits_to_keep=1, **cache).logits

    def rewind(self):
        for layer in self.cache.layers if self.cache else ():
            layer.cumulative_length.fill_(CONTEXT)


def captured(step, model):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            step.rewind()
            step.call(model)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            step.call(model)
    torch.cuda.synchronize()
    return graph


def round_ms(step, graph):
    step.rewind()
    graph.replay()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(REPLAYS):
        graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / REPLAYS


def measure(models, prompt):
    """{way: milliseconds}, medians of rounds in which ways take turns."""
    found = {}
    for name, model in models.items():
        for way, called in ((name, model), (name + ", compiled", torch.compile(model, dynamic=False))):
            step = Step(model, prompt)
            try:
                found[way] = step, captured(step, called)
            except Exception as error:  # pylint: disable=broad-except # a way that raises has no time
                print(f"{way}: {str(error).splitlines()[0][:200]}", file=sys.stderr)
    times = {way: [] for way in found}
    for _ in range(ROUNDS):
        for way, (step, graph) in found.items():
            times[way].append(round_ms(step, graph))
    return {way: statistics.median(values) for way, values in times.items()}


def rows_of(path):
    config = transformers.LlamaConfig(**json.loads(path.read_text()))
    config.dtype = torch.bfloat16
    with torch.device("cuda"):
        model = transformers.LlamaForCausalLM(config).bfloat16().eval()
    models = {"transformers": model, "patched": gristmill.patch(copy.deepcopy(model))}
    for prompt in (False, True):
        row = {"model": path.parent.name, "context": 0 if prompt else CONTEXT, "prefill": PROMPT if prompt else 0,
               "ms": measure(models, prompt)}
        print(row, flush=True)
        yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("configs", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    torch.manual_seed(1)
    with torch.inference_mode():
        rows = [row for path in options.configs for row in rows_of(path)]
    if options.results:
        meta = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "transformers": transformers.__version__,
                "suite": "patch", "date": time.strftime("%Y-%m-%d")}
        options.results.write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
