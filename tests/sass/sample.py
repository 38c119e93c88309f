# SPDX-License-Identifier: Apache-2.0
"""What the machine code of sampling is made of: atomics of shared memory, which count candidates and bins; no approximation of a
logarithm or a power; on sm90 griddepcontrol.wait; loads as wide as its chunks."""


def required(row):
    return ["ATOMS", "REDUX"] + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """All chunks of a thread are loaded before the first is waited for."""
    columns = row["columns"]
    wide = sum(count for opcode, count in counter.items() if opcode.startswith("LDG") and ".128" in opcode)
    if columns["vector_bytes"] == 16 and wide < 2 * columns["vectors"]:
        yield "%d loads of 16 bytes instead of %d" % (wide, 2 * columns["vectors"])
    for opcode in counter:
        if opcode.startswith(("MUFU.EX2", "MUFU.LG2")):
            yield "%s: a token would depend on the GPU" % opcode
