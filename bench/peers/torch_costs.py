#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call of torch.ops.gristmill costs the CPU, beside the C call in it and PyTorch's own operator.

    torch_costs.py [--results FILE]

Microseconds of a thread that only launches, medians of 31 batches of 200 calls; those of a row take turns, and between
batches the GPU is waited for. "C call" is gm_x_execute() in a loop of C, with the arguments that the operator gives it. "Nothing" is an operator
of the arguments of rms_norm_out that does nothing, registered the same way: what PyTorch takes itself.
"""

import argparse
import ctypes
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings" / "python"))

import torch  # noqa: E402

import gristmill  # noqa: E402
import gristmill.torch  # noqa: E402

ops, api, F = torch.ops.gristmill, gristmill.api, torch.nn.functional
BATCHES, CALLS = 31, 200


def batch_of(function):
    """Microseconds of one of CALLS calls of a Python function, none of them waited for."""

    def batch():
        start = time.perf_counter()
        for _ in range(CALLS):
            function()
        return (time.perf_counter() - start) / CALLS * 1e6

    return batch


def medians(batches):
    """{name: microseconds}, of batches that take turns; None for what there is none of."""
    times = {name: [] for name, batch in batches.items() if batch}
    for _ in range(BATCHES):
        for name in times:
            torch.cuda.synchronize()
            times[name].append(batches[name]())
    return {name: round(sorted(times[name])[BATCHES // 2], 2) if name in times else None for name in batches}


def compiled():
    """torch_nothing.c as a library, with its operator registered."""
    path = tempfile.mkdtemp() + "/nothing.so"
    sources = [ROOT / "bench/peers/torch_nothing.c", ROOT / "bindings/tensors/torch_abi.c"]
    subprocess.run(
        ["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", f"-I{ROOT}", "-o", path, *sources], check=True
    )
    library = ctypes.CDLL(path)
    library.register_nothing.restype = ctypes.c_char_p
    sentence = library.register_nothing().decode()
    if sentence:
        sys.exit("torch_costs.py: " + sentence)
    library.loop.restype = ctypes.c_double
    return library


def c_batch(loop, problem, pointers):
    plan = gristmill.Plan(problem)
    library = ctypes.CDLL(gristmill.library_path())
    args = getattr(api, f"gm_{plan.operation}_args")(**pointers)
    execute = getattr(library, f"gm_{plan.operation}_execute")
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    return lambda: loop(execute, plan.handle, ctypes.byref(args), stream, CALLS)


def cases():
    """name, problem and pointers of the C call, our operator, its out variant, PyTorch's."""
    x, w = torch.randn(1, 4096, device="cuda").bfloat16(), torch.randn(4096, 4096, device="cuda").bfloat16()
    out, norm = torch.empty_like(x), w[0].clone()
    yield (
        "linear 1 x 4096 x 4096",
        api.gm_gemm_problem(m=1, n=4096, k=4096),
        dict(a=x.data_ptr(), b=w.data_ptr(), d=out.data_ptr()),
        lambda: ops.linear(x, w),
        lambda: ops.linear_out(out, x, w),
        lambda: F.linear(x, w),
    )
    eight, weight = x.to(torch.float8_e4m3fn), w.to(torch.float8_e4m3fn)
    one = torch.ones(1, device="cuda")
    yield (
        "scaled_linear 1 x 4096 x 4096",
        api.gm_gemm_problem(
            m=1, n=4096, k=4096, ab_type=api.GM_E4M3, a_scales=api.GM_PER_TENSOR, b_scales=api.GM_PER_TENSOR
        ),
        dict(
            a=eight.data_ptr(),
            b=weight.data_ptr(),
            d=out.data_ptr(),
            a_scales=one.data_ptr(),
            b_scales=one.data_ptr(),
        ),
        lambda: ops.scaled_linear(eight, weight, one, one),
        lambda: ops.scaled_linear_out(out, eight, weight, one, one),
        lambda: torch._scaled_mm(eight, weight.T, one, one, out_dtype=torch.bfloat16),
    )
    yield (
        "rms_norm 1 x 4096",
        api.gm_rms_norm_problem(rows=1, columns=4096, eps=1e-6),
        dict(x=x.data_ptr(), weight=norm.data_ptr(), out=out.data_ptr()),
        lambda: ops.rms_norm(x, norm),
        lambda: ops.rms_norm_out(out, x, norm),
        lambda: F.rms_norm(x, (4096,), norm, 1e-6),
    )
    both = torch.randn(1, 28672, device="cuda").bfloat16()
    half = both[:, :14336].clone()
    yield (
        "silu_mul 1 x 14336",
        api.gm_glu_problem(rows=1, columns=14336, activation=api.GM_ACT_SILU, gate_stride=28672, up_stride=28672),
        dict(gate=both.data_ptr(), up=both.data_ptr() + 28672, out=half.data_ptr()),
        lambda: ops.silu_mul(both),
        lambda: ops.silu_mul_out(half, both),
        lambda: F.silu(half) * half,
    )
    q, k = torch.randn(1, 32, 128, device="cuda").bfloat16(), torch.randn(1, 8, 128, device="cuda").bfloat16()
    table, at = gristmill.torch.rope_table(128, 4096), torch.tensor([7], device="cuda", dtype=torch.int32)
    yield (
        "rotary_ 1 x (32 + 8) heads",
        api.gm_rope_problem(tokens=1, q_heads=32, kv_heads=8, head_dim=128, max_position=4096),
        dict(
            q=q.data_ptr(),
            k=k.data_ptr(),
            positions=at.data_ptr(),
            table=table.data_ptr(),
            q_out=q.data_ptr(),
            k_out=k.data_ptr(),
        ),
        None,
        lambda: ops.rotary_(q, k, at, table),
        None,
    )
    keys = torch.randn(1, 1024, 8, 128, device="cuda").bfloat16()
    indptr, length = torch.tensor([0, 1], device="cuda", dtype=torch.int32), torch.tensor(
        [1024], device="cuda", dtype=torch.int32
    )
    q4, k4 = q[None].transpose(1, 2), keys.transpose(1, 2)
    heads = torch.empty_like(q)
    yield (
        "attention 1 x 1024",
        api.gm_attention_problem(
            max_batch=1,
            max_q_tokens=1,
            max_q_len=1,
            max_kv_len=1024,
            q_heads=32,
            kv_heads=8,
            head_dim=128,
            mask=api.GM_ATTENTION_CAUSAL,
        ),
        dict(
            batch=1,
            q=q.data_ptr(),
            k=keys.data_ptr(),
            v=keys.data_ptr(),
            out=heads.data_ptr(),
            q_indptr=indptr.data_ptr(),
            kv_len=length.data_ptr(),
        ),
        lambda: ops.attention(q, keys, keys, indptr, length),
        lambda: ops.attention_out(heads, q, keys, keys, indptr, length),
        lambda: F.scaled_dot_product_attention(q4, k4, k4, enable_gqa=True),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--results")
    options = parser.parse_args()
    library, rows = compiled(), []
    with torch.inference_mode():
        x = torch.zeros(1, 4096, device="cuda")
        nothing = batch_of(lambda: torch.ops.gristmill_bench.nothing(x, x, x))
        for name, problem, pointers, ours, ours_out, theirs in cases():
            batches = {"c_us": c_batch(library.loop, problem, pointers), "nothing_us": nothing}
            for key, function in (("op_us", ours), ("op_out_us", ours_out), ("torch_us", theirs)):
                batches[key] = batch_of(function) if function else None
            row = {"call": name, **medians(batches)}
            rows.append(row)
            print(row, flush=True)
    if options.results:
        meta = {
            "gpu": torch.cuda.get_device_name(),
            "torch": torch.__version__,
            "python": sys.version.split()[0],
            "suite": "torch-costs",
            "date": time.strftime("%Y-%m-%d"),
        }
        found = {"meta": meta, "rows": rows}
        pathlib.Path(options.results).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
