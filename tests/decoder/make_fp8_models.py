# SPDX-License-Identifier: Apache-2.0
"""Small models with weights of e4m3, and the logits that they should have: the Llama of make_models.py, and two that are
large enough for blocks.

    python3 tests/decoder/make_fp8_models.py OUT_FOLDER       needs numpy

OUT_FOLDER/NAME/ gets the files that make_models.py's models have:

    llama_fp8           as compressed-tensors has it: a scale of bf16 for each row of a matrix; rows before a matrix are
                        quantised as they come, with a scale for each
    llama_fp8_static    as quant_method fp8 has it: scales of fp32 for each matrix, and for all rows before it
    qwen3_fp8_blocks    as quant_method fp8 has it with weight_block_size: scales of fp32 for each 128 x 128 of a matrix;
                        rows are quantised as they come, with a scale for each 128 columns
    llama_fp8_blocks    as compressed-tensors has the same, scales of bf16. Sizes but q's are no multiples of 128: v begins within
                        a block of q, k and v together, and up within one of gate and up

In expected.safetensors are

    logits      F32 [n, vocab]  of these weights and of rows quantised to e4m3; all else is computed in fp64
    bf16_error  F32 [6]         of |the same with bf16 behind every operation - logits|

Rounding to bf16 moves one element in 16 or 32 across a border of e4m3, whose steps are 32 times as wide. That is off by as much
again as quantising is: so what is fair is computed with the quantisers in their places, and whether rows were quantised at all
it cannot tell. It need not: a GEMM of e4m3 takes nothing else.

The forward is believed where it makes transformers' logits of the models in 16 bits, whose architectures and angles those of
blocks have, with random weights. Then scales are made equal by turns, or blocks get those of others, which must be missed: more
than a decoder may be off, twice the error in bf16."""
import argparse
import json
import pathlib
import shutil
import sys

import numpy as np

MODELS = pathlib.Path(__file__).resolve().parent / "models"
E4M3_LARGEST = 448
BLOCK = 128
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
BLOCKS = {"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3", "weight_block_size": [BLOCK, BLOCK],
          "modules_to_not_convert": ["lm_head", "model.layers.0.input_layernorm", "model.layers.0.post_attention_layernorm"]}
COMPRESSED_BLOCKS = {
    **CHANNELS,
    "config_groups": {"group_0": {
        "targets": ["Linear"], "output_activations": None,
        "weights": {**ARGUMENTS, "strategy": "block", "block_structure": [BLOCK, BLOCK], "dynamic": False,
                    "observer": "memoryless_minmax"},
        "input_activations": {**ARGUMENTS, "strategy": "group", "group_size": BLOCK, "dynamic": True, "observer": None}}}}

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


