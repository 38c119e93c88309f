/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses how a launch divides its last tiles, by the cost model. */
#include "host/gemm/divide.h"

#include "common/arith.h"
#include "host/gemm/problem.h"
#include "host/occupancy.h"
#include "host/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_PIECES 32   /* of a tile */
#define WORTH       0.98 /* of the undivided time: what a division must promise, since the model is not exact */

static int64_t tile_blocks(const struct gm_gemm_variant *v, const struct gm_gemm_problem *problem) {
    return GM_CEIL_DIV(problem->k, (int64_t)v->tile_k);
}

/* Whether the variant can divide so. Cluster-k divides the K of every tile already; gemv has small tiles, and so enough
 * CTAs. */
static int divides(const struct gm_gemm_variant *v, const struct gm_gemm_division *d, int64_t tiles, int64_t blocks) {
    if (v->split_k)
        return d->whole == 0 && d->pieces >= 2 && d->pieces <= GM_SPLIT_K_MAX_PIECES && d->pieces <= blocks &&
               d->shares == tiles * d->pieces;
    return v->persistent && v->cluster_k == 1 && d->pieces == 0;
}

static double cost_us(const struct gm_gemm_variant *v, const struct gm_gemm_problem *problem,
                      const struct gm_device *device, const struct gm_gemm_division *division) {
    return gm_gemm_family_of(v->kernel)->cost_us(v, problem, device, division);
}

static struct gm_gemm_division undivided(const struct gm_gemm_variant *v, const struct gm_gemm_problem *problem,
                                         const struct gm_device *device) {
    struct gm_gemm_division none = {.whole = gm_tiles(v, problem)};
    none.predicted_us = cost_us(v, problem, device, &none);
    return none;
}

static size_t workspace_bytes(const struct gm_gemm_variant *v, const struct gm_gemm_division *d) {
    const int64_t ctas = gm_cluster_size(v);
    const size_t tiles_bytes = (size_t)ctas * GM_STREAM_K_TILE_BYTES((size_t)v->tile_m, (size_t)v->tile_n);
    const int64_t flags = ctas * (d->pieces > 0 ? d->pieces : v->stream_k_slots); /* of a share */
    return (size_t)d->shares * (tiles_bytes + (size_t)flags * GM_STREAM_K_FLAG_BYTES);
}

struct gm_gemm_division gm_divide_as(const struct gm_gemm_variant *v, const struct gm_gemm_problem *problem,
                                     const struct gm_device *device, const struct gm_gemm_division *wanted) {
    struct gm_gemm_division d = *wanted;
    const int64_t divided = gm_tiles(v, problem) - d.whole, blocks = tile_blocks(v, problem);
    if (!divides(v, &d, divided, blocks) || d.whole < 0 || divided <= 0 || blocks == 0 || d.shares <= 0 ||
        d.shares > gm_clusters_at_once(v->kernel, device) || divided > INT32_MAX / blocks)
        return undivided(v, problem, device);
    d.workspace_bytes = workspace_bytes(v, &d);
    d.predicted_us = cost_us(v, problem, device, &d);
    return d;
}

struct search {
    const struct gm_gemm_variant *variant;
    const struct gm_gemm_problem *problem;
    const struct gm_device *device;
    size_t workspace_limit;
    int number; /* of division */
    struct gm_gemm_division best;
};

static void consider(struct search *s, int64_t whole, int64_t shares, int64_t pieces) {
    const struct gm_gemm_division wanted = {.whole = whole, .shares = shares, .pieces = pieces};
    const int64_t units = (gm_tiles(s->variant, s->problem) - whole) * tile_blocks(s->variant, s->problem);
    if (whole < 0 || units / shares < GM_PIECE_LEAST)
        return;
    const struct gm_gemm_division d = gm_divide_as(s->variant, s->problem, s->device, &wanted);
    const double worth = s->number == GM_DIVISION_BEST ? WORTH : INFINITY;
    if (d.shares > 0 && d.workspace_bytes <= s->workspace_limit &&
        (s->number == GM_DIVISION_BEST || s->number == gm_division_number(&d)) &&
        d.predicted_us < s->best.predicted_us * (s->best.shares > 0 ? 1 : worth))
        s->best = d;
}

/* Candidates are: the last, ragged wave divided among all CTAs; the last two waves divided among all CTAs; and every
 * tile of the last wave cut into equal pieces, as many as there are CTAs for. */
struct gm_gemm_division gm_divide(const struct gm_gemm_variant *v, const struct gm_gemm_problem *problem,
                                  const struct gm_device *device, size_t workspace_limit, int number) {
    struct search s = {v, problem, device, workspace_limit, number, undivided(v, problem, device)};
    const int64_t at_once = gm_clusters_at_once(v->kernel, device);
    const int64_t tiles = gm_tiles(v, problem), ragged = tiles % at_once;
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

int gm_division_number(const struct gm_gemm_division *d) {
    return d->shares == 0 ? GM_DIVISION_NONE : d->pieces > 0 ? (int)d->pieces : GM_DIVISION_STREAM_K;
}

/* One digit is enough for the pieces: "/k" or "/k2" to "/k8". */
int gm_division_of(const char *suffix, size_t bytes) {
    if (bytes < 2 || bytes > 3 || memcmp(suffix, "/k", 2) != 0)
        return -1;
    const int pieces = bytes == 3 ? suffix[2] - '0' : GM_DIVISION_STREAM_K;
    return bytes == 3 && (pieces < 2 || pieces >= GM_DIVISIONS) ? -1 : pieces;
}

const char *gm_division_suffix(int number, char text[16]) {
    text[0] = 0;
    if (number == GM_DIVISION_STREAM_K)
        snprintf(text, 16, "/k");
    else if (number > GM_DIVISION_STREAM_K)
        snprintf(text, 16, "/k%d", number);
    return text;
}

struct gm_stream_k gm_stream_k_params(const struct gm_gemm_variant *v, const struct gm_gemm_problem *problem,
                                      const struct gm_gemm_division *d) {
    struct gm_stream_k params = {.whole = (int32_t)d->whole};
    const int64_t tiles = gm_tiles(v, problem), blocks = tile_blocks(v, problem);
    if (v->split_k) {
        const int64_t pieces = d->pieces > 0 ? d->pieces : 1;
        params = (struct gm_stream_k){.shares = (int32_t)(tiles * pieces),
                                      .blocks = (int32_t)(blocks / pieces),
                                      .more = (int32_t)(blocks % pieces),
                                      .split_k_tiles = (int32_t)tiles};
    } else if (d->shares > 0) {
        const int64_t units = (tiles - d->whole) * blocks;
        params.shares = (int32_t)d->shares;
        params.blocks = (int32_t)(units / d->shares);
        params.more = (int32_t)(units % d->shares);
        params.least = GM_PIECE_LEAST;
    }
    if (d->shares > 0)
        params.ready = gm_random_number();
    return params;
}
