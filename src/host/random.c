/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that no memory holds by chance. */
#include "host/random.h"

#include <stdatomic.h>
#include <time.h>

uint64_t gm_random_number(void) {
    static atomic_uint_fast64_t count;
    struct timespec now = {0};
    timespec_get(&now, TIME_UTC);
    uint64_t z = ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) ^ (uint64_t)(uintptr_t)&now;
    z += (atomic_fetch_add(&count, 1) + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9); /* splitmix64 */
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return z + (z == 0) - (z == UINT64_MAX); /* a free flag holds 0, which the complement should not be either */
}
