/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model of gemm_sm80: cp.async, mma.sync, several CTAs on an SM. host/gemm/cost_terms.h says how a model is
 * made. */
#include "host/gemm/cost_terms.h"
#include "host/gemm_sm80/gemm_sm80.h"

#define SM80_SMOOTH                  2.75
#define SM80_LAUNCH_US               2.0
#define SM80_DRAM_EFFICIENCY         0.83
#define SM80_ON_SM90                 0.68  /* mma.sync's ceiling on Hopper, of WGMMA's */
#define SM80_PORT_BYTES_PER_CLOCK    36.6  /* bytes a clock of cp.async into one SM, by all its CTAs */
#define SM80_NARROW_COPY_CLOCKS      0.87  /* clocks of an SM for a copy of 8 bytes or 4 */
#define SM80_FILL_CLOCKS             900.0 /* clocks from the copies' issue to the first bytes' arrival */
#define SM80_FILL_BYTES_PER_CLOCK    23.4  /* bytes a clock of the rest of a stage */
#define SM80_KBLOCK_CLOCKS           314.0 /* clocks of a CTA alone: barrier, first ldmatrix, drain of the mma pipe */
#define SM80_TURN_CLOCKS             26.0  /* clocks that the tensor cores rest between two k-blocks in any case */
#define SM80_FRAGMENT_CLOCKS         0.052 /* clocks per element of a warp's part of D, for each 32 bytes of k */
#define SM80_STORE_BYTES_PER_CLOCK   8.7
#define SM80_STORE_EXPOSED           0.62 /* share of a store that the SM's other CTAs do not hide */
#define SM80_L2_ENERGY               18.0 /* energy of a byte from L2, in FLOPs of the tensor cores */
#define SM80_PARTIAL_BYTES_PER_CLOCK 24.0 /* stream-K: bytes a clock, one SM to L2 or back; an estimate */
#define SM80_STREAM_K_US             1.5  /* stream-K: us from the last store to the first load; an estimate */
#define SM80_TF32X3_PRODUCTS         5.0 /* tf32x3: products of tf32 that take as long as three, splitting and adding */
#define SM80_DECODED_PRODUCTS        2.0 /* fp8: products of 8 bits that take as long as one, which is of fp16 */
#define SM80_DECODE_CLOCKS           2.9 /* fp8: clocks of an SM for a word of each lane of a warp; not measured */
#define SM80_MMA_ISSUE               0.125  /* fp8: share of its clocks in which an mma.sync takes an issue slot */
#define SM80_BATCHED_TILE_CLOCKS     1500.0 /* batches: clocks from a tile to the next one's first k-block */
#define SM80_BATCHED_STORE_ELEMENTS  1.6    /* batches: elements a clock of an SM where D takes no vectors */
#define SM80_WARP_K_CLOCKS           150.0  /* warp-k: clocks of two barriers, a store and a load; not measured */

#define SM80_UNALIGNED_CLOCKS      45.0   /* clocks of an SM for 32 unaligned chunks, which come through registers */
#define SM80_UNALIGNED_WAIT_CLOCKS 1100.0 /* clocks that a CTA alone waits for two unaligned chunks a thread */
#define SM80_DEFERRED_WAIT_CLOCKS  1900.0 /* clocks that a CTA alone waits for all unaligned chunks of a k-block */

double gm_gemm_sm80_tensor_share(const struct gm_kernel *kernel, const struct gm_device *device) {
    (void)kernel;
    return device->cc_major == 9 ? SM80_ON_SM90 : 1;
}

/* bf16 FLOP of one SM per clock through mma.sync. */
static double mma_flop_per_clock(const struct gm_device *device) {
    double rate = device->cc_major == 9 ? 4096 : device->cc_minor == 0 ? 2048 : 1024;
    if (device->tensor_tflops > 0)
        rate = device->tensor_tflops * 1e6 / (device->sm_count * clock_mhz(device));
    return rate * (device->cc_major == 9 ? SM80_ON_SM90 : 1);
}

/* What one CTA's k-block takes of the SM's copies, and how long the CTA waits if it is alone. */
struct sm80_copies {
    double shared_clocks, alone_clocks;
};

