# SPDX-License-Identifier: Apache-2.0
"""What all structs of the C interface share."""

import ctypes


class Struct(ctypes.Structure):
    """A struct of the C interface: made with its `size` set and everything else 0, the default, or as named.

    A name that is no member is an AttributeError, in the constructor and later.
    """

    __slots__ = ()

    def __init__(self, **members):
        super().__init__()
        set_sizes(self)
        for name, value in members.items():
            if not hasattr(type(self), name):
                raise AttributeError(f"{type(self).__name__} has no member {name}")
            setattr(self, name, value)

    def __repr__(self):
        shown = ((name, getattr(self, name)) for name, *_ in self._fields_ if name != "size")
        return f"{type(self).__name__}({', '.join(f'{name}={plain(value)!r}' for name, value in shown if value)})"


def set_sizes(struct):
    """Sets `size` of the struct and of the structs within."""
    for name, kind in struct._fields_:
        if name == "size":
            struct.size = ctypes.sizeof(struct)
        elif issubclass(kind, Struct):
            set_sizes(getattr(struct, name))


def plain(value):
    return list(value) if isinstance(value, ctypes.Array) else value


def array_of(kind, count):
    """`count` structs one behind the other, each with its size."""
    array = (kind * count)()
    for element in array:
        set_sizes(element)
    return array
