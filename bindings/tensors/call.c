/* SPDX-License-Identifier: Apache-2.0 */
#include "call.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- one call ------------------------------------------------------------------------------------------- */

void call_begin(struct call *call, int operation) {
    call->operation = tensor_operation(operation);
    call->signature = tensor_operation_signature(operation);
    memset(call->out_by_column, 0, sizeof call->out_by_column);
    call->device = -1;
    call->stream = NULL;
    call->workspace = NULL;
    call->status = GM_OK;
    call->error[0] = '\0';
}

bool call_read_tensor(struct call *call, const char *name, bool on_cuda, bool known_type, int64_t rank,
                      const int64_t *sizes, const int64_t *strides, struct tensor *tensor) {
    if (!on_cuda) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s is not on a CUDA device", name);
    }
    if (!known_type) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s is of a type that gristmill has no kernel for", name);
    }
    if (rank > TENSOR_RANK_MAX) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s has %lld dimensions and must have %d at most", name,
                         (long long)rank, TENSOR_RANK_MAX);
    }
    tensor->rank = (int32_t)rank;
    memcpy(tensor->size, sizes, (size_t)rank * sizeof *sizes);
    if (strides) {
        memcpy(tensor->stride, strides, (size_t)rank * sizeof *strides);
    } else {
        tensor_pack(tensor);
    }
    tensor_settle(tensor);
    for (int i = 0; i < rank; i++) { /* to a problem a stride of 0 is a packed one */
        if (tensor->stride[i] < 1 && sizes[i] > 1 && tensor_elements(tensor) > 0) {
            return call_fail(call, GM_ERROR_INVALID_ARGUMENT,
                             "dimension %d of %s has stride %lld, as expand() makes it: contiguous() copies it", i,
                             name, (long long)tensor->stride[i]);
        }
    }
    return true;
}

static bool on_one_device(struct call *call) {
    const struct signature *signature = call->signature;
    const char *first = NULL;
    for (int i = 0; i < signature->arguments_count; i++) {
        const struct tensor *tensor = call_tensor(call, i);
        if (!tensor) {
            continue;
        }
        if (!first) {
            first = signature->arguments[i].name;
            call->device = tensor->device;
        } else if (tensor->device != call->device) {
            return call_fail(call, GM_ERROR_WRONG_DEVICE, "%s is on device %d and %s on device %d", first, call->device,
                             signature->arguments[i].name, tensor->device);
        }
    }
    return true;
}

bool call_prepare(struct call *call) {
    if (!on_one_device(call) || !call->operation->shape(call)) {
        return false;
    }
    for (int i = 0; i < call->signature->outputs_count; i++) {
        struct tensor *out = &call->out[i];
        out->device = call->device;
        if (call->out_by_column[i]) {
            tensor_pack_by_column(out, 16 / (int64_t)sizeof(float));
        } else {
            tensor_pack(out);
        }
    }
    return true;
}

bool call_take_output(struct call *call, int output, const struct tensor *given) {
    struct tensor *expected = &call->out[output];
    if (given->device != call->device) {
        return call_fail(call, GM_ERROR_WRONG_DEVICE, "out is on device %d and the others on device %d", given->device,
                         call->device);
    }
    if (given->type != expected->type) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "out is of %s and must be of %s", call_type_name(given->type),
                         call_type_name(expected->type));
    }
    bool alike = given->rank == expected->rank;
    for (int i = 0; alike && i < given->rank; i++) {
        alike = given->size[i] == expected->size[i];
    }
    if (!alike) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT,
                         "out has %d dimensions, the last of %lld, and must have %d, the last of %lld", given->rank,
                         given->rank ? (long long)given->size[given->rank - 1] : 0, expected->rank,
                         expected->rank ? (long long)expected->size[expected->rank - 1] : 0);
    }
    *expected = *given;
    return true;
}

bool call_run(struct call *call) {
    return call->operation->run(call);
}

/* ---- what is wrong with it ------------------------------------------------------------------------------ */

bool call_fail(struct call *call, enum gm_status status, const char *format, ...) {
    int length = snprintf(call->error, sizeof call->error, "gristmill::%s: ", call->signature->name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(call->error + length, sizeof call->error - (size_t)length, format, arguments);
    va_end(arguments);
    call->status = status;
    return false;
}

bool call_succeeded(struct call *call, enum gm_status status) {
    return status == GM_OK || call_fail(call, status, "%s (%s)", gm_last_error(), gm_status_name(status));
}

const struct tensor *call_tensor(const struct call *call, int argument) {
    enum value_kind kind = call->signature->arguments[argument].kind;
    bool is_tensor = kind == VALUE_TENSOR || (kind == VALUE_MAYBE_TENSOR && call->in[argument].given);
    return is_tensor ? &call->in[argument].tensor : NULL;
}

const char *call_name(const struct call *call, int argument) {
    return call->signature->arguments[argument].name;
}

bool call_rank(struct call *call, int argument, int rank) {
    const struct tensor *tensor = call_tensor(call, argument);
    if (tensor->rank != rank) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s has %d dimensions and must have %d",
                         call_name(call, argument), tensor->rank, rank);
    }
    return call_rows(call, argument, rank);
}

