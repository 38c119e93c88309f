/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the program, each with its own arguments after its name; they return an exit code. */
#ifndef PROGRAM_COMMANDS_H
#define PROGRAM_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "gristmill/gristmill.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *about;
};

/* Runs the command that the first word names, with the words behind it; --help and -h, or no word at all (then on
 * stderr), print the help. COMMAND_UNKNOWN: there is none of that name, and nothing was printed. */
enum { COMMAND_UNKNOWN = -1 };
int command_dispatch(const struct command *commands, size_t count, void (*print_help)(FILE *out), int argc,
                     char **argv);

/* Before the first word is looked at: a standard stream that is closed is kept from becoming a file that is opened. */
void command_begin(void);
/* Last of all, with the exit code so far: everything printed has been written, or that is a sentence and a failure. */
int command_end(int code);

int command_info(int argc, char **argv);
int command_explain(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_tune(int argc, char **argv);
int command_chain(int argc, char **argv);
int command_bank(int argc, char **argv);
int command_swizzle(int argc, char **argv);
int command_descriptor(int argc, char **argv);
int command_lab(int argc, char **argv);
int command_sim(int argc, char **argv);

#define DEFAULT_MODEL "h200"

/* Where a command can do without a GPU: `choice` is a model's name, a device number, or NULL = device 0, or the
 * default model when there is none. Returns 0 and fills `device` (ordinal -1: a model), or -1 with a printed
 * sentence. `why` receives why there is no GPU when the default model stands in, else "". */
int device_from_option(const char *choice, struct gm_device *device, char *why, size_t why_bytes);

/* "sm80" / "sm90" / NULL = any; -1 with a printed sentence when it is something else. */
int arch_from_option(const char *name, uint32_t *mask);

/* A kernel's name, and behind it how its work is divided, /k or /k3, as in options, results and ledgers. */
#define DIVIDED_NAME_BYTES 100

/* What --kernel asks for: a glob over such names, where a division stands for itself; NULL = any. Whether that is this
 * row; and the number of the division, GM_DIVISION_BEST where none is said. */
bool is_asked(const char *asked, const char *name);
int asked_division(const char *asked);
/* -1 with a printed sentence when that is no row. */
int check_kernel(const char *asked);

/* A string of gm_build_info(), e.g. "toolkit"; "" when it has none of that name. */
void build_fact(const char *key, char *value, size_t bytes);

#endif
