/* SPDX-License-Identifier: Apache-2.0 */
/* A slot holds the memory of a cluster: register files, shared memory and its shadow, paths. The clusters of a grid use
 * it one after another, so that a grid of many small CTAs does not allocate for each. */
#include "sim/machine/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "sim/barriers/barriers.h"
#include "sim/memory/peers.h"
#include "sim/memory/shadow.h"
#include "sim/report/watch.h"

/* A 64-bit access to the last 32-bit register stays inside. */
enum { ROW_BYTES = 128, PADDING = 256, REGISTERS_PER_SM = 65536, REGISTERS_MAX = 255 };

static uint64_t round_up(uint64_t value, uint64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

static uint32_t threads_of(const struct sim_machine *machine) {
    return machine->block[0] * machine->block[1] * machine->block[2];
}

static size_t register_file_bytes(const struct sim_machine *machine) {
    return (size_t)round_up(machine->function->register_bytes + PADDING, ROW_BYTES);
}

uint32_t sim_shared_bytes(const struct sim_machine *machine) {
    const struct ptx_function *const function = machine->function;
    const uint32_t align = function->dynamic_shared_align ? function->dynamic_shared_align : 16;
    const uint64_t bytes = SIM_SHARED_RESERVED + round_up(function->static_shared_bytes, align);
    return (uint32_t)round_up(bytes + machine->dynamic_shared_bytes, 16);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static bool allocate_cta(struct sim_slot *slot, struct sim_cta *cta) {
    cta->machine = slot->cluster.machine;
    cta->cluster = &slot->cluster;
    cta->shared_bytes = slot->shared_bytes;
    cta->shared = aligned_alloc(ROW_BYTES, round_up(slot->shared_bytes, ROW_BYTES));
    cta->shadow = sim_shadow_new(cta, slot->shared_bytes);
    return cta->shared && cta->shadow;
}

static bool allocate(struct sim_slot *slot, const struct sim_machine *machine) {
    struct sim_cluster *const cluster = &slot->cluster;
    struct sim_queue *const queue = &slot->queue;
    const size_t warps_per_cta = (threads_of(machine) + PTX_LANES - 1) / PTX_LANES;
    const size_t warps = warps_per_cta * cluster->cta_count, paths = warps * SIM_PATHS_PER_WARP;
    cluster->ctas = calloc(cluster->cta_count, sizeof *cluster->ctas);
    slot->warps = calloc(warps, sizeof *slot->warps);
    slot->register_memory = calloc(warps * register_file_bytes(machine) + ROW_BYTES, 1);
    slot->locals = calloc(warps * PTX_LANES + 1, machine->function->local_bytes + (size_t)1);
    queue->storage = calloc(paths, sizeof *queue->storage);
    queue->heap = calloc(paths, sizeof *queue->heap);
    queue->parked = calloc(paths, sizeof *queue->parked);
    if (!cluster->ctas || !slot->warps || !slot->register_memory || !slot->locals || !queue->storage || !queue->heap ||
        !queue->parked)
        return false;
    slot->registers = slot->register_memory + (ROW_BYTES - (uintptr_t)slot->register_memory % ROW_BYTES);
    for (size_t n = 0; n < paths; n++) {
        queue->storage[n].next = queue->spare;
        queue->spare = &queue->storage[n];
    }
    for (uint32_t c = 0; c < cluster->cta_count; c++) {
        struct sim_cta *const cta = &cluster->ctas[c];
        cta->warps = &slot->warps[c * warps_per_cta];
        cta->warp_count = (uint32_t)warps_per_cta;
        if (!allocate_cta(slot, cta))
            return false;
    }
    return true;
}

struct sim_slot *sim_slot_new(struct sim_machine *machine) {
    struct sim_slot *const slot = calloc(1, sizeof *slot);
    if (!slot)
        return NULL;
    slot->cluster.machine = machine;
    slot->cluster.queue = &slot->queue;
    slot->cluster.agents = &slot->agents;
    slot->cluster.cta_count = machine->cluster_dims[0] * machine->cluster_dims[1] * machine->cluster_dims[2];
    slot->shared_bytes = sim_shared_bytes(machine);
    if (allocate(slot, machine))
        return slot;
    sim_slot_free(slot);
    return NULL;
}

void sim_slot_free(struct sim_slot *slot) {
    struct sim_cluster *const cluster = &slot->cluster;
    for (uint32_t c = 0; cluster->ctas && c < cluster->cta_count; c++) {
        struct sim_cta *const cta = &cluster->ctas[c];
        for (uint32_t w = 0; cta->warps && w < cta->warp_count; w++) {
            sim_clocks_free(&cta->warps[w].known);
            sim_clocks_free(&cta->warps[w].flushed);
        }
        free(cta->shared);
        if (cta->shadow)
            sim_shadow_free(cta->shadow);
    }
    free(cluster->ctas);
    free(slot->warps);
    free(slot->register_memory);
    free(slot->locals);
    free(slot->queue.storage);
    free(slot->queue.heap);
    free(slot->queue.parked);
    free(slot);
}

/* ---- set-up ----------------------------------------------------------------------------------------------------- */

/* What a thread may be given when the CTAs that the kernel asks for share an SM: for setmaxnreg, which moves registers
 * between the warps. */
static uint32_t registers_per_thread(const struct sim_machine *machine) {
    const struct ptx_function *const function = machine->function;
    const uint32_t ctas = function->min_ctas ? function->min_ctas : 1;
    const uint64_t threads = round_up(threads_of(machine), 4 * PTX_LANES) * ctas;
    const uint32_t most = (uint32_t)(REGISTERS_PER_SM / threads) / 8 * 8;
    return most > REGISTERS_MAX ? REGISTERS_MAX : most;
}

static void begin_warp(struct sim_slot *slot, struct sim_cta *cta, uint32_t index) {
    const struct sim_machine *const machine = cta->machine;
    struct sim_warp *const warp = &cta->warps[index];
    const size_t number = (size_t)(warp - slot->warps), local_bytes = machine->function->local_bytes;
    const uint32_t left = cta->threads - index * PTX_LANES;
    const struct sim_clocks known = warp->known, flushed = warp->flushed; /* zero, with memory */
    *warp = (struct sim_warp){.cta = cta,
                              .cluster = cta->cluster,
                              .machine = cta->machine,
                              .index = index,
                              .known = known,
                              .flushed = flushed,
                              .registers = slot->registers + number * register_file_bytes(machine),
                              .local = local_bytes ? slot->locals + number * PTX_LANES * local_bytes : NULL,
                              .lanes = left < PTX_LANES ? (UINT32_C(1) << left) - 1 : UINT32_MAX,
                              .register_limit = registers_per_thread(machine)};
    if (slot->was_used) /* else they are zero, and mostly no memory of this machine yet */
        memset(warp->registers, 0, register_file_bytes(machine));
    if (slot->was_used && warp->local)
        memset(warp->local, 0, PTX_LANES * local_bytes);
    sim_special_registers(warp);
    sim_warp_knowledge_begin(warp);
    sim_copies_warp_begin(warp);
    sim_path_begin(warp, warp->lanes, 0, PTX_NONE, NULL, cta->cluster->now);
}

static bool begin_cta(struct sim_slot *slot, uint32_t rank) {
    const struct sim_machine *const machine = slot->cluster.machine;
    const uint32_t *const size = machine->cluster_dims;
    struct sim_cta *const cta = &slot->cluster.ctas[rank];
    cta->rank = rank;
    cta->id[0] = slot->cluster.id[0] * size[0] + rank % size[0];
    cta->id[1] = slot->cluster.id[1] * size[1] + rank / size[0] % size[1];
    cta->id[2] = slot->cluster.id[2] * size[2] + rank / size[0] / size[1];
    cta->threads = threads_of(machine);
    cta->live_warps = cta->warp_count;
    cta->register_pool = 0;
    cta->exited = false;
    memset(cta->shared, 0xff, cta->shared_bytes);
    cta->named = sim_named_barriers_new();
    cta->mbarriers = sim_mbarriers_new();
    return cta->named && cta->mbarriers;
}

static struct sim_warp *draw_warp(struct sim_cluster *cluster) {
    const struct sim_cta *const cta = &cluster->ctas[sim_random(cluster) % cluster->cta_count];
    return &cta->warps[sim_random(cluster) % cta->warp_count];
}

bool sim_slot_begin(struct sim_slot *slot, uint64_t index, uint64_t time) {
    struct sim_cluster *const cluster = &slot->cluster;
    const struct sim_machine *const machine = cluster->machine;
    const uint32_t across = machine->grid[0] / machine->cluster_dims[0];
    const uint32_t down = machine->grid[1] / machine->cluster_dims[1];
    bool complete = true;
    cluster->id[0] = (uint32_t)(index % across);
    cluster->id[1] = (uint32_t)(index / across % down);
    cluster->id[2] = (uint32_t)(index / across / down);
    cluster->now = time;
    cluster->random = machine->options->seed * UINT64_C(0xd1342543de82ef95) + index;
    cluster->progress = cluster->stalls = cluster->idle_instructions = 0;
    cluster->stalled = false;
    slot->agents.count = 1;
    slot->queue.woken_at = slot->queue.turns = 0;
    slot->queue.counted_at = UINT64_MAX; /* none: counting begins with the first step */
    slot->running = true;
    slot->polling = false;
    slot->set_aside_at = slot->looked_at = slot->polls = 0;
    for (uint32_t c = 0; c < cluster->cta_count; c++)
        complete = begin_cta(slot, c) && complete;
    for (uint32_t c = 0; c < cluster->cta_count; c++)
        for (uint32_t w = 0; w < cluster->ctas[c].warp_count; w++)
            begin_warp(slot, &cluster->ctas[c], w);
    for (uint32_t c = 0; c < cluster->cta_count; c++)
        complete = sim_wgmma_cta_begin(&cluster->ctas[c]) && complete;
    cluster->laggard = machine->options->seed ? draw_warp(cluster) : NULL;
    cluster->barrier = sim_cluster_barrier_new(cluster);
    cluster->peers = sim_peers_new(cluster->cta_count);
    return complete && cluster->barrier && cluster->peers;
}

/* ---- end -------------------------------------------------------------------------------------------------------- */

void sim_warp_end(struct sim_warp *warp) {
    struct sim_cta *const cta = warp->cta;
    sim_trace(cta, warp, PTX_NONE, 0, cta->cluster->now, 0, "exit", "warp %u", warp->index);
    cta->live_warps--;
    sim_barriers_warp_exited(warp);
    if (cta->live_warps == 0) {
        sim_barriers_cta_exited(cta, warp);
        cta->exited = true;
    }
    sim_progress(cta->cluster);
}

/* After a fault, flights are left and paths are where they were. */
static void forget_rest(struct sim_slot *slot) {
    struct sim_queue *const queue = &slot->queue;
    sim_flights_forget(&slot->cluster);
    queue->ready = queue->parked_count = 0;
}

void sim_slot_end(struct sim_slot *slot) {
    struct sim_cluster *const cluster = &slot->cluster;
    for (uint32_t c = 0; c < cluster->cta_count; c++) {
        struct sim_cta *const cta = &cluster->ctas[c];
        sim_wgmma_cta_end(cta);
        for (uint32_t w = 0; w < cta->warp_count; w++) {
            struct sim_warp *const warp = &cta->warps[w];
            sim_copies_warp_end(warp);
            sim_clocks_reset(&warp->known, slot->agents.count);
            sim_clocks_reset(&warp->flushed, slot->agents.count);
            sim_taint_clear(warp);
        }
        if (cta->named)
            sim_named_barriers_free(cta->named);
        if (cta->mbarriers)
            sim_mbarriers_free(cta->mbarriers);
        cta->named = NULL;
        cta->mbarriers = NULL;
        sim_shadow_reset(cta->shadow, cta);
    }
    if (cluster->barrier)
        sim_cluster_barrier_free(cluster->barrier);
    sim_peers_free(cluster->peers);
    cluster->barrier = NULL;
    cluster->peers = NULL;
    forget_rest(slot);
    slot->running = false;
    slot->was_used = true;
}
