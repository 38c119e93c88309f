/* SPDX-License-Identifier: Apache-2.0 */
/* From a word of the command line to the command of that name, and what is done before and after all of them. */
#include "program/commands.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "program/base/messages.h"
#include "program/base/shared_file.h"

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

/* Opened the wrong way round: reading from the one and writing to the others fails, as it does when they are closed. */
void command_begin(void) {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return; /* without /dev/null it stays closed */
}

int command_end(int code) {
    return output_finish() == 0 || code != EXIT_CODE_OK ? code : EXIT_CODE_FAILURE;
}
