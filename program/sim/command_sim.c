/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill sim: its parts, and `run`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/commands.h"
#include "program/sim/simulator.h"

struct run_options {
    struct sim_request request;
    bool count;
    int seeds;
};

/* What the launch did in all; what it did not do is left out. */
static void print_totals(const struct simulator *simulator) {
    static const struct {
        const char *what, *metric;
    } totals[] = {
        {"warp-instructions", "sim__instructions.sum"},
        {"  on integers", "sim__instructions_integer.sum"},
        {"  on floating-point numbers", "sim__instructions_float.sum"},
        {"  conversions", "sim__instructions_convert.sum"},
        {"  moves", "sim__instructions_move.sum"},
        {"  on predicates", "sim__instructions_predicate.sum"},
        {"  branches", "sim__instructions_control.sum"},
        {"  loads from global memory", "sim__instructions_global_load.sum"},
        {"  stores to global memory", "sim__instructions_global_store.sum"},
        {"  loads from shared memory", "sim__instructions_shared_load.sum"},
        {"  stores to shared memory", "sim__instructions_shared_store.sum"},
        {"  ldmatrix", "sim__instructions_ldmatrix.sum"},
        {"  stmatrix", "sim__instructions_stmatrix.sum"},
        {"  cp.async and its groups", "sim__instructions_cp_async.sum"},
        {"  bulk copies and their groups", "sim__instructions_bulk.sum"},
        {"  barriers", "sim__instructions_barrier.sum"},
        {"  fences", "sim__instructions_fence.sum"},
        {"  mma", "sim__instructions_mma.sum"},
        {"  wgmma", "sim__instructions_wgmma.sum"},
        {"thread-instructions", "sim__thread_instructions.sum"},
        {"global sectors loaded", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
        {"global sectors stored", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
        {"bytes loaded by bulk copies", "sim__bulk_bytes_loaded.sum"},
        {"bytes stored by bulk copies", "sim__bulk_bytes_stored.sum"},
        {"sectors they ask L2 for", "sim__l2_sectors_asked_by_bulk_loads.sum"},
        {"sectors that multicast saves", "sim__l2_sectors_saved_by_multicast.sum"},
    };
    double value;
    printf("\n");
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        if (simulator->metric(totals[i].metric, &value) == 0 && value > 0)
            printf("%-32s %14.0f\n", totals[i].what, value);
}

/* The lines that shared memory was kept busy by, and those that moved global memory. */
static void print_lines(const struct simulator *simulator) {
    struct gm_sim_line line;
    const char *file;
    uint32_t source_line;
    printf("\n%6s %12s %12s %10s %10s %12s  PTX\n", "line", "executed", "wavefronts", "conflicts", "sectors", "bytes");
    for (size_t i = 0; i < simulator->line_count() && simulator->line_get(i, &line) == 0; i++) {
        if (!line.wavefronts && !line.sectors && !line.bytes)
            continue;
        const char *text = simulator->line_text(line.line);
        text = text ? text + strspn(text, " \t") : "";
        printf("%6u %12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %10" PRIu64 " %12" PRIu64 "  %.60s", line.line,
               line.instructions, line.wavefronts, line.conflicts, line.sectors, line.bytes, text);
        if (simulator->line_source(line.line, &file, &source_line) == 0)
            printf("  %s:%u", source_base(file), source_line);
        printf("\n");
    }
}

/* 0: correct and nothing reported. */
static int run_once(struct simulator *simulator, const struct run_options *given, uint64_t seed) {
    char sentence[240];
    const double start = gpu_seconds();
    simulator->set_seed(seed);
    simulator->reports_clear();
    const enum sim_outcome outcome = sim_gemm_run(simulator, &given->request, sentence, sizeof sentence);
    if (outcome == SIM_FAILED)
        return -1;
    printf("seed %" PRIu64 ": %s, %.2f s\n", seed,
           outcome == SIM_CORRECT ? "every element of D is right, bit for bit" : sentence, gpu_seconds() - start);
    const size_t reports = simulator_print_reports(simulator);
    return outcome == SIM_CORRECT && reports == 0 ? 0 : -1;
}

static int run(const struct run_options *given) {
    struct gm_kernel_info info = {.size = sizeof info};
    struct simulator simulator;
    int status = 0;
    if (simulator_open(&simulator, &given->request) != 0)
        return EXIT_CODE_FAILURE;
    simulator.set_counting(given->count);
    gm_kernel_get((size_t)given->request.row, &info);
    printf("%s\n%d x %d x %d on %s\n", info.name, given->request.m, given->request.n, given->request.k,
           simulator.gpu.device.name);
    for (int i = 0; i < given->seeds; i++)
        status |= run_once(&simulator, given, given->request.seed + (uint64_t)i);
    if (given->count) {
        print_totals(&simulator);
        print_lines(&simulator);
    }
    simulator_close(&simulator);
    return status == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

static const char about_run[] =
    "Runs one GEMM of small integers on the simulated GPU, compares D bit for bit, and prints what the simulator "
    "found\n"
    "wrong: races, missing fences and waits, wrong phases, deadlocks. Exit code 1: something was.\n\n"
    "examples:\n"
    "  gristmill sim run gemm_sm90_bf16_tn_128x128x64_s6_c1x1_w2_sw128 --m 256 --n 256 --k 256\n"
    "  gristmill sim run gemm_sm80_bf16_tn_64x64x64_s4_c1x1_w2x2_xor --seeds 8\n"
    "  gristmill sim run gemm_sm80_bf16_tn_64x64x64_s4_c1x1_w2x2_xor --count";

int command_sim_run(int argc, char **argv) {
    enum { OWN = 2 };
    struct run_options given = {.seeds = 1};
    struct args_option options[SIM_REQUEST_OPTIONS + OWN] = {
        {"seeds", "N", ARGS_POSITIVE, &given.seeds, "run under N schedules, from --schedule's seed on: a race search"},
        {"count", NULL, ARGS_FLAG, &given.count,
         "instructions by class; wavefronts, conflicts, sectors and bytes of every PTX line"},
    };
    sim_request_options(&given.request, options + OWN);
    const struct args_command command = {"gristmill sim run KERNEL [options]", about_run, options,
                                         sizeof options / sizeof *options};
    const int code = sim_request_read(&given.request, &command, argc, argv);
    return code == SIM_GO ? run(&given) : code;
}

static const struct command parts[] = {
    {"run", command_sim_run, "one GEMM of integers: is D right, and what does hardware hide?"},
    {"launch", command_sim_launch,
     "a kernel of your own, from .ptx or .cu: what is wrong, what it costs, by source line"},
    {"trace", command_sim_trace, "its timeline: copies, wgmmas, barriers, who waits for whom"},
    {"step", command_sim_step, "stop at a PTX line: registers, shared memory by bank, mbarriers"},
};

static void print_help(FILE *out) {
    fputs("usage: gristmill sim PART [arguments]\n\n"
          "The simulated GPU runs PTX on the CPU: that of every kernel of the library, and yours. Parts:\n",
          out);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        fprintf(out, "  %-8s %s\n", parts[i].name, parts[i].about);
    fputs("\n`gristmill sim PART --help` says more; docs/SIMULATOR.md says what it finds and what it cannot.\n", out);
}

int command_sim(int argc, char **argv) {
    const int code = command_dispatch(parts, sizeof parts / sizeof *parts, print_help, argc, argv);
    if (code != COMMAND_UNKNOWN)
        return code;
    complain("`gristmill sim` has no part %s; it has run, launch, trace and step", argv[0]);
    return EXIT_CODE_USAGE;
}
