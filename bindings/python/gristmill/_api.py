# SPDX-License-Identifier: Apache-2.0
"""The C interface as ctypes sees it. Written by tools/gen_bindings.py from include/gristmill/: edit those.

What a struct, a member or a function means stands in the header that is named above it.
"""
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_float, c_int, c_int32, c_int64,
                    c_size_t, c_uint, c_uint8, c_uint32, c_uint64, c_void_p)
from enum import IntEnum

from ._struct import Struct

# ---- core.h ---------------------------------------------------------------------------------------------------------

GM_VERSION_MAJOR = 0
GM_VERSION_MINOR = 2
GM_VERSION_PATCH = 0
GM_VERSION = 200
GM_ARGUMENT_SETS_MAX = 256
gm_device_ptr = c_uint64


class gm_status(IntEnum):
    GM_OK = 0
    GM_ERROR_INVALID_ARGUMENT = 1
    GM_ERROR_SIZE = 2
    GM_ERROR_MISALIGNED = 3
    GM_ERROR_OVERLAP = 4
    GM_ERROR_WORKSPACE = 5
    GM_ERROR_NO_KERNEL = 6
    GM_ERROR_UNKNOWN_KERNEL = 7
    GM_ERROR_WRONG_DEVICE = 8
    GM_ERROR_NO_DRIVER = 9
    GM_ERROR_NO_DEVICE = 10
    GM_ERROR_IMAGE = 11
    GM_ERROR_LAUNCH = 12
    GM_ERROR_OUT_OF_MEMORY = 13
    GM_ERROR_DRIVER = 14
    GM_ERROR_LEDGER = 15


class gm_log_level(IntEnum):
    GM_LOG_OFF = 0
    GM_LOG_ERROR = 1
    GM_LOG_INFO = 2
    GM_LOG_TRACE = 3


class gm_arch(IntEnum):
    GM_ARCH_SM80 = 1
    GM_ARCH_SM90 = 2


class gm_type(IntEnum):
    GM_BF16 = 0
    GM_FP16 = 1
    GM_FP32 = 2
    GM_E4M3 = 3
    GM_E5M2 = 4
    GM_INT8 = 5
    GM_UINT8 = 6
    GM_INT32 = 7
    GM_INT64 = 8
    GM_TF32 = 9
    GM_TF32X3 = 10


class gm_major(IntEnum):
    GM_K_MAJOR = 0
    GM_MN_MAJOR = 1


class gm_rounding(IntEnum):
    GM_ROUND_LATE = 0
    GM_ROUND_EARLY = 1


class gm_residual(IntEnum):
    GM_RESIDUAL_NONE = 0
    GM_RESIDUAL_BEFORE = 1
    GM_RESIDUAL_AFTER = 2
    GM_RESIDUAL_BETWEEN = 3


class gm_activation(IntEnum):
    GM_ACT_NONE = 0
    GM_ACT_RELU = 1
    GM_ACT_GELU_TANH = 2
    GM_ACT_GELU_ERF = 3
    GM_ACT_SILU = 4


class gm_plan_flags(IntEnum):
    GM_PLAN_MODEL_ONLY = 1
    GM_PLAN_PLAIN_LAUNCH = 2
    GM_PLAN_NO_OVERLAP = 4
    GM_PLAN_CONSTANT_B = 8
    GM_PLAN_BATCH_INVARIANT = 16


class gm_reason(IntEnum):
    GM_ACCEPTED = 0
    GM_REASON_MASKED = 1
    GM_REASON_NO_IMAGE = 2
    GM_REASON_TYPE = 3
    GM_REASON_LAYOUT = 4
    GM_REASON_SMEM = 5
    GM_REASON_STRIDE = 6
    GM_REASON_ALIGNMENT = 7
    GM_REASON_SIZE = 8
    GM_REASON_EMPTY_K = 9
    GM_REASON_NOT_PRODUCTION = 10
    GM_REASON_NOT_NAMED = 11
    GM_REASON_SMS = 12
    GM_REASON_ORDER = 13
    GM_REASON_DIVISION = 14
    GM_REASON_EPILOGUE = 15
    GM_REASON_BATCH = 16


class gm_source(IntEnum):
    GM_SOURCE_NONE = 0
    GM_SOURCE_MODEL = 1
    GM_SOURCE_LEDGER = 2
    GM_SOURCE_NEIGHBOURS = 3
    GM_SOURCE_NAME = 4


class gm_ledger(Structure):
    __slots__ = ()


class gm_context(Structure):
    __slots__ = ()


class gm_plan(Structure):
    __slots__ = ()


gm_log_fn = CFUNCTYPE(None, c_uint, c_char_p, c_void_p)


class gm_device(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char * 64),
        ("ordinal", c_int32),
        ("cc_major", c_int32),
        ("cc_minor", c_int32),
        ("sm_count", c_int32),
        ("smem_per_block_bytes", c_int32),
        ("smem_per_sm_bytes", c_int32),
        ("max_threads_per_sm", c_int32),
        ("sm_clock_mhz", c_int32),
        ("l2_bytes", c_int64),
        ("memory_bytes", c_int64),
        ("dram_gbs", c_double),
        ("tensor_tflops", c_double),
        ("driver_version", c_int32),
    ]


class gm_kernel_info(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("operation", c_char_p),
        ("family", c_char_p),
        ("arch", c_uint),
        ("production", c_int32),
        ("type", c_uint),
        ("threads", c_int32),
        ("smem_bytes", c_int32),
        ("cluster_ctas", c_int32),
        ("registers", c_int32),
        ("spill_bytes", c_int32),
        ("columns", c_char_p),
        ("targets", c_char_p),
        ("image_bytes", c_size_t),
    ]


class gm_ledger_info(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("device", c_char * 64),
        ("cc_major", c_int32),
        ("cc_minor", c_int32),
        ("sm_count", c_int32),
        ("entries", c_size_t),
    ]


class gm_plan_options(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("arch_mask", c_uint32),
        ("kernel", c_char_p),
        ("sm_budget", c_int32),
        ("flags", c_uint32),
        ("ledger", POINTER(gm_ledger)),
        ("workspace_limit", c_size_t),
        ("argument_sets", c_int32),
    ]


class gm_candidate(Struct):
    __slots__ = ()
    _fields_ = [
        ("kernel", c_int32),
        ("chosen", c_int32),
        ("reason", c_uint),
        ("predicted_us", c_double),
        ("sentence", c_char * 232),
        ("source", c_uint),
        ("measured_us", c_double),
    ]

# ---- attention.h ----------------------------------------------------------------------------------------------------



class gm_attention_kv_layout(IntEnum):
    GM_ATTENTION_KV_BATCHED = 0
    GM_ATTENTION_KV_RAGGED = 1
    GM_ATTENTION_KV_PAGED = 2


class gm_attention_mask(IntEnum):
    GM_ATTENTION_FULL = 0
    GM_ATTENTION_CAUSAL = 1
    GM_ATTENTION_WINDOW = 2


class gm_attention_kv_type(IntEnum):
    GM_ATTENTION_KV_SAME = 0
    GM_ATTENTION_KV_E4M3 = 1


class gm_attention_out(IntEnum):
    GM_ATTENTION_OUT_SAME = 0
    GM_ATTENTION_OUT_FP32 = 1
    GM_ATTENTION_OUT_BF16 = 2
    GM_ATTENTION_OUT_FP16 = 3


