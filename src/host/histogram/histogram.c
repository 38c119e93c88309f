/* SPDX-License-Identifier: Apache-2.0 */
/* The family histogram: how many CTAs share a problem and how long it should take, and what a launch is told. Every variant
 * takes all problems of its type. */
#include "host/histogram/histogram.h"

#include "columns.h"
#include "common/arith.h"
#include "common/histogram/params.h"
#include "host/occupancy.h"
#include "host/plan.h"
#include "host/random.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>

#define CHUNK_BYTES 16

/* ---- counts in shared memory ---------------------------------------------------------------------------- */

#define COPIES_BYTES 65536 /* of shared memory that further copies of bins may take */

/* How a CTA keeps the counts of its slice of the bins. */
struct layout {
    int64_t slices, slice_bins, copies, bytes;
};

static struct layout layout_of(const struct gm_histogram_problem *p, int64_t slices) {
    if (p->type == GM_UINT8)
        return (struct layout){1, p->bins, GM_HISTOGRAM_COPIES, GM_HISTOGRAM_BYTES * (GM_HISTOGRAM_COPIES + 1) * 4};
    const int64_t bins = GM_CEIL_DIV(p->bins, slices);
    struct layout l = {GM_CEIL_DIV(p->bins, bins), bins, GM_HISTOGRAM_COPIES, 0};
    while (l.copies > 1 && (bins + GM_HISTOGRAM_APART) * l.copies * 4 > COPIES_BYTES)
        l.copies /= 2;
    l.bytes = GM_CEIL_DIV((bins + GM_HISTOGRAM_APART) * l.copies, 4) * 16;
    return l;
}

/* As few slices as a CTA's shared memory allows. */
static int64_t fewest_slices(const struct gm_kernel *kernel, const struct gm_histogram_problem *p) {
    return GM_CEIL_DIV(p->bins, kernel->smem_bytes / 4 - GM_HISTOGRAM_APART);
}

/* ---- CTAs ----------------------------------------------------------------------------------------------- */

#define ROW_THREADS      128  /* of a short row's histogram, */
#define ROW_CHUNKS       4    /* of which each has so many chunks */
#define MOST_SLICES      16   /* times as many as are needed, */
#define SLICE_BINS       1024 /* of no fewer bins */
#define REGISTERS_PER_SM 65536
#define REGISTERS        64 /* of a thread */

/* How a launch is divided among CTAs. */
struct division {
    struct layout layout;
    int threads;
    int64_t parts, at_once; /* CTAs that share a histogram's slice; CTAs on the device */
    double us;
};

/* Elements that follow each other: of one histogram, or of a row. */
static int64_t chunks_of(const struct gm_histogram_problem *p) {
    const int64_t rows = p->of == GM_HISTOGRAM_ROWS ? 1 : p->rows;
    return GM_CEIL_DIV(rows * p->columns * gm_type_bytes(p->type), CHUNK_BYTES);
}

static int64_t ctas_at_once(const struct gm_device *device, int threads, int64_t bytes) {
    const int by_smem = gm_blocks_per_sm(device, bytes), by_threads = device->max_threads_per_sm / threads;
    const int of_sm = GM_MIN(GM_MIN(by_smem, by_threads), REGISTERS_PER_SM / (REGISTERS * threads));
    return (int64_t)device->sm_count * GM_MAX(of_sm, 1);
}

static struct division undivided(const struct gm_kernel *kernel, const struct gm_histogram_problem *p,
                                 const struct gm_device *device, int64_t slices) {
    struct division d = {.layout = layout_of(p, slices), .threads = kernel->threads, .parts = 1};
    const int64_t results = gm_histogram_results(p) * d.layout.slices;
    while (results > device->sm_count && d.threads > ROW_THREADS && d.threads / 2 * ROW_CHUNKS >= chunks_of(p))
        d.threads /= 2;
    d.at_once = ctas_at_once(device, d.threads, d.layout.bytes);
    return d;
}

static int64_t results_of(const struct division *d, const struct gm_histogram_problem *p) {
    return gm_histogram_results(p) * d->layout.slices;
}

