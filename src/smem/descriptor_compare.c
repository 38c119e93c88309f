/* SPDX-License-Identifier: Apache-2.0 */
/* Do a tensor map and a matrix descriptor speak of the same bytes? Every element is followed to where TMA writes it and
 * to where WGMMA reads it. What is wrong is found by trying as well: a field is to blame when the right descriptor
 * with only this field taken from the caller's reads elsewhere. */
#include <stdarg.h>
#include <string.h>

#include "smem/matrix_descriptor.h"
#include "smem/operand_boxes.h"
#include "host/structs.h"
#include "host/text.h"

/* How the operand is read, step by step. */
struct reading {
    struct gm_matrix_descriptor first; /* of the first K step */
    struct gm_wgmma_operand operand;
    uint32_t k_steps, k_step_bytes;
};

/* ---- element by element ------------------------------------------------------------------------- */

/* The start field counts in units of 16 bytes; what a K step has beyond them is lost. */
static struct gm_matrix_descriptor descriptor_of_step(const struct reading *reading, uint32_t step) {
    struct gm_matrix_descriptor d = reading->first;
    d.start += step * (reading->k_step_bytes / 16 * 16);
    return d;
}

/* One K step's elements. */
static void compare_step(const struct gm_operand_boxes *boxes, const struct reading *reading, uint32_t step,
                         struct gm_descriptor_answer *answer) {
    const uint32_t step_k = GM_WGMMA_K_BYTES / boxes->element_bytes;
    const struct gm_matrix_descriptor d = descriptor_of_step(reading, step);
    for (uint32_t row = 0; row < reading->operand.rows; row++)
        for (uint32_t k = 0; k < step_k; k++) {
            const uint32_t written = gm_operand_boxes_address(boxes, row, step * step_k + k);
            const uint32_t read = gm_wgmma_element(&d, &reading->operand, row, k);
            answer->elements++;
            if (written == read || answer->wrong++)
                continue;
            answer->row = row;
            answer->k = step * step_k + k;
            answer->written = written;
            answer->read = read;
        }
}

static int reads_right(const struct gm_operand_boxes *boxes, const struct reading *reading) {
    struct gm_descriptor_answer answer = {0};
    for (uint32_t step = 0; step < reading->k_steps && answer.wrong == 0; step++)
        compare_step(boxes, reading, step, &answer);
    return answer.wrong == 0;
}

/* ---- what is wrong ------------------------------------------------------------------------------ */

struct text {
    char *at;
    size_t bytes;
    int parts;
};

/* One part of a sentence whose parts are separated by semicolons. */
__attribute__((format(printf, 2, 3))) static void say(struct text *text, const char *format, ...) {
    char part[GM_BOXES_SENTENCE];
    va_list arguments;
    va_start(arguments, format);
    gm_format(part, sizeof part, format, arguments);
    va_end(arguments);
    const size_t used = gm_print(text->at, text->bytes, "%s%s", text->parts++ ? "; " : "", part);
    text->at += used;
    text->bytes -= used;
}

/* What the two offsets lead to; they change places for an MN-major operand without a swizzle. */
static const char *stride_name(const struct gm_operand_boxes *boxes) {
    if (boxes->major == GM_K_MAJOR)
        return "SBO (8 rows on)";
    return boxes->swizzle == GM_SWIZZLE_NONE ? "SBO (8 rows on)" : "SBO (8 k on)";
}
static const char *leading_name(const struct gm_operand_boxes *boxes) {
    if (boxes->major == GM_K_MAJOR)
        return "LBO (16 bytes of k on)";
    return boxes->swizzle == GM_SWIZZLE_NONE ? "LBO (8 k on)" : "LBO (one span of rows on)";
}

/* What the given reading and the right one are compared by. */
struct suspicion {
    const struct gm_operand_boxes *boxes;
    const struct reading *right, *given;
    struct text *text;
};

static void blame_mode(const struct suspicion *s) {
    static const char *const names[] = {"no swizzle", "the 32B mode", "the 64B mode", "the 128B mode"};
    struct reading trial = *s->right;
    trial.first.swizzle = s->given->first.swizzle;
    if (!reads_right(s->boxes, &trial))
        say(s->text, "the descriptor has %s, the map %s", names[s->given->first.swizzle],
            names[s->right->first.swizzle]);
}

