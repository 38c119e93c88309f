#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How good the planner's model is where times are known: needs no GPU.

    chooser.py PROGRAM LEDGER [--types bf16,fp16] [--device MODEL] [--workspace MIB] [--worst N]
               [--at-least PERCENT,PERCENT,PERCENT]

For every problem of a tuning ledger, PROGRAM (the built gristmill) is asked what the model alone picks; its loss is what
the picked kernel took, by the ledger, beyond the fastest that was timed. A pick that the ledger did not time is left out
and counted. Problems are of 16-bit operands, to which the constants are fitted, or of those of --types. With --at-least
the exit status is 1 where a smaller share of the picks of up to 64 tokens, of 65 to 512, or of more is within 3 %.
"""
import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from report import REGIMES as REGIMES_OF

REGIMES = REGIMES_OF["m"]


class Entry:
    """One line: gemm AB B D LAYOUT EPILOGUE M N K, then for every kernel its name, median, p10, p90 and rounds."""

    def __init__(self, words):
        self.type, self.out, self.layout, self.epilogue = words[1], words[3], words[4], words[5]
        self.m, self.n, self.k = (int(word) for word in words[6:9])
        self.times = {words[i].lstrip("*"): float(words[i + 1]) for i in range(9, len(words), 5)}


def read_ledger(path, types=("bf16", "fp16")):
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    return [Entry(words) for words in lines if words and words[0] == "gemm" and words[1] in types]


def model_pick(program, device, workspace, entry):
    """The kernel's name, with /k behind it where its last tiles are divided, or /k3 where into three pieces each."""
    command = [program, "explain", str(entry.m), str(entry.n), str(entry.k), "--dtype", entry.type, "--out", entry.out,
               "--layout", entry.layout, "--workspace", str(workspace), "--device", device, "--model-only"]
    if entry.epilogue == "general":
        command += ["--act", "silu"]
    utf8 = {**os.environ, "LC_ALL": "C.UTF-8"}
    lines = subprocess.run(command, check=True, capture_output=True, env=utf8, encoding="utf-8").stdout.splitlines()
    chosen = next(line for line in lines if line.startswith("▶ "))
    divided = re.search(r"divided by k-blocks(?:, (\d+) pieces each,)? among", chosen)
    return chosen.split()[1] + (f"/k{divided[1] or ''}" if divided else "")


def share_within(losses, bound):
    return 100 * sum(loss <= bound for loss in losses) / len(losses) if losses else 0


HEADER = f"{'':16}problems  not timed  mean loss  worst  within 3 %"


def summary(name, count, losses):
    """A line under HEADER: of `count` picks those whose loss, in per cent, is known."""
    return (f"{name:16}{count:8}{count - len(losses):11}{sum(losses) / len(losses):9.2f} %"
            f"{max(losses):6.1f} %{share_within(losses, 3):9.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("ledger")
    parser.add_argument("--types", default="bf16,fp16")
    parser.add_argument("--device", default="h200")
    parser.add_argument("--workspace", type=int, default=64)
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--at-least")
    options = parser.parse_args()
    wanted = [float(text) for text in options.at_least.split(",")] if options.at_least else [0] * len(REGIMES)
    entries = read_ledger(options.ledger, options.types.split(","))
    if not entries or len(wanted) != len(REGIMES):
        sys.exit("chooser.py: a ledger with entries, and three shares for --at-least")
    with ThreadPoolExecutor() as pool:
        picks = list(pool.map(lambda e: model_pick(options.program, options.device, options.workspace, e), entries))

    failed = False
    print(HEADER)
    for (name, low, high), least in zip(REGIMES, wanted):
        chosen = [(e, p) for e, p in zip(entries, picks) if low <= e.m <= high]
        losses = [(100 * (e.times[p] / min(e.times.values()) - 1), e, p) for e, p in chosen if p in e.times]
        numbers = [loss for loss, _, _ in losses]
        failed |= bool(chosen) and share_within(numbers, 3) < least
        if numbers:
            print(summary(name, len(chosen), numbers))
        for loss, e, p in sorted(losses, key=lambda x: -x[0])[:options.worst]:
            print(f"    {e.m} x {e.n} x {e.k}: {p} {e.times[p]:.2f} us, +{loss:.1f} % on {min(e.times, key=e.times.get)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
