/* SPDX-License-Identifier: Apache-2.0 */
#include "moe.h"

#include "plans.h"

#include <stdlib.h>

/* What is written, in this order. A slot is one of a row's choices, number row * chosen + j; places are slots sorted by
 * expert. */
enum memory {
    LOGITS,        /* float [rows][experts]: of the router */
    CHOICES,       /* int32_t [slots]: experts */
    WEIGHTS,       /* float [slots] */
    OFFSETS,       /* int32_t [experts + 1]: an expert's first place */
    SLOTS,         /* int32_t [places]: the slot that is there */
    PLACES,        /* int32_t [slots]: where the slot is */
    TOKENS,        /* int32_t [places]: the row of the slot that is there */
    GATHERED,      /* [places][hidden]: those rows; later what the experts make of them */
    GATE_UP,       /* [places][2 intermediate] */
    UNITS,         /* [places][intermediate] */
    ROWS_OF_SLOTS, /* int32_t [slots]: slot / chosen, for looking it up; never written */
    MEMORIES
};

/* Plans for so many rows of a step. */
struct routing {
    int64_t rows;
    gm_plan *router, *route, *align, *look_up, *gather, *glu, *finalize;
    struct routing *next;
};

/* Plans for so many rows of an expert. */
struct expert {
    gm_plan *gate_up, *down;
};

struct moe {
    struct maker maker;
    int64_t rows; /* of a step, at most */
    gm_device_ptr memory[MEMORIES];
    int32_t *offsets;  /* of the host */
    struct mark *read; /* they are there */
    struct routing *routing;
    struct expert *expert; /* for each number of rows that is planned */
};

/* ---- numbers of rows ------------------------------------------------------------------------------------ */

/* An expert's rows are planned for powers of two up to 64, and for multiples of 64. Rows that a plan has beyond the
 * expert's are the next expert's, which writes them once more; behind the last one's there is room. */
enum { BLOCK = 64, POWERS = 6 /* below it */ };

static int64_t planned_number(int64_t rows) {
    int64_t number = 0;
    if (rows > BLOCK)
        return POWERS + (rows - 1) / BLOCK;
    while ((int64_t)1 << number < rows)
        number++;
    return number;
}

static int64_t planned_rows(int64_t number) {
    return number <= POWERS ? (int64_t)1 << number : (number - POWERS + 1) * BLOCK;
}

/* ---- memory --------------------------------------------------------------------------------------------- */

static size_t memory_bytes(const struct config *c, int64_t rows, enum memory memory) {
    const int64_t slots = rows * c->chosen, places = slots + BLOCK;
    const int64_t bytes[MEMORIES] = {[LOGITS] = rows * c->experts * 4,
                                     [CHOICES] = slots * 4,
                                     [WEIGHTS] = slots * 4,
                                     [OFFSETS] = (c->experts + 1) * 4,
                                     [SLOTS] = slots * 4,
                                     [PLACES] = slots * 4,
                                     [TOKENS] = slots * 4,
                                     [GATHERED] = places * c->hidden * ELEMENT_BYTES,
                                     [GATE_UP] = places * 2 * c->expert_intermediate * ELEMENT_BYTES,
                                     [UNITS] = places * c->expert_intermediate * ELEMENT_BYTES,
                                     [ROWS_OF_SLOTS] = slots * 4};
    return (size_t)bytes[memory];
}

size_t moe_bytes(const struct config *c, int64_t rows) {
    size_t bytes = 0;
    for (int i = 0; i < MEMORIES && c->experts; i++)
        bytes += memory_bytes(c, rows, (enum memory)i);
    return bytes;
}

static void fill_rows_of_slots(const struct moe *moe) {
    const int64_t chosen = moe->maker.config->chosen, slots = moe->rows * chosen;
    int32_t *row = grab((size_t)slots, sizeof *row);
    for (int64_t i = 0; i < slots; i++)
        row[i] = (int32_t)(i / chosen);
    copy_to_device(moe->memory[ROWS_OF_SLOTS], row, (size_t)slots * sizeof *row);
    device_wait();
    free(row);
}

struct moe *moe_create(gm_context *context, const struct config *config, int64_t rows, uint32_t flags) {
    struct moe *moe = grab(1, sizeof *moe);
    *moe = (struct moe){.maker = maker_of(context, config, flags), .rows = rows};
    for (int i = 0; i < MEMORIES; i++)
        moe->memory[i] = device_zeros(memory_bytes(config, rows, (enum memory)i), "matrices of experts");
    moe->offsets = pinned_allocate(memory_bytes(config, rows, OFFSETS));
    moe->read = mark_create();
    moe->expert = grab((size_t)planned_number(rows) + 1, sizeof *moe->expert);
    fill_rows_of_slots(moe);
    return moe;
}

