/* SPDX-License-Identifier: Apache-2.0 */
/* cp.async: each lane copies 4, 8 or 16 bytes from global to shared memory, by the generic proxy.
 *
 * The warp counts events: commits, and arrivals on mbarriers. A copy is stamped with the number of the event that will
 * close its group:
 *
 *      event           1                2           3
 *      copy  copy   commit   copy    commit      commit (of some lanes)
 *      \___stamp 1____/       \_2_____/
 *
 * wait_group N of a lane goes back over the lane's newest N commits, and waits for all copies stamped up to the one
 * before. Each lane may have its own history of commits; what the warp then knows is what the laziest of the waiting
 * lanes has waited for. */
#ifndef SIM_COPY_ASYNC_H
#define SIM_COPY_ASYNC_H

#include "sim/copies/copies.h"

enum { SIM_CP_ASYNC_RING = 64 }; /* events told apart; older ones are waited for together */

/* cp.async.mbarrier.arrive: lanes whose arrival comes when the copies before it have landed. */
struct sim_cp_async_arrival {
    struct sim_mbarrier *barrier; /* NULL: this place is free */
    const struct ptx_instruction *i;
    uint32_t count, clock;
    uint64_t before;  /* copies issued by then, and of those */
    uint32_t missing; /* as many still under way */
};
enum { SIM_CP_ASYNC_ARRIVALS = 128 };

struct sim_cp_async_state {
    uint32_t agent;
    uint32_t events;
    uint32_t commits[SIM_CP_ASYNC_RING];   /* lanes that took part in event n: [n % SIM_CP_ASYNC_RING] */
    uint32_t under_way[SIM_CP_ASYNC_RING]; /* copies stamped n: [n % SIM_CP_ASYNC_RING] */
    uint32_t total_under_way;
    uint64_t issued;            /* copies so far */
    uint32_t last[PTX_LANES];   /* stamp of each lane's newest copy */
    uint32_t waited[PTX_LANES]; /* the lane has waited for its copies stamped up to this */
    uint32_t arrivals;
    struct sim_cp_async_arrival arrival[SIM_CP_ASYNC_ARRIVALS];
};

/* The warp's state, made when it is first needed. NULL: out of memory, and the launch ends. */
struct sim_cp_async_state *sim_cp_async_state(struct sim_warp *warp);
/* A copy with this stamp and serial number has landed. */
void sim_cp_async_landed(struct sim_warp *warp, uint32_t clock, uint64_t serial);

#endif
