# SPDX-License-Identifier: Apache-2.0
"""What the machine code of gemm_sm80 is made of: cp.async, ldmatrix, mma.sync."""
REQUIRED = ["LDGSTS", "LDSM", "HMMA"]


def required(_):
    return REQUIRED