/* CTAs meet in the workspace only where counts are written. */
static size_t workspace_of(const struct division *d, const struct gm_histogram_problem *p) {
    return d->parts > 1 && !p->accumulate ? (size_t)results_of(d, p) * GM_HISTOGRAM_TURN_BYTES : 0;
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + waves * (clearing and adding up + bytes / min(DRAM, L2, what the SMs take)) + meeting
 *
 * A slice of the bins reads all elements. Constants are reckoned, and those of the laboratory's ladders. */

#define LAUNCH_US  2.0    /* launch, and the first chunks */
#define ALONE_US   0.25   /* more where launches do not overlap */
#define COUNTS_US  3.0e-5 /* to clear and add up a copy of a bin, by a CTA */
#define DRAM_SHARE 0.92   /* reachable share of the datasheet's bandwidth */
#define L2_SHARE   1.1    /* of L2's rate: as much of DRAM's, where slices read it again */
#define SM_GBS     64.0   /* that an SM counts */
#define MEET_US    1.5    /* counts are cleared first, and the last CTA is found */
#define ADDED_US   1.6e-6 /* to add a 32-bit count to that of all */

static double cost_us(const struct gm_kernel *kernel, const struct gm_histogram_problem *p,
                      const struct gm_device *device, const struct division *d) {
    const double slices = (double)d->layout.slices, parts = (double)d->parts, results = (double)results_of(d, p);
    const double bytes = (double)p->rows * (double)p->columns * gm_type_bytes(p->type);
    const double waves = fmax(1, results * parts / (double)d->at_once);
    const double sms = fmin(results * parts, (double)device->sm_count);
    const double dram = DRAM_SHARE * device->dram_gbs, l2 = slices > 1 ? L2_SHARE * device->dram_gbs / slices : dram;
    const double rate = fmin(fmin(dram, l2), sms * SM_GBS / slices);
    const double counts = COUNTS_US * (double)d->layout.bytes / 4 * 1024 / d->threads;
    const double added = parts * (double)p->bins * gm_histogram_results(p) * (p->int64_counts ? 2 : 1);
    return LAUNCH_US + (kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0) + waves * counts + bytes / rate * 1e-3 +
           (parts > 1 ? MEET_US + ADDED_US * added : 0);
}

/* As many parts as run at once and have a chunk for each thread, a half of them, a quarter, ...: the fastest, if it is faster
 * than `best`. */
static void try_parts(const struct gm_kernel *kernel, const struct gm_question *question, struct division d,
                      struct division *best) {
    const struct gm_histogram_problem *p = question->problem;
    const int64_t room = d.at_once / GM_MAX(results_of(&d, p), 1), most = GM_CEIL_DIV(chunks_of(p), d.threads);
    for (d.parts = GM_MAX(GM_MIN(room, most), 1); d.parts > 0; d.parts /= 2) {
        d.us = cost_us(kernel, p, question->device, &d);
        if (workspace_of(&d, p) <= question->options->workspace_limit && (best->parts == 0 || d.us < best->us))
            *best = d;
    }
}

/* More slices than shared memory asks for share the clearing and storing of many bins, as long as all run at once. */
static struct division best_division(const struct gm_kernel *kernel, const struct gm_question *question) {
    const struct gm_histogram_problem *p = question->problem;
    const int64_t fewest = fewest_slices(kernel, p);
    struct division best = {.parts = 0};
    for (int64_t slices = fewest; slices <= MOST_SLICES * fewest; slices *= 2) {
        const struct division d = undivided(kernel, p, question->device, slices);
        if (slices == fewest || (d.layout.slice_bins >= SLICE_BINS && results_of(&d, p) <= d.at_once))
            try_parts(kernel, question, d, &best);
    }
    return best;
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct gm_histogram_problem *p = question->problem;
    const struct division d = best_division(kernel, question);
    gm_say(why, GM_ACCEPTED,
           "predicted %.2f us: %d threads, %" PRId64 " bins of a CTA in %" PRId64 " copies, %" PRId64
           " slices of them, %" PRId64 " parts of the elements",
           d.us, d.threads, d.layout.slice_bins, d.layout.copies, d.layout.slices, d.parts);
    return (struct gm_verdict){.reason = GM_ACCEPTED,
                               .predicted_us = d.us,
                               .ranking_us = d.us,
                               .workspace_bytes = workspace_of(&d, p),
                               .detail = {d.parts, d.threads, d.layout.slices}};
}

/* 2^32 + magic = floor(2^(32 + bits) / width) + 1, with 2^bits the least power of 2 that is no less than the width: too
 * large by 1 / 2^bits of what it multiplies at most, which moves no quotient of 32 bits. */
static struct gm_histogram_width width_of(uint32_t width) {
    int bits = 0;
    while (UINT64_C(1) << bits < width)
        bits++;
    const uint64_t magic = (((UINT64_C(1) << bits) - width) << 32) / width + 1;
    return (struct gm_histogram_width){(uint32_t)magic, (uint32_t)GM_MIN(bits, 1), (uint32_t)GM_MAX(bits - 1, 0)};
}

/* Histograms that a grid has at a time: no more than 2^20, and, where the plan may use some SMs only, than run at once. */
static int64_t row_blocks_of(const struct gm_plan *plan, const struct layout *layout, int64_t parts, int threads) {
    const int64_t all = GM_MIN(gm_histogram_results(plan->problem), INT64_C(1) << 20);
    const int64_t at_once = ctas_at_once(&plan->device, threads, layout->bytes);
    const int64_t most = gm_plan_is_limited(plan) ? at_once / (layout->slices * parts) : all;
    return GM_MAX(GM_MIN(all, most), 1);
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct gm_histogram_problem *p = plan->problem;
    const struct layout layout = layout_of(p, verdict->detail[2]);
    const int threads = (int)verdict->detail[1];
    const int64_t parts = verdict->detail[0], bytes = gm_type_bytes(p->type), row_bytes = p->columns * bytes;
    const int is_packed = p->rows <= 1 || p->columns == 0 || p->x_stride == p->columns;
    const int64_t row_chunks = GM_MIN(row_bytes / CHUNK_BYTES, GM_HISTOGRAM_SLAB);
    const int64_t row_blocks = row_blocks_of(plan, &layout, parts, threads);
    *(struct gm_histogram_params *)plan->params = (struct gm_histogram_params){
        .ready = gm_random_number(),
        .pitch = p->x_stride * bytes,
        .counts_pitch = p->counts_stride * (p->int64_counts ? 8 : 4),
        .row_bytes = row_bytes,
        .first = p->first,
        .width = p->width,
        .rows = (int32_t)p->rows,
        .bins = (int32_t)p->bins,
        .of_rows = p->of == GM_HISTOGRAM_ROWS,
        .is_packed = is_packed,
        .accumulates = p->accumulate,
        .is_wide = p->int64_counts,
        .row_blocks = (int32_t)row_blocks,
        .parts = (int32_t)parts,
        .slices = (int32_t)layout.slices,
        .slice_bins = (int32_t)layout.slice_bins,
        .copies = (int32_t)layout.copies,
        .slab_rows = (int32_t)GM_MAX(GM_HISTOGRAM_SLAB / (row_chunks + 2), 1),
        .row_chunks = gm_divisor_of((uint32_t)GM_MAX(row_chunks, 1)),
        .by_width = width_of((uint32_t)GM_MAX(p->width, 1)),
        .lower = p->lower,
        .upper = p->upper,
        .scale = gm_histogram_is_of_floats(p) ? gm_histogram_scale(p) : 0,
    };
    plan->config.gridDimX = (unsigned)(row_blocks * parts * layout.slices);
    plan->config.blockDimX = (unsigned)threads;
    plan->config.sharedMemBytes = (unsigned)layout.bytes;
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_histogram_args *args = arguments;
    struct gm_histogram_params *params = into;
    (void)plan;
    params->x = args->x;
    params->counts = args->counts;
    params->row_count = args->row_count;
    params->turns = args->workspace;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_histogram = {
    .name = "histogram",
    .operation = &gm_operation_histogram,
    .params_bytes = sizeof(struct gm_histogram_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
