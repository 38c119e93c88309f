/* SPDX-License-Identifier: Apache-2.0 */
/* The laboratory: experiments that predict a number, count it with the profiler and time it, and say whether the
 * three witnesses agree.
 *
 * An experiment is one .c file in lab/ with one `const struct lab_experiment`, listed in experiments.def. Its
 * setup() allocates and fills memory and adds points. A point is one launch: a kernel of a module (modules.def), or a
 * call that stands beside the kernels as a baseline. The runner then, for every point:
 *   check    prepare(), one launch, check(): the result must be exact before anything else is believed;
 *   count    `ncu` runs this program again (`gristmill lab launch NAME`, which launches every point once, in order)
 *            and its CSV fills quantity.counted;
 *   simulate this program runs again on the simulated GPU (`gristmill lab simulate NAME`), and what that counts fills
 *            quantity.simulated;
 *   time     CUDA graphs of many launches, interleaved round by round, at least 7 rounds of 10 ms; and the cycles
 *            that the kernel itself measured, where it does;
 * and at last conclude() states what the numbers of several points say together.
 *
 * Without a GPU all is done on the simulated one: points are checked and simulated by the same launch, and nothing is
 * counted or timed. */
#ifndef LAB_H
#define LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/measure/gpu.h"
#include "gristmill/smem.h"

enum {
    LAB_POINTS_MAX = 80,
    LAB_QUANTITIES_MAX = 24,
    LAB_ARGUMENTS_MAX = 16,
    LAB_ARGUMENT_BYTES_MAX = 1024,
    LAB_CLAIMS_MAX = 24,
    LAB_ALLOCATIONS_MAX = 32
};

/* One number of one launch, with its witnesses. */
struct lab_quantity {
    const char *name;   /* "conflicts" */
    const char *metric; /* Nsight Compute's name with its rollup ("....sum"); several joined by '+' are added up. NULL:
                         * no profiler's, and setup() fills in `counted`, or on the simulated GPU `simulated` */
    double predicted;   /* per launch, in the metric's unit, from the model, never from a measurement; NaN: there is no
                         * prediction, and the count is for a claim */
    double tolerance;   /* relative; 0: must be equal */
    double counted;     /* NaN: not counted */
    double simulated;   /* by the simulated GPU's counters; NaN: it does not claim the metric, or was not asked */
};

struct lab_launch {
    const char *module, *kernel; /* kernel names begin with lab_ : the profiler's filter relies on it */
    unsigned grid[3], block[3];
    unsigned cluster[3];   /* 0: no clusters */
    unsigned shared_bytes; /* dynamic; above 48 KB the runner asks the driver for it */
    unsigned
        carve_out; /* 1 + the carve-out that the kernel prefers, in per cent; 0: it prefers none. It is the kernel's,
                            * so points of one kernel have the same */
    size_t argument_count;
    void *arguments[LAB_ARGUMENTS_MAX];       /* into the buffer below: fill with lab_argument() */
    size_t argument_sizes[LAB_ARGUMENTS_MAX]; /* compared with what the kernel declares */
    size_t argument_bytes;
    _Alignas(128) unsigned char buffer[LAB_ARGUMENT_BYTES_MAX];
};

struct lab;
struct lab_point;

struct lab_point {
    char label[64];
    char change[240]; /* one sentence: what this step changes, and what that should do */
    struct lab_launch launch;
    int (*run)(struct lab *lab,
               const struct lab_point *point); /* instead of a launch: a baseline, on lab->gpu.stream */
    struct lab_quantity quantities[LAB_QUANTITIES_MAX];
    size_t quantity_count;

    double bytes, flops; /* useful work of a launch, for GB/s and TFLOPS; 0: not shown */
    bool timed;          /* to be timed with events */
    bool malformed;      /* more arguments or quantities than there is room for: it will not be launched */
    bool too_large;      /* for the simulated GPU, which does not launch it */

    /* Cycles by the kernel's own clock: it writes one uint64 to this address (0: it does not). */
    CUdeviceptr clock;
    double cycles_predicted; /* 0: no prediction */
    double cycles_tolerance; /* relative */

    /* Filled by the runner. NaN: not measured. */
    enum { LAB_NOT_CHECKED = 0, LAB_CORRECT, LAB_WRONG } result;
    char wrong[200];
    double us, us_p10, us_p90, cycles, sm_mhz, watts;
};

/* What the experiment concludes from several points; a claim that does not hold is a disagreement. */
struct lab_claim {
    char sentence[280];
    bool holds;
    bool of_time; /* rests on times, which vary from card to card; otherwise on results or counters */
};

/* One experiment in progress. */
struct lab {
    struct gpu gpu;
    const struct lab_experiment *experiment;
    struct lab_point points[LAB_POINTS_MAX];
    size_t point_count;
    struct lab_claim claims[LAB_CLAIMS_MAX];
    size_t claim_count;
    CUdeviceptr allocations[LAB_ALLOCATIONS_MAX];
    size_t allocation_count;
    void *data;          /* the experiment's own, from malloc; the runner frees it */
    bool launching_only; /* the child under the profiler: results are not looked at, so setup may skip references */
    bool simulated;      /* the GPU is the simulated one, some 10^5 times as slow: setup says which points are too large
                          * for it, and need not fill their memory */
    /* For conclude(): counters were read (else every `counted` is NaN: state no claim that rests on them); times were
     * taken (else claims of time are dropped by lab_claim()). */
    bool has_counts, has_times;
};

