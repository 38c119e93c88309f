/* SPDX-License-Identifier: Apache-2.0 */
/* Constants of the element types, for the host (C11) and the kernels: GM_TYPE_<name> and GM_TYPE_BYTES(type). */
#ifndef GM_TYPES_H
#define GM_TYPES_H

enum {
#define TYPE(name, value, bytes, exponent, mantissa, tma, ptx) GM_TYPE_##name = value,
#include "common/types.def"
#undef TYPE
};

/* Two bits for each type: the binary logarithm of its bytes. */
enum {
    GM_TYPE_LOG_BYTES = 0
#define TYPE(name, value, bytes, exponent, mantissa, tma, ptx)                                                         \
    | ((bytes) == 8 ? 3 : (bytes) == 4 ? 2 : (bytes) == 2 ? 1 : 0) << 2 * (value)
#include "common/types.def"
#undef TYPE
};

/* Bytes of an element, a constant where the type is one. */
#define GM_TYPE_BYTES(type) (1 << (GM_TYPE_LOG_BYTES >> 2 * (type) & 3))

/* Floats of 8 bits. */
#define GM_TYPE_IS_FP8(type) ((int)(type) == (int)GM_TYPE_e4m3 || (int)(type) == (int)GM_TYPE_e5m2)

/* Sets of types, for the column `types` of a registry. */
#define GM_TYPES_half bf16 fp16

/* A macro's value as a string, such as the type's name in an instruction: GM_QUOTE(GM_PTX_TYPE). */
#define GM_QUOTE_(text) #text
#define GM_QUOTE(text)  GM_QUOTE_(text)
/* Two macros' values as one name: GM_PASTE(GM_WGMMA_K_, GM_PTX_TYPE). */
#define GM_PASTE_(a, b) a##b
#define GM_PASTE(a, b)  GM_PASTE_(a, b)

#endif
