/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the sampling kernels, for host and device. */
#ifndef GM_SAMPLE_PARAMS_H
#define GM_SAMPLE_PARAMS_H

#include "common/fixed_width.h"

struct gm_sample_params {
    uint64_t logits, ids, logprobs;                                               /* addresses */
    uint64_t temperatures, top_ks, top_ps, min_ps, seeds, steps, step, row_count; /* the same, 0: there is none */
    int64_t pitch;                                                                /* bytes from one row to the next */
    uint64_t seed;
    int64_t first_step;
    int32_t rows, columns, top_k;
    float temperature, top_p, min_p;
};

#define GM_SAMPLE_BINS 2048 /* of a histogram */
#define GM_SAMPLE_LIST 512  /* candidates that are ranked by comparing each with each */

/* Dynamic shared memory of a CTA, in bytes: values of all warps that share the row, twice, and of its own; two words a bin; key,
 * column and mass of a candidate; and some numbers. */
#define GM_SAMPLE_SMEM_BYTES(threads, row_ctas)                                                                        \
    ((2 * (row_ctas) + 2) * (threads) / 32 * 8 + GM_SAMPLE_BINS * 8 + GM_SAMPLE_LIST * 16 + 32)

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_sample_params) == 136, "host and device agree");
#endif

#endif
