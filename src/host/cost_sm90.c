/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model of the sm90 rows: TMA, WGMMA, one CTA on an SM. cost.c says how a model is made. */
#include "cost_terms.h"

#define SM90_SMOOTH                5.6    /* exponent of the smooth maximum of whole-device resources */
#define SM90_KBLOCK_SMOOTH         6.9    /* and of what bounds one k-block */
#define SM90_POWER_SHARE           1.1    /* of the datasheet rate, before the smooth maximum takes its part */
#define SM90_LAUNCH_US             1.71    /* launch, and first byte of a cold operand */
#define SM90_DRAM_EFFICIENCY       0.99   /* reachable share of the datasheet bandwidth */
#define SM90_TENSOR_RATE           0.786    /* wgmma from shared memory on random data, of N / 2 clocks per atom */
#define SM90_L2_LINES_PER_CLOCK    50.3   /* L2 for all SMs together; multicast does save these */
#define SM90_ASTRIDE_LINES         2.27    /* lines of a row of 128 bytes that does not begin on a line */
#define SM90_L2_LATENCY_US         1.53   /* TMA issue -> barrier, under load */
#define SM90_KBLOCK_CLOCKS         356.0  /* the producer's barrier round trip per k-block */
#define SM90_STORE_BYTES_PER_CLOCK 11.2   /* one SM's epilogue: registers -> shared memory -> global */
#define SM90_SWITCH_CLOCKS         1506.0 /* ping-pong: from one consumer's last wgmma to the other's full rate */
#define SM90_CLUSTER_US            0.452    /* the CTAs of a cluster start and end together */
#define SM90_SPLIT_US              0.766    /* split K: from the last k-block to the peers' partial sums */
#define SM90_SPLIT_BYTES_PER_CLOCK 5.83   /* partial sums into one SM */
#define SM90_HAND_BYTES_PER_CLOCK  24.0   /* stream-K: partial sums, one SM to L2 or back; an estimate, not fitted */
#define SM90_HAND_US               1.5    /* the last store -> the flag -> the first load; an estimate, not fitted */

/* wgmma m64nNk16 needs N / 2 clocks of the tensor cores; it reads 64 rows of its M side and N of its N side from
 * shared memory at 128 bytes a clock, which under N = 64 is the slower part. */
static double wgmma_clocks(const struct gm_kernel *row) {
    const double m = GM_SM90_SIDE_M(row->tile_m, row->tile_n, row->warps);
    const double n = GM_SM90_SIDE_N(row->tile_m, row->tile_n, row->warps);
    const double atom = max2(n / 2.0, (64 + n) * 16.0 * GM_ELEM_BYTES / SMEM_BYTES_PER_CLOCK);
    return atom * (m / 64.0) * (row->tile_k / 16.0) / SM90_TENSOR_RATE;
}

/* L2 lines that one row of a slab touches: one, where all rows begin on a line. */
static double lines_of_row(const struct gm_kernel *row, struct gm_operand operand) {
    return operand.stride * operand.element_bytes % row->smem_map == 0 ? 1 : SM90_ASTRIDE_LINES;
}

/* The ring holds no more than `stages` k-blocks in flight for one latency (Little's law). */
static double kblock_us(const struct gm_kernel *row, const struct gm_device *device) {
    const double mhz = clock_mhz(device);
    const double terms[] = {wgmma_clocks(row) / mhz, SM90_KBLOCK_CLOCKS / mhz, SM90_L2_LATENCY_US / row->stages};
    return smooth_max(SM90_KBLOCK_SMOOTH, terms, 3);
}

/* The exchange of partial sums, and the store of this CTA's part of the tile. */
static double finish_us(const struct gm_kernel *row, const struct gm_gemm_problem *p, const struct gm_device *device) {
    const double splits = GM_WARPS_SPLITS(row->warps), mhz = clock_mhz(device);
    const double part = (double)row->tile_m * row->tile_n / splits;
    double us = part * gm_type_bytes(p->d_type) / SM90_STORE_BYTES_PER_CLOCK / mhz;
    if (splits > 1)
        us += SM90_SPLIT_US + (splits - 1) * part * sizeof(float) / SM90_SPLIT_BYTES_PER_CLOCK / mhz;
    return us;
}

