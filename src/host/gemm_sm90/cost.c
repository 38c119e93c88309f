/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model of gemm_sm90: TMA, WGMMA, one CTA on an SM. host/gemm/cost_terms.h says how a model is made. It counts
 * SM clocks, and turns them into time by the clock that the problem's load leaves. It also counts the bytes that a
 * variant moves, since at the power limit joules are time. */
#include "host/gemm/cost_terms.h"
#include "host/gemm_sm90/gemm_sm90.h"

#define SM90_SMOOTH                    2.9    /* exponent of the smooth maximum of the path's time and memory's */
#define SM90_KBLOCK_SMOOTH             6.82   /* exponent of the smooth maximum of what bounds one k-block */
#define SM90_CLOCK_LEAST               0.718  /* share of the SM clock that the power limit leaves a long launch */
#define SM90_CLOCK_MORE                0.188  /* share of the SM clock that a short launch has more */
#define SM90_CLOCK_US                  8.25   /* us at the datasheet rate that take half of SM90_CLOCK_MORE away */
#define SM90_LAUNCH_CLOCKS             1670.0 /* clocks from the launch to the first byte of a cold operand */
#define SM90_CTA_CLOCKS                5.34   /* clocks more for every CTA that asks for its first byte then */
#define SM90_DRAM_EFFICIENCY           0.896  /* reachable share of DRAM's datasheet bandwidth */
#define SM90_STREAMED_EFFICIENCY       1.0    /* reachable share of it where memory bounds the launch */
#define SM90_PORT_BYTES                128.0  /* bytes a clock into one SM's shared memory, multicast or not */
#define SM90_SHARE_PORT_BYTES          58.9   /* bytes of stream-K's shares without clusters: no common k-blocks */
#define SM90_MEMORY_SMOOTH             16.9   /* exponent of the smooth maximum of DRAM and the busiest SM */
#define SM90_STREAM_BYTES              61.4   /* bytes a clock from DRAM into one SM, next launch beside this one */
#define SM90_CROWDED_BYTES             22.4   /* bytes a clock where the next launch does not fit beside this one */
#define SM90_UNALIGNED_SECTORS         1.74   /* second requests that one counts as, where a row begins on no sector */
#define SM90_UNALIGNED_ALONE           1.48   /* more for a second request of a line still in flight; no cluster */
#define SM90_REQUEST_CLOCKS            0.995  /* clocks of an SM's request of L2: a span of a row, or a part of one */
#define SM90_L2_LATENCY_CLOCKS         1771.0 /* clocks from TMA's issue to the barrier, under load */
#define SM90_KBLOCK_CLOCKS             108.0  /* clocks of a k-block's barriers */
#define SM90_STEP_CLOCKS               22.7  /* clocks of 32 bytes of k: a wgmma waits for the sums of the one before */
#define SM90_SPLIT_CLOCKS              690.0 /* tf32x3: clocks of a k-block's splitting and adding, */
#define SM90_SPLIT_SHARE               0.58  /* and the share of the wgmmas' clocks that comes on top */
#define SM90_PROMOTE_CLOCKS            100.0 /* fp8: clocks of a sum's promotion, in which its consumer multiplies nothing, */
#define SM90_PROMOTE_SPAN              20.0  /* more for every span of columns that have one scale, */
#define SM90_PROMOTE_COLUMN            1.5   /* and for every column that has its own */
#define SM90_SCALES_CLOCKS             200.0 /* clocks of a k-block of the warp that loads scales of sums, */
#define SM90_SCALES_COPY               100.0 /* and for every 128 factors that it makes */
#define SM90_REUSE                     6.0   /* requests for a line that cost; later ones find it in L2, or merge */
#define SM90_REUSED_LINES_PER_CLOCK    83.0  /* such requests a clock, of all SMs, without a line's first */
#define SM90_UNALIGNED_LINES_PER_CLOCK 85.3  /* second requests a clock, of all SMs, of rows that begin on no line */
#define SM90_STORE_BYTES_PER_CLOCK     11.7  /* bytes a clock of an SM's epilogue: registers -> staging -> global */
#define SM90_STORE_COPIED_BYTES        22.0  /* bytes a clock of it for D of tf32 and int32: the sums as they are */
#define SM90_STORE_ELEMENTS_PER_CLOCK  7.0   /* elements a clock of it where D takes no vectors */
#define SM90_GATED_PER_CLOCK           5.0   /* elements a clock of an SM that become D of gates and ups */
#define SM90_EXTENDED_PER_CLOCK        6.0   /* elements a clock of an SM that an extended epilogue makes */
#define SM90_QUANTIZED_CLOCKS          3000.0 /* of a last tile that becomes 8 bits, half of it where a gate halves the tile */
#define SM90_QUANTIZED_BETWEEN         9000.0 /* of a tile that does, between two of the same consumers */
#define SM90_GATED_SHARE               0.8 /* of the time otherwise predicted, of a gate above GM_STREAM_MOST tokens */
#define SM90_GATED_SHARE_COLUMN        0.00095 /* more of it for every column of the tile */
#define SM90_GATED_EXTENDED_SHARE      0.95    /* of that time, with an extended epilogue, whatever the tile */
#define SM90_SWITCH_CLOCKS             563.0   /* ping-pong: clocks from one's last wgmma to the other's full rate */
#define SM90_DEFERRED_STORE_CLOCKS     1216.0  /* cooperative: clocks between two tiles, the first's store deferred */
#define SM90_BATCHED_STORE_BYTES       26.0    /* batches: bytes a clock of an SM's epilogue, beside multiplications */
#define SM90_BATCHED_STAGE_BYTES       17.0    /* batches: bytes a clock of it to staging, of a consumer */
#define SM90_BATCHED_DEFERRED_CLOCKS   1500.0  /* batches: of consumers that defer it */
#define SM90_BATCHED_TILE_CLOCKS       1200.0  /* batches: clocks between two tiles of consumers that defer no store */
#define SM90_CLUSTER_CLOCKS            487.0   /* clocks of a cluster's CTAs: they start and end together */
#define SM90_SWAP_CLOCKS               242.0   /* clocks of B on the M side: D is transposed before it is stored */
#define SM90_CLUSTER_K_CLOCKS          105.0   /* cluster-k: clocks that CTAs wait for each other */
#define SM90_CLUSTER_K_BYTES_PER_CLOCK 5.96    /* cluster-k: bytes a clock of partial sums into one SM */
#define SM90_PARTIAL_BYTES_PER_CLOCK   10.1    /* stream-K: bytes a clock of partial sums, one SM to L2 or back */
#define SM90_STREAM_K_CLOCKS           3564.0  /* stream-K: clocks of a pipeline's second start, and of waiting */
#define SM90_RING_BYTES_PER_CLOCK      35.3    /* stream-K: bytes a clock of partial sums, L2 to the drained ring */
#define SM90_PARTIAL_CHUNK_CLOCKS      6204.0  /* stream-K: clocks of a partial sum's chunk, L2 to the staging of D */
#define SM90_SPLIT_K_CLOCKS            1311.0  /* split-K: clocks that the pieces wait for each other */
#define SM90_SPLIT_K_BYTES_PER_CLOCK   9.52    /* split-K: bytes a clock of an SM's partial sums to L2, with the rest */
#define SM90_GFLOP_US                  1.06    /* us of 10^9 operations at 700 W, if nothing else drew power */
#define SM90_OPERAND_US                0.026   /* us of a MB of operands and D, from and to DRAM, at 700 W */
#define SM90_REQUESTED_US              0.000882 /* us of a MB that L2 is asked for, at 700 W */
#define SM90_ARRIVED_US                0.0147   /* us of a MB that arrives in shared memory, at 700 W */
#define SM90_READ_US                   0.0068   /* us of a MB that wgmma reads, of all SMs together, at 700 W */
#define SM90_LIMIT_FROM                0.721    /* share of 700 W, for operations and operands, from which it limits */
#define SM90_CLOCKS_SHARE              0.85     /* share of their time that the clocks keep where the limit binds */

