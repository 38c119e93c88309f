/* SPDX-License-Identifier: Apache-2.0 */
/* cp.async.bulk and cp.reduce.async.bulk out of shared memory into global memory, in bulk groups. */
#include "sim/copies/copies.h"

#include <inttypes.h>
#include <string.h>

struct bulk_store {
    struct sim_store store;
    uint64_t to;
    uint32_t from, bytes;
    enum sim_reduction_kind kind;
    enum sim_element_type type;
    uint8_t data[];
};

static void store_written(struct sim_copy *copy) {
    struct bulk_store *s = (struct bulk_store *)copy;
    if (!sim_store_write(&s->store, s->to, s->data, s->bytes, s->kind, s->type))
        return;
    sim_store_written(&s->store);
    const struct sim_issue *issue = &copy->issue;
    if (sim_traced(issue->warp->machine))
        sim_trace(issue->warp->cta, issue->warp, issue->lane, issue->i->line, copy->issued, copy->flight.due, "store",
                  "%" PRIu32 " bytes of 0x%" PRIx32 " -> global 0x%" PRIx64, s->bytes, s->from, s->to);
}

static void store_read(struct sim_copy *copy) {
    struct bulk_store *s = (struct bulk_store *)copy;
    struct bulk_store *second = sim_store_pass_on(&s->store, sizeof *s, s->bytes, store_written);
    if (!second)
        return;
    memcpy(second->data, copy->reads->shared + s->from, s->bytes);
    sim_copy_queue(&second->store.copy, SIM_LATENCY_GLOBAL_COPY, s->bytes);
}

static bool store(const struct sim_issue *issue, const struct sim_places *places, uint32_t bytes,
                  enum sim_reduction_kind kind, enum sim_element_type type) {
    struct sim_cta *source;
    uint32_t from;
    if (!sim_bulk_is_aligned(issue, places->to[issue->lane]) ||
        !sim_copy_locate(issue, places->from[issue->lane], bytes, SIM_BULK_CHUNK, &source, &from))
        return false;
    struct sim_stamp stamp;
    uint32_t group;
    if (!sim_bulk_group_begin(issue, &stamp, &group))
        return false;
    struct bulk_store *s = sim_copy_new(issue, sizeof *s, store_read);
    if (!s)
        return false;
    s->store.group = group;
    s->store.copy.reads = source;
    s->from = from;
    s->to = places->to[issue->lane];
    s->bytes = bytes;
    s->kind = kind;
    s->type = type;
    const struct sim_actor actor = sim_copy_actor(issue, stamp, SIM_PROXY_ASYNC, false);
    bool undefined = false;
    sim_shadow_read(source, from, bytes, &actor, &undefined);
    if (undefined)
        sim_report(issue->warp, issue->i, SIM_REPORT_UNINITIALISED, issue->lane, from,
                   "the store reads shared memory at 0x%" PRIx32 " (%" PRIu32 " bytes) that was never written", from,
                   bytes);
    sim_copy_queue(&s->store.copy, SIM_LATENCY_SHARED_COPY, bytes);
    return true;
}

static bool issue_store(const struct sim_issue *issue, const struct sim_places *places, uint32_t bytes) {
    return store(issue, places, bytes, SIM_REDUCE_NONE, SIM_TYPE_U8);
}

static bool issue_store_reduce(const struct sim_issue *issue, const struct sim_places *places, uint32_t bytes) {
    enum sim_reduction_kind kind;
    enum sim_element_type type;
    return sim_bulk_reduction(issue, 1, &kind, &type) && store(issue, places, bytes, kind, type);
}

enum sim_next sim_do_bulk_store(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                uint32_t mask) {
    (void)path;
    return sim_bulk_issue(warp, i, mask, issue_store);
}

enum sim_next sim_do_bulk_store_reduce(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                       uint32_t mask) {
    (void)path;
    return sim_bulk_issue(warp, i, mask, issue_store_reduce);
}

/* Hints have no effect here. */
enum sim_next sim_do_bulk_hint(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                               uint32_t mask) {
    (void)warp, (void)path, (void)i, (void)mask;
    return SIM_NEXT;
}
