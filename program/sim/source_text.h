/* SPDX-License-Identifier: Apache-2.0 */
/* The text of source lines that PTX names, as far as the files are still there. */
#ifndef PROGRAM_SIM_SOURCE_TEXT_H
#define PROGRAM_SIM_SOURCE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct source_files; /* read so far; NULL: none */

/* Line `line` of the file, without the blanks in front, NUL behind it; NULL: it cannot be had. Where there is no such
 * file, its name in `folder` is tried (NULL: no folder). Valid until the files are freed. */
const char *source_text(struct source_files **files, const char *file, uint32_t line, const char *folder);
void source_files_free(struct source_files **files);

/* The name behind the last slash. */
const char *source_base(const char *file);

#endif
