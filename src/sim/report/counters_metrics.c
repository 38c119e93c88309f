/* SPDX-License-Identifier: Apache-2.0 */
/* What was counted, asked for by the profiler's own names; and the counts of each PTX line.
 *
 * A number is given only where it equals the hardware's counter (docs/counters.md says when that is); otherwise the
 * metric is not claimed. Caches are not modelled, so nothing is said of lts__ and dram__. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report/counters_state.h"

/* ---- when the pipe's counters are exact ------------------------------------------------------------------ */

static double if_true(bool claimed, double value) {
    return claimed ? value : NAN;
}

static double of_op(const struct sim_totals *totals, const uint64_t counts[SIM_SHARED_OPS], enum sim_shared_op op) {
    return if_true(!totals->unknown[op], (double)counts[op]);
}

/* The pipe's counters include what its other traffic delays: a wavefront that has to be done again. As far as seen that
 * happens only where several warps are at work, and then to writes with lanes switched off, or where a good part of the
 * traffic is global. */
static bool is_quiet(const struct sim_totals *totals, enum sim_shared_op op) {
    enum { PART = 16, PER_WARP = 4 };
    uint64_t shared = 0;
    for (int other = 0; other < SIM_SHARED_OPS; other++)
        shared += totals->accesses[other];
    const bool writes = op == SIM_SHARED_STORE || op == SIM_SHARED_ATOMIC;
    const bool little_global =
        totals->global_accesses <= shared / PART || totals->global_accesses <= PER_WARP * totals->warps;
    return totals->warps == 1 || (little_global && !(writes && totals->partial_writes));
}

/* An operation's share of a counter of the pipe; exact in any traffic where there is none of it. */
static double of_pipe(const struct sim_totals *totals, const uint64_t counts[SIM_SHARED_OPS], enum sim_shared_op op) {
    return if_true(totals->accesses[op] == 0 || is_quiet(totals, op), of_op(totals, counts, op));
}

#define WAVEFRONTS(op)      of_op(t, t->wavefronts, SIM_SHARED_##op)
#define CONFLICTS(op)       of_op(t, t->conflicts, SIM_SHARED_##op)
#define PIPE_WAVEFRONTS(op) of_pipe(t, t->wavefronts, SIM_SHARED_##op)
#define PIPE_CONFLICTS(op)  of_pipe(t, t->conflicts, SIM_SHARED_##op)
#define ACCESSES(op)        ((double)t->accesses[SIM_SHARED_##op])

/* ---- the table ------------------------------------------------------------------------------------------- */

