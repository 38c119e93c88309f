/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch counts beside instructions. All calls return at once unless counting is on. */
#ifndef SIM_COUNTERS_H
#define SIM_COUNTERS_H

#include "sim/machine/machine.h"

enum sim_shared_op {
    SIM_SHARED_LOAD,
    SIM_SHARED_STORE,
    SIM_SHARED_ATOMIC,
    SIM_SHARED_LDMATRIX,
    SIM_SHARED_STMATRIX,
    SIM_SHARED_CP_ASYNC,
    SIM_SHARED_WGMMA,
    SIM_SHARED_OPS
};

/* One warp instruction on shared memory of the own CTA: lane l of `mask` accesses `bytes` at addresses[l]. The bank model
 * is src/smem (gm_bank_*). `increment`: red/atom .add of constant 1 or .inc: lanes may share words; `cas`: doubled. */
void sim_count_shared(struct sim_warp *warp, const struct ptx_instruction *i, enum sim_shared_op op,
                      const uint64_t addresses[PTX_LANES], uint32_t mask, uint32_t bytes, bool increment, bool cas);
/* wgmma operand reads: wavefronts of one operand's shared-memory reads. */
void sim_count_wgmma(struct sim_warp *warp, const struct ptx_instruction *i, uint64_t wavefronts);
/* One warp instruction on distributed shared memory of a peer: bytes of all lanes. */
void sim_count_peer(struct sim_warp *warp, const struct ptx_instruction *i, bool store, uint64_t bytes);
/* One warp instruction on global memory: sectors are the distinct 32-byte units that the lanes touch. */
void sim_count_global(struct sim_warp *warp, const struct ptx_instruction *i, bool store,
                      const uint64_t addresses[PTX_LANES], uint32_t mask, uint32_t bytes);
/* An access to memory of which nobody knows what machine code makes: the profiler's counters of memory are not claimed. */
void sim_count_unmodelled(struct sim_warp *warp);
/* A bulk copy that reads or writes global memory: bytes actually moved, sectors touched; `receivers`: CTAs a multicast
 * load fills (each beyond the first saves an L2 request per sector). */
void sim_count_bulk(struct sim_warp *warp, const struct ptx_instruction *i, bool store, uint64_t bytes,
                    uint64_t sectors, uint32_t receivers);

struct sim_counters;
/* At the beginning of a launch; with room for all that is kept in the end, in place of what the last launch left. NULL:
 * no memory, and nothing has changed. */
struct sim_counters *sim_counters_new(const struct ptx_function *function);
void sim_counters_free(struct sim_counters *counters);
/* After the launch: adds machine->executed by class, and keeps all for gm_sim_metric() and gm_sim_line_get(). */
void sim_counters_finish(struct sim_machine *machine);

#endif
