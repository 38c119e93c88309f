/* SPDX-License-Identifier: Apache-2.0 */
/* The 16 named barriers of a CTA: bar.sync, bar.arrive, bar.red.
 *
 *   generation g     warps arrive; each hands over what it knows       -> gathering
 *   the last one     everybody that syncs acquires it, g becomes g + 1, all is empty again
 *
 * Barriers count in warps: the first lanes of a warp open its arrival, and it counts, for 32 threads, when all lanes of
 * the warp that are alive have come. */
#include "sim/barriers/barrier_state.h"
#include "sim/execute/instructions.h"

#include <stdlib.h>
#include <string.h>

struct sim_named_barriers *sim_named_barriers_new(void) {
    return calloc(1, sizeof(struct sim_named_barriers));
}

void sim_named_barriers_free(struct sim_named_barriers *named) {
    if (!named)
        return;
    for (int i = 0; i < SIM_NAMED_BARRIERS; i++)
        sim_knowledge_free(&named->barrier[i].gathering);
    free(named);
}

/* ---- completion ------------------------------------------------------------------------------------------- */

static void complete(struct sim_cta *cta, struct sim_named_barrier *barrier) {
    struct sim_cluster *cluster = cta->cluster;
    for (uint32_t syncing = barrier->syncing; syncing; syncing &= syncing - 1) {
        const int warp = __builtin_ctz(syncing);
        sim_acquire(&cta->warps[warp], &barrier->gathering);
        barrier->result[warp] = barrier->running;
    }
    if (sim_traced(cta->machine))
        sim_trace(cta, NULL, PTX_NONE, barrier->line, cluster->now, 0, "barrier", "barrier %d: %u threads",
                  (int)(barrier - cta->named->barrier), barrier->arrivals * PTX_LANES);
    barrier->generation++;
    barrier->expected = barrier->arrivals = barrier->arrived = barrier->syncing = 0;
    barrier->whole = false;
    barrier->running = (struct sim_reduction){0, true, false};
    memset(barrier->lanes, 0, sizeof barrier->lanes);
    sim_clocks_reset(&barrier->gathering.known, cluster->agents->count);
    sim_clocks_reset(&barrier->gathering.flushed, cluster->agents->count);
    sim_progress(cluster);
}

/* Counts a warp whose lanes have all come, and completes the generation if it was the last. */
static void count_warps(struct sim_cta *cta, struct sim_named_barrier *barrier) {
    bool all = true;
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        const uint32_t live = sim_live_lanes(&cta->warps[w]), bit = UINT32_C(1) << w;
        if (barrier->lanes[w] && !(barrier->arrived & bit) && (live & ~barrier->lanes[w]) == 0) {
            barrier->arrived |= bit;
            barrier->arrivals++;
        }
        all &= !live || (barrier->arrived & bit);
    }
    if (barrier->expected && (barrier->whole ? all : barrier->arrivals * PTX_LANES >= barrier->expected))
        complete(cta, barrier);
}

void sim_named_barriers_recheck(struct sim_cta *cta) {
    for (int i = 0; i < SIM_NAMED_BARRIERS; i++)
        if (cta->named->barrier[i].expected)
            count_warps(cta, &cta->named->barrier[i]);
}

/* ---- arrival ---------------------------------------------------------------------------------------------- */

/* An arrival as the instruction says it. */
struct arrival {
    uint32_t number, threads; /* threads 0: none named */
    bool sync;
    uint32_t predicate; /* lanes for which it is true */
};

/* False: there is no such barrier, or it could never be complete. */
static bool check_operands(struct sim_warp *warp, const struct ptx_instruction *i, const struct arrival *a) {
    const uint32_t most = warp->cta->warp_count * PTX_LANES;
    if (a->number >= SIM_NAMED_BARRIERS)
        sim_report(warp, i, SIM_REPORT_BARRIER, PTX_NONE, a->number, "barrier %u: a CTA has barriers 0 to %d",
                   a->number, SIM_NAMED_BARRIERS - 1);
    else if (a->threads % PTX_LANES)
        sim_report(warp, i, SIM_REPORT_BARRIER, PTX_NONE, a->number,
                   "barrier %u counts %u threads: barriers count whole warps, so it must be a multiple of %d",
                   a->number, a->threads, PTX_LANES);
    else if (a->threads > most)
        sim_report(warp, i, SIM_REPORT_BARRIER, PTX_NONE, a->number,
                   "barrier %u counts %u threads, and the CTA has %u: it can never be complete", a->number, a->threads,
                   warp->cta->threads);
    else if (!a->sync && !a->threads)
        sim_report(warp, i, SIM_REPORT_BARRIER, PTX_NONE, a->number,
                   "an arrival at barrier %u must say how many threads "
                   "it counts",
                   a->number);
    else
        return true;
    return false;
}

static void check_generation(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t mask,
                             struct sim_named_barrier *barrier, const struct arrival *a) {
    const uint32_t threads = a->threads ? a->threads : warp->cta->warp_count * PTX_LANES;
    if (!barrier->expected) {
        barrier->expected = threads;
        barrier->line = i->line;
        barrier->running = (struct sim_reduction){0, true, false};
    } else if (barrier->expected != threads)
        sim_report(warp, i, SIM_REPORT_BARRIER, PTX_NONE, a->number,
                   "barrier %u counts %u threads here, and %u where the first warp arrived (line %u)", a->number,
                   threads, barrier->expected, barrier->line);
    barrier->whole |= !a->threads;
    if (barrier->lanes[warp->index] & mask) {
        sim_report(
            warp, i, SIM_REPORT_BARRIER, __builtin_ctz(barrier->lanes[warp->index] & mask), a->number,
            "the warp arrives at barrier %u for the second time before the barrier is complete (%u of %u threads "
            "have come)",
            a->number, barrier->arrivals * PTX_LANES, barrier->expected);
        barrier->arrivals++; /* so does hardware, which then releases the others too early */
    }
}

