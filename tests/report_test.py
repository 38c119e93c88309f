#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/report.py: the tables of a profile."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
sys.dont_write_bytecode = True
import report  # noqa: E402

META = {"gpu": "a GPU", "counters": "a profiler", "revision": "1234", "date": "today"}


def point(label, stalls, rate="gbs", memory=1e6):
    """10 us in which 1 GB/s are 10,000 bytes and 1 TFLOPS 10 million operations; 8 cycles an instruction."""
    counts = {"duration, ns": 10000, "bytes of memory": memory, "warps, %": 50.4, "DRAM, %": None, "cycles an instruction": 8,
              **{"stalled: " + reason: cycles for reason, cycles in stalls.items()}}
    time = {"us": 10, "gbs": None, "tflops": None, rate: 200}
    return {"label": label, "time": time, "quantities": [{"name": name, "counted": value} for name, value in counts.items()]}


def profile(*points):
    return {"meta": META, "points": list(points)}


class Profiles(unittest.TestCase):
    two = profile(point("plain, 64 x 64", {"barrier": 4, "wait": 0.3, "selected": 2}), point("padded", {"barrier": 1}),
                  point("padded, 64 x 64", {"barrier": 0.2, "wait": 0.3, "selected": 6}))

    def test_how_busy(self):
        lines = report.busy_table(self.two, timed=", 64 x 64").splitlines()
        self.assertEqual(lines, ["a GPU, a profiler, revision 1234, today.", "",
                                 "| step | µs | GB/s | work a byte | warps | DRAM |", "|---|---:|---:|---:|---:|---:|",
                                 "| plain | 10.0 | 200 | 2.00 | 50 % | – % |", "| padded | 10.0 | 200 | 2.00 | 50 % | – % |"])

    def test_operations(self):
        lines = report.busy_table(profile(point("a", {}, "tflops"), point("b", {}, "tflops", None),
                                           point("c", {}, "tflops", 1e5))).splitlines()
        self.assertEqual(lines[2:], ["| step | µs | TFLOPS | work a byte | warps | DRAM |", "|---|---:|---:|---:|---:|---:|",
                                     "| a | 10.0 | 200.0 | 2000 | 50 % | – % |", "| b | 10.0 | 200.0 | – | 50 % | – % |",
                                     "| c | 10.0 | 200.0 | > 9999 | 50 % | – % |"])

    def test_what_warps_wait_for(self):
        lines = report.stalls_table(self.two, timed=", 64 x 64").splitlines()
        self.assertEqual(lines[2:], ["| step | cycles | barrier | selected | other |", "|---|---:|---:|---:|---:|",
                                     "| plain | 8.0 | 50 % | 25 % | 25 % |", "| padded | 8.0 | 2 % | 75 % | 22 % |"])
        self.assertEqual(len(report.stalls_table(self.two, timed=", 64 x 64", only="^padded$").splitlines()), 5)

    def test_pages(self):
        page = ('<!-- busy:toy -->\nold\n<!-- /busy -->\n<!-- stalls:gpu/toy timed=", 64 x 64" -->\n<!-- /stalls -->\n'
                "<!-- stalls:gpu/other -->\n<!-- /stalls -->\n")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "gpu", "profile", "toy.json")
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(self.two))
            text = report.rewrite(page, pathlib.Path(folder))
            self.assertEqual(report.rewrite(text, pathlib.Path(folder)), text)
        self.assertNotIn("old", text)
        self.assertIn("| plain, 64 x 64 | 10.0 | 200 |", text)
        self.assertIn("| plain | 8.0 | 50 % | 25 % | 25 % |", text)
        self.assertIn("*Not measured yet: `gristmill lab profile other --save` does it.*", text)


if __name__ == "__main__":
    unittest.main()
