/* SPDX-License-Identifier: Apache-2.0 */
/* Element types by their code: src/common/types.def as functions. */
#ifndef GM_HOST_TYPES_H
#define GM_HOST_TYPES_H

#include "common/types.h"
#include "gristmill/core.h"

enum {
    GM_TYPE_COUNT = 0
#define TYPE(name, value, bytes, exponent, mantissa, tma, ptx) +1
#include "common/types.def"
#undef TYPE
};

#define GM_TYPE_SET(type) (UINT32_C(1) << (type))

static inline int gm_type_bytes(enum gm_type type) {
    return GM_TYPE_BYTES(type);
}

/* What elements are in memory: tf32 and tf32x3 say how fp32 is multiplied. */
static inline enum gm_type gm_type_in_memory(enum gm_type type) {
    return type == GM_TF32 || type == GM_TF32X3 ? GM_FP32 : type;
}

/* "bf16" */
const char *gm_type_name(enum gm_type type);
/* -1: no type is called so. */
int gm_type_named(const char *name, size_t bytes);
/* CU_TENSOR_MAP_DATA_TYPE_x */
int gm_type_tma(enum gm_type type);

#endif
