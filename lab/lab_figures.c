/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of the report, by experiment. */
#include "lab/lab_figures.h"

#include <math.h>
#include <string.h>

#include "lab/bank_access.h"
#include "lab/lab_label.h"

#define WAVEFRONTS .value = FIGURE_QUANTITY, .quantity = "wavefronts", .per = BANK_ACCESSES
#define RESULTS    .form = FIGURE_CELLS, .value = FIGURE_RESULT

static const struct figure figures[] = {
    {"strided-reads", FIGURE_LINES, "stride {x}", WAVEFRONTS, .title = "Wavefronts an access",
     .x_axis = "stride, in words"},
    {"strided-writes", FIGURE_LINES, "stride {x}", WAVEFRONTS, .title = "Wavefronts an access",
     .x_axis = "stride, in words"},
    {"scalar-pads", FIGURE_BARS, "{group}, {row}", WAVEFRONTS, .title = "Wavefronts an access"},
    {"broadcast", FIGURE_CELLS, "{column}.shared.b32: {row}", WAVEFRONTS, .title = "Wavefronts an access of a word"},
    {"broadcast", FIGURE_CELLS, "{column}.shared.v{column}: {row}", WAVEFRONTS,
     .title = "Wavefronts an access of 2 or 4 words"},
    {"atomics", FIGURE_CELLS, "{row}, {column} lanes {row}", WAVEFRONTS,
     .title = "Wavefronts an access, by lanes that meet"},
    {"random-access", FIGURE_DOTS, "{row}", WAVEFRONTS, .title = "Wavefronts an access"},
    {"arbitration", FIGURE_CELLS, "{row}, {x} warp{rest}", FIGURE_EXCESS, "wavefronts of the pipe",
     .title = "The pipe's wavefronts beyond the prediction, by warps"},
    {"degree-bandwidth", FIGURE_BARS, "{group}, {row}, all SMs", .value = FIGURE_RATE, .title = "GB/s of all SMs"},
    {"reads-and-writes", FIGURE_BARS, "{group}, {group}, {row}", .value = FIGURE_CYCLES, .title = "Cycles"},
    {"latency", FIGURE_BARS, "1024 dependent loads, {row}", .value = FIGURE_CYCLES, .per = 1024,
     .title = "Cycles a load"},

    {"access-widths", FIGURE_CELLS, "{row}, a lane every {column} bytes", WAVEFRONTS,
     .title = "Wavefronts an access, by bytes from lane to lane"},
    {"float4-pad", FIGURE_BARS, "{row}", WAVEFRONTS, .title = "Wavefronts an access"},
    {"ldmatrix", FIGURE_CELLS, "ldmatrix.{column}.{column}, {row}|ldmatrix.{column}, {row}", WAVEFRONTS,
     .title = "Wavefronts an access"},
    {"stmatrix", FIGURE_CELLS, "stmatrix.{column}.{column}, {row}|stmatrix.{column}, {row}", WAVEFRONTS,
     .title = "Wavefronts an access"},

    {"cp-async", FIGURE_CELLS, "cp.async.{column}, {row}", FIGURE_QUANTITY, "conflicts", BANK_ACCESSES,
     .title = "Conflicts an access"},
    {"ring-stages", FIGURE_BARS, "{row}", .value = FIGURE_RATE},

    {"tma-modes", RESULTS, .labels = "{column}, {row}", .title = "Image of a box, by mode"},
    {"tma-phase", RESULTS, .labels = "{row} at {column}", .title = "Image, by where the buffer begins"},
    {"tma-narrow", RESULTS, .labels = "{column} of {row} bytes{rest}",
     .title = "Images, by the span (down) and the bytes used of it"},
    {"tma-start", RESULTS, .labels = "{column}, {column}, from {row}", .title = "Loads, by where the box begins"},
    {"tma-bounds", RESULTS, .labels = "{column}, {column}, {row}, counted|{column}, {column}, {row}",
     .title = "Loads of boxes beyond the tensor"},
    {"tma-store-edges", RESULTS, .labels = "{row} rows of 32 + {column} bytes",
     .title = "Rows of 32 bytes and so many more"},
    {"tma-store-edges", RESULTS, .labels = "{column}, from {row}", .title = "Stores, by where the box begins"},
    {"tma-strides", RESULTS, .labels = "{column}, {row}", .title = "Images, by mode"},
    {"tma-alignment", FIGURE_BARS, "{column}, {row}", .value = FIGURE_RATE,
     .title = "GB/s, by where the tensor begins"},
    {"tma-walk", FIGURE_BARS, "{row}", .value = FIGURE_RATE},
    {"tma-im2col", RESULTS, .labels = "{column} from {row}, 16 C|{column} from {row}",
     .title = "Images, by corners and by where the load begins"},
    {"bulk-reduce", RESULTS, .labels = "{column} {row}", .title = "Reductions, by type and operation"},

    {"wgmma-modes", RESULTS, .labels = "{column}, {row}", .title = "Operands as gm_wgmma_address() says"},
    {"wgmma-base-offset", RESULTS, .labels = "{row}, base offset {column}",
     .title = "Operands, by start and base offset"},
    {"wgmma-tile", FIGURE_BARS, "{group}, {row}", .value = FIGURE_CYCLES, .title = "Cycles, by swizzle mode"},
    {"wgmma-conflicts", FIGURE_CELLS, "{column}, {row}", FIGURE_QUANTITY, "conflicts",
     .title = "Conflicts counted, by operand"},

    {"multicast", FIGURE_BARS, "{row}, {column}", .value = FIGURE_RATE, .title = "GB/s delivered"},
    {"multicast", FIGURE_BARS, "{row}, {column}", FIGURE_QUANTITY, "sectors read of L2", 1e6,
     .title = "Million sectors read of L2"},
    {"dsmem", FIGURE_BARS, "1008 dependent loads, {row}", .value = FIGURE_CYCLES, .per = 1008,
     .title = "Cycles a load"},
    {"dsmem", FIGURE_BARS, "64 x 32 KB, {row}", .value = FIGURE_CYCLES, .per = 64, .title = "Cycles for 32 KB"},
    {"dsmem", FIGURE_BARS, "1000 round trips, {row}", .value = FIGURE_CYCLES, .per = 1000,
     .title = "Cycles a round trip"},
    {"cluster-limits", FIGURE_LINES, "{y} x {x} CTAs, {row}", .value = FIGURE_LABEL,
     .title = "Clusters resident at once, by bytes a CTA", .x_axis = "CTAs of a cluster"},

    {"shared-limit", FIGURE_CELLS, "{row} dynamic, {column}", FIGURE_QUANTITY, "CUresult of the launch",
     .title = "CUresult of the launch: 0, it runs; 1, an invalid value"},
    {"occupancy", FIGURE_LINES, "{row}, {x} KB", FIGURE_QUANTITY, "blocks at once",
     .title = "Blocks on an SM, by shared memory", .x_axis = "KB a block"},
    {"occupancy", FIGURE_BARS, "{row} threads", FIGURE_QUANTITY, "blocks at once",
     .title = "Blocks on an SM, by threads a block"},
    {"occupancy", FIGURE_BARS, "256 threads, {row} registers", FIGURE_QUANTITY, "blocks at once",
     .title = "Blocks of 256 threads on an SM, by registers a thread"},
    {"occupancy-worth", FIGURE_BARS, "tile, {row}", .value = FIGURE_RATE,
     .title = "GB/s of transpositions, tile 128 x 112"},
    {"occupancy-worth", FIGURE_BARS, "product, {row}", .value = FIGURE_RATE, .title = "TFLOPS of products"},
    {"carve-out", FIGURE_LINES, "{row} of shared memory, {x} %", FIGURE_QUANTITY, "blocks at once",
     .title = "Blocks on an SM, by the carve-out wished for", .x_axis = "per cent of the SM's shared memory"},
    {"carve-out", FIGURE_BARS, "96 KB read again, {row}", .value = FIGURE_RATE, .title = "GB/s of 96 KB read again"},
    {"carve-out", FIGURE_BARS, "48 KB of shared memory, {row}", .value = FIGURE_RATE,
     .title = "µs of blocks of 48 KB of shared memory"},
    {"spilling", FIGURE_BARS, "{row}", .value = FIGURE_RATE, .title = "µs, by registers a thread"},

    {"transpose", FIGURE_BARS, "{row}, 4096 x 4096", .value = FIGURE_RATE, .title = "GB/s at 4096 x 4096",
     .article = "a V100 in the articles"},
    {"reuse", FIGURE_BARS, "{row}", .value = FIGURE_RATE, .article = "a table in print"},
    {"conflict-worth", FIGURE_BARS, "memory: {row}|memory, {group}: {row}", .value = FIGURE_RATE,
     .title = "GB/s, taking structures apart"},
    {"conflict-worth", FIGURE_BARS, "{group} a value: {row}", .value = FIGURE_RATE, .title = "TFLOPS, by FFMA a value"},
    {"gemm-fp32", FIGURE_BARS, "{row}", .value = FIGURE_RATE, .title = "Percent of cuBLAS at 4096 x 4096 x 4096",
     .article = "an A6000's ladder", .whole = "cuBLAS"},
    {"row-major-pads", FIGURE_BARS, "{row}, 2048 x 2048 x 2048", .value = FIGURE_RATE},
    {"gemm-tiles", FIGURE_BARS, "{row}", .value = FIGURE_RATE},
    {"reduction", FIGURE_BARS, "{row}, 2^28", .value = FIGURE_RATE, .title = "GB/s, 2^28 elements",
     .article = "a V100 in the articles"},
    {"warp-sum", FIGURE_BARS, "{row}", .value = FIGURE_CYCLES, .per = 100, .title = "Cycles a sum"},
    {"matrix-sums", FIGURE_BARS, "{group}, {row}, 16384 x 16384", .value = FIGURE_RATE, .title = "GB/s"},
    {"stencil", FIGURE_BARS, "{row}", .value = FIGURE_RATE},
    {"convolution-1d", FIGURE_BARS, "{row}, 67108864", .value = FIGURE_RATE, .title = "GB/s, 2^26 elements"},
    {"convolution-2d", FIGURE_BARS, "{row}, 8192 x 8192", .value = FIGURE_RATE, .title = "GB/s, 8192 x 8192"},
    {"fft", FIGURE_BARS, "{row}, 32768", .value = FIGURE_RATE, .title = "GB/s, 2^15 signals"},
    {"histogram", FIGURE_BARS, "{row}, {column} {x}|{row}", .value = FIGURE_RATE, .title = "GB/s, by values"},
    {"histogram-large", FIGURE_BARS, "{row}, {column} {x}", .value = FIGURE_RATE, .title = "GB/s, by values"},

    {"attention", FIGURE_BARS, "{row}", .value = FIGURE_RATE},
};

