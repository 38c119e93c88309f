# SPDX-License-Identifier: Apache-2.0
"""Why a kernel can or cannot run a problem, and which is chosen. Needs no GPU."""

from typing import NamedTuple, Optional

from . import _api, _devices, _gemm, _library, _plan, _types

SOURCES = {
    _api.GM_SOURCE_NONE: None,
    _api.GM_SOURCE_MODEL: "model",
    _api.GM_SOURCE_LEDGER: "ledger",
    _api.GM_SOURCE_NEIGHBOURS: "neighbours",
    _api.GM_SOURCE_NAME: "name",
}


class Candidate(NamedTuple):
    """A kernel, and how it stands to a problem."""

    kernel: str
    chosen: bool
    accepted: bool
    reason: str  # "GM_ACCEPTED", or why not
    sentence: str  # the same with its numbers; of the chosen, where the choice comes from
    predicted_us: float  # 0 where it cannot run
    source: Optional[str]  # of the chosen: "model", "ledger", "neighbours", "name"
    measured_us: float  # of a choice by the ledger, else 0


class Explanation:
    """A candidate for every kernel of the operation, in the order of the table. print() shows those that would run,
    the fastest first, and why the others do not."""

    def __init__(self, title, candidates):
        self.title, self.candidates = title, candidates

    @property
    def chosen(self):
        """The Candidate that a plan takes; None: no kernel runs it."""
        return next((candidate for candidate in self.candidates if candidate.chosen), None)

    @property
    def accepted(self):
        """Those that would run, the fastest first."""
        return sorted((c for c in self.candidates if c.accepted), key=lambda c: (not c.chosen, c.predicted_us))

    def __str__(self):
        lines = [self.title]
        lines += [f"{'->' if c.chosen else '  '} {c.predicted_us:9.2f} us  {c.kernel}" for c in self.accepted[:8]]
        if self.chosen:
            lines.insert(1, f"   {self.chosen.sentence}")
        if len(self.accepted) > 8:
            lines.append(f"   and {len(self.accepted) - 8} more that would run")
        refused = {}
        for candidate in self.candidates:
            if not candidate.accepted:
                refused.setdefault(candidate.reason, []).append(candidate)
        for reason, theirs in sorted(refused.items(), key=lambda item: -len(item[1])):
            lines.append(f"   {len(theirs):4} x {reason}, as {theirs[0].kernel}: {theirs[0].sentence}")
        return "\n".join(lines)

    __repr__ = __str__


def explain(
    m,
    n,
    k,
    device="h200",
    *,
    dtype="bf16",
    out_type=None,
    a_major="k",
    b_major="k",
    activation=None,
    bias=False,
    **options,
):
    """What gemm() would do with an m x k array and a k x n one: an Explanation, which print() shows.

    device              "a100", "h100", "h200", "a10", "rtx4090", or the number of one that is there
    dtype, out_type     "bf16" or "fp16"; of the result fp32 too, None: dtype
    a_major, b_major    "k": k is contiguous (w.T of weights stored n x k); "mn": the other dimension is
    options             members of struct gm_plan_options: kernel="...", workspace_limit=32 << 20, flags=...

    explain_problem() is the same for any operation.
    """
    majors = {"k": _api.GM_K_MAJOR, "mn": _api.GM_MN_MAJOR}
    for name, value in (("a_major", a_major), ("b_major", b_major)):
        if value not in majors:
            raise ValueError(f"{name} is {value!r}; it can be 'k' or 'mn'")
    problem = _api.gm_gemm_problem(
        m=m,
        n=n,
        k=k,
        ab_type=_types.type_of(dtype).gm,
        d_type=_types.type_of(out_type or dtype).gm,
        a_major=majors[a_major],
        b_major=majors[b_major],
        activation=_gemm.ACTIVATIONS[activation],
        bias=_api.GM_BIAS_N if bias else _api.GM_BIAS_NONE,
        bias_type=_types.type_of(dtype).gm,
    )
    return explain_problem(problem, device, **options)


def explain_problem(problem, device="h200", **options):
    """An Explanation of a struct gm_x_problem of any operation x (gristmill.api)."""
    where = _devices.device(device)
    found = _plan.candidates_of(where, problem, _plan.options_of(**options))
    name = _library.load().gm_reason_name
    candidates = [
        Candidate(
            _plan.kernel_info(c.kernel).name.decode(),
            bool(c.chosen),
            c.reason == _api.GM_ACCEPTED,
            name(c.reason).decode(),
            c.sentence.decode(),
            c.predicted_us,
            SOURCES.get(c.source),
            c.measured_us,
        )
        for c in found
    ]
    return Explanation(f"{_plan.operation_of(problem)} on {where.name}: {problem!r}", candidates)
