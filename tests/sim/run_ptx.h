/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a kernel given as PTX text on one buffer of global memory. */
#ifndef SIM_RUN_PTX_H
#define SIM_RUN_PTX_H

#include "sim/sim.h"

#include <stdint.h>

/* The head of a module, and of a kernel whose first parameter is the buffer's address. */
#define PTX_HEAD       ".version 8.6\n.target sm_90a\n.address_size 64\n"
#define PTX_KERNEL     ".visible .entry kernel(.param .u64 buffer) {\n"
#define PTX_TEXT(body) PTX_HEAD PTX_KERNEL body "\nret;\n}\n"

struct sim_reports;

struct run_ptx {
    const char *text;                       /* whole module */
    const char *kernel;                     /* NULL: its first function */
    uint32_t grid[3], block[3], cluster[3]; /* 0 counts as 1 */
    uint32_t dynamic_shared;
    void *buffer; /* copied to global memory before and back after the launch */
    size_t bytes;
    const void *parameters; /* further ones, at `parameter_offset` of the parameter block */
    size_t parameter_bytes, parameter_offset;
    uint64_t seed;
    gm_sim_step_fn *step; /* called before every instruction */
    void *step_arg;
    /* what came of it */
    int result;                      /* CUresult */
    char message[256];               /* why the text could not be parsed; "" */
    uint64_t instructions;           /* warp-instructions */
    double seconds;                  /* of the launch alone */
    struct gm_sim_report report[16]; /* the first ones */
    size_t reports;
};

void run_ptx(struct run_ptx *run);

/* Fails the test unless the launch ended well and nothing was reported. */
void run_ptx_clean(struct run_ptx *run);

#endif
