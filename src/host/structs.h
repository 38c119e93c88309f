/* SPDX-License-Identifier: Apache-2.0 */
/* Callers' structs, which may be those of an older or a newer version of the public headers. docs/VERSIONING.md says
 * how they grow. */
#ifndef GM_STRUCTS_H
#define GM_STRUCTS_H

#include "host/error.h"
#include "gristmill/smem.h"

/* STRUCT(name, bytes): the sizes in version 0.2, or the first version that has the struct; no caller has a smaller one.
 * They are those of every 64-bit host. A size is never changed; a new struct comes with the size that it is released
 * with. The sizes of an operation's structs are in its struct gm_operation. */
#define GM_FIRST_SIZES(STRUCT)                                                                                         \
    STRUCT(gm_device, 144)                                                                                             \
    STRUCT(gm_kernel_info, 88)                                                                                         \
    STRUCT(gm_ledger_info, 96)                                                                                         \
    STRUCT(gm_plan_options, 56)                                                                                        \
    STRUCT(gm_access, 152)                                                                                             \
    STRUCT(gm_bank_cost, 32)                                                                                           \
    STRUCT(gm_bank_map, 8360)                                                                                          \
    STRUCT(gm_smem_tile, 40)                                                                                           \
    STRUCT(gm_swizzle_proof, 64)                                                                                       \
    STRUCT(gm_tile_access, 280)                                                                                        \
    STRUCT(gm_pad_advice, 464)                                                                                         \
    STRUCT(gm_pad_question, 64)                                                                                        \
    STRUCT(gm_tensor_map_request, 152)                                                                                 \
    STRUCT(gm_rule, 224)                                                                                               \
    STRUCT(gm_matrix_descriptor, 32)                                                                                   \
    STRUCT(gm_wgmma_operand, 24)                                                                                       \
    STRUCT(gm_descriptor_question, 208)                                                                                \
    STRUCT(gm_descriptor_answer, 440)

/* Of the struct that `pointer` is of. */
#define GM_FIRST_SIZE_ENTRY(name, bytes) struct name : (size_t)(bytes),
#define GM_FIRST_SIZE(pointer)           _Generic(*(pointer), GM_FIRST_SIZES(GM_FIRST_SIZE_ENTRY) int: (size_t)0)

/* A size that passes the library's by more than this was never set. */
#define GM_NEWER_BYTES_MAX 4096

/* Lets `pointer`, which points at a caller's struct, point at the struct as this library knows it: where it is, if it
 * has today's size, or in `*today`, with 0 for the members that the caller's lacks. `what` is its name in sentences. */
#define GM_TAKE(pointer, today, what)                                                                                  \
    ((pointer) && (pointer)->size == sizeof *(today) ? GM_OK                                                           \
     : ((pointer) = gm_struct_take((pointer), (today), GM_FIRST_SIZE(pointer), sizeof *(today), (what)))               \
         ? GM_OK                                                                                                       \
         : gm_last_status())
/* NULL: refused. */
const void *gm_struct_take(const void *from, void *today, size_t first, size_t known, const char *what);

/* Element `index` of a caller's array, which is not NULL; all elements have the first one's size. NULL: refused. */
#define GM_TAKE_AT(array, index, today, what)                                                                          \
    gm_struct_take_at((array), (index), (today), GM_FIRST_SIZE(array), sizeof *(today), (what))
const void *gm_struct_take_at(const void *array, size_t index, void *today, size_t first, size_t known,
                              const char *what);

/* GM_OK when the caller's struct `to` can be written by GM_OUTPUT(), of which it writes as many bytes as both know, and
 * zeros beyond. The size stays the caller's. */
#define GM_CHECK_OUTPUT(to, what) gm_struct_check_output((to), GM_FIRST_SIZE(to), sizeof *(to), (what))
#define GM_OUTPUT(to, from)       gm_struct_output((to), (from), sizeof *(to))
enum gm_status gm_struct_check_output(const void *to, size_t first, size_t known, const char *what);
void gm_struct_output(void *to, const void *from, size_t known);

/* GM_OK when a struct within another has today's size: it cannot grow. */
#define GM_CHECK_WITHIN(pointer, what) gm_struct_check_within((pointer)->size, sizeof *(pointer), (what))
enum gm_status gm_struct_check_within(size_t size, size_t known, const char *what);

#endif
