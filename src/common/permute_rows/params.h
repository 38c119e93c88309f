/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the kernels that copy rows of any alignment, for host and device. */
#ifndef GM_PERMUTE_ROWS_PARAMS_H
#define GM_PERMUTE_ROWS_PARAMS_H

#include "common/permute/walk.h"

/* Chunks are 16 bytes of out, the last one of a row fewer; they are numbered with 31 bits. */
struct gm_permute_rows_params {
    uint64_t x, out;             /* addresses */
    int64_t inner_bytes;         /* of x, from its first byte: 32 bytes that begin there end in x */
    struct gm_divisor chunks;    /* of a row */
    int32_t last_bytes;          /* of a row's last chunk, 1 to 16 */
    int32_t count;               /* of all chunks */
    struct gm_permute_walk rows; /* over rows */
};

/* CTAs on an SM, as registers allow: a chunk takes eight of them while it is loaded, and its place five. 32 KB of out are
 * under way on it, 56 KB with four chunks a thread. */
#define GM_PERMUTE_ROWS_CTAS(threads, vectors) (((vectors) > 1 ? 896 : 2048) / (threads))

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_permute_rows_params) == 192, "host and device agree");
#endif

#endif
