/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model of gemm_sm90: TMA, WGMMA, one CTA on an SM. host/gemm/cost_terms.h says how a model is made. It counts
 * SM clocks, and turns them into time by the clock that the problem's load leaves; and it counts the bytes that a row
 * moves, since at the power limit joules are time. */
#include "host/gemm/cost_terms.h"
#include "host/gemm_sm90/gemm_sm90.h"

#define SM90_SMOOTH                  2.9    /* exponent of the smooth maximum of path and memory */
#define SM90_KBLOCK_SMOOTH           6.82   /* and of what bounds one k-block */
#define SM90_CLOCK_LEAST             0.718  /* of the SM clock: what the power limit leaves a long launch, */
#define SM90_CLOCK_MORE              0.188  /* how much more a short one has, */
#define SM90_CLOCK_US                8.25   /* and the time at the datasheet rate that takes half of that away */
#define SM90_LAUNCH_CLOCKS           1670.0 /* launch, and first byte of a cold operand, */
#define SM90_CTA_CLOCKS              5.34   /* and for every CTA that asks for one at the same time */
#define SM90_DRAM_EFFICIENCY         0.896  /* reachable share of the datasheet bandwidth, */
#define SM90_STREAMED_EFFICIENCY     1.0    /* and where memory sets the pace */
#define SM90_PORT_BYTES              128.0  /* per clock into one SM's shared memory, multicast or not */
#define SM90_SHARE_PORT_BYTES        58.9   /* the same without clusters, when no two CTAs are at the same k-block */
#define SM90_MEMORY_SMOOTH           16.9   /* of DRAM and the ways from it */
#define SM90_STREAM_BYTES            61.4 /* per clock into one SM, as it seems where the next launch fits beside this one, */
#define SM90_CROWDED_BYTES           22.4 /* and where it does not */
#define SM90_SECTORS_ASTRIDE         1.74 /* that the second counts as where a row begins on no sector either */
#define SM90_ASTRIDE_ALONE           1.48 /* and so much more, in no cluster, of a line that is still on its way from DRAM */
#define SM90_REQUEST_CLOCKS          0.995 /* an SM's request of L2: one for a span of a row, two where it begins on no line */
#define SM90_L2_LATENCY_CLOCKS       1771.0 /* TMA issue -> barrier, under load */
#define SM90_KBLOCK_CLOCKS           108.0  /* of a k-block at least: its barriers, and for each of its steps of 16 k */
#define SM90_STEP_CLOCKS             22.7   /* a wgmma that waits for the sums of the one before */
#define SM90_REUSE                   6.0    /* requests for a line that cost; later ones find it in L2 or are merged */
#define SM90_REUSED_LINES_PER_CLOCK  83.0   /* those of them after the first, which is DRAM's */
#define SM90_ASTRIDE_LINES_PER_CLOCK 85.3   /* second requests of what begins on no line, of all SMs */
#define SM90_STORE_BYTES_PER_CLOCK   11.7   /* one SM's epilogue: registers -> shared memory -> global */
#define SM90_SWITCH_CLOCKS           563.0  /* ping-pong: from one consumer's last wgmma to the other's full rate */
#define SM90_HOLD_CLOCKS             1216.0 /* cooperative: between two tiles, the first of which is held in registers */
#define SM90_CLUSTER_CLOCKS          487.0  /* the CTAs of a cluster start and end together */
#define SM90_SWAP_CLOCKS             242.0  /* B on the M side: D is transposed on its way out */
#define SM90_SPLIT_CLOCKS            105.0  /* split K: its CTAs wait for each other, */
#define SM90_SPLIT_BYTES_PER_CLOCK   5.96   /* and partial sums come into one SM */
#define SM90_HAND_BYTES_PER_CLOCK    10.1   /* stream-K: partial sums, one SM to L2 or back */
#define SM90_HAND_CLOCKS             3564.0   /* a second start of the pipeline, and the wait for the other pieces */
#define SM90_TAKE_BYTES_PER_CLOCK    35.3     /* the same where all of a tile's are on their way at once */
#define SM90_BAND_CLOCKS             6204.0   /* and of what goes through the staging of D at least: its way from L2 */
#define SM90_PIECES_CLOCKS           1311.0   /* tiles cut evenly: what the pieces wait for each other, */
#define SM90_PIECES_BYTES_PER_CLOCK  9.52     /* and partial sums of one SM to L2, its part of them back, D */
#define SM90_GFLOP_US                1.06     /* at 700 W, if nothing else drew power, 10^9 operations take, */
#define SM90_OPERAND_US              0.026    /* a MB of operands and D, from and to DRAM, */
#define SM90_REQUESTED_US            0.000882 /* a MB that L2 is asked for, */
#define SM90_ARRIVED_US              0.0147   /* a MB that arrives in shared memory, */
#define SM90_READ_US                 0.0068   /* and a MB that wgmma reads there, of all SMs together */
#define SM90_LIMIT_FROM              0.721 /* share of 700 W, by the first two, from which the limit begins to bind */
#define SM90_CLOCKS_SHARE            0.85  /* what the clocks keep of their time where it does */

