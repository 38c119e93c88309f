#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/layers.py: each kind of breach, in a project made for it, is found and named."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
sys.dont_write_bytecode = True
import layers  # noqa: E402


class Project(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def write(self, path, text=""):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def breaches(self, rules):
        """Of all rules together."""
        files = layers.sources(self.root)
        checks = layers.check_includes(files, layers.includes(self.root, files), rules)
        return [breach for _, ours in checks for breach in ours]

    def rings(self, *pairs):
        for source in (self.root / "src").rglob("*.c"):
            out = self.root / "build/src/CMakeFiles/all.dir" / source.relative_to(self.root / "src")
            out.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cc", "-c", source, "-o", f"{out}.o"], check=True)
        found = layers.objects(self.root, self.root / "build", "src")
        return list(layers.check_rings(layers.uses(found), pairs))


class Includes(Project):
    def setUp(self):
        super().setUp()
        self.write("src/low/low.h")
        self.write("src/low/deep/deep.h")
        self.write("src/high/high.h")
        self.write("src/low/low.c", '#include "low/low.h"\n#include <stdio.h>\n\n  # include "high/high.h" /* up */\n')

    def test_never(self):
        self.assertEqual(self.breaches("src/low never src/high"), ["src/low/low.c:4 includes high/high.h"])
        self.assertEqual(self.breaches("src/high never src/low"), [])

    def test_only(self):
        self.assertEqual(self.breaches("src/low only"), ["src/low/low.c:4 includes high/high.h"])
        self.assertEqual(self.breaches("src/low only src/high/high.h"), [])
        self.assertEqual(self.breaches("src/low only src/high/{deep,high}.h"), [])
        self.assertEqual(self.breaches("src/low only src/high/*.c"), ["src/low/low.c:4 includes high/high.h"])

    def test_apart(self):
        self.write("src/low/low.h", '#include "deep/deep.h"\n')
        self.assertEqual(self.breaches("src/low/low.h src/low/deep/deep.h apart"),
                         ["src/low/low.h:1 includes deep/deep.h"])
        self.assertEqual(self.breaches("src/low/deep/deep.h src/high/high.h apart"), [])

    def test_a_rule_about_files_that_are_gone(self):
        self.assertEqual(self.breaches("src/low/{low,lower}.h src/lowest lab never src/low"),
                         ["src/low/lower.h is no file", "src/lowest is no file"])

    def test_a_name_without_a_path_is_found_beside_the_file_and_on_the_include_path(self):
        self.write("tests/unit/error.h")
        self.write("src/low/low.h", '#include "error.h"\n#include "low.c"\n#include "generated.h"\n')
        self.assertEqual(self.breaches("src/low never tests src/low"),
                         ["src/low/low.c:1 includes low/low.h", "src/low/low.h:1 includes error.h",
                          "src/low/low.h:2 includes low.c"])


class Parts(Project):
    def setUp(self):
        super().setUp()
        self.write("src/operations.def", 'OPERATION(mul, "x y")\nOPERATION(norm, "x / |x|")\n')
        self.write("src/families.def", "FAMILY(mul_fast, mul, 1)\nFAMILY(mul_slow, mul, 1)\nFAMILY(norm, norm, 1)\n"
                                       "BORROWS(mul_slow, mul_fast)\n")
        for part in ("mul", "mul_fast", "mul_slow", "norm"):
            self.write(f"src/host/{part}/{part}.h")
        self.write("src/host/plan.h")

    def breaches_of(self, file, name, top="host/"):
        self.write(file, f'#include "{top}{name}"\n')
        files = layers.sources(self.root)
        checks = list(layers.check_parts(self.root, layers.includes(self.root, files)))
        return checks[0][1]

    def test_the_core_knows_none(self):
        self.assertEqual(self.breaches_of("src/host/plan.c", "plan.h"), [])
        self.assertEqual(self.breaches_of("src/host/plan.c", "mul/mul.h"), ["src/host/plan.c:1 includes host/mul/mul.h"])

    def test_a_family_knows_its_operation_and_what_it_borrows(self):
        for part in ("mul/mul.h", "mul_slow/mul_slow.h", "mul_fast/mul_fast.h", "plan.h"):
            self.assertEqual(self.breaches_of("src/host/mul_slow/a.c", part), [])
        self.assertEqual(self.breaches_of("src/host/mul_fast/b.c", "mul_slow/mul_slow.h"),
                         ["src/host/mul_fast/b.c:1 includes host/mul_slow/mul_slow.h"])

    def test_an_operation_knows_no_other_and_no_family(self):
        self.assertEqual(len(self.breaches_of("src/host/mul/a.c", "norm/norm.h")), 1)
        self.assertEqual(len(self.breaches_of("src/host/mul/a.c", "mul_fast/mul_fast.h")), 1)

    def test_the_harness_of_the_gpu_tests_knows_none(self):
        self.write("tests/gpu/norm/norm_tests.h")
        self.assertEqual(self.breaches_of("tests/gpu/main.c", "host/plan.h", ""), [])
        for part in ("norm/norm_tests.h", "host/mul_fast/mul_fast.h"):
            self.assertEqual(self.breaches_of("tests/gpu/main.c", part, ""), [f"tests/gpu/main.c:1 includes {part}"])

    def test_the_tests_of_an_operation_know_it_and_its_families(self):
        self.write("tests/gpu/norm/norm_tests.h")
        self.write("tests/gpu/mul/mul_tests.h")
        for part in ("mul_tests.h", "host/mul/mul.h", "host/mul_fast/mul_fast.h", "host/plan.h"):
            self.assertEqual(self.breaches_of("tests/gpu/mul/a.c", part, ""), [])
        for part in ("norm/norm_tests.h", "host/norm/norm.h"):
            self.assertEqual(self.breaches_of("tests/gpu/mul/a.c", part, ""), [f"tests/gpu/mul/a.c:1 includes {part}"])

    def test_names_in_the_core_and_in_the_harness(self):
        self.write("src/host/plan.c", "int norm_of_a_plan;\n")
        self.write("bench/measure/verify.c", "/* D of mul */\n")
        self.write("tests/gpu/main.c", "/* of mul_slow */\n")
        self.write("tests/gpu/mul/a.c", "int mul;\n")
        checks = list(layers.check_parts(self.root, {}))
        self.assertEqual([breaches for _, breaches in checks[1:]], [["src/host/plan.c"], ["tests/gpu/main.c"], ["bench/measure/verify.c"], []])

    def test_a_word_is_no_name(self):
        self.write("src/operations.def", 'OPERATION(sample, "x")\n')
        for text, named in (("/* a sample of it */\nint samples;\n", []), ("int gm_sample_rows;\n", ["src/host/plan.c"]),
                            ("int gm_operation_sample;\n", ["src/host/plan.c"]),
                            ('#include "host/sample/sample.h"\n', ["src/host/plan.c"])):
            self.write("src/host/plan.c", text)
            self.assertEqual(list(layers.check_parts(self.root, {}))[1][1], named)


class Rings(Project):
    def setUp(self):
        super().setUp()
        self.write("src/a.c", "void b(void); void a(void) { b(); }")
        self.write("src/b.c", "void c(void); void b(void) { c(); }")
        self.write("src/c.c", "void c(void) {}")

    def test_none(self):
        self.assertEqual(self.rings(), [])

    def test_a_ring_is_told_once(self):
        self.write("src/c.c", "void a(void); void c(void) { a(); }")
        self.assertEqual(self.rings(), ["a ring of 3 files: src/a.c uses b of src/b.c, src/b.c uses c of src/c.c, "
                                        "src/c.c uses a of src/a.c"])

    def test_pairs_may_remain_and_must_be_pairs(self):
        self.write("src/b.c", "void a(void); void b(void) { a(); }")
        self.assertEqual(self.rings(), ["a ring of 2 files: src/a.c uses b of src/b.c, src/b.c uses a of src/a.c"])
        self.assertEqual(self.rings(("src/a.c", "src/b.c")), [])
        self.assertIn("do not any more", self.rings(("src/a.c", "src/b.c"), ("src/a.c", "src/c.c"))[0])

    def test_objects_of_files_that_are_gone_do_not_count(self):
        self.write("src/c.c", "void a(void); void c(void) { a(); }")
        self.assertEqual(len(self.rings()), 1)
        (self.root / "src/c.c").unlink()
        self.assertEqual(self.rings(), [])


class Tables(Project):
    def test_tables_name_each_file(self):
        self.write("src/sim/a/one.c")
        self.write("src/sim/a/two.h")
        self.write("src/sim/a/two.c")
        self.write("src/sim/a/norm/norm.c")
        self.write("src/sim/a/README.md", "| file | |\n|---|---|\n| `two.[ch]`, `three.c` | `none.c` |\n")
        self.assertEqual(list(layers.check_tables(self.root, ["src/sim/*"], {"norm"})),
                         [("table of src/sim/a/README.md",
                           ["src/sim/a/README.md does not name one.c",
                            "src/sim/a/README.md names three.c, which is not there"])])


if __name__ == "__main__":
    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__]))
    wrong = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - wrong} passed, {wrong} failed, 0 skipped")
    sys.exit(wrong > 0)
