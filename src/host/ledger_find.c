/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning ledgers: which one to ask, and what it answers. Pure. */
#include "ledger.h"

#include "error.h"
#include "problem.h"

#include <string.h>

struct gm_ledger_device gm_ledger_device_of(const struct gm_device *device) {
    struct gm_ledger_device of = {.cc_major = device->cc_major,
                                  .cc_minor = device->cc_minor,
                                  .sm_count = device->sm_count,
                                  .l2_bytes = (double)device->l2_bytes,
                                  .dram_gbs = device->dram_gbs};
    memcpy(of.name, device->name, sizeof of.name);
    return of;
}

int gm_ledger_same_device(const struct gm_ledger_device *x, const struct gm_ledger_device *y) {
    return x->cc_major == y->cc_major && x->cc_minor == y->cc_minor && x->sm_count == y->sm_count &&
           strcmp(x->name, y->name) == 0;
}

int gm_ledger_is_of(const gm_ledger *ledger, const struct gm_device *device) {
    const struct gm_ledger_device this_one = gm_ledger_device_of(device);
    return gm_ledger_same_device(&ledger->device, &this_one);
}

static int asks_none(const struct gm_plan_options *options) {
    return options && (options->kernel || options->flags & GM_PLAN_MODEL_ONLY);
}

enum gm_status gm_ledger_check(const struct gm_plan_options *options, const struct gm_device *device) {
    const gm_ledger *ledger = options ? options->ledger : NULL;
    if (!ledger)
        return asks_none(options) ? GM_OK : gm_ledger_find_builtin(device, &ledger);
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
    const gm_ledger *ledger = options ? options->ledger : NULL;
    if (asks_none(options))
        return NULL;
    if (!ledger)
        gm_ledger_find_builtin(device, &ledger);
    return ledger && gm_ledger_is_of(ledger, device) ? ledger : NULL;
}

struct gm_ledger_key gm_ledger_key_of(const struct gm_gemm_problem *p, int general) {
    return (struct gm_ledger_key){.ab_type = (int32_t)p->ab_type,
                                  .d_type = (int32_t)p->d_type,
                                  .layout = gm_problem_layout(p),
                                  .general = general,
                                  .n = p->n,
                                  .k = p->k,
                                  .m = p->m};
}

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

/* The entry of this index, where it differs from `key` in M at most. */
static const struct gm_ledger_entry *sibling(const gm_ledger *ledger, size_t index, struct gm_ledger_key key) {
    if (index >= ledger->count)
        return NULL;
    key.m = ledger->entries[index].key.m;
    return gm_ledger_compare_keys(&ledger->entries[index].key, &key) == 0 ? &ledger->entries[index] : NULL;
}

static struct gm_ledger_answer find_key(const gm_ledger *ledger, const struct gm_ledger_key *key) {
    const size_t at = lower_bound(ledger, key);
    const struct gm_ledger_entry *above = sibling(ledger, at, *key);
    if (above && above->key.m == key->m)
        return (struct gm_ledger_answer){.exact = above};
    const struct gm_ledger_entry *below = at > 0 ? sibling(ledger, at - 1, *key) : NULL;
    if (!below || !above || below->choice.kernel != above->choice.kernel || below->choice.kind != above->choice.kind)
        return (struct gm_ledger_answer){0};
    return (struct gm_ledger_answer){.below = below, .above = above};
}

static struct gm_ledger_answer find_epilogue(const gm_ledger *ledger, struct gm_ledger_key key, int is_general) {
    const struct gm_ledger_answer plain = find_key(ledger, &key);
    if (!is_general)
        return plain;
    key.general = 1;
    const struct gm_ledger_answer general = find_key(ledger, &key);
    return general.exact || (general.below && !plain.exact) ? general : plain;
}

struct gm_ledger_answer gm_ledger_find(const gm_ledger *ledger, const struct gm_gemm_problem *p) {
    const int is_general = gm_has_general_epilogue(p);
    struct gm_ledger_key key = gm_ledger_key_of(p, 0);
    struct gm_ledger_answer answer = find_epilogue(ledger, key, is_general);
    if (answer.exact || answer.below || key.ab_type != GM_FP16)
        return answer;
    key.ab_type = GM_BF16;
    key.d_type = key.d_type == GM_FP16 ? GM_BF16 : key.d_type;
    answer = find_epilogue(ledger, key, is_general);
    answer.of_bf16 = 1;
    return answer;
}

static int is_named(const struct gm_ledger_pick *pick, const struct gm_kernel *row) {
    return pick->name && gm_is_named(row, pick->name, pick->name_bytes);
}

int gm_ledger_row(const struct gm_ledger_pick *pick, const struct gm_kernel *rows, size_t count) {
    if (pick->kernel >= 0 && (size_t)pick->kernel < count && is_named(pick, &rows[pick->kernel]))
        return pick->kernel;
    for (size_t i = 0; i < count; i++)
        if (is_named(pick, &rows[i]))
            return (int)i;
    return -1;
}
