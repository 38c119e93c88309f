#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the machine code of every built image, and what the compiler said of it; needs no GPU.

    sass_check.py BUILD_DIR [--cuobjdump PATH] [--max-library-mb 13.0]

Every row of the build's table is one check: its targets, no local-memory traffic, no spills, no C75xx message, no warning,
and what tests/sass/<family>.py asks of its family. So is the size of every family's images, packed, as src/families.def
allows it, and the size of the library. Ends with "N passed, N failed, N skipped".

The disassembler takes a third of a second to start and reads a megabyte in one, so all machine code of a family and target
goes through it as one piece.
"""
import argparse
import bisect
import collections
import glob
import importlib.util
import itertools
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from table import rows

HERE = os.path.dirname(os.path.abspath(__file__))
# The address, the line from there, and its opcode.
INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/(\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*).*)")
LOCAL_MEMORY = ["LDL", "STL"]


def family_module(family):
    """tests/sass/<family>.py: required(row) is a list of opcodes; check(row, counter) yields sentences, and COUNTED names
    further patterns to count, where it has them."""
    spec = importlib.util.spec_from_file_location(family, os.path.join(HERE, "sass", family + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cubins(cuobjdump, image):
    """(target, bytes) of each cubin in a fatbin."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([cuobjdump, "-xelf", "all", os.path.abspath(image)], check=True, capture_output=True, cwd=scratch)
        for name in sorted(os.listdir(scratch)):
            with open(os.path.join(scratch, name), "rb") as file:
                yield name.split(".")[-2], file.read()


def machine_code(cubin):
    """The instructions of all functions: the sections .text.* of a 64-bit ELF file."""
    table, = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3a)
    sections = [struct.unpack_from("<IIQQQQ", cubin, table + at * size) for at in range(count)]
    first_name = sections[names][4]
    return b"".join(cubin[offset:offset + bytes_] for name, _, _, _, offset, bytes_ in sections
                    if cubin.startswith(b".text.", first_name + name))


def count_opcodes(nvdisasm, target, codes, counted):
    """A Counter({'HMMA.16816.F32.BF16': 64, ...}) of each of the pieces of machine code."""
    ends = list(itertools.accumulate(map(len, codes)))
    counters = [collections.Counter() for _ in codes]
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(codes))
        file.flush()
        sass = subprocess.run([nvdisasm, "--binary", target.replace("sm_", "SM"), file.name], check=True,
                              capture_output=True, text=True).stdout
    for address, line, opcode in INSTRUCTION.findall(sass):
        counter = counters[bisect.bisect_right(ends, int(address, 16))]
        counter[opcode] += 1
        for name, pattern in counted.items():
            counter[name] += bool(re.search(pattern, line))
    return counters


def disassemble(cuobjdump, build, table, families):
    """{name: {'sm_80': Counter, ...}}"""
    pieces = collections.defaultdict(list)
    for row in table:
        for target, cubin in cubins(cuobjdump, os.path.join(build, "kernels", row["name"] + ".fatbin")):
            pieces[row["family"], target].append((row["name"], machine_code(cubin)))
    nvdisasm = os.path.join(os.path.dirname(cuobjdump), "nvdisasm")

    def count(key):
        family, target = key
        return count_opcodes(nvdisasm, target, [code for _, code in pieces[key]], getattr(families[family], "COUNTED", {}))

    targets = collections.defaultdict(dict)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (key, named), counters in zip(pieces.items(), pool.map(count, pieces)):
            for (name, _), counter in zip(named, counters):
                targets[name][key[1]] = counter
    return targets


def check_sass(row, family, targets):
    cubins = [target for target in row["targets"] if target.startswith("sm_")]
    if sorted(targets) != sorted(cubins):
        yield "cubins for %s instead of %s" % (sorted(targets), cubins)
    for target, counter in targets.items():
        have = {op.split(".")[0] for op in counter}
        yield from ("%s: no %s" % (target, op) for op in family.required(row) if op not in have)
        yield from ("%s: local memory traffic (%s)" % (target, op) for op in LOCAL_MEMORY if op in have)
        if hasattr(family, "check"):
            yield from family.check(row, counter)


