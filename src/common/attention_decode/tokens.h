/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of the registry of attention_decode. The comment behind the number is what the token adds to a kernel's name;
 * cmake/Registry.cmake reads both. */
#ifndef GM_ATTENTION_DECODE_TOKENS_H
#define GM_ATTENTION_DECODE_TOKENS_H

/* Type of k and v. */
#define GM_CACHE_same 0 /* */
#define GM_CACHE_e4m3 1 /* kv */

#endif
