/* SPDX-License-Identifier: Apache-2.0 */
/* What PyTorch's stable ABI is made of, as far as it is used here: functions with C linkage of libtorch, found at run
 * time, so that one binary serves PyTorch 2.10 and newer, and builds without it. Facts:
 * docs/source/notes/libtorch_stable_abi.md, torch/csrc/inductor/aoti_torch/c/shim.h and torch/csrc/stable/c/shim.h of
 * PyTorch. */
#ifndef GM_TENSORS_TORCH_ABI_H
#define GM_TENSORS_TORCH_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An argument or a result of a boxed kernel: an integer, a double's bits, a bool, or a handle. A tensor's handle is
 * owned by who reads it. What may be None is 0, or the address of such a value on C++'s heap. */
typedef uint64_t torch_value;
typedef struct torch_tensor_opaque *torch_tensor;
typedef struct torch_string_opaque *torch_string;
typedef struct torch_library_opaque *torch_library;
typedef int32_t torch_error; /* 0: none */
typedef void (*torch_boxed)(torch_value *stack, uint64_t inputs, uint64_t outputs);

/* The version that the kernels are written for: the first that has all of this. */
#define TORCH_VERSION_WRITTEN_FOR ((uint64_t)2 << 56 | (uint64_t)10 << 48)

/* FUNCTION(library, returns, name, parameters) */
#define TORCH_FUNCTIONS(FUNCTION)                                                                                      \
    FUNCTION(cpu, torch_error, aoti_torch_library_init_fragment,                                                       \
             (const char *name, const char *file, uint32_t line, torch_library *library))                              \
    FUNCTION(cpu, torch_error, aoti_torch_library_init_impl,                                                           \
             (const char *name, const char *key, const char *file, uint32_t line, torch_library *library))             \
    FUNCTION(cpu, torch_error, aoti_torch_library_def, (torch_library library, const char *schema))                    \
    FUNCTION(cpu, torch_error, torch_library_impl,                                                                     \
             (torch_library library, const char *name, torch_boxed function, uint64_t version))                        \
    FUNCTION(cpu, torch_error, aoti_torch_delete_tensor_object, (torch_tensor tensor))                                 \
    FUNCTION(cpu, torch_error, aoti_torch_get_data_ptr, (torch_tensor tensor, void **data))                            \
    FUNCTION(cpu, torch_error, aoti_torch_get_dim, (torch_tensor tensor, int64_t *rank))                               \
    FUNCTION(cpu, torch_error, aoti_torch_get_sizes, (torch_tensor tensor, int64_t **sizes))                           \
    FUNCTION(cpu, torch_error, aoti_torch_get_strides, (torch_tensor tensor, int64_t **strides))                       \
    FUNCTION(cpu, torch_error, aoti_torch_get_dtype, (torch_tensor tensor, int32_t *type))                             \
    FUNCTION(cpu, torch_error, aoti_torch_get_device_index, (torch_tensor tensor, int32_t *index))                     \
    FUNCTION(cpu, torch_error, aoti_torch_empty_strided,                                                               \
             (int64_t rank, const int64_t *sizes, const int64_t *strides, int32_t type, int32_t device_type,           \
              int32_t device_index, torch_tensor *tensor))                                                             \
    FUNCTION(cpu, void, aoti_torch_check,                                                                              \
             (bool holds, const char *function, const char *file, uint32_t line, const char *message))                 \
    FUNCTION(cpu, torch_error, torch_string_c_str, (torch_string string, const char **text))                           \
    FUNCTION(cpu, torch_error, torch_delete_string, (torch_string string))                                             \
    FUNCTION(cpu, int32_t, aoti_torch_device_type_cuda, (void))                                                        \
    FUNCTION(cpu, int32_t, aoti_torch_dtype_bfloat16, (void))                                                          \
    FUNCTION(cpu, int32_t, aoti_torch_dtype_float16, (void))                                                           \
    FUNCTION(cpu, int32_t, aoti_torch_dtype_float32, (void))                                                           \
    FUNCTION(cpu, int32_t, aoti_torch_dtype_float8_e4m3fn, (void))                                                     \
    FUNCTION(cpu, int32_t, aoti_torch_dtype_float8_e5m2, (void))                                                       \
    FUNCTION(cpu, int32_t, aoti_torch_dtype_int8, (void))                                                              \
    FUNCTION(cpu, int32_t, aoti_torch_dtype_uint8, (void))                                                             \
    FUNCTION(cpu, int32_t, aoti_torch_dtype_int32, (void))                                                             \
    FUNCTION(cpu, int32_t, aoti_torch_dtype_int64, (void))                                                             \
    FUNCTION(cuda, torch_error, aoti_torch_get_current_cuda_stream, (int32_t device, void **stream))

struct torch_abi {
#define MEMBER(library, returns, name, parameters) returns(*name) parameters;
    TORCH_FUNCTIONS(MEMBER)
#undef MEMBER
    void (*free_value)(torch_value *value); /* operator delete */
};

/* Finds them in the libtorch that is loaded: "" or a sentence that says what is missing. */
const char *torch_abi_find(struct torch_abi *torch);

#endif
