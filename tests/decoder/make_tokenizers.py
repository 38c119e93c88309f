# SPDX-License-Identifier: Apache-2.0
"""Makes tests/decoder/tokenizers/: small tokenizers of the shapes that models have, and what Hugging Face's
`tokenizers` makes of a corpus with them. Its output is committed; test_tokenizer.c reads it.

Run by people, with tokenizers==0.23.3."""
import collections
import json
import pathlib
import random

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

FOLDER = pathlib.Path(__file__).parent / "tokenizers"

GPT4 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
    r"|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3 = GPT4 % "{1,3}"
QWEN2 = GPT4 % ""
TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK = (
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
)

# Article 1 of the Universal Declaration of Human Rights, and sentences of our own. Lines end at \n only.
LINES = [
    "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience.",
    "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
    "Tous les e\u0302tres humains naissent libres et e\u0301gaux, gale\u0301 galé; a\u030a"
    " \u212b \u2126 \u1e9b\u0323 \u0344 q\u0307\u0323.",
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren. GROẞE STRAẞE, große Straße.",
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια.",
    "Все люди рождаются свободными и равными в своём достоинстве и правах.",
    "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.",
    "כל בני האדם נולדו בני חורין ושווים בערכם. שָׁלוֹם",
    "सभी मनुष्यों को गौरव और अधिकारों के मामले में स्वतन्त्रता",
    "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกัน",
    "人人生而自由，在尊严和权利上一律平等。",
    "すべての人間は、生まれながらにして自由であり、ガガ が が。",
    "모든 인간은 태어날 때부터 자유로우며 \u1112\u1161\u11ab\u1100\u1173\u11af",
    "Emoji: 👩‍👩‍👧‍👦 🇩🇪🇫🇷 👍🏽 ❤️ 🏴\U000e0067\U000e0062\U000e007f 1️⃣",
    "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β ≠ ∅; ½ + ⅔ ≈ 1⅙ × 10² №5 Ⅷ",
    "int main(void) {\r",
    "\tfor (int i = 0; i < 10; i++)\t\tputs(\"a\\tb\");\r",
    "\t\treturn x->y[3] && ~z; /* ok */ }   // end  ",
    "",
    "   three spaces, then    four, then two  ",
    " ",
    "          ",
    "  \t \t  mixed \t",
    "1 12 123 1234 12345 1234567890 3.14159 0x1F -7e10 ١٢٣٤ ०१२३ １２３ 一二三 𝟘𝟙𝟚 ①②",
    "It's she'll WE'LL they're I'M 'S 's 'ſ don't you'd I've o'clock 'tis ''s 'LL",
    "nel\u0085line \u0085 \u180emongolian\u180e \u180e x"
    "\u00a0nbsp\u00a0\u00a0y z\u200bzwsp \ufeffbom \ue000private\uf8ff",
    "thin\u2009space em\u2003\u2003space ideographic\u3000\u3000space line\u2028sep para\u2029sep \u202fnarrow",
    "a<|begin_of_text|>b <|begin_of_text|> c<|end_of_text|><|end_of_text|>d <s>e</s> <unk> <pad>f",
    "<|im_start|>user\tHi!<|im_end|> <|im_start <bos><start_of_turn>x<end_of_turn><eos> <mask> y",
    "tool <tool_call> {\"name\": \"f\"} </tool_call>  <tool_response>  ok   <wide>   then <wide><wide> x <wide>",
    "▁metaspace ▁▁ and Ġbyte Ċ <0x0A> <0xE2> <0xZZ> \u0120\u010a",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa !!!!!!!!!!!! ........ ======== --------- ________",
    "https://example.org/a/b?c=d&e=%20#f user@example.org C:\\dir\\file_name.txt CamelCaseWords snake_case",
    "".join(map(chr, range(1, 10))) + "".join(map(chr, range(11, 128))),
    "\u00a1\u00ac\u00ad\u00ae\u00ff\u0100\u0143\u0144 \ufffd \U0010ffff \U00010348 \u0301start \u0e33 \ufb01 \ufe0f",
    "ÀÉÎ ǅ ǈ ʰʲ ªº ŉ İı ſ ß ﬀ Ⓐⓑ 𝒜𝒷 ꙮ Ꮳꮳ ა Ა",
    "dear, dear! \"quoted\" (round) [square] {curly} «guillemets» „unten“ …—–‐ ¿qué? ¡sí! $1 €2 £3 ^ ` | ~ +",
]
CORPUS = "\n".join(LINES)
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def common_characters(count):
    """The trainer would choose by itself, and among equals by chance."""
    counts = collections.Counter(CORPUS.replace(" ", "▁"))
    return sorted(sorted(counts), key=lambda character: -counts[character])[:count]


