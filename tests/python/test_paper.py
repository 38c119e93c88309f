# SPDX-License-Identifier: Apache-2.0
"""What needs no GPU: explain, banks, swizzles, devices, results."""

import gristmill
from base import Test, simulated
from gristmill import api


class Explain(Test):
    def test_gemm(self):
        found = gristmill.explain(64, 4096, 4096, workspace_limit=32 << 20)
        self.assertTrue(found.chosen.accepted and found.chosen.kernel.startswith("gemm_sm90_bf16_tn_"))
        self.assertIn(found.chosen.source, ("model", "ledger", "neighbours"))
        self.assertGreater(len(found.accepted), 8)
        self.assertIs(found.accepted[0], found.chosen)
        refused = next(c for c in found.candidates if c.reason == "GM_REASON_TYPE")
        self.assertRegex(refused.sentence, "computes with fp16; the problem is bf16")
        lines = str(found).splitlines()
        self.assertEqual(lines[0], "gemm on NVIDIA H200: gm_gemm_problem(m=64, n=4096, k=4096)")
        self.assertEqual(lines[1].strip(), found.chosen.sentence)
        self.assertRegex(lines[2], r"^-> +[\d.]+ us  " + found.chosen.kernel + "$")

    def test_others(self):
        found = gristmill.explain(
            8, 64, 64, "a100", dtype="fp16", out_type="fp32", a_major="mn", activation="silu", bias=True
        )
        self.assertTrue(
            found.chosen.kernel.startswith("gemm_sm80_fp16_nn_") or found.chosen.kernel.startswith("gemm_sm80_fp16_n")
        )
        name = "gemm_sm80_bf16_tn_64x64x64_s4_c1x1_w2x2_xor"
        self.assertEqual((gristmill.explain(64, 64, 64, kernel=name).chosen.kernel), name)
        problem = api.gm_softmax_problem(rows=4, columns=1000)
        self.assertTrue(gristmill.explain_problem(problem, "h100").chosen.kernel.startswith("softmax_sm90_bf16"))
        self.assertTrue(
            gristmill.explain(64, 64, 64, gristmill.device("rtx4090")).chosen.kernel.startswith("gemm_sm80")
        )
        self.assertIsNotNone(gristmill.explain(64, 64, 64, 0).chosen)  # the one that is there

    def test_refusals(self):
        self.says(ValueError, "a_major is 'm'; it can be 'k' or 'mn'", gristmill.explain, 1, 1, 1, a_major="m")
        with self.assertRaises(gristmill.Error) as caught:
            gristmill.explain(1, 1, 1, "h300")
        self.assertIn("h300", caught.exception.sentence)
        with self.assertRaises(gristmill.Error) as caught:
            gristmill.explain(-1, 1, 1)
        self.assertEqual(caught.exception.name, "GM_ERROR_INVALID_ARGUMENT")


class Banks(Test):
    def test_strides(self):
        for stride, wavefronts in ((0, 1), (1, 1), (2, 2), (3, 1), (8, 8), (32, 32), (33, 1)):
            found = gristmill.bank(stride)
            self.assertEqual((found.wavefronts, found.ideal, found.conflicts), (wavefronts, 1, wavefronts - 1), stride)
        self.assertEqual(
            str(gristmill.bank(2)),
            "load of 4 bytes, stride 2: 2 wavefronts, 1 at best, 1 conflict; 32 words, up to 2 on a bank\n"
            "  wavefront  0  lanes 0-15\n  wavefront  1  lanes 16-31",
        )

    def test_addresses(self):
        plain = gristmill.bank(address=lambda lane: lane * 128, kind="ldmatrix")
        swizzled = gristmill.bank(address=lambda lane: lane * 128 ^ (lane & 7) << 4, kind="ldmatrix")
        self.assertEqual((plain.wavefronts, swizzled.wavefronts), (32, 4))
        some = gristmill.bank(address=[0, 128, 4], kind="store")
        self.assertEqual((some.wavefronts, some.words, some.lanes), (2, 3, [[0, 2], [1]]))
        self.assertEqual(gristmill.bank(1, width=16).wavefronts, 4)

    def test_refusals(self):
        self.says(ValueError, "say one of stride and address", gristmill.bank)
        self.says(ValueError, "33 addresses for 32 lanes", gristmill.bank, address=[0] * 33)
        self.says(
            ValueError,
            "there is no kind of access 'read'; there are load, store, ldmatrix, stmatrix, cp_async, atomic, "
            "increment, cas",
            gristmill.bank,
            1,
            kind="read",
        )
        with self.assertRaises(gristmill.Error) as caught:
            gristmill.bank(address=[2])
        self.assertEqual(caught.exception.name, "GM_ERROR_MISALIGNED")


class Swizzles(Test):
    def test_modes(self):
        for mode, bits, span, pattern in (
            ("none", 0, 16, 128),
            ("32B", 1, 32, 256),
            ("64B", 2, 64, 512),
            ("128B", 3, 128, 1024),
        ):
            found = gristmill.swizzle(mode)
            self.assertEqual(
                (found.bits, found.base, found.shift, found.span, found.pattern), (bits, 4, 3, span, pattern)
            )
        found = gristmill.swizzle("128B")
        self.assertEqual(found(0x80), 0x90)
        self.assertEqual(
            str(found).splitlines()[:3],
            [
                "Swizzle<3, 4, 3>, mode 128B: which chunk of 16 bytes lies where, 8 rows of 128 bytes",
                "  row  0    0   1   2   3   4   5   6   7",
                "  row  1    1   0   3   2   5   4   7   6",
            ],
        )

    def test_proof(self):
        proof = gristmill.swizzle(bits=3, base=4, shift=3).prove(rows=64)
        self.assertEqual((proof.bijective, proof.self_inverse, proof.ldmatrix_worst), (1, 1, 0))
        self.assertEqual(gristmill.swizzle("none").prove(rows=64, row_bytes=128).ldmatrix_worst, 7)

    def test_refusals(self):
        self.says(
            ValueError,
            "there is no swizzle mode '256B'; there are None, none, 32B, 64B, 128B",
            gristmill.swizzle,
            "256B",
        )
        self.says(ValueError, "a swizzle that is no mode has bits, base and shift", gristmill.swizzle, bits=3)
        with self.assertRaises(gristmill.Error) as caught:
            gristmill.swizzle(bits=3, base=4, shift=2)
        self.assertEqual(caught.exception.name, "GM_ERROR_INVALID_ARGUMENT")


class Facts(Test):
    def test_devices(self):
        found = gristmill.devices()[0]
        if simulated:
            self.assertEqual((found.name, found.cc_major, found.sm_count), ("NVIDIA H200 (simulated)", 9, 132))
        self.assertEqual(repr(gristmill.device("A100")).split(":")[0], gristmill.device("a100").name)
        self.assertRaises(AttributeError, getattr, found, "nothing")

    def test_results(self):
        self.assertIn("h200/gemm-quick", gristmill.results())
        self.assertIsInstance(gristmill.results("h200/gemm-quick"), dict)
        with self.assertRaises(KeyError) as caught:
            gristmill.results("h200/nothing")
        self.assertEqual(
            caught.exception.args[0], f"there is no result h200/nothing; results() lists all {len(gristmill.results())}"
        )

    def test_build_info(self):
        self.assertEqual(gristmill.build_info()["version"], gristmill.__version__)
