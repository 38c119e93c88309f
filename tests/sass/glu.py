# SPDX-License-Identifier: Apache-2.0
"""What the machine code of GLU is made of: powers and reciprocals, maxima of lanes where any out may have scales, and on sm90
griddepcontrol.wait; loads as wide as its chunks."""


def required(row):
    scales = ["SHFL", "REDUX"] if row["name"].endswith("any") else []
    return ["MUFU"] + scales + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """Gate and up, each chunk by one load."""
    columns = row["columns"]
    wide = sum(count for opcode, count in counter.items() if opcode.startswith("LDG") and ".128" in opcode)
    if columns["vector_bytes"] == 16 and wide < 2 * columns["vectors"]:
        yield "%d loads of 16 bytes instead of %d" % (wide, 2 * columns["vectors"])