def trained(tokenizer, size, specials, bytes_too=False, alphabet=(), limit=None):
    """The tokenizer as a dictionary. Byte tokens are of the vocabulary, but not added ones."""
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=specials + (BYTES if bytes_too else []),
        initial_alphabet=common_characters(limit) if limit else list(alphabet),
        show_progress=False,
        **({"limit_alphabet": limit} if limit else {}),
    )
    tokenizer.train_from_iterator(LINES * 2, trainer)
    shape = json.loads(tokenizer.to_str())
    shape["added_tokens"] = [token for token in shape["added_tokens"] if token["content"] not in BYTES]
    return shape


def add(shape, content, **flags):
    """One more added token: one of the vocabulary, or behind all others."""
    vocabulary = shape["model"]["vocab"]
    behind = 1 + max([*vocabulary.values()] + [t["id"] for t in shape["added_tokens"]])
    token = {"id": vocabulary.get(content, behind)}
    token |= {"content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    shape["added_tokens"].append(token | {"special": False} | flags)


def byte_level(pre_tokenizer, size, specials, normalizer=None):
    tokenizer = Tokenizer(models.BPE())
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    return trained(tokenizer, size, specials, alphabet=pre_tokenizers.ByteLevel.alphabet())


def split_then_bytes(pattern):
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def bos_template(shape, token, *behind):
    ids = {t["content"]: t["id"] for t in shape["added_tokens"]}
    tokenizer = Tokenizer(models.BPE())
    tokenizer.post_processor = processors.TemplateProcessing(
        single=" ".join([token, "$A", *behind]), special_tokens=[(t, ids[t]) for t in (token, *behind)]
    )
    return json.loads(tokenizer.to_str())["post_processor"]


def llama3():
    shape = byte_level(split_then_bytes(LLAMA3), 460, [])
    shape["model"]["vocab"]["(round"] = len(shape["model"]["vocab"])  # no merge makes it: ignore_merges finds it
    shape["model"]["ignore_merges"] = True
    for name in ("begin_of_text", "end_of_text", "eot_id", "reserved_special_token_0", "reserved_special_token_00"):
        add(shape, f"<|{name}|>", special=True)
    add(shape, "<wide>", lstrip=True, rstrip=True)
    level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    shape["post_processor"] = {"type": "Sequence", "processors": [level, bos_template(shape, "<|begin_of_text|>")]}
    return shape


def qwen2():
    shape = byte_level(split_then_bytes(QWEN2), 440, [], normalizers.NFC())
    for name in ("<|endoftext|>", "<|im_start|>", "<|im_end|>"):
        add(shape, name, special=True)
    for name in ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"):
        add(shape, name)
    add(shape, "gale\u0301", normalized=True)
    add(shape, "gaux", normalized=True)
    flags = {"add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    shape["post_processor"] = {"type": "ByteLevel"} | flags
    return shape


def byte_fallback_decoder(strips):
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    return decoders.Sequence(steps + ([decoders.Strip(" ", 1, 0)] if strips else []))


def mistral():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = byte_fallback_decoder(True)
    shape = trained(tokenizer, 520, ["<unk>", "<s>", "</s>"], True, limit=150)
    add(shape, "<mask>", normalized=True)  # it is looked for as ▁<mask>
    shape["post_processor"] = bos_template(shape, "<s>")
    # Merges as older files have them.
    shape["model"]["merges"] = [" ".join(merge) for merge in shape["model"]["merges"]]
    return shape


def mistral3():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = byte_fallback_decoder(True)
    shape = trained(tokenizer, 520, ["<unk>", "<s>", "</s>"], True, limit=150)
    shape["post_processor"] = bos_template(shape, "<s>", "</s>")
    return shape


def gemma3():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = byte_fallback_decoder(False)
    shape = trained(tokenizer, 520, ["<pad>", "<eos>", "<bos>", "<unk>"], True, limit=150)
    for name in ("<mask>", "\t\t", "\t", "▁▁", "▁▁▁▁", "<start_of_turn>", "<end_of_turn>"):
        add(shape, name, special=name[0] == "<")
    shape["post_processor"] = bos_template(shape, "<bos>")
    return shape


def gpt2():
    return byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=True), 450, ["<|endoftext|>"])


