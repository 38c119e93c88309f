/* SPDX-License-Identifier: Apache-2.0 */
/* Immediate dominators by Lengauer and Tarjan (1979), the simple version with path compression: O(edges x log nodes)
 * whatever the graph looks like. Nothing recurses. */
#include "sim/ptx/ptx_internal.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

/* Per node, in numbers of the depth-first search: 0 is the root. */
struct search {
    uint32_t reached;
    uint32_t *number; /* node -> number, or NOWHERE */
    uint32_t *node;   /* number -> node */
    uint32_t *parent; /* in the tree of the search */
    uint32_t *semi, *dominator;
    uint32_t *ancestor, *best; /* the forest of nodes done: link to a parent, and the least semi on the way there */
    uint32_t *bucket, *in_bucket;
    uint32_t *stack;
};

enum { ARRAYS = 10 };

static bool take_arrays(struct search *s, uint32_t count) {
    uint32_t *all = malloc((size_t)count * ARRAYS * sizeof *all);
    uint32_t **const arrays[ARRAYS] = {&s->number,   &s->node, &s->parent, &s->semi,      &s->dominator,
                                       &s->ancestor, &s->best, &s->bucket, &s->in_bucket, &s->stack};
    if (!all)
        return false;
    for (int i = 0; i < ARRAYS; i++)
        *arrays[i] = all + (size_t)i * count;
    memset(all, 0xff, (size_t)count * ARRAYS * sizeof *all);
    return true;
}

static void reach(struct search *s, uint32_t node, uint32_t parent) {
    const uint32_t number = s->reached++;
    s->number[node] = number;
    s->node[number] = node;
    s->parent[number] = parent;
    s->semi[number] = s->best[number] = number;
}

/* Depth first; bucket[] serves as "next edge to follow" here. */
static void number_nodes(struct search *s, const struct ptx_graph *graph, uint32_t root) {
    uint32_t depth = 0;
    reach(s, root, NOWHERE);
    s->bucket[root] = graph->first[root];
    s->stack[depth++] = root;
    while (depth) {
        const uint32_t node = s->stack[depth - 1];
        if (s->bucket[node] == graph->first[node + 1]) {
            depth--;
            continue;
        }
        const uint32_t next = graph->edge[s->bucket[node]++];
        if (s->number[next] != NOWHERE)
            continue;
        reach(s, next, s->number[node]);
        s->bucket[next] = graph->first[next];
        s->stack[depth++] = next;
    }
    memset(s->bucket, 0xff, (size_t)graph->count * sizeof *s->bucket);
}

/* The number of least semi on the way from v up its tree of the forest, the top excluded; shortens the way. */
static uint32_t evaluate(struct search *s, uint32_t v) {
    uint32_t depth = 0;
    if (s->ancestor[v] == NOWHERE)
        return v;
    for (uint32_t at = v; s->ancestor[s->ancestor[at]] != NOWHERE; at = s->ancestor[at])
        s->stack[depth++] = at;
    while (depth) {
        const uint32_t at = s->stack[--depth], above = s->ancestor[at];
        if (s->semi[s->best[above]] < s->semi[s->best[at]])
            s->best[at] = s->best[above];
        s->ancestor[at] = s->ancestor[above];
    }
    return s->best[v];
}

static void find_semi(struct search *s, const struct ptx_graph *back, uint32_t w) {
    const uint32_t node = s->node[w];
    for (uint32_t e = back->first[node]; e < back->first[node + 1]; e++) {
        const uint32_t v = s->number[back->edge[e]];
        if (v == NOWHERE)
            continue;
        const uint32_t semi = s->semi[evaluate(s, v)];
        if (semi < s->semi[w])
            s->semi[w] = semi;
    }
}

static void find_dominators(struct search *s, const struct ptx_graph *back) {
    for (uint32_t w = s->reached - 1; w > 0; w--) {
        const uint32_t parent = s->parent[w];
        find_semi(s, back, w);
        s->in_bucket[w] = s->bucket[s->semi[w]];
        s->bucket[s->semi[w]] = w;
        s->ancestor[w] = parent;
        for (uint32_t v = s->bucket[parent], next; v != NOWHERE; v = next) {
            const uint32_t u = evaluate(s, v);
            next = s->in_bucket[v];
            s->dominator[v] = s->semi[u] < s->semi[v] ? u : parent;
        }
        s->bucket[parent] = NOWHERE;
    }
    for (uint32_t w = 1; w < s->reached; w++)
        if (s->dominator[w] != s->semi[w])
            s->dominator[w] = s->dominator[s->dominator[w]];
}

bool ptx_dominators(const struct ptx_graph *graph, const struct ptx_graph *back, uint32_t root, uint32_t *dominator) {
    struct search s = {0};
    if (!take_arrays(&s, graph->count))
        return false;
    number_nodes(&s, graph, root);
    find_dominators(&s, back);
    for (uint32_t node = 0; node < graph->count; node++)
        dominator[node] = NOWHERE;
    for (uint32_t w = 1; w < s.reached; w++)
        dominator[s.node[w]] = s.node[s.dominator[w]];
    free(s.number);
    return true;
}
