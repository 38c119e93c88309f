# SPDX-License-Identifier: Apache-2.0
"""torch's tensors on a GPU: without a copy, on torch's streams. Needs torch and a GPU: run.py --gpu."""

import unittest

import gristmill
from base import Test, simulated

try:
    import torch
except ImportError:
    torch = None


@unittest.skipIf(simulated or not torch or not torch.cuda.is_available(), "needs torch and a GPU")
class Torch(Test):
    def operands(self, dtype):
        torch.manual_seed(1)
        return (torch.randint(-3, 4, shape, device="cuda").to(dtype) for shape in ((64, 256), (96, 256)))

    def test_in_and_out(self):
        for dtype in (torch.bfloat16, torch.float16):
            x, w = self.operands(dtype)
            found = gristmill.gemm(x, w.T, out_type="fp32", stream=torch.cuda.current_stream())
            self.assertTrue(torch.equal(torch.from_dlpack(found), x.float() @ w.float().T))

    def test_out(self):
        x, w = self.operands(torch.bfloat16)
        out, bias = torch.empty(64, 96, device="cuda"), torch.arange(96.0, device="cuda")
        self.assertIs(gristmill.gemm(x, w.T, out=out, bias=bias, activation="relu"), out)
        self.assertTrue(torch.equal(out, torch.relu(x.float() @ w.float().T + bias)))

    def test_stream(self):
        x, w = self.operands(torch.bfloat16)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            y = x * 2
            found = torch.from_dlpack(gristmill.gemm(y, w.T, out_type="fp32", stream=stream))
            doubled = found * 2
        stream.synchronize()
        self.assertTrue(torch.equal(doubled, 4 * (x.float() @ w.float().T)))

    def test_graph(self):
        x, w = self.operands(torch.bfloat16)
        out, graph = torch.zeros(64, 96, device="cuda"), torch.cuda.CUDAGraph()
        gristmill.gemm(x, w.T, out=out, stream=torch.cuda.current_stream())  # its plan
        with torch.cuda.graph(graph):
            gristmill.gemm(x, w.T, out=out, stream=torch.cuda.current_stream())
        out.zero_()
        graph.replay()
        self.assertTrue(torch.equal(out, x.float() @ w.float().T))

    def test_array_is_freed_by_torch(self):
        def takes():
            taken = torch.from_dlpack(gristmill.zeros((4096, 1024)))
            self.assertEqual(taken.sum().item(), 0)

        takes()
        torch.cuda.empty_cache()
        self.leaves_nothing(takes)
