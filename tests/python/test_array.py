# SPDX-License-Identifier: Apache-2.0
"""Arrays: every type there and back, views, memory given back, DLPack and __cuda_array_interface__ both ways."""

import gc
import math
import struct

import gristmill
from base import OnlyDlpack, OnlyInterface, Test, matrix, ml_dtypes, needs_ml_dtypes, needs_numpy, numpy
from gristmill import _array, _dlpack, _driver, _types


class Values(Test):
    def test_there_and_back(self):
        for dtype in _types.TYPES:
            values = [[0, 1, 2], [3, 4, 5]] if "int" in dtype else [[0.0, 1.5, -2.0], [3.0, 0.25, -6.0]]
            made = gristmill.array([[abs(v) if dtype == "uint8" else v for v in row] for row in values], dtype)
            self.assertEqual(
                (made.shape, made.strides, made.dtype, made.ndim, made.size, len(made)),
                ((2, 3), (3, 1), dtype, 2, 6, 2),
            )
            self.assertEqual(made.nbytes, 6 * _types.TYPES[dtype].bytes)
            self.assertEqual(made.tolist(), [[abs(v) if dtype == "uint8" else v for v in row] for row in values])
            again = gristmill.Array.from_bytes(made.tobytes(), (2, 3), dtype)
            self.assertEqual(again.tobytes(), made.tobytes())
            self.assertEqual(made.T.tolist(), [list(column) for column in zip(*made.tolist())])
            self.assertEqual(made.T.T.tobytes(), made.tobytes())
            self.assertEqual(made.mT.tolist(), made.T.tolist())

    def test_shapes(self):
        self.assertEqual(gristmill.array(2.5).tolist(), 2.5)
        self.assertEqual(gristmill.array([[[1], [2]]], "int32").shape, (1, 2, 1))
        self.assertEqual(gristmill.zeros((2, 0)).tolist(), [[], []])
        self.assertEqual(gristmill.zeros(3, "int64").tolist(), [0, 0, 0])
        self.assertEqual(gristmill.array([[[1.0, 2.0]], [[3.0, 4.0]]]).mT.tolist(), [[[1.0], [2.0]], [[3.0], [4.0]]])
        self.assertEqual(repr(gristmill.zeros((2, 3), "bf16")), "gristmill.Array(shape=(2, 3), dtype='bf16', device=0)")

    def rounded(self, dtype, *values):
        return gristmill.array(list(values), dtype).tolist()

    def test_rounding(self):
        self.assertEqual(
            self.rounded("bf16", 1 + 2**-8, 1 + 3 * 2**-8, 1e39, -math.inf), [1.0, 1 + 2**-6, math.inf, -math.inf]
        )
        self.assertEqual(self.rounded("fp16", 2049.0, 2051.0, 1e6, -1e6), [2048.0, 2052.0, math.inf, -math.inf])
        self.assertEqual(
            self.rounded("e4m3", 17.0, 19.0, 2**-10, 3 * 2**-10, 1e9, -500.0, -math.inf),
            [16.0, 20.0, 0.0, 2**-8, 448.0, -448.0, -448.0],
        )
        self.assertEqual(self.rounded("e5m2", 9.0, 11.0, 2**-17, 1e9, math.inf), [8.0, 12.0, 0.0, 57344.0, math.inf])
        for dtype in ("bf16", "fp16", "fp32", "e4m3", "e5m2"):
            zero, nan = self.rounded(dtype, -0.0, math.nan)
            self.assertTrue(math.copysign(1, zero) == -1 and math.isnan(nan), dtype)

    def test_refusals(self):
        self.says(
            TypeError, "there is no element type fp64; there are " + ", ".join(_types.TYPES), gristmill.Array, 3, "fp64"
        )
        self.says(ValueError, "an array has no negative extent: (2, -1)", gristmill.Array, (2, -1))
        self.says(
            ValueError,
            "gristmill.Array(shape=(3,), dtype='fp32', device=0) has no matrices to transpose",
            lambda: gristmill.zeros(3).mT,
        )
        self.says(ValueError, "the lists at [1] are not all of 2 elements", gristmill.array, [[1, 2], [3]])
        with self.assertRaises(ValueError) as caught:
            gristmill.array([1, 300], "uint8")
        self.assertRegex(str(caught.exception), "^uint8 does not hold these numbers: ")
        x = gristmill.zeros((2, 3), "fp32")
        self.says(ValueError, f"23 bytes for {x!r}, which has 24", x.copy_from, bytes(23))
        self.says(ValueError, f"{x.T!r} is a view with strides (1, 3), not row-major", x.T.copy_from, bytes(24))
        self.says(TypeError, "an array of no dimension has no length", len, gristmill.array(1.0))
        with self.assertRaises(gristmill.Error) as caught:
            gristmill.Array(1 << 50, "uint8")
        self.assertEqual(
            (caught.exception.name, caught.exception.sentence),
            ("GM_ERROR_DRIVER", f"cuMemAlloc_v2({1 << 50}): CUDA_ERROR_OUT_OF_MEMORY (2)"),
        )
        with self.assertRaises(gristmill.Error) as caught:
            gristmill.Array(1, device=7)
        self.assertEqual(caught.exception.name, "GM_ERROR_NO_DEVICE")

    @needs_numpy
    def test_numpy(self):
        for name in ("float16", "float32", "int8", "uint8", "int32", "int64"):
            values = numpy.arange(6).astype(name).reshape(2, 3)
            made = gristmill.array(values)
            self.assertTrue((made.numpy() == values).all() and made.numpy().dtype == values.dtype)
        x = numpy.array([1 + 2**-8, 1 + 3 * 2**-8, numpy.nan, -numpy.inf, -0.0, 3e38, 3.4e38], "f4")
        for dtype in ("bf16", "e4m3", "e5m2"):
            made = gristmill.array(x, dtype)
            self.assertEqual(made.tobytes(), gristmill.array(x.tolist(), dtype).tobytes())
            self.assertEqual(made.numpy().dtype, numpy.float32)
            numpy.testing.assert_array_equal(made.numpy(), numpy.array(made.tolist(), "f4"))
        target = gristmill.zeros((2, 3), "fp16")
        target.copy_from(numpy.ones((2, 3)))
        self.assertEqual(target.tolist(), [[1.0] * 3] * 2)
        self.says(ValueError, "a numpy array of shape (3,) for one of (2, 3)", target.copy_from, numpy.ones(3))
        self.assertEqual(gristmill.array(numpy.arange(6.0).reshape(2, 3).T, "fp32").tolist(), [[0, 3], [1, 4], [2, 5]])

    @needs_numpy
    @needs_ml_dtypes
    def test_ml_dtypes(self):
        for dtype, kind in (
            ("bf16", ml_dtypes.bfloat16),
            ("e4m3", ml_dtypes.float8_e4m3fn),
            ("e5m2", ml_dtypes.float8_e5m2),
        ):
            every = numpy.arange(256 if dtype != "bf16" else 65536).astype("u1" if dtype != "bf16" else "u2").view(kind)
            made = gristmill.array(every)
            self.assertEqual(made.dtype, dtype)
            self.assertEqual(made.tobytes(), every.tobytes())
            self.assertEqual(made.numpy(kind).tobytes(), every.tobytes())
            numpy.testing.assert_array_equal(made.numpy(), every.astype("f4"))


