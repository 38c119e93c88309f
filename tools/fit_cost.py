#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the constants of a cost model (src/host/<family>/cost.c) to the times of tuning ledgers: needs a C compiler, but no GPU.

    fit_cost.py BUILD LEDGER[=WEIGHT] ... [--seconds S] [--folds N] [--share S] [--only GLOB] [--model gemm_sm90|gemv]
                [--device MODEL]

The model is compiled once more with its constants as variables and linked with BUILD/libgristmill.a. Constants are then
changed at random, one to three at a time, and a change is kept if the model chooses better by it: fit_cost.c says by what
measure. Every ledger counts by its WEIGHT (1), and in it few tokens, 65 to 512 and more alike, however many problems they are.
--share S adds S for the share of the first ledger's picks that lose more than 3 % (0.05 is as much as 5 % lost everywhere).
With --folds N every part of the problems is held out once, and the losses on those are what to believe. Nothing is written
but the #define lines of the constants that changed, after all problems, for whoever wants to take them over.
"""
import argparse
import collections
import ctypes
import fnmatch
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

from chooser import HEADER, read_ledger, summary
from report import REGIMES as REGIMES_OF

REGIMES = REGIMES_OF["m"]

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFINE = re.compile(r"^#define (\w+) +([0-9.]+)(?= )", re.M)
AT_MOST = {"EFFICIENCY": 1.0, "PORT_BYTES": 128.0}  # a share, and what an SM reads of its shared memory in a clock


class Model:
    def __init__(self, build, source, scratch):
        text = source.read_text()
        self.start = {name: float(value) for name, value in DEFINE.findall(text)}
        variables = pathlib.Path(scratch) / source.name
        variables.write_text(DEFINE.sub(r"double \1 = \2;", text))  # not static: they are found by name
        library = pathlib.Path(scratch) / "fit.so"
        subprocess.run(["cc", "-O2", "-std=gnu11", "-fPIC", "-shared", "-o", library, ROOT / "tools" / "fit_cost.c", variables,
                        f"-I{build / 'generated'}", f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}",
                        build / "libgristmill.a", "-lm", "-ldl", "-lpthread"], check=True)
        self.library = ctypes.CDLL(str(library))
        self.library.fit_row.restype = ctypes.c_char_p

    def set(self, constants):
        for name, value in constants.items():
            ctypes.c_double.in_dll(self.library, name).value = value


def weighed(ledger):
    """PATH[=WEIGHT] -> path, weight."""
    path, _, weight = ledger.partition("=")
    return path, float(weight or 1)


class Problems:
    def __init__(self, model, device, ledgers):
        self.model = model
        self.ledgers, self.weights = zip(*(weighed(ledger) for ledger in ledgers))
        self.entries, self.ledger = [], []  # and of each the ledger's number
        for number, path in enumerate(self.ledgers):
            for e in read_ledger(path):
                if (e.type, e.out, e.layout, e.epilogue) == ("bf16", "bf16", "tn", "plain"):
                    self.entries.append(e)
                    self.ledger.append(number)
        count = len(self.entries)
        sizes = (ctypes.c_int64 * (3 * count))(*(size for e in self.entries for size in (e.m, e.n, e.k)))
        rows = model.library.fit_open(device.encode(), sizes, count)
        if rows <= 0 or not count:
            sys.exit(f"fit_cost.py: no problems, or {device} is no built-in model")
        names = [model.library.fit_row(row).decode() for row in range(rows)]
        suffixes = ["", "/k"] + [f"/k{pieces}" for pieces in range(2, model.library.fit_kinds())]
        self.times = (ctypes.c_double * (len(suffixes) * rows * count))(
            *(e.times.get(name + suffix, 0) for e in self.entries for name in names for suffix in suffixes))
        self.scores, self.losses = (ctypes.c_double * count)(), (ctypes.c_double * count)()

    def judge(self, constants):
        """-> the score of every problem, and the loss of the model's choice (-1: not timed)."""
        self.model.set(constants)
        self.model.library.fit_judge(self.times, self.scores, self.losses)
        return list(self.scores), list(self.losses)


def changed(constants, names, steps, rng):
    picked = rng.sample(names, min(len(names), rng.choice((1, 1, 2, 3))))
    trial = dict(constants)
    for name in picked:
        most = next((most for part, most in AT_MOST.items() if part in name), math.inf)
        trial[name] = min(constants[name] * math.exp(rng.gauss(0, steps[name])), most)
    return trial, picked


def beyond(loss):
    """1 where a pick loses more than 3 %, 0 where less, and between them a slope that a search can go down."""
    return 1 / (1 + math.exp(min(50, (0.03 - loss) / 0.004))) if loss >= 0 else 0


def measure(problems, among, share):
    """-> what is to become least of the problems `among`, as a function of the constants."""
    def regime(i):
        m = problems.entries[i].m
        return problems.ledger[i], next(name for name, low, high in REGIMES if low <= m <= high)

    counts = collections.Counter(regime(i) for i in among)
    weights = {i: problems.weights[problems.ledger[i]] / counts[regime(i)] for i in among}
    shares = {i: share * (problems.ledger[i] == 0) for i in among}

    def value(constants):
        scores, losses = problems.judge(constants)
        return sum(weights[i] * (scores[i] + shares[i] * beyond(losses[i])) for i in among)

    return value


def fit(problems, start, names, among, options, seed):
    """The constants by which the problems `among` score least. Steps grow where changes are kept, and shrink where not."""
    score = measure(problems, among, options.share)
    rng = random.Random(seed)
    best, least = dict(start), score(start)
    steps = dict.fromkeys(names, 0.08)
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        trial, picked = changed(best, names, steps, rng)
        value = score(trial)
        if value < least:
            best, least = trial, value
        for name in picked:
            steps[name] = min(0.5, max(0.005, steps[name] * (1.25 if best is trial else 0.97)))
    return best


def show(title, problems, losses):
    for number, path in enumerate(problems.ledgers):
        print(f"{title}, {path}\n{HEADER}")
        for name, low, high in REGIMES:
            chosen = [loss for loss, e, of in zip(losses, problems.entries, problems.ledger)
                      if of == number and low <= e.m <= high]
            known = [100 * loss for loss in chosen if loss >= 0]
            if known:
                print(summary(name, len(chosen), known))


def show_held_out(problems, options, start, names):
    rng = random.Random(1)
    part = [rng.randrange(options.folds) for _ in problems.entries]
    losses = [-1.0] * len(part)
    for fold in range(options.folds):
        constants = fit(problems, start, names, [i for i, p in enumerate(part) if p != fold], options, fold)
        _, by_fold = problems.judge(constants)
        losses = [by_fold[i] if p == fold else losses[i] for i, p in enumerate(part)]
    show("held out", problems, losses)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("ledgers", nargs="+")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--share", type=float, default=0)
    parser.add_argument("--only", default="*")
    parser.add_argument("--model", choices=("gemm_sm90", "gemv"), default="gemm_sm90")
    parser.add_argument("--device", default="h200")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        model = Model(options.build, ROOT / "src" / "host" / options.model / "cost.c", scratch)
        problems = Problems(model, options.device, options.ledgers)
        names = [name for name in model.start if fnmatch.fnmatch(name, options.only)]
        show("now", problems, problems.judge(model.start)[1])
        if options.folds > 1:
            show_held_out(problems, options, model.start, names)
        fitted = fit(problems, model.start, names, range(len(problems.entries)), options, 0)
        show("fitted", problems, problems.judge(fitted)[1])
    for name, value in fitted.items():
        if value != model.start[name]:
            print(f"#define {name:28} {float(f'{value:.3g}')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
