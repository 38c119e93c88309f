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
HAS_BLOCKS = gristmill.device(0).cc_major == 9  # kernels with scales of each 128 of K


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


# 2 groups of 128 along IN, 2 blocks along OUT, the last of each fewer.
TOKENS, OUT, IN = 4, 130, 144


def whole(rows, columns, dtype):
    """-1, 0, 1 and 2: sums of their products are exact."""
    codes = {"e4m3": (0xb8, 0, 0x38, 0x40), "int8": (0xff, 0, 1, 2)}[dtype]
    data = bytes(codes[(i * 7 + j * 5) % 4] for i in range(rows) for j in range(columns))
    return gristmill.Array.from_bytes(data, (rows, columns), dtype)


def scales(*shape):
    """Powers of 2, whose products are exact, as nested lists."""
    if not shape:
        return 0.5
    return [2.0 ** (i % 3 - 1) if len(shape) == 1 else [2.0 ** ((i + j) % 3 - 1) for j in range(shape[1])]
            for i in range(shape[0])]


def fp32(values):
    return gristmill.array(values, "fp32")


def scaled_product(x, w, x_scale, w_scale):
    """x_scale(i, k) is that of element k of row i."""
    x, w = ([[value * scale(i, k) for k, value in enumerate(row)] for i, row in enumerate(array.tolist())]
            for array, scale in ((x, x_scale), (w, w_scale)))
    return [[sum(a * b for a, b in zip(row, other)) for other in w] for row in x]