class Memory(Test):
    def test_given_back(self):
        self.leaves_nothing(lambda: gristmill.zeros((4096, 1024)).T.T)
        x = gristmill.zeros(64 << 20, "uint8")
        view, before = x.T, _driver.free_bytes()
        del x
        gc.collect()
        self.assertEqual(_driver.free_bytes(), before)  # the view keeps it
        del view
        gc.collect()
        self.assertGreaterEqual(_driver.free_bytes(), before + (64 << 20))


class Dlpack(Test):
    def test_both_kinds(self):
        for versioned in (False, True):
            for dtype in _types.TYPES:
                x = gristmill.array([[1, 2, 3], [4, 5, 6]], dtype)
                seen = _array.view(OnlyDlpack(x.T, versioned))
                self.assertEqual((seen.ptr, seen.shape, seen.strides, seen.dtype), (x.ptr, (3, 2), (1, 3), dtype))
                self.assertEqual(seen.tolist(), x.T.tolist())

    def test_memory(self):
        def takes():
            x = gristmill.zeros((256, 256))
            seen = _array.view(OnlyDlpack(x))
            del x
            gc.collect()
            self.assertEqual(seen.tolist()[255][255], 0.0)

        self.leaves_nothing(takes)
        self.leaves_nothing(lambda: gristmill.zeros((256, 256)).__dlpack__())  # which nobody takes
        self.assertEqual(_dlpack.exported, {})

    def test_streams(self):
        other = OnlyDlpack(gristmill.zeros(4))
        _array.view(other)
        _array.view(other, 77)
        self.assertEqual(other.streams, [1, 77])

    def test_refusals(self):
        x = gristmill.zeros(4, "fp32")
        capsule = x.__dlpack__()
        _dlpack.take(capsule)
        self.says(
            TypeError, "__dlpack__() returned no DLPack capsule, or one that was used before", _dlpack.take, capsule
        )
        self.says(BufferError, f"{x!r} lies on device (2, 0), not (1, 0)", x.__dlpack__, dl_device=(1, 0))
        self.says(BufferError, "gristmill exports its memory, and copies none", x.__dlpack__, copy=True)
        capsule = x.__dlpack__()
        managed = _dlpack.Managed.from_address(_dlpack.pointer_of(id(capsule), _dlpack.PLAIN))
        managed.tensor.dtype.bits = 64
        self.says(
            TypeError,
            f"DLPack's type (code 2, 64 bits, 1 lanes) is none of {', '.join(_types.TYPES)}",
            _dlpack.take,
            capsule,
        )

    @needs_numpy
    def test_numpy_is_on_the_host(self):
        self.assertFalse(_array.on_device(numpy.zeros(3)))


class Interface(Test):
    def test_there_and_back(self):
        x = gristmill.array([[1.0, 2.0], [3.0, 4.0]], "fp16")
        facts = x.T.__cuda_array_interface__
        self.assertEqual(
            facts,
            {
                "shape": (2, 2),
                "typestr": "<f2",
                "data": (x.ptr, False),
                "strides": (2, 4),
                "version": 3,
                "stream": None,
            },
        )
        for array in (x, x.T):
            self.assertEqual(_array.view(OnlyInterface(array, stream=2)).tolist(), array.tolist())

    def test_refusals(self):
        x = matrix(2, 2)
        self.assertFalse(hasattr(x, "__cuda_array_interface__"))
        self.says(
            AttributeError, "__cuda_array_interface__ has no bf16; DLPack has", lambda: x.__cuda_array_interface__
        )
        y = OnlyInterface(gristmill.zeros(2), typestr="<f8")
        self.says(
            TypeError,
            "__cuda_array_interface__ of type '<f8', which is none of " + ", ".join(_types.BY_TYPESTR),
            _array.view,
            y,
        )

    def test_struct(self):
        self.assertEqual(_types.decode(struct.pack("<2e", 1.5, -2), _types.TYPES["fp16"]), [1.5, -2.0])
