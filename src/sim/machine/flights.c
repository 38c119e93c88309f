/* SPDX-License-Identifier: Apache-2.0 */
/* What a cluster has under way, by the tick at which it lands. */
#include "sim/machine/schedule.h"

#include <stdlib.h>

void *sim_flight_new(struct sim_cluster *cluster, size_t bytes, void (*land)(struct sim_flight *flight)) {
    struct sim_flight *const flight = calloc(1, bytes);
    if (flight) {
        flight->cluster = cluster;
        flight->land = land;
    }
    return flight;
}

/* The last one that is due no later; NULL: there is none. Most flights land after all that are under way, or close to the
 * one that was queued before them. */
static struct sim_flight *flight_before(const struct sim_cluster *cluster, uint64_t due) {
    struct sim_flight *before = cluster->last_flight;
    if (before && before->due > due && cluster->latest_flight)
        before = cluster->latest_flight;
    while (before && before->next && before->next->due <= due)
        before = before->next;
    while (before && before->due > due)
        before = before->previous;
    return before;
}

void sim_flight_queue(struct sim_flight *flight, uint32_t latency) {
    struct sim_cluster *const cluster = flight->cluster;
    uint64_t ticks = latency ? latency : 1;
    if (cluster->machine->options->seed)
        ticks += sim_random(cluster) % (3 * ticks + 1);
    flight->due = cluster->now + ticks;
    struct sim_flight *const before = flight_before(cluster, flight->due);
    flight->previous = before;
    flight->next = before ? before->next : cluster->flights;
    *(before ? &before->next : &cluster->flights) = flight;
    *(flight->next ? &flight->next->previous : &cluster->last_flight) = flight;
    cluster->latest_flight = flight;
}

/* The flight leaves the list before it lands: landing may queue another. */
void sim_flight_land(struct sim_cluster *cluster) {
    struct sim_flight *const flight = cluster->flights;
    cluster->flights = flight->next;
    *(flight->next ? &flight->next->previous : &cluster->last_flight) = NULL;
    if (cluster->latest_flight == flight)
        cluster->latest_flight = flight->next;
    flight->next = NULL;
    if (cluster->now < flight->due)
        cluster->now = flight->due;
    flight->land(flight);
    free(flight);
    sim_progress(cluster);
}

void sim_flights_forget(struct sim_cluster *cluster) {
    for (struct sim_flight *flight = cluster->flights, *next; flight; flight = next) {
        next = flight->next;
        free(flight);
    }
    cluster->flights = cluster->last_flight = cluster->latest_flight = NULL;
}