/* Rows of a tile along the operand that is streamed, up to which the next launch does not matter: tiles of 64x32 stream
 * alike beside it and without it. Why is not known. */
#define NARROW_ROWS 32

static int is_pingpong(const struct gm_gemm_variant *v) {
    return GM_SM90_PINGPONG(gm_sm90_roles(v));
}

#define STEP_BYTES 32 /* of K, in one wgmma */

/* wgmma m64nN, of 32 bytes of K, needs N / 2 clocks of the tensor cores, whatever the type; it reads 64 rows of its M side
 * and N of its N side from shared memory at 128 bytes a clock, which under N = 64 is the slower part. */
static double atom_clocks(double n) {
    return max2(n / 2, (64 + n) * STEP_BYTES / SMEM_BYTES_PER_CLOCK);
}

static double steps(const struct gm_gemm_variant *v) {
    const int products = v->kernel->type == GM_TF32X3 ? 3 : 1;
    return (double)v->tile_k * gm_type_bytes(v->kernel->type) / STEP_BYTES * products;
}

static double wgmma_clocks(const struct gm_gemm_variant *v) {
    const double m = GM_SM90_WGMMA_M(v->tile_m, v->tile_n, gm_sm90_roles(v));
    const double n = GM_SM90_WGMMA_N(v->tile_m, v->tile_n, gm_sm90_roles(v));
    return atom_clocks(n) * (m / 64.0) * steps(v);
}

