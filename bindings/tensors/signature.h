/* SPDX-License-Identifier: Apache-2.0 */
/* What an operation on tensors is called with, read from its schema in PyTorch's notation, the one place that says so:
 *
 *     rms_norm(Tensor x, Tensor weight, float eps=1e-6, bool round_early=False) -> Tensor
 *     rotary_(Tensor(a!) q, Tensor(b!) k, Tensor? q_weight=None) -> () */
#ifndef GM_TENSORS_SIGNATURE_H
#define GM_TENSORS_SIGNATURE_H

#include "tensor.h"

enum { ARGUMENTS_MAX = 24, OUTPUTS_MAX = 2, NAME_MAX_BYTES = 40, TEXT_MAX_BYTES = 24 };

enum value_kind {
    VALUE_TENSOR,
    VALUE_MAYBE_TENSOR,
    VALUE_INT,
    VALUE_FLOAT,
    VALUE_BOOL,
    VALUE_STRING,
    VALUE_MAYBE_TYPE
};

struct value {
    bool given; /* VALUE_MAYBE_TENSOR, VALUE_MAYBE_TYPE: it is not None */
    struct tensor tensor;
    int64_t integer; /* VALUE_BOOL: 0 or 1; VALUE_MAYBE_TYPE: an enum gm_type, -1: one that gristmill has not */
    double real;
    char text[TEXT_MAX_BYTES];
};

struct argument {
    char name[NAME_MAX_BYTES];
    enum value_kind kind;
    bool has_default;
    int64_t integer; /* the default */
    double real;
    char text[TEXT_MAX_BYTES];
};

struct signature {
    char name[NAME_MAX_BYTES];
    struct argument arguments[ARGUMENTS_MAX];
    int32_t arguments_count, outputs_count;
};

/* False: the schema is none that this file's beginning describes, which a test of all schemas rules out. */
bool signature_parse(const char *schema, struct signature *signature);
/* The default as a value. */
void argument_default(const struct argument *argument, struct value *value);

#endif
