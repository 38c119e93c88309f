# SPDX-License-Identifier: Apache-2.0
"""What the machine code of gemm_sm80 is made of: cp.async, ldmatrix, mma.sync."""


def required(row):
    """Of MN-major tf32 and tf32x3 nothing comes by ldmatrix."""
    turned = row["type"].startswith("tf32") and row["columns"]["layout"] == "nt"
    return ["LDGSTS", "LDS" if turned else "LDSM", "IMMA" if row["type"] == "int8" else "HMMA"]


def check(row, counter):
    """A word of fp8 in a fragment becomes two pairs of fp16: of e4m3 by e4m3 each by an instruction from sm_89 on, else by two
    FMAs beside integer ones, which keep its NaN. A warp decodes a fragment once, whatever it is multiplied by."""
    if row["type"] not in ("e4m3", "e5m2"):
        return
    columns = row["columns"]
    m, n = columns["tile_m"] // columns["warps_m"], columns["tile_n"] // columns["warps_n"]
    products = sum(count for opcode, count in counter.items() if opcode.startswith("HMMA"))
    fma = sum(count for opcode, count in counter.items() if opcode.startswith("HFMA2"))
    native = sum(count for opcode, count in counter.items() if opcode.startswith("F2FP.F16.E4M3"))
    pairs = products * 32 * (m + n) // (m * n)
    if native < pairs and fma < 2 * pairs:
        yield "%d products are of %d pairs, which %d FMAs and %d conversions made" % (products, pairs, fma, native)
    if native > pairs * 5 // 4 or (not native and fma > 2 * pairs * 5 // 4):
        yield "%d FMAs and %d conversions for %d pairs: fragments are decoded again" % (fma, native, pairs)
