# SPDX-License-Identifier: Apache-2.0
"""The small Llama of make_models.py with weights of e4m3, and the logits that it should have.

    python3 tests/decoder/make_fp8_models.py OUT_FOLDER       needs numpy

OUT_FOLDER/NAME/ gets the files that make_models.py's models have:

    llama_fp8           as compressed-tensors has it: a scale of bf16 for each row of a matrix; rows before a matrix are
                        quantised as they come, with a scale for each
    llama_fp8_static    as quant_method fp8 has it: scales of fp32 for each matrix, and for all rows before it

In expected.safetensors are

    logits      F32 [n, vocab]  of these weights and of rows quantised to e4m3; all else is computed in fp64
    bf16_error  F32 [6]         of |the same with bf16 behind every operation - logits|

Rounding to bf16 moves one element in 16 or 32 across a border of e4m3, whose steps are 32 times as wide. That is off by as much
again as quantising is: so what is fair is computed with the quantisers in their places, and whether rows were quantised at all
it cannot tell. It need not: a GEMM of e4m3 takes nothing else.

The forward is believed where it makes transformers' logits of the model in 16 bits. Then scales are made equal by turns, which
must be missed: more than a decoder may be off, twice the error in bf16."""
import argparse
import json
import pathlib
import shutil
import sys

import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parent / "models" / "llama"
E4M3_LARGEST = 448
LINEARS = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj",
           "mlp.down_proj")
LAST = ("o_proj", "down_proj")  # of a block: no other matrix has their rows
ARGUMENTS = {"num_bits": 8, "type": "float", "symmetric": True, "group_size": None, "block_structure": None,
             "actorder": None, "observer_kwargs": {}}
CHANNELS = {
    "quant_method": "compressed-tensors", "format": "float-quantized", "quantization_status": "compressed",
    "ignore": ["lm_head"], "kv_cache_scheme": None, "global_compression_ratio": None,
    "config_groups": {"group_0": {
        "targets": ["Linear"], "output_activations": None,
        "weights": {**ARGUMENTS, "strategy": "channel", "dynamic": False, "observer": "minmax"},
        "input_activations": {**ARGUMENTS, "strategy": "token", "dynamic": True, "observer": None}}}}
STATIC = {"quant_method": "fp8", "activation_scheme": "static", "ignored_layers": ["lm_head"]}

# ---- types -----------------------------------------------------------------------------------------------


def to_e4m3(x):
    """The nearest value of e4m3, of two as near the one that is even; what is too large becomes the largest."""
    size = np.minimum(np.abs(x), E4M3_LARGEST)
    step = np.exp2(np.maximum(np.floor(np.log2(np.maximum(size, 2.0 ** -20))), -6) - 3)
    return np.copysign(np.minimum(np.rint(size / step) * step, E4M3_LARGEST), x)


def e4m3_values():
    """Of bytes 0 to 0x7e."""
    bits = np.arange(0x7f)
    mantissa, exponent = bits & 7, bits >> 3
    return np.where(exponent == 0, mantissa / 8 * 2.0 ** -6, (1 + mantissa / 8) * np.exp2(exponent - 7.0))


def e4m3_bytes(values):
    found = np.searchsorted(e4m3_values(), np.abs(values))
    assert (e4m3_values()[found] == np.abs(values)).all()
    return (found | np.signbit(values) << 7).astype(np.uint8)


def to_bf16(x):
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    rounded = bits + 0x7fff + (bits >> 16 & 1) & 0xffff0000
    return rounded.astype(np.uint32).view(np.float32).astype(np.float64)


def bf16_bytes(values):
    return (np.asarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


# ---- files -----------------------------------------------------------------------------------------------


def read(path):
    """Name -> dtype, shape, bytes."""
    file = path.read_bytes()
    data = 8 + int.from_bytes(file[:8], "little")
    header = json.loads(file[8:data])
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], entry["shape"], file[slice(*(data + at for at in entry["data_offsets"]))])
            for name, entry in header.items()}


