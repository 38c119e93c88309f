/* SPDX-License-Identifier: Apache-2.0 */
/* A libtorch_cuda.so of before 2.10: it has no torch_call_dispatcher(). */
__attribute__((visibility("default"))) int aoti_torch_dtype_bfloat16(void) {
    return 15;
}
