#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The decoder as its user has it, on the simulated GPU or a real one: texts, options, refusals. The models are those of
make_models.py, with a tokenizer that has a token for each byte.

    program_test.py DECODER            the last line is "N passed, N failed, N skipped"
"""
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

MODELS = pathlib.Path(__file__).resolve().parent / "models"
passed, failed = 0, 0


def check(name, is_right, said=""):
    global passed, failed
    passed, failed = passed + bool(is_right), failed + (not is_right)
    print(f"{name:70} {'PASS' if is_right else 'FAIL'}", flush=True)
    if not is_right:
        print(said)


def byte_characters():
    """The characters that stand for bytes in a byte-level vocabulary: GPT-2's."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]


def tokenizer():
    vocabulary = {character: byte for byte, character in enumerate(byte_characters())}
    added = [{"id": 256, "content": "<|begin|>", "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True}]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "post_processor": None, "decoder": {"type": "ByteLevel"},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "vocab": vocabulary,
                      "merges": []}}


def model_folder(work, name="llama", **changes):
    folder = pathlib.Path(tempfile.mkdtemp(dir=work))
    for file in (MODELS / name).iterdir():
        shutil.copy(file, folder)
    config = json.loads((folder / "config.json").read_text())
    config.update(changes)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    return folder


def tensors_of(path):
    """Name -> dtype, shape, bytes."""
    file = path.read_bytes()
    data = 8 + int.from_bytes(file[:8], "little")
    header = json.loads(file[8:data])
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], entry["shape"], file[slice(*(data + at for at in entry["data_offsets"]))])
            for name, entry in header.items()}