class gm_attention_scales(IntEnum):
    GM_ATTENTION_SCALES_NONE = 0
    GM_ATTENTION_SCALES_TENSOR = 1
    GM_ATTENTION_SCALES_HEAD = 2
    GM_ATTENTION_SCALES_REQUEST_HEAD = 3


class gm_attention_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("max_batch", c_int64),
        ("max_q_tokens", c_int64),
        ("max_q_len", c_int64),
        ("max_kv_len", c_int64),
        ("q_heads", c_int64),
        ("kv_heads", c_int64),
        ("head_dim", c_int64),
        ("v_head_dim", c_int64),
        ("page_size", c_int64),
        ("page_count", c_int64),
        ("kv_tokens", c_int64),
        ("table_stride", c_int64),
        ("q_token_stride", c_int64),
        ("q_head_stride", c_int64),
        ("out_token_stride", c_int64),
        ("out_head_stride", c_int64),
        ("k_page_stride", c_int64),
        ("k_token_stride", c_int64),
        ("k_head_stride", c_int64),
        ("v_page_stride", c_int64),
        ("v_token_stride", c_int64),
        ("v_head_stride", c_int64),
        ("lse_token_stride", c_int64),
        ("lse_head_stride", c_int64),
        ("left", c_int64),
        ("right", c_int64),
        ("type", c_uint),
        ("kv_type", c_uint),
        ("out", c_uint),
        ("scales", c_uint),
        ("kv_layout", c_uint),
        ("mask", c_uint),
        ("scale", c_float),
        ("softcap", c_float),
        ("has_sinks", c_int32),
        ("has_lse", c_int32),
        ("has_tree_mask", c_int32),
        ("v_is_k", c_int32),
        ("q_align", c_int32),
        ("out_align", c_int32),
        ("k_align", c_int32),
        ("v_align", c_int32),
    ]


class gm_attention_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("batch", c_int64),
        ("q", gm_device_ptr),
        ("k", gm_device_ptr),
        ("v", gm_device_ptr),
        ("out", gm_device_ptr),
        ("lse", gm_device_ptr),
        ("q_indptr", gm_device_ptr),
        ("kv_len", gm_device_ptr),
        ("kv_indptr", gm_device_ptr),
        ("page_table", gm_device_ptr),
        ("sinks", gm_device_ptr),
        ("tree_mask", gm_device_ptr),
        ("q_scale", gm_device_ptr),
        ("k_scale", gm_device_ptr),
        ("v_scale", gm_device_ptr),
        ("workspace", gm_device_ptr),
        ("workspace_bytes", c_size_t),
    ]

# ---- attention_merge.h ----------------------------------------------------------------------------------------------



class gm_attention_merge_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("tokens", c_int64),
        ("heads", c_int64),
        ("head_dim", c_int64),
        ("a_token_stride", c_int64),
        ("a_head_stride", c_int64),
        ("b_token_stride", c_int64),
        ("b_head_stride", c_int64),
        ("out_token_stride", c_int64),
        ("out_head_stride", c_int64),
        ("lse_a_token_stride", c_int64),
        ("lse_a_head_stride", c_int64),
        ("lse_b_token_stride", c_int64),
        ("lse_b_head_stride", c_int64),
        ("lse_token_stride", c_int64),
        ("lse_head_stride", c_int64),
        ("type", c_uint),
        ("out_type", c_uint),
        ("has_out_type", c_int32),
        ("a_align", c_int32),
        ("b_align", c_int32),
        ("out_align", c_int32),
    ]


class gm_attention_merge_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("a", gm_device_ptr),
        ("b", gm_device_ptr),
        ("lse_a", gm_device_ptr),
        ("lse_b", gm_device_ptr),
        ("out", gm_device_ptr),
        ("lse", gm_device_ptr),
        ("row_count", gm_device_ptr),
    ]

# ---- axpby.h --------------------------------------------------------------------------------------------------------



class gm_axpby_terms(IntEnum):
    GM_AXPBY_X = 0
    GM_AXPBY_X_AND_Y = 1
    GM_AXPBY_NEITHER = 2


class gm_axpby_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("columns", c_int64),
        ("type", c_uint),
        ("y_type", c_uint),
        ("out_type", c_uint),
        ("terms", c_uint),
        ("alpha", c_float),
        ("beta", c_float),
        ("gamma", c_float),
        ("x_align", c_int32),
        ("y_align", c_int32),
        ("out_align", c_int32),
        ("x_stride", c_int64),
        ("y_stride", c_int64),
        ("out_stride", c_int64),
    ]


class gm_axpby_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("x", gm_device_ptr),
        ("y", gm_device_ptr),
        ("out", gm_device_ptr),
        ("row_count", gm_device_ptr),
    ]

# ---- convolution.h --------------------------------------------------------------------------------------------------



class gm_convolution_edge(IntEnum):
    GM_CONVOLUTION_ZERO = 0
    GM_CONVOLUTION_CLAMP = 1
    GM_CONVOLUTION_WRAP = 2


class gm_convolution_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("width", c_int64),
        ("height", c_int64),
        ("planes", c_int64),
        ("filter_width", c_int64),
        ("filter_height", c_int64),
        ("shift_x", c_int64),
        ("shift_y", c_int64),
        ("x_row_stride", c_int64),
        ("x_plane_stride", c_int64),
        ("out_row_stride", c_int64),
        ("out_plane_stride", c_int64),
        ("type", c_uint),
        ("edge", c_uint),
        ("separable", c_int32),
        ("x_align", c_int32),
        ("out_align", c_int32),
    ]


class gm_convolution_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("x", gm_device_ptr),
        ("filter", gm_device_ptr),
        ("filter_y", gm_device_ptr),
        ("out", gm_device_ptr),
    ]

# ---- quantize.h -----------------------------------------------------------------------------------------------------



class gm_scaling(IntEnum):
    GM_SCALE_STATIC = 0
    GM_SCALE_AMAX_ONLY = 1
    GM_SCALE_ROW = 2
    GM_SCALE_GROUP = 3
    GM_SCALE_BLOCK = 4


class gm_scale_format(IntEnum):
    GM_SCALE_FP32 = 0
    GM_SCALE_POWER_OF_2 = 1
    GM_SCALE_E8M0 = 2


class gm_scale_order(IntEnum):
    GM_SCALES_BY_ROW = 0
    GM_SCALES_BY_COLUMN = 1


class gm_division(IntEnum):
    GM_DIVIDE = 0
    GM_DIVIDE_BY_RECIPROCAL = 1


class gm_quantize_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("columns", c_int64),
        ("group", c_int64),
        ("type", c_uint),
        ("out_type", c_uint),
        ("scaling", c_uint),
        ("scale_format", c_uint),
        ("scale_order", c_uint),
        ("division", c_uint),
        ("x_stride", c_int64),
        ("out_stride", c_int64),
        ("scales_stride", c_int64),
        ("x_align", c_int32),
        ("out_align", c_int32),
        ("scale_floor", c_float),
    ]


class gm_quantize_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("x", gm_device_ptr),
        ("out", gm_device_ptr),
        ("scales", gm_device_ptr),
        ("row_count", gm_device_ptr),
    ]

