/* SPDX-License-Identifier: Apache-2.0 */
/* torch, opened at run time. */
#include "bench/baseline/torch.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MAX   4096                                     /* results */
#define CALLER_ABI (UINT64_C(2) << 56 | UINT64_C(10) << 48) /* the version that these declarations are of: 2.10 */

/* Each returns 0, or another number with torch's sentence on stderr. */
struct functions {
    int32_t (*aoti_torch_dtype_bfloat16)(void);
    int32_t (*aoti_torch_dtype_float16)(void);
    int32_t (*aoti_torch_dtype_float32)(void);
    int32_t (*aoti_torch_dtype_int32)(void);
    int32_t (*aoti_torch_dtype_int64)(void);
    int32_t (*aoti_torch_dtype_uint8)(void);
    int32_t (*aoti_torch_memory_format_contiguous_format)(void);
    int32_t (*aoti_torch_device_type_cuda)(void);
    int32_t (*aoti_torch_create_tensor_from_blob)(void *data, int64_t rank, const int64_t *sizes,
                                                  const int64_t *strides, int64_t offset, int32_t dtype,
                                                  int32_t device_type, int32_t device_index, void **tensor);
    int32_t (*aoti_torch_get_data_ptr)(void *tensor, void **data);
    int32_t (*aoti_torch_delete_tensor_object)(void *tensor);
    int32_t (*aoti_torch_create_cuda_stream_guard)(void *stream, int32_t device_index, void **guard);
    int32_t (*aoti_torch_delete_cuda_stream_guard)(void *guard);
    int32_t (*torch_call_dispatcher)(const char *name, const char *overload, uint64_t *stack, uint64_t abi);
    int32_t (*torch_new_list_reserve_size)(size_t size, void **list);
    int32_t (*torch_list_push_back)(void *list, uint64_t value);
};

#define EACH_FUNCTION(F)                                                                                               \
    F(aoti_torch_dtype_bfloat16)                                                                                       \
    F(aoti_torch_dtype_float16)                                                                                        \
    F(aoti_torch_dtype_float32)                                                                                        \
    F(aoti_torch_dtype_int32)                                                                                          \
    F(aoti_torch_dtype_int64)                                                                                          \
    F(aoti_torch_dtype_uint8)                                                                                          \
    F(aoti_torch_memory_format_contiguous_format)                                                                      \
    F(aoti_torch_device_type_cuda)                                                                                     \
    F(aoti_torch_create_tensor_from_blob)                                                                              \
    F(aoti_torch_get_data_ptr)                                                                                         \
    F(aoti_torch_delete_tensor_object)                                                                                 \
    F(aoti_torch_create_cuda_stream_guard)                                                                             \
    F(aoti_torch_delete_cuda_stream_guard)                                                                             \
    F(torch_call_dispatcher)                                                                                           \
    F(torch_new_list_reserve_size)                                                                                     \
    F(torch_list_push_back)

struct torch {
    const struct gpu *gpu;
    void *library;
    struct functions fn;
    void *kept[KEPT_MAX]; /* results, the oldest replaced first */
    size_t kept_bytes;    /* of one of them; those of other sizes are dropped */
    int next;
    bool failed; /* a value of the next call */
};

/* ---- the library ------------------------------------------------------------------------------------- */

/* A line that Python prints; "" where it prints none. */
static void ask_python(const char *program, char *line, size_t bytes) {
    char command[256];
    snprintf(command, sizeof command, "python3 -c '%s' 2>/dev/null", program);
    FILE *pipe = popen(command, "r");
    line[0] = 0;
    if (pipe && fgets(line, (int)bytes, pipe))
        line[strcspn(line, "\r\n")] = 0;
    if (pipe)
        pclose(pipe);
}

static int load(struct torch *torch, const char *folder) {
    char path[4200];
    snprintf(path, sizeof path, "%s/libtorch_cuda.so", folder);
    torch->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!torch->library)
        return complain("cannot open %s: %s", path, dlerror());
