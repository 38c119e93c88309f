#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gristmill.patch of small models whose linear layers are fp8, against layers that quantise the same in fp32: for
torch_test.py on a GPU, and by itself on the host, with operators of PyTorch in the places of gristmill's. Skips, status
77, where there is no PyTorch built with CUDA, or no transformers.

    fp8_models.py
"""
import copy
import pathlib
import sys

import torch
import torch.nn.functional as F

LIMIT = 448.0  # the largest of float8_e4m3fn


# ---- layers that do it step by step -----------------------------------------------------------------------


def scales_of(x, rows, columns):
    """The largest of each block of so many rows and columns over LIMIT, and that for every element."""
    high, wide = -(-x.shape[0] // rows), -(-x.shape[1] // columns)
    padded = F.pad(x, (0, wide * columns - x.shape[1], 0, high * rows - x.shape[0]))
    scales = padded.abs().view(high, rows, wide, columns).amax((1, 3)).clamp(min=1e-30) / LIMIT
    return scales, spread(scales, x, rows, columns)


def spread(scales, x, rows, columns):
    return scales.repeat_interleave(rows, 0)[: x.shape[0]].repeat_interleave(columns, 1)[:, : x.shape[1]]


def quantized(x, scale):
    return (x / scale).clamp(-LIMIT, LIMIT).to(torch.float8_e4m3fn)


class Stepwise(torch.nn.Module):
    """An FP8Linear that computes in float32 what it is meant to."""

    def __init__(self, layer, kind):
        super().__init__()
        self.layer, self.kind, self.out_features = layer, kind, layer.out_features

    def forward(self, x):
        rows = x.float().flatten(0, -2)
        if self.kind == "static":
            scale = self.layer.activation_scale.float().view(1, 1)
        else:
            scale = scales_of(rows, 1, 128 if self.kind == "blocks" else rows.shape[1])[1]
        weight_scales = (self.layer.weight_scale if self.kind == "channels" else self.layer.weight_scale_inv).float()
        if self.kind == "blocks":
            weight_scales = spread(weight_scales, self.layer.weight, 128, 128)
        y = (quantized(rows, scale).float() * scale) @ (self.layer.weight.float() * weight_scales).T
        if self.layer.bias is not None:
            y = y + self.layer.bias.float()
        return y.view(*x.shape[:-1], -1).to(x.dtype)


# ---- models -----------------------------------------------------------------------------------------------

KINDS = "blocks", "channels", "tensor", "static"


def fp8_layer(linear, kind):
    """transformers' layer of the weights, quantised; of channels PyTorch's, as others make of it."""
    from transformers.integrations.finegrained_fp8 import FP8Linear

    out, width = linear.weight.shape
    layer = (
        torch.nn.Linear(width, out, bias=linear.bias is not None)
        if kind == "channels"
        else FP8Linear(
            width,
            out,
            block_size=(128, 128) if kind == "blocks" else None,
            activation_scheme="static" if kind == "static" else "dynamic",
            has_bias=linear.bias is not None,
        )
    ).to(linear.weight.device, linear.weight.dtype)
    weight = linear.weight.detach().float()
    shares = {"blocks": (128, 128), "channels": (1, width)}.get(kind, (out, width))
    scales, every = scales_of(weight, *shares)
    layer.weight = torch.nn.Parameter(quantized(weight, every), requires_grad=False)
    one = kind in ("tensor", "static")
    scales = torch.nn.Parameter(scales.view(()) if one else scales, requires_grad=False)
    setattr(layer, "weight_scale" if kind == "channels" else "weight_scale_inv", scales)
    if kind == "static":
        layer.activation_scale = torch.nn.Parameter(torch.tensor(8 / LIMIT, device=weight.device), requires_grad=False)
    if linear.bias is not None:
        layer.bias = torch.nn.Parameter(linear.bias.detach(), requires_grad=False)
    return layer


def replaced(model, make):
    """A copy of the model with other layers in the places of all but the last."""
    model = copy.deepcopy(model)
    for name, module in list(model.named_modules()):
        if isinstance(module, torch.nn.Linear) and name != "lm_head":
            model.set_submodule(name, make(module))
    return model


def small_models():
    import transformers as t

    common = dict(
        hidden_size=256,
        intermediate_size=384,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=512,
        initializer_range=0.08,
    )
    yield "llama", t.LlamaForCausalLM, t.LlamaConfig(**common, head_dim=64)
    yield "llama, heads of 32", t.LlamaForCausalLM, t.LlamaConfig(**common, head_dim=32)  # q, k and v: no whole blocks
    yield "qwen2", t.Qwen2ForCausalLM, t.Qwen2Config(**common)
    yield "qwen3", t.Qwen3ForCausalLM, t.Qwen3Config(**common, head_dim=64)


def check(device, kinds=KINDS):
    """Yields what it compared; the error is held to twice that of bfloat16 with the same quantisers."""
    import gristmill

    for name, make, config in small_models():
        for kind in kinds:
            torch.manual_seed(0)
            torch._dynamo.reset()
            plain = make(config).bfloat16().to(device).eval()
            model = replaced(plain, lambda layer: fp8_layer(layer, kind))
            theirs = replaced(model, lambda layer: Stepwise(layer, kind))
            exact = copy.deepcopy(theirs)
            for module in exact.modules():  # but the weights of 8 bits
                for parameter in module.parameters(recurse=False):
                    if parameter.dtype == torch.bfloat16:
                        parameter.data = parameter.data.float()
            patched = gristmill.patch(model)
            ids = torch.randint(0, 512, (2, 24), device=device)
            with torch.no_grad():
                reference = exact(ids).logits.double()
                error = (theirs(ids).logits.double() - reference).abs()
                ours = (patched(ids).logits.double() - reference).abs()
                compiled = torch.compile(patched, fullgraph=True, backend="aot_eager") if kind == "blocks" else patched
                drift = (compiled(ids, use_cache=False).logits.double() - reference).abs().max()
            quantiles = torch.tensor([0.5, 0.9, 0.99], device=device, dtype=torch.float64)
            ratio = (ours.flatten().quantile(quantiles) / error.flatten().quantile(quantiles)).max().item()
            assert ratio <= 2, f"{name}, {kind}: {ratio:.2f} times the error of bfloat16"
            assert drift <= 2 * error.max(), f"{name}, {kind}: compiled"
            joined = model.model.layers[0].self_attn._gm_sizes is not None
            assert joined == (kind != "blocks" or "heads of 32" not in name), f"{name}, {kind}: q, k and v"
            yield f"{name}, {kind}: {ratio:.2f} of the error of bfloat16"


def check_other_layers(device):
    """Scales of other blocks: an MLP stays as it is, attention is refused."""
    import gristmill

    _, make, config = next(small_models())
    plain = make(config).bfloat16().to(device).eval()
    for part, refused in (("mlp", False), ("self_attn", True)):
        model = copy.deepcopy(plain)
        for name, module in list(model.named_modules()):
            if isinstance(module, torch.nn.Linear) and part in name:
                layer = fp8_layer(module, "blocks")
                layer.block_size = (64, 128)
                model.set_submodule(name, layer)
        try:
            gristmill.patch(model)
        except ValueError as error:
            assert refused and "nor of float8_e4m3fn with scales" in str(error), error
        else:
            assert not refused and not hasattr(model.model.layers[0].mlp.down_proj, "_gm_scales")


# ---- on the host ------------------------------------------------------------------------------------------


def host_operators():
    """gristmill's operators, as far as models call them, of float64 on the host; and how often each was called."""
    counts = {}
    library = torch.library.Library("gristmill", "IMPL")

    def host(name):
        def register(function):
            def counted(*args, **kwargs):
                counts[name] = counts.get(name, 0) + 1
                return function(*args, **kwargs)

            library.impl(name, counted, "CPU")
            return function

        return register

    @host("linear")
    def linear(x, weight, bias=None, *rest):
        return F.linear(x.double(), weight.double(), None if bias is None else bias.double()).to(x.dtype)

    @host("quantize")
    def quantize(x, scaling="row", out_dtype=None, by_column=False, *rest):
        rows = x.float().flatten(0, -2)
        scales, every = scales_of(rows, 1, 128 if scaling == "group" else rows.shape[1])
        return quantized(rows, every).view(x.shape), scales.view(*x.shape[:-1], -1)

    @host("quantize_static")
    def quantize_static(x, scale, *rest):
        return quantized(x.float(), scale)

    @host("scaled_linear")
    def scaled_linear(x, weight, x_scales, weight_scales, bias, residual=None, activation="none", dtype=None, *rest):
        rows = x.float().flatten(0, -2)
        of_rows = x_scales if x_scales.numel() == 1 else x_scales.flatten(0, -2)
        if of_rows.dim() == 2 and of_rows.shape[1] > 1:
            of_rows = spread(of_rows, rows, 1, 128)
        grid = weight_scales.dim() == 2
        of_weight = spread(weight_scales, weight, 128, 128) if grid else weight_scales.view(-1, 1)
        y = F.linear((rows * of_rows).double(), (weight.float() * of_weight).double())
        y = y if bias is None else y + bias.double()
        return y.view(*x.shape[:-1], -1).to(dtype)

    @host("rms_norm")
    def rms_norm(x, weight, eps=1e-6, offset=0.0, round_early=False):
        y = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + eps)
        return (y * (offset + weight.float())).to(x.dtype)

    @host("silu_mul")
    def silu_mul(gate, up=None, round_early=False):
        gate, up = gate.chunk(2, -1) if up is None else (gate, up)
        return (F.silu(gate.float()) * up.float()).to(gate.dtype)

    @host("rotary")
    def rotary(q, k, positions, table, q_weight=None, k_weight=None, eps=1e-6, offset=0.0, *rest):
        cos, sin = table[positions.long()].view(*q.shape[:-2], 1, -1).chunk(2, -1)

        def turned(x, weight):
            x = rms_norm(x, weight, eps, offset) if weight is not None else x
            a, b = x.float().chunk(2, -1)
            return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)

        return turned(q, q_weight), turned(k, k_weight)

    @host("attention")
    def attention(q, k, v, *rest):
        batch, heads = k.shape[0], q.shape[1]
        q = q.view(batch, -1, heads, q.shape[2])
        y = F.scaled_dot_product_attention(
            *(x.transpose(1, 2).double() for x in (q, k, v)), is_causal=True, enable_gqa=True
        )
        return y.transpose(1, 2).flatten(0, 1).to(q.dtype)

    return library, counts


def main():
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bindings" / "python"))
    torch.cuda.is_current_stream_capturing = lambda: False
    try:
        import transformers  # noqa: F401

        import gristmill.torch  # noqa: F401
    except ImportError as error:
        print(error)
        print("0 passed, 0 failed, 1 skipped")
        return 77
    library, counts = host_operators()
    passed = 0
    for line in check("cpu"):
        passed += 1
        print("PASS " + line, flush=True)
    check_other_layers("cpu")
    passed += 1
    assert counts["scaled_linear"] and counts["quantize"] and counts["quantize_static"], counts
    print(f"{passed} passed, 0 failed, 0 skipped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
