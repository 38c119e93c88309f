#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom, whether .c files use each other's symbols in a ring, and whether the tables of files in
README.md are complete. What is allowed stands in the tables at the top of this file.

    tools/layers.py BUILD       a build of this checkout, for its object files
    tools/layers.py             without a build: everything but the rings
"""
import argparse
import collections
import fnmatch
import functools
import os
import pathlib
import re
import subprocess
import sys

# Who may include whom. FILES only FILES: nothing else of the project, but each other. FILES never FILES: none of these.
# FILES apart: none of them another. A file is meant by its path, by its folder, or by a pattern.
WHO_MAY_INCLUDE_WHOM = """
include             never  src bench lab program tests ptx
src/common          never  src/host src/smem src/sim src/sm80 src/sm90 bench lab program tests
src/sm80 src/sm90   never  src/host src/smem src/sim bench lab program tests
src/sm80            never  src/sm90
src/smem            never  src/sim bench lab program tests src/host/*/*
src/host            never  src/sim bench lab program tests
src/sim             never  bench lab program tests
bench lab program   never  tests src/sim/*/*.h
program/base        never  bench lab program/draw program/smem program/sim
program/draw        never  bench lab program/smem program/sim
bench               never  lab program/smem program/sim
bindings            never  src bench lab program tests examples

src/sm90/{mbarrier,tma,wgmma,wgmma_shapes,cluster,stmatrix}.cuh  apart
src/sm80/{cp_async,ldmatrix,mma_m16n8,stream_load}.cuh  apart

src/sim/sim.h       only
src/sim/ptx         only
src/sim/machine/{machine,clocks,devices}.h  only  src/sim/sim.h src/sim/ptx/ptx.h src/host/cuda_abi.h
src/sim/report      only   src/sim/{sim,machine/machine}.h src/host/cuda_abi.h include
src/sim/memory      only   src/sim/{sim,machine/machine,machine/clocks,ptx/ptx}.h src/sim/report
src/sim/barriers    only   src/sim/{machine/machine,execute/instructions}.h src/sim/{report,memory}
src/sim/execute     only   src/sim/{machine,report,memory,barriers}
src/sim/copies      only   src/sim/{machine/machine,barriers/barriers,execute/numbers}.h src/sim/{report,memory}
                           src/host/tensor_map.h
src/sim/wgmma       only   src/sim/{barriers/barriers,copies/tile_origin}.h src/sim/{report,memory,execute} include
src/sim/machine     only   src/sim/{sim,ptx/ptx,barriers/barriers}.h src/sim/{report,memory,execute} src/host/cuda_abi.h
src/sim/driver      only   src/sim/{sim,machine/machine,machine/devices,copies/tensor_map}.h src/sim/{report,memory}
                           src/host
