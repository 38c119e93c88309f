# SPDX-License-Identifier: Apache-2.0
"""What the machine code of gemv is made of: fp32 multiplication, and on sm90 griddepcontrol.wait."""
STREAM_LOAD = "LDG.E.NA.128"


def required(row):
    return ["FFMA", "ACQBULK"] if row["arch"] == "sm90" else ["FFMA"]


def check(row, counter):
    """The widest loads of B, which L1 does not keep: a ring of them ahead of the main loop, and one in it."""
    columns = row["columns"]
    want = 2 * columns["stages"] * (columns["tile_n"] // columns["warps_n"])
    if counter[STREAM_LOAD] < want:
        yield "%d %s instead of %d" % (counter[STREAM_LOAD], STREAM_LOAD, want)
