/* SPDX-License-Identifier: Apache-2.0 */
/* The 7-point stencil ladder: global memory, shared memory with a halo, cp.async, TMA; beside a plain copy. The
 * library's operations `stencil` and `convolution` came of it (docs/STENCIL.md, docs/CONVOLUTION.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/kernels/stencil.h"
#include "lab/kernels/transpose_tile.h"
#include "lab/ladders.h"
#include "lab/stencil_model.h"

#define LAB_DRAM_READ "dram__bytes_read.sum"

#define POISON      0xffu /* four of them are a NaN */
#define POISON_WORD 0xffffffffu

enum { GUARD_WORDS = 1024, COPY = STENCIL_STEPS };

static const struct step {
    const char *label, *module, *kernel, *change;
} steps[STENCIL_STEPS] = {
    [STENCIL_NAIVE] = {"naive", "stencil", "lab_stencil_naive",
                       "One thread a point, seven loads each: 30 sectors a warp where 4 are new, left to the caches."},
    [STENCIL_SHARED] =
        {"shared", "stencil", "lab_stencil_shared",
         "A CTA carries a tile of 64 x 16 with its rim through shared memory, plane by plane: a point is "
         "loaded once, its rim again by a neighbour."},
    [STENCIL_CP_ASYNC] = {"cp.async", "stencil", "lab_stencil_cp_async",
                          "cp.async brings the planes, two ahead and 16 bytes a thread, without passing through "
                          "registers."},
    [STENCIL_TMA] =
        {"TMA", "stencil_tma", "lab_stencil_tma",
         "One thread asks for a box that begins outside the grid; the hardware finds the addresses and fills in "
         "the zeros."},
};

/* Ragged ones first: every step must be exact at all of them. The one to be counted has whole tiles and two marches. */
enum { SIZES = 5, COUNTED = 3, TIMED = 4 };
static const int sizes[SIZES][3] = {{70, 70, 70}, {1, 1, 1}, {33, 65, 129}, {128, 64, 96}, {512, 512, 512}};

struct grid {
    struct stencil problem; /* with addresses of the device */
    float *from;            /* on the host */
    struct lab_map map;
};

struct stencil_data {
    struct grid grids[SIZES];
    int step_of[LAB_POINTS_MAX], size_of[LAB_POINTS_MAX]; /* of every point */
};

/* ---- grids ---------------------------------------------------------------------------------------- */

static size_t words_of(const struct stencil *p) {
    return (size_t)p->nz * (size_t)p->ny * (size_t)p->pitch;
}

static size_t bytes_of(const struct stencil *p) {
    return (words_of(p) + GUARD_WORDS) * sizeof(float);
}

/* Integers from -4 to 4; between the rows NaN. */
static float *make_points(const struct stencil *p) {
    float *points = malloc(bytes_of(p));
    if (!points)
        return NULL;
    memset(points, POISON, bytes_of(p));
    for (size_t row = 0; row < (size_t)p->nz * (size_t)p->ny; row++) {
        for (uint32_t x = 0; x < (uint32_t)p->nx; x++)
            points[row * (size_t)p->pitch + x] = (float)((int)(ladder_hash((uint32_t)row * 4099u + x) % 9) - 4);
    }
    return points;
}

static int make_map(struct lab *lab, const struct stencil *p, struct lab_map *map) {
    enum { FLOAT32 = 7, PROMOTE_128B = 2 };
    const uint64_t row = (uint64_t)p->pitch * sizeof(float);
    const struct gm_tensor_map_request request = {
        .size = sizeof request,
        .type = FLOAT32,
        .rank = 3,
        .address = (uint64_t)(uintptr_t)p->from,
        .dims = {(uint64_t)p->nx, (uint64_t)p->ny, (uint64_t)p->nz},
        .strides = {row, row * (uint64_t)p->ny},
        .box = {STENCIL_PITCH, STENCIL_ROWS, 1},
        .l2_promotion = PROMOTE_128B,
    };
    return lab_tensor_map(lab, &request, map);
}

/* All that there is of the largest on the simulated GPU, which does not launch it. */
static void make_extent(struct grid *grid, const int size[3]) {
    grid->problem = (struct stencil){.nx = size[0], .ny = size[1], .nz = size[2], .pitch = (size[0] + 3) / 4 * 4};
}

