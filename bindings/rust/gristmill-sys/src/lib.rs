// SPDX-License-Identifier: Apache-2.0
//! The C interface of gristmill, as the headers under include/gristmill/ describe it.
//!
//! A struct is made by `Default` with its `size` set and everything else 0:
//!
//! ```
//! use gristmill_sys::*;
//! let problem = gm_gemm_problem { m: 64, n: 64, k: 64, ..Default::default() };
//! let mut device = gm_device::default();
//! let mut count = 0;
//! unsafe {
//!     assert_eq!(gm_device_model(c"h200".as_ptr(), &mut device), GM_OK);
//!     let explained = gm_gemm_explain(&device, &problem, std::ptr::null(), std::ptr::null_mut(), 0, &mut count);
//!     assert_eq!(explained, GM_OK);
//! }
//! assert!(count > 0);
//! ```
#![no_std]
#![allow(non_camel_case_types)]

#[rustfmt::skip] // as tools/gen_bindings.py writes it
mod bindings;
pub use bindings::*;
