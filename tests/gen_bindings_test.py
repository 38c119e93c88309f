#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The test of tools/gen_bindings.py: what it reads of a header, and what it refuses, with which sentence."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
sys.dont_write_bytecode = True
import gen_bindings  # noqa: E402

HEADER = """/* a header */
#ifndef GRISTMILL_X_H
#define GRISTMILL_X_H
#include <stdint.h>
#define GM_X_MAX 4 /* of them */
#define GM_X_BYTES ((size_t)GM_X_MAX << 20)
#define GM_X_NONE 0xffu
enum { GM_X_LANES = 32 };
enum gm_x { GM_X_A = 0, GM_X_B = 1 /* the last */ };
typedef struct gm_x_plan gm_x_plan;
typedef uint64_t gm_x_ptr;
typedef void (*gm_x_fn)(enum gm_x x, const char *text);
struct gm_x_inner { size_t size; int32_t a, *b; };
struct gm_x_outer {
    size_t size;
    struct gm_x_inner inner;
    char type[GM_X_MAX][8];
    const float *alpha;
};
GM_API const char *gm_x_name(enum gm_x x);
GM_API void gm_x_make(const struct gm_x_outer *outer, gm_x_plan **plan, gm_x_fn call);
GM_API int gm_x_count(void);
#endif
"""


def read(text):
    reader = gen_bindings.Reader()
    reader.read("x.h", text)
    return reader.headers


class Reads(unittest.TestCase):
    def test_python(self):
        text = gen_bindings.python_text(read(HEADER))
        for part in ["GM_X_MAX = 4\n", "GM_X_BYTES = 4194304\n", "GM_X_NONE = 255\n", "GM_X_LANES = 32\n",
                     "    GM_X_B = 1\n", "gm_x_ptr = c_uint64\n", "gm_x_fn = CFUNCTYPE(None, c_uint, c_char_p)\n",
                     '        ("a", c_int32),\n        ("b", POINTER(c_int32)),\n', '        ("inner", gm_x_inner),\n',
                     '        ("type", (c_char * 8) * 4),\n', '        ("alpha", POINTER(c_float)),\n',
                     '    "gm_x_name": (c_char_p, [c_uint]),\n', '    "gm_x_count": (c_int, []),\n',
                     '    "gm_x_make": (None, [POINTER(gm_x_outer), POINTER(POINTER(gm_x_plan)), gm_x_fn]),\n']:
            self.assertIn(part, text)

    def test_rust(self):
        text = gen_bindings.rust_text(read(HEADER))
        for part in ["pub const GM_X_BYTES: usize = 4194304;\n", "pub const GM_X_NONE: u32 = 255;\n",
                     "pub const GM_X_LANES: c_int = 32;\n", "pub const GM_X_B: gm_x = 1;\n",
                     "    pub r#type: [[c_char; 8]; 4],\n", "    pub b: *mut i32,\n", "    pub alpha: *const f32,\n",
                     "        zero.inner = Default::default();\n",
                     "    pub fn gm_x_name(x: gm_x) -> *const c_char;\n", "    pub fn gm_x_count() -> c_int;\n",
                     "pub type gm_x_fn = Option<unsafe extern \"C\" fn(x: gm_x, text: *const c_char)>;\n",
                     "    pub fn gm_x_make(outer: *const gm_x_outer, plan: *mut *mut gm_x_plan, call: gm_x_fn);\n"]:
            self.assertIn(part, text)

    def test_every_function_of_the_headers(self):
        names = [name for header in gen_bindings.read_headers() for name in header.functions]
        listed = [line.split()[0] for path in (gen_bindings.ROOT / "tests/abi/symbols").glob("*.txt")
                  for line in path.read_text().splitlines()]
        self.assertEqual(sorted(names), sorted(listed))


class Refuses(unittest.TestCase):
    def refuses(self, text, sentence):
        with self.assertRaises(gen_bindings.Refusal) as caught:
            read(text)
        self.assertEqual(str(caught.exception), f"x.h:{sentence}")

    def test_sentences(self):
        self.refuses("\n#pragma once\n", "2: does not know '#pragma once'")
        self.refuses("#define GM_F(x) x\n", "1: does not know '#define GM_F(x) x'")
        self.refuses("#define GM_X GM_Y\n", "1: the constant 'GM_Y' names GM_Y, which is none")
        self.refuses("#define GM_X 1.5\n", "1: does not read the constant '1.5'")
        self.refuses("union gm_x { int a; };", "1: does not know what begins with 'union'")
        self.refuses("struct gm_x { long a; };", "1: long is no type that was declared before")
        self.refuses("struct gm_x { enum gm_y a; };", "1: gm_y is no enum that was declared before")
        self.refuses("\nstruct gm_x {\n int a : 3; };", "3: does not read ': 3; };'")
        self.refuses("struct gm_x { int a[]; };", "1: does not read the constant ']'")
        self.refuses("enum gm_x { GM_A };", "1: '}' where '=' is expected")
        self.refuses("GM_API int gm_x(int a[3]);", "1: the parameter a is an array")
        self.refuses("GM_API int gm_x(int);", "1: ')' where a name is expected")
        self.refuses("GM_API int gm_x(int a)", "1: 'the end' where ';' is expected")
        self.refuses("int x;", "1: does not know what begins with 'int'")


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)
