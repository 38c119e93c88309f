#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the mutants of *.txt beside it and checks that the simulator finds every one; or, with --hardware, writes down what a
GPU makes of them. The unmutated rows run first and must give no report.

    mutants.py BUILD                     on the simulator; the last line is "N passed, N failed, N skipped"
    mutants.py BUILD --hardware FILE     on this machine's GPU: what each mutant does, as JSON
    mutants.py BUILD --compile           only compiles (BUILD/mutants/*.ptx), for a machine without nvcc to run
    mutants.py BUILD --only GLOB         those whose name matches
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from table import rows as rows_of  # noqa: E402

ROOT = HERE.parent.parent
KINDS = re.findall(r'\[SIM_REPORT_[A-Z_]+\] = "([a-z-]+)"', (ROOT / "src" / "sim" / "report" / "report.c").read_text())


class Mutant:
    def __init__(self, name):
        self.name, self.why, self.row, self.test, self.file, self.report = name, "", "", "image", "", []
        self.schedule = ""
        self.old, self.new = [], []


def lines():
    """(file, line number, line) of all lists."""
    for path in sorted(HERE.glob("*.txt")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            yield path.name, number, line


def read_mutants():
    mutants = []
    for name, number, line in lines():
        if not line or line.startswith("#"):
            continue
        if match := re.fullmatch(r"\[([a-z0-9-]+)\]", line):
            mutants.append(Mutant(match[1]))
        elif match := re.fullmatch(r"(why|row|test|file|report|schedule): (.+)", line):
            value = match[2].split(", ") if match[1] == "report" else match[2]
            setattr(mutants[-1], match[1], value)
        elif match := re.fullmatch(r"([-+]) (.+)", line):
            (mutants[-1].old if match[1] == "-" else mutants[-1].new).append(match[2])
        else:
            sys.exit(f"{name}, line {number}: {line}")
    for mutant in mutants:
        unknown = set(mutant.report) - set(KINDS) - {"result"}
        if unknown or not (mutant.why and mutant.row and mutant.file and mutant.report and mutant.old):
            sys.exit(f"[{mutant.name}] lacks a field, or reports {sorted(unknown)}")
    if len({mutant.name for mutant in mutants}) != len(mutants):
        sys.exit("two mutants of one name")
    return mutants


def mutate(text, mutant):
    """The text with `old` replaced; how lines are indented does not matter."""
    pattern = r"\s*\n\s*".join(re.escape(line) for line in mutant.old)
    found = re.findall(pattern, text)
    if len(found) != 1:
        sys.exit(f"[{mutant.name}]: {mutant.file} has the text {len(found)} times instead of once")
    return re.sub(pattern, lambda _: "\n".join(mutant.new), text)


def newest_source():
    """When a source of a kernel, or a list of mutants, last changed."""
    sources = [path for path in (ROOT / "src").rglob("*") if path.suffix in (".cu", ".cuh", ".h")]
    return max(path.stat().st_mtime for path in [*sources, *HERE.glob("*.txt")])


def compile_mutant(build, mutant, row, newest):
    """-> BUILD/mutants/<name>.ptx; kept while it is newer than the sources. All include by the path from src/, so the mutated
    file is found first in a tree that holds nothing else."""
    target = build / "mutants" / f"{mutant.name}.ptx"
    if target.exists() and target.stat().st_mtime > newest:
        return
    nvcc = (build / "kernels" / "nvcc.txt").read_text().strip()
    arch = "compute_90a" if "sm_90a" in row["targets"] else "compute_80"
    with tempfile.TemporaryDirectory() as scratch:
        victim = pathlib.Path(scratch) / mutant.file
        victim.parent.mkdir(parents=True)
        victim.write_text(mutate((ROOT / mutant.file).read_text(), mutant))
        source = victim if mutant.file == row["source"] else ROOT / row["source"]
        defines = ["-D" + define for define in row["defines"]]
        subprocess.run([nvcc, "-std=c++17", "-O3", "-allow-unsupported-compiler", "-ptx", f"-arch={arch}", *defines,
                        f"-I{scratch}/src", f"-I{ROOT}/src", "-o", str(target), str(source)], check=True)


def run_row(build, row, test, ptx, simulated, schedule=""):
    """Runs a test of the row; the PTX, if any, takes its image's place; the simulator under a shuffled schedule, if it is to
    find a mutant. -> exit status, output."""
    environment = dict(os.environ)
    if simulated:
        columns = row["columns"] # so few SMs that every CTA or cluster takes more than one tile
        shares_operands = columns.get("cluster_m", 1) * columns.get("cluster_n", 1) > 1
        shares_work = max(columns.get(name, 1) for name in ("cluster_k", "cluster", "row_ctas"))
        sms = shares_work if shares_work > 1 else 2 if shares_operands else 1
        environment.update(GM_DRIVER="sim", GM_SIM_REPORTS="fail")
        if schedule:
            environment.update(GM_SIM_SEED=schedule)
        if test == "image":
            environment.update(GM_SIM_SMS=str(sms))
    command = [str(build / "gpu_tests"), f"--test={test}", f"--kernel={row['name']}", "--seed=1",
               f"--timeout={60 if simulated else 6}"]
    if ptx:
        command.append(f"--image={ptx}")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    return done.returncode, done.stdout + done.stderr


def reported(output):
    """The kinds of report in the output, in the order of their first appearance."""
    return list(dict.fromkeys(kind for kind in re.findall(r"^gristmill-sim: ([a-z-]+):", output, re.M) if kind in KINDS))


def check_simulated(build, table, mutant):
    status, output = run_row(build, table[mutant.row], mutant.test, build / "mutants" / f"{mutant.name}.ptx", True,
                             mutant.schedule)
    kinds = reported(output)
    wanted = [kind for kind in mutant.report if kind != "result"]
    found = any(kind in kinds for kind in wanted) or ("result" in mutant.report and status == 1)
    return found, f"{', '.join(kinds) or ('wrong result' if status == 1 else 'nothing')}", output


def hardware_outcome(status, output):
    if status == 0:
        return "passes"
    if "hung" in output:
        return "hangs"
    if match := re.search(r"CUDA_ERROR_[A-Z_]+", output):
        return match[0]
    return "wrong result"


def run_hardware(build, table, mutants, target):
    """Those that hang come last: a kernel that never ends can take the rest of a lease with it."""
    device = None
    rows = []
    for mutant in sorted(mutants, key=lambda mutant: "deadlock" in mutant.report):
        status, output = run_row(build, table[mutant.row], mutant.test, build / "mutants" / f"{mutant.name}.ptx", False)
        device = device or re.search(r"^device: (.+)$", output, re.M)
        if not device:
            sys.exit(f"no GPU:\n{output}")
        rows.append({"name": mutant.name, "row": mutant.row, "why": mutant.why, "report": mutant.report,
                     "hardware": hardware_outcome(status, output)})
        print(f"{mutant.name:36} {rows[-1]['hardware']}", flush=True)
        ordered = sorted(rows, key=lambda row: [mutant.name for mutant in mutants].index(row["name"]))
        target.write_text(json.dumps({"device": device[1], "mutants": ordered}, indent=1) + "\n")


def run_simulated(build, table, mutants):
    passed = failed = 0
    jobs = concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1)
    clean = list(dict.fromkeys((mutant.row, mutant.test) for mutant in mutants))
    for (row, _), (status, output) in zip(clean, jobs.map(lambda of: run_row(build, table[of[0]], of[1], None, True), clean)):
        good = status == 0 and not reported(output)
        passed, failed = passed + good, failed + (not good)
        print(f"{'ok  ' if good else 'FAIL'} {row}: unmutated{'' if good else chr(10) + output}", flush=True)
    for mutant, (found, what, output) in zip(mutants, jobs.map(lambda m: check_simulated(build, table, m), mutants)):
        passed, failed = passed + found, failed + (not found)
        print(f"{'ok  ' if found else 'FAIL'} {mutant.name}: {what}"
              f"{'' if found else ', not ' + ' or '.join(mutant.report) + chr(10) + output}", flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--hardware", type=pathlib.Path)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--only", default="*")
    parser.add_argument("--every", type=int, default=1, help="every so manyth of them")
    options = parser.parse_args()
    build = options.build.resolve()
    table = {row["name"]: row for row in rows_of(build)}
    mutants = [mutant for mutant in read_mutants() if fnmatch.fnmatch(mutant.name, options.only)][::options.every]
    if options.hardware:
        run_hardware(build, table, mutants, options.hardware)
        return 0
    (build / "mutants").mkdir(exist_ok=True)
    newest = newest_source()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as jobs:
        list(jobs.map(lambda mutant: compile_mutant(build, mutant, table[mutant.row], newest), mutants))
    return 0 if options.compile else run_simulated(build, table, mutants)


if __name__ == "__main__":
    sys.exit(main())
