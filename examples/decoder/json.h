/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of a model's files, by Jansson. */
#ifndef DECODER_JSON_H
#define DECODER_JSON_H

#include <jansson.h>
#include <stddef.h>

/* An object, or die() with `path` and the line. No key may be there twice. `flags` are Jansson's of decoding. */
json_t *parse_object(const char *path, const char *text, size_t bytes, size_t flags);
/* Of a whole file. */
json_t *read_object(const char *path, size_t flags);
/* NULL: it is missing or null. */
json_t *field(const json_t *object, const char *name);
/* die() with "path: `key` is value; wanted". NULL: it is missing. */
_Noreturn void refuse_value(const char *path, const char *key, const json_t *value, const char *wanted);

#endif
