/* SPDX-License-Identifier: Apache-2.0 */
/* TMA tensor maps: every rule of cuTensorMapEncodeTiled. */
#ifndef GM_TENSOR_MAP_H
#define GM_TENSOR_MAP_H

#include "common/tensor_map.h"
#include "gristmill/smem.h"
#include "host/driver.h"

/* The arguments of cuTensorMapEncodeTiled; dimensions innermost first. */
struct gm_map_desc {
    int type;
    unsigned rank;
    uint64_t address;
    uint64_t dims[5];    /* elements */
    uint64_t strides[4]; /* bytes, of dimensions 1 .. rank - 1 */
    uint32_t box[5];     /* elements */
    uint32_t element_strides[5];
    int interleave, swizzle, l2_promotion, oob_fill;
};

/* 1: the driver accepts the description on compute capability 9.0. 0: it does not, and `sentence` says why. */
int gm_tensor_map_check(const struct gm_map_desc *desc, char *sentence, size_t sentence_bytes);

/* The rules that gm_tensor_map_check() goes through, and how the description stands to one of them. */
size_t gm_tensor_map_rule_count(void);
struct gm_rule gm_tensor_map_rule(const struct gm_map_desc *desc, size_t index);

/* A caller's request with its defaults filled in. */
struct gm_map_desc gm_map_desc_of(const struct gm_tensor_map_request *request);
/* Elements that a load writes in one dimension of a legal box. */
uint32_t gm_tensor_map_delivered(const struct gm_map_desc *desc, unsigned dimension);
/* Bytes from one row of a legal box, without interleave, to the next in shared memory. */
uint32_t gm_tensor_map_row_pitch(const struct gm_map_desc *desc);

CUresult gm_tensor_map_encode(const struct gm_driver *driver, const struct gm_map_desc *desc,
                              struct gm_tensor_map *map);

#endif
