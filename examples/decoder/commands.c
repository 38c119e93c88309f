/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

struct engine_options engine_options_of(const struct options *o, int64_t requests, int64_t context) {
    return (struct engine_options){.context = context,
                                   .max_requests = requests,
                                   .chunk = o->chunk,
                                   .page_size = o->page_size,
                                   .plan_flags = o->is_invariant ? GM_PLAN_BATCH_INVARIANT : 0,
                                   .is_eager = o->is_eager};
}
