#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far GEMM of fp32 operands is off, by precision, beside cuBLAS's fp32: docs/TF32X3.md.

    fp32_error.py [--results FILE]

A 512 x K by K x 512 product against float64: the root mean square, the largest and the mean difference, relative to the
root mean square of the product. GRISTMILL_LIBRARY names the library.
"""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings" / "python"))

import torch  # noqa: E402

import gristmill  # noqa: E402

OPERANDS = {"N(0, 1)": torch.randn, "uniform in [0.5, 1.5)": lambda *size, **options: torch.rand(*size, **options) + 0.5}
SIZE, DEPTHS, PRECISIONS = 512, (8, 32, 64, 128, 256, 1024, 4096, 16384, 65536), ("fp32", "tf32x3", "tf32")


def differences(found, exact):
    difference, scale = found.double() - exact, exact.square().mean().sqrt()
    values = {"rms": difference.square().mean().sqrt(), "largest": difference.abs().max(), "mean": difference.mean()}
    return {name: float(f"{(value / scale).item():.3g}") for name, value in values.items()}


def rows():
    for name, draw in OPERANDS.items():
        for depth in DEPTHS:
            a, b = draw(SIZE, depth, device="cuda"), draw(SIZE, depth, device="cuda")
            exact, out = a.double() @ b.double().T, torch.empty(SIZE, SIZE, device="cuda")
            row = {"operands": name, "k": depth}
            for precision in PRECISIONS:
                stream = torch.cuda.current_stream()
                gristmill.gemm(a, b.T, out=out, stream=stream, precision=None if precision == "fp32" else precision)
                row[precision] = differences(out, exact)
            row["cublas_fp32"] = differences(a @ b.T, exact)
            print(name, depth, *(f"{kind} {row[kind]['rms']:.2e}" for kind in (*PRECISIONS, "cublas_fp32")), flush=True)
            yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--results", type=pathlib.Path)
    options = parser.parse_args()
    torch.manual_seed(7)
    torch.backends.cuda.matmul.allow_tf32 = False
    found = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "size": SIZE, "rows": list(rows())}
    if options.results:
        options.results.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
