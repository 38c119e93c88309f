/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of another type than an operation's input, 8 bits and their scales among them: as part of a case, what they shall be,
 * and how they are made on the CPU. */
#ifndef GPU_TESTS_OUT_H
#define GPU_TESTS_OUT_H

#include "common/quantized_store.h"
#include "gristmill/quantize.h"
#include "operands.h"

struct out_case {
    int has_type;
    enum gm_type type;
    enum gm_rounding rounding;
    enum gm_scaling scaling;
    enum gm_scale_format format;
    enum gm_scale_order order;
    enum gm_division division;
    int64_t group, scales_pad; /* elements between a row of scales and the next */
    float floor, static_scale;
};

/* Members of a problem, for its initializer. */
#define OUT_MEMBERS(oc)                                                                                                \
    .has_out_type = (oc).has_type, .out_type = (oc).type, .out_rounding = (oc).rounding, .scaling = (oc).scaling,      \
    .scale_format = (oc).format, .scale_order = (oc).order, .division = (oc).division, .group = (oc).group,            \
    .scale_floor = (oc).floor

enum gm_type type_of_out(const struct out_case *oc, enum gm_type of);
bool has_scales(const struct out_case *oc);
/* " to e4m3 group 128 e8m0 by-column"; nothing of an ordinary one. */
const char *describe_out(const struct out_case *oc, char *text, size_t bytes);

/* A random one. */
struct out_case random_out(struct draws *d);

/* The scales of so many rows and columns; without any it has no rows. `value` is the static one. */
struct operand scales_operand(const struct out_case *oc, size_t argument, int64_t rows, int64_t columns,
                              double (*value)(const void *of, int64_t row, int64_t column));
/* The stride to tell the problem; 0: none. */
int64_t scales_stride(const struct out_case *oc, int64_t rows, int64_t columns);

/* A row before it becomes out: values, which may be off by `error`, and 0 where they are exact. Fills in what out shall be and
 * how far off. */
void expect_out(const struct out_case *oc, enum gm_type of, int64_t columns, double *want, double *error);
/* Row and group of the scale at a place of its operand. */
int64_t row_of_scale(const struct out_case *oc, int64_t row, int64_t column);
/* What the scale there shall be, of its row's values. */
void expect_scale(const struct out_case *oc, enum gm_type of, int64_t columns, const double *value, const double *error,
                  int64_t row, int64_t column, double *want, double *tolerance);

/* The parameters that kernels have of it. */
struct gm_quantized_store store_of_out(const struct out_case *oc, enum gm_type of, int64_t rows, int64_t columns);

/* On the CPU: what is stored for a row of values, by parameters as kernels have them. Planted bugs are below. */
enum out_bug { OUT_BUG_NONE, OUT_BUG_LOST_SCALE, OUT_BUG_DROPS_NAN };
void store_row(const struct gm_quantized_store *store, uint64_t out, uint64_t scales, int64_t row, int64_t columns,
               const float *v, enum out_bug bug);

/* One call by a kernel of the mask: what it leaves in its packed operand `out`, and in that of the scales where that has rows. */
bool read_out(struct result *result, const struct placed_operands *placed, uint32_t mask, int out_number,
              int scales_number, uint8_t *out, uint8_t *scales);

/* Results of three calls, packed: of x's type, of fp32, and of 8 bits and their scales. */
enum { TWO_CALLS_ROOM = 1 << 20 };
struct two_calls {
    uint8_t *norm, *wide, *out, *scales;
};
void begin_two_calls(struct two_calls *calls);
void end_two_calls(struct two_calls *calls);
/* Whether the bits of out and scales are those of two calls: one whose out is of x's type or of fp32, and then a quantiser; and
 * whether that of x's type is that of fp32, rounded. */
bool check_two_calls_made(struct result *result, const struct two_calls *calls, const struct out_case *oc,
                          enum gm_type of, int64_t rows, int64_t columns, const char *what);

#endif
