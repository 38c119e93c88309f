# SPDX-License-Identifier: Apache-2.0
"""torch.ops.gristmill: the library's operations as PyTorch operators, for PyTorch 2.10 and newer with CUDA.

    import torch, gristmill.torch
    y = torch.ops.gristmill.linear(x, weight, activation="silu")

Importing this module registers them. They launch on the current stream, work under torch.compile without a graph break,
in CUDA graphs and on every device of the process, and have no gradient. NAME_out(out, ...) writes to a tensor that is
there. Wrong arguments raise RuntimeError with a sentence.

    linear(x, weight, bias=None, residual=None, activation="none", fp32_out=False, constant_weight=False,
           batch_invariant=False, precision="fp32")
        activation(x @ weight.T + bias + residual); x [..., in], weight [out, in] or a transpose of [in, out], bias
        [out], residual [..., out]. bfloat16, float16 or float32. activation: none, relu, gelu, gelu_tanh, silu.
        fp32_out: the result is float32. constant_weight: nothing that may still run on a stream writes the weight, so
        that it is read before the kernel in front of this one has ended. batch_invariant: a row has the same bits
        whatever rows are beside it. precision, of float32: fp32 multiplies as it is, tf32 rounds to 10 bits of
        mantissa, tf32x3 makes three such products of each, with fp32's error.
    scaled_linear(x, weight, x_scales, weight_scales, bias=None, residual=None, activation="none", out_dtype=None,
                  fast_accumulation=False, constant_weight=False, batch_invariant=False)
        activation((x * x_scales) @ (weight * weight_scales).T + bias + residual); x [..., in], weight [out, in], both
        float8_e4m3fn or both int8. Scales are float32, what a value of 1 stands for, and cover what their sizes say.
        x_scales: one; [..., 1] (or of all tokens, [tokens]), one for each token; [..., ceil(in / 128)], of e4m3, one
        for each 128 of a token, with its rows or its columns contiguous. weight_scales: one; [out], [out, 1] or
        [1, out], one for each channel; [ceil(out / 128), ceil(in / 128)], of e4m3, one for each block of 128 x 128,
        which is what [1, out] means where it is that as well; [out, ceil(in / 128)]. out_dtype: bfloat16 (None),
        float16 or float32; residual is of it. fast_accumulation, of e4m3: sums may stay in the tensor cores, with an
        error that grows with `in`.
    quantize(x, scaling="row", out_dtype=None, by_column=False, power_of_2=False, scale_floor=0.0)
        (q, scales): x / scale in 8 bits, and the scales, float32, amax / limit of who shares one. x [..., columns] of
        bfloat16, float16 or float32; out_dtype: float8_e4m3fn (None), float8_e5m2 or int8. scaling: row, [..., 1];
        group, [..., ceil(columns / 128)]; block, [ceil(rows / 128), ceil(columns / 128)] of two dimensions; tensor,
        [1]. by_column: the columns of scales of groups or blocks are contiguous, and a multiple of 16 bytes apart,
        which scaled_linear reads faster. power_of_2: scales are rounded up to one. scale_floor: none is less.
    quantize_static(x, scale, out_dtype=None, by_reciprocal=False)
        x / scale in 8 bits, by one scale that is given, float32 on the device. by_reciprocal: x * (1 / scale).
    bmm(a, b, fp32_out=False, batch_invariant=False, precision="fp32")
        a @ b of every matrix; a [batch, m, k], b [batch, k, n], either dimension of a matrix contiguous, matrices any
        distance apart. A batch of 1 is one for all. bfloat16, float16 or float32, whose precision is as linear's.
    rms_norm(x, weight, eps=1e-6, weight_offset=0.0, round_early=False)
        x * rsqrt(mean(x^2) + eps) * (weight_offset + weight) of the last dimension. round_early: what is multiplied by
        the weight is rounded before, as in transformers' Llama; Gemma has weight_offset 1 and rounds late.
    add_rms_norm(residual, x, weight, eps=1e-6, weight_offset=0.0, round_early=False)
        residual += x in place, and its rms_norm.
    layer_norm(x, weight=None, bias=None, eps=1e-5)
    silu_mul, gelu_mul, gelu_tanh_mul(gate, up=None, round_early=False)
        act(gate) * up; without up, gate is [..., 2 * columns], and up its second half.
    rotary(q, k, positions, table, q_weight=None, k_weight=None, eps=1e-6, weight_offset=0.0, interleaved=False,
           round_early=False)
        q, k [tokens..., heads, head_dim] rotated by table[position], float32 [positions, rotary_dim]: cosines of half
        the angles, then their sines (rope_table() makes one). With weights, RMSNorm of every head before. rotary_ does
        it in place, and rotary_append_(..., v, k_cache, v_cache, slots) also stores k and v in caches [pages,
        page_size, kv_heads, head_dim], token t in slot slots[t] (int64; negative: nowhere).
    attention(q, k, v, q_indptr, kv_len, page_table=None, kv_indptr=None, sinks=None, max_q_len=0, max_kv_len=0,
              causal=True, left=-1, right=-1, scale=0.0, softcap=0.0, batch_invariant=False)
        q [tokens, q_heads, head_dim], of request b the rows q_indptr[b] to q_indptr[b + 1] - 1 (int32), the last of its
        kv_len[b] tokens (int32). k and v are [requests, tokens, kv_heads, head_dim]; with page_table, int32 [requests,
        pages of one], [pages, page_size, kv_heads, head_dim]; with kv_indptr, int32, request b's from row kv_indptr[b]
        of [tokens, kv_heads, head_dim]. max_q_len: rows of one request at most (0: all of q's), which says what is
        planned for. left, right: a window around a row's own token. scale 0 is 1 / sqrt(head_dim). attention_lse gives
        the logarithm of the sum of exponentials too, float32 [tokens, q_heads].

gristmill/*.h say more of each.
"""

