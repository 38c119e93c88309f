# SPDX-License-Identifier: Apache-2.0
"""What the machine code of permutations tile by tile is made of: on sm90 griddepcontrol.wait; with accesses of 16 bytes copies
past registers, stores as wide, and of small elements ldmatrix.trans."""


def is_vector(row):
    return row["columns"]["x_bytes"] * row["columns"]["elements"] == 16


def required(row):
    wanted = ["LDGSTS", "STG"] if is_vector(row) else ["LDG", "STS", "STG"]
    if is_vector(row) and row["columns"]["x_bytes"] <= 2:
        wanted.append("LDSM")
    return wanted + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """No store to out is narrower than 16 bytes."""
    narrow = sum(count for opcode, count in counter.items() if opcode.startswith("STG") and ".128" not in opcode)
    if is_vector(row) and narrow:
        yield "%d stores of less than 16 bytes" % narrow