# ---- dequantize.h ---------------------------------------------------------------------------------------------------



class gm_dequantize_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("columns", c_int64),
        ("group", c_int64),
        ("type", c_uint),
        ("out_type", c_uint),
        ("scaling", c_uint),
        ("scale_format", c_uint),
        ("scale_order", c_uint),
        ("x_align", c_int32),
        ("out_align", c_int32),
        ("x_stride", c_int64),
        ("out_stride", c_int64),
        ("scales_stride", c_int64),
    ]


class gm_dequantize_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("x", gm_device_ptr),
        ("out", gm_device_ptr),
        ("scales", gm_device_ptr),
        ("row_count", gm_device_ptr),
    ]

# ---- embed.h --------------------------------------------------------------------------------------------------------



class gm_embed_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("tokens", c_int64),
        ("columns", c_int64),
        ("vocabulary", c_int64),
        ("type", c_uint),
        ("int64_ids", c_int32),
        ("scale", c_float),
        ("table_stride", c_int64),
        ("out_stride", c_int64),
        ("table_align", c_int32),
        ("out_align", c_int32),
    ]


class gm_embed_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("ids", gm_device_ptr),
        ("table", gm_device_ptr),
        ("out", gm_device_ptr),
        ("error_flag", gm_device_ptr),
        ("row_count", gm_device_ptr),
    ]

# ---- gemm.h ---------------------------------------------------------------------------------------------------------



class gm_bias(IntEnum):
    GM_BIAS_NONE = 0
    GM_BIAS_N = 1
    GM_BIAS_M = 2


class gm_gate(IntEnum):
    GM_GATE_NONE = 0
    GM_GATE_HALVES = 1
    GM_GATE_PAIRS = 2


class gm_granularity(IntEnum):
    GM_PER_NONE = 0
    GM_PER_TENSOR = 1
    GM_PER_ROW = 2
    GM_PER_GROUP = 3
    GM_PER_BLOCK = 4


class gm_gemm_operand(IntEnum):
    GM_GEMM_A = 0
    GM_GEMM_B = 1


class gm_schedule(IntEnum):
    GM_MULTISTAGE = 0
    GM_COOPERATIVE = 1
    GM_PINGPONG = 2


class gm_smem_map(IntEnum):
    GM_SMEM_PADDED = 0
    GM_SMEM_XOR = 1
    GM_SMEM_NONE = 2
    GM_SMEM_SWIZZLE_32B = 32
    GM_SMEM_SWIZZLE_64B = 64
    GM_SMEM_SWIZZLE_128B = 128


class gm_gemm_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("m", c_int64),
        ("n", c_int64),
        ("k", c_int64),
        ("ab_type", c_uint),
        ("d_type", c_uint),
        ("a_major", c_uint),
        ("b_major", c_uint),
        ("lda", c_int64),
        ("ldb", c_int64),
        ("ldc", c_int64),
        ("ldd", c_int64),
        ("activation", c_uint),
        ("bias", c_uint),
        ("bias_type", c_uint),
        ("a_align", c_int32),
        ("b_align", c_int32),
        ("d_align", c_int32),
        ("gate", c_uint),
        ("limit", c_float),
        ("sigmoid_factor", c_float),
        ("up_offset", c_float),
        ("batch", c_int64),
        ("a_batch_stride", c_int64),
        ("b_batch_stride", c_int64),
        ("c_batch_stride", c_int64),
        ("d_batch_stride", c_int64),
        ("bias_batch_stride", c_int64),
        ("pointer_arrays", c_int64),
        ("a_scales", c_uint),
        ("b_scales", c_uint),
        ("zero_points", c_int64),
        ("has_c_type", c_int32),
        ("c_type", c_uint),
        ("residual", c_int32),
        ("residual_type", c_uint),
        ("ldr", c_int64),
        ("amax", c_int32),
        ("d_scale_floor", c_float),
        ("d_scaling", c_uint),
        ("d_scale_format", c_uint),
        ("d_scale_order", c_uint),
        ("d_division", c_uint),
        ("d_group", c_int64),
        ("d_scales_stride", c_int64),
        ("fast_accumulation", c_int64),
        ("a_scale_order", c_uint),
        ("b_scale_order", c_uint),
        ("a_scales_stride", c_int64),
        ("b_scales_stride", c_int64),
        ("a_scale_format", c_uint),
        ("b_scale_format", c_uint),
        ("has_b_type", c_int32),
        ("b_type", c_uint),
    ]


class gm_gemm_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("a", gm_device_ptr),
        ("b", gm_device_ptr),
        ("c", gm_device_ptr),
        ("d", gm_device_ptr),
        ("bias", gm_device_ptr),
        ("alpha", POINTER(c_float)),
        ("beta", POINTER(c_float)),
        ("workspace", gm_device_ptr),
        ("workspace_bytes", c_size_t),
        ("left_out", gm_device_ptr),
        ("a_scales", gm_device_ptr),
        ("b_scales", gm_device_ptr),
        ("a_zeros", gm_device_ptr),
        ("b_sums", gm_device_ptr),
        ("residual", gm_device_ptr),
        ("amax", gm_device_ptr),
        ("d_scales", gm_device_ptr),
    ]


class gm_gemm_kernel_info(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("a_major", c_uint),
        ("b_major", c_uint),
        ("tile_m", c_int32),
        ("tile_n", c_int32),
        ("tile_k", c_int32),
        ("stages", c_int32),
        ("cluster_m", c_int32),
        ("cluster_n", c_int32),
        ("cluster_k", c_int32),
        ("schedule", c_uint),
        ("smem_map", c_uint),
        ("consumers", c_int32),
        ("warps_m", c_int32),
        ("warps_n", c_int32),
        ("warp_k", c_int32),
        ("swap", c_int32),
        ("split_k", c_int32),
        ("gate", c_int64),
        ("batch", c_int64),
        ("extended", c_int64),
        ("fast_accumulation", c_int64),
        ("sum_scales", c_int64),
    ]

# ---- glu.h ----------------------------------------------------------------------------------------------------------



class gm_glu_layout(IntEnum):
    GM_GLU_APART = 0
    GM_GLU_INTERLEAVED = 1
    GM_GLU_NO_UP = 2


class gm_glu_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("columns", c_int64),
        ("type", c_uint),
        ("layout", c_uint),
        ("activation", c_uint),
        ("rounding", c_uint),
        ("limit", c_float),
        ("sigmoid_factor", c_float),
        ("up_offset", c_float),
        ("gate_stride", c_int64),
        ("up_stride", c_int64),
        ("out_stride", c_int64),
        ("gate_align", c_int32),
        ("up_align", c_int32),
        ("out_align", c_int32),
        ("has_out_type", c_int32),
        ("out_type", c_uint),
        ("out_rounding", c_uint),
        ("scaling", c_uint),
        ("scale_format", c_uint),
        ("scale_order", c_uint),
        ("division", c_uint),
        ("scale_floor", c_float),
        ("group", c_int64),
        ("scales_stride", c_int64),
    ]


class gm_glu_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("gate", gm_device_ptr),
        ("up", gm_device_ptr),
        ("out", gm_device_ptr),
        ("row_count", gm_device_ptr),
        ("scales", gm_device_ptr),
    ]

# ---- histogram.h ----------------------------------------------------------------------------------------------------

