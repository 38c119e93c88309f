/* SPDX-License-Identifier: Apache-2.0 */
/* The control flow graph of a kernel, and where diverged lanes meet again: at the immediate post-dominator of the
 * branch, the first instruction that lies on every way from there to the end of the kernel.
 *
 * A trap ends the launch, and a loop without an exit never ends: ways that lead there only do not count, as if lanes
 * never took them. */
#include "sim/ptx/ptx_internal.h"

#include <stdlib.h>
#include <string.h>

enum way { WAY_ON, WAY_BRANCH, WAY_INDEXED, WAY_EXIT, WAY_TRAP };

/* Where an instruction leads, besides to the next one if it is guarded. */
static enum way way_of(const struct ptx_instruction *i) {
    static const struct {
        const char *name;
        enum way way;
    } ways[] = {{"bra", WAY_BRANCH}, {"brx", WAY_INDEXED}, {"ret", WAY_EXIT}, {"exit", WAY_EXIT}, {"trap", WAY_TRAP}};
    const size_t length = strcspn(i->operation->opcode, ".[{");
    for (size_t n = 0; n < sizeof ways / sizeof *ways; n++)
        if (strlen(ways[n].name) == length && memcmp(ways[n].name, i->operation->opcode, length) == 0)
            return ways[n].way;
    return WAY_ON;
}

struct flow {
    const struct ptx_function *function;
    uint32_t *block_of; /* pc -> block */
    uint32_t *begin;    /* block -> pc; begin[blocks] = count */
    uint32_t blocks;    /* the node `blocks` is the end of the kernel */
    struct ptx_graph on, back;
    uint32_t *dominator;
};

/* ---- blocks ---------------------------------------------------------------------------------- */

static void mark_begins(const struct ptx_function *function, uint32_t *is_begin) {
    is_begin[0] = 1;
    for (uint32_t pc = 0; pc < function->count; pc++) {
        const struct ptx_instruction *i = &function->code[pc];
        const enum way way = way_of(i);
        if (way != WAY_ON && pc + 1 < function->count)
            is_begin[pc + 1] = 1;
        if (way == WAY_BRANCH)
            is_begin[i->operand[0].value] = 1;
        for (uint32_t n = 0; way == WAY_INDEXED && n < i->operand[1].count; n++)
            is_begin[function->elements[i->operand[1].first + n].value] = 1;
    }
}

/* block_of[] holds the marks first, then the numbers. */
static void number_blocks(struct flow *flow) {
    mark_begins(flow->function, flow->block_of);
    for (uint32_t pc = 0; pc < flow->function->count; pc++) {
        if (flow->block_of[pc])
            flow->begin[flow->blocks++] = pc;
        flow->block_of[pc] = flow->blocks - 1;
    }
    flow->begin[flow->blocks] = flow->function->count;
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* Where block b leads to: calls add() for each. */
static void each_edge(const struct flow *flow, uint32_t b, void (*add)(struct flow *, uint32_t, uint32_t),
                      struct flow *to) {
    const struct ptx_function *function = flow->function;
    const struct ptx_instruction *last = &function->code[flow->begin[b + 1] - 1];
    const enum way way = way_of(last);
    if ((way == WAY_ON || last->guard != PTX_NONE) && b + 1 < flow->blocks)
        add(to, b, b + 1);
    if (way == WAY_BRANCH)
        add(to, b, flow->block_of[last->operand[0].value]);
    if (way == WAY_EXIT)
        add(to, b, flow->blocks);
    for (uint32_t n = 0; way == WAY_INDEXED && n < last->operand[1].count; n++)
        add(to, b, flow->block_of[function->elements[last->operand[1].first + n].value]);
}

static void count_edge(struct flow *flow, uint32_t from, uint32_t to) {
    flow->on.first[from + 1]++;
    flow->back.first[to + 1]++;
}

/* first[n] moves to the end of n's edges as they are entered. */
static void enter_edge(struct flow *flow, uint32_t from, uint32_t to) {
    flow->on.edge[flow->on.first[from]++] = to;
    flow->back.edge[flow->back.first[to]++] = from;
}

static void add_up(struct ptx_graph *graph) {
    for (uint32_t n = 0; n < graph->count; n++)
        graph->first[n + 1] += graph->first[n];
}

/* first[n] is the end of n's edges, which is where those of n + 1 begin. */
static void step_back(struct ptx_graph *graph) {
    for (uint32_t n = graph->count; n > 0; n--)
        graph->first[n] = graph->first[n - 1];
    graph->first[0] = 0;
}

static bool make_graph(struct flow *flow) {
    const uint32_t nodes = flow->blocks + 1;
    flow->on.count = flow->back.count = nodes;
    flow->on.first = calloc(nodes + 1, sizeof(uint32_t));
    flow->back.first = calloc(nodes + 1, sizeof(uint32_t));
    if (!flow->on.first || !flow->back.first)
        return false;
    for (uint32_t b = 0; b < flow->blocks; b++)
        each_edge(flow, b, count_edge, flow);
    add_up(&flow->on);
    add_up(&flow->back);
    flow->on.edge = malloc((flow->on.first[nodes] + 1) * sizeof(uint32_t));
    flow->back.edge = malloc((flow->back.first[nodes] + 1) * sizeof(uint32_t));
    if (!flow->on.edge || !flow->back.edge)
        return false;
    for (uint32_t b = 0; b < flow->blocks; b++)
        each_edge(flow, b, enter_edge, flow);
    step_back(&flow->on);
    step_back(&flow->back);
    return true;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void set_rejoin(const struct flow *flow, struct ptx_function *function) {
    for (uint32_t pc = 0; pc < function->count; pc++) {
        const uint32_t meet = flow->dominator[flow->block_of[pc]];
        const enum way way = way_of(&function->code[pc]);
        if ((way == WAY_BRANCH || way == WAY_INDEXED) && meet < flow->blocks)
            function->code[pc].rejoin = (int32_t)flow->begin[meet];
    }
}

/* Many indexed branches over one long list of labels would make a graph that is quadratic in the text. */
static bool check_edges(struct ptx_parser *parser, const struct ptx_function *function) {
    uint64_t edges = 0;
    for (uint32_t pc = 0; pc < function->count; pc++)
        if (way_of(&function->code[pc]) == WAY_INDEXED)
            edges += function->code[pc].operand[1].count;
    return edges <= PTX_TARGETS_MOST ||
           ptx_fail(parser, parser->token.line, "the indexed branches of %s have %llu targets together, more than %d",
                    function->name, (unsigned long long)edges, PTX_TARGETS_MOST);
}

bool ptx_flow(struct ptx_parser *parser, struct ptx_function *function) {
    struct flow flow = {.function = function};
    if (!check_edges(parser, function))
        return false;
    flow.block_of = calloc(function->count, sizeof(uint32_t));
    flow.begin = calloc(function->count + 1, sizeof(uint32_t));
    bool fine = flow.block_of && flow.begin;
    if (fine) {
        number_blocks(&flow);
        flow.dominator = malloc((flow.blocks + 1) * sizeof(uint32_t));
        fine = flow.dominator && make_graph(&flow) && ptx_dominators(&flow.back, &flow.on, flow.blocks, flow.dominator);
    }
    if (fine)
        set_rejoin(&flow, function);
    void *const taken[] = {flow.block_of,   flow.begin,   flow.dominator, flow.on.first,
                           flow.back.first, flow.on.edge, flow.back.edge};
    for (size_t n = 0; n < sizeof taken / sizeof *taken; n++)
        free(taken[n]);
    return fine || ptx_out_of_memory(parser);
}
