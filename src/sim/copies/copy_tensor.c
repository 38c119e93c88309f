/* SPDX-License-Identifier: Apache-2.0 */
/* cp.async.bulk.tensor, its prefetches and reductions: operands and their checks; loads. */
#include "sim/copies/copy_tensor.h"
#include "sim/copies/tile_origin.h"
#include "sim/execute/numbers.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAP_BYTES = 128, MAP_ALIGN = 64, CHUNK = 16, BOX_ALIGN = 128 };

/* ---- the map ---------------------------------------------------------------------------------------------------- */

/* The 128 bytes that a generic address names: a kernel parameter, or global or constant memory. */
static const void *find_map(const struct sim_issue *issue, uint64_t address) {
    const struct sim_machine *machine = issue->warp->machine;
    const uint64_t offset = address - SIM_PARAM_WINDOW, bytes = machine->function->parameter_bytes;
    if ((address & SIM_WINDOW_MASK) != SIM_PARAM_WINDOW)
        return sim_global_read(issue->warp, issue->i, issue->lane, address, MAP_BYTES, MAP_ALIGN);
    if (offset % MAP_ALIGN) {
        sim_report(issue->warp, issue->i, SIM_REPORT_MISALIGNED, issue->lane, address,
                   "the tensor map at byte %" PRIu64 " of the parameters is not aligned to 64 bytes", offset);
        return NULL;
    }
    if (offset > bytes || bytes - offset < MAP_BYTES) {
        sim_report(issue->warp, issue->i, SIM_REPORT_OUT_OF_BOUNDS, issue->lane, address,
                   "a tensor map at byte %" PRIu64 " of %" PRIu64 " bytes of parameters", offset, bytes);
        return NULL;
    }
    return machine->params + offset;
}

static bool fetch_map(const struct sim_issue *issue, uint64_t address, struct sim_tensor_map *map) {
    uint8_t bytes[MAP_BYTES];
    const void *found = find_map(issue, address);
    if (!found)
        return false;
    memcpy(bytes, found, sizeof bytes);
    if (!sim_tensor_map_decode(bytes, map)) {
        sim_report(issue->warp, issue->i, SIM_REPORT_DESCRIPTOR, issue->lane, address,
                   "the 128 bytes at 0x%" PRIx64 " are no tensor map that cuTensorMapEncode made", address);
        return false;
    }
    if (map->interleave != 0) {
        sim_report(issue->warp, issue->i, SIM_REPORT_DESCRIPTOR, issue->lane, address,
                   "unsupported: an interleaved tensor map; where its bytes go is documented nowhere");
        return false;
    }
    return true;
}

/* ---- coordinates ------------------------------------------------------------------------------------------------ */

static uint32_t element_of(const struct sim_issue *issue, const struct ptx_operand *vector, uint32_t index) {
    const struct ptx_function *function = issue->warp->machine->function;
    if (vector->kind != PTX_OPERAND_VECTOR || index >= vector->count ||
        (uint64_t)vector->first + index >= function->element_count)
        return 0;
    return sim_copy_value(issue, &function->elements[vector->first + index]);
}

/* What the instruction says: choice[0] is its dimensions, and choice[choice] 2 when it is an im2col copy. */
struct mode {
    int choice;
    bool stores;
};

/* What the driver cannot check, and hardware answers with an illegal instruction. NULL: all is well. */
static const char *problem_of(const struct sim_box *box, const struct ptx_instruction *i, const struct mode *mode) {
    const struct sim_tensor_map *map = &box->map;
    const bool im2col = i->choice[mode->choice] == 2;
    if (i->choice[0] != map->rank)
        return "the instruction has not as many dimensions as the map";
    if (im2col != map->im2col)
        return map->im2col ? "the map is an im2col map, the instruction is not" : "the map is not an im2col map";
    if (box->at[0] * (int64_t)map->element_bytes % CHUNK)
        return "the box does not begin on a multiple of 16 bytes of its row";
    for (uint32_t d = 0; mode->stores && d < map->rank; d++) {
        if (box->at[d] < 0)
            return "a store's box may not begin before its tensor";
    }
    return NULL;
}

