/* SPDX-License-Identifier: Apache-2.0 */
/* Named barriers (bar), the cluster barrier, and mbarriers. */
#ifndef SIM_BARRIERS_H
#define SIM_BARRIERS_H

#include "sim/machine/machine.h"

/* ---- set-up and end of CTAs, called by the machine ----------------------------------------------------------------- */

struct sim_named_barriers *sim_named_barriers_new(void);
void sim_named_barriers_free(struct sim_named_barriers *named);
struct sim_mbarriers *sim_mbarriers_new(void);
void sim_mbarriers_free(struct sim_mbarriers *mbarriers);
struct sim_cluster_barrier *sim_cluster_barrier_new(struct sim_cluster *cluster);
void sim_cluster_barrier_free(struct sim_cluster_barrier *barrier);
/* A warp's lanes have all exited: barriers that count live threads (bar.sync 0 of the whole CTA, barrier.cluster) may
 * now be complete. */
void sim_barriers_warp_exited(struct sim_warp *warp);
/* The last warp of a CTA has exited: copies that still use its shared memory, peers that may still, arrivals that were
 * never waited for where that means a lost byte: SIM_REPORT_EXIT_IN_FLIGHT, SIM_REPORT_PEER_EXITED, SIM_REPORT_TRANSACTIONS. */
void sim_barriers_cta_exited(struct sim_cta *cta, struct sim_warp *last);
/* One line per barrier that someone waits for: "full (0x34010 of CTA 1): phase 3, 0 arrivals and 16384 bytes missing".
 * Appends to text. */
void sim_barriers_describe(struct sim_cluster *cluster, char *text, size_t bytes);

/* ---- mbarriers, for copies and st.async ------------------------------------------------------------------------------ */

struct sim_mbarrier;
/* The mbarrier at `offset` of cta's shared memory. Reports and returns NULL when there is none, or it was overwritten.
 * Reports, and returns it all the same, when the warp does not know of its init, or (`async`, and for a peer's) no fence
 * made the init visible. */
struct sim_mbarrier *sim_mbarrier_find(struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                                       struct sim_cta *cta, uint32_t offset, bool async);
/* The stamp of a copy that is issued now and will report to this barrier: (its agent, phases completed + 1). Also counts
 * it as under way. Call sim_mbarrier_copy_land() once for it when it lands. */
struct sim_stamp sim_mbarrier_copy_begin(struct sim_mbarrier *barrier);
/* The copy that was just begun is a release of what the warp has done (st.async, red.async: PTX ISA says so of their
 * complete_tx; bulk copies are none). */
void sim_mbarrier_copy_releases(struct sim_mbarrier *barrier, struct sim_warp *warp);
/* The copy lands: complete_tx(bytes) on the phase that runs now. A copy begun in an earlier phase than the one it lands
 * in: the expected total was short: SIM_REPORT_TRANSACTIONS at instruction i. */
void sim_mbarrier_copy_land(struct sim_mbarrier *barrier, struct sim_stamp stamp, uint32_t bytes, struct sim_warp *warp,
                            const struct ptx_instruction *i);
/* An arrival on behalf of the warp (cp.async.mbarrier.arrive lands). */
void sim_mbarrier_arrive(struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i,
                         uint32_t count);
/* One more arrival is missing in the running phase: cp.async.mbarrier.arrive without .noinc, whose arrival comes when the
 * copies have landed. */
void sim_mbarrier_add_pending(struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i,
                              uint32_t count);
/* A write to shared memory by generic stores over a live mbarrier is misuse; called by stores (cheap when there is none). */
void sim_mbarrier_overwritten(struct sim_warp *warp, const struct ptx_instruction *i, int lane, struct sim_cta *cta,
                              uint32_t offset, uint32_t bytes);
/* For the single step. False: index is past the last. */
bool sim_mbarrier_view(const struct sim_cta *cta, size_t index, struct gm_sim_mbarrier *view);

/* State of copies (copies/copies.c) and of wgmma (wgmma/wgmma_group.c), set up and ended by the machine. */
void sim_copies_warp_begin(struct sim_warp *warp);
void sim_copies_warp_end(struct sim_warp *warp); /* frees; groups still in flight are reported at the CTA's exit */
bool sim_copies_cta_busy(const struct sim_cta *cta, char *text,
                         size_t bytes);        /* a copy in flight uses its shared memory */
bool sim_wgmma_cta_begin(struct sim_cta *cta); /* false: no memory */
void sim_wgmma_cta_end(struct sim_cta *cta);
bool sim_wgmma_cta_busy(const struct sim_cta *cta, char *text, size_t bytes); /* a wgmma that nobody has waited for */
/* Flags the function's instructions that touch a register of some wgmma (ptx_instruction.touches_wgmma). At the start of a
 * launch; returns at once when it is done. False: no memory. */
bool sim_wgmma_prepare(struct ptx_function *function);
/* Called before an instruction with that flag. A register of a wgmma in flight: reports SIM_REPORT_ACCUMULATOR. */
void sim_wgmma_check_touch(struct sim_warp *warp, const struct ptx_instruction *i);

#endif
