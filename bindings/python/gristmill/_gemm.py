# SPDX-License-Identifier: Apache-2.0
"""gemm(): matrix multiplication of arrays, on the host or on a device, with plans that are kept; pack(): its weights."""

import collections
import ctypes
import math
import threading

from . import _api, _array, _dlpack, _driver, _library, _types
from ._plan import Plan

ACTIVATIONS = {
    None: _api.GM_ACT_NONE,
    "relu": _api.GM_ACT_RELU,
    "gelu_tanh": _api.GM_ACT_GELU_TANH,
    "gelu_erf": _api.GM_ACT_GELU_ERF,
    "silu": _api.GM_ACT_SILU,
}
SCALE_FORMATS = {"fp32": _api.GM_SCALE_FP32, "uint8": _api.GM_SCALE_E8M0}  # of each 128 of k
OWN = {"int8": "int32", "e4m3": "bf16", "e5m2": "bf16"}  # types of results where that is not the operands'
PRECISIONS = {None: None, "tf32": _api.GM_TF32, "tf32x3": _api.GM_TF32X3}
OPERANDS = {"out": "d", "out_scale": "d_scales"}
PLANS_MAX = 512


def gemm(
    a,
    b,
    c=None,
    *,
    alpha=1.0,
    beta=None,
    bias=None,
    activation=None,
    ab_type=None,
    out_type=None,
    out=None,
    stream=None,
    device=0,
    workspace=None,
    kernel=None,
    batch_invariant=False,
    constant_b=False,
    precision=None,
    a_scales=None,
    b_scales=None,
    a_zeros=None,
    b_sums=None,
    residual=None,
    out_scale=None,
    fast_accumulation=False,
):
    """out = activation(alpha * a @ b + beta * c + bias) + residual, with sums in fp32 and one rounding at the end.

    a             m x k, bf16, fp16, fp32, e4m3 or int8, either dimension contiguous, any distance of rows (or columns)
    b             k x n, the same type and freedom: weights stored n x k are w.T. One of a and b may be e5m2 where the other
                  is e4m3
    c             m x n, row-major, of the type of out; beta is 1 where c is given and nothing else is said. On a device it
                  may also be bf16, fp16 or fp32 beside an out of another type, where a has not fp32
    bias          n values, or m x 1: bf16, fp16 or fp32
    activation    "relu", "gelu_tanh", "gelu_erf", "silu"
    residual      m x n, row-major: bf16, fp16 or fp32; it may be out. Of a with 16 bits, fp8, or int8 with scales
    out_type      "bf16", "fp16", "fp32" (of fp32 a and b nothing else), or "e4m3", "e5m2", "int8" with an out_scale; None:
                  the type of a, before any rounding by ab_type; of fp8 bf16
    out_scale     fp32, one value: an out of 8 bits is round(... / out_scale). Of a as a residual is
    out           where the result goes, m x n or batch x m x n, row-major, may be c; None: a new array

    A batch is one launch: of a batch x m x k, b batch x k x n, or both, the result is batch x m x n. What has two
    dimensions, or is a batch of 1, is one for all. Matrices may be any distance apart, beside each other too; w.mT has
    each of them the other way round. c may be a batch as well, and a bias batch x n, batch x 1 x n, or batch x m x 1.

    Arrays of numpy are copied to `device` and the result back. `ab_type` ("bf16", "fp16") rounds a and b on the way,
    which makes float32 fast. A result of bf16 is of ml_dtypes if a is, else float32, which holds it exactly. numpy
    arrays take no `out`, `stream` or `workspace`.

    Arrays on a device (gristmill.Array, and whatever has __dlpack__ or __cuda_array_interface__: torch, CuPy, JAX) are
    used where they are. The call launches on `stream` (a number, or a stream of torch, CuPy or CUDA Python; None: the
    default stream) and returns a gristmill.Array, or `out`, before the result is there.

    workspace          an array on the device: with it, few tiles of a long k may be divided among all SMs (32 MiB are
                       enough for any division on up to 132 SMs); of one execution at a time
    kernel             a row of the table by name
    batch_invariant    a row of the result has the same bits whatever m is
    constant_b         b is constant: it may be loaded while the kernel before on the stream still runs
    precision          of fp32 a and b, by the tensor cores: "tf32" rounds them to 10 bits of mantissa, "tf32x3" makes
                       three such products of each, with fp32's error; None: fp32 throughout

    Of int8 a and b the result is int32, their exact product; or with out_type bf16, fp16 or fp32
    (a @ b - a_zeros * b_sums) * a_scales * b_scales, where

    a_scales, b_scales  fp32, one value, or m and n of them; of a and b of fp8 and of 16 bits as well. Of e4m3 alone also
                        one for each 128 of k: of shape m x ceil(k / 128) and ceil(k / 128) x n, or ceil(m / 128) and
                        ceil(n / 128) for one of each 128 rows; these are fp32, or uint8, which is ue8m0: the exponent plus
                        127, in rows (or columns) that begin on multiples of 4
    a_zeros, b_sums     int32, m and n of them: zeros of a's rows, and the sums of b's columns

    fast_accumulation  of fp8: sums may stay in the tensor cores, which is faster and much less exact

    The plan is kept for the next call of the same sizes, types, strides and options, up to 512 of them.
    ValueError, TypeError: shapes, strides or types that do not fit, with the numbers. gristmill.Error: the library or
    the driver refuses, with the sentence.
    """
    arrays = {"a": a, "b": b, "c": c, "bias": bias, "out": out}
    arrays |= {"a_scales": a_scales, "b_scales": b_scales, "a_zeros": a_zeros, "b_sums": b_sums}
    arrays |= {"residual": residual, "out_scale": out_scale}
    given = {name: value for name, value in arrays.items() if value is not None}
    if beta is None:
        beta = 0.0 if c is None else 1.0
    if beta != 0 and c is None:
        raise ValueError(f"beta is {beta}, but there is no c")
    choices = {"kernel": kernel, "flags": _flags(batch_invariant, constant_b)}
    types = (out_type, precision, fast_accumulation)
    scalars = {"alpha": alpha, "beta": beta}
    places = {name: _array.on_device(value) for name, value in given.items()}
    if all(places.values()):
        if ab_type is not None:
            raise ValueError("ab_type is of arrays on the host; those on a device are used as they are")
        return _on_device(given, scalars, activation, types, stream, workspace, choices)
    if any(places.values()):
        here = [name for name, is_there in places.items() if not is_there]
        raise ValueError(f"{' and '.join(here)} not on the device, but the others are: gristmill.array() copies")
    if out is not None or stream is not None or workspace is not None:
        raise ValueError("out, stream and workspace are of arrays on a device")
    return _on_host(given, scalars, activation, ab_type, types, device, choices)


