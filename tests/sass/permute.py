# SPDX-License-Identifier: Apache-2.0
"""What the machine code of permutations chunk by chunk is made of: on sm90 griddepcontrol.wait; a load for each chunk, as wide
as that."""


def required(row):
    return ["LDG", "STG"] + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    columns = row["columns"]
    chunk = columns["x_bytes"] * columns["elements"]
    wide = sum(count for opcode, count in counter.items() if opcode.startswith("LDG") and ".128" in opcode)
    if chunk >= 16 and wide < columns["vectors"] * chunk // 16:
        yield "%d loads of 16 bytes instead of %d" % (wide, columns["vectors"] * chunk // 16)
