# SPDX-License-Identifier: Apache-2.0
"""What the machine code of gemm_fp32 is made of: cp.async, FFMA, and loads from shared memory of 16 bytes alone."""
REQUIRED = ["LDGSTS", "LDS", "FFMA"]
LOAD = "LDS.128"


def required(_):
    return REQUIRED


def check(row, counter):
    """A step of K takes a load for every row and column of a thread."""
    columns = row["columns"]
    warp_m, warp_n = columns["tile_m"] // columns["warps_m"], columns["tile_n"] // columns["warps_n"]
    lanes_m = 8 if warp_m >= warp_n else 4
    want = warp_m // lanes_m + warp_n // (32 // lanes_m)
    if counter[LOAD] < want:
        yield "%d %s instead of %d" % (counter[LOAD], LOAD, want)