GM_HISTOGRAM_WORKSPACE_BYTES = 4096


class gm_histogram_of(IntEnum):
    GM_HISTOGRAM_ALL = 0
    GM_HISTOGRAM_ROWS = 1


class gm_histogram_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("columns", c_int64),
        ("bins", c_int64),
        ("type", c_uint),
        ("of", c_uint),
        ("int64_counts", c_int32),
        ("accumulate", c_int32),
        ("x_stride", c_int64),
        ("counts_stride", c_int64),
        ("first", c_int64),
        ("width", c_int64),
        ("lower", c_float),
        ("upper", c_float),
    ]


class gm_histogram_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("x", gm_device_ptr),
        ("counts", gm_device_ptr),
        ("row_count", gm_device_ptr),
        ("workspace", gm_device_ptr),
        ("workspace_bytes", c_size_t),
    ]

# ---- layer_norm.h ---------------------------------------------------------------------------------------------------



class gm_layer_norm_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("columns", c_int64),
        ("type", c_uint),
        ("fp32_weight", c_int32),
        ("residual", c_int32),
        ("eps", c_float),
        ("weight_offset", c_float),
        ("sum_rounding", c_uint),
        ("normalized_rounding", c_uint),
        ("x_align", c_int32),
        ("residual_align", c_int32),
        ("weight_align", c_int32),
        ("bias_align", c_int32),
        ("out_align", c_int32),
        ("x_stride", c_int64),
        ("residual_stride", c_int64),
        ("out_stride", c_int64),
        ("has_out_type", c_int32),
        ("out_type", c_uint),
        ("out_rounding", c_uint),
        ("norm_rounding", c_uint),
        ("scaling", c_uint),
        ("scale_format", c_uint),
        ("scale_order", c_uint),
        ("division", c_uint),
        ("group", c_int64),
        ("scales_stride", c_int64),
        ("scale_floor", c_float),
        ("x_weight_align", c_int32),
    ]


class gm_layer_norm_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("x", gm_device_ptr),
        ("residual", gm_device_ptr),
        ("weight", gm_device_ptr),
        ("bias", gm_device_ptr),
        ("out", gm_device_ptr),
        ("row_count", gm_device_ptr),
        ("x_weight", gm_device_ptr),
        ("x_bias", gm_device_ptr),
        ("scales", gm_device_ptr),
    ]

# ---- moe_align.h ----------------------------------------------------------------------------------------------------



class gm_moe_align_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("tokens", c_int64),
        ("k", c_int64),
        ("experts", c_int64),
        ("alignment", c_int64),
    ]


class gm_moe_align_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("ids", gm_device_ptr),
        ("offsets", gm_device_ptr),
        ("rows", gm_device_ptr),
        ("inverse", gm_device_ptr),
        ("row_count", gm_device_ptr),
    ]

# ---- moe_finalize.h -------------------------------------------------------------------------------------------------



class gm_moe_finalize_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("tokens", c_int64),
        ("columns", c_int64),
        ("k", c_int64),
        ("x_rows", c_int64),
        ("x_stride", c_int64),
        ("residual_stride", c_int64),
        ("out_stride", c_int64),
        ("type", c_uint),
        ("x_align", c_int32),
        ("residual_align", c_int32),
        ("out_align", c_int32),
    ]


class gm_moe_finalize_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("x", gm_device_ptr),
        ("inverse", gm_device_ptr),
        ("weights", gm_device_ptr),
        ("residual", gm_device_ptr),
        ("out", gm_device_ptr),
        ("row_count", gm_device_ptr),
    ]

# ---- moe_route.h ----------------------------------------------------------------------------------------------------



class gm_route_method(IntEnum):
    GM_ROUTE_SOFTMAX_TOP_K = 0
    GM_ROUTE_TOP_K_SOFTMAX = 1
    GM_ROUTE_SIGMOID_GROUPED = 2


class gm_moe_route_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("tokens", c_int64),
        ("experts", c_int64),
        ("k", c_int64),
        ("groups", c_int64),
        ("top_groups", c_int64),
        ("logits_stride", c_int64),
        ("type", c_uint),
        ("method", c_uint),
        ("renormalize", c_int32),
        ("scale", c_float),
        ("logits_align", c_int32),
    ]


class gm_moe_route_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("logits", gm_device_ptr),
        ("bias", gm_device_ptr),
        ("ids", gm_device_ptr),
        ("weights", gm_device_ptr),
        ("row_count", gm_device_ptr),
    ]

# ---- permute.h ------------------------------------------------------------------------------------------------------

GM_PERMUTE_RANK_MAX = 5


class gm_permute_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("rank", c_int64),
        ("extents", c_int64 * 5),
        ("x_strides", c_int64 * 5),
        ("out_strides", c_int64 * 5),
        ("order", c_int32 * 5),
        ("element_bytes", c_int32),
        ("type", c_uint),
        ("out_type", c_uint),
        ("x_align", c_int32),
        ("out_align", c_int32),
    ]


class gm_permute_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("x", gm_device_ptr),
        ("out", gm_device_ptr),
    ]

# ---- process_logits.h -----------------------------------------------------------------------------------------------



class gm_process_logits_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("columns", c_int64),
        ("slots", c_int64),
        ("type", c_uint),
        ("fp32_out", c_int32),
        ("cap", c_float),
        ("temperature", c_float),
        ("repetition", c_float),
        ("frequency", c_float),
        ("presence", c_float),
        ("logits_align", c_int32),
        ("logits_stride", c_int64),
        ("out_stride", c_int64),
        ("counts_stride", c_int64),
        ("bias_stride", c_int64),
        ("mask_stride", c_int64),
        ("out_align", c_int32),
        ("counts_align", c_int32),
        ("bias_align", c_int32),
    ]


class gm_process_logits_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("logits", gm_device_ptr),
        ("out", gm_device_ptr),
        ("counts", gm_device_ptr),
        ("bias", gm_device_ptr),
        ("mask", gm_device_ptr),
        ("slots", gm_device_ptr),
        ("bias_slots", gm_device_ptr),
        ("mask_slots", gm_device_ptr),
        ("last_ids", gm_device_ptr),
        ("temperatures", gm_device_ptr),
        ("repetitions", gm_device_ptr),
        ("frequencies", gm_device_ptr),
        ("presences", gm_device_ptr),
        ("row_count", gm_device_ptr),
    ]

# ---- reduce.h -------------------------------------------------------------------------------------------------------

GM_REDUCE_WORKSPACE_BYTES = 8388608


class gm_reduce_along(IntEnum):
    GM_REDUCE_COLUMNS = 0
    GM_REDUCE_ROWS = 1
    GM_REDUCE_ALL = 2


class gm_reduction(IntEnum):
    GM_REDUCTION_SUM = 0
    GM_REDUCTION_MEAN = 1
    GM_REDUCTION_MAX = 2
    GM_REDUCTION_MIN = 3
    GM_REDUCTION_L2 = 4
    GM_REDUCTION_ARGMAX = 5
    GM_REDUCTION_ARGMIN = 6


class gm_reduce_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("columns", c_int64),
        ("type", c_uint),
        ("along", c_uint),
        ("reduction", c_uint),
        ("fp32_out", c_int32),
        ("x_stride", c_int64),
        ("x_align", c_int32),
    ]


