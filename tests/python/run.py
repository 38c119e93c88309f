#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the gristmill that Python imports, on the simulated GPU, or with --gpu on the one that is there.
The last line is "N passed, N failed, N skipped".

    run.py [--gpu] [test_gemm ...]
"""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


class Result(unittest.TextTestResult):
    """Counts what passed: versions of unittest differ in whether testsRun has what was skipped."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def main():
    import gristmill

    if "--gpu" not in sys.argv:
        gristmill.use_simulator("h200")
    print(f"gristmill {gristmill.__version__} of {pathlib.Path(gristmill.__file__).parent}, {gristmill.library_path()}")
    names = [name for name in sys.argv[1:] if name != "--gpu"] or sorted(path.stem for path in HERE.glob("test_*.py"))
    tests = unittest.defaultTestLoader.loadTestsFromNames(names)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1, resultclass=Result).run(tests)
    for test, reason in result.skipped:
        print(f"SKIP {test}: {reason}")
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"{result.passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0 or result.passed == 0


if __name__ == "__main__":
    sys.exit(main())
