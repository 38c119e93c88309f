# SPDX-License-Identifier: Apache-2.0
"""What the machine code of LayerNorm is made of: a root, shuffles, and on sm90 griddepcontrol.wait; loads as wide as its
chunks."""


def required(row):
    return ["MUFU", "SHFL"] + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """Chunks of x that stay in registers, each by one load."""
    columns = row["columns"]
    wide = sum(count for opcode, count in counter.items() if opcode.startswith("LDG") and ".128" in opcode)
    if columns["vector_bytes"] == 16 and wide < columns["vectors"]:
        yield "%d loads of 16 bytes instead of %d" % (wide, columns["vectors"])
