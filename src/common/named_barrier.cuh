/* SPDX-License-Identifier: Apache-2.0 */
/* Named barriers of one CTA; `threads` counts those that sync and those that only arrive. */
#ifndef GM_NAMED_BARRIER_CUH
#define GM_NAMED_BARRIER_CUH

#include <stdint.h>

/* [PTX ISA, barrier] */
static __device__ __forceinline__ void bar_sync(uint32_t id, uint32_t threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

static __device__ __forceinline__ void bar_arrive(uint32_t id, uint32_t threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

#endif
