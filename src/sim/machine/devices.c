/* SPDX-License-Identifier: Apache-2.0 */
/* The devices, and what the driver answers about them. */
#include "sim/machine/devices.h"

#include <stddef.h>
#include <string.h>

static const struct sim_device devices[] = {
#define DEVICE(token, name, major, minor, sms, optin, per_sm, threads, l2, bus, clock, memory_clock, memory_mib,       \
               cluster)                                                                                                \
    {#token, name,    major, minor, sms,   optin,        per_sm,                                                       \
     49152,  threads, l2,    bus,   clock, memory_clock, UINT64_C(memory_mib) << 20,                                   \
     cluster},
#include "sim/machine/devices.def"
#undef DEVICE
};

const struct sim_device *sim_device_find(const char *token) {
    for (size_t i = 0; token && i < sizeof devices / sizeof *devices; i++)
        if (strcmp(devices[i].token, token) == 0)
            return &devices[i];
    return NULL;
}

int sim_device_blocks_per_sm(const struct sim_device *device) {
    return device->threads_per_sm == 2048 ? 32 : 24;
}

/*  How the SMs lie in GPCs, which no cluster leaves, as cuOccupancyMaxActiveClusters() of an H200 gives it away: with
 * one CTA an SM it has room for 7 clusters of 16, 9 of 9, 15 of 8 and of 7, 17 of 6, 22 of 5, 30 of 4, 39 of 3, 66 of 2
 *  (`gristmill lab run cluster-limits`). Other chips have other defects, and other lists. */
static const int gpcs_of_132[] = {18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2};

int sim_device_gpc(const struct sim_device *device, int index) {
    enum { GPCS = sizeof gpcs_of_132 / sizeof *gpcs_of_132, GPC_SMS = 16 };
    if (device->sm_count == 132)
        return index < GPCS ? gpcs_of_132[index] : 0;
    const int left = device->sm_count - index * GPC_SMS;
    return left < 0 ? 0 : left < GPC_SMS ? left : GPC_SMS;
}
