# SPDX-License-Identifier: Apache-2.0
"""Arrays in device memory, ours and views of others'."""

import itertools
import math
import weakref

from . import _dlpack, _driver, _types


class Memory:
    """Bytes on a device, given back when nothing refers to them any more."""

    def __init__(self, ordinal, bytes):
        self.ordinal, self.stream = ordinal, None  # the stream that may still work on it
        self.address = _driver.allocate(ordinal, bytes)
        weakref.finalize(self, _driver.free, ordinal, self.address).atexit = False


class Borrowed:
    """Someone else's bytes on a device, which `owner` keeps."""

    def __init__(self, ordinal, address, owner):
        self.ordinal, self.address, self.owner, self.stream = ordinal, address, owner, None


class Array:
    """An array in device memory, not initialised: Array((4, 256), "bf16"), zeros(), array() and from_bytes() fill one.

    shape, strides    in elements; row-major as made, `T` is a view of it the other way round
    dtype             "bf16", "fp16", "fp32", "e4m3", "e5m2", "int8", "uint8", "int32", "int64"
    device            the number of the CUDA device
    ptr               the device pointer, for the functions of gristmill.api

    The memory is the CUDA driver's (or the simulated GPU's), and is given back when the array and its views are
    collected. Others take it without a copy: torch.from_dlpack(x), cupy.asarray(x). Reading it (numpy(), tolist(),
    tobytes()) waits for the stream on which gristmill last used it.
    gristmill.Error: there is no driver, no such device, or not enough memory.
    """

    __slots__ = ("memory", "offset", "shape", "strides", "dtype", "__weakref__")

    def __init__(self, shape, dtype="fp32", device=0):
        shape = (shape,) if isinstance(shape, int) else tuple(int(extent) for extent in shape)
        if any(extent < 0 for extent in shape):
            raise ValueError(f"an array has no negative extent: {shape}")
        kind = _types.type_of(dtype)
        self._set(Memory(int(device), math.prod(shape) * kind.bytes), 0, shape, _dlpack.packed(shape), kind.name)

    def _set(self, memory, offset, shape, strides, dtype):
        self.memory, self.offset, self.shape, self.strides, self.dtype = memory, offset, shape, strides, dtype
        return self

    @classmethod
    def from_bytes(cls, data, shape, dtype, device=0):
        """Elements as they lie in memory, little-endian and row-major."""
        made = cls(shape, dtype, device)
        made.copy_from(data)
        return made

    # ---- facts

    @property
    def device(self):
        return self.memory.ordinal

    @property
    def ptr(self):
        return self.memory.address + self.offset

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def nbytes(self):
        return self.size * _types.TYPES[self.dtype].bytes

    @property
    def T(self):
        """The same memory with its dimensions in the opposite order."""
        return self._view(self.shape[::-1], self.strides[::-1])

    @property
    def mT(self):
        """The same memory with its last two dimensions in the opposite order: every matrix of a batch transposed."""
        if self.ndim < 2:
            raise ValueError(f"{self!r} has no matrices to transpose")
        shape, strides = self.shape, self.strides
        return self._view((*shape[:-2], shape[-1], shape[-2]), (*strides[:-2], strides[-1], strides[-2]))

    def _view(self, shape, strides):
        """The same memory from its first element on. Nobody checks that its last one is in there."""
        return Array.__new__(Array)._set(self.memory, self.offset, tuple(shape), tuple(strides), self.dtype)

    def __len__(self):
        if not self.shape:
            raise TypeError("an array of no dimension has no length")
        return self.shape[0]

    def __repr__(self):
        return f"gristmill.Array(shape={self.shape}, dtype={self.dtype!r}, device={self.device})"

    # ---- to and from the host

    def copy_from(self, data):
        """Overwrites the elements: bytes as of from_bytes(), or a numpy array of the shape, rounded to the type."""
        if hasattr(data, "__array_interface__"):
            data = _bytes_of_numpy(data, _types.TYPES[self.dtype], self.shape)
        if len(data) != self.nbytes:
            raise ValueError(f"{len(data)} bytes for {self!r}, which has {self.nbytes}")
        self._need_packed()
        self._wait()
        _driver.to_device(self.device, self.ptr, bytes(data))

    def tobytes(self):
        """The elements, little-endian and row-major."""
        if self.strides == _dlpack.packed(self.shape):
            self._wait()
            return _driver.to_host(self.device, self.ptr, self.nbytes)
        flat, step = self._whole(), _types.TYPES[self.dtype].bytes
        places = itertools.product(*(range(extent) for extent in self.shape))
        starts = (sum(at * stride for at, stride in zip(place, self.strides)) * step for place in places)
        return b"".join(flat[start : start + step] for start in starts)

    def tolist(self):
        """The elements as numbers, in lists as deep as the shape. Needs no numpy."""
        values = iter(_types.decode(self.tobytes(), _types.TYPES[self.dtype]))

        def nested(shape):
            return [nested(shape[1:]) for _ in range(shape[0])] if shape else next(values)

        return nested(self.shape)

    def numpy(self, dtype=None):
        """A numpy array with the elements: bf16, e4m3 and e5m2, which numpy has not, become float32, which holds them
        exactly. With dtype=ml_dtypes.bfloat16 and the like, they stay as they are."""
        import numpy

        kind, data = _types.TYPES[self.dtype], self.tobytes()
        if kind.typestr:
            found = numpy.frombuffer(data, kind.typestr).reshape(self.shape).copy()
        elif dtype is not None and _types.type_of(numpy.dtype(dtype)) == kind:
            return numpy.frombuffer(data, dtype).reshape(self.shape).copy()
        elif kind.name == "bf16":
            words = numpy.frombuffer(data, "<u2").astype("<u4") << 16
            found = words.view("<f4").reshape(self.shape)
        else:
            table = numpy.array(_types.float8_values(kind.name), "<f4")
            found = table[numpy.frombuffer(data, "|u1")].reshape(self.shape)
        return found if dtype is None else found.astype(dtype)

    def _whole(self):
        """The bytes that the strides span."""
        last = sum((extent - 1) * stride for extent, stride in zip(self.shape, self.strides))
        self._wait()
        return _driver.to_host(self.device, self.ptr, (last + 1) * _types.TYPES[self.dtype].bytes if self.size else 0)

    def _need_packed(self):
        if self.strides != _dlpack.packed(self.shape):
            raise ValueError(f"{self!r} is a view with strides {self.strides}, not row-major")

    def _wait(self):
        if self.memory.stream is not None:
            _driver.synchronize(self.device, self.memory.stream)
            self.memory.stream = None

    def _wait_unless(self, stream):
        """Unless what comes next is on `stream` too, where it comes in order."""
        if _same_stream(stream) != _same_stream(self.memory.stream):
            self._wait()

    # ---- to and from others

    def __dlpack_device__(self):
        return _dlpack.CUDA, self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """For from_dlpack() of torch, CuPy, JAX and others: the same memory, after what gristmill launched on it."""
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"{self!r} lies on device {self.__dlpack_device__()}, not {tuple(dl_device)}")
        if copy:
            raise BufferError("gristmill exports its memory, and copies none")
        if stream != -1:
            self._wait_unless(stream)
        return _dlpack.export(self, bool(max_version and max_version[0] >= 1))

    @property
    def __cuda_array_interface__(self):
        kind = _types.TYPES[self.dtype]
        if kind.typestr is None:
            raise AttributeError(f"__cuda_array_interface__ has no {self.dtype}; DLPack has")
        self._wait()
        strides = None if self.strides == _dlpack.packed(self.shape) else tuple(s * kind.bytes for s in self.strides)
        return {
            "shape": self.shape,
            "typestr": kind.typestr,
            "data": (self.ptr, False),
            "strides": strides,
            "version": 3,
            "stream": None,
        }


