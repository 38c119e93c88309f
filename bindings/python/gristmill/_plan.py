# SPDX-License-Identifier: Apache-2.0
"""Plans of any operation: a problem on a device, with the kernel that was chosen for it."""

import ctypes
import weakref
from ctypes import POINTER

from . import _api, _array, _driver, _library


def operation_of(problem):
    """ "rms_norm" of a gm_rms_norm_problem."""
    name = type(problem).__name__
    if not name.startswith("gm_") or not name.endswith("_problem"):
        raise TypeError(f"a problem is a struct such as api.gm_gemm_problem, not {name}")
    return name[len("gm_") : -len("_problem")]


def options_of(kernel=None, workspace_limit=0, **members):
    """struct gm_plan_options; its members by their names."""
    if kernel is not None:
        members["kernel"] = kernel.encode() if isinstance(kernel, str) else kernel
    return _api.gm_plan_options(workspace_limit=workspace_limit, **members)


def kernel_info(index):
    """api.gm_kernel_info of a row of the table."""
    info = _api.gm_kernel_info()
    _library.load().gm_kernel_get(index, info)
    return info


class Plan:
    """A problem, planned on a device: Plan(api.gm_rms_norm_problem(rows=4, columns=256, eps=1e-5)).

    problem    a struct gm_x_problem of any operation x; its header says what it means
    device     the number of the CUDA device
    options    members of struct gm_plan_options (gristmill/core.h): kernel="...", flags=api.GM_PLAN_CONSTANT_B,
               workspace_limit=..., sm_budget=...

    Make it once for a problem and keep it. Any number of threads and streams may execute it at once.
    gristmill.Error: no kernel takes the problem, or the problem is none; the sentence says why.
    """

    def __init__(self, problem, *, device=0, **options):
        self.operation, self.device = operation_of(problem), device
        library, handle = _library.load(), POINTER(_api.gm_plan)()
        create = getattr(library, f"gm_{self.operation}_plan_create")
        create(_driver.context(device).gm, problem, options_of(**options), handle)
        self.handle = handle
        self._execute = getattr(library, f"gm_{self.operation}_execute")
        self._args = getattr(_api, f"gm_{self.operation}_args")
        self._kinds = dict(self._args._fields_)
        weakref.finalize(self, library.gm_plan_destroy, handle).atexit = False

    def execute(self, *, stream=None, **args):
        """Launches on `stream` (a number, or a stream of torch, CuPy or CUDA Python; None: the default) and returns.

        `args` are the members of the operation's struct gm_x_args. A member that is a device pointer may be a number,
        a gristmill.Array, or any array on the device; a pointer to a number on the host may be a number. `workspace`
        may be an array too: its bytes follow. The arrays must live until the stream is done with them.
        """
        stream = _driver.stream_handle(stream)
        members, used = {}, []
        for name, value in args.items():
            kind = self._kinds.get(name)
            if kind is _api.gm_device_ptr and _array.on_device(value):
                array = _array.view(value, stream)
                used.append(array)
                members[name] = array.ptr
                if name == "workspace":
                    members["workspace_bytes"] = array.nbytes
            elif kind is POINTER(ctypes.c_float) and isinstance(value, (int, float)):
                members[name] = ctypes.pointer(ctypes.c_float(value))
            else:
                members[name] = value
        self._execute(self.handle, self._args(**members), stream or None)
        for array in used:
            array.memory.stream = stream

    @property
    def kernel(self):
        """The name of the kernel that was chosen."""
        return kernel_info(_library.load().gm_plan_kernel(self.handle)).name.decode()

    @property
    def workspace_bytes(self):
        return _library.load().gm_plan_workspace_bytes(self.handle)

    @property
    def predicted_us(self):
        """Microseconds that the planner's model predicts."""
        return _library.load().gm_plan_predicted_us(self.handle)

    def __repr__(self):
        return f"gristmill.Plan({self.operation}, {self.kernel}, {self.predicted_us:.1f} us predicted)"


def candidates_of(device, problem, options):
    """[api.gm_candidate], one for every kernel of the problem's operation."""
    explain = getattr(_library.load(), f"gm_{operation_of(problem)}_explain")
    count = ctypes.c_size_t()
    capacity = _library.load().gm_kernel_count()
    found = (_api.gm_candidate * capacity)()
    explain(device.facts, problem, options, found, capacity, count)
    return found[: count.value]