/* `at` is the offset of a number in struct reading. */
static void blame_number(const struct suspicion *s, const char *name, const char *unit, size_t at) {
    struct reading trial = *s->right;
    uint32_t is, should_be;
    memcpy(&is, (const char *)s->given + at, sizeof is);
    memcpy(&should_be, (const char *)s->right + at, sizeof should_be);
    memcpy((char *)&trial + at, &is, sizeof is);
    if (!reads_right(s->boxes, &trial))
        say(s->text, "%s is %u%s, should be %u", name, is, unit, should_be);
}

static void blame_fields(const struct suspicion *s) {
    blame_mode(s);
    blame_number(s, "the start address", "", offsetof(struct reading, first.start));
    blame_number(s, "the base offset", "", offsetof(struct reading, first.base_offset));
    blame_number(s, stride_name(s->boxes), " bytes", offsetof(struct reading, first.stride_bytes));
    blame_number(s, leading_name(s->boxes), " bytes", offsetof(struct reading, first.leading_bytes));
    blame_number(s, "the K step", " bytes", offsetof(struct reading, k_step_bytes));
}

/* The K steps that one distance between them can reach. When K runs along rows that hold more than one step, those are
 * the steps of the first box. */
static uint32_t steps_in_reach(const struct gm_operand_boxes *boxes) {
    if (boxes->major == GM_MN_MAJOR || boxes->inner_bytes <= GM_WGMMA_K_BYTES)
        return gm_operand_boxes_k_steps(boxes);
    return boxes->inner_bytes / GM_WGMMA_K_BYTES;
}

static void diagnose(const struct gm_operand_boxes *boxes, const struct reading *given, struct text *text) {
    char why[GM_BOXES_SENTENCE];
    struct reading right = *given, within_reach = *given;
    if (!gm_operand_boxes_descriptor(boxes, given->operand.rows, &right.first, &right.k_step_bytes, why)) {
        say(text, "no descriptor reads these boxes: %s", why);
        return;
    }
    const uint32_t reach = steps_in_reach(boxes);
    if (given->k_steps > reach) {
        right.k_steps = within_reach.k_steps = reach;
        say(text,
            "no single K step walks %u steps: a box holds %u, and the next box begins %u bytes after it; compare "
            "box by box",
            given->k_steps, reach, boxes->box_bytes);
    }
    const struct suspicion suspicion = {boxes, &right, &within_reach, text};
    blame_fields(&suspicion);
    if (text->parts == 0)
        say(text, "no single field is to blame: start with the descriptor that gm_descriptor_suggest() gives");
}

/* ---- the question ------------------------------------------------------------------------------- */

/* Fills in the default K steps. 1; or 0 and why there is nothing to compare. */
static int fits(const struct gm_operand_boxes *boxes, struct reading *reading, char *why) {
    const uint32_t rows = gm_operand_boxes_rows(boxes), steps = gm_operand_boxes_k_steps(boxes);
    const uint32_t step_k = GM_WGMMA_K_BYTES / boxes->element_bytes;
    if (rows < reading->operand.rows)
        return gm_boxes_refuse(why, "the box is too small: %u rows in all, and the operand has %u", rows,
                               reading->operand.rows);
    if (steps == 0 || reading->k_steps > steps)
        return gm_boxes_refuse(why, "the box is too small: it holds %u K steps of %u elements, and %u are to be read",
                               steps, step_k, reading->k_steps ? reading->k_steps : 1);
    reading->k_steps = reading->k_steps ? reading->k_steps : steps;
    return 1;
}

/* 1 when everything agrees as soon as the operand is taken for one of the other major. */
static int agrees_as_other_major(const struct gm_descriptor_question *question, const struct reading *given) {
    struct gm_descriptor_question other = *question;
    struct gm_operand_boxes boxes;
    struct reading reading = *given;
    char why[GM_BOXES_SENTENCE];
    if (question->operand.element_bytes != 2)
        return 0;
    other.operand.major = question->operand.major == GM_K_MAJOR ? GM_MN_MAJOR : GM_K_MAJOR;
    reading.operand = other.operand;
    reading.k_steps = question->k_steps;
    return gm_operand_boxes_of(&other, &boxes, why) && fits(&boxes, &reading, why) && reads_right(&boxes, &reading);
}