def _same_stream(stream):
    return 0 if stream in (None, 0, _driver.LEGACY_STREAM) else stream


def zeros(shape, dtype="fp32", device=0):
    """An Array whose bytes are all 0."""
    made = Array(shape, dtype, device)
    _driver.fill(made.device, made.ptr, 0, made.nbytes)
    return made


def array(values, dtype=None, device=0):
    """An Array with these elements: a number, lists of numbers as deep as the shape, or a numpy array.

    `dtype`: "bf16" and so on; None: that of the numpy array, else "fp32". Numbers are rounded to the nearest, ties to
    even; beyond the type's range they become infinite, in e4m3 and e5m2 the largest number.
    """
    if hasattr(values, "__array_interface__"):
        kind = _types.type_of(values.dtype if dtype is None else dtype)
        return Array.from_bytes(_bytes_of_numpy(values, kind, values.shape), values.shape, kind, device)
    kind, shape, flat = _types.type_of(dtype or "fp32"), [], values
    while isinstance(flat, (list, tuple)):
        shape.append(len(flat))
        flat = flat[0] if flat else None
    numbers = list(_flattened(values, tuple(shape), ()))
    return Array.from_bytes(_types.encode(numbers, kind), tuple(shape), kind, device)


def _flattened(values, shape, place):
    if not shape:
        yield values
        return
    if not isinstance(values, (list, tuple)) or len(values) != shape[0]:
        raise ValueError(f"the lists at {list(place)} are not all of {shape[0]} elements")
    for at, value in enumerate(values):
        yield from _flattened(value, shape[1:], (*place, at))


