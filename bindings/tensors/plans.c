/* SPDX-License-Identifier: Apache-2.0 */
#include "plans.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024, PLANS_MAX = 2048, DEVICES_MAX = 64, WORKSPACE_LIMIT = 32 << 20 };

struct plan_key {
    plan_create create;
    int32_t device;
    uint32_t flags;
    size_t workspace_limit, bytes;
};

struct kept_plan {
    struct kept_plan *next; /* in its bucket */
    uint64_t hash, last_use;
    gm_plan *plan;
    atomic_int users; /* only more under the mutex */
    struct plan_key key;
    unsigned char problem[];
};

/* All of it is under the mutex, but that users go without. */
static struct {
    pthread_mutex_t mutex;
    struct kept_plan *buckets[BUCKETS];
    gm_context *contexts[DEVICES_MAX];
    size_t count;
    uint64_t uses;
} plans = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Of four words side by side, which do not wait for each other; problems are structs of a few dozen words. */
static uint64_t hashed(uint64_t seed, const void *data, size_t bytes) {
    enum { LANES = 4, STEP = LANES * sizeof(uint64_t) };
    uint64_t lanes[LANES] = {seed, 1, 2, 3}, words[LANES];
    const unsigned char *at = data;
    for (size_t done = 0; done < bytes; done += STEP) {
        size_t left = bytes - done;
        memset(words, 0, sizeof words);
        memcpy(words, at + done, left < STEP ? left : STEP);
        for (int i = 0; i < LANES; i++) {
            lanes[i] = (lanes[i] ^ words[i]) * 0x9e3779b97f4a7c15u;
            lanes[i] ^= lanes[i] >> 29;
        }
    }
    return ((lanes[0] * 3 + lanes[1]) * 3 + lanes[2]) * 3 + lanes[3];
}

static bool same_key(const struct plan_key *a, const struct plan_key *b) {
    return a->create == b->create && a->device == b->device && a->flags == b->flags &&
           a->workspace_limit == b->workspace_limit && a->bytes == b->bytes;
}

static struct kept_plan *found(uint64_t hash, const struct plan_key *key, const void *problem) {
    struct kept_plan *kept = plans.buckets[hash % BUCKETS];
    while (kept &&
           !(kept->hash == hash && same_key(&kept->key, key) && memcmp(kept->problem, problem, key->bytes) == 0)) {
        kept = kept->next;
    }
    return kept;
}

static void forget(struct kept_plan **link) {
    struct kept_plan *kept = *link;
    *link = kept->next;
    gm_plan_destroy(kept->plan);
    free(kept);
    plans.count--;
}

/* Makes room: that plan goes which is not in use and was used longest ago. */
static void forget_oldest(void) {
    struct kept_plan **oldest = NULL;
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct kept_plan **link = &plans.buckets[i]; *link; link = &(*link)->next) {
            if ((*link)->users == 0 && (!oldest || (*link)->last_use < (*oldest)->last_use)) {
                oldest = link;
            }
        }
    }
    if (oldest) {
        forget(oldest);
    }
}

static gm_context *context_of(struct call *call) {
    if (call->device < 0 || call->device >= DEVICES_MAX) {
        call_fail(call, GM_ERROR_NO_DEVICE, "device %d is not one of the first %d", call->device, DEVICES_MAX);
        return NULL;
    }
    gm_context **context = &plans.contexts[call->device];
    if (!*context && !call_succeeded(call, gm_context_create(call->device, context))) {
        return NULL;
    }
    return *context;
}

static struct kept_plan *made(struct call *call, uint64_t hash, const struct plan_key *key, const void *problem) {
    gm_context *context = context_of(call);
    if (!context) {
        return NULL;
    }
    struct kept_plan *kept = calloc(1, sizeof *kept + key->bytes);
    if (!kept) {
        call_fail(call, GM_ERROR_OUT_OF_MEMORY, "no memory of the host for a plan");
        return NULL;
    }
    struct gm_plan_options options = {
        .size = sizeof options, .flags = key->flags, .workspace_limit = key->workspace_limit};
    if (!call_succeeded(call, key->create(context, problem, &options, &kept->plan))) {
        free(kept);
        return NULL;
    }
    if (plans.count >= PLANS_MAX) {
        forget_oldest();
    }
    kept->hash = hash;
    kept->key = *key;
    memcpy(kept->problem, problem, key->bytes);
    kept->next = plans.buckets[hash % BUCKETS];
    plans.buckets[hash % BUCKETS] = kept;
    plans.count++;
    return kept;
}

struct kept_plan *plan_take(struct call *call, plan_create create, const void *problem, size_t bytes, uint32_t flags) {
    struct plan_key key = {create, call->device, flags, call->workspace ? WORKSPACE_LIMIT : 0, bytes};
    uint64_t where = (uint64_t)(uint32_t)key.device << 32 | flags;
    uint64_t hash = hashed((uint64_t)(uintptr_t)create ^ where, problem, bytes);
    pthread_mutex_lock(&plans.mutex);
    struct kept_plan *kept = found(hash, &key, problem);
    if (!kept) {
        kept = made(call, hash, &key, problem);
    }
    if (kept) {
        kept->users++;
        kept->last_use = ++plans.uses;
    }
    pthread_mutex_unlock(&plans.mutex);
    return kept;
}

void plan_give_back(struct kept_plan *kept) {
    atomic_fetch_sub(&kept->users, 1);
}

const gm_plan *plan_of(const struct kept_plan *kept) {
    return kept->plan;
}

bool plan_workspace(struct call *call, const struct kept_plan *kept, gm_device_ptr *address, size_t *bytes) {
    *bytes = gm_plan_workspace_bytes(kept->plan);
    return *bytes == 0 || call->workspace(call, *bytes, address) ||
           call_fail(call, GM_ERROR_WORKSPACE, "no memory of the device for a workspace of %zu bytes", *bytes);
}

size_t plans_count(void) {
    pthread_mutex_lock(&plans.mutex);
    size_t count = plans.count;
    pthread_mutex_unlock(&plans.mutex);
    return count;
}

void plans_forget(void) {
    pthread_mutex_lock(&plans.mutex);
    for (size_t i = 0; i < BUCKETS; i++) {
        struct kept_plan **link = &plans.buckets[i];
        while (*link) {
            if ((*link)->users) {
                link = &(*link)->next;
            } else {
                forget(link);
            }
        }
    }
    for (int i = 0; plans.count == 0 && i < DEVICES_MAX; i++) {
        gm_context_destroy(plans.contexts[i]);
        plans.contexts[i] = NULL;
    }
    pthread_mutex_unlock(&plans.mutex);
}
