/* SPDX-License-Identifier: Apache-2.0 */
/* The angles of rotary embedding. Scaling belongs here, never in a kernel. */
#ifndef DECODER_ROPE_TABLE_H
#define DECODER_ROPE_TABLE_H

#include "config.h"

/* [positions][head_dim], to be freed: cosines of head_dim / 2 angles, then their sines. Angles are of double precision. */
float *rope_table(const struct rope_scaling *scaling, int64_t head_dim, int64_t positions);

#endif
