// SPDX-License-Identifier: Apache-2.0
// The library as a program sees it: versions, a model of a device, and a GEMM on the GPU that GM_DRIVER names. Memory
// is that of the driver, which the library has open already: `dlopen` by name finds the same one.
use gristmill_sys::*;
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::{env, mem, ptr};

const RTLD_NOW: c_int = 2;
extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

fn check(status: gm_status) {
    let (name, sentence) = unsafe { (CStr::from_ptr(gm_status_name(status)), CStr::from_ptr(gm_last_error())) };
    assert_eq!(status, GM_OK, "{}: {}", name.to_string_lossy(), sentence.to_string_lossy());
}

#[test]
fn version() {
    assert_eq!(unsafe { gm_version() }, GM_VERSION);
    assert_eq!(env!("CARGO_PKG_VERSION"), format!("{GM_VERSION_MAJOR}.{GM_VERSION_MINOR}.{GM_VERSION_PATCH}"));
    assert_eq!(unsafe { CStr::from_ptr(gm_version_string()) }.to_str(), Ok(env!("CARGO_PKG_VERSION")));
}

#[test]
fn defaults_have_their_size() {
    assert_eq!(gm_device::default().size, mem::size_of::<gm_device>());
    assert_eq!(gm_descriptor_question::default().map.size, mem::size_of::<gm_tensor_map_request>());
}

#[test]
fn explains() {
    let (mut device, mut count) = (gm_device::default(), 0);
    check(unsafe { gm_device_model(c"h200".as_ptr(), &mut device) });
    assert_eq!((device.cc_major, device.sm_count), (9, 132));
    let problem = gm_gemm_problem { m: 64, n: 4096, k: 4096, ..Default::default() };
    let mut candidates = vec![gm_candidate::default(); unsafe { gm_kernel_count() }];
    check(unsafe {
        gm_gemm_explain(&device, &problem, ptr::null(), candidates.as_mut_ptr(), candidates.len(), &mut count)
    });
    let chosen: Vec<_> = candidates[..count].iter().filter(|candidate| candidate.chosen == 1).collect();
    assert_eq!((chosen.len(), chosen[0].reason), (1, GM_ACCEPTED));
}

#[test]
fn refuses_with_a_sentence() {
    let mut device = gm_device::default();
    assert_eq!(unsafe { gm_device_model(c"h300".as_ptr(), &mut device) }, GM_ERROR_INVALID_ARGUMENT);
    assert!(unsafe { CStr::from_ptr(gm_last_error()) }.to_string_lossy().contains("h300"));
    device.size = 3;
    assert_eq!(unsafe { gm_device_model(c"h200".as_ptr(), &mut device) }, GM_ERROR_SIZE);
}

/// Functions of the CUDA driver that the library has open.
struct Driver(*mut c_void);

impl Driver {
    fn open() -> Driver {
        let file = match env::var("GM_DRIVER").as_deref() {
            Ok("sim") => format!("libgristmill-sim.so.{GM_VERSION_MAJOR}"),
            _ => "libcuda.so.1".into(),
        };
        let library = unsafe { dlopen(CString::new(file.as_str()).unwrap().as_ptr(), RTLD_NOW) };
        assert!(!library.is_null(), "{file} does not open");
        let driver = Driver(library);
        let retain: unsafe extern "C" fn(*mut *mut c_void, c_int) -> c_int =
            driver.function(c"cuDevicePrimaryCtxRetain");
        let set_current: unsafe extern "C" fn(*mut c_void) -> c_int = driver.function(c"cuCtxSetCurrent");
        let mut context = ptr::null_mut();
        assert_eq!(unsafe { (retain(&mut context, 0), set_current(context)) }, (0, 0));
        driver
    }

    fn function<F: Copy>(&self, name: &CStr) -> F {
        let address = unsafe { dlsym(self.0, name.as_ptr()) };
        assert!(!address.is_null() && mem::size_of::<F>() == mem::size_of_val(&address), "{name:?}");
        unsafe { mem::transmute_copy(&address) }
    }

    fn upload<T>(&self, data: &[T]) -> gm_device_ptr {
        let allocate: unsafe extern "C" fn(*mut u64, usize) -> c_int = self.function(c"cuMemAlloc_v2");
        let copy: unsafe extern "C" fn(u64, *const c_void, usize) -> c_int = self.function(c"cuMemcpyHtoD_v2");
        let (mut address, bytes) = (0, mem::size_of_val(data));
        assert_eq!(unsafe { allocate(&mut address, bytes) }, 0);
        assert_eq!(unsafe { copy(address, data.as_ptr().cast(), bytes) }, 0);
        address
    }

    fn download(&self, address: gm_device_ptr, count: usize) -> Vec<f32> {
        let copy: unsafe extern "C" fn(*mut c_void, u64, usize) -> c_int = self.function(c"cuMemcpyDtoH_v2");
        let mut data = vec![0f32; count];
        assert_eq!(unsafe { copy(data.as_mut_ptr().cast(), address, mem::size_of_val(&data[..])) }, 0);
        data
    }

    fn free(&self, addresses: &[gm_device_ptr]) {
        let free: unsafe extern "C" fn(u64) -> c_int = self.function(c"cuMemFree_v2");
        for address in addresses {
            assert_eq!(unsafe { free(*address) }, 0);
        }
    }
}

/// Small integers as bf16, which holds them exactly.
fn bf16(values: &[f32]) -> Vec<u16> {
    values.iter().map(|value| (value.to_bits() >> 16) as u16).collect()
}

#[test]
fn multiplies() {
    const M: usize = 40;
    const N: usize = 24;
    const K: usize = 64;
    let a: Vec<f32> = (0..M * K).map(|i| (i % 7) as f32 - 3.0).collect();
    let b: Vec<f32> = (0..N * K).map(|i| (i % 5) as f32 - 2.0).collect();
    let (mut context, mut plan) = (ptr::null_mut(), ptr::null_mut());
    check(unsafe { gm_context_create(0, &mut context) });
    let driver = Driver::open();
    let (on_a, on_b, on_d) = (driver.upload(&bf16(&a)), driver.upload(&bf16(&b)), driver.upload(&[f32::NAN; M * N]));

    let problem = gm_gemm_problem { m: M as i64, n: N as i64, k: K as i64, d_type: GM_FP32, ..Default::default() };
    let alpha = 2.0f32;
    let args = gm_gemm_args { a: on_a, b: on_b, d: on_d, alpha: &alpha, ..Default::default() };
    check(unsafe { gm_gemm_plan_create(context, &problem, ptr::null(), &mut plan) });
    check(unsafe { gm_gemm_execute(plan, &args, ptr::null_mut()) });

    let d = driver.download(on_d, M * N);
    for (at, value) in d.iter().enumerate() {
        let (row, column) = (at / N, at % N);
        let sum: f32 = (0..K).map(|k| a[row * K + k] * b[column * K + k]).sum();
        assert_eq!(*value, 2.0 * sum, "row {row}, column {column}");
    }
    driver.free(&[on_a, on_b, on_d]);
    unsafe {
        gm_plan_destroy(plan);
        gm_context_destroy(context);
    }
}
