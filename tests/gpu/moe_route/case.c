/* SPDX-License-Identifier: Apache-2.0 */
/* One choice of experts: its operands, and what ids and weights shall be. */
#include <math.h>
#include <stdlib.h>

#include "moe_route/moe_route_tests.h"

void describe_route(const struct route_case *rc, char *text, size_t bytes) {
    static const char *const methods[] = {"softmax-top-k", "top-k-softmax", "sigmoid"};
    static const char *const inputs[] = {"integer", "normal", "wide", "special", "equal", "all-nan"};
    char counted[32] = "";
    if (rc->counted)
        snprintf(counted, sizeof counted, " count %d", rc->count);
    snprintf(
        text, bytes,
        "%lld tokens%s to %lld of %lld experts, %lld of %lld groups, %s %s %s%s%s scale %g pad %lld starts %d,%d,%d",
        (long long)rc->tokens, counted, (long long)rc->k, (long long)rc->experts, (long long)rc->top_groups,
        (long long)rc->groups, gm_type_name(rc->type), methods[rc->method], inputs[rc->inputs],
        rc->renormalize ? " renormalized" : "", rc->biased ? " biased" : "", rc->scale, (long long)rc->logits_pad,
        rc->logits_start, rc->bias_start, rc->ids_start);
}

/* ---- values ------------------------------------------------------------------------------------------ */

static double special(enum gm_type type, uint64_t random, double ordinary) {
    const double largest = type == GM_FP16 ? 65504 : 0x1.fep127;
    const double values[] = {NAN, -INFINITY, 0, -0.0, -largest, ordinary, ordinary, ordinary};
    return random % 401 == 0 ? INFINITY : random % 397 == 0 ? largest : values[random / 512 % COUNT(values)];
}

static double logit_value(const void *of, int64_t token, int64_t expert) {
    const struct route_case *rc = of;
    const uint64_t seed = opt.seed + rc->seed, index = (uint64_t)(token * rc->experts + expert);
    const double factor = rc->factor != 0 ? (double)rc->factor : 1, normal = factor * hash_normal(seed, index);
    const uint64_t random = hash64(seed, index);
    switch (rc->inputs) {
    case ROUTE_INTEGERS:
        return factor * (double)((int)((random >> 32) % 9) - 4);
    case ROUTE_WIDE:
        return round_to(rc->type, 40 * normal);
    case ROUTE_SPECIAL:
        return special(rc->type, random >> 8, round_to(rc->type, 2 * normal));
    case ROUTE_EQUAL:
        return 1.5;
    case ROUTE_ALL_NAN:
        return NAN;
    default:
        return round_to(rc->type, 2 * normal);
    }
}

static double bias_value(const void *of, int64_t row, int64_t expert) {
    const struct route_case *rc = of;
    (void)row;
    const uint64_t random = hash64(opt.seed + rc->seed + 0xb1a5, (uint64_t)expert);
    return rc->inputs == ROUTE_INTEGERS ? (double)(random % 5) / 4 - 0.5 : (double)(float)(hash_normal(random, 1) / 4);
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct route_case *)of)->count;
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

/* What a token may go to. `gap`: choices that are closer than this may come in either order, but for those of equal
 * inputs, of which the first comes first. */
struct candidates {
    const struct route_case *rc;
    double x[EXPERTS_MOST], bias[EXPERTS_MOST], choice[EXPERTS_MOST];
    bool taken[EXPERTS_MOST];
    double gap;
    bool is_open; /* such a pair has been met where it matters */
};

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

static void find_choices(struct candidates *c, int64_t token) {
    const struct route_case *rc = c->rc;
    const bool is_sigmoid = rc->method == GM_ROUTE_SIGMOID_GROUPED;
    for (int64_t e = 0; e < rc->experts; e++) {
        c->bias[e] = rc->biased ? bias_value(rc, 0, e) : 0;
        c->x[e] = logit_value(rc, token, e);
        c->choice[e] = is_sigmoid ? sigmoid(c->x[e]) + c->bias[e] : (double)(float)(c->x[e] + c->bias[e]);
        c->taken[e] = false;
    }
    c->gap = is_sigmoid ? 0x1p-18 : 0;
    c->is_open = false;
}

/* NaN is below everything; a difference within the gap counts as none in doubt. */
static bool is_larger(double x, double y) {
    return isnan(y) ? !isnan(x) : x > y;
}