struct lab_experiment {
    const char *name;      /* "strided-reads": letters, digits, dashes */
    const char *title;     /* "Strided reads" */
    const char *question;  /* one sentence ending in a question mark */
    const char *page;      /* the page of docs/course that uses it: "banks" */
    bool hopper;           /* needs compute capability 9.0 exactly */
    bool races_on_purpose; /* its warps write words that others are writing, or dump what nobody wrote, on purpose: what
                            * the simulated GPU reports of that is no failure */
    int (*setup)(struct lab *lab);
    int (*prepare)(struct lab *lab, struct lab_point *point); /* before a checked launch: poison outputs. May be NULL */
    int (*check)(struct lab *lab, struct lab_point *point);   /* after it: lab_correct() or lab_wrong(). May be NULL */
    int (*conclude)(struct lab *lab);                         /* claims. May be NULL */
    void (*teardown)(struct lab *lab);                        /* frees what lab->data points to. May be NULL */
    double (*article)(const char *step); /* what an article reached in a step of this name, in the unit of the report's
                                          * figure; NaN: nothing. May be NULL */
};

/* All of these return 0, or -1 with a printed sentence, unless they say otherwise. */

/* Device memory that lives as long as the experiment, filled with `fill` bytes. */
int lab_alloc(struct lab *lab, CUdeviceptr *address, size_t bytes, unsigned char fill);
int lab_upload(struct lab *lab, CUdeviceptr to, const void *from, size_t bytes);
int lab_download(struct lab *lab, void *to, CUdeviceptr from, size_t bytes);

/* A new point, zeroed, timed = false. NULL with a printed sentence when there are too many. */
struct lab_point *lab_add(struct lab *lab, const char *label, const char *change);
/* Which kernel: copies nothing but the pointers. Block and grid are one-dimensional; set the rest by hand. */
void lab_kernel(struct lab_point *point, const char *module, const char *kernel, unsigned grid, unsigned block);
/* A point's `run` that does nothing, for a point whose answer is known without a launch. */
int lab_launch_nothing(struct lab *lab, const struct lab_point *point);
/* The next kernel parameter, by value; aligned to its size, a tensor map (128 bytes) to 128. */
void lab_argument(struct lab_point *point, const void *value, size_t bytes);
#define LAB_ARGUMENT(point, value) lab_argument((point), &(value), sizeof(value))
/* A number to be predicted and counted. */
void lab_quantity(struct lab_point *point, const char *name, const char *metric, double predicted, double tolerance);
/* A tensor map by the driver. An illegal request is a failure with the broken rule's sentence. */
struct lab_map {
    _Alignas(128) unsigned char bytes[128];
};
int lab_tensor_map(struct lab *lab, const struct gm_tensor_map_request *request, struct lab_map *map);

/* How many clusters of a one-dimensional launch the GPU holds at once, by the driver. */
CUresult lab_resident_clusters(const struct lab *lab, CUfunction function, const struct lab_launch *launch,
                               int *clusters);

void lab_correct(struct lab_point *point);
void lab_wrong(struct lab_point *point, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Claims. `of_time` as in struct lab_claim. */
void lab_claim(struct lab *lab, bool holds, bool of_time, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The point with this label; NULL: none. */
struct lab_point *lab_find(struct lab *lab, const char *label);
double lab_gbs(const struct lab_point *point); /* NaN when not timed */
double lab_tflops(const struct lab_point *point);
/* What was counted of a quantity; NaN: nothing. */
double lab_counted(const struct lab_point *point, const char *quantity);

/* Nsight Compute's names used by several experiments.
 * The first three are counted for each instruction by itself, and exact in busy kernels too, except for wide loads whose
 * phases merge and that conflict as well. The pipe's own counters below include what the pipe's other traffic delays, so
 * they are exact only where one warp has the SM to itself: docs/counters.md. */
#define LAB_EXACT_WAVEFRONTS_LD   "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
#define LAB_EXACT_WAVEFRONTS_ST   "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
#define LAB_EXACT_WAVEFRONTS_ATOM "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"
#define LAB_CONFLICTS_LD          "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
#define LAB_CONFLICTS_ST          "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"
#define LAB_WAVEFRONTS_LD         "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
#define LAB_WAVEFRONTS_ST         "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
#define LAB_CONFLICTS_CP_ASYNC    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum"
#define LAB_SECTORS_LD            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" /* of 32 bytes, asked of L1 */
#define LAB_SECTORS_ST            "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
#define LAB_SECTORS_TMA_LD                                                                                             \
    "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum" /* that TMA brings into the SMs */

/* Every experiment, in the order of experiments.def, ended by NULL. */
extern const struct lab_experiment *const lab_experiments[];

#endif
