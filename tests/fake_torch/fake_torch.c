/* SPDX-License-Identifier: Apache-2.0 */
/* A libtorch_cuda.so that has the functions which the bench calls, and the operators aten::_fused_rms_norm, aten::_softmax
 * and aten::_log_softmax. Their results are fixed bytes. Like torch's dispatcher an operator takes over its arguments, and frees them. */
#include "fake_torch.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct tensor {
    void *data;
    int64_t rank, sizes[4];
    int32_t dtype;
};

struct list {
    size_t count;
    uint64_t values[4];
};

EXPORT struct fake_torch fake_torch = {.result = "what torch computed"};

EXPORT int32_t aoti_torch_dtype_bfloat16(void) {
    return FAKE_BFLOAT16;
}
EXPORT int32_t aoti_torch_dtype_float16(void) {
    return FAKE_FLOAT16;
}
EXPORT int32_t aoti_torch_dtype_float32(void) {
    return FAKE_FLOAT32;
}
EXPORT int32_t aoti_torch_device_type_cuda(void) {
    return 1;
}

EXPORT int32_t aoti_torch_create_tensor_from_blob(void *data, int64_t rank, const int64_t *sizes,
                                                  const int64_t *strides, int64_t offset, int32_t dtype,
                                                  int32_t device_type, int32_t device_index, void **tensor) {
    struct tensor *made = calloc(1, sizeof *made);
    if (!made || rank > 4 || offset != 0 || device_type != 1 || device_index != 0 || strides[rank - 1] != 1)
        return 1;
    *made = (struct tensor){.data = data, .rank = rank, .dtype = dtype};
    memcpy(made->sizes, sizes, (size_t)rank * sizeof *sizes);
    fake_torch.tensors++;
    *tensor = made;
    return 0;
}

EXPORT int32_t aoti_torch_get_data_ptr(void *tensor, void **data) {
    *data = ((struct tensor *)tensor)->data;
    return 0;
}

EXPORT int32_t aoti_torch_delete_tensor_object(void *tensor) {
    fake_torch.tensors--;
    free(tensor);
    return 0;
}

EXPORT int32_t aoti_torch_create_cuda_stream_guard(void *stream, int32_t device_index, void **guard) {
    fake_torch.stream = stream;
    fake_torch.guards++;
    *guard = &fake_torch;
    return device_index != 0;
}

EXPORT int32_t aoti_torch_delete_cuda_stream_guard(void *guard) {
    fake_torch.guards--;
    return guard != &fake_torch;
}

EXPORT int32_t torch_new_list_reserve_size(size_t size, void **list) {
    *list = calloc(1, sizeof(struct list));
    return !*list || size > 4;
}

EXPORT int32_t torch_list_push_back(void *list, uint64_t value) {
    struct list *l = list;
    l->values[l->count++] = value;
    return 0;
}

static void *result(void *data) {
    void *tensor = NULL;
    const int64_t size = 1, stride = 1;
    aoti_torch_create_tensor_from_blob(data, 1, &size, &stride, 0, FAKE_FLOAT32, 1, 0, &tensor);
    return tensor;
}

static void see_input(struct tensor *x) {
    memcpy(fake_torch.x, x->sizes, sizeof fake_torch.x);
    fake_torch.dtype = x->dtype;
    fake_torch.x_address = (uintptr_t)x->data;
    aoti_torch_delete_tensor_object(x);
}

static int32_t rms_norm(uint64_t *stack) {
    struct list *shape = (void *)(uintptr_t)stack[1];
    uint64_t *weight = (void *)(uintptr_t)stack[2], *eps = (void *)(uintptr_t)stack[3];
    struct tensor *w = (void *)(uintptr_t)*weight;
    see_input((void *)(uintptr_t)stack[0]);
    fake_torch.shape[0] = (int64_t)shape->values[0];
    fake_torch.weight_address = (uintptr_t)w->data;
    memcpy(&fake_torch.eps, eps, sizeof fake_torch.eps);
    aoti_torch_delete_tensor_object(w);
    free(shape);
    free(weight);
    free(eps);
    return 2;
}

static int32_t softmax(uint64_t *stack) {
    see_input((void *)(uintptr_t)stack[0]);
    fake_torch.dim = (int64_t)stack[1];
    fake_torch.half_to_float = stack[2];
    return 1;
}

EXPORT int32_t torch_call_dispatcher(const char *name, const char *overload, uint64_t *stack, uint64_t abi) {
    if (abi >> 48 != 0x20a || *overload)
        return 1;
    strncpy(fake_torch.name, name, sizeof fake_torch.name - 1);
    const int32_t results = strcmp(name, "aten::_fused_rms_norm") == 0 ? rms_norm(stack) : softmax(stack);
    if (fake_torch.refuses)
        return 1;
    stack[0] = (uintptr_t)result(fake_torch.result);
    if (results > 1)
        stack[1] = (uintptr_t)result(NULL);
    return 0;
}
