/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the kernels of process_logits, for host and device. */
#ifndef GM_PROCESS_LOGITS_PARAMS_H
#define GM_PROCESS_LOGITS_PARAMS_H

#include "common/divide.h"
#include "common/fixed_width.h"

/* A token's count: this bit if it is in the prompt, and how often it is in the output. */
#define GM_LOGITS_IN_PROMPT 0x8000u
#define GM_LOGITS_MOST      0x7fffu

struct gm_process_logits_params {
    uint64_t logits, out, counts, bias, mask; /* addresses; 0: there is none */
    uint64_t slots, bias_slots, mask_slots, last_ids;
    uint64_t temperatures, repetitions, frequencies, presences, row_count;
    int64_t logits_pitch, out_pitch, counts_pitch, bias_pitch, mask_pitch; /* bytes from one row to the next */
    int32_t rows, columns;
    uint32_t slot_count;
    int32_t is_wide;             /* out is fp32 beside 16-bit logits */
    int32_t slab_rows;           /* rows whose tiles are numbered with 31 bits, */
    struct gm_divisor row_tiles; /* and the tiles of a row */
    float cap, cap_exponent;     /* -2 / (cap ln 2); a cap of 0: none */
    float temperature, repetition, frequency, presence;
};

/* CTAs on an SM: 56 KB of logits and as much of counts are under way on it, as registers allow; 40 KB with two chunks
 * of a thread, which are sooner done where rows are few. */
#define GM_PROCESS_LOGITS_CTAS(threads, vectors) (((vectors) > 2 ? 896 : 1280) / (threads))

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_process_logits_params) == 208, "host and device agree");
#endif

#endif
