#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the listings of machine code in docs/course: a kernel's accesses of memory, its barriers, and what computes the
addresses of its loads and stores of shared memory, below the lines of the source that they come from. A page has

    <!-- sass: FILE.cu KERNEL ARCH -->
    <!-- /sass -->

    tools/sass.py BUILD_DIR [--cuobjdump PATH]             writes what stands between
    tools/sass.py BUILD_DIR [--cuobjdump PATH] --check     compares instead

It needs the build's nvcc, and nvdisasm, which lies beside cuobjdump. A check by other versions than a listing names is
skipped. Ends with "N passed, N failed, N skipped"; exit code 77: there is no disassembler.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from sass_check import find_cuobjdump  # noqa: E402

PAGES = ROOT / "docs/course"
LISTING = re.compile(r"(<!-- sass: (\S+) (\S+) (\S+) -->\n)(.*?)(<!-- /sass -->)", re.S)
SHOWN = re.compile(r"(LDS|STS|LDSM|LDG|STG|BAR)\b")
SHARED = re.compile(r"(LDS|STS|LDSM)\b")
REGISTER = re.compile(r"\bU?R\d+\b")
LINE = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]+)\*/\s+(@!?U?P\w+ )?\s*(\S.*?)\s*;")


def output(*command):
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {run.stderr.strip()}")
    return run.stdout


def version(tool):
    return re.search(r"V([\d.]+)", output(tool, "--version")).group(1)


def disassemble(nvcc, nvdisasm, source, arch):
    """By the flags of cmake/CompileKernel.cmake, and with the lines of the source, which change no instruction."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder) / "kernel.cubin"
        output(nvcc, "-std=c++17", "-O3", "-allow-unsupported-compiler", "-lineinfo", "-cubin", f"-arch={arch}",
               f"-I{ROOT}", "-o", cubin, ROOT / source)
        return output(nvdisasm, "-g", "-c", cubin)


def instructions(sass, source, kernel):
    """(line of the source, address, predicate, text), in the order of addresses."""
    body = re.search(rf"^\.text\.{re.escape(kernel)}:\n(.*?)^\.L_x_\d+:\n\s*$", sass, re.S | re.M)
    if not body:
        sys.exit(f"{source} has no kernel {kernel}")
    line, found = 0, []
    for text in body.group(1).splitlines():
        if place := LINE.match(text):
            line = int(place.group(2)) if place.group(1) == str(ROOT / source) else line
        elif (part := INSTRUCTION.match(text)) and part.group(3) != "NOP":
            found.append((line, part.group(1), part.group(2) or "", part.group(3)))
    return found


def operands(text):
    """(what an instruction writes, what it reads): registers."""
    first, *others = text.partition(" ")[2].split(",")
    written = REGISTER.findall(first)[:1] if not SHARED.match(text) and "[" not in first else []
    return written, REGISTER.findall(",".join(others))


def addresses(code):
    """Indices of the instructions that compute addresses of shared memory: from the last to the first, whoever writes a
    register that a later one of them reads. Branches do not matter in code that has no loop."""
    wanted, found = set(), set()
    for i, (_, _, _, text) in reversed(list(enumerate(code))):
        written, read = operands(text)
        if wanted.intersection(written):
            found.add(i)
            wanted = wanted.difference(written).union(read)
        if SHARED.match(text):
            wanted.update(REGISTER.findall(re.search(r"\[(.*?)\]", text).group(1)))
    return found


def listing(tools, source, kernel, arch):
    nvcc, nvdisasm, versions = tools
    code = instructions(disassemble(nvcc, nvdisasm, source, arch), source, kernel)
    shown = addresses(code) | {i for i, part in enumerate(code) if SHOWN.match(part[3])}
    text = (ROOT / source).read_text().splitlines()
    lines = [f"{kernel}, {arch}, {versions}: {len(shown)} of {len(code)} instructions"]
    for number in sorted({code[i][0] for i in shown}):
        lines.append(f"{number:4}  {text[number - 1].strip()}")
        lines += [f"          {address}  {predicate:5}{sass}" for i, (line, address, predicate, sass) in enumerate(code)
                  if i in shown and line == number]
    return "```text\n" + "\n".join(lines) + "\n```\n"


def rewrite(text, tools, check, tally):
    """A page with its listings as they are now, which `tally` counts; by other tools, as they were."""
    def fill(match):
        before, source, kernel, arch, old, after = match.groups()
        if check and tools[2] not in old:
            print(f"SKIP {kernel}: here are {tools[2]}")
            tally["skipped"] += 1
            return match.group(0)
        new = listing(tools, source, kernel, arch)
        stale = check and new != old
        if stale:
            print(f"FAIL the listing of {kernel} is not what tools/sass.py writes")
        tally["failed" if stale else "passed"] += 1
        return before + new + after

    return LISTING.sub(fill, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--cuobjdump")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    cuobjdump = find_cuobjdump(given.cuobjdump, str(given.build))
    nvdisasm = cuobjdump and pathlib.Path(cuobjdump).with_name("nvdisasm")
    if not nvdisasm or not nvdisasm.exists():
        print("no nvdisasm (scripts/test.sh fetches one)\n0 passed, 0 failed, 1 skipped")
        sys.exit(77)
    nvcc = (given.build / "kernels/nvcc.txt").read_text().strip()
    tools = nvcc, nvdisasm, f"nvcc {version(nvcc)}, nvdisasm {version(nvdisasm)}"
    tally = {"passed": 0, "failed": 0, "skipped": 0}
    for page in sorted(PAGES.glob("*.md")):
        old = page.read_text()
        new = rewrite(old, tools, given.check, tally)
        if new != old and not given.check:
            page.write_text(new)
    print(", ".join(f"{count} {what}" for what, count in tally.items()))
    sys.exit(tally["failed"] > 0)


if __name__ == "__main__":
    main()
