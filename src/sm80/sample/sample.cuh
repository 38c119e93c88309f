/* SPDX-License-Identifier: Apache-2.0 */
/* The next token of every row: argmax, or drawn by temperature, top-k, top-p and min-p, without a sort. One registry row per
 * compilation; sample.cu of each architecture is the entry.
 *
 *   THREADS threads of ROW_CTAS CTAs share a row; ROW_CTAS CTAs are a cluster
 *   a chunk is VECTOR_BYTES of neighbouring elements, one load; a tile is what all of them load at a time
 *
 * A row is read for its largest logit, and again for what follows; then it comes from L2:
 *
 *   no filter    every element has its noise, and the largest sum wins
 *   filters      each thread knows the largest logit of its own elements. As many of these as top_k asks for, or of as much
 *                mass as top_p, are a lower bound of the threshold. What is not below it are the candidates
 *   few of them  are ranked, each against all, in shared memory
 *   many         thresholds are found in the row, by histograms of ever narrower bins
 *
 * Masses are integers (common/sample/arithmetic.h) and sums of them have one value in any order; so have all counts. */
#ifndef GM_SM80_SAMPLE_CUH
#define GM_SM80_SAMPLE_CUH

#include "common/elements.cuh"
#include "common/index.cuh"
#include "common/sample/arithmetic.h"
#include "common/sample/params.h"

/* ---- parameters (the registry row) and what follows from them -------------------------------------- */

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    ROW_CTAS = GM_ROW_CTAS,
    VECTORS = GM_VECTORS,
    VECTOR_BYTES = GM_VECTOR_BYTES,
    CHUNK = VECTOR_BYTES / ELEM_BYTES, /* elements */
    WORDS = GM_WORDS(TYPE, CHUNK),     /* 32-bit registers of a chunk */
    STEP = THREADS * CHUNK,            /* elements between two chunks of a thread */
    WARPS = THREADS / 32,
    SLOTS = ROW_CTAS * WARPS, /* warps that share a row */
    BINS = GM_SAMPLE_BINS,
    LOG_BINS = 11,
    GROUP = CHUNK < 4 ? CHUNK : 4, /* elements of a visit where much is done with each, */
    FEW = CHUNK == 1 ? 8 : 1,      /* and chunks of a thread at a time */
    BINS_EACH = BINS / THREADS,    /* of a thread, where bins are added up */
    LIST = GM_SAMPLE_LIST,
    CTAS = 1024 / THREADS, /* on an SM */
};
static_assert(BINS == 1 << LOG_BINS && BINS_EACH == 4, "a thread loads its bins at once");
static_assert(LIST <= THREADS && WARPS <= 32, "a thread a candidate; one warp merges the warps");

struct cta_memory {
    uint64_t slots[2][SLOTS];           /* of all warps that share the row, in turns */
    uint64_t own_slots[2][WARPS];       /* of this CTA's */
    uint32_t low[BINS], high[BINS];     /* a bin's sum */
    uint32_t keys[LIST], columns[LIST]; /* candidates */
    uint64_t masses[LIST];
    uint64_t above; /* what find_bin() has found */
    int32_t bin;
    uint32_t candidates;
};
static_assert(sizeof(struct cta_memory) <= GM_SAMPLE_SMEM_BYTES(THREADS, ROW_CTAS), "the table's size");

extern __shared__ __align__(16) unsigned char dynamic_memory[];
static __device__ __forceinline__ struct cta_memory &memory(void) {
    return *(struct cta_memory *)dynamic_memory;
}

/* ---- who shares a row ------------------------------------------------------------------------------ */

/* One CTA. sm90's cluster_ctas has the same functions. */
struct lone_cta {
    static __device__ __forceinline__ int rank(void) { return 0; }
    /* A warp's value, for all that share the row. */
    static __device__ __forceinline__ void share(uint64_t *slot, uint64_t value) {
        if (thread_index() % 32 == 0)
            *slot = value;
    }
    static __device__ __forceinline__ uint32_t load(const uint32_t *at, int rank) {
        (void)rank;
        return *at;
    }
    static __device__ __forceinline__ void load4(const uint32_t *at, int rank, uint32_t (&words)[4]) {
        (void)rank;
        const uint4 all = *(const uint4 *)at;
        words[0] = all.x, words[1] = all.y, words[2] = all.z, words[3] = all.w;
    }
    static __device__ __forceinline__ void meet(void) { __syncthreads(); }
};

