#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the course's pages, by the program itself. A page says how, before it shows it:

    <!-- picture: bank --stride 2 -->
    ![what it shows](pictures/stride-2.svg)

    tools/pictures.py PROGRAM              writes them
    tools/pictures.py PROGRAM --check      compares instead; the last line is "N passed, N failed, N skipped"
"""
import argparse
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs/course"
PICTURE = re.compile(r"<!-- picture: (.+?) -->\n!\[[^\]]+\]\((pictures/[\w.-]+\.svg)\)")


def pictures():
    """{file: the command line that draws it}. A picture without a command, or that no page shows, is an error."""
    found, shown = {}, set()
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text()
        for line, file in PICTURE.findall(text):
            if found.setdefault(PAGES / file, line) != line:
                sys.exit(f"{page.name}: {file} is drawn by another command elsewhere")
        shown |= {PAGES / file for file in re.findall(r"\]\((pictures/[^)]*)\)", text)}
    for file in sorted(shown - set(found)):
        sys.exit(f"{file.name}: no `<!-- picture: ... -->` stands before it")
    for file in sorted(set((PAGES / "pictures").glob("*")) - set(found)):
        sys.exit(f"{file.name}: no page shows it")
    return found


def draw(program, line):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "picture.svg"
        run = subprocess.run([program, *shlex.split(line), "--svg", str(file)], capture_output=True, text=True, cwd=ROOT)
        if run.returncode not in (0, 1) or not file.exists():
            sys.exit(f"gristmill {line}: {run.stderr.strip()}")
        return file.read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    old = 0
    found = pictures()
    for file, line in found.items():
        text = draw(program, line)
        if not given.check:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"FAIL {file.name} is not what `gristmill {line}` draws")
            old += 1
    if given.check:
        print(f"{len(found) - old} passed, {old} failed, 0 skipped")
    sys.exit(old > 0)


if __name__ == "__main__":
    main()
