/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of stages on sm80: one commit group per stage, one CTA barrier per k-block. */
#ifndef GM_SM80_PIPELINE_CUH
#define GM_SM80_PIPELINE_CUH

#include "sm80/cp_async.cuh"

/* Closes the stage whose copies this thread has issued. Every k-block commits, even with nothing to copy, so
 * that groups can be counted. */
static __device__ __forceinline__ void pipeline_commit(void) {
    cp_async_commit_group();
}

/* After it, all but the newest PENDING stages are visible to every thread, and every thread has finished reading
 * the stages it read before: the barrier serves both directions of the ring. */
template <int PENDING> static __device__ __forceinline__ void pipeline_wait(void) {
    cp_async_wait_group<PENDING>();
    __syncthreads();
}

/* The byte offset of the stage after `stage`. */
static __device__ __forceinline__ uint32_t pipeline_next(uint32_t stage, uint32_t stage_bytes, uint32_t ring_bytes) {
    const uint32_t next = stage + stage_bytes;
    return next == ring_bytes ? 0 : next;
}

#endif
