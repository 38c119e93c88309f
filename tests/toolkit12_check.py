#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every kernel with the oldest supported CUDA. PyPI has no nvcc 12, but it has NVRTC 12.

    toolkit12_check.py SOURCE_DIR BUILD_DIR LIBNVRTC [--all] [--ptx DIR]

One row of each template class is compiled, and of families with many classes of every third one and the first of each type,
with --all every row: rows of a class are the same code but for sizes. And each header beside a kernel's source is compiled alone, with the
columns of its first row: it includes what it uses. Device code includes no CUDA header, so NVRTC takes the same sources
with the same -D set as nvcc. A row passes when it compiles to a cubin for each of its targets, with no C75xx message and
no spills; and, where the build makes two cubins from one PTX, when the PTX for both is the same. With --ptx the PTX is kept
there, as <row>.<target>.ptx. Ends with "N passed, N failed, N skipped".
"""
import argparse
import ctypes
import glob
import os
import re
import sys
from concurrent.futures import ProcessPoolExecutor

from table import one_of_each_class, rows

# NVRTC has no <stdint.h>.
STDINT = b"""
#pragma once
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned uint32_t;
typedef unsigned long uint64_t; typedef unsigned long uintptr_t;
"""


MANY_CLASSES = 16


def thinned(chosen):
    """Every sixth row of a family that has many, as GEMM has, and the first of each type."""
    of_family = {family: [row for row in chosen if row["family"] == family] for family in {row["family"] for row in chosen}}
    kept = {row["name"] for rows_ in of_family.values() for row in (rows_[::6] if len(rows_) > MANY_CLASSES else rows_)}
    kept |= set({(row["family"], row["type"]): row["name"] for row in reversed(chosen)}.values())
    return [row for row in chosen if row["name"] in kept]


def options(source_dir, row, target):
    return ["-std=c++17", "-arch=" + target, "-I" + os.path.join(source_dir, "src"),
            "--ptxas-options=-v"] + ["-D" + define for define in row["defines"]]


def nvrtc_log(nvrtc, program):
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    return log.value.decode()


def nvrtc_ptx(nvrtc, program):
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, text)
    return text.value


def compile_row(library, source_dir, row, ptx_dir):
    """Problems of the row, as sentences; none is good."""
    nvrtc = ctypes.CDLL(library)
    problems, texts = [], {}
    for target, virtual in row["virtual"].items():
        wrong, ptx = compile_for(nvrtc, source_dir, row, target)
        problems += wrong
        texts.setdefault(virtual, set()).add(re.sub(rb"(?m)^\.target .*$", b"", ptx))
        if ptx_dir and ptx:
            with open(os.path.join(ptx_dir, "%s.%s.ptx" % (row["name"], target)), "wb") as file:
                file.write(ptx)
    return problems + ["other PTX than that for %s, of which its cubins are made: APART names no word of this row" % virtual
                       for virtual, ptx in texts.items() if len(ptx) > 1]


def compile_for(nvrtc, source_dir, row, target):
    """-> problems, the PTX."""
    path = os.path.join(source_dir, row["source"])
    with open(path, "rb") as file:
        text = b'#include "stdint.h"\n#line 1\n' + file.read()
    result, log, bytes_, ptx = compile_text(nvrtc, source_dir, row, target, path, text)
    if result != 0 or bytes_ == 0:
        return ["%s: NVRTC error %d\n%s" % (target, result, log)], ptx
    if "Used " not in log:
        return ["%s: NVRTC gave no ptxas report" % target], ptx
    problems = ["%s: ptxas says %s" % (target, code) for code in sorted(set(re.findall(r"C75\d\d", log)))]
    spills = re.findall(r".*[1-9]\d* bytes spill.*", log)
    return problems + ["%s spills: %s" % (target, line.strip()) for line in spills], ptx


def fragments(source_dir, table):
    """(header, row) of each header beside a kernel's source, by its path from src/."""
    rows_of_folder = {os.path.dirname(row["source"]): row for row in reversed(table)}
    for folder, row in sorted(rows_of_folder.items()):
        for path in sorted(glob.glob(os.path.join(source_dir, folder, "*.cuh"))):
            yield os.path.relpath(path, os.path.join(source_dir, "src")), row


def compile_alone(library, source_dir, header, row):
    target = next(target for target in row["targets"] if target.startswith("sm_"))
    text = b'#include "stdint.h"\n#include "' + header.encode() + b'"\n'
    result, log, _, _ = compile_text(ctypes.CDLL(library), source_dir, row, target, "alone.cu", text)
    return ["%s: NVRTC error %d\n%s" % (target, result, log)] if result != 0 else []


def compile_text(nvrtc, source_dir, row, target, path, text):
    """-> NVRTC's result, its log, the bytes of the cubin, the PTX."""
    program = ctypes.c_void_p()
    contents, names = (ctypes.c_char_p * 1)(STDINT), (ctypes.c_char_p * 1)(b"stdint.h")
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, path.encode(), 1, contents, names)
    flags = [option.encode() for option in options(source_dir, row, target)]
    result = nvrtc.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*flags))
    log = nvrtc_log(nvrtc, program)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    ptx = nvrtc_ptx(nvrtc, program) if result == 0 else b""
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return result, log, size.value, ptx


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("build")
    parser.add_argument("libnvrtc")
    parser.add_argument("--all", action="store_true", help="every row")
    parser.add_argument("--ptx", metavar="DIR")
    arguments = parser.parse_args()
    if arguments.ptx:
        os.makedirs(arguments.ptx, exist_ok=True)

    table = rows(arguments.build)
    chosen = table if arguments.all else thinned(one_of_each_class(table, arguments.build))
    major, minor = ctypes.c_int(), ctypes.c_int()
    ctypes.CDLL(arguments.libnvrtc).nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    failed = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [(row["name"], pool.submit(compile_row, arguments.libnvrtc, arguments.source, row, arguments.ptx))
                for row in chosen]
        jobs += [(header + " alone", pool.submit(compile_alone, arguments.libnvrtc, arguments.source, header, row))
                 for header, row in fragments(arguments.source, table)]
        for name, job in jobs:
            problems = job.result()
            print("%s CUDA %d.%d %s" % ("FAIL" if problems else "PASS", major.value, minor.value, name))
            print("".join("     %s\n" % problem for problem in problems), end="", flush=True)
            failed += bool(problems)
    print("%d of %d rows, one of each template class" % (len(chosen), len(table)) if len(chosen) < len(table) else "all rows")
    print("%d passed, %d failed, 0 skipped" % (len(jobs) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