/*  METRIC(name without its rollup, formula over the totals t) */
#define METRICS                                                                                                        \
    METRIC("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld", PIPE_WAVEFRONTS(LOAD) + PIPE_WAVEFRONTS(LDMATRIX))      \
    METRIC("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st", PIPE_WAVEFRONTS(STORE) + PIPE_WAVEFRONTS(STMATRIX))     \
    METRIC("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom", PIPE_WAVEFRONTS(ATOMIC))                              \
    METRIC("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma", WAVEFRONTS(WGMMA))                                    \
    METRIC("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld", PIPE_CONFLICTS(LOAD) + PIPE_CONFLICTS(LDMATRIX))    \
    METRIC("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st", PIPE_CONFLICTS(STORE) + PIPE_CONFLICTS(STMATRIX))   \
    METRIC("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom", PIPE_CONFLICTS(ATOMIC))                           \
    METRIC("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts", copy_conflicts(t))                              \
    METRIC("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma", CONFLICTS(WGMMA))                                 \
    METRIC("l1tex__data_bank_conflicts_pipe_lsu_mem_shared", all_conflicts(t))                                         \
    METRIC("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld",                                               \
           WAVEFRONTS(LOAD) + (double)t->merged_conflicts)                                                             \
    METRIC("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st", WAVEFRONTS(STORE))                            \
    METRIC("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom", WAVEFRONTS(ATOMIC))                         \
    METRIC("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm", WAVEFRONTS(LDMATRIX))                       \
    METRIC("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm", WAVEFRONTS(STMATRIX))                       \
    METRIC("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts",                                           \
           if_true(!t->scattered_copies, WAVEFRONTS(CP_ASYNC)))                                                        \
    METRIC("smsp__sass_inst_executed_op_shared_ld", ACCESSES(LOAD))                                                    \
    METRIC("smsp__sass_inst_executed_op_shared_st", ACCESSES(STORE))                                                   \
    METRIC("smsp__warps_launched", (double)t->warps)                                                                   \
    METRIC("l1tex__t_sectors_pipe_lsu_mem_global_op_ld", (double)t->sectors[SIM_COUNT_LOAD])                           \
    METRIC("l1tex__t_sectors_pipe_lsu_mem_global_op_st", (double)t->sectors[SIM_COUNT_STORE])                          \
    METRIC("l1tex__t_requests_pipe_lsu_mem_global_op_ld", (double)t->requests[SIM_COUNT_LOAD])                         \
    METRIC("l1tex__t_requests_pipe_lsu_mem_global_op_st", (double)t->requests[SIM_COUNT_STORE])                        \
    METRIC("l1tex__t_bytes_pipe_lsu_mem_dshared_op_ld", (double)t->peer_bytes[SIM_COUNT_LOAD])                         \
    METRIC("l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld", (double)t->received_sectors)                       \
    /* names of the simulator's own, for what no counter of the hardware says */                                       \
    METRIC("sim__instructions", sum_of_classes(t->class_instructions))                                                 \
    METRIC("sim__thread_instructions", sum_of_classes(t->class_lanes))                                                 \
    METRIC("sim__bulk_bytes_loaded", (double)t->bulk_bytes[SIM_COUNT_LOAD])                                            \
    METRIC("sim__bulk_bytes_stored", (double)t->bulk_bytes[SIM_COUNT_STORE])                                           \
    METRIC("sim__l2_sectors_asked_by_bulk_loads", (double)t->bulk_sectors[SIM_COUNT_LOAD])                             \
    METRIC("sim__l2_sectors_saved_by_multicast", (double)(t->received_sectors - t->bulk_sectors[SIM_COUNT_LOAD]))      \
    METRIC("sim__wgmma_instructions", ACCESSES(WGMMA))

/* Seen with one warp alone only. */
static double copy_conflicts(const struct sim_totals *t) {
    return if_true(t->accesses[SIM_SHARED_CP_ASYNC] == 0 || (t->warps == 1 && !t->scattered_copies),
                   CONFLICTS(CP_ASYNC));
}

static double all_conflicts(const struct sim_totals *t) {
    return PIPE_CONFLICTS(LOAD) + PIPE_CONFLICTS(LDMATRIX) + PIPE_CONFLICTS(STORE) + PIPE_CONFLICTS(STMATRIX) +
           PIPE_CONFLICTS(ATOMIC) + copy_conflicts(t) + CONFLICTS(WGMMA);
}

static double sum_of_classes(const uint64_t counts[SIM_CLASSES]) {
    double sum = 0;
    for (int kind = 0; kind < SIM_CLASSES; kind++)
        sum += (double)counts[kind];
    return sum;
}

/* Classes by name: "sim__instructions_global_load". */
static const char *const class_names[SIM_CLASSES] = {
    [SIM_CLASS_INTEGER] = "integer",
    [SIM_CLASS_FLOAT] = "float",
    [SIM_CLASS_CONVERT] = "convert",
    [SIM_CLASS_MOVE] = "move",
    [SIM_CLASS_PREDICATE] = "predicate",
    [SIM_CLASS_CONTROL] = "control",
    [SIM_CLASS_WARP] = "warp",
    [SIM_CLASS_GLOBAL_LOAD] = "global_load",
    [SIM_CLASS_GLOBAL_STORE] = "global_store",
    [SIM_CLASS_GLOBAL_ATOMIC] = "global_atomic",
    [SIM_CLASS_SHARED_LOAD] = "shared_load",
    [SIM_CLASS_SHARED_STORE] = "shared_store",
    [SIM_CLASS_SHARED_ATOMIC] = "shared_atomic",
    [SIM_CLASS_LDMATRIX] = "ldmatrix",
    [SIM_CLASS_STMATRIX] = "stmatrix",
    [SIM_CLASS_CP_ASYNC] = "cp_async",
    [SIM_CLASS_BULK] = "bulk",
    [SIM_CLASS_PARAM] = "param",
    [SIM_CLASS_LOCAL] = "local",
    [SIM_CLASS_BARRIER] = "barrier",
    [SIM_CLASS_FENCE] = "fence",
    [SIM_CLASS_MMA] = "mma",
    [SIM_CLASS_WGMMA] = "wgmma",
    [SIM_CLASS_OTHER] = "other",
};

