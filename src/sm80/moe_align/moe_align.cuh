/* SPDX-License-Identifier: Apache-2.0 */
/* Slots sorted by their expert, stably, in one launch without a word between its clusters. One registry row per
 * compilation; moe_align.cu of each architecture is the entry.
 *
 *   a part is a power of 2 of neighbouring slots, a warp's; a CTA's slots are those of its warps, a cluster's those of its
 *   CTAs, all in order
 *   every cluster counts all slots by expert: its CTAs share those of other clusters, and each counts its own, warp by warp
 *   an expert's first row is a sum over all experts before; a warp's first row of an expert is a sum over all slots before
 *   each warp then walks through its part: lanes of one expert are ranked by match.any
 *
 * Counts are sums of integers: in whatever order they are made, the result is one. */
#ifndef GM_SM80_MOE_ALIGN_CUH
#define GM_SM80_MOE_ALIGN_CUH

#include "common/global.cuh"
#include "common/index.cuh"
#include "common/moe_align/params.h"

enum {
    THREADS = GM_THREADS,
    WARPS = THREADS / 32,
    CLUSTER = GM_CLUSTER,
    EXPERTS = GM_MOE_ALIGN_EXPERTS, /* at most */
    PER_THREAD = EXPERTS / THREADS, /* neighbouring experts, when rows are summed up */
    AT_ONCE = 4,                    /* ids of a thread that are under way */
    NONE = -1,
};
static_assert(EXPERTS % THREADS == 0 && WARPS <= 32, "a thread has its experts, and a warp the warps' sums");

#define ALL_LANES 0xffffffffu

/* A CTA that counts for itself. */
struct alone {
    static constexpr int COUNT = 1;
    static __device__ __forceinline__ int rank(void) { return 0; }
    static __device__ __forceinline__ void sync(void) { __syncthreads(); }
    static __device__ __forceinline__ int load(const int *count, int rank) { return *count; }
};

/* Counts in shared memory. */
struct counts {
    int warps[WARPS][EXPERTS]; /* of each warp's part; then of the CTA's parts before it */
    int before[EXPERTS];       /* of this CTA's share of the slots before the cluster's; then the CTA's first rows */
    int own[EXPERTS];          /* of the CTA's slots; then the row behind an expert's last one */
    int all[EXPERTS];          /* of this CTA's share of all slots */
    int sums[WARPS];           /* rows of a warp's experts, when they are summed up */
};

extern __shared__ int shared_memory[];

static __device__ __forceinline__ struct counts &shared_counts(void) {
    return *(struct counts *)shared_memory;
}
static_assert(sizeof(struct counts) <= GM_MOE_ALIGN_SMEM(THREADS), "shared memory of the registry row");

static __device__ __forceinline__ int lane_index(void) {
    return thread_index() % 32;
}

/* ---- who has which slots ------------------------------------------------------------------------------ */

struct slots {
    int all;                         /* slots of the launch */
    int part_log2;                   /* a warp's part has 1 << part_log2 of them */
    int cluster_first, cluster_last; /* the cluster's: from first to last - 1 */
    int first, last;                 /* the CTA's */
};

template <class PEERS>
static __device__ __forceinline__ struct slots divide_slots(const struct gm_moe_align_params &p) {
    const int tokens = p.row_count ? min(p.tokens, (int)ld_global_b32(p.row_count)) : p.tokens;
    const int all = max(tokens, 0) * p.k, warps = gridDim.x * WARPS;
    const int least = max((all + warps - 1) / warps, 32), part_log2 = 32 - __clz(least - 1);
    const int64_t part = (int64_t)1 << part_log2, cta = cta_index(), cluster = cta - PEERS::rank();
    struct slots s = {all, part_log2};
    s.cluster_first = (int)min(cluster * WARPS * part, (int64_t)all);
    s.cluster_last = (int)min((cluster + PEERS::COUNT) * WARPS * part, (int64_t)all);
    s.first = (int)min(cta * WARPS * part, (int64_t)all);
    s.last = (int)min((cta + 1) * WARPS * part, (int64_t)all);
    return s;
}

