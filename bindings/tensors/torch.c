/* SPDX-License-Identifier: Apache-2.0 */
/* The operations as PyTorch operators: boxed kernels for CUDA, from C, through the stable ABI. */
#include "torch.h"

#include "plans.h"
#include "torch_abi.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct torch_abi torch;

/* A call, with what it owns until it ends. */
struct torch_call {
    struct call call; /* first: the workspace is asked for by it */
    torch_tensor owned[ARGUMENTS_MAX + OUTPUTS_MAX + 1];
    int owned_count;
    torch_tensor made[OUTPUTS_MAX];
};

/* ---- tensors -------------------------------------------------------------------------------------------- */

struct type_code {
    enum gm_type type;
    int32_t code;
};
static struct type_code type_codes[9];

static void read_type_codes(void) {
    const struct type_code codes[] = {
        {GM_BF16, torch.aoti_torch_dtype_bfloat16()},    {GM_FP16, torch.aoti_torch_dtype_float16()},
        {GM_FP32, torch.aoti_torch_dtype_float32()},     {GM_E4M3, torch.aoti_torch_dtype_float8_e4m3fn()},
        {GM_E5M2, torch.aoti_torch_dtype_float8_e5m2()}, {GM_INT8, torch.aoti_torch_dtype_int8()},
        {GM_UINT8, torch.aoti_torch_dtype_uint8()},      {GM_INT32, torch.aoti_torch_dtype_int32()},
        {GM_INT64, torch.aoti_torch_dtype_int64()}};
    memcpy(type_codes, codes, sizeof codes);
}

static const struct type_code *by_code(int32_t code) {
    for (size_t i = 0; i < sizeof type_codes / sizeof *type_codes; i++) {
        if (type_codes[i].code == code) {
            return &type_codes[i];
        }
    }
    return NULL;
}

static bool read_tensor(struct call *call, const char *name, torch_tensor handle, struct tensor *tensor) {
    void *data = NULL;
    int64_t rank = 0, *sizes = NULL, *strides = NULL;
    int32_t code = 0;
    if (torch.aoti_torch_get_data_ptr(handle, &data) || torch.aoti_torch_get_dim(handle, &rank) ||
        torch.aoti_torch_get_sizes(handle, &sizes) || torch.aoti_torch_get_strides(handle, &strides) ||
        torch.aoti_torch_get_dtype(handle, &code) || torch.aoti_torch_get_device_index(handle, &tensor->device)) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "PyTorch does not say what %s is", name);
    }
    const struct type_code *type = by_code(code);
    bool on_cuda = tensor->device >= 0; /* the host has no number, and other devices do not come to these kernels */
    tensor->data = (gm_device_ptr)(uintptr_t)data;
    tensor->type = type ? type->type : GM_BF16;
    return call_read_tensor(call, name, on_cuda, type != NULL, rank, sizes, strides, tensor);
}

static bool new_tensor(struct call *call, const struct tensor *like, torch_tensor *handle) {
    int32_t code = 0;
    for (size_t i = 0; i < sizeof type_codes / sizeof *type_codes; i++) {
        code = type_codes[i].type == like->type ? type_codes[i].code : code;
    }
    return torch.aoti_torch_empty_strided(like->rank, like->size, like->stride, code,
                                          torch.aoti_torch_device_type_cuda(), call->device, handle) == 0;
}

/* From PyTorch's allocator, on whose stream the kernel runs before anyone else's use of it. */
static bool new_workspace(struct call *call, size_t bytes, gm_device_ptr *address) {
    struct torch_call *own = (struct torch_call *)call;
    struct tensor like = {.type = GM_UINT8, .rank = 1, .size = {(int64_t)bytes}, .stride = {1}};
    void *data = NULL;
    if (!new_tensor(call, &like, &own->owned[own->owned_count])) {
        return false;
    }
    bool found = torch.aoti_torch_get_data_ptr(own->owned[own->owned_count++], &data) == 0;
    *address = (gm_device_ptr)(uintptr_t)data;
    return found;
}

/* ---- arguments ------------------------------------------------------------------------------------------ */

static void read_string(torch_value value, char text[TEXT_MAX_BYTES]) {
    torch_string string = (torch_string)(uintptr_t)value;
    const char *read = "";
    torch.torch_string_c_str(string, &read);
    strncpy(text, read, TEXT_MAX_BYTES - 1);
    text[TEXT_MAX_BYTES - 1] = '\0';
    torch.torch_delete_string(string);
}

