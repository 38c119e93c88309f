/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated GPU's own API, beside the driver API that libgristmill-sim exports: options, reports, counters, trace.
 *
 * A program that opened the library through GM_DRIVER=sim finds these with dlsym (or cuGetProcAddress, as
 * "gm_sim_..."). Options are also read from the environment when the driver starts:
 *   GM_SIM_DEVICE     a100, h100 (default), h200, rtx4090
 *   GM_SIM_SEED       0 (default): the plain schedule; else run lengths and latencies are random
 *   GM_SIM_COUNT      1: count wavefronts, sectors, bytes (slower)
 *   GM_SIM_REPORTS    fail (default): a launch with a report returns CUDA_ERROR_LAUNCH_FAILED and the reports are printed
 *                     to stderr; print: printed only; quiet: only kept for gm_sim_report_get()
 *   GM_SIM_MEMORY     bytes of device memory to offer at most
 *   GM_SIM_SMS        SMs to present instead of the device's own: with few, persistent grids come round with few tiles
 *   GM_SIM_DEVICES    how many equal devices there are (1)
 * Thread-safety: launches are serialised; options are read at the beginning of a launch. */
#ifndef GM_SIM_H
#define GM_SIM_H

#include <stddef.h>
#include <stdint.h>

#define GM_SIM_API __attribute__((visibility("default")))

enum gm_sim_report_kind {
    SIM_REPORT_NONE,
    /* hardware traps on these */
    SIM_REPORT_OUT_OF_BOUNDS,
    SIM_REPORT_MISALIGNED,
    SIM_REPORT_ILLEGAL,
    SIM_REPORT_TRAP,
    /* hardware hides these, or hangs */
    SIM_REPORT_READ_BEFORE_WRITTEN, /* shared memory read while the write (a copy, another warp) is not known to be over */
    SIM_REPORT_WRITE_BEFORE_READ,    /* overwritten while its readers are not known to be done */
    SIM_REPORT_WRITE_BEFORE_WRITTEN, /* two writes, neither known to the other */
    SIM_REPORT_PROXY,                /* generic writes consumed by TMA / WGMMA with no proxy fence */
    SIM_REPORT_ACCUMULATOR,          /* registers of a wgmma in flight touched, or touched without wgmma.fence */
    SIM_REPORT_TRANSACTIONS,         /* expect_tx totals */
    SIM_REPORT_BARRIER,              /* misuse of an mbarrier or a named barrier */
    SIM_REPORT_PEER_EXITED,          /* memory of a cluster peer used after it exited, or it may exit before */
    SIM_REPORT_EXIT_IN_FLIGHT,       /* a CTA exits while a copy or a wgmma still uses its shared memory or registers */
    SIM_REPORT_DIVERGED,             /* an .aligned or .sync instruction without all its lanes */
    SIM_REPORT_DEADLOCK,
    SIM_REPORT_UNINITIALISED, /* uninitialised shared or global memory read, or reaching global memory */
    SIM_REPORT_DESCRIPTOR,    /* a matrix descriptor or tensor map that cannot be what is meant */
    SIM_REPORT_REGISTERS,     /* setmaxnreg */
    SIM_REPORT_KINDS
};

struct gm_sim_report {
    enum gm_sim_report_kind kind;
    char kernel[128];
    uint32_t line; /* in the PTX; 0: none */
    uint32_t cta[3];
    int warp, lane; /* -1: none in particular */
    uint64_t address;
    uint64_t times; /* how often at this line */
    char sentence[400];
    char source_file[256]; /* where the PTX says that the instruction comes from (.loc, .file); "": it does not */
    uint32_t source_line;
};

GM_SIM_API const char *gm_sim_report_kind_name(enum gm_sim_report_kind kind); /* "read-before-written" */
/* Reports of all launches since the last gm_sim_reports_clear(), oldest first. */
GM_SIM_API size_t gm_sim_report_count(void);
GM_SIM_API int gm_sim_report_get(size_t index, struct gm_sim_report *report); /* 0, or -1: no such */
GM_SIM_API void gm_sim_reports_clear(void);

/* ---- options ---------------------------------------------------------------------------------------------------- */

struct sim_options {
    uint64_t seed;
    int count; /* wavefronts, sectors, bytes */
    enum { SIM_REPORTS_FAIL, SIM_REPORTS_PRINT, SIM_REPORTS_QUIET } reports;
    uint64_t memory_bytes; /* 0: the device's own */
    char device[16];
};
GM_SIM_API void gm_sim_set_seed(uint64_t seed);
GM_SIM_API void gm_sim_set_counting(int on);
GM_SIM_API void gm_sim_set_reports(const char *mode); /* "fail", "print", "quiet" */

/* ---- counters of the last launch (counting on) ------------------------------------------------------------------- */

/* A metric by Nsight Compute's name ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", several joined by '+' are
 * added up). 0, or -1: the simulator does not claim this metric (then *value is NaN). */
GM_SIM_API int gm_sim_metric(const char *name, double *value);

/* Per PTX line of the last launch. */
struct gm_sim_line {
    uint32_t line;
    uint64_t instructions, lanes;     /* warp-instructions, thread-instructions */
    uint64_t wavefronts, conflicts;   /* shared memory */
    uint64_t sectors;                 /* global memory, 32 bytes each */
    uint64_t bytes;                   /* moved by bulk copies */
    const char *access;               /* "ld.shared", "cp.async" ...; NULL: it is no access to memory */
    uint32_t width;                   /* bytes a lane, as machine code moves them; 0: nothing was counted */
    uint64_t accesses;                /* to shared memory, or to global where it is none of shared */
    uint64_t ideal_wavefronts;        /* if no two words had met in a bank */
    uint64_t requests, ideal_sectors; /* global memory: as few as hold the bytes that were asked for */
};
GM_SIM_API size_t gm_sim_line_count(void);
GM_SIM_API int gm_sim_line_get(size_t index, struct gm_sim_line *line);
GM_SIM_API const char *
gm_sim_line_text(uint32_t line); /* of the last launch's PTX, or NULL; valid until the next launch */

