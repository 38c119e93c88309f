/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of a histogram in global memory, of which CTAs that share its elements each add their own.
 *
 * Where counts are written, the CTA of the first part clears them and sets the turn's flag to the plan's `ready`, a random
 * number: any other value says that they are not cleared yet, so the workspace needs no clearing itself. CTAs wait for the
 * flag when they have counted; the first part's has begun before them. The last one that has seen the flag resets it, for the
 * next launch. */
#ifndef GM_SM80_HISTOGRAM_RESULTS_CUH
#define GM_SM80_HISTOGRAM_RESULTS_CUH

#include "sm80/histogram/counts.cuh"

/* The counts of a slice of one histogram. */
struct result {
    uint64_t counts, turn; /* addresses */
    bool is_awaited;       /* it is shared by several parts, and not seen to be cleared yet */
    bool is_stored;        /* written, not added */
    uint32_t before;       /* parts that have seen it before this one, which thread 0 knows */
};

static __device__ __forceinline__ struct result result_of(const struct gm_histogram_params &p, const struct slice &s,
                                                          int row, int slice) {
    struct result r;
    r.counts = p.counts + row * p.counts_pitch + (uint64_t)s.first * (p.is_wide ? 8 : 4);
    r.turn = p.turns + ((uint64_t)row * p.slices + slice) * GM_HISTOGRAM_TURN_BYTES;
    r.is_awaited = !p.accumulates && p.parts > 1;
    r.is_stored = !p.accumulates && p.parts == 1;
    r.before = 0;
    return r;
}

/* By the CTA of the first part. */
static __device__ __forceinline__ void clear_result(const struct gm_histogram_params &p, const struct slice &s,
                                                    const struct result &r) {
#pragma unroll 1
    for (int bin = thread_index(); bin < s.bins; bin += thread_count()) {
        if (p.is_wide)
            st_global_b64(r.counts + bin * 8, 0);
        else
            st_global_b32(r.counts + bin * 4, 0);
    }
    __syncthreads();
    if (thread_index() == 0) {
        st_global_b32(r.turn + GM_HISTOGRAM_TURN_SEEN, 0);
        st_release_gpu_b64(r.turn, p.ready);
    }
}

/* All threads meet. The number is on its way while counts are given. */
static __device__ __forceinline__ void await_cleared(const struct gm_histogram_params &p, struct result &r) {
    if (thread_index() == 0) {
        while (ld_acquire_gpu_b64(r.turn) != p.ready) {
        }
        r.before = atom_add_gpu_u32(r.turn + GM_HISTOGRAM_TURN_SEEN, 1);
    }
    __syncthreads();
    r.is_awaited = false;
}

/* Where it was awaited. */
static __device__ __forceinline__ void pass_turn(const struct gm_histogram_params &p, const struct result &r) {
    if (thread_index() == 0 && r.before == (uint32_t)p.parts - 1)
        st_global_b64(r.turn, 0);
}

static __device__ __forceinline__ void give_count(const struct gm_histogram_params &p, const struct result &r, int bin,
                                                  uint32_t count) {
    const uint64_t address = r.counts + (uint64_t)bin * (p.is_wide ? 8 : 4);
    if (r.is_stored && p.is_wide)
        st_global_b64(address, count);
    else if (r.is_stored)
        st_global_b32(address, count);
    else if (count > 0 && p.is_wide)
        red_add_gpu_u64(address, count);
    else if (count > 0)
        red_add_gpu_u32(address, count);
}

/* What this CTA has counted since it cleared its counts. All threads meet first. */
static __device__ __forceinline__ void give_counts(const struct gm_histogram_params &p, const struct slice &s,
                                                   const struct result &r) {
    __syncthreads();
    if (TYPE == GM_TYPE_uint8)
        sum_bytes();
#pragma unroll 1
    for (int bin = thread_index(); bin < s.bins; bin += thread_count())
        give_count(p, r, bin, count_of_bin(p, s, bin));
}

#endif
