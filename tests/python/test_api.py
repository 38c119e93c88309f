# SPDX-License-Identifier: Apache-2.0
"""The raw layer: every struct as C has it, every function, statuses as exceptions."""

import ctypes
import os
import re
import subprocess
import sys

import gristmill
from base import ROOT, Test
from gristmill import _api, _library, api


class Layout(Test):
    def facts(self, word):
        for path in sorted((ROOT / "tests/abi/layout").glob("*.c")):
            for arguments in re.findall(rf"^{word}\(([^)]*)\)", path.read_text(), re.M):
                yield [argument.strip() for argument in arguments.split(",")]

    def test_members(self):
        count = 0
        for struct, member, offset in self.facts("MEMBER"):
            self.assertEqual(getattr(getattr(api, struct), member).offset, int(offset), f"{struct}.{member}")
            count += 1
        self.assertGreater(count, 700)

    def test_sizes(self):
        for struct, size in self.facts("FIXED"):
            self.assertEqual(ctypes.sizeof(getattr(api, struct)), int(size), struct)
        for struct, _, size in self.facts("END"):
            self.assertGreaterEqual(ctypes.sizeof(getattr(api, struct)), int(size), struct)

    def test_enumerators(self):
        for name, value in self.facts("VALUE"):
            self.assertEqual(getattr(api, name), eval(value), name)


class Raw(Test):
    def test_every_function(self):
        for name in api.FUNCTIONS:
            self.assertTrue(callable(getattr(api, name)), name)
        self.says(AttributeError, "the C interface has no gm_nothing", getattr, api, "gm_nothing")

    def test_version(self):
        self.assertEqual(api.gm_version(), api.GM_VERSION)
        self.assertEqual(api.gm_version_string().decode(), gristmill.__version__)

    def test_structs(self):
        question = api.gm_descriptor_question(destination=1024)
        self.assertEqual(question.size, ctypes.sizeof(question))
        self.assertEqual(question.map.size, ctypes.sizeof(question.map))
        self.assertEqual(repr(api.gm_gemm_problem(m=3, k=4)), "gm_gemm_problem(m=3, k=4)")
        self.says(AttributeError, "gm_gemm_problem has no member M", api.gm_gemm_problem, M=3)
        self.assertRaises(AttributeError, setattr, question, "M", 3)
        self.assertEqual([rule.size for rule in api.array_of(api.gm_rule, 2)], [ctypes.sizeof(api.gm_rule)] * 2)

    def test_structs_are_taken(self):
        tile = api.gm_smem_tile(rows=32, row_bytes=128)
        walk = api.gm_tile_access(width=4, row=tuple(range(32)))
        question, advice = api.gm_pad_question(tile=tile), api.gm_pad_advice()
        api.gm_pad_advise(question, walk, 1, gristmill.device("h200").facts, advice)
        self.assertEqual((advice.cure, advice.pad_bytes, advice.wavefronts), (api.GM_CURE_PAD, 4, 32))
        bits = ctypes.c_uint64()
        api.gm_matrix_descriptor_encode(api.gm_matrix_descriptor(start=1024, stride_bytes=1024), bits)
        fields = api.gm_matrix_descriptor()
        api.gm_matrix_descriptor_decode(bits.value, fields)
        self.assertEqual((fields.start, fields.stride_bytes), (1024, 1024))

    def test_statuses(self):
        with self.assertRaises(gristmill.Error) as caught:
            api.gm_device_model(b"h300", api.gm_device())
        self.assertEqual(
            (caught.exception.status, caught.exception.name),
            (api.gm_status.GM_ERROR_INVALID_ARGUMENT, "GM_ERROR_INVALID_ARGUMENT"),
        )
        self.assertIn("h300", caught.exception.sentence)
        with self.assertRaises(gristmill.Error) as caught:
            _library.check(999, None, ())
        self.assertEqual((caught.exception.status, caught.exception.name), (999, "GM_STATUS_UNKNOWN"))

    def test_log(self):
        lines = []
        keep = api.gm_log_fn(lambda level, message, user: lines.append(message))
        api.gm_set_log_callback(keep, api.GM_LOG_TRACE, None)
        gristmill.Plan(api.gm_axpby_problem(rows=1, columns=8))
        api.gm_set_log_callback(api.gm_log_fn(), api.GM_LOG_OFF, None)
        self.assertTrue(any(b"axpby" in line for line in lines), lines)


def python(code, **environment):
    """What a fresh interpreter says."""
    names = {name: value for name, value in os.environ.items() if not name.startswith("GM_")}
    folder = os.path.dirname(os.path.dirname(gristmill.__file__))
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**names, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1", **environment},
    )
    return (ran.stdout + ran.stderr).strip().splitlines()[-1]


class Loading(Test):
    def test_no_library(self):
        self.assertRegex(
            python("import gristmill; gristmill.build_info()", GRISTMILL_LIBRARY="/nowhere/x.so"),
            r"^ImportError: there is no libgristmill: /nowhere/x.so: .*\. Install the wheel, set GRISTMILL_LIBRARY",
        )

    def test_no_driver(self):
        code = "import gristmill\ntry: gristmill.devices()\nexcept gristmill.Error as e: print(e)\n"
        self.assertRegex(
            python(code, GM_DRIVER="/nowhere/cuda.so"),
            r"^GM_ERROR_NO_DRIVER: there is no driver where GM_DRIVER says: /nowhere/cuda.so",
        )
        # The library tries again: what GM_DRIVER says then.
        self.assertRegex(
            python(code + "gristmill.use_simulator('a100'); print(gristmill.devices())", GM_DRIVER="/nowhere/cuda.so"),
            r"^\[NVIDIA A100.* \(simulated\): compute capability 8.0",
        )

    def test_simulator_too_late(self):
        code = (
            "import gristmill as g; g.use_simulator('a100'); g.devices(); g.use_simulator('a100'); "
            "g.use_simulator('h200')"
        )
        self.assertEqual(
            python(code),
            "RuntimeError: the driver is open already (sim): use_simulator() must come before the "
            "first call that needs it",
        )

    def test_main(self):
        self.assertRegex(
            python("import runpy; runpy.run_module('gristmill')", GM_DRIVER="sim", GM_SIM_DEVICE="rtx4090"),
            r"^device 0: NVIDIA GeForce RTX 4090 \(simulated\)",
        )

    def test_other_version(self):
        self.assertEqual(_library.SONAME, f"libgristmill.so.{_api.GM_VERSION_MAJOR}.{_api.GM_VERSION_MINOR}")
        code = (
            "from gristmill import _api, _library; _api.GM_VERSION += 100; _api.GM_VERSION_MINOR += 1; _library.load()"
        )
        self.assertRegex(
            python(code, GRISTMILL_LIBRARY=gristmill.library_path()),
            r"^ImportError: .* is of version \d+\.\d+; these bindings are for \d+\.\d+$",
        )
