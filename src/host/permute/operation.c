/* SPDX-License-Identifier: Apache-2.0 */
/* Permutations as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "gristmill/permute.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/matrix.h"
#include "host/permute/permute.h"
#include "host/plan.h"
#include "host/text.h"
#include "host/types.h"

#include <inttypes.h>
#include <string.h>

enum { RANK = GM_PERMUTE_RANK };

/* ---- fields --------------------------------------------------------------------------------------------- */

/* Every order of 1 to 5 dimensions, as torch's permute() has it: "021" is order {0, 2, 1} of rank 3. */
static const char *const orders[] = {
    "0",     "01",    "10",    "012",   "021",   "102",   "120",   "201",   "210",   "0123",  "0132",  "0213",  "0231",
    "0312",  "0321",  "1023",  "1032",  "1203",  "1230",  "1302",  "1320",  "2013",  "2031",  "2103",  "2130",  "2301",
    "2310",  "3012",  "3021",  "3102",  "3120",  "3201",  "3210",  "01234", "01243", "01324", "01342", "01423", "01432",
    "02134", "02143", "02314", "02341", "02413", "02431", "03124", "03142", "03214", "03241", "03412", "03421", "04123",
    "04132", "04213", "04231", "04312", "04321", "10234", "10243", "10324", "10342", "10423", "10432", "12034", "12043",
    "12304", "12340", "12403", "12430", "13024", "13042", "13204", "13240", "13402", "13420", "14023", "14032", "14203",
    "14230", "14302", "14320", "20134", "20143", "20314", "20341", "20413", "20431", "21034", "21043", "21304", "21340",
    "21403", "21430", "23014", "23041", "23104", "23140", "23401", "23410", "24013", "24031", "24103", "24130", "24301",
    "24310", "30124", "30142", "30214", "30241", "30412", "30421", "31024", "31042", "31204", "31240", "31402", "31420",
    "32014", "32041", "32104", "32140", "32401", "32410", "34012", "34021", "34102", "34120", "34201", "34210", "40123",
    "40132", "40213", "40231", "40312", "40321", "41023", "41032", "41203", "41230", "41302", "41320", "42013", "42031",
    "42103", "42130", "42301", "42310", "43012", "43021", "43102", "43120", "43201", "43210", NULL};

static int is_all_zero(const struct gm_permute_problem *p) {
    int64_t sum = 0;
    for (int64_t k = 0; k < p->rank; k++)
        sum |= p->order[k];
    return sum == 0;
}

static int64_t get_order(const void *problem) {
    const struct gm_permute_problem *p = problem;
    char word[RANK + 1] = "";
    if (p->rank < 1 || p->rank > RANK)
        return 0;
    for (int k = 0; k < p->rank; k++)
        word[k] = (char)('0' + (is_all_zero(p) ? k : p->order[k]));
    for (int i = 0; orders[i]; i++)
        if (strcmp(orders[i], word) == 0)
            return i;
    return 0;
}

static int set_order(void *problem, int64_t value) {
    struct gm_permute_problem *p = problem;
    p->rank = (int64_t)strlen(orders[value]);
    for (int k = 0; k < RANK; k++)
        p->order[k] = k < p->rank ? orders[value][k] - '0' : 0;
    return 1;
}

static int64_t get_element_bytes(const void *problem) {
    return ((const struct gm_permute_problem *)problem)->element_bytes;
}
static int set_element_bytes(void *problem, int64_t bytes) {
    ((struct gm_permute_problem *)problem)->element_bytes = (int32_t)bytes;
    return 1;
}