def check_ptx(row, listed):
    """The PTX of compute_80 is listed as sm_80's."""
    want = [target.replace("compute_", "sm_") for target in row["targets"] if target.startswith("compute_")]
    have = re.findall(r"^PTX file .*\.(sm_\w+)\.ptx$", listed, re.M)
    if have != want:
        yield "PTX for %s instead of %s" % (have, want)


def check_log(path):
    with open(path, encoding="utf-8") as file:
        log = file.read()
    yield from ("ptxas says " + code for code in sorted(set(re.findall(r"C75\d\d", log))))
    yield from ("spills: " + line.strip() for line in re.findall(r".*[1-9]\d* bytes spill.*", log))
    yield from ("compiler warning: " + line.strip() for line in re.findall(r".*\bwarning\b.*", log))


def check_row(cuobjdump, build, row, family, targets):
    image = os.path.join(build, "kernels", row["name"])
    listed = subprocess.run([cuobjdump, "-lptx", image + ".fatbin"], check=True, capture_output=True, text=True).stdout
    return [*check_sass(row, family, targets), *check_ptx(row, listed), *check_log(image + ".log")]


def budgets():
    """{family: bytes} of src/families.def."""
    with open(os.path.join(HERE, "..", "src", "families.def"), encoding="utf-8") as file:
        lines = re.findall(r"^FAMILY\((\w+), \w+, (\d+)\)", file.read(), re.M)
    return {family: 1024 * int(kib) for family, kib in lines}


def packed_bytes(build):
    """{name: bytes} in the library, of all parts of the image."""
    with open(os.path.join(build, "generated", "images.inc"), encoding="utf-8") as file:
        return {name: int(size) for name, size in re.findall(r"^IMAGE\((\w+), \d+, \d+, (\d+)\)", file.read(), re.M)}


def check_sizes(build, table, max_library_mb):
    """(what, too big) of each family, and the library."""
    sizes, of_family = packed_bytes(build), collections.Counter()
    for row in table:
        of_family[row["family"]] += sizes[row["name"]]
    for family, most in budgets().items():
        yield "images of %s: %d of %d KiB" % (family, of_family[family] // 1024, most // 1024), of_family[family] > most
    megabytes = os.path.getsize(os.path.join(build, "libgristmill.so")) / 1e6
    yield "library size %.2f MB (limit %g)" % (megabytes, max_library_mb), megabytes > max_library_mb


def find_cuobjdump(given, build):
    wheels = glob.glob(os.path.join(build, "venv/lib/python3*/site-packages/nvidia/cu13/bin/cuobjdump"))
    candidates = [given, shutil.which("cuobjdump"), "/usr/local/cuda/bin/cuobjdump"] + wheels
    return next((path for path in candidates if path and os.access(path, os.X_OK)), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--cuobjdump")
    parser.add_argument("--max-library-mb", type=float, default=13.0)
    arguments = parser.parse_args()

    table = rows(arguments.build)
    sizes = list(check_sizes(arguments.build, table, arguments.max_library_mb))
    cuobjdump = find_cuobjdump(arguments.cuobjdump, arguments.build)
    if not cuobjdump:
        print("no cuobjdump (scripts/test.sh fetches one)\n0 passed, 0 failed, %d skipped" % (len(table) + len(sizes)))
        return 77

    families = {family: family_module(family) for family in {row["family"] for row in table}}
    failed = 0
    targets = disassemble(cuobjdump, arguments.build, table, families)
    for row in table:
        problems = check_row(cuobjdump, arguments.build, row, families[row["family"]], targets[row["name"]])
        print("%s %s" % ("FAIL" if problems else "PASS", row["name"]))
        print("".join("     %s\n" % problem for problem in problems), end="")
        failed += bool(problems)
    for what, too_big in sizes:
        print("%s %s" % ("FAIL" if too_big else "PASS", what))
        failed += too_big
    print("%d passed, %d failed, 0 skipped" % (len(table) + len(sizes) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
