/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of the driver's ABI, once from our declarations and once from a toolkit's cuda.h. */
#ifndef GM_ABI_H
#define GM_ABI_H

#include <stddef.h>

struct abi_fact {
    const char *what;
    long long value;
};

extern const struct abi_fact our_facts[], cuda_facts[];
extern const size_t our_fact_count, cuda_fact_count; /* the second is 0 where no cuda.h was found */

#endif