/* What may be None, and is not. */
static torch_value take_inner(torch_value value) {
    torch_value *inner = (torch_value *)(uintptr_t)value, taken = *inner;
    torch.free_value(inner);
    return taken;
}

/* The tensor's handle; what is None, or no tensor, has none. */
static torch_tensor take_handle(enum value_kind kind, torch_value value) {
    if (kind == VALUE_MAYBE_TENSOR && value) {
        value = take_inner(value);
    }
    return kind == VALUE_TENSOR || kind == VALUE_MAYBE_TENSOR ? (torch_tensor)(uintptr_t)value : NULL;
}

/* A value that is no tensor. */
static void take_plain(struct value *value, enum value_kind kind, torch_value from) {
    if (kind == VALUE_INT) {
        value->integer = (int64_t)from;
    } else if (kind == VALUE_BOOL) {
        value->integer = (from & 0xff) != 0;
    } else if (kind == VALUE_FLOAT) {
        memcpy(&value->real, &from, sizeof value->real);
    } else if (kind == VALUE_STRING) {
        read_string(from, value->text);
    } else if (kind == VALUE_MAYBE_TYPE && from) {
        const struct type_code *type = by_code((int32_t)take_inner(from));
        value->given = true;
        value->integer = type ? (int64_t)type->type : -1;
    }
}

/* Takes the arguments off the stack, every one of them, and then reads the tensors. */
static bool take_arguments(struct torch_call *own, const torch_value *stack) {
    struct call *call = &own->call;
    const struct signature *signature = call->signature;
    torch_tensor handles[ARGUMENTS_MAX];
    for (int i = 0; i < signature->arguments_count; i++) {
        struct value *value = &call->in[i];
        enum value_kind kind = signature->arguments[i].kind;
        handles[i] = take_handle(kind, stack[i]);
        value->given = handles[i] != NULL;
        if (handles[i]) {
            own->owned[own->owned_count++] = handles[i];
        } else {
            take_plain(value, kind, stack[i]);
        }
    }
    for (int i = 0; i < signature->arguments_count; i++) {
        if (handles[i] && !read_tensor(call, signature->arguments[i].name, handles[i], &call->in[i].tensor)) {
            return false;
        }
    }
    return true;
}

/* ---- results -------------------------------------------------------------------------------------------- */

static bool make_outputs(struct torch_call *own) {
    struct call *call = &own->call;
    for (int i = 0; i < call->signature->outputs_count; i++) {
        void *data = NULL;
        if (!new_tensor(call, &call->out[i], &own->made[i]) || torch.aoti_torch_get_data_ptr(own->made[i], &data)) {
            return call_fail(call, GM_ERROR_OUT_OF_MEMORY, "PyTorch has no memory of device %d for the result",
                             call->device);
        }
        call->out[i].data = (gm_device_ptr)(uintptr_t)data;
    }
    return true;
}

static bool take_outputs(struct torch_call *own, const torch_value *stack) {
    struct call *call = &own->call;
    for (int i = 0; i < call->signature->outputs_count; i++) {
        struct tensor given;
        if (!read_tensor(call, "out", (torch_tensor)(uintptr_t)stack[i], &given) ||
            !call_take_output(call, i, &given)) {
            return false;
        }
    }
    return true;
}

/* ---- the kernel of all operators ------------------------------------------------------------------------ */

static bool run(struct torch_call *own, const torch_value *stack, int given_outputs) {
    struct call *call = &own->call;
    bool right = take_arguments(own, stack + given_outputs) && call_prepare(call);
    right = right && (given_outputs ? take_outputs(own, stack) : make_outputs(own));
    if (right && torch.aoti_torch_get_current_cuda_stream(call->device, &call->stream)) {
        right = call_fail(call, GM_ERROR_DRIVER, "PyTorch has no current stream on device %d", call->device);
    }
    return right && call_run(call);
}

/* `given_outputs` tensors of the caller's stand before the arguments. An error is thrown by libtorch, through this
 * frame: it owns nothing any more. */
