# SPDX-License-Identifier: Apache-2.0
"""DLPack by ctypes: capsules of arrays here for others, and of others' arrays for here."""

import ctypes
import weakref
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)

from . import _types

CUDA, CUDA_MANAGED = 2, 13  # of DLDeviceType: memory that kernels of a CUDA device may read
DELETER = CFUNCTYPE(None, c_void_p)


class Device(Structure):
    _fields_ = [("type", c_int), ("ordinal", c_int)]


class DataType(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class Tensor(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device", Device),
        ("ndim", c_int32),
        ("dtype", DataType),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class Managed(Structure):  # DLManagedTensor, "dltensor"
    _fields_ = [("tensor", Tensor), ("manager", c_void_p), ("deleter", DELETER)]


class ManagedVersioned(Structure):  # DLManagedTensorVersioned, "dltensor_versioned"
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("manager", c_void_p),
        ("deleter", DELETER),
        ("flags", c_uint64),
        ("tensor", Tensor),
    ]


# A capsule keeps the address of its name: these live as long as the module.
PLAIN, VERSIONED = b"dltensor", b"dltensor_versioned"
KINDS = {PLAIN: Managed, VERSIONED: ManagedVersioned}
USED = {PLAIN: b"used_dltensor", VERSIONED: b"used_dltensor_versioned"}


def function(name, result, *parameters):
    found = getattr(ctypes.pythonapi, name)
    return ctypes.PYFUNCTYPE(result, *parameters)(ctypes.cast(found, c_void_p).value)


# Capsules as addresses: one that is being destroyed must not be counted as an object again.
new_capsule = function("PyCapsule_New", ctypes.py_object, c_void_p, c_char_p, c_void_p)
is_valid = function("PyCapsule_IsValid", c_int, c_void_p, c_char_p)
pointer_of = function("PyCapsule_GetPointer", c_void_p, c_void_p, c_char_p)
set_name = function("PyCapsule_SetName", c_int, c_void_p, c_char_p)

# ---- ours, for others -----------------------------------------------------------------------------------------------

exported = {}  # address of a managed tensor: what must live as long


@DELETER
def release(address):
    exported.pop(address, None)


@DELETER
def destroy_capsule(capsule):
    """A capsule that nobody took: whoever takes one renames it."""
    for name in KINDS:
        if is_valid(capsule, name):
            release(pointer_of(capsule, name))


def export(array, versioned):
    """A capsule of a gristmill.Array, which lives at least as long as the capsule's taker wants it."""
    name = VERSIONED if versioned else PLAIN
    managed, count = KINDS[name](), len(array.shape)
    shape, strides = (c_int64 * count)(*array.shape), (c_int64 * count)(*array.strides)
    if versioned:
        managed.major, managed.minor = 1, 0
    managed.deleter = release
    managed.tensor = Tensor(
        array.ptr, Device(CUDA, array.device), count, DataType(*_types.TYPES[array.dtype].dlpack, 1), shape, strides, 0
    )
    exported[ctypes.addressof(managed)] = (managed, shape, strides, array)
    return new_capsule(ctypes.addressof(managed), name, ctypes.cast(destroy_capsule, c_void_p))


# ---- others', for us ------------------------------------------------------------------------------------------------


class Taken:
    """A managed tensor that was taken out of its capsule; its owner is told when this is collected."""

    def __init__(self, managed):
        self.managed = managed
        if managed.deleter:
            weakref.finalize(self, managed.deleter, ctypes.addressof(managed)).atexit = False


def take(capsule):
    """(address, device type and number, shape, strides in elements, Type, Taken) of a capsule, which is used up."""
    where = id(capsule)
    name = next((name for name in KINDS if is_valid(where, name)), None)
    if name is None:
        raise TypeError("__dlpack__() returned no DLPack capsule, or one that was used before")
    managed = KINDS[name].from_address(pointer_of(where, name))
    set_name(where, USED[name])
    taken, tensor = Taken(managed), managed.tensor
    kind = _types.BY_DLPACK.get((tensor.dtype.code, tensor.dtype.bits)) if tensor.dtype.lanes == 1 else None
    if kind is None:
        raise TypeError(
            f"DLPack's type (code {tensor.dtype.code}, {tensor.dtype.bits} bits, {tensor.dtype.lanes} lanes) is none "
            f"of {', '.join(_types.TYPES)}"
        )
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else packed(shape)
    return (
        (tensor.data or 0) + tensor.byte_offset,
        (tensor.device.type, tensor.device.ordinal),
        shape,
        strides,
        kind,
        taken,
    )


def packed(shape):
    """Strides of a row-major array, in elements."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return tuple(strides)
