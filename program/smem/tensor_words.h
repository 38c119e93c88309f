/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a tensor map on the command line: element types, modes, lists of sizes. */
#ifndef PROGRAM_SMEM_TENSOR_WORDS_H
#define PROGRAM_SMEM_TENSOR_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* All of these return 0, or -1 with a printed sentence that calls the option by `option`. A number stands for itself,
 * also where it means nothing: the rules of a tensor map have a sentence for it. */
int words_read_type(const char *option, const char *text, int32_t *type);
int words_read_swizzle(const char *option, const char *text, int32_t *swizzle);       /* none, 32B, 64B, 128B */
int words_read_interleave(const char *option, const char *text, int32_t *interleave); /* none, 16B, 32B */
int words_read_promotion(const char *option, const char *text, int32_t *promotion);   /* none, 64B, 128B, 256B */
int words_read_fill(const char *option, const char *text, int32_t *fill);             /* zero, nan */

/* "4096,4096" or "64x128": up to `most` numbers, each at most `limit`; their count to *count. */
int words_read_list(const char *option, const char *text, uint64_t limit, size_t most, uint64_t *values, size_t *count);

/* One number of 64 bits, decimal or 0x..., at most `limit`. */
int words_read_number(const char *option, const char *text, uint64_t limit, uint64_t *value);

#endif