static void routing_free(struct routing *r) {
    gm_plan *const all[] = {r->router, r->route, r->align, r->look_up, r->gather, r->glu, r->finalize};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gm_plan_destroy(all[i]);
    free(r);
}

void moe_free(struct moe *moe) {
    if (!moe)
        return;
    while (moe->routing) {
        struct routing *next = moe->routing->next;
        routing_free(moe->routing);
        moe->routing = next;
    }
    for (int64_t i = 0; i <= planned_number(moe->rows); i++) {
        gm_plan_destroy(moe->expert[i].gate_up);
        gm_plan_destroy(moe->expert[i].down);
    }
    for (int i = 0; i < MEMORIES; i++)
        device_release(moe->memory[i]);
    pinned_release(moe->offsets);
    mark_destroy(moe->read);
    free(moe->expert);
    free(moe);
}

/* ---- plans ---------------------------------------------------------------------------------------------- */

static gm_plan *plan_route(const struct maker *maker, int64_t rows) {
    const struct config *c = maker->config;
    const struct gm_moe_route_problem problem = {.size = sizeof problem,
                                                 .tokens = rows,
                                                 .experts = c->experts,
                                                 .k = c->chosen,
                                                 .type = GM_FP32,
                                                 .method = GM_ROUTE_SOFTMAX_TOP_K,
                                                 .renormalize = c->renormalizes};
    gm_plan *plan = NULL;
    PLAN(maker, moe_route, problem, plan);
    return plan;
}

static gm_plan *plan_align(const struct maker *maker, int64_t rows) {
    const struct config *c = maker->config;
    const struct gm_moe_align_problem problem = {
        .size = sizeof problem, .tokens = rows, .k = c->chosen, .experts = c->experts};
    gm_plan *plan = NULL;
    PLAN(maker, moe_align, problem, plan);
    return plan;
}

static gm_plan *plan_finalize(const struct maker *maker, int64_t rows) {
    const struct config *c = maker->config;
    const struct gm_moe_finalize_problem problem = {.size = sizeof problem,
                                                    .tokens = rows,
                                                    .columns = c->hidden,
                                                    .k = c->chosen,
                                                    .x_rows = rows * c->chosen,
                                                    .type = type_of(c)};
    gm_plan *plan = NULL;
    PLAN(maker, moe_finalize, problem, plan);
    return plan;
}

/* Without scales or a bias, as all matrices of experts are. */
static const struct linear of_dtype = {0};

static const struct routing *routing_of(struct moe *moe, int64_t rows) {
    const struct maker *maker = &moe->maker;
    const struct config *c = maker->config;
    const int64_t slots = rows * c->chosen;
    for (const struct routing *r = moe->routing; r; r = r->next)
        if (r->rows == rows)
            return r;
    struct routing *r = grab(1, sizeof *r);
    *r =
        (struct routing){.rows = rows,
                         .router = plan_gemm(maker, &of_dtype, rows, c->experts, c->hidden, GM_FP32),
                         .route = plan_route(maker, rows),
                         .align = plan_align(maker, rows),
                         .look_up = plan_gather(maker, slots, moe->rows * c->chosen, 1, GM_FP32 /* moved as bits */, 0),
                         .gather = plan_gather(maker, slots, moe->rows, c->hidden, type_of(c), 0),
                         .glu = plan_glu(maker, ROWS_DTYPE, slots, c->expert_intermediate),
                         .finalize = plan_finalize(maker, rows),
                         .next = moe->routing};
    return moe->routing = r;
}

static const struct expert *expert_of(struct moe *moe, int64_t rows) {
    const struct config *c = moe->maker.config;
    const int64_t number = planned_number(rows), planned = planned_rows(number);
    struct expert *e = &moe->expert[number];
    if (!e->gate_up) {
        e->gate_up = plan_gemm(&moe->maker, &of_dtype, planned, 2 * c->expert_intermediate, c->hidden, type_of(c));
        e->down = plan_gemm(&moe->maker, &of_dtype, planned, c->hidden, c->expert_intermediate, type_of(c));
    }
    return e;
}

void moe_explain(struct moe *moe, int64_t rows) {
    const struct config *c = moe->maker.config;
    const struct routing *r = routing_of(moe, rows);
    const struct expert *e = expert_of(moe, (rows * c->chosen + c->experts - 1) / c->experts);
    explain_plan("router", r->router);
    explain_plan("route", r->route);
    explain_plan("align", r->align);
    explain_plan("look up", r->look_up);
    explain_plan("gather", r->gather);
    explain_plan("an expert's gate, up", e->gate_up);
    explain_plan("experts' gated unit", r->glu);
    explain_plan("an expert's down", e->down);
    explain_plan("finalize", r->finalize);
}

/* ---- a run ---------------------------------------------------------------------------------------------- */

/* Which rows are whose, and the rows themselves, expert by expert. Their numbers are on the way to the host before they
 * are gathered. */
