#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/sass.py, by a compiler and a disassembler that are scripts and print what they are told."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
sys.dont_write_bytecode = True
import sass  # noqa: E402

SOURCE = """one
    two
three
"""
# Line 9 is of another file. Of R4 and R2 the last before the load count.
MACHINE_CODE = """.text.other:
        /*0000*/                   LDS R0, [R7] ;
.L_x_0:

.text.kernel:
\t//## File "ROOT/k.cu", line 1
        /*0000*/                   S2R R4, SR_TID.X ;
        /*0010*/                   S2R R2, SR_TID.Y ;
\t//## File "/elsewhere.h", line 9
        /*0020*/              @!P3 LEA R2, R4.reuse, UR6, 0x2 ;
        /*0030*/                   IMAD R3, R4, 0x3, R4 ;
\t//## File "ROOT/k.cu", line 2
        /*0040*/              @!P3 LDS R9, [R2+0x20] ;
        /*0050*/                   LEA R2, R9, R9, 0x2 ;
\t//## File "ROOT/k.cu", line 3
        /*0060*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
.L_x_1:
        /*0070*/                   BRA `(.L_x_1);
        /*0080*/                   NOP;
.L_x_2:

"""
LISTING = """```text
kernel, sm_90, nvcc 1.2.3, nvdisasm 1.2.3: 4 of 8 instructions
   1  one
          0000       S2R R4, SR_TID.X
          0020  @!P3 LEA R2, R4.reuse, UR6, 0x2
   2  two
          0040  @!P3 LDS R9, [R2+0x20]
   3  three
          0060       BAR.SYNC.DEFER_BLOCKING 0x0
```
"""


class Listings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "kernels").mkdir()
        (self.root / "kernels/nvcc.txt").write_text(f"{self.root}/nvcc\n")
        (self.root / "k.cu").write_text(SOURCE)
        (self.root / "sass").write_text(MACHINE_CODE.replace("ROOT", str(self.root)))
        self.tool("nvcc", "echo tool, V1.2.3")
        self.tool("cuobjdump", "exit 1")
        self.tool("nvdisasm", f"[ $1 = --version ] && echo tool, V1.2.3 || cat {self.root}/sass")
        self.page = self.root / "page.md"
        self.write("")
        for name in ("ROOT", "PAGES"):
            patch = mock.patch.object(sass, name, self.root)
            patch.start()
            self.addCleanup(patch.stop)

    def tool(self, name, body):
        (self.root / name).write_text(f"#!/bin/sh\n{body}\n")
        (self.root / name).chmod(0o755)

    def write(self, listing, kernel="kernel"):
        self.page.write_text(f"before\n<!-- sass: k.cu {kernel} sm_90 -->\n{listing}<!-- /sass -->\nbehind\n")

    def run_tool(self, *options):
        """(exit code or sentence, what was printed)."""
        arguments = ["sass.py", str(self.root), "--cuobjdump", str(self.root / "cuobjdump"), *options]
        with contextlib.redirect_stdout(io.StringIO()) as out, mock.patch.object(sys, "argv", arguments), \
                self.assertRaises(SystemExit) as end:
            sass.main()
        return end.exception.code, out.getvalue()

    def test_writes_accesses_barriers_and_addresses(self):
        self.assertEqual(self.run_tool(), (0, "1 passed, 0 failed, 0 skipped\n"))
        self.assertEqual(self.page.read_text(),
                         f"before\n<!-- sass: k.cu kernel sm_90 -->\n{LISTING}<!-- /sass -->\nbehind\n")
        self.assertEqual(self.run_tool("--check"), (0, "1 passed, 0 failed, 0 skipped\n"))

    def test_finds_what_is_old_and_leaves_it(self):
        self.write(LISTING.replace("0x20", "0x40"))
        before = self.page.read_text()
        code, printed = self.run_tool("--check")
        self.assertEqual(code, 1)
        self.assertIn("FAIL the listing of kernel is not what tools/sass.py writes\n0 passed, 1 failed", printed)
        self.assertEqual(self.page.read_text(), before)

    def test_skips_what_other_tools_made(self):
        self.write(LISTING.replace("nvcc 1.2.3", "nvcc 1.2.4"))
        self.assertEqual(self.run_tool("--check"),
                         (0, "SKIP kernel: here are nvcc 1.2.3, nvdisasm 1.2.3\n0 passed, 0 failed, 1 skipped\n"))

    def test_needs_a_disassembler(self):
        (self.root / "nvdisasm").unlink()
        code, printed = self.run_tool("--check")
        self.assertEqual(code, 77)
        self.assertIn("no nvdisasm", printed)

    def test_says_what_is_not_there(self):
        self.write("", kernel="kern")
        self.assertEqual(self.run_tool()[0], "k.cu has no kernel kern")
        self.tool("nvcc", "[ $1 = --version ] && echo tool, V1.2.3 || { echo no such flag >&2; exit 1; }")
        self.assertIn("no such flag", self.run_tool()[0])


if __name__ == "__main__":
    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__]))
    wrong = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - wrong} passed, {wrong} failed, 0 skipped")
    sys.exit(wrong > 0)
