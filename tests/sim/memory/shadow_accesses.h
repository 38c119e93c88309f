/* SPDX-License-Identifier: Apache-2.0 */
/* Single accesses to the shadow of a hand-made cluster: what the tests of the shadow share. */
#ifndef SIM_SHADOW_ACCESSES_H
#define SIM_SHADOW_ACCESSES_H

#include "hand_made.h"
#include "sim/memory/memory.h"
#include "sim/memory/shadow.h"

#include <check.h>

/* A word of CTA 0's shared memory, and a span. */
enum { WORD = 1072, AT = 2048, SPAN = 512 };

extern struct hand *hand;
void shadow_begin(void);
void shadow_end(void);

struct access {
    uint32_t warp; /* 0, 1, 2 of CTA 0; 3, 4, 5 of CTA 1 */
    uint8_t lane;
    bool atomic, async;
    struct sim_stamp stamp; /* agent 0: the warp's own */
};
#define BY(warp_, lane_, ...) ((struct access){.warp = warp_, .lane = lane_, __VA_ARGS__})

struct sim_warp *warp_of(uint32_t warp);
struct sim_cta *cta(void);
/* Every access is an instruction of its own. */
struct sim_actor actor_of(struct access access);
bool reads(struct access access, uint32_t offset, uint32_t bytes);
bool writes(struct access access, uint32_t offset, uint32_t bytes);
extern bool uninitialised; /* of the last read */

/* Everything that warp `from` did is known to `to`, as after a barrier. */
void hand_over(uint32_t from, uint32_t to);
struct sim_stamp new_agent(enum sim_agent_kind kind);
void wait_for(uint32_t warp, struct sim_stamp stamp);

#endif