/* How values of a row's threads are merged; 0 is nothing. */
struct total {
    static __device__ __forceinline__ uint64_t merge(uint64_t a, uint64_t b) { return a + b; }
    static __device__ __forceinline__ uint64_t merge_warp(uint64_t value) {
#pragma unroll 1
        for (int bit = 16; bit > 0; bit /= 2)
            value += __shfl_xor_sync(0xffffffff, value, bit);
        return value;
    }
};
struct greatest {
    static __device__ __forceinline__ uint64_t merge(uint64_t a, uint64_t b) { return a > b ? a : b; }
    static __device__ __forceinline__ uint64_t merge_warp(uint64_t value) {
        const uint32_t own = (uint32_t)(value >> 32), high = __reduce_max_sync(0xffffffff, own);
        return (uint64_t)high << 32 | __reduce_max_sync(0xffffffff, own == high ? (uint32_t)value : 0);
    }
};
struct greatest_halves {
    static __device__ __forceinline__ uint64_t merge(uint64_t a, uint64_t b) {
        const uint32_t high = max((uint32_t)(a >> 32), (uint32_t)(b >> 32));
        return (uint64_t)high << 32 | max((uint32_t)a, (uint32_t)b);
    }
    static __device__ __forceinline__ uint64_t merge_warp(uint64_t value) {
        const uint32_t high = __reduce_max_sync(0xffffffff, (uint32_t)(value >> 32));
        return (uint64_t)high << 32 | __reduce_max_sync(0xffffffff, (uint32_t)value);
    }
};

/* Merges COUNT slots. Every lane gets the result. */
template <class Merge, int COUNT> static __device__ __forceinline__ uint64_t merge_slots(const uint64_t *slots) {
    uint64_t value = 0;
#pragma unroll
    for (int first = 0; first < COUNT; first += 32) {
        const int slot = first + thread_index() % 32;
        value = Merge::merge(value, slot < COUNT ? slots[slot] : 0);
    }
    return Merge::merge_warp(value);
}

/* Merges a value of each thread that shares the row; all get the result. `turn` alternates, so that nobody still reads the
 * slots that a warp writes. */
template <class Ctas, class Merge> static __device__ __forceinline__ uint64_t merge_row(uint64_t value, int &turn) {
    uint64_t *const slots = memory().slots[turn];
    turn ^= 1;
    value = Merge::merge_warp(value);
    Ctas::share(slots + Ctas::rank() * WARPS + thread_index() / 32, value);
    Ctas::meet();
    return merge_slots<Merge, SLOTS>(slots);
}

/* The same of this CTA alone. */
template <class Merge> static __device__ __forceinline__ uint64_t merge_cta(uint64_t value, int turn) {
    uint64_t *const slots = memory().own_slots[turn];
    value = Merge::merge_warp(value);
    lone_cta::share(slots + thread_index() / 32, value);
    __syncthreads();
    return merge_slots<Merge, WARPS>(slots);
}

/* ---- a row and its request ------------------------------------------------------------------------- */

struct request {
    uint64_t seed;
    int64_t step;
    float inverse_temperature;
    float largest;  /* of the row */
    float top_p;    /* 1: all */
    float least;    /* of sample_shifted() */
    uint32_t top_k; /* 0: all */
    bool is_greedy;
};

static __device__ __forceinline__ float number_of(uint64_t numbers, int row, float own) {
    return numbers ? __uint_as_float(ld_global_b32(numbers + (int64_t)row * 4)) : own;
}

static __device__ __forceinline__ struct request request_of(const struct gm_sample_params &p, int row) {
    const float temperature = number_of(p.temperatures, row, p.temperature);
    const int top_k = p.top_ks ? (int)ld_global_b32(p.top_ks + (int64_t)row * 4) : p.top_k;
    const float top_p = number_of(p.top_ps, row, p.top_p);
    struct request r;
    r.is_greedy = !(temperature > 0.0f);
    r.inverse_temperature = r.is_greedy ? 1.0f : sample_inverse(temperature);
    r.top_k = top_k > 0 && top_k < p.columns ? (uint32_t)top_k : 0;
    r.top_p = top_p < 1.0f ? top_p : 1.0f;
    r.least = sample_least(number_of(p.min_ps, row, p.min_p));
    r.seed = p.seeds ? ld_global_b64(p.seeds + (int64_t)row * 8) : p.seed;
    r.step = p.first_step;
    if (p.step)
        r.step += (int64_t)ld_global_b64(p.step);
    if (p.steps)
        r.step += (int64_t)ld_global_b64(p.steps + (int64_t)row * 8);
    return r;
}

