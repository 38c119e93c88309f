/* SPDX-License-Identifier: Apache-2.0 */
/* One call of an operation on tensors, whoever makes it: what a framework hands over, and what it gets back. */
#ifndef GM_TENSORS_CALL_H
#define GM_TENSORS_CALL_H

#include "signature.h"

struct call;

/* An operation on tensors. Its results are tensors that the caller has made as shape() says, or that it had. */
struct tensor_operation {
    const char *schema;
    /* Type and sizes of out[], which is packed by rows or by columns; false: error[] says why there is no such call. */
    bool (*shape)(struct call *call);
    bool (*run)(struct call *call);
    int parameter; /* what tells operations of one function apart */
};

struct call {
    const struct tensor_operation *operation;
    const struct signature *signature;
    struct value in[ARGUMENTS_MAX];
    struct tensor out[OUTPUTS_MAX];
    bool out_by_column[OUTPUTS_MAX]; /* of floats, packed by columns that are a multiple of 16 bytes apart */
    int32_t device;
    void *stream;
    /* Memory of the device for this call's kernel, which the framework keeps until it has run; NULL: there is none. */
    bool (*workspace)(struct call *call, size_t bytes, gm_device_ptr *address);
    enum gm_status status; /* of a call that failed */
    char error[512];
};

/* All operations, by number. */
enum operation_number {
#define OPERATION(name) NUMBER_##name,
#include "operations.def"
#undef OPERATION
};
const struct tensor_operation *tensor_operation(int number);
const struct signature *tensor_operation_signature(int number);
int tensor_operations_count(void);

/* Sets up a call of this operation: nothing is given yet. */
void call_begin(struct call *call, int operation);
/* Fills in rank, sizes and strides (NULL: packed) of a framework's tensor whose data, type and device are there; fails for
 * one that no kernel takes. */
bool call_read_tensor(struct call *call, const char *name, bool on_cuda, bool known_type, int64_t rank,
                      const int64_t *sizes, const int64_t *strides, struct tensor *tensor);
/* Whether all tensors lie on one device, which becomes the call's; and out[] as shape() says. */
bool call_prepare(struct call *call);
/* Takes tensors that the caller has for out[] instead, which must be of those types and sizes. */
bool call_take_output(struct call *call, int output, const struct tensor *given);
/* Launches, on the call's stream. */
bool call_run(struct call *call);

/* ---- for operations ------------------------------------------------------------------------------------- */

/* Fails the call with this sentence: always false. */
__attribute__((format(printf, 3, 4))) bool call_fail(struct call *call, enum gm_status status, const char *format, ...);
/* Whether the library's call succeeded; if not its sentence is the call's. */
bool call_succeeded(struct call *call, enum gm_status status);

const struct tensor *call_tensor(const struct call *call, int argument); /* NULL: None */
/* Fails unless a tensor has so many dimensions, or so many at least, and neighbours in its last. */
bool call_rank(struct call *call, int argument, int rank);
bool call_rows(struct call *call, int argument, int rank_min);
/* Fails unless its size there is this. */
bool call_size(struct call *call, int argument, int dimension, int64_t size);
/* Fails unless it has all sizes of `like`, and its type. */
bool call_alike(struct call *call, int argument, const struct tensor *like);
bool call_type(struct call *call, int argument, enum gm_type type);
/* The type that an argument asks for, the first of `types` where it is None; fails unless it is one of them, which
 * `choice` lists. */
bool call_asked_type(struct call *call, int argument, const enum gm_type types[], int count, const char *choice,
                     enum gm_type *type);
/* Which of `words` an argument is; -1: none, and the call has failed with `choice`, which lists them. */
int call_word(struct call *call, int argument, const char *const words[], int count, const char *choice);
const char *call_name(const struct call *call, int argument);
/* What GEMM multiplies elements of this type as, by the argument's word: of float32 "fp32", "tf32" or "tf32x3". */
bool call_precision(struct call *call, int argument, enum gm_type type, enum gm_type *multiplied);
/* A tensor of one dimension, packed; None passes. */
bool call_vector(struct call *call, int argument, enum gm_type type, int64_t size);
/* Its first dimensions as one, all but the last `kept`. */
bool call_leading(struct call *call, int argument, int kept, struct leading *leading);
/* The rows of out[0]: all but its last dimension as one. */
bool call_output_rows(struct call *call, struct leading *rows);
/* Makes out[output] of this type, with the sizes of `like` but in the last dimension. */
void call_output_like(struct call *call, int output, const struct tensor *like, enum gm_type type, int64_t last);
const char *call_type_name(enum gm_type type);

#endif
