/* SPDX-License-Identifier: Apache-2.0 */
/* PTX in tests: what stands around the lines that a test is about. */
#ifndef SIM_PTX_TEXT_H
#define SIM_PTX_TEXT_H

#include "sim/ptx/ptx.h"

#include <check.h>

/* A module with `before` at its top level and one kernel, k(u64 p, 16 bytes q), with `body`. The first line of `before`
 * is line 4. Registers: .pred p0 to p7, .b16 h0 to h7, .b32 r0 to r7, .f32 f0 to f7, .b64 d0 to d7. */
struct ptx_module *ptx_text_parse(const char *before, const char *body);
/* The kernel of such a module without anything before. Never NULL. */
struct ptx_function *ptx_text_kernel(const char *body);
/* The body is refused, with these words in the message. */
void ptx_text_refused(const char *before, const char *body, const char *words);

#endif
