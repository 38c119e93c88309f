# SPDX-License-Identifier: Apache-2.0
"""What the machine code of attention_sm90 is made of: wgmma, TMA loads, powers, griddepcontrol.wait; setmaxnreg where a CTA has
its SM; of 8 bits the matrices that transpose V."""


def is_8bit(row):
    return row["type"] == "e4m3"


def is_alone(row):
    return row["columns"]["ctas"] > 1


def required(row):
    common = ["UTMALDG", "MUFU", "ACQBULK"] + ([] if is_alone(row) else ["USETMAXREG"])
    return common + (["QGMMA", "LDSM", "STSM"] if is_8bit(row) else ["HGMMA"])


def check(row, counter):
    """wgmmas stand in the code of each place once: two of scores, and one or two of what they weigh; one of each where they
    follow each other."""
    columns = row["columns"]
    step = 32 if is_8bit(row) else 16
    scores, outputs = columns["head_dim"] // step, columns["tile_n"] // step
    wgmmas = sum(count for opcode, count in counter.items() if opcode.startswith(("HGMMA", "QGMMA")))
    places = [(1, 1)] if columns["issue"] == "serial" else [(2, 1), (2, 2)]
    if wgmmas not in [of_scores * scores + of_outputs * outputs for of_scores, of_outputs in places]:
        yield "%d wgmmas; of scores it has %d, of outputs %d" % (wgmmas, scores, outputs)