double gm_gemm_sm90_tensor_share(const struct gm_kernel *kernel, const struct gm_device *device) {
    const struct gm_gemm_variant v = gm_gemm_variant(kernel);
    const double n = GM_SM90_WGMMA_N(v.tile_m, v.tile_n, gm_sm90_roles(&v));
    (void)device;
    return n / 2 / atom_clocks(n);
}

/* Requests of L2 for a span of an operand's row, beyond the first: one where it begins on no line. Where it begins on
 * no sector either, five sectors of 32 bytes come instead of four, and it costs more than one. */
static double unaligned_requests(const struct gm_gemm_variant *v, struct gm_operand operand) {
    const int64_t bytes = operand.stride * operand.element_bytes;
    return bytes % gm_sm90_swizzle(v) == 0 ? 0 : bytes % SECTOR_BYTES == 0 ? 1 : SM90_UNALIGNED_SECTORS;
}

/* Share of all requests of CTAs without clusters that are the first for their line. */
static double first_share(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    const double asked = min2(v->tile_m, (double)p->m) + min2(v->tile_n, (double)p->n);
    const double rows = different_rows(p, p->m, p->a_batch_stride) + different_rows(p, p->n, p->b_batch_stride);
    return min2(rows / ((double)gm_tiles(v, p) * asked), 1);
}

/* Requests of a CTA for one k-block: its share of the rows that exist. */
static double kblock_requests(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    const double spans = (double)v->tile_k * gm_type_bytes(p->ab_type) / gm_sm90_swizzle(v);
    const int alone = v->cluster_m * v->cluster_n == 1;
    const double second = alone ? 1 + SM90_UNALIGNED_ALONE * first_share(v, p) : 1;
    const double a_rows = min2(v->tile_m, (double)p->m) / v->cluster_n;
    const double b_rows = min2(v->tile_n, (double)p->n) / v->cluster_m;
    return spans * (a_rows * (1 + second * unaligned_requests(v, gm_operand_a(p))) +
                    b_rows * (1 + second * unaligned_requests(v, gm_operand_b(p))));
}

/* The k-block of one consumer that promotes its sums, which are of 128 of K: while it does, only others multiply. */
static double promoted_clocks(const struct gm_gemm_variant *v) {
    if (!GM_TYPE_IS_FP8(v->kernel->type) || v->fast_accumulation)
        return 0;
    const double consumers = GM_SM90_TILE_CONSUMERS(gm_sm90_roles(v));
    const double m = GM_SM90_WGMMA_M(v->tile_m, v->tile_n, gm_sm90_roles(v));
    const double n = GM_SM90_WGMMA_N(v->tile_m, v->tile_n, gm_sm90_roles(v));
    const double sums = m / 64.0 / consumers * v->tile_k / GM_SM90_SUM_K;
    const double scales = v->sum_scales == GM_SCALES_blocks    ? SM90_PROMOTE_SPAN * GM_SM90_SCALE_SPANS(v->tile_n)
                          : v->sum_scales == GM_SCALES_columns ? SM90_PROMOTE_COLUMN * n
                                                               : 0;
    return wgmma_clocks(v) / consumers + sums * (SM90_PROMOTE_CLOCKS + scales);
}

