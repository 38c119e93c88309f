# SPDX-License-Identifier: Apache-2.0
"""The kernels of a build, from kernels/rows.json, which cmake/Kernels.cmake writes."""
import json
import os
import re


def rows(build):
    """In table order. Each has name, operation, family, arch, state, type, source, and lists of targets and defines; and
    `columns`, its family's own: numbers where they are; and `virtual`, of each sm_x of its targets the compute_x whose PTX it
    is made from."""
    with open(os.path.join(build, "kernels", "rows.json"), encoding="utf-8") as file:
        table = json.load(file)
    for row in table:
        pairs = (word.split("=") for word in row["words"].split())
        row["columns"] = {name: int(value) if value.isdigit() else value for name, value in pairs}
        row["targets"] = row["targets"].split()
        row["defines"] = row["defines"].split(";")
        row["virtual"] = {code: arch for arch, code in re.findall(r"arch=(\w+),code=(sm_\w+)", row["gencode"])}
    return table


def template_class(row):
    """What two rows have in common that are compiled from the same code but for sizes: words, and which numbers are 1."""
    columns = (value if isinstance(value, str) else value > 1 for value in row["columns"].values())
    return (row["family"], row["arch"], *columns)


def one_of_each_class(table, build):
    """The row with the smallest image, soonest compiled, of each template class, and of each type that a family has; fp16's
    twins of bf16 differ in the names of their instructions only."""
    largest_first = sorted(
        table, key=lambda row: -os.path.getsize(os.path.join(build, "kernels", row["name"] + ".fatbin")))
    chosen = {template_class(row): row for row in largest_first}
    types = {(row["family"], row["type"]): row for row in largest_first}
    types = {key: row for key, row in types.items() if key[1] != "fp16" or (key[0], "bf16") not in types}
    names = {row["name"] for row in [*chosen.values(), *types.values()]}
    return [row for row in table if row["name"] in names]
