/* SPDX-License-Identifier: Apache-2.0 */
/* The library's operation `attention` on the heads of the ladder: one request of as many rows as tokens. */
#include "lab/attention_library.h"

/* Rows of a head lie behind each other, and so do heads. */
static struct gm_attention_problem problem_of(const struct attention_heads *heads) {
    const int64_t tokens = heads->problem.tokens, head = tokens * ATTENTION_HEAD;
    return (struct gm_attention_problem){.size = sizeof(struct gm_attention_problem),
                                         .max_batch = 1,
                                         .max_q_len = tokens,
                                         .max_kv_len = tokens,
                                         .q_heads = heads->heads,
                                         .kv_heads = heads->heads,
                                         .head_dim = ATTENTION_HEAD,
                                         .q_token_stride = ATTENTION_HEAD,
                                         .q_head_stride = head,
                                         .out_token_stride = ATTENTION_HEAD,
                                         .out_head_stride = head,
                                         .k_token_stride = ATTENTION_HEAD,
                                         .k_head_stride = head,
                                         .v_token_stride = ATTENTION_HEAD,
                                         .v_head_stride = head,
                                         .type = GM_BF16};
}

/* q_indptr and kv_len. */
static int make_lengths(struct lab *lab, int32_t tokens, CUdeviceptr *lengths) {
    const int32_t values[] = {0, tokens, tokens};
    return lab_alloc(lab, lengths, sizeof values, 0) == 0 ? lab_upload(lab, *lengths, values, sizeof values) : -1;
}

int attention_library_open(struct lab *lab, struct attention_library *library, const struct attention_heads *heads) {
    const struct attention *p = &heads->problem;
    const struct gm_attention_problem problem = problem_of(heads);
    CUdeviceptr lengths;
    if (make_lengths(lab, p->tokens, &lengths) != 0)
        return -1;
    enum gm_status status = gm_attention_plan_create(lab->gpu.context, &problem, NULL, &library->plan);
    if (status != GM_OK) {
        library->plan = NULL;
        note("the ladder stands alone: %s", gm_last_error());
        return 0;
    }
    library->args = (struct gm_attention_args){.size = sizeof library->args,
                                               .batch = 1,
                                               .q = (gm_device_ptr)(uintptr_t)p->q,
                                               .k = (gm_device_ptr)(uintptr_t)p->k,
                                               .v = (gm_device_ptr)(uintptr_t)p->v,
                                               .out = (gm_device_ptr)(uintptr_t)p->out,
                                               .q_indptr = lengths,
                                               .kv_len = lengths + 2 * sizeof(int32_t)};
    return 0;
}

void attention_library_close(struct attention_library *library) {
    if (library->plan)
        gm_plan_destroy(library->plan);
    library->plan = NULL;
}

int attention_library_run(struct lab *lab, const struct attention_library *library) {
    const enum gm_status status = gm_attention_execute(library->plan, &library->args, lab->gpu.stream);
    return status == GM_OK ? 0 : gpu_fail_library(status, "gm_attention_execute");
}