static void arrive(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t mask,
                   struct sim_named_barrier *barrier, const struct arrival *a) {
    check_generation(warp, i, mask, barrier, a);
    sim_release(warp, &barrier->gathering);
    barrier->lanes[warp->index] |= mask;
    barrier->running.count += (uint32_t)__builtin_popcount(a->predicate & mask);
    barrier->running.any |= (a->predicate & mask) != 0;
    barrier->running.all &= (a->predicate & mask) == mask;
    if (a->sync)
        barrier->syncing |= UINT32_C(1) << warp->index;
    if (sim_traced(warp->machine))
        sim_trace(warp->cta, warp, PTX_NONE, i->line, warp->cluster->now, 0, "arrive", "barrier %u", a->number);
    sim_progress(warp->cluster);
    count_warps(warp->cta, barrier);
}

/* The number of the barrier and its count: operands `first` and the next. */
static struct arrival arrival_of(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t mask, int first) {
    const int lane = __builtin_ctz(mask);
    const uint64_t number = sim_lane_value(warp, &i->operand[first], lane);
    const uint64_t threads = sim_lane_value(warp, &i->operand[first + 1], lane);
    return (struct arrival){.number = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX,
                            .threads = threads < UINT32_MAX ? (uint32_t)threads : UINT32_MAX};
}

/* ---- instructions ----------------------------------------------------------------------------------------- */

/* `bar` is always aligned; `barrier` is where it says so: choice[1]. */
static bool must_be_aligned(const struct ptx_instruction *i) {
    return strncmp(i->operation->opcode, "barrier", 7) != 0 || i->choice[1];
}

/* path->stage 0: to arrive; 1: has arrived, and waits for the generation in path->token to end. */
static enum sim_next sync(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i, uint32_t mask,
                          struct arrival a) {
    if (path->stage == 0) {
        if (must_be_aligned(i))
            sim_check_all_lanes(warp, path, i, mask); /* after the report each part of the warp arrives for itself */
        if (!check_operands(warp, i, &a))
            return sim_hopeless(warp);
        struct sim_named_barrier *barrier = &warp->cta->named->barrier[a.number];
        path->stage = 1;
        path->token = barrier->generation;
        arrive(warp, i, mask, barrier, &a);
    }
    struct sim_named_barrier *barrier = &warp->cta->named->barrier[a.number % SIM_NAMED_BARRIERS];
    if (barrier->generation == path->token)
        count_warps(warp->cta, barrier); /* other lanes of the warp may have exited */
    if (barrier->generation > path->token)
        return SIM_NEXT;
    path->wait = (struct sim_wait){SIM_WAIT_NAMED_BARRIER, a.number, barrier->expected, warp->cta->rank};
    return SIM_WAIT;
}

enum sim_next sim_do_bar_sync(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                              uint32_t mask) {
    struct arrival a = arrival_of(warp, i, mask, 0);
    a.sync = true;
    return sync(warp, path, i, mask, a);
}

enum sim_next sim_do_bar_arrive(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                uint32_t mask) {
    const struct arrival a = arrival_of(warp, i, mask, 0);
    if (must_be_aligned(i))
        sim_check_all_lanes(warp, path, i, mask);
    if (!check_operands(warp, i, &a))
        return sim_hopeless(warp);
    arrive(warp, i, mask, &warp->cta->named->barrier[a.number], &a);
    return SIM_NEXT;
}

/* d, barrier, [threads,] predicate */
static enum sim_next reduce(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                            uint32_t mask, struct sim_reduction *result) {
    struct arrival a = arrival_of(warp, i, mask, 1);
    a.sync = true;
    a.predicate = sim_predicate(warp, &i->operand[3]);
    const enum sim_next next = sync(warp, path, i, mask, a);
    if (next == SIM_NEXT)
        *result = warp->cta->named->barrier[a.number].result[warp->index];
    return next;
}

enum sim_next sim_do_bar_red_popc(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                  uint32_t mask) {
    struct sim_reduction result;
    const enum sim_next next = reduce(warp, path, i, mask, &result);
    if (next == SIM_NEXT && i->operand[0].kind == PTX_OPERAND_REGISTER)
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            SIM_ROW_32(warp, &i->operand[0])[__builtin_ctz(rest)] = result.count;
    return next;
}

enum sim_next sim_do_bar_red_and(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                 uint32_t mask) {
    struct sim_reduction result;
    const enum sim_next next = reduce(warp, path, i, mask, &result);
    if (next == SIM_NEXT)
        sim_set_predicate(warp, &i->operand[0], result.all ? mask : 0, mask);
    return next;
}

enum sim_next sim_do_bar_red_or(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                uint32_t mask) {
    struct sim_reduction result;
    const enum sim_next next = reduce(warp, path, i, mask, &result);
    if (next == SIM_NEXT)
        sim_set_predicate(warp, &i->operand[0], result.any ? mask : 0, mask);
    return next;
}