#define AT(member) offsetof(struct gm_permute_problem, member)
#define EXTENT(d)  {.name = "d" #d, .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(extents[d])}
#define ALL_TYPES  (GM_TYPE_SET(GM_TYPE_COUNT) - 1)
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)
#define STRIDE(of, d)                                                                                                  \
    {#of "_stride" #d, GM_FIELD_SIZE, GM_IN_OPTIONS, .offset = AT(of##_strides[d]),                                    \
     .about = "elements, of " #of "'s dimension " #d " (default: packed)"}

GM_ALIGN_FUNCTIONS(gm_permute_problem, x)
GM_ALIGN_FUNCTIONS(gm_permute_problem, out)

enum { FIELD_TYPE, FIELD_OUT_TYPE, FIELD_ORDER, FIELD_D0 };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = ALL_TYPES,
                    .about = "of x: also --dtype"},
    [FIELD_OUT_TYPE] = {.name = "out_type",
                        .kind = GM_FIELD_TYPE,
                        .uses = SUITES,
                        .offset = AT(out_type),
                        .types = ALL_TYPES,
                        .about = "of out: also --out; another one is a cast of bf16, fp16, fp32"},
    [FIELD_ORDER] = {"order", GM_FIELD_WORD, SUITES, .words = orders, .get = get_order, .set = set_order,
                     .about = "x's dimensions in the order of out's: 10 (default), 021, 0231, ..."},
    [FIELD_D0] = EXTENT(0),
    EXTENT(1),
    EXTENT(2),
    EXTENT(3),
    EXTENT(4),
    {"element_bytes", GM_FIELD_SIZE, GM_IN_OPTIONS, .get = get_element_bytes, .set = set_element_bytes,
     .about = "1, 2, 4, 8 or 16, whatever the types (default: as the types say)"},
    STRIDE(x, 0),
    STRIDE(x, 1),
    STRIDE(x, 2),
    STRIDE(x, 3),
    STRIDE(x, 4),
    STRIDE(out, 0),
    STRIDE(out, 1),
    STRIDE(out, 2),
    STRIDE(out, 3),
    STRIDE(out, 4),
    GM_ALIGN_FIELD(x),
    GM_ALIGN_FIELD(out),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

int gm_permute_x_bytes(const struct gm_permute_problem *p) {
    return p->element_bytes ? p->element_bytes : gm_type_bytes(p->type);
}

int gm_permute_out_bytes(const struct gm_permute_problem *p) {
    return p->element_bytes ? p->element_bytes : gm_type_bytes(p->out_type);
}

int64_t gm_permute_extent(const struct gm_permute_problem *p, int k) {
    return p->extents[p->order[k]];
}

int64_t gm_permute_x_stride(const struct gm_permute_problem *p, int k) {
    return p->x_strides[p->order[k]];
}

static enum gm_status check_types(const struct gm_permute_problem *p) {
    const int bytes = p->element_bytes;
    if (bytes != 0 && bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "element_bytes is %d; it must be 1, 2, 4, 8, 16, or 0 for the types'",
                       bytes);
    if (bytes)
        return GM_OK;
    enum gm_status status = gm_check_enum("type", (int)p->type, GM_BF16, GM_TYPE_COUNT - 1);
    if (status == GM_OK)
        status = gm_check_enum("out_type", (int)p->out_type, GM_BF16, GM_TYPE_COUNT - 1);
    if (status == GM_OK && p->type != p->out_type && (p->type > GM_FP32 || p->out_type > GM_FP32))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "type is %s and out_type %s; a cast is between bf16, fp16 and fp32",
                       gm_type_name(p->type), gm_type_name(p->out_type));
    return status;
}

/* All 0 is the order of x. */
static enum gm_status fill_order(struct gm_permute_problem *p) {
    int seen = 0;
    if (is_all_zero(p))
        for (int k = 0; k < p->rank; k++)
            p->order[k] = k;
    for (int k = 0; k < p->rank; k++) {
        if (p->order[k] < 0 || p->order[k] >= p->rank || seen >> p->order[k] & 1)
            return gm_fail(GM_ERROR_INVALID_ARGUMENT, "order[%d] is %d; order must have each of 0 to %" PRId64 " once",
                           k, p->order[k], p->rank - 1);
        seen |= 1 << p->order[k];
    }
    return GM_OK;
}

