#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the measured tables of README.md and docs/ from the files under bench/results/.

A table stands between two comments, `<!-- results:NAME begin -->` and `<!-- results:NAME end -->`; with `means:` instead
of `results:`, its geometric means only. Between `<!-- cost:NAME OTHER begin -->` and `<!-- cost:NAME OTHER end -->` stands
how much more time NAME's problems take than OTHER's, by N x K and M. Between `<!-- chain -->` and `<!-- /chain -->` stands
what `gristmill chain` measured. NAME is a suite (every GPU that has results of it), or gpu/suite. An experiment of the laboratory stands between `<!-- lab:NAME -->` and
`<!-- /lab -->`, NAME being an experiment, or gpu/experiment; `<!-- lab:NAME only=REGEX -->` keeps the points whose label
matches. The steps of a ladder stand, one row each, between `<!-- steps:NAME counted="SUFFIX" timed="SUFFIX" scale="N" sms="N" -->`
and `<!-- /steps -->`: what was counted at one size beside the time at another, which makes N times the accesses. What
`gristmill lab profile` said of them stands between `<!-- busy:NAME timed="SUFFIX" only="REGEX" -->` and `<!-- /busy -->`, how busy the
GPU's parts were, and between `<!-- stalls:NAME timed="SUFFIX" only="REGEX" -->` and `<!-- /stalls -->`, what warps waited for. The planted bugs of tests/mutants/ stand between `<!-- mutants -->` and `<!-- /mutants -->`. What stands between
is replaced; nothing else is touched.
"""
import argparse
import json
import math
import pathlib
import re
import sys

# Problems by the operation's axis, as `gristmill bench` has them.
REGIMES = {"m": (("M ≤ 64", 1, 64), ("64 < M ≤ 512", 65, 512), ("M > 512", 513, math.inf)),
           "rows": (("rows ≤ 64", 1, 64), ("64 < rows ≤ 1024", 65, 1024), ("rows > 1024", 1025, math.inf))}
CONSTANTS = ("op", "epilogue")  # of a problem, in every row or in older files
STRIDE = re.compile(r"ld[a-d]|\w*stride\d*")  # in words, where it is not packed
USUAL = {"a": "bf16", "b": "bf16", "d": "bf16", "layout": "tn", "weight": "same", "residual": "no", "sum": "late",
         "normalized": "late", "out": "same"}
MARKERS = re.compile(r"(<!-- (results|means):(\S+) begin -->\n)(.*?)(<!-- \2:\3 end -->)", re.DOTALL)
COST_MARKERS = re.compile(r"(<!-- cost:(\S+) (\S+) begin -->\n)(.*?)(<!-- cost:\2 \3 end -->)", re.DOTALL)
NAMED_MARKERS = re.compile(r"(<!-- (chain|layer|decoder|torch-costs|patch) -->\n)(.*?)(<!-- /\2 -->)", re.DOTALL)
LAB_MARKERS = re.compile(r"(<!-- lab:(\S+)(?: only=(.*?))? -->\n)(.*?)(<!-- /lab -->)", re.DOTALL)
STEPS_MARKERS = re.compile(r"(<!-- steps:(\S+) (.*?) -->\n)(.*?)(<!-- /steps -->)", re.DOTALL)
PROFILE_MARKERS = re.compile(r"(<!-- (busy|stalls):(\S+)(.*?) -->\n)(.*?)(<!-- /\2 -->)", re.DOTALL)
MUTANT_MARKERS = re.compile(r"(<!-- mutants -->\n)(.*?)(<!-- /mutants -->)", re.DOTALL)


def number(value, digits):
    return "–" if value is None else f"{value:.{digits}f}"


def geomean(values):
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def problem_of(row):
    """The fields of a row's problem, which stand before its kernel."""
    names = list(row)
    problem = {name: row[name] for name in names[:names.index("kernel")]}
    return {name: value for name, value in problem.items() if (name, value) != ("batch", 1)}  # older files have it


def sizes_of(rows):
    """Those that any row has: options stand in some only."""
    return list(dict.fromkeys(name for row in rows for name, value in problem_of(row).items()
                              if isinstance(value, int) and name not in CONSTANTS and not STRIDE.fullmatch(name)))


