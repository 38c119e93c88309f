/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of experts as an operation: its fields, its problem, what a call reads and writes, and its public
 * functions. */
#include "common/moe_route/params.h"
#include "gristmill/moe_route.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/moe_route/moe_route.h"
#include "host/plan.h"
#include "host/types.h"

#include <inttypes.h>

#define MOST_TOKENS  INT32_MAX
#define MOST_EXPERTS GM_MOE_ROUTE_EXPERTS
#define MOST_CHOSEN  32
#define MOST_GROUPS  32

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const methods[] = {"softmax_top_k", "top_k_softmax", "sigmoid_grouped", NULL};
static const char *const weights[] = {"plain", "renormalized", NULL};

#define AT(member) offsetof(struct gm_moe_route_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_ALIGN_FUNCTIONS(gm_moe_route_problem, logits)

enum { FIELD_TYPE, FIELD_METHOD, FIELD_WEIGHTS, FIELD_TOKENS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of the logits: also --dtype"},
    [FIELD_METHOD] = {"method", GM_FIELD_WORD, SUITES, .offset = AT(method), .words = methods,
                      .about = "softmax_top_k (default), top_k_softmax or sigmoid_grouped"},
    [FIELD_WEIGHTS] = {"weights", GM_FIELD_WORD, SUITES, .offset = AT(renormalize), .words = weights,
                       .about = "plain (default), or renormalized: divided by their sum"},
    [FIELD_TOKENS] = {.name = "tokens", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(tokens)},
    {.name = "experts", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(experts)},
    {.name = "k", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(k)},
    {.name = "groups", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(groups)},
    {.name = "top_groups", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(top_groups)},
    {"scale", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(scale), .about = "of the weights (default: 1)"},
    GM_STRIDE_FIELD(gm_moe_route_problem, logits),
    GM_ALIGN_FIELD(logits),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

struct gm_matrix gm_moe_route_logits(const struct gm_moe_route_problem *p) {
    return (struct gm_matrix){"logits",       p->tokens, p->experts, p->logits_stride, gm_type_bytes(p->type),
                              p->logits_align};
}

static enum gm_status check_choices(const struct gm_moe_route_problem *p) {
    enum gm_status status = gm_check_enum("type", (int)p->type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_enum("method", (int)p->method, GM_ROUTE_SOFTMAX_TOP_K, GM_ROUTE_SIGMOID_GROUPED);
    if (status == GM_OK)
        status = gm_check_enum("renormalize", p->renormalize, 0, 1);
    return status == GM_OK ? gm_check_real("scale", p->scale, 0) : status;
}

/* What has no effect is as if it had not been asked for: groups of a softmax, and what is renormalised anyway. */
static void fill_choices(struct gm_moe_route_problem *p) {
    if (p->method != GM_ROUTE_SIGMOID_GROUPED)
        p->groups = p->top_groups = 1;
    if (p->groups == 0)
        p->groups = 1;
    if (p->top_groups == 0)
        p->top_groups = p->groups;
    if (p->method == GM_ROUTE_TOP_K_SOFTMAX)
        p->renormalize = 0;
    if (p->scale == 0)
        p->scale = 1;
}

static enum gm_status check_groups(const struct gm_moe_route_problem *p) {
    enum gm_status status = gm_check_size("groups", p->groups, 1, MOST_GROUPS);
    if (status == GM_OK && p->experts % p->groups)
        status = gm_fail(GM_ERROR_INVALID_ARGUMENT, "groups is %" PRId64 ", which does not divide %" PRId64 " experts",
                         p->groups, p->experts);
    if (status == GM_OK)
        status = gm_check_size("top_groups", p->top_groups, 1, p->groups);
    const int64_t most = status == GM_OK ? p->experts / p->groups * p->top_groups : 0;
    return status == GM_OK ? gm_check_size("k", p->k, 1, most < MOST_CHOSEN ? most : MOST_CHOSEN) : status;
}

static enum gm_status normalize(void *problem) {
    struct gm_moe_route_problem *p = problem;
    enum gm_status status = gm_check_size("tokens", p->tokens, 0, MOST_TOKENS);
    if (status == GM_OK)
        status = gm_check_size("experts", p->experts, 1, MOST_EXPERTS);
    if (status == GM_OK)
        status = check_choices(p);
    if (status != GM_OK)
        return status;
    fill_choices(p);
    status = check_groups(p);
    if (status != GM_OK)
        return status;
    const struct gm_matrix logits = gm_moe_route_logits(p);
    return gm_fill_matrix(&logits, &p->logits_stride, &p->logits_align);
}

static int is_empty(const void *problem) {
    return ((const struct gm_moe_route_problem *)problem)->tokens == 0;
}

/* Each slot looks at all experts; an exponential of each is some 4 operations. */
static struct gm_work work(const void *problem) {
    const struct gm_moe_route_problem *p = problem;
    const double tokens = (double)p->tokens, experts = (double)p->experts, k = (double)p->k;
    return (struct gm_work){
        .flops = tokens * experts * (4 + k),
        .least_bytes = tokens * (experts * gm_type_bytes(p->type) + 8 * k),
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_moe_route_problem *p = problem;
    const struct gm_moe_route_args *args = arguments;
    const struct gm_matrix logits = gm_moe_route_logits(p);
    const struct gm_matrix ids = {"ids", p->tokens, p->k, p->k, 4, 4},
                           weight = {"weights", p->tokens, p->k, p->k, 4, 4};
    int count = 0;
    found[count++] = gm_range_of(&logits, args->logits, 0);
    found[count++] = gm_range_of_array("bias", args->bias, p->experts, 4, 0);
    found[count++] = gm_range_of(&ids, args->ids, 1);
    found[count++] = gm_range_of(&weight, args->weights, 1);
    found[count++] = gm_range_of_row_count(args->row_count);
    *workspace = (struct gm_workspace){0};
    return count;
}

const struct gm_operation gm_operation_moe_route = {
    .name = "moe_route",
    .computes = "the k experts of every token, and their weights",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_TOKENS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_moe_route_problem),
    .problem_bytes_least = 80,
    .planned_bytes = sizeof(struct gm_moe_route_problem),
    .args_bytes = sizeof(struct gm_moe_route_args),
    .args_bytes_least = 48,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_moe_route_plan_create(gm_context *context, const struct gm_moe_route_problem *problem,
                                        const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_moe_route, context, problem, options, plan);
}

enum gm_status gm_moe_route_execute(const gm_plan *plan, const struct gm_moe_route_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_moe_route, args, stream);
}

enum gm_status gm_moe_route(gm_context *context, const struct gm_moe_route_problem *problem,
                            const struct gm_moe_route_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_moe_route, context, problem, args, stream);
}

enum gm_status gm_moe_route_explain(const struct gm_device *device, const struct gm_moe_route_problem *problem,
                                    const struct gm_plan_options *options, struct gm_candidate *candidates,
                                    size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_moe_route, device, problem, options, candidates, capacity, count);
}
