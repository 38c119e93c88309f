# SPDX-License-Identifier: Apache-2.0
"""What gristmill.patch(model) does: a model of transformers computes with gristmill's kernels.

Made for the decoders of MODELS. Parts are known by what they are made of: a module with q_proj, k_proj, v_proj and
o_proj is attention, one with gate_proj, up_proj and down_proj is an MLP, a class whose name ends in RMSNorm is a norm.
"""

import types

import torch
import transformers
from transformers import masking_utils

from . import torch as gm
from .torch import ops

ATTENTION = "gristmill"
MODELS = "llama", "mistral", "qwen2", "qwen3", "gemma3_text"  # model_type of the configuration
PROJECTIONS = "q_proj", "k_proj", "v_proj", "o_proj"


# ---- weights ----------------------------------------------------------------------------------------------


def _is_plain(linears):
    """Layers whose weights are tensors as they are: no adapter and no quantised weight stands in the way."""
    first = linears[0]
    return all(
        type(layer) is torch.nn.Linear
        and layer.weight.dtype in (torch.bfloat16, torch.float16)
        and layer.weight.dtype == first.weight.dtype
        and layer.weight.device == first.weight.device
        and (layer.bias is None) == (first.bias is None)
        for layer in linears
    )


def _blocks(count):
    return (count + 127) // 128


def _scales(layer):
    """The scales of a layer of float8_e4m3fn as float32 [1], [out] or [out / 128, in / 128]; None: it is no such layer.

    weight_scale_inv is transformers' name of it, in spite of which it is multiplied by; weight_scale that of others."""
    scales = getattr(layer, "weight_scale_inv", None)
    scales = getattr(layer, "weight_scale", None) if scales is None else scales
    static, scheme = _static_scale(layer), getattr(layer, "quantization_scheme", None)
    known = type(layer).__name__ in ("FP8Linear", "Linear") and scales is not None
    if not known or layer.weight.dtype != torch.float8_e4m3fn or (static is not None and static.numel() != 1):
        return None
    if scheme is not None and scheme.input_activations is None:  # weights alone are fp8
        return None
    out, width = layer.weight.shape
    block = tuple(getattr(layer, "block_size", None) or (128, 128))
    if scales.numel() == 1 or tuple(scales.shape) in ((out,), (out, 1)):
        return scales.detach().float().flatten()
    is_blocks = tuple(scales.shape) == (_blocks(out), _blocks(width)) and block == (128, 128)
    return scales.detach().float().contiguous() if is_blocks else None


def _static_scale(layer):
    """What the layer's input is divided by, if that is known beforehand."""
    found = getattr(layer, "activation_scale", None)
    return getattr(layer, "input_scale", None) if found is None else found


def _same_input(linears):
    """Layers of fp8 that quantise their input alike."""
    first, *others = (_static_scale(layer) for layer in linears)
    return all((other is None) == (first is None) and (first is None or torch.equal(first, other)) for other in others)


def _joined_scales(linears):
    """The scales of the layers' weights behind each other, as _scales() has them; None: they are of no common kind."""
    scales = [_scales(layer) for layer in linears]
    biases = [layer.bias is None for layer in linears]
    if any(s is None for s in scales) or len(set(biases)) > 1 or not _same_input(linears):
        return None
    if any(s.dim() == 2 for s in scales):
        whole = all(layer.out_features % 128 == 0 for layer in linears[:-1])
        return torch.cat(scales) if whole and all(s.dim() == 2 for s in scales) else None
    return torch.cat([s.expand(layer.out_features) for s, layer in zip(scales, linears)])


def _keep_scales(owner, name, scales, layer):
    static = _static_scale(layer) if scales is not None else None
    owner.register_buffer(name + "_scales", scales, persistent=False)
    owner.register_buffer(name + "_x_scale", static.detach().float() if static is not None else None, persistent=False)


def _join(owner, name, linears):
    """The weights of linear layers that read the same rows, and their biases, behind each other in one tensor; False:
    they are not of one kind.

    The layers keep views of it, so that memory is needed once."""
    scales = _joined_scales(linears)
    if scales is None and not _is_plain(linears):
        return False
    weight = torch.cat([layer.weight.detach() for layer in linears])
    biases = [layer.bias for layer in linears]
    bias = torch.cat([b.detach() for b in biases]) if all(b is not None for b in biases) else None
    sizes = [layer.out_features for layer in linears]
    for layer, part in zip(linears, weight.split(sizes)):
        layer.weight = torch.nn.Parameter(part, requires_grad=False)
    for layer, part in zip(linears, bias.split(sizes) if bias is not None else ()):
        layer.bias = torch.nn.Parameter(part, requires_grad=False)
    owner.register_buffer(name, weight, persistent=False)
    owner.register_buffer(name + "_bias", bias, persistent=False)
    _keep_scales(owner, name, scales, linears[0])
    return True


