/* SPDX-License-Identifier: Apache-2.0 */
/* The shadow of shared memory: its cells, and the fast way over many of them. */
#include <stdlib.h>
#include <string.h>

#include "sim/memory/shadow_cell.h"

/* ---- set-up ----------------------------------------------------------------------------------------------------- */

struct sim_shadow *sim_shadow_new(struct sim_cta *cta, uint32_t bytes) {
    struct sim_shadow *shadow = calloc(1, sizeof *shadow);
    if (!shadow)
        return NULL;
    shadow->cta = cta;
    shadow->words = (bytes + 3) / 4;
    shadow->cell = calloc(shadow->words + 1, sizeof *shadow->cell);
    shadow->write_trace = calloc(shadow->words + 1, sizeof *shadow->write_trace);
    shadow->read_trace = calloc(shadow->words + 1, sizeof *shadow->read_trace);
    shadow->sets = sim_read_sets_new();
    if (shadow->cell && shadow->write_trace && shadow->read_trace && shadow->sets)
        return shadow;
    sim_shadow_free(shadow);
    return NULL;
}

void sim_shadow_free(struct sim_shadow *shadow) {
    if (!shadow)
        return;
    free(shadow->cell);
    free(shadow->write_trace);
    free(shadow->read_trace);
    sim_read_sets_free(shadow->sets);
    free(shadow);
}

/* The traces stay: nobody looks at those of a cell that is zero. */
void sim_shadow_reset(struct sim_shadow *shadow, struct sim_cta *cta) {
    shadow->cta = cta;
    memset(shadow->cell, 0, shadow->words * sizeof *shadow->cell);
    sim_read_sets_reset(shadow->sets);
}

void sim_access_begin(struct sim_access *access, struct sim_cta *cta, const struct sim_actor *actor, bool is_write) {
    static const uint32_t nothing[SIM_AGENTS_MAX];
    const bool async = actor->proxy == SIM_PROXY_ASYNC;
    const uint32_t pc =
        actor->instruction && actor->instruction->pc < SIM_TRACE_NO_PC ? actor->instruction->pc : SIM_TRACE_NO_PC;
    const uint32_t run = actor->warp ? (uint32_t)actor->warp->instructions : 0;
    *access = (struct sim_access){
        .shadow = cta->shadow,
        .cta = cta,
        .actor = actor,
        .known = actor->known && actor->known->entry ? actor->known->entry : nothing,
        .flushed = actor->flushed && actor->flushed->entry ? actor->flushed->entry : nothing,
        .who = actor->stamp.clock | (uint64_t)(actor->stamp.agent & 0xfff) << 32 |
               (actor->atomic ? SIM_CELL_ATOMIC : 0) | (is_write && async ? SIM_CELL_ASYNC : 0),
        .own_agent = actor->warp ? actor->warp->agent : SIM_AGENT_NONE,
        .trace = pc << SIM_TRACE_RUN_BITS | (run & ((1u << SIM_TRACE_RUN_BITS) - 1)),
        .is_write = is_write,
        .clean = true,
        .write_seen = UINT64_MAX,
        .read_seen = UINT64_MAX,
        .set_from = UINT64_MAX,
    };
}

/* ---- spans ------------------------------------------------------------------------------------------------------ */

static void read_words(struct sim_access *access, uint32_t first, uint32_t count, uint32_t lane, uint32_t shift) {
    struct sim_cell *cells = access->shadow->cell;
    for (uint32_t w = 0; w < count; w++)
        sim_access_read_word(access, cells, first + w, lane + (w >> shift));
    for (uint32_t w = 0; w < count; w++)
        access->shadow->read_trace[first + w] = access->trace;
}

static void write_words(struct sim_access *access, uint32_t first, uint32_t count, uint32_t lane, uint32_t shift) {
    struct sim_cell *cells = access->shadow->cell;
    for (uint32_t w = 0; w < count; w++)
        sim_access_write_word(access, cells, first + w, lane + (w >> shift));
    for (uint32_t w = 0; w < count; w++)
        access->shadow->write_trace[first + w] = access->trace;
}