static __device__ __forceinline__ float shifted(const struct request &r, float logit) {
    return sample_shifted(logit, r.largest, r.inverse_temperature);
}

/* visit(elements, at) of this thread's elements, COUNT neighbours at a time, from column `at` on. HELD chunks are on their way
 * before the first is waited for. Only PASS_UNROLLED repeats the code of a visit. */
enum pass { PASS_ROLLED, PASS_UNROLLED };
template <class Ctas, int HELD, int COUNT, enum pass PASS, class Visit>
static __device__ __forceinline__ void for_each(const struct gm_sample_params &p, int row, const Visit &visit) {
    enum { VISITS = HELD * CHUNK / COUNT, PART = GM_WORDS(TYPE, COUNT), ALL = HELD * WORDS };
    const uint64_t base = p.logits + row * p.pitch;
#pragma unroll 1
    for (int tile = Ctas::rank() * HELD * STEP; tile < p.columns; tile += ROW_CTAS * HELD * STEP) {
        const int at = tile + thread_index() * CHUNK;
        uint32_t words[ALL];
#pragma unroll
        for (int i = 0; i < HELD; ++i)
            load<TYPE, CHUNK>(*(uint32_t(*)[WORDS])(words + i * WORDS), base + (int64_t)(at + i * STEP) * ELEM_BYTES,
                              at + i * STEP < p.columns);
#pragma unroll PASS == PASS_UNROLLED ? VISITS : 1
        for (int i = 0; i < VISITS; ++i) {
            const int first = at + i * COUNT / CHUNK * STEP + i * COUNT % CHUNK;
            float elements[COUNT];
            if (first >= p.columns)
                break;
#pragma unroll
            for (int j = 0; j < PART; ++j)
                unpack_word<TYPE, COUNT>(words[j], elements + j * GM_PER_WORD(TYPE, COUNT));
#pragma unroll
            for (int j = 0; j < COUNT; ++j)
                elements[j] = sample_canonical(elements[j]);
            visit(elements, first);
#pragma unroll
            for (int j = PART; j < ALL; ++j) /* the next come first */
                words[j - PART] = words[j];
        }
    }
}

/* ---- the winner ------------------------------------------------------------------------------------ */

/* The larger value is the larger number, and among equals the lower column; 0 is nobody. */
static __device__ __forceinline__ uint64_t bid_of(float value, int column) {
    return (uint64_t)sample_key(value) << 32 | (0xffffffffu - (uint32_t)column);
}
static __device__ __forceinline__ int column_of(uint64_t bid) {
    return bid ? (int)(0xffffffffu - (uint32_t)bid) : -1;
}

/* The largest of a thread's elements, and the first column that has it. */
struct best {
    float value;
    int column;
};

template <class Ctas>
static __device__ __forceinline__ struct best best_of_thread(const struct gm_sample_params &p, int row) {
    struct best b = {-SAMPLE_INFINITY, 0};
    for_each<Ctas, VECTORS, CHUNK, PASS_UNROLLED>(p, row, [&](const float(&elements)[CHUNK], int at) {
#pragma unroll
        for (int i = 0; i < CHUNK; ++i)
            if (elements[i] > b.value) {
                b.value = elements[i];
                b.column = at + i;
            }
    });
    return b;
}

/* Bids of the elements of COUNT neighbouring columns that `kept` has a bit for. */
template <int COUNT>
static __device__ __forceinline__ uint64_t bids_of(const struct request &r, const float *elements, int at,
                                                   uint32_t kept) {
    uint32_t noise[4];
    uint64_t bid = 0;
    sample_noise(r.seed, (uint32_t)at / 4, r.step, noise);
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const uint32_t low = at % 2 ? noise[1] : noise[0], high = at % 2 ? noise[3] : noise[2];
        const uint32_t own = COUNT == 4 ? noise[i] : at % 4 < 2 ? low : high;
        const uint64_t other = bid_of(sample_sum(shifted(r, elements[i]), sample_gumbel(own)), at + i);
        if (kept >> i & 1)
            bid = greatest::merge(bid, other);
    }
    return bid;
}