static enum gm_status fill_extents(struct gm_permute_problem *p) {
    enum gm_status status = gm_check_size("rank", p->rank, 1, RANK);
    for (int d = 0; d < p->rank && status == GM_OK; d++) {
        char name[16];
        gm_print(name, sizeof name, "extents[%d]", d);
        status = gm_check_size(name, p->extents[d], 0, INT32_MAX);
    }
    if (status == GM_OK)
        status = fill_order(p);
    for (int d = (int)p->rank; d < RANK && status == GM_OK; d++) {
        p->extents[d] = 1;
        p->x_strides[d] = p->out_strides[d] = p->order[d] = 0;
    }
    return status;
}

/* Strides of 0 become those of packed dimensions; from the first to the last byte must fit an int64. `extent[k]` is that
 * of this side's dimension k. */
static enum gm_status fill_strides(const char *name, int64_t rank, const int64_t extent[RANK], int64_t stride[RANK],
                                   int element_bytes) {
    int64_t last = 0, bytes = 0;
    for (int d = (int)rank - 1; d >= 0; d--) {
        int64_t packed = 1, reach = 0;
        int too_large =
            d + 1 < rank && __builtin_mul_overflow(stride[d + 1], extent[d + 1] > 0 ? extent[d + 1] : 1, &packed);
        if (stride[d] == 0)
            stride[d] = packed;
        else
            too_large = 0;
        if (stride[d] < 0)
            return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s[%d] is %" PRId64 "; it must be 1 or more, or 0 for packed",
                           name, d, stride[d]);
        too_large = too_large || __builtin_mul_overflow(extent[d] > 0 ? extent[d] - 1 : 0, stride[d], &reach) ||
                    __builtin_add_overflow(last, reach, &last) ||
                    __builtin_mul_overflow(last + 1, element_bytes, &bytes);
        if (too_large)
            return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                           "%s[%d] is %" PRId64 "; with %" PRId64 " elements there the array exceeds 2^63 bytes", name,
                           d, stride[d], extent[d]);
    }
    return GM_OK;
}

/* Out's dimensions by stride: each must pass all that those of smaller strides span. */
static enum gm_status check_out_is_apart(const struct gm_permute_problem *p) {
    int64_t span = 0; /* from the first to the last element */
    int done = 0;
    for (int i = 0; i < p->rank; i++) {
        int next = -1;
        for (int k = 0; k < p->rank; k++)
            if (!(done >> k & 1) && (next < 0 || p->out_strides[k] < p->out_strides[next]))
                next = k;
        done |= 1 << next;
        const int64_t extent = gm_permute_extent(p, next);
        if (extent <= 1)
            continue;
        if (p->out_strides[next] <= span)
            return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                           "out_strides[%d] is %" PRId64 ", but out's dimensions of smaller strides span %" PRId64
                           " elements: out must not overlap itself",
                           next, p->out_strides[next], span + 1);
        span += (extent - 1) * p->out_strides[next];
    }
    return GM_OK;
}

static enum gm_status normalize(void *problem) {
    struct gm_permute_problem *p = problem;
    int64_t out_extents[RANK];
    enum gm_status status = fill_extents(p);
    if (status == GM_OK)
        status = check_types(p);
    if (status != GM_OK)
        return status;
    for (int k = 0; k < p->rank; k++)
        out_extents[k] = gm_permute_extent(p, k);
    status = fill_strides("x_strides", p->rank, p->extents, p->x_strides, gm_permute_x_bytes(p));
    if (status == GM_OK)
        status = fill_strides("out_strides", p->rank, out_extents, p->out_strides, gm_permute_out_bytes(p));
    if (status == GM_OK)
        status = check_out_is_apart(p);
    if (status == GM_OK)
        status = gm_fill_alignment("x_align", &p->x_align, gm_permute_x_bytes(p));
    return status == GM_OK ? gm_fill_alignment("out_align", &p->out_align, gm_permute_out_bytes(p)) : status;
}

static int is_empty(const void *problem) {
    const struct gm_permute_problem *p = problem;
    for (int d = 0; d < p->rank; d++)
        if (p->extents[d] == 0)
            return 1;
    return 0;
}

static struct gm_work work(const void *problem) {
    const struct gm_permute_problem *p = problem;
    double elements = 1;
    for (int d = 0; d < p->rank; d++)
        elements *= (double)p->extents[d];
    return (struct gm_work){.least_bytes = elements * (gm_permute_x_bytes(p) + gm_permute_out_bytes(p))};
}

