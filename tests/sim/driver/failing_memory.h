/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations of the simulator that fail on demand: the linker puts these in place of malloc() and the like in all
 * objects of sim_tests (-Wl,--wrap), zlib's own among them. */
#ifndef SIM_FAILING_MEMORY_H
#define SIM_FAILING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* From now on the n-th allocation fails, counted from 1; with `others` all after it, too. n = 0: none. */
void failing_memory_begin(size_t n, bool others);
/* None fails any more. True: one has failed. */
bool failing_memory_end(void);

#endif
