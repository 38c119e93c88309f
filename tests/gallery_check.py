#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the listings of lab/gallery/ on the simulated GPU, and compares what it finds with what their headers say.

    gallery_check.py PROGRAM --nvcc NVCC

A header has, for each launch, lines of comment:

    launch: KERNEL OPTIONS          as `gristmill sim launch FILE` takes them; goes on in lines that are indented
    finds: KIND ...                 the kinds of reports, in alphabetical order, or `nothing`
    refused: TEXT                   instead: the launch does not begin, with these words
    degree: ACCESS N in `TEXT`      of the line of the kernel that holds the text
    wavefronts: ACCESS N in `TEXT`
    sectors: ACCESS N in `TEXT`     of a request
    result: right: EXPRESSION       element i of the first `out` is this, in Python; a, b: the other buffers, in order
    result: wrong: EXPRESSION       it should be

docs/course/gallery.md must show each launch, but those of `fixed`, as it stands there, and code as it stands in the listings. The last line is
"N passed, N failed, N skipped".
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GALLERY, PAGE = ROOT / "lab" / "gallery", ROOT / "docs" / "course" / "gallery.md"
KINDS = ("out-of-bounds misaligned illegal trap read-before-written write-before-read write-before-written proxy "
         "accumulator transactions barrier peer-exited exit-in-flight diverged deadlock uninitialised descriptor "
         "registers").split()
ROW = re.compile(r"^\S+\.cu:(\d+) +(\S+) +\d* +\d+ +(\d+) +\d+ +([\d.]+) +([\d.]+)  \S")
WORDS = ("finds", "refused", "degree", "wavefronts", "sectors", "result")


def header_of(listing):
    """[(launch, [(word, text)])] of a listing."""
    launches = []
    for line in listing.read_text().splitlines():
        if not line.startswith("//"):
            break
        word, _, text = line[2:].strip().partition(": ")
        if word == "launch":
            launches.append((text, []))
        elif launches and line.startswith("//       "):
            launches[-1] = (launches[-1][0] + " " + line[2:].strip(), launches[-1][1])
        elif launches and word in WORDS:
            launches[-1][1].append((word, text))
        elif launches and line[2:].strip():
            sys.exit(f"{listing}: what does `{line}` mean?")
    return launches


def line_in(listing, kernel, text):
    """Number of the first line behind the kernel's head that holds the text."""
    lines = listing.read_text().splitlines()
    begin = next(n for n, line in enumerate(lines) if f" {kernel}(" in line and "__global__" in line)
    near = [n for n, line in enumerate(lines) if text in line and not line.startswith("//")]
    return 1 + next((n for n in near if n > begin), near[0])


def saving(words):
    """The words of the launch with every buffer saved in a file of its own, and these buffers' words."""
    changed, buffers = [], []
    for word in words:
        if word.startswith(("out:", "buffer:")):
            buffers.append(word)
            word += f":save=buffer{len(buffers)}"
        changed.append(word)
    return changed, buffers


def values_of(folder, buffers):
    letters = {"f32": "f", "i32": "i"}
    found = []
    for n, word in enumerate(buffers, 1):
        data = (folder / f"buffer{n}").read_bytes()
        kind = letters[word.split(":")[1]]
        found.append((word, struct.unpack(f"{len(data) // 4}{kind}", data)))
    return found


def check_result(folder, buffers, text):
    """What is wrong with the result, or None."""
    verdict, _, expression = text.partition(": ")
    values = values_of(folder, buffers)
    out = next(numbers for word, numbers in values if word.startswith("out"))
    names = dict(zip("ab", (numbers for word, numbers in values if not word.startswith("out"))))
    code = compile(expression, "header", "eval")
    wrong = sum(eval(code, names | {"i": i}) != number for i, number in enumerate(out))
    if (verdict == "right") == (wrong == 0):
        return None
    return f"{wrong} of {len(out)} elements are not {expression}"


