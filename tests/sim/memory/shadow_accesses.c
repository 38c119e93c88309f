/* SPDX-License-Identifier: Apache-2.0 */
/* The accesses of shadow_accesses.h. */
#include "shadow_accesses.h"

struct hand *hand;

void shadow_begin(void) {
    hand = hand_new(2, 3);
}

void shadow_end(void) {
    hand_free(hand);
}

struct sim_warp *warp_of(uint32_t warp) {
    return hand_warp(hand, warp / 3, warp % 3);
}

struct sim_actor actor_of(struct access access) {
    struct sim_warp *warp = warp_of(access.warp);
    struct sim_actor actor = sim_warp_actor(warp, NULL, access.lane, access.atomic);
    if (access.stamp.agent)
        actor.stamp = access.stamp;
    actor.proxy = access.async ? SIM_PROXY_ASYNC : SIM_PROXY_GENERIC;
    warp->instructions++;
    return actor;
}

struct sim_cta *cta(void) {
    return warp_of(0)->cta;
}

bool uninitialised;

bool reads(struct access access, uint32_t offset, uint32_t bytes) {
    const struct sim_actor actor = actor_of(access);
    return sim_shadow_read(cta(), offset, bytes, &actor, &uninitialised);
}

bool writes(struct access access, uint32_t offset, uint32_t bytes) {
    const struct sim_actor actor = actor_of(access);
    return sim_shadow_write(cta(), offset, bytes, &actor);
}

void hand_over(uint32_t from, uint32_t to) {
    struct sim_knowledge knowledge = {0};
    sim_release(warp_of(from), &knowledge);
    sim_acquire(warp_of(to), &knowledge);
    sim_knowledge_free(&knowledge);
}

struct sim_stamp new_agent(enum sim_agent_kind kind) {
    return (struct sim_stamp){sim_agent_new(hand_cluster(hand), kind, 0, 0, 0, 0x400), 1};
}

void wait_for(uint32_t warp, struct sim_stamp stamp) {
    sim_clocks_raise(warp_of(warp)->cluster, &warp_of(warp)->known, stamp.agent, stamp.clock);
}
