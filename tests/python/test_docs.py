# SPDX-License-Identifier: Apache-2.0
"""The examples of README.md and docs/PYTHON.md run, and print what stands behind `# ->`."""

import contextlib
import io
import re

from base import ROOT, Test, numpy, simulated


class Examples(Test):
    def runs(self, name):
        """All ```python blocks of a page, in one namespace."""
        blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / name).read_text(), re.M | re.S)
        self.assertTrue(blocks, f"{name} has no example")
        names = {}
        for block in blocks:
            if "import numpy" in block and numpy is None:
                continue
            if not simulated:  # as the page says
                block = block.replace('gristmill.use_simulator("h200")', "pass")
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(block, name, "exec"), names)
            lines = said.getvalue().splitlines()
            for expected in re.findall(r"# -> (.*)$", block, re.M):
                self.assertIn(expected, lines, f"{name}: {block}")

    def test_readme(self):
        self.runs("README.md")

    def test_python(self):
        self.runs("docs/PYTHON.md")
