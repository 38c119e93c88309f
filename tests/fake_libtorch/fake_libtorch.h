/* SPDX-License-Identifier: Apache-2.0 */
/* A libtorch that has the functions of bindings/tensors/torch_abi.h: it keeps the operators that are registered, and
 * counts handles, so that a test calls them and sees what is leaked. */
#ifndef GM_TESTS_FAKE_LIBTORCH_H
#define GM_TESTS_FAKE_LIBTORCH_H

#include <setjmp.h>
#include <stdint.h>

enum { FAKE_OPERATORS_MAX = 64, FAKE_CUDA = 1, FAKE_DOUBLE = 7 };

struct fake_tensor {
    uint64_t data;
    int64_t rank, sizes[10], strides[10];
    int32_t type, device_index; /* -1: the host */
};

struct fake_libtorch {
    struct {
        char schema[1024];
        char name[64];
        void (*function)(uint64_t *stack, uint64_t inputs, uint64_t outputs);
    } operators[FAKE_OPERATORS_MAX];
    int schemas, functions;
    uint64_t version; /* that kernels are registered for */
    int tensors;      /* handles that nobody has freed */
    int strings;
    /* Memory of a device for new tensors, 0 where there is none; and what a kernel's error jumps to. */
    uint64_t (*allocate)(uint64_t bytes);
    jmp_buf thrown;
    char message[512];
    int no_stream; /* the current stream is refused */
};
extern struct fake_libtorch fake_libtorch;

#endif
