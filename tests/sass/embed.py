# SPDX-License-Identifier: Apache-2.0
"""What the machine code of embed is made of: on sm90 griddepcontrol.wait; loads as wide as its chunks."""


def required(row):
    return ["ACQBULK"] if row["arch"] == "sm90" else []


def check(row, counter):
    """Each chunk of the table by one load."""
    columns = row["columns"]
    wide = sum(count for opcode, count in counter.items() if opcode.startswith("LDG") and ".128" in opcode)
    if columns["vector_bytes"] == 16 and wide < columns["vectors"]:
        yield "%d loads of 16 bytes instead of %d" % (wide, columns["vectors"])