/* The largest that is left, of equals the first. */
static int64_t largest_of(const double *values, const bool *taken, int64_t count) {
    int64_t best = -1;
    for (int64_t i = 0; i < count; i++)
        if (!taken[i] && (best < 0 || is_larger(values[i], values[best])))
            best = i;
    return best;
}

/* An expert, or a group of which two count. */
struct counted {
    int64_t best, second; /* second: -1 where there is none */
};

static bool have_equal_inputs(const struct candidates *c, int64_t i, int64_t j) {
    return i == j || (i >= 0 && j >= 0 && c->x[i] == c->x[j] && c->bias[i] == c->bias[j]);
}

/* Whether another one that is left, of other inputs, is as large as this one but for the gap. */
static bool is_close(const struct candidates *c, const double *values, const struct counted *counted, const bool *taken,
                     int64_t count, int64_t of) {
    for (int64_t i = 0; i < count && c->gap > 0; i++)
        if (!taken[i] && fabs(values[i] - values[of]) <= c->gap * (1 + fabs(values[of])) &&
            !(have_equal_inputs(c, counted[i].best, counted[of].best) &&
              have_equal_inputs(c, counted[i].second, counted[of].second)))
            return true;
    return false;
}

static double score_of_group(const struct candidates *c, int64_t group, int64_t size, struct counted *counted) {
    const double *choice = c->choice + group * size;
    bool taken[EXPERTS_MOST] = {false};
    const int64_t best = largest_of(choice, taken, size);
    taken[best] = true;
    const int64_t second = largest_of(choice, taken, size);
    *counted = (struct counted){group * size + best, second < 0 ? -1 : group * size + second};
    return choice[best] + (second < 0 ? 0 : choice[second]);
}

static void keep_top_groups(struct candidates *c) {
    const struct route_case *rc = c->rc;
    const int64_t size = rc->experts / rc->groups;
    double scores[GROUPS_MOST];
    struct counted counted[GROUPS_MOST];
    int64_t last = 0;
    bool kept[GROUPS_MOST] = {false};
    for (int64_t group = 0; group < rc->groups; group++)
        scores[group] = score_of_group(c, group, size, &counted[group]);
    for (int64_t i = 0; i < rc->top_groups; i++) {
        const int64_t group = largest_of(scores, kept, rc->groups);
        kept[group] = true;
        last = group;
    }
    c->is_open |= is_close(c, scores, counted, kept, rc->groups, last);
    for (int64_t e = 0; e < rc->experts; e++)
        c->taken[e] = !kept[e / size];
}

/* A weight before it is divided, and the largest choice of a softmax taken from it. */
static double weight_of(const struct candidates *c, int64_t expert, double largest) {
    return c->rc->method == GM_ROUTE_SIGMOID_GROUPED ? sigmoid(c->x[expert]) : exp(c->choice[expert] - largest);
}

static double sum_of_weights(const struct candidates *c, const int64_t *ids, double largest) {
    const struct route_case *rc = c->rc;
    const bool is_sigmoid = rc->method == GM_ROUTE_SIGMOID_GROUPED;
    double sum = 0;
    if (is_sigmoid && !rc->renormalize)
        return 1;
    if (rc->renormalize || rc->method == GM_ROUTE_TOP_K_SOFTMAX) {
        for (int64_t slot = 0; slot < rc->k; slot++)
            sum += weight_of(c, ids[slot], largest);
        return is_sigmoid ? sum + 1e-20 : sum;
    }
    for (int64_t e = 0; e < rc->experts; e++)
        sum += weight_of(c, e, largest);
    return sum;
}

static void choose(struct candidates *c, int64_t token, int64_t ids[SLOTS_MOST]) {
    const struct route_case *rc = c->rc;
    find_choices(c, token);
    if (rc->method == GM_ROUTE_SIGMOID_GROUPED && rc->groups > rc->top_groups)
        keep_top_groups(c);
    struct counted counted[EXPERTS_MOST];
    for (int64_t e = 0; e < rc->experts; e++)
        counted[e] = (struct counted){e, -1};
    for (int64_t slot = 0; slot < rc->k; slot++) {
        ids[slot] = largest_of(c->choice, c->taken, rc->experts);
        c->taken[ids[slot]] = true;
        c->is_open |= is_close(c, c->choice, counted, c->taken, rc->experts, ids[slot]);
    }
}

