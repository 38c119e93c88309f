/* SPDX-License-Identifier: Apache-2.0 */
/* PTX text as text: one kernel of a file in which the simulated GPU cannot read everything. */
#ifndef PROGRAM_SIM_LAUNCH_MASK_H
#define PROGRAM_SIM_LAUNCH_MASK_H

#include <stddef.h>
#include <stdint.h>

/* Blanks out all kernels that `name` does not name (NULL: none of them), newlines left where they are,
 * so that what cannot be simulated elsewhere does no harm. */
void launch_mask_others(char *text, const char *name);

/* Writes " (copy.cu:12)" for a line of PTX, by the .loc before it that is no inlined code, and ": " and the line itself;
 * as far as they are there. */
void launch_describe_line(const char *text, uint32_t line, char *to, size_t bytes);

#endif
