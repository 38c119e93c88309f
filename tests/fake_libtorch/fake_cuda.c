/* SPDX-License-Identifier: Apache-2.0 */
/* The libtorch_cuda.so of the fake: its state is libtorch_cpu.so's. */
#include "fake_libtorch.h"

#include <stddef.h>

__attribute__((visibility("default"))) int32_t aoti_torch_get_current_cuda_stream(int32_t device, void **stream) {
    (void)device;
    *stream = NULL;
    return fake_libtorch.no_stream;
}
