# SPDX-License-Identifier: Apache-2.0
"""What the machine code of convolution is made of: multiplications that add; on sm90 griddepcontrol.wait and boxes of TMA."""


def required(row):
    return ["FFMA"] + (["ACQBULK", "UTMALDG"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """The taps of filters of any width, and on sm90 of 3, 5, 7, once for each output of a thread."""
    columns, taps = 4, (3 + 5 + 7 if row["arch"] == "sm90" else 0) + 8
    fma = sum(count for opcode, count in counter.items() if opcode.startswith("FFMA"))
    if fma < row["columns"]["rows"] * columns * taps:
        yield "%d multiplications that add instead of %d" % (fma, row["columns"]["rows"] * columns * taps)