def batch_words(row):
    """What is not packed of a batch: "one B, A and D in common rows"."""
    # Elements from a row of a matrix of A, B and D to the next, and how many rows a matrix has.
    a_k, b_k = row["layout"][0] == "t", row["layout"][1] == "n"
    matrices = {"A": (row.get("lda") or row["k" if a_k else "m"], row["m" if a_k else "k"], row.get("a_batch_stride", 0)),
                "B": (row.get("ldb") or row["k" if b_k else "n"], row["n" if b_k else "k"], row.get("b_batch_stride", 0)),
                "D": (row.get("ldd") or row["n"], row["m"], row.get("d_batch_stride", 0))}
    one = [name for name, (_, _, step) in matrices.items() if step == 0]
    beside = [name for name, (pitch, rows, step) in matrices.items() if 0 < step < pitch * rows]
    return [*(["one " + " and ".join(one)] if one else []),
            *([" and ".join(beside) + " in common rows"] if beside else [])]


def words_of(row):
    """What is not usual: "fp16, residual yes"."""
    words = []
    problem = problem_of(row)
    for name, value in problem.items():
        if isinstance(value, str) and name not in CONSTANTS and value != USUAL.get(name, "bf16"):
            words.append(value if name in ("type", "a", "layout") else f"{name} {value}")
        elif STRIDE.fullmatch(name) and "batch" not in problem:
            words.append(f"{name} {value}")
    return ", ".join(words + (batch_words(row) if "batch" in problem and row["op"] == "gemm" else []))


def axis_of(rows):
    sizes = sizes_of(rows)
    return next((name for name in sizes if name in REGIMES), sizes[0])


def fastest_rows(rows):
    """One row for each problem: a sweep over the table has many."""
    best = {}
    for row in rows:
        key = row["op"], *(pair for pair in problem_of(row).items() if pair[0] not in CONSTANTS)
        if key not in best or row["us"] < best[key]["us"]:
            best[key] = row
    return list(best.values())


def has_alone(rows):
    """Older results, and those without --energy, have no times alone."""
    return any(row.get("ratio_alone") for row in rows)


def means(rows):
    parts = []
    alone = has_alone(rows)
    axis = axis_of(rows)
    for name, low, high in (("all", 0, math.inf), *REGIMES.get(axis, ())):
        chosen = [row for row in rows if low <= row[axis] <= high and row["ratio_best"]]
        if chosen:
            best = geomean([row["ratio_best"] for row in chosen])
            default = geomean([row["ratio_default"] for row in chosen])
            by_itself = geomean([row.get("ratio_alone") for row in chosen])
            parts.append(f"| {name} | {len(chosen)} | {number(best, 3)} | {number(default, 3)} |"
                         + (f" {number(by_itself, 3)} |" if alone else ""))
    if not parts:
        return []
    return ["", "| geometric mean | problems | ratio to best | ratio to default |"
            + (" ratio to best, each alone |" if alone else ""),
            "|---|---:|---:|---:|" + ("---:|" if alone else ""), *parts]


def caption(results):
    meta = results["meta"]
    against = f", against {meta['baseline']}" if meta["baseline"] else ""
    method = meta["method"]
    alone = (f" Alone: each by itself for {method['energy_s']:g} s, at the clock that its own watts leave it."
             if has_alone(results["rows"]) else "")
    return (
        f"{meta['gpu']}, driver {meta['driver']}, toolkit {meta['toolkit']}, revision {meta['revision']}, "
        f"{meta['date']}{against}; {method['rounds']} rounds, {method['warmup_s']:g} s of warm-up, L2 "
        f"{method.get('l2', 'cold')}. A ratio above 1: gristmill is faster.{alone}"
    )


def mixed_table(results):
    """Of several operations: a row for each problem, with its fields in one column."""
    lines = [caption(results), "",
             "| operation | problem | kernel | µs | GB/s | µs / floor | best peer | ratio to best |",
             "|---|---|---|---:|---:|---:|---|---:|"]
    for row in fastest_rows(results["rows"]):
        fields = " ".join(str(value) for name, value in problem_of(row).items() if name not in CONSTANTS)
        lines.append(f"| {row['op']} | {fields} | `{row['kernel']}` | {number(row['us'], 2)} | {number(row['gbs'], 0)} | "
                     f"{number(row['floor_us'] and row['us'] / row['floor_us'], 2)} | {row['best'] or '–'} | "
                     f"{number(row['ratio_best'], 3)} |")
    ratios = [row["ratio_best"] for row in results["rows"] if row["ratio_best"]]
    if ratios:
        lines += ["", f"Geometric mean of {len(ratios)} problems with a peer: {geomean(ratios):.3f}, the least "
                      f"{min(ratios):.3f}."]
    return "\n".join(lines)


