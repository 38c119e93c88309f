# SPDX-License-Identifier: Apache-2.0
"""Finds and loads libgristmill, gives its functions their types, and makes exceptions of its statuses."""

import ctypes
import functools
import os
import pathlib

from . import _api

SONAME = f"libgristmill.so.{_api.GM_VERSION_MAJOR}.{_api.GM_VERSION_MINOR}"
BESIDE = pathlib.Path(__file__).resolve().parent / "lib"  # where a wheel has it


class Error(RuntimeError):
    """A call of the library, or of the CUDA driver, that failed: nothing was launched, no output was written.

    status      of api.gm_status, or a number that is newer than these bindings
    name        "GM_ERROR_NO_KERNEL"
    sentence    what is wrong, with the numbers
    """

    def __init__(self, status, name, sentence):
        super().__init__(f"{name}: {sentence}")
        self.status, self.name, self.sentence = status, name, sentence


def path():
    """What is loaded: the environment's GRISTMILL_LIBRARY, else the wheel's library, else what the loader finds."""
    named = os.environ.get("GRISTMILL_LIBRARY")
    if named:
        return named
    return str(BESIDE / SONAME) if (BESIDE / SONAME).exists() else SONAME


@functools.lru_cache(None)
def load():
    """The library, loaded once, as a ctypes.CDLL whose functions have their types."""
    try:
        library = ctypes.CDLL(path())
    except OSError as error:
        raise ImportError(
            f"there is no libgristmill: {error}. Install the wheel, set GRISTMILL_LIBRARY to {SONAME}, or put "
            "it where the loader looks (LD_LIBRARY_PATH)"
        ) from None
    library.gm_version.restype = ctypes.c_int
    version = library.gm_version()
    if version // 100 != _api.GM_VERSION // 100:
        raise ImportError(
            f"{path()} is of version {version // 10000}.{version // 100 % 100}; these bindings are for "
            f"{_api.GM_VERSION_MAJOR}.{_api.GM_VERSION_MINOR}"
        )
    for name, (result, parameters) in _api.FUNCTIONS.items():
        function = getattr(library, name, None)
        if function is None:  # a library of an earlier patch
            continue
        function.argtypes = parameters
        function.restype = ctypes.c_uint if result is _api.gm_status else result
        if result is _api.gm_status:
            function.errcheck = check
    return library


def check(status, function, arguments):
    """ctypes calls it with what a function returned: an Error where that is one."""
    if status == _api.GM_OK:
        return _api.GM_OK
    library = load()
    name = library.gm_status_name(status).decode()
    sentence = library.gm_last_error().decode(errors="replace") or library.gm_status_string(status).decode()
    known = status in _api.gm_status._value2member_map_
    raise Error(_api.gm_status(status) if known else status, name, sentence)
