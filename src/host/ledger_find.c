/* SPDX-License-Identifier: Apache-2.0 */
/* Which ledger to ask, and what it answers. Pure. */
#include "host/ledger.h"

#include "host/error.h"
#include "host/family.h"

#include <string.h>

enum gm_status gm_ledger_check(const struct gm_plan_options *options, const struct gm_device *device) {
    const gm_ledger *ledger = options->ledger;
    const int asks_none = options->kernel || options->flags & GM_PLAN_MODEL_ONLY;
    if (!ledger)
        return asks_none ? GM_OK : gm_ledger_find_builtin(device, &ledger);
    if (options->flags & GM_PLAN_MODEL_ONLY)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "the flags say GM_PLAN_MODEL_ONLY, and there is a ledger");
    if (!gm_ledger_is_of(ledger, device))
        return gm_fail(GM_ERROR_LEDGER,
                       "the ledger was measured on another device: %s, compute capability %d.%d, %d SMs; this is %s, "
                       "%d.%d, %d SMs",
                       ledger->device.name, ledger->device.cc_major, ledger->device.cc_minor, ledger->device.sm_count,
                       device->name, device->cc_major, device->cc_minor, device->sm_count);
    return GM_OK;
}

const gm_ledger *gm_ledger_to_ask(const struct gm_plan_options *options, const struct gm_device *device) {
    const gm_ledger *ledger = options->ledger;
    if (options->kernel || options->flags & GM_PLAN_MODEL_ONLY)
        return NULL;
    if (!ledger)
        gm_ledger_find_builtin(device, &ledger);
    return ledger && gm_ledger_is_of(ledger, device) ? ledger : NULL;
}

/* ---- entries ------------------------------------------------------------------------------------------ */

/* The first entry that is not before `key`. */
static size_t lower_bound(const gm_ledger *ledger, const struct gm_ledger_key *key) {
    size_t low = 0, high = ledger->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (gm_ledger_compare_keys(&ledger->entries[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The entry of this index, where it differs from `key` along the axis at most. */
static const struct gm_ledger_entry *sibling(const gm_ledger *ledger, size_t index, struct gm_ledger_key key) {
    if (index >= ledger->count)
        return NULL;
    const int axis = gm_ledger_place(key.operation, key.operation->axis);
    key.values[axis] = ledger->entries[index].key.values[axis];
    return gm_ledger_compare_keys(&ledger->entries[index].key, &key) == 0 ? &ledger->entries[index] : NULL;
}

static struct gm_ledger_answer find_key(const gm_ledger *ledger, const struct gm_ledger_key *key) {
    const size_t at = lower_bound(ledger, key);
    const struct gm_ledger_entry *above = sibling(ledger, at, *key);
    if (above && gm_ledger_compare_keys(&above->key, key) == 0)
        return (struct gm_ledger_answer){.exact = above};
    const struct gm_ledger_entry *below = at > 0 ? sibling(ledger, at - 1, *key) : NULL;
    if (!below || !above || below->choice.kernel != above->choice.kernel ||
        below->choice.division != above->choice.division)
        return (struct gm_ledger_answer){0};
    return (struct gm_ledger_answer){.below = below, .above = above};
}

/* The place of the value that falls back to 0; -1: the operation has none, or it is 0 already. */
static int place_to_fall_back(const struct gm_ledger_key *key) {
    const struct gm_operation *operation = key->operation;
    for (int i = 0; i < operation->field_count; i++) {
        const int place = gm_ledger_place(operation, i);
        if (place >= 0 && operation->fields[i].uses & GM_FALLS_BACK && key->values[place] != 0)
            return place;
    }
    return -1;
}

static struct gm_ledger_answer find_or_fall_back(const gm_ledger *ledger, struct gm_ledger_key key) {
    const struct gm_ledger_answer own = find_key(ledger, &key);
    const int place = place_to_fall_back(&key);
    if (own.exact || place < 0)
        return own;
    key.values[place] = 0;
    const struct gm_ledger_answer other = find_key(ledger, &key);
    return own.below && !other.exact ? own : other;
}

/* The same problem in bf16; 0: it is not one in fp16. */
static int of_bf16(struct gm_ledger_key *key) {
    const struct gm_operation *operation = key->operation;
    if (key->values[gm_ledger_place(operation, operation->type)] != GM_FP16)
        return 0;
    for (int i = 0; i < operation->field_count; i++) {
        const int place = gm_ledger_place(operation, i);
        if (place >= 0 && operation->fields[i].kind == GM_FIELD_TYPE && key->values[place] == GM_FP16)
            key->values[place] = GM_BF16;
    }
    return 1;
}

struct gm_ledger_answer gm_ledger_find(const gm_ledger *ledger, const struct gm_operation *operation,
                                       const void *problem) {
    struct gm_ledger_key key = gm_ledger_key_of(operation, problem);
    struct gm_ledger_answer answer = find_or_fall_back(ledger, key);
    if (answer.exact || answer.below || !of_bf16(&key))
        return answer;
    answer = find_or_fall_back(ledger, key);
    answer.of_bf16 = 1;
    return answer;
}
