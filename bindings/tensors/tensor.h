/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor as frameworks have it: memory of a device with sizes and strides, and views of it that the library's
 * problems are written in. */
#ifndef GM_TENSORS_TENSOR_H
#define GM_TENSORS_TENSOR_H

#include <gristmill/gristmill.h>
#include <stdbool.h>

enum { TENSOR_RANK_MAX = 8 };

struct tensor {
    gm_device_ptr data;
    enum gm_type type;
    int32_t device; /* CUDA ordinal */
    int32_t rank;
    int64_t size[TENSOR_RANK_MAX];
    int64_t stride[TENSOR_RANK_MAX]; /* elements */
};

/* The first of a tensor's dimensions as one: `count` indices, one every `stride` elements. */
struct leading {
    int64_t count, stride;
};

/* The stride as a problem has it: of a single index 0, which is packed. */
int64_t leading_stride(struct leading leading);

int64_t tensor_elements(const struct tensor *t);
/* False: no one stride leads from index to index of the first `dimensions` dimensions. Dimensions of one index have no
 * stride, and an empty tensor has any. */
bool tensor_leading(const struct tensor *t, int32_t dimensions, struct leading *leading);
/* The elements of the last dimension are neighbours. */
bool tensor_is_dense_last(const struct tensor *t);
/* Packed in the order of its dimensions. */
bool tensor_is_contiguous(const struct tensor *t);
/* The largest power of two up to 16 that divides the address: what a plan may be promised. */
int32_t tensor_align(const struct tensor *t);
/* Gives dimensions of one index a stride behind all others, since frameworks leave any there. */
void tensor_settle(struct tensor *t);
/* Gives a tensor of these sizes its packed strides. */
void tensor_pack(struct tensor *t);
/* Or strides where the indices of all dimensions but the last are neighbours, and those of the last `multiple` elements
 * apart, or 2 `multiple`, and so on. */
void tensor_pack_by_column(struct tensor *t, int64_t multiple);
/* Its sizes as text: "[2, 3]". */
enum { TENSOR_SIZES_BYTES = 96 };
const char *tensor_sizes(const struct tensor *t, char text[TENSOR_SIZES_BYTES]);

#endif
