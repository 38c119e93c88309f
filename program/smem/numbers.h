/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers on the command line, decimal or hexadecimal, without signs and blanks. */
#ifndef PROGRAM_SMEM_NUMBERS_H
#define PROGRAM_SMEM_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* Reads one at *text and moves *text behind it; false when there is none or it is above `most`. */
bool number_take(const char **text, uint32_t most, uint32_t *value);
bool number_take_64(const char **text, uint64_t most, uint64_t *value);

/* The whole text is one number of `least` to `most`: 0 and the value, or -1 with a printed sentence. */
int number_read(const char *option, const char *text, uint32_t least, uint32_t most, uint32_t *value);

#endif
