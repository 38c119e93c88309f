# SPDX-License-Identifier: Apache-2.0
"""What the machine code of moe_route is made of: reductions of a warp, exponentials, and on sm90 griddepcontrol.wait."""


def required(row):
    return ["REDUX", "MUFU"] + (["ACQBULK"] if row["arch"] == "sm90" else [])
