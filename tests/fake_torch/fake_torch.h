/* SPDX-License-Identifier: Apache-2.0 */
/* What a torch that is not there tells of the calls it had. */
#ifndef FAKE_TORCH_H
#define FAKE_TORCH_H

#include <stdint.h>

struct fake_torch {
    char name[64];          /* of the last operator */
    int64_t x[2], shape[1]; /* its arguments' sizes */
    int32_t dtype;
    uint64_t x_address, weight_address;
    double eps;
    int64_t dim;
    uint64_t half_to_float;
    void *stream;             /* of the guard */
    long tensors, guards;     /* that are alive */
    int refuses;              /* the operator fails */
    unsigned char result[64]; /* what the first result begins with */
};

enum { FAKE_BFLOAT16 = 15, FAKE_FLOAT16 = 5, FAKE_FLOAT32 = 6 };

#endif
