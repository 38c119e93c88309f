/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that no memory holds by chance: by them kernels know a flag in the workspace from whatever was there before. */
#ifndef GM_RANDOM_H
#define GM_RANDOM_H

#include <stdint.h>

/* The time and a count, mixed: another one at every call, never 0 and never all ones. Any thread. */
uint64_t gm_random_number(void);

#endif
