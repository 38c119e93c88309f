# SPDX-License-Identifier: Apache-2.0
"""What the machine code of histograms is made of: increments of shared memory in which lanes share words, additions to global
memory, and on sm90 griddepcontrol.wait; loads as wide as its chunks."""

ELEMENT_BYTES = {"uint8": 1, "bf16": 2, "fp16": 2, "fp32": 4, "int32": 4, "int64": 8}


def required(row):
    return ["ATOMS", "BAR"] + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """A load for each chunk that is under way, an increment for each of its elements, and one for those at the edges."""
    vectors = row["columns"]["vectors"]
    wide = sum(count for opcode, count in counter.items() if opcode.startswith("LDG") and ".128" in opcode)
    if wide < vectors:
        yield "%d loads of 16 bytes instead of %d" % (wide, vectors)
    if not any(opcode.startswith(("RED.", "REDG.")) for opcode in counter):
        yield "no addition to global memory"
    increments = sum(count for opcode, count in counter.items() if opcode.startswith("ATOMS.POPC.INC"))
    wanted = vectors * 16 // ELEMENT_BYTES[row["type"]] + 1
    if increments != wanted:
        yield "%d increments instead of %d" % (increments, wanted)
