/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses how a plan divides its last tiles, by the cost model. */
#include "split.h"

#include "common/stream_k.h"
#include "cost.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MOST_PIECES 32   /* of a tile */
#define WORTH       0.98 /* of the undivided time: what a division must promise, since the model is not exact */

static int64_t tile_blocks(const struct gm_kernel *row, const struct gm_gemm_problem *problem) {
    return GM_CEIL_DIV(problem->k, (int64_t)row->tile_k);
}

static int64_t all_tiles(const struct gm_kernel *row, const struct gm_gemm_problem *problem) {
    return gm_tiles_m(row, problem) * gm_tiles_n(row, problem);
}

/* Gangs of threads that hold a part of a tile of the row, each of which hands on its own: common/stream_k.cuh. */
static int64_t gangs(const struct gm_kernel *row) {
    return (int64_t)gm_cluster_size(row) * (gm_uses_tma(row) ? GM_SM90_TILE_CONSUMERS(row->warps) : 1);
}

/* A cluster that shares the K of its tiles divides them by itself; gemv has small tiles, and CTAs enough. */
static int divides(const struct gm_kernel *row, const struct gm_division *d, int64_t tiles, int64_t blocks) {
    if (gm_reduces(row))
        return d->whole == 0 && d->pieces >= 2 && d->pieces <= GM_STREAM_K_MOST_PIECES && d->pieces <= blocks &&
               d->shares == tiles * d->pieces;
    return gm_is_persistent(row) && GM_WARPS_SPLITS(row->warps) == 1 && d->pieces == 0;
}

static struct gm_split undivided(const struct gm_kernel *row, const struct gm_gemm_problem *problem,
                                 const struct gm_device *device) {
    return (struct gm_split){.whole = all_tiles(row, problem), .predicted_us = gm_cost_us(row, problem, device)};
}

struct gm_split gm_split_of(const struct gm_kernel *row, const struct gm_gemm_problem *problem,
                            const struct gm_device *device, const struct gm_division *d) {
    const int64_t divided = all_tiles(row, problem) - d->whole, blocks = tile_blocks(row, problem);
    if (!divides(row, d, divided, blocks) || d->whole < 0 || divided <= 0 || blocks == 0 || d->shares <= 0 ||
        d->shares > gm_clusters_at_once(row, device) || divided > INT32_MAX / blocks)
        return undivided(row, problem, device);
    const size_t tiles_bytes = (size_t)gm_cluster_size(row) * GM_STREAM_K_TILE_BYTES((size_t)row->tile_m, row->tile_n);
    const int64_t flags = d->pieces > 0 ? d->pieces * gm_cluster_size(row) : gangs(row); /* of a share */
    const size_t share_bytes = tiles_bytes + (size_t)flags * GM_STREAM_K_FLAG_BYTES;
    return (struct gm_split){d->whole, d->shares, d->pieces, (size_t)d->shares * share_bytes,
                             gm_cost_divided_us(row, problem, device, d)};
}

struct search {
    const struct gm_kernel *row;
    const struct gm_gemm_problem *problem;
    const struct gm_device *device;
    size_t workspace_limit;
    int kind;
    struct gm_split best;
};

static void consider(struct search *s, int64_t whole, int64_t shares, int64_t pieces) {
    const struct gm_division division = {whole, shares, pieces};
    const int64_t units = (all_tiles(s->row, s->problem) - whole) * tile_blocks(s->row, s->problem);
    if (whole < 0 || units / shares < GM_SPLIT_LEAST)
        return;
    const struct gm_split split = gm_split_of(s->row, s->problem, s->device, &division);
    const double worth = s->kind == GM_KIND_BEST ? WORTH : INFINITY;
    if (split.shares > 0 && split.workspace_bytes <= s->workspace_limit &&
        (s->kind == GM_KIND_BEST || s->kind == gm_split_kind(&split)) &&
        split.predicted_us < s->best.predicted_us * (s->best.shares > 0 ? 1 : worth))
        s->best = split;
}