static void run_routing(const struct moe *moe, const struct routing *r, const struct scratch *s,
                        const struct layer *layer, gm_device_ptr row_count, int64_t parts) {
    const gm_device_ptr *m = moe->memory;
    const gm_device_ptr place_count = m[OFFSETS] + (size_t)moe->maker.config->experts * sizeof(int32_t);
    const struct gm_moe_route_args route = {
        .size = sizeof route, .logits = m[LOGITS], .ids = m[CHOICES], .weights = m[WEIGHTS], .row_count = row_count};
    const struct gm_moe_align_args align = {.size = sizeof align,
                                            .ids = m[CHOICES],
                                            .offsets = m[OFFSETS],
                                            .rows = m[SLOTS],
                                            .inverse = m[PLACES],
                                            .row_count = row_count};
    const struct gm_embed_args look_up = {
        .size = sizeof look_up, .ids = m[SLOTS], .table = m[ROWS_OF_SLOTS], .out = m[TOKENS], .row_count = place_count};
    const struct gm_embed_args gather = {
        .size = sizeof gather, .ids = m[TOKENS], .table = s->normed, .out = m[GATHERED], .row_count = place_count};
    run_linear(parts, s, r->router, s->normed, &layer->router, m[LOGITS], 0);
    RUN(parts, PART_REST, moe_route, r->route, route);
    RUN(parts, PART_REST, moe_align, r->align, align);
    if (has_part(parts, PART_LINEARS)) {
        copy_to_host(moe->offsets, m[OFFSETS], memory_bytes(moe->maker.config, moe->rows, OFFSETS));
        mark_here(moe->read);
    }
    RUN(parts, PART_REST, embed, r->look_up, look_up);
    RUN(parts, PART_REST, embed, r->gather, gather);
}

/* One matrix of every expert that has rows: [out][in] times those rows. */
static void run_experts(struct moe *moe, const struct scratch *s, int is_down, const struct linear *all,
                        int64_t parts) {
    const struct config *c = moe->maker.config;
    const int64_t in = is_down ? c->expert_intermediate : c->hidden;
    const int64_t out = is_down ? c->hidden : 2 * c->expert_intermediate;
    const gm_device_ptr from = moe->memory[is_down ? UNITS : GATHERED], to = moe->memory[is_down ? GATHERED : GATE_UP];
    for (int64_t i = 0; i < c->experts; i++) {
        const int64_t first = moe->offsets[i], rows = moe->offsets[i + 1] - first;
        if (rows == 0)
            continue;
        const struct expert *expert = expert_of(moe, rows);
        const struct linear linear = {.weights = all->weights + (size_t)(i * out * in) * ELEMENT_BYTES};
        run_linear(parts, s, is_down ? expert->down : expert->gate_up, from + (size_t)(first * in) * ELEMENT_BYTES,
                   &linear, to + (size_t)(first * out) * ELEMENT_BYTES, 0);
    }
}

static void run_glu(const struct moe *moe, const struct routing *r, int64_t parts) {
    const gm_device_ptr *m = moe->memory;
    const struct config *c = moe->maker.config;
    const struct gm_glu_args args = {.size = sizeof args,
                                     .gate = m[GATE_UP],
                                     .up = m[GATE_UP] + (size_t)c->expert_intermediate * ELEMENT_BYTES,
                                     .out = m[UNITS],
                                     .row_count = m[OFFSETS] + (size_t)c->experts * sizeof(int32_t)};
    RUN(parts, PART_REST, glu, r->glu, args);
}

/* The residual stream and its choices in their order, in fp32, rounded once. */
static void run_finalize(const struct moe *moe, const struct routing *r, const struct scratch *s,
                         gm_device_ptr row_count, int64_t parts) {
    const gm_device_ptr *m = moe->memory;
    const struct gm_moe_finalize_args args = {.size = sizeof args,
                                              .x = m[GATHERED],
                                              .inverse = m[PLACES],
                                              .weights = m[WEIGHTS],
                                              .residual = s->stream,
                                              .out = s->stream,
                                              .row_count = row_count};
    RUN(parts, PART_REST, moe_finalize, r->finalize, args);
}

void moe_run(struct moe *moe, const struct scratch *s, const struct layer *layer, int64_t rows, gm_device_ptr row_count,
             int64_t parts) {
    const struct routing *r = routing_of(moe, rows);
    run_routing(moe, r, s, layer, row_count, parts);
    if (has_part(parts, PART_LINEARS)) {
        mark_wait(moe->read); /* the only place of a step where the host waits */
        run_experts(moe, s, 0, &layer->gate_up, parts);
    }
    run_glu(moe, r, parts);
    if (has_part(parts, PART_LINEARS))
        run_experts(moe, s, 1, &layer->down, parts);
    run_finalize(moe, r, s, row_count, parts);
}
