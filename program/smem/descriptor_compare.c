/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill descriptor compare: do a tensor map and a matrix descriptor speak of the same bytes? */
#include <inttypes.h>

#include "program/smem/descriptor_options.h"
#include "program/smem/map_options.h"
#include "smem/matrix_descriptor.h"
#include "program/smem/numbers.h"
#include "program/base/messages.h"

struct compare_options {
    struct map_options map;
    struct field_options fields;
    struct operand_options operand;
    const char *destination, *boxes, *descriptor, *k_step, *k_steps;
};
#define OWN_OPTIONS 5

struct compare_job {
    struct gm_descriptor_question question;
    struct gm_descriptor_answer answer;
};

static int draw(FILE *out, enum draw_form form, const void *what) {
    const struct compare_job *job = what;
    return draw_comparison(out, form, &job->question, &job->answer);
}

/* As many boxes as the first K step of the operand takes. */
static uint32_t usual_boxes(const struct gm_descriptor_question *q) {
    const struct gm_wgmma_operand *operand = &q->operand;
    const uint32_t elements = operand->major == GM_MN_MAJOR ? operand->rows : GM_WGMMA_K_BYTES / operand->element_bytes;
    const uint32_t inner = q->map.box[0] ? q->map.box[0] : 1;
    return elements / inner + (elements % inner != 0);
}

/* The bits that are given, or the right ones; with the fields that are given in their place. Where nothing is given
 * and nothing is right, the answer says why. */
static int read_descriptor(const struct compare_options *given, struct compare_job *job) {
    struct gm_descriptor_question *q = &job->question;
    struct gm_matrix_descriptor fields = {.size = sizeof fields};
    uint64_t right = 0;
    q->k_step_bytes = GM_WGMMA_K_BYTES;
    const bool found = gm_descriptor_suggest(q, &right, &q->k_step_bytes) == GM_OK;
    if (!found && !given->descriptor && !field_options_any(&given->fields))
        snprintf(job->answer.sentence, sizeof job->answer.sentence, "%s", gm_last_error());
    if (given->descriptor && descriptor_read_bits(given->descriptor, &q->descriptor, &fields) != 0)
        return -1;
    if (!given->descriptor && found && gm_matrix_descriptor_decode(right, &fields) != GM_OK)
        return complain("%s", gm_last_error());
    if (field_options_read(&given->fields, &fields, &q->descriptor) != 0)
        return -1;
    return given->k_step ? number_read("--k-step", given->k_step, 0, UINT32_MAX, &q->k_step_bytes) : 0;
}

static int prepare(const struct compare_options *given, const struct args_list *words, struct compare_job *job) {
    struct gm_descriptor_question *q = &job->question;
    *q = (struct gm_descriptor_question){.size = sizeof *q};
    if (descriptor_check_words(words, 0, "compare") != 0 || map_options_read(&given->map, &q->map) != 0 ||
        operand_options_read(&given->operand, gm_tensor_map_element_bytes(q->map.type), &q->operand) != 0)
        return -1;
    q->boxes = usual_boxes(q);
    if ((given->destination && number_read("--destination", given->destination, 0, UINT32_MAX, &q->destination) != 0) ||
        (given->boxes && number_read("--boxes", given->boxes, 1, 1u << 16, &q->boxes) != 0) ||
        (given->k_steps && number_read("--k-steps", given->k_steps, 1, 1u << 16, &q->k_steps) != 0))
        return -1;
    job->answer = (struct gm_descriptor_answer){.size = sizeof job->answer};
    if (read_descriptor(given, job) != 0)
        return -1;
    if (job->answer.sentence[0]) /* there is nothing to compare with */
        return 0;
    return gm_descriptor_compare(q, &job->answer) == GM_OK ? 0 : complain("%s", gm_last_error());
}

static int run(const struct compare_options *given, const struct file_options *files, const struct args_list *words) {
    struct compare_job job;
    if (prepare(given, words, &job) != 0)
        return EXIT_CODE_USAGE;
    if (job.answer.elements)
        printf("Descriptor 0x%016" PRIx64 ", K step %" PRIu32 " bytes\n\n", job.question.descriptor,
               job.question.k_step_bytes);
    return file_options_put(files, (struct picture){.draw = draw, .what = &job}, job.answer.agrees);
}

static const char about[] =
    "Follows every element of a WGMMA operand to where TMA writes it and to where WGMMA reads it, K step by K step, "
    "and\n"
    "says what is wrong when the two differ: mode, start, phase, LBO, SBO, K step, box, or major. Needs no GPU.\n"
    "Without --descriptor the right one is worked out; --start, --lbo, --sbo, --base-offset and --mode replace its\n"
    "fields. --swizzle is the mode of the map. Exit code 1: they do not agree.\n\n"
    "examples:\n"
    "  gristmill descriptor compare --dims 4096,4096 --box 64,128 --swizzle 128B --rows 128\n"
    "  gristmill descriptor compare --dims 4096,4096 --box 64,128 --swizzle 128B --rows 128 --sbo 512\n"
    "  gristmill descriptor compare --dims 4096,4096 --box 64,64 --swizzle 128B --major mn --rows 256\n"
    "  gristmill descriptor compare --dims 4096,4096 --box 64,64 --swizzle 128B --descriptor 0x8000004000010000";

int descriptor_compare(int argc, char **argv) {
    enum { COUNT = MAP_OPTIONS + OPERAND_OPTIONS + FIELD_OPTIONS + OWN_OPTIONS + FILE_OPTIONS };
    struct compare_options given = {.boxes = NULL};
    struct file_options files = {0};
    struct args_option options[COUNT], *next = options;
    map_options_list(&given.map, next);
    next += MAP_OPTIONS;
    *next++ = (struct args_option){"destination", "ADDRESS", ARGS_TEXT, &given.destination,
                                   "of the first box in shared memory (default: 0)"};
    *next++ = (struct args_option){"boxes", "N", ARGS_TEXT, &given.boxes,
                                   "side by side along the inner dimension (default: what a K step takes)"};
    operand_options_list(&given.operand, next);
    next += OPERAND_OPTIONS;
    *next++ = (struct args_option){"descriptor", "BITS", ARGS_TEXT, &given.descriptor,
                                   "of the first K step (default: the right one)"};
    field_options_list(&given.fields, next);
    next += FIELD_OPTIONS;
    *next++ = (struct args_option){"k-step", "BYTES", ARGS_TEXT, &given.k_step,
                                   "added to the start address for each K step (default: the right one)"};
    *next++ = (struct args_option){"k-steps", "N", ARGS_TEXT, &given.k_steps, "how many (default: all of the boxes)"};
    file_options_list(&files, next);
    const struct args_command command = {"gristmill descriptor compare --dims N,N --box N,N [options]", about, options,
                                         COUNT};
    struct args_list words = {0};
    const enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    return run(&given, &files, &words);
}
