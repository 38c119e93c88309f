# SPDX-License-Identifier: Apache-2.0
"""What the machine code of moe_align is made of: additions to shared memory, lanes of one expert found by one instruction, and on
sm90 griddepcontrol.wait."""


def required(row):
    return ["ATOMS", "MATCH"] + (["ACQBULK"] if row["arch"] == "sm90" else [])
