/* SPDX-License-Identifier: Apache-2.0 */
/* moe_align of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include "common/moe_align/params.h"
#include "moe_align/moe_align_tests.h"

struct job {
    const struct gm_moe_align_params *p;
    int64_t slots;
    int64_t counts[GM_MOE_ALIGN_EXPERTS], next[GM_MOE_ALIGN_EXPERTS + 1]; /* slots of an expert; its next row */
};

static void store(uint64_t list, int64_t at, int64_t value) {
    store_bits((uint8_t *)(uintptr_t)list + at * 4, GM_INT32, (uint32_t)value);
}

/* -1: it is none's. */
static int expert_of(const struct job *job, int64_t slot) {
    const int32_t id = (int32_t)load_bits((const uint8_t *)(uintptr_t)job->p->ids + slot * 4, GM_INT32);
    const bool is_good = id >= 0 && id < job->p->experts;
    return is_good ? id : planted_bug == ALIGN_BUG_BAD_IS_LAST ? job->p->experts - 1 : -1;
}

static int64_t length_of(const struct job *job, int expert) {
    const int64_t alignment = planted_bug == ALIGN_BUG_ALIGNED_START ? 1 : job->p->alignment.divisor;
    return (job->counts[expert] + alignment - 1) / alignment * alignment;
}

static int64_t most_rows(const struct gm_moe_align_params *p) {
    const int64_t slots = (int64_t)p->tokens * p->k;
    return slots + (slots < p->experts ? slots : p->experts) * (p->alignment.divisor - 1);
}

static void place_experts(struct job *job) {
    const int experts = job->p->experts;
    for (int e = 0; e < experts; e++) {
        job->next[e + 1] = job->next[e] + length_of(job, e);
        for (int64_t row = job->next[e] + job->counts[e]; row < job->next[e + 1]; row++)
            if (planted_bug != ALIGN_BUG_NO_PADDING)
                store(job->p->rows, row, -1);
    }
    for (int e = 0; e <= experts - (planted_bug == ALIGN_BUG_LAST_OFFSET); e++)
        store(job->p->offsets, e,
              job->next[e] + (planted_bug == ALIGN_BUG_EMPTY_ROUNDED && e == 1 && job->counts[0] == 0));
    if (planted_bug == ALIGN_BUG_ROW_AFTER && job->slots > 0)
        store(job->p->rows, most_rows(job->p), -1);
}

static void sort_slot(struct job *job, int64_t slot) {
    const int expert = expert_of(job, slot);
    int64_t row = -1;
    if (expert >= 0)
        row = planted_bug == ALIGN_BUG_UNSTABLE ? job->next[expert] + --job->counts[expert] : job->next[expert]++;
    if (expert >= 0)
        store(job->p->rows, row, slot);
    if (job->p->inverse && (expert >= 0 || planted_bug != ALIGN_BUG_NO_INVERSE))
        store(job->p->inverse, slot, row);
}

void compute_align(const struct gm_kernel *kernel, const void *params) {
    struct job job = {.p = params};
    int64_t tokens = job.p->tokens;
    (void)kernel;
    if (job.p->row_count && planted_bug != ALIGN_BUG_COUNT) {
        const int32_t count = (int32_t)load_bits((const uint8_t *)(uintptr_t)job.p->row_count, GM_INT32);
        tokens = count < tokens ? count : tokens;
    }
    job.slots = tokens > 0 ? tokens * job.p->k : 0;
    for (int64_t slot = 0; slot < job.slots; slot++)
        if (expert_of(&job, slot) >= 0)
            job.counts[expert_of(&job, slot)]++;
    place_experts(&job);
    for (int64_t slot = 0; slot < job.slots - (planted_bug == ALIGN_BUG_LOST_SLOT); slot++)
        sort_slot(&job, slot);
}