class gm_reduce_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("x", gm_device_ptr),
        ("out", gm_device_ptr),
        ("row_count", gm_device_ptr),
        ("workspace", gm_device_ptr),
        ("workspace_bytes", c_size_t),
    ]

# ---- rms_norm.h -----------------------------------------------------------------------------------------------------



class gm_rms_norm_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("columns", c_int64),
        ("type", c_uint),
        ("fp32_weight", c_int32),
        ("residual", c_int32),
        ("eps", c_float),
        ("weight_offset", c_float),
        ("sum_rounding", c_uint),
        ("normalized_rounding", c_uint),
        ("x_stride", c_int64),
        ("residual_stride", c_int64),
        ("out_stride", c_int64),
        ("x_align", c_int32),
        ("residual_align", c_int32),
        ("weight_align", c_int32),
        ("out_align", c_int32),
        ("heads", c_int64),
        ("x_head_stride", c_int64),
        ("out_head_stride", c_int64),
        ("has_out_type", c_int32),
        ("out_type", c_uint),
        ("out_rounding", c_uint),
        ("norm_rounding", c_uint),
        ("scaling", c_uint),
        ("scale_format", c_uint),
        ("scale_order", c_uint),
        ("division", c_uint),
        ("group", c_int64),
        ("scales_stride", c_int64),
        ("scale_floor", c_float),
        ("x_weight_align", c_int32),
    ]


class gm_rms_norm_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("x", gm_device_ptr),
        ("residual", gm_device_ptr),
        ("weight", gm_device_ptr),
        ("out", gm_device_ptr),
        ("row_count", gm_device_ptr),
        ("x_weight", gm_device_ptr),
        ("scales", gm_device_ptr),
    ]

# ---- rope.h ---------------------------------------------------------------------------------------------------------



class gm_rope_pairing(IntEnum):
    GM_ROPE_HALVES = 0
    GM_ROPE_INTERLEAVED = 1


class gm_rope_norm(IntEnum):
    GM_ROPE_NO_NORM = 0
    GM_ROPE_NORM = 1


class gm_rope_append(IntEnum):
    GM_ROPE_NO_APPEND = 0
    GM_ROPE_APPEND = 1
    GM_ROPE_APPEND_E4M3 = 2


class gm_rope_error(IntEnum):
    GM_ROPE_ERROR_POSITION = 1
    GM_ROPE_ERROR_SLOT = 2


class gm_rope_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("tokens", c_int64),
        ("q_heads", c_int64),
        ("kv_heads", c_int64),
        ("head_dim", c_int64),
        ("rotary_dim", c_int64),
        ("rotary_offset", c_int64),
        ("max_position", c_int64),
        ("page_size", c_int64),
        ("slot_count", c_int64),
        ("q_token_stride", c_int64),
        ("q_head_stride", c_int64),
        ("k_token_stride", c_int64),
        ("k_head_stride", c_int64),
        ("v_token_stride", c_int64),
        ("v_head_stride", c_int64),
        ("q_out_token_stride", c_int64),
        ("q_out_head_stride", c_int64),
        ("k_out_token_stride", c_int64),
        ("k_out_head_stride", c_int64),
        ("k_cache_page_stride", c_int64),
        ("k_cache_token_stride", c_int64),
        ("k_cache_head_stride", c_int64),
        ("v_cache_page_stride", c_int64),
        ("v_cache_token_stride", c_int64),
        ("v_cache_head_stride", c_int64),
        ("type", c_uint),
        ("pairing", c_uint),
        ("inverse", c_int32),
        ("rounding", c_uint),
        ("norm", c_uint),
        ("fp32_weight", c_int32),
        ("normalized_rounding", c_uint),
        ("eps", c_float),
        ("weight_offset", c_float),
        ("append", c_uint),
        ("int64_positions", c_int32),
        ("q_align", c_int32),
        ("k_align", c_int32),
        ("v_align", c_int32),
        ("q_out_align", c_int32),
        ("k_out_align", c_int32),
        ("k_cache_align", c_int32),
        ("v_cache_align", c_int32),
        ("q_weight_align", c_int32),
        ("k_weight_align", c_int32),
        ("table_align", c_int32),
    ]


class gm_rope_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("q", gm_device_ptr),
        ("k", gm_device_ptr),
        ("v", gm_device_ptr),
        ("positions", gm_device_ptr),
        ("table", gm_device_ptr),
        ("q_weight", gm_device_ptr),
        ("k_weight", gm_device_ptr),
        ("q_out", gm_device_ptr),
        ("k_out", gm_device_ptr),
        ("k_cache", gm_device_ptr),
        ("v_cache", gm_device_ptr),
        ("slots", gm_device_ptr),
        ("k_scale", gm_device_ptr),
        ("v_scale", gm_device_ptr),
        ("row_count", gm_device_ptr),
        ("error_flag", gm_device_ptr),
    ]

# ---- sample.h -------------------------------------------------------------------------------------------------------



class gm_sample_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("columns", c_int64),
        ("type", c_uint),
        ("temperature", c_float),
        ("top_p", c_float),
        ("min_p", c_float),
        ("top_k", c_int64),
        ("logits_stride", c_int64),
        ("logits_align", c_int32),
    ]


class gm_sample_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("logits", gm_device_ptr),
        ("ids", gm_device_ptr),
        ("logprobs", gm_device_ptr),
        ("temperatures", gm_device_ptr),
        ("top_ks", gm_device_ptr),
        ("top_ps", gm_device_ptr),
        ("min_ps", gm_device_ptr),
        ("seeds", gm_device_ptr),
        ("steps", gm_device_ptr),
        ("step", gm_device_ptr),
        ("row_count", gm_device_ptr),
        ("seed", c_uint64),
        ("first_step", c_int64),
    ]

# ---- smem.h ---------------------------------------------------------------------------------------------------------

GM_LANES = 32
GM_BANKS = 32
GM_WAVEFRONTS_MAX = 64
GM_NO_WAVEFRONT = 255
GM_NO_WORD = 0xffffffff
GM_NO_WALK = 0xffffffff


class gm_access_kind(IntEnum):
    GM_ACCESS_LOAD = 0
    GM_ACCESS_STORE = 1
    GM_ACCESS_LDMATRIX = 2
    GM_ACCESS_STMATRIX = 3
    GM_ACCESS_CP_ASYNC = 4
    GM_ACCESS_ATOMIC = 5
    GM_ACCESS_INCREMENT = 6
    GM_ACCESS_CAS = 7


class gm_swizzle_mode(IntEnum):
    GM_SWIZZLE_NONE = 0
    GM_SWIZZLE_32B = 1
    GM_SWIZZLE_64B = 2
    GM_SWIZZLE_128B = 3


class gm_cure(IntEnum):
    GM_CURE_NONE_NEEDED = 0
    GM_CURE_PAD = 1
    GM_CURE_SWIZZLE = 2
    GM_CURE_NOTHING_HELPS = 3


class gm_access(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_uint),
        ("width", c_uint32),
        ("matrices", c_uint32),
        ("inactive", c_uint32),
        ("address", c_uint32 * 32),
    ]


class gm_bank_cost(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("wavefronts", c_uint32),
        ("ideal", c_uint32),
        ("conflicts", c_uint32),
        ("degree", c_uint32),
        ("words", c_uint32),
    ]


