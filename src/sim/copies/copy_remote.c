/* SPDX-License-Identifier: Apache-2.0 */
/* st.async and red.async: registers into the shared memory of a CTA of the cluster, whose mbarrier is told of the
 * bytes. They are weak accesses of the generic proxy. */
#include "sim/copies/copies.h"

#include <string.h>

enum { MOST_BYTES = 32, VECTOR_MAX = 4 };

struct remote_store {
    struct sim_copy copy;
    uint32_t to, bytes;
    enum sim_reduction_kind kind;
    enum sim_element_type type;
    uint8_t data[MOST_BYTES];
};

static void lands(struct sim_copy *copy) {
    struct remote_store *s = (struct remote_store *)copy;
    uint8_t *to = copy->writes->shared + s->to;
    if (s->kind == SIM_REDUCE_NONE)
        memcpy(to, s->data, s->bytes);
    else
        sim_reduce(s->kind, s->type, to, s->data, s->bytes);
}

/* Where one lane's bytes go, and what they are. */
struct parcel {
    uint64_t address, barrier;
    uint32_t bytes;
    enum sim_reduction_kind kind;
    enum sim_element_type type;
    uint8_t data[MOST_BYTES];
};

static void mark(const struct sim_issue *issue, const struct remote_store *s) {
    const bool reduces = s->kind != SIM_REDUCE_NONE;
    const struct sim_actor actor = sim_copy_actor(issue, s->copy.stamp, SIM_PROXY_GENERIC, reduces);
    bool undefined = false;
    if (reduces)
        sim_shadow_read(s->copy.writes, s->to, s->bytes, &actor, &undefined);
    sim_copy_mark(s->copy.writes, s->to, s->bytes, &actor);
    if (undefined)
        sim_shadow_taint(s->copy.writes, s->to, s->bytes);
}

static bool send(const struct sim_issue *issue, const struct parcel *parcel) {
    const struct sim_destination to = {.address = parcel->address,
                                       .barrier = parcel->barrier,
                                       .bytes = parcel->bytes,
                                       .align = parcel->bytes,
                                       .generic = true};
    struct sim_receivers receivers;
    if (!sim_copy_receivers(issue, &to, &receivers))
        return false;
    struct remote_store *s = sim_copy_new(issue, sizeof *s, lands);
    if (!s)
        return false;
    s->to = receivers.offset;
    s->bytes = parcel->bytes;
    s->kind = parcel->kind;
    s->type = parcel->type;
    memcpy(s->data, parcel->data, parcel->bytes);
    sim_copy_to(&s->copy, &receivers, 0, parcel->bytes);
    sim_mbarrier_copy_releases(s->copy.barrier, issue->warp);
    mark(issue, s);
    sim_copy_queue(&s->copy, SIM_LATENCY_SHARED_COPY, parcel->bytes);
    return true;
}

/* One element of a lane, 4 or 8 bytes. */
static void pack(const struct sim_issue *issue, const struct ptx_operand *operand, uint32_t bytes, uint8_t *to) {
    uint64_t wide = sim_copy_value(issue, operand);
    if (bytes == 8 && (operand->kind == PTX_OPERAND_IMMEDIATE || operand->bits == 64))
        wide = SIM_SOURCE_64(issue->warp, operand)[issue->lane];
    const uint32_t narrow = (uint32_t)wide;
    memcpy(to, bytes == 8 ? (const void *)&wide : (const void *)&narrow, bytes);
}

/* [to], value or {values}, [mbarrier] */
static enum sim_next send_lanes(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t mask,
                                uint32_t element_bytes, struct parcel parcel) {
    const struct ptx_function *function = warp->machine->function;
    const struct ptx_operand *value = &i->operand[1];
    const bool vector = value->kind == PTX_OPERAND_VECTOR;
    const uint32_t count = !vector ? 1 : value->count < VECTOR_MAX ? value->count : VECTOR_MAX;
    uint64_t to[PTX_LANES], barrier[PTX_LANES];
    sim_copy_addresses(warp, i, 0, mask, to);
    sim_copy_addresses(warp, i, 2, mask, barrier);
    parcel.bytes = count * element_bytes;
    sim_count_peer(warp, i, true, (uint64_t)parcel.bytes * (uint32_t)__builtin_popcount(mask));
    for (; mask; mask &= mask - 1) {
        const struct sim_issue issue = {warp, i, __builtin_ctz(mask)};
        for (uint32_t e = 0; e < count; e++)
            pack(&issue, vector ? &function->elements[value->first + e] : value, element_bytes,
                 parcel.data + e * element_bytes);
        parcel.address = to[issue.lane];
        parcel.barrier = barrier[issue.lane];
        if (!send(&issue, &parcel))
            return sim_copy_refused(warp);
    }
    return SIM_NEXT;
}

/* The last bracket is the type: .b32 .u32 .s32 .f32 .b64 .u64 .s64 .f64. */
enum { WORD_TYPES = 4 };

enum sim_next sim_do_store_async(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                 uint32_t mask) {
    (void)path;
    return send_lanes(warp, i, mask, i->choice[3] <= WORD_TYPES ? 4 : 8, (struct parcel){.kind = SIM_REDUCE_NONE});
}

enum sim_next sim_do_reduce_async(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                  uint32_t mask) {
    (void)path;
    static const enum sim_element_type types[] = {SIM_TYPE_U32, SIM_TYPE_U32, SIM_TYPE_U32,
                                                  SIM_TYPE_S32, SIM_TYPE_U64, SIM_TYPE_U64};
    const struct parcel parcel = {.kind = (enum sim_reduction_kind)i->choice[1],
                                  .type = types[i->choice[2] < sizeof types / sizeof *types ? i->choice[2] : 0]};
    if (!sim_reduce_is_taken(parcel.kind, parcel.type)) {
        sim_report(warp, i, SIM_REPORT_ILLEGAL, PTX_NONE, 0, "there is no reduction of this kind for this type");
        return sim_copy_refused(warp);
    }
    return send_lanes(warp, i, mask, parcel.type == SIM_TYPE_U64 ? 8 : 4, parcel);
}