/* Where the order of two choices is open, ids and weights are, too. */
static void expect_slot(const struct candidates *c, const int64_t *ids, int64_t slot, bool is_id,
                        struct expectation *e) {
    const struct route_case *rc = c->rc;
    const double largest = c->choice[ids[0]], scale = rc->scale > 0 ? (double)rc->scale : 1;
    const double weight = weight_of(c, ids[slot], largest) / sum_of_weights(c, ids, largest) * scale;
    const double d = rc->method == GM_ROUTE_SIGMOID_GROUPED ? fabs(c->x[ids[slot]]) : largest - c->choice[ids[slot]];
    const double most = isfinite(d) ? fmin(d, 400) : 0;
    e->want[slot] = is_id ? (double)ids[slot] : weight;
    e->tolerance[slot] = is_id ? 0 : fabs(weight) * (0x1p-19 + most * 0x1p-22) + 0x1p-125 * scale;
    if (c->is_open)
        e->tolerance[slot] = INFINITY;
}

static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct route_case *rc = placed->of;
    struct candidates *c = malloc(sizeof *c);
    int64_t ids[SLOTS_MOST];
    if (!c)
        exit(2);
    c->rc = rc;
    choose(c, row, ids);
    for (int64_t slot = 0; slot < rc->k; slot++) {
        expect_slot(c, ids, slot, operand == ROUTE_IDS, e);
        if (rc->counted && row >= rc->count)
            e->tolerance[slot] = AS_BEFORE;
    }
    free(c);
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void list_operands(struct placed_route *placed, const struct route_case *rc) {
    struct operand *o = placed->placed.operands;
#define ARGUMENT(member) offsetof(struct gm_moe_route_args, member)
    o[ROUTE_LOGITS] = (struct operand){"logits",         ARGUMENT(logits),    rc->type,
                                       rc->tokens,       rc->experts,         placed->problem.logits_stride,
                                       rc->logits_start, .value = logit_value};
    o[ROUTE_BIAS] = (struct operand){"bias",      ARGUMENT(bias), GM_FP32,        rc->biased,
                                     rc->experts, rc->experts,    rc->bias_start, .value = bias_value};
    o[ROUTE_IDS] =
        (struct operand){"ids", ARGUMENT(ids), GM_INT32, rc->tokens, rc->k, rc->k, rc->ids_start, .written = true};
    o[ROUTE_WEIGHTS] = (struct operand){"weights", ARGUMENT(weights), GM_FP32,        rc->tokens, rc->k,
                                        rc->k,     rc->ids_start,     .written = true};
    o[ROUTE_COUNT] =
        (struct operand){"row_count", ARGUMENT(row_count), GM_INT32, rc->counted, 1, 1, 0, .value = count_value};
#undef ARGUMENT
}

bool place_route(struct result *result, const struct route_case *rc, struct operand_memory *memory,
                 struct placed_route *placed) {
    uint8_t *const before = placed->placed.before;
    *placed = (struct placed_route){.args = {.size = sizeof placed->args}};
    struct gm_moe_route_problem *p = &placed->problem;
    *p = (struct gm_moe_route_problem){.size = sizeof *p,
                                       .tokens = rc->tokens,
                                       .experts = rc->experts,
                                       .k = rc->k,
                                       .groups = rc->groups,
                                       .top_groups = rc->top_groups,
                                       .type = rc->type,
                                       .method = rc->method,
                                       .renormalize = rc->renormalize,
                                       .scale = rc->scale,
                                       .logits_stride = rc->experts + rc->logits_pad};
    placed->placed = (struct placed_operands){
        .call = {.operation = &moe_route_tests, .problem = p, .args = &placed->args},
        .of = rc,
        .args = &placed->args,
        .count = ROUTE_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed, rc);
    if (!place_operands(result, &placed->placed, memory))
        return false;
    p->logits_align = alignment_of(&placed->placed, ROUTE_LOGITS);
    return true;
}

bool run_route(struct result *result, const struct route_case *rc, const char *kernel, uint32_t mask,
               struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = rc->sm_budget};
    char what[320];
    struct placed_route placed = {0};
    describe_route(rc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_route(result, rc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, rc->repeats, rc->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
