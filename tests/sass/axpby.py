# SPDX-License-Identifier: Apache-2.0
"""What the machine code of axpby is made of: on sm90 griddepcontrol.wait; copies past registers of 16, 8 and 4 bytes, for
chunks of 8 elements and of 4, and stores of 16."""


def required(row):
    return (["ACQBULK"] if row["arch"] == "sm90" else []) + (["LDGSTS"] if row["columns"]["elements"] > 1 else [])


def check(row, counter):
    """One copy of the code serves all chunks of a thread."""
    if row["columns"]["elements"] == 1:
        return
    copies = sum(count for opcode, count in counter.items() if opcode.startswith("LDGSTS"))
    stores = sum(count for opcode, count in counter.items() if opcode.startswith("STG") and ".128" in opcode)
    if copies < 5 or stores < 2:
        yield "%d copies and %d stores of 16 bytes instead of 5 and 2" % (copies, stores)
