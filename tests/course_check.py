#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what the pages of docs/course show and compares it with what stands there. Needs no GPU: all of it is simulated.

    course_check.py BUILD_DIR

The pages follow each other as the list in docs/course/README.md says. Commands in ```console blocks print the lines under
them, where `...` stands for any lines or words, and find the page's ```cuda blocks as the files that their first lines name;
commands in sentences run. The model of reuse counts what was counted. The table of capacity.md has the numbers of the library's and the simulator's devices and of the CUDA
toolkit; every experiment that a page names exists, and so does every counter. Ends with "N passed, N failed, N skipped".
"""
import json
import os
import pathlib
import re
import shlex
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COURSE = ROOT / "docs" / "course"


class Wrong(Exception):
    pass


class Skipped(Exception):
    pass


def page(name):
    return (COURSE / name).read_text(encoding="utf-8")


def pages():
    """The pages' names in the order of the list."""
    return re.findall(r"^\| \d+ \| \[[^]]+\]\(([a-z-]+\.md)\) \|", page("README.md"), re.M)


def texts():
    """All pages and the list: (name, text)."""
    return [(path.name, page(path.name)) for path in sorted(COURSE.glob("*.md"))]


def blocks(language):
    """All ```language blocks: (page, text)."""
    fence = re.compile(rf"^```{language}\n(.*?)^```$", re.M | re.S)
    return [(name, block) for name, text in texts() for block in fence.findall(text)]


def run(command, **options):
    return subprocess.run(command, encoding="utf-8", capture_output=True, timeout=60, stdin=subprocess.DEVNULL, **options)


# ---- what the pages are -------------------------------------------------------------------------------------------

def order_of_pages(_build):
    listed, here = pages(), {path.name for path in COURSE.glob("*.md")} - {"README.md"}
    if set(listed) != here or len(listed) != len(here):
        raise Wrong(f"the list and the folder differ in {sorted(set(listed) ^ here)}")
    titles = {name: page(name).splitlines()[0].removeprefix("# ") for name in listed}
    for i, name in enumerate(listed):
        back = f"[← {titles[listed[i - 1]]}]({listed[i - 1]}) · " if i else ""
        on = f" · [{titles[listed[i + 1]]} →]({listed[i + 1]})" if i + 1 < len(listed) else ""
        wanted = f"{back}[the course](README.md){on}"
        if page(name).splitlines()[-1] != wanted:
            raise Wrong(f"{name} does not end with: {wanted}")
    site = re.findall(r"^docs/course/([a-z-]+\.md)$", (ROOT / "docs/site/index.md").read_text(encoding="utf-8"), re.M)
    if site != listed:
        raise Wrong(f"docs/site/index.md has another order: {site}")


def anchors(text):
    """Those that GitHub gives a page's headings."""
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def links(_build):
    for name, text in texts():
        for target, anchor in re.findall(r"\]\(([^)#:\s]+)(?:#([^)\s]*))?\)", text):
            path = COURSE / target
            if not path.exists() or (anchor and anchor not in anchors(path.read_text(encoding="utf-8"))):
                raise Wrong(f"{name}: there is no {target}{'#' + anchor if anchor else ''}")


def experiments(build):
    """Those that a page names exist; `lab run all --verify` is a test of its own."""
    known = {line.split()[0] for line in run([build / "gristmill", "lab", "list"]).stdout.splitlines() if line.strip()}
    known.add("all")
    for name, text in texts():
        for experiment in re.findall(r"gristmill(?: --sim \w+)? lab (?:run|launch) ([a-z0-9-]+)", text):
            if experiment not in known:
                raise Wrong(f"{name}: there is no experiment {experiment}")


def exercises(build):
    """A page names the numbers of its own."""
    listed = {}
    for line in run([build / "gristmill", "lab", "exercise"]).stdout.splitlines():
        if row := re.match(r" *(\d+) +([\w-]+) ", line):
            listed.setdefault(row.group(2) + ".md", []).append(int(row.group(1)))
    for name in pages():
        named = [(int(first), int(last)) for first, last in re.findall(r"^\*\*Exercises\*\* (\d+) to (\d+):", page(name), re.M)]
        if named != ([(listed[name][0], listed[name][-1])] if name in listed else []):
            raise Wrong(f"{name} names the exercises {named}")
    if not set(listed) <= set(pages()):
        raise Wrong(f"exercises of no page: {sorted(set(listed) - set(pages()))}")


