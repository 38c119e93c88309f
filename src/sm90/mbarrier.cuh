/* SPDX-License-Identifier: Apache-2.0 */
/* mbarrier: one function per instruction. Barriers are 64-bit objects in shared memory, named by their 32-bit
 * shared address. [PTX ISA, mbarrier] */
#ifndef GM_MBARRIER_CUH
#define GM_MBARRIER_CUH

#include <stdint.h>

static __device__ __forceinline__ void mbarrier_init(uint32_t bar, uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(arrivals) : "memory");
}

/* Makes the initialised barriers visible to the cluster's other CTAs and to the async proxy. */
static __device__ __forceinline__ void fence_mbarrier_init(void) {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* Expect `bytes` more of copies in this phase, then arrive once: in that order, so the phase cannot end early. */
static __device__ __forceinline__ void mbarrier_arrive_expect_tx(uint32_t bar, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

/* Expect `bytes` more of copies in this phase, which an arrival to come keeps open. */
static __device__ __forceinline__ void mbarrier_expect_tx(uint32_t bar, uint32_t bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

static __device__ __forceinline__ void mbarrier_arrive(uint32_t bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}

/* Arrives on the same barrier of the cluster's CTA `rank`. It passes on a permission, no data, so it has no memory
 * order of its own. NOTE: with .release.cluster ptxas puts a MEMBAR.ALL.GPU before it, about 500 ns on an H200: once
 * per stage that made every multicast kernel slower than the one without. */
static __device__ __forceinline__ void mbarrier_arrive_remote(uint32_t bar, uint32_t rank) {
    asm volatile("{.reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; "
                 "mbarrier.arrive.shared::cluster.b64 _, [remote];}" ::"r"(bar),
                 "r"(rank)
                 : "memory");
}

/* Waits until the phase of this parity has completed. A fresh barrier passes parity 1 at once. */
static __device__ __forceinline__ void mbarrier_wait(uint32_t bar, uint32_t parity) {
    asm volatile("{.reg .pred done; "
                 "WAIT_%=: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; "
                 "@!done bra WAIT_%=;}" ::"r"(bar),
                 "r"(parity)
                 : "memory");
}

/* One try: true when the phase of this parity has completed; may sleep a while before it says false. */
static __device__ __forceinline__ bool mbarrier_try_wait(uint32_t bar, uint32_t parity) {
    uint32_t done;
    asm volatile("{.reg .pred done; "
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2; "
                 "selp.u32 %0, 1, 0, done;}"
                 : "=r"(done)
                 : "r"(bar), "r"(parity)
                 : "memory");
    return done != 0;
}

/* For experiments, where a mistake should end in an error and not in a hang: false when the phase does not complete
 * within some milliseconds to seconds. */
static __device__ __forceinline__ bool mbarrier_wait_bounded(uint32_t bar, uint32_t parity) {
#pragma unroll 1
    for (uint32_t tries = 0; tries < 1u << 18; ++tries) {
        if (mbarrier_try_wait(bar, parity))
            return true;
    }
    return false;
}

#endif
