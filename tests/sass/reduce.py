# SPDX-License-Identifier: Apache-2.0
"""What the machine code of reductions is made of: shuffles, barriers, and on sm90 griddepcontrol.wait; loads as wide as its
chunks."""


def required(row):
    return ["SHFL", "BAR"] + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """A loop over lines and one over strips, of sums, of the largest and of its place, each chunk by one load."""
    columns = row["columns"]
    wide = sum(count for opcode, count in counter.items() if opcode.startswith("LDG") and ".128" in opcode)
    if columns["vector_bytes"] == 16 and wide < 6 * columns["vectors"]:
        yield "%d loads of 16 bytes instead of %d" % (wide, 6 * columns["vectors"])
