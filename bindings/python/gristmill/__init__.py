# SPDX-License-Identifier: Apache-2.0
"""gristmill: hand-written GPU kernels for NVIDIA Hopper and Ampere, through ctypes.

    import gristmill
    gristmill.use_simulator("h200")                    # or not, where there is a GPU
    a = gristmill.array([[1, 2], [3, 4]], "bf16")      # in device memory
    d = gristmill.gemm(a, a.T, activation="relu")
    print(d.tolist())

    gemm                              matrix multiplication of arrays on the host or on a device
    pack                              weights in the layout that gemm loads fastest
    Plan                              a problem of any operation, planned: plan.execute(x=..., out=...)
    Array, array, zeros               device memory, with DLPack and __cuda_array_interface__
    explain, explain_problem          which kernel runs a problem, and why not the others
    bank, swizzle                     shared memory on paper
    devices, device                   what there is, and models of what there is not
    results, build_info               what was measured; what the library is made of
    use_simulator                     run on a simulated GPU
    torch (import gristmill.torch)    the operations as torch.ops.gristmill; patch(model) for models of transformers
    Error                             what the library refuses, with a sentence
    api                               the C interface, name by name

There is nothing to install beside this package; numpy and ml_dtypes are used where they are. docs/PYTHON.md has
examples.
"""

import json as _json

from . import _api, api
from ._array import Array, array, zeros
from ._devices import Device, device, devices
from ._driver import use_simulator
from ._explain import Candidate, Explanation, explain, explain_problem
from ._gemm import gemm, pack
from ._library import Error
from ._plan import Plan
from ._results import results
from ._smem import bank, swizzle

__version__ = f"{_api.GM_VERSION_MAJOR}.{_api.GM_VERSION_MINOR}.{_api.GM_VERSION_PATCH}"
__all__ = [
    "Array",
    "Candidate",
    "Device",
    "Error",
    "Explanation",
    "Plan",
    "api",
    "array",
    "bank",
    "build_info",
    "device",
    "devices",
    "explain",
    "explain_problem",
    "gemm",
    "library_path",
    "pack",
    "results",
    "swizzle",
    "use_simulator",
    "zeros",
]


def build_info():
    """What the library is made of: version, revision, toolkit, targets, minimum driver, kernels, bytes of images."""
    return _json.loads(api.gm_build_info())


def library_path():
    """The file of the library that is used: of GRISTMILL_LIBRARY, of the wheel, or a name for the loader to find."""
    from ._library import path

    return path()


def patch(model):
    """A model of transformers on CUDA devices computes with gristmill's kernels from now on. Returns the model.

    Linear layers, with q, k and v, and gate and up, each one GEMM; norms, rotary embedding, attention, gated units; of
    Llama, Mistral, Qwen2, Qwen3 and Gemma-3 (text). For inference: there are no gradients. Call it when the weights are
    where they stay; torch.compile may come after.
    Padded batches take PyTorch's attention. So does a whole model that is compiled without a cache, where transformers
    does not tell whether sequences are packed: attention_mask may be int32 [batch] then, the tokens of each row.
    Layers of float8_e4m3fn with scales of blocks of 128 x 128, of channels or of the whole weight quantise their input
    and multiply in fp8, but for those whose input is not to be quantised.
    PyTorch 2.10 and transformers 5 or newer. ValueError: a model of another kind, or one whose weights are not plain
    tensors of bfloat16 or float16, nor of float8_e4m3fn with such scales."""
    from . import _patch
    return _patch.patch(model)