size_t figures_listed(const char *experiment, struct figure chosen[FIGURES_MAX]) {
    size_t count = 0;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (strcmp(figures[i].experiment, experiment) == 0 && count < FIGURES_MAX)
            chosen[count++] = figures[i];
    }
    return count;
}

/* ---- what suits an experiment that the table does not have ------------------------------------------ */

static bool any_rate(const struct record *record) {
    bool any = false;
    for (size_t i = 0; i < record->point_count; i++)
        any |= isfinite(record->points[i].us);
    return any;
}

static bool any_cycles(const struct record *record) {
    bool any = false;
    for (size_t i = 0; i < record->point_count; i++)
        any |= isfinite(record->points[i].cycles);
    return any;
}

/* The first quantity that was counted or simulated; NULL: none. */
static const struct record_quantity *any_quantity(const struct record *record) {
    for (size_t i = 0; i < record->point_count; i++) {
        for (size_t j = 0; j < record->points[i].quantity_count; j++) {
            const struct record_quantity *quantity = &record->points[i].quantities[j];
            if (isfinite(quantity->counted) || isfinite(quantity->simulated))
                return quantity;
        }
    }
    return NULL;
}

struct figure figure_usual(const struct record *record) {
    enum { BARS_MOST = 24 };
    const struct record_quantity *quantity = any_quantity(record);
    if (any_rate(record))
        return (struct figure){.labels = "{row}", .form = FIGURE_BARS, .value = FIGURE_RATE};
    if (quantity)
        return (struct figure){.labels = "{row}",
                               .form = record->point_count > BARS_MOST && isfinite(quantity->predicted) ? FIGURE_DOTS
                                                                                                        : FIGURE_BARS,
                               .value = FIGURE_QUANTITY,
                               .quantity = quantity->name};
    if (any_cycles(record))
        return (struct figure){.labels = "{row}", .form = FIGURE_BARS, .value = FIGURE_CYCLES};
    return (struct figure){.labels = "{row}", RESULTS, .title = "Results"};
}