# ---- what modules compute instead -------------------------------------------------------------------------


def _product(x, weight, bias, scales, x_scale):
    """x weight^T + bias. Of a weight of fp8 x becomes fp8 too, by its static scale, or with a scale for each of its
    rows, or of each 128 of a row where the weight has scales of blocks."""
    if scales is None:
        return ops.linear(x, weight, bias, constant_weight=True)
    if x_scale is not None:
        quantized, x_scales = ops.quantize_static(x, x_scale), x_scale
    elif scales.dim() == 2:
        quantized, x_scales = ops.quantize(x, "group", by_column=True)
    else:
        quantized, x_scales = ops.quantize(x, "row")
    return ops.scaled_linear(quantized, weight, x_scales, scales, bias, out_dtype=x.dtype, constant_weight=True)


def _linear(self, x):
    return ops.linear(x, self.weight, self.bias, constant_weight=True)


def _scaled_linear(self, x):
    return _product(x, self.weight, self.bias, self._gm_scales, self._gm_x_scale)


def _norm(self, x):
    return ops.rms_norm(x, self.weight, self._gm_eps, self._gm_offset, self._gm_offset == 0.0)


def _mlp(self, x):
    gate_up = _product(x, self._gm_gate_up, self._gm_gate_up_bias, self._gm_gate_up_scales, self._gm_gate_up_x_scale)
    return self.down_proj(self._gm_act(gate_up))


def _rotary(self, x, position_ids, *args, **kwargs):
    """cos and sin in float32 as the table that rotary takes, with a row for each token, and which row a token has."""
    cos, sin = self._gm_forward(x.new_empty(1, dtype=torch.float32), position_ids, *args, **kwargs)
    half = cos.shape[-1] // 2
    table = torch.cat((cos[..., :half], sin[..., :half]), -1).flatten(0, 1)
    rows = torch.arange(table.shape[0], dtype=torch.int32, device=x.device)
    return table, rows if cos.shape[0] == x.shape[0] else rows.repeat(x.shape[0])


def _projections(self, x):
    if not self._gm_sizes:
        return self.q_proj(x), self.k_proj(x), self.v_proj(x)
    qkv = _product(x, self._gm_qkv, self._gm_qkv_bias, self._gm_qkv_scales, self._gm_qkv_x_scale)
    return qkv.split(self._gm_sizes, -1)


def _attention(self, hidden_states, position_embeddings=None, attention_mask=None, past_key_values=None, **kwargs):
    batch, q_len = hidden_states.shape[:2]
    q, k, v = (part.unflatten(-1, (-1, self.head_dim)) for part in _projections(self, hidden_states))
    table, rows = position_embeddings
    norms = ()
    if self._gm_norms:
        norms = self.q_norm.weight, self.k_norm.weight, self.q_norm._gm_eps, self.q_norm._gm_offset
    q, k = ops.rotary(q, k, rows, table, *norms)
    k, v = k.transpose(1, 2), v.transpose(1, 2)
    if past_key_values is not None:
        k, v = past_key_values.update(k, v, self.layer_idx)
    softcap = getattr(self, "attn_logit_softcapping", None)
    if attention_mask is not None and attention_mask.dim() == 4:
        out = _masked(self, q, k, v, attention_mask, softcap)
    else:
        out = gm.attention(
            q,
            k.transpose(1, 2),
            v.transpose(1, 2),
            causal=self.is_causal,
            window=self._gm_window,
            scale=self.scaling,
            softcap=softcap,
            kv_len=attention_mask,
        )
    return self.o_proj(out.reshape(batch, q_len, -1)), None


def _masked(self, q, k, v, mask, softcap):
    """Padded batches and masks of the caller's: PyTorch's attention."""
    if softcap:
        raise RuntimeError("gristmill.patch: a mask together with a soft cap")
    out = torch.nn.functional.scaled_dot_product_attention(
        q.transpose(1, 2), k, v, attn_mask=mask, scale=self.scaling, enable_gqa=True
    )
    return out.transpose(1, 2)


# ---- masks ------------------------------------------------------------------------------------------------


