/* SPDX-License-Identifier: Apache-2.0 */
/* The stencil ladder, up to cp.async. Seven points are read for one that is written, but each is needed from memory
 * only once; what limits these steps is who keeps the other six reads away from it, and how many are under way. */
#include "stencil_parts.cuh"

#include "sm80/pipeline.cuh"

/* Step 1. One thread a point, all seven from global memory: that the neighbours were just read by other threads is left
 * to the caches. */
extern "C" __global__ void __launch_bounds__(STENCIL_NAIVE_X *STENCIL_NAIVE_Y)
    lab_stencil_naive(const struct stencil p) {
    const int x = blockIdx.x * STENCIL_NAIVE_X + threadIdx.x, y = blockIdx.y * STENCIL_NAIVE_Y + threadIdx.y;
    const int z = blockIdx.z;
    if (exists(p, x, y, z)) {
        const float around = load_point(p, x - 1, y, z) + load_point(p, x + 1, y, z) + load_point(p, x, y - 1, z) +
                             load_point(p, x, y + 1, z) + load_point(p, x, y, z - 1) + load_point(p, x, y, z + 1);
        p.to[index_of(p, x, y, z)] = around - 6.0f * load_point(p, x, y, z);
    }
}

struct alignas(16) plane {
    float row[STENCIL_ROWS][STENCIL_PITCH];
};

/* ---- shared memory -------------------------------------------------------------------------------- */

/* What a thread loads of every plane: its own points, and of the rim warps 0 to 3 the rows before and behind, warp 4
 * the columns left and right. */
struct loader {
    const float *own, *rim; /* in the next plane */
    int own_points, rim_to; /* how many points the grid has; where its point of the rim goes, below 0: it has none */
    bool rim_exists;
    int z;
};

static __device__ __forceinline__ struct loader load_begin(const struct stencil &p, const struct tile &tile) {
    const int t = threadIdx.x, x = t % STENCIL_X, y = t / STENCIL_X;
    const bool in_row = t < 2 * STENCIL_X, in_column = !in_row && t < 2 * STENCIL_X + 2 * STENCIL_Y;
    const int column = in_row ? x : t / STENCIL_Y % 2 ? STENCIL_X : -1;
    const int row = in_row ? (y ? STENCIL_Y : -1) : t % STENCIL_Y;
    return {p.from + index_of(p, tile.x + x, tile.y + y, tile.first),
            p.from + index_of(p, tile.x + column, tile.y + row, tile.first),
            points_of(p, tile.x + x, tile.y + y),
            in_row || in_column ? (1 + row) * STENCIL_PITCH + STENCIL_FIRST + column : -1,
            (in_row || in_column) && exists(p, tile.x + column, tile.y + row, 0),
            tile.first};
}

/* The next plane: first all loads, so that they are under way together, then all stores. */
static __device__ __forceinline__ void load_plane(const struct stencil &p, struct loader &loader, struct plane &to) {
    const bool inside = loader.z < p.nz;
    float own[STENCIL_POINTS], rim = 0.0f;
#pragma unroll
    for (int i = 0; i < STENCIL_POINTS; i++) {
        own[i] = inside && i < loader.own_points ? loader.own[4 * i * p.pitch] : 0.0f;
    }
    if (inside && loader.rim_exists) {
        rim = *loader.rim;
    }
    float *first = &to.row[1 + threadIdx.x / STENCIL_X][STENCIL_FIRST + threadIdx.x % STENCIL_X];
#pragma unroll
    for (int i = 0; i < STENCIL_POINTS; i++) {
        first[4 * i * STENCIL_PITCH] = own[i];
    }
    if (loader.rim_to >= 0) {
        to.row[0][loader.rim_to] = rim;
    }
    loader.own += p.ny * p.pitch;
    loader.rim += p.ny * p.pitch;
    loader.z++;
}

/* Step 2. Every point comes once to shared memory (the rim to its neighbours' too), and is read there by the threads
 * around it; below and above are kept in registers on the march through the planes. Plane z + 1 is written to a third
 * buffer, so that one barrier a plane is enough. */
