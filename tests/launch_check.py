#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `gristmill sim launch` and `gristmill lab count` on the kernels of tests/launch/kernels.cu: what they print, and each
way to call them wrongly. Nsight Compute is played by a script.

    launch_check.py PROGRAM --nvcc NVCC [--nvrtc FOLDER]

The last line is "N passed, N failed, N skipped". Without --nvrtc, a folder that holds libnvrtc, the case of it is skipped.
"""
import argparse
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent / "launch" / "kernels.cu"
TRANSPOSE = ("transpose --grid 2,2 --block 32,32 --args {out} buffer:f32:64x64:iota i32:64",
             "out:f32:64x64")
SHAPE = "--grid 1 --block 32"


def line_of(text):
    """kernels.cu:LINE of the line that holds the text."""
    lines = SOURCE.read_text().splitlines()
    return f"kernels.cu:{1 + next(n for n, line in enumerate(lines) if text in line)}"


def floats(*values):
    return struct.pack(f"{len(values)}f", *values)


class Checks:
    def __init__(self, program, nvcc, folder):
        self.program, self.nvcc, self.folder = program, nvcc, folder
        self.passed = self.failed = 0
        self.home = nvcc.parent.parent  # where CUDA_HOME points

    def run(self, words, home=None):
        environment = dict(os.environ, CUDA_HOME=str(home or self.home), LC_ALL="C.UTF-8")
        environment.pop("GM_DRIVER", None)
        return subprocess.run([self.program, "sim", "launch", *words.split()], cwd=self.folder, env=environment,
                              text=True, capture_output=True)

    def count(self, words, **environment):
        """`gristmill lab`, for which the simulated GPU stands in for a real one."""
        environment = dict(os.environ, CUDA_HOME=str(self.home), LC_ALL="C.UTF-8", GM_DRIVER="sim", NCU="./ncu",
                           TMPDIR=str(self.folder)) | environment
        return subprocess.run([self.program, "lab", *words.split()], cwd=self.folder, env=environment, text=True,
                              capture_output=True)

    def expect(self, name, code, words, said=(), unsaid=(), home=None):
        """The exit code, and what stands in the output or on stderr."""
        self.judge(name, self.run(words, home), code, said, unsaid)

    def expect_count(self, name, code, words, said=(), unsaid=(), **environment):
        """The same of `gristmill lab`; its compiled files are gone."""
        self.judge(name, self.count(words, **environment), code, said, unsaid)
        self.judge(f"{name}: nothing is left", subprocess.run("! ls gristmill-*.ptx", shell=True, cwd=self.folder, text=True,
                                                              capture_output=True), 0, (), ())

    def judge(self, name, result, code, said, unsaid):
        output = result.stdout + result.stderr
        flat = " ".join(output.split())
        missing = [text for text in said if " ".join(text.split()) not in flat]
        present = [text for text in unsaid if text in output]
        if result.returncode == code and not missing and not present:
            self.passed += 1
            print(f"PASS {name}")
            return
        self.failed += 1
        print(f"FAIL {name}: exit code {result.returncode} instead of {code}, not said: {missing}, said: {present}")
        print("".join(f"     {line}\n" for line in output.splitlines()), end="")

    def expect_bytes(self, name, file, wanted):
        got = (self.folder / file).read_bytes()
        self.passed += got == wanted
        self.failed += got != wanted
        print(f"{'PASS' if got == wanted else 'FAIL'} {name}")


def check_findings(checks):
    """What is printed of kernels that run."""
    store, load = line_of("= in[y * n + x]"), line_of("= tile[threadIdx.x]")
    transposed = floats(*(float(column * 64 + row) for row in range(64) for column in range(64)))
    (checks.folder / "right").write_bytes(transposed)
    (checks.folder / "wrong").write_bytes(transposed[:-4] + floats(7))
    words, out = TRANSPOSE
    checks.expect("a table by source line, and cures of its conflicts", 0,
                  "kernels.ptx " + words.format(out=out + ":print=4:save=saved"),
                  ["seed 0: 0 reports", f"{store} st.shared 4 128 128 128 0 1.00 tile[threadIdx.y]",
                   f"{load} ld.shared 4 128 4096 128 3968 32.00 out[",
                   f"{store} ld.global 4 128 512 512 4.00 4.00", f"{load} st.global 4 128 512 512 4.00 4.00",
                   "tile, rows of 128 bytes: 4 bytes more a row (33 elements of 4 bytes instead of 32)",
                   f"{load}: 4096 wavefronts become 128, the ideal", "Swizzle<5,2,5>", "0 64 128 192 ..."],
                  [f"{store}: "])
    checks.expect_bytes("a saved buffer", "saved", transposed)
    checks.expect("a buffer as it should be", 0, "kernels.ptx " + words.format(out=out + ":compare=right:save=x"))
    checks.expect("a buffer as it should not be", 1, "kernels.ptx " + words.format(out=out + ":compare=wrong"),
                  ["element 4095 is 4095 instead of 7; 1 of 4096 are wrong"])
    checks.expect("a race, by source line", 1,
                  f"kernels.ptx race --grid 1 --block 64 --shared 256 --seeds 2 --args {out} buffer:f32:64:ones",
                  ["seed 1:", f"read-before-written, {line_of('shifted[(')}", f"wrote it at {line_of('shifted[threadIdx.x] =')}",
                   "out[threadIdx.x] = shifted[(threadIdx.x + 1)"])
    checks.expect("out of bounds", 1, f"kernels.ptx beyond {SHAPE} --seeds 3 --args out:f32:32 buffer:f32:32:iota",
                  [f"out-of-bounds, {line_of('in[threadIdx.x + 1]')}", "the launch ended with CUDA_ERROR_ILLEGAL_ADDRESS",
                   "byte 128 of an allocation of 128 bytes"], ["seed 1"])
    checks.expect("what was never written", 1, f"kernels.ptx beyond {SHAPE} --no-table --args out:f32:32 out:f32:64",
                  [f"uninitialised, {line_of('in[threadIdx.x + 1]')}"], ["global memory, by source line"])
    checks.expect("cures of vectors, in dynamic shared memory", 0,
                  f"kernels.ptx vectors {SHAPE} --shared 4096 --args out:f32:1024 buffer:f32:1024:iota",
                  ["rows, rows of 128 bytes: 16 bytes more a row (9 elements of 16 bytes instead of 8) "
                   f"{line_of('rows[threadIdx.x * 8 + i] =')}: 256 wavefronts become 32, the ideal",
                   "rows: Swizzle<3,4,3> of its byte offsets, and no byte more: o ^ (o >> 3 & 0x70)"])
    checks.expect("conflicts that nothing cures", 0, f"kernels.ptx scattered {SHAPE} --args out:f32:32 buffer:f32:1024:iota",
                  [f"{line_of('some[threadIdx.x * 2654435761u')} ld.shared"], ["cure"])
    checks.expect("without line numbers", 0, "plain.ptx " + words.format(out=out), ["PTX ", "-lineinfo makes nvcc", "ld.shared 4 128 4096"],
                  ["kernels.cu"])


def check_transcript(checks):
    """The listing and the transcript of docs/SIMULATOR.md: what is printed today, but for times and lines of PTX."""
    page = (SOURCE.parent.parent.parent / "docs" / "SIMULATOR.md").read_text()
    listing, transcript = re.search(r"## Your own kernel.*?```cuda\n(.*?)```\n.*?```text\n(.*?)```", page, re.DOTALL).groups()
    command, _, shown = transcript.partition("\n")
    (checks.folder / "transpose.cu").write_text(listing)
    printed = checks.run(command.removeprefix("$ gristmill sim launch ")).stdout
    plain = [re.sub(r"PTX line \d+|[\d.]+ s$", "", text, flags=re.MULTILINE) for text in (shown, printed)]
    checks.passed += plain[0] == plain[1]
    checks.failed += plain[0] != plain[1]
    print(f"{'PASS' if plain[0] == plain[1] else 'FAIL'} the transcript of docs/SIMULATOR.md")
    if plain[0] != plain[1]:
        print("".join(f"     {line}\n" for line in printed.splitlines()), end="")


def check_arguments(checks):
    """Every kind of argument reaches the kernel."""
    (checks.folder / "pair").write_bytes(struct.pack("fi", 2, 5))
    (checks.folder / "four").write_bytes(floats(1, 2, 3, 4))
    checks.expect("a struct from a file, and numbers", 0,
                  f"kernels.ptx _Z6scaledIiEvPT_4pairdhx {SHAPE} --device rtx4090 --args out:i32:32:save=scaled "
                  "file:pair f64:1.5 u8:250 i64:-7",
                  ["251 252 253 254 255 256 257 258 ..."])
    checks.expect_bytes("its results", "scaled", struct.pack("32i", *range(251, 283)))
    checks.expect("a buffer from a file, printed whole", 0,
                  "kernels.ptx turned --grid 1 --block 4 --device a100 --sms 1 --schedule seed=4 --no-table "
                  "--args buffer:f32:4:zero:print buffer:f32:4:file=four", ["seed 4:", "2 3 4 1"], ["..."])
    for fill, wanted in (("ones", "1 1 1 1"), ("random=3", ""), ("random", "")):
        checks.expect(f"filled with {fill}", 0, f"kernels.ptx turned --grid 1 --block 4 --no-table --args "
                                                f"out:f32:2x2 buffer:f32:4:{fill}:print=4", [wanted])
    checks.expect("beside a kernel that cannot be simulated", 0, f"mixed.cu silent {SHAPE} --args out:i32:32",
                  ["0 1 2 3 4 5 6 7 ..."])
    checks.expect("a kernel that prints and calls", 0, "mixed.cu speaks --grid 1 --block 4 --args out:i32:4",
                  ["the square is 0 the square is 1 the square is 4 the square is 9 seed 0:", "0 1 4 9"])
    checks.expect("clusters that a kernel was compiled for", 0, "mixed.cu rank --grid 4 --block 32 --args out:u32:4",
                  ["0 1 0 1"])
    checks.expect("no parameters at all", 0, f"kernels.ptx empty {SHAPE} --cluster 1", ["0 reports"])


def check_refusals(checks):
    """Each command line that makes no sense, with its sentence."""
    for words, said in {
            "": "say which file",
            "kernels.ptx race": "say how many blocks and threads",
            f"kernels.ptx race more {SHAPE}": "one kernel of one file, and not more as well",
            "kernels.ptx race --grid 0 --block 1": "--grid is X, X,Y or X,Y,Z",
            "kernels.ptx race --grid 1,2,3,4 --block 1": "--grid is X, X,Y or X,Y,Z",
            "kernels.ptx race --grid 1 --block 1, --args": "--block is X, X,Y or X,Y,Z",
            "kernels.ptx race --grid 1 --block 1 --cluster x": "--cluster is X, X,Y or X,Y,Z",
            "kernels.ptx race --grid 1 --block 1 --schedule often": "--schedule is seed=N",
            f"kernels.ptx {SHAPE}": "kernels.ptx holds 9 kernels; say which:",
            f"kernels.ptx nothing {SHAPE}": "kernels.ptx holds no kernel nothing; it has:",
            f"kernels.ptx scaled {SHAPE}": "2 kernels of kernels.ptx are named scaled; say which by its whole name:",
            f"kernels.ptx race {SHAPE}": "race has 2 parameters, and --args gives 0",
            f"kernels.ptx race {SHAPE} --args out:f32:32 f32:1": "parameter 2 of race is a pointer or a 64-bit integer",
            f"kernels.ptx transpose {SHAPE} --args out:f32:4 out:f32:4 f32:1": "parameter 3 of shapes::transpose is an "
                                                                               "integer of 32 bits, and f32:1 is not",
            f"kernels.ptx _Z6scaledIiEvPT_4pairdhx {SHAPE} --args out:i32:4 i64:1 i64:1 u8:1 i64:1":
                "parameter 3 of scaled is f64, and i64:1 is not",
            f"kernels.ptx _Z6scaledIiEvPT_4pairdhx {SHAPE} --args out:i32:4 i32:1 f64:1 u8:1 i64:1":
                "parameter 2 of scaled is 8 bytes (a struct",
            "kernels.ptx empty --grid 1 --block 64,32": "--block 64,32 is 2048 threads; a block has 1024 at most",
            f"kernels.ptx empty {SHAPE} --args {'i32:1 ' * 65}": "more than 64 arguments",
            f"kernels.ptx race {SHAPE} --args f128:1": "an argument begins with buffer:, out:, file: or a type",
            f"kernels.ptx race {SHAPE} --args i32": "the value is no number of this type",
            f"kernels.ptx race {SHAPE} --args i8:128": "the value is no number of this type",
            f"kernels.ptx race {SHAPE} --args u32:-1": "the value is no number of this type",
            f"kernels.ptx race {SHAPE} --args f32:1x": "the value is no number of this type",
            f"kernels.ptx race {SHAPE} --args out:int:4": "an element's type is i8, u8",
            f"kernels.ptx race {SHAPE} --args out": "an element's type is i8, u8",
            f"kernels.ptx race {SHAPE} --args out:f32": "behind the type stands how many elements",
            f"kernels.ptx race {SHAPE} --args out:f32:4x0": "behind the type stands how many elements",
            f"kernels.ptx race {SHAPE} --args out:f64:4294967296": "of 4 GiB at most",
            f"kernels.ptx race {SHAPE} --args out:f32:4:full": "behind the count stand zero, ones",
            f"kernels.ptx race {SHAPE} --args out:f32:4:print=x": "behind the count stand zero, ones",
            f"kernels.ptx race {SHAPE} --args file:absent": "cannot read absent: No such file"}.items():
        checks.expect(f"refused: {words[:70]}", 2, words, [said])
    two = f"kernels.ptx race {SHAPE} --shared 128 --args out:f32:32"
    for words, said in {
            f"absent.ptx race {SHAPE}": "cannot read absent.ptx: No such file",
            f"absent.cu race {SHAPE}": "cannot read absent.cu: No such file",
            f"odd.ptx f {SHAPE}": "cannot read the PTX of odd.ptx: unsupported: frobnicate.b32 at line 5: frobnicate.b32;",
            f"mixed.cu takes {SHAPE} --args buffer:u64:1": "unsupported: call of malloc at line",
            f"func.ptx f {SHAPE}": "func.ptx holds no kernel",
            f"none.ptx f {SHAPE}": "none.ptx holds no kernel",
            f"newer.ptx f {SHAPE} --device h200": "the PTX of newer.ptx is for another GPU than a simulated h200",
            f"kernels.ptx empty {SHAPE} --device v100": "not v100",
            "required.ptx f --grid 1 --block 32": "f is compiled for blocks of 64,1,1 threads",
            f"kernels.ptx empty {SHAPE} --shared 167936 --device a100": "a block of NVIDIA A100",
            f"kernels.ptx empty {SHAPE} --cluster 32": "the launch ended with CUDA_ERROR",
            two + " buffer:f32:32:file=kernels.cu": "and buffer:f32:32:file=kernels.cu is a buffer of 128",
            two + ":compare=kernels.cu buffer:f32:32:ones": "kernels.cu has",
            two + ":save=/absent/x buffer:f32:32:ones": "cannot write /absent/x: No such file"}.items():
        checks.expect(f"fails: {words[:70]}", 2 if said.startswith(("none.ptx", "func.ptx", "f is")) else 1, words, [said])


def packed(kind, values):
    """Small integers as fp32, fp16 or bf16."""
    form, first = {"f32": ("<f", 0), "f16": ("<e", 0), "bf16": ("<f", 2)}[kind]
    return b"".join(struct.pack(form, value)[first:] for value in values)


def check_matrices(checks):
    """wmma: what comes out, whatever a fragment's layout is."""
    for name, m, n, kind, to, layouts in (("square", 16, 16, "f16", "f32", (1, 0, 1)), ("wide", 8, 32, "f16", "f16", (0, 1, 0)),
                                          ("tall", 32, 8, "bf16", "f32", (1, 1, 0)), ("turned", 16, 16, "bf16", "f32", (0, 0, 1))):
        a = [[(3 * row + 5 * k) % 7 - 3 for k in range(16)] for row in range(m)]
        b = [[(5 * k + 2 * column) % 5 - 2 for column in range(n)] for k in range(16)]
        d = [[2 * (1 + sum(a[row][k] * b[k][column] for k in range(16))) for column in range(n)] for row in range(m)]
        for file, matrix, by_rows, form in (("a", a, layouts[0], kind), ("b", b, layouts[1], kind), ("d", d, layouts[2], to)):
            rows = matrix if by_rows else zip(*matrix)
            (checks.folder / file).write_bytes(packed(form, [value for row in rows for value in row]))
        checks.expect(f"wmma: {name}", 0, f"matrices.ptx {name} {SHAPE} --device a100 --counters --args out:{to}:{m * n}:compare=d "
                      f"buffer:{kind}:{m * 16}:file=a buffer:{kind}:{n * 16}:file=b",
                      ["1 smsp__warps_launched.sum", "- l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"])
    checks.expect("wmma of bytes", 1, f"matrices.ptx bytes {SHAPE} --device a100 --args out:i32:32 buffer:i8:256:iota",
                  ["unsupported: wmma.load.a.sync.aligned.row.m16n16k16.global.s8 at line"])