/* The best bid of this thread's elements of the key `least` and more that min_p keeps. */
template <class Ctas>
static __device__ __forceinline__ uint64_t bid_of_thread(const struct gm_sample_params &p, int row,
                                                         const struct request &r, uint32_t least) {
    uint64_t bid = 0;
    for_each<Ctas, FEW, GROUP, PASS_ROLLED>(p, row, [&](const float(&elements)[GROUP], int at) {
        uint32_t kept = 0;
#pragma unroll
        for (int i = 0; i < GROUP; ++i)
            kept |= (uint32_t)(sample_key(elements[i]) >= least && shifted(r, elements[i]) >= r.least) << i;
        if (kept)
            bid = greatest::merge(bid, bids_of<GROUP>(r, elements, at, kept));
    });
    return bid;
}

/* ---- histograms ------------------------------------------------------------------------------------ */

static __device__ __forceinline__ void clear_bins(void) {
    *(uint4 *)(memory().low + BINS_EACH * thread_index()) = {0, 0, 0, 0};
    *(uint4 *)(memory().high + BINS_EACH * thread_index()) = {0, 0, 0, 0};
    __syncthreads();
}

/* Two words with a carry: there is no addition of 64 bits to shared memory. */
static __device__ __forceinline__ void add_to_bin(int bin, uint64_t weight) {
    const uint32_t low = (uint32_t)weight, old = atomicAdd(&memory().low[bin], low);
    const uint32_t high = (uint32_t)(weight >> 32) + (old + low < old);
    if (high)
        atomicAdd(&memory().high[bin], high);
}

/* The sums of this thread's bins, from bin BINS - 1 of thread 0 downwards: sums[0] is the highest. */
template <class Ctas> static __device__ __forceinline__ void load_bins(uint64_t (&sums)[BINS_EACH]) {
    const int first = BINS - BINS_EACH * (thread_index() + 1);
#pragma unroll
    for (int i = 0; i < BINS_EACH; ++i)
        sums[i] = 0;
#pragma unroll 2
    for (int rank = 0; rank < ROW_CTAS; ++rank) {
        uint32_t low[BINS_EACH], high[BINS_EACH];
        Ctas::load4(memory().low + first, rank, low);
        Ctas::load4(memory().high + first, rank, high);
#pragma unroll
        for (int i = 0; i < BINS_EACH; ++i)
            sums[BINS_EACH - 1 - i] += (uint64_t)high[i] << 32 | low[i];
    }
}

/* What the highest bins must sum to: `quota`; or top_p of all bins, where that is not known yet (0). */
struct goal {
    uint64_t quota;
    float top_p;
};

/* The sum of all bins, and of those of the threads before this one. */
static __device__ __forceinline__ uint64_t scan_threads(uint64_t own, uint64_t &before) {
    uint64_t *const slots = memory().own_slots[0], all = own;
    const int lane = thread_index() % 32, warp = thread_index() / 32;
#pragma unroll 1
    for (int step = 1; step < 32; step *= 2) {
        const uint64_t other = __shfl_up_sync(0xffffffff, all, step);
        all += lane >= step ? other : 0;
    }
    if (lane == 31)
        slots[warp] = all;
    before = all - own;
    __syncthreads();
    uint64_t sum = 0;
#pragma unroll 2
    for (int i = 0; i < WARPS; ++i) {
        before += i < warp ? slots[i] : 0;
        sum += slots[i];
    }
    return sum;
}

/* The highest bin that makes the goal together with those above it and with `above`, which becomes their sum; -1: all bins
 * together do not. */
template <class Ctas> static __device__ __forceinline__ int find_bin(struct goal &goal, uint64_t &above) {
    uint64_t sums[BINS_EACH], own = 0, before;
    Ctas::meet();
    load_bins<Ctas>(sums);
#pragma unroll
    for (int i = 0; i < BINS_EACH; ++i)
        own += sums[i];
    if (thread_index() == 0)
        memory().bin = -1;
    const uint64_t all = scan_threads(own, before); /* a barrier */
    if (goal.quota == 0)
        goal.quota = sample_quota(goal.top_p, all);
    before += above;
    if (before < goal.quota && goal.quota <= before + own) {
        int i = 0;
        while (i < BINS_EACH - 1 && before + sums[0] < goal.quota) {
            before += sums[0];
            sums[0] = sums[1], sums[1] = sums[2], sums[2] = sums[3];
            ++i;
        }
        memory().bin = BINS - 1 - (BINS_EACH * thread_index() + i);
        memory().above = before;
    }
    Ctas::meet(); /* and nobody reads the bins any more */
    above = memory().above;
    return memory().bin;
}

