/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets: the numbers 0, 1, 2, ... of a word in global memory, each given to one thread. Between launches the word holds
 * `nonce`, or anything before the first one. */
#ifndef GM_SM90_TICKET_CUH
#define GM_SM90_TICKET_CUH

#include <stdint.h>

/* Relaxed: a ticket tells of no other memory. PTX 9.7.13 atom */
static __device__ __forceinline__ uint64_t atom_add_relaxed_gpu_b64(uint64_t address, uint64_t value) {
    uint64_t old;
    asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(address), "l"(value) : "memory");
    return old;
}

static __device__ __forceinline__ uint64_t atom_cas_relaxed_gpu_b64(uint64_t address, uint64_t expected,
                                                                    uint64_t value) {
    uint64_t old;
    asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(old)
                 : "l"(address), "l"(expected), "l"(value)
                 : "memory");
    return old;
}

/* The next ticket. A word that no launch has used yet begins at the nonce, with ticket 0 for who puts it there. */
static __device__ __forceinline__ uint32_t ticket_take(uint64_t address, uint64_t nonce) {
    uint64_t before = atom_add_relaxed_gpu_b64(address, 1);
    while (before - nonce > 0x7fffffff) {
        const uint64_t now = before + 1;
        before = atom_cas_relaxed_gpu_b64(address, now, nonce + 1);
        if (before == now)
            return 0;
        if (before - nonce <= 0x7fffffff)
            before = atom_add_relaxed_gpu_b64(address, 1);
        else
            before -= 1;
    }
    return (uint32_t)(before - nonce);
}

/* By who has the last ticket: the next launch begins anew. */
static __device__ __forceinline__ void ticket_reset(uint64_t address, uint64_t nonce) {
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(address), "l"(nonce) : "memory");
}

#endif
