/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated GPU in use by a command: the driver of GM_DRIVER=sim, its own functions, one GEMM on it. */
#ifndef PROGRAM_SIM_SIMULATOR_H
#define PROGRAM_SIM_SIMULATOR_H

#include "program/base/args.h"
#include "bench/measure/gpu.h"
#include "program/sim/source_text.h"
#include "sim/sim.h"

/* The functions of sim.h, found in the driver that was opened. */
struct simulator {
    struct gpu gpu;
    size_t (*report_count)(void);
    int (*report_get)(size_t index, struct gm_sim_report *report);
    const char *(*report_kind_name)(enum gm_sim_report_kind kind);
    void (*reports_clear)(void);
    void (*set_seed)(uint64_t seed);
    void (*set_counting)(int on);
    void (*set_reports)(const char *mode);
    int (*metric)(const char *name, double *value);
    size_t (*line_count)(void);
    int (*line_get)(size_t index, struct gm_sim_line *line);
    const char *(*line_text)(uint32_t line);
    int (*line_source)(uint32_t line, const char **file, uint32_t *source_line);
    void (*set_access)(gm_sim_access_fn *fn, void *arg);
    struct gm_sim_ptx *(*ptx_read)(const char *text, char *message, size_t bytes);
    void (*ptx_free)(struct gm_sim_ptx *ptx);
    int (*ptx_kernel)(const struct gm_sim_ptx *ptx, size_t index, struct gm_sim_kernel *kernel);
    int (*ptx_parameter)(const struct gm_sim_ptx *ptx, size_t kernel, size_t index, struct gm_sim_parameter *parameter);
    int (*ptx_variable)(const struct gm_sim_ptx *ptx, size_t kernel, size_t index, struct gm_sim_variable *variable);
    void (*set_trace)(gm_sim_trace_fn *fn, void *arg);
    void (*set_step)(gm_sim_step_fn *fn, void *arg, uint32_t line, int cta, int warp);
    uint32_t (*view_line)(struct gm_sim_view *view);
    const char *(*view_text)(struct gm_sim_view *view);
    const char *(*view_source)(struct gm_sim_view *view, uint32_t line);
    uint32_t (*view_line_from)(struct gm_sim_view *view, uint32_t line);
    void (*view_where)(struct gm_sim_view *view, uint32_t cta[3], int *warp, uint32_t *mask, uint64_t *time);
    int (*view_register)(struct gm_sim_view *view, const char *name, uint64_t lanes[32], int *bits);
    const char *(*view_operand)(struct gm_sim_view *view, size_t index);
    size_t (*view_shared)(struct gm_sim_view *view, uint32_t address, void *bytes, size_t count);
    int (*view_mbarrier)(struct gm_sim_view *view, size_t index, struct gm_sim_mbarrier *barrier);
    struct source_files *files; /* that reports were shown of */
    const char *folder;         /* where else to look for them; NULL: nowhere */
};

/* What every part of `gristmill sim` asks: the kernel, the problem, the device. */
struct sim_request {
    const char *kernel;   /* name, or a glob that one row matches */
    const char *device;   /* NULL: h100 for sm90 rows, a100 for sm80 rows */
    int m, n, k;          /* 0: two tiles and a bit in each of M and N, two trips around the ring in K */
    int sms;              /* that the device has; few, so that CTAs come round more than once; 0: its own */
    const char *schedule; /* "seed=N"; NULL: the plain schedule */
    bool bias, fp32;      /* the general epilogue; D in fp32 */
    uint64_t seed;        /* read from `schedule` */
    int row;              /* index of the kernel, found by name */
};
enum { SIM_REQUEST_OPTIONS = 9 };

/* Fills options[SIM_REQUEST_OPTIONS] for args_parse(). */
void sim_request_options(struct sim_request *request, struct args_option *options);
/* Reads the command line: options, kernel, seed; fills in sizes. SIM_GO, or the exit code that the command ends with.
 */
enum { SIM_GO = -1 };
int sim_request_read(struct sim_request *request, const struct args_command *command, int argc, char **argv);

/* Reads the seed out of the schedule. 0, or -1 with a printed sentence. */
int sim_request_read_schedule(struct sim_request *request);

/* Opens the simulated device of the request. 0, or -1 with a printed sentence. */
int simulator_open(struct simulator *simulator, const struct sim_request *request);
void simulator_close(struct simulator *simulator);

enum sim_outcome { SIM_CORRECT, SIM_WRONG, SIM_ENDED, SIM_FAILED };

/* Runs the request's GEMM once on small integers and compares D bit for bit. SIM_WRONG and SIM_ENDED (the launch
 * returned an error) come with their sentence in `sentence`; SIM_FAILED: printed. */
enum sim_outcome sim_gemm_run(struct simulator *simulator, const struct sim_request *request, char *sentence,
                              size_t bytes);
/* Prints the reports so far, by source line where the PTX says it; returns how many. */
size_t simulator_print_reports(struct simulator *simulator);
/* How many it would print: one for each kind of fault and source line. */
size_t simulator_count_reports(const struct simulator *simulator);
/* The text of the source line, or of the PTX where it has no source; "" where there is none. */
const char *simulator_line_text(struct simulator *simulator, uint32_t line);

int command_sim_run(int argc, char **argv);
int command_sim_trace(int argc, char **argv);
int command_sim_step(int argc, char **argv);
int command_sim_launch(int argc, char **argv);

#endif
