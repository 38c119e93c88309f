/* SPDX-License-Identifier: Apache-2.0 */
/* Who in a cluster has used whose shared memory: at the exit of a CTA every use of it must be known to be over. */
#ifndef SIM_PEERS_H
#define SIM_PEERS_H

#include "sim/machine/machine.h"

struct sim_peers;
/* NULL: no memory. */
struct sim_peers *sim_peers_new(uint32_t cta_count);
void sim_peers_free(struct sim_peers *peers);
/* The warp uses memory or barriers of `target` now; of its own CTA: no matter. */
void sim_peer_used(struct sim_warp *warp, struct sim_cta *target);
/* At the exit of `cta`: reports the warps of peers whose use of its memory is not known to be over. `known` is what the
 * warps knew that have exited from it. */
void sim_peers_check(struct sim_cta *cta, const struct sim_clocks *known);

#endif
