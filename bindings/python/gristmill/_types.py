# SPDX-License-Identifier: Apache-2.0
"""Element types: their names here, in the C interface, in DLPack, in numpy; numbers to bytes and back."""

import bisect
import math
import struct
from typing import NamedTuple, Optional

from . import _api


class Type(NamedTuple):
    name: str
    gm: int
    bytes: int
    dlpack: tuple  # code and bits of DLDataType
    typestr: Optional[str]  # of numpy and __cuda_array_interface__; None: they have no such type
    others: tuple  # names elsewhere


TYPES = {
    entry.name: entry
    for entry in [
        Type("bf16", _api.GM_BF16, 2, (4, 16), None, ("bfloat16",)),
        Type("fp16", _api.GM_FP16, 2, (2, 16), "<f2", ("float16", "half")),
        Type("fp32", _api.GM_FP32, 4, (2, 32), "<f4", ("float32", "float")),
        Type("e4m3", _api.GM_E4M3, 1, (10, 8), None, ("float8_e4m3fn",)),
        Type("e5m2", _api.GM_E5M2, 1, (12, 8), None, ("float8_e5m2",)),
        Type("int8", _api.GM_INT8, 1, (0, 8), "|i1", ()),
        Type("uint8", _api.GM_UINT8, 1, (1, 8), "|u1", ()),
        Type("int32", _api.GM_INT32, 4, (0, 32), "<i4", ()),
        Type("int64", _api.GM_INT64, 8, (0, 64), "<i8", ()),
    ]
}
BY_NAME = {name: entry for entry in TYPES.values() for name in (entry.name, *entry.others)}
BY_DLPACK = {entry.dlpack: entry for entry in TYPES.values()}
BY_TYPESTR = {entry.typestr: entry for entry in TYPES.values() if entry.typestr}
BY_GM = {entry.gm: entry for entry in TYPES.values()}


def type_of(dtype):
    """The Type of a name ("bf16", "bfloat16"), of a dtype of numpy, ml_dtypes or torch, or of api.gm_type."""
    if isinstance(dtype, Type):
        return dtype
    if isinstance(dtype, _api.gm_type):
        return BY_GM[dtype]
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    entry = BY_NAME.get(name.replace("torch.", ""))
    if entry is None:
        raise TypeError(f"there is no element type {name}; there are {', '.join(TYPES)}")
    return entry


# ---- numbers and bytes ----------------------------------------------------------------------------------------------

FORMATS = {"fp16": "e", "fp32": "f", "int8": "b", "uint8": "B", "int32": "i", "int64": "q"}


def encode(values, kind):
    """Numbers as little-endian bytes, rounded to the nearest even; 8-bit floats saturate, others become infinite."""
    if kind.name == "bf16":
        return struct.pack(f"<{len(values)}H", *map(bf16_of, values))
    if kind.name in FORMATS_OF_8:
        return bytes(float8_of(value, kind.name) for value in values)
    letter = FORMATS[kind.name]
    try:
        return struct.pack(f"<{len(values)}{letter}", *values)
    except OverflowError:  # a float beyond its type
        return b"".join(pack_float(value, letter) for value in values)
    except struct.error as error:
        raise ValueError(f"{kind.name} does not hold these numbers: {error}") from None


def decode(data, kind):
    """The way back, exactly."""
    if kind.name == "bf16":
        return [fp32_of(word << 16) for (word,) in struct.iter_unpack("<H", data)]
    if kind.name in FORMATS_OF_8:
        table = float8_values(kind.name)
        return [table[byte] for byte in data]
    return [value for (value,) in struct.iter_unpack("<" + FORMATS[kind.name], data)]


def pack_float(value, letter):
    try:
        return struct.pack("<" + letter, value)
    except OverflowError:
        return struct.pack("<" + letter, math.copysign(math.inf, value))


def fp32_of(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def bf16_of(value):
    (bits,) = struct.unpack("<I", pack_float(value, "f"))
    if value != value:
        return bits >> 16 | 0x40
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


FORMATS_OF_8 = {"e4m3": (3, 7), "e5m2": (2, 15)}  # mantissa bits, bias of the exponent


def float8_values(name):
    """The 256 values of an 8-bit float, by its byte."""
    mantissa_bits, bias = FORMATS_OF_8[name]
    values = []
    for byte in range(256):
        exponent, mantissa = byte >> mantissa_bits & (127 >> mantissa_bits), byte & ((1 << mantissa_bits) - 1)
        scale = 2.0 ** (max(exponent, 1) - bias - mantissa_bits)
        value = ((1 << mantissa_bits if exponent else 0) + mantissa) * scale
        if name == "e4m3" and byte & 127 == 127:
            value = math.nan
        if name == "e5m2" and exponent == 31:
            value = math.nan if mantissa else math.inf
        values.append(-value if byte & 128 else value)
    return values


def float8_of(value, name):
    sign = 128 if math.copysign(1, value) < 0 else 0
    if value != value:
        return sign | 127
    finite = [v for v in float8_values(name)[:128] if v == v and v != math.inf]
    size = abs(value)
    if name == "e5m2" and size == math.inf:
        return sign | 124
    at = bisect.bisect_left(finite, size)
    if at == len(finite):
        return sign | at - 1
    if at > 0:
        below, above = size - finite[at - 1], finite[at] - size
        if below < above or (below == above and at % 2):
            at -= 1
    return sign | at
