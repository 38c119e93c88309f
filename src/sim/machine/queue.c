/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster's ready paths, a binary heap by time, and its parked ones. */
#include "sim/machine/schedule.h"

static bool goes_before(const struct sim_path *a, const struct sim_path *b) {
    return a->time != b->time ? a->time < b->time : a->turn < b->turn;
}

/* Paths of equal time go in the order they came; with a seed, in any. */
void sim_queue_push(struct sim_cluster *cluster, struct sim_path *path) {
    struct sim_queue *const queue = cluster->queue;
    path->turn = cluster->machine->options->seed ? sim_random(cluster) : ++queue->turns;
    uint32_t at = queue->ready++;
    for (; at > 0 && goes_before(path, queue->heap[(at - 1) / 2]); at = (at - 1) / 2)
        queue->heap[at] = queue->heap[(at - 1) / 2];
    queue->heap[at] = path;
}

struct sim_path *sim_queue_pop(struct sim_cluster *cluster) {
    struct sim_queue *const queue = cluster->queue;
    struct sim_path *const first = queue->heap[0], *const last = queue->heap[--queue->ready];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < queue->ready && goes_before(queue->heap[child + 1], queue->heap[child]))
            child++;
        if (child >= queue->ready || !goes_before(queue->heap[child], last))
            break;
        queue->heap[at] = queue->heap[child];
        at = child;
    }
    queue->heap[at] = last;
    return first;
}

void sim_queue_park(struct sim_cluster *cluster, struct sim_path *path) {
    struct sim_queue *const queue = cluster->queue;
    if (!path->waiting) {
        path->waiting = true;
        path->waits_since = path->time;
    }
    queue->parked[queue->parked_count++] = path;
}

void sim_queue_wake(struct sim_cluster *cluster) {
    struct sim_queue *const queue = cluster->queue;
    queue->woken_at = cluster->progress;
    for (uint32_t i = 0; i < queue->parked_count; i++) {
        struct sim_path *const path = queue->parked[i];
        if (path->time < cluster->now)
            path->time = cluster->now;
        if (cluster->machine->options->seed)
            path->time += sim_random(cluster) % SIM_PAUSE;
        sim_queue_push(cluster, path);
    }
    queue->parked_count = 0;
}
