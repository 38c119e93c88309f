/* SPDX-License-Identifier: Apache-2.0 */
/* What the three parts of `gristmill descriptor` share: an operand, the fields of a matrix descriptor, and the files. */
#ifndef PROGRAM_SMEM_DESCRIPTOR_OPTIONS_H
#define PROGRAM_SMEM_DESCRIPTOR_OPTIONS_H

#include <stdbool.h>

#include "program/base/args.h"
#include "program/smem/picture.h"

/* The three parts, each with the arguments after its name; they return an exit code. */
int descriptor_tensor_map(int argc, char **argv);
int descriptor_matrix(int argc, char **argv);
int descriptor_compare(int argc, char **argv);

/* All texts are as given; NULL: not given. The readers return 0, or -1 with a printed sentence. */

struct file_options {
    const char *svg, *html;
};
#define FILE_OPTIONS 2
void file_options_list(struct file_options *given, struct args_option *options);
/* Draws; EXIT_CODE_OK when that worked and the answer is yes. */
int file_options_put(const struct file_options *given, struct picture picture, bool yes);

struct operand_options {
    const char *major, *rows;
};
#define OPERAND_OPTIONS 2
void operand_options_list(struct operand_options *given, struct args_option *options);
int operand_options_read(const struct operand_options *given, uint32_t element_bytes, struct gm_wgmma_operand *operand);

struct field_options {
    const char *start, *leading, *stride, *base_offset, *mode;
};
#define FIELD_OPTIONS 5
void field_options_list(struct field_options *given, struct args_option *options);
bool field_options_any(const struct field_options *given);
/* Replaces the fields that are given, and encodes them all. */
int field_options_read(const struct field_options *given, struct gm_matrix_descriptor *fields, uint64_t *bits);

/* The 64 bits of a descriptor, and its fields. */
int descriptor_read_bits(const char *text, uint64_t *bits, struct gm_matrix_descriptor *fields);

/* Nothing but options, after `most` words. */
int descriptor_check_words(const struct args_list *words, size_t most, const char *part);

#endif
