/* SPDX-License-Identifier: Apache-2.0 */
/* Type numbers are unlike PyTorch's on purpose: kernels must ask for them. */
#include "fake_libtorch.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT struct fake_libtorch fake_libtorch;

/* ---- registration --------------------------------------------------------------------------------------- */

EXPORT int32_t aoti_torch_library_init_fragment(const char *name, const char *file, uint32_t line, void **library) {
    (void)file, (void)line;
    *library = &fake_libtorch;
    return strcmp(name, "gristmill") != 0;
}

EXPORT int32_t aoti_torch_library_init_impl(const char *name, const char *key, const char *file, uint32_t line,
                                            void **library) {
    return aoti_torch_library_init_fragment(name, file, line, library) || strcmp(key, "CUDA") != 0;
}

EXPORT int32_t aoti_torch_library_def(void *library, const char *schema) {
    (void)library;
    snprintf(fake_libtorch.operators[fake_libtorch.schemas++].schema, 1024, "%s", schema);
    return 0;
}

EXPORT int32_t torch_library_impl(void *library, const char *name, void (*function)(uint64_t *, uint64_t, uint64_t),
                                  uint64_t version) {
    (void)library;
    snprintf(fake_libtorch.operators[fake_libtorch.functions].name, 64, "%s", name);
    fake_libtorch.operators[fake_libtorch.functions++].function = function;
    fake_libtorch.version = version;
    return 0;
}

/* ---- tensors -------------------------------------------------------------------------------------------- */

EXPORT int32_t aoti_torch_delete_tensor_object(struct fake_tensor *tensor) {
    fake_libtorch.tensors--;
    free(tensor);
    return 0;
}
EXPORT int32_t aoti_torch_get_data_ptr(struct fake_tensor *tensor, void **data) {
    *data = (void *)(uintptr_t)tensor->data;
    return 0;
}
EXPORT int32_t aoti_torch_get_dim(struct fake_tensor *tensor, int64_t *rank) {
    *rank = tensor->rank;
    return 0;
}
EXPORT int32_t aoti_torch_get_sizes(struct fake_tensor *tensor, int64_t **sizes) {
    *sizes = tensor->sizes;
    return 0;
}
EXPORT int32_t aoti_torch_get_strides(struct fake_tensor *tensor, int64_t **strides) {
    *strides = tensor->strides;
    return 0;
}
EXPORT int32_t aoti_torch_get_dtype(struct fake_tensor *tensor, int32_t *type) {
    *type = tensor->type;
    return 0;
}
EXPORT int32_t aoti_torch_get_device_index(struct fake_tensor *tensor, int32_t *index) {
    *index = tensor->device_index;
    return 0;
}

EXPORT int32_t aoti_torch_empty_strided(int64_t rank, const int64_t *sizes, const int64_t *strides, int32_t type,
                                        int32_t device_type, int32_t device_index, struct fake_tensor **made) {
    (void)device_type;
    struct fake_tensor *tensor = calloc(1, sizeof *tensor);
    uint64_t elements = 1;
    *tensor = (struct fake_tensor){.rank = rank, .type = type, .device_index = device_index};
    for (int i = 0; i < rank; i++) {
        tensor->sizes[i] = sizes[i];
        tensor->strides[i] = strides[i];
        elements *= (uint64_t)sizes[i];
    }
    tensor->data = elements ? fake_libtorch.allocate(elements * 4) : 0;
    if (elements && !tensor->data) {
        free(tensor);
        return 1;
    }
    fake_libtorch.tensors++;
    *made = tensor;
    return 0;
}

EXPORT int32_t aoti_torch_device_type_cuda(void) {
    return FAKE_CUDA;
}

#define TYPE(name, number)                                                                                             \
    EXPORT int32_t aoti_torch_dtype_##name(void) {                                                                     \
        return number;                                                                                                 \
    }
TYPE(bfloat16, 100)
TYPE(float16, 101)
TYPE(float32, 102)
TYPE(float8_e4m3fn, 103)
TYPE(float8_e5m2, 104)
TYPE(int8, 105)
TYPE(uint8, 106)
TYPE(int32, 107)
TYPE(int64, 108)

/* ---- the rest ------------------------------------------------------------------------------------------- */

EXPORT void aoti_torch_check(bool holds, const char *function, const char *file, uint32_t line, const char *message) {
    (void)function, (void)file, (void)line;
    if (!holds) {
        snprintf(fake_libtorch.message, sizeof fake_libtorch.message, "%s", message);
        longjmp(fake_libtorch.thrown, 1);
    }
}

EXPORT int32_t torch_string_c_str(const char *string, const char **text) {
    *text = string;
    return 0;
}
EXPORT int32_t torch_delete_string(char *string) {
    fake_libtorch.strings--;
    free(string);
    return 0;
}
EXPORT void torch_delete_stable_ivalue(uint64_t *value) {
    free(value);
}
