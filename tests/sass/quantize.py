# SPDX-License-Identifier: Apache-2.0
"""What the machine code of quantisers is made of: maxima among lanes, and on sm90 griddepcontrol.wait; loads as wide as their
chunks."""


def required(row):
    lanes = "SHFL" if row["columns"]["share"] == 0 else "REDUX"
    return ["MUFU", lanes] + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """Eight elements of each chunk, by one load of 16 bytes or two."""
    columns = row["columns"]
    wide = sum(count for opcode, count in counter.items() if opcode.startswith("LDG") and ".128" in opcode)
    loads = columns["vectors"] * (2 if row["type"] == "fp32" else 1)
    if columns["vector_bytes"] == 16 and wide < loads:
        yield "%d loads of 16 bytes instead of %d" % (wide, loads)