/* Of the side that passes by: tiles of 64x32 stream alike beside the next launch and without it. Why is not known. */
#define NARROW_ROWS 32

static int is_pingpong(const struct gm_gemm_variant *v) {
    return GM_SM90_PINGPONG(gm_sm90_roles(v));
}

/* wgmma m64nNk16 needs N / 2 clocks of the tensor cores; it reads 64 rows of its M side and N of its N side from
 * shared memory at 128 bytes a clock, which under N = 64 is the slower part. */
static double atom_clocks(double n, int element_bytes) {
    return max2(n / 2, (64 + n) * 16 * element_bytes / SMEM_BYTES_PER_CLOCK);
}

static double wgmma_clocks(const struct gm_gemm_variant *v) {
    const double m = GM_SM90_WGMMA_M(v->tile_m, v->tile_n, gm_sm90_roles(v));
    const double n = GM_SM90_WGMMA_N(v->tile_m, v->tile_n, gm_sm90_roles(v));
    return atom_clocks(n, gm_type_bytes(v->kernel->type)) * (m / 64.0) * (v->tile_k / 16.0);
}

double gm_gemm_sm90_tensor_share(const struct gm_kernel *kernel, const struct gm_device *device) {
    const struct gm_gemm_variant v = gm_gemm_variant(kernel);
    const double n = GM_SM90_WGMMA_N(v.tile_m, v.tile_n, gm_sm90_roles(&v));
    (void)device;
    return n / 2 / atom_clocks(n, gm_type_bytes(kernel->type));
}

/* Requests of L2 for a span of an operand's row, beyond the first: one where it begins on no line. Where it begins on
 * no sector either, five sectors of 32 bytes come instead of four, and it costs more than one. */
static double astride(const struct gm_gemm_variant *v, struct gm_operand operand) {
    const int64_t bytes = operand.stride * operand.element_bytes;
    return bytes % gm_sm90_swizzle(v) == 0 ? 0 : bytes % SECTOR_BYTES == 0 ? 1 : SM90_SECTORS_ASTRIDE;
}

/* Of what all CTAs of a row without clusters ask for, the share that nobody asked for before. */
static double first_share(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    const double asked = min2(v->tile_m, (double)p->m) + min2(v->tile_n, (double)p->n);
    return min2(((double)p->m + (double)p->n) / ((double)gm_tiles_m(v, p) * (double)gm_tiles_n(v, p) * asked), 1);
}

/* What this CTA asks for of a k-block: its share of the rows that there are. */
static double kblock_requests(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    const double spans = (double)v->tile_k * gm_type_bytes(p->ab_type) / gm_sm90_swizzle(v);
    const int alone = v->cluster_m * v->cluster_n == 1;
    const double second = alone ? 1 + SM90_ASTRIDE_ALONE * first_share(v, p) : 1;
    const double a_rows = min2(v->tile_m, (double)p->m) / v->cluster_n;
    const double b_rows = min2(v->tile_n, (double)p->n) / v->cluster_m;
    return spans *
           (a_rows * (1 + second * astride(v, gm_operand_a(p))) + b_rows * (1 + second * astride(v, gm_operand_b(p))));
}

/* The ring holds no more than `stages` k-blocks in flight for one latency (Little's law); and however little there is
 * to multiply, a k-block has its barriers and its chain of wgmmas. */
static double kblock_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p, double port_bytes) {
    const double bytes = (double)GM_SM90_STAGE_BYTES(v->tile_m, v->tile_n, v->tile_k, v->kernel->type);
    const double terms[] = {wgmma_clocks(v), bytes / port_bytes, SM90_L2_LATENCY_CLOCKS / v->stages,
                            SM90_KBLOCK_CLOCKS + SM90_STEP_CLOCKS * v->tile_k / 16,
                            SM90_REQUEST_CLOCKS * kblock_requests(v, p)};
    return smooth_max(SM90_KBLOCK_SMOOTH, terms, 5);
}