static void add_copies(struct sm80_copies *copies, const struct gm_gemm_variant *v, double copy_bytes, int tile_mn,
                       double rows) {
    const double elems = min2(tile_mn, rows) * v->tile_k;
    const double bytes = elems * gm_type_bytes(v->kernel->type);
    if (copy_bytes == 16) {
        copies->shared_clocks += bytes / SM80_PORT_BYTES_PER_CLOCK;
        return;
    }
    if (copy_bytes >= 4) {
        copies->shared_clocks += bytes / copy_bytes * SM80_NARROW_COPY_CLOCKS;
        return;
    }
    const int chunks = GM_SM80_CHUNKS(tile_mn, v->tile_k, gm_sm80_warps(v), v->kernel->type);
    const int defers = GM_SM80_DEFERS_STORES(v->tile_m, v->tile_n, v->tile_k, gm_sm80_warps(v), v->kernel->type,
                                             v->kernel->smem_bytes);
    copies->shared_clocks += elems / 8 / 32 * SM80_UNALIGNED_CLOCKS;
    copies->alone_clocks =
        defers ? SM80_DEFERRED_WAIT_CLOCKS : copies->alone_clocks + SM80_UNALIGNED_WAIT_CLOCKS * ceil_div(chunks, 2);
}

static double products_of(const struct gm_gemm_problem *p) {
    return p->ab_type == GM_TF32X3 ? SM80_TF32X3_PRODUCTS : gm_gemm_is_of_fp8(p) ? SM80_DECODED_PRODUCTS : 1;
}

/* Every warp decodes the rows of A and of B that it multiplies. */
static double decode_clocks(const struct gm_gemm_variant *v, double k_bytes) {
    const double rows = v->tile_m * GM_SM80_WARPS_N(gm_sm80_warps(v)) + v->tile_n * GM_SM80_WARPS_M(gm_sm80_warps(v));
    return GM_TYPE_IS_FP8(v->kernel->type) ? rows * k_bytes / 128 * SM80_DECODE_CLOCKS : 0;
}

/* One k-block of `together` CTAs that share the SM. */
static double sm80_kblock_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                             const struct gm_device *device, double together) {
    const double warps_m = GM_SM80_WARPS_M(gm_sm80_warps(v)), warps_n = GM_SM80_WARPS_N(gm_sm80_warps(v));
    const double k_bytes = (double)v->tile_k * gm_type_bytes(p->ab_type);
    struct sm80_copies copies = {0};
    add_copies(&copies, v, copy_bytes(gm_operand_a(p), p->a_align), v->tile_m, (double)p->m);
    add_copies(&copies, v, copy_bytes(gm_operand_b(p), p->b_align), v->tile_n, (double)p->n);
    /* Rows that do not exist are not asked for: of 16 tokens a tile of 64 rows has a quarter of A in flight. */
    const double asked = (min2(v->tile_m, (double)p->m) + min2(v->tile_n, (double)p->n)) * k_bytes;
    /* Shared memory is written once by cp.async, and read by every row of warps (B) and every column of them (A). */
    const double smem = (v->tile_m * (1 + warps_n) + v->tile_n * (1 + warps_m)) * k_bytes;
    const double fragment = v->tile_m / warps_m * v->tile_n / warps_n;
    const double products = products_of(p);
    const double tensor = products * v->tile_m * v->tile_n * k_bytes / mma_flop_per_clock(device);
    const double issue = decode_clocks(v, k_bytes) + SM80_MMA_ISSUE * tensor;
    const double shared = max2(max2(tensor, issue), max2(smem / SMEM_BYTES_PER_CLOCK, copies.shared_clocks));
    const double steps = (gm_gemm_is_of_fp8(p) ? 2 : 1) * k_bytes / 32 / v->warp_k;
    const double alone = SM80_KBLOCK_CLOCKS + SM80_FRAGMENT_CLOCKS * fragment * steps + copies.alone_clocks;
    const double ahead = v->stages > 1 ? v->stages - 1 : 1;
    const double fill = (SM80_FILL_CLOCKS + asked / SM80_FILL_BYTES_PER_CLOCK) / ahead;
    return max2(together * shared + SM80_TURN_CLOCKS, max2(alone, fill)) / clock_mhz(device);
}