def table(results):
    meta, rows = results["meta"], fastest_rows(results["rows"])
    if len({row["op"] for row in rows}) > 1:
        return mixed_table(results)
    alone, energy = has_alone(rows), any(row.get("ours_joules") for row in rows)
    # What memory bounds is told in bytes, and has no use for joules of arithmetic.
    sizes, by_bytes = sizes_of(rows), axis_of(rows) != "m"
    energy = energy and not by_bytes
    words = any(words_of(row) for row in rows)
    titles = [name.upper() if len(name) == 1 else name for name in sizes]
    lines = [
        caption(results),
        "",
        "| " + " | ".join(titles) + (" | " if words else "") + f" | kernel | µs | {'GB/s' if by_bytes else 'TFLOPS'} | µs / floor | "
        "ratio to best | ratio to default |" + (" alone |" if alone else "") + (" TFLOPS/W | best's |" if energy else ""),
        "|" + "---:|" * len(sizes) + ("---|" if words else "") + "---|---:|---:|---:|---:|---:|" + ("---:|" if alone else "")
        + ("---:|---:|" if energy else ""),
    ]
    for row in rows:
        lines.append(
            "| " + " | ".join(str(row.get(name, "–")) for name in sizes) + (f" | {words_of(row)}" if words else "")
            + f" | `{row['kernel']}` | {number(row['us'], 2)} | "
            f"{number(row['gbs'], 0) if by_bytes else number(row['tflops'], 1)} | "
            f"{number(row['floor_us'] and row['us'] / row['floor_us'], 2)} | "
            f"{number(row['ratio_best'], 3)} | {number(row['ratio_default'], 3)} |"
            + (f" {number(row.get('ratio_alone'), 3)} |" if alone else "")
            + (f" {number(row.get('tflops_per_watt'), 3)} | {number(row.get('best_tflops_per_watt'), 3)} |"
               if energy else "")
        )
    lines += means(rows)
    theirs = meta.get("baseline_execute_ns") or meta.get("cublaslt_execute_ns")  # the latter up to version 0.2
    if meta["execute_ns"] and theirs:
        recurring = meta.get("execute_recurring_ns")  # older results have none
        launch = meta["ceilings"].get("launch_host_ns") # null: the driver refused the bench's empty kernel
        lines += ["", f"Host time of one call: `gm_{rows[0]['op']}_execute` {meta['execute_ns']:.0f} ns, "
                      + (f"{recurring:.0f} ns with arguments that recur, " if recurring else "")
                      + f"`cublasLtMatmul` {theirs:.0f} ns"
                      + (f"; the driver's own launch of an empty kernel {launch:.0f} ns." if launch else ".")]
    return "\n".join(lines)


def means_table(results):
    return "\n".join([caption(results), *means(fastest_rows(results["rows"]))])


def cost_table(results, other):
    """Time of `results` over time of `other`, in per cent more; a row for each N x K, a column for each M."""
    def times(rows):
        return {(row["n"], row["k"], row["m"]): row["us"] for row in fastest_rows(rows)}
    ours, theirs = times(results["rows"]), times(other["rows"])
    both = {key: ours[key] / theirs[key] for key in ours if key in theirs}
    columns = sorted({m for _, _, m in both})
    def cell(ratio):
        return "–" if ratio is None else f"{100 * (ratio - 1):+.0f}"
    lines = [f"{results['meta']['gpu']}, revision {results['meta']['revision']}, {results['meta']['date']}; per cent more "
             f"time than revision {other['meta']['revision']} takes without.", "",
             "| N x K, M = | " + " | ".join(map(str, columns)) + " |", "|---" + "|---:" * len(columns) + "|"]
    for n, k in dict.fromkeys((row["n"], row["k"]) for row in results["rows"]):
        lines.append(f"| {n} x {k} | " + " | ".join(cell(both.get((n, k, m))) for m in columns) + " |")
    lines.append("| geometric mean | " + " | ".join(
        f"{100 * (geomean([ratio for key, ratio in both.items() if key[2] == m]) - 1):+.1f}" for m in columns) + " |")
    return "\n".join(lines)


