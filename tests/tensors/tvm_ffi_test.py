#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of libgristmill-tensors as a module of tvm-ffi, on the simulated GPU or a real one: what functions compute, results
on a stream, refusals. Needs apache-tvm-ffi, and GRISTMILL_LIBRARY.

    tvm_ffi_test.py
"""
import math
import os
import pathlib
import re
import sys
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings" / "python"))

try:
    import tvm_ffi
except ImportError:
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(77)

import gristmill  # noqa: E402

library = pathlib.Path(os.environ["GRISTMILL_LIBRARY"])
module = tvm_ffi.load_module(str(library.with_name("libgristmill-tensors.so")))
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def tensor(array):
    return tvm_ffi.from_dlpack(array)


def ramp(rows, columns, dtype="bf16"):
    """Small multiples of 1/4, which bf16 holds."""
    return gristmill.array([[(i * 7 + j * 5) % 9 / 4 - 1 for j in range(columns)] for i in range(rows)], dtype)


def zeros(*shape, dtype="bf16"):
    return gristmill.zeros(shape, dtype)


def close(ours, reference, error=2.0 ** -7):
    flat = lambda x: [y for z in x for y in flat(z)] if isinstance(x, list) else [x]  # noqa: E731
    for a, b in zip(flat(ours.tolist()), flat(reference), strict=True):
        assert abs(a - b) <= error * max(1, abs(b)), f"{a} instead of {b}"


def refused(kind, sentence, function, *arguments):
    try:
        function(*arguments)
    except kind as error:
        assert re.search(sentence, str(error)), f"{error} instead of {sentence}"
        return
    raise AssertionError("not refused: " + sentence)


@test
def linear():
    x, w, bias, out = ramp(3, 16), ramp(8, 16), gristmill.array([1.0] * 8, "bf16"), zeros(3, 8)
    rows, weights = x.tolist(), w.tolist()
    product = [[sum(a * b for a, b in zip(row, other)) for other in weights] for row in rows]
    module.linear(tensor(out), tensor(x), tensor(w))
    close(out, product)
    module.linear(tensor(out), tensor(x), tensor(w), tensor(bias), None, "relu")
    close(out, [[max(0, value + 1) for value in row] for row in product])
    exact = zeros(3, 8, dtype="fp32")
    module.linear(tensor(exact), tensor(x), tensor(w), None, None, "none", True)
    assert exact.tolist() == product
    x, w = (gristmill.array(array.tolist(), "fp32") for array in (x, w))
    for precision in ("fp32", "tf32", "tf32x3"):
        exact = zeros(3, 8, dtype="fp32")
        module.linear(tensor(exact), tensor(x), tensor(w), None, None, "none", False, False, False, precision)
        assert exact.tolist() == product


@test
def batches():
    a, b = (gristmill.array([ramp(*size).tolist() for size in sizes], "bf16")
            for sizes in (((4, 16), (4, 16), (4, 16)), ((16, 8), (16, 8), (16, 8))))
    exact = zeros(3, 4, 8, dtype="fp32")
    product = [[[sum(x * y for x, y in zip(row, column)) for column in zip(*other)] for row in one]
               for one, other in zip(a.tolist(), b.tolist())]
    module.bmm(tensor(exact), tensor(a), tensor(b), True)
    assert exact.tolist() == product
    turned = gristmill.array([[list(column) for column in zip(*one)] for one in b.tolist()], "bf16")
    out = zeros(3, 4, 8)
    module.bmm(tensor(out), tensor(a), tensor(turned.mT))
    close(out, product)
    module.bmm(tensor(exact), tensor(a), tensor(gristmill.array(turned.tolist()[:1], "bf16").mT), True)
    assert exact.tolist() == product
    module.bmm(tensor(zeros(0, 4, 8)), tensor(zeros(0, 4, 16)), tensor(gristmill.array(turned.tolist()[:1], "bf16").mT))


@test
def norms():
    x, w, out = ramp(3, 16), gristmill.array([2.0] * 16, "bf16"), zeros(3, 16)
    rms = [math.sqrt(sum(v * v for v in row) / 16 + 1e-5) for row in x.tolist()]
    module.rms_norm(tensor(out), tensor(x), tensor(w), 1e-5)
    close(out, [[2 * v / r for v in row] for row, r in zip(x.tolist(), rms)])
    residual = ramp(3, 16)
    module.add_rms_norm(tensor(out), tensor(residual), tensor(x), tensor(w))
    close(residual, [[2 * v for v in row] for row in x.tolist()])
    module.layer_norm(tensor(out), tensor(x))
    means = [sum(row) / 16 for row in x.tolist()]
    close(out, [[(v - m) / math.sqrt(sum((u - m) ** 2 for u in row) / 16 + 1e-5) for v in row]
                for row, m in zip(x.tolist(), means)])


@test
def gated_units():
    both, out = ramp(3, 16), zeros(3, 8)
    module.silu_mul(tensor(out), tensor(both))
    close(out, [[g / (1 + math.exp(-g)) * u for g, u in zip(row[:8], row[8:])] for row in both.tolist()])


@test
def rotary_in_place():
    q, k = gristmill.array([[[1.0] * 8]] * 2, "bf16"), gristmill.array([[[2.0] * 8]] * 2, "bf16")
    angles = [[position / 10 ** j for j in range(4)] for position in range(4)]
    table = gristmill.array([[math.cos(a) for a in row] + [math.sin(a) for a in row] for row in angles], "fp32")
    positions = gristmill.array([3, 1], "int32")
    module.rotary_(tensor(q), tensor(k), tensor(positions), tensor(table))
    expected = [[[math.cos(a) - math.sin(a) for a in angles[p]] + [math.cos(a) + math.sin(a) for a in angles[p]]]
                for p in (3, 1)]
    close(q, expected)
    close(k, [[[2 * v for v in head] for head in token] for token in expected])


@test
def attention():
    q, k, v = ramp(2, 16), ramp(3, 16), ramp(3, 16)
    out, lse = zeros(2, 1, 16), zeros(2, 1, dtype="fp32")
    as_heads = lambda x, *shape: gristmill.Array.from_bytes(x.tobytes(), shape, "bf16")  # noqa: E731
    indptr, length = gristmill.array([0, 2], "int32"), gristmill.array([3], "int32")
    module.attention_lse(tensor(out), tensor(lse), tensor(as_heads(q, 2, 1, 16)), tensor(as_heads(k, 1, 3, 1, 16)),
                         tensor(as_heads(v, 1, 3, 1, 16)), tensor(indptr), tensor(length))
    expected, sums = [], []
    for row, query in enumerate(q.tolist()):
        powers = [math.exp(sum(a * b for a, b in zip(query, key)) / 4) for key in k.tolist()[:row + 2]]
        sums.append([math.log(sum(powers))])
        expected.append([[sum(p * value[i] for p, value in zip(powers, v.tolist())) / sum(powers) for i in range(16)]])
    close(out, expected, 2.0 ** -6)
    close(lse, sums)


@test
def refuses_with_a_sentence():
    x, w, out = tensor(ramp(3, 16)), tensor(ramp(8, 16)), tensor(zeros(3, 8))
    refused(ValueError, "gristmill::linear: dimension 1 of weight is 8 and must be 16", module.linear, out, x,
            tensor(ramp(8, 8)))
    refused(ValueError, "out has 2 dimensions, the last of 16, and must have 2, the last of 8", module.linear, x, x, w)
    refused(ValueError, "out is of float32 and must be of bfloat16", module.linear, tensor(zeros(3, 8, dtype="fp32")), x, w)
    refused(ValueError, "weight is missing", module.linear, out, x)
    refused(ValueError, "the result's tensor is missing", module.linear)
    refused(ValueError, "2 arguments too many", module.silu_mul, out, x, None, False, 1, 2)
    refused(ValueError, "weight must be a tensor", module.linear, out, x, 3)
    refused(ValueError, "activation must be a string of less than 24", module.linear, out, x, w, None, None, "x" * 40)
    refused(ValueError, "activation must be a string", module.linear, out, x, w, None, None, 1)
    refused(ValueError, "activation is \"tanh\" and must be", module.linear, out, x, w, None, None, "tanh")
    refused(ValueError, "precision is \"tf32\", which is of float32, not bfloat16", module.linear, out, x, w, None, None,
            "none", False, False, False, "tf32")
    refused(ValueError, "precision is \"fp64\" and must be fp32, tf32 or tf32x3", module.linear, out, x, w, None, None,
            "none", False, False, False, "fp64")
    refused(ValueError, "fp32_out must be True or False", module.linear, out, x, w, None, None, "none", 1.5)
    refused(ValueError, "b has 2 dimensions and must have 3: batch, k, n", module.bmm, out, tensor(zeros(2, 3, 16)), w)
    refused(ValueError, "dimension 0 of b is 3 and must be 2", module.bmm, out, tensor(zeros(2, 3, 16)),
            tensor(zeros(3, 16, 8)))
    refused(ValueError, "dimension 1 of b is 8 and must be 16", module.bmm, out, tensor(zeros(2, 3, 16)),
            tensor(zeros(2, 8, 8)))
    refused(ValueError, "eps must be a number", module.rms_norm, x, x, w, "small")
    refused(ValueError, r"\(GM_ERROR_INVALID_ARGUMENT\)", module.rms_norm, x, x, tensor(gristmill.array([1.0] * 16, "bf16")), -1)


def main():
    passed = failed = 0
    for function in TESTS:
        try:
            function()
            passed += 1
            print(f"PASS {function.__name__}", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL {function.__name__}\n{traceback.format_exc(limit=-4)}", flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