"""

# Folders whose .c files must not use each other's symbols in a ring, and the pairs in them that may.
NO_RINGS = {
    "src/host": [],
    "src/sim": [],
    "src/smem": [],
}

# Folders whose README.md has a table of all files, but for the folders of operations and families.
TABLES_OF_FILES = ["ptx", "src/host", "src/sim/*", "tests/gpu"]

# Where the compiler looks for "name.h", beside the folder of the file that includes it.
INCLUDE_PATH = ["src", "include", ".", "tests/bench", "tests/gpu", "tests/sim", "tests/unit"]
SOURCES = ("*.c", "*.h", "*.cu", "*.cuh", "*.def")
INCLUDE = re.compile(r'\s*#\s*include\s*["<]([^">]+)[">]')


# ---- files and includes ---------------------------------------------------------------------------------------------

@functools.lru_cache(None)
def alternatives(pattern):
    """a{b,c}d -> abd acd; a folder -> all in it."""
    braces = re.match(r"(.*)\{(.*)\}(.*)", pattern)
    names = [braces[1] + word + braces[3] for word in braces[2].split(",")] if braces else [pattern]
    return names + [name + "/*" for name in names]


def is_one_of(path, patterns):
    return any(fnmatch.fnmatchcase(path, name) for pattern in patterns for name in alternatives(pattern))


def sources(root):
    tops = [top for top in ("include", "src", "bench", "lab", "program", "tests", "examples", "bindings") if (root / top).is_dir()]
    return sorted(path.relative_to(root).as_posix() for top in tops for pattern in SOURCES
                  for path in (root / top).rglob(pattern))


def includes(root, files):
    """{file: [(line number, name as written, file)]} of what lies in the project; generated files do not."""
    known, found = set(files), collections.defaultdict(list)
    for file in files:
        for number, line in enumerate((root / file).read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            for folder in [os.path.dirname(file)] + INCLUDE_PATH if match else []:
                target = os.path.normpath(os.path.join(folder, match[1]))
                if target in known:
                    found[file].append((number, match[1], target))
                    break
    return found


def rules(text):
    for line in filter(None, map(str.strip, text.replace("\n  ", " ").splitlines())):
        words = line.split()
        at = next(n for n, word in enumerate(words) if word in ("only", "never", "apart"))
        yield line, words[:at], words[at], words[at + 1:]


def check_includes(sources, found, text):
    """Breaches of each rule, in its order. A rule about files that are not there is one, too."""
    for line, files, word, others in rules(text):
        breaches = [f"{name} is no file" for pattern in files if "/" in pattern for name in alternatives(pattern)
                    if not name.endswith("/*") and not any(is_one_of(file, [name]) for file in sources)]
        for file, theirs in found.items():
            for number, name, target in theirs if is_one_of(file, files) else []:
                own, other = is_one_of(target, files), is_one_of(target, others)
                if {"only": not own and not other, "never": other, "apart": own}[word]:
                    breaches.append(f"{file}:{number} includes {name}")
        yield " ".join(line.split()), breaches


# ---- operations and families ----------------------------------------------------------------------------------------

# Folders of these have a part for each operation, or family, and nothing of theirs beside the parts.
PARTS_OF = ["src/host", "src/common", "src/sm80", "src/sm90", "tests/gpu"]
# And of these, the files beside the parts name no operation and no family.
CORES = ["src/host", "tests/gpu", "bench/measure", "bench/report"]
# Operations whose names are words that anybody uses: they are named where code names them, gm_sample_x, "sample/x.h".
WORDS = ["sample", "quantize"]


def lines_of(path, word):
    return [[field.strip() for field in line.split(",")] for line in re.findall(rf"^{word}\((.*?)\)", path.read_text(), re.M)]


def parts_of(root):
    """{operation or family: the parts that its own may include}"""
    operations = {line[0]: {line[0]} for line in lines_of(root / "src/operations.def", "OPERATION")}
    families = {line[0]: {line[0], line[1]} for line in lines_of(root / "src/families.def", "FAMILY")}
    for family, other in lines_of(root / "src/families.def", "BORROWS"):
        families[family].add(other)
    return {**operations, **families}


def parts_of_tests(root):
    """{operation: the parts that its tests may include}"""
    families = lines_of(root / "src/families.def", "FAMILY")
    return {line[0]: {line[0]} | {family[0] for family in families if family[1] == line[0]}
            for line in lines_of(root / "src/operations.def", "OPERATION")}


def check_parts(root, found):
    """The core includes no part, nor does the harness of tests/gpu; an operation its own; a family its own, its operation's, and
    what it borrows; an operation's tests its own and its families'. Device code of one folder and family is named by its
    operation where the architecture says the rest."""
    parts, tested, breaches = parts_of(root), parts_of_tests(root), []
    for file, theirs in found.items():
        if not file.startswith(("src/", "tests/gpu/")) or file.startswith("src/sim/"):
            continue
        own = part_of(file, parts)
        for number, name, target in theirs:
            other = part_of(target, parts)
            allowed = (tested if file.startswith("tests/") else parts).get(own, set())
            device = file.startswith(("src/sm80/", "src/sm90/"))
            if other and other not in allowed and not (device and own):
                breaches.append(f"{file}:{number} includes {name}")
    yield "the core names no operation, and a family what it may borrow", breaches
    names = re.compile("|".join(name_as_code(part) for part in parts))
    for folder in CORES:
        named = [path for path in (root / folder).glob("*.[ch]") if names.search(path.read_text())]
        yield f"no operation's name in {folder}/*.[ch]", [path.relative_to(root).as_posix() for path in sorted(named)]


def name_as_code(part):
    return rf'\bgm_(?:\w+_)?{part}(?:_|\b)|"(?:\w+/)*{part}["/]' if part in WORDS else part


def part_of(file, parts):
    for top in PARTS_OF:
        rest = file[len(top) + 1:].split("/") if file.startswith(top + "/") else []
        if len(rest) > 1 and rest[0] in parts:
            return rest[0]
    return None


# ---- symbols --------------------------------------------------------------------------------------------------------

def objects(root, build, folder, parts=()):
    """{.c file: its object files}, of files of the folder that still exist, without these."""
    found = collections.defaultdict(list)
    for path in build.rglob("*.c.o"):
        before, _, after = path.relative_to(build).as_posix().partition("CMakeFiles/")
        name = after.split("/", 1)[1].replace("__/", "../")[:-len(".o")]
        file = os.path.normpath(os.path.join(before, name))
        if is_one_of(file, [folder]) and (root / file).is_file() and file not in parts:
            found[file].append(path)
    return found


def uses(found):
    """{.c file: {.c file that defines what it uses: symbols}}"""
    defined, wanted = {}, collections.defaultdict(set)
    for file, paths in found.items():
        for line in subprocess.run(["nm", *paths], check=True, text=True, capture_output=True).stdout.splitlines():
            words = line.split()
            if len(words) == 2 and words[0] == "U":
                wanted[file].add(words[1])
            elif len(words) == 3 and words[1] in "TDBRVWC":
                defined[words[2]] = file
    edges = collections.defaultdict(lambda: collections.defaultdict(list))
    for file in wanted:
        for symbol in sorted(wanted[file] & defined.keys()):
            if defined[symbol] != file:
                edges[file][defined[symbol]].append(symbol)
    return edges


def way(edges, start, end, allowed):
    """The shortest way from one file to another, without the pairs; None: there is none."""
    came_from, queue = {start: None}, collections.deque([start])
    while queue and end not in came_from:
        file = queue.popleft()
        for after in edges.get(file, ()):
            if after not in came_from and {file, after} not in allowed:
                came_from[after] = file
                queue.append(after)
    path = [end] if end in came_from else None
    while path and came_from[path[0]]:
        path.insert(0, came_from[path[0]])
    return path


def check_rings(edges, pairs):
    """A ring through each file that is in one, unless one before went through it; and pairs that are none any more."""
    allowed, told = [set(pair) for pair in pairs], set()
    for a, b in pairs:
        if b not in edges.get(a, ()) or a not in edges.get(b, ()):
            yield f"{a} and {b} may use each other, and do not any more: NO_RINGS"
    for file in sorted(edges):
        back = [way(edges, after, file, allowed) for after in edges[file] if {file, after} not in allowed]
        ring = min(filter(None, back), key=len, default=None)
        if not ring or told & set(ring):
            continue
        told |= set(ring)
        steps = [f"{a} uses {edges[a][b][0]} of {b}" for a, b in zip([file] + ring, ring)]
        yield f"a ring of {len(ring)} files: " + ", ".join(steps)


# ---- tables of files ------------------------------------------------------------------------------------------------

def check_tables(root, patterns, parts=()):
    for folder in sorted(path for pattern in patterns for path in root.glob(pattern) if path.is_dir()):
        readme = folder / "README.md"
        text = readme.read_text() if readme.is_file() else ""
        named = {name for row in re.findall(r"^\| (.*?) \|", text, re.M) for word in re.findall(r"`(.*?)`", row)
                 for name in ([word[:-4] + "c", word[:-4] + "h"] if word.endswith("[ch]") else [word])}
        there = {path.name for path in folder.iterdir()} - {"README.md"}
        name = readme.relative_to(root)
        yield f"table of {name}", [f"{name} does not name {file}" for file in sorted(there - named - set(parts))] + \
            [f"{name} names {file}, which is not there" for file in sorted(named - there)]


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, help="a build of this checkout, for its object files")
    build = parser.parse_args().build
    files = sources(root)
    checks = list(check_includes(files, includes(root, files), WHO_MAY_INCLUDE_WHOM))
    checks += check_parts(root, includes(root, files))
    checks += check_tables(root, TABLES_OF_FILES, parts_of(root))
    skipped = 0 if build else len(NO_RINGS)
    # The core's lists of operations and families hold theirs, which use the core: a ring that is meant.
    parts = {file for file in files if part_of(file, parts_of(root))}
    for folder, pairs in NO_RINGS.items() if build else ():
        found = objects(root, build, folder, parts)
        breaches = list(check_rings(uses(found), pairs)) if found else [f"{build} has no object file of it"]
        checks.append((f"no rings in {folder}", breaches))
    failed = [(what, breaches) for what, breaches in checks if breaches]
    for what, breaches in failed:
        print(what + ":", *breaches, sep="\n    ")
    print(f"{len(checks) - len(failed)} passed, {len(failed)} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
