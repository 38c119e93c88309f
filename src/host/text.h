/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences, which read alike in every locale and are harmless on every terminal. */
#ifndef GM_TEXT_H
#define GM_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#define GM_TEXT_MAX 1024 /* bytes of a sentence, its end included */

/* As vsnprintf(), but with a decimal point whatever locale the host program has set, and with what the terminal would
 * not show, or obey, in place of showing it, written as \x1b: sentences quote names and files. Returns the length of
 * what was written; `bytes` is 1 to GM_TEXT_MAX. */
size_t gm_format(char *text, size_t bytes, const char *format, va_list arguments) __attribute__((format(printf, 3, 0)));
size_t gm_print(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Whether a terminal shows every character as it is: gm_print() would write none of them out. */
int gm_is_shown(const char *text);

/* As strtof(), with a decimal point in every locale. */
float gm_text_to_real(const char *text, char **end);

/* As strerror(), but in English, and from any thread. */
const char *gm_error_text(int error);

#endif
