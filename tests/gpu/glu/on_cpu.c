/* SPDX-License-Identifier: Apache-2.0 */
/* GLU of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include <math.h>
#include <stdlib.h>

#include "columns.h"
#include "common/glu/params.h"
#include "common/makes_tokens.h"
#include "glu/glu_tests.h"

struct job {
    const struct gm_glu_any_params *any; /* NULL: the variant makes out of the type */
    const struct gm_glu_params *p;
    enum gm_type type;
    int64_t bytes;
    int64_t gate_pitch, up_pitch, out_pitch;
};

static float load(const struct job *job, uint64_t base, int64_t pitch, int64_t row, int64_t column) {
    const uint8_t *at = (const uint8_t *)(uintptr_t)(base + (uint64_t)(row * pitch + column * job->bytes));
    return (float)bits_to_double(job->type, load_bits(at, job->type));
}

static float limited(float x, float limit, float least) {
    if (isnan(x) && planted_bug != GLU_BUG_DROPS_NAN)
        return x;
    return fminf(fmaxf(x, least), limit);
}

static float activate(const struct gm_glu_params *p, float x) {
    enum gm_activation activation = (enum gm_activation)p->activation;
    const double factor = (double)p->silu_exponent / -0.72134752;
    if (planted_bug == GLU_BUG_GELU_FORMS && (activation == GM_ACT_GELU_TANH || activation == GM_ACT_GELU_ERF))
        activation = GM_ACT_GELU_TANH + GM_ACT_GELU_ERF - activation;
    if (activation == GM_ACT_SILU)
        return (float)(activation_value(GM_ACT_SILU, factor * (double)x) / factor);
    return (float)activation_value(activation, (double)x);
}

static float compute(const struct job *job, int64_t row, int64_t column) {
    const struct gm_glu_params *p = job->p;
    const bool is_interleaved = p->layout == GM_GLU_INTERLEAVED;
    float gate = load(job, p->gate, job->gate_pitch, row, is_interleaved ? 2 * column : column);
    float up = p->layout == GM_GLU_NO_UP ? 1
               : is_interleaved          ? load(job, p->gate, job->gate_pitch, row, 2 * column + 1)
                                         : load(job, p->up, job->up_pitch, row, column);
    if (planted_bug == GLU_BUG_SWAPPED) {
        const float other = gate;
        gate = up, up = other;
    }
    if (p->has_limit && planted_bug != GLU_BUG_NO_LIMIT) {
        gate = limited(gate, p->limit, planted_bug == GLU_BUG_LIMITS_GATE_BELOW ? -p->limit : -INFINITY);
        up = limited(up, p->limit, -p->limit);
    }
    gate = activate(p, gate);
    if (p->layout == GM_GLU_NO_UP)
        return gate;
    up += planted_bug == GLU_BUG_OFFSET ? 0 : p->up_offset;
    if (p->rounds_early || planted_bug == GLU_BUG_EARLY)
        gate = (float)round_to(job->type, gate), up = (float)round_to(job->type, up);
    return gate * up;
}

static void compute_row(const struct job *job, int64_t row, int64_t columns) {
    const int64_t written = columns + (planted_bug == GLU_BUG_COLUMN_AFTER) - (planted_bug == GLU_BUG_LOST_TAIL);
    for (int64_t column = 0; column < written; column++) {
        uint8_t *at = (uint8_t *)(uintptr_t)(job->p->out + (uint64_t)(row * job->out_pitch + column * job->bytes));
        store_bits(at, job->type, double_to_bits(job->type, column < columns ? (double)compute(job, row, column) : 1));
    }
}

static void compute_row_of_any(const struct job *job, int64_t row, int64_t columns) {
    const enum out_bug bug = planted_bug == GLU_BUG_LOST_SCALE        ? OUT_BUG_LOST_SCALE
                             : planted_bug == GLU_BUG_NAN_HAS_NO_SIZE ? OUT_BUG_DROPS_NAN
                                                                      : OUT_BUG_NONE;
    float *v = malloc((size_t)columns * sizeof *v);
    if (!v)
        exit(2);
    for (int64_t column = 0; column < columns; column++) {
        v[column] = compute(job, row, column);
        if (job->any->rounds_out || planted_bug == GLU_BUG_OUT_EARLY)
            v[column] = (float)round_to(job->type, (double)v[column]);
    }
    store_row(&job->any->store, job->p->out + (uint64_t)(row * job->out_pitch), job->any->store.scales, row, columns, v,
              bug);
    free(v);
}

void compute_glu(const struct gm_kernel *kernel, const void *params) {
    const struct gm_glu_params *p = params;
    const bool is_any = kernel->columns[GM_GLU_MAKES] == GM_MAKES_any;
    const int64_t bytes = gm_type_bytes(kernel->type), packed = p->is_packed ? p->columns * bytes : 0;
    const int64_t pairs = p->layout == GM_GLU_INTERLEAVED ? 2 : 1;
    const struct job job = {.any = is_any ? params : NULL,
                            .p = p,
                            .type = kernel->type,
                            .bytes = bytes,
                            .gate_pitch = packed ? pairs * packed : p->gate_pitch,
                            .up_pitch = packed ? packed : p->up_pitch,
                            .out_pitch = packed ? packed : p->out_pitch};
    int64_t rows = p->rows;
    if (p->row_count && planted_bug != GLU_BUG_COUNT) {
        const int32_t count = (int32_t)load_bits((const uint8_t *)(uintptr_t)p->row_count, GM_INT32);
        rows = count < rows ? count : rows;
    }
    for (int64_t row = 0; row < rows - (planted_bug == GLU_BUG_LOST_ROW); row++)
        if (is_any)
            compute_row_of_any(&job, row, p->columns);
        else
            compute_row(&job, row, p->columns);
}
