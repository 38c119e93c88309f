/* SPDX-License-Identifier: Apache-2.0 */
/* A launch: the clusters of the grid go through a few slots, one at a time unless somebody waits for more. */
#include "sim/machine/schedule.h"

#include <stdlib.h>

#include "host/cuda_abi.h"
#include "sim/barriers/barriers.h"
#include "sim/execute/lanes.h"

enum {
    SLOTS_MAX = 16384,
    SHUFFLED_SLOTS = 2,         /* clusters at a time when the schedule is random */
    IDLE_BEFORE_ANOTHER = 4096, /* instructions without progress, before the next cluster is let in */
    STEPS_BETWEEN_LOOKS = 4096  /* at clusters that poll global memory */
};

struct launch {
    struct sim_machine *machine;
    struct sim_slot **slots; /* room for `most` */
    uint32_t slot_count, running, wanted, most;
    uint64_t next, total; /* clusters of the grid */
    uint64_t time, steps;
    uint64_t past; /* progress of clusters that have ended */
};

/* ---- residency -------------------------------------------------------------------------------------------------- */

static uint64_t at_most(uint64_t value, uint64_t limit) {
    return value < limit ? value : limit;
}

/* Clusters at a time while none of them waits for another. */
static uint32_t plain_count(const struct launch *launch) {
    return (uint32_t)at_most(launch->most, launch->machine->options->seed ? SHUFFLED_SLOTS : 1);
}

static struct sim_slot *free_slot(struct launch *launch) {
    for (uint32_t n = 0; n < launch->slot_count; n++)
        if (!launch->slots[n]->running)
            return launch->slots[n];
    struct sim_slot *const slot = sim_slot_new(launch->machine);
    if (slot)
        launch->slots[launch->slot_count++] = slot;
    return slot;
}

static void admit(struct launch *launch) {
    while (launch->running < launch->wanted && launch->next < launch->total && !launch->machine->fault) {
        struct sim_slot *const slot = free_slot(launch);
        if (slot)
            launch->running++;
        if (!slot || !sim_slot_begin(slot, launch->next++, launch->time))
            sim_out_of_memory(launch->machine);
    }
}

/* True when another cluster may come and has been let in. */
static bool admit_another(struct launch *launch) {
    if (launch->next == launch->total || launch->running >= launch->most)
        return false;
    launch->wanted = launch->running + 1;
    admit(launch);
    return true;
}

/* ---- the launch ------------------------------------------------------------------------------------------------- */

/* The running cluster that does something next. */
static struct sim_slot *next_slot(const struct launch *launch) {
    struct sim_slot *first = NULL;
    uint64_t first_time = UINT64_MAX;
    for (uint32_t n = 0; n < launch->slot_count; n++) {
        struct sim_slot *const slot = launch->slots[n];
        if (!slot->running || slot->polling)
            continue;
        const uint64_t time = sim_cluster_time(&slot->cluster);
        if (!first || time < first_time) {
            first = slot;
            first_time = time;
        }
    }
    return first;
}

static void look_again(struct launch *launch) {
    for (uint32_t n = 0; n < launch->slot_count; n++)
        launch->slots[n]->polling = false;
}

static void end_cluster(struct launch *launch, struct sim_slot *slot) {
    if (launch->time < slot->cluster.now)
        launch->time = slot->cluster.now;
    launch->past += slot->cluster.progress + 1;
    sim_slot_end(slot);
    launch->running--;
    launch->wanted = plain_count(launch);
    look_again(launch);
}

/* Rises when anything happens that a cluster could wait for. */
static uint64_t events(const struct launch *launch) {
    uint64_t count = launch->next + launch->past;
    for (uint32_t n = 0; n < launch->slot_count; n++)
        count += launch->slots[n]->running ? launch->slots[n]->cluster.progress : 0;
    return count;
}

static bool release_any(struct launch *launch) {
    bool released = false;
    for (uint32_t n = 0; n < launch->slot_count; n++)
        if (launch->slots[n]->running)
            released = sim_release_lanes(&launch->slots[n]->cluster) || released;
    return released;
}

