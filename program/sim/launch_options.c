/* SPDX-License-Identifier: Apache-2.0 */
/* The command line that names a reader's kernel, read. */
#include "program/sim/launch_options.h"

#include <string.h>

#include "program/smem/numbers.h"

void launch_options_list(struct launch_options *given, struct args_option *options) {
    const struct args_option all[LAUNCH_OPTIONS] = {
        {"grid", "X,Y,Z", ARGS_TEXT, &given->grid_text, "blocks"},
        {"block", "X,Y,Z", ARGS_TEXT, &given->block_text, "threads of a block"},
        {"cluster", "X,Y,Z", ARGS_TEXT, &given->cluster_text, "blocks of a cluster"},
        {"shared", "BYTES", ARGS_COUNT, &given->shared, "dynamic shared memory"},
        {"args", "ARG ...", ARGS_LIST, &given->given, "the kernel's arguments, up to the next option"},
        {"flags", "FLAGS", ARGS_TEXT, &given->flags, "for the compiler, e.g. '-DTILE=32 -Iinclude'"},
    };
    memcpy(options, all, sizeof all);
}

/* "32,8": X, and Y and Z where they are not 1. */
static int read_dimensions(const char *option, const char *text, unsigned dimensions[LAUNCH_DIMENSIONS]) {
    const char *at = text;
    uint32_t value = 0;
    for (int i = 0; i < LAUNCH_DIMENSIONS; i++)
        dimensions[i] = 1;
    for (int i = 0; i < LAUNCH_DIMENSIONS && number_take(&at, INT32_MAX, &value) && value; i++) {
        dimensions[i] = value;
        if (*at == '\0')
            return 0;
        if (*at++ != ',')
            break;
    }
    return complain("--%s is X, X,Y or X,Y,Z with whole numbers from 1 on, not `%.40s`", option, text);
}

static int read_launch(struct launch_options *given) {
    if (!given->grid_text || !given->block_text)
        return complain("say how many blocks and threads: --grid X,Y --block X,Y");
    if (read_dimensions("grid", given->grid_text, given->grid) != 0 ||
        read_dimensions("block", given->block_text, given->block) != 0)
        return -1;
    if (given->cluster_text && read_dimensions("cluster", given->cluster_text, given->cluster) != 0)
        return -1;
    return sim_request_read_schedule(&given->request);
}

static int read_words(struct launch_options *given, const struct args_list *words) {
    if (words->count == 0)
        return complain("say which file: a .ptx, or a .cu where there is a CUDA toolkit");
    if (words->count > 2)
        return complain("one kernel of one file, and not %s as well; arguments of the kernel stand behind --args",
                        words->items[2]);
    given->file = words->items[0];
    given->kernel = words->count > 1 ? words->items[1] : NULL;
    return 0;
}

/* Moves the words behind --args, up to the next option, to the list. Returns how many words are left; -1: too many. */
int launch_take_args(int argc, char **argv, struct args_list *list) {
    int left = 0;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--args") != 0) {
            argv[left++] = argv[i];
            continue;
        }
        for (; i + 1 < argc && strncmp(argv[i + 1], "--", 2) != 0; i++) {
            if (list->count == ARGS_LIST_MAX)
                return complain("more than %d arguments", ARGS_LIST_MAX);
            list->items[list->count++] = argv[i + 1];
        }
    }
    return left;
}

int launch_options_read(struct launch_options *given, const struct args_list *words) {
    return read_words(given, words) == 0 ? read_launch(given) : -1;
}