static int make_grid(struct lab *lab, struct grid *grid, const int size[3]) {
    CUdeviceptr from, to;
    make_extent(grid, size);
    const size_t bytes = bytes_of(&grid->problem);
    grid->from = make_points(&grid->problem);
    if (!grid->from)
        return complain("no host memory for a grid of %d x %d x %d", size[0], size[1], size[2]);
    if (lab_alloc(lab, &from, bytes, POISON) != 0 || lab_alloc(lab, &to, bytes, POISON) != 0 ||
        lab_upload(lab, from, grid->from, bytes) != 0)
        return -1;
    grid->problem.from = (const float *)(uintptr_t)from;
    grid->problem.to = (float *)(uintptr_t)to;
    return ladder_is_hopper(lab) ? make_map(lab, &grid->problem, &grid->map) : 0;
}

/* ---- points --------------------------------------------------------------------------------------- */

static unsigned tiles(int points, int tile) {
    return (unsigned)((points + tile - 1) / tile);
}

static void set_launch(struct lab_point *point, enum stencil_step which, const struct grid *grid) {
    const struct stencil *p = &grid->problem;
    const bool naive = which == STENCIL_NAIVE;
    lab_kernel(point, steps[which].module, steps[which].kernel, tiles(p->nx, naive ? STENCIL_NAIVE_X : STENCIL_X),
               naive ? STENCIL_NAIVE_X : STENCIL_THREADS);
    point->launch.grid[1] = tiles(p->ny, naive ? STENCIL_NAIVE_Y : STENCIL_Y);
    point->launch.grid[2] = naive ? (unsigned)p->nz : tiles(p->nz, STENCIL_PLANES);
    point->launch.block[1] = naive ? STENCIL_NAIVE_Y : 1;
    if (which == STENCIL_TMA)
        LAB_ARGUMENT(point, grid->map);
    LAB_ARGUMENT(point, *p);
}

static void expect(struct lab_point *point, const char *name, const char *metric, double predicted) {
    if (!isnan(predicted))
        lab_quantity(point, name, metric, predicted, 0);
}

/* `which`: a step, or COPY. */
static struct lab_point *add_point(struct lab *lab, int which, int size) {
    struct stencil_data *data = lab->data;
    const struct stencil *p = &data->grids[size].problem;
    const char *name = which == COPY ? "copy" : steps[which].label;
    char label[64];
    snprintf(label, sizeof label, size == TIMED ? "%s" : "%s, %d x %d x %d", name, p->nx, p->ny, p->nz);
    struct lab_point *point = lab_add(lab, label, size == TIMED && which != COPY ? steps[which].change : "");
    if (!point)
        return NULL;
    data->step_of[ladder_index(lab, point)] = which;
    data->size_of[ladder_index(lab, point)] = size;
    point->timed = size == TIMED;
    point->too_large = lab->simulated && size == TIMED;
    if (point->timed)
        point->bytes = 2.0 * sizeof(float) * p->nx * p->ny * p->nz;
    return point;
}

/* At the timed size only what is read from memory, which has no exact prediction: how much of its neighbour's rim a CTA
 * still finds in L2 depends on who runs beside whom. claim_reads() has its bounds. */
static void expect_counts(struct lab_point *point, enum stencil_step which, int size) {
    const int *s = sizes[size];
    if (size == TIMED)
        lab_quantity(point, "bytes read from memory", LAB_DRAM_READ, NAN, 0);
    if (size != COUNTED)
        return;
    const struct stencil_counts counts = stencil_predict(which, s[0], s[1], s[2]);
    expect(point, "load sectors", LAB_SECTORS_LD, counts.sectors);
    expect(point, "load wavefronts", LAB_EXACT_WAVEFRONTS_LD, counts.load_wavefronts);
    expect(point, "store wavefronts", LAB_EXACT_WAVEFRONTS_ST, counts.store_wavefronts);
}

/* Nothing can be faster that reads and writes as much: the copy kernel of the transpose ladder, which measures it beside
 * the driver's copy. */
