#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the machine code of every built image, and what the compiler said of it; needs no GPU.

    sass_check.py BUILD_DIR [--cuobjdump PATH] [--max-library-mb 10]

Every row of the build's table is one check: the instructions that make its architecture's path are there, multicast
exactly where the row's cluster shares an operand, slots of the ring in uniform registers, a ring of wide loads that L1
does not keep where gemv streams B, no local-memory traffic, no spills, no C75xx message, no warning.
Ends with "N passed, N failed, N skipped".
"""
import argparse
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROW = re.compile(r"(?P<family>\w+?)_(?P<arch>sm\d+)_(?P<type>\w+?)_(?P<layout>[tn]{2})_(?P<tile>\d+x\d+x\d+)"
                 r"_s(?P<stages>\d+)_c(?P<cm>\d+)x(?P<cn>\d+)_(?P<warps>\w+?)_(?P<map>\w+)")
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)")

# What each path is made of (SASS opcodes): wgmma, TMA load, TMA store, setmaxnreg | cp.async, ldmatrix, mma.sync |
# fp32 multiplication.
REQUIRED = {("gemm", "sm90"): ["HGMMA", "UTMALDG", "UTMASTG", "USETMAXREG"],
            ("gemm", "sm80"): ["LDGSTS", "LDSM", "HMMA"],
            ("gemv", "sm90"): ["FFMA", "ACQBULK"],
            ("gemv", "sm80"): ["FFMA"]}
REDUCES = ["HGMMA", "UTMALDG", "UBLKCP", "ATOMG", "USETMAXREG"]  # reduce-scatter stores D from registers
STREAM_LOAD = "LDG.E.NA.128"
CUBINS = {"sm90": ["sm_90a"], "sm80": ["sm_80", "sm_90"]}
PTX = {"sm90": [], "sm80": ["sm_80"]}
LOCAL_MEMORY = ["LDL", "STL"]
# Waits on the ring whose address is no uniform register. A few stand outside the main loops; with more, ptxas has lost
# the proof that slots are the same in all lanes, and every k-block pays for descriptors made of vector registers.
VECTOR_WAIT = re.compile(r"SYNCS\.PHASECHK\S*TRYWAIT.*\[R\d")
VECTOR_WAITS = 4


def required_of(row):
    reduces = row["arch"] == "sm90" and row["family"] == "gemm" and row["warps"].endswith("r")
    return REDUCES if reduces else REQUIRED[row["family"], row["arch"]]


def row_names(build):
    """The rows of a build, in table order."""
    with open(os.path.join(build, "kernels", "logs.txt"), encoding="utf-8") as file:
        return [os.path.basename(line)[:-len(".log")] for line in file.read().split()]


def dump(cuobjdump, option, image):
    return subprocess.run([cuobjdump, option, image], check=True, capture_output=True, text=True).stdout


def opcodes_by_target(sass):
    """{'sm_80': Counter({'HMMA.16816.F32.BF16': 64, ...}), ...}"""
    targets = {}
    counter = None
    for line in sass.splitlines():
        head = re.match(r"\s*code for (sm_\w+)", line)
        if head:
            counter = targets.setdefault(head.group(1), collections.Counter())
            continue
        found = INSTRUCTION.search(line)
        if found and counter is not None:
            counter[found.group(1)] += 1
            counter["vector wait"] += bool(VECTOR_WAIT.search(line))
    return targets


def check_multicast(row, counter):
    loads = [op for op in counter if op.startswith("UTMALDG")]
    shared = [op for op in loads if "MULTICAST" in op]
    problems = []
    if (int(row["cm"]) > 1 or int(row["cn"]) > 1) != bool(shared):
        problems.append("cluster %sx%s, but multicast loads: %s" % (row["cm"], row["cn"], shared or "none"))
    if loads and "1" in (row["cm"], row["cn"]) and len(shared) == len(loads):
        problems.append("the operand that no CTA shares is loaded by multicast")
    return problems


def check_stream(row, counter):
    """The widest loads of B, which L1 does not keep: a ring of them ahead of the main loop, and one in it."""
    wide = counter[STREAM_LOAD]
    rows = int(row["tile"].split("x")[1]) // int(row["warps"].split("x")[1])
    want = 2 * int(row["stages"]) * rows
    return [] if wide >= want else ["%d %s instead of %d" % (wide, STREAM_LOAD, want)]


def check_sass(row, targets):
    problems = []
    if sorted(targets) != sorted(CUBINS[row["arch"]]):
        problems.append("cubins for %s instead of %s" % (sorted(targets), CUBINS[row["arch"]]))
    for target, counter in targets.items():
        have = {op.split(".")[0] for op in counter}
        problems += ["%s: no %s" % (target, op) for op in required_of(row) if op not in have]
        problems += ["%s: local memory traffic (%s)" % (target, op) for op in LOCAL_MEMORY if op in have]
        if row["family"] == "gemv":
            problems += check_stream(row, counter)
        elif row["arch"] == "sm90":
            problems += check_multicast(row, counter)
            if counter["vector wait"] > VECTOR_WAITS:
                problems.append("%d waits on slots in vector registers" % counter["vector wait"])
    return problems


def check_log(path):
    with open(path, encoding="utf-8") as file:
        log = file.read()
    problems = ["ptxas says " + code for code in sorted(set(re.findall(r"C75\d\d", log)))]
    problems += ["spills: " + line.strip() for line in re.findall(r".*[1-9]\d* bytes spill.*", log)]
    problems += ["compiler warning: " + line.strip() for line in re.findall(r".*\bwarning\b.*", log)]
    return problems


def check_row(cuobjdump, directory, name):
    row = ROW.fullmatch(name)
    if not row:
        return ["the name breaks the grammar"]
    image = os.path.join(directory, name + ".fatbin")
    problems = check_sass(row, opcodes_by_target(dump(cuobjdump, "-sass", image)))
    ptx = re.findall(r"^PTX file .*\.(sm_\w+)\.ptx$", dump(cuobjdump, "-lptx", image), re.M)
    if ptx != PTX[row["arch"]]:
        problems.append("PTX for %s instead of %s" % (ptx, PTX[row["arch"]]))
    return problems + check_log(os.path.join(directory, name + ".log"))


def find_cuobjdump(given, build):
    wheels = glob.glob(os.path.join(build, "venv/lib/python3*/site-packages/nvidia/cu13/bin/cuobjdump"))
    candidates = [given, shutil.which("cuobjdump"), "/usr/local/cuda/bin/cuobjdump"] + wheels
    return next((path for path in candidates if path and os.access(path, os.X_OK)), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--cuobjdump")
    parser.add_argument("--max-library-mb", type=float, default=10)
    arguments = parser.parse_args()

    directory = os.path.join(arguments.build, "kernels")
    names = row_names(arguments.build)
    cuobjdump = find_cuobjdump(arguments.cuobjdump, arguments.build)
    if not cuobjdump:
        print("no cuobjdump (scripts/test.sh fetches one)\n0 passed, 0 failed, %d skipped" % (len(names) + 1))
        return 77

    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, problems in zip(names, pool.map(lambda name: check_row(cuobjdump, directory, name), names)):
            print("%s %s" % ("FAIL" if problems else "PASS", name))
            print("".join("     %s\n" % problem for problem in problems), end="")
            failed += bool(problems)

    megabytes = os.path.getsize(os.path.join(arguments.build, "libgristmill.so")) / 1e6
    too_big = megabytes > arguments.max_library_mb
    print("%s library size %.2f MB (limit %g)" % ("FAIL" if too_big else "PASS", megabytes, arguments.max_library_mb))
    failed += too_big
    print("%d passed, %d failed, 0 skipped" % (len(names) + 1 - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
