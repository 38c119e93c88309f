/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that launch by graphs, on the fake driver; shared by the suites of launches by graph. */
#ifndef GM_GRAPHED_H
#define GM_GRAPHED_H

#include "planned.h"

#define STREAM       ((void *)0x77)
#define OTHER_STREAM ((void *)0x88)

/* Fixture: as planned_set_up(), by a driver with graphs, and the context is current. */
void graphed_set_up(void);
/* A plan of the first row. */
gm_plan *some_plan(void);
/* The same, with so many argument_sets. */
gm_plan *plan_with_sets(int32_t sets);
/* Clears the counts, then executes once. */
void execute(const gm_plan *plan, void *stream);
/* The calls since then launched so often. */
#define assert_launched(by_graph, plainly)                                                                             \
    do {                                                                                                               \
        ck_assert_int_eq(fake.count[FAKE_cuGraphLaunch], by_graph);                                                    \
        ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], plainly);                                                  \
    } while (0)

/* Every function that launches by graph need. */
enum { GRAPH_FUNCTIONS = 12 };
extern const enum fake_function graph_functions[GRAPH_FUNCTIONS];

#endif