def pack(b, *, precision=None, stream=None):
    """b, k x n on a device, copied into the layout that gemm() loads fastest; b itself where it has that already.

    For weights that many calls read and whose rows do not begin on multiples of 16 bytes, of bf16 and fp16 in either order;
    of int8, and of fp32 with the `precision` that gemm() gets, also for those that lie as k x n in memory, which the tensor
    cores do not take. A batch is b too. Of an a: pack(a.mT).mT. `stream` as of gemm().
    """
    stream = _driver.stream_handle(stream)
    given = _array.view(b, stream)
    problem = _problem_of_b(given, precision)
    packed, bytes_ = _api.gm_gemm_problem(), ctypes.c_size_t()
    library = _library.load()
    library.gm_gemm_packed(problem, _api.GM_GEMM_B, packed, bytes_)
    if bytes_.value == 0:
        return b
    made = _array.Array(bytes_.value // _types.TYPES[given.dtype].bytes, given.dtype, given.device)
    context = _driver.context(given.device).gm
    library.gm_gemm_pack(context, problem, _api.GM_GEMM_B, given.ptr, made.ptr, stream or None)
    made.memory.stream = given.memory.stream = stream
    steps = (1, packed.ldb) if packed.b_major == _api.GM_K_MAJOR else (packed.ldb, 1)
    return made._view(given.shape, (packed.b_batch_stride, *steps)[-given.ndim :])


def _problem_of_b(b, precision):
    """A problem whose B it is: of one row."""
    if b.ndim not in (2, 3):
        raise ValueError(f"b has {b.ndim} dimensions, {b.shape}; gemm takes two, or three of a batch")
    k = b.shape[-2]
    a = b._view((1, k), (k, 1))  # nothing is read of it
    a.dtype = "e4m3" if b.dtype == "e5m2" else b.dtype
    return _problem({"a": a, "b": b}, None, (None, precision, False))[0]


def _flags(batch_invariant, constant_b):
    return (_api.GM_PLAN_BATCH_INVARIANT if batch_invariant else 0) | (_api.GM_PLAN_CONSTANT_B if constant_b else 0)


# ---- on the host ----------------------------------------------------------------------------------------------------


def _on_host(given, scalars, activation, ab_type, types, device, choices):
    for name, value in given.items():
        if not hasattr(value, "__array_interface__"):
            raise TypeError(
                f"{name} is a {type(value).__name__}: neither a numpy array nor one on a device. "
                "gristmill.array() makes one of lists"
            )
    a, (out_type, *others) = given["a"], types
    own = OWN.get(_types.type_of(a.dtype).name, a.dtype)
    out_kind = _types.type_of(own if out_type is None else out_type)
    kinds = {"a": ab_type, "b": ab_type, "c": out_kind if out_kind.bytes > 1 else None}
    there = {name: _upload(value, kinds.get(name), device) for name, value in given.items()}
    found = _on_device(there, scalars, activation, (out_kind, *others), None, None, choices)
    return found.numpy(a.dtype if a.dtype.name == "bfloat16" and out_kind.name == "bf16" else None)


def _upload(value, kind, device):
    """A copy on the device. What lies the other way round stays so: the kernels take both."""
    if value.ndim in (2, 3) and not value.flags.c_contiguous and value.swapaxes(-1, -2).flags.c_contiguous:
        return _array.array(value.swapaxes(-1, -2), kind, device).mT
    return _array.array(value, kind, device)


# ---- on a device ----------------------------------------------------------------------------------------------------


def _on_device(given, scalars, activation, types, stream, workspace, choices):
    stream = _driver.stream_handle(stream)
    arrays = {name: _array.view(value, stream) for name, value in given.items()}
    room = {} if workspace is None else {"workspace": _array.view(workspace, stream)}
    plan, shape, dtype = _planned(arrays, activation, types, room["workspace"].nbytes if room else 0, choices)
    if "out" not in arrays:
        arrays["out"] = _array.Array(shape, dtype, plan.device)
    operands = {OPERANDS.get(name, name): array for name, array in arrays.items()}
    plan.execute(stream=stream, **operands, **room, **scalars)
    return given.get("out", arrays["out"])


def _problem(arrays, activation, types):
    """(problem, shape of the result)"""
    out_type, precision, fast_accumulation = types
    for name in ("a", "b"):
        if arrays[name].ndim not in (2, 3):
            shape = arrays[name].shape
            raise ValueError(f"{name} has {len(shape)} dimensions, {shape}; gemm takes two, or three of a batch")
    a, b = _matrix(arrays["a"]), _matrix(arrays["b"])
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"a is {a.shape[0]} x {a.shape[1]} and b {b.shape[0]} x {b.shape[1]}: their k differs")
    is_pair = {a.dtype, b.dtype} == {"e4m3", "e5m2"}
    if not is_pair and (a.dtype != b.dtype or a.dtype not in ("bf16", "fp16", "fp32", "e4m3", "int8")):
        raise TypeError(
            f"a is {a.dtype} and b {b.dtype}: both must be bf16, fp16, fp32, e4m3 or int8, or one e4m3 and the other e5m2; "
            "ab_type rounds arrays on the host"
        )
    if precision not in PRECISIONS:
        raise ValueError(f"there is no precision {precision!r}; there are {', '.join(filter(None, PRECISIONS))}")
    if precision and a.dtype != "fp32":
        raise TypeError(f"{precision} is of fp32 a and b; they are {a.dtype}")
    if activation not in ACTIVATIONS:
        raise ValueError(f"there is no activation {activation!r}; there are {', '.join(filter(None, ACTIVATIONS))}")
    own = OWN.get(a.dtype, a.dtype)
    kind = _types.type_of(out_type or (arrays["out"].dtype if "out" in arrays else own))
    problem = _api.gm_gemm_problem(
        m=a.shape[0],
        n=b.shape[1],
        k=a.shape[1],
        ab_type=PRECISIONS[precision] if precision else _types.TYPES[a.dtype].gm,
        d_type=kind.gm,
        activation=ACTIVATIONS[activation],
        fast_accumulation=bool(fast_accumulation),
        has_b_type=is_pair,
        b_type=_types.TYPES[b.dtype].gm if is_pair else 0,
    )
    problem.a_major, problem.lda = _major("a", a)
    problem.b_major, problem.ldb = _major("b", b.T)  # along k, as a
    problem.a_align, problem.b_align, problem.d_align = _alignment(a), _alignment(b), 16
    shape = _batch(problem, arrays)
    for name, letter, taken in (("c", "c", _type_of_c(arrays, kind)), ("out", "d", kind.name)):
        if name in arrays:
            setattr(problem, "ld" + letter, _result(name, arrays[name], shape, taken))
            setattr(problem, letter + "_batch_stride", _batch_stride(name, arrays[name]))
    _extension(problem, arrays, shape, kind)
    if "c" not in arrays:  # as d lies: the library may then plan a batch as one product
        problem.ldc, problem.c_batch_stride = problem.ldd, problem.d_batch_stride
    if "out" in arrays:
        problem.d_align = min(_alignment(arrays[name]) for name in ("out", "c") if name in arrays)
    elif "c" in arrays:
        problem.d_align = _alignment(arrays["c"])
    if "bias" in arrays:
        _bias(problem, arrays["bias"], shape)
    _scaling(problem, arrays)
    if 0 in shape:  # 0 matrices too, which a problem has no number for
        problem.m = 0
    return problem, shape


