/* SPDX-License-Identifier: Apache-2.0 */
/* The operations as functions of tvm-ffi, __tvm_ffi_NAME(results..., arguments...): a module of it is this library, and
 * whatever has tensors of DLPack calls them. Arguments at the end may be left out where the schema has a default.
 * Launches are on the stream that tvm-ffi has for the device. Without workspace: rows that want none are taken. */
#include "call.h"
#include "torch.h"
#include "tvm_ffi_abi.h"

#include <dlfcn.h>
#include <string.h>

/* What libtvm_ffi offers: it is loaded, since it calls. */
static void *tvm_function(const char *name) {
    void *function = dlsym(RTLD_DEFAULT, name);
    if (!function) {
        void *library = dlopen("libtvm_ffi.so", RTLD_NOW | RTLD_NOLOAD);
        function = library ? dlsym(library, name) : NULL;
    }
    return function;
}

/* Looked up once; threads that race find the same. */
static void *stream_of(int32_t device) {
    static _Atomic(void *) found;
    void *(*get)(int32_t, int32_t);
    void *function = found;
    if (!function) {
        found = function = tvm_function("TVMFFIEnvGetStream");
    }
    *(void **)&get = function;
    return get ? get(DL_CUDA, device) : NULL;
}

static int raise_error(const struct call *call) {
    void (*raise)(const char *, const char *);
    *(void **)&raise = tvm_function("TVMFFIErrorSetRaisedFromCStr");
    if (raise) {
        raise(call->status <= GM_ERROR_WORKSPACE ? "ValueError" : "RuntimeError", call->error);
    }
    return -1;
}

/* ---- arguments ------------------------------------------------------------------------------------------ */

static bool read_type(struct dl_type from, enum gm_type *type) {
    static const struct {
        uint8_t code, bits;
        enum gm_type type;
    } types[] = {{DL_BFLOAT, 16, GM_BF16}, {DL_FLOAT, 16, GM_FP16}, {DL_FLOAT, 32, GM_FP32},
                 {DL_E4M3FN, 8, GM_E4M3},  {DL_E5M2, 8, GM_E5M2},   {DL_INT, 8, GM_INT8},
                 {DL_UINT, 8, GM_UINT8},   {DL_INT, 32, GM_INT32},  {DL_INT, 64, GM_INT64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].code == from.code && types[i].bits == from.bits && from.lanes == 1) {
            *type = types[i].type;
            return true;
        }
    }
    return false;
}

static bool read_tensor(struct call *call, const char *name, const struct tvm_value *value, struct tensor *tensor) {
    const struct dl_tensor *from = value->kind == TVM_DL_TENSOR ? value->pointer
                                   : value->kind == TVM_TENSOR
                                       ? (const void *)((const char *)value->pointer + TVM_OBJECT_HEAD_BYTES)
                                       : NULL;
    if (!from) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s must be a tensor", name);
    }
    bool known_type = read_type(from->type, &tensor->type);
    tensor->data = (gm_device_ptr)(uintptr_t)from->data + from->byte_offset;
    tensor->device = from->device_id;
    return call_read_tensor(call, name, from->device_type == DL_CUDA, known_type, from->rank, from->sizes,
                            from->strides, tensor);
}

static bool read_text(struct call *call, const char *name, const struct tvm_value *value, char text[TEXT_MAX_BYTES]) {
    struct tvm_text from = {NULL, 0};
    if (value->kind == TVM_RAW_STRING) {
        from = (struct tvm_text){value->pointer, strlen(value->pointer)};
    } else if (value->kind == TVM_SMALL_STRING) {
        from = (struct tvm_text){value->small_text, value->small_length};
    } else if (value->kind == TVM_STRING) {
        memcpy(&from, (const char *)value->pointer + TVM_OBJECT_HEAD_BYTES, sizeof from);
    }
    if (!from.text || from.length >= TEXT_MAX_BYTES) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s must be a string of less than %d characters", name,
                         TEXT_MAX_BYTES);
    }
    memcpy(text, from.text, from.length);
    text[from.length] = '\0';
    return true;
}

