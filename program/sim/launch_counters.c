/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of a launch, printed and read. */
#include "program/sim/launch_counters.h"

#include <math.h>
#include <string.h>

#define INSTRUCTION "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_"
#define PIPE        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
#define CONFLICTS   "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_"
#define GLOBAL(of)  "l1tex__t_" of "_pipe_lsu_mem_global_op_"

const struct launch_counter launch_counters[LAUNCH_COUNTERS] = {
    {"warps", "smsp__warps_launched.sum", false},
    {"shared loads", "smsp__sass_inst_executed_op_shared_ld.sum", false},
    {"shared stores", "smsp__sass_inst_executed_op_shared_st.sum", false},
    {"wavefronts of loads", INSTRUCTION "ld.sum", false},
    {"wavefronts of stores", INSTRUCTION "st.sum", false},
    {"wavefronts of atomics", INSTRUCTION "atom.sum", false},
    {"wavefronts of ldmatrix", INSTRUCTION "ldsm.sum", false},
    {"wavefronts of stmatrix", INSTRUCTION "stsm.sum", true},
    {"wavefronts of cp.async", INSTRUCTION "ldgsts.sum", false},
    {"wavefronts of loads, pipe", PIPE "ld.sum", false},
    {"wavefronts of stores, pipe", PIPE "st.sum", false},
    {"wavefronts of atomics, pipe", PIPE "atom.sum", false},
    {"wavefronts of wgmma, pipe", PIPE "gmma.sum", true},
    {"conflicts of loads, pipe", CONFLICTS "ld.sum", false},
    {"conflicts of stores, pipe", CONFLICTS "st.sum", false},
    {"conflicts of atomics, pipe", CONFLICTS "atom.sum", false},
    {"conflicts of cp.async, pipe", CONFLICTS "ldgsts.sum", false},
    {"global sectors loaded", GLOBAL("sectors") "ld.sum", false},
    {"global sectors stored", GLOBAL("sectors") "st.sum", false},
    {"global requests of loads", GLOBAL("requests") "ld.sum", false},
    {"global requests of stores", GLOBAL("requests") "st.sum", false},
    {"sectors loaded by TMA", "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum", true},
};

/* Before and behind the kernel's name. */
static const char head[] = "counters of ", tail[] = ", by Nsight Compute's names (-: not claimed)";

void launch_print_counters(const struct simulator *simulator, const char *kernel, FILE *out) {
    fprintf(out, "\n%s%s%s\n\n", head, kernel, tail);
    for (size_t i = 0; i < LAUNCH_COUNTERS; i++) {
        double value = NAN;
        if (simulator->metric(launch_counters[i].metric, &value) == 0)
            fprintf(out, "%16.0f  %s\n", value, launch_counters[i].metric);
        else
            fprintf(out, "%16s  %s\n", "-", launch_counters[i].metric);
    }
}

/* "     1984  NAME" of this counter. */
static bool read_counter(const char *line, const struct launch_counter *counter, double *value) {
    char number[32], metric[128];
    if (sscanf(line, "%31s %127s", number, metric) != 2 || strcmp(metric, counter->metric) != 0)
        return false;
    *value = NAN;
    return strcmp(number, "-") == 0 || sscanf(number, "%lf", value) == 1;
}

/* What follows the end of the line. */
static const char *next_line(const char *at) {
    at += strcspn(at, "\n");
    return at + (*at == '\n');
}

bool launch_read_counters(const char *text, char *kernel, size_t bytes, double values[LAUNCH_COUNTERS]) {
    const char *end = strstr(text, tail), *begin = end;
    while (begin && begin > text && begin[-1] != '\n')
        begin--;
    if (!begin || strncmp(begin, head, strlen(head)) != 0)
        return false;
    begin += strlen(head);
    snprintf(kernel, bytes, "%.*s", (int)(end - begin), begin);
    const char *line = next_line(next_line(end));
    for (size_t i = 0; i < LAUNCH_COUNTERS; i++, line = next_line(line))
        if (!read_counter(line, &launch_counters[i], &values[i]))
            return false;
    return true;
}