/* The box that the operands name: map, coordinates and, if not NULL, offsets. */
static bool find_box(const struct sim_issue *issue, uint64_t map_address, const struct ptx_operand *coordinates,
                     const struct ptx_operand *offsets, const struct mode *mode, struct sim_box *box) {
    memset(box, 0, sizeof *box);
    if (!fetch_map(issue, map_address, &box->map))
        return false;
    for (uint32_t d = 0; d < SIM_TENSOR_RANK_MAX; d++)
        box->at[d] = (int32_t)element_of(issue, coordinates, d);
    for (uint32_t d = 0; offsets && d < 3; d++)
        box->offset[d] = element_of(issue, offsets, d) & 0xffff;
    sim_box_measure(box);
    const char *problem = problem_of(box, issue->i, mode);
    if (!problem && (uint64_t)box->rows * box->pitch > UINT32_MAX)
        problem = "the box is larger than any shared memory";
    if (!problem)
        return true;
    char text[96];
    sim_box_describe(box, map_address, text, sizeof text);
    sim_report(issue->warp, issue->i, SIM_REPORT_ILLEGAL, issue->lane, map_address, "%s: %s", text, problem);
    return false;
}

/* ---- loads ------------------------------------------------------------------------------------------------------ */

struct tensor_load {
    struct sim_copy copy;
    uint64_t map_address;
    uint32_t to, receivers; /* receivers: as for bulk loads, of the whole instruction, or 0 */
    struct sim_box box;
};

/* What fills the elements outside the tensor: zeros, or 0x7ff7 in every 16 bits, in types of every size. */
static void fill_row(const struct sim_box *box, uint8_t row[SIM_BOX_ROW_MAX]) {
    memset(row, 0, box->row_bytes);
    for (uint32_t at = 0; box->map.oob_fill && at + 1 < box->row_bytes; at += 2) {
        row[at] = 0xf7;
        row[at + 1] = 0x7f;
    }
}

static bool converts(const struct sim_tensor_map *map) {
    return map->type == SIM_TYPE_F32_FTZ || map->type == SIM_TYPE_TF32 || map->type == SIM_TYPE_TF32_FTZ;
}

/* FLOAT32_FTZ makes zeros of subnormal numbers. TFLOAT32 rounds to 10 bits of mantissa, and so does TFLOAT32_FTZ, which
 * keeps subnormal numbers all the same. */
static void convert(const struct sim_tensor_map *map, uint8_t *bytes, uint32_t count) {
    for (uint32_t at = 0; at + 4 <= count; at += 4) {
        uint32_t bits;
        memcpy(&bits, bytes + at, sizeof bits);
        if (map->type != SIM_TYPE_F32_FTZ)
            bits = sim_tma_tf32_bits(bits);
        else if (fpclassify(sim_float_of(bits)) == FP_SUBNORMAL)
            bits &= 0x80000000;
        memcpy(bytes + at, &bits, sizeof bits);
    }
}

static void trace_load(const struct tensor_load *load) {
    const struct sim_issue *issue = &load->copy.issue;
    char text[64];
    if (!sim_traced(issue->warp->machine))
        return;
    sim_box_describe(&load->box, load->map_address, text, sizeof text);
    sim_trace(load->copy.writes, issue->warp, issue->lane, issue->i->line, load->copy.issued, load->copy.flight.due,
              "copy", "%s -> 0x%" PRIx32 ", mbarrier 0x%" PRIx32, text, load->to, load->copy.barrier_offset);
}

static void load_lands(struct sim_copy *copy) {
    struct tensor_load *load = (struct tensor_load *)copy;
    const struct sim_issue *issue = &copy->issue;
    const struct sim_box *box = &load->box;
    const uint32_t inside = box->last > box->first ? box->last - box->first : 0;
    const bool plain = inside == box->row_bytes && !converts(&box->map);
    uint8_t outside[SIM_BOX_ROW_MAX], edge[SIM_BOX_ROW_MAX];
    uint64_t bytes = 0, sectors = 0, address;
    struct sim_box_walk walk;
    if (!box->whole)
        fill_row(box, outside);
    sim_box_begin(box, &walk);
    for (uint32_t row = 0; row < box->rows; row++, sim_box_next(box, &walk)) {
        const uint8_t *from = outside;
        if (sim_box_row(box, &walk, &address)) {
            address += box->first;
            from = sim_global_read(issue->warp, issue->i, issue->lane, address, inside, 1);
            if (!from)
                return;
            bytes += inside;
            sectors += sim_sectors(address, inside);
            if (!plain) {
                if (inside < box->row_bytes)
                    memcpy(edge, outside, box->row_bytes);
                memcpy(edge + box->first, from, inside);
                if (converts(&box->map))
                    convert(&box->map, edge + box->first, inside);
                from = edge;
            }
        }
        sim_box_put(box, copy->writes->shared, load->to, row, from);
    }
    if (load->receivers)
        sim_count_bulk(issue->warp, issue->i, false, bytes, sectors, load->receivers);
    trace_load(load);
}