import ctypes
import functools
import pathlib

import torch

from . import _api, _library


def _register():
    """Loads libgristmill-tensors from where libgristmill is."""
    name = f"libgristmill-tensors.so.{_api.GM_VERSION_MAJOR}.{_api.GM_VERSION_MINOR}"
    library = ctypes.CDLL(str(pathlib.Path(_library.path()).with_name(name)))
    library.gm_torch_register.restype = ctypes.c_char_p
    sentence = library.gm_torch_register().decode()
    if sentence:
        raise ImportError("gristmill.torch: " + sentence)
    library.gm_tensors_plans_count.restype = ctypes.c_size_t
    return library


_tensors = _register()
ops = torch.ops.gristmill


def plans_count():
    """How many problems have a plan that calls share: one for each combination of operation, sizes, strides and
    types."""
    return _tensors.gm_tensors_plans_count()


def forget_plans():
    """Forgets the plans that no call uses. Captured graphs stay valid."""
    _tensors.gm_tensors_plans_forget()


# ---- what the compiler asks: types and sizes of results ----------------------------------------------------


def _fake(*names):
    def register(function):
        for name in names:
            torch.library.register_fake("gristmill::" + name, function)
        return function

    return register


@_fake("linear")
def _linear(
    x,
    weight,
    bias=None,
    residual=None,
    activation="none",
    fp32_out=False,
    constant_weight=False,
    batch_invariant=False,
    precision="fp32",
):
    return x.new_empty((*x.shape[:-1], weight.shape[0]), dtype=torch.float32 if fp32_out else x.dtype)


@_fake("scaled_linear")
def _scaled_linear(
    x,
    weight,
    x_scales,
    weight_scales,
    bias=None,
    residual=None,
    activation="none",
    out_dtype=None,
    fast_accumulation=False,
    constant_weight=False,
    batch_invariant=False,
):
    return x.new_empty((*x.shape[:-1], weight.shape[0]), dtype=out_dtype or torch.bfloat16)