def counters(_build):
    """A counter that a page names was counted on a GPU: it stands in a committed result, or in docs/counters.md."""
    known = (ROOT / "docs" / "counters.md").read_text(encoding="utf-8")
    known += "".join(path.read_text(encoding="utf-8") for path in (ROOT / "bench" / "results").glob("*/lab/*.json"))
    for name, text in texts():
        for counter in re.findall(r"\b(?:smsp|l1tex|lts|sm|dram)__\w+", text):
            if counter.removesuffix("_") not in known:
                raise Wrong(f"{name}: {counter} is in no result")


# ---- commands -----------------------------------------------------------------------------------------------------

def pattern(lines):
    """Of consecutive lines, with any spaces, and `...` for any words."""
    words = (r"[ \t]+".join(re.escape(word) for word in line.split()).replace(r"\.\.\.", ".*") for line in lines)
    return "".join(rf"[ \t]*{line}[ \t]*\n" for line in words)


def was_printed(shown, printed):
    """Lines of `...` stand for any lines."""
    parts = [pattern(part.splitlines()) for part in re.split(r"^\.\.\.\n", "\n".join(shown) + "\n", flags=re.M)]
    return re.fullmatch(r"(?:.*\n)*?".join(parts), printed)


def with_nvcc(build):
    nvcc = pathlib.Path((build / "kernels" / "nvcc.txt").read_text().strip())
    return dict(os.environ, PATH=f"{nvcc.parent}:{os.environ['PATH']}", CUDA_HOME="")


def write_files(folder):
    """The ```cuda blocks whose first line is `// NAME.cu`."""
    for _, block in blocks("cuda"):
        if name := re.match(r"// ([\w-]+\.cu)\b", block):
            (folder / name.group(1)).write_text(block, encoding="utf-8")


def commands(build):
    shown = [(name, text) for name, block in blocks("console") for text in re.split(r"^\$ ", block, flags=re.M)[1:]]
    if len(shown) < 7:
        raise Wrong(f"only {len(shown)} commands found")
    with tempfile.TemporaryDirectory() as folder:
        write_files(pathlib.Path(folder))
        for name, text in shown:
            command, *lines = text.replace("\\\n", "").rstrip("\n").split("\n")
            words = shlex.split(command)
            program = [sys.executable, ROOT / words[1], *words[2:]] if words[0] == "python3" else [build / words[0], *words[1:]]
            done = run(program, cwd=folder, env=with_nvcc(build))
            if done.returncode != any(line.startswith("gristmill: ") for line in lines):
                raise Wrong(f"{name}: {command}: rc {done.returncode}\n{done.stderr}")
            if not was_printed(lines, done.stdout + done.stderr):
                raise Wrong(f"{name}: {command} printed\n{done.stdout}{done.stderr}")


def commands_in_sentences(build):
    """`gristmill bank --stride 2` in a sentence runs, too, unless a part is left open."""
    for name, text in texts():
        for command in re.findall(r"`(gristmill (?:info|bank|swizzle|descriptor) [^`]+)`", text):
            words = shlex.split(command)
            if words[-1] == "..." or any(word.isupper() for word in words):
                continue
            done = run([build / words[0], *words[1:]])
            if done.returncode != 0:
                raise Wrong(f"{name}: {command}: rc {done.returncode}\n{done.stderr}")


# ---- the first kernel ---------------------------------------------------------------------------------------------------------

def product(a, b, n):
    return [sum(a[i * n + k] * b[k * n + j] for k in range(n)) for i in range(n) for j in range(n)]