/* The k-block of the warp that loads scales of sums. */
static double scales_clocks(const struct gm_gemm_variant *v) {
    const double factors = GM_SM90_SUM_FACTORS(v->tile_m, v->tile_n, gm_sm90_roles(v));
    return v->sum_scales ? SM90_SCALES_CLOCKS + SM90_SCALES_COPY * factors / 128 * v->tile_k / GM_SM90_SUM_K : 0;
}

/* The ring holds no more than `stages` k-blocks in flight for one latency (Little's law); and however little
 * there is to multiply, a k-block has its barriers and its chain of wgmmas. */
static double kblock_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p, double port_bytes) {
    const double bytes = (double)GM_SM90_STAGE_BYTES(v->tile_m, v->tile_n, v->tile_k, v->kernel->type);
    const double multiply = wgmma_clocks(v);
    const double split = v->kernel->type == GM_TF32X3 ? SM90_SPLIT_CLOCKS + SM90_SPLIT_SHARE * multiply : 0;
    const double terms[] = {max2(multiply, split),
                            bytes / port_bytes,
                            SM90_L2_LATENCY_CLOCKS / v->stages,
                            SM90_KBLOCK_CLOCKS + SM90_STEP_CLOCKS * steps(v),
                            SM90_REQUEST_CLOCKS * kblock_requests(v, p),
                            promoted_clocks(v),
                            scales_clocks(v)};
    return smooth_max(SM90_KBLOCK_SMOOTH, terms, 7);
}

/* The store of so many elements of D. One by one where their rows begin anywhere, of whatever type. */
static double elements_clocks(const struct gm_gemm_problem *p, double elements) {
    const int copies = gm_type_bytes(p->ab_type) == 4 || p->d_type == GM_INT32;
    const double rate = copies ? SM90_STORE_COPIED_BYTES : SM90_STORE_BYTES_PER_CLOCK;
    const double clocks = elements * gm_type_bytes(p->d_type) / rate;
    return gm_has_vectors_of_d(p) ? clocks : max2(clocks, elements / SM90_STORE_ELEMENTS_PER_CLOCK);
}

/* What makes a tile's D of gates and ups, which nothing of the same consumer hides. */
static double gate_clocks(const struct gm_gemm_variant *v) {
    return v->gate ? (double)v->tile_m * v->tile_n / 2 / SM90_GATED_PER_CLOCK : 0;
}

/* The same of an extended epilogue, where what becomes 8 bits takes so many clocks more. */
static double extended_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p, double quantized) {
    const double elements = (double)v->tile_m * v->tile_n / (1 + v->gate);
    if (!v->extended)
        return 0;
    return elements / SM90_EXTENDED_PER_CLOCK + (gm_gemm_has_8_bits(p) ? quantized : 0);
}

/* That of the last tile, which nothing hides. */
static double last_extended_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    return extended_clocks(v, p, SM90_QUANTIZED_CLOCKS / (1 + v->gate));
}

/* The store of this CTA's part of the tile, after the exchange of partial sums. */
static double store_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    const double ctas = v->cluster_k;
    const double part = (double)v->tile_m * v->tile_n / ctas / (1 + v->gate);
    const double store = elements_clocks(p, part);
    const double wait = ctas > 1 ? SM90_CLUSTER_K_CLOCKS : 0;
    return store + wait + (ctas - 1) * part * sizeof(float) / SM90_CLUSTER_K_BYTES_PER_CLOCK;
}

/* Whether cooperative consumers store a tile beside the multiplications of the next. What a single consumer gains by it
 * was not measured. */
static int defers_store(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    return GM_SM90_TILE_CONSUMERS(gm_sm90_roles(v)) > 1 &&
           GM_SM90_DEFERS_STORE(v->tile_m, v->tile_n, gm_sm90_roles(v), v->kernel->type) && p->d_type == p->ab_type &&
           gm_has_plain_store(p);
}

/* The clocks of the busiest CTA, which computes `rounds` tiles. Ping-pong: one consumer stores while the other
 * multiplies. A deferred store runs beside the next tile's multiplications, which end before it where K is short. */
