/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of cuTensorMapEncodeTiled on compute capability 9.0, as one list.
 *
 * NOTE: these are the rules that the driver (580, H200) enforces; the GPU tests compare verdicts over thousands of
 * random descriptors. Its documentation differs in three places: it asks for the 32-byte swizzle with the 32-byte
 * interleave (not enforced), says that the innermost element stride is ignored without interleave (it must still be
 * 1 to 8), and does not name the limit on the size of a box. */
#include "host/tensor_map.h"

#include "host/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define MAX_RANK           5
#define MAX_BOX            256
#define MAX_BOX_BYTES      233472 /* 228 KB, the shared memory of an SM */
#define MAX_ELEMENT_STRIDE 8
#define MAX_DIM            (UINT64_C(1) << 32)
#define STRIDE_LIMIT       (UINT64_C(1) << 40)

/* Element types 0 to 12 of CUtensorMapDataType; the packed ones above them need a newer architecture. */
static const struct {
    unsigned char bytes, floating;
} types[] = {{1, 0}, {2, 0}, {4, 0}, {4, 0}, {8, 0}, {8, 0}, {2, 1}, {4, 1}, {8, 1}, {2, 1}, {4, 1}, {4, 1}, {4, 1}};
#define TYPES ((int)(sizeof types / sizeof *types))

uint32_t gm_tensor_map_element_bytes(int32_t type) {
    return type >= 0 && type < TYPES ? types[type].bytes : 0;
}

/* ---- what a rule says ---- */

enum { BROKEN = 0, HOLDS = 1, DOES_NOT_APPLY = -1 };

/* What one rule says of a description. */
struct ruling {
    int holds;
    char *sentence; /* NULL: nobody reads it, and it is not written */
    size_t sentence_bytes;
};

__attribute__((format(printf, 3, 4))) static void judge(struct ruling *rule, int holds, const char *format, ...) {
    rule->holds = holds;
    if (!rule->sentence)
        return;
    va_list arguments;
    va_start(arguments, format);
    gm_format(rule->sentence, rule->sentence_bytes, format, arguments);
    va_end(arguments);
}

/* Most rules: a value in a range of an enum. */
static void judge_range(struct ruling *rule, const char *what, int value, int highest) {
    const int holds = value >= 0 && value <= highest;
    judge(rule, holds, holds ? "%s %d is one of 0 to %d" : "%s %d is not one of 0 to %d", what, value, highest);
}

/* "64 x 128 x 2", for the sentence of a rule that holds; empty where the sentence is not written. */
struct list {
    char text[112];
};
static struct list list_of(const struct ruling *rule, const uint64_t *values, unsigned count) {
    struct list list = {""};
    size_t at = 0;
    for (unsigned i = 0; rule->sentence && i < count && at < sizeof list.text; i++)
        at += (size_t)snprintf(list.text + at, sizeof list.text - at, "%s%" PRIu64, i ? " x " : "", values[i]);
    return list;
}
static struct list list_of_32(const struct ruling *rule, const uint32_t *values, unsigned count) {
    uint64_t wide[MAX_RANK];
    for (unsigned i = 0; i < count; i++)
        wide[i] = values[i];
    return list_of(rule, wide, count);
}

/* How many entries of the arrays count; 0 when the rank says nothing sensible. */
static unsigned dimensions(const struct gm_map_desc *d) {
    return d->rank <= MAX_RANK ? d->rank : 0;
}

/* True, with a verdict, when a rule about the dimensions has none to look at. */
static int lacks_dimensions(const struct gm_map_desc *d, struct ruling *rule) {
    if (dimensions(d))
        return 0;
    judge(rule, DOES_NOT_APPLY, "rank %u leaves no dimensions to look at", d->rank);
    return 1;
}

static int lacks_type(const struct gm_map_desc *d, struct ruling *rule) {
    if (gm_tensor_map_element_bytes(d->type))
        return 0;
    judge(rule, DOES_NOT_APPLY, "element type %d has no size", d->type);
    return 1;
}

static unsigned alignment(const struct gm_map_desc *d) {
    return d->interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
}

static uint64_t box_row_bytes(const struct gm_map_desc *d) {
    return (uint64_t)d->box[0] * gm_tensor_map_element_bytes(d->type);
}

/* ---- modes ---- */

static void element_type(const struct gm_map_desc *d, struct ruling *rule) {
    if (gm_tensor_map_element_bytes(d->type))
        judge(rule, HOLDS, "element type %d is one of 0 to %d: %u bytes", d->type, TYPES - 1, types[d->type].bytes);
    else
        judge(rule, BROKEN, "element type %d is not one of 0 to %d", d->type, TYPES - 1);
}

static void interleave(const struct gm_map_desc *d, struct ruling *rule) {
    judge_range(rule, "interleave", d->interleave, CU_TENSOR_MAP_INTERLEAVE_32B);
}

