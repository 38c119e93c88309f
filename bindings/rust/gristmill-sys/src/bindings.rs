// SPDX-License-Identifier: Apache-2.0
// The C interface. Written by tools/gen_bindings.py from include/gristmill/: edit those.
//
// What a struct, a member or a function means stands in the header that is named above it. Enums are numbers, since a
// newer library may answer with an enumerator that is not listed here. `Default` is all zeros with `size` set: the
// defaults of the C interface.
use core::ffi::{c_char, c_int, c_uint, c_void};
use core::mem::{size_of, zeroed};

// ---- core.h --------------------------------------------------------------------------------------------------------

pub const GM_VERSION_MAJOR: c_int = 0;
pub const GM_VERSION_MINOR: c_int = 2;
pub const GM_VERSION_PATCH: c_int = 0;
pub const GM_VERSION: c_int = 200;
pub const GM_ARGUMENT_SETS_MAX: c_int = 256;
pub type gm_device_ptr = u64;

pub type gm_status = c_uint;
pub const GM_OK: gm_status = 0;
pub const GM_ERROR_INVALID_ARGUMENT: gm_status = 1;
pub const GM_ERROR_SIZE: gm_status = 2;
pub const GM_ERROR_MISALIGNED: gm_status = 3;
pub const GM_ERROR_OVERLAP: gm_status = 4;
pub const GM_ERROR_WORKSPACE: gm_status = 5;
pub const GM_ERROR_NO_KERNEL: gm_status = 6;
pub const GM_ERROR_UNKNOWN_KERNEL: gm_status = 7;
pub const GM_ERROR_WRONG_DEVICE: gm_status = 8;
pub const GM_ERROR_NO_DRIVER: gm_status = 9;
pub const GM_ERROR_NO_DEVICE: gm_status = 10;
pub const GM_ERROR_IMAGE: gm_status = 11;
pub const GM_ERROR_LAUNCH: gm_status = 12;
pub const GM_ERROR_OUT_OF_MEMORY: gm_status = 13;
pub const GM_ERROR_DRIVER: gm_status = 14;
pub const GM_ERROR_LEDGER: gm_status = 15;

pub type gm_log_level = c_uint;
pub const GM_LOG_OFF: gm_log_level = 0;
pub const GM_LOG_ERROR: gm_log_level = 1;
pub const GM_LOG_INFO: gm_log_level = 2;
pub const GM_LOG_TRACE: gm_log_level = 3;

pub type gm_arch = c_uint;
pub const GM_ARCH_SM80: gm_arch = 1;
pub const GM_ARCH_SM90: gm_arch = 2;

pub type gm_type = c_uint;
pub const GM_BF16: gm_type = 0;
pub const GM_FP16: gm_type = 1;
pub const GM_FP32: gm_type = 2;
pub const GM_E4M3: gm_type = 3;
pub const GM_E5M2: gm_type = 4;
pub const GM_INT8: gm_type = 5;
pub const GM_UINT8: gm_type = 6;
pub const GM_INT32: gm_type = 7;
pub const GM_INT64: gm_type = 8;
pub const GM_TF32: gm_type = 9;
pub const GM_TF32X3: gm_type = 10;

pub type gm_major = c_uint;
pub const GM_K_MAJOR: gm_major = 0;
pub const GM_MN_MAJOR: gm_major = 1;

pub type gm_rounding = c_uint;
pub const GM_ROUND_LATE: gm_rounding = 0;
pub const GM_ROUND_EARLY: gm_rounding = 1;

pub type gm_residual = c_uint;
pub const GM_RESIDUAL_NONE: gm_residual = 0;
pub const GM_RESIDUAL_BEFORE: gm_residual = 1;
pub const GM_RESIDUAL_AFTER: gm_residual = 2;
pub const GM_RESIDUAL_BETWEEN: gm_residual = 3;

pub type gm_activation = c_uint;
pub const GM_ACT_NONE: gm_activation = 0;
pub const GM_ACT_RELU: gm_activation = 1;
pub const GM_ACT_GELU_TANH: gm_activation = 2;
pub const GM_ACT_GELU_ERF: gm_activation = 3;
pub const GM_ACT_SILU: gm_activation = 4;

pub type gm_plan_flags = c_uint;
pub const GM_PLAN_MODEL_ONLY: gm_plan_flags = 1;
pub const GM_PLAN_PLAIN_LAUNCH: gm_plan_flags = 2;
pub const GM_PLAN_NO_OVERLAP: gm_plan_flags = 4;
pub const GM_PLAN_CONSTANT_B: gm_plan_flags = 8;
pub const GM_PLAN_BATCH_INVARIANT: gm_plan_flags = 16;

pub type gm_reason = c_uint;
pub const GM_ACCEPTED: gm_reason = 0;
pub const GM_REASON_MASKED: gm_reason = 1;
pub const GM_REASON_NO_IMAGE: gm_reason = 2;
pub const GM_REASON_TYPE: gm_reason = 3;
pub const GM_REASON_LAYOUT: gm_reason = 4;
pub const GM_REASON_SMEM: gm_reason = 5;
pub const GM_REASON_STRIDE: gm_reason = 6;
pub const GM_REASON_ALIGNMENT: gm_reason = 7;
pub const GM_REASON_SIZE: gm_reason = 8;
pub const GM_REASON_EMPTY_K: gm_reason = 9;
pub const GM_REASON_NOT_PRODUCTION: gm_reason = 10;
pub const GM_REASON_NOT_NAMED: gm_reason = 11;
pub const GM_REASON_SMS: gm_reason = 12;
pub const GM_REASON_ORDER: gm_reason = 13;
pub const GM_REASON_DIVISION: gm_reason = 14;
pub const GM_REASON_EPILOGUE: gm_reason = 15;
pub const GM_REASON_BATCH: gm_reason = 16;

pub type gm_source = c_uint;
pub const GM_SOURCE_NONE: gm_source = 0;
pub const GM_SOURCE_MODEL: gm_source = 1;
pub const GM_SOURCE_LEDGER: gm_source = 2;
pub const GM_SOURCE_NEIGHBOURS: gm_source = 3;
pub const GM_SOURCE_NAME: gm_source = 4;