#define LOAD(name)                                                                                                     \
    *(void **)&torch->fn.name = dlsym(torch->library, #name);                                                          \
    if (!torch->fn.name)                                                                                               \
        return complain("%s has no " #name ": torch 2.10 and newer have it", path);
    EACH_FUNCTION(LOAD)
#undef LOAD
    return 0;
}

int torch_open(struct baseline *baseline, const struct gpu *gpu, const char *path) {
    char found[4096];
    struct torch *torch = calloc(1, sizeof *torch);
    if (!torch)
        return complain("out of host memory");
    baseline->state = torch;
    torch->gpu = gpu;
    if (!path)
        path = getenv("GM_TORCH");
    if (!path) {
        ask_python("import importlib.util; print(importlib.util.find_spec(\"torch\").submodule_search_locations[0])",
                   found, sizeof found - 4);
        strcat(found, found[0] ? "/lib" : "");
        path = found;
    }
    if (!path[0])
        return complain("torch was not found: python3 has none; name the folder of its libraries with GM_TORCH");
    if (load(torch, path) != 0)
        return -1;
    ask_python("import importlib.metadata; print(importlib.metadata.version(\"torch\"))", baseline->version,
               sizeof baseline->version);
    return 0;
}

static void drop_kept(struct torch *torch) {
    for (int i = 0; i < KEPT_MAX; i++)
        if (torch->kept[i])
            torch->fn.aoti_torch_delete_tensor_object(torch->kept[i]);
    memset(torch->kept, 0, sizeof torch->kept);
    torch->next = 0;
}

/* The library stays mapped, as it expects. */
void torch_close(struct baseline *baseline, const struct gpu *gpu) {
    struct torch *torch = baseline->state;
    (void)gpu;
    if (torch && torch->library)
        drop_kept(torch);
    free(torch);
    baseline->state = NULL;
}

void *torch_prepare(const void *problem, size_t bytes, bool takes, int *ways) {
    void *prepared = takes ? malloc(bytes) : NULL;
    *ways = 1;
    if (prepared)
        memcpy(prepared, problem, bytes);
    else
        note(takes ? "out of host memory" : "torch has no operator for this problem");
    return prepared;
}

void torch_forget(const struct baseline *baseline, void *prepared) {
    (void)baseline;
    free(prepared);
}

/* ---- values ------------------------------------------------------------------------------------------ */

static int32_t dtype_of(const struct functions *fn, enum gm_type type) {
    switch (type) {
    case GM_BF16:
        return fn->aoti_torch_dtype_bfloat16();
    case GM_FP16:
        return fn->aoti_torch_dtype_float16();
    case GM_INT32:
        return fn->aoti_torch_dtype_int32();
    case GM_INT64:
        return fn->aoti_torch_dtype_int64();
    case GM_UINT8:
        return fn->aoti_torch_dtype_uint8();
    default:
        return fn->aoti_torch_dtype_float32();
    }
}

uint64_t torch_strided(struct torch *torch, gm_device_ptr address, enum gm_type type, int rank, const int64_t *sizes,
                       const int64_t *strides) {
    const struct functions *fn = &torch->fn;
    void *tensor = NULL;
    torch->failed |= fn->aoti_torch_create_tensor_from_blob((void *)(uintptr_t)address, rank, sizes, strides, 0,
                                                            dtype_of(fn, type), fn->aoti_torch_device_type_cuda(),
                                                            torch->gpu->device.ordinal, &tensor) != 0;
    return (uintptr_t)tensor;
}

uint64_t torch_tensor(struct torch *torch, gm_device_ptr address, enum gm_type type, int rank, const int64_t *sizes) {
    int64_t strides[8] = {0}, stride = 1;
    for (int i = rank - 1; i >= 0; stride *= sizes[i--])
        strides[i] = stride;
    return torch_strided(torch, address, type, rank, sizes, strides);
}

uint64_t torch_type(const struct torch *torch, enum gm_type type) {
    return (uint64_t)dtype_of(&torch->fn, type);
}

uint64_t torch_contiguous(const struct torch *torch) {
    return (uint64_t)torch->fn.aoti_torch_memory_format_contiguous_format();
}

uint64_t torch_ints(struct torch *torch, int count, const int64_t *values) {
    void *list = NULL;
    torch->failed |= torch->fn.torch_new_list_reserve_size((size_t)count, &list) != 0;
    for (int i = 0; i < count && list; i++)
        torch->failed |= torch->fn.torch_list_push_back(list, (uint64_t)values[i]) != 0;
    return (uintptr_t)list;
}

uint64_t torch_int(int64_t value) {
    return (uint64_t)value;
}

uint64_t torch_bool(bool value) {
    return value;
}

uint64_t torch_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The call frees it, as operator delete does: with free(). */
uint64_t torch_optional(uint64_t value) {
    uint64_t *optional = malloc(sizeof *optional);
    if (optional)
        *optional = value;
    return (uintptr_t)optional;
}

/* ---- calls ------------------------------------------------------------------------------------------- */

/* The result takes the place of the oldest that is kept. */
static void keep(struct torch *torch, void *tensor, size_t bytes) {
    const double l2 = torch->gpu->device.l2_bytes > 0 ? (double)torch->gpu->device.l2_bytes : 64e6;
    const double wanted = 3 * l2 / (double)bytes + 1;
    if (torch->kept_bytes != bytes)
        drop_kept(torch);
    torch->kept_bytes = bytes;
    if (torch->kept[torch->next])
        torch->fn.aoti_torch_delete_tensor_object(torch->kept[torch->next]);
    torch->kept[torch->next] = tensor;
    torch->next = (torch->next + 1) % (wanted < KEPT_MAX ? (int)wanted : KEPT_MAX);
}

static int copy_result(struct torch *torch, CUstream stream, void *tensor, gm_device_ptr to, size_t bytes) {
    int status = CU_STREAM_CAPTURE_STATUS_NONE;
    void *data = NULL;
    GPU_TRY(torch->gpu, cuStreamIsCapturing, stream, &status);
    if (status != CU_STREAM_CAPTURE_STATUS_NONE)
        return 0;
    if (torch->fn.aoti_torch_get_data_ptr(tensor, &data) != 0)
        return -1;
    GPU_TRY(torch->gpu, cuMemcpyDtoDAsync, to, (CUdeviceptr)(uintptr_t)data, bytes, stream);
    return 0;
}

/* "aten::sum.dim_IntList" is the overload "dim_IntList" of "aten::sum". */
static int dispatch(const struct torch *torch, const char *name, uint64_t *stack) {
    const char *dot = strchr(name, '.');
    char operator[64];
    snprintf(operator, sizeof operator, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
    return torch->fn.torch_call_dispatcher(operator, dot ? dot + 1 : "", stack, CALLER_ABI) == 0 ? 0 : -1;
}

int torch_call(struct torch *torch, CUstream stream, const char *name, uint64_t *stack, int results, gm_device_ptr to,
               size_t bytes) {
    const struct functions *fn = &torch->fn;
    void *guard = NULL;
    int status = torch->failed ? -1 : 0;
    torch->failed = false;
    if (status == 0 && fn->aoti_torch_create_cuda_stream_guard(stream, torch->gpu->device.ordinal, &guard) != 0)
        status = -1;
    if (status == 0)
        status = dispatch(torch, name, stack);
    for (int i = 1; i < results && status == 0; i++)
        fn->aoti_torch_delete_tensor_object((void *)(uintptr_t)stack[i]);
    if (status == 0) {
        status = copy_result(torch, stream, (void *)(uintptr_t)stack[0], to, bytes);
        keep(torch, (void *)(uintptr_t)stack[0], bytes);
    }
    if (guard)
        fn->aoti_torch_delete_cuda_stream_guard(guard);
    return status;
}
