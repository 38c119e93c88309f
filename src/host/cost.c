/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model: a handful of rates, and the slowest of the resources that they bound.
 *
 *   time = launch + slowest of (critical path of the busiest SM, DRAM, L2, power)
 *
 * where "slowest" is a smooth maximum, since a resource near its limit slows the others. A k-block (one stage) costs
 * the busiest SM the slowest of its tensor cores, its port to L2, the issue of its copies, and the ring, which holds
 * no more than `stages` k-blocks in flight for one latency (Little's law). The constants below are the whole
 * calibration: fitted to medians of every bf16 row on 70 shapes on an H200, then rounded. */
#include "cost.h"

#include "problem.h"

#include <math.h>

/* Both architectures. */
#define SMEM_BYTES_PER_CLOCK 128.0
#define REGISTERS_PER_SM     65536
#define BLOCK_SMEM_RESERVE   1024 /* bytes that the driver keeps of every block, beyond what the block asks for */
#define SMEM_GRANULE         128  /* bytes; a block takes whole ones */
#define CLUSTER3_SMS         0.89 /* share of the SMs that clusters of 3 reach: 39 of them on an H200's 132 SMs, */
#define CLUSTER4_SMS         0.91 /* and clusters of 4 and more: 30 of 4 CTAs; GPCs have SMs left over */

/* sm90 */
#define SM90_SMOOTH                4.0    /* exponent of the smooth maximum of whole-device resources */
#define SM90_KBLOCK_SMOOTH         9.0    /* and of what bounds one k-block */
#define SM90_POWER_SHARE           1.1    /* of the datasheet rate, before the smooth maximum takes its part */
#define SM90_LAUNCH_US             1.9    /* launch, and first byte of a cold operand */
#define SM90_DRAM_EFFICIENCY       0.92   /* reachable share of the datasheet bandwidth */
#define SM90_TENSOR_RATE           0.9    /* wgmma from shared memory on random data, of N / 2 clocks per atom */
#define SM90_PORT_BYTES_PER_CLOCK  61.0   /* one SM's port to L2; multicast does not save its bytes */
#define SM90_L2_LINES_PER_CLOCK    53.0   /* L2 for all SMs together; multicast does save these */
#define SM90_L2_LATENCY_US         1.25   /* TMA issue -> barrier, under load */
#define SM90_KBLOCK_CLOCKS         180.0  /* the producer's barrier round trip per k-block */
#define SM90_BOX_CLOCKS            13.0   /* and per TMA box */
#define SM90_STORE_BYTES_PER_CLOCK 14.0   /* one SM's epilogue: registers -> shared memory -> global */
#define SM90_SWITCH_CLOCKS         1350.0 /* ping-pong: from one consumer's last wgmma to the other's full rate */
#define SM90_CLUSTER_US            1.5    /* the CTAs of a cluster start and end together */
#define SM90_CLUSTER_SHARE         0.04   /* and wait for each other at every stage */

/* sm80 */
#define SM80_SMOOTH                2.75
#define SM80_LAUNCH_US             1.6
#define SM80_DRAM_EFFICIENCY       0.83
#define SM80_ON_SM90               0.68  /* mma.sync's ceiling on Hopper, of WGMMA's */
#define SM80_PORT_BYTES_PER_CLOCK  36.6  /* cp.async into one SM, by all its CTAs */
#define SM80_FILL_BYTES_PER_CLOCK  12.6  /* stage size / this = from the copies' issue to their arrival */
#define SM80_KBLOCK_CLOCKS         314.0 /* one CTA alone: __syncthreads, first ldmatrix, drain of the mma pipe */
#define SM80_FRAGMENT_CLOCKS       0.052 /* and per element of a warp's part of D, for each 16 of k */
#define SM80_STORE_BYTES_PER_CLOCK 8.7
#define SM80_STORE_EXPOSED         0.62 /* share of a store that the SM's other CTAs do not hide */
#define SM80_L2_ENERGY             18.0 /* energy of a byte from L2, in FLOPs of the tensor cores */
#define SM80_HAND_BYTES_PER_CLOCK  24.0 /* partial sums, one SM to L2 or back; an estimate, not fitted */
#define SM80_HAND_US               1.5  /* the last store -> the flag -> the first load; an estimate, not fitted */

static double ceil_div(double a, double b) {
    return ceil(a / b);
}

static double max2(double a, double b) {
    return a > b ? a : b;
}

static double min2(double a, double b) {
    return a < b ? a : b;
}

int64_t gm_tiles_m(const struct gm_kernel *row, const struct gm_gemm_problem *problem) {
    return GM_CEIL_DIV(problem->m, (int64_t)row->tile_m * row->cluster_m);
}

int64_t gm_tiles_n(const struct gm_kernel *row, const struct gm_gemm_problem *problem) {
    return GM_CEIL_DIV(problem->n, (int64_t)row->tile_n * row->cluster_n);
}

int gm_blocks_per_sm(const struct gm_device *device, int64_t smem_bytes) {
    const int cc = 10 * device->cc_major + device->cc_minor;
    const int most = cc == 86 || cc == 87 ? 16 : cc == 89 || cc >= 120 ? 24 : 32;
    const int64_t taken = GM_CEIL_DIV(smem_bytes + BLOCK_SMEM_RESERVE, SMEM_GRANULE) * SMEM_GRANULE;
    const int64_t fit = device->smem_per_sm_bytes / taken;
    return fit < most ? (int)fit : most;
}

int gm_ctas_per_sm(const struct gm_kernel *row, const struct gm_device *device) {
    if (row->arch == GM_ARCH_SM90)
        return 1; /* a persistent grid has one CTA per SM */
    int by_smem = gm_blocks_per_sm(device, row->smem_bytes);
    int by_threads = device->max_threads_per_sm / row->threads;
    const int registers = GM_CEIL_DIV(row->registers, 8) * 8; /* the unit of allocation */
    int by_registers = registers > 0 ? REGISTERS_PER_SM / (registers * row->threads) : by_threads;
    int ctas = by_smem < by_threads ? by_smem : by_threads;
    ctas = ctas < by_registers ? ctas : by_registers;
    return ctas > 1 ? ctas : 1;
}

int gm_cluster_size(const struct gm_kernel *row) {
    return row->cluster_m * row->cluster_n * GM_WARPS_SPLITS(row->warps);
}

int64_t gm_clusters_at_once(const struct gm_kernel *row, const struct gm_device *device) {
    const int size = gm_cluster_size(row);
    const double share = size <= 2 ? 1 : size == 3 ? CLUSTER3_SMS : CLUSTER4_SMS;
    const int64_t clusters = (int64_t)(share * device->sm_count) * gm_ctas_per_sm(row, device) / size;
    return clusters > 1 ? clusters : 1;
}

/* Rows plus columns of operands that a wave touches when it walks groups of `group` tiles along one side. */
static int64_t wave_perimeter(int64_t group, int64_t wave, int64_t tile_major, int64_t tile_minor) {
    return group * tile_major + GM_CEIL_DIV(wave, group) * tile_minor;
}

struct gm_raster gm_raster_choose(const struct gm_kernel *row, const struct gm_gemm_problem *problem,
                                  const struct gm_device *device) {
    const int64_t tiles[2] = {gm_tiles_m(row, problem), gm_tiles_n(row, problem)};
    const int64_t size[2] = {(int64_t)row->tile_m * row->cluster_m, (int64_t)row->tile_n * row->cluster_n};
    int64_t wave = gm_clusters_at_once(row, device);
    if (wave > tiles[0] * tiles[1])
        wave = tiles[0] * tiles[1];
    struct gm_raster best = {(int32_t)tiles[0], (int32_t)tiles[1], 1, 0};
    int64_t best_perimeter = INT64_MAX;
    for (int along_n = 0; along_n <= 1; along_n++) {
        for (int wanted = 8; wanted <= 16; wanted *= 2) {
            int64_t group = wanted < tiles[along_n] ? wanted : tiles[along_n];
            int64_t perimeter = wave_perimeter(group, wave, size[along_n], size[!along_n]);
            if (perimeter < best_perimeter) {
                best_perimeter = perimeter;
                best.group = (int32_t)group;
                best.along_n = along_n;
            }
        }
    }
    return best;
}

int gm_copy_bytes(uint64_t base, int64_t stride_bytes, int64_t rows) {
    const uint64_t bits = base | (rows > 1 ? (uint64_t)stride_bytes : 0) | 16;
    return (int)(bits & -bits);
}

/* exponent-norm of positive terms: the largest, and more the nearer the others come to it. */
static double smooth_max(double exponent, const double *terms, int count) {
    double largest = 0, sum = 0;
    for (int i = 0; i < count; i++)
        largest = max2(largest, terms[i]);
    for (int i = 0; i < count && largest > 0; i++)
        sum += pow(terms[i] / largest, exponent);
    return largest * pow(sum, 1 / exponent);
}

static double clock_mhz(const struct gm_device *device) {
    return device->sm_clock_mhz > 0 ? device->sm_clock_mhz : 1500;
}

/* The least bytes: every operand once. */
static double dram_us(const struct gm_gemm_problem *p, const struct gm_device *device, double efficiency) {
    const double operands = ((double)p->m + (double)p->n) * (double)p->k * GM_ELEM_BYTES;
    const double bytes = operands + (double)p->m * (double)p->n * gm_type_bytes(p->d_type);
    return device->dram_gbs > 0 ? bytes / (efficiency * device->dram_gbs * 1e3) : 0;
}

static double power_us(const struct gm_gemm_problem *p, const struct gm_device *device, double share, double extra) {
    const double flop = 2 * (double)p->m * (double)p->n * (double)p->k + extra;
    return device->tensor_tflops > 0 ? flop / (share * device->tensor_tflops * 1e6) : 0;
}

/* wgmma m64nNk16 needs N / 2 clocks of the tensor cores; it reads 64 rows of A and N of B from shared memory at 128
 * bytes a clock, which under N = 64 is the slower part. */
static double wgmma_clocks(const struct gm_kernel *row) {
    const double atom = max2(row->tile_n / 2.0, (64 + row->tile_n) * 16.0 * GM_ELEM_BYTES / SMEM_BYTES_PER_CLOCK);
    return atom * (row->tile_m / 64.0) * (row->tile_k / 16.0) / SM90_TENSOR_RATE;
}

static double sm90_kblock_us(const struct gm_kernel *row, const struct gm_gemm_problem *p,
                             const struct gm_device *device) {
    const double mhz = clock_mhz(device), spans = (double)row->tile_k * GM_ELEM_BYTES / row->smem_map;
    const double rows = min2(row->tile_m, (double)p->m) + min2(row->tile_n, (double)p->n);
    const double terms[] = {
        wgmma_clocks(row) / mhz,
        rows * row->tile_k * GM_ELEM_BYTES / SM90_PORT_BYTES_PER_CLOCK / mhz,
        (SM90_KBLOCK_CLOCKS + SM90_BOX_CLOCKS * 2 * spans) / mhz,
        SM90_L2_LATENCY_US / row->stages,
    };
    const double us = smooth_max(SM90_KBLOCK_SMOOTH, terms, 4);
    return row->cluster_m * row->cluster_n > 1 ? us * (1 + SM90_CLUSTER_SHARE) : us;
}

/* The busiest CTA, which takes `rounds` tiles. Ping-pong: one consumer stores while the other multiplies. */
static double sm90_path_us(const struct gm_kernel *row, const struct gm_gemm_problem *p,
                           const struct gm_device *device) {
    const double mhz = clock_mhz(device);
    const double tiles = (double)gm_tiles_m(row, p) * (double)gm_tiles_n(row, p);
    const double rounds = ceil_div(tiles, (double)gm_clusters_at_once(row, device));
    const double main_us = ceil_div((double)p->k, row->tile_k) * sm90_kblock_us(row, p, device);
    const double tile_bytes = (double)row->tile_m * row->tile_n * gm_type_bytes(p->d_type);
    const double store_us = tile_bytes / SM90_STORE_BYTES_PER_CLOCK / mhz;
    double path_us = rounds * (main_us + store_us);
    if (GM_WARPS_SCHEDULE(row->warps) == GM_PINGPONG && rounds > 1)
        path_us = rounds * max2(main_us, (main_us + store_us) / 2) + (rounds - 1) * SM90_SWITCH_CLOCKS / mhz + store_us;
    return row->cluster_m * row->cluster_n > 1 ? path_us + SM90_CLUSTER_US : path_us;
}

/* Every box is fetched once per cluster that needs it; a row of a box is one request per span of the swizzle. */
static double sm90_l2_us(const struct gm_kernel *row, const struct gm_gemm_problem *p, const struct gm_device *device) {
    const double tiles_m = (double)gm_tiles_m(row, p), tiles_n = (double)gm_tiles_n(row, p);
    const double per_span = (double)p->m * tiles_n + (double)p->n * tiles_m;
    const double k_rounded = ceil_div((double)p->k, row->tile_k) * row->tile_k;
    return per_span * k_rounded * GM_ELEM_BYTES / row->smem_map / (SM90_L2_LINES_PER_CLOCK * clock_mhz(device));
}

static double sm90_cost_us(const struct gm_kernel *row, const struct gm_gemm_problem *p,
                           const struct gm_device *device) {
    const double terms[] = {
        sm90_path_us(row, p, device),
        dram_us(p, device, SM90_DRAM_EFFICIENCY),
        sm90_l2_us(row, p, device),
        power_us(p, device, SM90_POWER_SHARE, 0),
    };
    return SM90_LAUNCH_US + smooth_max(SM90_SMOOTH, terms, 4);
}

/* bf16 FLOP of one SM per clock through mma.sync. */
static double mma_flop_per_clock(const struct gm_device *device) {
    double rate = device->cc_major == 9 ? 4096 : device->cc_minor == 0 ? 2048 : 1024;
    if (device->tensor_tflops > 0)
        rate = device->tensor_tflops * 1e6 / (device->sm_count * clock_mhz(device));
    return device->cc_major == 9 ? rate * SM80_ON_SM90 : rate;
}

/* One k-block of `together` CTAs that share the SM. */
static double sm80_kblock_us(const struct gm_kernel *row, const struct gm_gemm_problem *p,
                             const struct gm_device *device, double together) {
    const double warps_m = GM_WARPS_M(row->warps), warps_n = GM_WARPS_N(row->warps);
    /* A narrow copy moves fewer bytes per issued instruction. */
    const struct gm_operand a = gm_operand_a(p), b = gm_operand_b(p);
    const double a_copy = gm_copy_bytes((uint64_t)p->a_align, a.stride * a.element_bytes, a.rows);
    const double b_copy = gm_copy_bytes((uint64_t)p->b_align, b.stride * b.element_bytes, b.rows);
    const double k_bytes = (double)row->tile_k * GM_ELEM_BYTES;
    const double copied = min2(row->tile_m, (double)p->m) * k_bytes * 16 / a_copy +
                          min2(row->tile_n, (double)p->n) * k_bytes * 16 / b_copy;
    const double stage = ((double)row->tile_m + row->tile_n) * k_bytes;
    /* Shared memory is written once by cp.async, and read by every row of warps (B) and every column of them (A). */
    const double smem = (row->tile_m * (1 + warps_n) + row->tile_n * (1 + warps_m)) * k_bytes;
    const double fragment = row->tile_m / warps_m * row->tile_n / warps_n;
    const double tensor = 2.0 * row->tile_m * row->tile_n * row->tile_k / mma_flop_per_clock(device);
    const double shared = max2(tensor, max2(smem / SMEM_BYTES_PER_CLOCK, copied / SM80_PORT_BYTES_PER_CLOCK));
    const double alone = SM80_KBLOCK_CLOCKS + SM80_FRAGMENT_CLOCKS * fragment * row->tile_k / 16;
    const double fill = stage / SM80_FILL_BYTES_PER_CLOCK / (row->stages > 1 ? row->stages - 1 : 1);
    return max2(together * shared, max2(alone, fill)) / clock_mhz(device);
}

/* Epilogue of a tile whose SM holds `together` CTAs. */
static double sm80_store_us(const struct gm_kernel *row, const struct gm_gemm_problem *p,
                            const struct gm_device *device, double together) {
    const double tile_bytes = (double)row->tile_m * row->tile_n * gm_type_bytes(p->d_type);
    const double exposed = together > 1 ? together * SM80_STORE_EXPOSED : 1;
    return exposed * tile_bytes / SM80_STORE_BYTES_PER_CLOCK / clock_mhz(device);
}

/* One round: `together` CTAs share the SM from start to end of a tile each. */
static double sm80_round_us(const struct gm_kernel *row, const struct gm_gemm_problem *p,
                            const struct gm_device *device, double together) {
    return ceil_div((double)p->k, row->tile_k) * sm80_kblock_us(row, p, device, together) +
           sm80_store_us(row, p, device, together);
}

static double sm80_tiles_us(const struct gm_kernel *row, const struct gm_gemm_problem *p,
                            const struct gm_device *device, double tiles) {
    const double on_busiest = ceil_div(tiles, device->sm_count); /* tiles of the busiest SM */
    const double resident = gm_ctas_per_sm(row, device);
    const double full = floor(on_busiest / resident);
    const double rest = on_busiest - full * resident;
    double us = rest > 0 ? sm80_round_us(row, p, device, rest) : 0;
    if (full > 0)
        us += full * sm80_round_us(row, p, device, resident);
    return us;
}

/* A share of the divided tiles: its k-blocks, a store, a piece given away, and the other pieces of its tile taken. */
static double sm80_shares_us(const struct gm_kernel *row, const struct gm_gemm_problem *p,
                             const struct gm_device *device, double tiles, double shares) {
    const double together = ceil_div(shares, device->sm_count);
    const double blocks = ceil_div(tiles * ceil_div((double)p->k, row->tile_k), shares);
    const double takes = max2(ceil_div(shares, tiles) - 1, 1), stores = ceil_div(tiles, shares);
    const double partial_bytes = together * row->tile_m * row->tile_n * sizeof(float);
    return blocks * sm80_kblock_us(row, p, device, together) + stores * sm80_store_us(row, p, device, together) +
           (1 + takes) * partial_bytes / SM80_HAND_BYTES_PER_CLOCK / clock_mhz(device) + SM80_HAND_US;
}

double gm_cost_sm80_us(const struct gm_kernel *row, const struct gm_gemm_problem *p, const struct gm_device *device,
                       int64_t whole, int64_t shares) {
    const double tiles_m = (double)gm_tiles_m(row, p), tiles_n = (double)gm_tiles_n(row, p);
    const double divided = tiles_m * tiles_n - (double)whole;
    double path_us = sm80_tiles_us(row, p, device, (double)whole);
    if (shares > 0)
        path_us += sm80_shares_us(row, p, device, divided, (double)shares);
    const double partial_bytes = 2.0 * (double)shares * row->tile_m * row->tile_n * sizeof(float);
    const double l2_bytes = (p->m * tiles_n + p->n * tiles_m) * (double)p->k * GM_ELEM_BYTES + partial_bytes;
    const double share = device->cc_major == 9 ? SM80_ON_SM90 : 1;
    const double terms[] = {
        path_us,
        dram_us(p, device, SM80_DRAM_EFFICIENCY),
        power_us(p, device, share, SM80_L2_ENERGY * l2_bytes),
    };
    return SM80_LAUNCH_US + smooth_max(SM80_SMOOTH, terms, 3);
}

double gm_cost_us(const struct gm_kernel *row, const struct gm_gemm_problem *problem, const struct gm_device *device) {
    if (row->arch == GM_ARCH_SM90)
        return sm90_cost_us(row, problem, device);
    return gm_cost_sm80_us(row, problem, device, gm_tiles_m(row, problem) * gm_tiles_n(row, problem), 0);
}