def _matrix(array):
    """The first matrix of a batch, or the only one."""
    return array._view(array.shape[-2:], array.strides[-2:])


def _batch(problem, arrays):
    """Sets the problem's batch and the strides of a, b and a new result; the shape of the result."""
    counts = [arrays[name].shape[0] for name in ("a", "b") if arrays[name].ndim == 3]
    if not counts:
        return problem.m, problem.n
    if len({*counts} - {1}) > 1:
        raise ValueError(f"a has {counts[0]} matrices and b {counts[1]}: there must be as many, or one for all")
    problem.batch = max({*counts} - {1}, default=1)
    problem.a_batch_stride, problem.b_batch_stride = (_batch_stride(name, arrays[name]) for name in ("a", "b"))
    problem.d_batch_stride = problem.m * problem.n
    return problem.batch, problem.m, problem.n


def _batch_stride(name, array):
    """From a matrix of a batch to the next; 0: it is one for all."""
    if array.ndim == 2 or array.shape[0] <= 1:
        return 0
    return _step(name, array)


def _step(name, array):
    if array.strides[0] < 0:
        raise ValueError(f"{name} has strides {array.strides}: a batch must lie in its order")
    return array.strides[0]


def _major(name, array):
    """(api.gm_major, leading dimension) of an operand as rows x k."""
    (rows, k), (row_stride, k_stride) = array.shape, array.strides
    if (k <= 1 or k_stride == 1) and (rows <= 1 or row_stride >= k):
        return _api.GM_K_MAJOR, row_stride if rows > 1 else k
    if (rows <= 1 or row_stride == 1) and (k <= 1 or k_stride >= rows):
        return _api.GM_MN_MAJOR, k_stride if k > 1 else rows
    strides = array.strides if name == "a" else array.strides[::-1]
    raise ValueError(f"{name} has strides {strides}: one dimension must be contiguous, and the other not overlap")