/* The largest key with which elements of that and more make the goal; from `low` on. */
template <class Ctas>
static __device__ __forceinline__ uint32_t find_key(const struct gm_sample_params &p, int row, const struct request &r,
                                                    uint32_t low, bool by_mass, struct goal goal) {
    uint32_t high = sample_key(r.largest);
    uint64_t above = 0;
    int shift;
    do {
        const int digits = high > low ? 32 - __clz((int)(high - low)) : 0;
        shift = digits > LOG_BINS ? digits - LOG_BINS : 0;
        clear_bins();
        for_each<Ctas, FEW, GROUP, PASS_ROLLED>(p, row, [&](const float(&elements)[GROUP], int) {
#pragma unroll
            for (int i = 0; i < GROUP; ++i) {
                const uint32_t key = sample_key(elements[i]);
                if (key >= low && key <= high)
                    add_to_bin((int)((key - low) >> shift), by_mass ? sample_mass(shifted(r, elements[i])) : 1);
            }
        });
        const int bin = find_bin<Ctas>(goal, above);
        if (bin < 0)
            return low;
        low += (uint32_t)bin << shift;
        high = min(high, low + ((1u << shift) - 1));
    } while (shift > 0);
    return low;
}

/* ---- candidates ------------------------------------------------------------------------------------ */

/* Bins of equal width between the largest element and the least of the threads' best; the last has all below it. A candidate
 * is what lies in none below `edge`. */
struct scale {
    float largest, factor;
    float edge;
};

static __device__ __forceinline__ struct scale scale_of(float largest, float least) {
    const float width = largest - least;
    return {largest, fmaxf(fminf((BINS - 1) / width, 1e30f), 1e-38f), (float)BINS};
}
static __device__ __forceinline__ float place_of(const struct scale &s, float logit) {
    return fminf(sample_product(s.largest - logit, s.factor), (float)(BINS - 1));
}

/* A threshold that all kept elements reach, from the best element of each thread. */
template <class Ctas>
static __device__ __forceinline__ void bound_candidates(const struct request &r, float best, struct goal goal,
                                                        struct scale &s) {
    uint64_t above = 0;
    clear_bins();
    if (best > -SAMPLE_INFINITY)
        add_to_bin(BINS - 1 - (int)place_of(s, best), r.top_k ? 1 : sample_mass(shifted(r, best)));
    const int bin = find_bin<Ctas>(goal, above);
    if (bin >= 0)
        s.edge = (float)(BINS - bin);
}

static __device__ __forceinline__ float logit_at(const struct gm_sample_params &p, int row, int column) {
    uint32_t word[1];
    float logit[1];
    load<TYPE, 1>(word, p.logits + row * p.pitch + (int64_t)column * ELEM_BYTES, true);
    unpack<TYPE, 1>(word, logit);
    return sample_canonical(logit[0]);
}

static __device__ __forceinline__ void list_candidate(const struct gm_sample_params &p, int row, int column) {
    const uint32_t index = atomicAdd(&memory().candidates, 1u);
    if (index >= LIST)
        return;
    memory().keys[index] = sample_key(logit_at(p, row, column));
    memory().columns[index] = (uint32_t)column;
}

