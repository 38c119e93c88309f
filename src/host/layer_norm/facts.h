/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of LayerNorm beside its columns. */
#ifndef GM_LAYER_NORM_FACTS_H
#define GM_LAYER_NORM_FACTS_H

#include "common/norm.h"
#include "host/norm.h"

#define GM_FACTS_layer_norm(arch, type, threads, row_threads, vectors, vector_bytes, passes, makes)                    \
    GM_NORM_FACTS(arch, threads, row_threads, vectors)

#endif
