/* SPDX-License-Identifier: Apache-2.0 */
/* The two landings of a bulk store: shared memory is read, and later global memory is written. */
#include "sim/copies/copies.h"

#include <string.h>

void *sim_store_pass_on(struct sim_store *store, size_t header, size_t data, void (*move)(struct sim_copy *copy)) {
    struct sim_store *second = sim_copy_new(&store->copy.issue, header + data, move);
    if (!second)
        return NULL;
    memcpy((uint8_t *)second + sizeof second->copy, (const uint8_t *)store + sizeof store->copy,
           header - sizeof store->copy);
    second->copy.issued = store->copy.issued;
    sim_bulk_group_read(&store->copy.issue, store->group);
    return second;
}

bool sim_store_write(struct sim_store *store, uint64_t address, const uint8_t *from, uint32_t bytes,
                     enum sim_reduction_kind kind, enum sim_element_type type) {
    const struct sim_issue *issue = &store->copy.issue;
    if (kind != SIM_REDUCE_NONE && !sim_global_read(issue->warp, issue->i, issue->lane, address, bytes, 1))
        return false;
    uint8_t *into = sim_global_write(issue->warp, issue->i, issue->lane, address, bytes, 1);
    if (!into)
        return false;
    if (kind == SIM_REDUCE_NONE)
        memcpy(into, from, bytes);
    else
        sim_reduce(kind, type, into, from, bytes);
    store->bytes += bytes;
    store->sectors += sim_sectors(address, bytes);
    return true;
}

void sim_store_written(struct sim_store *store) {
    const struct sim_issue *issue = &store->copy.issue;
    sim_count_bulk(issue->warp, issue->i, true, store->bytes, store->sectors, 1);
    sim_bulk_group_written(issue, store->group);
}