def _result(name, array, shape, kind):
    """The leading dimension of c or out."""
    one_for_all = [shape[1:], (1, *shape[1:])] if name == "c" and len(shape) == 3 else []
    if array.shape not in (shape, *one_for_all):
        raise ValueError(f"{name} has shape {array.shape}, the result {shape}")
    if array.dtype != kind:
        raise TypeError(f"{name} is {array.dtype}, the result {kind}")
    major, leading = _major("a", _matrix(array))
    if major != _api.GM_K_MAJOR:
        raise ValueError(f"{name} has strides {array.strides}: it must be row-major")
    return leading


def _type_of_c(arrays, kind):
    """Its own, where the library takes one beside this type of the result; else the result's."""
    own = arrays["c"].dtype if "c" in arrays else kind.name
    is_free = arrays["a"].dtype != "fp32" and kind.name != "int32" and own in ("bf16", "fp16", "fp32")
    return own if is_free else kind.name


def _extension(problem, arrays, shape, kind):
    """C's type, the residual, and the scale of a result of 8 bits."""
    if "c" in arrays and arrays["c"].dtype != kind.name:
        problem.has_c_type, problem.c_type = 1, _types.TYPES[arrays["c"].dtype].gm
    if "residual" in arrays:
        residual = arrays["residual"]
        problem.residual, problem.residual_type = 1, _types.TYPES[residual.dtype].gm
        problem.ldr = _result("residual", residual, shape, residual.dtype)
    if (kind.bytes == 1) != ("out_scale" in arrays):
        raise ValueError(f"the result is {kind.name}: an out_scale is of e4m3, e5m2 and int8, which need one")
    if "out_scale" in arrays:
        _vector("out_scale", arrays["out_scale"], "fp32", (1,))


