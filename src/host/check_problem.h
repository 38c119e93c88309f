/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a problem's members, for any operation: each says in a sentence what is wrong, or fills in a default. */
#ifndef GM_CHECK_PROBLEM_H
#define GM_CHECK_PROBLEM_H

#include "gristmill/core.h"

enum gm_status gm_check_size(const char *name, int64_t value, int64_t least, int64_t most);
/* Unknown enum values arrive as integers, whatever the C type says. */
enum gm_status gm_check_enum(const char *name, int value, int first, int last);
/* Finite, and no less than `least`, which is 0 or -INFINITY. */
enum gm_status gm_check_real(const char *name, float value, float least);
/* A stride of 0 becomes that of packed rows. The rows from first to last byte must fit an int64, whose half the address
 * space already is. */
enum gm_status gm_fill_stride(const char *name, int64_t *stride, int64_t rows, int64_t columns, int element_bytes);
/* 0 becomes 16. */
enum gm_status gm_fill_alignment(const char *name, int32_t *align, int element_bytes);

#endif
