/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor stores and reductions: a box of shared memory into global memory. */
#include "sim/copies/copy_tensor.h"

#include <inttypes.h>

enum { CHUNK = 16, BOX_ALIGN = 128 };

struct tensor_store {
    struct sim_store store;
    uint64_t map_address;
    uint32_t from;
    enum sim_reduction_kind kind;
    struct sim_box box;
    uint8_t data[]; /* the box, its rows one after the other and not swizzled */
};

static void trace_store(const struct tensor_store *s) {
    const struct sim_copy *copy = &s->store.copy;
    const struct sim_issue *issue = &copy->issue;
    char text[72];
    if (!sim_traced(issue->warp->machine))
        return;
    sim_box_describe(&s->box, s->map_address, text, sizeof text);
    sim_trace(issue->warp->cta, issue->warp, issue->lane, issue->i->line, copy->issued, copy->flight.due, "store",
              "0x%" PRIx32 " -> %s", s->from, text);
}

/* The bytes of a row that are written: a store rounds the end of a ragged row up to 16 bytes, counted from the row's
 * start. Of a reduction that is not known: it keeps to what is documented. */
static uint32_t end_of_row(const struct tensor_store *s) {
    const struct sim_box *box = &s->box;
    const uint32_t rounded = (box->last + CHUNK - 1) / CHUNK * CHUNK;
    if (s->kind != SIM_REDUCE_NONE)
        return box->last;
    return rounded < box->row_bytes ? rounded : box->row_bytes;
}

static void store_written(struct sim_copy *copy) {
    struct tensor_store *s = (struct tensor_store *)copy;
    const struct sim_box *box = &s->box;
    const uint32_t end = end_of_row(s);
    struct sim_box_walk walk;
    sim_box_begin(box, &walk);
    for (uint32_t row = 0; row < box->rows; row++, sim_box_next(box, &walk)) {
        uint64_t address;
        const uint8_t *from = s->data + (size_t)row * box->row_bytes;
        if (sim_box_row(box, &walk, &address) &&
            !sim_store_write(&s->store, address, from, end, s->kind, (enum sim_element_type)box->map.type))
            return;
    }
    sim_store_written(&s->store);
    trace_store(s);
}

static void store_read(struct sim_copy *copy) {
    struct tensor_store *s = (struct tensor_store *)copy;
    const struct sim_box *box = &s->box;
    const size_t bytes = (size_t)box->rows * box->row_bytes;
    struct tensor_store *second = sim_store_pass_on(&s->store, sizeof *s, bytes, store_written);
    if (!second)
        return;
    for (uint32_t row = 0; row < box->rows; row++)
        sim_box_get(box, copy->reads->shared, s->from, row, second->data + (size_t)row * box->row_bytes);
    sim_copy_queue(&second->store.copy, SIM_LATENCY_GLOBAL_COPY, bytes);
}

/* The operation suits the map's element type. */
static bool is_taken(const struct sim_tensor_issue *tensor, enum sim_reduction_kind kind) {
    const struct sim_issue *issue = &tensor->issue;
    if (kind == SIM_REDUCE_NONE || sim_reduce_is_taken(kind, (enum sim_element_type)tensor->box->map.type))
        return true;
    sim_report(issue->warp, issue->i, SIM_REPORT_ILLEGAL, issue->lane, tensor->map_address,
               "there is no reduction of this kind for elements of type %d of the tensor map", tensor->box->map.type);
    return false;
}

bool sim_tensor_store(const struct sim_tensor_issue *tensor, uint64_t from, enum sim_reduction_kind kind) {
    const struct sim_issue *issue = &tensor->issue;
    const struct sim_box *box = tensor->box;
    struct sim_cta *source;
    uint32_t offset, group;
    struct sim_stamp stamp;
    if (!is_taken(tensor, kind) || !sim_copy_locate(issue, from, box->rows * box->pitch, BOX_ALIGN, &source, &offset) ||
        !sim_bulk_group_begin(issue, &stamp, &group))
        return false;
    struct tensor_store *s = sim_copy_new(issue, sizeof *s, store_read);
    if (!s)
        return false;
    s->store.group = group;
    s->store.copy.reads = source;
    s->map_address = tensor->map_address;
    s->from = offset;
    s->kind = kind;
    s->box = *box;
    const struct sim_actor actor = sim_copy_actor(issue, stamp, SIM_PROXY_ASYNC, false);
    if (sim_box_mark_read(box, source, offset, &actor)) {
        char text[72];
        sim_box_describe(box, tensor->map_address, text, sizeof text);
        sim_report(issue->warp, issue->i, SIM_REPORT_UNINITIALISED, issue->lane, offset,
                   "the store to %s takes bytes of shared memory from 0x%" PRIx32 " on that were never written", text,
                   offset);
    }
    sim_copy_queue(&s->store.copy, SIM_LATENCY_SHARED_COPY, (uint64_t)box->rows * box->row_bytes);
    return true;
}
