/* SPDX-License-Identifier: Apache-2.0 */
/* The random numbers of a shuffled schedule: splitmix64, a sequence of its own for each cluster. */
#include "sim/machine/machine.h"

uint64_t sim_random(struct sim_cluster *cluster) {
    uint64_t z = cluster->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
