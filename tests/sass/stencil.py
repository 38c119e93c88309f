# SPDX-License-Identifier: Apache-2.0
"""What the machine code of stencil is made of: multiplications that add, no local memory; on sm90 griddepcontrol.wait and
boxes of TMA."""


def required(row):
    return ["FFMA"] + (["ACQBULK", "UTMALDG"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """The taps of 5, 9, 7 and 27 points, once for each output of a thread, and no more than that."""
    columns, taps = 4, 5 + 9 + 7 + 27
    fma = sum(count for opcode, count in counter.items() if opcode.startswith("FFMA"))
    if fma != row["columns"]["rows"] * columns * taps:
        yield "%d multiplications that add instead of %d" % (fma, row["columns"]["rows"] * columns * taps)
