/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which an im2col load takes pixels. */
#include "sim/copies/copy_tensor.h"

/* The corners bound the pixels that the filter's corner may stand on, seen from the near and the far end of W, H, D:
 *
 *      |<-- lower (negative: padding)              the load's offsets, the position inside the filter, are added to
 *      |   0 .............. width - 1              each pixel afterwards
 *      [ bounding box            ]<-- upper -->|
 *
 * Pixels go along W to the end of the bounding box, then to its start in the next line, then H, D, and the next image.
 * An element stride is the step from one pixel to the next in its dimension. */
void sim_box_next_pixel(const struct sim_box *box, struct sim_box_walk *walk) {
    const struct sim_tensor_map *map = &box->map;
    for (uint32_t d = 1; d + 1 < map->rank; d++) {
        const int64_t last = (int64_t)map->dims[d] - 1 + map->upper_corner[d - 1];
        walk->at[d] += map->element_strides[d];
        if (walk->at[d] <= last)
            return;
        walk->at[d] = map->lower_corner[d - 1];
    }
    walk->at[map->rank - 1]++;
}
