#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The test of tools/api_reference.py: what becomes of a header, and that no function of the library lacks a place."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True
import api_reference  # noqa: E402

HEADER = """/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/x.h: things. docs/STRIDES.md has more. */
#ifndef GRISTMILL_X_H
#define GRISTMILL_X_H

#include <stdint.h>

/*  y = x * 2       for every x
 *
 *  x is read once, by
 *  gm_x_make().
 *  Short.
 *  y <= 4 | z. */
struct gm_x {
    size_t size; /* a brace { in a comment,
                  * over (two lines */
    int a;
};

/* ---- making ------- */

#define GM_X_MAX 4
#define GM_X_SUM(a) \\
    ((a) + 1)

/* One. */
/* Two. */
GM_API const struct gm_x *gm_x_make(const struct gm_x *x,
                                    int count);
typedef void (*gm_x_fn)(int a);

#ifdef __cplusplus
}
#endif
#endif
"""


class Reference(unittest.TestCase):
    def setUp(self):
        self.page = api_reference.page(type("File", (), {"stem": "x", "read_text": lambda self: HEADER})())

    def test_declarations_have_headings(self):
        headings = [line for line in self.page.splitlines() if line.startswith("#") and " `" in line or "##" in line]
        self.assertEqual(
            headings,
            ["## `struct gm_x`", "## Making", "### `GM_X_MAX`, `GM_X_SUM`", "### `gm_x_make()`, `gm_x_fn`"],
        )

    def test_declarations_are_whole(self):
        self.assertIn("    size_t size; /* a brace { in a comment,\n                  * over (two lines */\n    int a;\n};\n", self.page)
        self.assertIn("#define GM_X_SUM(a) \\\n    ((a) + 1)\n", self.page)
        self.assertIn("                                    int count);\ntypedef void (*gm_x_fn)(int a);\n```", self.page)
        for silent in ("SPDX", "GRISTMILL_X_H", "#include", "__cplusplus"):
            self.assertNotIn(silent, self.page)

    def test_formulas_keep_their_lines(self):
        self.assertIn("```text\ny = x * 2       for every x\n```", self.page)

    def test_prose(self):
        self.assertIn("`gristmill/x.h`: things. [docs/STRIDES.md](../docs/STRIDES.md) has more.\n", self.page)
        self.assertIn("x is read once, by `gm_x_make()`.\n\nShort.\n\ny \\<= 4 \\| z.\n", self.page)
        self.assertIn("One.\n\nTwo.\n\n```c\n", self.page)

    def test_what_has_no_end_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "no declaration ends behind: struct a {"):
            api_reference.read("struct a {\nint b;\n")

    def test_every_function_is_there(self):
        text = "\n".join(api_reference.pages().values())
        for symbols in sorted((ROOT / "tests/abi/symbols").glob("*.txt")):
            for line in symbols.read_text().splitlines():
                self.assertIn(f"{line.split()[0]}(", text, f"of {symbols.name}")


if __name__ == "__main__":
    run = unittest.TextTestRunner(stream=sys.stdout).run(unittest.defaultTestLoader.loadTestsFromTestCase(Reference))
    bad = len(run.failures) + len(run.errors)
    print(f"{run.testsRun - bad} passed, {bad} failed, 0 skipped")
    sys.exit(bad > 0)
