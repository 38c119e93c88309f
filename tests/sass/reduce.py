# SPDX-License-Identifier: Apache-2.0
"""What the machine code of reductions is made of: shuffles, barriers, and on sm90 griddepcontrol.wait; loads as wide as its
chunks."""


def required(row):
    return ["SHFL", "BAR"] + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """A loop over lines and one over strips, of values and of places, of which four are under way at most, each chunk by one
    load; those of other CTAs' results are beside them, and strong."""
    columns = row["columns"]
    wide = sum(count for opcode, count in counter.items()
               if opcode.startswith("LDG") and ".128" in opcode and "STRONG" not in opcode)
    loads = 2 * (columns["vectors"] + min(columns["vectors"], 4))
    if columns["vector_bytes"] == 16 and wide < loads:
        yield "%d loads of 16 bytes instead of %d" % (wide, loads)
