/* SPDX-License-Identifier: Apache-2.0 */
/* The calling convention of tvm-ffi, as far as it is used here: a value of 16 bytes, and the tensors of DLPack.
 * Facts: docs/get_started/stable_c_abi.rst and include/tvm/ffi/c_api.h of Apache TVM FFI, include/dlpack/dlpack.h of
 * DLPack. */
#ifndef GM_TENSORS_TVM_FFI_ABI_H
#define GM_TENSORS_TVM_FFI_ABI_H

#include <stdint.h>

enum { DL_CUDA = 2 };
enum dl_code { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_E4M3FN = 10, DL_E5M2 = 12 };

struct dl_type {
    uint8_t code, bits; /* code: of enum dl_code */
    uint16_t lanes;
};

struct dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t rank;
    struct dl_type type;
    int64_t *sizes, *strides; /* strides may be NULL: packed */
    uint64_t byte_offset;
};

enum tvm_kind {
    TVM_NONE = 0,
    TVM_INT = 1,
    TVM_BOOL = 2,
    TVM_FLOAT = 3,
    TVM_TYPE = 5,          /* a type of DLPack, in the value */
    TVM_DL_TENSOR = 7,     /* pointer: to the tensor */
    TVM_RAW_STRING = 8,    /* pointer: to text with its end */
    TVM_SMALL_STRING = 11, /* in the value */
    TVM_STRING = 65,       /* pointer: to an object, whose text lies behind its head */
    TVM_TENSOR = 70        /* pointer: to an object, whose tensor lies behind its head */
};
enum { TVM_OBJECT_HEAD_BYTES = 24 };

struct tvm_value {
    int32_t kind;
    uint32_t small_length;
    union {
        int64_t integer;
        double real;
        void *pointer;
        char small_text[8];
        struct dl_type type;
    };
};

struct tvm_text {
    const char *text;
    uint64_t length;
};

#endif
