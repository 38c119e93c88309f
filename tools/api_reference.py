#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a Markdown page for each public header, for scripts/docs.sh: its sections, its declarations, and the comments before
them, in the header's order. One argument: the folder for the pages."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include/gristmill"
FIRST = ["core", "gemm"]  # the others follow in the order of their names
SILENT = re.compile(r"#\s*(include|ifndef|ifdef|if|elif|else|endif|define (GM_API|GRISTMILL_\w*H)\b)|extern \"C\" \{|\}$")
SECTION = re.compile(r"/\* -{4} (.*?) -+ \*/$")
NAME = re.compile(r"typedef .*\(\*(\w+)\)|typedef .*?(\w+);|((?:struct|enum) \w+)|#define (\w+)|(\w+\()")
COLUMNS = 117  # a line that ends sooner, though the next word had room, ends a paragraph


# ---- a header as comments and declarations --------------------------------------------------------------------------

def comment_end(lines, at):
    while "*/" not in lines[at]:
        at += 1
    return at + 1


def declaration_end(lines, at):
    """Behind the line on which its braces and parentheses close and it ends."""
    if lines[at].startswith("#"):
        while lines[at].endswith("\\"):
            at += 1
        return at + 1
    for end in range(at + 1, len(lines) + 1):
        code = re.sub(r"/\*.*?(\*/|$)", "", "\n".join(lines[at:end]), flags=re.DOTALL)
        depth = sum(map(code.count, "{(")) - sum(map(code.count, "})"))
        if depth == 0 and code.rstrip().endswith(";"):
            return end
    sys.exit(f"api_reference.py: no declaration ends behind: {lines[at]}")


def read(text):
    """[("section" | "comment" | "code", its lines)] in the header's order; an empty line ends what belongs together."""
    lines, at, found = text.splitlines(), 0, []
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            found.append(("gap", []))
            at += 1
        elif SILENT.match(line):
            at += 1
        elif SECTION.match(line):
            found.append(("section", [SECTION.match(line)[1]]))
            at += 1
        elif line.startswith("/* SPDX"):
            at += 1
        elif line.startswith("/*"):
            end = comment_end(lines, at)
            found.append(("comment", lines[at:end]))
            at = end
        else:
            end = declaration_end(lines, at)
            found.append(("code", lines[at:end]))
            at = end
    return found


def name_of(code):
    """"gm_gemm()", "struct gm_device", "GM_LANES"; None of what has none."""
    match = NAME.search(re.sub(r"^GM_API (const )?(struct \w+ |enum \w+ )?", "", code[0]))
    return next(filter(None, match.groups())).replace("(", "()") if match else None


# ---- Markdown -------------------------------------------------------------------------------------------------------

def prose_of(lines):
    """A comment's text, one paragraph a list of lines, without the stars and what all lines are indented by."""
    text = "\n".join(lines)
    text = re.sub(r"^/\*+|\s*\*/$", lambda m: "  " if m[0].startswith("/*") else "", text)
    bare = [re.sub(r"^ \*( |$)", "   ", line).rstrip() if i else line.rstrip() for i, line in enumerate(text.splitlines())]
    indents = [len(line) - len(line.lstrip()) for line in bare if line.strip()]
    least = min(indents, default=0)
    paragraphs, current = [], []
    for line in [*(line[least:] for line in bare), ""]:
        if line.strip():
            current.append(line)
        elif current:
            paragraphs.append(current)
            current = []
    return paragraphs


def is_laid_out(paragraph):
    """Formulas and columns, which keep their lines."""
    return any(line.startswith(" ") or "   " in line.strip() for line in paragraph)


CODE = re.compile(r"(`[^`]+`|\b(?:docs|gristmill|src|lab|tests|examples)/[\w./-]*\w|\b\w*_\w+(?:\(\))?|\b[\w-]+\.(?:h|md|c)\b)")


def marked(part):
    """A name as code, a page of docs/ as a link to it."""
    name = part.strip("`")
    return f"[{name}](../{name})" if name.endswith(".md") and (ROOT / name).exists() else f"`{name}`"


def words(text):
    """Prose as Markdown."""
    parts = CODE.split(text)
    return "".join(marked(part) if i % 2 else re.sub(r"([\\*<>\[\]|#])", r"\\\1", part) for i, part in enumerate(parts))


def broken(paragraph):
    """A paragraph as those that its line breaks make of it."""
    found = [[paragraph[0]]]
    for before, line in zip(paragraph, paragraph[1:]):
        ends = before.endswith((".", ":")) and len(before) + 1 + len(line.split()[0]) < COLUMNS - 3
        found.append([line]) if ends else found[-1].append(line)
    return found


def comment_text(lines):
    out = []
    for paragraph in prose_of(lines):
        if is_laid_out(paragraph):
            out += ["```text", *paragraph, "```", ""]
        else:
            for part in broken(paragraph):
                out += [words(" ".join(line.strip() for line in part)), ""]
    return out


def heading(names, level):
    """Of declarations that stand together."""
    shown = names if len(names) <= 3 else [names[0], "…", names[-1]]
    return ["#" * level + " " + ", ".join(f"`{name}`" if name != "…" else name for name in shown), ""] if names else []


def page(header):
    name = header.stem
    parts = read(header.read_text())
    out = [f"# gristmill/{name}.h", ""]
    comments, codes, level = [], [], 2

    def flush():
        nonlocal comments, codes
        out.extend(heading(list(dict.fromkeys(filter(None, map(name_of, codes)))), level))
        for comment in comments:
            out.extend(comment_text(comment))
        if codes:
            out.extend(["```c", *(line for code in codes for line in code), "```", ""])
        comments, codes = [], []

    for kind, lines in parts:
        if kind in ("section", "comment", "gap") and codes or kind in ("section", "gap"):
            flush()
        if kind == "section":
            out.extend([f"## {lines[0][0].upper()}{lines[0][1:]}", ""])
            level = 3
        elif kind == "comment":
            comments.append(lines)
        elif kind == "code":
            codes.append(lines)
    flush()
    return "\n".join(out)


def pages():
    headers = sorted(HEADERS.glob("*.h"), key=lambda path: (path.stem not in FIRST, path.stem))
    return {header.stem: page(header) for header in headers if header.stem != "gristmill"}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: api_reference.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for name, text in made.items():
        (folder / f"{name}.md").write_text(text + "\n")
    index = ["# The C interface", "", "`gristmill/gristmill.h` includes all of them but `smem.h`.", "", "```{toctree}", *made, "```", ""]
    (folder / "index.md").write_text("\n".join(index))


if __name__ == "__main__":
    main()
