/* SPDX-License-Identifier: Apache-2.0 */
/* An output of another type than its operation's input, or of 8 bits with scales: what a problem says of it, as
 * gristmill/quantize.h has it, checked and filled in, and what a launch is told. */
#ifndef GM_HOST_OUT_H
#define GM_HOST_OUT_H

#include "common/quantized_store.h"
#include "gristmill/quantize.h"
#include "host/matrix.h"

struct gm_out {
    int64_t rows, columns;
    enum gm_type type, of; /* of out, and of the input */
    int32_t has_type;      /* 0: out's is the input's */
    enum gm_rounding rounding;
    enum gm_scaling scaling;
    enum gm_scale_format scale_format;
    enum gm_scale_order scale_order;
    enum gm_division division;
    int64_t group, scales_stride;
    float scale_floor;
};

/* Of a problem whose members are called so, and back. */
#define GM_OUT_OF(p)                                                                                                   \
    {.rows = (p)->rows,                                                                                                \
     .columns = (p)->columns,                                                                                          \
     .type = (p)->out_type,                                                                                            \
     .of = (p)->type,                                                                                                  \
     .has_type = (p)->has_out_type,                                                                                    \
     .rounding = (p)->out_rounding,                                                                                    \
     .scaling = (p)->scaling,                                                                                          \
     .scale_format = (p)->scale_format,                                                                                \
     .scale_order = (p)->scale_order,                                                                                  \
     .division = (p)->division,                                                                                        \
     .group = (p)->group,                                                                                              \
     .scales_stride = (p)->scales_stride,                                                                              \
     .scale_floor = (p)->scale_floor}
#define GM_OUT_TO(p, out)                                                                                              \
    ((p)->out_type = (out).type, (p)->has_out_type = (out).has_type, (p)->out_rounding = (out).rounding,               \
     (p)->scaling = (out).scaling, (p)->scale_format = (out).scale_format, (p)->scale_order = (out).scale_order,       \
     (p)->division = (out).division, (p)->group = (out).group, (p)->scales_stride = (out).scales_stride,               \
     (p)->scale_floor = (out).scale_floor)

/* What every problem with scales is refused for, and then for its groups. */
enum gm_status gm_check_scales(const struct gm_out *out);
enum gm_status gm_check_group(int64_t group);
/* What has no effect with such a scaling is as if it had not been asked for. */
void gm_forget_scales(enum gm_scaling scaling, enum gm_scale_format *format, enum gm_scale_order *order, int64_t *group,
                      int64_t *stride);
/* The scales of 8 bits, one where they are static; and the bytes from a scale to the one below, and to the one beside. */
struct gm_matrix gm_scales_of(const struct gm_out *out);
void gm_scale_pitches(const struct gm_out *out, int64_t *down, int64_t *across);
/* The largest number of a type of 8 bits; the floor of scales where the caller says none. */
float gm_out_limit(enum gm_type type);
float gm_usual_scale_floor(enum gm_type type, enum gm_scaling scaling);

/* A sentence where something is refused; else what has no effect is as if it had not been asked for, and defaults are there. */
enum gm_status gm_out_normalize(struct gm_out *out);
int gm_out_has_8_bits(const struct gm_out *out);
/* Of an element. */
int gm_out_bytes(const struct gm_out *out);
/* The scales; no rows where there are none. Those of rows are one row. */
struct gm_matrix gm_out_scales(const struct gm_out *out);
struct gm_quantized_store gm_out_store(const struct gm_out *out);

/* Out in one word of a suite: "same", "fp32", "e4m3", "e4m3_row", "e4m3_group". */
extern const char *const gm_out_words[];
int64_t gm_out_word(const struct gm_out *out);
void gm_out_set_word(struct gm_out *out, int64_t word);

/* Functions and fields of it in a problem whose members are called so. */
#define GM_OUT_FUNCTIONS(problem_type)                                                                                 \
    static int64_t get_out(const void *problem) {                                                                      \
        const struct gm_out out = GM_OUT_OF((const struct problem_type *)problem);                                     \
        return gm_out_word(&out);                                                                                      \
    }                                                                                                                  \
    static int set_out(void *problem, int64_t word) {                                                                  \
        struct gm_out out = GM_OUT_OF((struct problem_type *)problem);                                                 \
        gm_out_set_word(&out, word);                                                                                   \
        GM_OUT_TO((struct problem_type *)problem, out);                                                                \
        return 1;                                                                                                      \
    }
#define GM_OUT_FIELD(uses_)                                                                                            \
    {.name = "out",                                                                                                    \
     .kind = GM_FIELD_WORD,                                                                                            \
     .uses = (uses_),                                                                                                  \
     .words = gm_out_words,                                                                                            \
     .get = get_out,                                                                                                   \
     .set = set_out,                                                                                                   \
     .about = "its type (default: same), and who shares a scale: e4m3, e4m3_row, e4m3_group"}
extern const char *const gm_scale_format_words[], *const gm_scale_order_words[], *const gm_division_words[];
#define GM_OUT_OPTIONS(problem_type)                                                                                   \
    {"out_rounding",                                                                                                   \
     GM_FIELD_WORD,                                                                                                    \
     GM_IN_OPTIONS,                                                                                                    \
     .offset = offsetof(struct problem_type, out_rounding),                                                            \
     .words = gm_rounding_words,                                                                                       \
     .about = "when it is rounded to x's type, of another out: late (default) or early"},                              \
        {"scale_format",                                                                                               \
         GM_FIELD_WORD,                                                                                                \
         GM_IN_OPTIONS,                                                                                                \
         .offset = offsetof(struct problem_type, scale_format),                                                        \
         .words = gm_scale_format_words,                                                                               \
         .about = "of scales: fp32 (default), power_of_2, e8m0"},                                                      \
        {"scale_order",                                                                                                \
         GM_FIELD_WORD,                                                                                                \
         GM_IN_OPTIONS,                                                                                                \
         .offset = offsetof(struct problem_type, scale_order),                                                         \
         .words = gm_scale_order_words,                                                                                \
         .about = "of scales of groups"},                                                                              \
        {"division",                                                                                                   \
         GM_FIELD_WORD,                                                                                                \
         GM_IN_OPTIONS,                                                                                                \
         .offset = offsetof(struct problem_type, division),                                                            \
         .words = gm_division_words,                                                                                   \
         .about = "out / scale (default), or out * (1 / scale)"},                                                      \
        {.name = "group",                                                                                              \
         .kind = GM_FIELD_SIZE,                                                                                        \
         .uses = GM_IN_OPTIONS,                                                                                        \
         .offset = offsetof(struct problem_type, group),                                                               \
         .about = "columns: 128, 64, 32"},                                                                             \
        {"scale_floor", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = offsetof(struct problem_type, scale_floor),            \
         .about = "the least scale"},                                                                                  \
        GM_STRIDE_FIELD(problem_type, scales)
#endif