NCU = """#!/bin/sh
[ "$1" = --version ] && { echo 'Version 2025.3.1.0 (build 1)'; exit 0; }
echo "$@" > arguments
table=ncu.csv
while [ "$1" != --metrics ] && [ "$1" != --section ]; do shift; done
[ "$1" = --section ] && table=lines.csv
shift 2
"$@" && cat $table
"""
METRICS = {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "4,096",
           "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum": "0",
           "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": "3,968",
           "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "512"}


def write_counts(folder, kernel, counts):
    """What the script prints: Nsight Compute's table of one launch."""
    rows = ("ID", "Kernel Name", *counts), ("",) * (2 + len(counts)), ("0", kernel, *counts.values())
    (folder / "ncu.csv").write_text("==PROF== Connected\n" + "".join(
        ",".join(f'"{field}"' for field in row) + "\n" for row in rows))


LINES = """==PROF== Connected
"File Path","/somewhere/kernels.cu"
"Function Name","transpose"
"Line No","Source","Address","Source","# Samples","L1 Wavefronts Shared","L1 Wavefronts Shared Ideal","L2 Theoretical Sectors Global",\
"stall_barrier","stall_mio","stall_short_sb (Not Issued)"
"STORE","tile[""y""]","-","","9","128","128","512","3","4","2"
"","","0x10","LDG.E R1, [R2]","9","0","0","512","","",""
"LOAD","out[]","-","","17","COUNT","128","512","1","4","12"
"99","n","-","","0","0","0","0","0","0","0"
"""


def check_counted_lines(checks, words):
    """`gristmill lab count --lines`: the same by line of the source."""
    (checks.folder / "ncu").write_text(NCU)
    store, load = line_of("= in[y * n + x]"), line_of("= tile[threadIdx.x]")
    rows = LINES.replace("STORE", store.split(":")[1])
    for wavefronts, said, code in (("4,096", "=", 0), ("4095", "differs", 1)):
        (checks.folder / "lines.csv").write_text(rows.replace("LOAD", load.split(":")[1]).replace("COUNT", wavefronts))
        checks.expect_count(f"lines: {said}", code, "count --lines --verify " + words,
                            [f"{store} 128 128 128 128 512 512 = 9 mio",
                             f"{load} 4096 {wavefronts.replace(',', '')} 128 128 512 512 {said} 17 short_sb"], ["kernels.cu:99"])
    (checks.folder / "lines.csv").write_text(rows.replace("LOAD", "98").replace("COUNT", "7"))
    checks.expect_count("lines that only one side has", 0, "count --lines " + words,
                        [f"{load} 4096 0 128 0 512 0 differs 0 kernels.cu:98 0 7 0 128 0 512 differs 17 short_sb"])
    (checks.folder / "lines.csv").write_text("==ERROR== no page\n")
    checks.expect_count("no lines", 1, "count --lines " + words, ["nothing was counted: Nsight Compute failed: no page"])


def check_counting(checks):
    """`gristmill lab count`: predicted beside counted."""
    words, out = TRANSPOSE
    words = "kernels.cu " + words.format(out=out)
    (checks.folder / "ncu").write_text(NCU)
    (checks.folder / "ncu").chmod(0o755)
    kernel = "_ZN6shapes9transposeEPfPKfi"
    write_counts(checks.folder, kernel, METRICS)
    checks.expect_count("counts that are as predicted", 0, "count --verify " + words,
                        ["shapes::transpose of kernels.cu: predicted by the simulated h100, counted on NVIDIA H100",
                         "by Nsight Compute 2025.3.1.0", "wavefronts of loads 4096 4096 = smsp__sass_l1tex_data",
                         "conflicts of loads, pipe 3968 3968 = l1tex__data_bank_conflicts",
                         "global sectors loaded 512 512 =", "global sectors stored 512 – not counted",
                         "equal: 4, of which 0 and not shown: 1; different: 0; not claimed by the simulator: 0; not counted: 18"],
                        ["wavefronts of atomics "])
    asked = (checks.folder / "arguments").read_text()
    checks.judge("what the profiler is asked", subprocess.CompletedProcess((), 0, asked, ""), 0,
                 ["--clock-control none", f"--kernel-name-base mangled --kernel-name {kernel} --print-kernel-base mangled",
                  f"{kernel} --device 0 --grid 2,2 --block 32,32 --shared 0 --args {out} buffer:f32:64x64:iota i32:64"], ())
    check_counted_lines(checks, words)
    write_counts(checks.folder, kernel, METRICS | {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "511"})
    checks.expect_count("a count that is not as predicted", 0, "count " + words, ["512 511 differs", "different: 1;"])
    checks.expect_count("the same, to be verified", 1, "count " + words + " --verify", ["512 511 differs"])
    checks.expect_count("counters of another GPU are not asked for", 0, "count --timeout 100 " + words, ["not counted: 15"],
                        ["wgmma", "TMA"], GM_SIM_DEVICE="a100")
    write_counts(checks.folder, "_Z4racePfPKf", METRICS)
    checks.expect_count("a kernel with a race, of a PTX file", 0, "count kernels.ptx race --like h200 --grid 1 --block 64 "
                        f"--shared 256 --args {out} buffer:f32:64:ones",
                        ["predicted by the simulated h200", "reports of this launch; `gristmill sim launch` prints them"],
                        GM_SIM_REPORTS="quiet")
    checks.expect_count("no GPU", 1, "count " + words, ["counting needs a GPU: there is no driver where GM_DRIVER says"],
                        GM_DRIVER="/absent/libcuda.so")
    checks.expect_count("no profiler", 1, "count " + words, ["counting needs Nsight Compute: NCU=/absent does not run"],
                        NCU="/absent")
    checks.expect_count("no such device", 1, "count --device 7 " + words, ["gm_context_create"])
    checks.expect_count("a simulated launch that fails", 1, f"count kernels.ptx beyond {SHAPE} --args out:f32:32 "
                        "buffer:f32:32:iota", ["out-of-bounds", "the simulated launch failed"])
    checks.expect_count("a kernel that is not there", 2, f"count kernels.ptx nothing {SHAPE}", ["holds no kernel nothing"])
    checks.expect_count("a file that is not there", 1, f"count absent.cu f {SHAPE}", ["cannot read absent.cu"])
    checks.expect_count("a simulation that takes too long", 1, "count --timeout 0 " + words,
                        ["the simulated launch took more than 0 s and was stopped"])
    checks.expect_count("another kernel in the profiler's table", 1, "count " + words,
                        [f"nothing was counted: Nsight Compute's launch 1 is _Z4racePfPKf, not {kernel}"])
    (checks.folder / "ncu").write_text(NCU.replace("cat $table", "echo ==ERROR== ERR_NVGPUCTRPERM"))
    checks.expect_count("counters that are forbidden", 1, "count " + words,
                        ["nothing was counted: this user may not read the GPU's counters (ERR_NVGPUCTRPERM)"])
    for line, said in {"": "say which file", "kernels.ptx race": "say how many blocks", "kernels.ptx race --often": "often",
                       f"kernels.ptx race {SHAPE} --args f128:1": "an argument begins with"}.items():
        checks.expect_count(f"count refused: {line}", 2, "count " + line, [said])
    launch = "count-launch kernels.ptx "
    for line, code, said in ((f"count-launch kernels.ptx {SHAPE}", 2, "takes a file and a kernel"),
                             (launch + f"f {SHAPE} --args x", 2, "an argument begins with"),
                             (f"count-launch absent.ptx f {SHAPE}", 1, "cannot read absent.ptx"),
                             (launch + f"f {SHAPE}", 1, "f of kernels.ptx does not load on NVIDIA H100"),
                             (launch + f"_Z5emptyv {SHAPE} --shared 999999", 1, "999999 bytes of dynamic shared memory are refused"),
                             (launch + f"empty {SHAPE} --device 7", 1, "gm_context_create"),
                             (launch + f"_Z5emptyv {SHAPE} --cluster 32", 1, "the launch failed: CUDA_ERROR")):
        checks.expect_count(f"not launched: {line}", code, line, [said])
    checks.expect("the simulator's own counters", 0, f"kernels.ptx empty {SHAPE} --counters",
                  ["counters of _Z5emptyv, by Nsight Compute's names (-: not claimed) 1 smsp__warps_launched.sum"])


def check_compilers(checks, nvrtc):
    """A .cu by nvcc, by NVRTC, and by neither."""
    words, out = TRANSPOSE
    checks.expect("compiled by nvcc", 0, "kernels.cu " + words.format(out=out) + " --device a100 --flags -O3",
                  [line_of("= tile[threadIdx.x]")])
    checks.expect("a .cu that does not compile", 1, f"broken.cu f {SHAPE}", ["could not compile broken.cu", "broken.cu(1)"])
    empty = checks.folder / "home"
    (empty / "bin").mkdir(parents=True)
    checks.expect("no compiler", 1, "kernels.cu " + words.format(out=out),
                  ["there is no nvcc", "nvcc -ptx -lineinfo -arch=sm_90a kernels.cu` makes a .ptx file"], home=empty)
    if not nvrtc:
        return 1
    (empty / "lib64").symlink_to(nvrtc.resolve())
    checks.expect("compiled by NVRTC", 0, "kernels.cu " + words.format(out=out) + " --device a100",
                  [line_of("= tile[threadIdx.x]")], home=empty)
    checks.expect("a .cu that NVRTC cannot compile", 1, f"broken.cu f {SHAPE}", ["NVRTC could not compile broken.cu"],
                  home=empty)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--nvcc", type=pathlib.Path, required=True)
    parser.add_argument("--nvrtc", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        checks = Checks(options.program.resolve(), options.nvcc.resolve(), folder)
        (folder / "kernels.cu").write_bytes(SOURCE.read_bytes())
        (folder / "mixed.cu").write_bytes((SOURCE.parent / "mixed.cu").read_bytes())
        (folder / "broken.cu").write_text("__global__ void f() { this is no code }\n")
        head = ".version 8.0\n.target {}\n.address_size 64\n"
        (folder / "func.ptx").write_text(head.format("sm_80") + ".func f() { ret; }\n")
        (folder / "odd.ptx").write_text(head.format("sm_80") + ".entry f() {\nfrobnicate.b32;\nret; }\n")
        (folder / "none.ptx").write_text(head.format("sm_80"))
        (folder / "newer.ptx").write_text(head.format("sm_100") + ".entry f() { ret; }\n")
        (folder / "required.ptx").write_text(head.format("sm_80") + ".entry f() .reqntid 64 { ret; }\n")
        (folder / "matrices.cu").write_bytes((SOURCE.parent / "matrices.cu").read_bytes())
        for file, source, flags in (("kernels.ptx", "kernels.cu", ["-lineinfo"]), ("plain.ptx", "kernels.cu", []),
                                    ("matrices.ptx", "matrices.cu", ["-std=c++17"])):
            subprocess.run([checks.nvcc, "-ptx", *flags, "-arch=sm_80", "-o", file, source], cwd=folder, check=True)
        check_findings(checks)
        check_transcript(checks)
        check_arguments(checks)
        check_refusals(checks)
        check_matrices(checks)
        check_counting(checks)
        skipped = check_compilers(checks, options.nvrtc)
    print(f"{checks.passed} passed, {checks.failed} failed, {skipped} skipped")
    return checks.failed > 0


if __name__ == "__main__":
    sys.exit(main())