class gm_bank_map(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("cost", gm_bank_cost),
        ("wavefront", (c_uint8 * 4) * 32),
        ("word", (c_uint32 * 32) * 64),
    ]


class gm_swizzle(Struct):
    __slots__ = ()
    _fields_ = [
        ("bits", c_uint32),
        ("base", c_uint32),
        ("shift", c_int32),
    ]


class gm_smem_tile(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_uint32),
        ("row_bytes", c_uint32),
        ("pitch_bytes", c_uint32),
        ("base", c_uint32),
        ("swizzle", gm_swizzle),
    ]


class gm_swizzle_proof(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("bijective", c_uint32),
        ("self_inverse", c_uint32),
        ("row_worst", c_uint32 * 5),
        ("column_worst", c_uint32 * 5),
        ("ldmatrix_worst", c_uint32),
    ]


class gm_tile_access(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_uint),
        ("width", c_uint32),
        ("matrices", c_uint32),
        ("inactive", c_uint32),
        ("row", c_uint32 * 32),
        ("byte", c_uint32 * 32),
    ]


class gm_pad_advice(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("unit_bytes", c_uint32),
        ("pad_bytes", c_uint32),
        ("wavefronts", c_uint32),
        ("wavefronts_padded", c_uint32),
        ("ideal", c_uint32),
        ("tile_bytes", c_uint32),
        ("tile_bytes_padded", c_uint32),
        ("blocks", c_int32),
        ("blocks_padded", c_int32),
        ("swizzle", gm_swizzle),
        ("wavefronts_swizzled", c_uint32),
        ("cure", c_uint),
        ("sentence", c_char * 400),
    ]


class gm_pad_question(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("tile", gm_smem_tile),
        ("tiles", c_uint32),
        ("other_bytes", c_uint32),
        ("hardware_swizzle", c_uint32),
    ]


class gm_tensor_map_request(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("type", c_int32),
        ("rank", c_uint32),
        ("address", c_uint64),
        ("dims", c_uint64 * 5),
        ("strides", c_uint64 * 4),
        ("box", c_uint32 * 5),
        ("element_strides", c_uint32 * 5),
        ("interleave", c_int32),
        ("swizzle", c_uint),
        ("l2_promotion", c_int32),
        ("oob_fill", c_int32),
    ]


class gm_rule(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("holds", c_int32),
        ("sentence", c_char * 200),
    ]


class gm_matrix_descriptor(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("start", c_uint32),
        ("leading_bytes", c_uint32),
        ("stride_bytes", c_uint32),
        ("base_offset", c_uint32),
        ("swizzle", c_uint),
    ]


class gm_wgmma_operand(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("major", c_uint),
        ("element_bytes", c_uint32),
        ("rows", c_uint32),
    ]


class gm_descriptor_question(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("map", gm_tensor_map_request),
        ("destination", c_uint32),
        ("boxes", c_uint32),
        ("operand", gm_wgmma_operand),
        ("descriptor", c_uint64),
        ("k_steps", c_uint32),
        ("k_step_bytes", c_uint32),
    ]


class gm_descriptor_answer(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("agrees", c_int32),
        ("elements", c_uint32),
        ("wrong", c_uint32),
        ("row", c_uint32),
        ("k", c_uint32),
        ("written", c_uint32),
        ("read", c_uint32),
        ("sentence", c_char * 400),
    ]

# ---- softmax.h ------------------------------------------------------------------------------------------------------



class gm_softmax_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("columns", c_int64),
        ("type", c_uint),
        ("fp32_out", c_int32),
        ("log", c_int32),
        ("cap", c_float),
        ("temperature", c_float),
        ("x_stride", c_int64),
        ("out_stride", c_int64),
        ("x_align", c_int32),
        ("out_align", c_int32),
    ]


class gm_softmax_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("x", gm_device_ptr),
        ("out", gm_device_ptr),
        ("lse", gm_device_ptr),
        ("temperatures", gm_device_ptr),
        ("row_count", gm_device_ptr),
    ]

# ---- stencil.h ------------------------------------------------------------------------------------------------------



class gm_stencil_shape(IntEnum):
    GM_STENCIL_STAR_5 = 0
    GM_STENCIL_BOX_9 = 1
    GM_STENCIL_STAR_7 = 2
    GM_STENCIL_BOX_27 = 3


class gm_stencil_problem(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("width", c_int64),
        ("height", c_int64),
        ("depth", c_int64),
        ("grids", c_int64),
        ("x_row_stride", c_int64),
        ("x_plane_stride", c_int64),
        ("x_grid_stride", c_int64),
        ("out_row_stride", c_int64),
        ("out_plane_stride", c_int64),
        ("out_grid_stride", c_int64),
        ("type", c_uint),
        ("shape", c_uint),
        ("edge", c_uint),
        ("x_align", c_int32),
        ("out_align", c_int32),
        ("coefficients", c_float * 27),
    ]


class gm_stencil_args(Struct):
    __slots__ = ()
    _fields_ = [
        ("size", c_size_t),
        ("x", gm_device_ptr),
        ("out", gm_device_ptr),
    ]


# ---- functions -------------------------------------------------------------------------------------------------------

