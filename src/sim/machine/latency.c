/* SPDX-License-Identifier: Apache-2.0 */
/* How many ticks things are under way: the one place of these numbers. They order events; they do not measure. */
#include "sim/machine/machine.h"

uint32_t sim_latency(enum sim_latency kind, uint64_t bytes_or_macs) {
    const uint64_t most = 100000;
    uint64_t ticks = 0;
    switch (kind) {
    case SIM_LATENCY_GLOBAL_COPY:
        ticks = 400 + bytes_or_macs / 32;
        break;
    case SIM_LATENCY_SHARED_COPY:
        ticks = 100 + bytes_or_macs / 64;
        break;
    case SIM_LATENCY_WGMMA:
        ticks = 16 + bytes_or_macs / 2048;
        break;
    }
    return (uint32_t)(ticks < most ? ticks : most);
}
