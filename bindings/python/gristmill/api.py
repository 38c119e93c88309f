# SPDX-License-Identifier: Apache-2.0
"""The C interface of the library, name by name: api.gm_rms_norm_problem, api.GM_BF16, api.gm_version().

What a struct, a member or a function means stands in the headers under include/gristmill/. Here,

  - a struct is made with its `size` set and everything else 0, or as named: gm_gemm_problem(m=64, n=64, k=64). A name
    that is no member is an AttributeError;
  - a function whose status is not GM_OK raises gristmill.Error;
  - a struct may stand where C has a pointer to it, None where C has NULL; text is bytes;
  - a device pointer is a number: the `ptr` of a gristmill.Array.

gristmill.Plan makes and executes plans of every operation, so that few need the functions:

    problem = api.gm_rms_norm_problem(rows=4, columns=256, type=api.GM_BF16, eps=1e-5)
    plan = gristmill.Plan(problem)
    plan.execute(x=x, weight=weight, out=out)          # gristmill.Array, or any array on the device
"""

from . import _library
from ._api import *  # noqa: F401,F403
from ._api import FUNCTIONS
from ._struct import array_of  # noqa: F401


def __getattr__(name):
    if name not in FUNCTIONS:
        raise AttributeError(f"the C interface has no {name}")
    function = globals()[name] = getattr(_library.load(), name)
    return function


def __dir__():
    return sorted([*globals(), *FUNCTIONS])
