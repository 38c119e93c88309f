/* SPDX-License-Identifier: Apache-2.0 */
/* cp.async.bulk and cp.reduce.async.bulk without a tensor map: one piece of memory, a multiple of 16 bytes. */
#include "sim/copies/copies.h"

#include <inttypes.h>
#include <string.h>

/* A load or a push: into the shared memory of one CTA. */
struct delivery {
    struct sim_copy copy;
    uint64_t from;      /* global address; or offset in `copy.reads` */
    uint32_t to, bytes; /* offset in `copy.writes` */
    uint32_t receivers; /* of the whole instruction; 0: another copy of it is counted */
    enum sim_reduction_kind kind;
    enum sim_element_type type;
};

/* ---- the lanes of an instruction -------------------------------------------------------------------------------- */

static void find_places(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t mask,
                        struct sim_places *places) {
    uint64_t *const into[] = {places->to, places->from, NULL, places->barrier};
    for (int operand = 0; operand < 4; operand++) {
        if (!into[operand] || i->operand[operand].kind != PTX_OPERAND_ADDRESS)
            continue;
        sim_copy_addresses(warp, i, operand, mask, into[operand]);
    }
}

/* The size operand, or a report. */
static bool size_of(const struct sim_issue *issue, uint32_t *bytes) {
    *bytes = sim_copy_value(issue, &issue->i->operand[2]);
    if (*bytes % SIM_BULK_CHUNK == 0)
        return true;
    sim_report(issue->warp, issue->i, SIM_REPORT_MISALIGNED, issue->lane, 0,
               "a bulk copy of %" PRIu32 " bytes: the size must be a multiple of 16", *bytes);
    return false;
}

bool sim_bulk_is_aligned(const struct sim_issue *issue, uint64_t address) {
    if (address % SIM_BULK_CHUNK == 0)
        return true;
    sim_report(issue->warp, issue->i, SIM_REPORT_MISALIGNED, issue->lane, address,
               "global address 0x%" PRIx64 " of a bulk copy is not a multiple of 16", address);
    return false;
}

enum sim_next sim_bulk_issue(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t mask,
                             sim_bulk_issue_fn *issue_lane) {
    struct sim_places places = {0};
    find_places(warp, i, mask, &places);
    for (; mask; mask &= mask - 1) {
        const struct sim_issue issue = {warp, i, __builtin_ctz(mask)};
        uint32_t bytes;
        if (!size_of(&issue, &bytes) || (bytes && !issue_lane(&issue, &places, bytes)))
            return sim_copy_refused(warp);
    }
    return SIM_NEXT;
}

/* ---- global -> shared ------------------------------------------------------------------------------------------- */

static void trace_delivery(const struct delivery *d, const char *from) {
    const struct sim_issue *issue = &d->copy.issue;
    if (sim_traced(issue->warp->machine))
        sim_trace(d->copy.writes, issue->warp, issue->lane, issue->i->line, d->copy.issued, d->copy.flight.due, "copy",
                  "%" PRIu32 " bytes of %s 0x%" PRIx64 " -> 0x%" PRIx32 ", mbarrier 0x%" PRIx32, d->bytes, from,
                  d->from, d->to, d->copy.barrier_offset);
}

static void load_lands(struct sim_copy *copy) {
    struct delivery *d = (struct delivery *)copy;
    const struct sim_issue *issue = &copy->issue;
    const void *from = sim_global_read(issue->warp, issue->i, issue->lane, d->from, d->bytes, SIM_BULK_CHUNK);
    if (!from)
        return;
    memcpy(copy->writes->shared + d->to, from, d->bytes);
    if (d->receivers)
        sim_count_bulk(issue->warp, issue->i, false, d->bytes, sim_sectors(d->from, d->bytes), d->receivers);
    trace_delivery(d, "global");
}

static bool issue_load(const struct sim_issue *issue, const struct sim_places *places, uint32_t bytes) {
    const struct sim_destination to = {.address = places->to[issue->lane],
                                       .barrier = places->barrier[issue->lane],
                                       .bytes = bytes,
                                       .align = SIM_BULK_CHUNK,
                                       .multicast = issue->i->choice[1] != 0,
                                       .ctas = sim_copy_value(issue, &issue->i->operand[4])};
    struct sim_receivers receivers;
    if (!sim_bulk_is_aligned(issue, places->from[issue->lane]) || !sim_copy_receivers(issue, &to, &receivers))
        return false;
    for (uint32_t r = 0; r < receivers.count; r++) {
        struct delivery *d = sim_copy_new(issue, sizeof *d, load_lands);
        if (!d)
            return false;
        d->from = places->from[issue->lane];
        d->to = receivers.offset;
        d->bytes = bytes;
        d->receivers = r == 0 ? receivers.count : 0;
        sim_copy_to(&d->copy, &receivers, r, bytes);
        const struct sim_actor actor = sim_copy_actor(issue, d->copy.stamp, SIM_PROXY_ASYNC, false);
        sim_copy_mark(d->copy.writes, d->to, bytes, &actor);
        sim_copy_queue(&d->copy, SIM_LATENCY_GLOBAL_COPY, bytes);
    }
    return true;
}

