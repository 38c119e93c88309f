/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of registries whose variants make one out or any: a column of kind KIND may hold what is defined here as
 * GM_<KIND>_<token>. The comment behind the number is what the token adds to a kernel's name; cmake/Registry.cmake reads both. */
#ifndef GM_MAKES_TOKENS_H
#define GM_MAKES_TOKENS_H

/* What a variant makes of its input. Those of any are for problems that the others do not take. */
#define GM_MAKES_same 0 /* */
#define GM_MAKES_any  1 /* any */

#endif
