/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of the registry of attention_sm90: a column of kind KIND may hold what is defined here as GM_<KIND>_<token>. The
 * comment behind the number is what the token adds to a kernel's name; cmake/Registry.cmake reads both. */
#ifndef GM_ATTENTION_SM90_TOKENS_H
#define GM_ATTENTION_SM90_TOKENS_H

/* Elements of v and out, or as many as of q and k. */
#define GM_V_HEAD_DIM_same 0   /* */
#define GM_V_HEAD_DIM_v128 128 /* v128 */

/* When a consumer issues its wgmmas: the next block's scores with this block's O, by turns with the CTA's other consumers
 * or whenever it gets there; or one product after the other. */
#define GM_ISSUE_turns  0 /* */
#define GM_ISSUE_ahead  1 /* a */
#define GM_ISSUE_serial 2 /* o */

/* CTAs of an SM. */
#define GM_CTAS_1 1 /* */
#define GM_CTAS_3 3 /* x3 */
#define GM_CTAS_4 4 /* x4 */

#endif
