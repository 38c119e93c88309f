#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of gristmill.torch and gristmill.patch on a GPU: every operator against float64, its out variant,
torch.compile, CUDA graphs, streams, devices, refusals, small models of transformers. Skips, status 77, where there is
no PyTorch with CUDA.

    torch_test.py [--only REGEX]
"""

import argparse
import pathlib
import re
import sys
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings" / "python"))

try:
    import torch
except ImportError:
    torch = None
if torch is None or not torch.cuda.is_available():
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(77)

import gristmill.torch as gm  # noqa: E402

ops, F = torch.ops.gristmill, torch.nn.functional
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def randn(*shape, dtype=torch.bfloat16, mean=0.0):
    return (torch.randn(*shape, device="cuda") + mean).to(dtype)


def close(ours, reference, length=1, unit=2.0**-8):
    """Within a unit in the last place of the type, and what a sum of `length` products of fp32 may lose."""
    assert ours.shape == reference.shape
    if not ours.numel():
        return
    error = (ours.double() - reference).abs()
    bound = unit * reference.abs() + 2.0**-22 * length * reference.abs().max().clamp(min=1) + 1e-30
    worst = (error / bound).max().item()
    assert worst <= 1, f"{worst:.2f} of the bound"


def refused(sentence, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except RuntimeError as error:
        assert re.search(sentence, str(error)), f"{error} instead of {sentence}"
        return
    raise AssertionError("not refused: " + sentence)


# ---- operators against float64 ----------------------------------------------------------------------------

ACTIVATIONS = {
    "none": lambda x: x,
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
}


@test
def linear():
    for m, n, k in ((1, 4096, 4096), (3, 96, 64), (17, 129, 72), (128, 256, 512), (5, 1, 8), (257, 1000, 333)):
        for activation, function in ACTIVATIONS.items():
            x, w, b, r = randn(m, k, mean=0.1), randn(n, k) / k**0.5, randn(n), randn(m, n)
            ours = ops.linear(x, w, b, r, activation)
            close(ours, function(x.double() @ w.double().T + b.double() + r.double()), k)
    x, w = randn(2, 3, 64), randn(32, 64)
    assert torch.equal(ops.linear(x, w), ops.linear(x.view(6, 64), w).view(2, 3, 32))
    assert torch.equal(ops.linear(x, w.T.contiguous().T), ops.linear(x, w))
    assert ops.linear(x, w, fp32_out=True).dtype == torch.float32
    close(ops.linear(x.half(), w.half(), constant_weight=True), x.half().double() @ w.half().double().T, 64, 2.0**-11)
    wide = randn(6, 128)
    close(ops.linear(wide[:, 32:96], w), wide[:, 32:96].double() @ w.double().T, 64)
    close(ops.linear(wide[:, 1:65], w), wide[:, 1:65].double() @ w.double().T, 64)  # not aligned
    assert ops.linear(randn(0, 64), w).shape == (0, 32)
    x, w = torch.randn(33, 257, device="cuda"), torch.randn(40, 257, device="cuda")
    exact = x.double() @ w.double().T
    for precision, bound in (("fp32", 3e-5), ("tf32x3", 3e-5), ("tf32", 6e-2)):
        found = ops.linear(x, w, precision=precision)
        assert found.dtype == torch.float32 and (found.double() - exact).abs().max() < bound, precision
        assert torch.equal(ops.bmm(x[None], w.T[None], precision=precision)[0], found), precision


@test
def bmm():
    for batch, m, n, k in ((3, 5, 24, 64), (64, 128, 128, 64), (200, 20, 20, 20), (2, 257, 333, 72), (4, 1, 9, 8)):
        a, b = randn(batch, m, k, mean=0.1), randn(batch, k, n)
        close(ops.bmm(a, b), a.double() @ b.double(), k)
        close(ops.bmm(a, b.mT.contiguous().mT), a.double() @ b.double(), k)
        close(ops.bmm(a.mT.contiguous().mT, b[:1]), a.double() @ b[:1].double(), k)
    q, kv = randn(32, 4, 64).transpose(0, 1), randn(48, 4, 64).transpose(0, 1)  # heads beside each other
    close(ops.bmm(q, kv.mT), q.double() @ kv.double().mT, 64)
    assert ops.bmm(a, b, fp32_out=True).dtype == torch.float32
    assert ops.bmm(randn(0, 4, 8), randn(0, 8, 3)).shape == (0, 4, 3)
    wide = torch.full((2, 5, 40), float("nan"), device="cuda", dtype=torch.bfloat16)
    a, b = randn(2, 5, 64), randn(2, 64, 32)
    ops.bmm_out(wide[:, :, :32], a, b)
    assert torch.equal(wide[:, :, :32], ops.bmm(a, b)) and wide[:, :, 32:].isnan().all()


@test
def linear_is_batch_invariant():
    x, w = randn(64, 1024), randn(512, 1024)
    all_rows = ops.linear(x, w, batch_invariant=True)
    for row in (0, 17, 63):
        assert torch.equal(ops.linear(x[row : row + 1], w, batch_invariant=True)[0], all_rows[row])


# ---- 8 bits -----------------------------------------------------------------------------------------------

E4M3, INT8, E5M2 = torch.float8_e4m3fn, torch.int8, torch.float8_e5m2
HAS_BLOCKS = torch.cuda.get_device_capability() == (9, 0)  # kernels with scales of each 128 of K
LIMITS = {E4M3: 448.0, E5M2: 57344.0, INT8: 127.0}


def spread(scales, shape, scaling):
    """The scale of every element of a matrix."""
    if scaling == "tensor":
        return scales.view(1, 1).expand(shape)
    wide = scales.repeat_interleave(128, 1)[:, : shape[1]] if scaling != "row" else scales.expand(shape)
    return wide.repeat_interleave(128, 0)[: shape[0]] if scaling == "block" else wide


def rounded(q, dtype):
    """To nearest even, as the type has it."""
    q = q.clamp(-LIMITS[dtype], LIMITS[dtype])
    return q.round().to(dtype) if dtype == INT8 else q.to(dtype)


@test
def quantize():
    for shape in ((1, 4096), (3, 300), (130, 257), (64, 128)):
        for dtype in (torch.bfloat16, torch.float16, torch.float32):
            x = randn(*shape, dtype=dtype)
            for out_dtype, limit in LIMITS.items():
                shares = ("row", 1, shape[1]), ("group", 1, 128), ("block", 128, 128), ("tensor", *shape)
                for scaling, rows, columns in shares:
                    q, scales = ops.quantize(x, scaling, out_dtype)
                    high, wide = -(-shape[0] // rows), -(-shape[1] // columns)
                    padded = F.pad(x.float().abs(), (0, wide * columns - shape[1], 0, high * rows - shape[0]))
                    amax = padded.view(high, rows, wide, columns).amax((1, 3))
                    close(scales.view(amax.shape), amax.double() / limit, 1, 2.0**-23)
                    every = spread(scales, shape, scaling)
                    assert q.dtype == out_dtype and torch.equal(
                        q.view(torch.uint8), rounded(x.float() / every, out_dtype).view(torch.uint8)
                    ), f"{scaling} {out_dtype} of {dtype} {shape}"
    x = randn(2, 5, 300)
    q, scales = ops.quantize(x, "group")
    same, turned = ops.quantize(x, "group", by_column=True)
    assert scales.shape == (2, 5, 3) and turned.stride() == (5, 1, 12)
    assert torch.equal(turned, scales) and torch.equal(same.view(torch.uint8), q.view(torch.uint8))
    _, powers = ops.quantize(x, power_of_2=True)
    assert powers.shape == (2, 5, 1) and torch.equal(powers.log2().round().exp2(), powers)
    assert torch.equal(ops.quantize(torch.zeros_like(x), scale_floor=0.5)[1], torch.full((2, 5, 1), 0.5, device="cuda"))
    one = torch.tensor(0.02, device="cuda")
    static = ops.quantize_static(x, one)
    assert torch.equal(static.view(torch.uint8), rounded(x.float() / one, E4M3).view(torch.uint8))
    assert [t.shape for t in ops.quantize(randn(0, 256), "group")] == [(0, 256), (0, 2)]


def eight_bits(m, n, k, dtype):
    """x and weight of 8 bits, and x of float32 times weight^T where scales of each element are given."""
    x, w = (ops.quantize(randn(rows, k, mean=0.1), out_dtype=dtype)[0] for rows in (m, n))
    return x, w, lambda x_scales, w_scales: (x.double() * x_scales) @ (w.double() * w_scales).T


def positive(*shape):
    return torch.rand(*shape, device="cuda") + 0.5


@test
def scaled_linear():
    for m, n, k in ((1, 4096, 4096), (3, 96, 64), (17, 129, 272), (128, 256, 512), (257, 1000, 333)):
        groups, blocks = -(-k // 128), -(-n // 128)
        for dtype in (E4M3, INT8):
            x, w, product = eight_bits(m, n, k, dtype)
            cases = [("tensor", positive(1), "tensor", positive(1)), ("row", positive(m, 1), "row", positive(n, 1))]
            if dtype == E4M3 and HAS_BLOCKS:
                columns = positive(groups, m).T
                cases += [("group", positive(m, groups), "block", positive(blocks, groups))]
                cases += [("group", columns, "block", positive(groups, blocks).T)]
                cases += [("row", positive(m, 1), "block", positive(blocks, groups))]
                cases += [("group", columns, "group", positive(n, groups))]
            for x_kind, x_scales, w_kind, w_scales in cases:
                if groups == 1 and "group" in (x_kind, w_kind):
                    continue
                exact = product(spread(x_scales, x.shape, x_kind), spread(w_scales, w.shape, w_kind))
                bound = (x.double().abs() * spread(x_scales, x.shape, x_kind)) @ (
                    w.double().abs() * spread(w_scales, w.shape, w_kind)
                ).T
                ours = ops.scaled_linear(x, w, x_scales, w_scales, out_dtype=torch.float32)
                lost = 2.0**-9 if dtype == E4M3 else 2.0**-21
                assert ((ours.double() - exact).abs() <= lost * bound).all(), f"{dtype} {(m, n, k)} {x_kind} {w_kind}"
    x, w, product = eight_bits(6, 128, 256, INT8)
    x_scales, w_scales, b, r = positive(6), positive(128), randn(128), randn(6, 128)
    plain = product(x_scales[:, None], w_scales[:, None])
    for activation, function in ACTIVATIONS.items():
        ours = ops.scaled_linear(x, w, x_scales, w_scales[None], b, r, activation)
        assert ours.dtype == torch.bfloat16
        close(ours, function(plain + b.double() + r.double()), 256)
    assert ops.scaled_linear(x, w, x_scales, w_scales, out_dtype=torch.float16).dtype == torch.float16
    tokens = ops.scaled_linear(x.view(2, 3, 256), w, x_scales.view(2, 3, 1), w_scales)
    assert torch.equal(tokens.view(6, 128), ops.scaled_linear(x, w, x_scales, w_scales))
    turned = ops.scaled_linear(x, w.T.contiguous().T, x_scales, w_scales, constant_weight=True)
    assert torch.equal(turned, ops.scaled_linear(x, w, x_scales, w_scales))
    scalar = torch.tensor(2.0, device="cuda")
    assert torch.equal(ops.scaled_linear(x, w, scalar, w_scales), ops.scaled_linear(x, w, scalar.view(1, 1), w_scales))
    assert ops.scaled_linear(x[:0], w, x_scales[:0], w_scales).shape == (0, 128)
    x, w, _ = eight_bits(512, 512, 512, E4M3)
    fast = ops.scaled_linear(x, w, scalar, scalar, fast_accumulation=True, out_dtype=torch.float32)
    slow = ops.scaled_linear(x, w, scalar, scalar, out_dtype=torch.float32)
    assert (fast - slow).abs().max() <= 0.05 * slow.abs().max()


def quantized_linear(x, w, w_scales):
    q, scales = ops.quantize(x, "group", by_column=True)
    return ops.scaled_linear(q, w, scales, w_scales)


@test
def linear_of_quantized_rows():
    if not HAS_BLOCKS:
        return
    x, w = randn(33, 512), randn(256, 512)
    weight, w_scales = ops.quantize(w, "block")
    exact = x.double() @ w.double().T
    ours = quantized_linear(x, weight, w_scales)
    assert (ours.double() - exact).norm() <= 0.06 * exact.norm()
    compiled = torch.compile(quantized_linear, fullgraph=True, dynamic=True)
    for rows in (33, 1, 7):
        assert torch.equal(compiled(x[:rows], weight, w_scales), quantized_linear(x[:rows], weight, w_scales))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        replayed = quantized_linear(x, weight, w_scales)
    x.copy_(randn(33, 512))
    graph.replay()
    assert torch.equal(replayed, quantized_linear(x, weight, w_scales))
    graph = torch.cuda.CUDAGraph()
    ops.quantize(x, "tensor")
    with torch.cuda.graph(graph):
        _, scale = ops.quantize(x, "tensor")
    for size in (3, 1):  # not the largest of all replays
        x.copy_(randn(33, 512).clamp(-size, size))
        graph.replay()
        close(scale, x.double().abs().max().view(1) / 448, 1, 2.0**-23)


@test
def the_example_of_the_documentation_runs():
    if not HAS_BLOCKS:
        return
    text = (ROOT / "docs/PYTORCH.md").read_text()
    (example,) = (block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "scaled_linear" in block)
    found = {}
    exec(example, found)
    assert found["y"].shape == (16, 512) and found["y"].isfinite().all()


@test
def scaled_linear_is_batch_invariant():
    x, w = randn(64, 1024), randn(512, 1024)
    weight, w_scales = ops.quantize(w, "block" if HAS_BLOCKS else "row")
    q, scales = ops.quantize(x, "group" if HAS_BLOCKS else "row")
    all_rows = ops.scaled_linear(q, weight, scales, w_scales, batch_invariant=True)
    for row in (0, 17, 63):
        one = ops.scaled_linear(q[row : row + 1], weight, scales[row : row + 1], w_scales, batch_invariant=True)
        assert torch.equal(one[0], all_rows[row])


def rms_reference(x, w, eps, offset):
    x = x.double()
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * (offset + w.double())


@test
def norms():
    for shape in ((1, 4096), (7, 33), (2, 3, 128), (0, 64), (129, 1000)):
        for dtype, unit in ((torch.bfloat16, 2.0**-8), (torch.float16, 2.0**-11), (torch.float32, 2.0**-20)):
            x, w, b = randn(*shape, dtype=dtype, mean=1), randn(shape[-1], dtype=dtype), randn(shape[-1], dtype=dtype)
            close(ops.rms_norm(x, w, 1e-5), rms_reference(x, w, 1e-5, 0), 8, unit)
            close(ops.rms_norm(x, w.float(), 1e-5, 1.0), rms_reference(x, w, 1e-5, 1), 8, unit)
            y = F.layer_norm(x.double(), shape[-1:], w.double(), b.double(), 1e-5)
            close(ops.layer_norm(x, w, b), y, 64, unit)
            close(ops.layer_norm(x), F.layer_norm(x.double(), shape[-1:], eps=1e-5), 64, unit)
    x, w = randn(4, 6, 256), randn(256)
    assert torch.equal(ops.rms_norm(x[:, 2], w), ops.rms_norm(x[:, 2].contiguous(), w))
    residual, before = randn(5, 256), None
    before = residual.clone()
    y = randn(5, 256)
    out = ops.add_rms_norm(residual, y, w)
    assert torch.equal(residual, before + y)
    close(out, rms_reference(before.double() + y.double(), w, 1e-6, 0), 8)


@test
def gated_units():
    for name, function in (("silu_mul", F.silu), ("gelu_mul", F.gelu), ("gelu_tanh_mul", ACTIVATIONS["gelu_tanh"])):
        for rows, columns in ((1, 14336), (3, 17), (64, 256)):
            both = randn(rows, 2 * columns)
            gate, up = both.chunk(2, -1)
            expected = function(gate.double()) * up.double()
            close(getattr(ops, name)(both), expected)
            assert torch.equal(getattr(ops, name)(both), getattr(ops, name)(gate, up))


def rotated(x, table, interleaved=False):
    half = table.shape[-1] // 2
    cos, sin = table[:, None, :half].double(), table[:, None, half:].double()
    rot, rest = x[..., : 2 * half].double(), x[..., 2 * half :].double()
    a, b = (rot[..., ::2], rot[..., 1::2]) if interleaved else rot.chunk(2, -1)
    a, b = a * cos - b * sin, b * cos + a * sin
    rot = torch.stack((a, b), -1).flatten(-2) if interleaved else torch.cat((a, b), -1)
    return torch.cat((rot, rest), -1)


@test
def rotary():
    for dim, part in ((128, 128), (64, 64), (80, 32)):
        table = gm.rope_table(part, 512)
        for dtype in (torch.int32, torch.int64):
            q, k = randn(9, 4, dim), randn(9, 2, dim)
            positions = torch.randint(0, 512, (9,), device="cuda", dtype=dtype)
            for interleaved in (False, True):
                new_q, new_k = ops.rotary(q, k, positions, table, interleaved=interleaved)
                close(new_q, rotated(q, table[positions], interleaved))
                close(new_k, rotated(k, table[positions], interleaved))
                in_q, in_k = q.clone(), k.clone()
                ops.rotary_(in_q, in_k, positions, table, interleaved=interleaved)
                assert torch.equal(in_q, new_q) and torch.equal(in_k, new_k)
    qkv = randn(2, 3, 8, 64)  # heads 0-3 q, 4-5 k, 6-7 v, of one matrix
    table, positions = gm.rope_table(64, 16), torch.arange(6, device="cuda")
    q, k = ops.rotary(qkv[:, :, :4], qkv[:, :, 4:6], positions, table)
    close(q.view(6, 4, 64), rotated(qkv[:, :, :4].reshape(6, 4, 64), table[:6]))
    w = randn(64)
    q, _ = ops.rotary(qkv[:, :, :4], qkv[:, :, 4:6], positions, table, w, w, 1e-6)
    close(q.view(6, 4, 64), rotated(rms_reference(qkv[:, :, :4].reshape(6, 4, 64), w, 1e-6, 0), table[:6]), 64)


@test
def rotary_append():
    table, positions = gm.rope_table(64, 64), torch.arange(5, device="cuda")
    q, k, v = randn(5, 4, 64), randn(5, 2, 64), randn(5, 2, 64)
    k_cache, v_cache = torch.zeros(3, 4, 2, 64, device="cuda", dtype=q.dtype), torch.zeros(
        3, 4, 2, 64, device="cuda", dtype=q.dtype
    )
    slots = torch.tensor([11, -1, 0, 5, 4], device="cuda")
    expected = ops.rotary(q, k, positions, table)[1]
    ops.rotary_append_(q, k, positions, table, v=v, k_cache=k_cache, v_cache=v_cache, slots=slots)
    for token in (0, 2, 3, 4):
        assert torch.equal(k_cache.view(12, 2, 64)[slots[token]], expected[token])
        assert torch.equal(v_cache.view(12, 2, 64)[slots[token]], v[token])
    assert not k_cache.view(12, 2, 64)[[1, 2, 3, 6, 7, 8, 9, 10]].any()


def attended(q, k, v, mask, scale=None):
    """q [rows, heads, dim], k and v [tokens, kv heads, dim], mask [rows, tokens]."""
    groups = q.shape[1] // k.shape[1]
    k, v = (x.double().repeat_interleave(groups, 1) for x in (k, v))
    scores = torch.einsum("rhd,thd->hrt", q.double(), k) * (scale or q.shape[-1] ** -0.5)
    scores = scores.masked_fill(~mask, float("-inf"))
    return torch.einsum("hrt,thd->rhd", scores.softmax(-1), v), scores.logsumexp(-1).T


def causal_mask(rows, tokens, window=None):
    at = torch.arange(tokens - rows, tokens, device="cuda")[:, None]
    other = torch.arange(tokens, device="cuda")
    return (other <= at) & (other > at - (window or tokens + 1))


@test
def attention():
    for batch, rows, tokens, heads, kv_heads, dim in (
        (2, 5, 5, 4, 2, 64),
        (3, 1, 257, 8, 2, 128),
        (1, 130, 300, 4, 4, 128),
        (2, 3, 7, 2, 1, 256),
    ):
        q, k, v = (
            randn(batch, rows, heads, dim),
            randn(batch, tokens, kv_heads, dim),
            randn(batch, tokens, kv_heads, dim),
        )
        for window in (None, 3):
            ours = gm.attention(q, k, v, window=window)
            for b in range(batch):
                expected, _ = attended(q[b], k[b], v[b], causal_mask(rows, tokens, window))
                error = (ours[b].double() - expected).abs().max().item()
                assert error < 0.02, f"{error} with window {window}"
        by_heads = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]
        assert torch.equal(gm.attention(*by_heads), gm.attention(q, k, v))
        full = gm.attention(q, k, v, causal=False)
        expected = F.scaled_dot_product_attention(*(x.transpose(1, 2).double() for x in (q, k, v)), enable_gqa=True)
        assert (full.transpose(1, 2).double() - expected).abs().max() < 0.02


@test
def attention_of_pages_and_rows():
    heads, kv_heads, dim, page = 4, 2, 128, 16
    q_len, kv_len = torch.tensor([1, 4, 0, 7]), torch.tensor([33, 4, 16, 70])
    q_indptr = torch.cat((torch.zeros(1, dtype=torch.int64), q_len.cumsum(0))).int().cuda()
    kv_indptr = torch.cat((torch.zeros(1, dtype=torch.int64), kv_len.cumsum(0))).int().cuda()
    q, k, v = randn(12, heads, dim), randn(123, kv_heads, dim), randn(123, kv_heads, dim)
    ragged, lse = ops.attention_lse(
        q, k, v, q_indptr, kv_len.int().cuda(), kv_indptr=kv_indptr[:-1].clone(), max_q_len=7
    )
    k_pages, v_pages = torch.full((20, page, kv_heads, dim), float("nan"), device="cuda", dtype=q.dtype), None
    v_pages = k_pages.clone()
    order, table, taken = torch.randperm(20).tolist(), torch.zeros(4, 5, dtype=torch.int32), 0
    for b in range(4):
        for i in range(0, int(kv_len[b]), page):
            count, at, own = min(page, int(kv_len[b]) - i), int(kv_indptr[b]) + i, order[taken]
            k_pages[own, :count], v_pages[own, :count] = k[at : at + count], v[at : at + count]
            table[b, i // page] = own
            taken += 1
    paged = ops.attention(q, k_pages, v_pages, q_indptr, kv_len.int().cuda(), table.cuda(), max_q_len=7)
    for b in (0, 1, 3):
        rows, tokens = slice(int(q_indptr[b]), int(q_indptr[b + 1])), slice(
            int(kv_indptr[b]), int(kv_indptr[b]) + int(kv_len[b])
        )
        expected, sums = attended(q[rows], k[tokens], v[tokens], causal_mask(int(q_len[b]), int(kv_len[b])))
        for ours in (ragged, paged):
            assert (ours[rows].double() - expected).abs().max() < 0.02
        assert (lse[rows].double() - sums).abs().max() < 1e-2


# ---- what callers do with them ----------------------------------------------------------------------------


def block(x, w_qkv, w_out, norm, table, positions):
    h = ops.rms_norm(x, norm, 1e-6)
    q, k, v = ops.linear(h, w_qkv, constant_weight=True).view(x.shape[0], 6, 64).split((4, 1, 1), 1)
    q, k = ops.rotary(q, k, positions, table)
    out = gm.attention(q[None], k[None], v[None])[0].reshape(x.shape[0], 256)
    return ops.linear(out, w_out, residual=x)


def block_arguments(rows=8):
    return (
        randn(rows, 256),
        randn(384, 256) / 16,
        randn(256, 256) / 16,
        randn(256),
        gm.rope_table(64, 128),
        torch.arange(rows, device="cuda"),
    )


@test
def out_variants():
    for name, arguments in (
        ("linear", (randn(5, 64), randn(32, 64))),
        ("rms_norm", (randn(5, 64), randn(64))),
        ("silu_mul", (randn(5, 64),)),
    ):
        expected = getattr(ops, name)(*arguments)
        wide = torch.full((5, expected.shape[1] + 8), float("nan"), device="cuda", dtype=expected.dtype)
        assert getattr(ops, name + "_out")(wide[:, :-8], *arguments) is None
        assert torch.equal(wide[:, :-8], expected) and wide[:, -8:].isnan().all()


@test
def compiles_without_graph_break():
    arguments = block_arguments()
    compiled = torch.compile(block, fullgraph=True)
    assert torch.equal(compiled(*arguments), block(*arguments))
    residual, other = randn(4, 64), None
    other = residual.clone()

    def in_place(residual, x, w):
        return ops.add_rms_norm(residual, x * 2, w) + residual

    x, w = randn(4, 64), randn(64)
    assert torch.equal(torch.compile(in_place, fullgraph=True)(residual, x, w), in_place(other, x, w))
    assert torch.equal(residual, other)


@test
def compiles_for_any_number_of_rows():
    compiled = torch.compile(lambda x, w: ops.silu_mul(ops.linear(x, w)) * 2, fullgraph=True, dynamic=True)
    w = randn(64, 32)
    for rows in (3, 5, 17):
        x = randn(rows, 32)
        assert torch.equal(compiled(x, w), ops.silu_mul(ops.linear(x, w)) * 2)


@test
def operators_pass_opcheck():
    x, w, table = randn(6, 64), randn(64, 64), gm.rope_table(64, 16)
    kinds = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
    for operator, arguments in (
        (ops.linear, (x, w)),
        (ops.bmm, (randn(3, 5, 64), randn(3, 64, 16))),
        (ops.quantize, (x,)),
        (ops.quantize, (x, "group", INT8, True)),
        (ops.quantize, (x, "block", None, True)),
        (ops.quantize, (x, "tensor")),
        (ops.quantize_static, (x, positive(1))),
        (ops.scaled_linear, (rounded(x, INT8), rounded(w, INT8), positive(6), positive(64))),  # checks multiply no fp8
        (ops.rms_norm, (x, w[0])),
        (ops.add_rms_norm, (x.clone(), x, w[0])),
        (ops.layer_norm, (x,)),
        (ops.silu_mul, (x,)),
        (ops.rotary, (x.view(6, 1, 64), x.view(6, 1, 64), torch.arange(6, device="cuda"), table)),
        (ops.rotary_, (x.view(6, 1, 64).clone(), x.view(6, 1, 64).clone(), torch.arange(6, device="cuda"), table)),
    ):
        torch.library.opcheck(operator.default, arguments, test_utils=kinds)


@test
def replays_in_a_cuda_graph():
    arguments = block_arguments()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        block(*arguments)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = block(*arguments)
    for _ in range(3):
        arguments[0].copy_(randn(*arguments[0].shape))
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(out, block(*arguments))
    compiled = torch.compile(block, mode="reduce-overhead", fullgraph=True)
    for _ in range(4):
        assert torch.equal(compiled(*arguments).clone(), block(*arguments))


@test
def runs_on_the_current_stream():
    x, w = randn(4096, 4096), randn(4096, 4096)
    expected = ops.linear(x, w)
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)  # about 10 ms: what does not wait on this stream reads x too early
        late = torch.zeros_like(x).copy_(x)
        ours = ops.linear(late, w)
    stream.synchronize()
    assert torch.equal(ours, expected)


@test
def runs_on_every_device():
    for device in range(torch.cuda.device_count()):
        x, w = randn(3, 64).to(device), randn(8, 64).to(device)
        assert ops.linear(x, w).device.index == device
        close(ops.linear(x, w), x.double() @ w.double().T, 64)
    if torch.cuda.device_count() > 1:
        refused("x is on device 0 and weight on device 1", ops.linear, randn(3, 64), randn(8, 64).to(1))


@test
def runs_from_threads():
    import threading

    x, w = randn(64, 256), randn(128, 256)
    expected, wrong = ops.linear(x, w), []

    def work(seed):
        with torch.cuda.stream(torch.cuda.Stream()):
            for i in range(200):
                rows = 1 + (seed * 37 + i) % 64
                if not torch.allclose(ops.linear(x[:rows], w).float(), expected[:rows].float(), atol=0.5, rtol=0.02):
                    wrong.append(rows)

    torch.cuda.synchronize()
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    [thread.start() for thread in threads], [thread.join() for thread in threads]
    assert not wrong, wrong


@test
def keeps_a_bounded_number_of_plans():
    gm.forget_plans()
    assert gm.plans_count() == 0
    w = randn(64)
    for rows in range(1, 2200):
        ops.rms_norm(torch.empty(rows, 64, device="cuda", dtype=w.dtype), w)
    assert gm.plans_count() == 2048, gm.plans_count()
    gm.forget_plans()
    assert gm.plans_count() == 0


@test
def leaves_no_memory():
    arguments = block_arguments(64)
    block(*arguments)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for _ in range(50):
        block(*arguments)
        try:
            ops.linear(arguments[0], arguments[3])
        except RuntimeError:
            pass
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() == before


@test
def refuses_with_a_sentence():
    x, w = randn(4, 64), randn(8, 64)
    refused("gristmill::linear: dimension 1 of weight is 32 and must be 64", ops.linear, x, randn(8, 32))
    refused("weight is of float16 and must be of bfloat16", ops.linear, x, w.half())
    refused("weight has 1 dimensions and must have 2", ops.linear, x, w[0])
    refused('activation is "tanh" and must be', ops.linear, x, w, activation="tanh")
    refused("dimension 0 of bias is 9 and must be 8", ops.linear, x, w, randn(9))
    refused("weight is not on a CUDA device", ops.linear, x, w.cpu())
    refused("of a type that gristmill has no kernel for", ops.rms_norm, x.double(), randn(64).double())
    refused("last dimension of stride 4", ops.rms_norm, x.T.contiguous().T, randn(64))
    refused("do not lie one stride apart", ops.linear, randn(4, 3, 64).transpose(0, 1), w)
    refused("dimension 0 of x has stride 0, as expand", ops.linear, x[:1].expand(4, 64), w)
    refused("must have two halves", ops.silu_mul, randn(4, 63))
    eight, weight, one = rounded(x, E4M3), rounded(w, E4M3), positive(1)
    refused("x is of bfloat16 and must be of float8_e4m3fn or int8", ops.scaled_linear, x, w, one, one)
    refused(r"x_scales is \[4, 3\] and must be one scale", ops.scaled_linear, eight, weight, positive(4, 3), one)
    refused(r"weight_scales is \[7\] and must be one scale", ops.scaled_linear, eight, weight, one, positive(7))
    refused("rows that are no neighbours", ops.scaled_linear, eight, weight, positive(4, 2)[:, :1], one)
    refused("out_dtype is int8", ops.scaled_linear, eight, weight, one, one, out_dtype=INT8)
    refused("out_dtype is uint8 and must be", ops.quantize, x, out_dtype=torch.uint8)
    refused('scaling is "column" and must be row', ops.quantize, x, "column")
    refused("x has 3 dimensions and must have 2", ops.quantize, x[None], "block")
    refused("out is of float32 and must be of bfloat16", ops.linear_out, torch.empty(4, 8, device="cuda"), x, w)
    refused("out has 2 dimensions, the last of 9", ops.linear_out, randn(4, 9), x, w)
    q, k = randn(4, 2, 64), randn(4, 1, 64)
    refused(
        "positions must be contiguous, with one of each of the 4 tokens",
        ops.rotary,
        q,
        k,
        torch.arange(3, device="cuda"),
        gm.rope_table(64, 8),
    )
    refused("positions is of float32", ops.rotary, q, k, torch.zeros(4, device="cuda"), gm.rope_table(64, 8))
    refused(
        "q_weight and k_weight go together",
        ops.rotary,
        q,
        k,
        torch.arange(4, device="cuda"),
        gm.rope_table(64, 8),
        randn(64),
    )
    refused(
        "kv_len is of int64 and must be of int32",
        ops.attention,
        q,
        k[None],
        k[None],
        torch.tensor([0, 4], device="cuda", dtype=torch.int32),
        torch.tensor([4], device="cuda"),
    )


# ---- models of transformers -------------------------------------------------------------------------------


def small_models():
    import transformers as t

    common = dict(
        hidden_size=256,
        intermediate_size=384,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=64,
        vocab_size=512,
        max_position_embeddings=512,
        initializer_range=0.08,
    )
    yield "llama", t.LlamaForCausalLM, t.LlamaConfig(**common)
    yield "mistral", t.MistralForCausalLM, t.MistralConfig(**common, sliding_window=16)
    yield "qwen2", t.Qwen2ForCausalLM, t.Qwen2Config(**{k: v for k, v in common.items() if k != "head_dim"})
    yield "qwen3", t.Qwen3ForCausalLM, t.Qwen3Config(**common)
    yield "gemma3", t.Gemma3ForCausalLM, t.Gemma3TextConfig(**common, sliding_window=16, query_pre_attn_scalar=64)


@test
def patches_models_of_transformers():
    import copy

    import gristmill

    for name, kind, config in small_models():
        torch.manual_seed(0)
        model = kind(config).bfloat16().cuda().eval()
        exact = copy.deepcopy(model).float()
        patched = gristmill.patch(copy.deepcopy(model))
        ids = torch.randint(0, 512, (2, 40), device="cuda")
        with torch.no_grad():
            reference = exact(ids).logits.double()
            theirs = (model(ids).logits.double() - reference).abs()
            ours = (patched(ids).logits.double() - reference).abs()
            quantiles = torch.tensor([0.5, 0.9, 0.99, 1.0], device="cuda", dtype=torch.float64)
            ratio = (ours.flatten().quantile(quantiles) / theirs.flatten().quantile(quantiles)).max().item()
            assert ratio <= 2, f"{name}: {ratio:.2f} times transformers' error"
            cached = patched(ids[:, :30], use_cache=True)
            steps = [patched(ids[:, i : i + 1], past_key_values=cached.past_key_values).logits for i in range(30, 40)]
            error = (torch.cat(steps, 1).double() - reference[:, 30:]).abs().max().item()
            assert (
                error <= 2 * theirs.max().item()
            ), f"{name}: {error} with a cache, {theirs.max().item()} by transformers"
            mask = torch.ones_like(ids)
            mask[0, :7] = 0
            padded = (
                patched(ids, attention_mask=mask).logits.double()[0, 7:]
                - exact(ids, attention_mask=mask).logits.double()[0, 7:]
            )
            assert padded.abs().max() <= 2 * theirs.max(), f"{name}: {padded.abs().max().item()} with padding"
            compiled = torch.compile(patched, fullgraph=True)
            drift = (compiled(ids, use_cache=False).logits.double() - reference).abs().max().item()
            assert drift <= 2 * theirs.max().item(), f"{name}: {drift} compiled"
            made = patched.generate(ids[:, :8], max_new_tokens=24, do_sample=False)
            static = patched.generate(
                ids[:, :8], max_new_tokens=24, do_sample=False, cache_implementation="static", disable_compile=True
            )
            assert torch.equal(made, static), f"{name}: another text with a static cache"
        print(f"   {name}: {ratio:.2f} of transformers' error")


@test
def patches_models_of_fp8():
    import fp8_models

    for line in fp8_models.check("cuda", fp8_models.KINDS if HAS_BLOCKS else fp8_models.KINDS[1:]):
        print("   " + line)
    fp8_models.check_other_layers("cuda")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="regular expression of tests' names")
    options = parser.parse_args()
    passed = failed = 0
    for function in TESTS:
        if not re.search(options.only, function.__name__):
            continue
        torch.manual_seed(31)
        start = time.time()
        try:
            function()
            torch.cuda.synchronize()
            passed += 1
            print(f"PASS {function.__name__} ({time.time() - start:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL {function.__name__}\n{traceback.format_exc(limit=-6)}", flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
