/* SPDX-License-Identifier: Apache-2.0 */
/* From a word of the command line to the command of that name. */
#include "commands.h"

#include <string.h>

#include "say.h"

int command_dispatch(const struct command *commands, size_t count, void (*print_help)(FILE *out), int argc,
                     char **argv) {
    if (argc < 1) {
        print_help(stderr);
        return EXIT_CODE_USAGE;
    }
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        print_help(stdout);
        return EXIT_CODE_OK;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(argv[0], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    }
    return COMMAND_UNKNOWN;
}
