#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the measured tables of README.md and docs/ from the files under bench/results/.

A table stands between two comments, `<!-- results:NAME begin -->` and `<!-- results:NAME end -->`. NAME is a suite
(every GPU that has results of it), or gpu/suite. An experiment of the laboratory stands between `<!-- lab:NAME -->` and
`<!-- /lab -->`, NAME being an experiment, or gpu/experiment. What stands between is replaced; nothing else is touched.
"""
import argparse
import json
import math
import pathlib
import re
import sys

REGIMES = (("M ≤ 64", 1, 64), ("64 < M ≤ 512", 65, 512), ("M > 512", 513, math.inf))
MARKERS = re.compile(r"(<!-- results:(\S+) begin -->\n)(.*?)(<!-- results:\2 end -->)", re.DOTALL)
LAB_MARKERS = re.compile(r"(<!-- lab:(\S+) -->\n)(.*?)(<!-- /lab -->)", re.DOTALL)


def number(value, digits):
    return "–" if value is None else f"{value:.{digits}f}"


def geomean(values):
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def fastest_rows(rows):
    """One row for each problem: a sweep over the table has many."""
    best = {}
    for row in rows:
        key = tuple(row[name] for name in ("op", "a", "b", "d", "layout", "epilogue", "batch", "m", "n", "k"))
        if key not in best or row["us"] < best[key]["us"]:
            best[key] = row
    return list(best.values())


def means(rows):
    parts = []
    for name, low, high in (("all", 0, math.inf), *REGIMES):
        chosen = [row for row in rows if low <= row["m"] <= high and row["ratio_best"]]
        if chosen:
            best = geomean([row["ratio_best"] for row in chosen])
            default = geomean([row["ratio_default"] for row in chosen])
            parts.append(f"| {name} | {len(chosen)} | {number(best, 3)} | {number(default, 3)} |")
    if not parts:
        return []
    return ["", "| geometric mean | problems | ratio to best | ratio to default |", "|---|---:|---:|---:|", *parts]


def table(results):
    meta, rows = results["meta"], fastest_rows(results["rows"])
    against = f", against {meta['baseline']}" if meta["baseline"] else ""
    method = meta["method"]
    lines = [
        f"{meta['gpu']}, driver {meta['driver']}, toolkit {meta['toolkit']}, revision {meta['revision']}, "
        f"{meta['date']}{against}; {method['rounds']} rounds, {method['warmup_s']:g} s of warm-up. A ratio above 1: "
        f"gristmill is faster.",
        "",
        "| M | N | K | kernel | µs | TFLOPS | ratio to best | ratio to default |",
        "|---:|---:|---:|---|---:|---:|---:|---:|",
    ]
    for row in rows:
        lines.append(
            f"| {row['m']} | {row['n']} | {row['k']} | `{row['kernel']}` | {number(row['us'], 2)} | "
            f"{number(row['tflops'], 1)} | {number(row['ratio_best'], 3)} | {number(row['ratio_default'], 3)} |"
        )
    lines += means(rows)
    if meta["execute_ns"] and meta["cublaslt_execute_ns"]:
        launch = meta["ceilings"].get("launch_host_ns") # null: the driver refused the bench's empty kernel
        lines += ["", f"Host time of one call: `gm_gemm_execute` {meta['execute_ns']:.0f} ns, `cublasLtMatmul` "
                      f"{meta['cublaslt_execute_ns']:.0f} ns"
                      + (f"; the driver's own launch of an empty kernel {launch:.0f} ns." if launch else ".")]
    return "\n".join(lines)


def exact(value):
    """A counter, with all its digits."""
    return "–" if value is None else f"{value:.15g}"


AGREEMENT = {True: "agrees", False: "**disagrees**", None: "not measured"}


def lab_verdict(point, quantity):
    """Of one row: the quantity's, or the point's own where it has none."""
    if point["correct"] is False:
        return f"**wrong**: {point['wrong']}"
    words = []
    if quantity:
        words.append("not predicted" if quantity["predicted"] is None else AGREEMENT[quantity["agrees"]])
    cycles = point["cycles"]
    if cycles and cycles["predicted"] is not None and (not quantity or cycles["agrees"] is False):
        words.append("cycles " + AGREEMENT[cycles["agrees"]] if quantity else AGREEMENT[cycles["agrees"]])
    return ", ".join(words) or ("correct" if point["correct"] else "")


def lab_row(point, quantity, first):
    """Cells by column; a point's own numbers stand on the first of its rows only."""
    row = {"point": point["label"] if first else "", "verdict": lab_verdict(point, quantity)}
    if quantity:
        row |= {"quantity": quantity["name"], "predicted": exact(quantity["predicted"]),
                "counted": exact(quantity["counted"])}
    cycles, time = point["cycles"] or {}, point["time"] or {}
    if first:
        row |= {"cycles predicted": number(cycles.get("predicted"), 0), "cycles": number(cycles.get("measured"), 0),
                "µs": number(time.get("us"), 2), "GB/s": number(time.get("gbs"), 0),
                "TFLOPS": number(time.get("tflops"), 1)}
    return row


