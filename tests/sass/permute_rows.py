# SPDX-License-Identifier: Apache-2.0
"""What the machine code of copies of rows of any alignment is made of: on sm90 griddepcontrol.wait; two loads of 16 bytes and one
such store for each chunk of a thread, and funnel shifts between them."""


def required(row):
    return ["SHF"] + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    chunks = row["columns"]["vectors"]
    for opcode, wanted in (("LDG", 2 * chunks), ("STG", chunks)):
        found = sum(count for name, count in counter.items() if name.startswith(opcode) and ".128" in name)
        if found != wanted:
            yield "%d of %s of 16 bytes instead of %d" % (found, opcode, wanted)