def two_barriers(build):
    """README's product is right and reports nothing; without a barrier the simulator reports the race that the page names."""
    n, text = 70, next(block for name, block in blocks("cuda") if name == "README.md")
    barrier = "__syncthreads();"
    first, second, rest = text.split(barrier)
    cases = {"": text, "read-before-written": first + second + barrier + rest,
             "write-before-read": first + barrier + second + rest}
    a, b = ([i * step % around - around // 2 for i in range(n * n)] for step, around in ((7, 11), (5, 13)))
    with tempfile.TemporaryDirectory() as folder:
        for name, matrix in {"a": a, "b": b, "c": product(a, b, n)}.items():
            (pathlib.Path(folder) / name).write_bytes(struct.pack(f"{n * n}f", *matrix))
        for report, source in cases.items():
            (pathlib.Path(folder) / "multiply.cu").write_text(source)
            done = run([build / "gristmill", "sim", "launch", "multiply.cu", "--grid", "5,5", "--block", "16,16", "--no-table",
                        "--schedule", "seed=1", "--args", "buffer:f32:70x70:file=a", "buffer:f32:70x70:file=b",
                        "out:f32:70x70:compare=c", "i32:70"], cwd=folder, env=with_nvcc(build))
            said = set(re.findall(r"[a-z]+-before-[a-z]+", done.stdout))
            if not (report in said if report else done.returncode == 0 and not said):
                raise Wrong(f"{report or 'nothing'} is to be reported: {done.stdout}{done.stderr}")
            if report not in page("README.md"):
                raise Wrong(f"README.md does not name {report}")


def reuse_rows(*arguments):
    """{tile: (words, sectors, requests)} that lab/reuse.py prints; 0: none."""
    done = run([sys.executable, ROOT / "lab/reuse.py", *arguments])
    rows = re.findall(r"^ *(none|\d+) +(\d+) +\S+ +(\d+) +(\d+) ", done.stdout, re.M)
    return {int(tile.replace("none", "0")): tuple(map(int, numbers)) for tile, *numbers in rows}, done


def reuse_model(build):
    """lab/reuse.py says what was counted on an H200, and what the simulator counts of README's product; and what it refuses."""
    results = json.loads((ROOT / "bench/results/h200/lab/reuse.json").read_text())
    rows, _ = reuse_rows()
    for point in results["points"]:
        counted = tuple(quantity["counted"] for quantity in point["quantities"])
        tile = int(re.sub(r"\D+", "", point["label"]) or 0)
        if counted and rows.get(tile, ())[1:] != counted:
            raise Wrong(f"{point['label']}: {rows.get(tile)}, counted {counted}")
    text = next(block for name, block in blocks("cuda") if name == "README.md")
    for n, tile in ((70, 16), (33, 32)):
        rows, done = reuse_rows(str(n), str(tile))
        if done.returncode != 0:
            raise Wrong(done.stdout + done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "multiply.cu").write_text(text.replace("TILE = 16", f"TILE = {tile}"))
            grid, square = -(-n // tile), f"f32:{n}x{n}"
            said = run([build / "gristmill", "sim", "launch", "multiply.cu", "--grid", f"{grid},{grid}", "--block", f"{tile},{tile}",
                        "--no-table", "--counters", "--args", f"buffer:{square}:iota", f"buffer:{square}:iota", f"out:{square}",
                        f"i32:{n}"], cwd=folder, env=with_nvcc(build)).stdout
        counted = tuple(int(re.search(rf"(\d+)  l1tex__t_{what}_pipe_lsu_mem_global_op_ld.sum", said).group(1))
                        for what in ("sectors", "requests"))
        if rows[tile][1:] != counted:
            raise Wrong(f"{n}, tiles of {tile}: {rows[tile]}, simulated {counted}")
    for arguments, sentence in (("0", "0 is not from 1 to 8192"), ("9 x", "invalid size value: 'x'"), ("8 --peak 0", "0 is not above 0")):
        _, done = reuse_rows(*arguments.split())
        if done.returncode != 2 or sentence not in done.stderr:
            raise Wrong(f"reuse.py {arguments}: rc {done.returncode}, {done.stderr}")


# ---- capacity.md --------------------------------------------------------------------------------------------------

def capacities():
    """{"8.0": {"shared memory per SM, KB": "164"}}, of the page's table."""
    lines = [line.strip("| \n").split("|") for line in page("capacity.md").splitlines() if line.startswith("| ")]
    table = [[cell.strip() for cell in line] for line in lines]
    head = next(i for i, row in enumerate(table) if row[0] == "compute capability")
    body = [row for row in table[head + 1:] if len(row) == len(table[head])]
    return {cc: {row[0]: row[column] for row in body} for column, cc in enumerate(table[head]) if column}


# Of cuDeviceGetAttribute.
ATTRIBUTES = {"default, KB": (8, 1024), "shared memory per block, KB": (97, 1024), "shared memory per SM, KB": (81, 1024),
              "registers per SM": (82, 1), "threads per SM": (39, 1), "blocks per SM": (106, 1)}


def capacity_of_models(build):
    """What `gristmill info` and `bank --advise` say of a device is what the page says of its compute capability."""
    table = capacities()
    for model in ("a100", "h100", "h200", "a10", "rtx4090"):
        device = json.loads(run([build / "gristmill", "info", "--device", model, "--json"]).stdout)["devices"][0]
        row = table[f"{device['cc_major']}.{device['cc_minor']}"]
        small = run([build / "gristmill", "bank", "--tile", "1x32", "--walk", "row", "--advise", "--device", model]).stdout
        blocks_an_sm = re.search(r"^as it is(?: +\d+){3} +(\d+)", small, re.M).group(1)
        said = {"shared memory per block, KB": device["smem_per_block_bytes"] / 1024,
                "shared memory per SM, KB": device["smem_per_sm_bytes"] / 1024,
                "threads per SM": device["max_threads_per_sm"], "warps per SM": device["max_threads_per_sm"] / 32,
                "blocks per SM": int(blocks_an_sm)}
        for name, value in said.items():
            if float(row[name]) != value:
                raise Wrong(f"{model}: {name}: the page says {row[name]}, the library {value:g}")
        l2 = f"{device['l2_bytes'] / 2**20:g} ({model.upper().replace('RTX', 'RTX ')})"
        if l2 not in row["L2, MB"]:
            raise Wrong(f"{model}: the page has no L2 of {l2}: {row['L2, MB']}")


def capacity_of_simulator(build):
    table, program = capacities(), """if 1:
        import ctypes, sys
        cuda, value = ctypes.CDLL(sys.argv[1]), ctypes.c_int()
        cuda.cuInit(0)
        for attribute in map(int, sys.argv[2:]):
            assert cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, 0) == 0
            print(value.value)"""
    for model, cc in (("a100", "8.0"), ("h100", "9.0"), ("h200", "9.0"), ("rtx4090", "8.9")):
        numbers = [str(number) for number, _ in ATTRIBUTES.values()]
        done = run([sys.executable, "-c", program, build / "libgristmill-sim.so", *numbers],
                   env=dict(os.environ, GM_SIM_DEVICE=model))
        for (name, (_, unit)), line in zip(ATTRIBUTES.items(), done.stdout.splitlines(), strict=True):
            if float(table[cc][name]) * unit != int(line):
                raise Wrong(f"{model}: {name}: the page says {table[cc][name]}, the simulated driver {line}")


OCCUPANCY = r"""
#include <stdio.h>
#include <stdlib.h>
#include "cuda_occupancy.h"
int main(int argc, char **argv) { /* of each compute capability: blocks of an SM, and what shared memory can be set to */
    for (int i = 1; i < argc; i += 3) {
        cudaOccDeviceProp device = {0};
        int blocks = 0;
        size_t set = 0;
        device.computeMajor = atoi(argv[i]);
        device.computeMinor = atoi(argv[i + 1]);
        if (cudaOccMaxBlocksPerMultiprocessor(&blocks, &device) == CUDA_OCC_SUCCESS) {
            printf("%d", blocks);
            for (size_t kb = 0; kb <= (size_t)atoi(argv[i + 2]); kb = set / 1024 + 1) {
                set = kb * 1024;
                if (cudaOccAlignUpShmemSizeVoltaPlus(&set, &device) != CUDA_OCC_SUCCESS)
                    return 1;
                printf("%s%zu", kb ? ", " : " ", set / 1024);
            }
        }
        puts("");
    }
}
"""


def capacity_of_toolkit(build):
    """Blocks of an SM and carve-outs, of all columns that the toolkit's cuda_occupancy.h knows."""
    table, nvcc = capacities(), pathlib.Path((build / "kernels" / "nvcc.txt").read_text().strip())
    include = nvcc.resolve().parent.parent / "include"
    if not (include / "cuda_occupancy.h").exists():
        raise Skipped(f"{include} has no cuda_occupancy.h")
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "occupancy.c", pathlib.Path(folder) / "occupancy"
        source.write_text(OCCUPANCY)
        done = run(["cc", "-w", "-I", include, "-o", program, source])
        if done.returncode != 0:
            raise Wrong(done.stderr)
        words = [word for cc, row in table.items() for word in (*cc.split("."), row["shared memory per SM, KB"])]
        lines = run([program, *words]).stdout.splitlines()
    for (cc, row), line in zip(table.items(), lines, strict=True):
        carve_outs = row["carve-outs, KB"]
        if carve_outs.startswith("as "):
            carve_outs = table[carve_outs.removeprefix("as ")]["carve-outs, KB"]
        if line and line != f"{row['blocks per SM']} {carve_outs}":
            raise Wrong(f"{cc}: the page says {row['blocks per SM']} {carve_outs}, cuda_occupancy.h {line}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    os.environ["LC_ALL"] = "C.UTF-8"  # the pages show a table's dashes
    checks = (order_of_pages, links, experiments, exercises, counters, commands, commands_in_sentences, two_barriers, reuse_model,
              capacity_of_models, capacity_of_simulator, capacity_of_toolkit)
    failed = skipped = 0
    for check in checks:
        try:
            check(build)
            print(f"PASS {check.__name__}")
        except Wrong as wrong:
            failed += 1
            print(f"FAIL {check.__name__}: {wrong}")
        except Skipped as why:
            skipped += 1
            print(f"SKIP {check.__name__}: {why}")
    print(f"{len(checks) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
