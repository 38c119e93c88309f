/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps: the 128 opaque bytes, in the simulator's own encoding (a magic number first, so that the maps of another
 * driver are refused). The rules of encoding are src/host/tensor_map_rules.c's, as measured on an H200. */
#ifndef SIM_TENSOR_MAP_H
#define SIM_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum { SIM_TENSOR_RANK_MAX = 5 };

struct sim_tensor_map { /* decoded */
    uint64_t address;
    int type; /* CU_TENSOR_MAP_DATA_TYPE_* */
    uint32_t rank, element_bytes;
    uint64_t dims[5], strides[5]; /* strides in bytes; strides[0] = element_bytes */
    uint32_t box[5], element_strides[5];
    int interleave, swizzle, l2_promotion, oob_fill;
    bool im2col;
    int lower_corner[3], upper_corner[3];
    uint32_t channels, pixels;
};

/* CUDA_SUCCESS, or CUDA_ERROR_INVALID_VALUE. */
int sim_tensor_map_encode_tiled(void *map, int type, unsigned rank, uint64_t address, const uint64_t *dims,
                                const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
                                int interleave, int swizzle, int l2_promotion, int oob_fill);
int sim_tensor_map_encode_im2col(void *map, int type, unsigned rank, uint64_t address, const uint64_t *dims,
                                 const uint64_t *strides, const int *lower_corner, const int *upper_corner,
                                 uint32_t channels, uint32_t pixels, const uint32_t *element_strides, int interleave,
                                 int swizzle, int l2_promotion, int oob_fill);
int sim_tensor_map_replace_address(void *map, uint64_t address);
/* False: these are not the bytes of a map made by the functions above. */
bool sim_tensor_map_decode(const void *map, struct sim_tensor_map *decoded);

#endif
