# SPDX-License-Identifier: Apache-2.0
"""What the machine code of attention_decode is made of: cp.async, ldmatrix, mma.sync, and on sm90 griddepcontrol.wait; with a
cache of e4m3 an instruction for each pair of its elements, as large as fp16."""


def required(row):
    return ["LDGSTS", "LDSM", "HMMA", "MUFU", "SHFL"] + (["ACQBULK"] if row["arch"] == "sm90" else [])


def check(row, counter):
    """A product has two pairs of keys' or values' elements; q, of e4m3, has some too."""
    if row["arch"] != "sm90" or row["type"] != "e4m3":
        return
    products = sum(count for opcode, count in counter.items() if opcode.startswith("HMMA"))
    pairs = sum(count for opcode, count in counter.items() if opcode.startswith("F2FP.F16.E4M3"))
    if pairs < 2 * products:
        yield "%d pairs of e4m3 become fp16 for %d products" % (pairs, products)