# {name: (result, parameters)}
FUNCTIONS = {
    "gm_status_name": (c_char_p, [c_uint]),
    "gm_status_string": (c_char_p, [c_uint]),
    "gm_last_error": (c_char_p, []),
    "gm_last_cuda_result": (c_int, []),
    "gm_version": (c_int, []),
    "gm_version_string": (c_char_p, []),
    "gm_build_info": (c_char_p, []),
    "gm_set_log_callback": (None, [gm_log_fn, c_uint, c_void_p]),
    "gm_device_count": (gm_status, [POINTER(c_int)]),
    "gm_device_query": (gm_status, [c_int, POINTER(gm_device)]),
    "gm_device_model": (gm_status, [c_char_p, POINTER(gm_device)]),
    "gm_kernel_count": (c_size_t, []),
    "gm_kernel_get": (gm_status, [c_size_t, POINTER(gm_kernel_info)]),
    "gm_ledger_parse": (gm_status, [c_char_p, c_size_t, POINTER(POINTER(gm_ledger))]),
    "gm_ledger_read": (gm_status, [c_char_p, POINTER(POINTER(gm_ledger))]),
    "gm_ledger_destroy": (None, [POINTER(gm_ledger)]),
    "gm_ledger_builtin": (POINTER(gm_ledger), [POINTER(gm_device)]),
    "gm_ledger_get_info": (gm_status, [POINTER(gm_ledger), POINTER(gm_ledger_info)]),
    "gm_context_create": (gm_status, [c_int, POINTER(POINTER(gm_context))]),
    "gm_context_destroy": (None, [POINTER(gm_context)]),
    "gm_context_device": (gm_status, [POINTER(gm_context), POINTER(gm_device)]),
    "gm_plan_destroy": (None, [POINTER(gm_plan)]),
    "gm_plan_workspace_bytes": (c_size_t, [POINTER(gm_plan)]),
    "gm_plan_kernel": (c_int, [POINTER(gm_plan)]),
    "gm_plan_predicted_us": (c_double, [POINTER(gm_plan)]),
    "gm_reason_name": (c_char_p, [c_uint]),
    "gm_reason_count": (c_int, []),
    "gm_attention_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_attention_problem),
        POINTER(gm_plan_options), POINTER(POINTER(gm_plan))]),
    "gm_attention_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_attention_args), c_void_p]),
    "gm_attention": (gm_status, [POINTER(gm_context), POINTER(gm_attention_problem), POINTER(gm_attention_args),
        c_void_p]),
    "gm_attention_explain": (gm_status, [POINTER(gm_device), POINTER(gm_attention_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_attention_merge_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_attention_merge_problem),
        POINTER(gm_plan_options), POINTER(POINTER(gm_plan))]),
    "gm_attention_merge_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_attention_merge_args), c_void_p]),
    "gm_attention_merge": (gm_status, [POINTER(gm_context), POINTER(gm_attention_merge_problem),
        POINTER(gm_attention_merge_args), c_void_p]),
    "gm_attention_merge_explain": (gm_status, [POINTER(gm_device), POINTER(gm_attention_merge_problem),
        POINTER(gm_plan_options), POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_axpby_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_axpby_problem), POINTER(gm_plan_options),
        POINTER(POINTER(gm_plan))]),
    "gm_axpby_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_axpby_args), c_void_p]),
    "gm_axpby": (gm_status, [POINTER(gm_context), POINTER(gm_axpby_problem), POINTER(gm_axpby_args), c_void_p]),
    "gm_axpby_explain": (gm_status, [POINTER(gm_device), POINTER(gm_axpby_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_convolution_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_convolution_problem),
        POINTER(gm_plan_options), POINTER(POINTER(gm_plan))]),
    "gm_convolution_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_convolution_args), c_void_p]),
    "gm_convolution": (gm_status, [POINTER(gm_context), POINTER(gm_convolution_problem), POINTER(gm_convolution_args),
        c_void_p]),
    "gm_convolution_explain": (gm_status, [POINTER(gm_device), POINTER(gm_convolution_problem),
        POINTER(gm_plan_options), POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_quantize_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_quantize_problem), POINTER(gm_plan_options),
        POINTER(POINTER(gm_plan))]),
    "gm_quantize_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_quantize_args), c_void_p]),
    "gm_quantize": (gm_status, [POINTER(gm_context), POINTER(gm_quantize_problem), POINTER(gm_quantize_args),
        c_void_p]),
    "gm_quantize_explain": (gm_status, [POINTER(gm_device), POINTER(gm_quantize_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_dequantize_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_dequantize_problem),
        POINTER(gm_plan_options), POINTER(POINTER(gm_plan))]),
    "gm_dequantize_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_dequantize_args), c_void_p]),
    "gm_dequantize": (gm_status, [POINTER(gm_context), POINTER(gm_dequantize_problem), POINTER(gm_dequantize_args),
        c_void_p]),
    "gm_dequantize_explain": (gm_status, [POINTER(gm_device), POINTER(gm_dequantize_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_embed_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_embed_problem), POINTER(gm_plan_options),
        POINTER(POINTER(gm_plan))]),
    "gm_embed_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_embed_args), c_void_p]),
    "gm_embed": (gm_status, [POINTER(gm_context), POINTER(gm_embed_problem), POINTER(gm_embed_args), c_void_p]),
    "gm_embed_explain": (gm_status, [POINTER(gm_device), POINTER(gm_embed_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_gemm_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_gemm_problem), POINTER(gm_plan_options),
        POINTER(POINTER(gm_plan))]),
    "gm_gemm_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_gemm_args), c_void_p]),
    "gm_gemm": (gm_status, [POINTER(gm_context), POINTER(gm_gemm_problem), POINTER(gm_gemm_args), c_void_p]),
    "gm_gemm_packed": (gm_status, [POINTER(gm_gemm_problem), c_uint, POINTER(gm_gemm_problem), POINTER(c_size_t)]),
    "gm_gemm_pack": (gm_status, [POINTER(gm_context), POINTER(gm_gemm_problem), c_uint, gm_device_ptr, gm_device_ptr,
        c_void_p]),
    "gm_gemm_explain": (gm_status, [POINTER(gm_device), POINTER(gm_gemm_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_gemm_kernel_get": (gm_status, [c_size_t, POINTER(gm_gemm_kernel_info)]),
    "gm_glu_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_glu_problem), POINTER(gm_plan_options),
        POINTER(POINTER(gm_plan))]),
    "gm_glu_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_glu_args), c_void_p]),
    "gm_glu": (gm_status, [POINTER(gm_context), POINTER(gm_glu_problem), POINTER(gm_glu_args), c_void_p]),
    "gm_glu_explain": (gm_status, [POINTER(gm_device), POINTER(gm_glu_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_histogram_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_histogram_problem),
        POINTER(gm_plan_options), POINTER(POINTER(gm_plan))]),
    "gm_histogram_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_histogram_args), c_void_p]),
    "gm_histogram": (gm_status, [POINTER(gm_context), POINTER(gm_histogram_problem), POINTER(gm_histogram_args),
        c_void_p]),
    "gm_histogram_explain": (gm_status, [POINTER(gm_device), POINTER(gm_histogram_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_layer_norm_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_layer_norm_problem),
        POINTER(gm_plan_options), POINTER(POINTER(gm_plan))]),
    "gm_layer_norm_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_layer_norm_args), c_void_p]),
    "gm_layer_norm": (gm_status, [POINTER(gm_context), POINTER(gm_layer_norm_problem), POINTER(gm_layer_norm_args),
        c_void_p]),
    "gm_layer_norm_explain": (gm_status, [POINTER(gm_device), POINTER(gm_layer_norm_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_moe_align_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_moe_align_problem),
        POINTER(gm_plan_options), POINTER(POINTER(gm_plan))]),
    "gm_moe_align_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_moe_align_args), c_void_p]),
    "gm_moe_align": (gm_status, [POINTER(gm_context), POINTER(gm_moe_align_problem), POINTER(gm_moe_align_args),
        c_void_p]),
    "gm_moe_align_explain": (gm_status, [POINTER(gm_device), POINTER(gm_moe_align_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_moe_finalize_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_moe_finalize_problem),
        POINTER(gm_plan_options), POINTER(POINTER(gm_plan))]),
    "gm_moe_finalize_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_moe_finalize_args), c_void_p]),
    "gm_moe_finalize": (gm_status, [POINTER(gm_context), POINTER(gm_moe_finalize_problem),
        POINTER(gm_moe_finalize_args), c_void_p]),
    "gm_moe_finalize_explain": (gm_status, [POINTER(gm_device), POINTER(gm_moe_finalize_problem),
        POINTER(gm_plan_options), POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_moe_route_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_moe_route_problem),
        POINTER(gm_plan_options), POINTER(POINTER(gm_plan))]),
    "gm_moe_route_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_moe_route_args), c_void_p]),
    "gm_moe_route": (gm_status, [POINTER(gm_context), POINTER(gm_moe_route_problem), POINTER(gm_moe_route_args),
        c_void_p]),
    "gm_moe_route_explain": (gm_status, [POINTER(gm_device), POINTER(gm_moe_route_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_permute_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_permute_problem), POINTER(gm_plan_options),
        POINTER(POINTER(gm_plan))]),
    "gm_permute_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_permute_args), c_void_p]),
    "gm_permute": (gm_status, [POINTER(gm_context), POINTER(gm_permute_problem), POINTER(gm_permute_args), c_void_p]),
    "gm_permute_explain": (gm_status, [POINTER(gm_device), POINTER(gm_permute_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_process_logits_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_process_logits_problem),
        POINTER(gm_plan_options), POINTER(POINTER(gm_plan))]),
    "gm_process_logits_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_process_logits_args), c_void_p]),
    "gm_process_logits": (gm_status, [POINTER(gm_context), POINTER(gm_process_logits_problem),
        POINTER(gm_process_logits_args), c_void_p]),
    "gm_process_logits_explain": (gm_status, [POINTER(gm_device), POINTER(gm_process_logits_problem),
        POINTER(gm_plan_options), POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_reduce_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_reduce_problem), POINTER(gm_plan_options),
        POINTER(POINTER(gm_plan))]),
    "gm_reduce_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_reduce_args), c_void_p]),
    "gm_reduce": (gm_status, [POINTER(gm_context), POINTER(gm_reduce_problem), POINTER(gm_reduce_args), c_void_p]),
    "gm_reduce_explain": (gm_status, [POINTER(gm_device), POINTER(gm_reduce_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_rms_norm_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_rms_norm_problem), POINTER(gm_plan_options),
        POINTER(POINTER(gm_plan))]),
    "gm_rms_norm_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_rms_norm_args), c_void_p]),
    "gm_rms_norm": (gm_status, [POINTER(gm_context), POINTER(gm_rms_norm_problem), POINTER(gm_rms_norm_args),
        c_void_p]),
    "gm_rms_norm_explain": (gm_status, [POINTER(gm_device), POINTER(gm_rms_norm_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_rope_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_rope_problem), POINTER(gm_plan_options),
        POINTER(POINTER(gm_plan))]),
    "gm_rope_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_rope_args), c_void_p]),
    "gm_rope": (gm_status, [POINTER(gm_context), POINTER(gm_rope_problem), POINTER(gm_rope_args), c_void_p]),
    "gm_rope_explain": (gm_status, [POINTER(gm_device), POINTER(gm_rope_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_sample_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_sample_problem), POINTER(gm_plan_options),
        POINTER(POINTER(gm_plan))]),
    "gm_sample_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_sample_args), c_void_p]),
    "gm_sample": (gm_status, [POINTER(gm_context), POINTER(gm_sample_problem), POINTER(gm_sample_args), c_void_p]),
    "gm_sample_explain": (gm_status, [POINTER(gm_device), POINTER(gm_sample_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_bank_cost": (gm_status, [POINTER(gm_access), POINTER(gm_bank_cost)]),
    "gm_bank_map": (gm_status, [POINTER(gm_access), POINTER(gm_bank_map)]),
    "gm_swizzle_check": (gm_status, [gm_swizzle]),
    "gm_swizzle_apply": (c_uint32, [gm_swizzle, c_uint32]),
    "gm_swizzle_of_mode": (gm_swizzle, [c_uint]),
    "gm_swizzle_span_bytes": (c_uint32, [c_uint]),
    "gm_swizzle_pattern_bytes": (c_uint32, [c_uint]),
    "gm_swizzle_of_elements": (gm_status, [gm_swizzle, c_uint32, POINTER(gm_swizzle)]),
    "gm_smem_tile_address": (gm_status, [POINTER(gm_smem_tile), c_uint32, c_uint32, POINTER(c_uint32)]),
    "gm_swizzle_prove": (gm_status, [POINTER(gm_smem_tile), POINTER(gm_swizzle_proof)]),
    "gm_tile_access_place": (gm_status, [POINTER(gm_smem_tile), POINTER(gm_tile_access), POINTER(gm_access)]),
    "gm_swizzle_search": (gm_status, [POINTER(gm_smem_tile), POINTER(gm_tile_access), c_size_t, POINTER(gm_swizzle),
        POINTER(c_int)]),
    "gm_pad_advise": (gm_status, [POINTER(gm_pad_question), POINTER(gm_tile_access), c_size_t, POINTER(gm_device),
        POINTER(gm_pad_advice)]),
    "gm_tensor_map_explain": (gm_status, [POINTER(gm_tensor_map_request), POINTER(gm_rule), c_size_t, POINTER(c_size_t),
        POINTER(c_int)]),
    "gm_tensor_map_element_bytes": (c_uint32, [c_int32]),
    "gm_tensor_map_box_bytes": (c_uint32, [POINTER(gm_tensor_map_request)]),
    "gm_matrix_descriptor_encode": (gm_status, [POINTER(gm_matrix_descriptor), POINTER(c_uint64)]),
    "gm_matrix_descriptor_decode": (gm_status, [c_uint64, POINTER(gm_matrix_descriptor)]),
    "gm_wgmma_address": (gm_status, [POINTER(gm_matrix_descriptor), POINTER(gm_wgmma_operand), c_uint32, c_uint32,
        POINTER(c_uint32)]),
    "gm_descriptor_compare": (gm_status, [POINTER(gm_descriptor_question), POINTER(gm_descriptor_answer)]),
    "gm_descriptor_suggest": (gm_status, [POINTER(gm_descriptor_question), POINTER(c_uint64), POINTER(c_uint32)]),
    "gm_softmax_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_softmax_problem), POINTER(gm_plan_options),
        POINTER(POINTER(gm_plan))]),
    "gm_softmax_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_softmax_args), c_void_p]),
    "gm_softmax": (gm_status, [POINTER(gm_context), POINTER(gm_softmax_problem), POINTER(gm_softmax_args), c_void_p]),
    "gm_softmax_explain": (gm_status, [POINTER(gm_device), POINTER(gm_softmax_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
    "gm_stencil_plan_create": (gm_status, [POINTER(gm_context), POINTER(gm_stencil_problem), POINTER(gm_plan_options),
        POINTER(POINTER(gm_plan))]),
    "gm_stencil_execute": (gm_status, [POINTER(gm_plan), POINTER(gm_stencil_args), c_void_p]),
    "gm_stencil": (gm_status, [POINTER(gm_context), POINTER(gm_stencil_problem), POINTER(gm_stencil_args), c_void_p]),
    "gm_stencil_explain": (gm_status, [POINTER(gm_device), POINTER(gm_stencil_problem), POINTER(gm_plan_options),
        POINTER(gm_candidate), c_size_t, POINTER(c_size_t)]),
}

ENUMS = [gm_status, gm_log_level, gm_arch, gm_type, gm_major, gm_rounding, gm_residual, gm_activation, gm_plan_flags,
         gm_reason, gm_source, gm_attention_kv_layout, gm_attention_mask, gm_attention_kv_type, gm_attention_out,
         gm_attention_scales, gm_axpby_terms, gm_convolution_edge, gm_scaling, gm_scale_format, gm_scale_order,
         gm_division, gm_bias, gm_gate, gm_granularity, gm_gemm_operand, gm_schedule, gm_smem_map, gm_glu_layout,
         gm_histogram_of, gm_route_method, gm_reduce_along, gm_reduction, gm_rope_pairing, gm_rope_norm, gm_rope_append,
         gm_rope_error, gm_access_kind, gm_swizzle_mode, gm_cure, gm_stencil_shape]
for _enum in ENUMS:
    globals().update(_enum.__members__)
