# SPDX-License-Identifier: Apache-2.0
"""Devices: those that are there, and the models of those that are not."""

import ctypes

from . import _api, _driver, _library


class Device:
    """What the planner knows of a device: the members of `struct gm_device` (gristmill/core.h) by their names, such as
    sm_count, cc_major, l2_bytes, dram_gbs. `facts` is the struct."""

    def __init__(self, facts):
        self.facts = facts

    @property
    def name(self):
        return self.facts.name.decode()

    def __getattr__(self, name):
        if name == "facts":
            raise AttributeError(name)
        return getattr(self.facts, name)

    def __repr__(self):
        return (
            f"{self.name}: compute capability {self.cc_major}.{self.cc_minor}, {self.sm_count} SMs, "
            f"{self.memory_bytes >> 30} GiB"
        )


def devices():
    """The CUDA devices of this machine, or the simulated one. gristmill.Error: there is no driver, or no device."""
    _driver.driver()
    count = ctypes.c_int()
    _library.load().gm_device_count(count)
    return [device(ordinal) for ordinal in range(count.value)]


def device(which):
    """A Device: by number the one that is there, by name the model of one: "a100", "h100", "h200", "a10", "rtx4090"."""
    if isinstance(which, Device):
        return which
    facts = which if isinstance(which, _api.gm_device) else _api.gm_device()
    if isinstance(which, str):
        _library.load().gm_device_model(which.encode(), facts)
    elif facts is not which:
        _driver.driver()
        _library.load().gm_device_query(int(which), facts)
    return Device(facts)
