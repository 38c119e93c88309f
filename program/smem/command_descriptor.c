/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill descriptor: tensor maps, WGMMA matrix descriptors, and whether the two speak of the same bytes. */
#include <stdio.h>

#include "program/commands.h"
#include "program/smem/descriptor_options.h"
#include "program/base/messages.h"

static const struct command parts[] = {
    {"tensor-map", descriptor_tensor_map, "a request of cuTensorMapEncodeTiled, rule by rule"},
    {"matrix", descriptor_matrix, "the 64 bits of a WGMMA descriptor, decoded or made of their fields"},
    {"compare", descriptor_compare, "whether WGMMA reads what TMA writes, and what is wrong when it does not"},
};
#define PARTS (sizeof parts / sizeof *parts)

static void print_help(FILE *out) {
    fputs("usage: gristmill descriptor PART [arguments]\n\nparts:\n", out);
    for (size_t i = 0; i < PARTS; i++)
        fprintf(out, "  %-12s %s\n", parts[i].name, parts[i].about);
    fputs("\n`gristmill descriptor PART --help` says more, with examples. Needs no GPU.\n"
          "exit codes: 0 yes, 1 a legal question whose answer is no, 2 a command line that makes no sense\n",
          out);
}

int command_descriptor(int argc, char **argv) {
    int code = command_dispatch(parts, PARTS, print_help, argc, argv);
    if (code != COMMAND_UNKNOWN)
        return code;
    complain("descriptor has no part %.40s; `gristmill descriptor --help` lists them", argv[0]);
    return EXIT_CODE_USAGE;
}