/* ---- asking ---------------------------------------------------------------------------------------------- */

static bool equals(const char *name, size_t length, const char *known) {
    return strlen(known) == length && memcmp(name, known, length) == 0;
}

/* "sim__instructions_mma" and "sim__thread_instructions_mma". */
static double value_of_class(const struct sim_totals *totals, const char *name, size_t length) {
    static const char instructions[] = "sim__instructions_", lanes[] = "sim__thread_instructions_";
    const bool of_lanes = length > sizeof lanes && memcmp(name, lanes, sizeof lanes - 1) == 0;
    const char *prefix = of_lanes ? lanes : instructions;
    const size_t skipped = strlen(prefix);
    if (length <= skipped || memcmp(name, prefix, skipped) != 0)
        return NAN;
    for (int kind = 0; kind < SIM_CLASSES; kind++) {
        if (equals(name + skipped, length - skipped, class_names[kind]))
            return (double)(of_lanes ? totals->class_lanes : totals->class_instructions)[kind];
    }
    return NAN;
}

/* One metric, `length` letters without the rollup. */
static double value_of(const struct sim_totals *t, const char *name, size_t length) {
    if (t->unmodelled && strncmp(name, "sim__", 5) != 0 && !equals(name, length, "smsp__warps_launched"))
        return NAN;
#define METRIC(known, formula)                                                                                         \
    if (equals(name, length, known))                                                                                   \
        return formula;
    METRICS
#undef METRIC
    return value_of_class(t, name, length);
}

int gm_sim_metric(const char *name, double *value) {
    static const char rollup[] = ".sum";
    double sum = name && *name ? 0 : NAN;
    while (name && *name) {
        size_t length = strcspn(name, "+");
        const char *next = name + length + (name[length] == '+');
        if (length > strlen(rollup) && memcmp(name + length - strlen(rollup), rollup, strlen(rollup)) == 0)
            sum += sim_kept.valid ? value_of(&sim_kept.totals, name, length - strlen(rollup)) : NAN;
        else
            sum = NAN;
        name = next;
    }
    if (value)
        *value = sum;
    return isnan(sum) ? -1 : 0;
}

/* ---- lines ----------------------------------------------------------------------------------------------- */

size_t gm_sim_line_count(void) {
    return sim_kept.line_count;
}

int gm_sim_line_get(size_t index, struct gm_sim_line *line) {
    if (index >= sim_kept.line_count || !line)
        return -1;
    *line = sim_kept.lines[index];
    return 0;
}

int gm_sim_line_source(uint32_t line, const char **file, uint32_t *source_line) {
    return file && source_line && ptx_source_find(sim_kept.sources, line, file, source_line) ? 0 : -1;
}

/* Ends every line in NUL and lists where they start. */
static void split_text(void) {
    uint32_t count = 1, line = 0;
    for (const char *at = sim_kept.text; (at = strchr(at, '\n')); at++)
        count++;
    sim_kept.starts = malloc(count * sizeof *sim_kept.starts);
    if (!sim_kept.starts)
        return;
    sim_kept.text_lines = count;
    for (char *at = sim_kept.text; line < count; at++) {
        sim_kept.starts[line++] = at;
        at += strcspn(at, "\n");
        *at = line < count ? 0 : *at;
    }
}

const char *gm_sim_line_text(uint32_t line) {
    if (sim_kept.text && !sim_kept.starts)
        split_text();
    return line >= 1 && line <= sim_kept.text_lines ? sim_kept.starts[line - 1] : NULL;
}
