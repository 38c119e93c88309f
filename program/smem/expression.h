/* SPDX-License-Identifier: Apache-2.0 */
/* Integer expressions in `lane`, such as `(lane * 128) ^ ((lane & 7) << 4)`: what an address is on the command line.
 *
 *   operators   as in C, loosest first:   |   ^   &   << >>   + -   * / %   and before an operand + - ~
 *   operands    lane, decimal and hexadecimal numbers, parentheses
 *
 * Arithmetic is on 64-bit signed numbers, and every overflow is an error. */
#ifndef PROGRAM_SMEM_EXPRESSION_H
#define PROGRAM_SMEM_EXPRESSION_H

#include <stddef.h>
#include <stdint.h>

#define EXPRESSION_BYTES_MAX 1024
#define EXPRESSION_DEPTH_MAX 64 /* parentheses and signs within each other */

struct expression_error {
    size_t column; /* from 0 */
    char sentence[160];
};

/* 0 and the value; or -1 and what is wrong where. */
int expression_value(const char *text, int64_t lane, int64_t *value, struct expression_error *error);

/* Complains with the column, the text around it and a caret below; `what` is the option's name. Returns -1. */
int expression_complain(const char *what, const char *text, const struct expression_error *error);

#endif
