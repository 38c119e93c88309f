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

/* A matrix of the model, [columns_out][columns_in], times rows. */
gm_plan *plan_gemm(const struct maker *maker, int64_t rows, int64_t out, int64_t in, int has_bias,
                   enum gm_type out_type);
/* d = a * weights, or d + a * weights. */
void run_gemm(int64_t parts, const struct scratch *scratch, const gm_plan *plan, gm_device_ptr a, gm_device_ptr weights,
              gm_device_ptr bias, gm_device_ptr d, int accumulates);

/* Rows of a table of `of` rows by their numbers. `scale` 0: none. */
gm_plan *plan_gather(const struct maker *maker, int64_t rows, int64_t of, int64_t columns, enum gm_type type,
                     double scale);
/* The gated unit of rows whose gate and up lie behind each other. */
/* Gates and ups, in halves of the weights, and the gated unit of both: one kernel, or a GLU behind a GEMM. */
gm_plan *plan_gated(const struct maker *maker, int64_t rows, int64_t columns, int64_t in);
gm_plan *plan_glu(const struct maker *maker, int64_t rows, int64_t columns);

/* One line: the kernel that was chosen, and what it is thought to take. NULL: none. */
void explain_plan(const char *name, const gm_plan *plan);

#endif
