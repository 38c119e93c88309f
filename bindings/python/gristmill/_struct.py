# SPDX-License-Identifier: Apache-2.0
"""What all structs of the C interface share."""

import ctypes
import functools


class Struct(ctypes.Structure):
    """A struct of the C interface: made with its `size` set and everything else 0, the default, or as named.

    A name that is no member is an AttributeError, in the constructor and later.
    """

    __slots__ = ()

    def __init__(self, **members):
        super().__init__()
        clear(self)
        for name, value in members.items():
            if not hasattr(type(self), name):
                raise AttributeError(f"{type(self).__name__} has no member {name}")
            setattr(self, name, value)

    def __repr__(self):
        shown = ((name, getattr(self, name)) for name, *_ in self._fields_ if name != "size")
        return f"{type(self).__name__}({', '.join(f'{name}={plain(value)!r}' for name, value in shown if value)})"


def clear(struct):
    """Everything 0, but `size` of the struct and of the structs within."""
    ctypes.memmove(ctypes.addressof(struct), cleared(type(struct)), ctypes.sizeof(struct))


@functools.lru_cache(None)
def cleared(kind):
    """The bytes of such a struct."""
    image = bytearray(ctypes.sizeof(kind))
    for name, member in kind._fields_:
        at = getattr(kind, name).offset
        if name == "size":
            image[at : at + 8] = ctypes.sizeof(kind).to_bytes(8, "little")
        elif issubclass(member, Struct):
            image[at : at + ctypes.sizeof(member)] = cleared(member)
    return bytes(image)


def plain(value):
    return list(value) if isinstance(value, ctypes.Array) else value


def array_of(kind, count):
    """`count` structs one behind the other, each with its size."""
    array = (kind * count)()
    for element in array:
        clear(element)
    return array