/* Lists this CTA's candidates, as far as there is room; returns how many all CTAs have. */
template <class Ctas>
static __device__ __forceinline__ uint32_t list_candidates(const struct gm_sample_params &p, int row,
                                                           const struct request &r, const struct scale &s) {
    const float least = r.top_k ? -SAMPLE_INFINITY : r.least; /* top_p is a share of what top_k leaves, min_p or not */
    if (thread_index() == 0)
        memory().candidates = 0;
    __syncthreads();
    for_each<Ctas, VECTORS, CHUNK, PASS_ROLLED>(p, row, [&](const float(&elements)[CHUNK], int at) {
        uint32_t kept = 0;
#pragma unroll
        for (int i = 0; i < CHUNK; ++i)
            kept |= (uint32_t)(elements[i] > -SAMPLE_INFINITY && place_of(s, elements[i]) < s.edge &&
                               shifted(r, elements[i]) >= least)
                    << i;
        for (; kept; kept &= kept - 1)
            list_candidate(p, row, at + __ffs((int)kept) - 1);
    });
    Ctas::meet();
    uint32_t count = 0;
#pragma unroll 2
    for (int rank = 0; rank < ROW_CTAS; ++rank)
        count += Ctas::load(&memory().candidates, rank);
    return count;
}

/* The other CTAs' candidates join this one's. */
template <class Ctas> static __device__ __forceinline__ void gather_candidates(const struct request &r, int count) {
    int end = (int)memory().candidates;
#pragma unroll 1
    for (int rank = 1; rank < ROW_CTAS; ++rank) {
        const int theirs = (int)Ctas::load(&memory().candidates, rank);
        for (int i = thread_index(); i < theirs; i += THREADS) {
            memory().keys[end + i] = Ctas::load(memory().keys + i, rank);
            memory().columns[end + i] = Ctas::load(memory().columns + i, rank);
        }
        end += theirs;
    }
    __syncthreads();
    if (thread_index() < count)
        memory().masses[thread_index()] = sample_mass(shifted(r, sample_value(memory().keys[thread_index()])));
    __syncthreads();
}

/* How many candidates are larger than one of this key, and their mass. */
static __device__ __forceinline__ uint32_t rank_of(uint32_t key, int count, uint64_t &mass) {
    uint32_t larger = 0;
    mass = 0;
#pragma unroll 4
    for (int i = 0; i < count; ++i) {
        const bool is_larger = memory().keys[i] > key;
        larger += is_larger;
        mass += is_larger ? memory().masses[i] : 0;
    }
    return larger;
}

/* The best bid of the candidates, by one CTA; `all` is the mass of the row where top_p is a share of that. */
template <class Ctas>
static __device__ __forceinline__ uint64_t bid_of_candidates(const struct request &r, int count, uint64_t all) {
    const int own = thread_index();
    uint64_t larger_mass = 0, bid = 0;
    gather_candidates<Ctas>(r, count);
    const uint32_t key = own < count ? memory().keys[own] : 0;
    bool is_kept = own < count;
    if (is_kept)
        is_kept = rank_of(key, count, larger_mass) < (r.top_k ? r.top_k : 0xffffffffu);
    if (r.top_p < 1.0f) {
        if (r.top_k)
            all = merge_cta<total>(is_kept ? memory().masses[own] : 0, 0);
        is_kept = is_kept && larger_mass < sample_quota(r.top_p, all);
    }
    if (is_kept) {
        const float logit = sample_value(key);
        is_kept = shifted(r, logit) >= r.least;
        bid = bids_of<1>(r, &logit, (int)memory().columns[own], is_kept);
    }
    return merge_cta<greatest>(bid, 1);
}

/* ---- rows ------------------------------------------------------------------------------------------ */

template <class Ctas>
static __device__ __forceinline__ uint64_t mass_of_row(const struct gm_sample_params &p, int row,
                                                       const struct request &r, int &turn) {
    uint64_t mass = 0;
    for_each<Ctas, FEW, GROUP, PASS_ROLLED>(p, row, [&](const float(&elements)[GROUP], int) {
#pragma unroll
        for (int i = 0; i < GROUP; ++i)
            mass += elements[i] > -SAMPLE_INFINITY ? sample_mass(shifted(r, elements[i])) : 0;
    });
    return merge_row<Ctas, total>(mass, turn);
}

/* The threshold of the filters, looked for in the row itself. */
template <class Ctas>
static __device__ __forceinline__ uint32_t least_kept(const struct gm_sample_params &p, int row,
                                                      const struct request &r) {
    uint32_t least = SAMPLE_KEY_OF_NOTHING + 1;
#pragma unroll 1
    for (int by_mass = 0; by_mass < 2; ++by_mass)
        if (by_mass ? r.top_p < 1.0f : r.top_k > 0)
            least = find_key<Ctas>(p, row, r, least, by_mass, {by_mass ? 0 : r.top_k, r.top_p});
    return least;
}

