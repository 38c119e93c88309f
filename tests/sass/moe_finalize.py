# SPDX-License-Identifier: Apache-2.0
"""What the machine code of moe_finalize is made of: multiplications that add, and on sm90 griddepcontrol.wait; loads as wide as
its chunks."""


def required(row):
    return ["FFMA"] + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """A chunk of each slot that is under way, and one of the residual, each by one load."""
    columns = row["columns"]
    wide = sum(count for opcode, count in counter.items() if opcode.startswith("LDG") and ".128" in opcode)
    if columns["vector_bytes"] == 16 and wide < columns["slots"] + 1:
        yield "%d loads of 16 bytes instead of %d" % (wide, columns["slots"] + 1)
