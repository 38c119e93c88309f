/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that pass values between the lanes of a warp. All lanes of the member mask come together first. */
#include "sim/execute/instructions.h"
#include "sim/execute/lanes.h"
#include "sim/report/report.h"

/* The member mask, which is to be the same in all lanes that run the instruction. */
static uint32_t members_of(const struct sim_warp *warp, const struct ptx_operand *operand, uint32_t mask) {
    if (operand->kind == PTX_OPERAND_IMMEDIATE)
        return (uint32_t)operand->value; /* its row is cut to the type, which may be .pred */
    return SIM_SOURCE_32(warp, operand)[__builtin_ctz(mask)];
}

static void set_taint(struct sim_warp *warp, const struct ptx_operand *to, uint32_t taint, uint32_t mask) {
    if (warp->tainted && to->kind == PTX_OPERAND_REGISTER)
        warp->tainted[to->reg / 128] = (warp->tainted[to->reg / 128] & ~mask) | (taint & mask);
    else if (warp->tainted && to->kind == PTX_OPERAND_PREDICATE)
        warp->tainted_predicates[to->reg / 4] = (warp->tainted_predicates[to->reg / 4] & ~mask) | (taint & mask);
}

static uint32_t taint_of(const struct sim_warp *warp, const struct ptx_operand *from) {
    if (warp->tainted && from->kind == PTX_OPERAND_REGISTER)
        return warp->tainted[from->reg / 128];
    return warp->tainted && from->kind == PTX_OPERAND_PREDICATE ? warp->tainted_predicates[from->reg / 4] : 0;
}

static void set_32(struct sim_warp *warp, const struct ptx_operand *to, const uint32_t value[PTX_LANES],
                   uint32_t mask) {
    if (to->kind == PTX_OPERAND_REGISTER)
        sim_blend_32(SIM_ROW_32(warp, to), value, mask);
}

static void set_all_32(struct sim_warp *warp, const struct ptx_operand *to, uint32_t value, uint32_t mask) {
    uint32_t row[PTX_LANES];
    for (int lane = 0; lane < PTX_LANES; lane++)
        row[lane] = value;
    set_32(warp, to, row, mask);
}

/* A result that depends on a source in every lane of `mask` is tainted everywhere when it is in one. */
static void spread_taint(struct sim_warp *warp, const struct ptx_operand *to, const struct ptx_operand *from,
                         uint32_t mask) {
    set_taint(warp, to, taint_of(warp, from) & mask ? SIM_ALL_LANES : 0, mask);
}

/* ---- shfl ------------------------------------------------------------------------------------------------------- */

enum { SHUFFLE_UP = 1, SHUFFLE_DOWN, SHUFFLE_BUTTERFLY, SHUFFLE_INDEX };

/* The lane that `lane` reads from; *inside says whether that is in its segment. `c` holds the clamp in bits 0-4 and the
 * segment mask in bits 8-12. */
static uint32_t shuffle_source(int mode, uint32_t lane, uint32_t b, uint32_t c, bool *inside) {
    const uint32_t by = b & 31, segment = c >> 8 & 31, last = (lane & segment) | (c & 31 & ~segment);
    int from = 0;
    switch (mode) {
    case SHUFFLE_UP:
        from = (int)lane - (int)by;
        *inside = from >= (int)last;
        break;
    case SHUFFLE_DOWN:
        from = (int)(lane + by);
        *inside = from <= (int)last;
        break;
    case SHUFFLE_BUTTERFLY:
        from = (int)(lane ^ by);
        *inside = from <= (int)last;
        break;
    default:
        from = (int)((lane & segment) | (by & ~segment));
        *inside = from <= (int)last;
        break;
    }
    return *inside ? (uint32_t)from & 31 : lane;
}

