# SPDX-License-Identifier: Apache-2.0
"""What the machine code of process_logits is made of: penalties, and on sm90 griddepcontrol.wait; loads and stores as wide as its
chunks."""


def required(row):
    return ["FFMA", "MUFU"] + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """A load of logits for each chunk that is under way, and one of its counts, as wide beside 16-bit logits."""
    columns = row["columns"]
    each = 1 if row["type"] == "fp32" else 2
    wide = sum(count for opcode, count in counter.items() if opcode.startswith("LDG") and ".128" in opcode)
    if columns["vector_bytes"] == 16 and wide < each * columns["vectors"]:
        yield "%d loads of 16 bytes instead of %d" % (wide, each * columns["vectors"])
