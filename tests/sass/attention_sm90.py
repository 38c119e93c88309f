# SPDX-License-Identifier: Apache-2.0
"""What the machine code of attention_sm90 is made of: wgmma, TMA loads, setmaxnreg, powers, griddepcontrol.wait; of 8 bits the
matrices that transpose V."""


def is_8bit(row):
    return row["type"] == "e4m3"


def required(row):
    common = ["UTMALDG", "USETMAXREG", "MUFU", "ACQBULK"]
    return common + (["QGMMA", "LDSM", "STSM"] if is_8bit(row) else ["HGMMA"])


def check(row, counter):
    """wgmmas stand in the code of each place once: two of scores, and one or two of what they weigh."""
    columns = row["columns"]
    step = 32 if is_8bit(row) else 16
    scores, outputs = columns["head_dim"] // step, columns["tile_n"] // step
    wgmmas = sum(count for opcode, count in counter.items() if opcode.startswith(("HGMMA", "QGMMA")))
    if wgmmas not in (2 * scores + outputs, 2 * scores + 2 * outputs):
        yield "%d wgmmas; of scores it has %d, of outputs %d" % (wgmmas, scores, outputs)
