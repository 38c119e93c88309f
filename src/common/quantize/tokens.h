/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of the registry of quantize: a column of kind KIND may hold what is defined here as GM_<KIND>_<token>. The comment
 * behind the number is what the token adds to a kernel's name; cmake/Registry.cmake reads both. */
#ifndef GM_QUANTIZE_TOKENS_H
#define GM_QUANTIZE_TOKENS_H

/* What a CTA takes, and with it who shares a scale: chunks of a tensor or of groups, a row, or a block. */
#define GM_SHARE_chunks 0 /* chunks */
#define GM_SHARE_row    1 /* row */
#define GM_SHARE_block  2 /* block */

#endif
