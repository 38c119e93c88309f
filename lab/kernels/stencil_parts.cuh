/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of the stencil ladder share: reads that stop at the grid's edge, and the march from plane to plane. */
#ifndef LAB_STENCIL_PARTS_CUH
#define LAB_STENCIL_PARTS_CUH

#include "stencil.h"

static __device__ __forceinline__ bool exists(const struct stencil &p, int x, int y, int z) {
    return x >= 0 && x < p.nx && y >= 0 && y < p.ny && z >= 0 && z < p.nz;
}

static __device__ __forceinline__ int index_of(const struct stencil &p, int x, int y, int z) {
    return (z * p.ny + y) * p.pitch + x;
}

/* One point; 0 outside. */
static __device__ __forceinline__ float load_point(const struct stencil &p, int x, int y, int z) {
    return exists(p, x, y, z) ? p.from[index_of(p, x, y, z)] : 0.0f;
}

/* Where a CTA stands, and its planes: first .. end - 1. */
struct tile {
    int x, y, first, end;
};

static __device__ __forceinline__ struct tile tile_begin(const struct stencil &p) {
    const int first = blockIdx.z * STENCIL_PLANES;
    return {(int)blockIdx.x * STENCIL_X, (int)blockIdx.y * STENCIL_Y, first, min(first + STENCIL_PLANES, p.nz)};
}

/* How many of the points (x, y), (x, y + 4), .. of a thread the grid has. */
static __device__ __forceinline__ int points_of(const struct stencil &p, int x, int y) {
    return x < p.nx ? min(max((p.ny - y + 3) / 4, 0), STENCIL_POINTS) : 0;
}

/* A thread's points of the plane below and of this one: what it needs of the planes that it has passed. They are those
 * of column t % 64 in rows t / 64, t / 64 + 4, .. */
struct march {
    float below[STENCIL_POINTS], here[STENCIL_POINTS];
    float *to;  /* its first point in this plane */
    int points; /* how many of them the grid has */
};

static __device__ __forceinline__ struct march march_begin(const struct stencil &p, const struct tile &tile) {
    const int x = tile.x + threadIdx.x % STENCIL_X, y = tile.y + threadIdx.x / STENCIL_X;
    struct march march;
    march.to = p.to + index_of(p, x, y, tile.first);
    march.points = points_of(p, x, y);
#pragma unroll
    for (int i = 0; i < STENCIL_POINTS; i++) {
        march.below[i] = load_point(p, x, y + 4 * i, tile.first - 1);
        march.here[i] = load_point(p, x, y + 4 * i, tile.first);
    }
    return march;
}

/* Computes a plane and steps up. `plane` is its image in shared memory, `above` the next one's. */
static __device__ __forceinline__ void march_up(const struct stencil &p, struct march &march, const float *plane,
                                                const float *above) {
    constexpr int pitch = STENCIL_PITCH;
    const int at = (threadIdx.x / STENCIL_X + 1) * pitch + STENCIL_FIRST + threadIdx.x % STENCIL_X;
#pragma unroll
    for (int i = 0; i < STENCIL_POINTS; i++) {
        const float *point = plane + at + 4 * i * pitch;
        const float up = above[at + 4 * i * pitch];
        const float around = point[-1] + point[1] + point[-pitch] + point[pitch];
        if (i < march.points) {
            march.to[4 * i * p.pitch] = around + march.below[i] + up - 6.0f * march.here[i];
        }
        march.below[i] = march.here[i];
        march.here[i] = up;
    }
    march.to += p.ny * p.pitch;
}

#endif