def _scaling(problem, arrays):
    """The scales and zeros of A and B."""
    for name, count in (("a_scales", problem.m), ("b_scales", problem.n)):
        if name in arrays and _has_sums(arrays[name], name, problem.k):
            _sum_scales(problem, name, arrays[name], count)
        elif name in arrays:
            one = _vector(name, arrays[name], "fp32", (1, count)) == 1
            setattr(problem, name, _api.GM_PER_TENSOR if one else _api.GM_PER_ROW)
    if ("a_zeros" in arrays) != ("b_sums" in arrays):
        raise ValueError("a_zeros and b_sums go together")
    if "a_zeros" in arrays:
        _vector("a_zeros", arrays["a_zeros"], "int32", (problem.m,))
        _vector("b_sums", arrays["b_sums"], "int32", (problem.n,))
        problem.zero_points = 1


def _along_k(values, name):
    """(of rows, of K): what shape and strides say of a's scales, and of b's, which lie as b does."""
    return tuple(values) if name == "a_scales" else tuple(reversed(values))


def _has_sums(array, name, k):
    """Whether there are scales of each 128 of K. Where K has no more, scales of rows say the same."""
    return len(array.shape) == 2 and k > 128 and _along_k(array.shape, name)[1] == -(-k // 128)


def _sum_scales(problem, name, array, rows):
    """Scales of each 128 of K, of each row or of 128 rows, either of which may be contiguous."""
    lines, sums = _along_k(array.shape, name)
    of_line, of_sum = _along_k(array.strides, name)
    if array.dtype not in SCALE_FORMATS or lines not in (rows, -(-rows // 128)) or 1 not in (of_line, of_sum):
        raise ValueError(
            f"{name} is {array.dtype} of shape {array.shape} and strides {array.strides}; scales of each 128 of k are fp32 or "
            f"uint8 (ue8m0), contiguous along one dimension, of {rows} or {-(-rows // 128)} rows and {sums}"
        )
    order, stride = (_api.GM_SCALES_BY_ROW, of_line) if of_sum == 1 else (_api.GM_SCALES_BY_COLUMN, of_sum)
    setattr(problem, name, _api.GM_PER_GROUP if lines == rows else _api.GM_PER_BLOCK)
    setattr(problem, name[:-1] + "_order", order)
    setattr(problem, name[:-1] + "_format", SCALE_FORMATS[array.dtype])
    setattr(problem, name + "_stride", stride if (lines if of_sum == 1 else sums) > 1 else 0)


def _vector(name, array, kind, counts):
    """The number of values of a packed vector, which is one of `counts`."""
    count = math.prod(array.shape)
    if array.dtype != kind or count not in counts or array.strides != _dlpack.packed(array.shape):
        raise ValueError(f"{name} is {array.dtype} of shape {array.shape}; it must be packed {kind}, {counts[-1]} values")
    return count


def _bias(problem, bias, shape):
    shapes = _bias_shapes(*shape)
    one_for_all = _bias_shapes(1, *shape[1:]) if len(shape) == 3 else {}
    along, is_batch = {**one_for_all, **shapes}.get(bias.shape, (None, False))
    if along is None or (bias.shape[along] > 1 and bias.strides[along] != 1):
        forms = [str(form) for form in shapes]
        raise ValueError(
            f"bias has shape {bias.shape} and strides {bias.strides}; it must be packed, "
            f"{', '.join(forms[:-1])} or {forms[-1]}"
        )
    problem.bias_type = _types.TYPES[bias.dtype].gm
    problem.bias = _api.GM_BIAS_N if along == -1 else _api.GM_BIAS_M
    problem.bias_batch_stride = _step("bias", bias) if is_batch else 0


def _bias_shapes(*shape):
    """Of a bias for such a result: where its values are, -1 along n and -2 along m, and whether it is a batch. What has
    two meanings has the first."""
    *batch, m, n = shape
    shapes = {(n,): (-1, False), (m, 1): (-2, False)}
    for count in batch:
        for form, along in (((count, n), -1), ((count, 1, n), -1), ((count, m, 1), -2)):
            shapes.setdefault(form, (along, count > 1))
    return shapes


def _alignment(array):
    """Of the pointer, as far as the planner asks: 16, 8, 4, 2."""
    return min(array.ptr & -array.ptr, 16) or 16


# ---- plans that are kept --------------------------------------------------------------------------------------------

plans = collections.OrderedDict()
lock = threading.Lock()


def _planned(arrays, activation, types, workspace_limit, choices):
    """(Plan, shape and type of the result) for arrays like these: of the calls before, or made and kept."""
    facts = ((name, x.shape, x.strides, x.dtype, x.device, _alignment(x)) for name, x in arrays.items())
    key = (*facts, activation, *types, workspace_limit, *choices.values())
    with lock:
        if key in plans:
            plans.move_to_end(key)
            return plans[key]
    ordinal = arrays["a"].device
    for name, array in arrays.items():
        if array.device != ordinal:
            raise ValueError(f"a is on device {ordinal}, {name} on {array.device}")
    problem, shape = _problem(arrays, activation, types)
    plan = Plan(problem, device=ordinal, workspace_limit=workspace_limit, **choices)
    made = plan, shape, _types.BY_GM[problem.d_type].name
    with lock:
        plans[key] = made
        while len(plans) > PLANS_MAX:
            plans.popitem(last=False)
    return made
