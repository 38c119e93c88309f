/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation attention tells its families. */
#ifndef GM_HOST_ATTENTION_H
#define GM_HOST_ATTENTION_H

#include "common/attention/params.h"
#include "gristmill/attention.h"
#include "host/plan.h"
#include "host/strided.h"
#include "host/types.h"

enum { GM_ATTENTION_Q, GM_ATTENTION_O, GM_ATTENTION_K, GM_ATTENTION_V, GM_ATTENTION_LSE, GM_ATTENTION_OPERANDS };
/* The operands of heads of a normalised problem; batch: requests whose pages a batched cache has. */
void gm_attention_operands_of(const struct gm_attention_problem *problem, int64_t batch,
                              struct gm_strided operands[GM_ATTENTION_OPERANDS]);

/* Types of a normalised problem's k and v, and of its out. */
static inline enum gm_type gm_attention_kv_type(const struct gm_attention_problem *problem) {
    return problem->kv_type == GM_ATTENTION_KV_E4M3 ? GM_E4M3 : problem->type;
}
enum gm_type gm_attention_out_type(const struct gm_attention_problem *problem);
/* Floats of a scale, of so many requests. */
int64_t gm_attention_scales(const struct gm_attention_problem *problem, int64_t batch);
/* GM_ACCEPTED where k and v are of this type. */
enum gm_reason gm_attention_check_kv_type(const struct gm_attention_problem *problem, enum gm_type type,
                                          const struct gm_sentence *why);

/* Heads of q for each of k and v. */
static inline int64_t gm_attention_group(const struct gm_attention_problem *problem) {
    return problem->q_heads / problem->kv_heads;
}
/* Tiles of so many packed rows that all requests have of one head of k, at most. */
int64_t gm_attention_tiles(const struct gm_attention_problem *problem, int64_t rows);
/* Keys that a request's rows see, all together, where every request is as long as may be; and those that any sees. */
double gm_attention_seen(const struct gm_attention_problem *problem);
int64_t gm_attention_read(const struct gm_attention_problem *problem);
/* Bytes of k and v that are read at least. */
double gm_attention_cache_bytes(const struct gm_attention_problem *problem);
/* A device's clock, and the share of its dense tensor rate that mma.sync reaches at best: gm_family.tensor_share. */
double gm_attention_clock_mhz(const struct gm_device *device);
double gm_attention_mma_sync_share(const struct gm_kernel *kernel, const struct gm_device *device);

/* GM_ACCEPTED where all of these operands are whole chunks of 16 bytes: bits of GM_ATTENTION_Q ... */
#define GM_ATTENTION_BIT(operand) (1u << (operand))
#define GM_ATTENTION_LOADED                                                                                            \
    (GM_ATTENTION_BIT(GM_ATTENTION_Q) | GM_ATTENTION_BIT(GM_ATTENTION_K) | GM_ATTENTION_BIT(GM_ATTENTION_V))
enum gm_reason gm_attention_check_vectors(const struct gm_attention_problem *problem, unsigned operands,
                                          const struct gm_sentence *why);

/* The least box of k and v, in tokens: the rows after which the pattern of the swizzle repeats. */
#define GM_ATTENTION_LEAST_BOX 8

/* What families ask of a problem. */
enum gm_attention_way {
    GM_ATTENTION_BY_ROWS,  /* nothing: few rows at a time */
    GM_ATTENTION_BY_TILES, /* large tiles: k, v and q are aligned to 16 bytes, and the scale is not negative */
    GM_ATTENTION_BY_MAPS   /* and tensor maps: so is out; no tree mask; pages of a multiple of 8 tokens */
};
/* Of a batch-invariant plan, which way is taken is a matter of a request's rows, and of the device, alone: GM_REASON_ORDER
 * where it is not this one. */
enum gm_reason gm_attention_check_order(const struct gm_question *question, enum gm_attention_way way,
                                        const struct gm_sentence *why);

/* The parameters of a plan, and those of a call. */
struct gm_attention_params gm_attention_template(const struct gm_attention_problem *problem);
void gm_attention_bind(const struct gm_attention_args *args, struct gm_attention_params *params);

#endif
