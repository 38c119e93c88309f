# SPDX-License-Identifier: Apache-2.0
"""The committed results of the bench and the laboratory."""

import json
import pathlib

PACKAGE = pathlib.Path(__file__).resolve().parent
FOLDERS = [PACKAGE / "results", PACKAGE.parents[2] / "bench/results"]  # of a wheel, of a checkout


def results(name=None):
    """Without a name: the names of all results, "h200/gemm-quick" and so on. With one: that result as a dict.

    What a member means is in bench/README.md of the sources; the version and revision that wrote it stand within.
    """
    folder = next((folder for folder in FOLDERS if folder.is_dir()), None)
    if folder is None:
        raise FileNotFoundError(f"there are no results in {' or '.join(map(str, FOLDERS))}")
    names = sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.json"))
    if name is None:
        return names
    if name not in names:
        raise KeyError(f"there is no result {name}; results() lists all {len(names)}")
    return json.loads((folder / f"{name}.json").read_text())