def tekken():
    shape = byte_level(split_then_bytes(TEKKEN), 440, ["<unk>", "<s>", "</s>"])
    shape["model"]["ignore_merges"] = True
    shape["post_processor"] = bos_template(shape, "<s>")
    return shape


def deepseek():
    def isolated(pattern):
        return pre_tokenizers.Split(Regex(pattern), "isolated")

    last = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    steps = [isolated(r"\p{N}{1,3}"), isolated("[一-龥\u3040-ゟ゠-ヿ]+"), isolated(DEEPSEEK), last]
    shape = byte_level(pre_tokenizers.Sequence(steps), 440, ["<s>", "</s>"])
    shape["post_processor"] = bos_template(shape, "<s>")
    return shape


def pieces():
    """What no model of ours has, but the code does: behaviours, Digits, Punctuation, unknown tokens each by itself."""

    def split(pattern, behavior, invert=False):
        return pre_tokenizers.Split(pattern, behavior, invert)

    steps = [
        split(Regex(r"\d+"), "merged_with_next"),
        split(Regex(r"[aeiou]"), "contiguous"),
        split("--", "removed"),
        split(Regex(r"[^;]+"), "merged_with_previous", True),
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.Punctuation("contiguous"),
        pre_tokenizers.Metaspace(prepend_scheme="always", split=True),
    ]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    return trained(tokenizer, 300, ["<unk>"], limit=120)


def expectation(tokenizer, text, before, behind):
    """Ids of the text, what decode() makes of them (null: the text), and of all but special ones (null: the same)."""
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    all_ids = tokenizer.encode(text).ids
    assert all_ids == before + ids + behind
    whole, skipped = tokenizer.decode(ids, False), tokenizer.decode(all_ids, True)
    return [ids, None if whole == text else whole, None if skipped == whole else skipped]


def expected(shape):
    tokenizer = Tokenizer.from_str(json.dumps(shape))
    rng = random.Random(7)
    empty = tokenizer.encode("").ids
    before, behind = empty[:1], empty[1:]  # all that have one behind have one before
    size = tokenizer.get_vocab_size()
    assert sorted(tokenizer.get_vocab().values()) == list(range(size))
    shown = [i for i in range(size) if "\0" not in tokenizer.decode([i])]  # tests compare texts that end at a 0
    mixes = [rng.choices(shown, k=rng.randrange(1, 25)) for _ in range(12)]
    return {
        "before": before,
        "behind": behind,
        "size": size,
        "texts": [expectation(tokenizer, text, before, behind) for text in [*LINES, CORPUS]],
        "nul": tokenizer.encode("a\0b", add_special_tokens=False).ids,
        "mixes": [[mix, tokenizer.decode(mix, False), tokenizer.decode(mix, True)] for mix in mixes],
    }


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def main():
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "corpus.txt").write_bytes(CORPUS.encode())
    for make in (llama3, qwen2, mistral, mistral3, gemma3, gpt2, tekken, deepseek, pieces):
        shape = make()
        write(FOLDER / make.__name__ / "tokenizer.json", shape)
        write(FOLDER / make.__name__ / "expected.json", expected(shape))


if __name__ == "__main__":
    main()
