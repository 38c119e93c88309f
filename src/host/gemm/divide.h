/* SPDX-License-Identifier: Apache-2.0 */
/* How a launch divides the K of its tiles: stream-K, which cuts the last tiles by k-blocks anywhere, among the CTAs
 * that there are, or split-K, which cuts every tile into the same number of equal pieces. Of kernels with clusters the
 * tiles of a cluster together count as one tile, and a cluster as one CTA. */
#ifndef GM_GEMM_DIVIDE_H
#define GM_GEMM_DIVIDE_H

#include "common/gemm/params.h"
#include "common/gemm/stream_k.h"
#include "host/gemm/variant.h"

/* k-blocks of the smallest piece of a tile: to publish and collect a smaller one costs more than to compute it. */
#define GM_PIECE_LEAST 8

/* The numbers of divisions, beside GM_DIVISION_NONE; from 2 on, split-K of so many pieces. */
enum { GM_DIVISION_STREAM_K = 1, GM_DIVISIONS = GM_SPLIT_K_MAX_PIECES + 1 };

struct gm_gemm_division {
    int64_t whole, shares; /* tiles that are not divided; parts of the others' k-blocks, 0 where there are no others */
    int64_t pieces;        /* split-K: of each tile; else 0 */
    size_t workspace_bytes;
    double predicted_us;
};

int gm_division_number(const struct gm_gemm_division *division);

/* The division of which whole, shares and pieces are given, with its workspace and predicted time. It is no division
 * (shares = 0) if the variant does not support it, if it needs more CTAs than run at once, or if an index would exceed
 * 32 bits. */
struct gm_gemm_division gm_divide_as(const struct gm_gemm_variant *variant, const struct gm_gemm_problem *problem,
                                     const struct gm_device *device, const struct gm_gemm_division *wanted);

/* The fastest division of this number whose workspace is within the limit. `shares` is 0 if there is none, or, with
 * GM_DIVISION_BEST, if none is faster than no division. The variant must be legal for the problem, and the problem must
 * not be empty. */
struct gm_gemm_division gm_divide(const struct gm_gemm_variant *variant, const struct gm_gemm_problem *problem,
                                  const struct gm_device *device, size_t workspace_limit, int number);

/* What a division is called behind a kernel's name: "/k" is stream-K, "/k3" split-K of three pieces. */
const char *gm_division_suffix(int number, char text[16]);
int gm_division_of(const char *suffix, size_t bytes);

/* The kernel's parameters, but for the workspace's address. */
struct gm_stream_k gm_stream_k_params(const struct gm_gemm_variant *variant, const struct gm_gemm_problem *problem,
                                      const struct gm_gemm_division *division);

#endif
