/* SPDX-License-Identifier: Apache-2.0 */
/* stencil of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include <math.h>
#include <stdlib.h>

#include "common/stencil/params.h"
#include "stencil/stencil_tests.h"

struct job {
    const struct gm_stencil_params *p;
    enum gm_type type;
    int64_t bytes;
};

static int inside(int i, const struct gm_stencil_side *side) {
    if (i >= 0 && i < side->extent)
        return i;
    if (planted_bug == STENCIL_BUG_CLAMP)
        return i < 0 ? 0 : side->extent - 1;
    return i < 0 ? side->before : side->behind;
}

static float element(const struct job *job, int grid, int z, int y, int x) {
    const struct gm_stencil_params *p = job->p;
    const int plane = planted_bug == STENCIL_BUG_DEPTH && z < 0 ? -1 : inside(z, &p->planes);
    const int row = inside(y, &p->rows), column = inside(x, &p->columns);
    if (plane < 0 || row < 0 || column < 0)
        return 0;
    const int64_t of = planted_bug == STENCIL_BUG_GRID ? 0 : grid;
    const uint64_t at = p->x + (uint64_t)(of * p->x_grid + plane * p->x_plane + row * p->x_pitch + column * job->bytes);
    return (float)bits_to_double(job->type, load_bits((const uint8_t *)(uintptr_t)at, job->type));
}

static float add(float factor, float value, float sum) {
    const volatile float product = factor * value;
    return planted_bug == STENCIL_BUG_PRODUCT ? product + sum : fmaf(factor, value, sum);
}

static bool has_tap(int points, int dz, int dy, int dx) {
    const bool is_flat = points == 5 || points == 9, is_star = points == 5 || points == 7;
    return !(is_flat && dz) && !(is_star && abs(dz) + abs(dy) + abs(dx) > 1);
}

static float compute(const struct job *job, int grid, int z, int y, int x) {
    const struct gm_stencil_params *p = job->p;
    const int points = planted_bug == STENCIL_BUG_CORNERS && p->points == 7 ? 27 : p->points;
    const bool is_turned = planted_bug == STENCIL_BUG_TURNED, is_backward = planted_bug == STENCIL_BUG_ORDER;
    struct {
        int tap, dz, dy, dx;
    } taps[GM_STENCIL_MOST];
    int count = 0;
    float sum = 0;
    for (int i = 0; i < 27; i++) {
        const int dz = i / 9 - 1, dy = i / 3 % 3 - 1, dx = i % 3 - 1;
        if (!has_tap(points, dz, dy, dx))
            continue;
        taps[count].tap = count;
        taps[count].dz = dz;
        taps[count].dy = is_turned ? dx : dy;
        taps[count].dx = is_turned ? dy : dx;
        count++;
    }
    for (int i = 0; i < count - (planted_bug == STENCIL_BUG_LOST_TAP); i++) {
        const int n = is_backward ? count - 1 - i : i;
        if (planted_bug == STENCIL_BUG_ROUNDED && i > 0 && taps[i].dz != taps[i - 1].dz)
            sum = (float)round_to(job->type, (double)sum);
        sum =
            add(p->coefficients[taps[n].tap], element(job, grid, z + taps[n].dz, y + taps[n].dy, x + taps[n].dx), sum);
    }
    return sum;
}

static void compute_row(const struct job *job, int grid, int z, int y) {
    const struct gm_stencil_params *p = job->p;
    const int written =
        p->columns.extent + (planted_bug == STENCIL_BUG_COLUMN_AFTER) - (planted_bug == STENCIL_BUG_LOST_TAIL);
    const uint64_t row = p->out + (uint64_t)(grid * p->out_grid + z * p->out_plane + y * p->out_pitch);
    for (int x = 0; x < written; x++) {
        const double value = x < p->columns.extent ? (double)compute(job, grid, z, y, x) : 1;
        store_bits((uint8_t *)(uintptr_t)(row + (uint64_t)(x * job->bytes)), job->type,
                   double_to_bits(job->type, value));
    }
}

void compute_stencil(const struct gm_kernel *kernel, const void *params) {
    const struct gm_stencil_params *p = params;
    const struct job job = {p, kernel->type, gm_type_bytes(kernel->type)};
    const int grids = p->marches / (int)(p->column_tiles.divisor * p->row_tiles.divisor * p->layers.divisor);
    for (int grid = 0; grid < grids; grid++)
        for (int z = 0; z < p->planes.extent - (planted_bug == STENCIL_BUG_LOST_PLANE && grid == grids - 1); z++)
            for (int y = 0; y < p->rows.extent; y++)
                compute_row(&job, grid, z, y);
}