enum sim_next sim_do_bulk_load(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                               uint32_t mask) {
    (void)path;
    return sim_bulk_issue(warp, i, mask, issue_load);
}

/* ---- shared -> shared memory of a peer -------------------------------------------------------------------------- */

static const enum sim_element_type types[] = {SIM_TYPE_U32, /* in the order of instructions.def */
                                              SIM_TYPE_F16,     SIM_TYPE_BF16, SIM_TYPE_U32, SIM_TYPE_U32,
                                              SIM_TYPE_S32,     SIM_TYPE_U64,  SIM_TYPE_U64, SIM_TYPE_S64,
                                              SIM_TYPE_F32_FTZ, SIM_TYPE_F64};
enum { TYPES = sizeof types / sizeof *types };

/* The operation and type of a cp.reduce, whose brackets begin at choice[first]. */
bool sim_bulk_reduction(const struct sim_issue *issue, int first, enum sim_reduction_kind *kind,
                        enum sim_element_type *type) {
    const uint8_t operation = issue->i->choice[first], element = issue->i->choice[first + 2];
    *kind = operation <= SIM_REDUCE_XOR ? (enum sim_reduction_kind)operation : SIM_REDUCE_NONE;
    *type = types[element < TYPES ? element : 0];
    if (sim_reduce_is_taken(*kind, *type))
        return true;
    sim_report(issue->warp, issue->i, SIM_REPORT_ILLEGAL, issue->lane, 0,
               "there is no reduction of this kind for this type");
    return false;
}

static void push_lands(struct sim_copy *copy) {
    struct delivery *d = (struct delivery *)copy;
    uint8_t *to = copy->writes->shared + d->to;
    const uint8_t *from = copy->reads->shared + d->from;
    if (d->kind == SIM_REDUCE_NONE)
        memmove(to, from, d->bytes);
    else
        sim_reduce(d->kind, d->type, to, from, d->bytes);
    trace_delivery(d, "shared");
}

/* Source and destination are free for others when the mbarrier says so. Bytes that were never written remain so. */
static void mark_push(const struct sim_issue *issue, const struct delivery *d) {
    const bool reduces = d->kind != SIM_REDUCE_NONE;
    const struct sim_actor reader = sim_copy_actor(issue, d->copy.stamp, SIM_PROXY_ASYNC, false);
    const struct sim_actor writer = sim_copy_actor(issue, d->copy.stamp, SIM_PROXY_ASYNC, reduces);
    bool undefined = false, undefined_there = false;
    sim_shadow_read(d->copy.reads, (uint32_t)d->from, d->bytes, &reader, &undefined);
    if (reduces)
        sim_shadow_read(d->copy.writes, d->to, d->bytes, &writer, &undefined_there);
    sim_copy_mark(d->copy.writes, d->to, d->bytes, &writer);
    if (undefined || undefined_there)
        sim_shadow_taint(d->copy.writes, d->to, d->bytes);
}

static bool push(const struct sim_issue *issue, const struct sim_places *places, uint32_t bytes,
                 enum sim_reduction_kind kind, enum sim_element_type type) {
    const struct sim_destination to = {.address = places->to[issue->lane],
                                       .barrier = places->barrier[issue->lane],
                                       .bytes = bytes,
                                       .align = SIM_BULK_CHUNK};
    struct sim_receivers receivers;
    struct sim_cta *source;
    uint32_t from;
    if (!sim_copy_locate(issue, places->from[issue->lane], bytes, SIM_BULK_CHUNK, &source, &from) ||
        !sim_copy_receivers(issue, &to, &receivers))
        return false;
    struct delivery *d = sim_copy_new(issue, sizeof *d, push_lands);
    if (!d)
        return false;
    d->from = from;
    d->to = receivers.offset;
    d->bytes = bytes;
    d->kind = kind;
    d->type = type;
    d->copy.reads = source;
    sim_copy_to(&d->copy, &receivers, 0, bytes);
    mark_push(issue, d);
    sim_count_peer(issue->warp, issue->i, true, bytes);
    sim_copy_queue(&d->copy, SIM_LATENCY_SHARED_COPY, bytes);
    return true;
}

static bool issue_push(const struct sim_issue *issue, const struct sim_places *places, uint32_t bytes) {
    return push(issue, places, bytes, SIM_REDUCE_NONE, SIM_TYPE_U8);
}

static bool issue_push_reduce(const struct sim_issue *issue, const struct sim_places *places, uint32_t bytes) {
    enum sim_reduction_kind kind;
    enum sim_element_type type;
    return sim_bulk_reduction(issue, 0, &kind, &type) && push(issue, places, bytes, kind, type);
}

enum sim_next sim_do_bulk_push(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                               uint32_t mask) {
    (void)path;
    return sim_bulk_issue(warp, i, mask, issue_push);
}

enum sim_next sim_do_bulk_push_reduce(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                      uint32_t mask) {
    (void)path;
    return sim_bulk_issue(warp, i, mask, issue_push_reduce);
}