enum sim_next sim_do_shuffle(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                             uint32_t mask) {
    const struct ptx_operand *const operand = i->operand;
    const uint32_t *const a = SIM_SOURCE_32(warp, &operand[2]), *const b = SIM_SOURCE_32(warp, &operand[3]);
    const uint32_t *const c = SIM_SOURCE_32(warp, &operand[4]), taints = taint_of(warp, &operand[2]);
    uint32_t everyone, result[PTX_LANES] = {0}, inside_lanes = 0, taint = 0;
    if (!sim_gather(warp, path, i, members_of(warp, &operand[5], mask), &everyone))
        return SIM_WAIT;
    for (uint32_t left = everyone; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        bool inside;
        const uint32_t from = shuffle_source(i->choice[0], lane, b[lane], c[lane], &inside);
        if (!(everyone >> from & 1))
            sim_report(warp, i, SIM_REPORT_DIVERGED, (int)lane, 0, "it reads from lane %u, which does not take part",
                       from);
        result[lane] = a[from];
        inside_lanes |= (uint32_t)inside << lane;
        taint |= (taints >> from & 1) << lane;
    }
    set_32(warp, &operand[0], result, everyone);
    sim_set_predicate(warp, &operand[1], inside_lanes, everyone);
    set_taint(warp, &operand[0], taint, everyone);
    set_taint(warp, &operand[1], 0, everyone);
    return SIM_NEXT;
}

/* ---- votes ------------------------------------------------------------------------------------------------------ */

enum { VOTE_ALL = 1, VOTE_ANY, VOTE_UNIFORM };

enum sim_next sim_do_vote(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                          uint32_t mask) {
    const struct ptx_operand *const operand = i->operand;
    uint32_t everyone;
    if (!sim_gather(warp, path, i, members_of(warp, &operand[2], mask), &everyone))
        return SIM_WAIT;
    const uint32_t votes = sim_predicate(warp, &operand[1]) & everyone;
    const bool all = votes == everyone, any = votes != 0;
    const bool result = i->choice[0] == VOTE_ALL ? all : i->choice[0] == VOTE_ANY ? any : all || !any;
    sim_set_predicate(warp, &operand[0], result ? SIM_ALL_LANES : 0, everyone);
    spread_taint(warp, &operand[0], &operand[1], everyone);
    return SIM_NEXT;
}

enum sim_next sim_do_ballot(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                            uint32_t mask) {
    const struct ptx_operand *const operand = i->operand;
    uint32_t everyone;
    if (!sim_gather(warp, path, i, members_of(warp, &operand[2], mask), &everyone))
        return SIM_WAIT;
    set_all_32(warp, &operand[0], sim_predicate(warp, &operand[1]) & everyone, everyone);
    spread_taint(warp, &operand[0], &operand[1], everyone);
    return SIM_NEXT;
}

/* The lowest lane is elected, as on hardware. */
enum sim_next sim_do_elect(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                           uint32_t mask) {
    const struct ptx_operand *const operand = i->operand;
    uint32_t everyone;
    if (!sim_gather(warp, path, i, members_of(warp, &operand[2], mask), &everyone))
        return SIM_WAIT;
    const uint32_t elected = everyone ? (uint32_t)__builtin_ctz(everyone) : 0;
    set_all_32(warp, &operand[0], elected, everyone);
    sim_set_predicate(warp, &operand[1], UINT32_C(1) << elected, everyone);
    set_taint(warp, &operand[0], 0, everyone);
    set_taint(warp, &operand[1], 0, everyone);
    return SIM_NEXT;
}

enum sim_next sim_do_active_mask(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                 uint32_t mask) {
    (void)path;
    set_all_32(warp, &i->operand[0], mask, mask);
    set_taint(warp, &i->operand[0], 0, mask);
    return SIM_NEXT;
}

enum sim_next sim_do_warp_sync(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                               uint32_t mask) {
    uint32_t everyone;
    if (!sim_gather(warp, path, i, members_of(warp, &i->operand[0], mask), &everyone))
        return SIM_WAIT;
    sim_warp_step(warp);
    return SIM_NEXT;
}

