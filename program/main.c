/* SPDX-License-Identifier: Apache-2.0 */
/* The program gristmill. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "program/commands.h"
#include "bench/measure/gpu.h"

static const struct command commands[] = {
    {"info", command_info, "devices, build, and the kernel table with its analytical limits"},
    {"explain", command_explain, "every kernel's verdict on one problem: accepted, or why not"},
    {"bank", command_bank, "what an access of a warp to shared memory costs, wavefront by wavefront"},
    {"swizzle", command_swizzle, "a tile under a swizzle, drawn and proved; the smallest swizzle for a walk"},
    {"descriptor", command_descriptor, "tensor maps and WGMMA descriptors, explained and compared"},
    {"lab", command_lab, "experiments: predicted, counted and timed, and whether they agree"},
    {"sim", command_sim, "the simulated GPU: run, trace and single-step a kernel, with its races"},
    {"bench", command_bench, "measures suites of problems beside cuBLASLt"},
    {"chain", command_chain, "measures layers that follow each other, with and without programmatic launch"},
    {"tune", command_tune, "measures which kernel is fastest on each problem, for the planner's ledger"},
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static void print_help(FILE *out) {
    fputs("usage: gristmill [--sim DEVICE] COMMAND [arguments]\n\ncommands:\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].about);
    fputs("\n--sim DEVICE before the command: the GPU is a simulated a100, h100, h200 or rtx4090.\n"
          "`gristmill COMMAND --help` says more; `gristmill --version` says which this is.\n"
          "exit codes: 0 done, 1 a failure or a wrong result, 2 a command line that makes no sense\n",
          out);
}

/* Takes --sim away. False: it makes no sense, and a sentence was printed. */
static bool take_sim(int *argc, char ***argv) {
    const char *first = *argc > 1 ? (*argv)[1] : "", *device = NULL;
    int words = 0;
    if (strncmp(first, "--sim=", 6) == 0) {
        device = first + 6;
        words = 1;
    } else if (strcmp(first, "--sim") == 0) {
        device = *argc > 2 ? (*argv)[2] : "";
        words = 2;
    }
    if (device && gpu_simulate(device) != 0)
        return false;
    *argc -= words;
    *argv += words;
    return true;
}

static int run(int argc, char **argv) {
    if (!take_sim(&argc, &argv))
        return EXIT_CODE_USAGE;
    if (argc > 1 && strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return EXIT_CODE_OK;
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        printf("gristmill %s\n", gm_version_string());
        return EXIT_CODE_OK;
    }
    int code = command_dispatch(commands, COMMAND_COUNT, print_help, argc - 1, argv + 1);
    if (code != COMMAND_UNKNOWN)
        return code;
    complain("there is no command %s; `gristmill --help` lists them", argv[1]);
    return EXIT_CODE_USAGE;
}

int main(int argc, char **argv) {
    command_begin();
    return command_end(run(argc, argv));
}
