/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill descriptor matrix: the 64 bits of a WGMMA descriptor, decoded, or made of their fields. */
#include <string.h>

#include "program/smem/descriptor_options.h"
#include "program/base/messages.h"
#include "program/smem/tensor_words.h"

struct matrix_options {
    struct field_options fields;
    struct operand_options operand;
    const char *type;
};

struct matrix_job {
    uint64_t bits;
    struct gm_matrix_descriptor fields;
    struct gm_wgmma_operand operand;
    bool has_operand;
};

static int draw(FILE *out, enum draw_form form, const void *what) {
    const struct matrix_job *job = what;
    return draw_matrix_descriptor(out, form, job->bits, &job->fields, job->has_operand ? &job->operand : NULL);
}

static int prepare(const struct matrix_options *given, const struct args_list *words, struct matrix_job *job) {
    int32_t type = 9; /* bf16 */
    job->fields = (struct gm_matrix_descriptor){.size = sizeof job->fields};
    if (descriptor_check_words(words, 1, "matrix") != 0)
        return -1;
    if ((words->count != 0) == field_options_any(&given->fields))
        return complain("descriptor matrix wants either 64 bits, such as 0x4000004000010040, or fields, such as --sbo "
                        "1024 --mode 128B%s",
                        words->count ? ", not both" : "");
    if ((words->count ? descriptor_read_bits(words->items[0], &job->bits, &job->fields)
                      : field_options_read(&given->fields, &job->fields, &job->bits)) != 0)
        return -1;
    if (given->type && words_read_type("--type", given->type, &type) != 0)
        return -1;
    job->has_operand = given->type || given->operand.major || given->operand.rows;
    return job->has_operand ? operand_options_read(&given->operand, gm_tensor_map_element_bytes(type), &job->operand)
                            : 0;
}

static int run(const struct matrix_options *given, const struct file_options *files, const struct args_list *words) {
    struct matrix_job job = {.bits = 0};
    if (prepare(given, words, &job) != 0)
        return EXIT_CODE_USAGE;
    return file_options_put(files, (struct picture){.draw = draw, .what = &job}, true);
}

static const char about[] =
    "The 64 bits of a WGMMA shared-memory descriptor: decoded, or made of their fields. With an operand (--major,\n"
    "--rows, --type) also what one instruction reads through them. Needs no GPU.\n\n"
    "examples:\n"
    "  gristmill descriptor matrix 0x4000004000010040\n"
    "  gristmill descriptor matrix --start 0x400 --lbo 16 --sbo 1024 --mode 128B --major k --rows 64\n"
    "  gristmill descriptor matrix --lbo 8192 --sbo 1024 --mode 128B --major mn --rows 128 --html mn.html";

int descriptor_matrix(int argc, char **argv) {
    enum { COUNT = FIELD_OPTIONS + OPERAND_OPTIONS + 1 + FILE_OPTIONS };
    struct matrix_options given = {.type = NULL};
    struct file_options files = {0};
    struct args_option options[COUNT], *next = options;
    field_options_list(&given.fields, next);
    next += FIELD_OPTIONS;
    operand_options_list(&given.operand, next);
    next += OPERAND_OPTIONS;
    *next++ = (struct args_option){"type", "TYPE", ARGS_TEXT, &given.type,
                                   "of the operand's elements: bf16 (default), f16, tf32, e4m3, s8, ..."};
    file_options_list(&files, next);
    const struct args_command command = {"gristmill descriptor matrix BITS|FIELDS [options]", about, options, COUNT};
    struct args_list words = {0};
    const enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    return run(&given, &files, &words);
}
