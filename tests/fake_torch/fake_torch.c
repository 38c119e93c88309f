/* SPDX-License-Identifier: Apache-2.0 */
/* A libtorch_cuda.so that has the functions which the bench calls, and a few operators. Their results are fixed bytes. Like
 * those of torch they take over their arguments, and free them. */
#include "fake_torch.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct tensor {
    void *data;
    int64_t rank, sizes[4], strides[4];
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
EXPORT int32_t aoti_torch_dtype_int32(void) {
    return FAKE_INT32;
}
EXPORT int32_t aoti_torch_dtype_int64(void) {
    return FAKE_INT64;
}
EXPORT int32_t aoti_torch_dtype_uint8(void) {
    return FAKE_UINT8;
}
EXPORT int32_t aoti_torch_memory_format_contiguous_format(void) {
    return FAKE_CONTIGUOUS;
}
EXPORT int32_t aoti_torch_device_type_cuda(void) {
    return 1;
}

EXPORT int32_t aoti_torch_create_tensor_from_blob(void *data, int64_t rank, const int64_t *sizes,
                                                  const int64_t *strides, int64_t offset, int32_t dtype,
                                                  int32_t device_type, int32_t device_index, void **tensor) {
    struct tensor *made = calloc(1, sizeof *made);
    if (!made || rank > 4 || offset != 0 || device_type != 1 || device_index != 0)
        return 1;
    *made = (struct tensor){.data = data, .rank = rank, .dtype = dtype};
    memcpy(made->sizes, sizes, (size_t)rank * sizeof *sizes);
    memcpy(made->strides, strides, (size_t)rank * sizeof *strides);
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

/* What every operator tells of its first argument. */
static void note_tensor(const struct tensor *x) {
    memcpy(fake_torch.x, x->sizes, sizeof fake_torch.x);
    memcpy(fake_torch.strides, x->strides, sizeof fake_torch.strides);
    fake_torch.dtype = x->dtype;
    fake_torch.x_address = (uintptr_t)x->data;
}

/* sum(Tensor x, int[]? dim, bool keepdim, *, ScalarType? dtype) */
static void sum(uint64_t *stack) {
    struct tensor *x = (void *)(uintptr_t)stack[0];
    uint64_t *dim = (void *)(uintptr_t)stack[1];
    struct list *dims = (void *)(uintptr_t)*dim;
    note_tensor(x);
    fake_torch.shape[0] = (int64_t)dims->values[0];
    aoti_torch_delete_tensor_object(x);
    free(dims);
    free(dim);
    fake_torch.refuses |= stack[2] || stack[3]; /* it keeps no dimension, and the type */
}

static void fused_rms_norm(uint64_t *stack) {
    struct tensor *x = (void *)(uintptr_t)stack[0];
    struct list *shape = (void *)(uintptr_t)stack[1];
    uint64_t *weight = (void *)(uintptr_t)stack[2], *eps = (void *)(uintptr_t)stack[3];
    struct tensor *w = (void *)(uintptr_t)*weight;
    note_tensor(x);
    fake_torch.shape[0] = (int64_t)shape->values[0];
    fake_torch.weight_address = (uintptr_t)w->data;
    memcpy(&fake_torch.eps, eps, sizeof fake_torch.eps);
    aoti_torch_delete_tensor_object(x);
    aoti_torch_delete_tensor_object(w);
    free(shape);
    free(weight);
    free(eps);
}

/* clone(x, memory_format?) and _to_copy(x, dtype?, ..., memory_format?): the last argument says how. */
static void copy(uint64_t *stack, int arguments) {
    struct tensor *x = (void *)(uintptr_t)stack[0];
    uint64_t *format = (void *)(uintptr_t)stack[arguments - 1], *type = (void *)(uintptr_t)stack[1];
    note_tensor(x);
    fake_torch.memory_format = (int32_t)*format;
    fake_torch.to_dtype = arguments > 2 ? (int32_t)*type : 0;
    aoti_torch_delete_tensor_object(x);
    free(format);
    if (arguments > 2)
        free(type);
}

/* _softmax(x, dim, half_to_float), and _log_softmax */
static void softmax(uint64_t *stack) {
    struct tensor *x = (void *)(uintptr_t)stack[0];
    note_tensor(x);
    aoti_torch_delete_tensor_object(x);
    fake_torch.dim = (int64_t)stack[1];
    fake_torch.half_to_float = stack[2];
}

/* What the operator does with its arguments; how many results it has, 0 of one that is not here. */
static int see(const char *name, uint64_t *stack) {
    if (strcmp(name, "aten::_fused_rms_norm") == 0) {
        fused_rms_norm(stack);
        return 2;
    }
    if (strcmp(name, "aten::sum") == 0)
        sum(stack);
    else if (strcmp(name, "aten::_softmax") == 0 || strcmp(name, "aten::_log_softmax") == 0)
        softmax(stack);
    else if (strcmp(name, "aten::clone") == 0 || strcmp(name, "aten::_to_copy") == 0)
        copy(stack, strcmp(name, "aten::clone") == 0 ? 2 : 7);
    else
        return 0;
    return 1;
}

EXPORT int32_t torch_call_dispatcher(const char *name, const char *overload, uint64_t *stack, uint64_t abi) {
    if (abi >> 48 != 0x20a || (*overload && strcmp(name, "aten::sum") != 0))
        return 1;
    strncpy(fake_torch.name, name, sizeof fake_torch.name - 1);
    strncpy(fake_torch.overload, overload, sizeof fake_torch.overload - 1);
    const int results = see(name, stack);
    if (fake_torch.refuses || results == 0)
        return 1;
    stack[0] = (uintptr_t)result(fake_torch.result);
    if (results > 1)
        stack[1] = (uintptr_t)result(NULL);
    return 0;
}