void sim_access_read_lanes(struct sim_access *access, const uint32_t offset[PTX_LANES], uint32_t mask, uint32_t bytes) {
    struct sim_cell *cells = access->shadow->cell;
    uint32_t *trace = access->shadow->read_trace;
    for (; mask; mask &= mask - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(mask), first = offset[lane] / 4;
        for (uint32_t w = 0; w < bytes / 4; w++) {
            sim_access_read_word(access, cells, first + w, lane);
            trace[first + w] = access->trace;
        }
    }
}

void sim_access_write_lanes(struct sim_access *access, const uint32_t offset[PTX_LANES], uint32_t mask,
                            uint32_t bytes) {
    struct sim_cell *cells = access->shadow->cell;
    uint32_t *trace = access->shadow->write_trace;
    for (; mask; mask &= mask - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(mask), first = offset[lane] / 4;
        for (uint32_t w = 0; w < bytes / 4; w++) {
            sim_access_write_word(access, cells, first + w, lane);
            trace[first + w] = access->trace;
        }
    }
}

/*  |  .  .  x  x  |  x  x  x  x  |  ...  |  x  .  .  .  |      a part of a word, whole words, a part of a word  */
void sim_access_span(struct sim_access *access, uint32_t offset, uint32_t bytes, uint32_t lane, uint32_t shift) {
    const uint32_t end = offset + bytes;
    while (offset < end) {
        const uint32_t word = offset / 4, at = offset % 4, left = end - offset;
        if (at == 0 && left >= 4) {
            if (access->is_write)
                write_words(access, word, left / 4, lane, shift);
            else
                read_words(access, word, left / 4, lane, shift);
            lane += (left / 4) >> shift;
            offset += left / 4 * 4;
            continue;
        }
        const uint32_t part = left < 4 - at ? left : 4 - at;
        if (access->is_write)
            sim_access_judge_write(access, word, ((1u << part) - 1) << at, lane);
        else
            sim_access_judge_read(access, word, ((1u << part) - 1) << at, lane);
        offset += part;
    }
}

/* ---- for everybody ---------------------------------------------------------------------------------------------- */

/* False: not inside the CTA's shared memory, or there is no shadow to ask. */
static bool in_shadow(const struct sim_cta *cta, uint32_t offset, uint32_t bytes) {
    return cta->shadow && bytes <= cta->shadow->words * 4 && offset <= cta->shadow->words * 4 - bytes;
}

bool sim_shadow_read(struct sim_cta *cta, uint32_t offset, uint32_t bytes, const struct sim_actor *actor,
                     bool *uninitialised) {
    struct sim_access access;
    *uninitialised = false;
    if (!in_shadow(cta, offset, bytes))
        return true;
    sim_access_begin(&access, cta, actor, false);
    sim_access_span(&access, offset, bytes, actor->lane, SIM_ONE_LANE);
    *uninitialised = access.never_written || access.tainted;
    return access.clean;
}

bool sim_shadow_write(struct sim_cta *cta, uint32_t offset, uint32_t bytes, const struct sim_actor *actor) {
    struct sim_access access;
    if (!in_shadow(cta, offset, bytes))
        return true;
    sim_access_begin(&access, cta, actor, true);
    sim_access_span(&access, offset, bytes, actor->lane, SIM_ONE_LANE);
    return access.clean;
}

void sim_shadow_taint(struct sim_cta *cta, uint32_t offset, uint32_t bytes) {
    if (!in_shadow(cta, offset, bytes))
        return;
    for (uint32_t at = offset; at < offset + bytes; at++) {
        uint64_t *write = &cta->shadow->cell[at / 4].write;
        *write &= ~(UINT64_C(1) << (56 + at % 4));
        *write |= UINT64_C(1) << (60 + at % 4);
    }
}