extern "C" __global__ void __launch_bounds__(STENCIL_THREADS, 5) lab_stencil_shared(const struct stencil p) {
    __shared__ struct plane ring[3];
    const struct tile tile = tile_begin(p);
    struct march march = march_begin(p, tile);
    struct loader loader = load_begin(p, tile);
    int here = 0;
    load_plane(p, loader, ring[0]);
    for (int z = tile.first; z < tile.end; z++) {
        const int above = here == 2 ? 0 : here + 1;
        load_plane(p, loader, ring[above]);
        __syncthreads();
        march_up(p, march, ring[here].row[0], ring[above].row[0]);
        here = above;
    }
}

/* ---- cp.async ------------------------------------------------------------------------------------- */

/* What a thread copies of every plane: four of the tile's points at once, and of the rim warp 0 the rows before and
 * behind, four at once, warp 1 the columns left and right, one by one. */
struct copier {
    const float *own, *rim;   /* in the next plane */
    int own_bytes, rim_bytes; /* of them in the grid; the rest becomes zeros */
    int own_to, rim_to;       /* word of a plane */
    int z;
};

/* How many bytes of `count` points from (x, y) on the grid has. */
static __device__ __forceinline__ int bytes_of(const struct stencil &p, int x, int y, int count) {
    return exists(p, x, y, 0) ? min(p.nx - x, count) * 4 : 0;
}

static __device__ __forceinline__ struct copier copy_begin(const struct stencil &p, const struct tile &tile) {
    const int t = threadIdx.x, x = t % 16 * 4, y = t / 16;
    const int column = t < 32 ? x : y % 2 ? STENCIL_X : -1;
    const int row = t < 32 ? (y ? STENCIL_Y : -1) : t % STENCIL_Y;
    return {p.from + index_of(p, tile.x + x, tile.y + y, tile.first),
            p.from + index_of(p, tile.x + column, tile.y + row, tile.first),
            bytes_of(p, tile.x + x, tile.y + y, 4),
            bytes_of(p, tile.x + column, tile.y + row, t < 32 ? 4 : 1),
            (1 + y) * STENCIL_PITCH + STENCIL_FIRST + x,
            (1 + row) * STENCIL_PITCH + STENCIL_FIRST + column,
            tile.first};
}

/* The next plane. */
static __device__ __forceinline__ void copy_plane(const struct stencil &p, struct copier &copier, struct plane &to) {
    const uint32_t plane_addr = (uint32_t)__cvta_generic_to_shared(&to);
    const bool inside = copier.z < p.nz;
    cp_async_cg_16(plane_addr + 4 * copier.own_to, (uint64_t)copier.own, inside ? copier.own_bytes : 0);
    if (threadIdx.x < 32) {
        cp_async_cg_16(plane_addr + 4 * copier.rim_to, (uint64_t)copier.rim, inside ? copier.rim_bytes : 0);
    } else if (threadIdx.x < 64) {
        cp_async_ca_4(plane_addr + 4 * copier.rim_to, (uint64_t)copier.rim, inside ? copier.rim_bytes : 0);
    }
    copier.own += p.ny * p.pitch;
    copier.rim += p.ny * p.pitch;
    copier.z++;
}

/* Step 3. cp.async carries the planes, two ahead of the one that is computed and four words at a time, without passing
 * through registers. */
extern "C" __global__ void __launch_bounds__(STENCIL_THREADS, 6) lab_stencil_cp_async(const struct stencil p) {
    __shared__ struct plane ring[STENCIL_RING];
    const struct tile tile = tile_begin(p);
    struct march march = march_begin(p, tile);
    struct copier copier = copy_begin(p, tile);
    for (int i = 0; i < STENCIL_RING - 1; i++) {
        copy_plane(p, copier, ring[i]);
        pipeline_commit();
    }
    unsigned here = 0;
    for (int z = tile.first; z < tile.end; z++) {
        const unsigned above = (here + 1) % STENCIL_RING;
        pipeline_wait<STENCIL_RING - 3>();
        if (z + STENCIL_RING - 1 <= tile.end) {
            copy_plane(p, copier, ring[(here + STENCIL_RING - 1) % STENCIL_RING]);
        }
        pipeline_commit();
        march_up(p, march, ring[here].row[0], ring[above].row[0]);
        here = above;
    }
    cp_async_wait_group<0>(); /* a short tile has copied planes it never reads; none may land after the exit */
}
