/* SPDX-License-Identifier: Apache-2.0 */
/* The part of transfer.c that is about shared memory, the own CTA's and its peers'. */
#ifndef SIM_TRANSFER_SHARED_H
#define SIM_TRANSFER_SHARED_H

#include "sim/execute/transfer.h"

static inline void sim_lanes_nowhere(struct sim_lanes *lanes, uint32_t mask) {
    for (; mask; mask &= mask - 1)
        lanes->at[__builtin_ctz(mask)] = NULL;
}

void sim_locate_shared(struct sim_warp *warp, const struct ptx_instruction *i, const struct sim_transfer *transfer,
                       uint32_t mask, bool side_by_side, struct sim_lanes *lanes);

#endif
