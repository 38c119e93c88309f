# SPDX-License-Identifier: Apache-2.0
"""Small random models of seven architectures, as transformers writes them, with the logits that transformers computes:
what a decoder is tested against.

    python3 tests/decoder/make_models.py OUT_FOLDER           needs torch, transformers (4.53 or later) and safetensors

OUT_FOLDER/NAME/ gets config.json, generation_config.json, model.safetensors (for Qwen3 two shards and an index) and
expected.safetensors:

    tokens      I32 [n]         the prompt
    logits      F32 [n, vocab]  of the weights in the files, computed in fp32
    quantiles   F32 [6]         which quantiles the next has
    bf16_error  F32 [6]         of |logits computed in bf16 - logits|: how far off a fair computation in bf16 is

Before it says that a model is well, each of its features is left out by turns, and must be missed in the logits. Of
experts, those that are chosen must be likelier than the next by more than bf16 is off: else an error is a choice."""
import argparse
import copy
import pathlib
import sys

import safetensors.torch
import torch
import transformers

QUANTILES = (0.1, 0.5, 0.9, 0.99, 0.999, 1.0)
FAR = 512  # a window that no prompt reaches

SHAPE = {"hidden_size": 64, "intermediate_size": 64, "head_dim": 64, "num_attention_heads": 2, "num_key_value_heads": 1,
         "num_hidden_layers": 1, "vocab_size": 272, "max_position_embeddings": 512, "rms_norm_eps": 1e-5,
         "bos_token_id": 256, "eos_token_id": 257, "pad_token_id": 258}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}