/* The last, ragged wave over all CTAs; the same with one full wave more, when the ragged one is small; and as many
 * equal pieces of each tile of the last wave as there are CTAs for. */
struct gm_split gm_split_choose(const struct gm_kernel *row, const struct gm_gemm_problem *problem,
                                const struct gm_device *device, size_t workspace_limit, int kind) {
    struct search s = {row, problem, device, workspace_limit, kind, undivided(row, problem, device)};
    const int64_t at_once = gm_clusters_at_once(row, device);
    const int64_t tiles = all_tiles(row, problem), ragged = tiles % at_once;
    if (workspace_limit == 0 || ragged == 0)
        return s.best;
    consider(&s, tiles - ragged, at_once, 0);
    consider(&s, tiles - ragged - at_once, at_once, 0);
    for (int64_t pieces = 2; pieces <= MOST_PIECES && pieces * ragged <= at_once; pieces++) {
        consider(&s, tiles - ragged, pieces * ragged, 0);
        consider(&s, tiles - ragged, pieces * ragged, pieces);
    }
    return s.best;
}

int gm_split_kind(const struct gm_split *split) {
    return split->shares == 0 ? GM_KIND_WHOLE : split->pieces > 0 ? (int)split->pieces : GM_KIND_ANYWHERE;
}

int gm_take_kind(const char *name, size_t *bytes) {
    size_t digits = 0;
    int pieces = 0;
    while (digits < *bytes && digits < 2 && name[*bytes - 1 - digits] >= '0' && name[*bytes - 1 - digits] <= '9')
        digits++;
    const size_t rest = *bytes - digits;
    if (rest < 2 || name[rest - 2] != '/' || name[rest - 1] != 'k')
        return GM_KIND_WHOLE;
    for (size_t i = rest; i < *bytes; i++)
        pieces = 10 * pieces + (name[i] - '0');
    if (digits > 0 && (pieces < 2 || pieces >= GM_KINDS))
        return GM_KIND_WHOLE;
    *bytes = rest - 2;
    return digits > 0 ? pieces : GM_KIND_ANYWHERE;
}

const char *gm_kind_suffix(int kind, char text[GM_KIND_SUFFIX_BYTES]) {
    if (kind <= GM_KIND_WHOLE)
        text[0] = 0;
    else if (kind == GM_KIND_ANYWHERE)
        strcpy(text, "/k");
    else
        snprintf(text, GM_KIND_SUFFIX_BYTES, "/k%d", kind);
    return text;
}

/* What no memory holds by chance: the time and a count, mixed (splitmix64). */
static uint64_t random_number(void) {
    static atomic_uint_fast64_t count;
    struct timespec now = {0};
    timespec_get(&now, TIME_UTC);
    uint64_t z = ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) ^ (uint64_t)(uintptr_t)&now;
    z += (atomic_fetch_add(&count, 1) + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return z + (z == 0) - (z == UINT64_MAX); /* a free flag holds 0, which ~ready should not be either */
}

struct gm_stream_k gm_split_params(const struct gm_kernel *row, const struct gm_gemm_problem *problem,
                                   const struct gm_split *split) {
    struct gm_stream_k params = {.whole = (int32_t)split->whole};
    const int64_t tiles = all_tiles(row, problem), blocks = tile_blocks(row, problem);
    if (gm_reduces(row)) {
        const int64_t pieces = split->pieces > 0 ? split->pieces : 1;
        params = (struct gm_stream_k){.shares = (int32_t)(tiles * pieces),
                                      .blocks = (int32_t)(blocks / pieces),
                                      .more = (int32_t)(blocks % pieces),
                                      .even = (int32_t)tiles};
    } else if (split->shares > 0) {
        const int64_t units = (tiles - split->whole) * blocks;
        params.shares = (int32_t)split->shares;
        params.blocks = (int32_t)(units / split->shares);
        params.more = (int32_t)(units % split->shares);
        params.least = GM_SPLIT_LEAST;
    }
    if (split->shares > 0)
        params.ready = random_number();
    return params;
}
