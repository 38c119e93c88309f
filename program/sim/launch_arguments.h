/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a reader's kernel, as `gristmill sim launch --args` takes them: scalars, and buffers in device memory.
 *
 *     TYPE:VALUE                         i32:64  u32:0xff  f32:1.5
 *     buffer:TYPE:COUNT[:FILL][:WHAT]    COUNT 4096 or 64x64; FILL zero, ones, iota, random, random=SEED, file=PATH
 *     out:TYPE:COUNT[:WHAT]              a buffer that nobody has written yet, printed afterwards
 *     file:PATH                          a parameter's bytes, as of a struct
 *
 * WHAT happens to a buffer after the launch: print, print=N (its first elements), save=PATH, compare=PATH. Files hold
 * elements as they lie in memory; no path has a colon. */
#ifndef PROGRAM_SIM_LAUNCH_ARGUMENTS_H
#define PROGRAM_SIM_LAUNCH_ARGUMENTS_H

#include "program/sim/simulator.h"

enum { LAUNCH_ARGUMENTS_MAX = ARGS_LIST_MAX, LAUNCH_SCALAR_BYTES = 8 };

struct element_type {
    const char *name;
    char kind; /* i: signed, u: unsigned, f: floating-point */
    uint32_t bytes;
};

enum buffer_fill { FILL_NONE, FILL_ZERO, FILL_ONES, FILL_IOTA, FILL_RANDOM, FILL_FILE };

struct launch_argument {
    const char *given;               /* as on the command line */
    char *words;                     /* a copy, cut at the colons: the paths lie in it */
    const struct element_type *type; /* NULL: bytes from a file */
    void *bytes;                     /* a scalar's or a file's */
    size_t size;                     /* of these, or of the buffer */
    /* a buffer */
    bool is_buffer;
    uint64_t count, columns; /* columns: of the last dimension */
    enum buffer_fill fill;
    uint64_t seed;
    const char *path, *save, *compare;
    uint64_t print; /* elements */
    CUdeviceptr address;
    void *result; /* after the launch; NULL: it is not asked for */
};

struct launch_arguments {
    struct launch_argument each[LAUNCH_ARGUMENTS_MAX];
    size_t count;
};

/* 0, or -1 with a printed sentence; to be freed in either case. */
int arguments_read(struct launch_arguments *arguments, const struct args_list *given);
void arguments_free(struct launch_arguments *arguments);

/* Buffers into device memory, filled. 0, or -1 with a printed sentence. */
int arguments_place(struct launch_arguments *arguments, const struct gpu *gpu);
/* Takes the buffers back; `wanted`: their contents first, as far as something is to become of them. */
int arguments_collect(struct launch_arguments *arguments, const struct gpu *gpu, bool wanted);
/* Compares what was collected: the buffers that differ from their files, each with a printed line. -1: no such file. */
int arguments_compare(const struct launch_arguments *arguments);
/* Prints and saves what was collected. */
int arguments_show(const struct launch_arguments *arguments);

#endif