/* The store of this CTA's part of the tile, after the exchange of partial sums. */
static double finish_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    const double splits = v->cluster_k;
    const double part = (double)v->tile_m * v->tile_n / splits;
    const double store = part * gm_type_bytes(p->d_type) / SM90_STORE_BYTES_PER_CLOCK;
    const double wait = splits > 1 ? SM90_SPLIT_CLOCKS : 0;
    return store + wait + (splits - 1) * part * sizeof(float) / SM90_SPLIT_BYTES_PER_CLOCK;
}

/* Whether cooperative consumers store a tile beside the multiplications of the next. What a consumer that is alone
 * gains by it was not measured. */
static int holds(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    return GM_SM90_TILE_CONSUMERS(gm_sm90_roles(v)) > 1 &&
           GM_SM90_DEFERS_STORE(v->tile_m, v->tile_n, gm_sm90_roles(v)) && p->d_type == p->ab_type &&
           gm_has_plain_store(p);
}

/* The busiest CTA, which takes `rounds` tiles. Ping-pong: one consumer stores while the other multiplies. A tile that
 * is held is stored beside the next one's multiplications, which where K is short end before the store does. */
static double whole_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p, double rounds,
                           double multiply, double store) {
    if (is_pingpong(v) && rounds > 1)
        return rounds * max2(multiply, (multiply + store) / 2) + (rounds - 1) * SM90_SWITCH_CLOCKS + store;
    if (holds(v, p) && rounds > 1)
        return multiply + (rounds - 1) * (max2(multiply, store) + SM90_HOLD_CLOCKS) + store;
    return rounds * (multiply + store);
}

/* The other pieces of a tile, from L2: through the ring, if this piece of so many k-blocks leaves it drained (no whole
 * tiles follow; in ping-pong it has to be as long as the ring), else band by band through the staging of D. */
static double take_clocks(const struct gm_gemm_variant *v, double pieces, double blocks, int last) {
    const double bytes = (double)v->tile_m * v->tile_n * sizeof(float);
    if (last && (!is_pingpong(v) || blocks >= v->stages))
        return pieces * bytes / SM90_TAKE_BYTES_PER_CLOCK;
    const double bands = ceil_div(GM_SM90_ACCUMULATORS(v->tile_m, v->tile_n, gm_sm90_roles(v)),
                                  GM_SM90_PARTIAL_CHUNK(v->tile_m, v->tile_n, gm_sm90_roles(v)));
    return pieces * max2(bytes / SM90_HAND_BYTES_PER_CLOCK, bands * SM90_BAND_CLOCKS);
}

/* A share of the divided tiles: its k-blocks, then a piece given away, the other pieces of its tile taken, a store. In
 * ping-pong the copies and the store pass while the other consumer multiplies the whole tile that follows; then it
 * waits for its turn. */
static double shares_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p, double tiles,
                            double shares, double tile_blocks, int last, double hidden, double store) {
    const double port = gm_cluster_size(v) > 1 ? SM90_PORT_BYTES : SM90_SHARE_PORT_BYTES;
    const double blocks = ceil_div(tiles * tile_blocks, shares), multiply = blocks * kblock_clocks(v, p, port);
    const double takes = max2(ceil_div(shares, tiles) - 1, 1), stores = ceil_div(tiles, shares);
    const double give = (double)v->tile_m * v->tile_n * sizeof(float) / SM90_HAND_BYTES_PER_CLOCK;
    const double behind = give + take_clocks(v, takes, min2(blocks, tile_blocks), last) + stores * store;
    return multiply + SM90_HAND_CLOCKS + max2(behind - hidden, 0);
}

/* A piece of tiles that are cut evenly: its k-blocks, the accumulators to L2, as many from there, added and stored. */
static double pieces_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p, double pieces,
                            double tile_blocks) {
    const double bytes = (double)v->tile_m * v->tile_n * sizeof(float);
    return ceil_div(tile_blocks, pieces) * kblock_clocks(v, p, SM90_PORT_BYTES) + SM90_PIECES_CLOCKS +
           bytes / SM90_PIECES_BYTES_PER_CLOCK;
}

