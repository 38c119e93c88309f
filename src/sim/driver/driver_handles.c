/* SPDX-License-Identifier: Apache-2.0 */
/* The lock that every entry holds, and the register of live handles. */
#include "sim/driver/driver_sim.h"

#include <stdlib.h>

/* ---- the lock --------------------------------------------------------------------------------------------------- */

static pthread_mutex_t lock;
static pthread_once_t lock_once = PTHREAD_ONCE_INIT;

static void make_lock(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

int sim_driver_lock(void) {
    pthread_once(&lock_once, make_lock);
    return pthread_mutex_lock(&lock);
}

void sim_driver_unlock(const int *locked) {
    if (*locked == 0)
        pthread_mutex_unlock(&lock);
}

/* ---- the register ----------------------------------------------------------------------------------------------- */

static struct sim_handle **live;
static size_t live_count, live_room;
static uint64_t serials;

void *sim_handle_new(size_t bytes, enum sim_handle_kind kind, CUcontext context) {
    if (live_count == live_room) {
        const size_t room = live_room ? 2 * live_room : 64;
        struct sim_handle **grown = realloc(live, room * sizeof *grown);
        if (!grown)
            return NULL;
        live = grown;
        live_room = room;
    }
    struct sim_handle *handle = calloc(1, bytes);
    if (!handle)
        return NULL;
    *handle = (struct sim_handle){.kind = kind, .serial = ++serials, .context = context};
    live[live_count++] = handle;
    return handle;
}

/* From the newest on: most handles in use are young. */
static size_t place_of(const void *handle) {
    size_t at = live_count;
    while (at > 0 && live[at - 1] != handle)
        at--;
    return at;
}

void sim_handle_free(void *freed) {
    struct sim_handle *handle = freed;
    if (!place_of(handle))
        return;
    if (handle->free)
        handle->free(handle); /* which may free other handles */
    const size_t at = place_of(handle);
    live[at - 1] = live[--live_count];
    free(handle);
    if (!live_count) {
        free(live);
        live = NULL;
        live_room = 0;
    }
}

void *sim_handle_find(const void *handle, enum sim_handle_kind kind) {
    const size_t at = place_of(handle);
    return at && live[at - 1]->kind == kind ? live[at - 1] : NULL;
}

void *sim_handle_at(size_t index, enum sim_handle_kind kind) {
    for (size_t at = 0; at < live_count; at++)
        if (live[at]->kind == kind && index-- == 0)
            return live[at];
    return NULL;
}

/* ---- the end of a context --------------------------------------------------------------------------------------- */

static struct sim_handle *first_of(CUcontext context) {
    for (size_t at = 0; at < live_count; at++)
        if (live[at]->context == context)
            return live[at];
    return NULL;
}

void sim_handles_end(CUcontext context) {
    struct sim_handle *handle;
    while ((handle = first_of(context)))
        sim_handle_free(handle);
    for (size_t at = 0; at < live_count; at++)
        if (live[at]->leave)
            live[at]->leave(live[at], context);
}
