#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates the laboratory's experiments and compares every number with the one that a real GPU counted.

The counted numbers are the committed results, bench/results/GPU/lab/*.json. A number that both have must be equal; those
that the simulator does not claim, or left out for their size, are listed. Exit code 1: a number differs.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time


def simulate(program, gpu, experiment, budget):
    """{(point, metric): value} and the points that were too large."""
    environment = dict(os.environ, GM_DRIVER="sim", GM_SIM_DEVICE=gpu)
    run = subprocess.run([program, "lab", "simulate", experiment, "--budget", str(budget)], env=environment, text=True,
                         capture_output=True)
    numbers, too_large = {}, set()
    for line in run.stdout.splitlines():
        words = line.split()
        if words[0] == "simulated" and len(words) == 4:
            numbers[int(words[1]), words[3]] = float(words[2])
        elif words[0] == "too-large":
            too_large.add(int(words[1]))
    return numbers, too_large, run


def compare(results, numbers, too_large, tally, show):
    """Prints what differs; what is not claimed is collected by metric."""
    name, wrong = results["meta"]["experiment"], 0
    for index, point in enumerate(results["points"]):
        for quantity in point["quantities"]:
            metric, counted = quantity["metric"], quantity["counted"]
            if metric is None or counted is None:
                continue
            simulated = numbers.get((index, metric))
            if simulated is None:
                kind = "too large" if index in too_large else "not claimed"
                tally[kind].setdefault(f"{name}: {metric}", []).append(point["label"])
            elif simulated == counted:
                tally["equal"] += 1
            else:
                tally["differ"] += 1
                wrong += 1
                if wrong <= show:
                    print(f"{name}: `{point['label']}`: {quantity['name']}: simulated {simulated:.15g}, counted "
                          f"{counted:.15g} ({metric})")
    return wrong


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the program gristmill, with libgristmill-sim beside it")
    parser.add_argument("--gpu", default="h200", help="whose results: a folder of --results, and a simulated GPU's name")
    parser.add_argument("--results", type=pathlib.Path, default=root / "bench" / "results")
    parser.add_argument("--budget", type=float, default=60, help="seconds for one experiment (default: 60)")
    parser.add_argument("--show", type=int, default=10, help="differences printed of an experiment (default: 10)")
    parser.add_argument("experiments", nargs="*", help="default: all that have results")
    options = parser.parse_args()
    tally = {"equal": 0, "differ": 0, "not claimed": {}, "too large": {}}
    failed = 0
    for path in sorted((options.results / options.gpu / "lab").glob("*.json")):
        results = json.loads(path.read_text())
        name = results["meta"]["experiment"]
        if not any(point["quantities"] for point in results["points"]):
            continue
        if options.experiments and name not in options.experiments:
            continue
        start, equal = time.monotonic(), tally["equal"]
        numbers, too_large, run = simulate(options.program, options.gpu, name, options.budget)
        wrong = compare(results, numbers, too_large, tally, options.show)
        print(f"{name}: {tally['equal'] - equal} equal, {wrong} differ, {time.monotonic() - start:.1f} s")
        if run.returncode != 0:
            failed += 1
            print(f"{name}: the simulation ended with {run.returncode}: {run.stderr.strip()}")
    for kind in ("not claimed", "too large"):
        for what, labels in tally[kind].items():
            print(f"{kind}: {what}: {len(labels)} point{'s' if len(labels) > 1 else ''} ({', '.join(labels[:3])}"
                  f"{', ...' if len(labels) > 3 else ''})")
    print(f"{tally['equal']} numbers equal, {tally['differ']} differ, {failed} experiments failed")
    return 1 if tally["differ"] or failed or not tally["equal"] else 0


if __name__ == "__main__":
    sys.exit(main())