def check_number(output, listing, kernel, word, text):
    access, number, place = re.fullmatch(r"(\S+) ([\d.]+) in `(.*)`", text).groups()
    line = line_in(listing, kernel, place)
    at = {"wavefronts": 3, "degree": 5, "sectors": 4}[word]
    rows = [row for row in map(ROW.match, output.splitlines()) if row and row[1] == str(line) and row[2] == access]
    found = [row[at] for row in rows]
    return None if number in found else f"{word} of {access} in line {line} is {found}, not {number}"


def check_launch(program, listing, ptx, launch, expected, folder):
    """What is wrong, a sentence each."""
    folder.mkdir()
    kernel, *words = launch.split()
    words, buffers = saving(words)
    run = subprocess.run([program, "sim", "launch", ptx, kernel, *words], cwd=folder, text=True, capture_output=True,
                         env=dict(os.environ, LC_ALL="C.UTF-8"))
    kinds = sorted({line.split(",")[0] for line in run.stdout.splitlines()} & set(KINDS))
    wrong, refused = [], any(word == "refused" for word, _ in expected)
    clean = not refused and not kinds
    if run.returncode != (0 if clean else 1):
        wrong.append(f"exit code {run.returncode}: {run.stderr}")
    for word, text in expected:
        if word == "finds" and text != (" ".join(kinds) or "nothing"):
            wrong.append(f"it finds {' '.join(kinds) or 'nothing'}, not {text}")
        elif word == "refused" and text not in run.stderr:
            wrong.append(f"not refused by {text}: {run.stderr}")
        elif word in ("degree", "wavefronts", "sectors"):
            wrong.append(check_number(run.stdout, listing, kernel, word, text))
        elif word == "result":
            wrong.append(check_result(folder, buffers, text))
    return [sentence for sentence in wrong if sentence]


def check_page(listings):
    """What docs/course/gallery.md shows that is not so, and what it does not show."""
    page = PAGE.read_text()
    wrong = []
    for listing, launches in listings:
        for launch, _ in launches:
            if launch.startswith("fixed "):  # the page says how to run twins
                continue
            if f"gristmill sim launch lab/gallery/{listing.name} {launch}" not in " ".join(page.replace("\\\n", "").split()):
                wrong.append(f"it does not show `{launch}` of {listing.name}")
    code = "\n".join(listing.read_text() for listing, _ in listings)
    for excerpt in re.findall(r"```cuda\n(.*?)```", page, re.DOTALL):
        parts = re.split(r"^ *\.\.\.\n", excerpt, flags=re.MULTILINE)
        wrong += [f"no listing has\n{part}" for part in parts if part.strip() and part not in code]
    return wrong


def compile_all(nvcc, listings, folder):
    def compile_one(listing):
        ptx = folder / (listing.stem + ".ptx")
        subprocess.run([nvcc, "-ptx", "-lineinfo", "-arch=sm_80", "-o", ptx, listing], check=True)
        return ptx
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(compile_one, listings))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--nvcc", type=pathlib.Path, required=True)
    options = parser.parse_args()
    listings = [(listing, header_of(listing)) for listing in sorted(GALLERY.glob("*.cu"))]
    results = [("docs/course/gallery.md", check_page(listings))]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ptx = compile_all(options.nvcc.resolve(), [listing for listing, _ in listings], folder)
        for (listing, launches), text in zip(listings, ptx):
            if not launches:
                results.append((listing.name, ["its header has no launch"]))
            for n, (launch, expected) in enumerate(launches):
                place = folder / f"{listing.stem}{n}"
                wrong = check_launch(options.program.resolve(), listing, text, launch, expected, place)
                results.append((f"{listing.name}: {launch.split(' --args')[0]}", wrong))
    for name, wrong in results:
        print(f"{'FAIL' if wrong else 'PASS'} {name}")
        print("".join(f"     {line}\n" for sentence in wrong for line in sentence.splitlines()), end="")
    failed = sum(bool(wrong) for _, wrong in results)
    print(f"{len(results) - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
