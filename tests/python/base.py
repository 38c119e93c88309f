# SPDX-License-Identifier: Apache-2.0
"""What the tests share."""

import gc
import os
import pathlib
import unittest

import gristmill
from gristmill import _driver

ROOT = pathlib.Path(__file__).resolve().parents[2]

try:
    import numpy
except ImportError:
    numpy = None
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

simulated = os.environ.get("GM_DRIVER") == "sim"
needs_numpy = unittest.skipUnless(numpy, "there is no numpy")
needs_ml_dtypes = unittest.skipUnless(ml_dtypes, "there is no ml_dtypes")


class Test(unittest.TestCase):
    def says(self, error, sentence, call, *args, **named):
        with self.assertRaises(error) as caught:
            call(*args, **named)
        self.assertEqual(str(caught.exception), sentence)

    def leaves_nothing(self, call):
        """`call` gives back all device memory that it takes."""
        call()  # what is kept on purpose: contexts, plans
        gc.collect()
        before = _driver.free_bytes()
        call()
        gc.collect()
        self.assertEqual(_driver.free_bytes(), before)


class OnlyDlpack:
    """An array of someone else, seen through DLPack."""

    def __init__(self, array, versioned=True):
        self.array, self.versioned, self.streams = array, versioned, []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, stream=None, **newer):
        if newer and not self.versioned:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.streams.append(stream)
        return self.array.__dlpack__(stream=stream, **newer)


class OnlyInterface:
    """An array of someone else, seen through __cuda_array_interface__."""

    def __init__(self, array, **changes):
        self.array, self.changes = array, changes

    @property
    def __cuda_array_interface__(self):
        return {**self.array.__cuda_array_interface__, **self.changes}


def matrix(rows, columns, dtype="bf16", seed=1):
    """Small integers, exact in every type."""
    return gristmill.array(
        [[float((seed + 7 * i + 5 * j + i * j) % 7 - 3) for j in range(columns)] for i in range(rows)], dtype
    )


def stack(batch, rows, columns, dtype="bf16", seed=1):
    """As many such matrices, each another."""
    return gristmill.array([matrix(rows, columns, dtype, seed + i).tolist() for i in range(batch)], dtype)
