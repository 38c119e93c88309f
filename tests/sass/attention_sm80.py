# SPDX-License-Identifier: Apache-2.0
"""What the machine code of attention_sm80 is made of: cp.async, ldmatrix, mma.sync."""


def required(_):
    return ["LDGSTS", "LDSM", "HMMA", "MUFU", "SHFL"]
