# SPDX-License-Identifier: Apache-2.0
"""What the machine code of attention_decode is made of: cp.async, ldmatrix, mma.sync, and on sm90 griddepcontrol.wait."""


def required(row):
    return ["LDGSTS", "LDSM", "HMMA", "MUFU", "SHFL"] + (["ACQBULK"] if row["arch"] == "sm90" else [])