def values_of(tensor):
    dtype, shape, content = tensor
    if dtype == "BF16":
        return (np.frombuffer(content, np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(shape).astype(np.float64)
    return np.frombuffer(content, {"F32": np.float32, "I32": np.int32}[dtype]).reshape(shape)


def write(path, tensors):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (dtype, array) in sorted(tensors.items(), key=lambda item: (-item[1][1].itemsize, item[0])):
        content = array.tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


# ---- quantised rows --------------------------------------------------------------------------------------


def as_they_come(x, _name, scaled=lambda scale: scale):
    """As the library's quantiser has it: in fp32, x / scale with scale = amax / 448, at least 2^-126."""
    x = x.astype(np.float32)
    scale = np.maximum(np.abs(x).max(-1, keepdims=True) / np.float32(E4M3_LARGEST), np.float32(2.0 ** -126))
    return to_e4m3((x / scale).astype(np.float64)) * scaled(scale)


def by(scales, scaled=lambda scale: scale):
    """By a scale for all rows before each matrix; one for q, k and v, and one for gate and up: the largest."""
    def quantized(x, name):
        block = name.rsplit(".", 1)[0] + "."
        fused = [scale for other, scale in scales.items() if other.startswith(block) and not other.endswith(LAST)]
        scale = np.float32(scales[name] if name.endswith(LAST) else max(fused))
        return to_e4m3((x.astype(np.float32) / scale).astype(np.float64)) * scaled(scale)
    return quantized


def not_at_all(x, _name):
    return x


# ---- a forward -------------------------------------------------------------------------------------------


def frequencies(config):
    """Of pairs, with Llama-3's scaling: long waves turn slower, short ones as ever, and between them it is a mixture."""
    rope, half = config["rope_parameters"], config["head_dim"] // 2
    plain = rope["rope_theta"] ** -(np.arange(half) / half)
    turns = rope["original_max_position_embeddings"] * plain / (2 * np.pi)
    share = (turns - rope["low_freq_factor"]) / (rope["high_freq_factor"] - rope["low_freq_factor"])
    share = np.clip(share, 0, 1)
    return plain * (share + (1 - share) / rope["factor"])


class Forward:
    """`weights` by name. `rounded` is what becomes of every operation's result, `quantized` of rows before matrices."""

    def __init__(self, config, weights, rounded=lambda x: x, quantized=as_they_come):
        self.config, self.weights, self.rounded, self.quantized = config, weights, rounded, quantized

    def linear(self, x, name):
        return self.rounded(self.quantized(x, name) @ self.weights[name + ".weight"].T)

    def norm(self, x, name):
        normed = self.rounded(x / np.sqrt((x * x).mean(-1, keepdims=True) + self.config["rms_norm_eps"]))
        return self.rounded(normed * self.weights[name + ".weight"])

    def rotated(self, x):
        """[heads, tokens, head_dim]"""
        angles = np.arange(x.shape[1])[:, None] * frequencies(self.config)
        angles = np.concatenate([angles, angles], -1)
        cosine, sine = self.rounded(np.cos(angles)), self.rounded(np.sin(angles))
        first, second = np.split(x, 2, -1)
        turned = np.concatenate([-second, first], -1)
        return self.rounded(self.rounded(x * cosine) + self.rounded(turned * sine))

    def heads(self, x):
        return x.reshape(len(x), -1, self.config["head_dim"]).transpose(1, 0, 2)

    def attention(self, x, name):
        q, k, v = (self.heads(self.linear(x, f"{name}.{letter}_proj")) for letter in "qkv")
        group = self.config["num_attention_heads"] // self.config["num_key_value_heads"]
        q, k, v = self.rotated(q), np.repeat(self.rotated(k), group, 0), np.repeat(v, group, 0)
        scores = self.rounded(self.rounded(q @ k.transpose(0, 2, 1)) * self.config["head_dim"] ** -0.5)
        scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
        likely = np.exp(scores - scores.max(-1, keepdims=True))
        attended = self.rounded(self.rounded(likely / likely.sum(-1, keepdims=True)) @ v)
        return self.linear(attended.transpose(1, 0, 2).reshape(len(x), -1), f"{name}.o_proj")

    def mlp(self, x, name):
        gate, up = self.linear(x, f"{name}.gate_proj"), self.linear(x, f"{name}.up_proj")
        return self.linear(self.rounded(self.rounded(gate / (1 + np.exp(-gate))) * up), f"{name}.down_proj")

    def logits(self, tokens):
        x = self.weights["model.embed_tokens.weight"][tokens]
        for layer in range(self.config["num_hidden_layers"]):
            name = f"model.layers.{layer}"
            x = self.rounded(x + self.attention(self.norm(x, f"{name}.input_layernorm"), f"{name}.self_attn"))
            x = self.rounded(x + self.mlp(self.norm(x, f"{name}.post_attention_layernorm"), f"{name}.mlp"))
        return self.rounded(self.norm(x, "model.norm") @ self.weights["lm_head.weight"].T)


def check_forward(config, weights, expected):
    """Against what transformers computed in fp32, and how far it was off in bf16."""
    tokens, logits = expected["tokens"], expected["logits"]

    def logits_of(**changes):
        return Forward(config, weights, quantized=not_at_all, **changes).logits(tokens)

    off = np.abs(logits_of() - logits).max()
    errors = np.quantile(np.abs(logits_of(rounded=to_bf16) - logits), expected["quantiles"])
    assert off < 1e-4, f"the forward is not transformers': {off:.3g}"
    assert (np.abs(np.log2(errors / expected["bf16_error"])) < 0.5).all(), (errors, expected["bf16_error"])


# ---- a model ---------------------------------------------------------------------------------------------


def is_linear(name):
    return name.removesuffix(".weight").split(".", 3)[-1] in LINEARS


def quantized_weights(tensors, is_static):
    """Tensors for the file, weights as they are multiplied, and their scales."""
    files, weights, scales = {}, {}, {}
    for name, tensor in tensors.items():
        weights[name] = values_of(tensor)
        if not is_linear(name):
            files[name] = ("BF16", bf16_bytes(weights[name]))
            continue
        scale = np.abs(weights[name]).max(None if is_static else -1, keepdims=not is_static) / E4M3_LARGEST
        scale = np.float32(scale) if is_static else to_bf16(scale)
        values = to_e4m3(weights[name] / scale)
        files[name] = ("F8_E4M3", e4m3_bytes(values))
        files[name + "_scale"] = ("F32", np.float32(scale)) if is_static else ("BF16", bf16_bytes(scale))
        weights[name], scales[name] = values * scale, scale
    return files, weights, scales


def input_scales(config, weights, tokens):
    """As a calibration finds them that has seen most, but not all: what is larger becomes the largest of e4m3. Of q, k and v
    they differ, and of gate and up."""
    largest = {}

    def note(x, name):
        share = 0.9 if name.endswith(("q_proj", "up_proj", *LAST)) else 0.7
        largest[name] = np.float32(share * np.abs(x).max() / E4M3_LARGEST)
        return x

    Forward(config, weights, quantized=note).logits(tokens)
    return largest


def check_features(config, weights, scales, inputs, tokens, logits, errors, quantiles):
    """What is missed least, and by how many times what is fair: it must be more than twice."""
    mean = np.mean([scale.mean() for scale in scales.values()])
    shared = {name: weight / scales[name] * (mean if inputs else scales[name].mean()) if name in scales else weight
              for name, weight in weights.items()}
    quantized = by(inputs) if inputs else as_they_come
    same = by(inputs, lambda scale: np.mean(list(inputs.values()))) if inputs \
        else lambda x, name: as_they_come(x, name, np.mean)
    without = {"scales of rows": Forward(config, weights, quantized=same),
               "scales of weights": Forward(config, shared, quantized=quantized)}
    missed = {}
    for what, forward in without.items():
        change = np.quantile(np.abs(forward.logits(tokens) - logits), quantiles)
        missed[what] = (change / errors).min()
        assert missed[what] > 2, f"{what}: left out, it is off by {missed[what]:.3g} times what is fair"
    return min(missed.items(), key=lambda item: item[1])


def make(folder, quantization, is_static):
    config = json.loads((SOURCE / "config.json").read_text())
    tensors = read(SOURCE / "model.safetensors")
    expected = {name: values_of(tensor) for name, tensor in read(SOURCE / "expected.safetensors").items()}
    tokens, quantiles = expected["tokens"], expected["quantiles"]
    check_forward(config, {name: values_of(tensor) for name, tensor in tensors.items()}, expected)
    files, weights, scales = quantized_weights(tensors, is_static)
    inputs = input_scales(config, weights, tokens) if is_static else {}
    files.update({name + ".input_scale": ("F32", scale) for name, scale in inputs.items()})
    quantized = by(inputs) if is_static else as_they_come
    logits = Forward(config, weights, quantized=quantized).logits(tokens)
    rounded = Forward(config, weights, rounded=to_bf16, quantized=quantized).logits(tokens)
    errors = np.quantile(np.abs(rounded - logits), quantiles)
    least, times = check_features(config, weights, scales, inputs, tokens, logits, errors, quantiles)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**config, "quantization_config": quantization}, indent=2) + "\n")
    shutil.copy(SOURCE / "generation_config.json", folder)
    write(folder / "model.safetensors", files)
    write(folder / "expected.safetensors",
          {"tokens": ("I32", tokens), "logits": ("F32", logits.astype(np.float32)), "quantiles": ("F32", quantiles),
           "bf16_error": ("F32", errors.astype(np.float32))})
    total = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{folder.name}: {total} bytes; logits {logits.std():.3g}, in bf16 off by "
          + ", ".join(f"{error:.3g}" for error in errors) + f"; least missed: {least} ({times:.3g} times that)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    make(folder / "llama_fp8", CHANNELS, is_static=False)
    make(folder / "llama_fp8_static", STATIC, is_static=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