static void boxed(int operation, int given_outputs, torch_value *stack) {
    struct torch_call own;
    call_begin(&own.call, operation);
    own.call.workspace = new_workspace;
    own.owned_count = 0;
    memset(own.made, 0, sizeof own.made);
    bool right = run(&own, stack, given_outputs);
    for (int i = 0; i < given_outputs; i++) {
        torch.aoti_torch_delete_tensor_object((torch_tensor)(uintptr_t)stack[i]);
    }
    for (int i = 0; i < own.owned_count; i++) {
        torch.aoti_torch_delete_tensor_object(own.owned[i]);
    }
    for (int i = 0; i < OUTPUTS_MAX && own.made[i]; i++) {
        if (right) {
            stack[i] = (torch_value)(uintptr_t)own.made[i];
        } else {
            torch.aoti_torch_delete_tensor_object(own.made[i]);
        }
    }
    if (!right) {
        torch.aoti_torch_check(false, own.call.signature->name, __FILE__, __LINE__, own.call.error);
    }
}

#define OPERATION(name)                                                                                                \
    static void boxed_##name(torch_value *stack, uint64_t inputs, uint64_t outputs) {                                  \
        (void)inputs, (void)outputs;                                                                                   \
        boxed(NUMBER_##name, 0, stack);                                                                                \
    }                                                                                                                  \
    static void boxed_##name##_out(torch_value *stack, uint64_t inputs, uint64_t outputs) {                            \
        (void)inputs, (void)outputs;                                                                                   \
        boxed(NUMBER_##name, tensor_operation_signature(NUMBER_##name)->outputs_count, stack);                         \
    }
#include "operations.def"
#undef OPERATION

/* ---- registration --------------------------------------------------------------------------------------- */

/* NAME(Tensor x) -> Tensor becomes NAME_out(Tensor(z!) out, Tensor x) -> (). */
static void schema_with_out(const struct signature *signature, const char *schema, char *text, size_t bytes) {
    const char *arguments = strchr(schema, '(') + 1, *end = strstr(schema, ") -> ");
    snprintf(text, bytes, "%s_out(Tensor(z!) out, %s%.*s) -> ()", signature->name,
             signature->outputs_count == 2 ? "Tensor(y!) out2, " : "", (int)(end - arguments), arguments);
}

static bool define(torch_library all, torch_library cuda, int operation, torch_boxed function,
                   torch_boxed function_out) {
    const struct signature *signature = tensor_operation_signature(operation);
    const char *schema = tensor_operation(operation)->schema;
    if (torch.aoti_torch_library_def(all, schema) ||
        torch.torch_library_impl(cuda, signature->name, function, TORCH_VERSION_WRITTEN_FOR)) {
        return false;
    }
    if (signature->outputs_count == 0) {
        return true;
    }
    char with_out[1024], name[NAME_MAX_BYTES + 8];
    schema_with_out(signature, schema, with_out, sizeof with_out);
    snprintf(name, sizeof name, "%s_out", signature->name);
    return torch.aoti_torch_library_def(all, with_out) == 0 &&
           torch.torch_library_impl(cuda, name, function_out, TORCH_VERSION_WRITTEN_FOR) == 0;
}

/* The libraries that hold the registrations are PyTorch's until the process ends. */
static const char *register_all(void) {
    torch_library all = NULL, cuda = NULL;
    const char *missing = torch_abi_find(&torch);
    if (*missing) {
        return missing;
    }
    read_type_codes();
    if (torch.aoti_torch_library_init_fragment("gristmill", __FILE__, __LINE__, &all) ||
        torch.aoti_torch_library_init_impl("gristmill", "CUDA", __FILE__, __LINE__, &cuda)) {
        return "PyTorch does not make a library gristmill";
    }
#define OPERATION(name)                                                                                                \
    if (!define(all, cuda, NUMBER_##name, boxed_##name, boxed_##name##_out)) {                                         \
        return "PyTorch does not take the operator gristmill::" #name;                                                 \
    }
#include "operations.def"
#undef OPERATION
    return "";
}

const char *gm_torch_register(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static bool registered;
    pthread_mutex_lock(&mutex);
    const char *sentence = registered ? "" : register_all();
    registered = *sentence == '\0';
    pthread_mutex_unlock(&mutex);
    return sentence;
}

__attribute__((constructor)) static void register_when_loaded(void) {
    gm_torch_register();
}

size_t gm_tensors_plans_count(void) {
    return plans_count();
}

void gm_tensors_plans_forget(void) {
    plans_forget();
}
