/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model: a handful of rates, and the slowest of the resources that they bound.
 *
 *   time = launch + fill + slowest of (critical path of the busiest SM, DRAM, power)
 *
 * where "slowest" is a smooth maximum, since a resource near its limit slows the others. A k-block (one stage) costs
 * the busiest SM the slowest of: its tensor cores, its shared memory, its port to L2, and the ring, which holds no
 * more than `stages` k-blocks in flight for one memory latency (Little's law). The constants below are the whole
 * calibration; they were set from measured H200 times of many tiles and shapes. */
#include "cost.h"

#include "problem.h"
#include "tensor_map.h"

#include <math.h>

/* Both architectures. */
#define LAUNCH_US 2.5
#define DRAM_EFFICIENCY 0.92            /* reachable share of the datasheet bandwidth */
#define DRAM_LATENCY_US 1.0             /* first byte of a cold operand */
#define L2_BYTES_PER_CLOCK 70.0         /* one SM's port; multicast saves L2 reads, not port bytes */
#define L2_ENERGY 6.0                   /* energy of a byte from L2, in FLOPs of the tensor cores */
#define SMOOTH 8.0                      /* exponent of the smooth maximum */
#define SMEM_BYTES_PER_CLOCK 128.0
#define STORE_BYTES_PER_CLOCK 32.0      /* one CTA's epilogue: registers -> shared memory -> global */
#define EPILOGUE_CLOCKS 600.0           /* its latency, whatever the tile */
#define REGISTERS_PER_SM 65536
#define BLOCK_SMEM_RESERVE 1024         /* the driver's share of every block */

/* sm90: the tensor pipe runs at the clock that a short load keeps; a long one is limited by power. */
#define SM90_TENSOR_CLOCK 0.87          /* of the maximum */
#define SM90_POWER_SHARE 0.84           /* part of the datasheet rate that the power limit sustains, L2 traffic aside */
#define SM90_L2_LATENCY_US 0.75         /* TMA issue -> barrier, under load */
#define SM90_OUTSIDE_BYTES_PER_CLOCK 20.0 /* TMA filling the part of a box that lies outside its tensor */
#define SM90_CLUSTER_US 0.3             /* the CTAs of a cluster start and end together */
#define SM90_KBLOCK_CLOCKS 24.0         /* barrier and issue per k-block that nothing hides */

/* sm80 */
#define SM80_TENSOR_CLOCK 0.95
#define SM80_POWER_SHARE 0.95
#define SM80_ON_SM90 0.62               /* mma.sync's ceiling on Hopper, of WGMMA's */
#define SM80_L2_LATENCY_US 0.65
#define SM80_KBLOCK_CLOCKS 60.0         /* one __syncthreads and the ldmatrix that follows it */
#define SM80_WARP_OVERHEAD 1.5          /* warps / (warps + this) of the tensor pipe is kept busy */
#define SM80_TILE_US 0.2                /* from one tile's end to the next one's first mma */

static double ceil_div(double a, double b) {
    return ceil(a / b);
}

static double max2(double a, double b) {
    return a > b ? a : b;
}

int64_t gm_tiles_m(const struct gm_kernel *row, const struct gm_gemm_problem *problem) {
    return GM_CEIL_DIV(problem->m, (int64_t)row->tile_m * row->cluster_m);
}

int64_t gm_tiles_n(const struct gm_kernel *row, const struct gm_gemm_problem *problem) {
    return GM_CEIL_DIV(problem->n, (int64_t)row->tile_n * row->cluster_n);
}

int gm_ctas_per_sm(const struct gm_kernel *row, const struct gm_device *device) {
    if (row->arch == GM_ARCH_SM90)
        return 1; /* a persistent grid has one CTA per SM */
    int by_smem = device->smem_per_sm_bytes / (row->smem_bytes + BLOCK_SMEM_RESERVE);
    int by_threads = device->max_threads_per_sm / row->threads;
    const int registers = GM_CEIL_DIV(row->registers, 8) * 8; /* the unit of allocation */
    int by_registers = registers > 0 ? REGISTERS_PER_SM / (registers * row->threads) : by_threads;
    int ctas = by_smem < by_threads ? by_smem : by_threads;
    ctas = ctas < by_registers ? ctas : by_registers;
    return ctas > 1 ? ctas : 1;
}

int64_t gm_clusters_at_once(const struct gm_kernel *row, const struct gm_device *device) {
    int64_t clusters = (int64_t)device->sm_count * gm_ctas_per_sm(row, device) / (row->cluster_m * row->cluster_n);
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

/* The critical path beside what does not depend on how tiles fall on SMs: the least bytes from DRAM, and the energy
 * of the arithmetic and of the bytes that the tiles pull from L2 (which multicast does save). */
static double slowest_us(double path_us, const struct gm_kernel *row, const struct gm_gemm_problem *p,
                         const struct gm_device *device, double power_share) {
    const double mn = (double)p->m * (double)p->n, k = (double)p->k;
    double dram_us = 0, power_us = 0;
    if (device->dram_gbs > 0) {
        const double bytes = ((double)p->m + (double)p->n) * k * GM_ELEM_BYTES + mn * gm_type_bytes(p->d_type);
        dram_us = bytes / (DRAM_EFFICIENCY * device->dram_gbs * 1e3);
    }
    if (device->tensor_tflops > 0) {
        const double per_row = (double)row->tile_m * row->cluster_m, per_column = (double)row->tile_n * row->cluster_n;
        const double l2_bytes = mn * k * GM_ELEM_BYTES * (1 / per_row + 1 / per_column);
        power_us = (2 * mn * k + L2_ENERGY * l2_bytes) / (power_share * device->tensor_tflops * 1e6);
    }
    const double sum = pow(path_us, SMOOTH) + pow(dram_us, SMOOTH) + pow(power_us, SMOOTH);
    return pow(sum, 1 / SMOOTH);
}

static double clock_mhz(const struct gm_device *device) {
    return device->sm_clock_mhz > 0 ? device->sm_clock_mhz : 1500;
}

/* wgmma m64nNk16 reads 64 rows of A and N of B from shared memory at 128 bytes a clock; the tensor cores need N / 2
 * clocks. Under N = 64 the operand reads are the slower part. */
static double wgmma_clocks(const struct gm_kernel *row) {
    double atom = max2(row->tile_n / 2.0, (64 + row->tile_n) * 16.0 * GM_ELEM_BYTES / SMEM_BYTES_PER_CLOCK);
    return atom * (row->tile_m / 64.0) * (row->tile_k / 16.0);
}

static double clamp(double value, double high) {
    return value < 0 ? 0 : value > high ? high : value;
}

/* Clocks of TMA for one stage, in the CTA of the first cluster that lies furthest outside A and B. */
static double tma_clocks(const struct gm_kernel *row, const struct gm_gemm_problem *p) {
    const double a_rows = clamp((double)p->m - (double)row->tile_m * (row->cluster_m - 1), row->tile_m);
    const double b_rows = clamp((double)p->n - (double)row->tile_n * (row->cluster_n - 1), row->tile_n);
    const double inside = (a_rows + b_rows) * row->tile_k * GM_ELEM_BYTES;
    const double outside = gm_gemm_sm90_maps(row, p).stage_bytes - inside;
    return inside / L2_BYTES_PER_CLOCK + max2(outside, 0) / SM90_OUTSIDE_BYTES_PER_CLOCK;
}

static double sm90_cost_us(const struct gm_kernel *row, const struct gm_gemm_problem *p,
                           const struct gm_device *device) {
    const double mhz = clock_mhz(device);
    const double blocks = p->k > 0 ? ceil_div((double)p->k, row->tile_k) : 0;
    const double clusters = (double)gm_clusters_at_once(row, device);
    const double tiles = (double)gm_tiles_m(row, p) * (double)gm_tiles_n(row, p);
    const double rounds = ceil_div(tiles, clusters); /* tiles of the busiest CTA */

    const double tensor_us = (wgmma_clocks(row) + SM90_KBLOCK_CLOCKS) / (SM90_TENSOR_CLOCK * mhz);
    const double load_us = max2(tma_clocks(row, p) / mhz, SM90_L2_LATENCY_US / row->stages);
    const double main_us = blocks * max2(tensor_us, load_us);

    const double tile_bytes = (double)row->tile_m * row->tile_n * gm_type_bytes(p->d_type);
    const double epilogue_us = (tile_bytes / STORE_BYTES_PER_CLOCK + EPILOGUE_CLOCKS) / mhz;
    double path_us;
    if (GM_WARPS_SCHEDULE(row->warps) == GM_PINGPONG) /* one warpgroup stores while the other multiplies */
        path_us = rounds * max2(main_us, epilogue_us) + epilogue_us;
    else
        path_us = rounds * (main_us + epilogue_us);
    if (row->cluster_m * row->cluster_n > 1)
        path_us += SM90_CLUSTER_US;
    return LAUNCH_US + DRAM_LATENCY_US + slowest_us(path_us, row, p, device, SM90_POWER_SHARE);
}

/* bf16 FLOP of one SM per clock through mma.sync. */
static double mma_flop_per_clock(const struct gm_device *device) {
    double rate = device->cc_major == 9 ? 4096 : device->cc_minor == 0 ? 2048 : 1024;
    if (device->tensor_tflops > 0)
        rate = device->tensor_tflops * 1e6 / (device->sm_count * clock_mhz(device));
    return device->cc_major == 9 ? rate * SM80_ON_SM90 : rate;
}

/* Clocks that one k-block of one CTA takes of its SM when nothing waits. */
static double sm80_kblock_clocks(const struct gm_kernel *row, const struct gm_gemm_problem *p,
                                 const struct gm_device *device) {
    const double tensor = 2.0 * row->tile_m * row->tile_n * row->tile_k / mma_flop_per_clock(device);
    /* Shared memory is written once by cp.async, and read by every row of warps (B) and every column of them (A). */
    const double smem = ((double)row->tile_m * (1 + GM_WARPS_N(row->warps)) +
                         (double)row->tile_n * (1 + GM_WARPS_M(row->warps))) *
                        row->tile_k * GM_ELEM_BYTES / SMEM_BYTES_PER_CLOCK;
    /* A narrow copy moves fewer bytes per issued instruction. */
    const struct gm_operand a = gm_operand_a(p), b = gm_operand_b(p);
    const double a_copy = gm_copy_bytes((uint64_t)p->a_align, a.stride * a.element_bytes, a.rows);
    const double b_copy = gm_copy_bytes((uint64_t)p->b_align, b.stride * b.element_bytes, b.rows);
    const double loads = (row->tile_m * 16.0 / a_copy + row->tile_n * 16.0 / b_copy) * row->tile_k * GM_ELEM_BYTES /
                         L2_BYTES_PER_CLOCK;
    return max2(tensor, max2(smem, loads));
}

/* One round: `together` CTAs share the SM from start to end. */
static double sm80_round_us(const struct gm_kernel *row, const struct gm_gemm_problem *p,
                            const struct gm_device *device, double together) {
    const double mhz = SM80_TENSOR_CLOCK * clock_mhz(device);
    const double warps = together * row->threads / 32;
    const double busy = warps / (warps + SM80_WARP_OVERHEAD);
    const double clocks = together * sm80_kblock_clocks(row, p, device) / busy + SM80_KBLOCK_CLOCKS;
    const double in_flight = row->stages > 1 ? row->stages - 1 : 1;
    const double kblock_us = max2(clocks / mhz, SM80_L2_LATENCY_US / in_flight);
    const double tile_bytes = (double)row->tile_m * row->tile_n * gm_type_bytes(p->d_type);
    const double epilogue_us = (tile_bytes / STORE_BYTES_PER_CLOCK + EPILOGUE_CLOCKS) / mhz;
    return ceil_div((double)p->k, row->tile_k) * kblock_us + epilogue_us + SM80_TILE_US;
}

static double sm80_cost_us(const struct gm_kernel *row, const struct gm_gemm_problem *p,
                           const struct gm_device *device) {
    const double tiles = (double)gm_tiles_m(row, p) * (double)gm_tiles_n(row, p);
    const double on_busiest = ceil_div(tiles, device->sm_count); /* tiles of the busiest SM */
    const double resident = gm_ctas_per_sm(row, device);
    const double full = floor(on_busiest / resident);
    const double rest = on_busiest - full * resident;
    double path_us = rest > 0 ? sm80_round_us(row, p, device, rest) : 0;
    if (full > 0)
        path_us += full * sm80_round_us(row, p, device, resident);
    const double share = device->cc_major == 9 ? SM80_POWER_SHARE * SM80_ON_SM90 : SM80_POWER_SHARE;
    return LAUNCH_US + DRAM_LATENCY_US + slowest_us(path_us, row, p, device, share);
}

double gm_cost_us(const struct gm_kernel *row, const struct gm_gemm_problem *problem, const struct gm_device *device) {
    return row->arch == GM_ARCH_SM90 ? sm90_cost_us(row, problem, device) : sm80_cost_us(row, problem, device);
}
