# SPDX-License-Identifier: Apache-2.0
"""What the machine code of attention_mla_sm90 is made of: wgmma, TMA loads, cp.async, setmaxnreg, fragments by stmatrix and ldmatrix,
powers, griddepcontrol.wait."""


def required(_):
    return ["HGMMA", "UTMALDG", "LDGSTS", "USETMAXREG", "STSM", "LDSM", "MUFU", "ACQBULK"]
