/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster made by hand, whose warps run one PTX instruction at a time, when the test says so: for what must hold
 * whatever the machine's schedule is.
 *
 * Each instruction is parsed together with these declarations, so that registers keep their values:
 *   .pred p, q    .b32 a, b    .b64 s, t    .shared .b64 full */
#ifndef SIM_HAND_MADE_H
#define SIM_HAND_MADE_H

#include "sim/barriers/barriers.h"

#include <check.h>

enum { HAND_FULL = 1024 }; /* the address of `full` */

struct hand *hand_new(uint32_t ctas, uint32_t warps);
void hand_free(struct hand *hand);
struct sim_cluster *hand_cluster(struct hand *hand);
struct sim_warp *hand_warp(struct hand *hand, uint32_t cta, uint32_t warp);

/* The lanes of `mask` run the instruction `ptx` (";" and all). One that waits is run again by the same call. */
enum sim_next hand_run(struct hand *hand, uint32_t cta, uint32_t warp, uint32_t mask, const char *ptx);
/* The whole warp; and then what came of it. */
#define hand_does(hand, cta, warp, ptx)                                                                                \
    ck_assert_msg(hand_run(hand, cta, warp, UINT32_MAX, ptx) == SIM_NEXT, "%s: does not go on", ptx)
#define hand_waits(hand, cta, warp, ptx)                                                                               \
    ck_assert_msg(hand_run(hand, cta, warp, UINT32_MAX, ptx) == SIM_WAIT, "%s: does not wait", ptx)
/* Lane 0 alone, as behind a branch. */
#define hand_leads(hand, cta, warp, ptx)                                                                               \
    ck_assert_msg(hand_run(hand, cta, warp, 1, ptx) == SIM_NEXT, "%s: does not go on", ptx)

/* Every warp of the cluster, one after the other. */
void hand_everybody(struct hand *hand, const char *ptx);
/* Warp 0 of each CTA runs `init`, fenced if so, and a barrier of the cluster follows. */
void hand_prepare(struct hand *hand, const char *init, bool fenced);

void hand_exit(struct hand *hand, uint32_t cta, uint32_t warp);
void hand_exit_cta(struct hand *hand, uint32_t cta);
/* A register of lane 0: 'p', 'q', 'a', 'b', 's', 't'. */
uint64_t hand_register(struct hand *hand, uint32_t cta, uint32_t warp, char name);
void hand_set(struct hand *hand, uint32_t cta, uint32_t warp, char name, uint64_t value);

/* There has been no report since the last call; or one of the kind, whose sentence contains `words`, and no other. */
void hand_clean(struct hand *hand);
void hand_reported(struct hand *hand, enum gm_sim_report_kind kind, const char *words);

#endif
