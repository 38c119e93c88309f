#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the Python package and the shared libraries of a build into a wheel, and prints its path.

    build_wheel.py BUILD OUT

The wheel's tag, manylinux_2_x, follows from the versions of the C library that the libraries say they need. What a
manylinux wheel must not need is refused: a C library newer than 2.28, other libraries, other places to look for them.
"""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "bindings/python/gristmill"
NEWEST_GLIBC = (2, 28)
# Of what PEP 600 lets a wheel expect of every system.
EXPECTED = {
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libz.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}
MACHINES = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"}


def version():
    text = (ROOT / "include/gristmill/core.h").read_text()
    return ".".join(
        re.search(rf"^#define GM_VERSION_{part} (\d+)$", text, re.M)[1] for part in ("MAJOR", "MINOR", "PATCH")
    )


# ---- libraries ------------------------------------------------------------------------------------------------------


class Library:
    """What a shared library says of itself."""

    def __init__(self, path):
        self.path = path
        text = subprocess.run(
            ["readelf", "-W", "-h", "-d", "-V", "--dyn-syms", path],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "LC_ALL": "C"},
        ).stdout
        self.needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
        self.soname = (re.findall(r"\(SONAME\).*\[(.*)\]", text) or [path.name])[0]
        self.runpath = [
            place for places in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", text) for place in places.split(":")
        ]
        self.machine = MACHINES.get(re.search(r"Machine:\s+(.*)", text)[1].strip())
        self.symbols = re.findall(r" UND (\w+)@GLIBC_([\d.]+)", text)  # (name, version)

    def refuse(self, what):
        sys.exit(f"build_wheel: {self.path.name} {what}")

    def check(self, ours):
        """Whether any system may load it; the version of glibc that it needs."""
        foreign = set(self.needed) - EXPECTED - ours
        if foreign:
            self.refuse(f"needs {', '.join(sorted(foreign))}, which a system need not have")
        elsewhere = [place for place in self.runpath if place not in ("", "$ORIGIN")]
        if elsewhere:
            self.refuse(f"looks for libraries in {elsewhere[0]}")
        if self.machine is None:
            self.refuse("is for a machine that has no wheels")
        newest = max((tuple(map(int, number.split("."))) for _, number in self.symbols), default=(2, 5))
        if newest > NEWEST_GLIBC:
            text = ".".join(map(str, newest))
            names = sorted(name for name, number in self.symbols if number == text)
            self.refuse(
                f"needs glibc {text} for {', '.join(names)}; a wheel may need {NEWEST_GLIBC[0]}.{NEWEST_GLIBC[1]}. "
                "cmake/OldGlibc.cmake binds symbols to older versions"
            )
        return newest


def libraries(build):
    """libgristmill, and whatever else of it the build has: the simulated GPU, operators for frameworks."""
    paths = {path.resolve() for path in build.glob("libgristmill*.so*")}
    found = {library.soname: library for library in map(Library, sorted(paths))}
    if not any(name.startswith("libgristmill.so.") for name in found):
        sys.exit(f"build_wheel: there is no libgristmill.so in {build}: build the target gristmill_shared")
    return found


# ---- the wheel ------------------------------------------------------------------------------------------------------


def metadata(number):
    lines = [
        "Metadata-Version: 2.4",
        "Name: gristmill",
        f"Version: {number}",
        "Summary: Hand-written GPU kernels for NVIDIA Hopper and Ampere, and a simulated GPU to run them on",
        "License-Expression: Apache-2.0",
        "License-File: LICENSE",
        "Requires-Python: >=3.9",
        "Provides-Extra: numpy",
        'Requires-Dist: numpy; extra == "numpy"',
        'Requires-Dist: ml_dtypes; extra == "numpy"',
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Programming Language :: Python :: 3",
        "Description-Content-Type: text/markdown",
        "",
    ]
    return "\n".join(lines) + "\n" + (ROOT / "docs/PYTHON.md").read_text()


def contents(found, number, tag):
    """(name in the wheel, bytes, whether it may be executed)."""
    for path in sorted(PACKAGE.glob("*.py")) + [PACKAGE / "py.typed"]:
        yield f"gristmill/{path.name}", path.read_bytes(), False
    for soname, library in sorted(found.items()):
        yield f"gristmill/lib/{soname}", library.path.read_bytes(), True
    results = ROOT / "bench/results"
    for path in sorted(results.rglob("*.json")):
        yield f"gristmill/results/{path.relative_to(results).as_posix()}", path.read_bytes(), False
    info = f"gristmill-{number}.dist-info"
    yield f"{info}/METADATA", metadata(number).encode(), False
    lines = ["Wheel-Version: 1.0", "Generator: build_wheel", "Root-Is-Purelib: false", f"Tag: {tag}", ""]
    yield f"{info}/WHEEL", "\n".join(lines).encode(), False
    yield f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes(), False


def write(path, files, record_name):
    """The same bytes from the same files: dates are SOURCE_DATE_EPOCH's, or 1980."""
    date = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as wheel:

        def add(name, data, executable):
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)

        for name, data, executable in files:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
            add(name, data, executable)
        add(record_name, "\n".join([*record, f"{record_name},,", ""]).encode(), False)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: build_wheel.py BUILD OUT")
    build, out = map(pathlib.Path, sys.argv[1:])
    found, number = libraries(build), version()
    newest = max(library.check(set(found)) for library in found.values())
    newest = max(newest, (2, 17))  # what installers know of at the least, for these machines
    machine = next(iter(found.values())).machine
    tag = f"py3-none-manylinux_{newest[0]}_{newest[1]}_{machine}"
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"gristmill-{number}-{tag}.whl"
    write(path, contents(found, number, tag), f"gristmill-{number}.dist-info/RECORD")
    print(path)


if __name__ == "__main__":
    main()