/* ---- match, redux ----------------------------------------------------------------------------------------------- */

static uint64_t value_of(const struct sim_warp *warp, const struct ptx_operand *operand, bool wide, uint32_t lane) {
    return wide ? SIM_SOURCE_64(warp, operand)[lane] : SIM_SOURCE_32(warp, operand)[lane];
}

static uint32_t equal_lanes(const struct sim_warp *warp, const struct ptx_operand *operand, bool wide, uint32_t lane,
                            uint32_t everyone) {
    const uint64_t value = value_of(warp, operand, wide, lane);
    uint32_t lanes = 0;
    for (uint32_t left = everyone; left; left &= left - 1) {
        const uint32_t other = (uint32_t)__builtin_ctz(left);
        lanes |= (uint32_t)(value_of(warp, operand, wide, other) == value) << other;
    }
    return lanes;
}

enum { MATCH_64 = 2 };

enum sim_next sim_do_match_any(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                               uint32_t mask) {
    const struct ptx_operand *const operand = i->operand;
    uint32_t everyone, result[PTX_LANES] = {0};
    if (!sim_gather(warp, path, i, members_of(warp, &operand[2], mask), &everyone))
        return SIM_WAIT;
    for (uint32_t left = everyone; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        result[lane] = equal_lanes(warp, &operand[1], i->choice[0] == MATCH_64, lane, everyone);
    }
    set_32(warp, &operand[0], result, everyone);
    spread_taint(warp, &operand[0], &operand[1], everyone);
    return SIM_NEXT;
}

enum sim_next sim_do_match_all(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                               uint32_t mask) {
    const struct ptx_operand *const operand = i->operand;
    uint32_t everyone;
    if (!sim_gather(warp, path, i, members_of(warp, &operand[3], mask), &everyone))
        return SIM_WAIT;
    const uint32_t first = everyone ? (uint32_t)__builtin_ctz(everyone) : 0;
    const bool all = equal_lanes(warp, &operand[2], i->choice[0] == MATCH_64, first, everyone) == everyone;
    set_all_32(warp, &operand[0], all ? everyone : 0, everyone);
    sim_set_predicate(warp, &operand[1], all ? SIM_ALL_LANES : 0, everyone);
    spread_taint(warp, &operand[0], &operand[2], everyone);
    spread_taint(warp, &operand[1], &operand[2], everyone);
    return SIM_NEXT;
}

enum { REDUX_ADD = 1, REDUX_MIN, REDUX_MAX, REDUX_AND, REDUX_OR, REDUX_XOR, REDUX_SIGNED = 2 };

static uint32_t redux(int operation, bool is_signed, uint32_t a, uint32_t b) {
    const bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
    switch (operation) {
    case REDUX_ADD:
        return a + b;
    case REDUX_MIN:
        return less ? a : b;
    case REDUX_MAX:
        return less ? b : a;
    case REDUX_AND:
        return a & b;
    case REDUX_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

enum sim_next sim_do_redux(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                           uint32_t mask) {
    const struct ptx_operand *const operand = i->operand;
    uint32_t everyone;
    if (!sim_gather(warp, path, i, members_of(warp, &operand[2], mask), &everyone))
        return SIM_WAIT;
    if (!everyone)
        return SIM_NEXT;
    const uint32_t *const source = SIM_SOURCE_32(warp, &operand[1]);
    uint32_t result = source[__builtin_ctz(everyone)];
    for (uint32_t left = everyone & (everyone - 1); left; left &= left - 1)
        result = redux(i->choice[0], i->choice[1] == REDUX_SIGNED, result, source[__builtin_ctz(left)]);
    set_all_32(warp, &operand[0], result, everyone);
    spread_taint(warp, &operand[0], &operand[1], everyone);
    return SIM_NEXT;
}