static bool read_number(struct call *call, const struct argument *argument, const struct tvm_value *from,
                        struct value *value) {
    bool whole = from->kind == TVM_INT || from->kind == TVM_BOOL;
    if (argument->kind == VALUE_FLOAT && (whole || from->kind == TVM_FLOAT)) {
        value->real = whole ? (double)from->integer : from->real;
        return true;
    }
    value->integer = from->integer;
    return (argument->kind != VALUE_FLOAT && whole) ||
           call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s must be %s", argument->name,
                     argument->kind == VALUE_FLOAT  ? "a number"
                     : argument->kind == VALUE_BOOL ? "True or False"
                                                    : "an integer");
}

static bool read_asked_type(struct call *call, const char *name, const struct tvm_value *from, struct value *value) {
    enum gm_type type;
    value->given = from->kind != TVM_NONE;
    if (value->given && from->kind != TVM_TYPE) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s must be a dtype", name);
    }
    value->integer = value->given && read_type(from->type, &type) ? (int64_t)type : -1;
    return true;
}

static bool read_argument(struct call *call, int i, const struct tvm_value *from) {
    const struct argument *argument = &call->signature->arguments[i];
    struct value *value = &call->in[i];
    switch (argument->kind) {
    case VALUE_MAYBE_TENSOR:
        value->given = from->kind != TVM_NONE;
        return !value->given || read_tensor(call, argument->name, from, &value->tensor);
    case VALUE_TENSOR:
        return read_tensor(call, argument->name, from, &value->tensor);
    case VALUE_STRING:
        return read_text(call, argument->name, from, value->text);
    case VALUE_MAYBE_TYPE:
        return read_asked_type(call, argument->name, from, value);
    default:
        return read_number(call, argument, from, value);
    }
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static bool take_arguments(struct call *call, const struct tvm_value *given, int count) {
    const struct signature *signature = call->signature;
    if (count > signature->arguments_count) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%d arguments too many", count - signature->arguments_count);
    }
    for (int i = 0; i < signature->arguments_count; i++) {
        const struct argument *argument = &signature->arguments[i];
        if (i < count) {
            if (!read_argument(call, i, &given[i])) {
                return false;
            }
        } else if (argument->has_default) {
            argument_default(argument, &call->in[i]);
        } else {
            return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s is missing", argument->name);
        }
    }
    return true;
}

static bool run(struct call *call, const struct tvm_value *given, int count) {
    int outputs = call->signature->outputs_count;
    if (count < outputs) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "the result's tensor is missing: it comes first");
    }
    if (!take_arguments(call, given + outputs, count - outputs) || !call_prepare(call)) {
        return false;
    }
    for (int i = 0; i < outputs; i++) {
        struct tensor out;
        if (!read_tensor(call, "out", &given[i], &out) || !call_take_output(call, i, &out)) {
            return false;
        }
    }
    call->stream = stream_of(call->device);
    return call_run(call);
}

static int called(int operation, const struct tvm_value *arguments, int32_t count, struct tvm_value *result) {
    struct call call;
    call_begin(&call, operation);
    *result = (struct tvm_value){.kind = TVM_NONE};
    return run(&call, arguments, count) ? 0 : raise_error(&call);
}

#define OPERATION(name)                                                                                                \
    GM_TENSORS_API int __tvm_ffi_##name(void *self, const struct tvm_value *arguments, int32_t count,                  \
                                        struct tvm_value *result);                                                     \
    int __tvm_ffi_##name(void *self, const struct tvm_value *arguments, int32_t count, struct tvm_value *result) {     \
        (void)self;                                                                                                    \
        return called(NUMBER_##name, arguments, count, result);                                                        \
    }
#include "operations.def"
#undef OPERATION