static bool issue_load(const struct sim_issue *issue, const struct sim_destination *to, uint64_t map_address,
                       const struct sim_box *box) {
    struct sim_receivers receivers;
    if (!sim_copy_receivers(issue, to, &receivers))
        return false;
    for (uint32_t r = 0; r < receivers.count; r++) {
        struct tensor_load *load = sim_copy_new(issue, sizeof *load, load_lands);
        if (!load)
            return false;
        const uint32_t bytes = box->rows * box->row_bytes; /* what lies outside the tensor counts */
        load->map_address = map_address;
        load->to = receivers.offset;
        load->receivers = r == 0 ? receivers.count : 0;
        load->box = *box;
        sim_copy_to(&load->copy, &receivers, r, bytes);
        const struct sim_actor actor = sim_copy_actor(issue, load->copy.stamp, SIM_PROXY_ASYNC, false);
        sim_box_mark_write(box, load->copy.writes, load->to, &actor);
        sim_tile_written(load->copy.writes, load->to, box, issue->i->line);
        sim_copy_queue(&load->copy, SIM_LATENCY_GLOBAL_COPY, bytes);
    }
    return true;
}

/* [to], [map, {coordinates}], [mbarrier] {, {offsets}} {, mask of CTAs} {, cache policy} */
enum sim_next sim_do_tensor_load(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                 uint32_t mask) {
    (void)path;
    const struct mode mode = {.choice = 2};
    const bool im2col = i->choice[2] == 2, multicast = i->choice[3] != 0;
    uint64_t to[PTX_LANES], map[PTX_LANES], barrier[PTX_LANES];
    sim_copy_addresses(warp, i, 0, mask, to);
    sim_copy_addresses(warp, i, 1, mask, map);
    sim_copy_addresses(warp, i, 3, mask, barrier);
    for (; mask; mask &= mask - 1) {
        const struct sim_issue issue = {warp, i, __builtin_ctz(mask)};
        struct sim_box box;
        if (!find_box(&issue, map[issue.lane], &i->operand[2], im2col ? &i->operand[4] : NULL, &mode, &box))
            return sim_copy_refused(warp);
        const struct sim_destination destination = {.address = to[issue.lane],
                                                    .barrier = barrier[issue.lane],
                                                    .bytes = box.rows * box.pitch,
                                                    .align = BOX_ALIGN,
                                                    .multicast = multicast,
                                                    .ctas = sim_copy_value(&issue, &i->operand[im2col ? 5 : 4])};
        if (!issue_load(&issue, &destination, map[issue.lane], &box))
            return sim_copy_refused(warp);
    }
    return SIM_NEXT;
}

/* ---- stores and prefetches: operands ---------------------------------------------------------------------------- */

/* [map, {coordinates}], [from] {, cache policy} */
static enum sim_next store_lanes(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t mask,
                                 enum sim_reduction_kind kind) {
    const struct mode mode = {.choice = kind == SIM_REDUCE_NONE ? 1 : 2, .stores = true};
    uint64_t from[PTX_LANES], map[PTX_LANES];
    sim_copy_addresses(warp, i, 0, mask, map);
    sim_copy_addresses(warp, i, 2, mask, from);
    for (; mask; mask &= mask - 1) {
        const struct sim_issue issue = {warp, i, __builtin_ctz(mask)};
        struct sim_box box;
        if (!find_box(&issue, map[issue.lane], &i->operand[1], NULL, &mode, &box))
            return sim_copy_refused(warp);
        const struct sim_tensor_issue tensor = {issue, map[issue.lane], &box};
        if (!sim_tensor_store(&tensor, from[issue.lane], kind))
            return sim_copy_refused(warp);
    }
    return SIM_NEXT;
}

enum sim_next sim_do_tensor_store(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                  uint32_t mask) {
    (void)path;
    return store_lanes(warp, i, mask, SIM_REDUCE_NONE);
}

enum sim_next sim_do_tensor_reduce(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                   uint32_t mask) {
    (void)path;
    return store_lanes(warp, i, mask, (enum sim_reduction_kind)i->choice[1]);
}

/* A prefetch has no effect but that its operands are checked. [map, {coordinates}] {, {offsets}} {, cache policy} */
enum sim_next sim_do_tensor_prefetch(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                     uint32_t mask) {
    (void)path;
    const struct mode mode = {.choice = 1};
    uint64_t map[PTX_LANES];
    sim_copy_addresses(warp, i, 0, mask, map);
    for (; mask; mask &= mask - 1) {
        const struct sim_issue issue = {warp, i, __builtin_ctz(mask)};
        struct sim_box box;
        if (!find_box(&issue, map[issue.lane], &i->operand[1], &i->operand[2], &mode, &box))
            return sim_copy_refused(warp);
    }
    return SIM_NEXT;
}