/* Where the instruction at a line of the last launch's PTX comes from, if its .loc and .file say: 0, or -1. The name is
 * valid until the next launch. */
GM_SIM_API int gm_sim_line_source(uint32_t line, const char **file, uint32_t *source_line);

/* Every access to shared memory that is counted, in the order of execution, as machine code does it (neighbouring loads
 * may be one). */
struct gm_sim_access {
    uint32_t line;
    uint32_t cta[3];
    int warp;
    int kind; /* enum gm_access_kind of gristmill/smem.h */
    uint32_t width, mask, address[32];
    uint32_t wavefronts, ideal, conflicts;
};
typedef void gm_sim_access_fn(const struct gm_sim_access *access, void *arg);
GM_SIM_API void gm_sim_set_access(gm_sim_access_fn *fn, void *arg); /* NULL: none */

/* ---- what a PTX text holds ---------------------------------------------------------------------------------------- */

struct gm_sim_ptx;
struct gm_sim_kernel {
    const char *name; /* as the PTX has it */
    size_t parameters, variables;
    uint32_t static_shared;
    uint32_t threads[3]; /* .reqntid; 0: not said */
    uint32_t cluster[3]; /* .reqnctapercluster; 0: not said */
};
struct gm_sim_parameter {
    char type; /* b, u, s: bits and integers; f: floating-point */
    uint32_t bytes;
    uint32_t element_bytes; /* less than `bytes`: an array, such as a struct is */
};
/* An array in shared memory that the kernel names; bytes 0: the dynamic part. */
struct gm_sim_variable {
    const char *name;
    uint32_t address, bytes;
};
/* NULL: it cannot be read, and `message` says why. Names are valid until it is freed. */
GM_SIM_API struct gm_sim_ptx *gm_sim_ptx_read(const char *text, char *message, size_t bytes);
GM_SIM_API void gm_sim_ptx_free(struct gm_sim_ptx *ptx);
/* 0, or -1: no such. */
GM_SIM_API int gm_sim_ptx_kernel(const struct gm_sim_ptx *ptx, size_t index, struct gm_sim_kernel *kernel);
GM_SIM_API int gm_sim_ptx_parameter(const struct gm_sim_ptx *ptx, size_t kernel, size_t index,
                                    struct gm_sim_parameter *parameter);
GM_SIM_API int gm_sim_ptx_variable(const struct gm_sim_ptx *ptx, size_t kernel, size_t index,
                                   struct gm_sim_variable *variable);

/* ---- trace and single step: watch.h's callbacks, set from outside ------------------------------------------------- */

struct gm_sim_event {
    uint64_t time, until; /* ticks; until: when the copy, wait or wgmma ended (0: it has no length) */
    uint32_t cta[3];
    int warp, lane;
    uint32_t line;
    char kind[16]; /* "copy", "store", "wgmma", "wait", "arrive", "phase", "barrier", "exit" ... */
    char text[96]; /* "full[2] phase 1", "A 64x128 -> 0x4000" */
};
typedef void gm_sim_trace_fn(const struct gm_sim_event *event, void *arg);
GM_SIM_API void gm_sim_set_trace(gm_sim_trace_fn *fn, void *arg); /* NULL: none */

/* Called before an instruction whose PTX line is `line` (0: every instruction) runs in warp `warp` of CTA `cta` (-1:
 * any). Return 0 to go on, 1 to end the launch (CUDA_ERROR_LAUNCH_FAILED). The view stays valid during the call. */
struct gm_sim_view;
typedef int gm_sim_step_fn(struct gm_sim_view *view, void *arg);
GM_SIM_API void gm_sim_set_step(gm_sim_step_fn *fn, void *arg, uint32_t line, int cta, int warp);
GM_SIM_API uint32_t gm_sim_view_line(struct gm_sim_view *view);
GM_SIM_API const char *gm_sim_view_text(struct gm_sim_view *view);                  /* the line's PTX */
GM_SIM_API const char *gm_sim_view_source(struct gm_sim_view *view, uint32_t line); /* any line; NULL: there is none */
/* The first line from `line` on that holds an instruction of the kernel; 0: there is none. */
GM_SIM_API uint32_t gm_sim_view_line_from(struct gm_sim_view *view, uint32_t line);
GM_SIM_API void gm_sim_view_where(struct gm_sim_view *view, uint32_t cta[3], int *warp, uint32_t *mask, uint64_t *time);
/* A register by name ("%r12", "%p3", "%tid.x"): 32 lanes, zero-extended. 0, or -1: no such register. */
GM_SIM_API int gm_sim_view_register(struct gm_sim_view *view, const char *name, uint64_t lanes[32], int *bits);
/* Names that the instruction reads and writes, in order; NULL after the last. */
GM_SIM_API const char *gm_sim_view_operand(struct gm_sim_view *view, size_t index);
/* Copies shared memory of the CTA. Returns the bytes copied. */
GM_SIM_API size_t gm_sim_view_shared(struct gm_sim_view *view, uint32_t address, void *bytes, size_t count);
/* The mbarriers of the CTA: -1 when index is past the last. */
struct gm_sim_mbarrier {
    uint32_t address, expected, pending, phase;
    int64_t transactions;
};
GM_SIM_API int gm_sim_view_mbarrier(struct gm_sim_view *view, size_t index, struct gm_sim_mbarrier *barrier);

#endif