def lab_table(results):
    meta = results["meta"]
    rows = []
    for point in results["points"]:
        for index, quantity in enumerate(point["quantities"] or [None]):
            rows.append(lab_row(point, quantity, index == 0))
    left = ("point", "quantity", "verdict")
    columns = [column for column in ("point", "quantity", "predicted", "counted", "cycles predicted", "cycles", "µs",
                                     "GB/s", "TFLOPS", "verdict")
               if column in left[::2] or any(row.get(column, "–") not in ("–", "") for row in rows)]
    counters = meta["counters"] if meta["counted"] else f"no counters ({meta['counters']})"
    lines = [f"`gristmill lab run {meta['experiment']}` on {meta['gpu']}, driver {meta['driver']}, {counters}, "
             f"revision {meta['revision']}, {meta['date']}: {results['verdict']}.", "",
             "| " + " | ".join(columns) + " |",
             "|" + "|".join("---" if column in left else "---:" for column in columns) + "|"]
    for row in rows:
        lines.append("| " + " | ".join(row.get(column, "").replace("|", "\\|") for column in columns) + " |")
    claims = [f"- {'holds' if claim['holds'] else '**broken**'}: {claim['claim']}" for claim in results["claims"]]
    return "\n".join(lines + ([""] + claims if claims else []))


def files_of(name, folder, below=""):
    if "/" in name:
        gpu, name = name.split("/", 1)
        return [folder / gpu / below / f"{name}.json"]
    return sorted(folder.glob(str(pathlib.PurePath("*", below, f"{name}.json"))))


def rewrite(text, folder):
    def tables(name, below, make):
        paths = [path for path in files_of(name, folder, below) if path.is_file()]
        return "\n\n".join(make(json.loads(path.read_text())) for path in paths)

    def fill(match):
        body = tables(match.group(2), "", table)
        return match.group(1) + (f"\n{body}\n\n" if body else "") + match.group(4)

    def fill_lab(match):
        name = match.group(2)
        body = tables(name, "lab", lab_table)
        if not body:
            body = f"*Not measured yet: `gristmill lab run {name.split('/')[-1]} --save` does it.*"
        return match.group(1) + f"\n{body}\n\n" + match.group(4)

    return LAB_MARKERS.sub(fill_lab, MARKERS.sub(fill, text))


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, default=root / "bench" / "results")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a table is not up to date")
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="default: README.md, docs/**/*.md, bench/*.md")
    options = parser.parse_args()
    files = options.files or [root / "README.md", *sorted((root / "docs").rglob("*.md")),
                              *sorted((root / "bench").glob("*.md"))]
    stale = []
    for path in files:
        old = path.read_text()
        new = rewrite(old, options.results)
        if new == old:
            continue
        stale.append(path)
        if not options.check:
            path.write_text(new)
    for path in stale:
        print(f"{path}: {'its tables are not those of the results' if options.check else 'tables written'}")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
