# SPDX-License-Identifier: Apache-2.0
"""Decoding steps of requests whose lengths differ, beside as many requests that share the same tokens equally.

    python3 bench/peers/ragged_attention.py libgristmill.so -o attention-ragged.json

Lengths are drawn from 100 to 16000, evenly, or so that short ones are more frequent. Pages lie scattered. A graph has one
call: k and v are some GB, of which L2 keeps little."""
import argparse
import json
import pathlib
import statistics
import sys

import torch

from decode_chain import captured, replay_us
from library import VALUES, Library, make

Q_HEADS, KV_HEADS, HEAD_DIM, SHORTEST, LONGEST = 32, 8, 128, 100, 16000
WORKSPACE_BYTES = 32 << 20


def drawn(batch, law):
    generator = torch.Generator().manual_seed(batch)
    share = torch.rand(batch, generator=generator)
    if law == "evenly":
        return (SHORTEST + share * (LONGEST - SHORTEST)).long().tolist()
    return (SHORTEST * (LONGEST / SHORTEST) ** share).long().tolist()


class Requests:
    """A plan for the longest request, and a call's operands."""

    def __init__(self, library, lengths, page_size):
        self.library, self.lengths = library, lengths
        batch, pages = len(lengths), [-(-length // page_size) for length in lengths]
        width = -(-LONGEST // page_size)
        problem = make("gm_attention_problem", max_batch=batch, max_q_len=1, max_kv_len=LONGEST, q_heads=Q_HEADS,
                       kv_heads=KV_HEADS, head_dim=HEAD_DIM, page_size=page_size, page_count=sum(pages), table_stride=width,
                       mask=VALUES["GM_ATTENTION_CAUSAL"], kv_layout=VALUES["GM_ATTENTION_KV_PAGED"])
        self.plan = library.plan("attention", problem, workspace_limit=WORKSPACE_BYTES)
        table, order = torch.zeros(batch, width, dtype=torch.int32), torch.randperm(sum(pages), dtype=torch.int32)
        for request, first in enumerate(sum(pages[:i]) for i in range(batch)):
            table[request, :pages[request]] = order[first:first + pages[request]]
        self.table = table.cuda()
        self.k, self.v = (torch.randn(sum(pages), page_size, KV_HEADS, HEAD_DIM, device="cuda", dtype=torch.bfloat16)
                          for _ in range(2))
        self.q = torch.randn(batch, Q_HEADS, HEAD_DIM, device="cuda", dtype=torch.bfloat16)
        self.out = torch.empty_like(self.q)
        self.q_indptr = torch.arange(batch + 1, device="cuda", dtype=torch.int32)
        self.kv_len = torch.tensor(lengths, device="cuda", dtype=torch.int32)
        self.workspace = torch.empty(WORKSPACE_BYTES, device="cuda", dtype=torch.uint8)

    def call(self):
        names = {"page_table": self.table, **{name: getattr(self, name) for name in ("q", "k", "v", "out", "q_indptr", "kv_len")}}
        args = make("gm_attention_args", batch=len(self.lengths), workspace=self.workspace.data_ptr(),
                    workspace_bytes=WORKSPACE_BYTES, **{name: tensor.data_ptr() for name, tensor in names.items()})
        self.library.execute("attention", self.plan, args, torch.cuda.current_stream().cuda_stream)

    def bytes(self):
        return 2 * sum(self.lengths) * KV_HEADS * HEAD_DIM * self.k.element_size()


def measure(library, batch, law, page_size, rounds):
    lengths = drawn(batch, law)
    ways = {"ragged": Requests(library, lengths, page_size),
            "equal": Requests(library, [sum(lengths) // batch] * batch, page_size)}
    graphs, times = {name: captured(way.call) for name, way in ways.items()}, {name: [] for name in ways}
    for _ in range(rounds):
        for name, graph in graphs.items():
            times[name].append(replay_us(graph))
    rates = {name: way.bytes() / statistics.median(times[name]) * 1e-3 for name, way in ways.items()}
    ratio = rates["ragged"] / rates["equal"]
    print(f"{batch} requests, {law}, pages of {page_size}: {sum(lengths)} tokens, ragged {rates['ragged']:.0f} GB/s, equal "
          f"{rates['equal']:.0f} GB/s, {ratio:.3f}", flush=True)
    return {"batch": batch, "law": law, "page_size": page_size, "tokens": sum(lengths), "us": times,
            "ragged_gbs": rates["ragged"], "equal_gbs": rates["equal"], "ratio": ratio,
            "kernel": library.kernel_of(ways["ragged"].plan)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    library = Library(options.library.resolve())
    rows = [measure(library, batch, law, page_size, options.rounds)
            for batch in (8, 32, 128) for law in ("evenly", "short ones more often") for page_size in (16, 64)]
    meta = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "heads": [Q_HEADS, KV_HEADS, HEAD_DIM]}
    options.output.write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