/* `whole` tiles in rounds, and the shares of the others. */
static double path_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                          const struct gm_device *device, const struct gm_gemm_division *division) {
    const double whole = (double)division->whole, shares = (double)division->shares;
    const double tiles = (double)gm_tiles_m(v, p) * (double)gm_tiles_n(v, p);
    const double rounds = ceil_div(whole, (double)gm_clusters_at_once(v->kernel, device));
    const double blocks = ceil_div(ceil_div((double)p->k, v->tile_k), v->cluster_k);
    const double multiply = blocks * kblock_clocks(v, p, SM90_PORT_BYTES), store = finish_clocks(v, p);
    const double hidden = is_pingpong(v) ? min2(rounds, 1) * multiply : 0;
    double clocks = whole_clocks(v, p, rounds, multiply, store);
    if (GM_SM90_SWAP(gm_sm90_roles(v)))
        clocks += SM90_SWAP_CLOCKS;
    if (division->pieces > 0)
        clocks += pieces_clocks(v, p, (double)division->pieces, blocks);
    else if (shares > 0)
        clocks += shares_clocks(v, p, tiles - whole, shares, blocks, whole < shares, hidden, store);
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
    return (a_lines + b_lines) * spans(v, p) / SM90_REUSED_LINES_PER_CLOCK;
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

/* Operands from DRAM: the busiest SM's part of them. */
static double stream_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                            const struct gm_device *device, double whole, double shares) {
    const double at_once = (double)gm_clusters_at_once(v->kernel, device), cluster = (double)gm_cluster_size(v);
    const double tiles = (double)gm_tiles_m(v, p) * (double)gm_tiles_n(v, p);
    const double bytes = ((double)p->m + (double)p->n) * (double)p->k * gm_type_bytes(p->ab_type);
    const double rounds = ceil_div(whole, at_once) + (shares > 0 ? (tiles - whole) / shares : 0);
    return rounds * bytes / (tiles * cluster) / stream_bytes(v, p, device, min2(max2(whole, shares), at_once));
}

/* DRAM, and the ways from it. */
static double memory_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                            const struct gm_device *device, double mhz, double whole, double shares) {
    const double efficiency = gm_is_streamed(p) ? SM90_STREAMED_EFFICIENCY : SM90_DRAM_EFFICIENCY;
    const double terms[] = {dram_us(p, device, efficiency) * mhz, stream_clocks(v, p, device, whole, shares)};
    return smooth_max(SM90_MEMORY_SMOOTH, terms, 2);
}

/* The second requests of rows that begin on no line, which nothing merges: L2's limit for all SMs together. Multicast
 * does save these. */
static double astride_clocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    const double a_lines = astride(v, gm_operand_a(p)) * (double)p->m * (double)gm_tiles_n(v, p);
    const double b_lines = astride(v, gm_operand_b(p)) * (double)p->n * (double)gm_tiles_m(v, p);
    return (a_lines + b_lines) * spans(v, p) / SM90_ASTRIDE_LINES_PER_CLOCK;
}

/* The power limit lowers the clock under load, the longer the more: the problem's part of it. */
static double loaded_mhz(const struct gm_gemm_problem *p, const struct gm_device *device) {
    const double more = SM90_CLOCK_MORE / (1 + power_us(p, device, 1, 0) / SM90_CLOCK_US);
    return (SM90_CLOCK_LEAST + more) * clock_mhz(device);
}

/* The row's part: a joule more is a lower clock for all. Every tile brings its operands into shared memory once, L2 is
 * asked for what the CTAs of a cluster share once, and wgmma reads N rows of its N side for every 64 of its M side. */
static double moved_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    const double m = GM_SM90_WGMMA_M(v->tile_m, v->tile_n, gm_sm90_roles(v));
    const double n = GM_SM90_WGMMA_N(v->tile_m, v->tile_n, gm_sm90_roles(v));
    const double tiles = (double)gm_tiles_m(v, p) * (double)gm_tiles_n(v, p) * v->cluster_m * v->cluster_n;
    const double mb = tiles * (double)p->k * gm_type_bytes(p->ab_type) * 1e-6; /* of one row or column of every tile */
    const double requested = (double)v->tile_m / v->cluster_n + (double)v->tile_n / v->cluster_m;
    return mb * (requested * SM90_REQUESTED_US + (m + n) * SM90_ARRIVED_US + m / 64 * (64 + n) * SM90_READ_US);
}

/* How far the power limit binds, from 0 to 1: what operations and operands take of it at the clock that it leaves,
 * beside the time that they would take at full clock. */
static double limited(const struct gm_gemm_problem *p, const struct gm_device *device) {
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

double gm_gemm_sm90_cost_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p,
                            const struct gm_device *device, const struct gm_gemm_division *division) {
    const double mhz = loaded_mhz(p, device), whole = (double)division->whole, shares = (double)division->shares;
    const double terms[] = {
        path_clocks(v, p, device, division),
        memory_clocks(v, p, device, mhz, whole, shares) + reused_clocks(v, p),
        astride_clocks(v, p),
    };
    const double clocks = launch_clocks(v, device, max2(whole, shares)) + smooth_max(SM90_SMOOTH, terms, 3);
    const double load = limited(p, device);
    return (1 - load * (1 - SM90_CLOCKS_SHARE)) * clocks / mhz + load * moved_us(v, p);
}
