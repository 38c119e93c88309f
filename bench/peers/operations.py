# SPDX-License-Identifier: Apache-2.0
"""What the peers of each operation compute: a class for each line of src/operations.def that has peers here."""
import torch
import torch.nn.attention.bias

from library import VALUES, make

TORCH_TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32, "e4m3": torch.float8_e4m3fn,
               "e5m2": torch.float8_e5m2, "int8": torch.int8,
               "uint8": torch.uint8, "int32": torch.int32, "int64": torch.int64}
TOLERANCES = {"bf16": 0.04, "fp16": 0.005, "fp32": 1e-4, "e4m3": 0.13, "e5m2": 0.26}
EPS = 1e-5


def normal(seed, *sizes, dtype):
    generator = torch.Generator("cuda").manual_seed(seed)
    if not dtype.is_floating_point:
        return torch.randint(0, 128, sizes, generator=generator, device="cuda", dtype=dtype)
    return torch.randn(*sizes, generator=generator, device="cuda", dtype=torch.float32).to(dtype)


def empty(*sizes, dtype):
    return torch.empty(*sizes, device="cuda", dtype=dtype)


def compiled(function):
    return torch.compile(function, dynamic=False, fullgraph=True)


def value(name):
    """Of an enumerator, from the word that suites have for it: "act_silu" -> GM_ACT_SILU."""
    return VALUES[f"GM_{name.upper()}"]


class Problem:
    """A row of results: its operands, our problem struct, and the peers' calls by name. A peer's call takes the operands
    and writes to their results, or returns the first one."""

    operation, result = "", "out"
    workspace_bytes = 0
    comparable = True  # one call of ours and one of a peer's leave the same there

    def __init__(self, row):
        self.row, self.type = row, TORCH_TYPES[row["type"]]
        self.tolerance = TOLERANCES.get(row["type"], 0)
        self.rows, self.columns = row.get("rows", row.get("tokens")), row.get("columns")
        names = list(row)[1:list(row).index("kernel")]
        self.workspace = empty(self.workspace_bytes, dtype=torch.uint8)
        self.title = " ".join([row["op"], *(str(row[name]) for name in names)])

    def matrix(self, seed, columns=None):
        return normal(seed, self.rows, columns or self.columns, dtype=self.type)

    def empty(self, columns=None, dtype=None):
        return empty(self.rows, columns or self.columns, dtype=dtype or self.type)

    def arguments(self, operands):
        args = make(f"gm_{self.operation}_args", **{name: tensor.data_ptr() for name, tensor in operands.items()})
        if self.workspace_bytes:
            args.workspace, args.workspace_bytes = self.workspace.data_ptr(), self.workspace_bytes
        return args

    def made(self, **members):
        return make(f"gm_{self.operation}_problem", type=value(self.row["type"]), **members)