static void swizzle(const struct gm_map_desc *d, struct ruling *rule) {
    judge_range(rule, "swizzle", d->swizzle, CU_TENSOR_MAP_SWIZZLE_128B);
}

static void l2_promotion(const struct gm_map_desc *d, struct ruling *rule) {
    judge_range(rule, "L2 promotion", d->l2_promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
}

static void oob_fill(const struct gm_map_desc *d, struct ruling *rule) {
    if (d->oob_fill < CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ||
        d->oob_fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        judge(rule, BROKEN, "out-of-bounds fill %d is not 0 or 1", d->oob_fill);
    else
        judge(rule, HOLDS, "out-of-bounds fill %d is one of 0 (zero) and 1 (NaN)", d->oob_fill);
}

static void nan_needs_floats(const struct gm_map_desc *d, struct ruling *rule) {
    if (d->oob_fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
        judge(rule, DOES_NOT_APPLY, "elements outside the tensor read as zero");
    else if (lacks_type(d, rule))
        return;
    else if (types[d->type].floating)
        judge(rule, HOLDS, "out-of-bounds fill with NaN, and type %d is a floating type", d->type);
    else
        judge(rule, BROKEN, "out-of-bounds fill with NaN needs a floating type, not type %d", d->type);
}

/* ---- global memory ---- */

static void rank(const struct gm_map_desc *d, struct ruling *rule) {
    const unsigned lowest = d->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE ? 1 : 3;
    const int holds = d->rank >= lowest && d->rank <= MAX_RANK;
    judge(rule, holds, holds ? "rank %u is %u to %d" : "rank %u is not %u to %d", d->rank, lowest, MAX_RANK);
}

static void address(const struct gm_map_desc *d, struct ruling *rule) {
    const unsigned align = alignment(d);
    const int holds = d->address % align == 0;
    judge(rule, holds, "address 0x%" PRIx64 " is %sa multiple of %u", d->address, holds ? "" : "not ", align);
}

static void dims(const struct gm_map_desc *d, struct ruling *rule) {
    if (lacks_dimensions(d, rule))
        return;
    judge(rule, HOLDS, "dimensions %s, each 1 to 2^32 elements", list_of(rule, d->dims, dimensions(d)).text);
    for (unsigned i = 0; i < dimensions(d) && rule->holds; i++)
        if (d->dims[i] == 0 || d->dims[i] > MAX_DIM)
            judge(rule, BROKEN, "dimension %u has %" PRIu64 " elements, not 1 to 2^32", i, d->dims[i]);
}

/* True, with a verdict, when there is no stride: dimension 0 is contiguous. */
static int lacks_strides(const struct gm_map_desc *d, struct ruling *rule) {
    if (lacks_dimensions(d, rule))
        return 1;
    if (dimensions(d) > 1)
        return 0;
    judge(rule, DOES_NOT_APPLY, "rank 1 has no strides");
    return 1;
}

static void stride_alignment(const struct gm_map_desc *d, struct ruling *rule) {
    if (lacks_strides(d, rule))
        return;
    const unsigned align = alignment(d), count = dimensions(d) - 1;
    judge(rule, HOLDS, "strides %s bytes, multiples of %u", list_of(rule, d->strides, count).text, align);
    for (unsigned i = 0; i < count && rule->holds; i++)
        if (d->strides[i] % align)
            judge(rule, BROKEN, "the stride of dimension %u, %" PRIu64 " bytes, is not a multiple of %u", i + 1,
                  d->strides[i], align);
}

static void stride_limit(const struct gm_map_desc *d, struct ruling *rule) {
    if (lacks_strides(d, rule))
        return;
    judge(rule, HOLDS, "strides are under 2^40 bytes");
    for (unsigned i = 0; i + 1 < dimensions(d) && rule->holds; i++)
        if (d->strides[i] >= STRIDE_LIMIT)
            judge(rule, BROKEN, "the stride of dimension %u, %" PRIu64 " bytes, is not under 2^40", i + 1,
                  d->strides[i]);
}

/* ---- the box ---- */

static void box(const struct gm_map_desc *d, struct ruling *rule) {
    if (lacks_dimensions(d, rule))
        return;
    judge(rule, HOLDS, "the box has %s elements, each 1 to %d", list_of_32(rule, d->box, dimensions(d)).text, MAX_BOX);
    for (unsigned i = 0; i < dimensions(d) && rule->holds; i++)
        if (d->box[i] == 0 || d->box[i] > MAX_BOX)
            judge(rule, BROKEN, "the box has %u elements in dimension %u, not 1 to %d", d->box[i], i, MAX_BOX);
}

static void element_strides(const struct gm_map_desc *d, struct ruling *rule) {
    if (lacks_dimensions(d, rule))
        return;
    judge(rule, HOLDS, "element strides %s, each 1 to %d", list_of_32(rule, d->element_strides, dimensions(d)).text,
          MAX_ELEMENT_STRIDE);
    for (unsigned i = 0; i < dimensions(d) && rule->holds; i++)
        if (d->element_strides[i] == 0 || d->element_strides[i] > MAX_ELEMENT_STRIDE)
            judge(rule, BROKEN, "the element stride of dimension %u is %u, not 1 to %d", i, d->element_strides[i],
                  MAX_ELEMENT_STRIDE);
}

static void box_row_units(const struct gm_map_desc *d, struct ruling *rule) {
    if (lacks_dimensions(d, rule) || lacks_type(d, rule))
        return;
    const uint64_t bytes = box_row_bytes(d);
    const int holds = bytes % 16 == 0;
    judge(rule, holds, "a row of the box has %" PRIu64 " bytes, %sa multiple of 16", bytes, holds ? "" : "not ");
}

static void box_row_span(const struct gm_map_desc *d, struct ruling *rule) {
    if (lacks_dimensions(d, rule) || lacks_type(d, rule))
        return;
    if (d->swizzle <= CU_TENSOR_MAP_SWIZZLE_NONE || d->swizzle > CU_TENSOR_MAP_SWIZZLE_128B) {
        judge(rule, DOES_NOT_APPLY, "swizzle %d has no span", d->swizzle);
        return;
    }
    if (d->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) {
        judge(rule, DOES_NOT_APPLY, "interleave %d: the span does not bound the box", d->interleave);
        return;
    }
    const uint64_t bytes = box_row_bytes(d);
    const unsigned span = 16u << d->swizzle; /* swizzle 1, 2, 3: 32, 64, 128 bytes */
    const int holds = bytes <= span;
    judge(rule, holds, "a row of the box has %" PRIu64 " bytes, %s the swizzle span of %u", bytes,
          holds ? "within" : "more than", span);
}

/* The box, with each dimension divided by its element stride and rounded down, fits the shared memory of an SM. */
static void box_size(const struct gm_map_desc *d, struct ruling *rule) {
    if (lacks_dimensions(d, rule) || lacks_type(d, rule))
        return;
    uint64_t bytes = gm_tensor_map_element_bytes(d->type);
    for (unsigned i = 0; i < dimensions(d); i++) {
        if (d->box[i] > MAX_BOX || d->element_strides[i] == 0) {
            judge(rule, DOES_NOT_APPLY, "what dimension %u asks for is not laid out", i);
            return;
        }
        bytes *= d->box[i] / d->element_strides[i];
    }
    const int holds = bytes <= MAX_BOX_BYTES;
    judge(rule, holds, "the box has %" PRIu64 " bytes, %s the %d of an SM's shared memory", bytes,
          holds ? "within" : "more than", MAX_BOX_BYTES);
}

/* ---- the list, in the order in which a broken rule is reported ---- */

static const struct {
    const char *name;
    void (*judge)(const struct gm_map_desc *, struct ruling *);
} rules[] = {
    {"element type", element_type},
    {"interleave", interleave},
    {"swizzle", swizzle},
    {"L2 promotion", l2_promotion},
    {"out-of-bounds fill", oob_fill},
    {"NaN fill against element type", nan_needs_floats},
    {"rank", rank},
    {"alignment of the global address", address},
    {"tensor dimensions", dims},
    {"alignment of the strides", stride_alignment},
    {"size of the strides", stride_limit},
    {"box dimensions", box},
    {"element strides", element_strides},
    {"box row in units of 16 bytes", box_row_units},
    {"box row against swizzle span", box_row_span},
    {"box against shared memory", box_size},
};

size_t gm_tensor_map_rule_count(void) {
    return sizeof rules / sizeof *rules;
}

struct gm_rule gm_tensor_map_rule(const struct gm_map_desc *d, size_t index) {
    struct gm_rule rule = {.size = sizeof rule, .name = rules[index].name};
    struct ruling ruling = {.sentence = rule.sentence, .sentence_bytes = sizeof rule.sentence};
    rules[index].judge(d, &ruling);
    rule.holds = ruling.holds;
    return rule;
}

/* Most descriptions break no rule: only a rule that is broken is asked once more, for its sentence. */
int gm_tensor_map_check(const struct gm_map_desc *desc, char *sentence, size_t sentence_bytes) {
    if (sentence_bytes)
        sentence[0] = 0;
    for (size_t i = 0; i < gm_tensor_map_rule_count(); i++) {
        struct ruling ruling = {.sentence = NULL};
        rules[i].judge(desc, &ruling);
        if (ruling.holds == BROKEN) {
            ruling.sentence = sentence_bytes ? sentence : NULL, ruling.sentence_bytes = sentence_bytes;
            rules[i].judge(desc, &ruling);
            return 0;
        }
    }
    return 1;
}
