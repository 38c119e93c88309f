# SPDX-License-Identifier: Apache-2.0
"""What the machine code of gemm_fp32 is made of: cp.async, 16-byte loads from shared memory, FFMA."""
REQUIRED = ["LDGSTS", "LDS.128", "FFMA"]


def required(_):
    return REQUIRED
