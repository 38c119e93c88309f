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


def _joined(owner, name, linears):
    """The weights of linear layers that read the same rows, and their biases, behind each other in one tensor.

    The layers keep views of it, so that memory is needed once."""
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


# ---- what modules compute instead -------------------------------------------------------------------------


def _linear(self, x):
    return ops.linear(x, self.weight, self.bias, constant_weight=True)


def _norm(self, x):
    return ops.rms_norm(x, self.weight, self._gm_eps, self._gm_offset, self._gm_offset == 0.0)


def _mlp(self, x):
    gate_up = ops.linear(x, self._gm_gate_up, self._gm_gate_up_bias, constant_weight=True)
    return self.down_proj(self._gm_act(gate_up))


def _rotary(self, x, position_ids, *args, **kwargs):
    """cos and sin in float32 as the table that rotary takes, with a row for each token, and which row a token has."""
    cos, sin = self._gm_forward(x.new_empty(1, dtype=torch.float32), position_ids, *args, **kwargs)
    half = cos.shape[-1] // 2
    table = torch.cat((cos[..., :half], sin[..., :half]), -1).flatten(0, 1)
    rows = torch.arange(table.shape[0], dtype=torch.int32, device=x.device)
    return table, rows if cos.shape[0] == x.shape[0] else rows.repeat(x.shape[0])


def _attention(self, hidden_states, position_embeddings=None, attention_mask=None, past_key_values=None, **kwargs):
    batch, q_len = hidden_states.shape[:2]
    qkv = ops.linear(hidden_states, self._gm_qkv, self._gm_qkv_bias, constant_weight=True)
    q, k, v = (part.unflatten(-1, (-1, self.head_dim)) for part in qkv.split(self._gm_sizes, -1))
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
    if name and _is_plain((module.gate_proj, module.up_proj)):
        _joined(module, "_gm_gate_up", (module.gate_proj, module.up_proj))
        module._gm_act = _GATED[name]
        _replace(module, _mlp)


def _patch_attention(module):
    layers = module.q_proj, module.k_proj, module.v_proj
    _joined(module, "_gm_qkv", layers)
    module._gm_sizes = [layer.out_features for layer in layers]
    module._gm_norms = hasattr(module, "q_norm")
    config_window = getattr(module.config, "sliding_window", None)
    module._gm_window = getattr(module, "sliding_window", config_window)  # the layer's own, where layers differ
    _replace(module, _attention)


def patch(model):
    """gristmill.patch."""
    kind = getattr(model.config, "model_type", None)
    if kind not in MODELS:
        raise ValueError(f"gristmill.patch knows {', '.join(MODELS)}, and not {kind}")
    attentions = [m for m in model.modules() if all(hasattr(m, name) for name in PROJECTIONS)]
    if not all(_is_plain((m.q_proj, m.k_proj, m.v_proj)) for m in attentions):
        raise ValueError("gristmill.patch: q_proj, k_proj, v_proj are not plain linear layers of bfloat16 or float16")
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
            if isinstance(module, torch.nn.Linear) and _is_plain((module,)):
                _replace(module, _linear)
    model.set_attn_implementation(ATTENTION)
    return model
