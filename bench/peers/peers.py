# SPDX-License-Identifier: Apache-2.0
"""Times what torch compiles, and liger-kernel where it is installed, beside gristmill: the same operands, the same CUDA
graphs, L2 cold, contenders by turns in each round.

    gristmill bench glu --no-baseline --json glu.json            ours, the ceilings, the floors
    python3 bench/peers/peers.py libgristmill.so glu.json        fills in the peers, and the ratios

The results are those of `gristmill bench`; `best` names the fastest peer of each problem."""
import argparse
import importlib.metadata
import json
import pathlib
import statistics
import sys

import torch

import operations
from library import Library

GRAPH_MS, MOST_LAUNCHES = 4.0, 2000


def sets_of(problem, l2_bytes):
    """Operands of as many calls as are larger than 3 times L2."""
    first = problem.operands(0)
    bytes_of_set = sum(tensor.numel() * tensor.element_size() for tensor in first.values())
    count = max(2, min(MOST_LAUNCHES, 3 * l2_bytes // max(bytes_of_set, 1) + 1))
    return [first] + [problem.operands(seed) for seed in range(1, count)]


class Contender:
    """Calls over all sets, captured once."""

    def __init__(self, name, call, sets):
        self.name, self.call, self.sets, self.kept = name, call, sets, []
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for operands in sets[:3]:  # compiles
                call(operands)
            stream.synchronize()
            self.launches = len(sets)
            self.capture(stream)
            ms = self.time()
            self.launches = max(len(sets), min(MOST_LAUNCHES, int(GRAPH_MS / max(ms, 1e-4)) + 1))
            self.capture(stream)
        self.time()

    def capture(self, stream):
        self.graph, self.kept = torch.cuda.CUDAGraph(), []
        with torch.cuda.graph(self.graph, stream=stream):
            for launch in range(self.launches):
                self.kept.append(self.call(self.sets[launch % len(self.sets)]))
                del self.kept[:-len(self.sets)]  # results stay apart for as long as the operands do

    def time(self):
        """Milliseconds of one call."""
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.graph.replay()
        start.record()
        self.graph.replay()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / self.launches


def agrees(ours, theirs, tolerance):
    """Every element within the tolerance of the other, relative to the larger of its own size and 1."""
    ours, theirs = ours.float(), theirs.float()
    distance = (ours - theirs).abs() / torch.maximum(torch.ones_like(ours), theirs.abs())
    return bool((torch.nan_to_num(distance, nan=float("inf")) <= tolerance).float().mean() > 0.9999)


def measure(library, problem, l2_bytes, rounds):
    sets = sets_of(problem, l2_bytes)
    plan = library.plan(problem.operation, problem.problem, workspace_limit=problem.workspace_bytes)

    def ours(operands):
        stream = torch.cuda.current_stream().cuda_stream
        library.execute(problem.operation, plan, problem.arguments(operands), stream)
        return None

    contenders, notes = [Contender("gristmill", ours, sets)], []
    expected = None if not problem.comparable else sets[0][problem.result].clone()
    for name, call in problem.peers().items():
        try:
            result = call(sets[0])
            result = sets[0][problem.result] if result is None else result
            if expected is not None and not agrees(expected, result, problem.tolerance):
                notes.append(f"{name} differs")
            contenders.append(Contender(name, call, sets))
        except Exception as error:  # pylint: disable=broad-except # whatever a peer raises, it has no time
            notes.append(f"{name}: {str(error).splitlines()[0][:120]}")
    times = {contender.name: [] for contender in contenders}
    for turn in range(rounds):
        for contender in contenders[turn % 2:] + contenders[:turn % 2]:
            times[contender.name].append(1000 * contender.time())
    return times, library.kernel_of(plan), notes


def fill_in(row, times, kernel):
    peers = {name: statistics.median(us) for name, us in times.items() if name != "gristmill"}
    row["us_rounds"], row["us"], row["kernel"] = times["gristmill"], statistics.median(times["gristmill"]), kernel
    ordered = sorted(times["gristmill"])
    row["us_p10"], row["us_p90"] = ordered[0], ordered[-1]
    row["peers_us"] = peers
    if not peers:
        return
    best = min(peers, key=peers.get)
    ratios = sorted(theirs / ours for theirs, ours in zip(times[best], times["gristmill"]))
    row["best"], row["best_us"], row["default_us"] = best, peers[best], peers.get("torch.compile")
    row["ratio_best"], row["best_us_rounds"] = statistics.median(ratios), times[best]
    row["ratio_best_p10"], row["ratio_best_p90"] = ratios[0], ratios[-1]
    if row["default_us"]:
        row["ratio_default"] = row["default_us"] / row["us"]


def measure_row(library, row, l2_bytes, rounds):
    problem = operations.problem_of(row)
    if problem is None:
        return
    times, kernel, notes = measure(library, problem, l2_bytes, rounds)
    if row["us"]:
        for rate in ("tflops", "gbs"):
            row[rate] = row[rate] * row["us"] / statistics.median(times["gristmill"])
    fill_in(row, times, kernel)
    peers = "  ".join(f"{name} {us:.2f}" for name, us in sorted(row["peers_us"].items(), key=lambda item: item[1]))
    print(f"{problem.title}: {row['us']:.2f} us, {row['gbs']:.0f} GB/s; {peers}{'; ' if notes else ''}{'; '.join(notes)}",
          flush=True)


def versions(peers):
    """Of torch, and of the packages that some peer's name begins with."""
    found = [f"torch {torch.__version__.split('+')[0]}"]
    for package, peer in (("triton", "torch"), ("liger-kernel", "liger"), ("nvidia-cudnn-frontend", "cudnn-frontend")):
        if any(name.startswith(peer) for name in peers):
            found.append(f"{package.removeprefix('nvidia-')} {importlib.metadata.version(package)}")
    return ", ".join(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path, help="of gristmill bench --json")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="instead of the results themselves")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    library = Library(options.library.resolve())
    results = json.loads(options.results.read_text())
    l2_bytes = results["meta"]["l2_bytes"]
    results["meta"]["command"] += "; bench/peers/peers.py"
    failed = 0
    for row in results["rows"]:
        torch._dynamo.reset()  # pylint: disable=protected-access
        try:
            measure_row(library, row, l2_bytes, options.rounds)
        except Exception as error:  # pylint: disable=broad-except # the others are measured still
            failed += 1
            print(f"{row['op']}: FAILED: {error}", flush=True)
        results["meta"]["baseline"] = versions({name for other in results["rows"] for name in other.get("peers_us") or ()})
        (options.output or options.results).write_text(json.dumps(results, indent=1) + "\n")
        torch.cuda.empty_cache()
    ratios = [row["ratio_best"] for row in results["rows"] if row["ratio_best"]]
    if ratios:
        print(f"mean {statistics.geometric_mean(ratios):.3f} of {len(ratios)} problems, least {min(ratios):.3f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
