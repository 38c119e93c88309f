/* SPDX-License-Identifier: Apache-2.0 */
/* What a torch that is not there tells of the calls it had. */
#ifndef FAKE_TORCH_H
#define FAKE_TORCH_H

#include <stdint.h>

struct fake_torch {
    char name[64];          /* of the last operator, */
    char overload[64];      /* and its overload */
    int64_t x[2], shape[1]; /* its arguments' sizes */
    int64_t strides[2];     /* of the first */
    int32_t dtype, to_dtype, memory_format;
    uint64_t x_address, weight_address;
    double eps;
    int64_t dim;
    uint64_t half_to_float;
    void *stream;             /* of the guard */
    long tensors, guards;     /* that are alive */
    int refuses;              /* the operator fails */
    unsigned char result[64]; /* what the first result begins with */
};

enum {
    FAKE_UINT8 = 0,
    FAKE_INT32 = 3,
    FAKE_INT64 = 4,
    FAKE_FLOAT16 = 5,
    FAKE_FLOAT32 = 6,
    FAKE_BFLOAT16 = 15,
    FAKE_CONTIGUOUS = 77
};

#endif
