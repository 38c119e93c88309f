/* SPDX-License-Identifier: Apache-2.0 */
/* The facts as src/host/cuda_abi.h has them. */
#include "abi.h"
#include "host/cuda_abi.h"

#define FACT(expression) {#expression, (long long)(expression)},
const struct abi_fact our_facts[] = {
#include "abi_facts.def"
};
const size_t our_fact_count = sizeof our_facts / sizeof *our_facts;