bool call_rows(struct call *call, int argument, int rank_min) {
    const struct tensor *tensor = call_tensor(call, argument);
    if (tensor->rank < rank_min) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s has %d dimensions and must have %d at least",
                         call_name(call, argument), tensor->rank, rank_min);
    }
    return tensor_is_dense_last(tensor) ||
           call_fail(call, GM_ERROR_INVALID_ARGUMENT,
                     "%s has a last dimension of stride %lld and must have 1: contiguous() gives it",
                     call_name(call, argument), (long long)tensor->stride[tensor->rank - 1]);
}

bool call_size(struct call *call, int argument, int dimension, int64_t size) {
    int64_t has = call_tensor(call, argument)->size[dimension];
    return has == size || call_fail(call, GM_ERROR_INVALID_ARGUMENT, "dimension %d of %s is %lld and must be %lld",
                                    dimension, call_name(call, argument), (long long)has, (long long)size);
}

bool call_alike(struct call *call, int argument, const struct tensor *like) {
    if (!call_rank(call, argument, like->rank)) {
        return false;
    }
    for (int i = 0; i < like->rank; i++) {
        if (!call_size(call, argument, i, like->size[i])) {
            return false;
        }
    }
    return call_type(call, argument, like->type);
}

bool call_type(struct call *call, int argument, enum gm_type type) {
    enum gm_type has = call_tensor(call, argument)->type;
    return has == type || call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s is of %s and must be of %s",
                                    call_name(call, argument), call_type_name(has), call_type_name(type));
}

bool call_asked_type(struct call *call, int argument, const enum gm_type types[], int count, const char *choice,
                     enum gm_type *type) {
    const struct value *asked = &call->in[argument];
    *type = asked->given ? (enum gm_type)asked->integer : types[0];
    for (int i = 0; i < count; i++) {
        if (*type == types[i]) {
            return true;
        }
    }
    return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s is %s and must be %s", call_name(call, argument),
                     call_type_name(*type), choice);
}

int call_word(struct call *call, int argument, const char *const words[], int count, const char *choice) {
    const char *word = call->in[argument].text;
    for (int i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0) {
            return i;
        }
    }
    call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s is \"%s\" and must be %s", call_name(call, argument), word, choice);
    return -1;
}

bool call_precision(struct call *call, int argument, enum gm_type type, enum gm_type *multiplied) {
    static const char *const words[] = {"fp32", "tf32", "tf32x3"};
    static const enum gm_type types[] = {GM_FP32, GM_TF32, GM_TF32X3};
    const int number = call_word(call, argument, words, 3, "fp32, tf32 or tf32x3");
    if (number < 0) {
        return false;
    }
    *multiplied = type == GM_FP32 ? types[number] : type;
    return type == GM_FP32 || number == 0 ||
           call_fail(call, GM_ERROR_INVALID_ARGUMENT, "precision is \"%s\", which is of float32, not %s", words[number],
                     call_type_name(type));
}

bool call_vector(struct call *call, int argument, enum gm_type type, int64_t size) {
    return !call_tensor(call, argument) ||
           (call_rank(call, argument, 1) && call_size(call, argument, 0, size) && call_type(call, argument, type));
}

bool call_leading(struct call *call, int argument, int kept, struct leading *leading) {
    const struct tensor *tensor = call_tensor(call, argument);
    return tensor_leading(tensor, tensor->rank - kept, leading) ||
           call_fail(call, GM_ERROR_INVALID_ARGUMENT,
                     "the first dimensions of %s do not lie one stride apart: contiguous() puts them so",
                     call_name(call, argument));
}

bool call_output_rows(struct call *call, struct leading *rows) {
    const struct tensor *out = &call->out[0];
    return (tensor_leading(out, out->rank - 1, rows) && tensor_is_dense_last(out)) ||
           call_fail(call, GM_ERROR_INVALID_ARGUMENT, "the rows of out do not lie one stride apart");
}

void call_output_like(struct call *call, int output, const struct tensor *like, enum gm_type type, int64_t last) {
    struct tensor *out = &call->out[output];
    out->data = 0;
    out->type = type;
    out->rank = like->rank;
    memcpy(out->size, like->size, sizeof out->size);
    out->size[out->rank - 1] = last;
}

const char *call_type_name(enum gm_type type) {
    static const char *const names[] = {[GM_BF16] = "bfloat16",      [GM_FP16] = "float16",     [GM_FP32] = "float32",
                                        [GM_E4M3] = "float8_e4m3fn", [GM_E5M2] = "float8_e5m2", [GM_INT8] = "int8",
                                        [GM_UINT8] = "uint8",        [GM_INT32] = "int32",      [GM_INT64] = "int64"};
    return (size_t)type < sizeof names / sizeof *names ? names[type] : "an unknown type";
}
