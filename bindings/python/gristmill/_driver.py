# SPDX-License-Identifier: Apache-2.0
"""The CUDA driver that the library has open (libcuda.so.1, or the simulated GPU), as far as arrays need it."""

import ctypes
import functools
import os
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_ubyte, c_uint64, c_void_p

from . import _api, _library

FUNCTIONS = {
    "cuGetErrorName": [c_int, POINTER(c_char_p)],
    "cuDevicePrimaryCtxRetain": [POINTER(c_void_p), c_int],
    "cuCtxPushCurrent_v2": [c_void_p],
    "cuCtxPopCurrent_v2": [POINTER(c_void_p)],
    "cuMemAlloc_v2": [POINTER(c_uint64), c_size_t],
    "cuMemFree_v2": [c_uint64],
    "cuMemGetInfo_v2": [POINTER(c_size_t), POINTER(c_size_t)],
    "cuMemcpyHtoD_v2": [c_uint64, c_void_p, c_size_t],
    "cuMemcpyDtoH_v2": [c_void_p, c_uint64, c_size_t],
    "cuMemsetD8_v2": [c_uint64, c_ubyte, c_size_t],
    "cuStreamSynchronize": [c_void_p],
}
LEGACY_STREAM, PER_THREAD_STREAM = 1, 2  # CU_STREAM_LEGACY, CU_STREAM_PER_THREAD


def use_simulator(device="h200"):
    """From now on, kernels run on a simulated GPU: "a100", "h100", "h200" or "rtx4090". Needs no GPU and no driver.

    It is the same as the environment's GM_DRIVER=sim and GM_SIM_DEVICE=..., and must come before the first call that
    needs the driver: a RuntimeError afterwards. docs/SIMULATOR.md says what the simulator finds.
    """
    wanted = {"GM_DRIVER": "sim", "GM_SIM_DEVICE": device}
    if driver.cache_info().currsize and any(os.environ.get(name) != value for name, value in wanted.items()):
        raise RuntimeError(
            f"the driver is open already ({os.environ.get('GM_DRIVER') or 'cuda'}): use_simulator() must come "
            "before the first call that needs it"
        )
    os.environ.update(wanted)


def file_name():
    """What the library opens: the rule of GM_DRIVER (gristmill/core.h)."""
    choice = os.environ.get("GM_DRIVER") or "cuda"
    return {"cuda": "libcuda.so.1", "sim": f"libgristmill-sim.so.{_api.GM_VERSION_MAJOR}"}.get(choice, choice)


@functools.lru_cache(None)
def driver():
    """The driver as a ctypes.CDLL. gristmill.Error: there is none, or no device."""
    count = c_int()
    _library.load().gm_device_count(count)  # opens it, or says why not
    try:
        found = ctypes.CDLL(file_name(), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        raise failure("the library has another driver open than GM_DRIVER says now") from None
    for name, parameters in FUNCTIONS.items():
        function = getattr(found, name)
        function.argtypes, function.restype = parameters, c_int
    return found


def failure(sentence):
    return _library.Error(_api.GM_ERROR_DRIVER, "GM_ERROR_DRIVER", sentence)


def call(name, *arguments):
    result = getattr(driver(), name)(*arguments)
    if result:
        text = c_char_p()
        driver().cuGetErrorName(result, text)
        values = ", ".join(str(value) for value in arguments if isinstance(value, int))
        raise failure(f"{name}({values}): {(text.value or b'unknown').decode()} ({result})")


class Context:
    """The primary context of a device, for the library and the driver; current within `with`. Kept until the end."""

    def __init__(self, ordinal):
        self.ordinal, self.cu, self.gm = ordinal, c_void_p(), POINTER(_api.gm_context)()
        driver()
        _library.load().gm_context_create(ordinal, self.gm)
        call("cuDevicePrimaryCtxRetain", self.cu, ordinal)

    def __enter__(self):
        call("cuCtxPushCurrent_v2", self.cu)

    def __exit__(self, *_):
        call("cuCtxPopCurrent_v2", c_void_p())


@functools.lru_cache(None)
def context(ordinal):
    return Context(ordinal)


def allocate(ordinal, bytes):
    address = c_uint64()
    with context(ordinal):
        call("cuMemAlloc_v2", address, max(bytes, 1))
    return address.value


def free(ordinal, address):
    """Waits for what runs on the device, as cuMemFree() does: nothing that was launched loses its operands."""
    with context(ordinal):
        call("cuMemFree_v2", address)


def free_bytes(ordinal=0):
    free_, total = c_size_t(), c_size_t()
    with context(ordinal):
        call("cuMemGetInfo_v2", free_, total)
    return free_.value


def to_device(ordinal, address, data):
    if data:
        with context(ordinal):
            call("cuMemcpyHtoD_v2", address, data, len(data))
            call("cuStreamSynchronize", None)  # a small copy may be on its way still, and other streams do not wait


def to_host(ordinal, address, bytes):
    buffer = ctypes.create_string_buffer(max(bytes, 1))
    if bytes:
        with context(ordinal):
            call("cuMemcpyDtoH_v2", buffer, address, bytes)
    return buffer.raw[:bytes]


def fill(ordinal, address, byte, bytes):
    if bytes:
        with context(ordinal):
            call("cuMemsetD8_v2", address, byte, bytes)
            call("cuStreamSynchronize", None)


def synchronize(ordinal, stream):
    with context(ordinal):
        call("cuStreamSynchronize", stream or None)


def stream_handle(stream):
    """The CUstream of a number, or of a stream of torch, CuPy or CUDA Python; 0, the default stream, of None."""
    if stream is None or isinstance(stream, int):
        return stream or 0
    for name in ("cuda_stream", "ptr", "handle"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    raise TypeError(
        f"a stream is a number, or has cuda_stream, ptr or handle: {type(stream).__name__} has none of them"
    )