def write_tensors(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def with_tensors(folder, change):
    """The folder, with what `change` makes of its tensors."""
    file = folder / "model.safetensors"
    write_tensors(file, change(tensors_of(file)))
    return folder


def fused(tensors):
    """All experts of a layer in two tensors, as transformers 5 has them in memory and may save them."""
    parts = {"gate_proj": 0, "w1": 0, "up_proj": 1, "w3": 1, "down_proj": 2, "w2": 2}
    found, others = {}, {}
    for name, tensor in tensors.items():
        match = re.fullmatch(r"(model\.layers\.\d+)\.(?:mlp|block_sparse_moe)\.experts\.(\d+)\.(\w+)\.weight", name)
        if match:
            found.setdefault(match[1], {})[int(match[2]), parts[match[3]]] = tensor
        else:
            others[name.replace("block_sparse_moe", "mlp")] = tensor
    for layer, matrices in found.items():
        experts = len(matrices) // 3
        columns, hidden = matrices[0, 0][1]
        for name, shape, which in (("gate_up_proj", [experts, 2 * columns, hidden], (0, 1)),
                                   ("down_proj", [experts, hidden, columns], (2,))):
            content = b"".join(matrices[expert, part][2] for expert in range(experts) for part in which)
            others[f"{layer}.mlp.experts.{name}"] = ("BF16", shape, content)
    return others


def floats(tensor):
    """A tensor of bf16 in fp32."""
    dtype, shape, content = tensor
    assert dtype == "BF16"
    return ("F32", shape, b"".join(b"\0\0" + content[i:i + 2] for i in range(0, len(content), 2)))


def with_scales(change):
    """`change` gets each weight_scale."""
    return lambda tensors: {name: change(tensor) if name.endswith("weight_scale") else tensor
                            for name, tensor in tensors.items()}


def eight_bits(kept, block=None):
    """Matrices of layers in e4m3, rounded, with one scale of 1/512, which those of make_models.py fit in, or one for each block;
    but for some."""
    def change(tensors):
        others = dict(tensors)
        for name, (_, shape, content) in tensors.items():
            if name.endswith("_proj.weight") and not re.match(kept, name):
                halves = struct.unpack(f"<{len(content) // 2}H", content)
                sizes = [max((half & 0x7fff) + 8 - 0x3780, 0) >> 4 for half in halves]
                assert max(sizes) < 0x7f
                others[name] = "F8_E4M3", shape, bytes(half >> 8 & 0x80 | size for half, size in zip(halves, sizes))
                blocks = [-(-size // block) for size in shape] if block else []
                others[name + ("_scale_inv" if block else "_scale")] = \
                    "F32", blocks, struct.pack("<f", 2.0 ** -9) * math.prod(blocks)
        return others
    return change


def scaled(tensor, factor):
    dtype, shape, content = tensor
    count = len(content) // 4
    return dtype, shape, struct.pack(f"<{count}f", *(factor * value for value in struct.unpack(f"<{count}f", content)))


def one_scale(rank):
    """Every matrix has one scale, of that rank; None: one for each row, and all the same."""
    scale = struct.pack("<f", 0.001953125)
    return with_scales(lambda tensor: ("F32", tensor[1], scale * tensor[1][0]) if rank is None
                       else ("F32", [1] * rank, scale))


def without(*names):
    return lambda tensors: {name: tensor for name, tensor in tensors.items() if name not in names}


def renamed(old, new):
    return lambda tensors: {name.replace(old, new): tensor for name, tensor in tensors.items()}


class Decoder:
    def __init__(self, program):
        self.program = program

    def run(self, *words, **environment):
        return subprocess.run([self.program, *map(str, words)], capture_output=True, timeout=300, check=False,
                              env={**os.environ, **environment})

    def text(self, *words):
        done = self.run(*words)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode(errors="replace"))
        return done.stdout

    def refuses(self, name, words, *sentence, **environment):
        done = self.run(*words, **environment)
        said = done.stderr.decode(errors="replace")
        is_right = done.returncode == 1 and said.startswith("decoder: ") and all(word in said for word in sentence)
        check(name, is_right, f"status {done.returncode}: {said}")


def texts(decoder, work):
    folder, few = model_folder(work), ("--page", 16, "--tokens", 8)
    greedy = decoder.text(folder, "Call me", *few, "--temperature", 0)
    check("the prompt comes first", greedy.startswith(b"Call me") and len(greedy) > len(b"Call me"), greedy)
    check("one seed gives one text", decoder.text(folder, "Call me", *few, "--seed", 3)
          == decoder.text(folder, "Call me", *few, "--seed", 3, "--eager"))
    lines = work / "prompts.txt"
    lines.write_text("Call me\n\nIt was\nA\n")
    together = decoder.text("--prompts", lines, folder, *few, "--temperature", 0, "--invariant")
    alone = decoder.text(folder, "Call me", *few, "--temperature", 0, "--invariant")[len(b"Call me"):].rstrip(b"\n")
    check("prompts of a file run together", together.startswith(b"[1] ") and b"\n[2] " in together
          and b"\n[3] " in together, together)
    check("and give what each gives alone", together[len(b"[1] "):].startswith(alone), (together, alone))
    two_at_once = decoder.text("--prompts", lines, folder, *few, "--temperature", 0, "--invariant", "--batch", 2,
                               "--chunk", 3)
    check("and so do two at once, in chunks of three rows", two_at_once == together, (two_at_once, together))
    said = decoder.run(folder, "Call me", *few).stderr.decode()
    check("it tells how long it took", "tokens/s" in said and "first token after" in said, said)


def experts(decoder, work):
    few = ("--page", 16, "--tokens", 6, "--seed", 2)
    for name in ("qwen3_moe", "mixtral"):
        apart = decoder.text(model_folder(work, name), "Call me", *few)
        check(f"{name}: experts in one tensor give the text of experts apart",
              decoder.text(with_tensors(model_folder(work, name), fused), "Call me", *few) == apart, apart)
    folder, greedy = model_folder(work, "mixtral"), ("--temperature", 0, "--tokens", 6, "--page", 16, "--invariant")
    prompt = "Some years ago, never mind how long precisely, having little or no money in my purse. " * 3
    check("experts of more than 64 rows, and the same rows in chunks", decoder.text(folder, prompt, *greedy)
          == decoder.text(folder, prompt, *greedy, "--chunk", 40))
    said = decoder.text("bench", model_folder(work, "mixtral"), "--batch", 3, "--context", 20, "--prefill", 0,
                        "--page", 16, "--explain")
    check("bench of experts says their kernels", b"moe_route_" in said and b"an expert's down" in said, said)


def fp8_folder(work, change=None, **keys):
    """`keys` change config.json's quantization_config."""
    config = json.loads((MODELS / "llama_fp8" / "config.json").read_text())["quantization_config"]
    folder = model_folder(work, "llama_fp8", quantization_config={**config, **keys})
    return with_tensors(folder, change) if change else folder


def fp8_group(**keys):
    """The group of llama_fp8 with these keys in the place of its own."""
    config = json.loads((MODELS / "llama_fp8" / "config.json").read_text())["quantization_config"]
    return {"config_groups": {"group_0": {**config["config_groups"]["group_0"], **keys}}}


def fp8_weights(**keys):
    return fp8_group(weights={"num_bits": 8, "type": "float", "symmetric": True, "strategy": "tensor", **keys})


def static_folder(work, change):
    return with_tensors(model_folder(work, "llama_fp8_static"), change)


def exchanged(one, other):
    """Tensors whose names have `one` and `other` in them change places."""
    return lambda tensors: {**tensors, **{name.replace(one, other): tensors[name] for name in tensors if one in name},
                            **{name.replace(other, one): tensors[name] for name in tensors if other in name}}


OLDER = {"quant_method": "fp8", "activation_scheme": "dynamic", "ignored_layers": ["lm_head"]}


def fp8(decoder, work):
    few = ("Call me", "--page", 16, "--tokens", 6, "--seed", 2)

    def text(*words, **keys):
        return decoder.text(fp8_folder(work, *words, **keys), *few)

    check("fp8: scales in fp32 give the text of scales in bf16", text(with_scales(floats)) == text())
    same = text(one_scale(None))
    check("fp8: a tensor's scale is one for each row", text(one_scale(1), **fp8_weights()) == same and same != text())
    older = model_folder(work, "llama_fp8", quantization_config=OLDER)
    check("fp8: and so are scales in quant_method fp8", decoder.text(with_tensors(older, one_scale(0)), *few) == same)
    def static(*scales):
        return decoder.text(static_folder(work, exchanged(*(letter + ".input_scale" for letter in scales))), *few)

    before = decoder.text(model_folder(work, "llama_fp8_static"), *few)
    check("fp8: of the scales of rows before q, k and v the largest counts", static("q_proj", "v_proj") == before
          and static("gate_proj", "up_proj") == before and static("up_proj", "down_proj") != before)
    some = r"model.layers.(0[.]mlp|1[.]self_attn.o_proj)"
    for name, kept, times in (("llama", some, 5), ("gemma3", "none", 4), ("qwen2", "none", 8)):
        ignoring = {**OLDER, "ignored_layers": ["lm_head", "re:" + kept]}
        folder = with_tensors(model_folder(work, name, quantization_config=ignoring), eight_bits(kept))
        expected = tensors_of(folder / "expected.safetensors")
        write_tensors(folder / "expected.safetensors", {**expected, "bf16_error": scaled(expected["bf16_error"], times)})
        done = decoder.run("check", folder, "--page", 16)
        check(f"fp8: {name} with weights rounded to e4m3 has nearly its logits", done.returncode == 0, done.stdout.decode())


BLOCKS = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}


def blocks_folder(work, change=None, **keys):
    """Of llama_fp8_blocks; `keys` change config.json."""
    folder = model_folder(work, "llama_fp8_blocks", **keys)
    return with_tensors(folder, change) if change else folder


def fp8_blocks(decoder, work):
    few = ("Call me", "--page", 16, "--tokens", 6, "--seed", 2)
    text = decoder.text(blocks_folder(work), *few)
    check("fp8: scales of blocks in fp32 give the text of scales in bf16",
          decoder.text(blocks_folder(work, with_scales(floats)), *few) == text)
    named = blocks_folder(work, renamed("weight_scale", "weight_scale_inv"), quantization_config=BLOCKS)
    check("fp8: and so do scales by DeepSeek's names", decoder.text(named, *few) == text)
    for name, kept, times in (("gemma3", "none", 4), ("qwen2", r"model.layers.0[.]mlp", 8)):
        ignoring = {**BLOCKS, "modules_to_not_convert": ["lm_head", "re:" + kept]}
        folder = with_tensors(model_folder(work, name, quantization_config=ignoring), eight_bits(kept, 128))
        expected = tensors_of(folder / "expected.safetensors")
        write_tensors(folder / "expected.safetensors", {**expected, "bf16_error": scaled(expected["bf16_error"], times)})
        done = decoder.run("check", folder, "--page", 16)
        check(f"fp8: {name} in blocks larger than its matrices has nearly its logits", done.returncode == 0,
              done.stdout.decode())
    said = decoder.text("bench", blocks_folder(work), "--batch", 3, "--context", 20, "--prefill", 0, "--page", 16,
                        "--explain")
    check("bench of blocks says their kernels", re.search(rb"down of e4m3 .* gemm_sm90_e4m3_\S+x_", said)
          and re.search(rb"gate, up of e4m3 .* gemm_sm90_e4m3_\S+xc_", said), said)


def bench(decoder, work):
    folder, numbers = model_folder(work, "gemma3"), work / "bench.json"
    said = decoder.text("bench", folder, "--batch", 2, "--context", 20, "--prefill", 24, "--page", 16, "--explain",
                        "--json", numbers)
    found = json.loads(numbers.read_text())
    check("bench times a step and a prompt", found["decode_ms"] > 0 and found["prompt_ms"] > 0, said)
    check("and says which kernels", b"attention, window" in said and b"rms_norm_" in said, said)


def refusals(decoder, work):
    folder = model_folder(work)
    decoder.refuses("no folder", ["--tokens", 3], "which folder")
    decoder.refuses("no prompt", [folder], "one prompt is wanted")
    decoder.refuses("an unknown option", [folder, "x", "--fast"], "there is no option --fast")
    decoder.refuses("an option without a value", [folder, "x", "--tokens"], "--tokens wants a value")
    decoder.refuses("a number out of range", [folder, "x", "--batch", 300], "--batch is 300", "from 1 to 256")
    decoder.refuses("no number", [folder, "x", "--tokens", "1.5"], "--tokens is 1.5")
    decoder.refuses("a word too many", [folder, "x", "y"], "y is one word too many")
    decoder.refuses("an empty prompt", [folder, ""], "the prompt is empty")
    (work / "empty.txt").write_text("\n\n")
    decoder.refuses("a file without a prompt", [folder, "--prompts", work / "empty.txt"], "empty.txt has no prompt")
    decoder.refuses("no such folder", [work / "none", "x"], "cannot open", "config.json")
    decoder.refuses("a context that is too short", [folder, "Call me Ishmael", "--context", 8, "--tokens", 4],
                    "do not fit a context of 8")
    decoder.refuses("more tokens than the model is made for", [folder, "x", "--tokens", 5000], "512")
    decoder.refuses("too little memory", [model_folder(work, max_position_embeddings=1 << 24, num_hidden_layers=200),
                                          "x", "--context", 1 << 24], "too little memory", "GB are needed")
    decoder.refuses("another architecture", [model_folder(work, architectures=["PhiForCausalLM"]), "x"], "PhiForCausalLM")
    decoder.refuses("another shape", [model_folder(work, intermediate_size=96), "x"], "has not the shape", "96 x 64")
    decoder.refuses("a layer too many", [model_folder(work, num_hidden_layers=3), "x"], "no tensor model.layers.2")
    decoder.refuses("a layer too few", [model_folder(work, num_hidden_layers=1), "x"], "not known to have")
    decoder.refuses("another dtype", [model_folder(work, dtype="float16", torch_dtype="float16"), "x"], "BF16", "F16")
    decoder.refuses("no tokenizer", [MODELS / "llama", "x"], "tokenizer.json")


def refused_experts(decoder, work):
    layer = "model.layers.1.mlp."
    down = layer + "experts.7.down_proj.weight"

    def qwen(change=None, **keys):
        folder = model_folder(work, "qwen3_moe", **keys)
        return [with_tensors(folder, change) if change else folder, "x", "--tokens", 1, "--page", 16]

    decoder.refuses("experts that every token has", qwen(n_shared_experts=1), "`n_shared_experts` is 1", "not known")
    decoder.refuses("another scoring", qwen(scoring_func="sigmoid"), "`scoring_func`", "softmax")
    decoder.refuses("more experts than there are", qwen(num_local_experts=9), layer + "gate.weight", "9 x 64")
    decoder.refuses("fewer experts than there are", qwen(num_local_experts=7), layer + "experts.7.",
                    "not known to have")
    decoder.refuses("an expert without a matrix", qwen(without(down)), "no tensor " + down)
    for name, bias, size in (("an expert", layer + "experts.7.up_proj.bias", 16), ("a router", layer + "gate.bias", 8)):
        more = {bias: ("BF16", [size], bytes(2 * size))}
        decoder.refuses(name + " with a bias", qwen(lambda tensors, more=more: {**tensors, **more}), bias, "not known to have")
    decoder.refuses("no experts at all", qwen(renamed("experts", "exports")),
                    "no tensor " + layer + "experts.0.gate_proj.weight")
    decoder.refuses("experts where an MLP is expected", qwen(mlp_only_layers=[1]), "no tensor model.layers.0.mlp.gate")
    decoder.refuses("experts of another shape in one tensor", qwen(fused, moe_intermediate_size=24),
                    layer + "experts.gate_up_proj", "8 x 48 x 64")
    decoder.refuses("experts that do not fit", qwen(moe_intermediate_size=1 << 20, num_local_experts=1024),
                    "too little memory", "412.32 weights")
    mixtral = with_tensors(model_folder(work, "mixtral"), renamed(".w1.", ".w4."))
    decoder.refuses("Mixtral's experts by other names", [mixtral, "x"], "no tensor", "block_sparse_moe.experts.0.w1.weight")


def refused_fp8(decoder, work):
    module = "model.layers.1.mlp.up_proj"
    weight, scale = module + ".weight", module + ".weight_scale"

    def changed(name, dtype, shape, content):
        return lambda tensors: {**tensors, name: (dtype, shape, content)}

    def refuses(name, folder, *sentence):
        decoder.refuses("fp8: " + name, [folder, "x"], *sentence)

    refuses("a matrix without a scale", fp8_folder(work, without(scale)), "no tensor " + scale)
    refuses("a scale for half of the rows", fp8_folder(work, changed(scale, "BF16", [32, 1], bytes(64))),
            scale, "has not the shape", "64 x 1")
    refuses("scales in a row", fp8_folder(work, changed(scale, "BF16", [1, 64], bytes(128))), scale, "64 x 1")
    refuses("scales of rows where one of the matrix is said", fp8_folder(work, **fp8_weights()), "weight_scale",
            "has not the shape", "1 x 1")
    refuses("scales of 8 bits", fp8_folder(work, changed(scale, "F8_E4M3", [64, 1], bytes(64))), scale, "F8_E4M3",
            "scales of BF16")
    refuses("a scale that is no number", fp8_folder(work, changed(scale, "BF16", [64, 1], b"\xc0\x7f" * 64)), scale,
            "has a scale of nan")
    refuses("a scale below 0", fp8_folder(work, changed(scale, "F16", [64, 1], b"\0\xc0" * 64)), scale, "a scale of -2")
    refuses("a matrix of 16 bits", fp8_folder(work, changed(weight, "BF16", [64, 64], bytes(8192))), weight,
            "config.json says that weights are F8_E4M3")
    refuses("another type of 8 bits", fp8_folder(work, changed(weight, "F8_E5M2", [64, 64], bytes(4096))), "F8_E5M2")
    refuses("lm_head of 8 bits", fp8_folder(work, changed("lm_head.weight", "F8_E4M3", [272, 64], bytes(272 * 64))),
            "lm_head.weight is of F8_E4M3", "are BF16")
    refuses("no word of it in config.json", model_folder(work, "llama_fp8", quantization_config=None),
            ".weight is of F8_E4M3, and config.json has no quantization_config")
    refuses("another method", fp8_folder(work, quant_method="fbgemm_fp8"), "`quantization_config.quant_method`", "fbgemm")
    refuses("another format", fp8_folder(work, format="int-quantized"), "`quantization_config.format`", "float-quantized")
    refuses("scales of files for each row", fp8_folder(work, **fp8_group(input_activations={
        "num_bits": 8, "type": "float", "strategy": "token", "dynamic": False})), "input_activations.strategy` is \"token\"")
    refuses("another scheme", model_folder(work, "llama_fp8", quantization_config={**OLDER, "activation_scheme": "none"}),
            "`quantization_config.activation_scheme` is \"none\"")
    refuses("a matrix without a scale of its rows", static_folder(work, without(module + ".input_scale")),
            "no tensor " + module + ".input_scale")
    refuses("a scale of rows that is 0", static_folder(work, changed(module + ".input_scale", "F32", [1], bytes(4))),
            "input_scale has a scale of 0")
    refuses("two scales of rows", static_folder(work, changed(module + ".input_scale", "F32", [2], bytes(8))),
            "input_scale has not the shape", "1 x 1")
    refuses("scales of rows that nobody said", fp8_folder(work, changed(module + ".input_scale", "F32", [1], bytes(4))),
            module + ".input_scale", "not known to have")
    refuses("another size of blocks", model_folder(work, "llama_fp8", quantization_config={
        **OLDER, "weight_block_size": [64, 64]}), "`quantization_config.weight_block_size`", "[128, 128] are computed")


def refused_blocks(decoder, work):
    scale = "model.layers.1.mlp.up_proj.weight_scale"  # 160 x 192: 2 x 2

    def refuses(name, folder, *sentence):
        decoder.refuses("fp8: " + name, [folder, "x"], *sentence)

    def changed(dtype, shape, content):
        return lambda tensors: {**tensors, scale: (dtype, shape, content)}

    refuses("blocks without scales", blocks_folder(work, without(scale)), "no tensor " + scale)
    for shape in ([160, 2], [2, 1], [4], [1, 1], [160, 1]):
        refuses(f"scales of blocks, {shape}", blocks_folder(work, changed("BF16", shape, bytes(2 * math.prod(shape)))),
                scale, "has not the shape", "2 x 2")
    down = "model.layers.0.mlp.down_proj.weight_scale"
    refuses("a row of blocks too many", blocks_folder(work, lambda tensors: {**tensors, down: ("F32", [3, 2], bytes(24))}),
            down, "has not the shape", "2 x 2")
    refuses("a block's scale that is no number", blocks_folder(work, changed("F32", [2, 2], b"\0\0\xc0\x7f" * 4)), scale,
            "has a scale of nan")
    refuses("a block's scale below 0", blocks_folder(work, changed("F32", [2, 2], b"\0\0\0\xc0" * 4)), "a scale of -2")
    refuses("blocks' scales by another name", blocks_folder(work, quantization_config=BLOCKS), "no tensor",
            "weight_scale_inv")
    refuses("scales of blocks where one of the matrix is said", blocks_folder(work, quantization_config=OLDER),
            "weight_scale", "has not the shape", "1 x 1")
    if os.environ.get("GM_DRIVER") == "sim":
        for words in ([blocks_folder(work), "x"], ["check", blocks_folder(work)], ["bench", blocks_folder(work)]):
            decoder.refuses("fp8: blocks on an A100", words, "A100",
                            "no kernel for weights of fp8 with scales of blocks", "8.0", GM_SIM_DEVICE="a100")


def main():
    decoder = Decoder(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        for part in (texts, experts, fp8, fp8_blocks, bench, refusals, refused_experts, refused_fp8, refused_blocks):
            part(decoder, pathlib.Path(work))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
