/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic of constant expressions, for the host (C11) and the kernels. */
#ifndef GM_ARITH_H
#define GM_ARITH_H

#define GM_CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define GM_MIN(a, b)      ((a) < (b) ? (a) : (b))
#define GM_MAX(a, b)      ((a) > (b) ? (a) : (b))

#if defined(__cplusplus)
#define GM_STATIC_ASSERT static_assert
#else
#include <assert.h>
#define GM_STATIC_ASSERT static_assert
#endif

#endif