@_fake("quantize")
def _quantize(x, scaling="row", out_dtype=None, by_column=False, power_of_2=False, scale_floor=0.0):
    rows, last = list(x.shape[:-1]), 1
    if scaling in ("group", "block"):
        last = (x.shape[-1] + 127) // 128
    if scaling == "block":
        rows = [(rows[0] + 127) // 128]
    elif scaling == "tensor":
        rows = []
    strides, count = [], 1
    for size in reversed(rows):
        strides.insert(0, count)
        count *= size
    scales = x.new_empty((*rows, last), dtype=torch.float32)
    if by_column and scaling in ("group", "block"):
        scales = scales.new_empty_strided((*rows, last), (*strides, (count + 3) // 4 * 4))
    return x.new_empty(x.shape, dtype=out_dtype or torch.float8_e4m3fn), scales


@_fake("quantize_static")
def _quantize_static(x, scale, out_dtype=None, by_reciprocal=False):
    return x.new_empty(x.shape, dtype=out_dtype or torch.float8_e4m3fn)


@_fake("bmm")
def _bmm(a, b, fp32_out=False, batch_invariant=False, precision="fp32"):
    batch = a.shape[0] if b.shape[0] == 1 else b.shape[0]
    return a.new_empty((batch, a.shape[1], b.shape[2]), dtype=torch.float32 if fp32_out else a.dtype)


@_fake("rms_norm", "layer_norm")
def _norm(x, *args, **kwargs):
    return x.new_empty(x.shape)


@_fake("add_rms_norm")
def _add_norm(residual, x, *args, **kwargs):
    return x.new_empty(x.shape)


@_fake("silu_mul", "gelu_mul", "gelu_tanh_mul")
def _gated(gate, up=None, round_early=False):
    return gate.new_empty(gate.shape if up is not None else (*gate.shape[:-1], gate.shape[-1] // 2))


@_fake("rotary")
def _rotary(q, k, *args, **kwargs):
    return q.new_empty(q.shape), k.new_empty(k.shape)


@_fake("attention")
def _attention(q, k, v, *args, **kwargs):
    return q.new_empty((q.shape[0], q.shape[1], v.shape[-1]))


@_fake("attention_lse")
def _attention_lse(q, k, v, *args, **kwargs):
    return _attention(q, k, v), q.new_empty(q.shape[:2], dtype=torch.float32)


# ---- conveniences -----------------------------------------------------------------------------------------


def rope_table(head_dim, max_position, theta=10000.0, inv_freq=None, device="cuda"):
    """The table that rotary takes, float32 [max_position, head_dim]: computed in float64, rounded once.

    inv_freq: head_dim / 2 frequencies instead of theta's, such as a model's scaled ones."""
    if inv_freq is None:
        inv_freq = theta ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    angles = torch.outer(torch.arange(max_position, dtype=torch.float64), inv_freq.double().cpu())
    return torch.cat((angles.cos(), angles.sin()), -1).float().to(device)


def _equal_requests(batch, q_len, kv_len, device):
    return (
        (
            torch.arange(0, (batch + 1) * q_len, q_len, dtype=torch.int32, device=device)
            if q_len
            else torch.zeros(batch + 1, dtype=torch.int32, device=device)
        ),
        torch.full((batch,), kv_len, dtype=torch.int32, device=device),
    )


_kept_requests = functools.lru_cache(256)(_equal_requests)


def equal_requests(batch, q_len, kv_len, device):
    """q_indptr and kv_len of requests that are all as long. They are kept for the next call with these numbers, unless
    a graph is being captured or compiled, whose memory is its own."""
    if torch.compiler.is_compiling() or torch.cuda.is_current_stream_capturing():
        return _equal_requests(batch, q_len, kv_len, device)
    return _kept_requests(batch, q_len, kv_len, device)


def attention(q, k, v, *, causal=True, window=None, scale=None, softcap=None, kv_len=None, sinks=None):
    """Attention of q [batch, q_len, q_heads, head_dim] to k, v [batch, kv_len, kv_heads, head_dim], any strides but the
    last: what torch.nn.functional.scaled_dot_product_attention does with the two middle dimensions the other way round
    and heads in groups. Causal is aligned to the end: the last row sees all.

    window: tokens that a row sees, its own among them, if causal. kv_len: int32 [batch], tokens that are there, if
    fewer. Returns [batch, q_len, q_heads, head_dim]."""
    batch, q_len, heads, _ = q.shape
    q_indptr, lengths = equal_requests(batch, q_len, k.shape[1], q.device)
    out = ops.attention(
        q.reshape(batch * q_len, heads, -1),
        k,
        v,
        q_indptr,
        lengths if kv_len is None else kv_len,
        sinks=sinks,
        max_q_len=q_len,
        causal=causal,
        left=-1 if window is None else window - 1,
        scale=scale or 0.0,
        softcap=softcap or 0.0,
    )
    return out.view(batch, q_len, heads, -1)
