/* SPDX-License-Identifier: Apache-2.0 */
/* How a step's plans are made and launched, and those plans that its dense layers and its experts both have. */
#ifndef DECODER_PLANS_H
#define DECODER_PLANS_H

#include "common.h"
#include "config.h"
#include "device.h"
#include "step.h"

#include <gristmill/gristmill.h>

/* What all plans of a step are made with. */
struct maker {
    gm_context *context;
    const struct config *config;
    struct gm_plan_options options;
};

struct maker maker_of(gm_context *context, const struct config *config, uint32_t flags);

/* Planned, or the program ends with the library's sentence. */
#define PLAN(maker, operation, problem, plan)                                                                          \
    do {                                                                                                               \
        if (gm_##operation##_plan_create((maker)->context, &(problem), &(maker)->options, &(plan)) != GM_OK)           \
            die(#operation ": %s", gm_last_error());                                                                   \
    } while (0)

/* Whether `parts`, of enum part, asks for this one. */
static inline int has_part(int64_t parts, enum part part) {
    return !parts || parts & part;
}

/* Launched, if `parts` asks for it. */
#define RUN(parts, part, operation, plan, args)                                                                        \
    do {                                                                                                               \
        if (has_part(parts, part) && gm_##operation##_execute(plan, &(args), device_stream()) != GM_OK)                \
            die(#operation ": %s", gm_last_error());                                                                   \
    } while (0)

enum gm_type type_of(const struct config *config);

/* The type of rows, and of the matrix that they are multiplied with: the model's dtype, or e4m3. */
enum rows_type { ROWS_DTYPE, ROWS_E4M3, ROWS_TYPES };

static inline enum rows_type rows_of(const struct linear *linear) {
    return linear->scales ? ROWS_E4M3 : ROWS_DTYPE;
}

/* Where the scales of rows are that the matrix reads; 0: they are not of e4m3. */
static inline gm_device_ptr row_scales(const struct scratch *scratch, const struct linear *reader) {
    return !reader->scales ? 0 : reader->input_scale ? reader->input_scale : scratch->row_scales;
}

/* How rows of e4m3 are made, and how their scales lie, packed: of groups those of one group of all rows are neighbours. */
enum gm_scaling scaling_of(const struct config *config);
enum gm_scale_order scale_order_of(const struct config *config);

/* A matrix of the model, [out][in], times rows: of the type and with the scales and the bias that `like` has. */
gm_plan *plan_gemm(const struct maker *maker, const struct linear *like, int64_t rows, int64_t out, int64_t in,
                   enum gm_type out_type);
/* d = a * weights, or d + a * weights. Rows of e4m3 have their scales where row_scales() says. */
void run_linear(int64_t parts, const struct scratch *scratch, const gm_plan *plan, gm_device_ptr a,
                const struct linear *linear, gm_device_ptr d, int accumulates);
/* The program ends where the GPU has no kernel for the scales that config.json says: before the weights are read. */
void demand_kernels(gm_context *context, const struct config *config);
/* Rows to e4m3. */
gm_plan *plan_quantize(const struct maker *maker, int64_t rows, int64_t columns);

/* Rows of a table of `of` rows by their numbers. `scale` 0: none. */
gm_plan *plan_gather(const struct maker *maker, int64_t rows, int64_t of, int64_t columns, enum gm_type type,
                     double scale);
/* Gates and ups, in halves of the weights, and the gated unit of both: one kernel, or a GLU behind a GEMM. */
gm_plan *plan_gated(const struct maker *maker, int64_t rows, int64_t columns, int64_t in);
/* The gated unit of rows whose gate and up lie behind each other; of e4m3 as plan_quantize() makes it. */
gm_plan *plan_glu(const struct maker *maker, enum rows_type rows_type, int64_t rows, int64_t columns);

/* One line: the kernel that was chosen, and what it is thought to take. NULL: none. */
void explain_plan(const char *name, const gm_plan *plan);

#endif
