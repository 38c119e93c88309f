# SPDX-License-Identifier: Apache-2.0
"""What the machine code of attention_sm90 is made of: wgmma, TMA loads, setmaxnreg, powers, griddepcontrol.wait."""


def required(_):
    return ["HGMMA", "UTMALDG", "USETMAXREG", "MUFU", "ACQBULK"]