/* The cluster waits for something in global memory: the others go on, or another is let in. When all of them have been
 * set aside and nothing has happened since, nothing will. */
static void set_aside(struct launch *launch, struct sim_slot *slot) {
    slot->polling = true;
    slot->cluster.idle_instructions = slot->cluster.stalls = 0;
    slot->queue.next_look = 0; /* at once, next time */
    slot->set_aside_at = events(launch);
    if (admit_another(launch))
        return;
    bool all = true;
    for (uint32_t n = 0; n < launch->slot_count; n++)
        if (launch->slots[n]->running && launch->slots[n]->set_aside_at != slot->set_aside_at)
            all = false;
    if (all && !release_any(launch))
        sim_report_deadlock(&slot->cluster);
    if (!next_slot(launch))
        look_again(launch);
}

/* The cluster has done nothing for a while but read global memory: it may wait for a cluster that has yet to begin. */
static bool has_only_looked(struct sim_slot *slot) {
    const uint64_t idle = slot->cluster.idle_instructions;
    if (idle < slot->looked_at)
        slot->looked_at = 0;
    if (idle < slot->looked_at + IDLE_BEFORE_ANOTHER)
        return false;
    const uint64_t polls = sim_polls(slot->cluster.machine);
    const bool looked = polls != slot->polls;
    slot->looked_at = idle;
    slot->polls = polls;
    return looked;
}

static void step(struct launch *launch, struct sim_slot *slot) {
    struct sim_cluster *const cluster = &slot->cluster;
    if (launch->running > 1 && ++launch->steps % STEPS_BETWEEN_LOOKS == 0)
        look_again(launch);
    switch (sim_cluster_step(cluster)) {
    case SIM_STEP_RAN:
        if (has_only_looked(slot))
            admit_another(launch);
        break;
    case SIM_STEP_ENDED:
        end_cluster(launch, slot);
        break;
    case SIM_STEP_DEADLOCK:
        sim_report_deadlock(cluster);
        break;
    case SIM_STEP_POLLING:
        set_aside(launch, slot);
        break;
    }
}

static bool can_be_launched(const struct sim_machine *machine) {
    uint64_t threads = 1, ctas = 1;
    for (int n = 0; n < 3; n++) {
        const uint32_t size = machine->cluster_dims[n];
        if (!machine->grid[n] || !machine->block[n] || machine->block[n] > 1024 || !size || size > SIM_CLUSTER_MAX ||
            machine->grid[n] % size)
            return false;
        threads *= machine->block[n];
        ctas *= size;
    }
    return machine->resident_clusters && threads <= 1024 && ctas <= SIM_CLUSTER_MAX &&
           sim_shared_bytes(machine) < 1 << 24;
}

int sim_machine_run(struct sim_machine *machine) {
    if (!can_be_launched(machine))
        return machine->fault = CUDA_ERROR_INVALID_VALUE;
    struct launch launch = {
        .machine = machine, .most = (uint32_t)at_most(machine->resident_clusters, SLOTS_MAX), .total = 1};
    launch.slots = calloc(launch.most, sizeof *launch.slots);
    if (!launch.slots)
        return machine->fault = CUDA_ERROR_OUT_OF_MEMORY;
    sim_lanes_begin();
    if (!sim_wgmma_prepare(machine->function))
        sim_out_of_memory(machine);
    for (int n = 0; n < 3; n++)
        launch.total *= machine->grid[n] / machine->cluster_dims[n];
    launch.wanted = plain_count(&launch);
    for (admit(&launch); launch.running && !machine->fault; admit(&launch))
        step(&launch, next_slot(&launch));
    for (uint32_t n = 0; n < launch.slot_count; n++) {
        if (launch.slots[n]->running)
            sim_slot_end(launch.slots[n]);
        sim_slot_free(launch.slots[n]);
    }
    free(launch.slots);
    return machine->fault;
}