static void answer_question(const struct gm_descriptor_question *question, struct reading *given,
                            struct gm_descriptor_answer *answer) {
    struct text text = {answer->sentence, sizeof answer->sentence, 0};
    struct gm_operand_boxes boxes;
    char why[GM_BOXES_SENTENCE];
    const int mn = question->operand.major == GM_MN_MAJOR;
    if (!gm_operand_boxes_of(question, &boxes, why)) {
        say(&text, "%s", why);
        return;
    }
    const int fit = fits(&boxes, given, why);
    for (uint32_t step = 0; fit && step < given->k_steps; step++)
        compare_step(&boxes, given, step, answer);
    answer->agrees = fit && answer->wrong == 0;
    if (answer->agrees)
        say(&text, "all %u elements are read from where TMA writes them", answer->elements);
    else if (agrees_as_other_major(question, given))
        say(&text, "wrong major: boxes and descriptor agree for %s",
            mn ? "a K-major operand, and for an MN-major one" : "an MN-major operand, and for a K-major one");
    if (!fit)
        say(&text, "%s", why);
    else if (!answer->agrees)
        diagnose(&boxes, given, &text);
}

static enum gm_status take_question(const struct gm_descriptor_question **question,
                                    struct gm_descriptor_question *today) {
    enum gm_status status = GM_TAKE(*question, today, "question");
    if (status == GM_OK)
        status = GM_CHECK_WITHIN(&(*question)->map, "question.map");
    if (status == GM_OK)
        status = GM_CHECK_WITHIN(&(*question)->operand, "question.operand");
    if (status == GM_OK)
        status = gm_wgmma_operand_check(&(*question)->operand);
    return status;
}

enum gm_status gm_descriptor_compare(const struct gm_descriptor_question *question,
                                     struct gm_descriptor_answer *answer) {
    struct gm_descriptor_question today;
    struct reading given = {.first = {.size = sizeof given.first}};
    enum gm_status status = take_question(&question, &today);
    if (status == GM_OK)
        status = GM_CHECK_OUTPUT(answer, "answer");
    if (status == GM_OK)
        status = gm_matrix_descriptor_decode(question->descriptor, &given.first);
    if (status != GM_OK)
        return status;
    given.operand = question->operand;
    given.k_steps = question->k_steps;
    given.k_step_bytes = question->k_step_bytes;
    struct gm_descriptor_answer found = {0};
    answer_question(question, &given, &found);
    GM_OUTPUT(answer, &found);
    return GM_OK;
}

/* The boxes that one instruction of the operand needs, of whatever map. */
static uint32_t boxes_for(const struct gm_descriptor_question *question) {
    const struct gm_wgmma_operand *operand = &question->operand;
    const uint32_t elements = operand->major == GM_MN_MAJOR ? operand->rows : GM_WGMMA_K_BYTES / operand->element_bytes;
    const uint32_t inner = question->map.box[0] ? question->map.box[0] : 1;
    return (elements + inner - 1) / inner;
}

enum gm_status gm_descriptor_suggest(const struct gm_descriptor_question *question, uint64_t *descriptor,
                                     uint32_t *k_step_bytes) {
    struct gm_descriptor_question today;
    struct gm_operand_boxes boxes;
    struct gm_matrix_descriptor fields;
    char why[GM_BOXES_SENTENCE];
    uint32_t step;
    enum gm_status status = take_question(&question, &today);
    if (status != GM_OK)
        return status;
    if (!descriptor || !k_step_bytes)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is NULL", descriptor ? "k_step_bytes" : "descriptor");
    struct gm_descriptor_question needed = *question;
    needed.boxes = boxes_for(question);
    if (!gm_operand_boxes_of(&needed, &boxes, why) ||
        !gm_operand_boxes_descriptor(&boxes, question->operand.rows, &fields, &step, why))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "no descriptor fits: %s", why);
    status = gm_matrix_descriptor_encode(&fields, descriptor);
    if (status == GM_OK)
        *k_step_bytes = step;
    return status;
}