def _mask(
    batch_size,
    q_length,
    kv_length,
    q_offset=0,
    kv_offset=0,
    mask_function=None,
    attention_mask=None,
    device=None,
    use_vmap=False,
    allow_is_causal_skip=True,
    **kwargs,
):
    """How many tokens are there, int32 [batch]; or the mask, [batch, 1, q_length, kv_length].

    The mask where some tokens are padding, where sequences are packed behind each other, or where that cannot be known,
    while a compiler traces. transformers allows no skip of the mask where it is another than the causal one, and for
    one row of a static cache."""
    if attention_mask is not None and attention_mask.dim() == 1:
        return attention_mask
    padded = attention_mask is not None and (torch.compiler.is_compiling() or not bool(attention_mask.all()))
    if padded or use_vmap or not (allow_is_causal_skip or q_length == 1):
        return masking_utils.sdpa_mask(
            batch_size,
            q_length,
            kv_length,
            q_offset,
            kv_offset,
            mask_function,
            attention_mask,
            device=device,
            use_vmap=use_vmap,
            allow_is_causal_skip=False,
            **kwargs,
        )
    tokens = q_offset + q_length - kv_offset
    if isinstance(tokens, torch.Tensor):
        return tokens.clamp(max=kv_length).to(device, torch.int32).expand(batch_size).contiguous()
    return torch.full((batch_size,), min(tokens, kv_length), dtype=torch.int32, device=device)


def _refuse(*args, **kwargs):
    raise RuntimeError("attn_implementation is gristmill, but gristmill.patch(model) did not know this attention")


def _register_attention():
    transformers.AttentionInterface.register(ATTENTION, _refuse)
    masking_utils.AttentionMaskInterface.register(ATTENTION, _mask)


# ---- the patch --------------------------------------------------------------------------------------------


def _replace(module, forward):
    module._gm_forward = module.forward
    module.forward = types.MethodType(forward, module)


def _patch_norm(module):
    module._gm_eps = float(getattr(module, "variance_epsilon", None) or module.eps)
    module._gm_offset = 1.0 if type(module).__name__.startswith("Gemma") else 0.0
    _replace(module, _norm)


_GATED = {"silu": ops.silu_mul, "gelu_tanh": ops.gelu_tanh_mul, "gelu": ops.gelu_mul}


def _activation_name(function):
    """silu, gelu, gelu_tanh, or None for one that has no kernel."""
    name = type(function).__name__
    if name == "GELUTanh" or (name == "GELU" and getattr(function, "approximate", "") == "tanh"):
        return "gelu_tanh"
    return {"SiLU": "silu", "SiLUActivation": "silu", "GELUActivation": "gelu", "GELU": "gelu"}.get(name)


def _patch_mlp(module):
    name = _activation_name(module.act_fn)
    if name and _join(module, "_gm_gate_up", (module.gate_proj, module.up_proj)):
        module._gm_act = _GATED[name]
        _replace(module, _mlp)


def _patch_attention(module):
    layers = module.q_proj, module.k_proj, module.v_proj
    joined = _join(module, "_gm_qkv", layers)
    module._gm_sizes = [layer.out_features for layer in layers] if joined else None
    module._gm_norms = hasattr(module, "q_norm")
    config_window = getattr(module.config, "sliding_window", None)
    module._gm_window = getattr(module, "sliding_window", config_window)  # the layer's own, where layers differ
    _replace(module, _attention)


def _is_known(linears):
    return _is_plain(linears) or all(_scales(layer) is not None for layer in linears)


def _patch_linear(module):
    if _is_plain((module,)):
        _replace(module, _linear)
        return
    scales = _scales(module)
    if scales is not None:
        _keep_scales(module, "_gm", scales, module)
        _replace(module, _scaled_linear)


def patch(model):
    """gristmill.patch."""
    kind = getattr(model.config, "model_type", None)
    if kind not in MODELS:
        raise ValueError(f"gristmill.patch knows {', '.join(MODELS)}, and not {kind}")
    attentions = [m for m in model.modules() if all(hasattr(m, name) for name in PROJECTIONS)]
    if not all(_is_known((m.q_proj, m.k_proj, m.v_proj)) for m in attentions):
        raise ValueError(
            "gristmill.patch: q_proj, k_proj, v_proj are not plain linear layers of bfloat16 or float16, nor of "
            "float8_e4m3fn with scales"
        )
    _register_attention()
    with torch.no_grad():
        for module in list(model.modules()):
            kind = type(module).__name__
            if kind.endswith("RMSNorm"):
                _patch_norm(module)
            elif kind.endswith("RotaryEmbedding"):
                _replace(module, _rotary)
            elif all(hasattr(module, name) for name in ("gate_proj", "up_proj", "down_proj", "act_fn")):
                _patch_mlp(module)
        for module in attentions:
            _patch_attention(module)
        for module in list(model.modules()):
            if isinstance(module, torch.nn.Linear):
                _patch_linear(module)
    model.set_attn_implementation(ATTENTION)
    return model
