/* SPDX-License-Identifier: Apache-2.0 */
/* Permutations of any variant on the CPU, from the same parameter structs that the GPU kernels get, and the planted bugs. */
#include <math.h>

#include "columns.h"
#include "common/permute/params.h"
#include "common/permute_rows/params.h"
#include "common/permute_tile/tile.h"
#include "permute/permute_tests.h"

struct job {
    int x_bytes, out_bytes;
    enum gm_type from, to;
    int64_t elements, done; /* of the call */
};

/* ---- an element ---------------------------------------------------------------------------------------- */

static enum gm_type typed(int bytes, int32_t type) {
    return bytes == 4 ? GM_FP32 : (enum gm_type)type;
}

static double truncated(enum gm_type type, double value) {
    const double rounded = round_to(type, value);
    if (!isfinite(value) || fabs(rounded) <= fabs(value))
        return value;
    return copysign(fabs(rounded) - 2 * half_ulp(type, fabs(value)), value);
}

static double with_bug(enum gm_type to, double value) {
    const double largest = to == GM_FP16 ? 65504 : to == GM_BF16 ? 0x1.fep127 : 0x1.fffffep127;
    const double least = to == GM_FP16 ? 0x1p-14 : 0x1p-126;
    if (planted_bug == PERMUTE_BUG_TRUNCATES)
        return truncated(to, value);
    if (planted_bug == PERMUTE_BUG_DROPS_NAN && isnan(value))
        return largest;
    if (planted_bug == PERMUTE_BUG_FLUSHES && fabs(value) < least)
        return 0;
    if (planted_bug == PERMUTE_BUG_SATURATES && fabs(value) > largest)
        return copysign(largest, value);
    return value;
}

static void move(struct job *job, uint64_t x, uint64_t out) {
    const uint8_t *from = (const uint8_t *)(uintptr_t)x;
    uint8_t *to = (uint8_t *)(uintptr_t)out;
    const int64_t number = job->done++;
    if ((planted_bug == PERMUTE_BUG_LOST_TAIL && number == job->elements - 1) ||
        (planted_bug == PERMUTE_BUG_LOST_MIDDLE && number == job->elements / 2))
        return;
    if (job->x_bytes == job->out_bytes && job->from == job->to)
        memmove(to, from, (size_t)job->x_bytes);
    else
        store_bits(to, job->to,
                   double_to_bits(job->to, with_bug(job->to, bits_to_double(job->from, load_bits(from, job->from)))));
    if (planted_bug == PERMUTE_BUG_BYTES && number == job->elements / 2)
        to[0] ^= 0x10;
    const bool is_last = number == job->elements - 1;
    if (planted_bug == (is_last ? PERMUTE_BUG_ELEMENT_AFTER : PERMUTE_BUG_GAP) && to[job->out_bytes] == POISON)
        to[job->out_bytes] = 0x77;
}

/* ---- a walk -------------------------------------------------------------------------------------------- */

/* What index number `number` of all dimensions of the walk means; other dimensions may be behind its rank. */
static void walk_to(const struct gm_permute_walk *w, int rank, int64_t number, uint64_t *x, uint64_t *out) {
    for (int d = 0; d < rank; d++) {
        const int64_t index = number % w->extent[d].divisor;
        const int64_t pitch = w->x_pitch[d] + (planted_bug == PERMUTE_BUG_X_PITCH && number != index ? 1 : 0);
        *x += (uint64_t)(index * pitch);
        *out += (uint64_t)(index * w->out_pitch[d]);
        number /= w->extent[d].divisor;
    }
}

static int64_t count_of(const struct gm_permute_walk *w) {
    int64_t count = 1;
    for (int d = 0; d < GM_PERMUTE_DIMENSIONS; d++)
        count *= w->extent[d].divisor;
    return count;
}

/* ---- the kernels --------------------------------------------------------------------------------------- */

static void by_chunks(struct job *job, const struct gm_permute_params *p, int elements) {
    const int64_t chunks = count_of(&p->walk);
    job->elements = chunks * elements;
    for (int64_t number = 0; number < chunks; number++) {
        uint64_t x = p->x, out = p->out;
        const int64_t other = planted_bug == PERMUTE_BUG_SWAPPED && chunks > 1 && number < 2 ? 1 - number : number;
        uint64_t ignored = p->out, other_x = p->x;
        walk_to(&p->walk, GM_PERMUTE_DIMENSIONS, number, &x, &out);
        walk_to(&p->walk, GM_PERMUTE_DIMENSIONS, other, &other_x, &ignored);
        for (int i = 0; i < elements; i++)
            move(job, other_x + (uint64_t)(i * job->x_bytes), out + (uint64_t)(i * job->out_bytes));
    }
}

static void by_tiles(struct job *job, const struct gm_permute_tile_params *p) {
    const int64_t matrices = count_of(&p->rest);
    job->elements = matrices * p->rows * p->columns;
    for (int64_t matrix = 0; matrix < matrices; matrix++) {
        uint64_t x = p->x, out = p->out;
        walk_to(&p->rest, GM_PERMUTE_DIMENSIONS, matrix, &x, &out);
        for (int64_t column = 0; column < p->columns; column++)
            for (int64_t row = 0; row < p->rows; row++) {
                const int64_t other = planted_bug == PERMUTE_BUG_SWAPPED && p->rows > 1 && row < 2 ? 1 - row : row;
                const int64_t pitch = p->x_pitch + (planted_bug == PERMUTE_BUG_X_PITCH ? job->x_bytes : 0);
                move(job, x + (uint64_t)(other * pitch + column * job->x_bytes),
                     out + (uint64_t)(column * p->out_pitch + row * job->out_bytes));
            }
    }
}

/* Byte by byte, so that an element is one. */
static void by_rows(struct job *job, const struct gm_permute_rows_params *p) {
    const int64_t row_bytes = (int64_t)(p->chunks.divisor - 1) * 16 + p->last_bytes, rows = count_of(&p->rows);
    job->elements = rows * row_bytes;
    for (int64_t row = 0; row < rows; row++) {
        uint64_t x = p->x, out = p->out;
        walk_to(&p->rows, GM_PERMUTE_DIMENSIONS, row, &x, &out);
        for (int64_t byte = 0; byte < row_bytes; byte++) {
            const int64_t other = planted_bug == PERMUTE_BUG_SWAPPED && row_bytes > 1 && byte < 2 ? 1 - byte : byte;
            move(job, x + (uint64_t)other, out + (uint64_t)byte);
        }
    }
}

void compute_permute(const struct gm_kernel *kernel, const void *params) {
    const int32_t *c = kernel->columns;
    if (kernel->family == &gm_family_permute_tile) {
        const struct gm_permute_tile_params *p = params;
        struct job job = {.x_bytes = c[GM_PERMUTE_TILE_X_BYTES], .out_bytes = c[GM_PERMUTE_TILE_OUT_BYTES]};
        job.from = typed(job.x_bytes, p->from);
        job.to = typed(job.out_bytes, p->to);
        by_tiles(&job, p);
        return;
    }
    if (kernel->family == &gm_family_permute_rows) {
        struct job job = {.x_bytes = 1, .out_bytes = 1};
        by_rows(&job, params);
        return;
    }
    const struct gm_permute_params *p = params;
    struct job job = {.x_bytes = c[GM_PERMUTE_X_BYTES], .out_bytes = c[GM_PERMUTE_OUT_BYTES]};
    job.from = typed(job.x_bytes, p->from);
    job.to = typed(job.out_bytes, p->to);
    by_chunks(&job, p, c[GM_PERMUTE_ELEMENTS]);
}
