# SPDX-License-Identifier: Apache-2.0
"""What the machine code of reductions is made of: shuffles, barriers, and on sm90 griddepcontrol.wait; loads as wide as its
chunks."""


def required(row):
    return ["SHFL", "BAR"] + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """A loop over lines and one over strips, of values and of places, each chunk by one load; those of other CTAs' results are
    beside them, and strong."""
    columns = row["columns"]
    wide = sum(count for opcode, count in counter.items()
               if opcode.startswith("LDG") and ".128" in opcode and "STRONG" not in opcode)
    if columns["vector_bytes"] == 16 and wide < 4 * columns["vectors"]:
        yield "%d loads of 16 bytes instead of %d" % (wide, 4 * columns["vectors"])
