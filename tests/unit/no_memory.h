/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations that fail when a test says so. The linker sends the library's own calls here (tests/CMakeLists.txt). */
#ifndef GM_UNIT_NO_MEMORY_H
#define GM_UNIT_NO_MEMORY_H

/* From now on the nth allocation fails, and no other; 0: none. */
void fail_allocation(int nth);
/* Whether it has come to that. */
int allocation_has_failed(void);

#endif