/* Whether the row's candidates are few; then their best bid, which the cluster's first CTA has. */
template <class Ctas>
static __device__ __forceinline__ bool try_candidates(const struct gm_sample_params &p, int row,
                                                      const struct request &r, float best, float least, uint64_t mass,
                                                      uint64_t &bid) {
    struct scale s = scale_of(r.largest, least);
    if (r.top_k || r.top_p < 1.0f)
        bound_candidates<Ctas>(r, best, {r.top_k ? r.top_k : sample_quota(r.top_p, mass), 0}, s);
    if (s.edge == BINS && r.least == -SAMPLE_INFINITY && p.columns > LIST)
        return false;
    const uint32_t count = list_candidates<Ctas>(p, row, r, s);
    if (count > LIST)
        return false;
    if (Ctas::rank() == 0)
        bid = bid_of_candidates<Ctas>(r, (int)count, mass);
    Ctas::meet(); /* the lists are read */
    return true;
}

/* By one thread. */
static __device__ __forceinline__ void store_logprob(const struct gm_sample_params &p, int row, int column,
                                                     const struct request &r, uint64_t mass) {
    float logprob = 0.0f; /* of +inf */
    if (column < 0)
        logprob = __uint_as_float(0x7fffffffu);
    else if (r.largest < SAMPLE_INFINITY)
        logprob = sample_sum(shifted(r, logit_at(p, row, column)), -sample_ln(sample_product((float)mass, 0x1p-40f)));
    st_global_b32(p.logprobs + (int64_t)row * 4, __float_as_uint(logprob));
}

/* Completes a request by what the row's largest element is; `least`: the smallest of the threads' best. */
template <class Ctas>
static __device__ __forceinline__ void look_at_ends(struct request &r, float best, float &least, int &turn) {
    const uint32_t key = sample_key(best);
    const uint64_t own = best > -SAMPLE_INFINITY ? (uint64_t)key << 32 | (uint32_t)~key : 0;
    const uint64_t ends = merge_row<Ctas, greatest_halves>(own, turn);
    r.largest = ends ? sample_value((uint32_t)(ends >> 32)) : -SAMPLE_INFINITY;
    least = sample_value(~(uint32_t)ends);
    r.is_greedy = r.is_greedy || !(r.largest > -SAMPLE_INFINITY && r.largest < SAMPLE_INFINITY);
}

template <class Ctas>
static __device__ __forceinline__ void sample_row(const struct gm_sample_params &p, int row, int &turn) {
    struct request r = request_of(p, row);
    const struct best best = best_of_thread<Ctas>(p, row);
    uint64_t mass = 0, bid = best.value > -SAMPLE_INFINITY ? bid_of(best.value, best.column) : 0;
    float least = 0;
    bool is_done = false;
    if (!r.is_greedy || p.logprobs)
        look_at_ends<Ctas>(r, best.value, least, turn);
    const bool is_filtered = r.top_k || r.top_p < 1.0f || r.least > -SAMPLE_INFINITY;
    if (p.logprobs || (!r.is_greedy && r.top_p < 1.0f && r.top_k == 0))
        mass = mass_of_row<Ctas>(p, row, r, turn);
    if (!r.is_greedy && is_filtered)
        is_done = try_candidates<Ctas>(p, row, r, best.value, least, mass, bid);
    if (!r.is_greedy && !is_done)
        bid = bid_of_thread<Ctas>(p, row, r, least_kept<Ctas>(p, row, r));
    if (!is_done)
        bid = merge_row<Ctas, greatest>(bid, turn);
    if (Ctas::rank() > 0 || thread_index() > 0)
        return;
    st_global_b32(p.ids + (int64_t)row * 4, (uint32_t)column_of(bid));
    if (p.logprobs)
        store_logprob(p, row, column_of(bid), r, mass);
}

/* All rows, a share of them with a grid of fewer clusters than would take a row each. */
template <class Ctas> static __device__ __forceinline__ void sample(const struct gm_sample_params &p) {
    const int rows = p.row_count ? min(p.rows, (int)ld_global_b32(p.row_count)) : p.rows;
    int turn = 0;
#pragma unroll 1
    for (int64_t row = cta_index() / ROW_CTAS; row < rows; row += gridDim.x / ROW_CTAS)
        sample_row<Ctas>(p, (int)row, turn);
}

#endif
