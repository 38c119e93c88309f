/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of every word of shared memory: who wrote it last and through which proxy, who has read it since, which
 * of its bytes are initialised. One cell per 4-byte word; accesses of less than a word that touch different bytes of it
 * do not conflict. */
#ifndef SIM_SHADOW_H
#define SIM_SHADOW_H

#include "sim/machine/clocks.h"
#include "sim/ptx/ptx.h"

struct sim_cta;
struct sim_shadow;

enum sim_proxy { SIM_PROXY_GENERIC, SIM_PROXY_ASYNC };

enum { SIM_LANE_COLLECTIVE = 32 }; /* no lane in particular: ldmatrix, stmatrix, wgmma */

/* Who accesses, and what it knows. */
struct sim_actor {
    struct sim_stamp stamp;           /* recorded in the cell */
    const struct sim_clocks *known;   /* of the issuer */
    const struct sim_clocks *flushed; /* of the issuer; looked at when proxy is async */
    enum sim_proxy proxy;
    bool atomic;           /* atomics, reductions, volatile and relaxed accesses do not race with each other */
    uint8_t lane;          /* 0..31 (of a copy: who issues it) or SIM_LANE_COLLECTIVE */
    struct sim_warp *warp; /* of the issuer, for the report */
    const struct ptx_instruction *instruction; /* likewise */
};

struct sim_shadow *sim_shadow_new(struct sim_cta *cta, uint32_t bytes);
void sim_shadow_free(struct sim_shadow *shadow);
/* As new, for another CTA with as many bytes of shared memory; allocates nothing. */
void sim_shadow_reset(struct sim_shadow *shadow, struct sim_cta *cta);

/* Records a read or write of [offset, offset + bytes) of cta's shared memory and reports what is wrong with it: a race,
 * a missing proxy fence. Returns false when it reported something (once per instruction; repeats stay silent).
 * sim_shadow_read() also says in *uninitialised whether a byte was never written; it does not report that itself. */
bool sim_shadow_read(struct sim_cta *cta, uint32_t offset, uint32_t bytes, const struct sim_actor *actor,
                     bool *uninitialised);
bool sim_shadow_write(struct sim_cta *cta, uint32_t offset, uint32_t bytes, const struct sim_actor *actor);
/* Marks bytes as not initialised: a store of a tainted value. */
void sim_shadow_taint(struct sim_cta *cta, uint32_t offset, uint32_t bytes);

#endif
