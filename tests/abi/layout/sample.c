/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/sample.h. */
#include "gristmill/sample.h"
#include "layout.h"

MEMBER(gm_sample_problem, size, 0)
MEMBER(gm_sample_problem, rows, 8)
MEMBER(gm_sample_problem, columns, 16)
MEMBER(gm_sample_problem, type, 24)
MEMBER(gm_sample_problem, temperature, 28)
MEMBER(gm_sample_problem, top_p, 32)
MEMBER(gm_sample_problem, min_p, 36)
MEMBER(gm_sample_problem, top_k, 40)
MEMBER(gm_sample_problem, logits_stride, 48)
MEMBER(gm_sample_problem, logits_align, 56)
END(gm_sample_problem, logits_align, 64)

MEMBER(gm_sample_args, size, 0)
MEMBER(gm_sample_args, logits, 8)
MEMBER(gm_sample_args, ids, 16)
MEMBER(gm_sample_args, logprobs, 24)
MEMBER(gm_sample_args, temperatures, 32)
MEMBER(gm_sample_args, top_ks, 40)
MEMBER(gm_sample_args, top_ps, 48)
MEMBER(gm_sample_args, min_ps, 56)
MEMBER(gm_sample_args, seeds, 64)
MEMBER(gm_sample_args, steps, 72)
MEMBER(gm_sample_args, step, 80)
MEMBER(gm_sample_args, row_count, 88)
MEMBER(gm_sample_args, seed, 96)
MEMBER(gm_sample_args, first_step, 104)
END(gm_sample_args, first_step, 112)