/* ---- counting ----------------------------------------------------------------------------------------- */

static __device__ __forceinline__ int load_id(const struct gm_moe_align_params &p, int slot, int last) {
    return slot < last ? (int)ld_global_b32(p.ids + (int64_t)slot * 4) : NONE;
}

/* Counts slots first, first + step, ... by expert; slot s in histogram (s - origin) >> part_log2. */
static __device__ __forceinline__ void count_slots(const struct gm_moe_align_params &p, int64_t first, int last,
                                                   int step, int *histograms, int origin, int part_log2) {
#pragma unroll 1
    for (; first < last; first += (int64_t)step * AT_ONCE) {
        int ids[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            ids[i] = first + (int64_t)i * step < last ? load_id(p, (int)first + i * step, last) : NONE;
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            const int histogram = ((int)first + i * step - origin) >> part_log2;
            if ((uint32_t)ids[i] < (uint32_t)p.experts)
                atomicAdd(&histograms[histogram * EXPERTS + ids[i]], 1);
        }
    }
}

template <class PEERS>
static __device__ __forceinline__ void count_all(const struct gm_moe_align_params &p, const struct slots &s) {
    struct counts &c = shared_counts();
    const int thread = thread_index(), step = THREADS * PEERS::COUNT, first = PEERS::rank() * THREADS + thread;
#pragma unroll 1
    for (int i = thread; i < (WARPS + 3) * EXPERTS; i += THREADS)
        shared_memory[i] = 0;
    __syncthreads();
    count_slots(p, s.first + thread, s.last, THREADS, c.warps[0], s.first, s.part_log2);
    count_slots(p, first, s.cluster_first, step, c.before, 0, 31);
    count_slots(p, (int64_t)s.cluster_last + first, s.all, step, c.all, 0, 31);
    __syncthreads();
}

/* Makes of the warps' counts those of the warps before, and of the CTA's counts what the other CTAs want to know. */
static __device__ __forceinline__ void sum_warps(const struct gm_moe_align_params &p) {
    struct counts &c = shared_counts();
#pragma unroll 1
    for (int expert = thread_index(); expert < p.experts; expert += THREADS) {
        int own = 0;
#pragma unroll
        for (int warp = 0; warp < WARPS; ++warp) {
            const int count = c.warps[warp][expert];
            c.warps[warp][expert] = own;
            own += count;
        }
        c.own[expert] = own;
        c.all[expert] += c.before[expert] + own;
    }
}

/* ---- rows --------------------------------------------------------------------------------------------- */

static __device__ __forceinline__ int round_up(int rows, const struct gm_divisor &alignment) {
    return (int)(divide((uint32_t)(rows + alignment.divisor - 1), alignment) * alignment.divisor);
}

/* Sum of `value` over all threads before this one. */
static __device__ __forceinline__ int sum_before(int value) {
    int *const sums = shared_counts().sums, warp = thread_index() / 32;
    int sum = value;
#pragma unroll
    for (int lanes = 1; lanes < 32; lanes *= 2) {
        const int other = __shfl_up_sync(ALL_LANES, sum, lanes);
        sum += lane_index() >= lanes ? other : 0;
    }
    if (lane_index() == 31)
        sums[warp] = sum;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < WARPS; ++i)
        sum += i < warp ? sums[i] : 0;
    return sum - value;
}

/* Slots of an expert: of all CTAs, and those before this CTA's. */
struct expert {
    int all, before;
};

template <class PEERS> static __device__ __forceinline__ struct expert add_peers(int number) {
    struct counts &c = shared_counts();
    struct expert e = {0, 0};
#pragma unroll
    for (int rank = 0; rank < PEERS::COUNT; ++rank) {
        e.all += PEERS::load(&c.all[number], rank);
        e.before += PEERS::load(&c.before[number], rank);
        if (rank + 1 < PEERS::COUNT)
            e.before += rank < PEERS::rank() ? PEERS::load(&c.own[number], rank) : 0;
    }
    return e;
}