static double whole_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p, double rounds,
                           double multiply, double store) {
    const double gate = gate_clocks(v), extended = last_extended_clocks(v, p);
    if (is_pingpong(v) && rounds > 1)
        return rounds * max2(multiply, (multiply + store + gate + extended) / 2) + (rounds - 1) * SM90_SWITCH_CLOCKS +
               store + gate;
    if (defers_store(v, p) && rounds > 1)
        return multiply + (rounds - 1) * (max2(multiply, store) + SM90_DEFERRED_STORE_CLOCKS) + store + rounds * gate;
    return rounds * (multiply + store + gate) + max2(rounds - 1, 0) * extended_clocks(v, p, SM90_QUANTIZED_BETWEEN);
}

/* The same of a batch, whose tiles are many and short, and exist in part: stores beside multiplications, then the last
 * one. */
static double batched_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p, double rounds,
                             double multiply) {
    const double elements = min2(v->tile_m, (double)p->m) * min2(v->tile_n, (double)p->n);
    const double staged = (double)v->tile_m * v->tile_n * gm_type_bytes(p->d_type) / SM90_BATCHED_STAGE_BYTES /
                          GM_SM90_TILE_CONSUMERS(gm_sm90_roles(v));
    const double alone = max2(elements_clocks(p, elements), staged);
    const double vectors = max2(elements * gm_type_bytes(p->d_type) / SM90_BATCHED_STORE_BYTES, staged);
    const double store = gm_has_vectors_of_d(p) ? vectors : alone;
    const double each = is_pingpong(v)       ? max2(multiply, (multiply + store) / 2) + SM90_SWITCH_CLOCKS
                        : defers_store(v, p) ? max2(multiply, store) + SM90_BATCHED_DEFERRED_CLOCKS
                                             : multiply + store + SM90_BATCHED_TILE_CLOCKS;
    return multiply + max2(rounds - 1, 0) * each + alone;
}

/* Collecting the partial sums of a tile's other pieces from L2: through the ring, if it is drained after this piece of
 * `blocks` k-blocks, else chunk by chunk through the staging of D. The ring is drained where no whole tiles follow; in
 * ping-pong the piece must also have as many k-blocks as the ring has stages. */
static double collect_clocks(const struct gm_gemm_variant *v, double pieces, double blocks, int last) {
    const double bytes = (double)v->tile_m * v->tile_n * sizeof(float);
    if (last && (!is_pingpong(v) || blocks >= v->stages))
        return pieces * bytes / SM90_RING_BYTES_PER_CLOCK;
    const double chunks = ceil_div(GM_SM90_ACCUMULATORS(v->tile_m, v->tile_n, gm_sm90_roles(v)),
                                   GM_SM90_PARTIAL_CHUNK(v->tile_m, v->tile_n, gm_sm90_roles(v)));
    return pieces * max2(bytes / SM90_PARTIAL_BYTES_PER_CLOCK, chunks * SM90_PARTIAL_CHUNK_CLOCKS);
}

/* A share of the divided tiles: its k-blocks, then one partial sum published, the others of its tile collected, and a
 * store. In ping-pong the copies and the store overlap the other consumer's multiplication of the whole tile that
 * follows; then this one waits for its turn. */
static double stream_k_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p, double tiles,
                              double shares, double tile_blocks, int last, double hidden, double store) {
    const double port = gm_cluster_size(v) > 1 ? SM90_PORT_BYTES : SM90_SHARE_PORT_BYTES;
    const double blocks = ceil_div(tiles * tile_blocks, shares), multiply = blocks * kblock_clocks(v, p, port);
    const double collects = max2(ceil_div(shares, tiles) - 1, 1), stores = ceil_div(tiles, shares);
    const double publish = (double)v->tile_m * v->tile_n * sizeof(float) / SM90_PARTIAL_BYTES_PER_CLOCK;
    const double behind = publish + collect_clocks(v, collects, min2(blocks, tile_blocks), last) + stores * store;
    return multiply + SM90_STREAM_K_CLOCKS + max2(behind - hidden, 0);
}