def _bytes_of_numpy(values, kind, shape):
    import numpy

    if values.shape != tuple(shape):
        raise ValueError(f"a numpy array of shape {values.shape} for one of {tuple(shape)}")
    if _types.BY_NAME.get(values.dtype.name) == kind:  # of ml_dtypes too
        return numpy.ascontiguousarray(values).tobytes()
    if kind.typestr:
        return numpy.ascontiguousarray(values).astype(kind.typestr).tobytes()
    floats = numpy.ascontiguousarray(values).astype("<f4")
    if kind.name != "bf16":
        return _types.encode(floats.ravel().tolist(), kind)
    bits = floats.view("<u4")
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return numpy.where(numpy.isnan(floats), bits >> 16 | 0x40, rounded).astype("<u2").tobytes()


# ---- what others have on a device ------------------------------------------------------------------------------------


def on_device(value):
    """Whether it is an array in a CUDA device's memory: of ours, or with DLPack or __cuda_array_interface__."""
    if isinstance(value, Array):
        return True
    if hasattr(value, "__dlpack_device__"):
        return int(value.__dlpack_device__()[0]) in (_dlpack.CUDA, _dlpack.CUDA_MANAGED)
    return hasattr(value, "__cuda_array_interface__")


def view(value, stream=0):
    """An Array of what is on a device, without a copy, ready to be used on `stream`. It keeps `value` alive."""
    if isinstance(value, Array):
        value._wait_unless(stream)
        return value
    if hasattr(value, "__dlpack_device__"):
        return _view_of_dlpack(value, stream)
    return _view_of_cuda_array(value, stream)


def _view_of_dlpack(value, stream):
    wanted = stream or _driver.LEGACY_STREAM
    try:
        capsule = value.__dlpack__(stream=wanted, max_version=(1, 0))
    except TypeError:  # from before DLPack 1.0
        capsule = value.__dlpack__(stream=wanted)
    address, (_, ordinal), shape, strides, kind, taken = _dlpack.take(capsule)
    return Array.__new__(Array)._set(Borrowed(ordinal, address, (value, taken)), 0, shape, strides, kind.name)


def _view_of_cuda_array(value, stream):
    facts = value.__cuda_array_interface__
    kind = _types.BY_TYPESTR.get(facts["typestr"])
    if kind is None:
        raise TypeError(
            f"__cuda_array_interface__ of type {facts['typestr']!r}, which is none of {', '.join(_types.BY_TYPESTR)}"
        )
    shape, bytes_apart = tuple(facts["shape"]), facts.get("strides")
    strides = _dlpack.packed(shape) if bytes_apart is None else tuple(apart // kind.bytes for apart in bytes_apart)
    ordinal = int(getattr(getattr(value, "device", None), "id", 0))  # as CuPy has it
    if facts.get("stream") and _same_stream(facts["stream"]) != _same_stream(stream):
        _driver.synchronize(ordinal, facts["stream"])
    return Array.__new__(Array)._set(Borrowed(ordinal, facts["data"][0], value), 0, shape, strides, kind.name)