#[repr(C)]
pub struct gm_ledger {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct gm_context {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct gm_plan {
    _opaque: [u8; 0],
}

pub type gm_log_fn = Option<unsafe extern "C" fn(level: gm_log_level, message: *const c_char, user: *mut c_void)>;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_device {
    pub size: usize,
    pub name: [c_char; 64],
    pub ordinal: i32,
    pub cc_major: i32,
    pub cc_minor: i32,
    pub sm_count: i32,
    pub smem_per_block_bytes: i32,
    pub smem_per_sm_bytes: i32,
    pub max_threads_per_sm: i32,
    pub sm_clock_mhz: i32,
    pub l2_bytes: i64,
    pub memory_bytes: i64,
    pub dram_gbs: f64,
    pub tensor_tflops: f64,
    pub driver_version: i32,
}

impl Default for gm_device {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_kernel_info {
    pub size: usize,
    pub name: *const c_char,
    pub operation: *const c_char,
    pub family: *const c_char,
    pub arch: gm_arch,
    pub production: i32,
    pub r#type: gm_type,
    pub threads: i32,
    pub smem_bytes: i32,
    pub cluster_ctas: i32,
    pub registers: i32,
    pub spill_bytes: i32,
    pub columns: *const c_char,
    pub targets: *const c_char,
    pub image_bytes: usize,
}

impl Default for gm_kernel_info {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_ledger_info {
    pub size: usize,
    pub device: [c_char; 64],
    pub cc_major: i32,
    pub cc_minor: i32,
    pub sm_count: i32,
    pub entries: usize,
}

impl Default for gm_ledger_info {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_plan_options {
    pub size: usize,
    pub arch_mask: u32,
    pub kernel: *const c_char,
    pub sm_budget: i32,
    pub flags: u32,
    pub ledger: *const gm_ledger,
    pub workspace_limit: usize,
    pub argument_sets: i32,
}

impl Default for gm_plan_options {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_candidate {
    pub kernel: i32,
    pub chosen: i32,
    pub reason: gm_reason,
    pub predicted_us: f64,
    pub sentence: [c_char; 232],
    pub source: gm_source,
    pub measured_us: f64,
}

impl Default for gm_candidate {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        unsafe { zeroed() }
    }
}

extern "C" {
    pub fn gm_status_name(status: gm_status) -> *const c_char;
    pub fn gm_status_string(status: gm_status) -> *const c_char;
    pub fn gm_last_error() -> *const c_char;
    pub fn gm_last_cuda_result() -> c_int;
    pub fn gm_version() -> c_int;
    pub fn gm_version_string() -> *const c_char;
    pub fn gm_build_info() -> *const c_char;
    pub fn gm_set_log_callback(r#fn: gm_log_fn, level: gm_log_level, user: *mut c_void);
    pub fn gm_device_count(count: *mut c_int) -> gm_status;
    pub fn gm_device_query(ordinal: c_int, device: *mut gm_device) -> gm_status;
    pub fn gm_device_model(name: *const c_char, device: *mut gm_device) -> gm_status;
    pub fn gm_kernel_count() -> usize;
    pub fn gm_kernel_get(index: usize, info: *mut gm_kernel_info) -> gm_status;
    pub fn gm_ledger_parse(text: *const c_char, bytes: usize, ledger: *mut *mut gm_ledger) -> gm_status;
    pub fn gm_ledger_read(path: *const c_char, ledger: *mut *mut gm_ledger) -> gm_status;
    pub fn gm_ledger_destroy(ledger: *mut gm_ledger);
    pub fn gm_ledger_builtin(device: *const gm_device) -> *const gm_ledger;
    pub fn gm_ledger_get_info(ledger: *const gm_ledger, info: *mut gm_ledger_info) -> gm_status;
    pub fn gm_context_create(device_ordinal: c_int, context: *mut *mut gm_context) -> gm_status;
    pub fn gm_context_destroy(context: *mut gm_context);
    pub fn gm_context_device(context: *const gm_context, device: *mut gm_device) -> gm_status;
    pub fn gm_plan_destroy(plan: *mut gm_plan);
    pub fn gm_plan_workspace_bytes(plan: *const gm_plan) -> usize;
    pub fn gm_plan_kernel(plan: *const gm_plan) -> c_int;
    pub fn gm_plan_predicted_us(plan: *const gm_plan) -> f64;
    pub fn gm_reason_name(reason: gm_reason) -> *const c_char;
    pub fn gm_reason_count() -> c_int;
}

// ---- attention.h ---------------------------------------------------------------------------------------------------


pub type gm_attention_kv_layout = c_uint;
pub const GM_ATTENTION_KV_BATCHED: gm_attention_kv_layout = 0;
pub const GM_ATTENTION_KV_RAGGED: gm_attention_kv_layout = 1;
pub const GM_ATTENTION_KV_PAGED: gm_attention_kv_layout = 2;

pub type gm_attention_mask = c_uint;
pub const GM_ATTENTION_FULL: gm_attention_mask = 0;
pub const GM_ATTENTION_CAUSAL: gm_attention_mask = 1;
pub const GM_ATTENTION_WINDOW: gm_attention_mask = 2;

pub type gm_attention_kv_type = c_uint;
pub const GM_ATTENTION_KV_SAME: gm_attention_kv_type = 0;
pub const GM_ATTENTION_KV_E4M3: gm_attention_kv_type = 1;

pub type gm_attention_out = c_uint;
pub const GM_ATTENTION_OUT_SAME: gm_attention_out = 0;
pub const GM_ATTENTION_OUT_FP32: gm_attention_out = 1;
pub const GM_ATTENTION_OUT_BF16: gm_attention_out = 2;
pub const GM_ATTENTION_OUT_FP16: gm_attention_out = 3;

pub type gm_attention_scales = c_uint;
pub const GM_ATTENTION_SCALES_NONE: gm_attention_scales = 0;
pub const GM_ATTENTION_SCALES_TENSOR: gm_attention_scales = 1;
pub const GM_ATTENTION_SCALES_HEAD: gm_attention_scales = 2;
pub const GM_ATTENTION_SCALES_REQUEST_HEAD: gm_attention_scales = 3;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_attention_problem {
    pub size: usize,
    pub max_batch: i64,
    pub max_q_tokens: i64,
    pub max_q_len: i64,
    pub max_kv_len: i64,
    pub q_heads: i64,
    pub kv_heads: i64,
    pub head_dim: i64,
    pub v_head_dim: i64,
    pub page_size: i64,
    pub page_count: i64,
    pub kv_tokens: i64,
    pub table_stride: i64,
    pub q_token_stride: i64,
    pub q_head_stride: i64,
    pub out_token_stride: i64,
    pub out_head_stride: i64,
    pub k_page_stride: i64,
    pub k_token_stride: i64,
    pub k_head_stride: i64,
    pub v_page_stride: i64,
    pub v_token_stride: i64,
    pub v_head_stride: i64,
    pub lse_token_stride: i64,
    pub lse_head_stride: i64,
    pub left: i64,
    pub right: i64,
    pub r#type: gm_type,
    pub kv_type: gm_attention_kv_type,
    pub out: gm_attention_out,
    pub scales: gm_attention_scales,
    pub kv_layout: gm_attention_kv_layout,
    pub mask: gm_attention_mask,
    pub scale: f32,
    pub softcap: f32,
    pub has_sinks: i32,
    pub has_lse: i32,
    pub has_tree_mask: i32,
    pub v_is_k: i32,
    pub q_align: i32,
    pub out_align: i32,
    pub k_align: i32,
    pub v_align: i32,
}

impl Default for gm_attention_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_attention_args {
    pub size: usize,
    pub batch: i64,
    pub q: gm_device_ptr,
    pub k: gm_device_ptr,
    pub v: gm_device_ptr,
    pub out: gm_device_ptr,
    pub lse: gm_device_ptr,
    pub q_indptr: gm_device_ptr,
    pub kv_len: gm_device_ptr,
    pub kv_indptr: gm_device_ptr,
    pub page_table: gm_device_ptr,
    pub sinks: gm_device_ptr,
    pub tree_mask: gm_device_ptr,
    pub q_scale: gm_device_ptr,
    pub k_scale: gm_device_ptr,
    pub v_scale: gm_device_ptr,
    pub workspace: gm_device_ptr,
    pub workspace_bytes: usize,
}

impl Default for gm_attention_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_attention_plan_create(context: *mut gm_context, problem: *const gm_attention_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_attention_execute(plan: *const gm_plan, args: *const gm_attention_args, stream: *mut c_void) -> gm_status;
    pub fn gm_attention(context: *mut gm_context, problem: *const gm_attention_problem, args: *const gm_attention_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_attention_explain(device: *const gm_device, problem: *const gm_attention_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- attention_merge.h ---------------------------------------------------------------------------------------------


#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_attention_merge_problem {
    pub size: usize,
    pub tokens: i64,
    pub heads: i64,
    pub head_dim: i64,
    pub a_token_stride: i64,
    pub a_head_stride: i64,
    pub b_token_stride: i64,
    pub b_head_stride: i64,
    pub out_token_stride: i64,
    pub out_head_stride: i64,
    pub lse_a_token_stride: i64,
    pub lse_a_head_stride: i64,
    pub lse_b_token_stride: i64,
    pub lse_b_head_stride: i64,
    pub lse_token_stride: i64,
    pub lse_head_stride: i64,
    pub r#type: gm_type,
    pub out_type: gm_type,
    pub has_out_type: i32,
    pub a_align: i32,
    pub b_align: i32,
    pub out_align: i32,
}

impl Default for gm_attention_merge_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_attention_merge_args {
    pub size: usize,
    pub a: gm_device_ptr,
    pub b: gm_device_ptr,
    pub lse_a: gm_device_ptr,
    pub lse_b: gm_device_ptr,
    pub out: gm_device_ptr,
    pub lse: gm_device_ptr,
    pub row_count: gm_device_ptr,
}

impl Default for gm_attention_merge_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_attention_merge_plan_create(context: *mut gm_context, problem: *const gm_attention_merge_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_attention_merge_execute(plan: *const gm_plan, args: *const gm_attention_merge_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_attention_merge(context: *mut gm_context, problem: *const gm_attention_merge_problem,
        args: *const gm_attention_merge_args, stream: *mut c_void) -> gm_status;
    pub fn gm_attention_merge_explain(device: *const gm_device, problem: *const gm_attention_merge_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- axpby.h -------------------------------------------------------------------------------------------------------


pub type gm_axpby_terms = c_uint;
pub const GM_AXPBY_X: gm_axpby_terms = 0;
pub const GM_AXPBY_X_AND_Y: gm_axpby_terms = 1;
pub const GM_AXPBY_NEITHER: gm_axpby_terms = 2;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_axpby_problem {
    pub size: usize,
    pub rows: i64,
    pub columns: i64,
    pub r#type: gm_type,
    pub y_type: gm_type,
    pub out_type: gm_type,
    pub terms: gm_axpby_terms,
    pub alpha: f32,
    pub beta: f32,
    pub gamma: f32,
    pub x_align: i32,
    pub y_align: i32,
    pub out_align: i32,
    pub x_stride: i64,
    pub y_stride: i64,
    pub out_stride: i64,
}

impl Default for gm_axpby_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_axpby_args {
    pub size: usize,
    pub x: gm_device_ptr,
    pub y: gm_device_ptr,
    pub out: gm_device_ptr,
    pub row_count: gm_device_ptr,
}

impl Default for gm_axpby_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_axpby_plan_create(context: *mut gm_context, problem: *const gm_axpby_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_axpby_execute(plan: *const gm_plan, args: *const gm_axpby_args, stream: *mut c_void) -> gm_status;
    pub fn gm_axpby(context: *mut gm_context, problem: *const gm_axpby_problem, args: *const gm_axpby_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_axpby_explain(device: *const gm_device, problem: *const gm_axpby_problem, options: *const gm_plan_options,
        candidates: *mut gm_candidate, capacity: usize, count: *mut usize) -> gm_status;
}

// ---- convolution.h -------------------------------------------------------------------------------------------------


pub type gm_convolution_edge = c_uint;
pub const GM_CONVOLUTION_ZERO: gm_convolution_edge = 0;
pub const GM_CONVOLUTION_CLAMP: gm_convolution_edge = 1;
pub const GM_CONVOLUTION_WRAP: gm_convolution_edge = 2;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_convolution_problem {
    pub size: usize,
    pub width: i64,
    pub height: i64,
    pub planes: i64,
    pub filter_width: i64,
    pub filter_height: i64,
    pub shift_x: i64,
    pub shift_y: i64,
    pub x_row_stride: i64,
    pub x_plane_stride: i64,
    pub out_row_stride: i64,
    pub out_plane_stride: i64,
    pub r#type: gm_type,
    pub edge: gm_convolution_edge,
    pub separable: i32,
    pub x_align: i32,
    pub out_align: i32,
}

impl Default for gm_convolution_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_convolution_args {
    pub size: usize,
    pub x: gm_device_ptr,
    pub filter: gm_device_ptr,
    pub filter_y: gm_device_ptr,
    pub out: gm_device_ptr,
}

impl Default for gm_convolution_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_convolution_plan_create(context: *mut gm_context, problem: *const gm_convolution_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_convolution_execute(plan: *const gm_plan, args: *const gm_convolution_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_convolution(context: *mut gm_context, problem: *const gm_convolution_problem,
        args: *const gm_convolution_args, stream: *mut c_void) -> gm_status;
    pub fn gm_convolution_explain(device: *const gm_device, problem: *const gm_convolution_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- quantize.h ----------------------------------------------------------------------------------------------------


pub type gm_scaling = c_uint;
pub const GM_SCALE_STATIC: gm_scaling = 0;
pub const GM_SCALE_AMAX_ONLY: gm_scaling = 1;
pub const GM_SCALE_ROW: gm_scaling = 2;
pub const GM_SCALE_GROUP: gm_scaling = 3;
pub const GM_SCALE_BLOCK: gm_scaling = 4;

pub type gm_scale_format = c_uint;
pub const GM_SCALE_FP32: gm_scale_format = 0;
pub const GM_SCALE_POWER_OF_2: gm_scale_format = 1;
pub const GM_SCALE_E8M0: gm_scale_format = 2;

pub type gm_scale_order = c_uint;
pub const GM_SCALES_BY_ROW: gm_scale_order = 0;
pub const GM_SCALES_BY_COLUMN: gm_scale_order = 1;

pub type gm_division = c_uint;
pub const GM_DIVIDE: gm_division = 0;
pub const GM_DIVIDE_BY_RECIPROCAL: gm_division = 1;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_quantize_problem {
    pub size: usize,
    pub rows: i64,
    pub columns: i64,
    pub group: i64,
    pub r#type: gm_type,
    pub out_type: gm_type,
    pub scaling: gm_scaling,
    pub scale_format: gm_scale_format,
    pub scale_order: gm_scale_order,
    pub division: gm_division,
    pub x_stride: i64,
    pub out_stride: i64,
    pub scales_stride: i64,
    pub x_align: i32,
    pub out_align: i32,
    pub scale_floor: f32,
}

impl Default for gm_quantize_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_quantize_args {
    pub size: usize,
    pub x: gm_device_ptr,
    pub out: gm_device_ptr,
    pub scales: gm_device_ptr,
    pub row_count: gm_device_ptr,
}

impl Default for gm_quantize_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_quantize_plan_create(context: *mut gm_context, problem: *const gm_quantize_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_quantize_execute(plan: *const gm_plan, args: *const gm_quantize_args, stream: *mut c_void) -> gm_status;
    pub fn gm_quantize(context: *mut gm_context, problem: *const gm_quantize_problem, args: *const gm_quantize_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_quantize_explain(device: *const gm_device, problem: *const gm_quantize_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- dequantize.h --------------------------------------------------------------------------------------------------


#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_dequantize_problem {
    pub size: usize,
    pub rows: i64,
    pub columns: i64,
    pub group: i64,
    pub r#type: gm_type,
    pub out_type: gm_type,
    pub scaling: gm_scaling,
    pub scale_format: gm_scale_format,
    pub scale_order: gm_scale_order,
    pub x_align: i32,
    pub out_align: i32,
    pub x_stride: i64,
    pub out_stride: i64,
    pub scales_stride: i64,
}

impl Default for gm_dequantize_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_dequantize_args {
    pub size: usize,
    pub x: gm_device_ptr,
    pub out: gm_device_ptr,
    pub scales: gm_device_ptr,
    pub row_count: gm_device_ptr,
}

impl Default for gm_dequantize_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_dequantize_plan_create(context: *mut gm_context, problem: *const gm_dequantize_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_dequantize_execute(plan: *const gm_plan, args: *const gm_dequantize_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_dequantize(context: *mut gm_context, problem: *const gm_dequantize_problem,
        args: *const gm_dequantize_args, stream: *mut c_void) -> gm_status;
    pub fn gm_dequantize_explain(device: *const gm_device, problem: *const gm_dequantize_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- embed.h -------------------------------------------------------------------------------------------------------


#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_embed_problem {
    pub size: usize,
    pub tokens: i64,
    pub columns: i64,
    pub vocabulary: i64,
    pub r#type: gm_type,
    pub int64_ids: i32,
    pub scale: f32,
    pub table_stride: i64,
    pub out_stride: i64,
    pub table_align: i32,
    pub out_align: i32,
}

impl Default for gm_embed_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_embed_args {
    pub size: usize,
    pub ids: gm_device_ptr,
    pub table: gm_device_ptr,
    pub out: gm_device_ptr,
    pub error_flag: gm_device_ptr,
    pub row_count: gm_device_ptr,
}

impl Default for gm_embed_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_embed_plan_create(context: *mut gm_context, problem: *const gm_embed_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_embed_execute(plan: *const gm_plan, args: *const gm_embed_args, stream: *mut c_void) -> gm_status;
    pub fn gm_embed(context: *mut gm_context, problem: *const gm_embed_problem, args: *const gm_embed_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_embed_explain(device: *const gm_device, problem: *const gm_embed_problem, options: *const gm_plan_options,
        candidates: *mut gm_candidate, capacity: usize, count: *mut usize) -> gm_status;
}

// ---- gemm.h --------------------------------------------------------------------------------------------------------


pub type gm_bias = c_uint;
pub const GM_BIAS_NONE: gm_bias = 0;
pub const GM_BIAS_N: gm_bias = 1;
pub const GM_BIAS_M: gm_bias = 2;

pub type gm_gate = c_uint;
pub const GM_GATE_NONE: gm_gate = 0;
pub const GM_GATE_HALVES: gm_gate = 1;
pub const GM_GATE_PAIRS: gm_gate = 2;

pub type gm_granularity = c_uint;
pub const GM_PER_NONE: gm_granularity = 0;
pub const GM_PER_TENSOR: gm_granularity = 1;
pub const GM_PER_ROW: gm_granularity = 2;
pub const GM_PER_GROUP: gm_granularity = 3;
pub const GM_PER_BLOCK: gm_granularity = 4;

pub type gm_gemm_operand = c_uint;
pub const GM_GEMM_A: gm_gemm_operand = 0;
pub const GM_GEMM_B: gm_gemm_operand = 1;

pub type gm_schedule = c_uint;
pub const GM_MULTISTAGE: gm_schedule = 0;
pub const GM_COOPERATIVE: gm_schedule = 1;
pub const GM_PINGPONG: gm_schedule = 2;

pub type gm_smem_map = c_uint;
pub const GM_SMEM_PADDED: gm_smem_map = 0;
pub const GM_SMEM_XOR: gm_smem_map = 1;
pub const GM_SMEM_NONE: gm_smem_map = 2;
pub const GM_SMEM_SWIZZLE_32B: gm_smem_map = 32;
pub const GM_SMEM_SWIZZLE_64B: gm_smem_map = 64;
pub const GM_SMEM_SWIZZLE_128B: gm_smem_map = 128;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_gemm_problem {
    pub size: usize,
    pub m: i64,
    pub n: i64,
    pub k: i64,
    pub ab_type: gm_type,
    pub d_type: gm_type,
    pub a_major: gm_major,
    pub b_major: gm_major,
    pub lda: i64,
    pub ldb: i64,
    pub ldc: i64,
    pub ldd: i64,
    pub activation: gm_activation,
    pub bias: gm_bias,
    pub bias_type: gm_type,
    pub a_align: i32,
    pub b_align: i32,
    pub d_align: i32,
    pub gate: gm_gate,
    pub limit: f32,
    pub sigmoid_factor: f32,
    pub up_offset: f32,
    pub batch: i64,
    pub a_batch_stride: i64,
    pub b_batch_stride: i64,
    pub c_batch_stride: i64,
    pub d_batch_stride: i64,
    pub bias_batch_stride: i64,
    pub pointer_arrays: i64,
    pub a_scales: gm_granularity,
    pub b_scales: gm_granularity,
    pub zero_points: i64,
    pub has_c_type: i32,
    pub c_type: gm_type,
    pub residual: i32,
    pub residual_type: gm_type,
    pub ldr: i64,
    pub amax: i32,
    pub d_scale_floor: f32,
    pub d_scaling: gm_scaling,
    pub d_scale_format: gm_scale_format,
    pub d_scale_order: gm_scale_order,
    pub d_division: gm_division,
    pub d_group: i64,
    pub d_scales_stride: i64,
    pub fast_accumulation: i64,
    pub a_scale_order: gm_scale_order,
    pub b_scale_order: gm_scale_order,
    pub a_scales_stride: i64,
    pub b_scales_stride: i64,
    pub a_scale_format: gm_scale_format,
    pub b_scale_format: gm_scale_format,
    pub has_b_type: i32,
    pub b_type: gm_type,
}

impl Default for gm_gemm_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_gemm_args {
    pub size: usize,
    pub a: gm_device_ptr,
    pub b: gm_device_ptr,
    pub c: gm_device_ptr,
    pub d: gm_device_ptr,
    pub bias: gm_device_ptr,
    pub alpha: *const f32,
    pub beta: *const f32,
    pub workspace: gm_device_ptr,
    pub workspace_bytes: usize,
    pub left_out: gm_device_ptr,
    pub a_scales: gm_device_ptr,
    pub b_scales: gm_device_ptr,
    pub a_zeros: gm_device_ptr,
    pub b_sums: gm_device_ptr,
    pub residual: gm_device_ptr,
    pub amax: gm_device_ptr,
    pub d_scales: gm_device_ptr,
}

impl Default for gm_gemm_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_gemm_kernel_info {
    pub size: usize,
    pub a_major: gm_major,
    pub b_major: gm_major,
    pub tile_m: i32,
    pub tile_n: i32,
    pub tile_k: i32,
    pub stages: i32,
    pub cluster_m: i32,
    pub cluster_n: i32,
    pub cluster_k: i32,
    pub schedule: gm_schedule,
    pub smem_map: gm_smem_map,
    pub consumers: i32,
    pub warps_m: i32,
    pub warps_n: i32,
    pub warp_k: i32,
    pub swap: i32,
    pub split_k: i32,
    pub gate: i64,
    pub batch: i64,
    pub extended: i64,
    pub fast_accumulation: i64,
    pub sum_scales: i64,
}

impl Default for gm_gemm_kernel_info {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_gemm_plan_create(context: *mut gm_context, problem: *const gm_gemm_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_gemm_execute(plan: *const gm_plan, args: *const gm_gemm_args, stream: *mut c_void) -> gm_status;
    pub fn gm_gemm(context: *mut gm_context, problem: *const gm_gemm_problem, args: *const gm_gemm_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_gemm_packed(problem: *const gm_gemm_problem, operand: gm_gemm_operand, packed: *mut gm_gemm_problem,
        bytes: *mut usize) -> gm_status;
    pub fn gm_gemm_pack(context: *mut gm_context, problem: *const gm_gemm_problem, operand: gm_gemm_operand,
        x: gm_device_ptr, out: gm_device_ptr, stream: *mut c_void) -> gm_status;
    pub fn gm_gemm_explain(device: *const gm_device, problem: *const gm_gemm_problem, options: *const gm_plan_options,
        candidates: *mut gm_candidate, capacity: usize, count: *mut usize) -> gm_status;
    pub fn gm_gemm_kernel_get(index: usize, info: *mut gm_gemm_kernel_info) -> gm_status;
}

// ---- glu.h ---------------------------------------------------------------------------------------------------------


pub type gm_glu_layout = c_uint;
pub const GM_GLU_APART: gm_glu_layout = 0;
pub const GM_GLU_INTERLEAVED: gm_glu_layout = 1;
pub const GM_GLU_NO_UP: gm_glu_layout = 2;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_glu_problem {
    pub size: usize,
    pub rows: i64,
    pub columns: i64,
    pub r#type: gm_type,
    pub layout: gm_glu_layout,
    pub activation: gm_activation,
    pub rounding: gm_rounding,
    pub limit: f32,
    pub sigmoid_factor: f32,
    pub up_offset: f32,
    pub gate_stride: i64,
    pub up_stride: i64,
    pub out_stride: i64,
    pub gate_align: i32,
    pub up_align: i32,
    pub out_align: i32,
    pub has_out_type: i32,
    pub out_type: gm_type,
    pub out_rounding: gm_rounding,
    pub scaling: gm_scaling,
    pub scale_format: gm_scale_format,
    pub scale_order: gm_scale_order,
    pub division: gm_division,
    pub scale_floor: f32,
    pub group: i64,
    pub scales_stride: i64,
}

impl Default for gm_glu_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_glu_args {
    pub size: usize,
    pub gate: gm_device_ptr,
    pub up: gm_device_ptr,
    pub out: gm_device_ptr,
    pub row_count: gm_device_ptr,
    pub scales: gm_device_ptr,
}

impl Default for gm_glu_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_glu_plan_create(context: *mut gm_context, problem: *const gm_glu_problem, options: *const gm_plan_options,
        plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_glu_execute(plan: *const gm_plan, args: *const gm_glu_args, stream: *mut c_void) -> gm_status;
    pub fn gm_glu(context: *mut gm_context, problem: *const gm_glu_problem, args: *const gm_glu_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_glu_explain(device: *const gm_device, problem: *const gm_glu_problem, options: *const gm_plan_options,
        candidates: *mut gm_candidate, capacity: usize, count: *mut usize) -> gm_status;
}

// ---- histogram.h ---------------------------------------------------------------------------------------------------

pub const GM_HISTOGRAM_WORKSPACE_BYTES: usize = 4096;

pub type gm_histogram_of = c_uint;
pub const GM_HISTOGRAM_ALL: gm_histogram_of = 0;
pub const GM_HISTOGRAM_ROWS: gm_histogram_of = 1;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_histogram_problem {
    pub size: usize,
    pub rows: i64,
    pub columns: i64,
    pub bins: i64,
    pub r#type: gm_type,
    pub of: gm_histogram_of,
    pub int64_counts: i32,
    pub accumulate: i32,
    pub x_stride: i64,
    pub counts_stride: i64,
    pub first: i64,
    pub width: i64,
    pub lower: f32,
    pub upper: f32,
}

impl Default for gm_histogram_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_histogram_args {
    pub size: usize,
    pub x: gm_device_ptr,
    pub counts: gm_device_ptr,
    pub row_count: gm_device_ptr,
    pub workspace: gm_device_ptr,
    pub workspace_bytes: usize,
}

impl Default for gm_histogram_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_histogram_plan_create(context: *mut gm_context, problem: *const gm_histogram_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_histogram_execute(plan: *const gm_plan, args: *const gm_histogram_args, stream: *mut c_void) -> gm_status;
    pub fn gm_histogram(context: *mut gm_context, problem: *const gm_histogram_problem, args: *const gm_histogram_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_histogram_explain(device: *const gm_device, problem: *const gm_histogram_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- layer_norm.h --------------------------------------------------------------------------------------------------


#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_layer_norm_problem {
    pub size: usize,
    pub rows: i64,
    pub columns: i64,
    pub r#type: gm_type,
    pub fp32_weight: i32,
    pub residual: i32,
    pub eps: f32,
    pub weight_offset: f32,
    pub sum_rounding: gm_rounding,
    pub normalized_rounding: gm_rounding,
    pub x_align: i32,
    pub residual_align: i32,
    pub weight_align: i32,
    pub bias_align: i32,
    pub out_align: i32,
    pub x_stride: i64,
    pub residual_stride: i64,
    pub out_stride: i64,
    pub has_out_type: i32,
    pub out_type: gm_type,
    pub out_rounding: gm_rounding,
    pub norm_rounding: gm_rounding,
    pub scaling: gm_scaling,
    pub scale_format: gm_scale_format,
    pub scale_order: gm_scale_order,
    pub division: gm_division,
    pub group: i64,
    pub scales_stride: i64,
    pub scale_floor: f32,
    pub x_weight_align: i32,
}

impl Default for gm_layer_norm_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_layer_norm_args {
    pub size: usize,
    pub x: gm_device_ptr,
    pub residual: gm_device_ptr,
    pub weight: gm_device_ptr,
    pub bias: gm_device_ptr,
    pub out: gm_device_ptr,
    pub row_count: gm_device_ptr,
    pub x_weight: gm_device_ptr,
    pub x_bias: gm_device_ptr,
    pub scales: gm_device_ptr,
}

impl Default for gm_layer_norm_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_layer_norm_plan_create(context: *mut gm_context, problem: *const gm_layer_norm_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_layer_norm_execute(plan: *const gm_plan, args: *const gm_layer_norm_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_layer_norm(context: *mut gm_context, problem: *const gm_layer_norm_problem,
        args: *const gm_layer_norm_args, stream: *mut c_void) -> gm_status;
    pub fn gm_layer_norm_explain(device: *const gm_device, problem: *const gm_layer_norm_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- moe_align.h ---------------------------------------------------------------------------------------------------


#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_moe_align_problem {
    pub size: usize,
    pub tokens: i64,
    pub k: i64,
    pub experts: i64,
    pub alignment: i64,
}

impl Default for gm_moe_align_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_moe_align_args {
    pub size: usize,
    pub ids: gm_device_ptr,
    pub offsets: gm_device_ptr,
    pub rows: gm_device_ptr,
    pub inverse: gm_device_ptr,
    pub row_count: gm_device_ptr,
}

impl Default for gm_moe_align_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_moe_align_plan_create(context: *mut gm_context, problem: *const gm_moe_align_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_moe_align_execute(plan: *const gm_plan, args: *const gm_moe_align_args, stream: *mut c_void) -> gm_status;
    pub fn gm_moe_align(context: *mut gm_context, problem: *const gm_moe_align_problem, args: *const gm_moe_align_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_moe_align_explain(device: *const gm_device, problem: *const gm_moe_align_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- moe_finalize.h ------------------------------------------------------------------------------------------------


#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_moe_finalize_problem {
    pub size: usize,
    pub tokens: i64,
    pub columns: i64,
    pub k: i64,
    pub x_rows: i64,
    pub x_stride: i64,
    pub residual_stride: i64,
    pub out_stride: i64,
    pub r#type: gm_type,
    pub x_align: i32,
    pub residual_align: i32,
    pub out_align: i32,
}

impl Default for gm_moe_finalize_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_moe_finalize_args {
    pub size: usize,
    pub x: gm_device_ptr,
    pub inverse: gm_device_ptr,
    pub weights: gm_device_ptr,
    pub residual: gm_device_ptr,
    pub out: gm_device_ptr,
    pub row_count: gm_device_ptr,
}

impl Default for gm_moe_finalize_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_moe_finalize_plan_create(context: *mut gm_context, problem: *const gm_moe_finalize_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_moe_finalize_execute(plan: *const gm_plan, args: *const gm_moe_finalize_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_moe_finalize(context: *mut gm_context, problem: *const gm_moe_finalize_problem,
        args: *const gm_moe_finalize_args, stream: *mut c_void) -> gm_status;
    pub fn gm_moe_finalize_explain(device: *const gm_device, problem: *const gm_moe_finalize_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- moe_route.h ---------------------------------------------------------------------------------------------------


pub type gm_route_method = c_uint;
pub const GM_ROUTE_SOFTMAX_TOP_K: gm_route_method = 0;
pub const GM_ROUTE_TOP_K_SOFTMAX: gm_route_method = 1;
pub const GM_ROUTE_SIGMOID_GROUPED: gm_route_method = 2;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_moe_route_problem {
    pub size: usize,
    pub tokens: i64,
    pub experts: i64,
    pub k: i64,
    pub groups: i64,
    pub top_groups: i64,
    pub logits_stride: i64,
    pub r#type: gm_type,
    pub method: gm_route_method,
    pub renormalize: i32,
    pub scale: f32,
    pub logits_align: i32,
}

impl Default for gm_moe_route_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_moe_route_args {
    pub size: usize,
    pub logits: gm_device_ptr,
    pub bias: gm_device_ptr,
    pub ids: gm_device_ptr,
    pub weights: gm_device_ptr,
    pub row_count: gm_device_ptr,
}

impl Default for gm_moe_route_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_moe_route_plan_create(context: *mut gm_context, problem: *const gm_moe_route_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_moe_route_execute(plan: *const gm_plan, args: *const gm_moe_route_args, stream: *mut c_void) -> gm_status;
    pub fn gm_moe_route(context: *mut gm_context, problem: *const gm_moe_route_problem, args: *const gm_moe_route_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_moe_route_explain(device: *const gm_device, problem: *const gm_moe_route_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- permute.h -----------------------------------------------------------------------------------------------------

pub const GM_PERMUTE_RANK_MAX: c_int = 5;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_permute_problem {
    pub size: usize,
    pub rank: i64,
    pub extents: [i64; 5],
    pub x_strides: [i64; 5],
    pub out_strides: [i64; 5],
    pub order: [i32; 5],
    pub element_bytes: i32,
    pub r#type: gm_type,
    pub out_type: gm_type,
    pub x_align: i32,
    pub out_align: i32,
}

impl Default for gm_permute_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_permute_args {
    pub size: usize,
    pub x: gm_device_ptr,
    pub out: gm_device_ptr,
}

impl Default for gm_permute_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_permute_plan_create(context: *mut gm_context, problem: *const gm_permute_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_permute_execute(plan: *const gm_plan, args: *const gm_permute_args, stream: *mut c_void) -> gm_status;
    pub fn gm_permute(context: *mut gm_context, problem: *const gm_permute_problem, args: *const gm_permute_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_permute_explain(device: *const gm_device, problem: *const gm_permute_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- process_logits.h ----------------------------------------------------------------------------------------------


#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_process_logits_problem {
    pub size: usize,
    pub rows: i64,
    pub columns: i64,
    pub slots: i64,
    pub r#type: gm_type,
    pub fp32_out: i32,
    pub cap: f32,
    pub temperature: f32,
    pub repetition: f32,
    pub frequency: f32,
    pub presence: f32,
    pub logits_align: i32,
    pub logits_stride: i64,
    pub out_stride: i64,
    pub counts_stride: i64,
    pub bias_stride: i64,
    pub mask_stride: i64,
    pub out_align: i32,
    pub counts_align: i32,
    pub bias_align: i32,
}

impl Default for gm_process_logits_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_process_logits_args {
    pub size: usize,
    pub logits: gm_device_ptr,
    pub out: gm_device_ptr,
    pub counts: gm_device_ptr,
    pub bias: gm_device_ptr,
    pub mask: gm_device_ptr,
    pub slots: gm_device_ptr,
    pub bias_slots: gm_device_ptr,
    pub mask_slots: gm_device_ptr,
    pub last_ids: gm_device_ptr,
    pub temperatures: gm_device_ptr,
    pub repetitions: gm_device_ptr,
    pub frequencies: gm_device_ptr,
    pub presences: gm_device_ptr,
    pub row_count: gm_device_ptr,
}

impl Default for gm_process_logits_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_process_logits_plan_create(context: *mut gm_context, problem: *const gm_process_logits_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_process_logits_execute(plan: *const gm_plan, args: *const gm_process_logits_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_process_logits(context: *mut gm_context, problem: *const gm_process_logits_problem,
        args: *const gm_process_logits_args, stream: *mut c_void) -> gm_status;
    pub fn gm_process_logits_explain(device: *const gm_device, problem: *const gm_process_logits_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- reduce.h ------------------------------------------------------------------------------------------------------

pub const GM_REDUCE_WORKSPACE_BYTES: usize = 8388608;

pub type gm_reduce_along = c_uint;
pub const GM_REDUCE_COLUMNS: gm_reduce_along = 0;
pub const GM_REDUCE_ROWS: gm_reduce_along = 1;
pub const GM_REDUCE_ALL: gm_reduce_along = 2;

pub type gm_reduction = c_uint;
pub const GM_REDUCTION_SUM: gm_reduction = 0;
pub const GM_REDUCTION_MEAN: gm_reduction = 1;
pub const GM_REDUCTION_MAX: gm_reduction = 2;
pub const GM_REDUCTION_MIN: gm_reduction = 3;
pub const GM_REDUCTION_L2: gm_reduction = 4;
pub const GM_REDUCTION_ARGMAX: gm_reduction = 5;
pub const GM_REDUCTION_ARGMIN: gm_reduction = 6;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_reduce_problem {
    pub size: usize,
    pub rows: i64,
    pub columns: i64,
    pub r#type: gm_type,
    pub along: gm_reduce_along,
    pub reduction: gm_reduction,
    pub fp32_out: i32,
    pub x_stride: i64,
    pub x_align: i32,
}

impl Default for gm_reduce_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_reduce_args {
    pub size: usize,
    pub x: gm_device_ptr,
    pub out: gm_device_ptr,
    pub row_count: gm_device_ptr,
    pub workspace: gm_device_ptr,
    pub workspace_bytes: usize,
}

impl Default for gm_reduce_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_reduce_plan_create(context: *mut gm_context, problem: *const gm_reduce_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_reduce_execute(plan: *const gm_plan, args: *const gm_reduce_args, stream: *mut c_void) -> gm_status;
    pub fn gm_reduce(context: *mut gm_context, problem: *const gm_reduce_problem, args: *const gm_reduce_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_reduce_explain(device: *const gm_device, problem: *const gm_reduce_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- rms_norm.h ----------------------------------------------------------------------------------------------------


#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_rms_norm_problem {
    pub size: usize,
    pub rows: i64,
    pub columns: i64,
    pub r#type: gm_type,
    pub fp32_weight: i32,
    pub residual: i32,
    pub eps: f32,
    pub weight_offset: f32,
    pub sum_rounding: gm_rounding,
    pub normalized_rounding: gm_rounding,
    pub x_stride: i64,
    pub residual_stride: i64,
    pub out_stride: i64,
    pub x_align: i32,
    pub residual_align: i32,
    pub weight_align: i32,
    pub out_align: i32,
    pub heads: i64,
    pub x_head_stride: i64,
    pub out_head_stride: i64,
    pub has_out_type: i32,
    pub out_type: gm_type,
    pub out_rounding: gm_rounding,
    pub norm_rounding: gm_rounding,
    pub scaling: gm_scaling,
    pub scale_format: gm_scale_format,
    pub scale_order: gm_scale_order,
    pub division: gm_division,
    pub group: i64,
    pub scales_stride: i64,
    pub scale_floor: f32,
    pub x_weight_align: i32,
}

impl Default for gm_rms_norm_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_rms_norm_args {
    pub size: usize,
    pub x: gm_device_ptr,
    pub residual: gm_device_ptr,
    pub weight: gm_device_ptr,
    pub out: gm_device_ptr,
    pub row_count: gm_device_ptr,
    pub x_weight: gm_device_ptr,
    pub scales: gm_device_ptr,
}

impl Default for gm_rms_norm_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_rms_norm_plan_create(context: *mut gm_context, problem: *const gm_rms_norm_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_rms_norm_execute(plan: *const gm_plan, args: *const gm_rms_norm_args, stream: *mut c_void) -> gm_status;
    pub fn gm_rms_norm(context: *mut gm_context, problem: *const gm_rms_norm_problem, args: *const gm_rms_norm_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_rms_norm_explain(device: *const gm_device, problem: *const gm_rms_norm_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- rope.h --------------------------------------------------------------------------------------------------------


pub type gm_rope_pairing = c_uint;
pub const GM_ROPE_HALVES: gm_rope_pairing = 0;
pub const GM_ROPE_INTERLEAVED: gm_rope_pairing = 1;

pub type gm_rope_norm = c_uint;
pub const GM_ROPE_NO_NORM: gm_rope_norm = 0;
pub const GM_ROPE_NORM: gm_rope_norm = 1;

pub type gm_rope_append = c_uint;
pub const GM_ROPE_NO_APPEND: gm_rope_append = 0;
pub const GM_ROPE_APPEND: gm_rope_append = 1;
pub const GM_ROPE_APPEND_E4M3: gm_rope_append = 2;

pub type gm_rope_error = c_uint;
pub const GM_ROPE_ERROR_POSITION: gm_rope_error = 1;
pub const GM_ROPE_ERROR_SLOT: gm_rope_error = 2;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_rope_problem {
    pub size: usize,
    pub tokens: i64,
    pub q_heads: i64,
    pub kv_heads: i64,
    pub head_dim: i64,
    pub rotary_dim: i64,
    pub rotary_offset: i64,
    pub max_position: i64,
    pub page_size: i64,
    pub slot_count: i64,
    pub q_token_stride: i64,
    pub q_head_stride: i64,
    pub k_token_stride: i64,
    pub k_head_stride: i64,
    pub v_token_stride: i64,
    pub v_head_stride: i64,
    pub q_out_token_stride: i64,
    pub q_out_head_stride: i64,
    pub k_out_token_stride: i64,
    pub k_out_head_stride: i64,
    pub k_cache_page_stride: i64,
    pub k_cache_token_stride: i64,
    pub k_cache_head_stride: i64,
    pub v_cache_page_stride: i64,
    pub v_cache_token_stride: i64,
    pub v_cache_head_stride: i64,
    pub r#type: gm_type,
    pub pairing: gm_rope_pairing,
    pub inverse: i32,
    pub rounding: gm_rounding,
    pub norm: gm_rope_norm,
    pub fp32_weight: i32,
    pub normalized_rounding: gm_rounding,
    pub eps: f32,
    pub weight_offset: f32,
    pub append: gm_rope_append,
    pub int64_positions: i32,
    pub q_align: i32,
    pub k_align: i32,
    pub v_align: i32,
    pub q_out_align: i32,
    pub k_out_align: i32,
    pub k_cache_align: i32,
    pub v_cache_align: i32,
    pub q_weight_align: i32,
    pub k_weight_align: i32,
    pub table_align: i32,
}

impl Default for gm_rope_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_rope_args {
    pub size: usize,
    pub q: gm_device_ptr,
    pub k: gm_device_ptr,
    pub v: gm_device_ptr,
    pub positions: gm_device_ptr,
    pub table: gm_device_ptr,
    pub q_weight: gm_device_ptr,
    pub k_weight: gm_device_ptr,
    pub q_out: gm_device_ptr,
    pub k_out: gm_device_ptr,
    pub k_cache: gm_device_ptr,
    pub v_cache: gm_device_ptr,
    pub slots: gm_device_ptr,
    pub k_scale: gm_device_ptr,
    pub v_scale: gm_device_ptr,
    pub row_count: gm_device_ptr,
    pub error_flag: gm_device_ptr,
}

impl Default for gm_rope_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_rope_plan_create(context: *mut gm_context, problem: *const gm_rope_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_rope_execute(plan: *const gm_plan, args: *const gm_rope_args, stream: *mut c_void) -> gm_status;
    pub fn gm_rope(context: *mut gm_context, problem: *const gm_rope_problem, args: *const gm_rope_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_rope_explain(device: *const gm_device, problem: *const gm_rope_problem, options: *const gm_plan_options,
        candidates: *mut gm_candidate, capacity: usize, count: *mut usize) -> gm_status;
}

// ---- sample.h ------------------------------------------------------------------------------------------------------


#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_sample_problem {
    pub size: usize,
    pub rows: i64,
    pub columns: i64,
    pub r#type: gm_type,
    pub temperature: f32,
    pub top_p: f32,
    pub min_p: f32,
    pub top_k: i64,
    pub logits_stride: i64,
    pub logits_align: i32,
}

impl Default for gm_sample_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_sample_args {
    pub size: usize,
    pub logits: gm_device_ptr,
    pub ids: gm_device_ptr,
    pub logprobs: gm_device_ptr,
    pub temperatures: gm_device_ptr,
    pub top_ks: gm_device_ptr,
    pub top_ps: gm_device_ptr,
    pub min_ps: gm_device_ptr,
    pub seeds: gm_device_ptr,
    pub steps: gm_device_ptr,
    pub step: gm_device_ptr,
    pub row_count: gm_device_ptr,
    pub seed: u64,
    pub first_step: i64,
}

impl Default for gm_sample_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_sample_plan_create(context: *mut gm_context, problem: *const gm_sample_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_sample_execute(plan: *const gm_plan, args: *const gm_sample_args, stream: *mut c_void) -> gm_status;
    pub fn gm_sample(context: *mut gm_context, problem: *const gm_sample_problem, args: *const gm_sample_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_sample_explain(device: *const gm_device, problem: *const gm_sample_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- smem.h --------------------------------------------------------------------------------------------------------

pub const GM_LANES: c_int = 32;
pub const GM_BANKS: c_int = 32;
pub const GM_WAVEFRONTS_MAX: c_int = 64;
pub const GM_NO_WAVEFRONT: u32 = 255;
pub const GM_NO_WORD: u32 = 0xffffffff;
pub const GM_NO_WALK: u32 = 0xffffffff;

pub type gm_access_kind = c_uint;
pub const GM_ACCESS_LOAD: gm_access_kind = 0;
pub const GM_ACCESS_STORE: gm_access_kind = 1;
pub const GM_ACCESS_LDMATRIX: gm_access_kind = 2;
pub const GM_ACCESS_STMATRIX: gm_access_kind = 3;
pub const GM_ACCESS_CP_ASYNC: gm_access_kind = 4;
pub const GM_ACCESS_ATOMIC: gm_access_kind = 5;
pub const GM_ACCESS_INCREMENT: gm_access_kind = 6;
pub const GM_ACCESS_CAS: gm_access_kind = 7;

pub type gm_swizzle_mode = c_uint;
pub const GM_SWIZZLE_NONE: gm_swizzle_mode = 0;
pub const GM_SWIZZLE_32B: gm_swizzle_mode = 1;
pub const GM_SWIZZLE_64B: gm_swizzle_mode = 2;
pub const GM_SWIZZLE_128B: gm_swizzle_mode = 3;

pub type gm_cure = c_uint;
pub const GM_CURE_NONE_NEEDED: gm_cure = 0;
pub const GM_CURE_PAD: gm_cure = 1;
pub const GM_CURE_SWIZZLE: gm_cure = 2;
pub const GM_CURE_NOTHING_HELPS: gm_cure = 3;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_access {
    pub size: usize,
    pub kind: gm_access_kind,
    pub width: u32,
    pub matrices: u32,
    pub inactive: u32,
    pub address: [u32; 32],
}

impl Default for gm_access {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_bank_cost {
    pub size: usize,
    pub wavefronts: u32,
    pub ideal: u32,
    pub conflicts: u32,
    pub degree: u32,
    pub words: u32,
}

impl Default for gm_bank_cost {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_bank_map {
    pub size: usize,
    pub cost: gm_bank_cost,
    pub wavefront: [[u8; 4]; 32],
    pub word: [[u32; 32]; 64],
}

impl Default for gm_bank_map {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero.cost = Default::default();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_swizzle {
    pub bits: u32,
    pub base: u32,
    pub shift: i32,
}

impl Default for gm_swizzle {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        unsafe { zeroed() }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_smem_tile {
    pub size: usize,
    pub rows: u32,
    pub row_bytes: u32,
    pub pitch_bytes: u32,
    pub base: u32,
    pub swizzle: gm_swizzle,
}

impl Default for gm_smem_tile {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_swizzle_proof {
    pub size: usize,
    pub bijective: u32,
    pub self_inverse: u32,
    pub row_worst: [u32; 5],
    pub column_worst: [u32; 5],
    pub ldmatrix_worst: u32,
}

impl Default for gm_swizzle_proof {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_tile_access {
    pub size: usize,
    pub kind: gm_access_kind,
    pub width: u32,
    pub matrices: u32,
    pub inactive: u32,
    pub row: [u32; 32],
    pub byte: [u32; 32],
}

impl Default for gm_tile_access {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_pad_advice {
    pub size: usize,
    pub unit_bytes: u32,
    pub pad_bytes: u32,
    pub wavefronts: u32,
    pub wavefronts_padded: u32,
    pub ideal: u32,
    pub tile_bytes: u32,
    pub tile_bytes_padded: u32,
    pub blocks: i32,
    pub blocks_padded: i32,
    pub swizzle: gm_swizzle,
    pub wavefronts_swizzled: u32,
    pub cure: gm_cure,
    pub sentence: [c_char; 400],
}

impl Default for gm_pad_advice {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_pad_question {
    pub size: usize,
    pub tile: gm_smem_tile,
    pub tiles: u32,
    pub other_bytes: u32,
    pub hardware_swizzle: u32,
}

impl Default for gm_pad_question {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero.tile = Default::default();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_tensor_map_request {
    pub size: usize,
    pub r#type: i32,
    pub rank: u32,
    pub address: u64,
    pub dims: [u64; 5],
    pub strides: [u64; 4],
    pub r#box: [u32; 5],
    pub element_strides: [u32; 5],
    pub interleave: i32,
    pub swizzle: gm_swizzle_mode,
    pub l2_promotion: i32,
    pub oob_fill: i32,
}

impl Default for gm_tensor_map_request {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_rule {
    pub size: usize,
    pub name: *const c_char,
    pub holds: i32,
    pub sentence: [c_char; 200],
}

impl Default for gm_rule {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_matrix_descriptor {
    pub size: usize,
    pub start: u32,
    pub leading_bytes: u32,
    pub stride_bytes: u32,
    pub base_offset: u32,
    pub swizzle: gm_swizzle_mode,
}

impl Default for gm_matrix_descriptor {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_wgmma_operand {
    pub size: usize,
    pub major: gm_major,
    pub element_bytes: u32,
    pub rows: u32,
}

impl Default for gm_wgmma_operand {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_descriptor_question {
    pub size: usize,
    pub map: gm_tensor_map_request,
    pub destination: u32,
    pub boxes: u32,
    pub operand: gm_wgmma_operand,
    pub descriptor: u64,
    pub k_steps: u32,
    pub k_step_bytes: u32,
}

impl Default for gm_descriptor_question {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero.map = Default::default();
        zero.operand = Default::default();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_descriptor_answer {
    pub size: usize,
    pub agrees: i32,
    pub elements: u32,
    pub wrong: u32,
    pub row: u32,
    pub k: u32,
    pub written: u32,
    pub read: u32,
    pub sentence: [c_char; 400],
}

impl Default for gm_descriptor_answer {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_bank_cost(access: *const gm_access, cost: *mut gm_bank_cost) -> gm_status;
    pub fn gm_bank_map(access: *const gm_access, map: *mut gm_bank_map) -> gm_status;
    pub fn gm_swizzle_check(swizzle: gm_swizzle) -> gm_status;
    pub fn gm_swizzle_apply(swizzle: gm_swizzle, address: u32) -> u32;
    pub fn gm_swizzle_of_mode(mode: gm_swizzle_mode) -> gm_swizzle;
    pub fn gm_swizzle_span_bytes(mode: gm_swizzle_mode) -> u32;
    pub fn gm_swizzle_pattern_bytes(mode: gm_swizzle_mode) -> u32;
    pub fn gm_swizzle_of_elements(bytes: gm_swizzle, element_bytes: u32, elements: *mut gm_swizzle) -> gm_status;
    pub fn gm_smem_tile_address(tile: *const gm_smem_tile, row: u32, byte: u32, address: *mut u32) -> gm_status;
    pub fn gm_swizzle_prove(tile: *const gm_smem_tile, proof: *mut gm_swizzle_proof) -> gm_status;
    pub fn gm_tile_access_place(tile: *const gm_smem_tile, walk: *const gm_tile_access,
        access: *mut gm_access) -> gm_status;
    pub fn gm_swizzle_search(tile: *const gm_smem_tile, walks: *const gm_tile_access, count: usize,
        swizzle: *mut gm_swizzle, found: *mut c_int) -> gm_status;
    pub fn gm_pad_advise(question: *const gm_pad_question, walks: *const gm_tile_access, count: usize,
        device: *const gm_device, advice: *mut gm_pad_advice) -> gm_status;
    pub fn gm_tensor_map_explain(request: *const gm_tensor_map_request, rules: *mut gm_rule, capacity: usize,
        count: *mut usize, legal: *mut c_int) -> gm_status;
    pub fn gm_tensor_map_element_bytes(r#type: i32) -> u32;
    pub fn gm_tensor_map_box_bytes(request: *const gm_tensor_map_request) -> u32;
    pub fn gm_matrix_descriptor_encode(fields: *const gm_matrix_descriptor, bits: *mut u64) -> gm_status;
    pub fn gm_matrix_descriptor_decode(bits: u64, fields: *mut gm_matrix_descriptor) -> gm_status;
    pub fn gm_wgmma_address(descriptor: *const gm_matrix_descriptor, operand: *const gm_wgmma_operand, row: u32, k: u32,
        address: *mut u32) -> gm_status;
    pub fn gm_descriptor_compare(question: *const gm_descriptor_question,
        answer: *mut gm_descriptor_answer) -> gm_status;
    pub fn gm_descriptor_suggest(question: *const gm_descriptor_question, descriptor: *mut u64,
        k_step_bytes: *mut u32) -> gm_status;
}

// ---- softmax.h -----------------------------------------------------------------------------------------------------


#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_softmax_problem {
    pub size: usize,
    pub rows: i64,
    pub columns: i64,
    pub r#type: gm_type,
    pub fp32_out: i32,
    pub log: i32,
    pub cap: f32,
    pub temperature: f32,
    pub x_stride: i64,
    pub out_stride: i64,
    pub x_align: i32,
    pub out_align: i32,
}

impl Default for gm_softmax_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_softmax_args {
    pub size: usize,
    pub x: gm_device_ptr,
    pub out: gm_device_ptr,
    pub lse: gm_device_ptr,
    pub temperatures: gm_device_ptr,
    pub row_count: gm_device_ptr,
}

impl Default for gm_softmax_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_softmax_plan_create(context: *mut gm_context, problem: *const gm_softmax_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_softmax_execute(plan: *const gm_plan, args: *const gm_softmax_args, stream: *mut c_void) -> gm_status;
    pub fn gm_softmax(context: *mut gm_context, problem: *const gm_softmax_problem, args: *const gm_softmax_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_softmax_explain(device: *const gm_device, problem: *const gm_softmax_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}

// ---- stencil.h -----------------------------------------------------------------------------------------------------


pub type gm_stencil_shape = c_uint;
pub const GM_STENCIL_STAR_5: gm_stencil_shape = 0;
pub const GM_STENCIL_BOX_9: gm_stencil_shape = 1;
pub const GM_STENCIL_STAR_7: gm_stencil_shape = 2;
pub const GM_STENCIL_BOX_27: gm_stencil_shape = 3;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_stencil_problem {
    pub size: usize,
    pub width: i64,
    pub height: i64,
    pub depth: i64,
    pub grids: i64,
    pub x_row_stride: i64,
    pub x_plane_stride: i64,
    pub x_grid_stride: i64,
    pub out_row_stride: i64,
    pub out_plane_stride: i64,
    pub out_grid_stride: i64,
    pub r#type: gm_type,
    pub shape: gm_stencil_shape,
    pub edge: gm_convolution_edge,
    pub x_align: i32,
    pub out_align: i32,
    pub coefficients: [f32; 27],
}

impl Default for gm_stencil_problem {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct gm_stencil_args {
    pub size: usize,
    pub x: gm_device_ptr,
    pub out: gm_device_ptr,
}

impl Default for gm_stencil_args {
    fn default() -> Self {
        // SAFETY: numbers, null pointers and arrays of them are valid when all their bits are 0.
        let mut zero: Self = unsafe { zeroed() };
        zero.size = size_of::<Self>();
        zero
    }
}

extern "C" {
    pub fn gm_stencil_plan_create(context: *mut gm_context, problem: *const gm_stencil_problem,
        options: *const gm_plan_options, plan: *mut *mut gm_plan) -> gm_status;
    pub fn gm_stencil_execute(plan: *const gm_plan, args: *const gm_stencil_args, stream: *mut c_void) -> gm_status;
    pub fn gm_stencil(context: *mut gm_context, problem: *const gm_stencil_problem, args: *const gm_stencil_args,
        stream: *mut c_void) -> gm_status;
    pub fn gm_stencil_explain(device: *const gm_device, problem: *const gm_stencil_problem,
        options: *const gm_plan_options, candidates: *mut gm_candidate, capacity: usize,
        count: *mut usize) -> gm_status;
}