/* A piece of split-K: its k-blocks, the accumulators to L2, as many from there, added and stored. */
static double split_k_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p, double pieces,
                             double tile_blocks) {
    const double bytes = (double)v->tile_m * v->tile_n * sizeof(float);
    return ceil_div(tile_blocks, pieces) * kblock_clocks(v, p, SM90_PORT_BYTES) + SM90_SPLIT_K_CLOCKS +
           bytes / SM90_SPLIT_K_BYTES_PER_CLOCK;
}

/* `whole` tiles in rounds, and the shares of the others. */
static double path_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                          const struct gm_device *device, const struct gm_gemm_division *division) {
    const double whole = (double)division->whole, shares = (double)division->shares;
    const double tiles = (double)gm_tiles(v, p);
    const double rounds = ceil_div(whole, (double)gm_clusters_at_once(v->kernel, device));
    const double blocks = ceil_div(ceil_div((double)p->k, v->tile_k), v->cluster_k);
    const double multiply = blocks * kblock_clocks(v, p, SM90_PORT_BYTES), store = store_clocks(v, p);
    const double hidden = is_pingpong(v) ? min2(rounds, 1) * multiply : 0;
    double clocks = v->batch ? batched_clocks(v, p, rounds, multiply) : whole_clocks(v, p, rounds, multiply, store);
    if (GM_SM90_SWAP(gm_sm90_roles(v)))
        clocks += SM90_SWAP_CLOCKS;
    if (division->pieces > 0)
        clocks += split_k_clocks(v, p, (double)division->pieces, blocks);
    else if (shares > 0)
        clocks += stream_k_clocks(v, p, tiles - whole, shares, blocks, whole < shares, hidden, store);
    return gm_cluster_size(v) > 1 ? clocks + SM90_CLUSTER_CLOCKS : clocks;
}

/* Lines of one row of an operand, along the whole of K: one per span of the swizzle. */
static double spans(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    return ceil_div((double)p->k, v->tile_k) * v->tile_k * gm_type_bytes(p->ab_type) / gm_sm90_swizzle(v);
}

/* Every box is requested once per cluster that needs it. The first request is DRAM's; the next ones come while the line
 * is still on its way, and cost; after some, it is there. */
static double reused_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    const double a_lines = (double)p->m * (min2((double)gm_tiles_n(v, p), SM90_REUSE) - 1);
    const double b_lines = (double)p->n * (min2((double)gm_tiles_m(v, p), SM90_REUSE) - 1);
    return (double)p->batch * (a_lines + b_lines) * spans(v, p) / SM90_REUSED_LINES_PER_CLOCK;
}

/* Bytes a clock from DRAM into one SM, where so many clusters run. As long as the next launch fits beside this one, all
 * of its CTAs are set up, with their first k-blocks in L2, when this one ends; else some come later, and all wait for
 * them. */
static double stream_bytes(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                           const struct gm_device *device, double clusters) {
    const int rows = p->m > p->n ? v->tile_m : v->tile_n;
    const int crowded = 2 * clusters > (double)gm_clusters_at_once(v->kernel, device);
    return crowded && rows > NARROW_ROWS ? SM90_CROWDED_BYTES : SM90_STREAM_BYTES;
}

/* Clocks of the busiest SM's part of the operands, from DRAM. */
static double stream_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                            const struct gm_device *device, double whole, double shares) {
    const double at_once = (double)gm_clusters_at_once(v->kernel, device), cluster = (double)gm_cluster_size(v);
    const double tiles = (double)gm_tiles(v, p), bytes = operand_bytes(p);
    const double rounds = ceil_div(whole, at_once) + (shares > 0 ? (tiles - whole) / shares : 0);
    return rounds * bytes / (tiles * cluster) / stream_bytes(v, p, device, min2(max2(whole, shares), at_once));
}

/* Clocks of DRAM, and of the ways from it into SMs. */
static double memory_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                            const struct gm_device *device, double mhz, double whole, double shares) {
    const double efficiency = gm_is_streamed(p) ? SM90_STREAMED_EFFICIENCY : SM90_DRAM_EFFICIENCY;
    const double terms[] = {dram_us(p, device, efficiency) * mhz, stream_clocks(v, p, device, whole, shares)};
    return smooth_max(SM90_MEMORY_SMOOTH, terms, 2);
}

