# SPDX-License-Identifier: Apache-2.0
"""What the machine code of attention_merge is made of: special functions, multiplications that add, and on sm90
griddepcontrol.wait; loads as wide as its chunks."""


def required(row):
    return ["FFMA", "MUFU"] + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """A chunk of a and one of b of each token that is under way, each by one load."""
    columns = row["columns"]
    wide = sum(count for opcode, count in counter.items() if opcode.startswith("LDG") and ".128" in opcode)
    if columns["vector_bytes"] == 16 and wide < 2 * columns["tokens"]:
        yield "%d loads of 16 bytes instead of %d" % (wide, 2 * columns["tokens"])