static int add_copy(struct lab *lab) {
    const struct stencil_data *data = lab->data;
    const struct stencil *p = &data->grids[TIMED].problem;
    const uint32_t vectors = (uint32_t)(words_of(p) / 4);
    struct lab_point *point = add_point(lab, COPY, TIMED);
    if (!point)
        return -1;
    lab_kernel(point, "transpose", "lab_transpose_copy", tiles((int)vectors, TRANSPOSE_COPY_THREADS),
               TRANSPOSE_COPY_THREADS);
    LAB_ARGUMENT(point, p->from);
    LAB_ARGUMENT(point, p->to);
    LAB_ARGUMENT(point, vectors);
    return 0;
}

/* A step at every size. */
static int add_step(struct lab *lab, enum stencil_step which) {
    struct stencil_data *data = lab->data;
    for (int size = 0; size < SIZES; size++) {
        struct lab_point *point = add_point(lab, which, size);
        if (!point)
            return -1;
        set_launch(point, which, &data->grids[size]);
        expect_counts(point, which, size);
    }
    return 0;
}

static int stencil_setup(struct lab *lab) {
    struct stencil_data *data = lab->data = calloc(1, sizeof *data);
    if (!data)
        return complain("out of host memory");
    for (int size = 0; size < SIZES; size++) {
        if (lab->simulated && size == TIMED)
            make_extent(&data->grids[size], sizes[size]);
        else if (make_grid(lab, &data->grids[size], sizes[size]) != 0)
            return -1;
    }
    const int count = ladder_is_hopper(lab) ? STENCIL_STEPS : STENCIL_TMA;
    int failed = add_copy(lab);
    for (int which = 0; which < count && failed == 0; which++)
        failed = add_step(lab, which);
    return failed;
}

/* ---- check ---------------------------------------------------------------------------------------- */

static const struct grid *grid_of(struct lab *lab, const struct lab_point *point) {
    struct stencil_data *data = lab->data;
    return &data->grids[data->size_of[ladder_index(lab, point)]];
}

static int stencil_prepare(struct lab *lab, struct lab_point *point) {
    const struct stencil *p = &grid_of(lab, point)->problem;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, (CUdeviceptr)(uintptr_t)p->to, POISON, bytes_of(p), lab->gpu.stream);
    return 0;
}

/* What a row's neighbour in y or z holds, or NULL where that row does not exist. */
static const float *row_of(const struct grid *grid, int y, int z) {
    const struct stencil *p = &grid->problem;
    const bool exists = y >= 0 && y < p->ny && z >= 0 && z < p->nz;
    return exists ? grid->from + ((size_t)z * (size_t)p->ny + (size_t)y) * (size_t)p->pitch : NULL;
}

static float expected(const struct grid *grid, const float *const around[4], const float *row, int x) {
    float sum = -6.0f * row[x];
    sum += (x > 0 ? row[x - 1] : 0) + (x + 1 < grid->problem.nx ? row[x + 1] : 0);
    for (int i = 0; i < 4; i++)
        sum += around[i] ? around[i][x] : 0;
    return sum;
}

/* The first point of a row that is wrong, or the first word behind it that was written; -1: none. */
static int wrong_in_row(const struct grid *grid, const float *to, int y, int z, bool copied) {
    const float *row = row_of(grid, y, z);
    const float *const around[4] = {row_of(grid, y - 1, z), row_of(grid, y + 1, z), row_of(grid, y, z - 1),
                                    row_of(grid, y, z + 1)};
    for (int x = 0; x < grid->problem.pitch; x++) {
        uint32_t word;
        memcpy(&word, &to[x], sizeof word);
        const bool right =
            x >= grid->problem.nx ? word == POISON_WORD : to[x] == (copied ? row[x] : expected(grid, around, row, x));
        if (!right)
            return x;
    }
    return -1;
}

static void compare(struct lab_point *point, const struct grid *grid, const float *to, bool copied) {
    const struct stencil *p = &grid->problem;
    for (int z = 0; z < p->nz; z++) {
        for (int y = 0; y < p->ny; y++) {
            const float *row = to + ((size_t)z * (size_t)p->ny + (size_t)y) * (size_t)p->pitch;
            const int x = wrong_in_row(grid, row, y, z, copied);
            if (x >= 0) {
                lab_wrong(point, "point (%d, %d, %d) of %d x %d x %d is wrong: %g", x, y, z, p->nx, p->ny, p->nz,
                          (double)row[x]);
                return;
            }
        }
    }
    for (size_t i = 0; i < GUARD_WORDS * sizeof(float); i++) {
        if (((const unsigned char *)(to + words_of(p)))[i] != POISON) {
            lab_wrong(point, "byte %zu behind the grid was written", i);
            return;
        }
    }
    lab_correct(point);
}

