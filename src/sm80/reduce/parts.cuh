/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a result pass from CTA to CTA through the workspace, in their order: a slot and a flag for each CTA.
 *
 * A flag that holds the plan's `ready`, a random number, says "the slot is full"; any other value says that it is not. So
 * the workspace needs no clearing before the first launch. The CTA that collects clears the flags, for the next launch. It
 * is the last of its result, and no other CTA waits: those before it have begun when it begins. */
#ifndef GM_SM80_REDUCE_PARTS_CUH
#define GM_SM80_REDUCE_PARTS_CUH

#include "sm80/reduce/total.cuh"

/* Says that the slot of this CTA is full, which all its threads have stored to. */
static __device__ __forceinline__ void publish(const struct gm_reduce_params &p, int cta) {
    __syncthreads();
    if (thread_index() == 0)
        st_release_gpu_b64(p.flags + (uint64_t)cta * GM_REDUCE_FLAG_BYTES, p.ready);
}

/* Waits until all slots of the result are full, of which `first` is the first. This CTA's own, the last, it has stored to
 * itself. */
static __device__ __forceinline__ void await_parts(const struct gm_reduce_params &p, int first) {
#pragma unroll 1
    for (int i = thread_index(); i < p.parts - 1; i += THREADS) {
        const uint64_t flag = p.flags + (uint64_t)(first + i) * GM_REDUCE_FLAG_BYTES;
        while (ld_acquire_gpu_b64(flag) != p.ready) {
        }
        st_global_b64(flag, 0);
    }
    __syncthreads();
}

#endif