/* The offsets, the CTA's first row of every expert, and the row behind the expert's last one. */
template <class PEERS> static __device__ __forceinline__ void place_experts(const struct gm_moe_align_params &p) {
    struct counts &c = shared_counts();
    const int first = thread_index() * PER_THREAD;
    struct expert e[PER_THREAD];
    int rows = 0;
    PEERS::sync();
#pragma unroll
    for (int i = 0; i < PER_THREAD; ++i) {
        e[i] = add_peers<PEERS>(first + i);
        rows += round_up(e[i].all, p.alignment);
    }
    int offset = sum_before(rows);
    PEERS::sync(); /* peers have read what is now overwritten */
#pragma unroll
    for (int i = 0; i < PER_THREAD; ++i) {
        const int after = offset + round_up(e[i].all, p.alignment);
        c.before[first + i] = offset + e[i].before;
        c.own[first + i] = offset + e[i].all;
        if (cta_index() == 0 && first + i < p.experts) {
            st_global_b32(p.offsets + (first + i + 1) * 4, after);
            if (first + i == 0)
                st_global_b32(p.offsets, 0);
        }
        offset = after;
    }
    __syncthreads();
}

/* Rows without a slot; a warp's share of the experts. */
static __device__ __forceinline__ void store_padding(const struct gm_moe_align_params &p) {
    const int warp = cta_index() * WARPS + thread_index() / 32;
#pragma unroll 1
    for (int expert = warp; expert < p.experts && p.alignment.divisor > 1; expert += gridDim.x * WARPS) {
        const int first = shared_counts().own[expert], last = round_up(first, p.alignment);
#pragma unroll 1
        for (int row = first + lane_index(); row < last; row += 32)
            st_global_b32(p.rows + (int64_t)row * 4, (uint32_t)NONE);
    }
}

/* The row of each lane's slot; all lanes of the warp. */
static __device__ __forceinline__ int take_row(const struct gm_moe_align_params &p, int id) {
    struct counts &c = shared_counts();
    const bool exists = (uint32_t)id < (uint32_t)p.experts;
    const uint32_t same = __match_any_sync(ALL_LANES, exists ? id : NONE);
    const int rank = __popc(same & ((1u << lane_index()) - 1));
    int *const taken = &c.warps[thread_index() / 32][exists ? id : 0];
    const int row = exists ? c.before[id] + *taken + rank : NONE;
    __syncwarp();
    if (exists && rank == 0)
        *taken += __popc(same);
    __syncwarp();
    return row;
}

/* A warp's part, 32 slots at a time, the next ones' ids under way. */
static __device__ __forceinline__ void store_slots(const struct gm_moe_align_params &p, const struct slots &s) {
    const int64_t first = s.first + ((int64_t)(thread_index() / 32) << s.part_log2);
    const int last = (int)min(first + ((int64_t)1 << s.part_log2), (int64_t)s.last);
    int id = first < last ? load_id(p, (int)first + lane_index(), last) : NONE;
#pragma unroll 1
    for (int64_t slots = first; slots < last; slots += 32) {
        const int slot = (int)slots + lane_index();
        const int next = slots + 32 < last ? load_id(p, slot + 32, last) : NONE;
        const int row = take_row(p, id);
        if (row != NONE)
            st_global_b32(p.rows + (int64_t)row * 4, (uint32_t)slot);
        if (p.inverse && slot < last)
            st_global_b32(p.inverse + (int64_t)slot * 4, (uint32_t)row);
        id = next;
    }
}

template <class PEERS> static __device__ __forceinline__ void moe_align(const struct gm_moe_align_params &p) {
    const struct slots s = divide_slots<PEERS>(p);
    count_all<PEERS>(p, s);
    sum_warps(p);
    place_experts<PEERS>(p);
    store_padding(p);
    store_slots(p, s);
}

#endif