static int stencil_check(struct lab *lab, struct lab_point *point) {
    struct stencil_data *data = lab->data;
    const struct grid *grid = grid_of(lab, point);
    const size_t bytes = bytes_of(&grid->problem);
    float *to = malloc(bytes);
    if (!to)
        return complain("no host memory to check a grid of %zu bytes", bytes);
    if (lab_download(lab, to, (CUdeviceptr)(uintptr_t)grid->problem.to, bytes) != 0) {
        free(to);
        return -1;
    }
    compare(point, grid, to, data->step_of[ladder_index(lab, point)] == COPY);
    free(to);
    return 0;
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

/* Times that differ by no more than this count as equal. */
#define NOISE 0.97

/* Counted on whole tiles; the rim's two columns, 32 words 72 apart, are four to a bank. */
static void claim_conflicts(struct lab *lab) {
    const int *s = sizes[COUNTED];
    char label[64];
    snprintf(label, sizeof label, "%s, %d x %d x %d", steps[STENCIL_SHARED].label, s[0], s[1], s[2]);
    const struct stencil_counts counts = stencil_predict(STENCIL_SHARED, s[0], s[1], s[2]);
    const double stores = lab_counted(lab_find(lab, label), "store wavefronts");
    lab_claim(lab, stores == counts.store_wavefronts, false,
              "shared: %.1f %% of its store wavefronts are bank conflicts, all in the rim's columns",
              100 * counts.store_conflicts / stores);
}

/* Every point is read at least once, and at most as often as the tiles and their rims overlap. 1 % is for what else the
 * memory is asked for during a launch. */
static void claim_reads(struct lab *lab) {
    const double rims =
        (double)STENCIL_PITCH * STENCIL_ROWS / (STENCIL_X * STENCIL_Y) * (STENCIL_PLANES + 2) / STENCIL_PLANES;
    for (int i = STENCIL_SHARED; i < STENCIL_STEPS; i++) {
        const struct lab_point *point = lab_find(lab, steps[i].label);
        if (!point)
            continue;
        const double times = lab_counted(point, "bytes read from memory") / (point->bytes / 2);
        lab_claim(lab, times > 0.99 && times < 1.01 * rims, false,
                  "%s: every point is read %.2f times from memory; without L2 the rims would make it %.2f",
                  point->label, times, rims);
    }
}

static int stencil_conclude(struct lab *lab) {
    const double copy = lab_gbs(lab_find(lab, "copy"));
    const struct lab_point *last = NULL;
    if (lab->has_counts) {
        claim_conflicts(lab);
        claim_reads(lab);
    }
    for (int i = 0; i < STENCIL_STEPS; i++) {
        const struct lab_point *point = lab_find(lab, steps[i].label);
        if (!point)
            continue;
        const double rate = lab_gbs(point), before = last ? lab_gbs(last) : NAN;
        if (last)
            lab_claim(lab, rate > NOISE * before, true, "%s: %.2f times the speed of %s, %.0f GB/s, %.1f %% of a copy",
                      point->label, rate / before, last->label, rate, 100 * rate / copy);
        else
            lab_claim(lab, rate < copy, true, "%s stays below a copy: %.0f of %.0f GB/s, %.1f %%", point->label, rate,
                      copy, 100 * rate / copy);
        last = point;
    }
    return 0;
}

static void stencil_teardown(struct lab *lab) {
    struct stencil_data *data = lab->data;
    for (int i = 0; data && i < SIZES; i++)
        free(data->grids[i].from);
}

const struct lab_experiment stencil = {
    .name = "stencil",
    .title = "A 7-point stencil",
    .question =
        "How near to a plain copy does a stencil come when shared memory, cp.async and TMA bring its neighbours?",
    .page = "cp-async",
    .setup = stencil_setup,
    .prepare = stencil_prepare,
    .check = stencil_check,
    .conclude = stencil_conclude,
    .teardown = stencil_teardown,
};
