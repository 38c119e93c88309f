# SPDX-License-Identifier: Apache-2.0
"""gemm() and Plan on the simulated GPU: integers, so that results compare bit for bit."""

import ctypes
import math
import struct
import threading

import gristmill
from base import OnlyDlpack, OnlyInterface, Test, matrix, ml_dtypes, needs_ml_dtypes, needs_numpy, numpy, stack
from gristmill import _dlpack, _driver, _gemm, _library, api


def product(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def integers(rows, columns, seed=1):
    return gristmill.array([[int(x) for x in row] for row in matrix(rows, columns, "fp32", seed).tolist()], "int8")


class Device(Test):
    def test_layouts(self):
        m, n, k = 20, 24, 40
        for dtype in ("bf16", "fp16"):
            for a in (matrix(m, k, dtype), matrix(k, m, dtype).T):
                for b in (matrix(k, n, dtype, 2), matrix(n, k, dtype, 2).T):
                    found = gristmill.gemm(a, b, out_type="fp32")
                    self.assertEqual((found.shape, found.dtype), ((m, n), "fp32"))
                    self.assertEqual(found.tolist(), product(a.tolist(), b.tolist()))

    def test_tf32(self):
        a, b = matrix(20, 40, "fp32"), matrix(40, 24, "fp32", 2)
        self.assertEqual(gristmill.gemm(a, b, precision="tf32").tolist(), product(a.tolist(), b.tolist()))
        rounded = gristmill.gemm(gristmill.array([[1 + 2**-12]]), gristmill.array([[1.0]]), precision="tf32")
        self.assertEqual(rounded.tolist(), [[1.0]])
        with self.assertRaisesRegex(TypeError, "tf32 is of fp32 a and b; they are bf16"):
            gristmill.gemm(matrix(8, 8), matrix(8, 8), precision="tf32")

    def test_tf32x3(self):
        a, b = matrix(20, 40, "fp32"), matrix(40, 24, "fp32", 2)
        self.assertEqual(gristmill.gemm(a, b, precision="tf32x3").tolist(), product(a.tolist(), b.tolist()))
        kept = gristmill.gemm(gristmill.array([[1 + 2**-12]]), gristmill.array([[1.0]]), precision="tf32x3")
        self.assertEqual(kept.tolist(), [[1 + 2**-12]])
        with self.assertRaisesRegex(ValueError, "there is no precision 'fp64'; there are tf32, tf32x3"):
            gristmill.gemm(a, b, precision="fp64")

    def test_int8(self):
        m, n, k = 20, 24, 48
        a, b = integers(m, k), integers(n, k, 2).T
        sums = product(a.tolist(), b.tolist())
        found = gristmill.gemm(a, b)
        self.assertEqual((found.dtype, found.tolist()), ("int32", sums))
        rows, columns = [2.0 ** (i % 3) for i in range(m)], [0.5 ** (j % 2) for j in range(n)]
        zeros, of_b = [i % 4 - 1 for i in range(m)], [sum(column) for column in zip(*b.tolist())]
        scales = {"a_scales": gristmill.array(rows, "fp32"), "b_scales": gristmill.array(columns, "fp32")}
        found = gristmill.gemm(a, b, out_type="fp32", **scales)
        self.assertEqual(found.tolist(), [[sums[i][j] * rows[i] * columns[j] for j in range(n)] for i in range(m)])
        found = gristmill.gemm(
            a, b, out_type="fp32", a_zeros=gristmill.array(zeros, "int32"), b_sums=gristmill.array(of_b, "int32")
        )
        self.assertEqual(found.tolist(), [[sums[i][j] - zeros[i] * of_b[j] for j in range(n)] for i in range(m)])
        with self.assertRaisesRegex(ValueError, "a_zeros and b_sums go together"):
            gristmill.gemm(a, b, out_type="fp32", a_zeros=gristmill.array(zeros, "int32"))
        with self.assertRaisesRegex(ValueError, "b_scales is fp32 of shape"):
            gristmill.gemm(a, b, out_type="fp32", b_scales=scales["a_scales"])

    def test_fp8(self):
        m, n, k = 20, 24, 48
        a, b = matrix(m, k, "e4m3"), matrix(n, k, "e4m3", 2).T
        sums = product(a.tolist(), b.tolist())
        found = gristmill.gemm(a, b)
        self.assertEqual((found.dtype, found.tolist()), ("bf16", sums))
        rows, columns = [2.0 ** (i % 3) for i in range(m)], [0.5 ** (j % 2) for j in range(n)]
        scales = {"a_scales": gristmill.array(rows, "fp32"), "b_scales": gristmill.array(columns, "fp32")}
        for fast in (False, True):
            found = gristmill.gemm(a, b, out_type="fp32", fast_accumulation=fast, **scales)
            self.assertEqual(found.tolist(), [[sums[i][j] * rows[i] * columns[j] for j in range(n)] for i in range(m)])
    def test_e4m3_and_e5m2(self):
        m, n, k = 20, 32, 48
        for of_a, of_b in (("e4m3", "e5m2"), ("e5m2", "e4m3")):
            a, b = matrix(m, k, of_a), matrix(n, k, of_b, 2).T
            sums = product(a.tolist(), b.tolist())
            found = gristmill.gemm(a, b)
            self.assertEqual((found.dtype, found.tolist()), ("bf16", sums))
            scale, one = gristmill.array([0.5], "fp32"), gristmill.array([1.0], "fp32")
            found = gristmill.gemm(a, b, out_type="fp32", a_scales=scale)
            self.assertEqual(found.tolist(), [[x * 0.5 for x in row] for row in sums])
            found = gristmill.gemm(a, b, out_type="e5m2", out_scale=one)
            self.assertEqual(found.tolist(), gristmill.array(sums, "e5m2").tolist())
            turned = gristmill.array(b.tolist(), of_b)  # as k x n, which the tensor cores do not take
            self.assertEqual(gristmill.gemm(a, gristmill.pack(turned)).tolist(), sums)
        with self.assertRaisesRegex(TypeError, "a is e5m2 and b e5m2: .* or one e4m3 and the other e5m2"):
            gristmill.gemm(a, matrix(n, k, "e5m2").T)

    def test_fp8_with_scales_of_each_128_of_k(self):
        m, n, k = 20, 136, 272
        a, b = matrix(m, k, "e4m3"), matrix(n, k, "e4m3", 2).T
        values = [a.tolist(), b.tolist()]
        of_a = [[2.0 ** ((i + g) % 3) for g in range(3)] for i in range(m)]
        of_b = [[0.5 ** ((j + g) % 2) for j in range(2)] for g in range(3)]
        scaled = [
            [[x * of_a[i][c // 128] for c, x in enumerate(row)] for i, row in enumerate(values[0])],
            [[x * of_b[c // 128][j // 128] for j, x in enumerate(row)] for c, row in enumerate(values[1])],
        ]
        a_scales, b_scales = gristmill.array(of_a, "fp32"), gristmill.array(of_b, "fp32")
        turned = [gristmill.array([list(x) for x in zip(*s)], "fp32").T for s in (of_a, of_b)]
        wanted = product(*scaled)
        for scales in ((a_scales, b_scales), turned):
            found = gristmill.gemm(a, b, out_type="fp32", a_scales=scales[0], b_scales=scales[1])
            self.assertEqual(found.tolist(), wanted)
        exponents = [[127 + (i + g) % 3 for i in range(m)] for g in range(3)]
        found = gristmill.gemm(a, b, out_type="fp32", a_scales=gristmill.array(exponents, "uint8").T, b_scales=b_scales)
        self.assertEqual(found.tolist(), wanted)
        with self.assertRaisesRegex(gristmill.Error, "a_scales_stride is 3: kernels read ue8m0 by words of 4"):
            gristmill.gemm(a, b, a_scales=gristmill.array(list(zip(*exponents)), "uint8"), b_scales=b_scales)
        with self.assertRaisesRegex(ValueError, "b_scales is fp32 of shape .* of 136 or 2 rows and 3"):
            gristmill.gemm(a, b, a_scales=a_scales, b_scales=gristmill.array([[1.0] * 3] * 3, "fp32"))
        with self.assertRaisesRegex(gristmill.Error, "A has scales of each 128 of K and B none"):
            gristmill.gemm(a, b, a_scales=a_scales)

    def test_fp8_refusals(self):
        with self.assertRaisesRegex(gristmill.Error, "fast_accumulation is of fp8; A and B are bf16"):
            gristmill.gemm(matrix(20, 48), matrix(48, 24), fast_accumulation=True)

    def test_pack(self):
        m, n, k = 20, 23, 37
        a = matrix(m, k)
        for b in (matrix(k, n, "bf16", 2), matrix(n, k, "bf16", 2).T):
            packed = gristmill.pack(b)
            self.assertEqual((packed.shape, packed.dtype, sorted(packed.strides)), ((k, n), "bf16", [1, 64]))
            self.assertEqual(packed.strides.index(1), b.strides.index(1))
            self.assertEqual(packed.tolist(), b.tolist())
            self.assertIs(gristmill.pack(packed), packed)
            self.assertEqual(gristmill.gemm(a, packed).tolist(), gristmill.gemm(a, b).tolist())
        self.assertEqual(gristmill.pack(a.T).T.tolist(), a.tolist())
        batch = stack(2, k, n, seed=2)
        self.assertEqual(gristmill.pack(batch).strides, (64 * k, 64, 1))
        self.assertEqual(gristmill.pack(batch).tolist(), batch.tolist())

    def test_pack_turns(self):
        a, b = integers(20, 48), integers(48, 24, 2)
        with self.assertRaises(gristmill.Error):
            gristmill.gemm(a, b)
        packed = gristmill.pack(b)
        self.assertEqual(packed.strides, (1, 128))
        self.assertEqual(gristmill.gemm(a, packed).tolist(), product(a.tolist(), b.tolist()))
        b = matrix(48, 24, "fp32")
        self.assertIs(gristmill.pack(b), b)
        self.assertEqual(gristmill.pack(b, precision="tf32").strides, (1, 64))
        with self.assertRaisesRegex(ValueError, "b has 1 dimensions"):
            gristmill.pack(gristmill.array([1.0]))

    def test_epilogue(self):
        a, b, c = matrix(16, 32), matrix(32, 24, seed=3), matrix(16, 24, "fp32", 5)
        plain, row = product(a.tolist(), b.tolist()), [float(j % 5) for j in range(24)]
        column = [float(i % 3) for i in range(16)]
        each = range(16)
        self.assertEqual(
            gristmill.gemm(a, b, c, out_type="fp32").tolist(),
            [[x + y for x, y in zip(plain[i], c.tolist()[i])] for i in each],
        )
        found = gristmill.gemm(a, b, c, alpha=2, beta=-3, bias=gristmill.array(row), activation="relu", out_type="fp32")
        self.assertEqual(
            found.tolist(), [[max(2 * x - 3 * y + z, 0) for x, y, z in zip(plain[i], c.tolist()[i], row)] for i in each]
        )
        found = gristmill.gemm(a, b, bias=gristmill.array([[x] for x in column], "bf16"), out_type="fp32")
        self.assertEqual(found.tolist(), [[x + column[i] for x in plain[i]] for i in each])

    def test_extended_epilogue(self):
        """A residual behind the activation, c of another type, scales of 16-bit operands, 8 bits by a static scale."""
        a, b, c = matrix(16, 32), matrix(32, 24, seed=3), matrix(16, 24, "fp32", 5)
        plain, added = product(a.tolist(), b.tolist()), c.tolist()
        found = gristmill.gemm(a, b, residual=c, activation="relu", out_type="fp32")
        self.assertEqual(found.tolist(), [[max(x, 0) + y for x, y in zip(*rows)] for rows in zip(plain, added)])
        found = gristmill.gemm(a, b, c, out_type="fp16")
        self.assertEqual(found.tolist(), [[x + y for x, y in zip(*rows)] for rows in zip(plain, added)])
        half = gristmill.array([0.5], "fp32")
        found = gristmill.gemm(a, b, a_scales=half, out_type="fp32")
        self.assertEqual(found.tolist(), [[x / 2 for x in row] for row in plain])
        found = gristmill.gemm(a, b, out_type="int8", out_scale=gristmill.array([4.0], "fp32"))
        self.assertEqual(found.tolist(), [[min(max(round(x / 4), -127), 127) for x in row] for row in plain])
        with self.assertRaisesRegex(ValueError, "an out_scale is of e4m3, e5m2 and int8"):
            gristmill.gemm(a, b, out_type="e4m3")

    def test_out(self):
        a, b, c = matrix(16, 32), matrix(32, 24, seed=3), matrix(16, 24, "fp32", 5)
        expected = [[x + y for x, y in zip(*rows)] for rows in zip(product(a.tolist(), b.tolist()), c.tolist())]
        self.assertIs(gristmill.gemm(a, b, c, out=c), c)
        self.assertEqual(c.tolist(), expected)
        other = OnlyDlpack(gristmill.Array((16, 24), "bf16"))
        self.assertIs(gristmill.gemm(a, b, out=other), other)
        self.assertEqual(other.array.tolist(), product(a.tolist(), b.tolist()))

    def test_arrays_of_others(self):
        a, b = matrix(16, 32, "fp16"), matrix(32, 24, "fp16", 3)
        expected = product(a.tolist(), b.tolist())
        self.assertEqual(gristmill.gemm(OnlyDlpack(a), OnlyInterface(b)).tolist(), expected)
        self.assertEqual(gristmill.gemm(OnlyInterface(a), OnlyDlpack(b, False)).tolist(), expected)

    def test_vectors_and_nothing(self):
        a, b = matrix(1, 64), matrix(64, 1, seed=2)
        self.assertEqual(gristmill.gemm(a, b, out_type="fp32").tolist(), product(a.tolist(), b.tolist()))
        self.assertEqual(gristmill.gemm(gristmill.zeros((0, 8), "bf16"), matrix(8, 4)).shape, (0, 4))
        self.assertEqual(
            gristmill.gemm(gristmill.zeros((2, 0), "bf16"), gristmill.zeros((0, 3), "bf16")).tolist(), [[0.0] * 3] * 2
        )

    def test_streams(self):
        stream = ctypes.c_void_p()
        with _driver.context(0):
            _driver.driver().cuStreamCreate(ctypes.byref(stream), 1)
        a, b = matrix(16, 32), matrix(32, 24, seed=3)
        for given in (
            stream.value,
            type("Stream", (), {"cuda_stream": stream.value}),
            type("Stream", (), {"ptr": stream.value}),
        ):
            found = gristmill.gemm(a, b, stream=given)
            self.assertEqual(found.memory.stream, stream.value)
            self.assertEqual(found.tolist(), product(a.tolist(), b.tolist()))
        self.says(
            TypeError,
            "a stream is a number, or has cuda_stream, ptr or handle: str has none of them",
            gristmill.gemm,
            a,
            b,
            stream="s",
        )

    def test_workspace_and_options(self):
        a, b = matrix(16, 4096), matrix(64, 4096, seed=3).T
        room = gristmill.Array(1 << 20, "uint8")
        expected = gristmill.gemm(a, b, out_type="fp32").tolist()
        self.assertEqual(gristmill.gemm(a, b, out_type="fp32", workspace=room).tolist(), expected)
        self.assertEqual(
            gristmill.gemm(a, b, out_type="fp32", batch_invariant=True, constant_b=True).tolist(), expected
        )
        name = "gemm_sm80_bf16_tn_64x64x64_s4_c1x1_w2x2_xor"
        self.assertEqual(gristmill.gemm(a, b, out_type="fp32", kernel=name).tolist(), expected)

    def test_plans_are_kept(self):
        a, b = matrix(16, 48), matrix(48, 24, seed=3)
        gristmill.gemm(a, b)
        count = len(_gemm.plans)
        threads = [threading.Thread(target=gristmill.gemm, args=(a, b)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(_gemm.plans), count)
        gristmill.gemm(a, b, activation="silu")
        self.assertEqual(len(_gemm.plans), count + 1)
        kept, _gemm.PLANS_MAX = _gemm.PLANS_MAX, 2
        try:
            gristmill.gemm(a, b, activation="gelu_erf")
        finally:
            _gemm.PLANS_MAX = kept
        self.assertEqual(len(_gemm.plans), 2)

    def test_memory(self):
        a, b = matrix(64, 64), matrix(64, 64, seed=3)
        self.leaves_nothing(lambda: gristmill.gemm(a, b))
        self.leaves_nothing(lambda: gristmill.gemm(OnlyDlpack(a), b.T))


class Batches(Test):
    def products(self, a, b):
        return [product(x, y) for x, y in zip(a.tolist(), b.tolist())]

    def is_of_batches(self):
        """Whether the last plan's kernel takes batches."""
        info, library = api.gm_gemm_kernel_info(), _library.load()
        library.gm_gemm_kernel_get(library.gm_plan_kernel(next(reversed(_gemm.plans.values()))[0].handle), info)
        return info.batch == 1

    def test_layouts(self):
        for a in (stack(3, 20, 40), stack(3, 40, 20).mT):
            for b in (stack(3, 40, 24, seed=2), stack(3, 24, 40, seed=2).mT):
                found = gristmill.gemm(a, b, out_type="fp32")
                self.assertEqual((found.shape, found.dtype), ((3, 20, 24), "fp32"))
                self.assertEqual(found.tolist(), self.products(a, b))
                self.assertTrue(self.is_of_batches())
        self.assertEqual(gristmill.gemm(OnlyDlpack(a), OnlyDlpack(b), out_type="fp32").tolist(), found.tolist())

    def test_one_for_all(self):
        a, b = stack(3, 16, 32), stack(3, 24, 32, seed=2)
        one = matrix(16, 32, seed=5)
        expected = [product(one.tolist(), y) for y in b.mT.tolist()]
        for shared in (one, one._view((1, 16, 32), (0, 32, 1)), one._view((3, 16, 32), (0, 32, 1))):
            self.assertEqual(gristmill.gemm(shared, b.mT, out_type="fp32").tolist(), expected)
        w = matrix(24, 32, seed=7).T
        expected = [product(x, w.tolist()) for x in a.tolist()]
        self.assertEqual(gristmill.gemm(a, w, out_type="fp32").tolist(), expected)
        self.assertFalse(self.is_of_batches())  # 48 rows by one product
        found = gristmill.gemm(one._view((1, 16, 32), (9, 32, 1)), w, out_type="fp32")
        self.assertEqual(found.tolist(), [product(one.tolist(), w.tolist())])

    def test_heads(self):
        """Matrices beside each other in rows of tokens."""
        tokens, heads, width = 16, 3, 32
        q, k = matrix(tokens, heads * width), matrix(tokens, heads * width, seed=3)
        q, k = (x._view((heads, tokens, width), (width, heads * width, 1)) for x in (q, k))
        scores = gristmill.gemm(q, k.mT)
        self.assertEqual(scores.tolist(), self.products(q, k.mT))
        out = gristmill.zeros((tokens, heads * width), "fp32")
        beside = out._view((heads, tokens, width), (width, heads * width, 1))
        self.assertIs(gristmill.gemm(scores, k, out=beside), beside)
        self.assertEqual(beside.tolist(), self.products(scores, k))
        self.assertEqual(out.tolist()[5], [x for head in beside.tolist() for x in head[5]])

    def test_c(self):
        a, b, c = stack(2, 16, 32), stack(2, 24, 32, seed=3).mT, stack(2, 16, 24, "fp32", 5)
        plain = self.products(a, b)
        for given in (c, matrix(16, 24, "fp32", 7), stack(1, 16, 24, "fp32", 7)):
            values = given.tolist() if given.ndim == 3 else [given.tolist()]
            found = gristmill.gemm(a, b, given, beta=-2, out_type="fp32").tolist()
            for i in range(2):
                wanted = [[x - 2 * y for x, y in zip(*rows)] for rows in zip(plain[i], values[i % len(values)])]
                self.assertEqual(found[i], wanted)
        expected = gristmill.gemm(a, b, c, out_type="fp32").tolist()
        self.assertIs(gristmill.gemm(a, b, c, out=c), c)
        self.assertEqual(c.tolist(), expected)

    def test_bias(self):
        a, b = stack(2, 16, 32), stack(2, 24, 32, seed=3).mT
        plain, numbers = self.products(a, b), [float(i % 11) for i in range(48)]
        for shape in ((24,), (2, 24), (1, 24), (2, 1, 24), (1, 1, 24), (16, 1), (2, 16, 1), (1, 16, 1)):
            along_n, step = shape[-1] == 24, math.prod(shape[1:]) if shape[0] == 2 else 0
            bias = gristmill.array(numbers[: math.prod(shape)])._view(shape, _dlpack.packed(shape))
            wanted = [
                [
                    [x + numbers[i * step + (n if along_n else m)] for n, x in enumerate(row)]
                    for m, row in enumerate(rows)
                ]
                for i, rows in enumerate(plain)
            ]
            self.assertEqual(gristmill.gemm(a, b, bias=bias, out_type="fp32").tolist(), wanted, shape)

    def test_nothing(self):
        self.assertEqual(gristmill.gemm(gristmill.zeros((0, 4, 8), "bf16"), matrix(6, 8).T).tolist(), [])
        self.assertEqual(gristmill.gemm(gristmill.zeros((0, 4, 8), "bf16"), stack(1, 6, 8).mT).shape, (0, 4, 6))
        found = gristmill.gemm(gristmill.zeros((2, 3, 0), "bf16"), gristmill.zeros((2, 5, 0), "bf16").mT)
        self.assertEqual(found.tolist(), [[[0.0] * 5] * 3] * 2)

    def test_pointer_arrays(self):
        a, b, d = stack(3, 16, 32), stack(3, 24, 32, seed=3), gristmill.zeros((3, 16, 24))
        plan = gristmill.Plan(
            api.gm_gemm_problem(m=16, n=24, k=32, ab_type=api.GM_BF16, d_type=api.GM_FP32, batch=3, pointer_arrays=1)
        )
        self.assertIn("sm80", plan.kernel)

        def pointers(array, bytes, leave=()):
            places = [0 if i in leave else array.ptr + i * bytes for i in range(3)]
            return gristmill.Array.from_bytes(struct.pack("<3Q", *places), 3, "int64")

        left_out = gristmill.zeros(1, "int32")
        plan.execute(
            a=pointers(a, 16 * 32 * 2),
            b=pointers(b, 24 * 32 * 2, leave=[1]),
            d=pointers(d, 16 * 24 * 4),
            left_out=left_out,
        )
        wanted = self.products(a, b.mT)
        self.assertEqual(d.tolist(), [wanted[0], [[0.0] * 24] * 16, wanted[2]])
        self.assertEqual(left_out.tolist(), [1])

    def test_sentences(self):
        a, b = stack(2, 4, 8), stack(2, 6, 8).mT
        for kind, sentence, args, named in (
            (ValueError, "a has 2 matrices and b 3: there must be as many, or one for all", (a, stack(3, 8, 6)), {}),
            (ValueError, "a is 4 x 8 and b 4 x 8: their k differs", (a, a), {}),
            (
                ValueError,
                "b has 4 dimensions, (1, 2, 8, 6); gemm takes two, or three of a batch",
                (a, gristmill.zeros((1, 2, 8, 6), "bf16")),
                {},
            ),
            (ValueError, "c has shape (3, 4, 6), the result (2, 4, 6)", (a, b, stack(3, 4, 6)), {}),
            (ValueError, "c has shape (1, 4, 6), the result (4, 6)", (matrix(4, 8), matrix(8, 6), stack(1, 4, 6)), {}),
            (ValueError, "out has shape (4, 6), the result (2, 4, 6)", (a, b), {"out": matrix(4, 6)}),
            (
                ValueError,
                "bias has shape (3, 6) and strides (6, 1); it must be packed, "
                "(6,), (4, 1), (2, 6), (2, 1, 6) or (2, 4, 1)",
                (a, b),
                {"bias": gristmill.zeros((3, 6))},
            ),
            (
                ValueError,
                "a has strides (-32, 8, 1): a batch must lie in its order",
                (a._view((2, 4, 8), (-32, 8, 1)), b),
                {},
            ),
        ):
            self.says(kind, sentence, gristmill.gemm, *args, **named)
        with self.assertRaises(gristmill.Error) as caught:
            gristmill.gemm(a, b, out=matrix(4, 6)._view((2, 4, 6), (0, 6, 1)))
        self.assertIn("d_batch_stride is 0: the matrices of D overlap", str(caught.exception))

    def test_memory(self):
        a, b = stack(3, 16, 32), stack(3, 24, 32, seed=3)
        self.leaves_nothing(lambda: gristmill.gemm(a, b.mT))


class Refusals(Test):
    def refuses(self, kind, sentence, *args, **named):
        self.says(kind, sentence, gristmill.gemm, *args, **named)

    def test_sentences(self):
        a, b = matrix(4, 8), matrix(8, 6)
        self.refuses(ValueError, "a is 4 x 8 and b 4 x 8: their k differs", a, a)
        vector = gristmill.zeros(3, "bf16")
        self.refuses(ValueError, "a has 1 dimensions, (3,); gemm takes two, or three of a batch", vector, b)
        self.refuses(
            TypeError,
            "a is bf16 and b fp16: both must be bf16, fp16, fp32, e4m3 or int8, or one e4m3 and the other e5m2; "
            "ab_type rounds arrays on the host",
            a,
            matrix(8, 6, "fp16"),
        )
        self.refuses(ValueError, "beta is 2, but there is no c", a, b, beta=2)
        self.refuses(
            ValueError,
            "there is no activation 'tanh'; there are relu, gelu_tanh, gelu_erf, silu",
            a,
            b,
            activation="tanh",
        )
        self.refuses(ValueError, "c has shape (8, 6), the result (4, 6)", a, b, b)
        self.refuses(TypeError, "c is bf16, the result fp32", matrix(4, 8, "fp32"), matrix(8, 6, "fp32"), matrix(4, 6))
        self.refuses(ValueError, "out has strides (1, 4): it must be row-major", a, b, out=matrix(6, 4).T)
        self.refuses(
            ValueError,
            "bias has shape (4,) and strides (1,); it must be packed, (6,) or (4, 1)",
            a,
            b,
            bias=gristmill.zeros(4),
        )
        self.refuses(
            ValueError, "ab_type is of arrays on the host; those on a device are used as they are", a, b, ab_type="bf16"
        )
        self.refuses(ValueError, "b not on the device, but the others are: gristmill.array() copies", a, [[1.0]])
        self.refuses(
            TypeError,
            "a is a list: neither a numpy array nor one on a device. gristmill.array() makes one of lists",
            [[1.0]],
            [[1.0]],
        )
        self.refuses(ValueError, "out, stream and workspace are of arrays on a device", [[1.0]], [[1.0]], stream=3)
        self.refuses(
            gristmill.Error, "GM_ERROR_UNKNOWN_KERNEL: the table has no kernel named gemm_x", a, b, kernel="gemm_x"
        )
        away = matrix(8, 6)
        away.memory.ordinal = 1
        self.refuses(ValueError, "a is on device 0, b on 1", a, away)
        wide = gristmill.Array((4, 8), "bf16")
        wide.strides = (16, 2)
        self.refuses(
            ValueError, "a has strides (16, 2): one dimension must be contiguous, and the other not overlap", wide, b
        )

    def test_library_refuses(self):
        a, b = matrix(4, 8), matrix(8, 4)
        with self.assertRaises(gristmill.Error) as caught:
            gristmill.gemm(a, b, out=gristmill.Array((4, 4), "int32"))
        self.assertEqual(caught.exception.name, "GM_ERROR_INVALID_ARGUMENT")
        x = matrix(8, 8)
        with self.assertRaises(gristmill.Error) as caught:
            gristmill.gemm(x, x, out=x)
        self.assertEqual(caught.exception.name, "GM_ERROR_OVERLAP")


@needs_numpy
class Host(Test):
    def test_float32(self):
        a, b = numpy.array(matrix(33, 47).tolist(), "f4"), numpy.array(matrix(47, 29, seed=2).tolist(), "f4")
        c = numpy.array(matrix(33, 29, seed=4).tolist(), "f4")
        for ab_type in ("bf16", "fp16"):
            found = gristmill.gemm(a, b, ab_type=ab_type)
            self.assertEqual(found.dtype, numpy.float32)
            numpy.testing.assert_array_equal(found, a @ b)
        found = gristmill.gemm(a, numpy.asfortranarray(b), c, ab_type="bf16", bias=c[0], beta=2, activation="relu")
        numpy.testing.assert_array_equal(found, numpy.maximum(a @ b + 2 * c + c[0], 0))
        numpy.testing.assert_array_equal(gristmill.gemm(a, b[::1, ::2], ab_type="bf16"), a @ b[:, ::2])
        self.says(
            TypeError,
            "a is fp32 and b fp16: both must be bf16, fp16, fp32, e4m3 or int8, or one e4m3 and the other e5m2; "
            "ab_type rounds arrays on the host",
            gristmill.gemm,
            a,
            b.astype("f2"),
        )
        numpy.testing.assert_array_equal(gristmill.gemm(a, b), a @ b)
        numpy.testing.assert_array_equal(gristmill.gemm(a, b, ab_type="bf16", out_type="bf16"), a @ b)

    def test_float16(self):
        a, b = numpy.array(matrix(8, 16).tolist(), "f2"), numpy.array(matrix(16, 8, seed=2).tolist(), "f2")
        found = gristmill.gemm(a, b)
        self.assertEqual(found.dtype, numpy.float16)
        numpy.testing.assert_array_equal(found, a @ b)
        self.leaves_nothing(lambda: gristmill.gemm(a, b))

    def test_batches(self):
        a, b = numpy.array(stack(3, 33, 47).tolist(), "f4"), numpy.array(stack(3, 29, 47, seed=2).tolist(), "f4")
        c, transposed = numpy.array(stack(3, 33, 29, seed=4).tolist(), "f4"), b.swapaxes(1, 2)
        numpy.testing.assert_array_equal(gristmill.gemm(a, transposed, ab_type="bf16"), a @ transposed)
        found = gristmill.gemm(a, b[0].T, c, ab_type="bf16", bias=c[0, 0])
        numpy.testing.assert_array_equal(found, a @ b[0].T + c + c[0, 0])
        found = gristmill.gemm(a, transposed.copy(), ab_type="bf16", bias=c[:, :1])
        numpy.testing.assert_array_equal(found, a @ transposed + c[:, :1])

    @needs_ml_dtypes
    def test_bfloat16(self):
        a = numpy.array(matrix(8, 16).tolist()).astype(ml_dtypes.bfloat16)
        b = numpy.array(matrix(16, 8, seed=2).tolist()).astype(ml_dtypes.bfloat16)
        found = gristmill.gemm(a, b.T.copy().T)
        self.assertEqual(found.dtype, ml_dtypes.bfloat16)
        numpy.testing.assert_array_equal(found.astype("f4"), a.astype("f4") @ b.astype("f4"))


class Plans(Test):
    def test_rms_norm(self):
        x, weight, out = gristmill.array([[3.0, 4.0] * 8] * 2), gristmill.array([2.0] * 16), gristmill.Array((2, 16))
        plan = gristmill.Plan(api.gm_rms_norm_problem(rows=2, columns=16, type=api.GM_FP32))
        plan.execute(x=x, weight=OnlyDlpack(weight), out=out.ptr)
        for value, expected in zip(out.tolist()[1][:2], (6 / 12.5**0.5, 8 / 12.5**0.5)):
            self.assertAlmostEqual(value, expected, places=5)
        self.assertEqual((plan.operation, plan.workspace_bytes), ("rms_norm", 0))
        self.assertRegex(repr(plan), r"^gristmill.Plan\(rms_norm, rms_norm_sm90_fp32_\w+, [\d.]+ us predicted\)$")

    def test_workspace(self):
        plan = gristmill.Plan(
            api.gm_reduce_problem(rows=64, columns=512, type=api.GM_FP32, along=api.GM_REDUCE_ALL),
            workspace_limit=api.GM_REDUCE_WORKSPACE_BYTES,
        )
        out, room = gristmill.Array(1), gristmill.Array(max(plan.workspace_bytes, 16), "uint8")
        plan.execute(x=gristmill.array([[1.0] * 512] * 64), out=out, workspace=room)
        self.assertEqual(out.tolist(), [64.0 * 512])

    def test_refusals(self):
        self.says(
            TypeError,
            "a problem is a struct such as api.gm_gemm_problem, not gm_device",
            gristmill.Plan,
            api.gm_device(),
        )
        with self.assertRaises(gristmill.Error) as caught:
            gristmill.Plan(api.gm_rms_norm_problem(rows=-1, columns=16))
        self.assertEqual(caught.exception.name, "GM_ERROR_INVALID_ARGUMENT")
        plan = gristmill.Plan(api.gm_rms_norm_problem(rows=1, columns=16))
        self.says(AttributeError, "gm_rms_norm_args has no member y", plan.execute, y=3)


class Captures(Test):
    def test_graph(self):
        """gemm() may be captured, once its plan is there, and replayed."""
        stream, graph, ready = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        a, b, out = matrix(16, 32), matrix(32, 24, seed=3), gristmill.zeros((16, 24), "bf16")
        driver = _driver.driver()
        with _driver.context(0):
            self.assertEqual(driver.cuStreamCreate(ctypes.byref(stream), 1), 0)
            gristmill.gemm(a, b, out=out, stream=stream.value)
            self.assertEqual(driver.cuStreamBeginCapture_v2(stream, 0), 0)
            gristmill.gemm(a, b, out=out, stream=stream.value)
            self.assertEqual(driver.cuStreamEndCapture(stream, ctypes.byref(graph)), 0)
            self.assertEqual(driver.cuGraphInstantiateWithFlags(ctypes.byref(ready), graph, ctypes.c_ulonglong(0)), 0)
            out.copy_from(bytes(out.nbytes))
            self.assertEqual(driver.cuGraphLaunch(ready, stream), 0)
            self.assertEqual(driver.cuStreamSynchronize(stream), 0)
        self.assertEqual(out.tolist(), product(a.tolist(), b.tolist()))
