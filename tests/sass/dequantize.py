# SPDX-License-Identifier: Apache-2.0
"""What the machine code of dequantize is made of: on sm90 griddepcontrol.wait; loads as wide as its chunks."""


def required(row):
    return ["ACQBULK"] if row["arch"] == "sm90" else []


def check(row, counter):
    """Each chunk of 8 elements of x by one load, and of out by one store, of which sm80 has one copy for all chunks."""
    columns = row["columns"]
    loads = sum(count for opcode, count in counter.items() if opcode.startswith("LDG") and ".64" in opcode)
    stores = sum(count for opcode, count in counter.items() if opcode.startswith("STG") and ".128" in opcode)
    copies = columns["vectors"] if row["arch"] == "sm90" else 1
    if columns["elements"] == 8 and (loads < columns["vectors"] or stores < 2 * copies):
        yield "%d loads of 8 bytes and %d stores of 16 instead of %d and %d" % (
            loads, stores, columns["vectors"], 2 * copies)
