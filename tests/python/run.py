#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the Python package on the simulated GPU: of the gristmill that Python imports. The last line is
"N passed, N failed, N skipped".

    run.py [test_gemm ...]
"""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def main():
    import gristmill

    gristmill.use_simulator("h200")
    print(f"gristmill {gristmill.__version__} of {pathlib.Path(gristmill.__file__).parent}, {gristmill.library_path()}")
    names = sys.argv[1:] or sorted(path.stem for path in HERE.glob("test_*.py"))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(
        unittest.defaultTestLoader.loadTestsFromNames(names)
    )
    for test, reason in result.skipped:
        print(f"SKIP {test}: {reason}")
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return failed > 0 or result.testsRun == skipped


if __name__ == "__main__":
    sys.exit(main())