class Model:
    """`without` has for each feature the keys of a config that has it not, or what of the weights' names it is."""

    def __init__(self, name, architecture, keys, without, norm_offset=0, shards=1, seed=None):
        self.name, self.architecture, self.without, self.shards = name, architecture, without, shards
        self.keys, self.norm_offset, self.seed = {**SHAPE, **keys}, norm_offset, seed

    def config(self, **changes):
        keys = copy.deepcopy({**self.keys, **changes})  # a config writes into its rope_scaling
        return getattr(transformers, self.architecture).config_class(**keys)

    def load(self, folder, dtype, **changes):
        """In eval mode; what is not in the files is not in the model, so transformers may not initialize anything."""
        model, info = getattr(transformers, self.architecture).from_pretrained(
            folder, config=self.config(**changes), torch_dtype=dtype, attn_implementation="eager",
            output_loading_info=True)
        assert not any(info[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys")), info
        return model.eval()


MODELS = (
    Model("llama", "LlamaForCausalLM",
          {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "tie_word_embeddings": False, "rope_theta": 10000.0,
           "rope_scaling": LLAMA3},
          {"rope scaling": {"rope_scaling": None}, "theta": {"rope_theta": 500000.0}}),
    Model("qwen2", "Qwen2ForCausalLM", {"tie_word_embeddings": True, "rope_theta": 1000000.0},
          {"q bias": "q_proj.bias", "k bias": "k_proj.bias", "v bias": "v_proj.bias",
           "theta": {"rope_theta": 10000.0}}),
    Model("qwen3", "Qwen3ForCausalLM", {"tie_word_embeddings": False, "rope_theta": 1000000.0},
          {"q norm": "q_norm.weight", "k norm": "k_norm.weight", "theta": {"rope_theta": 10000.0}}, shards=2),
    Model("mistral", "MistralForCausalLM",
          {"tie_word_embeddings": True, "sliding_window": 16, "rope_theta": 10000.0},
          {"window": {"sliding_window": FAR}, "window's size": {"sliding_window": 15}}),
    Model("gemma3", "Gemma3ForCausalLM",
          {"num_hidden_layers": 2, "tie_word_embeddings": True, "sliding_window": 16, "rope_theta": 1000000.0,
           "rope_local_base_freq": 1000.0, "query_pre_attn_scalar": 32,
           "layer_types": ["sliding_attention", "full_attention"]},
          {"window": {"sliding_window": FAR}, "window's size": {"sliding_window": 15},
           "theta": {"rope_theta": 1000.0}, "theta in the window": {"rope_local_base_freq": 1000000.0},
           "scale": {"query_pre_attn_scalar": SHAPE["head_dim"]}, "q norm": "q_norm.weight", "k norm": "k_norm.weight",
           "norm behind attention": "post_attention_layernorm.weight",
           "norm before the MLP": "pre_feedforward_layernorm.weight",
           "norm behind the MLP": "post_feedforward_layernorm.weight",
           "order of layers": {"layer_types": ["full_attention", "sliding_attention"]}}, norm_offset=1),
    Model("qwen3_moe", "Qwen3MoeForCausalLM",
          {"num_hidden_layers": 2, "tie_word_embeddings": True, "rope_theta": 1000000.0, "mlp_only_layers": [0],
           "intermediate_size": 32, "moe_intermediate_size": 16, "num_experts": 8, "num_experts_per_tok": 3,
           "norm_topk_prob": False},
          {"weights that are not divided": {"norm_topk_prob": True}, "a choice": {"num_experts_per_tok": 2},
           "q norm": "q_norm.weight", "theta": {"rope_theta": 10000.0}}, seed=62),
    Model("mixtral", "MixtralForCausalLM",
          {"num_hidden_layers": 2, "tie_word_embeddings": True, "intermediate_size": 16, "num_local_experts": 6,
           "num_experts_per_tok": 2, "sliding_window": None, "rope_theta": 1000000.0},
          {"a choice": {"num_experts_per_tok": 1}, "theta": {"rope_theta": 10000.0}}, seed=241),
)


def random_weight(name, like, norm_offset, generator):
    normal = torch.randn(like.shape, generator=generator)
    if name.endswith("bias"):
        return 0.5 * normal
    if "norm" in name:
        return (1 - norm_offset) + 0.2 * normal
    return normal if "embed_tokens" in name else normal / like.shape[-1] ** 0.5


def write(model, folder, seed):
    """The weights' names in order, so that the same numbers come whatever order a class declares them in."""
    generator = torch.Generator().manual_seed(seed)
    made = getattr(transformers, model.architecture)(model.config())
    with torch.no_grad():
        for name, weight in sorted(made.named_parameters()):
            weight.copy_(random_weight(name, weight, model.norm_offset, generator))
    made = made.to(torch.bfloat16)
    made.generation_config.eos_token_id = [257, 259]
    size = sum(weight.numel() * 2 for weight in made.parameters())
    made.save_pretrained(folder, max_shard_size="1GB" if model.shards == 1 else size * 6 // 10)
    files = sorted(folder.glob("model*.safetensors"))
    assert len(files) == model.shards, files
    return sum(file.stat().st_size for file in files)


@torch.no_grad()
def router_logits(module, tokens):
    """[layers with experts, tokens, experts]"""
    found = []
    for name, part in module.named_modules():
        if name.endswith(".gate"):
            part.register_forward_hook(lambda _part, _inputs, outputs: found.append(outputs[0].float()))
    module(input_ids=tokens[None].long(), use_cache=False)
    return torch.stack(found)


def choice_margin(model, folder, tokens):
    """The least gap between the last expert that is chosen and the first that is not, by what bf16 is off at most."""
    chosen = model.keys["num_experts_per_tok"]
    exact, rounded = (router_logits(model.load(folder, dtype), tokens) for dtype in (torch.float32, torch.bfloat16))
    ordered = exact.sort(descending=True).values
    return ((ordered[..., chosen - 1] - ordered[..., chosen]).min() / (exact - rounded).abs().max()).item()


@torch.no_grad()
def logits_of(module, tokens):
    return module(input_ids=tokens[None].long(), use_cache=False).logits[0].float()


def flattened(module, name, norm_offset):
    """A bias of zero, a norm's weight of one."""
    found = [weight for key, weight in module.named_parameters() if key.endswith(name)]
    assert found, name
    with torch.no_grad():
        for weight in found:
            weight.fill_(0 if name.endswith("bias") else 1 - norm_offset)
    return module


def without(model, folder, what):
    if isinstance(what, dict):
        return model.load(folder, torch.float32, **what)
    return flattened(model.load(folder, torch.float32), what, model.norm_offset)


def check_features(model, folder, tokens, logits, error):
    """Which feature is missed least, and how much: each must change half of the logits that it reaches more than
    bf16 changes 9 of 10."""
    changes = {}
    for feature, what in model.without.items():
        change = (logits_of(without(model, folder, what), tokens) - logits).abs()
        changes[feature] = (change[change > 0].median() if change.any() else change.max()).item()
        assert changes[feature] > error, f"{model.name}: {feature}: {changes[feature]:.3g}, bf16's {error:.3g}"
    return min(changes.items(), key=lambda item: item[1])


def quantiles_of(difference):
    return torch.quantile(difference.double().flatten(), torch.tensor(QUANTILES, dtype=torch.float64)).float()


def make(model, folder, seed, count):
    folder.mkdir(parents=True, exist_ok=True)
    size = write(model, folder, seed)
    tokens = torch.randint(0, SHAPE["vocab_size"], (count,), generator=torch.Generator().manual_seed(1000 + seed))
    whole = model.load(folder, torch.float32)
    margin = choice_margin(model, folder, tokens) if "num_experts_per_tok" in model.keys else None
    assert margin is None or margin > 1.5, f"{model.name}: experts are chosen by {margin:.3g} of what bf16 is off"
    tied = whole.lm_head.weight is whole.model.embed_tokens.weight
    assert tied == model.keys["tie_word_embeddings"], model.name
    logits = logits_of(whole, tokens)
    errors = quantiles_of((logits_of(model.load(folder, torch.bfloat16), tokens) - logits).abs())
    least, change = check_features(model, folder, tokens, logits, errors[QUANTILES.index(0.9)].item())
    safetensors.torch.save_file({"tokens": tokens.to(torch.int32), "logits": logits.contiguous(),
                                 "quantiles": torch.tensor(QUANTILES), "bf16_error": errors},
                                folder / "expected.safetensors")
    total = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{model.name}: {size} bytes of weights, {total} in all; logits {logits.std():.3g}, in bf16 off by "
          + ", ".join(f"{error:.3g}" for error in errors.tolist()) + f"; least missed: {least} ({change:.3g})",
          flush=True)
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tokens", type=int, default=32, help="of the prompt; more than a window has, 16")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("highest")
    torch.use_deterministic_algorithms(True)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    total = sum(make(model, options.folder / model.name, number if model.seed is None else model.seed, options.tokens)
                for number, model in enumerate(MODELS))
    print(f"torch {torch.__version__}, transformers {transformers.__version__}: {total} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
