# SPDX-License-Identifier: Apache-2.0
"""What the machine code of gemm_sm80 is made of: cp.async, ldmatrix, mma.sync."""


def required(row):
    """Of MN-major tf32 and tf32x3 nothing comes by ldmatrix."""
    turned = row["type"].startswith("tf32") and row["columns"]["layout"] == "nt"
    return ["LDGSTS", "LDS" if turned else "LDSM", "IMMA" if row["type"] == "int8" else "HMMA"]
