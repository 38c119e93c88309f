# SPDX-License-Identifier: Apache-2.0
"""What the peers of each operation compute: a class for each line of src/operations.def that has peers here."""
import torch

from library import VALUES, make

TORCH_TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
TOLERANCES = {"bf16": 0.04, "fp16": 0.005, "fp32": 1e-4}


def normal(seed, *sizes, dtype):
    generator = torch.Generator("cuda").manual_seed(seed)
    return torch.randn(*sizes, generator=generator, device="cuda", dtype=torch.float32).to(dtype)


def compiled(function):
    return torch.compile(function, dynamic=False, fullgraph=True)


class Problem:
    """A row of results: its operands, our problem struct, and the peers' calls by name. A peer's call takes the operands
    and writes to their results, or returns the first one."""

    operation, result = "", "out"
    accumulates = False  # a call reads what the call before has written

    def __init__(self, row):
        self.row, self.type = row, TORCH_TYPES[row["type"]]
        self.tolerance = TOLERANCES[row["type"]]
        self.rows, self.columns = row["rows"], row["columns"]
        words = [str(value) for key, value in row.items() if key not in ("op",) and list(row).index(key) < list(row).index("kernel")]
        self.title = f"{row['op']} {' '.join(words)}"

    def matrix(self, seed, columns=None):
        return normal(seed, self.rows, columns or self.columns, dtype=self.type)

    def empty(self, columns=None, dtype=None):
        return torch.empty(self.rows, columns or self.columns, device="cuda", dtype=dtype or self.type)


class Glu(Problem):
    operation = "glu"
    activations = {"none": lambda x: x, "relu": torch.relu, "silu": torch.nn.functional.silu,
                   "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
                   "gelu_erf": torch.nn.functional.gelu}

    def __init__(self, row):
        super().__init__(row)
        self.problem = make(
            "gm_glu_problem", rows=self.rows, columns=self.columns, type=VALUES[f"GM_{row['type'].upper()}"],
            layout=VALUES[f"GM_GLU_{row['layout'].upper()}"], activation=VALUES[f"GM_ACT_{row['activation'].upper()}"],
            rounding=VALUES[f"GM_ROUND_{row['rounding'].upper()}"])

    def operands(self, seed):
        found = {"gate": self.matrix(2 * seed, self.columns * (2 if self.row["layout"] == "interleaved" else 1)),
                 "out": self.empty()}
        if self.row["layout"] == "apart":
            found["up"] = self.matrix(2 * seed + 1)
        return found

    def arguments(self, operands):
        return make("gm_glu_args", **{name: tensor.data_ptr() for name, tensor in operands.items()})

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
            return (act(gate.float()) * up.float()).to(gate.dtype)

        def into(o):
            o["out"].copy_(expression(o))

        found = {"torch.compile": compiled(into)}
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


class RmsNorm(Problem):
    operation = "rms_norm"

    def __init__(self, row):
        super().__init__(row)
        self.residual = self.accumulates = row["residual"] == "yes"
        self.problem = make(
            "gm_rms_norm_problem", rows=self.rows, columns=self.columns, type=VALUES[f"GM_{row['type'].upper()}"],
            fp32_weight=row["weight"] == "fp32", residual=self.residual, eps=1e-5,
            sum_rounding=VALUES[f"GM_ROUND_{row['sum'].upper()}"],
            normalized_rounding=VALUES[f"GM_ROUND_{row['normalized'].upper()}"])

    def operands(self, seed):
        weight_type = torch.float32 if self.row["weight"] == "fp32" else self.type
        found = {"x": self.matrix(3 * seed), "weight": normal(3 * seed + 1, self.columns, dtype=weight_type), "out": self.empty()}
        if self.residual:
            found["residual"] = self.matrix(3 * seed + 2)
        return found

    def arguments(self, operands):
        return make("gm_rms_norm_args", **{name: tensor.data_ptr() for name, tensor in operands.items()})

    def peers(self):
        row = self.row

        def into(o):
            total = o["x"].float()
            if row["residual"] == "yes":
                total = total + o["residual"].float()
                o["residual"].copy_(total)
                if row["sum"] == "early":
                    total = total.to(o["x"].dtype).float()
            y = total * torch.rsqrt(total.pow(2).mean(-1, keepdim=True) + 1e-5)
            if row["normalized"] == "early":
                y = y.to(o["x"].dtype)
            o["out"].copy_(y * o["weight"].float() if row["normalized"] == "late" else y * o["weight"])

        found = {"torch.compile": compiled(into)}
        if not self.residual and row["weight"] == "same":
            found["torch"] = lambda o: torch.nn.functional.rms_norm(o["x"], [self.columns], o["weight"], 1e-5)
        try:
            from liger_kernel.ops.rms_norm import rms_norm_forward
        except ImportError:
            return found
        if not self.residual:
            found["liger"] = lambda o: rms_norm_forward(o["x"], o["weight"], 1e-5, 0.0, "llama", None)[0]
        return found


CLASSES = {kind.operation: kind for kind in (Glu, RmsNorm)}


def problem_of(row):
    """None: the operation has no peers here."""
    return CLASSES[row["op"]](row) if row["op"] in CLASSES else None
