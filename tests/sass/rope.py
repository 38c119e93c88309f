# SPDX-License-Identifier: Apache-2.0
"""What the machine code of the rotary embedding is made of: shuffles and roots for the norm, and on sm90
griddepcontrol.wait; loads as wide as its chunks."""


def required(row):
    return ["SHFL", "MUFU"] + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """Two chunks of each head, each by one load."""
    columns = row["columns"]
    wide = sum(count for opcode, count in counter.items() if opcode.startswith("LDG") and ".128" in opcode)
    if columns["vector_bytes"] == 16 and wide < 2 * columns["heads"]:
        yield "%d loads of 16 bytes instead of %d" % (wide, 2 * columns["heads"])
