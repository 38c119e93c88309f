/* SPDX-License-Identifier: Apache-2.0 */
/* The command line that names a reader's kernel: `gristmill sim launch` and `gristmill lab count` share it. */
#ifndef PROGRAM_SIM_LAUNCH_OPTIONS_H
#define PROGRAM_SIM_LAUNCH_OPTIONS_H

#include "program/sim/simulator.h"

enum { LAUNCH_DIMENSIONS = 3 };

struct launch_options {
    struct sim_request request;
    const char *grid_text, *block_text, *cluster_text, *flags;
    unsigned grid[LAUNCH_DIMENSIONS], block[LAUNCH_DIMENSIONS], cluster[LAUNCH_DIMENSIONS];
    int shared, seeds;
    bool quiet;    /* no tables */
    bool counters; /* the totals by the profiler's names */
    bool lines;    /* and those of each line, for `gristmill lab count` */
    const char *file, *kernel;
    struct args_list given; /* --args */
};

/* The options of a kernel and its launch, --grid to --flags, into `options`. */
enum { LAUNCH_OPTIONS = 6 };
void launch_options_list(struct launch_options *given, struct args_option *options);
/* What of the help says how --args are written. */
#define LAUNCH_ARGS_HELP                                                                                               \
    "Arguments stand behind --args in the order of the kernel's parameters:\n"                                         \
    "  i32:64  f32:1.5  u64:0xff     numbers: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64\n"                        \
    "  buffer:f32:4096:iota          device memory: type, how many (or 64x64), how it is filled: zero, ones, iota,\n"  \
    "                                random, random=SEED, file=PATH, none (nothing was written)\n"                     \
    "  out:f32:4096                  the same as buffer:f32:4096:none:print=8\n"                                       \
    "  file:PATH                     bytes, as of a struct\n"

/* Moves the words behind --args, up to the next option, to the list. Returns how many words are left; -1: too many. */
int launch_take_args(int argc, char **argv, struct args_list *list);
/* The file and the kernel out of the words, and the launch's dimensions. 0, or -1 with a printed sentence. */
int launch_options_read(struct launch_options *given, const struct args_list *words);

#endif