/* ---- a call --------------------------------------------------------------------------------------------- */

/* One side as rows: the indices of its largest stride, if its rows do not overlap; else as one row. */
static struct gm_range range_of(const struct gm_permute_problem *p, const int64_t extent[RANK],
                                const int64_t stride[RANK], int64_t element_bytes) {
    int largest = 0;
    int64_t row = 1;
    for (int k = 1; k < p->rank; k++)
        if (extent[largest] <= 1 || (extent[k] > 1 && stride[k] > stride[largest]))
            largest = k;
    for (int k = 0; k < p->rank; k++)
        row += k != largest ? (extent[k] - 1) * stride[k] : 0;
    if (is_empty(p))
        return (struct gm_range){.may_equal = -1};
    if (row <= stride[largest])
        return (struct gm_range){.rows = extent[largest],
                                 .row_bytes = row * element_bytes,
                                 .pitch_bytes = stride[largest] * element_bytes,
                                 .may_equal = -1};
    row += (extent[largest] - 1) * stride[largest];
    return (struct gm_range){
        .rows = 1, .row_bytes = row * element_bytes, .pitch_bytes = row * element_bytes, .may_equal = -1};
}

/* Whether element i of out lies as far from out's beginning as element i of x from x's. */
static int stays_in_place(const struct gm_permute_problem *p) {
    if (gm_permute_x_bytes(p) != gm_permute_out_bytes(p))
        return 0;
    for (int k = 0; k < p->rank; k++)
        if (gm_permute_extent(p, k) > 1 && gm_permute_x_stride(p, k) != p->out_strides[k])
            return 0;
    return 1;
}

enum { X, OUT, RANGES };

static int ranges(const void *planned, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_permute_problem *p = planned;
    const struct gm_permute_args *args = arguments;
    const int32_t bytes = ((const struct gm_permute_planned *)planned)->caller_bytes;
    int64_t out_extents[RANK] = {0};
    for (int k = 0; k < p->rank; k++)
        out_extents[k] = gm_permute_extent(p, k);
    found[X] = range_of(p, p->extents, p->x_strides, gm_permute_x_bytes(p));
    found[X].name = "x";
    found[X].address = args->x;
    found[X].align = p->x_align;
    found[X].element_bytes = bytes ? bytes : gm_permute_x_bytes(p);
    found[OUT] = range_of(p, out_extents, p->out_strides, gm_permute_out_bytes(p));
    found[OUT].name = "out";
    found[OUT].address = args->out;
    found[OUT].align = p->out_align;
    found[OUT].element_bytes = p->element_bytes && bytes ? bytes : gm_permute_out_bytes(p);
    found[OUT].written = 1;
    if (stays_in_place(p))
        found[X].may_equal = OUT;
    *workspace = (struct gm_workspace){0};
    return RANGES;
}

const struct gm_operation gm_operation_permute = {
    .name = "permute",
    .computes = "out[i(order[0]), ...] = x[i(0), ...]: strided copies, transposes, casts",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_D0,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_permute_problem),
    .problem_bytes_least = 176,
    .planned_bytes = sizeof(struct gm_permute_planned),
    .args_bytes = sizeof(struct gm_permute_args),
    .args_bytes_least = 24,
    .normalize = normalize,
    .simplify = gm_permute_simplify,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_permute_plan_create(gm_context *context, const struct gm_permute_problem *problem,
                                      const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_permute, context, problem, options, plan);
}

enum gm_status gm_permute_execute(const gm_plan *plan, const struct gm_permute_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_permute, args, stream);
}

enum gm_status gm_permute(gm_context *context, const struct gm_permute_problem *problem,
                          const struct gm_permute_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_permute, context, problem, args, stream);
}

enum gm_status gm_permute_explain(const struct gm_device *device, const struct gm_permute_problem *problem,
                                  const struct gm_plan_options *options, struct gm_candidate *candidates,
                                  size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_permute, device, problem, options, candidates, capacity, count);
}