class AnyOut(Problem):
    """An operation whose out may be of another type, or of 8 bits with scales."""

    def tell_out(self):
        self.out = self.row.get("out", "same")
        if self.out != "same":
            self.problem.has_out_type, self.problem.out_type = 1, value(self.out.split("_")[0])
            self.problem.scaling = value(f"scale_{(self.out.split('_') + ['static'])[1]}")
            self.tolerance = TOLERANCES[self.out.split("_")[0]]
        self.result_type = self.type if self.out == "same" else TORCH_TYPES[self.out.split("_")[0]]

    def outputs(self):
        found = {"out": self.empty(dtype=self.result_type)}
        if self.result_type == torch.float8_e4m3fn:
            count = {"row": 1, "group": self.columns // 128}.get(self.out.split("_")[-1])
            found["scales"] = torch.ones(self.rows, count, device="cuda") if count else torch.ones(1, device="cuda") / 64
        return found

    def store(self, o, y):
        if self.result_type != torch.float8_e4m3fn:
            o["out"].copy_(y)
            return
        y = y.float().view(self.rows, -1, 128) if self.out.endswith("group") else y.float()
        scale = o["scales"]
        if self.out != "e4m3":
            scale = torch.clamp(y.abs().amax(-1, keepdim=True) / 448, min=1e-10)
            o["scales"].copy_(scale.view(o["scales"].shape))
        o["out"].copy_(torch.clamp(y / scale, -448, 448).view(self.rows, self.columns).to(self.result_type))


class Glu(AnyOut):
    operation = "glu"
    activations = {"none": lambda x: x, "relu": torch.relu, "silu": torch.nn.functional.silu,
                   "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
                   "gelu_erf": torch.nn.functional.gelu}

    def __init__(self, row):
        super().__init__(row)
        self.problem = self.made(rows=self.rows, columns=self.columns, layout=value(f"glu_{row['layout']}"),
                                 activation=value(f"act_{row['activation']}"), rounding=value(f"round_{row['rounding']}"))
        self.tell_out()

    def operands(self, seed):
        found = {"gate": self.matrix(2 * seed, self.columns * (2 if self.row["layout"] == "interleaved" else 1)),
                 **self.outputs()}
        if self.row["layout"] == "apart":
            found["up"] = self.matrix(2 * seed + 1)
        return found

    def peers(self):
        act, layout, early = self.activations[self.row["activation"]], self.row["layout"], self.row["rounding"] == "early"

        def expression(o):
            gate, up = o["gate"], o.get("up")
            if layout == "interleaved":
                gate, up = gate[:, 0::2], gate[:, 1::2]
            if up is None:
                return act(gate)
            if early:
                return act(gate) * up
            product = act(gate.float()) * up.float()
            return product.to(gate.dtype) if self.out == "same" else product

        def into(o):
            self.store(o, expression(o))

        found = {"torch.compile": compiled(into)}
        if self.out != "same":
            return found
        if layout == "no_up":
            found["torch"] = expression
        try:
            from liger_kernel.ops.geglu import geglu_forward
            from liger_kernel.ops.swiglu import swiglu_forward
        except ImportError:
            return found
        if layout == "apart" and self.row["activation"] in ("silu", "gelu_tanh"):
            forward = swiglu_forward if self.row["activation"] == "silu" else geglu_forward
            found["liger"] = lambda o: forward(o["gate"], o["up"])[-1]
        return found


class Norm(AnyOut):
    """Either norm: x, or x + residual, made late or early of the type."""

    def __init__(self, row):
        super().__init__(row)
        self.residual = row["residual"] == "yes"
        self.comparable = not self.residual
        self.problem = self.made(
            rows=self.rows, columns=self.columns, fp32_weight=row["weight"] == "fp32", residual=self.residual, eps=EPS,
            sum_rounding=value(f"round_{row['sum']}"), normalized_rounding=value(f"round_{row['normalized']}"))
        self.tell_out()

    def vector(self, seed):
        return normal(seed, self.columns, dtype=torch.float32 if self.row["weight"] == "fp32" else self.type)

    def operands(self, seed):
        found = {"x": self.matrix(4 * seed), "weight": self.vector(4 * seed + 1), **self.outputs()}
        if self.residual:
            found["residual"] = self.matrix(4 * seed + 2)
        return found

    def sum(self, o):
        if not self.residual:
            return o["x"].float()
        total = o["x"].float() + o["residual"].float()
        o["residual"].copy_(total)
        return total.to(self.type).float() if self.row["sum"] == "early" else total

    def weighted(self, y, weight):
        return y.to(self.type) * weight if self.row["normalized"] == "early" else y * weight.float()


class RmsNorm(Norm):
    operation = "rms_norm"

    def peers(self):
        def into(o):
            s = self.sum(o)
            self.store(o, self.weighted(s * torch.rsqrt(s.pow(2).mean(-1, keepdim=True) + EPS), o["weight"]))

        found = {"torch.compile": compiled(into)}
        if self.out != "same":
            return found
        if not self.residual and self.row["weight"] == "same":
            found["torch"] = lambda o: torch.nn.functional.rms_norm(o["x"], [self.columns], o["weight"], EPS)
        try:
            from liger_kernel.ops.fused_add_rms_norm import fused_add_rms_norm_forward
            from liger_kernel.ops.rms_norm import rms_norm_forward
        except ImportError:
            return found
        if self.residual:
            found["liger"] = lambda o: fused_add_rms_norm_forward(o["x"], o["residual"], o["weight"], EPS, 0.0, "llama")[0]
        else:
            found["liger"] = lambda o: rms_norm_forward(o["x"], o["weight"], EPS, 0.0, "llama", None)[0]
        return found


class LayerNorm(Norm):
    operation = "layer_norm"

    def operands(self, seed):
        return {**super().operands(seed), "bias": self.vector(4 * seed + 3)}

    def peers(self):
        def into(o):
            s = self.sum(o)
            variance, mean = torch.var_mean(s, -1, keepdim=True, correction=0)
            self.store(o, self.weighted((s - mean) * torch.rsqrt(variance + EPS), o["weight"]) + o["bias"])

        found = {"torch.compile": compiled(into)}
        if self.out != "same":
            return found
        if not self.residual and self.row["weight"] == "same":
            found["torch"] = lambda o: torch.nn.functional.layer_norm(o["x"], [self.columns], o["weight"], o["bias"], EPS)
        return found


class Quantize(Problem):
    operation = "quantize"

    def __init__(self, row):
        super().__init__(row)
        self.result_type = TORCH_TYPES[row["out"]]
        self.tolerance = TOLERANCES[row["out"]]
        self.problem = self.made(rows=self.rows, columns=self.columns, out_type=value(row["out"]),
                                 scaling=value(f"scale_{row['scaling']}"),
                                 scale_format=value(f"scale_{row['scale_format']}"),
                                 scale_order=value(f"scales_{row['scale_order']}"))

    def operands(self, seed):
        scales = {"static": (1,), "row": (self.rows,), "group": (self.rows, -(-self.columns // 128)),
                  "block": (-(-self.rows // 128), -(-self.columns // 128))}[self.row["scaling"]]
        return {"x": self.matrix(seed), "out": self.empty(dtype=self.result_type),
                "scales": torch.ones(scales, device="cuda") / 64}

    def peers(self):
        """x / scale, its scale from the largest size of those who share it."""
        scaling, rows, columns = self.row["scaling"], self.rows, self.columns
        if self.row["scale_format"] != "fp32" or self.row["scale_order"] != "by_row" or self.row["out"] != "e4m3":
            return {}
        shares = {"static": (rows, columns), "row": (rows, columns), "group": (rows, columns // 128, 128),
                  "block": (rows // 128, 128, columns // 128, 128)}[scaling]
        along = {"static": (), "row": (1,), "group": (2,), "block": (1, 3)}[scaling]
        if scaling in ("group", "block") and columns % 128 or scaling == "block" and rows % 128:
            return {}

        def into(o):
            x = o["x"].float().view(shares)
            if scaling == "static":
                scale = o["scales"]
            else:
                scale = torch.clamp(x.abs().amax(along, keepdim=True) / 448, min=1e-10)
                o["scales"].copy_(scale.view(o["scales"].shape))
            o["out"].copy_(torch.clamp(x / scale, -448, 448).view(rows, columns).to(self.result_type))

        return {"torch.compile": compiled(into)}


class Dequantize(Problem):
    operation = "dequantize"

    def __init__(self, row):
        super().__init__(row)
        self.result_type = TORCH_TYPES[row["out"]]
        self.tolerance = TOLERANCES[row["out"]]
        self.problem = self.made(rows=self.rows, columns=self.columns, out_type=value(row["out"]),
                                 scaling=value(f"scale_{row['scaling']}"),
                                 scale_format=value(f"scale_{row['scale_format']}"),
                                 scale_order=value(f"scales_{row['scale_order']}"))

    def operands(self, seed):
        scales = {"static": (1,), "row": (self.rows,), "group": (self.rows, -(-self.columns // 128)),
                  "block": (-(-self.rows // 128), -(-self.columns // 128))}[self.row["scaling"]]
        if self.row["scale_format"] == "e8m0":
            stored = torch.full(scales, 121, device="cuda", dtype=torch.uint8)
        else:
            stored = torch.ones(scales, device="cuda") / 64
        return {"x": self.matrix(seed), "out": self.empty(dtype=self.result_type), "scales": stored}

    def peers(self):
        """x * scale, in the views whose scales torch broadcasts."""
        scaling, rows, columns = self.row["scaling"], self.rows, self.columns
        if self.row["scale_format"] != "fp32" or self.row["scale_order"] != "by_row":
            return {}
        if scaling in ("group", "block") and columns % 128 or scaling == "block" and rows % 128:
            return {}
        x_shape, scale_shape = {"static": ((rows, columns), (1, 1)), "row": ((rows, columns), (rows, 1)),
                                "group": ((rows, columns // 128, 128), (rows, columns // 128, 1)),
                                "block": ((rows // 128, 128, columns // 128, 128),
                                          (rows // 128, 1, columns // 128, 1))}[scaling]

        def into(o):
            product = o["x"].float().view(x_shape) * o["scales"].view(scale_shape)
            o["out"].copy_(product.view(rows, columns))

        return {"torch.compile": compiled(into)}


class Axpby(Problem):
    operation = "axpby"

    def __init__(self, row):
        super().__init__(row)
        self.y_type, self.result_type = TORCH_TYPES[row["y_type"]], TORCH_TYPES[row["out_type"]]
        self.tolerance = TOLERANCES.get(row["out_type"], 1)
        self.problem = self.made(rows=self.rows, columns=self.columns, y_type=value(row["y_type"]),
                                 out_type=value(row["out_type"]), terms=value(f"axpby_{row['terms']}"))

    def operands(self, seed):
        found = {"out": self.empty(dtype=self.result_type)}
        if self.row["terms"] != "neither":
            found["x"] = self.matrix(2 * seed)
        if self.row["terms"] == "x_and_y":
            found["y"] = normal(2 * seed + 1, self.rows, self.columns, dtype=self.y_type)
        return found

    def peers(self):
        if self.row["terms"] == "neither":
            return {"torch": lambda o: o["out"].zero_()}
        if self.row["terms"] == "x":
            return {"torch": lambda o: o["out"].copy_(o["x"]), "torch.compile": compiled(lambda o: o["out"].copy_(o["x"]))}
        found = {"torch.compile": compiled(lambda o: o["out"].copy_(o["x"].float() + o["y"].float()))}
        if self.type == self.y_type == self.result_type:
            found["torch"] = lambda o: torch.add(o["x"], o["y"], out=o["out"])
        return found


class Softmax(Problem):
    operation = "softmax"

    def __init__(self, row):
        super().__init__(row)
        self.result_type = torch.float32 if row["out_type"] == "fp32" else self.type
        self.problem = self.made(rows=self.rows, columns=self.columns, fp32_out=row["out_type"] == "fp32",
                                 log=row["form"] == "log", cap=float(row["cap"]))

    def operands(self, seed):
        return {"x": self.matrix(seed), "out": self.empty(dtype=self.result_type)}

    def peers(self):
        cap = float(self.row["cap"])
        function = torch.log_softmax if self.row["form"] == "log" else torch.softmax

        def into(o):
            x = o["x"].float()
            o["out"].copy_(function(cap * torch.tanh(x / cap) if cap else x, -1))

        found = {"torch.compile": compiled(into)}
        if not cap:
            found["torch"] = lambda o: function(o["x"], -1, dtype=self.result_type)
        return found


class Permute(Problem):
    operation = "permute"

    def __init__(self, row):
        super().__init__(row)
        self.order = [int(digit) for digit in str(row["order"])]
        self.extents = [row[f"d{k}"] for k in range(len(self.order))]
        self.result_type = TORCH_TYPES[row["out_type"]]
        self.problem = self.made(out_type=value(row["out_type"]), rank=len(self.order))
        for k, dimension in enumerate(self.order):
            self.problem.extents[k], self.problem.order[k] = self.extents[k], dimension

    def operands(self, seed):
        return {"x": normal(seed, *self.extents, dtype=self.type),
                "out": empty(*(self.extents[k] for k in self.order), dtype=self.result_type)}

    def peers(self):
        return {"torch.compile": compiled(lambda o: o["out"].copy_(o["x"].permute(self.order))),
                "torch": lambda o: o["out"].copy_(o["x"].permute(self.order))}


class Reduce(Problem):
    operation, workspace_bytes = "reduce", 8 << 20  # GM_REDUCE_WORKSPACE_BYTES
    functions = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin,
                 "l2": lambda x, dim: torch.linalg.vector_norm(x, dim=dim),
                 "argmax": lambda x, dim: torch.argmax(x.reshape(1, -1) if len(dim) == 2 else x, dim[-1]),
                 "argmin": lambda x, dim: torch.argmin(x.reshape(1, -1) if len(dim) == 2 else x, dim[-1])}

    def __init__(self, row):
        super().__init__(row)
        self.dimensions = {"columns": (1,), "rows": (0,), "all": (0, 1)}[row["along"]]
        is_index = row["reduction"].startswith("arg")
        self.result_type = ((torch.int64 if row["along"] == "all" else torch.int32) if is_index
                            else torch.float32 if row["out"] == "fp32" else self.type)
        self.tolerance = 0 if is_index else self.tolerance * 4
        self.comparable = row["reduction"] in ("max", "min")  # sums of many differ by their order
        self.problem = self.made(rows=self.rows, columns=self.columns, along=value(f"reduce_{row['along']}"),
                                 reduction=value(f"reduction_{row['reduction']}"), fp32_out=row["out"] == "fp32")

    def operands(self, seed):
        results = {"columns": self.rows, "rows": self.columns, "all": 1}[self.row["along"]]
        return {"x": self.matrix(seed), "out": empty(results, dtype=self.result_type)}

    def peers(self):
        function = self.functions[self.row["reduction"]]
        call = lambda o: function(o["x"], dim=self.dimensions)
        return {"torch.compile": compiled(lambda o: o["out"].copy_(call(o).view(-1))), "torch": call}


class Rope(Problem):
    operation, result = "rope", "q_out"

    def __init__(self, row):
        super().__init__(row)
        self.q_heads, self.kv_heads, self.dim, self.rotary = (row[name] for name in ("q_heads", "kv_heads", "head_dim", "rotary_dim"))
        self.append = row["append"] != "no_append"
        self.cache_type = torch.float8_e4m3fn if row["append"] == "append_e4m3" else self.type
        self.problem = self.made(
            tokens=self.rows, q_heads=self.q_heads, kv_heads=self.kv_heads, head_dim=self.dim, rotary_dim=self.rotary,
            pairing=value(f"rope_{row['pairing']}"), norm=value(f"rope_{row['norm']}"),
            append=value(f"rope_{row['append']}"), rounding=value(f"round_{row['rounding']}"), eps=EPS)

    def heads(self, seed, count):
        return normal(seed, self.rows, count, self.dim, dtype=self.type)

    def operands(self, seed):
        angles = torch.arange(self.rows, device="cuda")[:, None] * 10000.0 ** (
            -torch.arange(self.rotary // 2, device="cuda") * 2 / self.rotary)
        found = {"q": self.heads(4 * seed, self.q_heads), "k": self.heads(4 * seed + 1, self.kv_heads),
                 "positions": torch.arange(self.rows, device="cuda", dtype=torch.int32),
                 "table": torch.cat([angles.cos(), angles.sin()], -1).contiguous(),
                 "q_out": empty(self.rows, self.q_heads, self.dim, dtype=self.type)}
        if self.row["norm"] == "norm":
            found["q_weight"], found["k_weight"] = (normal(7, self.dim, dtype=self.type) for _ in "qk")
        if not self.append:
            found["k_out"] = torch.empty_like(found["k"])
            return found
        found["v"] = self.heads(4 * seed + 2, self.kv_heads)
        found["slots"] = torch.arange(self.rows, device="cuda", dtype=torch.int64)
        found["k_cache"], found["v_cache"] = (empty(self.rows, self.kv_heads, self.dim, dtype=self.cache_type) for _ in "kv")
        if self.cache_type != self.type:
            found["k_scale"], found["v_scale"] = (torch.ones(1, device="cuda") for _ in "kv")
        return found

    def rotated(self, o, x, weight):
        x = x.float()
        if weight is not None:
            x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * weight.float()
        cos, sin = o["table"][o["positions"]].unsqueeze(1).chunk(2, -1)
        turned, rest = x[..., :self.rotary], x[..., self.rotary:]
        if self.row["pairing"] == "halves":
            a, b = turned.chunk(2, -1)
            turned = torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
        else:
            a, b = turned[..., 0::2], turned[..., 1::2]
            turned = torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)
        return torch.cat([turned, rest], -1)

    def peers(self):
        if self.row["rounding"] == "early":
            return {}

        def into(o):
            o["q_out"].copy_(self.rotated(o, o["q"], o.get("q_weight")))
            k = self.rotated(o, o["k"], o.get("k_weight"))
            if not self.append:
                o["k_out"].copy_(k)
            else:
                o["k_cache"][o["slots"]] = (k / o["k_scale"] if "k_scale" in o else k).to(self.cache_type)
                o["v_cache"][o["slots"]] = (o["v"].float() / o["v_scale"] if "v_scale" in o else o["v"]).to(self.cache_type)

        return {"torch.compile": compiled(into)}


class AttentionMerge(Problem):
    operation = "attention_merge"

    def __init__(self, row):
        super().__init__(row)
        self.heads, self.dim, out = row["heads"], row["head_dim"], row["out"]
        self.problem = self.made(tokens=self.rows, heads=self.heads, head_dim=self.dim)
        self.result_type = self.type if out == "same" else TORCH_TYPES[out]
        if out != "same":
            self.problem.has_out_type, self.problem.out_type = 1, value(out)
            self.tolerance = max(self.tolerance, TOLERANCES[out])

    def operands(self, seed):
        found = {name: normal(4 * seed + i, self.rows, self.heads, self.dim, dtype=self.type) for i, name in enumerate("ab")}
        for i, name in enumerate(("lse_a", "lse_b")):
            found[name] = normal(4 * seed + 2 + i, self.rows, self.heads, dtype=torch.float32)
        return {**found, "out": empty(self.rows, self.heads, self.dim, dtype=self.result_type),
                "lse": torch.empty_like(found["lse_a"])}

    def peers(self):
        def into(o):
            largest = torch.maximum(o["lse_a"], o["lse_b"])
            a, b = torch.exp(o["lse_a"] - largest), torch.exp(o["lse_b"] - largest)
            o["out"].copy_((a[..., None] * o["a"].float() + b[..., None] * o["b"].float()) / (a + b)[..., None])
            o["lse"].copy_(largest + torch.log(a + b))

        return {"torch.compile": compiled(into)}


class Embed(Problem):
    operation = "embed"

    def __init__(self, row):
        super().__init__(row)
        self.problem = self.made(tokens=self.rows, columns=self.columns, vocabulary=row["vocabulary"],
                                 int64_ids=row["ids"] == "int64")

    def operands(self, seed):
        generator = torch.Generator("cuda").manual_seed(seed)
        ids = torch.randint(0, self.row["vocabulary"], (self.rows,), generator=generator, device="cuda",
                            dtype=TORCH_TYPES[self.row["ids"]])
        return {"ids": ids, "table": normal(seed, self.row["vocabulary"], self.columns, dtype=self.type), "out": self.empty()}

    def peers(self):
        call = lambda o: torch.nn.functional.embedding(o["ids"], o["table"])
        return {"torch.compile": compiled(lambda o: o["out"].copy_(call(o))), "torch": call}


class Sample(Problem):
    operation, result, comparable = "sample", "ids", False

    def __init__(self, row):
        super().__init__(row)
        self.problem = self.made(rows=self.rows, columns=self.columns, temperature=float(row["temperature"]),
                                 top_k=row["top_k"], top_p=float(row["top_p"]))

    def operands(self, seed):
        return {"logits": self.matrix(seed), "ids": empty(self.rows, dtype=torch.int32)}

    def peers(self):
        temperature, top_k, top_p = float(self.row["temperature"]), self.row["top_k"], float(self.row["top_p"])

        def drawn(o):
            """The way of most engines' torch code: the largest k, or all, in order; what sums to p; an exponential race."""
            logits = o["logits"].float() / temperature
            if top_k < self.columns:
                values, columns = torch.topk(logits, top_k)
            elif top_p < 1:
                values, columns = torch.sort(logits, descending=True)
            else:
                values, columns = logits, None
            chances = torch.softmax(values, -1)
            if top_p < 1:
                chances = torch.where(torch.cumsum(chances, -1) - chances < top_p, chances, 0)
            best = torch.argmax(chances / torch.empty_like(chances).exponential_(), -1)
            o["ids"].copy_(best if columns is None else columns.gather(-1, best[:, None])[:, 0])

        if not temperature:
            return {"torch.compile": compiled(lambda o: o["ids"].copy_(torch.argmax(o["logits"], -1))),
                    "torch": lambda o: torch.argmax(o["logits"], -1)}
        return {"torch.compile": compiled(drawn), "torch": drawn}


class MoeRoute(Problem):
    operation, result, comparable = "moe_route", "weights", False  # equals are chosen in another order

    def __init__(self, row):
        super().__init__(row)
        self.experts, self.k = row["experts"], row["k"]
        self.problem = self.made(tokens=self.rows, experts=self.experts, k=self.k, groups=row["groups"],
                                 top_groups=row["top_groups"], method=value(f"route_{row['method']}"),
                                 renormalize=row["weights"] == "renormalized")

    def operands(self, seed):
        return {"logits": self.matrix(seed, self.experts), "ids": empty(self.rows, self.k, dtype=torch.int32),
                "weights": empty(self.rows, self.k, dtype=torch.float32)}

    def peers(self):
        method, groups = self.row["method"], self.row["groups"]

        def into(o):
            x = o["logits"].float()
            if method == "top_k_softmax":
                weights, ids = torch.topk(x, self.k)
                weights = torch.softmax(weights, -1)
            elif method == "softmax_top_k":
                weights, ids = torch.topk(torch.softmax(x, -1), self.k)
            else:
                s = torch.sigmoid(x)
                grouped = s.view(self.rows, groups, -1)
                best = torch.topk(torch.topk(grouped, 2).values.sum(-1), self.row["top_groups"]).indices
                allowed = torch.zeros(self.rows, groups, device=x.device).scatter(1, best, 1.0).unsqueeze(-1)
                weights, ids = torch.topk(torch.where(allowed > 0, grouped, -torch.inf).view(self.rows, -1), self.k)
            if self.row["weights"] == "renormalized" and method != "top_k_softmax":
                weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
            o["weights"].copy_(weights)
            o["ids"].copy_(ids)

        return {"torch.compile": compiled(into), "torch": into}


class Histogram(Problem):
    operation, result, workspace_bytes = "histogram", "counts", 4096  # GM_HISTOGRAM_WORKSPACE_BYTES

    def __init__(self, row):
        super().__init__(row)
        self.is_float = self.type.is_floating_point
        self.lower, self.upper = float(row["lower"]), float(row["upper"])
        self.count_type = torch.int64 if row["counts"] == "int64" else torch.int32
        self.problem = self.made(rows=self.rows, columns=self.columns, bins=row["bins"], of=value(f"histogram_{row['of']}"),
                                 int64_counts=row["counts"] == "int64", width=0 if self.is_float else row["width"],
                                 lower=self.lower, upper=self.upper)

    def operands(self, seed):
        generator = torch.Generator("cuda").manual_seed(seed)
        below = 256 if self.type == torch.uint8 else self.row["bins"] * self.row["width"]
        x = (self.matrix(seed) if self.is_float else
             torch.randint(0, below, (self.rows, self.columns), generator=generator, device="cuda", dtype=self.type))
        histograms = self.rows if self.row["of"] == "rows" else 1
        return {"x": x, "counts": empty(histograms, self.row["bins"], dtype=self.count_type)}

    def peers(self):
        """torch.bincount waits for the device, so no graph holds it."""
        if self.row["of"] == "rows" or not self.is_float:
            return {}
        return {"torch": lambda o: torch.histc(o["x"], self.row["bins"], self.lower, self.upper)}


class Convolution(Problem):
    operation = "convolution"

    def __init__(self, row):
        super().__init__(row)
        self.sizes = row["planes"], row["height"], row["width"]
        self.filter = row["filter_height"], row["filter_width"]
        self.comparable = False  # another order of the sum; the tests compare to the bit
        self.problem = self.made(planes=self.sizes[0], height=self.sizes[1], width=self.sizes[2],
                                 filter_height=self.filter[0], filter_width=self.filter[1],
                                 edge=value(f"convolution_{row['edge']}"), separable=row["form"] == "separable")

    def operands(self, seed):
        found = {"x": normal(3 * seed, *self.sizes, dtype=self.type), "out": empty(*self.sizes, dtype=self.type)}
        if self.row["form"] == "separable":
            return {**found, "filter": normal(1, self.filter[1], dtype=torch.float32),
                    "filter_y": normal(2, self.filter[0], dtype=torch.float32)}
        return {**found, "filter": normal(1, *self.filter, dtype=torch.float32)}

    def peers(self):
        if self.row["form"] == "separable" or self.row["edge"] != "zero" or not all(size % 2 for size in self.filter):
            return {}
        padding = [size // 2 for size in self.filter]

        def conv2d(o):
            return torch.nn.functional.conv2d(o["x"].unsqueeze(1), o["filter"].to(self.type)[None, None], padding=padding)

        def shifted(o):
            """The sum of shifted planes, which a compiler can fuse into one kernel."""
            x = torch.nn.functional.pad(o["x"], (padding[1], padding[1], padding[0], padding[0]))
            total = 0
            for i in range(self.filter[0]):
                for j in range(self.filter[1]):
                    total = total + x[:, i:i + self.sizes[1], j:j + self.sizes[2]].float() * o["filter"][i, j]
            o["out"].copy_(total)

        return {"torch": conv2d, "torch.compile": compiled(shifted)}


class Stencil(Problem):
    operation = "stencil"

    def __init__(self, row):
        super().__init__(row)
        self.sizes = row["grids"], row["depth"], row["height"], row["width"]
        self.comparable = False  # another order of the sum; the tests compare to the bit
        self.is_flat = row["shape"] in ("star_5", "box_9")
        around, is_star = (-1, 0, 1), row["shape"] in ("star_5", "star_7")
        self.taps = [(z, y, x) for z in ((0,) if self.is_flat else around) for y in around for x in around
                     if not is_star or abs(z) + abs(y) + abs(x) <= 1]
        self.coefficients = tuple((i + 1) / 32 for i in range(len(self.taps)))
        self.problem = self.made(width=row["width"], height=row["height"], depth=row["depth"], grids=row["grids"],
                                 shape=value(f"stencil_{row['shape']}"), edge=value(f"convolution_{row['edge']}"),
                                 coefficients=self.coefficients)

    def operands(self, seed):
        return {"x": normal(seed, *self.sizes, dtype=self.type), "out": empty(*self.sizes, dtype=self.type)}

    def peers(self):
        if self.row["edge"] != "zero":
            return {}
        weight = torch.zeros(3, 3, 3, device="cuda", dtype=self.type)
        for (z, y, x), coefficient in zip(self.taps, self.coefficients):
            weight[1 + z, 1 + y, 1 + x] = coefficient

        def convolved(o):
            if self.is_flat:
                return torch.nn.functional.conv2d(o["x"].flatten(0, 1).unsqueeze(1), weight[1][None, None], padding=1)
            return torch.nn.functional.conv3d(o["x"].unsqueeze(1), weight[None, None], padding=1)

        def shifted(o):
            """The sum of shifted grids, which a compiler can fuse into one kernel."""
            grid, total = torch.nn.functional.pad(o["x"], (1, 1, 1, 1, 1, 1)), 0
            for tap, coefficient in zip(self.taps, self.coefficients):
                z, y, x = (slice(1 + i, 1 + i + size) for i, size in zip(tap, self.sizes[1:]))
                total = total + grid[:, z, y, x].float() * coefficient
            o["out"].copy_(total)

        return {"torch": convolved, "torch.compile": compiled(shifted)}


class ProcessLogits(Problem):
    operation = "process_logits"
    repetition, frequency, presence, temperature = 1.25, 0.5, 0.25, 0.75

    def __init__(self, row):
        super().__init__(row)
        self.comparable = False  # a torch way rounds elsewhere
        self.result_type = torch.float32 if row["out_type"] == "fp32" else self.type
        self.problem = self.made(rows=self.rows, columns=self.columns, fp32_out=row["out_type"] == "fp32",
                                 cap=float(row["cap"]), repetition=self.repetition, frequency=self.frequency,
                                 presence=self.presence, temperature=self.temperature)

    def operands(self, seed):
        counts = torch.zeros(self.rows, self.columns, device="cuda", dtype=torch.int16)
        counts[:, ::64] = 1
        return {"logits": self.matrix(seed), "out": self.empty(dtype=self.result_type), "counts": counts}

    def peers(self):
        cap = float(self.row["cap"])

        def into(o):
            y, counts = o["logits"].float(), o["counts"]
            if cap:
                y = cap * torch.tanh(y / cap)
            seen, count = counts != 0, (counts & 0x7fff).float()
            y = torch.where(seen, torch.where(y > 0, y / self.repetition, y * self.repetition), y)
            y = y - self.frequency * count - self.presence * (count > 0).float()
            o["out"].copy_(y / self.temperature)

        return {"torch.compile": compiled(into)}


class Attention(Problem):
    operation = "attention"
    workspace_bytes = 32 << 20

    def __init__(self, row):
        super().__init__(row)
        self.batch, self.q_len, self.kv_len, self.q_heads, self.kv_heads, self.dim, self.page, window = (
            row[name] for name in ("max_batch", "max_q_len", "max_kv_len", "q_heads", "kv_heads", "head_dim", "page_size", "window"))
        self.problem = self.made(
            max_batch=self.batch, max_q_len=self.q_len, max_kv_len=self.kv_len, q_heads=self.q_heads,
            kv_heads=self.kv_heads, head_dim=self.dim, page_size=self.page, left=window - 1,
            mask=value(f"attention_{row['mask']}"), kv_layout=value(f"attention_kv_{row['kv_layout']}"))

    def indices(self, count, step):
        return torch.arange(count, device="cuda", dtype=torch.int32) * step

    def operands(self, seed):
        """Pages lie behind each other, so that the pool is what torch has to have: dense."""
        def heads(number, length, count):
            return normal(4 * seed + number, self.batch, length, count, self.dim, dtype=self.type)

        found = {"q": heads(0, self.q_len, self.q_heads), "k": heads(1, self.kv_len, self.kv_heads),
                 "v": heads(2, self.kv_len, self.kv_heads), "q_indptr": self.indices(self.batch + 1, self.q_len),
                 "kv_len": self.indices(self.batch, 0) + self.kv_len}
        found["out"] = torch.empty_like(found["q"])
        if self.row["kv_layout"] == "ragged":
            found["kv_indptr"] = self.indices(self.batch, self.kv_len)
        if self.row["kv_layout"] == "paged":
            found["page_table"] = self.indices(self.batch * (self.kv_len // self.page), 1)
        return found

    def arguments(self, operands):
        args = super().arguments(operands)
        args.batch = self.batch
        return args

    def mask(self):
        """What torch's operator is told of causality, which it aligns to the start."""
        if self.row["mask"] == "full" or self.q_len == 1:
            return {}
        if self.q_len == self.kv_len:
            return {"is_causal": True}
        return {"attn_mask": torch.nn.attention.bias.causal_lower_right(self.q_len, self.kv_len)}

    def peers(self):
        if self.row["mask"] == "window" or (self.page and self.kv_len % self.page):
            return {}
        backends, attend = torch.nn.attention.SDPBackend, torch.nn.functional.scaled_dot_product_attention

        def by(backend):
            def call(o):
                with torch.nn.attention.sdpa_kernel([backend]):
                    q, k, v = (o[name].transpose(1, 2) for name in "qkv")
                    return attend(q, k, v, enable_gqa=self.q_heads != self.kv_heads, **self.mask()).transpose(1, 2)

            return call

        return {"cuDNN": by(backends.CUDNN_ATTENTION), "FlashAttention-2": by(backends.FLASH_ATTENTION)}


CLASSES = {kind.operation: kind for kind in (Glu, RmsNorm, LayerNorm, Quantize, Dequantize, Axpby, Softmax, Permute,
                                             Reduce, Rope, Attention, AttentionMerge, Embed, Sample,
                                             MoeRoute, Histogram, Convolution, Stencil, ProcessLogits)}


def problem_of(row):
    """None: the operation has no peers here. torch's attention has none for q, k or v of e4m3, nor for out of another type."""
    if row["op"] == "attention" and (row.get("kv_type", "same"), row.get("out", "same")) != ("same", "same"):
        return None
    return CLASSES[row["op"]](row) if row["op"] in CLASSES else None