/* Clocks of the second requests of rows that begin on no line, by L2's limit for all SMs together. Nothing merges these
 * requests, but multicast saves them. */
static double unaligned_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    const double a_lines = unaligned_requests(v, gm_operand_a(p)) * (double)p->m * (double)gm_tiles_n(v, p);
    const double b_lines = unaligned_requests(v, gm_operand_b(p)) * (double)p->n * (double)gm_tiles_m(v, p);
    return (double)p->batch * (a_lines + b_lines) * spans(v, p) / SM90_UNALIGNED_LINES_PER_CLOCK;
}

/* The clock that the problem's load leaves: the power limit lowers it, the longer the launch the more. */
static double loaded_mhz(const struct gm_gemm_problem *p, const struct gm_device *device) {
    const double more = SM90_CLOCK_MORE / (1 + power_us(p, device, 1, 0) / SM90_CLOCK_US);
    return (SM90_CLOCK_LEAST + more) * clock_mhz(device);
}

/* The time that the energy of the variant's traffic costs at the power limit, where a joule more lowers the clock for
 * all. Every tile brings its operands into shared memory once. L2 is asked once for what the CTAs of a cluster share.
 * wgmma reads N rows of its N side for every 64 of its M side. */
static double energy_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    const double m = GM_SM90_WGMMA_M(v->tile_m, v->tile_n, gm_sm90_roles(v));
    const double n = GM_SM90_WGMMA_N(v->tile_m, v->tile_n, gm_sm90_roles(v));
    const double tiles = (double)gm_tiles(v, p) * v->cluster_m * v->cluster_n;
    const double mb = tiles * (double)p->k * gm_type_bytes(p->ab_type) * 1e-6; /* of one row or column of every tile */
    const double requested = (double)v->tile_m / v->cluster_n + (double)v->tile_n / v->cluster_m;
    return mb * (requested * SM90_REQUESTED_US + (m + n) * SM90_ARRIVED_US + m / 64 * (64 + n) * SM90_READ_US);
}

/* How far the power limit binds, from 0 to 1: what operations and operands draw of it at the clock that it leaves,
 * beside the time that they would take at full clock. */
static double power_limit_share(const struct gm_gemm_problem *p, const struct gm_device *device) {
    const double drawn = least_bytes(p) * 1e-6 * SM90_OPERAND_US + operations(p) * 1e-9 * SM90_GFLOP_US;
    const double least = max2(dram_us(p, device, 1), power_us(p, device, 1, 0));
    if (least <= 0) /* a device of which nothing is known */
        return 0;
    return max2(min2((drawn / least - SM90_LIMIT_FROM) / (1 - SM90_LIMIT_FROM), 1), 0);
}

/* One CTA or cluster for each tile or share, as long as there are SMs. */
static double launch_clocks(const struct gm_gemm_variant *v, const struct gm_device *device, double busy) {
    const double clusters = min2(busy, (double)gm_clusters_at_once(v->kernel, device));
    return SM90_LAUNCH_CLOCKS + SM90_CTA_CLOCKS * clusters * gm_cluster_size(v);
}

/* A gate costs less than the model thinks, the less the narrower its tiles. Why is not known; entry 84 has the times. */
static double gated_share(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    if (!v->gate || gm_is_streamed(p))
        return 1;
    return v->extended ? SM90_GATED_EXTENDED_SHARE : SM90_GATED_SHARE + SM90_GATED_SHARE_COLUMN * v->tile_n;
}

double gm_gemm_sm90_cost_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                            const struct gm_device *device, const struct gm_gemm_division *division) {
    const double mhz = loaded_mhz(p, device), whole = (double)division->whole, shares = (double)division->shares;
    const double terms[] = {
        path_clocks(v, p, device, division),
        memory_clocks(v, p, device, mhz, whole, shares) + reused_clocks(v, p),
        unaligned_clocks(v, p),
    };
    const double clocks =
        launch_clocks(v, device, max2(whole, shares)) + smooth_max(SM90_SMOOTH, terms, 3) + last_extended_clocks(v, p);
    const double load = power_limit_share(p, device);
    return gated_share(v, p) * ((1 - load * (1 - SM90_CLOCKS_SHARE)) * clocks / mhz + load * energy_us(v, p));
}
