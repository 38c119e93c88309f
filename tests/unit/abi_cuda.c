/* SPDX-License-Identifier: Apache-2.0 */
/* The facts as the toolkit's cuda.h has them, 12.x or 13.x; none where the build found no toolkit header. */
#include "abi.h"

#if __has_include(<cuda.h>)
#include <cuda.h>

#define FACT(expression) {#expression, (long long)(expression)},
const struct abi_fact cuda_facts[] = {
#include "abi_facts.def"
};
const size_t cuda_fact_count = sizeof cuda_facts / sizeof *cuda_facts;
_Static_assert(sizeof(CUtensorMap) == 128, "gm_tensor_map has its size");
#else
const struct abi_fact cuda_facts[] = {{"no cuda.h", 0}};
const size_t cuda_fact_count = 0;
#endif
