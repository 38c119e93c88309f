/* SPDX-License-Identifier: Apache-2.0 */
/* Problems, devices, kernels and tables as ledgers compare them. */
#include "host/ledger.h"

#include "host/family.h"

#include <stdio.h>
#include <string.h>

/* ---- problems --------------------------------------------------------------------------------------- */

struct gm_ledger_key gm_ledger_key_of(const struct gm_operation *operation, const void *problem) {
    struct gm_ledger_key key = {.operation = operation};
    int place = 0;
    for (int i = 0; i < operation->field_count; i++)
        if (operation->fields[i].uses & GM_IN_LEDGERS)
            key.values[place++] = gm_field_get(&operation->fields[i], problem);
    return key;
}

int gm_ledger_place(const struct gm_operation *operation, int field) {
    int place = 0;
    if (!(operation->fields[field].uses & GM_IN_LEDGERS))
        return -1;
    for (int i = 0; i < field; i++)
        place += (operation->fields[i].uses & GM_IN_LEDGERS) != 0;
    return place;
}

int gm_ledger_compare_keys(const struct gm_ledger_key *x, const struct gm_ledger_key *y) {
    if (x->operation != y->operation)
        return strcmp(x->operation ? x->operation->name : "", y->operation ? y->operation->name : "");
    if (!x->operation)
        return 0;
    const int axis = gm_ledger_place(x->operation, x->operation->axis);
    for (int i = 0; i < GM_LEDGER_FIELDS_MAX; i++)
        if (i != axis && x->values[i] != y->values[i])
            return x->values[i] < y->values[i] ? -1 : 1;
    return (x->values[axis] > y->values[axis]) - (x->values[axis] < y->values[axis]);
}

/* ---- devices ---------------------------------------------------------------------------------------- */

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

/* ---- kernels --------------------------------------------------------------------------------------- */

const struct gm_kernel *gm_ledger_kernel(struct gm_ledger_candidate *candidate, const struct gm_kernel *kernels,
                                         size_t count) {
    candidate->kernel = gm_find_divided(kernels, count, candidate->name, candidate->name_bytes, &candidate->division);
    if (candidate->kernel < 0)
        return NULL;
    if (candidate->division == GM_DIVISION_BEST)
        candidate->division = GM_DIVISION_NONE; /* a ledger says what was timed */
    return &kernels[candidate->kernel];
}

/* ---- tables ----------------------------------------------------------------------------------------- */

/* FNV-1a */
static uint64_t mix(uint64_t hash, const void *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t gm_ledger_table_hash(const struct gm_kernel *kernels, size_t count) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++) {
        char facts[192];
        const int bytes = snprintf(facts, sizeof facts, "%s %d %d %d %d\n", kernels[i].name, kernels[i].production,
                                   kernels[i].smem_bytes, kernels[i].threads, kernels[i].registers);
        hash = mix(hash, facts, (size_t)bytes);
    }
    return hash;
}
