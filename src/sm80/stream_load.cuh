/* SPDX-License-Identifier: Apache-2.0 */
/* Loads of data that is read once: many in flight, straight to registers, without displacing other data from the
 * caches. */
#ifndef GM_STREAM_LOAD_CUH
#define GM_STREAM_LOAD_CUH

#include <stdint.h>

/* PTX 9.7.9.18 createpolicy: how L2 keeps what is loaded under it, all of an access alike. */
static __device__ __forceinline__ uint64_t l2_evict_first(void) {
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

static __device__ __forceinline__ uint64_t l2_evict_normal(void) {
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

/* PTX 9.7.9.8 ld, 2 V bytes where `load`; elsewhere the registers keep what they hold, and memory is not touched. The
 * compiler moves no volatile load behind another, so the loads of a whole ring are issued one after the other. Not .nc:
 * with programmatic launch the previous kernel may write the operand while this one runs already. Narrow loads of
 * neighbouring lanes share sectors with the loads of other steps, so L1 keeps those sectors for a while. */
template <int V>
static __device__ __forceinline__ void stream_load(uint32_t *words, uint64_t address, bool load, uint64_t policy) {
    if (V == 8)
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "setp.ne.b32 p, %4, 0;\n\t"
                     "@p ld.global.L1::no_allocate.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%5], %6;\n\t}"
                     : "+r"(words[0]), "+r"(words[1]), "+r"(words[2]), "+r"(words[3])
                     : "r"((int)load), "l"(address), "l"(policy));
    else if (V == 4)
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "setp.ne.b32 p, %2, 0;\n\t"
                     "@p ld.global.L1::evict_first.L2::cache_hint.v2.b32 {%0, %1}, [%3], %4;\n\t}"
                     : "+r"(words[0]), "+r"(words[1])
                     : "r"((int)load), "l"(address), "l"(policy));
    else if (V == 2)
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "setp.ne.b32 p, %1, 0;\n\t"
                     "@p ld.global.L1::evict_first.L2::cache_hint.b32 %0, [%2], %3;\n\t}"
                     : "+r"(words[0])
                     : "r"((int)load), "l"(address), "l"(policy));
    else
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "setp.ne.b32 p, %1, 0;\n\t"
                     "@p ld.global.L1::evict_first.L2::cache_hint.u16 %0, [%2], %3;\n\t}"
                     : "+r"(words[0])
                     : "r"((int)load), "l"(address), "l"(policy));
}

#endif
