/* SPDX-License-Identifier: Apache-2.0 */
/* What tells one round of waiting from the next: the registers, and how often global memory was read. */
#include "sim/machine/schedule.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
    return hash ^ hash >> 29;
}

/* Four sums side by side, since each step of one waits for the one before. */
uint64_t sim_hash(uint64_t hash, const uint8_t *bytes, size_t count) {
    uint64_t sums[4] = {hash, 1, 2, 3}, words[4] = {0};
    size_t at = 0;
    for (; at + sizeof words <= count; at += sizeof words) {
        memcpy(words, bytes + at, sizeof words);
        for (int n = 0; n < 4; n++)
            sums[n] = mix(sums[n], words[n]);
    }
    for (; at + 8 <= count; at += 8) {
        memcpy(words, bytes + at, sizeof *words);
        sums[0] = mix(sums[0], words[0]);
    }
    return mix(mix(mix(sums[0], sums[1]), sums[2]), sums[3]);
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