/* The warp-k parts' sums of a tile, written to shared memory and read again, in each of `together` CTAs. */
static double sm80_warp_k_us(const struct gm_gemm_variant *v, const struct gm_device *device, double together) {
    const double bytes = GM_SM80_EXCHANGE_BYTES((double)v->tile_m, v->tile_n, gm_sm80_warps(v));
    return bytes > 0 ? (SM80_WARP_K_CLOCKS + together * 2 * bytes / SMEM_BYTES_PER_CLOCK) / clock_mhz(device) : 0;
}

/* Epilogue of a tile whose SM holds `together` CTAs. */
static double sm80_store_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                            const struct gm_device *device, double together) {
    const double tile_bytes = (double)v->tile_m * v->tile_n * gm_type_bytes(p->d_type);
    const double exposed = together > 1 ? together * SM80_STORE_EXPOSED : 1;
    const double us = exposed * tile_bytes / SM80_STORE_BYTES_PER_CLOCK / clock_mhz(device);
    if (!v->batch || (gm_has_vectors_of_d(p) && p->n % 8 == 0))
        return us;
    const double elements = min2(v->tile_m, (double)p->m) * min2(v->tile_n, (double)p->n);
    return max2(us, together * elements / SM80_BATCHED_STORE_ELEMENTS / clock_mhz(device));
}

/* One round: `together` CTAs share the SM from start to end of a tile each. */
static double sm80_round_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                            const struct gm_device *device, double together) {
    const double between = v->batch ? SM80_BATCHED_TILE_CLOCKS / clock_mhz(device) : 0;
    return ceil_div((double)p->k, v->tile_k) * sm80_kblock_us(v, p, device, together) +
           sm80_warp_k_us(v, device, together) + sm80_store_us(v, p, device, together) + between;
}

/* A share of the divided tiles: its k-blocks, a store, one partial sum published, and the others of its tile
 * collected. */
static double sm80_stream_k_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                               const struct gm_device *device, double tiles, double shares) {
    const double together = ceil_div(shares, device->sm_count);
    const double blocks = ceil_div(tiles * ceil_div((double)p->k, v->tile_k), shares);
    const double collects = max2(ceil_div(shares, tiles) - 1, 1), stores = ceil_div(tiles, shares);
    const double partial_bytes = together * v->tile_m * v->tile_n * sizeof(float);
    return blocks * sm80_kblock_us(v, p, device, together) + stores * sm80_store_us(v, p, device, together) +
           (1 + stores) * sm80_warp_k_us(v, device, together) +
           (1 + collects) * partial_bytes / SM80_PARTIAL_BYTES_PER_CLOCK / clock_mhz(device) + SM80_STREAM_K_US;
}

double gm_gemm_sm80_cost_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                            const struct gm_device *device, const struct gm_gemm_division *division) {
    const double whole = (double)division->whole, shares = (double)division->shares;
    const double tiles_m = (double)gm_tiles_m(v, p), tiles_n = (double)gm_tiles_n(v, p);
    const double divided = (double)gm_tiles(v, p) - whole;
    double path_us = tiles_us(sm80_round_us, v, p, device, whole);
    if (shares > 0)
        path_us += sm80_stream_k_us(v, p, device, divided, shares);
    const double partial_bytes = 2.0 * shares * v->tile_m * v->tile_n * sizeof(float);
    const double l2_bytes =
        (double)p->batch * (p->m * tiles_n + p->n * tiles_m) * (double)p->k * gm_type_bytes(p->ab_type) + partial_bytes;
    const double share = gm_gemm_sm80_tensor_share(v->kernel, device);
    const double decoded = gm_gemm_is_of_fp8(p) ? operations(p) : 0; /* fp16 draws twice what 8 bits do */
    const double terms[] = {
        path_us,
        dram_us(p, device, SM80_DRAM_EFFICIENCY),
        power_us(p, device, share, SM80_L2_ENERGY * l2_bytes + decoded),
    };
    return SM80_LAUNCH_US + smooth_max(SM80_SMOOTH, terms, 3);
}
