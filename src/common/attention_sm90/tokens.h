/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of the registry of attention_sm90: a column of kind KIND may hold what is defined here as GM_<KIND>_<token>. The
 * comment behind the number is what the token adds to a kernel's name; cmake/Registry.cmake reads both. */
#ifndef GM_ATTENTION_SM90_TOKENS_H
#define GM_ATTENTION_SM90_TOKENS_H

/* Elements of v and out, or as many as of q and k. */
#define GM_V_HEAD_DIM_same 0   /* */
#define GM_V_HEAD_DIM_v128 128 /* v128 */

#endif