@test
def scaled_linear():
    x, w, out = whole(TOKENS, IN, "e4m3"), whole(OUT, IN, "e4m3"), zeros(TOKENS, OUT, dtype="fp32")
    of_x, of_w = scales(TOKENS, 2), scales(OUT, 2)
    of_rows, of_channels, of_blocks = scales(TOKENS), scales(OUT), scales(2, 2)
    turned = lambda values: fp32([list(column) for column in zip(*values)]).T  # noqa: E731
    one = (fp32([0.5]), lambda i, k: 0.5)
    rows = [(fp32(of_rows), lambda i, k: of_rows[i]), (fp32([[s] for s in of_rows]), lambda i, k: of_rows[i])]
    groups = [(layout(of_x), lambda i, k: of_x[i][k // 128]) for layout in (fp32, turned)]
    channels = [(fp32(of_channels), lambda n, k: of_channels[n]), (fp32([of_channels]), lambda n, k: of_channels[n])]
    blocks = [(layout(of_blocks), lambda n, k: of_blocks[n // 128][k // 128]) for layout in (fp32, turned)]
    fine = (fp32(of_w), lambda n, k: of_w[n][k // 128])
    cases = [(one, one), (one, channels[0]), (rows[0], channels[0]), (rows[1], channels[1])]
    if HAS_BLOCKS:
        cases += [(groups[0], blocks[0]), (groups[1], blocks[1]), (rows[1], blocks[0]), (groups[1], fine)]
    for x_scales, w_scales in cases:
        module.scaled_linear(tensor(out), tensor(x), tensor(w), tensor(x_scales[0]), tensor(w_scales[0]), None, None,
                             "none", tvm_ffi.dtype("float32"))
        assert out.tolist() == scaled_product(x, w, x_scales[1], w_scales[1])
    x, w = whole(TOKENS, IN, "int8"), whole(OUT, IN, "int8")
    product = scaled_product(x, w, rows[0][1], channels[0][1])
    bias, residual, out = gristmill.array([1.0] * OUT, "bf16"), gristmill.array([[2.0] * OUT] * TOKENS, "bf16"), None
    for dtype in ("bf16", "fp16"):
        out = zeros(TOKENS, OUT, dtype=dtype)
        module.scaled_linear(tensor(out), tensor(x), tensor(w), tensor(rows[0][0]), tensor(channels[0][0]), None, None,
                             "relu", tvm_ffi.dtype({"bf16": "bfloat16", "fp16": "float16"}[dtype]))
        close(out, [[max(0, value) for value in row] for row in product])
    out = zeros(TOKENS, OUT)
    module.scaled_linear(tensor(out), tensor(x), tensor(w), tensor(rows[0][0]), tensor(channels[0][0]), tensor(bias),
                         tensor(residual))
    close(out, [[value + 3 for value in row] for row in product])


@test
def quantizes():
    x = gristmill.array([[(i * 7 + j * 5) % 9 / 4 - 1 + i for j in range(IN)] for i in range(TOKENS)], "bf16")
    rows = x.tolist()
    widest = [[max(map(abs, row[:128])), max(map(abs, row[128:]))] for row in rows]

    def back(out, scale, error):
        """Within half a step of the type, or its share of a number."""
        for i, row in enumerate(out.tolist()):
            for k, value in enumerate(row):
                s = scale(i, k)
                assert abs(value * s - rows[i][k]) <= error(s, abs(rows[i][k])), f"{value} * {s} of {rows[i][k]}"

    for dtype, limit, error in (("e4m3", 448, lambda s, value: max(value / 16, s / 1024)),
                                ("int8", 127, lambda s, value: s / 2 * 1.0001)):
        asked = tvm_ffi.dtype({"e4m3": "float8_e4m3fn", "int8": "int8"}[dtype])
        out = zeros(TOKENS, IN, dtype=dtype)
        for scaling, made, scale in (("row", (TOKENS, 1), lambda s, i, k: s[i][0]),
                                     ("group", (TOKENS, 2), lambda s, i, k: s[i][k // 128]),
                                     ("block", (1, 2), lambda s, i, k: s[0][k // 128]),
                                     ("tensor", (1,), lambda s, i, k: s[0])):
            found = zeros(*made, dtype="fp32")
            module.quantize(tensor(out), tensor(found), tensor(x), scaling, asked)
            back(out, lambda i, k, s=found.tolist(): scale(s, i, k), error)
            expected = {"row": [[max(pair)] for pair in widest], "group": widest,
                        "block": [[max(pair[j] for pair in widest) for j in (0, 1)]],
                        "tensor": [max(map(max, widest))]}[scaling]
            close(found, [[v / limit for v in row] if isinstance(row, list) else row / limit for row in expected], 1e-7)
    by_column, by_row, other = zeros(2, TOKENS, dtype="fp32"), zeros(TOKENS, 2, dtype="fp32"), zeros(TOKENS, IN, dtype="int8")
    module.quantize(tensor(out), tensor(by_row), tensor(x), "group", asked)
    module.quantize(tensor(other), tensor(by_column.T), tensor(x), "group", asked, True)
    assert other.tolist() == out.tolist() and by_column.tolist() == [list(c) for c in zip(*by_row.tolist())]
    module.quantize(tensor(out), tensor(by_row), tensor(x), "group", asked, False, True)
    assert all(math.frexp(scale)[0] == 0.5 for row in by_row.tolist() for scale in row)
    out = zeros(TOKENS, IN, dtype="e4m3")
    module.quantize_static(tensor(out), tensor(x), tensor(fp32([0.25])))
    back(out, lambda i, k: 0.25, lambda s, value: value / 16)


@test
def linear_of_quantized_rows():
    """From bf16 to bf16, with scales of tokens and channels, and of 128 of a token and 128 x 128 of the weight."""
    x, w, out = ramp(TOKENS, IN), ramp(OUT, IN), zeros(TOKENS, OUT)
    quantized, weight = zeros(TOKENS, IN, dtype="e4m3"), zeros(OUT, IN, dtype="e4m3")
    bound = [[sum(abs(a * b) for a, b in zip(row, other)) / 8 for other in w.tolist()] for row in x.tolist()]
    product = [[sum(a * b for a, b in zip(row, other)) for other in w.tolist()] for row in x.tolist()]
    cases = [("row", zeros(TOKENS, 1, dtype="fp32"), "row", zeros(OUT, 1, dtype="fp32"))]
    if HAS_BLOCKS:
        cases += [("group", zeros(2, TOKENS, dtype="fp32").T, "block", zeros(2, 2, dtype="fp32"))]
    for x_kind, x_scales, weight_kind, weight_scales in cases:
        module.quantize(tensor(quantized), tensor(x_scales), tensor(x), x_kind)
        module.quantize(tensor(weight), tensor(weight_scales), tensor(w), weight_kind)
        module.scaled_linear(tensor(out), *map(tensor, (quantized, weight, x_scales, weight_scales)))
        for ours, exact, error in zip(out.tolist(), product, bound):
            assert all(abs(a - b) <= e for a, b, e in zip(ours, exact, error))


@test
def refuses_scales_that_fit_nothing():
    x, w, out = whole(TOKENS, IN, "e4m3"), whole(OUT, IN, "e4m3"), tensor(zeros(TOKENS, OUT))
    rows, channels = fp32(scales(TOKENS)), fp32(scales(OUT))

    def call(sentence, x=x, w=w, x_scales=rows, w_scales=channels, *rest):
        refused(ValueError, sentence, module.scaled_linear, out, tensor(x), tensor(w), tensor(x_scales), tensor(w_scales), *rest)

    call("x is of bfloat16 and must be of float8_e4m3fn or int8, as quantize", ramp(TOKENS, IN), ramp(OUT, IN))
    call("weight is of int8 and must be of float8_e4m3fn", w=whole(OUT, IN, "int8"))
    call(r"x_scales is \[4, 3\] and must be one scale, one for each of 4 tokens, or 2 for each", x_scales=fp32(scales(4, 3)))
    call(r"x_scales is \[5\] and must be one scale, one for each of 4 tokens", x_scales=fp32(scales(5)))
    call(r"weight_scales is \[3, 2\] and must be one scale, one for each of 130 channels, 2 for each, or \[2, 2\] for blocks",
         w_scales=fp32(scales(3, 2)))
    call("x_scales is of bfloat16 and must be of float32", x_scales=gristmill.array(scales(TOKENS), "bf16"))
    call("x_scales has scales of rows that are no neighbours", x_scales=fp32(scales(4, 4))._view((4, 1), (4, 1)))
    call("weight_scales has strides 8 and 2 and one must be 1", w_scales=fp32(scales(4, 4))._view((2, 2), (8, 2)))
    call("out_dtype is int8 and must be bfloat16, float16 or float32", x, w, rows, channels, None, None, "none",
         tvm_ffi.dtype("int8"))
    call("out_dtype is an unknown type and must be", x, w, rows, channels, None, None, "none", tvm_ffi.dtype("float64"))
    call("out_dtype must be a dtype", x, w, rows, channels, None, None, "none", "bfloat16")
    whole_x, whole_w = whole(TOKENS, IN, "int8"), whole(OUT, IN, "int8")
    call(r"x_scales is \[4, 2\] and must be one scale, one for each of 4 tokens$", whole_x, whole_w, fp32(scales(4, 2)))
    call("fast_accumulation", whole_x, whole_w, rows, channels, None, None, "none", None, True)
    eight, found, wide = tensor(zeros(4, IN, dtype="e4m3")), tensor(zeros(4, 1, dtype="fp32")), tensor(ramp(4, IN))
    refused(ValueError, 'scaling is "column" and must be row, group, block or tensor', module.quantize, eight, found, wide,
            "column")
    refused(ValueError, "out_dtype is uint8 and must be float8_e4m3fn", module.quantize, eight, found, wide, "row",
            tvm_ffi.dtype("uint8"))
    refused(ValueError, "out has 2 dimensions, the last of 1, and must have 2, the last of 2", module.quantize, eight, found,
            wide, "group")
    refused(ValueError, r"scale is \[4, 1\] and must be one scale", module.quantize_static, eight, wide, found)
    refused(ValueError, 'x has 3 dimensions and must have 2 for scaling "block"', module.quantize, eight, found,
            tensor(zeros(1, 4, IN)), "block")


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