def by_groups(x, _name, scaled=lambda scale: scale):
    """The same of 128 columns at a time; no scale is less than 1e-10 / 448."""
    groups = -(-x.shape[-1] // BLOCK)
    x32 = np.pad(x.astype(np.float32), ((0, 0), (0, groups * BLOCK - x.shape[-1]))).reshape(len(x), groups, BLOCK)
    scale = np.maximum(np.abs(x32).max(-1, keepdims=True), np.float32(1e-10)) / np.float32(E4M3_LARGEST)
    return (to_e4m3((x32 / scale).astype(np.float64)) * scaled(scale)).reshape(len(x), -1)[:, :x.shape[-1]]


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
    """Of pairs, perhaps with Llama-3's scaling: long waves turn slower, short ones as ever, and between them it is a mixture."""
    rope, half = config["rope_parameters"], config["head_dim"] // 2
    plain = rope["rope_theta"] ** -(np.arange(half) / half)
    if rope["rope_type"] == "default":
        return plain
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

    def heads(self, x, norm=None):
        heads = x.reshape(len(x), -1, self.config["head_dim"])
        if norm and norm + ".weight" in self.weights:  # Qwen3's
            heads = self.norm(heads, norm)
        return heads.transpose(1, 0, 2)

    def attention(self, x, name):
        q, k, v = (self.heads(self.linear(x, f"{name}.{letter}_proj"), f"{name}.{letter}_norm") for letter in "qkv")
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
        embeddings = self.weights["model.embed_tokens.weight"]
        x = embeddings[tokens]
        for layer in range(self.config["num_hidden_layers"]):
            name = f"model.layers.{layer}"
            x = self.rounded(x + self.attention(self.norm(x, f"{name}.input_layernorm"), f"{name}.self_attn"))
            x = self.rounded(x + self.mlp(self.norm(x, f"{name}.post_attention_layernorm"), f"{name}.mlp"))
        return self.rounded(self.norm(x, "model.norm") @ self.weights.get("lm_head.weight", embeddings).T)


def check_forward(source):
    """Against what transformers computed in fp32, and how far it was off in bf16."""
    config, expected = source["config"], source["expected"]
    weights = {name: values_of(tensor) for name, tensor in source["tensors"].items()}
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


def source_of(name):
    """A model of 16 bits, by whose logits the forward is checked."""
    folder = MODELS / name
    source = {"folder": folder, "config": json.loads((folder / "config.json").read_text()), "tensors": {},
              "expected": {key: values_of(tensor) for key, tensor in read(folder / "expected.safetensors").items()}}
    for file in sorted(folder.glob("model*.safetensors")):
        source["tensors"].update(read(file))
    check_forward(source)
    return source


def shapes(config):
    """Of a layer's tensors, and of the others; embeddings are tied."""
    hidden, head_dim = config["hidden_size"], config["head_dim"]
    q, kv, between = (config[key] for key in ("num_attention_heads", "num_key_value_heads", "intermediate_size"))
    attention = {"q_proj": (q * head_dim, hidden), "k_proj": (kv * head_dim, hidden), "v_proj": (kv * head_dim, hidden),
                 "o_proj": (hidden, q * head_dim)}
    if config["model_type"] == "qwen3":
        attention |= {"q_norm": (head_dim,), "k_norm": (head_dim,)}
    mlp = {"gate_proj": (between, hidden), "up_proj": (between, hidden), "down_proj": (hidden, between)}
    layer = {**{f"self_attn.{name}": shape for name, shape in attention.items()},
             **{f"mlp.{name}": shape for name, shape in mlp.items()},
             "input_layernorm": (hidden,), "post_attention_layernorm": (hidden,)}
    layers = {f"model.layers.{i}.{name}.weight": shape for i in range(config["num_hidden_layers"])
              for name, shape in layer.items()}
    return {**layers, "model.embed_tokens.weight": (config["vocab_size"], hidden), "model.norm.weight": (hidden,)}


def spread(scales, shape):
    """A scale for each block, or a row of them, as one for each element."""
    for axis, size in enumerate(shape):
        scales = np.repeat(scales, BLOCK, axis)[(slice(None),) * axis + (slice(size),)]
    return scales


def random_weights(config, seed):
    """Of bf16. Blocks differ in size by up to 4 times, so that a block's scale is not another's."""
    random = np.random.RandomState(seed)  # whose numbers are the same for ever
    weights = {}
    for name, shape in sorted(shapes(config).items()):
        normal = random.standard_normal(shape)
        if is_linear(name):
            normal /= shape[-1] ** 0.5
        elif "norm" in name:
            normal = 1 + 0.2 * normal
        sizes = np.exp2(random.uniform(-1, 1, [-(-size // BLOCK) for size in shape]))
        is_one_size = "embed_tokens" in name or name == "model.norm.weight"
        weights[name] = to_bf16(normal if is_one_size else normal * spread(sizes, shape))
    return weights


class Channels:
    """A scale of bf16 for each row of a matrix."""
    ending, dtype = "_scale", "BF16"

    def scales(self, weight):
        return to_bf16(np.abs(weight).max(-1, keepdims=True) / E4M3_LARGEST)

    def spread(self, scale, _shape):
        return scale


class Tensors(Channels):
    """A scale of fp32 for a matrix."""
    dtype = "F32"

    def scales(self, weight):
        return np.float32(np.abs(weight).max() / E4M3_LARGEST)


class Blocks:
    """A scale for each 128 x 128."""

    def __init__(self, ending, dtype):
        self.ending, self.dtype = ending, dtype

    def scales(self, weight):
        rows, columns = (range(0, size, BLOCK) for size in weight.shape)
        scales = [[np.abs(weight[i:i + BLOCK, j:j + BLOCK]).max() / E4M3_LARGEST for j in columns] for i in rows]
        return np.float32(scales) if self.dtype == "F32" else to_bf16(scales)

    def spread(self, scale, shape):
        return spread(scale, shape)


def quantized_weights(tensors, of):
    """Tensors for the file, weights as they are multiplied, and their scales."""
    files, weights, scales = {}, {}, {}
    for name, weight in tensors.items():
        weights[name] = weight
        if not is_linear(name):
            files[name] = ("BF16", bf16_bytes(weight))
            continue
        scale = of.scales(weight)
        values = to_e4m3(weight / of.spread(scale, weight.shape))
        files[name] = ("F8_E4M3", e4m3_bytes(values))
        files[name + of.ending] = (of.dtype, np.float32(scale) if of.dtype == "F32" else bf16_bytes(scale))
        weights[name], scales[name] = values * of.spread(scale, weight.shape), scale
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


def rescaled(weights, scales, of, change):
    """Weights whose scales are what `change` makes of them."""
    changed = dict(weights)
    for name, scale in scales.items():
        shape = weights[name].shape
        changed[name] = weights[name] / of.spread(scale, shape) * of.spread(change(scale), shape)
    return changed


def reversed_blocks(scales):
    return scales[::-1, ::-1]


def reversed_groups(scales):
    return scales[:, ::-1]


def left_out(config, weights, scales, inputs, of):
    """What is left out -> the forward without it."""
    mean = np.mean([scale.mean() for scale in scales.values()])
    shared = rescaled(weights, scales, of, lambda scale: np.full_like(scale, mean if inputs else scale.mean()))
    is_blocks = isinstance(of, Blocks)
    quantizer = by(inputs) if inputs else by_groups if is_blocks else as_they_come
    same = by(inputs, lambda scale: np.mean(list(inputs.values()))) if inputs \
        else lambda x, name: quantizer(x, name, np.mean)
    without = {"scales of rows": Forward(config, weights, quantized=same),
               "scales of weights": Forward(config, shared, quantized=quantizer)}
    if is_blocks:
        swapped = rescaled(weights, scales, of, reversed_blocks)
        without["which block a scale is of"] = Forward(config, swapped, quantized=quantizer)
        without["which group a scale is of"] = Forward(
            config, weights, quantized=lambda x, name: by_groups(x, name, reversed_groups))
    return without


def check_features(without, tokens, logits, errors, quantiles):
    """What is missed least, and by how many times what is fair: it must be more than twice."""
    missed = {}
    for what, forward in without.items():
        change = np.quantile(np.abs(forward.logits(tokens) - logits), quantiles)
        missed[what] = (change / errors).min()
        assert missed[what] > 2, f"{what}: left out, it is off by {missed[what]:.3g} times what is fair"
    return min(missed.items(), key=lambda item: item[1])


def make(folder, source, config, tensors, quantization, of):
    tokens, quantiles = source["expected"]["tokens"], source["expected"]["quantiles"]
    is_static = quantization.get("activation_scheme") == "static"
    files, weights, scales = quantized_weights(tensors, of)
    inputs = input_scales(config, weights, tokens) if is_static else {}
    files.update({name + ".input_scale": ("F32", scale) for name, scale in inputs.items()})
    quantized = by(inputs) if is_static else by_groups if isinstance(of, Blocks) else as_they_come
    logits = Forward(config, weights, quantized=quantized).logits(tokens)
    rounded = Forward(config, weights, rounded=to_bf16, quantized=quantized).logits(tokens)
    errors = np.quantile(np.abs(rounded - logits), quantiles)
    least, times = check_features(left_out(config, weights, scales, inputs, of), tokens, logits, errors, quantiles)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**config, "quantization_config": quantization}, indent=2) + "\n")
    shutil.copy(source["folder"] / "generation_config.json", folder)
    write(folder / "model.safetensors", files)
    write(folder / "expected.safetensors",
          {"tokens": ("I32", tokens), "logits": ("F32", logits.astype(np.float32)), "quantiles": ("F32", quantiles),
           "bf16_error": ("F32", errors.astype(np.float32))})
    total = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{folder.name}: {total} bytes; logits {logits.std():.3g}, in bf16 off by "
          + ", ".join(f"{error:.3g}" for error in errors) + f"; least missed: {least} ({times:.3g} times that)")


def make_blocks(folder, source, keys, seed, quantization, of):
    config = {**source["config"], "tie_word_embeddings": True, **keys}
    make(folder, source, config, random_weights(config, seed), quantization, of)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    llama, qwen3 = source_of("llama"), source_of("qwen3")
    tensors = {name: values_of(tensor) for name, tensor in llama["tensors"].items()}
    make(folder / "llama_fp8", llama, llama["config"], tensors, CHANNELS, Channels())
    make(folder / "llama_fp8_static", llama, llama["config"], tensors, STATIC, Tensors())
    make_blocks(folder / "qwen3_fp8_blocks", qwen3,
                {"hidden_size": 256, "intermediate_size": 384, "num_attention_heads": 4, "num_key_value_heads": 2}, 1,
                BLOCKS, Blocks("_scale_inv", "F32"))
    make_blocks(folder / "llama_fp8_blocks", llama,
                {"hidden_size": 192, "intermediate_size": 160, "num_attention_heads": 2, "num_key_value_heads": 1}, 2,
                COMPRESSED_BLOCKS, Blocks("_scale", "BF16"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
