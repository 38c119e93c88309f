/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of the bench found: rows and meta, filled from samples, written as JSON, summed up. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include <stddef.h>

#include "bench/suite.h"

#define MAX_ROUNDS   64
#define SOURCE_BYTES 96

/* Times of one launch of a candidate, one per round; count 0 = it did not run. */
struct bench_samples {
    double us[MAX_ROUNDS];
    double clocks[MAX_ROUNDS]; /* of the SMs; 0: not read */
    size_t count;
};

struct bench_spread {
    double median, p10, p90;
};

struct bench_row {
    struct bench_case problem;
    char kernel[96];
    double predicted_us;
    struct bench_samples ours, best, baseline_default; /* baseline_default: the baseline's default */
    struct bench_spread us, best_us, default_us, ratio_best, ratio_default;
    double tflops, gbs, floor_us;
    double sm_mhz, watts;
    double ours_joules, best_joules; /* of one launch, each running alone; NaN: not measured */
    double tflops_per_watt, best_tflops_per_watt;
    double ours_alone_us, best_alone_us, ratio_alone; /* each running alone, with its own clock; NaN: not measured */
    char throttle[24];                                /* "power", "thermal", "" */
    int best_way;                                     /* number among the baselines' ways; -1: no baseline */
    char best_name[64];                               /* "cuBLASLt heuristic 3" */
    int ways;                                         /* how many ran */
    double max_difference;                            /* from the baseline's results; NaN: not compared */
};

struct bench_ceilings {
    double copy_gbs, write_gbs, read_gbs; /* read + write bytes of a copy; NaN: not measured */
    double tensor_tflops;
    double launch_us;
    double launch_host_ns; /* of one cuLaunchKernelEx of an empty kernel; 0: not measured */
    char read_source[SOURCE_BYTES], tensor_source[SOURCE_BYTES], launch_source[SOURCE_BYTES];
};

struct bench_meta {
    char gpu[64], slug[64], driver[96], date[32], suite[128], command[2048];
    char toolkit[32], revision[64];
    struct gm_device device;
    double power_limit_watts;
    struct bench_ceilings ceilings;
    int rounds, ways_asked;
    double round_ms, warmup_s;
    double rotate_l2;       /* one rotation of the operands over L2; 0: one set, which stays in L2 if it fits */
    double energy_s;        /* for which each runs alone; 0: not measured */
    double workspace_bytes; /* that our plans might ask for */
    char energy_source[64];
    char baseline[64]; /* "cuBLASLt 13.1.0"; "" = none */
    /* Host time of a call; 0: not measured. `recurring`: with arguments that the plan's graphs have. */
    double execute_ns, execute_recurring_ns, execute_plain_ns, baseline_execute_ns;
};

struct bench_results {
    struct bench_meta meta;
    struct bench_row *rows;
    size_t count, capacity;
};

/* The next row, zeroed with every number "no value"; NULL when out of memory. */
struct bench_row *results_add(struct bench_results *results);
void results_free(struct bench_results *results);

const char *results_l2(const struct bench_meta *meta); /* "cold" or "warm" */
/* Medians, percentiles and ratios from the samples; rounds are paired. The best is never slower than the default. */
void results_fill(struct bench_row *row);
/* The times alone, NaN where not measured, and their ratio. */
void results_fill_alone(struct bench_row *row, double ours_us, double best_us);
/* The joules, NaN where not measured, and TFLOPS per watt. */
void results_fill_energy(struct bench_row *row, double ours_joules, double best_joules);
/* The sustained tensor rate is the best the baseline did on a compute-bound row of this run, and floor_us follows. */
void results_floors(struct bench_results *results);
/* The fastest row of each problem only (a run may time many kernels on one); returns the count, indices in `index`. */
size_t results_fastest(const struct bench_results *results, size_t *index);

/* Writes to path.tmp and renames. 0, or -1 with a printed sentence. */
int results_write_json(const struct bench_results *results, const char *path);
void results_fill_name(char *slug, size_t bytes, const char *gpu_name); /* "NVIDIA H200" -> "h200" */
/* Replaces {gpu} and {suite}; makes the folders. */
int results_path(char *path, size_t bytes, const char *pattern, const struct bench_meta *meta);

#endif
