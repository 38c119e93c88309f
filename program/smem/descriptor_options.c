/* SPDX-License-Identifier: Apache-2.0 */
/* What the three parts of `gristmill descriptor` share: an operand, the fields of a matrix descriptor, and the files.
 */
#include "program/smem/descriptor_options.h"

#include <string.h>

#include "smem/matrix_descriptor.h"
#include "program/smem/numbers.h"
#include "program/base/messages.h"
#include "program/smem/tensor_words.h"

int descriptor_check_words(const struct args_list *words, size_t most, const char *part) {
    if (words->count <= most)
        return 0;
    return complain("descriptor %s does not know what `%.40s` is for; see `gristmill descriptor %s --help`", part,
                    words->items[most], part);
}

/* ---- files -------------------------------------------------------------------------------------- */

void file_options_list(struct file_options *given, struct args_option *options) {
    options[0] = (struct args_option){"svg", "FILE", ARGS_TEXT, &given->svg, "the picture as SVG"};
    options[1] = (struct args_option){"html", "FILE", ARGS_TEXT, &given->html, "the same as one HTML page"};
}

int file_options_put(const struct file_options *given, struct picture picture, bool yes) {
    picture.svg = given->svg;
    picture.html = given->html;
    return picture_put(&picture) == 0 && yes ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

/* ---- operand ------------------------------------------------------------------------------------ */

void operand_options_list(struct operand_options *given, struct args_option *options) {
    options[0] = (struct args_option){"major", "k|mn", ARGS_TEXT, &given->major,
                                      "of the operand: which index is contiguous (default: k)"};
    options[1] =
        (struct args_option){"rows", "N", ARGS_TEXT, &given->rows, "of the operand, along M or N (default: 64)"};
}

int operand_options_read(const struct operand_options *given, uint32_t element_bytes,
                         struct gm_wgmma_operand *operand) {
    *operand = (struct gm_wgmma_operand){sizeof *operand, GM_K_MAJOR, element_bytes, 64};
    if (given->major && strcmp(given->major, "mn") == 0)
        operand->major = GM_MN_MAJOR;
    else if (given->major && strcmp(given->major, "k") != 0)
        return complain("--major is k or mn, not `%.40s`", given->major);
    if (given->rows && number_read("--rows", given->rows, 8, 256, &operand->rows) != 0)
        return -1;
    return gm_wgmma_operand_check(operand) == GM_OK ? 0 : complain("%s", gm_last_error());
}

/* ---- fields ------------------------------------------------------------------------------------- */

void field_options_list(struct field_options *given, struct args_option *options) {
    const struct args_option list[FIELD_OPTIONS] = {
        {"start", "ADDRESS", ARGS_TEXT, &given->start, "of the first element, in shared memory"},
        {"lbo", "BYTES", ARGS_TEXT, &given->leading, "leading byte offset"},
        {"sbo", "BYTES", ARGS_TEXT, &given->stride, "stride byte offset"},
        {"base-offset", "0..7", ARGS_TEXT, &given->base_offset, "phase of the pattern"},
        {"mode", "MODE", ARGS_TEXT, &given->mode, "swizzle of the descriptor: none, 32B, 64B, 128B"},
    };
    memcpy(options, list, sizeof list);
}

bool field_options_any(const struct field_options *given) {
    return given->start || given->leading || given->stride || given->base_offset || given->mode;
}

int field_options_read(const struct field_options *given, struct gm_matrix_descriptor *fields, uint64_t *bits) {
    int32_t mode = (int32_t)fields->swizzle;
    if ((given->start && number_read("--start", given->start, 0, UINT32_MAX, &fields->start) != 0) ||
        (given->leading && number_read("--lbo", given->leading, 0, UINT32_MAX, &fields->leading_bytes) != 0) ||
        (given->stride && number_read("--sbo", given->stride, 0, UINT32_MAX, &fields->stride_bytes) != 0) ||
        (given->base_offset && number_read("--base-offset", given->base_offset, 0, 7, &fields->base_offset) != 0) ||
        (given->mode && words_read_swizzle("--mode", given->mode, &mode) != 0))
        return -1;
    fields->swizzle = (enum gm_swizzle_mode)mode;
    return gm_matrix_descriptor_encode(fields, bits) == GM_OK ? 0 : complain("%s", gm_last_error());
}

int descriptor_read_bits(const char *text, uint64_t *bits, struct gm_matrix_descriptor *fields) {
    if (words_read_number("the descriptor", text, UINT64_MAX, bits) != 0)
        return -1;
    return gm_matrix_descriptor_decode(*bits, fields) == GM_OK ? 0 : complain("%s", gm_last_error());
}