/* The busiest CTA, which takes `rounds` tiles. Ping-pong: one consumer stores while the other multiplies. */
static double whole_us(const struct gm_kernel *row, const struct gm_device *device, double rounds, double main_us,
                       double store_us) {
    if (GM_WARPS_SCHEDULE(row->warps) == GM_PINGPONG && rounds > 1)
        return rounds * max2(main_us, (main_us + store_us) / 2) +
               (rounds - 1) * SM90_SWITCH_CLOCKS / clock_mhz(device) + store_us;
    return rounds * (main_us + store_us);
}

/* A share of the divided tiles: its k-blocks, then a piece given away, the other pieces of its tile taken, a store. In
 * ping-pong the last three pass while the other consumer multiplies the whole tiles that follow. */
static double shares_us(const struct gm_kernel *row, const struct gm_device *device, double tiles, double shares,
                        double tile_blocks, double rounds, double main_us, double store_us) {
    const double blocks = ceil_div(tiles * tile_blocks, shares), mhz = clock_mhz(device);
    const double takes = max2(ceil_div(shares, tiles) - 1, 1), stores = ceil_div(tiles, shares);
    const double partial_bytes = (double)row->tile_m * row->tile_n * sizeof(float);
    const double hand_us = SM90_HAND_US + (1 + takes) * partial_bytes / SM90_HAND_BYTES_PER_CLOCK / mhz;
    const double behind_us = hand_us + stores * store_us;
    const int hides = GM_WARPS_SCHEDULE(row->warps) == GM_PINGPONG && rounds > 0;
    return blocks * kblock_us(row, device) + (hides ? max2(behind_us - rounds * main_us, 0) : behind_us);
}

/* `whole` tiles in rounds, and the shares of the others. */
static double path_us(const struct gm_kernel *row, const struct gm_gemm_problem *p, const struct gm_device *device,
                      double whole, double shares) {
    const double tiles = (double)gm_tiles_m(row, p) * (double)gm_tiles_n(row, p);
    const double rounds = ceil_div(whole, (double)gm_clusters_at_once(row, device));
    const double blocks = ceil_div(ceil_div((double)p->k, row->tile_k), GM_WARPS_SPLITS(row->warps));
    const double main_us = blocks * kblock_us(row, device), store_us = finish_us(row, p, device);
    double us = whole_us(row, device, rounds, main_us, store_us);
    if (shares > 0)
        us += shares_us(row, device, tiles - whole, shares, blocks, rounds, main_us, store_us);
    return gm_cluster_size(row) > 1 ? us + SM90_CLUSTER_US : us;
}

/* Every box is fetched once per cluster that needs it; a row of a box is one request per span of the swizzle, or more. */
static double l2_us(const struct gm_kernel *row, const struct gm_gemm_problem *p, const struct gm_device *device) {
    const double a_lines = (double)p->m * (double)gm_tiles_n(row, p) * lines_of_row(row, gm_operand_a(p));
    const double b_lines = (double)p->n * (double)gm_tiles_m(row, p) * lines_of_row(row, gm_operand_b(p));
    const double spans = ceil_div((double)p->k, row->tile_k) * row->tile_k * GM_ELEM_BYTES / row->smem_map;
    return (a_lines + b_lines) * spans / (SM90_L2_LINES_PER_CLOCK * clock_mhz(device));
}

double gm_cost_sm90_us(const struct gm_kernel *row, const struct gm_gemm_problem *p, const struct gm_device *device,
                       int64_t whole, int64_t shares) {
    const double terms[] = {
        path_us(row, p, device, (double)whole, (double)shares),
        dram_us(p, device, SM90_DRAM_EFFICIENCY),
        l2_us(row, p, device),
        power_us(p, device, SM90_POWER_SHARE, 0),
    };
    return SM90_LAUNCH_US + smooth_max(SM90_SMOOTH, terms, 4);
}