def chain_table(results):
    """A row for each chain and M: microseconds of a chain."""
    meta = results["meta"]
    lines = [f"{meta['gpu']}, driver {meta['driver']}, revision {meta['revision']}, {meta['date']}, against cuBLASLt "
             f"{meta['baseline']}; {meta['rounds']} rounds of {meta['round_ms']:g} ms. Microseconds of a whole chain.", "",
             "| chain | M | no overlap | overlap | constant B | cuBLASLt's best | its default | best / constant B | "
             "no overlap / constant B |", "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for row in results["rows"]:
        sizes = " → ".join(f"{size:g}" for size in row["sizes"])
        times = " | ".join(number(row[way + "_us"], 1) for way in
                           ("no_overlap", "overlap", "constant_b", "cublaslt_best", "cublaslt_default"))
        lines.append(f"| {row['layers']} layers of {sizes} | {row['m']} | {times} | {number(row['ratio_best'], 3)} | "
                     f"{number(row['ratio_no_overlap'], 3)} |")
    return "\n".join(lines)


def layer_table(results):
    """A row for each number of tokens and of keys: a decoder's layer, with constant B."""
    meta, rows = results["meta"], results["rows"]

    def of(way, row):
        return next((other for other in rows if other["way"] == way and
                     (other["tokens"], other["kv_len"]) == (row["tokens"], row["kv_len"])), {"us": None})

    lines = [f"{meta['gpu']}, read rate {meta['read_gbs']:g} GB/s, against torch {meta['torch']}; medians, microseconds of a layer.",
             "", "| tokens | keys | kernels | µs | its bytes | beside them, a kernel | kernels apart | more than apart, a kernel | "
             "torch | torch / ours |", "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for row in rows:
        if row["way"] != "gristmill, constant B":
            continue
        apart, peer = of("gristmill, constant B, apart", row)["us"], of("torch", row)["us"]
        lines.append(f"| {row['tokens']} | {row['kv_len'] or 'none'} | {row['kernels']} | {row['us']:.1f} | {row['floor_us']:.1f} | "
                     f"{row['gap_us']:.2f} | {apart:.1f} | {(row['us'] - apart) / row['kernels']:.2f} | {number(peer, 1)} | "
                     f"{number(peer and peer / row['us'], 2)} |")
    return "\n".join(lines)


def decoder_table(results):
    """A row for each step of a whole model: ours by parts, and torch's fastest way by its own."""
    meta, rows = results["meta"], results["rows"]
    parts, torch_parts = ("linears", "attention", "rest", "together"), ("linears", "attention", "rest")
    lines = [f"{meta['gpu']}, against torch {meta['torch']} in CUDA graphs, {meta['date']}; medians of 5 to 7 rounds, milliseconds, "
             "bf16, random weights.", "",
             "| model | step | ms | tokens/s | × floor | " + " | ".join(parts) + " | torch's best | way | " +
             " | ".join(f"its {part}" for part in torch_parts) + " | torch's best / ours |",
             "|---|---|" + "---:|" * 8 + "---|" + "---:|" * 4]
    for row in rows:
        step = f"prompt of {row['prefill']}" if row["prefill"] else f"batch {row['batch']}, context {row['context']}"
        tokens, ours, theirs = row["prefill"] or row["batch"], row["parts_ms"] or {}, row.get("torch_parts_ms") or {}
        cells = [number(row["ms"], 3), f"{1e3 * tokens / row['ms']:,.0f}", number(row["floor_ms"] and row["ms"] / row["floor_ms"], 2),
                 *(number(ours.get(part), 3) for part in parts), number(row["best_ms"], 3), row["best"],
                 *(number(theirs.get(part), 3) for part in torch_parts), number(row["ratio_best"], 3)]
        lines.append(f"| {row['model']} | {step} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def torch_costs_table(results):
    """A row for each call: what it costs the CPU."""
    meta = results["meta"]
    lines = [f"{meta['gpu']}, torch {meta['torch']}, Python {meta['python']}, {meta['date']}; microseconds of the CPU.",
             "", "| call | in C | operator, into a tensor | operator, a new tensor | an operator that does nothing | torch's own |",
             "|---|---:|---:|---:|---:|---:|"]
    for row in results["rows"]:
        cells = [number(row[key], 2) for key in ("c_us", "op_out_us", "op_us", "nothing_us", "torch_us")]
        lines.append(f"| {row['call']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def patch_table(results):
    """A row for each step of a model of transformers: as it is and patched."""
    meta, rows = results["meta"], results["rows"]
    ways = list(rows[0]["ms"])
    lines = [f"{meta['gpu']}, torch {meta['torch']}, transformers {meta['transformers']}, {meta['date']}; milliseconds, bf16, "
             "random weights, all in CUDA graphs.", "",
             "| model | step | " + " | ".join(ways) + " | fastest of transformers / of patched |", "|---|---|" + "---:|" * (len(ways) + 1)]
    for row in rows:
        step = f"prompt of {row['prefill']}" if row["prefill"] else f"batch 1, context {row['context']}"
        of = {patched: min(ms for way, ms in row["ms"].items() if way.startswith("patched") == patched) for patched in (False, True)}
        lines.append(f"| {row['model']} | {step} | " + " | ".join(number(row["ms"].get(way), 3) for way in ways) +
                     f" | {number(of[False] / of[True], 3)} |")
    return "\n".join(lines)


def exact(value):
    """A counter, with all its digits."""
    return "–" if value is None else f"{value:.15g}"


def lab_verdict(point):
    """What is not as predicted; nothing for a point that agrees."""
    if point["correct"] is False:
        return f"**wrong**: {point['wrong']}"
    words = []
    for quantity in point["quantities"]:
        if quantity["agrees"] is False:
            words.append(f"{quantity['name']} **disagree**")
        if quantity.get("simulated_agrees") is False:
            words.append(f"{quantity['name']}, simulated, **disagree**")
    if point["cycles"] and point["cycles"]["agrees"] is False:
        words.append("cycles **disagree**")
    return ", ".join(words)


def lab_row(point):
    """The numbers of a point by column; none for a point that was only checked."""
    row = {}
    for quantity in point["quantities"]:
        if quantity["predicted"] is not None:
            row[quantity["name"] + ", predicted"] = exact(quantity["predicted"])
        row[quantity["name"]] = exact(quantity["counted"])
        if quantity.get("simulated") is not None: # older results have none
            row[quantity["name"] + ", simulated"] = exact(quantity["simulated"])
    cycles, time = point["cycles"] or {}, point["time"] or {}
    for column, value, digits in (("cycles, predicted", cycles.get("predicted"), 0),
                                  ("cycles", cycles.get("measured"), 0), ("µs", time.get("us"), 2),
                                  ("GB/s", time.get("gbs"), 0), ("TFLOPS", time.get("tflops"), 1)):
        if value is not None:
            row[column] = number(value, digits)
    if verdict := lab_verdict(point):
        row["verdict"] = verdict
    return row


def lab_columns(rows):
    """In the order of their first use, each prediction before what was measured; time and verdict last."""
    seen = dict.fromkeys(column for row in rows for column in row)
    last = [column for column in ("cycles, predicted", "cycles", "µs", "GB/s", "TFLOPS", "verdict") if column in seen]
    return [column for column in seen if column not in last] + last


def lab_table(results, only=None):
    """A row for each point that has numbers, or for those whose label matches `only`; then the claims."""
    meta = results["meta"]
    points = [point for point in results["points"] if lab_row(point) and (not only or re.search(only, point["label"]))]
    counters = meta["counters"] if meta["counted"] else f"no counters ({meta['counters']})"
    lines = [f"`gristmill lab run {meta['experiment']}` on {meta['gpu']}, driver {meta['driver']}, {counters}, "
             f"revision {meta['revision']}, {meta['date']}: {results['verdict']}."]
    if points:
        rows = [lab_row(point) for point in points]
        columns = lab_columns(rows)
        lines += ["", "| " + " | ".join(["point", *columns]) + " |",
                  "|---" + "|---:" * len(columns) + "|"]
        for point, row in zip(points, rows):
            cells = [point["label"], *(row.get(column, "") for column in columns)]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    claims = [f"- {'' if claim['holds'] else '**broken**: '}{claim['claim']}" for claim in results["claims"]]
    return "\n".join(lines + ([""] + claims if claims else []))


def agreed(quantity):
    """A count once where it was predicted, counted and simulated alike; else all three."""
    values = [exact(quantity.get(key)) for key in ("predicted", "counted", "simulated")]
    return values[0] if len(set(values)) == 1 else " / ".join(values)


def steps_table(results, counted, timed, scale="1", sms="1", only=None):
    """A row for each step of a ladder: its counts at one size, its time at another, and how busy that keeps shared memory."""
    meta, points = results["meta"], {point["label"]: point for point in results["points"]}
    steps = [label.removesuffix(counted) for label, point in points.items() if label.endswith(counted) and point["quantities"]]
    steps = [step for step in steps if not only or re.search(only, step)]
    names = list(dict.fromkeys(quantity["name"] for step in steps for quantity in points[step + counted]["quantities"]))
    rate = "gbs" if any(points[step + timed]["time"]["gbs"] for step in steps) else "tflops"
    lines = [f"{meta['gpu']}, {meta['counters']}, revision {meta['revision']}, {meta['date']}: {results['verdict']}.", "",
             f"| step | {' | '.join(names)} | µs | {'GB/s' if rate == 'gbs' else 'TFLOPS'} | pipe busy |",
             "|---" + "|---:" * (len(names) + 3) + "|"]
    for step in steps:
        quantities = {quantity["name"]: quantity for quantity in points[step + counted]["quantities"]}
        time = points[step + timed]["time"]
        wavefronts = sum(quantity["counted"] for name, quantity in quantities.items() if name.endswith("wavefronts"))
        busy = wavefronts * float(scale) / float(sms) / (time["us"] * time["sm_mhz"])
        cells = [agreed(quantities[name]) if name in quantities else "" for name in names]
        lines.append(f"| {step} | {' | '.join(cells)} | {number(time['us'], 1)} | "
                     f"{number(time[rate], 0 if rate == 'gbs' else 1)} | {100 * busy:.0f} % |")
    return "\n".join(lines)


def profiled(results, timed, only):
    """{step: its point, with its counts by name} of a profile."""
    return {point["label"].removesuffix(timed): dict(point, counts={q["name"]: q["counted"] for q in point["quantities"]})
            for point in results["points"] if point["label"].endswith(timed)
            and (not only or re.search(only, point["label"].removesuffix(timed)))}


def profile_lines(results, columns):
    meta = results["meta"]
    return [f"{meta['gpu']}, {meta['counters']}, revision {meta['revision']}, {meta['date']}.", "",
            "| step | " + " | ".join(columns) + " |", "|---" + "|---:" * len(columns) + "|"]


def memory_work(work, memory, digits):
    """Work for a byte of memory; where memory is left alone its number says nothing."""
    return "> 9999" if memory and work / memory > 9999 else number(memory and work / memory, digits)


def busy_table(results, timed="", only=None):
    """A row for each step: its time under the profiler, its work (useful bytes, or operations) for a byte that memory moved, and
    what the GPU's parts did in per cent of their peaks."""
    steps = profiled(results, timed, only)
    rate = "gbs" if any(point["time"]["gbs"] for point in steps.values()) else "tflops"
    parts = [name for point in steps.values() for name in point["counts"] if name.endswith(", %")]
    parts = list(dict.fromkeys(parts))
    lines = profile_lines(results, ["µs", "GB/s" if rate == "gbs" else "TFLOPS", "work a byte",
                                    *(part.removesuffix(", %") for part in parts)])
    for step, point in steps.items():
        time, memory = point["time"], point["counts"]["bytes of memory"]
        work = (time["gbs"] or 0) * 1e3 or (time["tflops"] or 0) * 1e6  # a microsecond: bytes, or operations
        cells = [number(time["us"], 1), number(time[rate], 0 if rate == "gbs" else 1),
                 memory_work(work * time["us"], memory, 2 if rate == "gbs" else 0),
                 *(number(point["counts"][part], 0) + " %" for part in parts)]
        lines.append(f"| {step} | {' | '.join(cells)} |")
    return "\n".join(lines)


def stalls_table(results, timed="", only=None):
    """A row for each step: cycles from an instruction of a warp to its next, and what it waits for in per cent of them; a
    reason that has 5 % nowhere is with the others."""
    steps, latency, stalled = profiled(results, timed, only), "cycles an instruction", "stalled: "
    shares = {step: {name.removeprefix(stalled): 100 * (value or 0) / point["counts"][latency]
                     for name, value in point["counts"].items() if name.startswith(stalled)} for step, point in steps.items()}
    reasons = [reason for row in shares.values() for reason in row if row[reason] >= 5]
    reasons = [reason for reason in next(iter(shares.values()), {}) if reason in reasons]
    lines = profile_lines(results, ["cycles", *reasons, "other"])
    for step, point in steps.items():
        cells = [number(point["counts"][latency], 1), *(f"{shares[step][reason]:.0f} %" for reason in reasons),
                 f"{max(100 - sum(shares[step][reason] for reason in reasons), 0):.0f} %"]
        lines.append(f"| {step} | {' | '.join(cells)} |")
    return "\n".join(lines)


def mutant_table(results):
    """A row for each planted bug: what it is, what must be reported, what hardware made of it."""
    mutants = results["mutants"]
    passes = sum(mutant["hardware"] == "passes" for mutant in mutants)
    lines = [f"{len(mutants)} bugs; on {results['device']}, {passes} of them passed their tests.", "",
             "| bug | what is wrong | the simulator reports | hardware |", "|---|---|---|---|"]
    for mutant in mutants:
        kinds = " or ".join("a wrong result" if kind == "result" else kind for kind in mutant["report"])
        lines.append(f"| `{mutant['name']}` | {mutant['why']} | {kinds} | {mutant['hardware']} |")
    return "\n".join(lines)


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
        body = tables(match.group(3), "", means_table if match.group(2) == "means" else table)
        return match.group(1) + (f"\n{body}\n\n" if body else "") + match.group(5)

    def fill_lab(match):
        name, only = match.group(2), match.group(3)
        body = tables(name, "lab", lambda results: lab_table(results, only))
        if not body:
            body = f"*Not measured yet: `gristmill lab run {name.split('/')[-1]} --save` does it.*"
        return match.group(1) + f"\n{body}\n\n" + match.group(5)

    def fill_steps(match):
        options = dict(re.findall(r'(\w+)="(.*?)"', match.group(3)))
        body = tables(match.group(2), "lab", lambda results: steps_table(results, **options))
        return match.group(1) + f"\n{body}\n\n" + match.group(5)

    def fill_profile(match):
        options = dict(re.findall(r'(\w+)="(.*?)"', match.group(4)))
        make = busy_table if match.group(2) == "busy" else stalls_table
        body = tables(match.group(3), "profile", lambda results: make(results, **options))
        if not body:
            body = f"*Not measured yet: `gristmill lab profile {match.group(3).split('/')[-1]} --save` does it.*"
        return match.group(1) + f"\n{body}\n\n" + match.group(6)

    def fill_mutants(match):
        body = "\n\n".join(mutant_table(json.loads(path.read_text())) for path in files_of("mutants", folder))
        return match.group(1) + f"\n{body}\n\n" + match.group(3)

    def fill_cost(match):
        pairs = [[json.loads(path.read_text()) for path in (mine, mine.with_name(match.group(3) + ".json"))
                  if path.is_file()] for mine in files_of(match.group(2), folder)]
        body = "\n\n".join(cost_table(*pair) for pair in pairs if len(pair) == 2)
        return match.group(1) + f"\n{body}\n\n" + match.group(5)

    def fill_named(match):
        name, make = {"chain": ("chain", chain_table), "layer": ("decode-chain", layer_table),
                      "decoder": ("decoder", decoder_table),
                      "torch-costs": ("torch-costs", torch_costs_table), "patch": ("patch", patch_table)}[match.group(2)]
        return match.group(1) + f"\n{tables(name, '', make)}\n\n" + match.group(4)

    for markers, make in ((MARKERS, fill), (COST_MARKERS, fill_cost), (NAMED_MARKERS, fill_named),
                          (LAB_MARKERS, fill_lab), (STEPS_MARKERS, fill_steps),
                          (PROFILE_MARKERS, fill_profile), (MUTANT_MARKERS, fill_mutants)):
        text = markers.sub(make, text)
    return text


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
