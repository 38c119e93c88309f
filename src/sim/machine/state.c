/* SPDX-License-Identifier: Apache-2.0 */
/* What tells one round of waiting from the next: the registers, and how often global memory was read. */
#include "sim/machine/schedule.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
    return hash ^ hash >> 29;
}

uint64_t sim_hash(uint64_t hash, const uint8_t *bytes, size_t count) {
    for (size_t at = 0; at + 8 <= count; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        hash = mix(hash, word);
    }
    return hash;
}

uint64_t sim_state_of(const struct sim_cluster *cluster) {
    uint64_t hash = 1;
    for (uint32_t c = 0; c < cluster->cta_count; c++)
        for (uint32_t w = 0; w < cluster->ctas[c].warp_count; w++) {
            const struct sim_warp *const warp = &cluster->ctas[c].warps[w];
            if (!warp->paths)
                continue;
            for (const struct sim_path *path = warp->paths; path; path = path->next)
                hash = mix(hash, path->pc | (uint64_t)path->mask << 32);
            hash = sim_hash(hash, warp->registers, cluster->machine->function->register_bytes);
        }
    return hash;
}

uint64_t sim_polls(const struct sim_machine *machine) {
    uint64_t polls = 0;
    for (uint32_t pc = 0; pc < machine->function->count; pc++) {
        const enum sim_class class = machine->function->code[pc].operation->class;
        if (class == SIM_CLASS_GLOBAL_LOAD || class == SIM_CLASS_GLOBAL_ATOMIC)
            polls += machine->executed[pc];
    }
    return polls;
}
